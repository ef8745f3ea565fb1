// Scatter goes through the updates in their order. Where a window is one run of elements and is
// either inside or outside, it is shared among workers: in stripes, parts of every window, if
// windows are long; else in bands, windows that start in a part of the tensor. Either way an
// element of the tensor belongs to one task, which meets its updates in order.
#include "kernel/scatter.h"

#include <string.h>

#include "base/arithmetic.h"
#include "element/copy_runs.h"
#include "reduce/region_call.h"

enum {
  BLOCK = 256,            // starts read at a time
  WINDOW_COST = 32,       // bytes that take as long as finding a window
  LEAST_SPLIT = 1 << 20,  // bytes of updates that are worth several tasks
  TASK_BYTES = 256 << 10,
  MOST_BANDS = 8,  // every one of them reads all starts
  LEAST_RUN = 64,  // bytes of a window that cost more than looking at its start
  STRIPE = 16 << 10
};

// ---- single elements ----

#define TAKE(a, b) (b)
#define SUM(a, b) ((a) + (b))
#define SINGLE(name, type, RESULT)                                                         \
  static void name(char *target, const int64_t *starts, const char *updates, int64_t step, \
                   int64_t count) {                                                        \
    for (int64_t i = 0; i < count; i++, updates += step * (int64_t)sizeof(type)) {         \
      char *place = target + starts[i] * (int64_t)sizeof(type);                            \
      type a, b;                                                                           \
      if (starts[i] == TSR_NO_START) continue;                                             \
      memcpy(&a, place, sizeof a);                                                         \
      memcpy(&b, updates, sizeof b);                                                       \
      a = RESULT(a, b);                                                                    \
      memcpy(place, &a, sizeof a);                                                         \
    }                                                                                      \
  }
SINGLE(replace_1, uint8_t, TAKE)
SINGLE(replace_2, uint16_t, TAKE)
SINGLE(replace_4, uint32_t, TAKE)
SINGLE(replace_8, uint64_t, TAKE)
SINGLE(add_u32, uint32_t, SUM)
SINGLE(add_u64, uint64_t, SUM)
SINGLE(add_f32, float, SUM)
SINGLE(add_f64, double, SUM)

// The loop for a sum; integers wrap around, whatever their sign.
static tsr_scatter_fn *sum_of(tsr_dtype dtype) {
  switch ((int)dtype) {
    case TSR_I32:
    case TSR_U32:
      return add_u32;
    case TSR_I64:
    case TSR_U64:
      return add_u64;
    case TSR_F32:
      return add_f32;
    case TSR_F64:
      return add_f64;
    default:
      return NULL;
  }
}

static tsr_scatter_fn *single_of(const tsr_scatter *s) {
  static tsr_scatter_fn *const replacing[] = {
      [1] = replace_1, [2] = replace_2, [4] = replace_4, [8] = replace_8, [16] = NULL};
  if (!s->whole_only || s->window.loop_count || s->window.length != 1 || s->tensor_count != 1)
    return NULL;
  if (s->body == TSR_SCATTER_REPLACE) return replacing[s->tensors[0].element_bytes];
  if (s->body == TSR_SCATTER_COMBINE && s->loops->op == TSR_TILE_ADD)
    return sum_of(s->loops->dtype);
  return NULL;
}

// ---- planning ----

static void plan_tasks(tsr_scatter *s) {
  const int64_t width = s->tensors[0].element_bytes, run = s->window.length * width;
  const int64_t work = tsr_saturated_multiply(run + WINDOW_COST, s->units);
  s->stripes = s->bands = 1;
  if (!s->whole_only || s->window.loop_count || work < LEAST_SPLIT || run < LEAST_RUN) return;
  if (run >= 4 * STRIPE)
    s->stripes = tsr_least(run / STRIPE, work / TASK_BYTES);
  else
    s->bands = tsr_least(MOST_BANDS, work / TASK_BYTES);
}

