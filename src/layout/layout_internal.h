// Layouts, for other rooms: kinds, runs, proofs and processes beside what tessera/layout.h and
// tessera/engine/layout.h offer.
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

// Blocks of `length` elements, `count` of them: `step` apart in the tensor, where the first starts
// at `global`, and `local_step` apart in the shard, where the first starts at `local`. A plain
// range is one block. Blocks never overlap and ascend on both sides.
typedef struct tsr_run {
  int64_t global, local, length, count, step, local_step;
  bool owned;  // this is the lowest shard of its dimension that holds these elements
} tsr_run;

// ---- the tensor as a whole ----

typedef enum tsr_layout_kind { TSR_LAYOUT_GRID, TSR_LAYOUT_BOXES, TSR_LAYOUT_FLAT } tsr_layout_kind;
tsr_layout_kind tsr_layout_kind_of(const tsr_layout *layout);
int tsr_layout_rank(const tsr_layout *layout);
// The sharding that was asked for: another than tsr_layout_sharding only when TRIM dropped axes.
const tsr_sharding *tsr_layout_requested(const tsr_layout *layout);
// What TRIM dropped, a line for each dimension: `dimension 0: size 6 is not divisible by x=4; cut
// by x:(1)2 only`. Nothing when nothing was dropped.
void tsr_layout_explain(const tsr_layout *layout, tsr_text *out);
tsr_policy tsr_layout_policy(const tsr_layout *layout);  // UNEVEN unless a grid
// Proves that the pieces tile the tensor: every element is owned by exactly one shard. Fails with
// broken_layout, naming a place where it is not so. Takes O(runs log runs) per dimension of a grid,
// O(boxes log^2 boxes) for boxes that cut planes separate well, O(shards log shards) for flat
// ranges.
TSR_MUST_USE tsr_status tsr_layout_check(const tsr_layout *layout);

// ---- devices and shards ----

// Along each dimension of a grid, which of its cuts a shard is: the digits of its number, last
// dimension fastest. Other kinds have one digit, in dimension 0.
bool tsr_layout_shard_coords(const tsr_layout *layout, int64_t shard, int64_t *out_coords);
int64_t tsr_layout_dim_shards(const tsr_layout *layout, int dim);
// JAX's replica id of each position: how many before it have equal *ranges*. That is not
// tsr_layout_replica_id where shards are empty.
TSR_MUST_USE tsr_status tsr_layout_jax_replica_ids(const tsr_layout *layout, int64_t *out_ids);
// Elements that a shard's buffer has room for, padding included.
int64_t tsr_layout_buffer_elements(const tsr_layout *layout, int64_t shard);
// The row-major strides of a shard's buffer, which has the rank of its buffer shape.
void tsr_layout_buffer_strides(const tsr_layout *layout, int64_t shard, int64_t *out_strides);
// The runs that coordinate `index` of dimension `dim` holds, in a block to free(); NULL and 0 when
// it holds nothing. Grids only: fails with unsupported otherwise.
TSR_MUST_USE tsr_status tsr_layout_runs(const tsr_layout *layout, int dim, int64_t index,
                                        tsr_run **out_runs, int64_t *out_count);

// ---- processes ----

// The smallest box that holds everything the devices of a process hold, and whether they fill it.
// Empty ranges when they hold nothing; fails with process_not_in_mesh when the process has no
// device.
TSR_MUST_USE tsr_status tsr_layout_process_hull(const tsr_layout *layout, int64_t process,
                                                tsr_range *out_ranges, bool *out_filled);
// How many indices of a dimension the process's devices hold (JAX's num_addressable_indices).
TSR_MUST_USE tsr_status tsr_layout_addressable(const tsr_layout *layout, int64_t process, int dim,
                                               int64_t *out_elements);
// In how many distinct ways processes hold a dimension; 0 when they hold different numbers of its
// shards or their holdings overlap only partly (JAX's NonUniformShardingError). What a process
// holds, times this number, is the size of the dimension (JAX's local_to_global_shape).
TSR_MUST_USE tsr_status tsr_layout_process_shards(const tsr_layout *layout, int dim,
                                                  int64_t *out_count);

#endif
