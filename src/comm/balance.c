// Whether ranks list the same copies to each other in an exchange. Each rank lists its own, but a
// copy between ranks is in two lists. Its hash is added where it is sent and subtracted where it is
// received, so the sum over all ranks is zero. Only if it is not are the lanes compared, one after
// the other.
#include <assert.h>
#include <string.h>

#include "base/hash_internal.h"
#include "comm/comm.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/transport.h"
#include "tessera/shape.h"

// ---- lanes ----

// The hash includes the copy's place in the lane: messages have no headers.
static void add_copy(tsr_lane *at, const tsr_copy *copy, int64_t array) {
  int64_t numbers[8 + 3 * TSR_MAX_RANK] = {array,        at->copies++,    copy->source,
                                           copy->target, copy->from,      copy->to,
                                           copy->length, copy->loop_count};
  const size_t loops = sizeof *copy->loops * (size_t)copy->loop_count;
  memcpy(numbers + 8, copy->loops, loops);
  const tsr_hash128 hash = tsr_hash128_add(TSR_HASH128_EMPTY, numbers, 8 * sizeof *numbers + loops);
  at->sum.low += hash.low;
  at->sum.high += hash.high;
  at->elements += tsr_copy_elements(copy);
}

static void add_array(tsr_comm *comm, const tsr_exchange *array, int64_t number) {
  for (int64_t i = 0; i < array->copy_count; i++) {
    const tsr_copy *copy = &array->copies[i];
    const int from = tsr_comm_rank_of(comm, copy->source);
    const int to = tsr_comm_rank_of(comm, copy->target);
    if (from == to || !tsr_copy_elements(copy)) continue;
    add_copy(from == comm->rank ? &comm->sent[to] : &comm->received[from], copy, number);
  }
}

void tsr_call_balance(tsr_call *c, const tsr_exchange *arrays, int64_t array_count) {
  tsr_comm *comm = c->comm;
  if (comm->rank_count == 1) return;
  memset(comm->sent, 0, sizeof *comm->sent * (size_t)comm->rank_count);
  memset(comm->received, 0, sizeof *comm->received * (size_t)comm->rank_count);
  for (int64_t p = 0; p < array_count; p++) add_array(comm, &arrays[p], p);
  for (int r = 0; r < comm->rank_count; r++) {
    c->balance.low += comm->sent[r].sum.low - comm->received[r].sum.low;
    c->balance.high += comm->sent[r].sum.high - comm->received[r].sum.high;
  }
}

bool tsr_records_balance(const tsr_comm *comm) {
  tsr_hash128 sum = TSR_HASH128_EMPTY;
  for (int r = 0; r < comm->rank_count; r++) {
    sum.low += comm->records[r].balance.low;
    sum.high += comm->records[r].balance.high;
  }
  return tsr_hash128_equal(sum, TSR_HASH128_EMPTY);
}

// ---- finding the lane ----

// A lane as listed by its ends, `step` ranks apart.
typedef struct ends {
  tsr_lane sent, received;
} ends;

static bool same_lane(const tsr_lane *a, const tsr_lane *b) {
  return tsr_hash128_equal(a->sum, b->sum) && a->copies == b->copies;
}

static tsr_status mismatch(const tsr_call *c, int from, int to, const tsr_lane *sent,
                           const tsr_lane *received) {
  const bool alike = sent->copies == received->copies && sent->elements == received->elements;
  return tsr_fail(COMM_MISMATCH,
                  "ranks differ in step %lld, %s: rank %d sends rank %d %lld copies of %lld "
                  "elements, rank %d lists %lld of %lld from it%s",
                  (long long)tsr_comm_step(c->comm), c->text, from, to, (long long)sent->copies,
                  (long long)sent->elements, to, (long long)received->copies,
                  (long long)received->elements,
                  alike ? ", in another order or at other places" : "");
}

// Compares the lanes to the next rank, to the one after that, and so on. Texts have room for them.
tsr_status tsr_call_find_lane(const tsr_call *c) {
  tsr_comm *comm = c->comm;
  const int ranks = comm->rank_count;
  static_assert(sizeof(ends) <= TSR_CALL_TEXT, "texts have room for the ends of a lane");
  for (int step = 1; step < ranks; step++) {
    const ends mine = {comm->sent[(comm->rank + step) % ranks],
                       comm->received[(comm->rank + ranks - step) % ranks]};
    char all[TSR_CALL_TEXT] = "";
    memcpy(all, &mine, sizeof mine);
    TSR_TRY(tsr_call_end(c, comm->engine->share(comm, all, sizeof all, comm->texts)));
    for (int from = 0; from < ranks; from++) {
      const int to = (from + step) % ranks;
      ends there, here;
      memcpy(&here, comm->texts[from], sizeof here);
      memcpy(&there, comm->texts[to], sizeof there);
      if (!same_lane(&here.sent, &there.received))
        return mismatch(c, from, to, &here.sent, &there.received);
    }
  }
  return tsr_fail(COMM_MISMATCH, "ranks differ in step %lld, %s", (long long)tsr_comm_step(comm),
                  c->text);
}
