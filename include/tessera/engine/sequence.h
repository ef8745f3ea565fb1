// Sequence: collectives that change the sharding of a tensor on one mesh.
//
// The direct way from one layout to another is a copy plan (tessera/engine/copy_plan.h). Engines
// that only have collectives use a *sequence* of them. This finds the cheapest: by seconds on the
// mesh's links or, on a mesh without a topology, by bytes moved and then by number of steps.
//
//   TSR_OWN(sequence, sequence);  // released at the end of the block: tessera/own.h
//   TSR_TRY(tsr_sequence_create(from, to, TSR_SHAPE(8, 16), TSR_F32, NULL, &sequence));
//   for (int64_t i = 0; i < tsr_sequence_step_count(sequence); i++)
//     carry_out(tsr_sequence_step_at(sequence, i));
//
// A sequence exists if sizes divide evenly before and after each step, cuts are plain, both
// shardings are on the same mesh, and their sub-axes have a common refinement. Otherwise
// tsr_sequence_create fails with no_sequence.
#ifndef TESSERA_ENGINE_SEQUENCE_H
#define TESSERA_ENGINE_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/dtype.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/sharding.h"
#include "tessera/shape.h"
#include "tessera/status.h"
#include "tessera/text.h"

TSR_BEGIN_DECLS

// ---- steps ----

// All steps but permute work in groups over `axes` (tsr_sequence_step_groups); "piece i" belongs to
// member i of a group. Buffers are row-major without padding.
#define TSR_STEPS(X)                                                                          \
  X(SLICE, "slice") /* keep piece i of the own buffer along split_dim; nothing is sent */     \
  X(ALL_GATHER, "all-gather") /* concatenate the members' buffers along concat_dim */         \
  X(ALL_TO_ALL, "all-to-all") /* split along split_dim, send piece i to member i, concatenate \
                                 what arrives, in order of senders, along concat_dim */       \
  X(PERMUTE, "permute")       /* buffers move between devices: tsr_sequence_step_pairs */     \
  X(REDUCE, "all-reduce")     /* reduce the members' buffers; all members get the result */   \
  X(REDUCE_SCATTER, "reduce-scatter") /* reduce, and keep piece i along split_dim */          \
  X(ZERO, "zero") /* a replica becomes partial results: member 0 keeps its buffer, the others \
                     fill theirs with the neutral element (max and min keep a copy) */
#define TSR_ENUMERATOR_(id, text) TSR_STEP_##id,
typedef enum tsr_step_kind { TSR_STEPS(TSR_ENUMERATOR_) TSR_STEP_COUNT } tsr_step_kind;
#undef TSR_ENUMERATOR_
TSR_API const char *tsr_step_kind_name(tsr_step_kind kind);  // "all-gather"

typedef struct tsr_sequence_step {
  tsr_step_kind kind;
  int axis_count;
  const tsr_sub_axis *axes;       // major to minor, the order of the members of a group; of a
                                  // permute: those along which buffers move, in mesh order
  int64_t group_size;             // product of their sizes
  int split_dim, concat_dim;      // -1 where the kind has none
  tsr_shape in_shape, out_shape;  // of every device's buffer, before and after
  const tsr_sharding *sharding;   // after the step
  int64_t bytes;         // sent between all devices; an all-reduce counts as scatter + gather
  int64_t device_bytes;  // largest number of bytes that one device receives
  double seconds;        // by the mesh's links; 0 without a topology
} tsr_sequence_step;

// ---- making ----

typedef enum tsr_sequence_method {
  TSR_SEQUENCE_BEST,    // the cheapest sequence
  TSR_SEQUENCE_SHARDY,  // the greedy order of Shardy's sdy-reshard-to-collectives
  TSR_SEQUENCE_METHOD_COUNT
} tsr_sequence_method;

typedef struct tsr_sequence_options {
  size_t size;  // sizeof(tsr_sequence_options)
  tsr_sequence_method method;
  int64_t memory_cap;     // limit on bytes of a step's buffers, before and after, on a device; 0 =
                          // none. Fails with does_not_fit if no sequence keeps to it
  int64_t expansion_cap;  // states to expand before the search gives up; 0 = 50000
} tsr_sequence_options;
#define TSR_SEQUENCE_OPTIONS TSR_SIZED(tsr_sequence_options)

typedef struct tsr_sequence tsr_sequence;  // immutable, safe to share between threads

// Fails with rank_too_small if a spec is longer than the rank, and with no_sequence if only the
// direct way exists. `options` may be NULL.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 3, 6) tsr_status
    tsr_sequence_create(const tsr_sharding *from, const tsr_sharding *to, const tsr_shape *shape,
                        tsr_dtype dtype, const tsr_sequence_options *options,
                        tsr_sequence **out_sequence);
TSR_API void tsr_sequence_release(const tsr_sequence *sequence);  // NULL is fine

// ---- reading ----

// 0 if nothing changes.
TSR_API TSR_NONNULL int64_t tsr_sequence_step_count(const tsr_sequence *sequence);
TSR_API TSR_NONNULL const tsr_sequence_step *tsr_sequence_step_at(const tsr_sequence *sequence,
                                                                  int64_t step);
// The groups of a step other than a permute, by device id. Free with tsr_groups_deinit.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_sequence_step_groups(const tsr_sequence *sequence,
                                                                     int64_t step,
                                                                     tsr_groups *out_groups);
// The pairs of a permute, by device id: one for each device, in order of mesh positions. Source and
// target are equal where a device keeps its buffer. Every device is a source once. Free with
// free().
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_sequence_step_pairs(const tsr_sequence *sequence,
                                                                    int64_t step,
                                                                    tsr_pair **out_pairs,
                                                                    int64_t *out_count);

typedef struct tsr_sequence_certificate {
  int64_t step_count;
  int64_t bytes_moved;        // between devices, in all steps
  int64_t bytes_lower_bound;  // no change, direct or not, moves less
  int64_t peak_bytes;         // on a device: buffers before and after the largest step
  double seconds;             // by the mesh's links; 0 without a topology
  bool optimal;  // no sequence is cheaper; false if the search gave up, considered whole axes only
                 // (too many sub-axes), or was not run
  int64_t expansions;  // states that the search expanded; 0 if it was not run
} tsr_sequence_certificate;
TSR_API TSR_NONNULL const tsr_sequence_certificate *tsr_sequence_certificate_of(
    const tsr_sequence *sequence);

// One line for each step, then the certificate:
//   1  all-to-all x, dimension 0 to 1: (4, 16) -> (8, 8), now [_, x], 256 bytes
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_sequence_print(const tsr_sequence *sequence,
                                                               tsr_text *out);

TSR_END_DECLS

#endif
