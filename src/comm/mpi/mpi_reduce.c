// Reductions: bitwise the same as on threads, with work and traffic divided among ranks.
//
// A result is cut in slices, one for each party of the group (one for each member if it is
// scattered). Every party sends its values of a slice to the slice's owner, which reduces them by
// the fixed tree and, unless the result is scattered, sends the slice back to all. Slices are cut
// in cells, several of which are in flight, so that sending, reducing and returning overlap. A
// short result is one cell that every party sends to every other and reduces itself: one trip
// instead of two.
//
// All ranks start cells in one order. So the first unfinished cell has been started by all its
// parties, and there is always progress.
#include <stdlib.h>

#include "base/arithmetic.h"
#include "comm/mpi/cell.h"
#include "comm/mpi/mpi_engine.h"
#include "tessera/comm.h"
#include "tessera/dtype.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/reduce.h"
#include "tessera/engine/transport.h"
#include "tessera/status.h"

enum {
  SLOTS = 2 * TSR_MPI_SLOTS,
  CELL_BYTES = 1 << 20,    // of all messages about a cell
  SHORT_BYTES = 16 << 10,  // of a result that every party reduces
  SHORT_PARTIES = 16,
  TAG_CELLS = 2048,  // number of distinct tags for cells
};

typedef enum cell_stage { FREE, COLLECT, SENT, RETURN, RESULT } cell_stage;

typedef struct cell_slot {
  cell_stage stage;
  tsr_mpi_cell cell;
  int owner;  // a party; -1 = all of them
  int tag, waiting;
  unsigned char **messages;  // one per party of the largest group
} cell_slot;

// The position of the walk over the cells.
typedef struct cell_walk {
  int64_t index, chunk, group, slice;
  bool done;
} cell_walk;

typedef struct reduction {
  tsr_mpi *mpi;
  tsr_mpi_job job;
  tsr_mpi_group *groups;
  int most_parties, stride;  // requests of a slot: two for each other party
  cell_walk walk;
  cell_slot slots[SLOTS];
  unsigned char **messages;
  MPI_Request *requests;
  MPI_Status *statuses;
  int *indices;
} reduction;

// ---- the walk over the cells ----

static bool is_short(const reduction *r, const tsr_mpi_group *group) {
  const int64_t values = group->node_count;
  return !r->job.job->scatter && group->party_count <= SHORT_PARTIES &&
         r->job.job->inner <= (int64_t)SHORT_BYTES * 8 / r->job.bits / values;
}

static int64_t slice_count(const reduction *r, const tsr_mpi_group *group) {
  if (r->job.job->scatter) return r->job.reducer.members;
  return is_short(r, group) ? 1 : group->party_count;
}

// The length of a slice, except for the last, and of a cell.
static int64_t slice_of(const reduction *r, const tsr_mpi_group *group) {
  const int64_t all = r->job.job->outer * r->job.job->inner;
  if (r->job.job->scatter || is_short(r, group)) return all;
  return ((all + group->party_count - 1) / group->party_count + 63) / 64 * 64;
}

static int64_t cell_of(const reduction *r, const tsr_mpi_group *group) {
  const int wide = tsr_dtype_info_of(tsr_reduce_partial_dtype(r->job.job->dtype))->bits;
  const size_t share = tsr_comm_in_flight(r->job.comm) / SLOTS;
  const int64_t bytes = share < CELL_BYTES ? (int64_t)share : CELL_BYTES;
  const int64_t elements =
      bytes * 8 / (wide > r->job.bits ? wide : r->job.bits) / group->node_count / 64 * 64;
  return elements < 64 ? 64 : elements;
}

static int owner_of(const reduction *r, const tsr_mpi_group *group, int64_t slice) {
  if (!r->job.job->scatter) return is_short(r, group) ? -1 : (int)slice;
  const int rank = tsr_comm_rank_of(r->job.comm, group->members[slice]);
  int party = 0;
  while (group->parties[party].rank != rank) party++;
  return party;
}

