// Another layout of the same tensor, in the buffers of an existing array.
//
// The result is made in a shadow array, which shares the target's buffers where no one else holds
// them and has new ones elsewhere. So the target is unchanged until all ranks have planned the
// move, and shared memory is never written.
#include <stdlib.h>

#include "array/reshard.h"
#include "array/sequence_run.h"
#include "base/buffer_internal.h"
#include "element/shape_internal.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/transport.h"

// ---- the shadow ----

// For each leader the number of slots that share its buffer; to free().
static tsr_status count_holders(const tsr_array *array, int **out_counts) {
  int *counts = calloc((size_t)array->slot_count + 1, sizeof *counts);
  if (!counts) return tsr_fail(NO_MEMORY, "%lld local devices", (long long)array->slot_count);
  for (int64_t i = 0; i < array->slot_count; i++) {
    const tsr_array_slot *slot = &array->slots[i], *leader = &array->slots[slot->leader];
    counts[slot->leader] += slot->buffer == leader->buffer && slot->data == leader->data;
  }
  *out_counts = counts;
  return NULL;
}

// Whether only `count` local replicas hold a buffer and it may be written. For borrowed memory that
// is known only with one holder.
static bool is_private(const tsr_buffer *buffer, int count) {
  if (count == 1) return tsr_buffer_is_writable(buffer);
  return tsr_buffer_holders(buffer) == count && !tsr_buffer_is_borrowed(buffer);
}

static tsr_status fill_shadow(const tsr_array *target, tsr_array *shadow) {
  int *counts = NULL;
  TSR_TRY(count_holders(target, &counts));
  tsr_status status = NULL;
  for (int64_t i = 0; i < shadow->slot_count && !status; i++) {
    if (!tsr_slot_is_leader(shadow, &shadow->slots[i])) continue;
    if (is_private(target->slots[i].buffer, counts[i]))
      tsr_slot_hold(&shadow->slots[i], &target->slots[i]);
    else
      status = tsr_slot_make(shadow, &shadow->slots[i]);
  }
  free(counts);
  return status;
}

static tsr_status make_shadow(const tsr_array *target, tsr_array **out_shadow) {
  TSR_TRY(tsr_array_alloc(target->comm, target->layout, target->dtype, out_shadow));
  return fill_shadow(target, *out_shadow);
}

static void adopt(tsr_array *target, const tsr_array *shadow) {
  for (int64_t i = 0; i < target->slot_count; i++)
    if (tsr_slot_is_leader(target, &target->slots[i]))
      tsr_slot_hold(&target->slots[i], &shadow->slots[i]);
  tsr_array_share_leaders(target);
}

// ---- direct copies ----

// Terms of a sum other than the first are zero.
static tsr_status clear_terms(const tsr_reshard_move *move) {
  for (int64_t i = 0; move->first_terms && i < move->to->slot_count; i++) {
    tsr_array_slot *slot = &move->to->slots[i];
    if (slot->term > 0 && tsr_slot_is_leader(move->to, slot))
      TSR_TRY(tsr_slot_clear(move->to, slot));
  }
  return NULL;
}

static tsr_status exchange_into(tsr_array *source, tsr_array *shadow) {
  tsr_reshard_move move = {
      .from = source, .unshare = true, .to = tsr_array_retain(shadow), .in_place = true};
  tsr_status status = tsr_move_plan(&move, shadow->layout, 0);
  status = tsr_array_agree(shadow->comm, "reshard", status);
  if (!status) status = clear_terms(&move);
  const tsr_exchange exchange = tsr_move_exchange(&move);
  if (!status) status = tsr_exchange_agreed(shadow->comm, &exchange, 1);
  tsr_move_deinit(&move);
  return status;
}

static tsr_status move_into(tsr_array *array, tsr_array *shadow) {
  tsr_array *source = NULL;
  if (tsr_layout_same_terms(array->layout, shadow->layout)) return exchange_into(array, shadow);
  TSR_TRY(tsr_array_reduce(array, &source));
  tsr_status status = exchange_into(source, shadow);
  tsr_array_release(source);
  return status;
}

// ---- sequences ----

