// Layout: which piece of a tensor each device holds.
//
// A layout maps each *position* of a mesh to a *shard* of a tensor. Positions with the same shard
// are replicas. Nothing is stored per device.
//
//   TSR_OWN(layout, layout);  // released at the end of the block: tessera/own.h
//   TSR_TRY(tsr_layout_from_text(mesh, "data, model", TSR_SHAPE(8, 16), &layout));
//   tsr_range ranges[2];
//   TSR_TRY(tsr_layout_box(layout, tsr_layout_shard(layout, position), ranges));
//
// tessera/engine/layout.h has layouts that no spec expresses, the pieces of shards that are not
// boxes, and buffer offsets.
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
  TSR_POLICY_ERROR,   // fail, naming the nearest sizes that divide (JAX's jit boundary)
  TSR_POLICY_TRIM,    // keep the longest prefix of axes that divides (Shardy's inputs and outputs)
  TSR_POLICY_PAD,     // as UNEVEN, with all buffers padded to the largest
  TSR_POLICY_UNEVEN,  // chunks of ceil(size / shards); late shards are short or empty
  TSR_POLICY_COUNT
} tsr_policy;

// Indices lo <= i < hi of one dimension.
typedef struct tsr_range {
  int64_t lo, hi;
} tsr_range;

typedef struct tsr_layout tsr_layout;  // immutable, safe to share between threads

// The common case: a spec in any notation of tessera/spec.h, bound to the mesh, under
// TSR_POLICY_ERROR. Fails as tsr_spec_parse, tsr_sharding_bind and tsr_layout_create do.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_layout_from_text(const tsr_mesh *mesh,
                                                                 const char *spec,
                                                                 const tsr_shape *shape,
                                                                 tsr_layout **out_layout);
TSR_API TSR_NONNULL tsr_layout *tsr_layout_retain(const tsr_layout *layout);
TSR_API void tsr_layout_release(const tsr_layout *layout);  // NULL is fine

TSR_API TSR_NONNULL tsr_shape tsr_layout_shape(const tsr_layout *layout);
TSR_API TSR_NONNULL const tsr_mesh *tsr_layout_mesh(const tsr_layout *layout);  // may be NULL
TSR_API TSR_NONNULL int64_t tsr_layout_device_count(const tsr_layout *layout);  // mesh positions
TSR_API TSR_NONNULL int64_t tsr_layout_shard_count(const tsr_layout *layout);
// Whether both put the same elements at the same offsets on the same devices (by id), ignoring
// padding. Meshes and kinds may differ.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_layout_equivalent(const tsr_layout *a,
                                                                  const tsr_layout *b,
                                                                  bool *out_equivalent);

// ---- devices and shards ----

// The shard that a position holds.
TSR_API TSR_NONNULL int64_t tsr_layout_shard(const tsr_layout *layout, int64_t position);
// The device id of a position, or the position itself without a mesh or with an abstract one.
TSR_API TSR_NONNULL int64_t tsr_layout_device_at(const tsr_layout *layout, int64_t position);
// Number of positions before this one with the same shard. (JAX's replica id counts equal *ranges*,
// so empty shards count as replicas of each other.)
TSR_API TSR_NONNULL int64_t tsr_layout_replica_id(const tsr_layout *layout, int64_t position);
// The shape of a shard's elements. Its buffer is larger under PAD (tsr_layout_buffer_shape). Shards
// of boxes and flat ranges have rank 1.
TSR_API TSR_NONNULL bool tsr_layout_shard_shape(const tsr_layout *layout, int64_t shard,
                                                tsr_shape *out_shape);
// The range of each dimension that a shard holds. Fails with bad_cut if the shard is not one box.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1) tsr_status
    tsr_layout_box(const tsr_layout *layout, int64_t shard, tsr_range *out_ranges);

TSR_END_DECLS

#endif
