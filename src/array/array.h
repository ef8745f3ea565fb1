// What the files of this room share about arrays.
#ifndef TESSERA_ARRAY_ARRAY_H
#define TESSERA_ARRAY_ARRAY_H

#include <stdatomic.h>

#include "comm/call.h"
#include "layout/layout.h"
#include "tessera/array.h"
#include "tessera/engine/kernels.h"
#include "tessera/reduction.h"

// What a local device holds. Slots whose devices hold the same values by the layout (the same
// shard, and the same term over unreduced axes) follow the first of them, their leader.
typedef struct tsr_array_slot {
  int64_t device, position, shard;
  int64_t term;        // which partial result, over the unreduced axes; 0 without
  int64_t leader;      // index of the first slot of its kind; its own when it is that
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
  _Atomic(int64_t *) replica_ids;  // JAX's, per position; made when first asked for
  int64_t slot_count;
  tsr_array_slot slots[];  // in order of device
};

// ---- layouts on comms ----

tsr_reduction tsr_layout_reduction(const tsr_layout *layout);  // how terms combine
// The layout without its unreduced axes; the same one, retained, if it has none.
TSR_MUST_USE tsr_status tsr_layout_reduced(const tsr_layout *layout, tsr_layout **out_layout);

// ---- making ----

// An array without buffers. Fails where the comm lacks a device of the layout.
TSR_MUST_USE tsr_status tsr_array_alloc(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                                        tsr_array **out_array);
// Gives an array to the caller, or releases it after a failure: how functions that make one end.
TSR_MUST_USE tsr_status tsr_array_give(tsr_status status, tsr_array *array, tsr_array **out_array);
// Bytes of a slot's buffer. Shards of an array that could be made have no more than 2^62.
int64_t tsr_slot_bytes(const tsr_array *array, const tsr_array_slot *slot);
bool tsr_slot_is_leader(const tsr_array *array, const tsr_array_slot *slot);
// A fresh buffer for a leader, with padding and the bits after the last element zero.
TSR_MUST_USE tsr_status tsr_slot_make(tsr_array *array, tsr_array_slot *slot);
// Takes over a reference to a buffer; the data begin at `offset` bytes.
void tsr_slot_set(tsr_array_slot *slot, tsr_buffer *buffer, int64_t offset);
// Holds what another slot holds.
void tsr_slot_hold(tsr_array_slot *slot, const tsr_array_slot *other);
// Makes the buffers of all leaders that have none.
TSR_MUST_USE tsr_status tsr_array_make_buffers(tsr_array *array);
// Zeros in a slot's buffer, on the comm's workers.
TSR_MUST_USE tsr_status tsr_slot_clear(const tsr_array *array, tsr_array_slot *slot);
// Calls `fill` for each leader, on the comm's workers.
TSR_MUST_USE tsr_status tsr_array_fill_leaders(tsr_array *array, tsr_array_fill_fn *fill,
                                               void *context);
// Lets followers without a buffer share their leaders': the last step of making an array.
void tsr_array_share(tsr_array *array);
// The same for all followers, who give back what they had.
void tsr_array_share_leaders(tsr_array *array);
// Fails if the array was donated, or has no such local shard.
TSR_MUST_USE tsr_status tsr_array_check_alive(const tsr_array *array);
TSR_MUST_USE tsr_status tsr_array_check_local(const tsr_array *array, int64_t index);
// Lets go of the buffers.
void tsr_array_delete(tsr_array *array);

// Lists of buffers as a comm wants them: an entry per local device of the comm, NULL where the
// array has none. In one block, to free().
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

// A tensor in host memory: a box of the whole. Where strides are negative, elements lie before the
// one at the low corner; places are counted from `origin` elements before that, a multiple of 8, so
// that none is negative.
typedef struct tsr_host_view {
  int64_t low[TSR_MAX_RANK], strides[TSR_MAX_RANK];
  int64_t origin;
} tsr_host_view;
// The box `ranges` (NULL = the whole) with `strides` (NULL = row-major).
void tsr_host_view_init(tsr_host_view *view, const tsr_shape *shape, const tsr_range *ranges,
                        const int64_t *strides);
// Where places are counted from, given the address of the element at the low corner.
void *tsr_host_view_base(const tsr_host_view *view, const void *host, int bits);
// Adds the copies between a shard's buffer and a view that has all of its elements; `device` is
// both source and target. Into the shard; or out of it, all of it or only what the shard owns.
typedef enum tsr_direction { TSR_TO_SHARD, TSR_FROM_SHARD, TSR_FROM_OWNER } tsr_direction;
TSR_MUST_USE tsr_status tsr_shard_copies(const tsr_layout *layout, int64_t shard,
                                         const tsr_host_view *view, tsr_direction direction,
                                         int64_t device, tsr_copy_vector *out);

// Writes what this process holds of the box `ranges` (NULL = the whole tensor, then it must hold
// all) to host memory.
TSR_MUST_USE tsr_status tsr_array_gather_here(const tsr_array *array, void *host,
                                              const tsr_range *ranges, const int64_t *strides);

// ---- partial results ----

// Fails when an array has unreduced axes.
TSR_MUST_USE tsr_status tsr_array_check_reduced(const tsr_array *array);
// Collective. The array with all its unreduced axes reduced: the same array, retained, if it has
// none.
TSR_MUST_USE tsr_status tsr_array_reduce(tsr_array *array, tsr_array **out_array);

// ---- ranks ----

// Collective. What was found here becomes the verdict of all ranks: each fails if one does. For the
// steps of a call whose arguments have been compared.
TSR_MUST_USE tsr_status tsr_array_agree(tsr_comm *comm, const char *what, tsr_status found);

// Arrays and layouts that a collective was asked about, as ranks compare them (call_arrays.c).
typedef struct tsr_call_arrays {
  int64_t count;
  tsr_array *const *arrays;          // as they lie
  const tsr_layout *const *layouts;  // as they shall lie; NULL = they stay, as does one whose is
} tsr_call_arrays;
tsr_call_items tsr_call_arrays_items(tsr_call_arrays *list);  // which must outlive them
// The options of a reshard in words, as texts of calls have them.
void tsr_reshard_options_describe(const tsr_reshard_options *options, char *out, size_t size);
// One array that stays where it is.
#define TSR_CALL_ARRAY(array) ((tsr_call_arrays){.count = 1, .arrays = (tsr_array *[]){array}})

// ---- options ----

TSR_MUST_USE tsr_status tsr_host_options_check(const tsr_host_options *given,
                                               tsr_host_options *out_options);
// The places of a strided tensor, counted in elements from its first, must be numbers.
TSR_MUST_USE tsr_status tsr_host_strides_check(const tsr_shape *shape, const tsr_range *ranges,
                                               const int64_t *strides);
// Whether a box of the array, written there with these strides, which have been checked, fits the
// caller's bytes.
TSR_MUST_USE tsr_status tsr_host_room_check(const tsr_array *array, const tsr_range *ranges,
                                            const int64_t *strides, const void *host,
                                            int64_t host_bytes);

#endif
