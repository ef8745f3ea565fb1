// Another layout of the same tensor, by one exchange.
//
// The copy plan says what each device gets from which. Three optimizations follow from the layouts
// and the devices of each rank, so senders and receivers agree. Replicas in one process get a shard
// once, for their leader. What the plan takes from another process is taken locally if it is here.
// A shard that is a range of a local buffer is not copied: the result shares that buffer.
#include <stdlib.h>

#include "array/array.h"
#include "array/reshard.h"
#include "layout/layout_internal.h"
#include "spec/sharding_internal.h"
#include "spec/sub_axis.h"
#include "tessera/engine/array.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/reduction.h"
#include "transfer/transfer_internal.h"

enum { VIEW_ALIGNMENT = 64 };

// ---- leaders and replicas of a rank ----

// Whether the device at a position receives its shard, or shares that of another device of its
// rank.
static bool is_leader(const tsr_comm *comm, const tsr_layout *layout, int64_t position) {
  const int64_t shard = tsr_layout_shard(layout, position),
                term = tsr_layout_term(layout, position);
  const int64_t device = tsr_layout_device_at(layout, position);
  const int rank = tsr_comm_rank_of(comm, device);
  for (int64_t i = 0; i < tsr_layout_replica_count(layout); i++) {
    const int64_t other = tsr_layout_replica_at(layout, shard, i);
    const int64_t there = tsr_layout_device_at(layout, other);
    if (there < device && tsr_comm_rank_of(comm, there) == rank &&
        tsr_layout_term(layout, other) == term)
      return false;
  }
  return true;
}

// A device of `rank` with the contents of `source`; `source` itself if there is none.
static int64_t nearest(const tsr_comm *comm, const tsr_layout *layout, int64_t source, int rank) {
  if (tsr_comm_rank_of(comm, source) == rank) return source;
  const int64_t position = tsr_layout_device_find(layout, source);
  const int64_t shard = tsr_layout_shard(layout, position),
                term = tsr_layout_term(layout, position);
  for (int64_t i = 0; i < tsr_layout_replica_count(layout); i++) {
    const int64_t other = tsr_layout_replica_at(layout, shard, i);
    const int64_t there = tsr_layout_device_at(layout, other);
    if (tsr_comm_rank_of(comm, there) == rank && tsr_layout_term(layout, other) == term)
      return there;
  }
  return source;
}

// ---- into a local device ----

// Whether the slot may share a range of the source's buffer, `out_offset` bytes into its data.
static bool is_view(const tsr_reshard_move *move, const tsr_array_slot *slot,
                    const tsr_copy *copies, int64_t count, const tsr_array_slot **out_source,
                    int64_t *out_offset) {
  const int bits = move->to->bits;
  const int64_t index = count == 1 ? tsr_array_local_find(move->from, copies->source) : -1;
  if (index < 0 || copies->loop_count > 0 || copies->to != 0) return false;
  const tsr_array_slot *source = &move->from->slots[index];
  const int64_t wanted = tsr_layout_buffer_elements(move->to->layout, slot->shard);
  const int64_t there = tsr_layout_buffer_elements(move->from->layout, source->shard);
  if (copies->length != wanted) return false;
  const bool whole = wanted == there;
  const int64_t offset = copies->from / 8 * bits + copies->from % 8 * bits / 8;
  if (!whole &&
      (copies->from * bits % 8 != 0 || wanted * bits % 8 != 0 || offset % VIEW_ALIGNMENT != 0))
    return false;
  *out_source = source;
  *out_offset = offset;
  return true;
}

static tsr_status add_copies_into(tsr_reshard_move *move, const tsr_array_slot *slot) {
  const tsr_comm *comm = move->to->comm;
  tsr_copies copies;
  TSR_TRY(tsr_copies_init_into(&copies, move->plan, slot->position));
  tsr_status status = NULL;
  for (tsr_copy copy; !status && tsr_copies_next(&copies, &copy);) {
    copy.source = nearest(comm, move->from->layout, copy.source, tsr_comm_rank(comm));
    status = tsr_copy_vector_add(&move->copies, &copy);
  }
  tsr_copies_deinit(&copies);
  return status;
}