// The cell at the walk's position; false if it is empty or not ours.
static bool cell_at(const reduction *r, tsr_mpi_cell *out_cell) {
  const cell_walk *w = &r->walk;
  const tsr_mpi_group *group = &r->groups[w->group];
  if (group->mine < 0) return false;
  const int64_t all = r->job.job->outer * r->job.job->inner;
  const int64_t size = slice_of(r, group), cell = cell_of(r, group);
  const int64_t start = r->job.job->scatter ? 0 : tsr_least(w->slice * size, all);
  const int64_t end = r->job.job->scatter ? all : tsr_least(start + size, all);
  *out_cell = (tsr_mpi_cell){.group = group,
                             .slice = w->slice,
                             .begin = tsr_least(start + w->chunk * cell, end),
                             .end = tsr_least(start + (w->chunk + 1) * cell, end)};
  return out_cell->begin < out_cell->end;
}

static bool chunk_exists(const reduction *r, int64_t chunk) {
  for (int64_t g = 0; g < r->job.job->groups->count; g++)
    if (chunk * cell_of(r, &r->groups[g]) < slice_of(r, &r->groups[g])) return true;
  return false;
}

static void step_on(reduction *r) {
  cell_walk *w = &r->walk;
  w->index++;
  if (++w->slice < slice_count(r, &r->groups[w->group])) return;
  w->slice = 0;
  if (++w->group < r->job.job->groups->count) return;
  w->group = 0;
  w->done = !chunk_exists(r, ++w->chunk);
}

// ---- a cell's way ----

static size_t message_size(const reduction *r, const tsr_mpi_cell *cell, int party) {
  const tsr_mpi_party *p = &cell->group->parties[party];
  return tsr_mpi_party_offset(cell->group, p, r->job.job->dtype, cell->end - cell->begin,
                              p->node_count);
}

static MPI_Request *next_request(reduction *r, int at) {
  return &r->requests[at * r->stride + r->slots[at].waiting++];
}

static tsr_status receive(reduction *r, int at, int party, void *into, size_t bytes, int tag) {
  return tsr_mpi_check(
      MPI_Irecv(into, (int)bytes, MPI_BYTE, r->slots[at].cell.group->parties[party].rank, tag,
                r->mpi->data, next_request(r, at)),
      "MPI_Irecv");
}

static tsr_status send(reduction *r, int at, int party, const void *from, size_t bytes, int tag) {
  return tsr_mpi_check(
      MPI_Isend(from, (int)bytes, MPI_BYTE, r->slots[at].cell.group->parties[party].rank, tag,
                r->mpi->data, next_request(r, at)),
      "MPI_Isend");
}

// Reserves the messages of a cell: this party's own, and those it collects.
static tsr_status make_room(reduction *r, int at, bool collects) {
  cell_slot *s = &r->slots[at];
  const tsr_mpi_group *group = s->cell.group;
  size_t bytes = 0;
  for (int p = 0; p < group->party_count; p++)
    if (collects || p == group->mine) bytes += (message_size(r, &s->cell, p) + 63) / 64 * 64;
  TSR_TRY(tsr_mpi_reserve(&r->mpi->slots[at], bytes));
  unsigned char *place = r->mpi->slots[at].bytes;
  for (int p = 0; p < group->party_count; p++) {
    s->messages[p] = place;
    if (collects || p == group->mine) place += (message_size(r, &s->cell, p) + 63) / 64 * 64;
  }
  return NULL;
}

static tsr_status take_up(reduction *r, int at) {
  cell_slot *s = &r->slots[at];
  const tsr_mpi_group *group = s->cell.group;
  const bool collects = s->owner < 0 || s->owner == group->mine;
  TSR_TRY(make_room(r, at, collects));
  s->waiting = 0;
  s->stage = collects ? COLLECT : SENT;
  for (int p = 0; collects && p < group->party_count; p++)
    if (p != group->mine)
      TSR_TRY(receive(r, at, p, s->messages[p], message_size(r, &s->cell, p), s->tag));
  if (s->owner == group->mine) return NULL;
  const void *place = NULL;
  TSR_TRY(tsr_mpi_cell_fill(&r->job, &s->cell, s->messages[group->mine], &place));
  for (int p = 0; p < group->party_count; p++)
    if (p != group->mine && (s->owner < 0 || s->owner == p))
      TSR_TRY(send(r, at, p, place, message_size(r, &s->cell, group->mine), s->tag));
  return NULL;
}

