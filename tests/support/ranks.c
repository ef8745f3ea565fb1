#include "support/ranks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/engine.h"

enum { MOST_RANKS = 16, CONTROL_BYTES = 1 << 16 };

// What ranks show each other.
typedef struct board {
  pthread_barrier_t barrier;
  int rank_count;
  const tsr_exchange *parts[MOST_RANKS];
  const tsr_reduce_job *jobs[MOST_RANKS];
  char control[MOST_RANKS][CONTROL_BYTES];
} board;

static board *board_of(const tsr_comm *comm) { return tsr_comm_engine_state(comm); }

static tsr_status share(tsr_comm *comm, const void *mine, size_t bytes, void *out_all) {
  board *b = board_of(comm);
  if (bytes > CONTROL_BYTES) abort();
  if (bytes) memcpy(b->control[tsr_comm_rank(comm)], mine, bytes);
  pthread_barrier_wait(&b->barrier);
  for (int r = 0; r < b->rank_count && bytes; r++)
    memcpy((char *)out_all + (size_t)r * bytes, b->control[r], bytes);
  pthread_barrier_wait(&b->barrier);
  return NULL;
}

// ---- exchange ----

// The next copy of a list that goes from one rank to another.
static const tsr_copy *next_between(const tsr_comm *comm, const tsr_exchange *part, int64_t *at,
                                    int from, int to) {
  while (*at < part->copy_count) {
    const tsr_copy *copy = &part->copies[(*at)++];
    if (tsr_copy_elements(copy) && tsr_comm_rank_of(comm, copy->source) == from &&
        tsr_comm_rank_of(comm, copy->target) == to)
      return copy;
  }
  return NULL;
}

static bool same_copy(const tsr_copy *a, const tsr_copy *b) {
  if (!a || !b) return a == b;
  return a->source == b->source && a->target == b->target && a->from == b->from && a->to == b->to &&
         a->length == b->length && a->loop_count == b->loop_count &&
         memcmp(a->loops, b->loops, sizeof *a->loops * (size_t)a->loop_count) == 0;
}

static tsr_status receive(const tsr_comm *comm, const tsr_exchange *mine,
                          const tsr_exchange *theirs, int from) {
  const int rank = tsr_comm_rank(comm);
  int64_t at = 0, there = 0;
  for (;;) {
    const tsr_copy *copy = next_between(comm, mine, &at, from, rank);
    if (!same_copy(copy, next_between(comm, theirs, &there, from, rank)))
      return tsr_fail(BROKEN_PLAN, "ranks %d and %d list different copies", from, rank);
    if (!copy) return NULL;
    tsr_copy_run(copy, mine->bits, theirs->in[copy->source - tsr_comm_first_device(comm, from)],
                 mine->out[tsr_comm_local_index(comm, copy->target)]);
  }
}

static tsr_status exchange(tsr_comm *comm, const tsr_exchange *parts, int64_t part_count) {
  board *b = board_of(comm);
  const int rank = tsr_comm_rank(comm);
  b->parts[rank] = parts;
  pthread_barrier_wait(&b->barrier);
  tsr_status status = tsr_engine_copy_here(comm, parts, part_count);
  for (int r = 0; r < b->rank_count; r++)
    for (int i = 0; i < part_count && r != rank && !status; i++)
      status = receive(comm, &parts[i], &b->parts[r][i], r);
  pthread_barrier_wait(&b->barrier);
  return status;
}

// ---- reductions ----

static const void *input_of(const tsr_comm *comm, int64_t device) {
  const int rank = tsr_comm_rank_of(comm, device);
  return board_of(comm)->jobs[rank]->in[device - tsr_comm_first_device(comm, rank)];
}

// Part `index` of every block, or the whole.
static void reduce_for(const tsr_comm *comm, const tsr_reduce_job *job, const void *const *in,
                       int64_t index, void *out) {
  const int64_t size = job->groups->size, blocks = job->scatter ? size : 1;
  const tsr_reducer reducer = {job->dtype, job->op, size};
  (void)comm;
  for (int64_t o = 0; o < job->outer; o++)
    tsr_reduce(&reducer, in, (o * blocks + (job->scatter ? index : 0)) * job->inner, job->inner,
               out, o * job->inner);
}