// Memory for a slot: its present buffer, the caller's, or a new one.
static tsr_status make_room(tsr_reshard_move *move, tsr_array_slot *slot) {
  if (move->in_place) return NULL;
  if (!move->into) return tsr_slot_make(move->to, slot);
  tsr_slot_set(slot, tsr_buffer_retain(move->into), 0);
  return NULL;
}

static tsr_status plan_slot(tsr_reshard_move *move, tsr_array_slot *slot) {
  tsr_array *to = move->to;
  const int64_t before = move->copies.count;
  const tsr_array_slot *source = NULL;
  int64_t offset = 0;
  if (move->first_terms && slot->term > 0) {
    if (move->in_place) return NULL;
    TSR_TRY(tsr_slot_make(to, slot));
    return tsr_slot_clear(to, slot);
  }
  TSR_TRY(add_copies_into(move, slot));
  const int64_t added = move->copies.count - before;
  const tsr_copy *own = added ? move->copies.items + before : NULL;
  if (!move->unshare && is_view(move, slot, own, added, &source, &offset)) {
    const int64_t start = source->data - (const char *)tsr_buffer_data(source->buffer);
    tsr_slot_set(slot, tsr_buffer_retain(source->buffer), start + offset);
    move->copies.count = before;
    return NULL;
  }
  TSR_TRY(make_room(move, slot));
  move->lists.out[tsr_comm_local_index(to->comm, slot->device)] = slot->data;
  return NULL;
}

// ---- out of a local device ----

static bool is_wanted(const tsr_reshard_move *move, const tsr_copy *copy) {
  const tsr_comm *comm = move->to->comm;
  const int rank = tsr_comm_rank_of(comm, copy->target);
  const int64_t position = tsr_layout_device_find(move->to->layout, copy->target);
  return rank != tsr_comm_rank(comm) && is_leader(comm, move->to->layout, position) &&
         !(move->first_terms && tsr_layout_term(move->to->layout, position) > 0) &&
         nearest(comm, move->from->layout, copy->source, rank) == copy->source;
}

static tsr_status add_copies_out_of(tsr_reshard_move *move, const tsr_array_slot *slot) {
  tsr_copies copies;
  TSR_TRY(tsr_copies_init_out_of(&copies, move->plan, slot->position));
  tsr_status status = NULL;
  for (tsr_copy copy; !status && tsr_copies_next(&copies, &copy);)
    if (is_wanted(move, &copy)) status = tsr_copy_vector_add(&move->copies, &copy);
  tsr_copies_deinit(&copies);
  return status;
}

static int by_place(const void *left, const void *right) {
  const tsr_copy *a = left, *b = right;
  if (a->target != b->target) return a->target < b->target ? -1 : 1;
  if (a->source != b->source) return a->source < b->source ? -1 : 1;
  return (a->to > b->to) - (a->to < b->to);
}

// Receivers list copies by target, source and place; so do senders.
static tsr_status add_all_out(tsr_reshard_move *move) {
  const tsr_array *from = move->from;
  const int64_t before = move->copies.count;
  if (tsr_comm_rank_count(from->comm) == 1) return NULL;
  for (int64_t i = 0; i < from->slot_count; i++) TSR_TRY(add_copies_out_of(move, &from->slots[i]));
  if (move->copies.count > before)
    qsort(move->copies.items + before, (size_t)(move->copies.count - before),
          sizeof *move->copies.items, by_place);
  return NULL;
}

// ---- one array ----

bool tsr_layout_same_terms(const tsr_layout *a, const tsr_layout *b) {
  if (tsr_layout_term_count(a) != tsr_layout_term_count(b)) return false;
  if (tsr_layout_term_count(a) == 1) return true;
  const tsr_sharding *x = tsr_layout_sharding(a), *y = tsr_layout_sharding(b);
  int count = 0, other = 0;
  const tsr_sub_axis *p = tsr_sharding_unreduced(x, &count), *q = tsr_sharding_unreduced(y, &other);
  bool same = count == other && tsr_mesh_equal(tsr_sharding_mesh(x), tsr_sharding_mesh(y)) &&
              tsr_layout_reduction(a) == tsr_layout_reduction(b);
  for (int i = 0; i < count && same; i++) same = tsr_sub_axis_equal(&p[i], &q[i]);
  return same;
}

