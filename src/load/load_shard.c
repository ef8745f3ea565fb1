// Reads one shard into the caller's memory: a load of one tensor with one slot, on this rank alone.
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "base/sized.h"
#include "element/dtype_internal.h"
#include "element/shape_internal.h"
#include "layout/layout.h"
#include "layout/layout_internal.h"
#include "load/load.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/pool.h"
#include "tessera/tree.h"

static tsr_status check(const tsr_checkpoint *checkpoint, int64_t tensor, const tsr_layout *layout,
                        int64_t shard) {
  TSR_TRY(tsr_checkpoint_check_tensor(checkpoint, tensor));
  const tsr_shape stored = tsr_tensor_shape(tsr_tree_at(checkpoint->tree, tensor));
  const tsr_shape wanted = tsr_layout_shape(layout);
  TSR_TRY(tsr_layout_check_shard(layout, shard));
  return tsr_shapes_check("the tensor", &stored, "the layout has", &wanted);
}

// Padding, and the bits after the last element, are zero.
static void clear(const tsr_layout *layout, int64_t shard, int bits, int64_t bytes, char *out) {
  if (tsr_layout_buffer_elements(layout, shard) > tsr_layout_shard_elements(layout, shard))
    memset(out, 0, (size_t)bytes);
  else if (bytes > 0 && bits < 8)
    out[bytes - 1] = 0;
}

static tsr_status read_slot(const tsr_checkpoint *checkpoint, tsr_pool *pool, const tsr_view *view,
                            const tsr_layout *layout, tsr_load_slot *slot,
                            tsr_load_report *out_report) {
  tsr_load_tensor t = {0};
  tsr_load load = {.checkpoint = checkpoint, .pool = pool, .tensors = &t, .count = 1};
  const int64_t first = 0;
  tsr_status status = tsr_load_tensor_init(&t, &load, view, tsr_layout_retain(layout));
  t.slots = slot;
  t.slot_count = 1;
  if (!status) status = tsr_load_fit_memory(&load);
  if (!status) status = tsr_load_read(&load, &first, 1, NULL);
  if (!status) tsr_sized_fill(tsr_load_report, &load.report, out_report);
  tsr_box_index_destroy(t.index);
  tsr_layout_release(t.layout);
  free(load.touched);
  return status;
}

tsr_status tsr_checkpoint_read_shard(const tsr_checkpoint *checkpoint, int64_t tensor,
                                     const tsr_layout *layout, int64_t shard, tsr_pool *pool,
                                     void *out, int64_t out_bytes, tsr_load_report *out_report) {
  tsr_view *view = NULL;
  tsr_load_slot slot = {.shard = shard, .data = out, .dim = -1, .range = {0, 1}};
  TSR_TRY(tsr_sized_check(tsr_load_report, out_report));
  TSR_TRY(check(checkpoint, tensor, layout, shard));
  const tsr_tensor *t = tsr_tree_at(checkpoint->tree, tensor);
  int64_t needed = 0;
  TSR_TRY(tsr_dtype_bytes(t->dtype, tsr_layout_buffer_elements(layout, shard), &needed));
  TSR_TRY_NOTE(tsr_room_check(out, out_bytes, needed), "tensor \"%s\", shard %lld", t->path,
               (long long)shard);
  TSR_TRY(tsr_view_stored(checkpoint, tensor, TSR_REPLICAS_TRUST, &view));
  clear(layout, shard, tsr_dtype_info_of(view->dtype)->bits, needed, out);
  tsr_status status = read_slot(checkpoint, pool, view, layout, &slot, out_report);
  tsr_view_destroy(view);
  return status;
}