// The next stage of a cell, after all its requests are complete.
static tsr_status go_on(reduction *r, int at) {
  cell_slot *s = &r->slots[at];
  const tsr_mpi_group *group = s->cell.group;
  const size_t bytes = (size_t)((s->cell.end - s->cell.begin) * r->job.bits + 7) / 8;
  const cell_stage before = s->stage;
  const bool comes_back = !r->job.job->scatter && s->owner >= 0;
  s->waiting = 0;
  s->stage = FREE;
  if (before == COLLECT) {
    TSR_TRY(tsr_mpi_cell_reduce(&r->job, &s->cell, s->messages));
    if (!comes_back || group->party_count == 1) return NULL;
    s->stage = RETURN;
    for (int p = 0; p < group->party_count; p++)
      if (p != group->mine)
        TSR_TRY(send(r, at, p, tsr_mpi_cell_place(&r->job, &s->cell), bytes, s->tag + 1));
  } else if (before == SENT && comes_back) {
    // Not earlier: in place, the values are where the result will be.
    s->stage = RESULT;
    TSR_TRY(receive(r, at, s->owner, tsr_mpi_cell_place(&r->job, &s->cell), bytes, s->tag + 1));
  } else if (before == RESULT) {
    TSR_TRY(tsr_mpi_cell_spread(&r->job, &s->cell));
  }
  return NULL;
}

static tsr_status fill_slots(reduction *r) {
  for (int at = 0; at < SLOTS; at++) {
    cell_slot *s = &r->slots[at];
    while (s->stage == FREE && !r->walk.done) {
      if (cell_at(r, &s->cell)) {
        s->owner = owner_of(r, s->cell.group, r->walk.slice);
        // Cells of one call have distinct tags, also from the calls before and after.
        s->tag = (int)(r->mpi->step % 8 * 2 * TAG_CELLS + r->walk.index % TAG_CELLS * 2);
        TSR_TRY(take_up(r, at));
        if (!s->waiting) TSR_TRY(go_on(r, at));
      }
      step_on(r);
    }
  }
  return NULL;
}

static tsr_status run(reduction *r) {
  r->walk.done = !chunk_exists(r, 0);
  for (;;) {
    int count = 0;
    TSR_TRY(fill_slots(r));
    TSR_TRY(tsr_mpi_some(r->mpi, r->requests, SLOTS * r->stride, true, &count, r->indices,
                         r->statuses));
    if (count < 0) return NULL;
    for (int i = 0; i < count; i++) {
      const int at = r->indices[i] / r->stride;
      if (!--r->slots[at].waiting) TSR_TRY(go_on(r, at));
    }
  }
}

static tsr_status prepare(reduction *r) {
  TSR_TRY(tsr_mpi_groups_create(r->job.comm, r->job.job->groups, &r->groups));
  r->most_parties = 1;
  for (int64_t g = 0; g < r->job.job->groups->count; g++)
    if (r->groups[g].party_count > r->most_parties) r->most_parties = r->groups[g].party_count;
  r->stride = 2 * r->most_parties;
  const size_t all = (size_t)SLOTS * (size_t)r->stride;
  r->messages = calloc((size_t)SLOTS * (size_t)r->most_parties, sizeof *r->messages);
  r->requests = malloc(all * sizeof *r->requests);
  r->statuses = malloc(all * sizeof *r->statuses);
  r->indices = malloc(all * sizeof *r->indices);
  if (!r->messages || !r->requests || !r->statuses || !r->indices)
    return tsr_fail(NO_MEMORY, "a reduction over %d ranks", r->most_parties);
  for (size_t i = 0; i < all; i++) r->requests[i] = MPI_REQUEST_NULL;
  for (int at = 0; at < SLOTS; at++) r->slots[at].messages = r->messages + at * r->most_parties;
  return NULL;
}

tsr_status tsr_mpi_reduce(tsr_comm *comm, const tsr_reduce_job *job) {
  tsr_mpi *mpi = tsr_comm_engine_state(comm);
  TSR_TRY(tsr_mpi_begin(mpi, tsr_comm_step(comm)));
  reduction r = {.mpi = mpi,
                 .job = {.comm = comm,
                         .job = job,
                         .reducer = {job->dtype, job->op, job->groups->size},
                         .bits = tsr_dtype_info_of(job->dtype)->bits}};
  tsr_status status = prepare(&r);
  if (!status)
    status = mpi->fast && tsr_mpi_fast_allows(job) ? tsr_mpi_reduce_fast(mpi, &r.job, r.groups)
                                                   : run(&r);
  tsr_mpi_groups_destroy(r.groups, job->groups->count);
  free(r.messages);
  free(r.requests);
  free(r.statuses);
  free(r.indices);
  return tsr_mpi_end(mpi, status);
}