// The target for the plan: new partial results get the values in every term or, for sums, in the
// first.
static tsr_status make_plan(tsr_reshard_move *move, const tsr_layout *layout, int64_t tensor) {
  const tsr_copy_plan_options options = {.size = sizeof options, .tensor = tensor};
  if (tsr_layout_same_terms(move->from->layout, layout))
    return tsr_copy_plan_create(move->from->layout, layout, &options, &move->plan);
  tsr_layout *plain = NULL;
  TSR_TRY(tsr_layout_reduced(layout, &plain));
  move->first_terms = tsr_layout_reduction(layout) == TSR_REDUCE_SUM;
  tsr_status status = tsr_copy_plan_create(move->from->layout, plain, &options, &move->plan);
  tsr_layout_release(plain);
  return status;
}

// The layout with its devices in the order that moves the least, and its plan. Layouts of partial
// results keep their order.
static tsr_status relabel(tsr_reshard_move *move, const tsr_layout *layout, int64_t tensor,
                          tsr_layout **out_layout) {
  tsr_relabelling found = TSR_RELABELLING;
  if (tsr_layout_term_count(layout) > 1) {
    *out_layout = tsr_layout_retain(layout);
    return NULL;
  }
  TSR_TRY(tsr_relabel(move->plan, move->from->dtype, &found));
  tsr_status status = tsr_layout_with_devices(layout, found.devices, out_layout);
  tsr_relabelling_deinit(&found);
  if (status) return status;
  tsr_copy_plan_release(move->plan);
  move->plan = NULL;
  status = make_plan(move, *out_layout, tensor);
  if (status) tsr_layout_release(*out_layout);
  return status;
}

static tsr_status begin(tsr_reshard_move *move, const tsr_layout *layout, int64_t tensor) {
  const tsr_array *from = move->from;
  TSR_TRY(make_plan(move, layout, tensor));
  if (move->in_place) return NULL;
  if (!move->relabel) return tsr_array_alloc(from->comm, layout, from->dtype, &move->to);
  tsr_layout *other = NULL;
  TSR_TRY(relabel(move, layout, tensor, &other));
  tsr_status status = tsr_array_alloc(from->comm, other, from->dtype, &move->to);
  tsr_layout_release(other);
  return status;
}

tsr_status tsr_move_plan(tsr_reshard_move *move, const tsr_layout *layout, int64_t tensor) {
  const tsr_array *from = move->from;
  TSR_TRY(begin(move, layout, tensor));
  TSR_TRY(tsr_lists_init(&move->lists, from->comm));
  for (int64_t i = 0; i < from->slot_count; i++)
    move->lists.in[tsr_comm_local_index(from->comm, from->slots[i].device)] = from->slots[i].data;
  for (int64_t i = 0; i < move->to->slot_count; i++)
    if (tsr_slot_is_leader(move->to, &move->to->slots[i]))
      TSR_TRY(plan_slot(move, &move->to->slots[i]));
  return add_all_out(move);
}

tsr_exchange tsr_move_exchange(const tsr_reshard_move *move) {
  return (tsr_exchange){.copies = move->copies.items,
                        .copy_count = move->copies.count,
                        .bits = move->from->bits,
                        .in = move->lists.in,
                        .out = move->lists.out};
}

tsr_array *tsr_move_take(tsr_reshard_move *move) {
  tsr_array *made = move->to;
  move->to = NULL;
  tsr_array_share(made);
  return made;
}

void tsr_move_deinit(tsr_reshard_move *move) {
  tsr_array_release(move->to);
  tsr_copy_plan_release(move->plan);
  tsr_copy_vector_deinit(&move->copies);
  tsr_lists_deinit(&move->lists);
}
