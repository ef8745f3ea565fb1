// Layout: which piece of a tensor each device holds.
//
// A layout is a *grid* (one cut per dimension, from a sharding), a list of *boxes* per shard, or
// *flat* ranges of the row-major tensor. Callers need not know which: they ask for the shard of a
// mesh position and for the pieces of a shard. Nothing is stored per device.
//
//   TSR_OWN(layout, layout);
//   TSR_TRY(tsr_layout_from_text(mesh, "data, model", TSR_SHAPE(8, 16), &layout));
//   tsr_pieces pieces;
//   TSR_TRY(tsr_pieces_init(&pieces, layout, tsr_layout_shard(layout, position)));
//   for (tsr_piece piece; tsr_pieces_next(&pieces, &piece);) ...
//   tsr_pieces_deinit(&pieces);
#ifndef TESSERA_LAYOUT_H
#define TESSERA_LAYOUT_H

#include "tessera/sharding.h"

TSR_BEGIN_DECLS

// What to do with a size that its shards do not divide.
typedef enum tsr_policy {
  TSR_POLICY_ERROR,  // refuse, naming the nearest sizes that work (JAX's jit boundary)
  TSR_POLICY_TRIM,  // keep the longest run of major axes that divides (Shardy's inputs and outputs)
  TSR_POLICY_PAD,   // as UNEVEN, but all buffers have the size of the largest; the rest is padding
  TSR_POLICY_UNEVEN,  // chunks of ceil size; late shards are short or empty
  TSR_POLICY_COUNT
} tsr_policy;
TSR_API const char *tsr_policy_name(tsr_policy policy);  // "error"
TSR_API TSR_MUST_USE tsr_status tsr_policy_parse(const char *name, tsr_policy *out_policy);

// Indices lo <= i < hi of one dimension.
typedef struct tsr_range {
  int64_t lo, hi;
} tsr_range;

// Blocks of `length` elements, `count` of them: `step` apart in the tensor, where the first starts
// at `global`, and `local_step` apart in the shard, where the first starts at `local`. A plain
// range is one block. Blocks never overlap and ascend on both sides.
typedef struct tsr_run {
  int64_t global, local, length, count, step, local_step;
  bool owned;  // this is the lowest shard of its dimension that holds these elements
} tsr_run;

typedef struct tsr_layout tsr_layout;  // immutable, shared by any threads

// ---- making ----

// The grid that `sharding` makes of a tensor. Fails with rank_too_small when the spec is longer
// than the rank, with indivisible under TSR_POLICY_ERROR, and with bad_cut where explicit sizes or
// parts do not fit the size they cut.
TSR_API TSR_MUST_USE tsr_status tsr_layout_create(const tsr_sharding *sharding,
                                                  const tsr_shape *shape, tsr_policy policy,
                                                  tsr_layout **out_layout);
// The common case: the spec as text, in any notation of tessera/spec.h, bound to the mesh, under
// TSR_POLICY_ERROR. Fails as tsr_spec_parse, tsr_sharding_bind and tsr_layout_create do, naming the
// spec.
TSR_API TSR_MUST_USE tsr_status tsr_layout_from_text(const tsr_mesh *mesh, const char *spec,
                                                     const tsr_shape *shape,
                                                     tsr_layout **out_layout);
// Boxes, `rank` ranges each, `box_counts[s]` of them for shard s in turn, each stored row-major in
// the shard, one after the other. Mesh position p holds shard p modulo `shard_count`, which must
// divide the number of positions. NULL mesh: one position per shard.
TSR_API TSR_MUST_USE tsr_status tsr_layout_from_boxes(const tsr_mesh *mesh, const tsr_shape *shape,
                                                      int64_t shard_count,
                                                      const int64_t *box_counts,
                                                      const tsr_range *boxes,
                                                      tsr_layout **out_layout);
// Flat ranges of the row-major tensor, one per shard (ZeRO, FSDP1); positions as for boxes.
TSR_API TSR_MUST_USE tsr_status tsr_layout_from_flat(const tsr_mesh *mesh, const tsr_shape *shape,
                                                     int64_t shard_count, const tsr_range *ranges,
                                                     tsr_layout **out_layout);
