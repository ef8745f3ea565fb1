// Whether replicas are equal: byte by byte within a process, by hashes between processes.
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "array/array_internal.h"
#include "element/copy_internal.h"
#include "element/shape_internal.h"
#include "layout/layout_internal.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"

// ---- the elements of a slot, without padding ----

typedef struct dense {
  const unsigned char *bytes;
  void *owned;  // a copy, where the buffer is padded
} dense;

static tsr_status make_dense(const tsr_array *array, const tsr_array_slot *slot, dense *out) {
  const int64_t elements = tsr_layout_shard_elements(array->layout, slot->shard);
  *out = (dense){(const unsigned char *)slot->data, NULL};
  if (elements == tsr_layout_buffer_elements(array->layout, slot->shard)) return NULL;
  tsr_shape shape;
  int64_t from[TSR_MAX_RANK], to[TSR_MAX_RANK];
  tsr_layout_shard_shape(array->layout, slot->shard, &shape);
  tsr_layout_buffer_strides(array->layout, slot->shard, from);
  tsr_shape_strides(&shape, to);
  tsr_copy copy = {.length = 1, .loop_count = shape.rank};
  for (int d = 0; d < shape.rank; d++)
    copy.loops[d] = (tsr_copy_loop){shape.dims[d], from[d], to[d]};
  tsr_copy_simplify(&copy);
  out->owned = calloc(1, (size_t)tsr_slot_bytes(array, slot) + 1);
  if (!out->owned) return tsr_fail(NO_MEMORY, "%lld elements", (long long)elements);
  tsr_copy_run(&copy, array->bits, slot->data, out->owned);
  out->bytes = out->owned;
  return NULL;
}

// The first element that differs; -1 if none does.
static int64_t first_difference(const unsigned char *a, const unsigned char *b, int64_t elements,
                                int bits) {
  const int64_t whole = elements * bits / 8;
  int64_t at = 0;
  if (memcmp(a, b, (size_t)whole) != 0)
    while (a[at] == b[at]) at++;
  else
    at = whole;
  // Bit by bit from the byte that differs, or after the last whole byte.
  for (int64_t bit = at * 8; bit < elements * bits; bit++)
    if ((a[bit / 8] ^ b[bit / 8]) >> (bit % 8) & 1) return bit / bits;
  return -1;
}

// ---- in one process ----

static tsr_status compare_slots(const tsr_array *array, const tsr_array_slot *a,
                                const tsr_array_slot *b) {
  dense x, y = {NULL, NULL};
  tsr_status status = make_dense(array, a, &x);
  if (!status) status = make_dense(array, b, &y);
  if (!status) {
    const int64_t elements = tsr_layout_shard_elements(array->layout, a->shard);
    const int64_t at = first_difference(x.bytes, y.bytes, elements, array->bits);
    if (at >= 0)
      status = tsr_fail(
          REPLICAS_DIFFER, "devices %lld and %lld hold shard %lld, but differ in its element %lld",
          (long long)a->device, (long long)b->device, (long long)a->shard, (long long)at);
  }
  free(x.owned);
  free(y.owned);
  return status;
}

static tsr_status compare_here(const tsr_array *array) {
  TSR_TRY(tsr_array_check_alive(array));
  for (int64_t i = 0; i < array->slot_count; i++) {
    const tsr_array_slot *slot = &array->slots[i], *leader = &array->slots[slot->leader];
    if (slot->data != leader->data) TSR_TRY(compare_slots(array, leader, slot));
  }
  return NULL;
}

// ---- between processes ----

// Ignores the bits after the last element.
static tsr_status hash_slot(const tsr_array *array, const tsr_array_slot *slot,
                            uint64_t *out_hash) {
  const int64_t bits = tsr_layout_shard_elements(array->layout, slot->shard) * array->bits;
  dense d;
  TSR_TRY(make_dense(array, slot, &d));
  const uint64_t tail =
      bits % 8 ? d.bytes[bits / 8] & ((1U << (unsigned)(bits % 8)) - 1) : UINT64_C(0);
  *out_hash = tsr_hash64(d.bytes, (size_t)(bits / 8), tail);
  free(d.owned);
  return NULL;
}

static int64_t most_local(const tsr_comm *comm) {
  int64_t most = 0;
  for (int r = 0; r < tsr_comm_rank_count(comm); r++) {
    const int64_t count = tsr_comm_first_device(comm, r + 1) - tsr_comm_first_device(comm, r);
    if (count > most) most = count;
  }
  return most;
}

// The hash of a device; each rank has `most` entries.
static uint64_t hash_of(const tsr_comm *comm, const uint64_t *hashes, int64_t most,
                        int64_t device) {
  const int rank = tsr_comm_rank_of(comm, device);
  return hashes[rank * most + device - tsr_comm_first_device(comm, rank)];
}

static tsr_status compare_hashes(const tsr_array *array, const uint64_t *hashes, int64_t most) {
  const tsr_layout *layout = array->layout;
  for (int64_t p = 0; p < tsr_layout_device_count(layout); p++) {
    // The first replica with the same term, possibly the position itself.
    int64_t i = 0, first;
    const int64_t shard = tsr_layout_shard(layout, p), term = tsr_layout_term(layout, p);
    do first = tsr_layout_replica_at(layout, shard, i++);
    while (tsr_layout_term(layout, first) != term);
    const int64_t a = tsr_layout_device_at(layout, first), b = tsr_layout_device_at(layout, p);
    if (hash_of(array->comm, hashes, most, a) != hash_of(array->comm, hashes, most, b))
      return tsr_fail(REPLICAS_DIFFER, "devices %lld and %lld hold shard %lld, but differ in it",
                      (long long)a, (long long)b, (long long)shard);
  }
  return NULL;
}

static tsr_status hash_here(const tsr_array *array, uint64_t *hashes) {
  for (int64_t i = 0; i < array->slot_count; i++) {
    const int64_t index = tsr_comm_local_index(array->comm, array->slots[i].device);
    TSR_TRY(hash_slot(array, &array->slots[i], &hashes[index]));
  }
  return NULL;
}

static tsr_status compare_far(const tsr_array *array) {
  tsr_comm *comm = array->comm;
  const int64_t most = most_local(comm), ranks = tsr_comm_rank_count(comm);
  uint64_t *hashes = calloc((size_t)(most * (ranks + 1)) + 1, sizeof *hashes);
  tsr_status status =
      hashes ? hash_here(array, hashes)
             : tsr_fail(NO_MEMORY, "hashes of %lld devices", (long long)(most * ranks));
  status = tsr_array_agree(comm, "check of replicas", status);
  // An allocation failure was already reported by agree.
  if (!status && hashes) {
    status = tsr_comm_share(comm, hashes, sizeof *hashes * (size_t)most, hashes + most);
    if (!status) status = compare_hashes(array, hashes + most, most);
  }
  free(hashes);
  return status;
}

tsr_status tsr_array_check_replicas(const tsr_array *array) {
  tsr_call_arrays list = TSR_CALL_ARRAY((tsr_array *)(uintptr_t)array);
  tsr_call c = tsr_call_begin(array->comm, "check of replicas");
  c.items = tsr_call_arrays_items(&list);
  TSR_TRY(tsr_call_agree(&c, compare_here(array)));
  return tsr_comm_rank_count(array->comm) > 1 ? compare_far(array) : NULL;
}