// Leaders with data elsewhere: a sequence without steps moves nothing, and one that ends with a
// zero shares its input.
static tsr_status copy_rest(const tsr_array *made, tsr_array *shadow) {
  tsr_copy_vector copies = TSR_COPY_VECTOR_EMPTY;
  tsr_lists lists = {NULL, NULL};
  tsr_status status = tsr_lists_init(&lists, shadow->comm);
  for (int64_t i = 0; i < shadow->slot_count && !status; i++) {
    const tsr_array_slot *slot = &shadow->slots[i];
    if (!tsr_slot_is_leader(shadow, slot) || made->slots[i].data == slot->data) continue;
    const int64_t index = tsr_comm_local_index(shadow->comm, slot->device);
    const tsr_copy copy = {
        .source = slot->device, .target = slot->device, .length = tsr_slot_bytes(shadow, slot)};
    lists.in[index] = made->slots[i].data;
    lists.out[index] = slot->data;
    if (copy.length > 0) status = tsr_copy_vector_add(&copies, &copy);
  }
  const tsr_exchange exchange = {copies.items, copies.count, 8, lists.in, lists.out};
  if (!status) status = tsr_engine_copy_here(shadow->comm, &exchange, 1);
  tsr_copy_vector_deinit(&copies);
  tsr_lists_deinit(&lists);
  return status;
}

static tsr_status sequence_into(tsr_array *array, tsr_array *shadow) {
  tsr_array *made = NULL;
  TSR_TRY(tsr_array_by_sequence(array, shadow->layout, shadow, &made));
  tsr_status status = tsr_array_agree(shadow->comm, "sequence", copy_rest(made, shadow));
  tsr_array_release(made);
  return status;
}

// ---- ranks ----

static tsr_status check_pair(const tsr_array *array, const tsr_array *target) {
  const tsr_shape from = tsr_layout_shape(array->layout), to = tsr_layout_shape(target->layout);
  if (array == target) return tsr_fail(BAD_ARGUMENT, "an array cannot be resharded into itself");
  TSR_TRY_NOTE(tsr_array_check_alive(target), "target");
  if (target->comm != array->comm)
    return tsr_fail(BAD_ARGUMENT, "the target is on another comm than the array");
  if (target->dtype != array->dtype)
    return tsr_fail(BAD_ARGUMENT, "the target has dtype %s, the array %s",
                    tsr_dtype_info_of(target->dtype)->name, tsr_dtype_info_of(array->dtype)->name);
  return tsr_shapes_check("the target", &to, "the array", &from);
}

static tsr_status check(const tsr_array *array, const tsr_array *target,
                        const tsr_reshard_options *given, tsr_reshard_options *out_options) {
  TSR_TRY(tsr_reshard_options_check(given, out_options));
  TSR_TRY(tsr_array_check_alive(array));
  TSR_TRY(check_pair(array, target));
  if (out_options->relabel)
    return tsr_fail(BAD_ARGUMENT, "relabel: the devices of an existing target cannot change");
  return NULL;
}

static tsr_status agree(tsr_array *array, const tsr_array *target,
                        const tsr_reshard_options *options, tsr_status found) {
  tsr_call_arrays list = {.count = 1,
                          .arrays = (tsr_array *[]){array},
                          .layouts = (const tsr_layout *[]){target->layout}};
  char how[TSR_CALL_TEXT / 2];
  tsr_call c = tsr_call_begin(array->comm, "reshard_into");
  tsr_reshard_options_describe(options, how, sizeof how);
  tsr_call_describe(&c, "reshard into an array %s", how);
  c.items = tsr_call_arrays_items(&list);
  return tsr_call_agree(&c, found);
}

tsr_status tsr_array_reshard_into(tsr_array *array, tsr_array *target,
                                  const tsr_reshard_options *options) {
  tsr_reshard_options checked;
  tsr_array *shadow = NULL;
  tsr_status status = check(array, target, options, &checked);
  TSR_TRY(agree(array, target, &checked, status));
  status = tsr_array_agree(array->comm, "reshard", make_shadow(target, &shadow));
  if (!status)
    status = checked.method == TSR_RESHARD_SEQUENCE ? sequence_into(array, shadow)
                                                    : move_into(array, shadow);
  if (!status) adopt(target, shadow);
  if (!status && checked.donate) tsr_array_delete(array);
  tsr_array_release(shadow);
  return status;
}
