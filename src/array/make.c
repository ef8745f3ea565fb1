// New arrays: zeros, a callback, and given buffers.
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "base/buffer_internal.h"
#include "base/room.h"
#include "tessera/engine/array.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/pool.h"

// ---- zeros, written in parallel ----

enum { CHUNK = 3 << 18 };

typedef struct zeroing {
  char *data;
  int64_t bytes;
} zeroing;

static tsr_status zero_chunk(void *context, int64_t index, int worker) {
  const zeroing *z = context;
  const int64_t left = z->bytes - index * CHUNK;
  (void)worker;
  memset(z->data + index * CHUNK, 0, (size_t)(left < CHUNK ? left : CHUNK));
  return NULL;
}

tsr_status tsr_slot_clear(const tsr_array *array, tsr_array_slot *slot) {
  zeroing z = {slot->data, tsr_slot_bytes(array, slot)};
  return tsr_pool_run(tsr_comm_pool(array->comm), (z.bytes + CHUNK - 1) / CHUNK, zero_chunk, &z);
}

tsr_status tsr_array_empty(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                           tsr_array **out_array) {
  tsr_array *array = NULL;
  TSR_TRY(tsr_array_alloc(comm, layout, dtype, &array));
  tsr_status status = tsr_array_make_buffers(array);
  if (!status) tsr_array_share(array);
  return tsr_array_give(status, array, out_array);
}

tsr_status tsr_array_zeros(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                           tsr_array **out_array) {
  tsr_array *array = NULL;
  TSR_TRY(tsr_array_empty(comm, layout, dtype, &array));
  tsr_status status = NULL;
  for (int64_t i = 0; i < array->slot_count && !status; i++)
    if (tsr_slot_is_leader(array, &array->slots[i]))
      status = tsr_slot_clear(array, &array->slots[i]);
  return tsr_array_give(status, array, out_array);
}

// ---- a function of the place ----

typedef struct generating {
  tsr_array *array;
  const int64_t *leaders;
  tsr_array_fill_fn *fill;
  void *context;
} generating;

static tsr_status generate_one(void *context, int64_t index, int worker) {
  const generating *g = context;
  tsr_local_shard local = TSR_LOCAL_SHARD;
  (void)worker;
  TSR_TRY(tsr_array_local_at(g->array, g->leaders[index], &local));
  return tsr_note(g->fill(g->context, &local, g->array->slots[g->leaders[index]].data),
                  "device %lld", (long long)local.device);
}

tsr_status tsr_array_fill_leaders(tsr_array *array, tsr_array_fill_fn *fill_shard, void *context) {
  int64_t *leaders = malloc(sizeof *leaders * ((size_t)array->slot_count + 1)), count = 0;
  if (!leaders) return tsr_fail(NO_MEMORY, "%lld local devices", (long long)array->slot_count);
  for (int64_t i = 0; i < array->slot_count; i++)
    if (tsr_slot_is_leader(array, &array->slots[i])) leaders[count++] = i;
  generating g = {array, leaders, fill_shard, context};
  tsr_status status = tsr_pool_run(tsr_comm_pool(array->comm), count, generate_one, &g);
  free(leaders);
  return status;
}

tsr_status tsr_array_generate(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                              tsr_array_fill_fn *fill_shard, void *context, tsr_array **out_array) {
  tsr_array *array = NULL;
  TSR_TRY(tsr_array_empty(comm, layout, dtype, &array));
  tsr_status status = tsr_array_fill_leaders(array, fill_shard, context);
  return tsr_array_give(status, array, out_array);
}

// ---- buffers of others ----

static tsr_status take_buffers(tsr_array *array, tsr_buffer *const *buffers) {
  TSR_TRY(tsr_list_check(buffers, array->slot_count, "buffers"));
  for (int64_t i = 0; i < array->slot_count; i++) {
    tsr_array_slot *slot = &array->slots[i];
    const int64_t wanted = tsr_slot_bytes(array, slot);
    if (!buffers[i])
      return tsr_fail(BAD_ARGUMENT, "no buffer for device %lld", (long long)slot->device);
    if (tsr_buffer_bytes(buffers[i]) < wanted)
      return tsr_fail(BAD_ARGUMENT, "the buffer of device %lld has %lld bytes, wanted %lld",
                      (long long)slot->device, (long long)tsr_buffer_bytes(buffers[i]),
                      (long long)wanted);
    tsr_slot_set(slot, tsr_buffer_retain(buffers[i]), 0);
  }
  return NULL;
}

tsr_status tsr_array_from_buffers(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                                  tsr_buffer *const *buffers, tsr_array **out_array) {
  tsr_array *array = NULL;
  TSR_TRY(tsr_array_alloc(comm, layout, dtype, &array));
  tsr_status status = take_buffers(array, buffers);
  return tsr_array_give(status, array, out_array);
}
