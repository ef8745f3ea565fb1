// Constraints: an array distributed by a spec, semantic axes, logical axes or its size, as
// with_sharding_constraint does in JAX, flax and eformer.
//
//   tsr_array *placed = NULL;
//   tsr_place_report report = TSR_PLACE_REPORT;
//   TSR_TRY(tsr_array_constrain(array, spec, mesh, NULL, &placed, &report));
//
// "Collective" is defined in tessera/comm.h; the comm is that of the array. Ranks compare its
// dtype, shape and layout, the decision and the options. Arrays never change: a new one is made,
// or, if the layout is right already, the same array is retained. A *report* says why an array was
// left alone or its spec corrected. Trees: tessera/compat/placer.h.
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

// ---- reports ----

// Id, word, text.
#define TSR_OUTCOMES(X)                                                                   \
  X(PLACED, "placed", "placed")                                                           \
  X(SAME, "same", "already in this layout")                                               \
  X(EMPTY_SPEC, "empty_spec", "left alone: the spec is empty")                            \
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
  const tsr_spec *wanted;  // owned: before correction; NULL = none was given
  const tsr_spec *spec;    // owned: the final spec; NULL = left alone
  tsr_changes changes;     // owned: from `wanted` to `spec`
} tsr_place_report;
#define TSR_PLACE_REPORT TSR_SIZED(tsr_place_report)
TSR_API void tsr_place_report_deinit(tsr_place_report *report);
// `placed: tp, _`, or why not, and a line per change.
TSR_API TSR_NONNULL void tsr_place_report_print(const tsr_place_report *report, tsr_text *out);

typedef struct tsr_place_options {
  size_t size;                         // sizeof(tsr_place_options)
  tsr_comm *comm;                      // for leaves in host memory; NULL = they stay there
  tsr_policy policy;                   // for sizes that do not divide; ERROR = they are not cut
  const tsr_correct_options *correct;  // how specs are corrected; NULL = defaults
  // How arrays are moved; NULL = defaults. In a donated tree, an array that several leaves share is
  // not donated.
  const tsr_reshard_options *reshard;
} tsr_place_options;
#define TSR_PLACE_OPTIONS TSR_SIZED(tsr_place_options)

// ---- constraints ----
//
// NULL options are defaults and a NULL mesh is the current one, everywhere (tsr_mesh_enter of
// tessera/compat/jax_mesh.h). `out_report` may be NULL.

// Collective. eformer's with_sharding_constraint: the spec is corrected for mesh and shape, then
// the array is resharded. The empty spec, or no mesh, leaves it alone; `_`, or a spec that
// correction empties, replicates it. As in JAX only Auto axes are allowed
// (constraint_needs_auto_axis).
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 5) tsr_status
    tsr_array_constrain(tsr_array *array, const tsr_spec *spec, const tsr_mesh *mesh,
                        const tsr_place_options *options, tsr_array **out_array,
                        tsr_place_report *out_report);
// Collective. PartitionManager.shard and apply_logical_sharding: the spec of semantic axes and a
// mode (NULL axes = the current ones, NULL registry = none). The request's shape is replaced by the
// array's. Without a mesh the call fails if `auto_correct`, else the array is left alone. Specs are
// always corrected.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4, 8) tsr_status
    tsr_array_constrain_axes(tsr_array *array, const tsr_axes *axes,
                             const tsr_axis_registry *registry, const tsr_axes_request *request,
                             const tsr_mesh *mesh, bool auto_correct,
                             const tsr_place_options *options, tsr_array **out_array,
                             tsr_place_report *out_report);
// Collective. linen's with_logical_constraint (tsr_logical_constrain). Nothing is corrected: a spec
// that does not fit fails, unless the options' policy allows it.
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
// Collective. auto_shard_array: constrains to the automatic spec. Small arrays are left alone.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 5) tsr_status
    tsr_array_auto_shard(tsr_array *array, const tsr_mesh *mesh, const tsr_auto_options *how,
                         const tsr_place_options *options, tsr_array **out_array,
                         tsr_place_report *out_report);

TSR_END_DECLS

#endif