void tsr_scatter_plan(tsr_scatter *s) {
  s->window = tsr_index_copy(s->walk.window, s->walk.window_count, true);
  tsr_copy_simplify(&s->window);
  bool empty = false;
  s->whole_only = true;
  s->last_start = 0;
  for (int i = 0; i < s->walk.starts.entry_count; i++) {
    const tsr_start_entry *entry = &s->walk.starts.entries[i];
    if (entry->window != 1) s->whole_only = false;
    if (entry->size == 0) empty = true;
    s->last_start += (entry->size - 1) * entry->stride;
  }
  for (int i = 0; i < s->walk.starts.dim_count; i++)
    s->last_start += (s->walk.starts.dims[i].count - 1) * s->walk.starts.dims[i].operand;
  s->units = empty ? 0 : tsr_index_units(&s->walk);
  s->single = single_of(s);
  plan_tasks(s);
}

int64_t tsr_scatter_temp_bytes(const tsr_scatter *s) {
  return s->bands > 1 ? tsr_saturated_multiply(s->walk.starts.count, (int64_t)sizeof(int64_t)) : 0;
}

// ---- one task ----

// Addresses for the program, and room for results of several tensors: the program may read one
// tensor after it wrote another.
typedef struct body_memory {
  const char **inputs;
  char **outputs;
  char *scratch;
} body_memory;

typedef struct scatter_task {
  const tsr_scatter *scatter;
  const tsr_kernel_call *call;
  const int64_t *table;         // all starts; NULL = they are read as needed
  int64_t first, last;          // starts that this task takes
  int64_t run_from, run_count;  // the part of a window that is one run
  body_memory memory;
} scatter_task;

static int64_t cut_memory(const tsr_scatter *s, char *memory, body_memory *out) {
  tsr_memory_cut cut = {.memory = memory};
  const int64_t pointer = (int64_t)sizeof(void *);
  *out = (body_memory){0};
  if (s->body != TSR_SCATTER_PROGRAM) return 0;
  out->inputs = tsr_memory_take(&cut, (2 * s->tensor_count + s->outside_count) * pointer);
  out->outputs = tsr_memory_take(&cut, s->tensor_count * pointer);
  for (int i = 0; i < s->tensor_count && s->tensor_count > 1; i++) {
    char *results = tsr_memory_take(&cut, s->program_most * s->tensors[i].element_bytes);
    if (memory) out->outputs[i] = results;
  }
  out->scratch = tsr_memory_take(&cut, tsr_tile_scratch_bytes(s->program));
  return cut.used;
}

int64_t tsr_scatter_scratch_bytes(const tsr_scatter *s) {
  body_memory none;
  return cut_memory(s, NULL, &none);
}

static body_memory memory_of(const tsr_scatter *s, const tsr_kernel_call *call, int worker) {
  body_memory memory;
  if (cut_memory(s, tsr_kernel_scratch(call, worker), &memory) == 0) return memory;
  for (int i = 0; i < s->outside_count; i++)
    memory.inputs[2 * s->tensor_count + i] = call->inputs[2 * s->tensor_count + 1 + i];
  return memory;
}

static const char *updates_of(const scatter_task *t, int tensor) {
  return t->call->inputs[t->scatter->tensor_count + 1 + tensor];
}

// ---- combining ----

// The body on elements side by side, at most `program_most`.
static void run_body(const scatter_task *t, int64_t to, int64_t from, int64_t count) {
  const tsr_scatter *s = t->scatter;
  const body_memory *m = &t->memory;
  for (int i = 0; i < s->tensor_count; i++) {
    const int64_t width = s->tensors[i].element_bytes;
    char *target = t->call->outputs[i] + to * width;
    m->inputs[i] = target;
    m->inputs[s->tensor_count + i] = updates_of(t, i) + from * width;
    if (s->tensor_count == 1) m->outputs[i] = target;
  }
  tsr_tile_run_few(s->program, count, m->inputs, m->outputs, m->scratch);
  for (int i = 0; i < s->tensor_count && s->tensor_count > 1; i++) {
    const int64_t width = s->tensors[i].element_bytes;
    memcpy(t->call->outputs[i] + to * width, m->outputs[i], (size_t)(count * width));
  }
}

