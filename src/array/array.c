// An array is one allocation: the handle, then a slot for each local device, sorted by device as
// the comm lists its buffers. The layout determines which slots hold the same values.
#include "array/array.h"

#include <stdlib.h>
#include <string.h>

#include "array/array_internal.h"
#include "comm/comm.h"
#include "layout/layout_internal.h"
#include "tessera/engine/array.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"

// ---- slots ----

static int by_device(const void *left, const void *right) {
  const tsr_array_slot *a = left, *b = right;
  return (a->device > b->device) - (a->device < b->device);
}

typedef struct slot_content {
  int64_t shard, term, slot;
} slot_content;

static int by_holding(const void *left, const void *right) {
  const slot_content *a = left, *b = right;
  if (a->shard != b->shard) return a->shard < b->shard ? -1 : 1;
  if (a->term != b->term) return a->term < b->term ? -1 : 1;
  return (a->slot > b->slot) - (a->slot < b->slot);
}

static tsr_status find_leaders(tsr_array *array) {
  const int64_t count = array->slot_count;
  slot_content *list = malloc(sizeof *list * ((size_t)count + 1));
  if (!list) return tsr_fail(NO_MEMORY, "%lld local devices", (long long)count);
  for (int64_t i = 0; i < count; i++)
    list[i] = (slot_content){array->slots[i].shard, array->slots[i].term, i};
  qsort(list, (size_t)count, sizeof *list, by_holding);
  for (int64_t i = 0; i < count; i++) {
    const bool follows =
        i > 0 && list[i].shard == list[i - 1].shard && list[i].term == list[i - 1].term;
    array->slots[list[i].slot].leader =
        follows ? array->slots[list[i - 1].slot].leader : list[i].slot;
  }
  free(list);
  return NULL;
}

static tsr_status check_devices(const tsr_comm *comm, const tsr_layout *layout,
                                int64_t *out_local) {
  const int64_t positions = tsr_layout_device_count(layout), devices = tsr_comm_device_count(comm);
  *out_local = 0;
  for (int64_t p = 0; p < positions; p++) {
    const int64_t device = tsr_layout_device_at(layout, p);
    if (device < 0 || device >= devices)
      return tsr_fail(UNKNOWN_DEVICE, "device %lld of the layout is not one of the comm's %lld",
                      (long long)device, (long long)devices);
    if (tsr_comm_local_index(comm, device) >= 0) ++*out_local;
  }
  return NULL;
}

static void fill_slots(tsr_array *array) {
  const int64_t positions = tsr_layout_device_count(array->layout);
  int64_t count = 0;
  for (int64_t p = 0; p < positions; p++) {
    const int64_t device = tsr_layout_device_at(array->layout, p);
    if (tsr_comm_local_index(array->comm, device) < 0) continue;
    array->slots[count++] = (tsr_array_slot){.device = device,
                                             .position = p,
                                             .shard = tsr_layout_shard(array->layout, p),
                                             .term = tsr_layout_term(array->layout, p)};
  }
  qsort(array->slots, (size_t)count, sizeof *array->slots, by_device);
}

// ---- making ----

static tsr_status check_bytes(const tsr_layout *layout, tsr_dtype dtype) {
  const tsr_shape shape = tsr_layout_shape(layout);
  int64_t bytes;
  if (!tsr_dtype_info_of(dtype))
    return tsr_fail(UNKNOWN_DTYPE, "element type %d is none of tessera/dtypes.def", (int)dtype);
  return tsr_shape_bytes(&shape, dtype, &bytes);
}

tsr_status tsr_array_alloc(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                           tsr_array **out_array) {
  int64_t local = 0;
  TSR_TRY(check_bytes(layout, dtype));
  TSR_TRY(check_devices(comm, layout, &local));
  tsr_array *array = calloc(1, sizeof *array + sizeof *array->slots * (size_t)local);
  if (!array) return tsr_fail(NO_MEMORY, "array of %lld local devices", (long long)local);
  atomic_init(&array->refs, 1);
  array->dtype = dtype;
  array->bits = tsr_dtype_info_of(dtype)->bits;
  array->comm = tsr_comm_retain(comm);
  array->layout = tsr_layout_retain(layout);
  array->slot_count = local;
  fill_slots(array);
  tsr_status status = find_leaders(array);
  return tsr_array_give(status, array, out_array);
}

tsr_status tsr_array_give(tsr_status status, tsr_array *array, tsr_array **out_array) {
  if (status)
    tsr_array_release(array);
  else
    *out_array = array;
  return status;
}

int64_t tsr_slot_bytes(const tsr_array *array, const tsr_array_slot *slot) {
  const int64_t elements = tsr_layout_buffer_elements(array->layout, slot->shard);
  return elements / 8 * array->bits + (elements % 8 * array->bits + 7) / 8;
}

bool tsr_slot_is_leader(const tsr_array *array, const tsr_array_slot *slot) {
  return &array->slots[slot->leader] == slot;
}

void tsr_slot_set(tsr_array_slot *slot, tsr_buffer *buffer, int64_t offset) {
  tsr_buffer_release(slot->buffer);
  slot->buffer = buffer;
  slot->data = (char *)tsr_buffer_data(buffer) + offset;
}

void tsr_slot_hold(tsr_array_slot *slot, const tsr_array_slot *other) {
  const int64_t offset = other->data - (const char *)tsr_buffer_data(other->buffer);
  tsr_slot_set(slot, tsr_buffer_retain(other->buffer), offset);
}

