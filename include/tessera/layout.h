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

#include <stdbool.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// What to do with a size that its shards do not divide.
typedef enum tsr_policy {
  TSR_POLICY_ERROR,  // refuse, naming the nearest sizes that work (JAX's jit boundary)
  TSR_POLICY_TRIM,  // keep the longest run of major axes that divides (Shardy's inputs and outputs)
  TSR_POLICY_PAD,   // as UNEVEN, but all buffers have the size of the largest; the rest is padding
  TSR_POLICY_UNEVEN,  // chunks of ceil size; late shards are short or empty
  TSR_POLICY_COUNT
} tsr_policy;

// Indices lo <= i < hi of one dimension.
typedef struct tsr_range {
  int64_t lo, hi;
} tsr_range;

typedef struct tsr_layout tsr_layout;  // immutable, shared by any threads

// The common case: the spec as text, in any notation of tessera/spec.h, bound to the mesh, under
// TSR_POLICY_ERROR. Fails as tsr_spec_parse, tsr_sharding_bind and tsr_layout_create do, naming the
// spec.
TSR_API TSR_MUST_USE tsr_status tsr_layout_from_text(const tsr_mesh *mesh, const char *spec,
                                                     const tsr_shape *shape,
                                                     tsr_layout **out_layout);
// Flat ranges of the row-major tensor, one per shard (ZeRO, FSDP1); positions as for boxes.
TSR_API tsr_layout *tsr_layout_retain(const tsr_layout *layout);
TSR_API void tsr_layout_release(const tsr_layout *layout);  // NULL is fine

TSR_API tsr_shape tsr_layout_shape(const tsr_layout *layout);
TSR_API const tsr_mesh *tsr_layout_mesh(const tsr_layout *layout);  // may be NULL
TSR_API int64_t tsr_layout_device_count(const tsr_layout *layout);  // mesh positions
// What TRIM dropped, a line for each dimension: `dimension 0: size 6 is not divisible by x=4; cut
// by x:(1)2 only`. Nothing when nothing was dropped.
TSR_API int64_t tsr_layout_shard_count(const tsr_layout *layout);
// Whether both put the same elements at the same places of the same devices' shards (padding
// aside). Meshes and kinds may differ; devices are told by id.
TSR_API TSR_MUST_USE tsr_status tsr_layout_equivalent(const tsr_layout *a, const tsr_layout *b,
                                                      bool *out_equivalent);

// ---- devices and shards ----

TSR_API int64_t tsr_layout_shard(const tsr_layout *layout, int64_t position);
// What tells devices of different layouts apart: a position's device id, or the position itself
// where there is no mesh or an abstract one. And the position of a device, -1 if there is none.
TSR_API int64_t tsr_layout_device_at(const tsr_layout *layout, int64_t position);
// Rank of a position in its group. JAX's replica id counts devices with equal *ranges*, which are
// more where shards are empty: tsr_layout_jax_replica_ids gives one for each position.
TSR_API int64_t tsr_layout_replica_id(const tsr_layout *layout, int64_t position);
// The shape of a shard's elements, and of the buffer that holds them (larger under PAD). Shards of
// boxes and flat ranges have rank 1.
TSR_API bool tsr_layout_shard_shape(const tsr_layout *layout, int64_t shard, tsr_shape *out_shape);
// The one range per dimension that a shard holds. Fails with bad_cut where a shard is not one box.
TSR_API TSR_MUST_USE tsr_status tsr_layout_box(const tsr_layout *layout, int64_t shard,
                                               tsr_range *out_ranges);

TSR_END_DECLS

#endif
