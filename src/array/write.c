// Copy on write: a shared buffer is copied before the caller may write to it.
#include "array/array.h"
#include "base/buffer_internal.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/transport.h"

static tsr_status copy_slot(tsr_array *array, tsr_array_slot *slot, char *target) {
  const int64_t index = tsr_comm_local_index(array->comm, slot->device);
  const int64_t bytes = tsr_slot_bytes(array, slot);
  const tsr_copy copy = {.source = slot->device, .target = slot->device, .length = bytes};
  tsr_lists lists;
  TSR_TRY(tsr_lists_init(&lists, array->comm));
  lists.in[index] = slot->data;
  lists.out[index] = target;
  const tsr_exchange exchange = {&copy, bytes > 0, 8, lists.in, lists.out};
  tsr_status status = tsr_engine_copy_here(array->comm, &exchange, 1);
  tsr_lists_deinit(&lists);
  return status;
}

static tsr_status unshare(tsr_array *array, tsr_array_slot *slot) {
  tsr_buffer *copy = NULL;
  TSR_TRY(tsr_buffer_create(tsr_comm_buffers(array->comm), tsr_slot_bytes(array, slot), &copy));
  tsr_status status = copy_slot(array, slot, tsr_buffer_data(copy));
  if (status)
    tsr_buffer_release(copy);
  else
    tsr_slot_set(slot, copy, 0);
  return status;
}

tsr_status tsr_array_write(tsr_array *array, int64_t index, void **out_data) {
  TSR_TRY(tsr_array_check_local(array, index));
  tsr_array_slot *slot = &array->slots[index];
  if (!tsr_buffer_is_writable(slot->buffer)) TSR_TRY(unshare(array, slot));
  *out_data = slot->data;
  return NULL;
}

void tsr_array_drop_followers(tsr_array *array) {
  for (int64_t i = 0; i < array->slot_count; i++) {
    tsr_array_slot *slot = &array->slots[i];
    const tsr_array_slot *leader = &array->slots[slot->leader];
    if (tsr_slot_is_leader(array, slot) || slot->buffer != leader->buffer ||
        slot->data != leader->data)
      continue;
    tsr_buffer_release(slot->buffer);
    slot->buffer = NULL;
  }
}

// Private memory for every leader; followers share it again.
static tsr_status unshare_leaders(tsr_array *array) {
  tsr_status status = NULL;
  tsr_array_drop_followers(array);
  for (int64_t i = 0; i < array->slot_count && !status; i++) {
    tsr_array_slot *slot = &array->slots[i];
    if (tsr_slot_is_leader(array, slot) && !tsr_buffer_is_writable(slot->buffer))
      status = unshare(array, slot);
  }
  tsr_array_share(array);
  return status;
}

tsr_status tsr_array_write_all(tsr_array *array, tsr_array_fill_fn *fill, void *context) {
  TSR_TRY(tsr_array_check_alive(array));
  TSR_TRY(unshare_leaders(array));
  tsr_status status = tsr_array_fill_leaders(array, fill, context);
  tsr_array_share_leaders(array);
  return status;
}