tsr_status tsr_slot_make(tsr_array *array, tsr_array_slot *slot) {
  const int64_t bytes = tsr_slot_bytes(array, slot);
  tsr_buffer *buffer = NULL;
  TSR_TRY_NOTE(tsr_buffer_create(tsr_comm_buffers(array->comm), bytes, &buffer), "device %lld",
               (long long)slot->device);
  tsr_slot_set(slot, buffer, 0);
  const bool padded = tsr_layout_buffer_elements(array->layout, slot->shard) >
                      tsr_layout_shard_elements(array->layout, slot->shard);
  if (padded)
    memset(slot->data, 0, (size_t)bytes);
  else if (bytes > 0 && array->bits < 8)
    slot->data[bytes - 1] = 0;
  return NULL;
}

tsr_status tsr_array_make_buffers(tsr_array *array) {
  for (int64_t i = 0; i < array->slot_count; i++) {
    tsr_array_slot *slot = &array->slots[i];
    if (tsr_slot_is_leader(array, slot) && !slot->buffer) TSR_TRY(tsr_slot_make(array, slot));
  }
  return NULL;
}

void tsr_array_share(tsr_array *array) {
  for (int64_t i = 0; i < array->slot_count; i++) {
    tsr_array_slot *slot = &array->slots[i];
    if (tsr_slot_is_leader(array, slot) || slot->buffer) continue;
    slot->buffer = tsr_buffer_retain(array->slots[slot->leader].buffer);
    slot->data = array->slots[slot->leader].data;
  }
}

void tsr_array_share_leaders(tsr_array *array) {
  for (int64_t i = 0; i < array->slot_count; i++) {
    tsr_array_slot *slot = &array->slots[i];
    if (tsr_slot_is_leader(array, slot)) continue;
    tsr_buffer_release(slot->buffer);
    slot->buffer = NULL;
  }
  tsr_array_share(array);
}

tsr_array *tsr_array_retain(tsr_array *array) {
  atomic_fetch_add_explicit(&array->refs, 1, memory_order_relaxed);
  return array;
}

void tsr_array_delete(tsr_array *array) {
  for (int64_t i = 0; i < array->slot_count; i++) {
    tsr_buffer_release(array->slots[i].buffer);
    array->slots[i].buffer = NULL;
    array->slots[i].data = NULL;
  }
  atomic_store(&array->deleted, true);
}

void tsr_array_release(tsr_array *array) {
  if (!array || atomic_fetch_sub_explicit(&array->refs, 1, memory_order_acq_rel) != 1) return;
  tsr_array_delete(array);
  tsr_layout_release(array->layout);
  tsr_comm_release(array->comm);
  free(atomic_load(&array->replica_ids));
  free(array);
}

tsr_status tsr_array_check_alive(const tsr_array *array) {
  if (!atomic_load(&array->deleted)) return NULL;
  return tsr_fail(ARRAY_DELETED, "the array was donated: its buffers are gone");
}

tsr_status tsr_array_check_local(const tsr_array *array, int64_t index) {
  TSR_TRY(tsr_array_check_alive(array));
  if (index >= 0 && index < array->slot_count) return NULL;
  return tsr_fail(INDEX_OUT_OF_RANGE, "local shard %lld of an array that has %lld",
                  (long long)index, (long long)array->slot_count);
}

tsr_status tsr_array_agree(tsr_comm *comm, const char *what, tsr_status found) {
  const tsr_call c = tsr_call_begin(comm, what);
  return tsr_call_agree(&c, found);
}

// ---- lists ----

tsr_status tsr_lists_init(tsr_lists *lists, const tsr_comm *comm) {
  const size_t count = (size_t)tsr_comm_local_count(comm);
  void **block = calloc(2 * count + 1, sizeof *block);
  lists->in = (const void **)block;  // owns the block
  lists->out = block ? block + count : NULL;
  return block ? NULL : tsr_fail(NO_MEMORY, "%zu lists of buffers", count);
}

void tsr_lists_deinit(tsr_lists *lists) { free((void *)lists->in); }

// ---- reading ----

tsr_dtype tsr_array_dtype(const tsr_array *array) { return array->dtype; }
tsr_shape tsr_array_shape(const tsr_array *array) { return tsr_layout_shape(array->layout); }
const tsr_layout *tsr_array_layout(const tsr_array *array) { return array->layout; }
tsr_comm *tsr_array_comm(const tsr_array *array) { return array->comm; }
bool tsr_array_is_deleted(const tsr_array *array) { return atomic_load(&array->deleted); }
int64_t tsr_array_local_count(const tsr_array *array) { return array->slot_count; }

const tsr_sharding *tsr_array_sharding(const tsr_array *array) {
  return tsr_layout_sharding(array->layout);
}

bool tsr_array_is_fully_addressable(const tsr_array *array) {
  return array->slot_count == tsr_layout_device_count(array->layout);
}

static bool has_slot(const tsr_array *array, int64_t index) {
  return index >= 0 && index < array->slot_count;
}

int64_t tsr_array_device(const tsr_array *array, int64_t index) {
  return has_slot(array, index) ? array->slots[index].device : -1;
}

int64_t tsr_array_local_find(const tsr_array *array, int64_t device) {
  int64_t low = 0, high = array->slot_count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (array->slots[middle].device < device)
      low = middle + 1;
    else
      high = middle;
  }
  return low < array->slot_count && array->slots[low].device == device ? low : -1;
}

const void *tsr_array_data(const tsr_array *array, int64_t index) {
  return has_slot(array, index) ? array->slots[index].data : NULL;
}

tsr_buffer *tsr_array_buffer(const tsr_array *array, int64_t index, int64_t *out_offset) {
  if (!has_slot(array, index)) return NULL;
  const tsr_array_slot *slot = &array->slots[index];
  if (slot->buffer) *out_offset = slot->data - (const char *)tsr_buffer_data(slot->buffer);
  return slot->buffer;
}