static void combine_run(const scatter_task *t, int64_t to, int64_t from, int64_t count) {
  const tsr_scatter *s = t->scatter;
  if (s->body == TSR_SCATTER_COMBINE) {
    const int64_t width = s->tensors[0].element_bytes;
    char *target = t->call->outputs[0] + to * width;
    s->loops->pair(target, target, updates_of(t, 0) + from * width, count);
    return;
  }
  for (int64_t done = 0; done < count; done += s->program_most)
    run_body(t, to + done, from + done, tsr_least(count - done, s->program_most));
}

static void combine_box(const scatter_task *t, const tsr_copy *box, int64_t to, int64_t from) {
  const tsr_scatter *s = t->scatter;
  if (s->body == TSR_SCATTER_REPLACE) {
    for (int i = 0; i < s->tensor_count; i++) {
      const int64_t width = s->tensors[i].element_bytes;
      tsr_copy_run(box, (int)(8 * width), updates_of(t, i) + from * width,
                   t->call->outputs[i] + to * width);
    }
    return;
  }
  int64_t turns[TSR_MAX_RANK] = {0};
  do {
    combine_run(t, to, from, box->length);
  } while (tsr_copy_next_run(box, turns, &from, &to));
}

static void combine_whole(const scatter_task *t, int64_t to, int64_t from) {
  const tsr_scatter *s = t->scatter;
  if (s->window.loop_count) {
    combine_box(t, &s->window, to, from);
  } else if (s->body == TSR_SCATTER_REPLACE) {
    for (int i = 0; i < s->tensor_count; i++) {
      const int64_t width = s->tensors[i].element_bytes;
      memcpy(t->call->outputs[i] + (to + t->run_from) * width,
             updates_of(t, i) + (from + t->run_from) * width, (size_t)(t->run_count * width));
    }
  } else {
    combine_run(t, to + t->run_from, from + t->run_from, t->run_count);
  }
}

// ---- windows that are partly outside ----

// The loop's iterations that are inside, for a window that starts at `start`; false if none is.
static bool clip(const tsr_scatter *s, int64_t start, tsr_index_loop *loop, int64_t *out_first) {
  const int64_t size = s->walk.starts.entries[loop->entry].size;
  if (start >= size || start <= -loop->count) return false;
  const int64_t first = start < 0 ? -start : 0;
  const int64_t end = tsr_least(loop->count, size - start);
  loop->count = end - first;
  *out_first = first;
  return first < end;
}

// `along` are the iterations of the loops outside.
static void combine_inside(const scatter_task *t, int64_t window, const int64_t *along, int64_t to,
                           int64_t from) {
  const tsr_scatter *s = t->scatter;
  int64_t vector[TSR_MAX_RANK];
  to += tsr_index_starts_vector(&s->walk.starts, t->call->inputs[s->tensor_count], window, vector);
  for (int i = 0; i < s->walk.loop_count; i++) {
    tsr_index_loop one = s->walk.loops[i];
    int64_t first = 0;
    if (one.entry < 0) continue;
    if (!clip(s, vector[one.entry], &one, &first)) return;
    if (along[i] < first || along[i] >= first + one.count) return;
  }
  tsr_index_loop loops[TSR_MAX_RANK];
  for (int i = 0; i < s->walk.window_count; i++) {
    int64_t first = 0;
    loops[i] = s->walk.window[i];
    if (loops[i].entry >= 0 && !clip(s, vector[loops[i].entry], &loops[i], &first)) return;
    to += first * loops[i].operand;
    from += first * loops[i].element;
  }
  for (int k = 0; k < s->walk.starts.entry_count; k++) {
    const tsr_start_entry *entry = &s->walk.starts.entries[k];
    if (entry->window == 1 && (vector[k] < 0 || vector[k] >= entry->size)) return;
    to += vector[k] * entry->stride;
  }
  const tsr_copy box = tsr_index_copy(loops, s->walk.window_count, true);
  combine_box(t, &box, to, from);
}

