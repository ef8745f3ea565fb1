// Reductions within one process. A task is a stretch of one result: all inputs are read for a block
// that fits the first cache, reduced there, and written to everyone who gets it. Which worker does
// which stretch changes nothing, since elements are independent and their tree is fixed.
#include <stdlib.h>
#include <string.h>

#include "comm/threads/threads.h"

enum { BLOCK_BYTES = 4 << 10, TASK_BYTES = 256 << 10 };

// The results of one group, or of one member of it when they are scattered.
typedef struct work {
  const tsr_comm *comm;
  const tsr_reduce_job *job;
  tsr_reducer reducer;
  int bits;
  int64_t results;               // per group: 1, or one per member
  int64_t elements;              // of a result
  int64_t task_elements, tasks;  // per result
} work;

static const int32_t *members_of(const work *w, int64_t group) {
  return w->job->groups->members + group * w->job->groups->size;
}

static void *out_of(const work *w, const int32_t *members, int64_t index) {
  return w->job->out[tsr_comm_local_index(w->comm, members[index])];
}

// The inputs of a group; on the heap only when there are many.
enum { FEW = 64 };
typedef struct inputs {
  const void **list, *few[FEW];
} inputs;

static tsr_status inputs_init(inputs *in, const work *w, const int32_t *members) {
  const int64_t size = w->job->groups->size;
  in->list = size <= FEW ? in->few : malloc(sizeof *in->list * (size_t)size);
  if (!in->list) return tsr_fail(NO_MEMORY, "group of %lld devices", (long long)size);
  for (int64_t i = 0; i < size; i++)
    in->list[i] = w->job->in[tsr_comm_local_index(w->comm, members[i])];
  return NULL;
}

static void inputs_deinit(inputs *in) {
  if (in->list != in->few) free((void *)in->list);
}

static void put(const work *w, const void *block, void *out, int64_t to, int64_t count) {
  const tsr_copy copy = {.to = to, .length = count};
  tsr_copy_run(&copy, w->bits, block, out);
}

// All members get it: each distinct buffer is written once.
static void put_all(const work *w, const void *block, const int32_t *members, int64_t at,
                    int64_t count) {
  for (int64_t i = 0; i < w->job->groups->size; i++) {
    void *out = out_of(w, members, i);
    bool seen = false;
    for (int64_t k = 0; k < i && !seen; k++) seen = out_of(w, members, k) == out;
    if (!seen) put(w, block, out, at, count);
  }
}

// Elements `at` to before `end` of result `result` of a group.
static void reduce_stretch(const work *w, const inputs *in, const int32_t *members, int64_t result,
                           int64_t at, int64_t end) {
  _Alignas(64) char block[BLOCK_BYTES];
  const int64_t most = (int64_t)BLOCK_BYTES * 8 / w->bits, inner = w->job->inner;
  while (at < end) {
    int64_t from = at, count = end - at < most ? end - at : most;
    if (w->job->scatter) {
      // The part of the result that lies in one block of the inputs.
      const int64_t outer = at / inner, left = inner - at % inner;
      if (count > left) count = left;
      from = (outer * w->job->groups->size + result) * inner + at % inner;
    }
    tsr_reduce(&w->reducer, in->list, from, count, block, 0);
    if (w->job->scatter)
      put(w, block, out_of(w, members, result), at, count);
    else
      put_all(w, block, members, at, count);
    at += count;
  }
}

static tsr_status do_task(void *context, int64_t index, int worker) {
  (void)worker;
  const work *w = context;
  const int64_t task = index % w->tasks, unit = index / w->tasks;
  const int32_t *members = members_of(w, unit / w->results);
  const int64_t begin = task * w->task_elements;
  const int64_t end =
      begin + w->task_elements < w->elements ? begin + w->task_elements : w->elements;
  inputs in;
  TSR_TRY(inputs_init(&in, w, members));
  reduce_stretch(w, &in, members, unit % w->results, begin, end);
  inputs_deinit(&in);
  return NULL;
}

tsr_status tsr_threads_reduce(tsr_comm *comm, const tsr_reduce_job *job) {
  work w = {.comm = comm,
            .job = job,
            .reducer = {job->dtype, job->op, job->groups->size},
            .bits = tsr_dtype_get(job->dtype)->bits,
            .results = job->scatter ? job->groups->size : 1,
            .elements = job->outer * job->inner};
  w.task_elements = (int64_t)TASK_BYTES * 8 / w.bits / 64 * 64;  // whole bytes
  w.tasks = (w.elements + w.task_elements - 1) / w.task_elements;
  return tsr_pool_run(tsr_comm_pool(comm), job->groups->count * w.results * w.tasks, do_task, &w);
}
