// Sequence: the collectives that change how a tensor is laid out on one mesh.
//
// The direct way from one layout to another is a copy plan (tessera/engine/copy_plan.h). Engines
// that only have collectives, and programs that must be portable, take a *sequence* of them
// instead. This finds the cheapest one: by the seconds that the mesh's links take, or, on a mesh
// without a topology, by the bytes that are moved and then the number of steps.
//
//   TSR_OWN(sequence, sequence);  // given back at the end of the block: tessera/own.h
//   TSR_TRY(tsr_sequence_create(from, to, TSR_SHAPE(8, 16), TSR_F32, NULL, &sequence));
//   for (int64_t i = 0; i < tsr_sequence_step_count(sequence); i++)
//     carry_out(tsr_sequence_step_at(sequence, i));
//
// Not every change is a sequence: sizes must be divided evenly before and after each step, cuts
// must be plain, both shardings must be on the same mesh, and the parts of axes they name must have
// a common refinement. Otherwise tsr_sequence_create fails with no_sequence, and the caller takes
// the direct way.
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

// In all but permute, devices work together in groups over `axes` (tsr_sequence_step_groups); "part
// i" belongs to member i of a group. Buffers are row-major and full: there is no padding.
#define TSR_STEPS(X)                                                                               \
  X(SLICE, "slice")           /* keep part i of the own buffer along split_dim; nothing is sent */ \
  X(ALL_GATHER, "all-gather") /* join the members' buffers along concat_dim */                     \
  X(ALL_TO_ALL, "all-to-all") /* cut along split_dim, send part i to member i, join what           \
                                 comes, in order of the senders, along concat_dim */               \
  X(PERMUTE, "permute")       /* buffers change places: tsr_sequence_step_pairs */                 \
  X(REDUCE, "all-reduce")     /* combine the members' buffers, everyone gets the result */         \
  X(REDUCE_SCATTER, "reduce-scatter") /* combine, and keep part i along split_dim */               \
  X(ZERO, "zero") /* a copy becomes partial results: member 0 keeps its buffer, the others fill    \
                     theirs with the neutral element (for max and min a copy will do) */
#define TSR_ENUMERATOR_(id, text) TSR_STEP_##id,
typedef enum tsr_step_kind { TSR_STEPS(TSR_ENUMERATOR_) TSR_STEP_COUNT } tsr_step_kind;
#undef TSR_ENUMERATOR_
TSR_API const char *tsr_step_kind_name(tsr_step_kind kind);  // "all-gather"

typedef struct tsr_sequence_step {
  tsr_step_kind kind;
  int axis_count;
  const tsr_sub_axis *axes;       // major to minor: members of a group count in this order. Of a
                                  // permute: those along which buffers travel, in mesh order
  int64_t group_size;             // product of their sizes
  int split_dim, concat_dim;      // -1 where the kind has none
  tsr_shape in_shape, out_shape;  // of every device's buffer, before and after
  const tsr_sharding *sharding;   // after the step
  int64_t bytes;  // sent between devices, all together; an all-reduce counts as scatter + gather
  int64_t device_bytes;  // what the device that gets the most receives
  double seconds;        // by the mesh's links; 0 without a topology
} tsr_sequence_step;

// ---- making ----

typedef enum tsr_sequence_method {
  TSR_SEQUENCE_BEST,    // the cheapest sequence
  TSR_SEQUENCE_SHARDY,  // the greedy order of Shardy's sdy-reshard-to-collectives, for comparison
  TSR_SEQUENCE_METHOD_COUNT
} tsr_sequence_method;

typedef struct tsr_sequence_options {
  size_t size;  // sizeof(tsr_sequence_options)
  tsr_sequence_method method;
  int64_t memory_cap;     // bytes that a step's buffers, before and after, may take on a device;
                          // 0 = any. Fails with does_not_fit when no sequence can keep to it
  int64_t expansion_cap;  // states looked at before the search gives up; 0 = 50000
} tsr_sequence_options;
#define TSR_SEQUENCE_OPTIONS TSR_SIZED(tsr_sequence_options)

typedef struct tsr_sequence tsr_sequence;  // immutable, hence safe to share

// Fails with rank_too_small when a spec is longer than the rank, and with no_sequence where only
// the direct way exists: the message tells why. `options` may be NULL.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 3, 6) tsr_status
    tsr_sequence_create(const tsr_sharding *from, const tsr_sharding *to, const tsr_shape *shape,
                        tsr_dtype dtype, const tsr_sequence_options *options,
                        tsr_sequence **out_sequence);
TSR_API void tsr_sequence_release(const tsr_sequence *sequence);  // NULL is fine

// ---- reading ----

// How many steps there are; 0: nothing changes.
TSR_API TSR_NONNULL int64_t tsr_sequence_step_count(const tsr_sequence *sequence);
TSR_API TSR_NONNULL const tsr_sequence_step *tsr_sequence_step_at(const tsr_sequence *sequence,
                                                                  int64_t step);
// The groups of a step that is no permute, by device id. Give back with tsr_groups_deinit.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_sequence_step_groups(const tsr_sequence *sequence,
                                                                     int64_t step,
                                                                     tsr_groups *out_groups);
// Who gets whose buffer in a permute, by device id: one pair for each device, in order of mesh
// positions; source and target are equal where a device keeps its own. Every device is a source
// once. A block to free().
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_sequence_step_pairs(const tsr_sequence *sequence,
                                                                    int64_t step,
                                                                    tsr_pair **out_pairs,
                                                                    int64_t *out_count);

typedef struct tsr_sequence_certificate {
  int64_t step_count;
  int64_t bytes_moved;        // between devices, all steps together
  int64_t bytes_lower_bound;  // no way to make this change, direct or not, moves less
  int64_t peak_bytes;         // on a device: buffers before and after the largest step
  double seconds;             // by the mesh's links; 0 without a topology
  bool optimal;  // no sequence of such steps is cheaper; false when the search gave up, or looked
                 // at whole axes only because there are too many parts, or was not asked for
  int64_t expansions;  // states that the search looked at; 0 when it was not needed
} tsr_sequence_certificate;
TSR_API TSR_NONNULL const tsr_sequence_certificate *tsr_sequence_certificate_of(
    const tsr_sequence *sequence);

// One line for each step, then the certificate:
//   1  all-to-all x, dimension 0 to 1: (4, 16) -> (8, 8), now [_, x], 256 bytes
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_sequence_print(const tsr_sequence *sequence,
                                                               tsr_text *out);

TSR_END_DECLS

#endif