TSR_API tsr_layout *tsr_layout_retain(const tsr_layout *layout);
TSR_API void tsr_layout_release(const tsr_layout *layout);  // NULL is fine

// ---- the tensor as a whole ----

typedef enum tsr_layout_kind { TSR_LAYOUT_GRID, TSR_LAYOUT_BOXES, TSR_LAYOUT_FLAT } tsr_layout_kind;
TSR_API tsr_layout_kind tsr_layout_kind_of(const tsr_layout *layout);
TSR_API int tsr_layout_rank(const tsr_layout *layout);
TSR_API tsr_shape tsr_layout_shape(const tsr_layout *layout);
TSR_API const tsr_mesh *tsr_layout_mesh(const tsr_layout *layout);          // may be NULL
TSR_API const tsr_sharding *tsr_layout_sharding(const tsr_layout *layout);  // NULL unless a grid
// The sharding that was asked for: another than tsr_layout_sharding only when TRIM dropped axes.
TSR_API const tsr_sharding *tsr_layout_requested(const tsr_layout *layout);
// What TRIM dropped, a line for each dimension: `dimension 0: size 6 is not divisible by x=4; cut
// by x:(1)2 only`. Nothing when nothing was dropped.
TSR_API void tsr_layout_explain(const tsr_layout *layout, tsr_text *out);
TSR_API tsr_policy tsr_layout_policy(const tsr_layout *layout);     // UNEVEN unless a grid
TSR_API int64_t tsr_layout_device_count(const tsr_layout *layout);  // mesh positions
TSR_API int64_t tsr_layout_shard_count(const tsr_layout *layout);
// Proves that the pieces tile the tensor: every element is owned by exactly one shard. Fails with
// broken_layout, naming a place where it is not so. Takes O(runs log runs) per dimension of a grid,
// O(boxes log^2 boxes) for boxes that cut planes separate well, O(shards log shards) for flat
// ranges.
TSR_API TSR_MUST_USE tsr_status tsr_layout_check(const tsr_layout *layout);
// Whether both put the same elements at the same places of the same devices' shards (padding
// aside). Meshes and kinds may differ; devices are told by id.
TSR_API TSR_MUST_USE tsr_status tsr_layout_equivalent(const tsr_layout *a, const tsr_layout *b,
                                                      bool *out_equivalent);

// ---- devices and shards ----

TSR_API int64_t tsr_layout_shard(const tsr_layout *layout, int64_t position);
// What tells devices of different layouts apart: a position's device id, or the position itself
// where there is no mesh or an abstract one. And the position of a device, -1 if there is none.
TSR_API int64_t tsr_layout_device_at(const tsr_layout *layout, int64_t position);
TSR_API int64_t tsr_layout_device_find(const tsr_layout *layout, int64_t device);
// The same layout over these devices, one for each position; a layout without a mesh gets one with
// the axis "device". Fails as tsr_mesh_create does.
TSR_API TSR_MUST_USE tsr_status tsr_layout_with_devices(const tsr_layout *layout,
                                                        const int64_t *devices,
                                                        tsr_layout **out_layout);
// Along each dimension of a grid, which of its cuts a shard is: the digits of its number, last
// dimension fastest. Other kinds have one digit, in dimension 0.
TSR_API bool tsr_layout_shard_coords(const tsr_layout *layout, int64_t shard, int64_t *out_coords);
TSR_API int64_t tsr_layout_dim_shards(const tsr_layout *layout, int dim);
// Replica group: the positions with this shard, ascending. `index` counts from 0; -1 past the end.
// Over unreduced axes a group's members hold partial results of the same elements, not copies.
TSR_API int64_t tsr_layout_replica_count(const tsr_layout *layout);
TSR_API int64_t tsr_layout_replica_at(const tsr_layout *layout, int64_t shard, int64_t index);
// Rank of a position in its group. JAX's replica id counts devices with equal *ranges*, which are
// more where shards are empty: tsr_layout_jax_replica_ids gives one for each position.
TSR_API int64_t tsr_layout_replica_id(const tsr_layout *layout, int64_t position);
TSR_API TSR_MUST_USE tsr_status tsr_layout_jax_replica_ids(const tsr_layout *layout,
                                                           int64_t *out_ids);
