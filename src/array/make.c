// New arrays: zeros, one value, a callback, and given buffers.
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "array/array_internal.h"
#include "base/buffer_internal.h"
#include "base/room.h"
#include "layout/layout_internal.h"
#include "tessera/engine/array.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/pool.h"

// ---- filling memory in parallel ----

enum { CHUNK = 3 << 18 };  // a multiple of every pattern's length

typedef struct memory_fill {
  const unsigned char *pattern;  // `length` bytes, again and again; NULL = zeros
  size_t length;
  char *data;
  int64_t bytes;
} memory_fill;

static tsr_status fill_chunk(void *context, int64_t index, int worker) {
  const memory_fill *f = context;
  char *data = f->data + index * CHUNK;
  const int64_t left = f->bytes - index * CHUNK;
  const size_t bytes = (size_t)(left < CHUNK ? left : CHUNK);
  (void)worker;
  if (!f->pattern) {
    memset(data, 0, bytes);
    return NULL;
  }
  size_t done = bytes < f->length ? bytes : f->length;
  memcpy(data, f->pattern, done);
  // Doubles the filled range.
  for (size_t next; done < bytes; done += next) {
    next = done < bytes - done ? done : bytes - done;
    memcpy(data + done, data, next);
  }
  return NULL;
}

static tsr_status fill(const tsr_array *array, memory_fill f) {
  return tsr_pool_run(tsr_comm_pool(array->comm), (f.bytes + CHUNK - 1) / CHUNK, fill_chunk, &f);
}

tsr_status tsr_slot_clear(const tsr_array *array, tsr_array_slot *slot) {
  return fill(array, (memory_fill){.data = slot->data, .bytes = tsr_slot_bytes(array, slot)});
}

// ---- constant arrays ----

tsr_status tsr_array_empty(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                           tsr_array **out_array) {
  tsr_array *array = NULL;
  TSR_TRY(tsr_array_alloc(comm, layout, dtype, &array));
  tsr_status status = tsr_array_make_buffers(array);
  if (!status) tsr_array_share(array);
  return tsr_array_give(status, array, out_array);
}

typedef tsr_status slot_fn(tsr_array *array, tsr_array_slot *slot, const void *context);

// An array with leaders filled one by one.
static tsr_status make_each(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                            slot_fn *write, const void *context, tsr_array **out_array) {
  tsr_array *array = NULL;
  TSR_TRY(tsr_array_empty(comm, layout, dtype, &array));
  tsr_status status = NULL;
  for (int64_t i = 0; i < array->slot_count && !status; i++)
    if (tsr_slot_is_leader(array, &array->slots[i]))
      status = write(array, &array->slots[i], context);
  return tsr_array_give(status, array, out_array);
}

static tsr_status write_zeros(tsr_array *array, tsr_array_slot *slot, const void *context) {
  (void)context;
  return tsr_slot_clear(array, slot);
}

tsr_status tsr_array_zeros(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                           tsr_array **out_array) {
  return make_each(comm, layout, dtype, write_zeros, NULL, out_array);
}

// Copies of an element up to a byte boundary: at most 3 bytes, for 6 bits.
static size_t make_pattern(int bits, const void *element, unsigned char *out_pattern) {
  if (bits >= 8) {
    memcpy(out_pattern, element, (size_t)bits / 8);
    return (size_t)bits / 8;
  }
  const size_t length = bits == 6 ? 3 : 1;
  const unsigned value = *(const unsigned char *)element & ((1U << bits) - 1);
  unsigned packed = 0;
  for (unsigned at = 0; at < length * 8; at += (unsigned)bits) packed |= value << at;
  for (size_t i = 0; i < length; i++) out_pattern[i] = (unsigned char)(packed >> (8 * i));
  return length;
}

static tsr_status write_full(tsr_array *array, tsr_array_slot *slot, const void *element) {
  unsigned char pattern[16];
  const size_t length = make_pattern(array->bits, element, pattern);
  const int64_t bytes = tsr_slot_bytes(array, slot);
  TSR_TRY(fill(array, (memory_fill){pattern, length, slot->data, bytes}));
  const int64_t tail = tsr_layout_buffer_elements(array->layout, slot->shard) % 8 * array->bits % 8;
  if (tail) slot->data[bytes - 1] = (char)(slot->data[bytes - 1] & ((1 << tail) - 1));
  return NULL;
}

// Shards a tensor with all strides 0, so that padding stays zero.
static tsr_status shard_element(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                                const void *element, tsr_array **out_array) {
  const int64_t strides[TSR_MAX_RANK] = {0};
  tsr_host_options options = TSR_HOST_OPTIONS;
  options.strides = strides;
  return tsr_array_shard(comm, layout, dtype, element, &options, out_array);
}

tsr_status tsr_array_full(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                          const void *element, tsr_array **out_array) {
  if (tsr_layout_policy(layout) == TSR_POLICY_PAD || tsr_layout_term_count(layout) > 1)
    return shard_element(comm, layout, dtype, element, out_array);
  return make_each(comm, layout, dtype, write_full, element, out_array);
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
