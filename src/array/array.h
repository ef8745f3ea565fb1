// Shared by the files of this room.
#ifndef TESSERA_ARRAY_ARRAY_H
#define TESSERA_ARRAY_ARRAY_H

#include <stdatomic.h>

#include "comm/call.h"
#include "layout/layout.h"
#include "tessera/array.h"
#include "tessera/engine/kernels.h"
#include "tessera/reduction.h"

// The state of a local device. Slots with the same values (same shard, and same term over unreduced
// axes) follow the first of them, their leader.
typedef struct tsr_array_slot {
  int64_t device, position, shard;
  int64_t term;        // which partial result, over the unreduced axes; 0 without
  int64_t leader;      // index of the leader's slot, possibly its own
  tsr_buffer *buffer;  // owned reference; NULL before it is made and after donation
  char *data;          // in the buffer
} tsr_array_slot;

struct tsr_array {
  atomic_int refs;
  atomic_bool deleted;
  tsr_dtype dtype;
  int bits;  // of an element
  tsr_comm *comm;
  const tsr_layout *layout;
  _Atomic(int64_t *) replica_ids;  // JAX's, per position; computed on demand
  int64_t slot_count;
  tsr_array_slot slots[];  // in order of device
};

// ---- layouts on comms ----

tsr_reduction tsr_layout_reduction(const tsr_layout *layout);  // how terms combine
// The layout without its unreduced axes; the same one, retained, if it has none.
TSR_MUST_USE tsr_status tsr_layout_reduced(const tsr_layout *layout, tsr_layout **out_layout);

// ---- making ----

// An array without buffers. Fails if the comm lacks a device of the layout.
TSR_MUST_USE tsr_status tsr_array_alloc(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                                        tsr_array **out_array);
// Returns the array to the caller, or releases it after a failure.
TSR_MUST_USE tsr_status tsr_array_give(tsr_status status, tsr_array *array, tsr_array **out_array);
// Bytes of a slot's buffer, at most 2^62.
int64_t tsr_slot_bytes(const tsr_array *array, const tsr_array_slot *slot);
bool tsr_slot_is_leader(const tsr_array *array, const tsr_array_slot *slot);
// A new buffer for a leader; padding and the bits after the last element are zero.
TSR_MUST_USE tsr_status tsr_slot_make(tsr_array *array, tsr_array_slot *slot);
// Takes a reference to a buffer; the data start at `offset` bytes.
void tsr_slot_set(tsr_array_slot *slot, tsr_buffer *buffer, int64_t offset);
// Shares the buffer of another slot.
void tsr_slot_hold(tsr_array_slot *slot, const tsr_array_slot *other);
// Creates the missing buffers of leaders.
TSR_MUST_USE tsr_status tsr_array_make_buffers(tsr_array *array);
// Fills a slot's buffer with zeros, on the comm's workers.
TSR_MUST_USE tsr_status tsr_slot_clear(const tsr_array *array, tsr_array_slot *slot);
// Calls `fill` for each leader, on the comm's workers.
TSR_MUST_USE tsr_status tsr_array_fill_leaders(tsr_array *array, tsr_array_fill_fn *fill,
                                               void *context);
// Followers without a buffer share their leaders': the last step of making an array.
void tsr_array_share(tsr_array *array);
// The same for all followers, which release what they had.
void tsr_array_share_leaders(tsr_array *array);
// Releases buffers that followers share with their leaders, which may then be the only holders.
void tsr_array_drop_followers(tsr_array *array);
// Fails if the array was donated, or has no such local shard.
TSR_MUST_USE tsr_status tsr_array_check_alive(const tsr_array *array);
TSR_MUST_USE tsr_status tsr_array_check_local(const tsr_array *array, int64_t index);
// Releases the buffers.
void tsr_array_delete(tsr_array *array);

