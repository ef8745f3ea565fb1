// Reductions within one process. A task is a range of one result: a block that fits the first cache
// is read from all inputs, reduced there, and written to all members that get it. The assignment of
// tasks to workers does not affect results, since elements are independent and their tree is fixed.
#include <stdlib.h>

#include "base/compare.h"
#include "comm/threads/threads.h"
#include "element/copy_internal.h"
#include "tessera/comm.h"
#include "tessera/dtype.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/pool.h"
#include "tessera/engine/reduce.h"
#include "tessera/engine/transport.h"
#include "tessera/status.h"

enum { BLOCK_BYTES = 4 << 10, TASK_BYTES = 256 << 10, CUT = 64 /* elements fill whole bytes */ };

// The buffers of a group: its members' inputs in order, and the distinct outputs.
typedef struct reduce_group {
  const void **in;
  void **out;
  int64_t out_count;
} reduce_group;

typedef struct reduce_work {
  const tsr_reduce_job *job;
  tsr_reducer reducer;
  int bits;
  tsr_copy_stores stores;
  reduce_group *groups;
  int64_t results;               // per group: 1, or one per member when they are scattered
  int64_t elements;              // of a result
  int64_t task_elements, tasks;  // per result
} reduce_work;

// ---- a stretch ----

static void put(const reduce_work *w, const void *block, void *out, int64_t to, int64_t count) {
  const tsr_copy copy = {.to = to, .length = count};
  tsr_copy_run_range(&copy, 0, count, w->bits, block, out, w->stores);
}

// Elements [at, end) of a result that all members get.
static void reduce_all(const reduce_work *w, const reduce_group *g, int64_t at, int64_t end) {
  _Alignas(64) char block[BLOCK_BYTES];
  const int64_t most = (int64_t)BLOCK_BYTES * 8 / w->bits;
  for (int64_t count; at < end; at += count) {
    count = end - at < most ? end - at : most;
    if (g->out_count == 1 && w->stores == TSR_STORES_CACHED) {
      tsr_reduce(&w->reducer, g->in, at, count, g->out[0], at);
      continue;
    }
    tsr_reduce(&w->reducer, g->in, at, count, block, 0);
    for (int64_t i = 0; i < g->out_count; i++) put(w, block, g->out[i], at, count);
  }
}

// Elements [at, end) of one member's result; the inputs have them in blocks.
static void reduce_part(const reduce_work *w, const reduce_group *g, int64_t member, int64_t at,
                        int64_t end) {
  const int64_t inner = w->job->inner;
  for (int64_t count; at < end; at += count) {
    const int64_t block = at / inner, offset = at % inner;
    count = end - at < inner - offset ? end - at : inner - offset;
    const int64_t from = (block * w->job->groups->size + member) * inner + offset;
    tsr_reduce(&w->reducer, g->in, from, count, g->out[member], at);
  }
}

static tsr_status do_task(void *context, int64_t index, int worker) {
  (void)worker;
  const reduce_work *w = context;
  const int64_t task = index % w->tasks, result = index / w->tasks;
  const reduce_group *g = &w->groups[result / w->results];
  const int64_t begin = task * w->task_elements, left = w->elements - begin;
  const int64_t end = begin + (left < w->task_elements ? left : w->task_elements);
  if (w->job->scatter)
    reduce_part(w, g, result % w->results, begin, end);
  else
    reduce_all(w, g, begin, end);
  return NULL;
}

// ---- the groups ----

static int64_t drop_repeated(void **list, int64_t count) {
  int64_t kept = 0;
  qsort((void *)list, (size_t)count, sizeof *list, tsr_compare_pointers);
  for (int64_t i = 0; i < count; i++) {
    if (!kept || list[kept - 1] != list[i]) list[kept++] = list[i];
  }
  return kept;
}

static bool is_in_place(const reduce_group *g, int64_t size) {
  for (int64_t i = 0; i < size; i++) {
    if (bsearch(&g->in[i], (void *)g->out, (size_t)g->out_count, sizeof *g->out,
                tsr_compare_pointers))
      return true;
  }
  return false;
}

// One allocation: the groups, their inputs, their outputs.
static tsr_status alloc_groups(reduce_work *w) {
  const size_t count = (size_t)w->job->groups->count, size = (size_t)w->job->groups->size;
  w->groups = malloc(count * (sizeof *w->groups + 2 * size * sizeof(void *)));
  if (!w->groups) return tsr_fail(NO_MEMORY, "%zu groups of %zu devices", count, size);
  void **next = (void **)(w->groups + count);
  for (size_t i = 0; i < count; i++, next += 2 * size)
    w->groups[i] = (reduce_group){(const void **)next, next + size, (int64_t)size};
  return NULL;
}

static void fill_group(const reduce_work *w, const tsr_comm *comm, int64_t index, bool *in_place) {
  const int64_t size = w->job->groups->size;
  reduce_group *g = &w->groups[index];
  for (int64_t i = 0; i < size; i++) {
    const int64_t local = tsr_comm_local_index(comm, w->job->groups->members[index * size + i]);
    g->in[i] = w->job->in[local];
    g->out[i] = w->job->out[local];
  }
  if (w->job->scatter) return;
  g->out_count = drop_repeated(g->out, size);
  *in_place = *in_place || is_in_place(g, size);
}

// Results in place are in a cache when they are written.
static tsr_copy_stores choose_stores(const reduce_work *w, bool in_place) {
  int64_t outputs = 0;
  for (int64_t i = 0; i < w->job->groups->count; i++) outputs += w->groups[i].out_count;
  const bool fits = w->job->scatter || in_place;
  return fits ? TSR_STORES_CACHED : tsr_threads_stores(outputs * (w->elements * w->bits / 8));
}

tsr_status tsr_threads_reduce(tsr_comm *comm, const tsr_reduce_job *job) {
  reduce_work w = {.job = job,
                   .reducer = {job->dtype, job->op, job->groups->size},
                   .bits = tsr_dtype_info_of(job->dtype)->bits,
                   .results = job->scatter ? job->groups->size : 1,
                   .elements = job->outer * job->inner};
  w.task_elements = (int64_t)TASK_BYTES * 8 / w.bits / CUT * CUT;
  w.tasks = (w.elements + w.task_elements - 1) / w.task_elements;
  TSR_TRY(alloc_groups(&w));
  bool in_place = false;
  for (int64_t i = 0; i < job->groups->count; i++) fill_group(&w, comm, i, &in_place);
  w.stores = choose_stores(&w, in_place);
  const int64_t tasks = job->groups->count * w.results * w.tasks;
  tsr_status status = tsr_pool_run(tsr_comm_pool(comm), tasks, do_task, &w);
  free(w.groups);
  return status;
}
