// Layout: which piece of a tensor each device holds.
//
// A layout is a *grid* (one cut per dimension, from a sharding), a list of *boxes* per shard, or
// *flat* ranges of the row-major tensor. Callers need not know which: they ask for the shard of a
// device and for the pieces of a shard. Nothing is stored per device.
//
//   tsr_layout *layout = NULL;
//   TSR_TRY(tsr_layout_create(sharding, TSR_SHAPE(8, 16), TSR_POLICY_ERROR, &layout));
//   const int64_t shard = tsr_layout_shard(layout, position);
//   tsr_pieces pieces;
//   TSR_TRY(tsr_pieces_init(&pieces, layout, shard));
//   for (tsr_piece piece; tsr_pieces_next(&pieces, &piece);) ...
//   tsr_pieces_deinit(&pieces);
#ifndef TESSERA_LAYOUT_H
#define TESSERA_LAYOUT_H

#include "tessera/sharding.h"

TSR_BEGIN_DECLS

// What to do with a size that its shards do not divide.
typedef enum tsr_policy {
  TSR_POLICY_ERROR,   // refuse, naming the nearest sizes that work (JAX's jit boundary)
  TSR_POLICY_TRIM,    // drop minor axes until it divides (Shardy's inputs and outputs)
  TSR_POLICY_PAD,     // even chunks of ceil size; buffers are full size, the tail is padding
  TSR_POLICY_UNEVEN,  // even chunks of ceil size; late shards are short or empty
  TSR_POLICY_COUNT
} tsr_policy;
TSR_API const char *tsr_policy_name(tsr_policy policy);  // "error"
TSR_API TSR_MUST_USE tsr_status tsr_policy_parse(const char *name, tsr_policy *out_policy);

// Indices lo <= i < hi of one dimension.
typedef struct tsr_range {
  int64_t lo, hi;
} tsr_range;

// Blocks of `length` elements, `count` of them, `step` apart in the tensor and packed one after the
// other from `local` in the shard. A plain range is one block.
typedef struct tsr_run {
  int64_t global, local, length, count, step;
  bool owned;  // this is the lowest shard of its dimension that holds these elements
} tsr_run;

typedef struct tsr_layout tsr_layout;

// ---- making ----

TSR_API TSR_MUST_USE tsr_status tsr_layout_create(const tsr_sharding *sharding,
                                                  const tsr_shape *shape, tsr_policy policy,
                                                  tsr_layout **out_layout);
// Boxes, `rank` ranges each, `box_counts[s]` of them for shard s, stored in the shard one after the
// other. Shard s belongs to mesh position s modulo `shard_count`, so more positions are replicas.
// NULL mesh: one position per shard.
TSR_API TSR_MUST_USE tsr_status tsr_layout_from_boxes(const tsr_mesh *mesh, const tsr_shape *shape,
                                                      int64_t shard_count, const int *box_counts,
                                                      const tsr_range *boxes,
                                                      tsr_layout **out_layout);
// Flat ranges of the row-major tensor, one per shard (ZeRO, FSDP1).
TSR_API TSR_MUST_USE tsr_status tsr_layout_from_flat(const tsr_mesh *mesh, const tsr_shape *shape,
                                                     int64_t shard_count, const tsr_range *ranges,
                                                     tsr_layout **out_layout);
TSR_API tsr_layout *tsr_layout_retain(const tsr_layout *layout);
TSR_API void tsr_layout_release(const tsr_layout *layout);  // NULL is fine

// ---- the tensor as a whole ----

typedef enum tsr_layout_kind { TSR_LAYOUT_GRID, TSR_LAYOUT_BOXES, TSR_LAYOUT_FLAT } tsr_layout_kind;
TSR_API tsr_layout_kind tsr_layout_kind_of(const tsr_layout *layout);
TSR_API const tsr_shape *tsr_layout_shape(const tsr_layout *layout);
TSR_API const tsr_mesh *tsr_layout_mesh(const tsr_layout *layout);          // may be NULL
TSR_API const tsr_sharding *tsr_layout_sharding(const tsr_layout *layout);  // NULL unless a grid
TSR_API tsr_policy tsr_layout_policy(const tsr_layout *layout);
TSR_API int64_t tsr_layout_device_count(const tsr_layout *layout);  // mesh positions
TSR_API int64_t tsr_layout_shard_count(const tsr_layout *layout);
// Proves that the pieces tile the tensor: every element in at least one shard, and owned once. Costs
// time in the number of runs, not of elements.
TSR_API TSR_MUST_USE tsr_status tsr_layout_check(const tsr_layout *layout);
// Whether both put the same elements at the same local places on the same devices.
TSR_API TSR_MUST_USE tsr_status tsr_layout_equivalent(const tsr_layout *a, const tsr_layout *b,
                                                      bool *out_equivalent);

