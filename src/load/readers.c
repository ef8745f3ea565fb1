// Which rank reads what. Every rank computes it for all ranks in the same way, without messages.
//
// A shard that several ranks hold is read by all of them, a piece each, if the pieces are large;
// otherwise by the rank that has the least to read so far. A rank that reads a small shard also
// reads the next ones until it is one piece ahead, so that neighbours are read in one call.
#include <assert.h>
#include <stdlib.h>

#include "load/load.h"
#include "tessera/checkpoint/load.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/layout.h"

// ---- holders ----

static int by_rank(const void *left, const void *right) {
  const tsr_holder *a = left, *b = right;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  return (a->device > b->device) - (a->device < b->device);
}

int64_t tsr_load_holders(const tsr_comm *comm, const tsr_layout *layout, int64_t shard,
                         tsr_holder *out) {
  const int64_t replicas = tsr_layout_replica_count(layout);
  int64_t count = 0;
  for (int64_t i = 0; i < replicas; i++) {
    const int64_t device = tsr_layout_device_at(layout, tsr_layout_replica_at(layout, shard, i));
    out[i] = (tsr_holder){tsr_comm_rank_of(comm, device), device};
  }
  qsort(out, (size_t)replicas, sizeof *out, by_rank);
  for (int64_t i = 0; i < replicas; i++)
    if (count == 0 || out[count - 1].rank != out[i].rank) out[count++] = out[i];
  return count;
}

// ---- pieces ----

// Pieces start at a byte: narrower elements are counted by eights, along the first dimension.
static int64_t grain_of(const tsr_load_tensor *t) {
  return tsr_dtype_info_of(t->view->dtype)->bits % 8 ? 8 : 1;
}

int tsr_load_split_dim(const tsr_load_tensor *t, int64_t shard, int64_t count) {
  tsr_shape shape;
  const int64_t grain = grain_of(t);
  if (t->overlaps) return -1;
  tsr_layout_shard_shape(t->layout, shard, &shape);
  for (int d = 0; d < shape.rank && (d == 0 || grain == 1); d++)
    if (shape.dims[d] / grain >= count) return d;
  return -1;
}

tsr_range tsr_load_piece(const tsr_load_tensor *t, int64_t shard, int dim, int64_t count,
                         int64_t index) {
  tsr_shape shape;
  assert(count > 0);
  tsr_layout_shard_shape(t->layout, shard, &shape);
  const int64_t grain = grain_of(t), size = shape.dims[dim], grains = size / grain;
  const int64_t lo = grains / count * index + grains % count * index / count;
  const int64_t hi = grains / count * (index + 1) + grains % count * (index + 1) / count;
  return (tsr_range){lo * grain, index + 1 == count ? size : hi * grain};
}

// ---- choosing ----

typedef struct reader_choice {
  const tsr_load *load;
  int64_t least_piece;
  int64_t *read;        // owned: bytes that each rank reads
  tsr_holder *holders;  // owned
  int last;             // the rank that was chosen last; -1 = none
} reader_choice;

static int choose_one(reader_choice *c, int64_t holders) {
  int least = c->holders[0].rank;
  bool last_holds = false;
  for (int64_t i = 0; i < holders; i++) {
    const int rank = c->holders[i].rank;
    if (c->read[rank] < c->read[least]) least = rank;
    last_holds = last_holds || rank == c->last;
  }
  if (!last_holds || c->read[c->last] - c->read[least] >= c->least_piece) c->last = least;
  return c->last;
}

static tsr_status choose_for_shard(reader_choice *c, tsr_load_tensor *t, int64_t shard) {
  const int64_t holders = tsr_load_holders(c->load->comm, t->layout, shard, c->holders);
  const tsr_load_slot all = {.shard = shard, .owned_only = true, .dim = -1, .range = {0, 1}};
  int64_t elements = tsr_layout_shard_elements(t->layout, shard);
  if (t->overlaps) TSR_TRY(tsr_load_slot_elements(t, &all, &elements));
  const int64_t bytes = tsr_load_stored_bytes(c->load, t, elements);
  t->moves = t->moves || holders > 1 || t->overlaps;
  if (holders > 1 && bytes / holders >= c->least_piece &&
      tsr_load_split_dim(t, shard, holders) >= 0) {
    t->readers[shard] = TSR_READER_ALL;
    for (int64_t i = 0; i < holders; i++) c->read[c->holders[i].rank] += bytes / holders;
    return NULL;
  }
  t->readers[shard] = holders == 1 ? c->holders[0].rank : choose_one(c, holders);
  c->read[t->readers[shard]] += bytes;
  return NULL;
}

// What this rank reads of a shard.
static void set_slot(reader_choice *c, tsr_load_tensor *t, tsr_load_slot *slot) {
  const int me = tsr_comm_rank(c->load->comm), reader = t->readers[slot->shard];
  slot->owned_only = true;
  slot->range = (tsr_range){0, reader == me};
  if (reader != TSR_READER_ALL) return;
  const int64_t holders = tsr_load_holders(c->load->comm, t->layout, slot->shard, c->holders);
  int64_t index = 0;
  while (c->holders[index].rank != me) index++;
  slot->dim = tsr_load_split_dim(t, slot->shard, holders);
  slot->range = tsr_load_piece(t, slot->shard, slot->dim, holders, index);
}

static tsr_status choose_for_tensor(reader_choice *c, tsr_load_tensor *t) {
  const int64_t shards = tsr_layout_shard_count(t->layout);
  free(c->holders);
  c->holders = malloc(sizeof *c->holders * (size_t)(tsr_layout_replica_count(t->layout) + 1));
  t->readers = malloc(sizeof *t->readers * (size_t)(shards + 1));
  if (!c->holders || !t->readers) return tsr_fail(NO_MEMORY, "%lld shards", (long long)shards);
  for (int64_t shard = 0; shard < shards; shard++) TSR_TRY(choose_for_shard(c, t, shard));
  for (int64_t i = 0; i < t->slot_count; i++) set_slot(c, t, &t->slots[i]);
  return NULL;
}

tsr_status tsr_load_choose_readers(tsr_load *load) {
  reader_choice c = {.load = load, .least_piece = load->options.least_piece, .last = -1};
  c.read = calloc((size_t)tsr_comm_rank_count(load->comm), sizeof *c.read);
  tsr_status status = c.read ? NULL : tsr_fail(NO_MEMORY, "a list of ranks");
  for (int64_t i = 0; i < load->count && !status; i++)
    status = choose_for_tensor(&c, &load->tensors[load->order[i]]);
  for (int r = 0; r < tsr_comm_rank_count(load->comm) && !status; r++)
    if (c.read[r] > load->certificate.most_read) load->certificate.most_read = c.read[r];
  free(c.holders);
  free(c.read);
  return status;
}