// ---- the loops ----

static void scatter_row(const scatter_task *t, int64_t window, const int64_t *along,
                        int64_t operand, int64_t update) {
  const tsr_scatter *s = t->scatter;
  int64_t block[BLOCK];
  for (int64_t done = 0; done < s->walk.row; done += BLOCK) {
    const int64_t count = tsr_least(BLOCK, s->walk.row - done);
    const int64_t *starts = t->table ? t->table + window + done : block;
    if (!t->table)
      tsr_index_starts_read(&s->walk.starts, t->call->inputs[s->tensor_count], window + done, count,
                            block);
    if (s->single) {
      const int64_t width = s->tensors[0].element_bytes;
      s->single(t->call->outputs[0] + operand * width, starts,
                updates_of(t, 0) + (update + done * s->walk.row_step) * width, s->walk.row_step,
                count);
      continue;
    }
    for (int64_t i = 0; i < count; i++) {
      const int64_t from = update + (done + i) * s->walk.row_step;
      if (starts[i] >= t->first && starts[i] <= t->last)
        combine_whole(t, starts[i] + operand, from);
      else if (starts[i] == TSR_NO_START && !s->whole_only)
        combine_inside(t, window + done + i, along, operand, from);
    }
  }
}

static void scatter_rows(const scatter_task *t) {
  const tsr_scatter *s = t->scatter;
  int64_t along[TSR_MAX_RANK] = {0}, window = 0, operand = 0, update = 0;
  for (;;) {
    scatter_row(t, window, along, operand, update);
    int i = s->walk.loop_count - 1;
    for (; i >= 0; i--) {
      const tsr_index_loop *loop = &s->walk.loops[i];
      window += loop->windows, operand += loop->operand, update += loop->element;
      if (++along[i] < loop->count) break;
      window -= loop->windows * loop->count, operand -= loop->operand * loop->count;
      update -= loop->element * loop->count;
      along[i] = 0;
    }
    if (i < 0) return;
  }
}

// Where part `index` of `parts` begins.
static int64_t part_begin(int64_t total, int64_t parts, int64_t index) {
  const int64_t size = (total + parts - 1) / parts;
  return tsr_least(size * index, total);
}

typedef struct scatter_work {
  const tsr_scatter *scatter;
  const tsr_kernel_call *call;
} scatter_work;

static tsr_status scatter_part(void *context, int64_t task, int worker) {
  const scatter_work *work = context;
  const tsr_scatter *s = work->scatter;
  const int64_t stripe = task % s->stripes, band = task / s->stripes, length = s->window.length;
  const int64_t begin = part_begin(length, s->stripes, stripe);
  const scatter_task t = {
      .scatter = s,
      .call = work->call,
      .table = s->bands > 1 ? (const int64_t *)(const void *)work->call->temp : NULL,
      .first = part_begin(s->last_start + 1, s->bands, band),
      .last = part_begin(s->last_start + 1, s->bands, band + 1) - 1,
      .run_from = begin,
      .run_count = part_begin(length, s->stripes, stripe + 1) - begin,
      .memory = memory_of(s, work->call, worker)};
  scatter_rows(&t);
  return NULL;
}

tsr_status tsr_scatter_run(const void *description, const tsr_kernel_call *call) {
  const tsr_scatter *s = description;
  for (int i = 0; i < s->tensor_count; i++)
    if (call->outputs[i] != call->inputs[i])
      TSR_TRY(
          tsr_copies_apply(&s->tensors[i].whole, call->inputs + i, call->outputs[i], call->pool));
  if (!s->units || !s->window.length) return NULL;
  if (s->bands > 1)
    tsr_index_starts_read(&s->walk.starts, call->inputs[s->tensor_count], 0, s->walk.starts.count,
                          (int64_t *)(void *)call->temp);
  scatter_work work = {s, call};
  return tsr_pool_run(call->pool, s->stripes * s->bands, scatter_part, &work);
}