// ---- devices and shards ----

TSR_API int64_t tsr_layout_shard(const tsr_layout *layout, int64_t position);
// Replica group: the positions with this shard, ascending. `index` counts from 0; -1 past the end.
TSR_API int64_t tsr_layout_replica_count(const tsr_layout *layout);
TSR_API int64_t tsr_layout_replica(const tsr_layout *layout, int64_t shard, int64_t index);
// Rank of a position in its group. JAX's replica id counts devices with equal *ranges*, which is
// more when sizes are zero or shards empty: tsr_layout_jax_replica_ids.
TSR_API int64_t tsr_layout_replica_id(const tsr_layout *layout, int64_t position);
TSR_API TSR_MUST_USE tsr_status tsr_layout_jax_replica_ids(const tsr_layout *layout,
                                                           int64_t *out_ids);
// The shape of a shard's elements, and of the buffer that holds them (larger under PAD). Flat and
// box layouts have rank 1 buffers.
TSR_API TSR_MUST_USE tsr_status tsr_layout_shard_shape(const tsr_layout *layout, int64_t shard,
                                                       tsr_shape *out_shape);
TSR_API TSR_MUST_USE tsr_status tsr_layout_buffer_shape(const tsr_layout *layout, int64_t shard,
                                                        tsr_shape *out_shape);
TSR_API int64_t tsr_layout_shard_elements(const tsr_layout *layout, int64_t shard);
// The one range per dimension that a shard holds (JAX's index map). Fails with bad_cut where a shard
// is not one box.
TSR_API TSR_MUST_USE tsr_status tsr_layout_box(const tsr_layout *layout, int64_t shard,
                                               tsr_range *out_ranges);
// devices_indices_map: `rank` ranges for each mesh position in turn.
TSR_API TSR_MUST_USE tsr_status tsr_layout_index_map(const tsr_layout *layout,
                                                     tsr_range *out_ranges);
// The runs that coordinate `index` of dimension `dim` holds (grids only): the shard's coordinates
// are the digits of its number, last dimension fastest. In a block to free().
TSR_API TSR_MUST_USE tsr_status tsr_layout_runs(const tsr_layout *layout, int dim, int64_t index,
                                                tsr_run **out_runs, int *out_count);
TSR_API int64_t tsr_layout_dim_shards(const tsr_layout *layout, int dim);  // 1 unless a grid

// ---- pieces ----

// A box of elements and where it lies in the shard's buffer (in elements; row-major strides of the
// buffer shape).
typedef struct tsr_piece {
  tsr_range ranges[TSR_MAX_RANK];  // in the tensor
  int64_t local[TSR_MAX_RANK];     // low corner in the shard (grids); local[0] = offset otherwise
  bool owned;  // this shard is the one that writes it (when its replica id is 0)
} tsr_piece;

typedef struct tsr_pieces {
  const tsr_layout *layout;
  int64_t shard;
  struct tsr_pieces_state *state;  // owned
} tsr_pieces;
TSR_API TSR_MUST_USE tsr_status tsr_pieces_init(tsr_pieces *pieces, const tsr_layout *layout,
                                                int64_t shard);
TSR_API bool tsr_pieces_next(tsr_pieces *pieces, tsr_piece *out_piece);
TSR_API void tsr_pieces_deinit(tsr_pieces *pieces);

// ---- processes ----

// The smallest box that holds everything the devices of a process hold, and whether they fill it.
TSR_API TSR_MUST_USE tsr_status tsr_layout_process_hull(const tsr_layout *layout, int32_t process,
                                                        tsr_range *out_ranges, bool *out_filled);
// How many elements of a dimension the process's devices hold (JAX's num_addressable_indices).
TSR_API TSR_MUST_USE tsr_status tsr_layout_addressable(const tsr_layout *layout, int32_t process,
                                                       int dim, int64_t *out_elements);
// In how many distinct ways processes hold a dimension; 0 when their holdings overlap only partly.
TSR_API TSR_MUST_USE tsr_status tsr_layout_process_shards(const tsr_layout *layout, int dim,
                                                          int64_t *out_count);

TSR_END_DECLS

#endif