// The shape of a shard's elements, and of the buffer that holds them (larger under PAD). Shards of
// boxes and flat ranges have rank 1.
TSR_API bool tsr_layout_shard_shape(const tsr_layout *layout, int64_t shard, tsr_shape *out_shape);
TSR_API bool tsr_layout_buffer_shape(const tsr_layout *layout, int64_t shard, tsr_shape *out_shape);
TSR_API int64_t tsr_layout_shard_elements(const tsr_layout *layout, int64_t shard);
TSR_API int64_t tsr_layout_buffer_elements(const tsr_layout *layout, int64_t shard);
// The one range per dimension that a shard holds. Fails with bad_cut where a shard is not one box.
TSR_API TSR_MUST_USE tsr_status tsr_layout_box(const tsr_layout *layout, int64_t shard,
                                               tsr_range *out_ranges);
// devices_indices_map: `rank` ranges for each mesh position in turn. As in JAX, a layout with
// unreduced axes has none (unreduced_has_no_index_map); nor has one whose shards are not boxes.
TSR_API TSR_MUST_USE tsr_status tsr_layout_index_map(const tsr_layout *layout,
                                                     tsr_range *out_ranges);
// The runs that coordinate `index` of dimension `dim` holds, in a block to free(); NULL and 0 when
// it holds nothing. Grids only: fails with unsupported otherwise.
TSR_API TSR_MUST_USE tsr_status tsr_layout_runs(const tsr_layout *layout, int dim, int64_t index,
                                                tsr_run **out_runs, int64_t *out_count);

// ---- pieces ----

// A box of elements, and where they lie in the shard's buffer: element (i, j, ...) at `offset` +
// (i - ranges[0].lo) * strides[0] + ..., counted in elements. Only `rank` entries are written.
typedef struct tsr_piece {
  tsr_range ranges[TSR_MAX_RANK];
  int64_t strides[TSR_MAX_RANK];
  int64_t offset;
  bool owned;  // this shard is the one that writes it, by its replica 0
} tsr_piece;

typedef struct tsr_pieces {
  const tsr_layout *layout;
  int64_t shard;
  struct tsr_pieces_state *state;  // owned
} tsr_pieces;
// The layout must outlive the iterator. Pieces do not overlap; empty ones are not given.
TSR_API TSR_MUST_USE tsr_status tsr_pieces_init(tsr_pieces *pieces, const tsr_layout *layout,
                                                int64_t shard);
TSR_API bool tsr_pieces_next(tsr_pieces *pieces, tsr_piece *out_piece);
TSR_API void tsr_pieces_deinit(tsr_pieces *pieces);

// ---- processes ----

// The smallest box that holds everything the devices of a process hold, and whether they fill it.
// Empty ranges when they hold nothing; fails with process_not_in_mesh when the process has no
// device.
TSR_API TSR_MUST_USE tsr_status tsr_layout_process_hull(const tsr_layout *layout, int64_t process,
                                                        tsr_range *out_ranges, bool *out_filled);
// How many indices of a dimension the process's devices hold (JAX's num_addressable_indices).
TSR_API TSR_MUST_USE tsr_status tsr_layout_addressable(const tsr_layout *layout, int64_t process,
                                                       int dim, int64_t *out_elements);
// In how many distinct ways processes hold a dimension; 0 when they hold different numbers of its
// shards or their holdings overlap only partly (JAX's NonUniformShardingError). What a process
// holds, times this number, is the size of the dimension (JAX's local_to_global_shape).
TSR_API TSR_MUST_USE tsr_status tsr_layout_process_shards(const tsr_layout *layout, int dim,
                                                          int64_t *out_count);

TSR_END_DECLS

#endif
