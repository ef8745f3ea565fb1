// Reading an array: its local shards as JAX's addressable_shards, its memory, and one line of text.
#include <stdlib.h>

#include "array/array.h"
#include "array/array_internal.h"
#include "base/buffer_internal.h"
#include "base/sized.h"
#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "layout/layout_internal.h"
#include "tessera/engine/array.h"
#include "tessera/engine/layout.h"

// ---- local shards ----

// If JAX has no replica ids (shards that are not boxes, partial results), ours count devices with
// the same shard.
static tsr_status make_replica_ids(const tsr_layout *layout, int64_t **out_ids) {
  const int64_t devices = tsr_layout_device_count(layout);
  int64_t *ids = malloc(sizeof *ids * ((size_t)devices + 1));
  if (!ids) return tsr_fail(NO_MEMORY, "replica ids of %lld devices", (long long)devices);
  tsr_status status = tsr_layout_jax_replica_ids(layout, ids);
  if (status && tsr_status_code(status) == TSR_CODE_NO_MEMORY) {
    free(ids);
    return status;
  }
  if (status)
    for (int64_t p = 0; p < devices; p++) ids[p] = tsr_layout_replica_id(layout, p);
  tsr_status_free(status);
  *out_ids = ids;
  return NULL;
}

// Computed once, by the first caller.
static tsr_status replica_id(const tsr_array *array, int64_t position, int64_t *out_id) {
  tsr_array *cache = (tsr_array *)(uintptr_t)array;
  int64_t *ids = atomic_load(&cache->replica_ids);
  if (!ids) {
    int64_t *made = NULL;
    TSR_TRY(make_replica_ids(array->layout, &made));
    if (atomic_compare_exchange_strong(&cache->replica_ids, &ids, made))
      ids = made;
    else
      free(made);
  }
  *out_id = ids[position];
  return NULL;
}

static tsr_status find_box(const tsr_array *array, int64_t shard, tsr_local_shard *local) {
  tsr_status status = tsr_layout_box(array->layout, shard, local->ranges);
  local->is_box = !status;
  if (!status || tsr_status_code(status) == TSR_CODE_NO_MEMORY) return status;
  tsr_status_free(status);
  return NULL;
}

tsr_status tsr_array_local_at(const tsr_array *array, int64_t index, tsr_local_shard *out_shard) {
  TSR_TRY(tsr_sized_check(tsr_local_shard, out_shard));
  TSR_TRY(tsr_array_check_local(array, index));
  const tsr_array_slot *slot = &array->slots[index];
  tsr_local_shard local = {.size = sizeof local,
                           .device = slot->device,
                           .position = slot->position,
                           .shard = slot->shard,
                           .data = slot->data,
                           .bytes = tsr_slot_bytes(array, slot),
                           .shared = tsr_buffer_holders(slot->buffer) > 1,
                           .borrowed = tsr_buffer_is_borrowed(slot->buffer)};
  TSR_TRY(replica_id(array, slot->position, &local.replica));
  TSR_TRY(find_box(array, slot->shard, &local));
  tsr_layout_shard_shape(array->layout, slot->shard, &local.shape);
  tsr_layout_buffer_shape(array->layout, slot->shard, &local.buffer_shape);
  tsr_shape_strides(&local.buffer_shape, local.strides);
  tsr_sized_fill(tsr_local_shard, &local, out_shard);
  return NULL;
}

// ---- memory ----

// A follower that shares its leader's memory has none of its own.
static bool has_own_memory(const tsr_array *array, const tsr_array_slot *slot) {
  return slot->data &&
         (tsr_slot_is_leader(array, slot) || slot->data != array->slots[slot->leader].data);
}

int64_t tsr_array_memory(const tsr_array *array) {
  int64_t bytes = 0;
  for (int64_t i = 0; i < array->slot_count; i++)
    if (has_own_memory(array, &array->slots[i])) bytes += tsr_slot_bytes(array, &array->slots[i]);
  return bytes;
}

// ---- one line ----

void tsr_array_print(const tsr_array *array, tsr_text *out) {
  int64_t buffers = 0;
  for (int64_t i = 0; i < array->slot_count; i++)
    buffers += has_own_memory(array, &array->slots[i]);
  tsr_text_addf(out, "%s ", tsr_dtype_info_of(array->dtype)->name);
  tsr_layout_describe(array->layout, out);
  if (tsr_array_is_deleted(array)) {
    tsr_text_add(out, ": donated");
    return;
  }
  tsr_text_addf(out, ": %lld of %lld devices here, %lld buffers, %lld B",
                (long long)array->slot_count, (long long)tsr_layout_device_count(array->layout),
                (long long)buffers, (long long)tsr_array_memory(array));
}
