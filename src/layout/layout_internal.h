// Layouts for other rooms: kinds, runs, proofs and processes. The rest is in tessera/layout.h and
// tessera/engine/layout.h.
#ifndef TESSERA_LAYOUT_LAYOUT_INTERNAL_H
#define TESSERA_LAYOUT_LAYOUT_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/engine/sharding.h"
#include "tessera/layout.h"
#include "tessera/status.h"
#include "tessera/text.h"

const char *tsr_policy_name(tsr_policy policy);  // "error"
TSR_MUST_USE tsr_status tsr_policy_parse(const char *name, tsr_policy *out_policy);

// `count` blocks of `length` elements: `step` apart in the tensor from `global` on, and
// `local_step` apart in the shard from `local` on. A plain range is one block. Blocks never overlap
// and ascend on both sides.
typedef struct tsr_run {
  int64_t global, local, length, count, step, local_step;
  bool owned;  // this is the lowest shard of its dimension that holds these elements
} tsr_run;

// ---- the tensor as a whole ----

typedef enum tsr_layout_kind { TSR_LAYOUT_GRID, TSR_LAYOUT_BOXES, TSR_LAYOUT_FLAT } tsr_layout_kind;
tsr_layout_kind tsr_layout_kind_of(const tsr_layout *layout);
int tsr_layout_rank(const tsr_layout *layout);
// The sharding as requested; differs from tsr_layout_sharding only if TRIM dropped axes.
const tsr_sharding *tsr_layout_requested(const tsr_layout *layout);
// What TRIM dropped, one line per dimension: `dimension 0: size 6 is not divisible by x=4, so it is
// cut by x:(1)2 only`. Empty if nothing was dropped.
void tsr_layout_explain(const tsr_layout *layout, tsr_text *out);
tsr_policy tsr_layout_policy(const tsr_layout *layout);  // UNEVEN unless a grid
// Proves that every element is owned by exactly one shard. Fails with broken_layout, naming an
// element. O(runs log runs) per dimension of a grid, O(boxes log^2 boxes) for boxes that planes
// separate well, O(shards log shards) for flat ranges.
TSR_MUST_USE tsr_status tsr_layout_check(const tsr_layout *layout);

// ---- devices and shards ----

// The index of a shard along each dimension of a grid: the digits of its number, last dimension
// fastest. Other kinds have one digit, in dimension 0.
bool tsr_layout_shard_coords(const tsr_layout *layout, int64_t shard, int64_t *out_coords);
int64_t tsr_layout_dim_shards(const tsr_layout *layout, int dim);
// JAX's replica id of each position: the number of positions before it with equal *ranges*. Differs
// from tsr_layout_replica_id for empty shards.
TSR_MUST_USE tsr_status tsr_layout_jax_replica_ids(const tsr_layout *layout, int64_t *out_ids);
// Elements of a shard's buffer, including padding.
int64_t tsr_layout_buffer_elements(const tsr_layout *layout, int64_t shard);
// The row-major strides of tsr_layout_buffer_shape.
void tsr_layout_buffer_strides(const tsr_layout *layout, int64_t shard, int64_t *out_strides);
// The runs of shard index `index` of dimension `dim`, to free(); NULL and 0 if it is empty. Grids
// only: fails with unsupported otherwise.
TSR_MUST_USE tsr_status tsr_layout_runs(const tsr_layout *layout, int dim, int64_t index,
                                        tsr_run **out_runs, int64_t *out_count);

// ---- processes ----

// The smallest box around everything the devices of a process hold, and whether they fill it. Empty
// ranges if they hold nothing; fails with process_not_in_mesh if the process has no device.
TSR_MUST_USE tsr_status tsr_layout_process_hull(const tsr_layout *layout, int64_t process,
                                                tsr_range *out_ranges, bool *out_filled);
// Number of indices of a dimension on the process's devices (JAX's num_addressable_indices).
TSR_MUST_USE tsr_status tsr_layout_addressable(const tsr_layout *layout, int64_t process, int dim,
                                               int64_t *out_elements);
// Number of distinct sets of shards of a dimension that processes hold; 0 if the sets differ in
// size or overlap partly (JAX's NonUniformShardingError). The indices on one process times this
// number is the size of the dimension (JAX's local_to_global_shape).
TSR_MUST_USE tsr_status tsr_layout_process_shards(const tsr_layout *layout, int dim,
                                                  int64_t *out_count);

#endif