// Lists of buffers for a comm: an entry per local device of the comm, NULL if the array has none.
// One allocation.
typedef struct tsr_lists {
  const void **in;
  void **out;
} tsr_lists;
TSR_MUST_USE tsr_status tsr_lists_init(tsr_lists *lists, const tsr_comm *comm);
void tsr_lists_deinit(tsr_lists *lists);

// ---- copies ----

typedef struct tsr_copy_vector {
  tsr_copy *items;
  int64_t count, capacity;
} tsr_copy_vector;
#define TSR_COPY_VECTOR_EMPTY ((tsr_copy_vector){NULL, 0, 0})
TSR_MUST_USE tsr_status tsr_copy_vector_add(tsr_copy_vector *list, const tsr_copy *copy);
void tsr_copy_vector_deinit(tsr_copy_vector *list);

// A tensor in host memory: a box of the whole. With negative strides, elements precede the one at
// the low corner; offsets start `origin` elements before that, a multiple of 8, so that none is
// negative.
typedef struct tsr_host_view {
  int64_t low[TSR_MAX_RANK], strides[TSR_MAX_RANK];
  int64_t origin;
} tsr_host_view;
// The box `ranges` (NULL = the whole) with `strides` (NULL = row-major).
void tsr_host_view_init(tsr_host_view *view, const tsr_shape *shape, const tsr_range *ranges,
                        const int64_t *strides);
// The address of offset 0, given that of the element at the low corner.
void *tsr_host_view_base(const tsr_host_view *view, const void *host, int bits);
// Adds the copies between a shard's buffer and a view that has all of its elements, into the shard
// or out of it (everything, or only what the shard owns). `device` is both source and target.
typedef enum tsr_direction { TSR_TO_SHARD, TSR_FROM_SHARD, TSR_FROM_OWNER } tsr_direction;
TSR_MUST_USE tsr_status tsr_shard_copies(const tsr_layout *layout, int64_t shard,
                                         const tsr_host_view *view, tsr_direction direction,
                                         int64_t device, tsr_copy_vector *out);

// Writes what this process holds of the box `ranges` (NULL = the whole tensor, all of it local) to
// host memory.
TSR_MUST_USE tsr_status tsr_array_gather_here(const tsr_array *array, void *host,
                                              const tsr_range *ranges, const int64_t *strides);

// ---- partial results ----

// Fails if an array has unreduced axes.
TSR_MUST_USE tsr_status tsr_array_check_reduced(const tsr_array *array);
// Collective. The array with all unreduced axes reduced; the same array, retained, if it has none.
TSR_MUST_USE tsr_status tsr_array_reduce(tsr_array *array, tsr_array **out_array);

// ---- ranks ----

// Collective. Fails on all ranks if `found` is a failure on one. For the later steps of a call
// whose arguments have been compared.
TSR_MUST_USE tsr_status tsr_array_agree(tsr_comm *comm, const char *what, tsr_status found);

// The arrays and target layouts of a collective, as ranks compare them (call_arrays.c).
typedef struct tsr_call_arrays {
  int64_t count;
  tsr_array *const *arrays;          // as they are
  const tsr_layout *const *layouts;  // the targets; the list or an entry may be NULL = unchanged
} tsr_call_arrays;
tsr_call_items tsr_call_arrays_items(tsr_call_arrays *list);  // which must outlive them
// The options of a reshard as text, for messages about calls.
void tsr_reshard_options_describe(const tsr_reshard_options *options, char *out, size_t size);
// One array without a target layout.
#define TSR_CALL_ARRAY(array) ((tsr_call_arrays){.count = 1, .arrays = (tsr_array *[]){array}})

// ---- options ----

// Fails if offsets of a strided tensor overflow.
TSR_MUST_USE tsr_status tsr_host_strides_check(const tsr_shape *shape, const tsr_range *ranges,
                                               const int64_t *strides);
// Fails if a box of the array with these (checked) strides does not fit the caller's bytes.
TSR_MUST_USE tsr_status tsr_host_room_check(const tsr_array *array, const tsr_range *ranges,
                                            const int64_t *strides, const void *host,
                                            int64_t host_bytes);

#endif
