// Sharding: a spec bound to a mesh and checked; and corrections that make specs fit. Immutable, so
// safe to share.
//
//   TSR_OWN(sharding, sharding);  // released at the end of the block: tessera/own.h
//   TSR_TRY(tsr_sharding_bind(mesh, spec, false, &sharding));
//   TSR_TRY(tsr_layout_create(sharding, TSR_SHAPE(8, 16), TSR_POLICY_ERROR, &layout));
#ifndef TESSERA_ENGINE_SHARDING_H
#define TESSERA_ENGINE_SHARDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/log.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"

TSR_BEGIN_DECLS

// A sub-axis, by axis index: `size` members below `pre` members. The whole axis has pre 1 and the
// size of the axis.
typedef struct tsr_sub_axis {
  int axis;
  int64_t pre, size;
} tsr_sub_axis;

typedef struct tsr_bound_stage {
  tsr_stage_kind kind;
  int axis_count;
  const tsr_sub_axis *axes;  // major to minor
  int64_t shards;            // product of their sizes
  const tsr_stage *cut;      // sizes, parts and block as the spec gave them
} tsr_bound_stage;

typedef struct tsr_sharding_dim {
  int stage_count;
  const tsr_bound_stage *stages;
  int64_t shards;  // product over the stages
  bool open, has_priority;
  int priority;
} tsr_sharding_dim;

typedef struct tsr_sharding tsr_sharding;  // immutable, shared by any threads

// Checks, in JAX's order: an axis used twice, an unknown axis, unconstrained without an Auto axis,
// unreduced and reduced axes that are not Explicit; then sub-axes (pre and pre*size divide the
// axis, none overlap). Unreduced axes must be Explicit only if some axis of the mesh is not Auto,
// or with `strict_types`.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_sharding_bind(const tsr_mesh *mesh,
                                                              const tsr_spec *spec,
                                                              bool strict_types,
                                                              tsr_sharding **out_sharding);
TSR_API TSR_NONNULL tsr_sharding *tsr_sharding_retain(const tsr_sharding *sharding);
TSR_API void tsr_sharding_release(const tsr_sharding *sharding);  // NULL is fine

TSR_API TSR_NONNULL const tsr_mesh *tsr_sharding_mesh(const tsr_sharding *sharding);
TSR_API TSR_NONNULL const tsr_spec *tsr_sharding_spec(const tsr_sharding *sharding);  // as written
// Dimensions beyond the spec's length are uncut and closed.
TSR_API TSR_NONNULL const tsr_sharding_dim *tsr_sharding_dim_at(const tsr_sharding *sharding,
                                                                int dim);

// Whether every device holds the same shard or partial result, for every tensor of this rank (JAX's
// is_equivalent_to). Meshes may differ; open dimensions, reduced and replicated axes and priorities
// are ignored. For one shape: tsr_layout_equivalent.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_sharding_equivalent(const tsr_sharding *a,
                                                                    const tsr_sharding *b, int rank,
                                                                    bool *out_equivalent);

// ---- correction ----

// Why a dimension of a spec was changed.
#define TSR_CHANGES(X)                                         \
  X(CUT_TO_RANK, "longer than the tensor's rank")              \
  X(AXIS_MISSING, "axis not in the mesh")                      \
  X(SUB_AXIS_MISFIT, "sub-axis does not divide its axis")      \
  X(INDIVISIBLE, "size not divisible by the axes' product")    \
  X(CUT_MISFIT, "sizes or parts do not fit the mesh and size") \
  X(UNCONSTRAINED, "unconstrained means not cut here")         \
  X(NOTHING_LEFT, "nothing left to cut, so the empty spec")    \
  X(NO_MESH, "no mesh, so the empty spec")
#define TSR_ENUMERATOR_(id, text) TSR_CHANGE_##id,
typedef enum tsr_change_kind { TSR_CHANGES(TSR_ENUMERATOR_) TSR_CHANGE_COUNT } tsr_change_kind;
#undef TSR_ENUMERATOR_

typedef struct tsr_change {
  tsr_change_kind kind;
  int dim;                // -1 = the spec as a whole
  const char *axis;       // the wrong axis, NULL if none; lives as long as the original spec
  int64_t size, product;  // of the dimension and of its axes, where they matter; or rank and length
  bool alone;             // only this axis of its group was dropped
} tsr_change;

typedef struct tsr_changes {
  int64_t count;
  tsr_change *items;  // owned
} tsr_changes;
TSR_API void tsr_changes_deinit(tsr_changes *changes);  // NULL is fine
// One line per change: `dimension 1: size 10 is not divisible by tp=4, so it is not cut`.
TSR_API TSR_NONNULL void tsr_changes_print(const tsr_changes *changes, tsr_text *out);

typedef struct tsr_correct_options {
  size_t size;              // sizeof(tsr_correct_options)
  bool strict;              // fail instead of changing anything
  bool allow_no_mesh;       // raise_mesh_error = false: without a mesh give P()
  bool keep_group_members;  // drop only members of a group that are missing or do not divide
  bool uneven;              // sizes need not divide
  tsr_log_fn *log;          // receives changes; NULL = the process's log (tsr_log_set)
  void *log_context;
} tsr_correct_options;
#define TSR_CORRECT_OPTIONS TSR_SIZED(tsr_correct_options)

// The spec side of get_corrected_named_sharding: pads or truncates to the rank, and drops axes that
// the mesh lacks or that do not divide the sizes, with a reason for each. NULL mesh = the current
// one of this thread (tsr_mesh_enter of tessera/compat/jax_mesh.h). `options` and `out_changes` may
// be NULL. With LOG_SHARDING_MOVE set to true, yes, 1 or on, each change is also logged.
//
// An entry is kept or dropped as a whole. Even stages must divide the size, one after the other;
// cyclic ones fit any size; sizes and parts must add up to it and fit the number of shards. After a
// stage whose shards differ in size, later stages are not checked. An axis that remains in two
// places is an error (duplicate_mesh_axis).
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3, 5) tsr_status
    tsr_spec_correct(const tsr_spec *spec, const tsr_mesh *mesh, const tsr_shape *shape,
                     const tsr_correct_options *options, tsr_spec **out_spec,
                     tsr_changes *out_changes);

TSR_END_DECLS

#endif