// Results go to memory of their own first: an `out` may be another's `in`.
static void reduce_here(const tsr_comm *comm, const tsr_reduce_job *job, void **results) {
  const int64_t size = job->groups->size;
  const void **in = malloc(sizeof *in * (size_t)size);
  const size_t bytes = (size_t)(job->outer * job->inner) * 16 + 16;
  for (int64_t g = 0; g < job->groups->count; g++) {
    const int64_t *members = job->groups->members + g * size;
    for (int64_t i = 0; i < size; i++) in[i] = input_of(comm, members[i]);
    for (int64_t i = 0; i < size; i++) {
      const int64_t index = tsr_comm_local_index(comm, members[i]);
      if (index < 0) continue;
      results[index] = calloc(1, bytes);
      reduce_for(comm, job, in, i, results[index]);
    }
  }
  free(in);
}

static tsr_status reduce(tsr_comm *comm, const tsr_reduce_job *job) {
  board *b = board_of(comm);
  const int64_t local = tsr_comm_local_count(comm);
  const tsr_copy whole = {.length = job->outer * job->inner};
  void **results = calloc((size_t)local + 1, sizeof *results);
  b->jobs[tsr_comm_rank(comm)] = job;
  pthread_barrier_wait(&b->barrier);
  reduce_here(comm, job, results);
  pthread_barrier_wait(&b->barrier);
  for (int64_t i = 0; i < local; i++) {
    if (!results[i]) continue;
    tsr_copy_run(&whole, tsr_dtype_info_of(job->dtype)->bits, results[i], job->out[i]);
    free(results[i]);
  }
  free(results);
  pthread_barrier_wait(&b->barrier);
  return NULL;
}

static const tsr_engine engine = {
    .size = sizeof engine, .name = "ranks", .exchange = exchange, .reduce = reduce, .share = share};

// ---- running ----

typedef struct rank {
  pthread_t thread;
  board *shown;
  int number;
  const int64_t *first_devices;
  test_rank_fn *body;
  void *context;
  tsr_status status;
} rank;

static void *run_rank(void *context) {
  rank *r = context;
  const tsr_engine_desc desc = {.size = sizeof desc,
                                .engine = &engine,
                                .state = r->shown,
                                .rank = r->number,
                                .rank_count = r->shown->rank_count,
                                .first_devices = r->first_devices};
  const tsr_comm_options options = {.size = sizeof options, .workers = 2};
  tsr_comm *comm = NULL;
  r->status = tsr_comm_create_with_engine(&desc, &options, &comm);
  if (!r->status) r->status = r->body(r->context, comm);
  tsr_comm_release(comm);
  return NULL;
}

tsr_status test_ranks_run(int rank_count, const int64_t *first_devices, test_rank_fn *body,
                          void *context) {
  board *shown = calloc(1, sizeof *shown);
  rank ranks[MOST_RANKS];
  if (!shown || rank_count > MOST_RANKS) abort();
  shown->rank_count = rank_count;
  pthread_barrier_init(&shown->barrier, NULL, (unsigned)rank_count);
  for (int i = 0; i < rank_count; i++) {
    ranks[i] = (rank){.shown = shown,
                      .number = i,
                      .first_devices = first_devices,
                      .body = body,
                      .context = context};
    if (pthread_create(&ranks[i].thread, NULL, run_rank, &ranks[i])) abort();
  }
  tsr_status first = NULL;
  for (int i = 0; i < rank_count; i++) {
    pthread_join(ranks[i].thread, NULL);
    if (first)
      tsr_status_free(ranks[i].status);
    else if (ranks[i].status)
      first = tsr_note(ranks[i].status, "rank %d", i);
  }
  pthread_barrier_destroy(&shown->barrier);
  free(shown);
  return first;
}
