// Gather writes its result in order. Windows of one run, such as the rows of an embedding, are
// copied by loops that know their length; others are small strided copies; large ones are shared
// among workers.
#include "kernel/gather.h"

#include <string.h>

#include "base/arithmetic.h"
#include "reduce/region_call.h"

enum {
  BLOCK = 256,             // starts read at a time
  TASK_BYTES = 256 << 10,  // about 100 us
  LEAST_SPLIT = 1 << 20,
  WINDOW_COST = 32  // bytes that take as long as finding a window
};

void tsr_gather_plan(tsr_gather *g, tsr_copy_part *part) {
  g->window = tsr_index_copy(g->walk.window, g->walk.window_count, false);
  tsr_copy_simplify(&g->window);
  g->window_elements = tsr_copy_elements(&g->window);
  g->units = tsr_index_units(&g->walk);
  g->table = g->units > g->walk.starts.count && g->walk.starts.count > 1;
  *part = (tsr_copy_part){.copy = g->window};
  g->one = tsr_copies_plan(g->element_bytes, part, 1);
  const int64_t bytes = g->window_elements * g->element_bytes + WINDOW_COST;
  const bool small = tsr_saturated_multiply(bytes, g->units) < LEAST_SPLIT || g->one.tasks > 1;
  const int64_t share = small ? g->units : TASK_BYTES / bytes;
  g->share = share < 1 ? 1 : share;
}

int64_t tsr_gather_temp_bytes(const tsr_gather *g) {
  return g->table ? tsr_saturated_multiply(g->walk.starts.count, (int64_t)sizeof(int64_t)) : 0;
}

// ---- many windows of one run ----

static void long_windows(const tsr_gather *g, const char *restrict from, const int64_t *starts,
                         int64_t count, char *restrict to) {
  const int64_t bytes = g->window_elements * g->element_bytes;
  for (int64_t i = 0; i < count; i++)
    memcpy(to + i * bytes, from + starts[i] * g->element_bytes, (size_t)bytes);
}

// Side by side in the result; `from` is the operand moved by the loops.
static void copy_windows(const tsr_gather *g, const char *from, const int64_t *starts,
                         int64_t count, char *to) {
  const int64_t bytes = g->window_elements * g->element_bytes;
  if (g->window_elements == 1) {
    tsr_elements_gather(to, from, starts, g->element_bytes, count);
  } else if (!g->window.loop_count) {
    long_windows(g, from, starts, count, to);
  } else {
    for (int64_t i = 0; i < count; i++)
      tsr_copy_run(&g->window, 8 * g->element_bytes, from + starts[i] * g->element_bytes,
                   to + i * bytes);
  }
}

// ---- the loops ----

typedef struct gather_work {
  const tsr_gather *gather;
  const tsr_kernel_call *call;
} gather_work;

static void read_starts(const gather_work *work, int64_t begin, int64_t count, int64_t *out) {
  const tsr_gather *g = work->gather;
  if (g->table)
    memcpy(out, (const int64_t *)(const void *)work->call->temp + begin,
           (size_t)count * sizeof *out);
  else
    tsr_index_starts_read(&g->walk.starts, work->call->inputs[1], begin, count, out);
}

// The next windows from unit `at` on, at most up to `end`: their starts, and how far the loops move
// the operand. Gives how many there are.
static int64_t next_windows(const gather_work *work, int64_t at, int64_t end, int64_t *starts,
                            const char **out_from) {
  const tsr_gather *g = work->gather;
  int64_t window = at % g->walk.row, operand = 0, rest = at / g->walk.row;
  const int64_t count = tsr_least(tsr_least(g->walk.row - window, end - at), BLOCK);
  for (int i = g->walk.loop_count - 1; i >= 0; i--) {
    const int64_t along = rest % g->walk.loops[i].count;
    window += along * g->walk.loops[i].windows;
    operand += along * g->walk.loops[i].operand;
    rest /= g->walk.loops[i].count;
  }
  read_starts(work, window, count, starts);
  *out_from = work->call->inputs[0] + operand * g->element_bytes;
  return count;
}

static char *target_of(const gather_work *work, int64_t unit) {
  const tsr_gather *g = work->gather;
  return work->call->outputs[0] + unit * g->window_elements * g->element_bytes;
}

static tsr_status copy_task(void *context, int64_t task, int worker) {
  (void)worker;
  const gather_work *work = context;
  const tsr_gather *g = work->gather;
  const int64_t begin = task * g->share, end = tsr_least(begin + g->share, g->units);
  int64_t starts[BLOCK];
  for (int64_t at = begin; at < end;) {
    const char *from;
    const int64_t count = next_windows(work, at, end, starts, &from);
    copy_windows(g, from, starts, count, target_of(work, at));
    at += count;
  }
  return NULL;
}

static tsr_status copy_large(const gather_work *work) {
  const tsr_gather *g = work->gather;
  for (int64_t at = 0; at < g->units; at++) {
    const char *from;
    int64_t start;
    (void)next_windows(work, at, at + 1, &start, &from);
    from += start * g->element_bytes;
    TSR_TRY(tsr_copies_apply(&g->one, &from, target_of(work, at), work->call->pool));
  }
  return NULL;
}

tsr_status tsr_gather_run(const void *description, const tsr_kernel_call *call) {
  const tsr_gather *g = description;
  gather_work work = {g, call};
  if (!g->units || !g->window_elements) return NULL;
  if (g->table)
    tsr_index_starts_read(&g->walk.starts, call->inputs[1], 0, g->walk.starts.count,
                          (int64_t *)(void *)call->temp);
  if (g->one.tasks > 1) return copy_large(&work);
  if (g->share >= g->units) return copy_task(&work, 0, 0);
  return tsr_pool_run(call->pool, (g->units + g->share - 1) / g->share, copy_task, &work);
}
