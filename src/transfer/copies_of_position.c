// The copies of one position: first the peer positions, in order of their devices, then the copies
// of each pair.
#include <stdlib.h>

#include "base/grow.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "transfer/pair.h"
#include "transfer/transfer_internal.h"

struct tsr_copies_state {
  tsr_copy_list list;
  int64_t next;
};

// ---- peers ----

typedef struct peer {
  int64_t device, position;
} peer;

typedef struct peers {
  peer *items;  // owned
  int64_t count, capacity;
} peers;

static tsr_status add_peer(peers *list, const tsr_layout *layout, int64_t position) {
  peer *items = tsr_grow(list->items, list->count, &list->capacity, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "%lld devices of a copy plan", (long long)list->count);
  list->items = items;
  items[list->count++] = (peer){tsr_layout_device_at(layout, position), position};
  return NULL;
}

static int by_device(const void *left, const void *right) {
  const peer *a = left, *b = right;
  return (a->device > b->device) - (a->device < b->device);
}

static void sort_peers(peers *list) {
  if (list->count > 1) qsort(list->items, (size_t)list->count, sizeof *list->items, by_device);
}

static tsr_status find_sources(tsr_pairing *pairing, int64_t target, peers *list) {
  const tsr_copy_plan *plan = pairing->plan;
  const int64_t own = tsr_source_own(plan, target);
  const int64_t own_shard = own < 0 ? -1 : tsr_layout_shard(plan->from, own);
  tsr_numbers shards = TSR_NUMBERS_EMPTY;
  tsr_status status = tsr_pairing_target(pairing, tsr_layout_shard(plan->to, target));
  if (!status) status = tsr_reach_sources(plan, &pairing->target, own_shard, &shards);
  for (int64_t i = 0; i < shards.count && !status; i++)
    status = add_peer(list, plan->from, tsr_source_of(plan, target, shards.items[i]));
  tsr_numbers_deinit(&shards);
  return status;
}

// The positions with a shard of the target that take from `source`, including its own device.
static tsr_status find_takers(const tsr_copy_plan *plan, int64_t source, int64_t shard, int64_t own,
                              tsr_numbers *found, peers *list) {
  const int64_t given = tsr_layout_shard(plan->from, source);
  found->count = 0;
  TSR_TRY(tsr_source_takers(plan, source, shard, found));
  if (own >= 0 && tsr_layout_shard(plan->to, own) == shard) TSR_TRY(tsr_numbers_add(found, own));
  tsr_numbers_tidy(found);
  for (int64_t i = 0; i < found->count; i++)
    if (tsr_source_of(plan, found->items[i], given) == source)
      TSR_TRY(add_peer(list, plan->to, found->items[i]));
  return NULL;
}

static tsr_status find_targets(tsr_pairing *pairing, int64_t source, peers *list) {
  const tsr_copy_plan *plan = pairing->plan;
  const int64_t own = tsr_layout_device_find(plan->to, tsr_layout_device_at(plan->from, source));
  tsr_numbers shards = TSR_NUMBERS_EMPTY, found = TSR_NUMBERS_EMPTY;
  tsr_status status = tsr_pairing_source(pairing, tsr_layout_shard(plan->from, source));
  if (!status) status = tsr_reach_targets(plan, &pairing->source, &shards);
  for (int64_t i = 0; i < shards.count && !status; i++)
    status = find_takers(plan, source, shards.items[i], own, &found, list);
  tsr_numbers_deinit(&shards);
  tsr_numbers_deinit(&found);
  return status;
}

// ---- the iterator ----

static tsr_status fill(struct tsr_copies_state *state, const tsr_copy_plan *plan, int64_t position,
                       bool into) {
  tsr_pairing pairing;
  peers list = {NULL, 0, 0};
  tsr_status status = tsr_pairing_init(&pairing, plan);
  if (!status)
    status =
        into ? find_sources(&pairing, position, &list) : find_targets(&pairing, position, &list);
  if (!status) sort_peers(&list);
  for (int64_t i = 0; i < list.count && !status; i++) {
    const int64_t other = list.items[i].position;
    status = tsr_pairing_copies(&pairing, into ? position : other, into ? other : position,
                                &state->list);
  }
  free(list.items);
  tsr_pairing_deinit(&pairing);
  return status;
}

static tsr_status start(tsr_copies *copies, const tsr_copy_plan *plan, int64_t position,
                        bool into) {
  tsr_copies made = {.plan = plan};
  const int64_t count = tsr_layout_device_count(into ? plan->to : plan->from);
  if (position < 0 || position >= count)
    return tsr_fail(INDEX_OUT_OF_RANGE, "position %lld of the %s, which has %lld",
                    (long long)position, into ? "target" : "source", (long long)count);
  made.state = calloc(1, sizeof *made.state);
  if (!made.state) return tsr_fail(NO_MEMORY, "the copies of a device");
  tsr_status status = fill(made.state, plan, position, into);
  if (status)
    tsr_copies_deinit(&made);
  else
    *copies = made;
  return status;
}

tsr_status tsr_copies_init_into(tsr_copies *copies, const tsr_copy_plan *plan, int64_t position) {
  return start(copies, plan, position, true);
}

tsr_status tsr_copies_init_out_of(tsr_copies *copies, const tsr_copy_plan *plan, int64_t position) {
  return start(copies, plan, position, false);
}

bool tsr_copies_next(tsr_copies *copies, tsr_copy *out_copy) {
  struct tsr_copies_state *state = copies->state;
  if (state->next == state->list.count) return false;
  tsr_copy_list_get(&state->list, state->next++, out_copy);
  return true;
}

int64_t tsr_copies_count(const tsr_copies *copies) { return copies->state->list.count; }

const tsr_copy_list *tsr_copies_list(const tsr_copies *copies) { return &copies->state->list; }

void tsr_copies_deinit(tsr_copies *copies) {
  if (!copies || !copies->state) return;
  tsr_copy_list_deinit(&copies->state->list);
  free(copies->state);
  copies->state = NULL;
}
