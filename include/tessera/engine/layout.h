// Layouts for engines: any map from elements to shards, and the offset of each element in a buffer.
//
// A layout is a *grid* (one cut per dimension, from a sharding), a list of *boxes* per shard, or
// *flat* ranges of the row-major tensor. The functions below serve all three.
//
//   TSR_OWN(pieces, pieces);  // released at the end of the block: tessera/own.h
//   TSR_TRY(tsr_pieces_init(&pieces, layout, tsr_layout_shard(layout, position)));
//   for (tsr_piece piece; tsr_pieces_next(&pieces, &piece);) ...
#ifndef TESSERA_ENGINE_LAYOUT_H
#define TESSERA_ENGINE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/engine/sharding.h"
#include "tessera/layout.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// ---- making ----

// The grid of a sharding. Fails with rank_too_small if the spec is longer than the rank, with
// indivisible under TSR_POLICY_ERROR, and with bad_cut if explicit sizes or parts do not add up to
// the size they cut.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_layout_create(const tsr_sharding *sharding,
                                                              const tsr_shape *shape,
                                                              tsr_policy policy,
                                                              tsr_layout **out_layout);
// Boxes of `rank` ranges: `box_counts[s]` of them for shard s, stored row-major one after the
// other. Mesh position p holds shard p modulo `shard_count`, which must divide the number of
// positions. NULL mesh: one position per shard.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(2, 4, 6) tsr_status
    tsr_layout_from_boxes(const tsr_mesh *mesh, const tsr_shape *shape, int64_t shard_count,
                          const int64_t *box_counts, const tsr_range *boxes,
                          tsr_layout **out_layout);
// Flat ranges of the row-major tensor, one per shard (ZeRO, FSDP1); positions as for boxes.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(2, 4, 5) tsr_status
    tsr_layout_from_flat(const tsr_mesh *mesh, const tsr_shape *shape, int64_t shard_count,
                         const tsr_range *ranges, tsr_layout **out_layout);

// ---- devices and shards ----

// The sharding of a grid; NULL for other layouts.
TSR_API TSR_NONNULL const tsr_sharding *tsr_layout_sharding(const tsr_layout *layout);

// The position of a device (the inverse of tsr_layout_device_at); -1 if there is none.
TSR_API TSR_NONNULL int64_t tsr_layout_device_find(const tsr_layout *layout, int64_t device);
// The same layout over other devices, one for each position. A layout without a mesh gets one with
// the axis "device". Fails as tsr_mesh_create does.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_layout_with_devices(const tsr_layout *layout,
                                                                    const int64_t *devices,
                                                                    tsr_layout **out_layout);
// The positions that hold a shard, ascending: their number, and the one at `index` (-1 past the
// end). Over unreduced axes they hold partial results, not copies.
TSR_API TSR_NONNULL int64_t tsr_layout_replica_count(const tsr_layout *layout);
TSR_API TSR_NONNULL int64_t tsr_layout_replica_at(const tsr_layout *layout, int64_t shard,
                                                  int64_t index);
// The shape of the buffer that holds a shard: larger than tsr_layout_shard_shape under PAD. Shards
// of boxes and flat ranges have rank 1.
TSR_API TSR_NONNULL bool tsr_layout_buffer_shape(const tsr_layout *layout, int64_t shard,
                                                 tsr_shape *out_shape);
TSR_API TSR_NONNULL int64_t tsr_layout_shard_elements(const tsr_layout *layout, int64_t shard);
// JAX's devices_indices_map: `rank` ranges for each mesh position. Fails for unreduced axes
// (unreduced_has_no_index_map, as JAX does) and for shards that are not boxes (bad_cut).
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1) tsr_status
    tsr_layout_index_map(const tsr_layout *layout, tsr_range *out_ranges);

// ---- pieces ----

// A box of elements. In the shard's buffer, element (i, j, ...) is at `offset` +
// (i - ranges[0].lo) * strides[0] + ..., in elements. Only `rank` entries are written.
typedef struct tsr_piece {
  tsr_range ranges[TSR_MAX_RANK];
  int64_t strides[TSR_MAX_RANK];
  int64_t offset;
  bool owned;  // this shard writes the piece, by its replica 0
} tsr_piece;

typedef struct tsr_pieces {
  const tsr_layout *layout;
  int64_t shard;
  struct tsr_pieces_state *state;  // owned
} tsr_pieces;
// The layout must outlive the iterator. Pieces do not overlap; empty ones are not given.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_pieces_init(tsr_pieces *pieces,
                                                            const tsr_layout *layout,
                                                            int64_t shard);
TSR_API TSR_NONNULL bool tsr_pieces_next(tsr_pieces *pieces, tsr_piece *out_piece);
TSR_API void tsr_pieces_deinit(tsr_pieces *pieces);

TSR_END_DECLS

#endif
