// Constraints: an array put where a spec, semantic or logical axes, or its own size say; what
// with_sharding_constraint is in JAX, flax and eformer.
//
//   tsr_array *placed = NULL;
//   tsr_place_report report = TSR_PLACE_REPORT;
//   TSR_TRY(tsr_array_constrain(array, spec, mesh, NULL, &placed, &report));
//
// "Collective" is meant as in tessera/comm.h, over the comm of the array. Ranks compare its type,
// shape and layout, what was decided about it, and the options. Arrays are never changed, but made
// again; what already lies as asked is the same array, held once more. Where an array is left
// alone, or its spec is corrected, a *report* says why. Whole trees: tessera/compat/placer.h.
#ifndef TESSERA_COMPAT_CONSTRAIN_H
#define TESSERA_COMPAT_CONSTRAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera/api.h"
#include "tessera/array.h"
#include "tessera/comm.h"
#include "tessera/compat/eformer_axes.h"
#include "tessera/compat/flax_rules.h"
#include "tessera/engine/sharding.h"
#include "tessera/layout.h"
#include "tessera/logical.h"
#include "tessera/mesh.h"
#include "tessera/plan.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"

TSR_BEGIN_DECLS

// ---- what became of an array ----

// Id, word, what it says.
#define TSR_OUTCOMES(X)                                                                   \
  X(PLACED, "placed", "placed")                                                           \
  X(SAME, "same", "lay so before")                                                        \
  X(EMPTY_SPEC, "empty_spec", "left alone: the empty spec asks for nothing")              \
  X(TOO_SMALL, "too_small", "left alone: too small to be cut")                            \
  X(NO_MESH, "no_mesh", "left alone: there is no mesh")                                   \
  X(NO_NAMES, "no_names", "left alone: its dimensions have no names")                     \
  X(NO_RULES, "no_rules", "left alone: there are no rules")                               \
  X(UNMATCHED, "unmatched", "left alone: a name has no rule")                             \
  X(NOT_ASKED, "not_asked", "left alone: no layout was given")                            \
  X(ON_HOST, "on_host", "left alone: it is in host memory, and no comm was given for it") \
  X(NO_DATA, "no_data", "left alone: it is a shape without data")
#define TSR_ENUMERATOR_(id, word, text) TSR_OUTCOME_##id,
typedef enum tsr_outcome { TSR_OUTCOMES(TSR_ENUMERATOR_) TSR_OUTCOME_COUNT } tsr_outcome;
#undef TSR_ENUMERATOR_

typedef struct tsr_place_report {
  size_t size;  // sizeof(tsr_place_report)
  tsr_outcome outcome;
  const tsr_spec *wanted;  // owned: before correction; NULL where none was asked for
  const tsr_spec *spec;    // owned: as it lies now; NULL where it was left alone
  tsr_changes changes;     // owned: from `wanted` to `spec`
} tsr_place_report;
#define TSR_PLACE_REPORT TSR_SIZED(tsr_place_report)
TSR_API void tsr_place_report_deinit(tsr_place_report *report);
// `placed: tp, _`, or why it was not, and a line for each change.
TSR_API TSR_NONNULL void tsr_place_report_print(const tsr_place_report *report, tsr_text *out);

typedef struct tsr_place_options {
  size_t size;                         // sizeof(tsr_place_options)
  tsr_comm *comm;                      // that places leaves in host memory; NULL = they stay there
  tsr_policy policy;                   // for sizes that do not divide; ERROR = these are not cut
  const tsr_correct_options *correct;  // how specs are corrected; NULL = defaults
  // How arrays are moved; NULL = defaults. Of donated trees, an array that several leaves have
  // stays as it is.
  const tsr_reshard_options *reshard;
} tsr_place_options;
#define TSR_PLACE_OPTIONS TSR_SIZED(tsr_place_options)

// ---- constraints ----
//
// NULL options are defaults and a NULL mesh is the current one, everywhere (tsr_mesh_enter of
// tessera/compat/jax_mesh.h). `out_report` may be NULL.

// Collective. eformer's with_sharding_constraint: the spec is corrected for mesh and shape, then
// the array is put so. The empty spec, and no mesh at all, leave it alone; `_`, and a spec that
// correction empties, replicate it. As in JAX only Auto axes may be used
// (constraint_needs_auto_axis).
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 5) tsr_status
    tsr_array_constrain(tsr_array *array, const tsr_spec *spec, const tsr_mesh *mesh,
                        const tsr_place_options *options, tsr_array **out_array,
                        tsr_place_report *out_report);
// Collective. PartitionManager.shard and apply_logical_sharding: the spec that semantic axes and a
// mode come to (NULL axes = the current ones, NULL registry = none). The request's shape is the
// array's, whatever it says. Without a mesh `auto_correct` fails, its absence leaves the array
// alone; specs are corrected in any case.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4, 8) tsr_status
    tsr_array_constrain_axes(tsr_array *array, const tsr_axes *axes,
                             const tsr_axis_registry *registry, const tsr_axes_request *request,
                             const tsr_mesh *mesh, bool auto_correct,
                             const tsr_place_options *options, tsr_array **out_array,
                             tsr_place_report *out_report);
// Collective. linen's with_logical_constraint (tsr_logical_constrain). Nothing is corrected: what
// does not fit fails, unless the options' policy allows it.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 7) tsr_status
    tsr_array_constrain_logical(tsr_array *array, const tsr_logical_names *names,
                                const tsr_logical_rules *rules, const tsr_mesh *mesh,
                                tsr_fallback fallback, const tsr_place_options *options,
                                tsr_array **out_array, tsr_place_report *out_report);
// Collective. flax's shard_value (tsr_logical_shard_value): reshards where all axes of the mesh are
// Explicit, constrains where all are Auto, which is the same for arrays; other meshes fail. Nothing
// is corrected.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 6) tsr_status
    tsr_array_shard_value(tsr_array *array, const tsr_logical_names *names,
                          const tsr_logical_rules *rules, const tsr_mesh *mesh,
                          const tsr_place_options *options, tsr_array **out_array,
                          tsr_place_report *out_report);
// Collective. auto_shard_array: constrained to its automatic spec. Too small arrays are left alone.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 5) tsr_status
    tsr_array_auto_shard(tsr_array *array, const tsr_mesh *mesh, const tsr_auto_options *how,
                         const tsr_place_options *options, tsr_array **out_array,
                         tsr_place_report *out_report);

TSR_END_DECLS

#endif
