// Windows of a row choose together, cell by cell; then their values are combined in order. Windows
// that may choose the same element are always of one task.
#include "reduce/select_scatter.h"

#include <string.h>

#include "base/arithmetic.h"

typedef struct scatter_run {
  const tsr_select_scatter *s;
  const tsr_kernel_call *call;
  int64_t batches, pieces, rows;  // independent parts of all windows; rows of windows in a batch
} scatter_run;

// The memory of one task.
typedef struct choice_space {
  // The element of each window, -1 = none yet: int32 for native loops on 4 bytes, int64 otherwise.
  void *chosen;
  char *values, *next;  // its value, and those under the next cell
  char *truths, *made;  // what `select` says; the results of `scatter`
  const char **select_inputs, **scatter_inputs;
  char *select_scratch, *scatter_scratch;
} choice_space;

static int64_t cut_space(const tsr_select_scatter *s, char *memory, choice_space *out) {
  tsr_memory_cut cut = {.memory = memory};
  out->chosen = tsr_memory_take(&cut, s->most * (int64_t)sizeof(int64_t));
  out->values = tsr_memory_take(&cut, s->most * s->element_bytes);
  if (s->native) return cut.used;
  const int64_t pointer = (int64_t)sizeof(char *);
  out->next = tsr_memory_take(&cut, s->most * s->element_bytes);
  out->truths = tsr_memory_take(&cut, s->most);
  out->made = tsr_memory_take(&cut, s->most * s->element_bytes);
  out->select_inputs = tsr_memory_take(&cut, (2 + s->select_outside) * pointer);
  out->scatter_inputs = tsr_memory_take(&cut, (2 + s->scatter_outside) * pointer);
  out->select_scratch = tsr_memory_take(&cut, tsr_tile_scratch_bytes(s->select));
  out->scatter_scratch = tsr_memory_take(&cut, tsr_tile_scratch_bytes(s->scatter));
  return cut.used;
}

int64_t tsr_select_scatter_scratch_bytes(const tsr_select_scatter *select) {
  choice_space none;
  return cut_space(select, NULL, &none);
}

void tsr_select_scatter_destroy(void *description) {
  const tsr_select_scatter *select = description;
  tsr_tile_destroy(select->select);
  tsr_tile_destroy(select->scatter);
}

bool tsr_select_scatter_is_native(tsr_dtype dtype, int64_t count) {
  return count <= INT32_MAX && (dtype == TSR_F32 || dtype == TSR_F64 || dtype == TSR_I32);
}

// ---- choosing ----

// One cell of a run of windows, whose elements start at `element` of the operand.
typedef struct cell_run {
  tsr_window_run run;
  int64_t element;
  bool smallest;
} cell_run;

// Of windows side by side: a loop that becomes vectors. Places are numbers of the same width.
#define CHOOSE(name, type, place)                                                              \
  static inline void name##_loop(const type *restrict from, int64_t from_step,                 \
                                 type *restrict best, place *restrict chosen, int64_t to_step, \
                                 int64_t count, place element, bool smallest) {                \
    for (int64_t i = 0; i < count; i++) {                                                      \
      const type next = from[i * from_step], old = best[i * to_step];                          \
      const place at = chosen[i * to_step];                                                    \
      const bool stays = smallest ? old <= next : old >= next;                                 \
      const bool kept = stays & (at >= 0);                                                     \
      best[i * to_step] = kept ? old : next;                                                   \
      chosen[i * to_step] = kept ? at : (place)(element + (place)(i * from_step));             \
    }                                                                                          \
  }                                                                                            \
  static void name(const cell_run *c, const char *operand, void *chosen, char *values) {       \
    const type *from = (const type *)(const void *)operand + c->element;                       \
    type *best = (type *)(void *)values + c->run.to;                                           \
    place *at = (place *)chosen + c->run.to;                                                   \
    if (c->run.to_step == 1 && c->run.from_step == 1 && !c->smallest)                          \
      name##_loop(from, 1, best, at, 1, c->run.count, (place)c->element, false);               \
    else                                                                                       \
      name##_loop(from, c->run.from_step, best, at, c->run.to_step, c->run.count,              \
                  (place)c->element, c->smallest);                                             \
  }
CHOOSE(choose_f32, float, int32_t)
CHOOSE(choose_i32, int32_t, int32_t)
CHOOSE(choose_f64, double, int64_t)

static void choose_by_program(const scatter_run *r, const choice_space *space, const cell_run *c,
                              int64_t count) {
  const tsr_select_scatter *s = r->s;
  const int bytes = s->element_bytes;
  tsr_elements_fill(space->next, r->call->inputs[2], bytes, count);
  tsr_elements_copy(space->next + c->run.to * bytes, c->run.to_step,
                    r->call->inputs[0] + c->element * bytes, c->run.from_step, bytes, c->run.count);
  char *truths[1] = {space->truths};
  int64_t *chosen = space->chosen;
  tsr_tile_run_few(s->select, count, space->select_inputs, truths, space->select_scratch);
  for (int64_t i = 0, to = c->run.to; i < c->run.count; i++, to += c->run.to_step) {
    if (chosen[to] >= 0 && space->truths[to]) continue;
    chosen[to] = c->element + i * c->run.from_step;
    memcpy(space->values + to * bytes, space->next + to * bytes, (size_t)bytes);
  }
}

static void choose(const scatter_run *r, const choice_space *space, const cell_run *c,
                   int64_t count) {
  const char *operand = r->call->inputs[0];
  if (!r->s->native)
    choose_by_program(r, space, c, count);
  else if (r->s->dtype == TSR_F32)
    choose_f32(c, operand, space->chosen, space->values);
  else if (r->s->dtype == TSR_F64)
    choose_f64(c, operand, space->chosen, space->values);
  else
    choose_i32(c, operand, space->chosen, space->values);
}

// ---- combining ----

#define ADD_CHOSEN(type, place)                                \
  {                                                            \
    type *to = (type *)(void *)out;                            \
    const type *from = (const type *)(const void *)source;     \
    const place *at = chosen;                                  \
    for (int64_t i = 0; i < count; i++)                        \
      if (at[i] >= 0) to[at[i]] = (type)(to[at[i]] + from[i]); \
  }

static void add_chosen(tsr_dtype dtype, char *out, const char *source, const void *chosen,
                       int64_t count) {
  if (dtype == TSR_F32)
    ADD_CHOSEN(float, int32_t)
  else if (dtype == TSR_F64)
    ADD_CHOSEN(double, int64_t)
  else
    ADD_CHOSEN(uint32_t, int32_t)
}

static void scatter_one(const tsr_select_scatter *s, const choice_space *space, char *at,
                        const char *source) {
  char *made[1] = {space->made};
  space->scatter_inputs[0] = at;
  space->scatter_inputs[1] = source;
  tsr_tile_run_few(s->scatter, 1, space->scatter_inputs, made, space->scatter_scratch);
  memcpy(at, space->made, (size_t)s->element_bytes);
}

// Windows go together as long as no two chose the same element.
static void scatter_apart(const tsr_select_scatter *s, const choice_space *space, char *out,
                          const char *source, int64_t count) {
  const int64_t *chosen = space->chosen;
  const size_t bytes = (size_t)s->element_bytes;
  char *made[1] = {space->made};
  for (int64_t i = 0; i < count; i++)
    if (chosen[i] >= 0)
      memcpy(space->next + i * s->element_bytes, out + chosen[i] * s->element_bytes, bytes);
  space->scatter_inputs[0] = space->next;
  space->scatter_inputs[1] = source;
  tsr_tile_run_few(s->scatter, count, space->scatter_inputs, made, space->scatter_scratch);
  for (int64_t i = 0; i < count; i++)
    if (chosen[i] >= 0)
      memcpy(out + chosen[i] * s->element_bytes, space->made + i * s->element_bytes, bytes);
}

static bool is_single(const tsr_window_dim *d) {
  return d->size == 1 && d->stride == 1 && d->low == 0 && d->input == d->windows;
}

static void combine(const scatter_run *r, const choice_space *space, const char *source,
                    int64_t count) {
  const tsr_select_scatter *s = r->s;
  const int64_t *chosen = space->chosen;
  char *out = r->call->outputs[0];
  if (s->native)
    add_chosen(s->dtype, out, source, space->chosen, count);
  else if (is_single(&s->window.dims[s->window.rank - 1]))
    scatter_apart(s, space, out, source, count);
  else
    for (int64_t i = 0; i < count; i++)
      if (chosen[i] >= 0)
        scatter_one(s, space, out + chosen[i] * s->element_bytes, source + i * s->element_bytes);
}

// ---- rows ----

// Windows `first` on of a row.
static void scatter_row(const scatter_run *r, const choice_space *space, int64_t row, int64_t first,
                        int64_t count) {
  const tsr_window_shape *window = &r->s->window;
  tsr_window_dim last = window->dims[window->rank - 1];
  const int64_t source = row * last.windows + first;
  tsr_window_cells cells;
  last.low -= first * last.stride;  // windows are counted from `first`
  last.windows = count;
  memset(space->chosen, 0xff, (size_t)count * sizeof(int64_t));
  memset(space->values, 0, (size_t)(count * r->s->element_bytes));
  tsr_window_cells_start(&cells, window, row);
  do {
    for (int64_t cell = 0; cells.row >= 0 && cell < last.size; cell++) {
      cell_run c = {tsr_window_run_of(&last, cell), cells.row * last.input, r->s->smallest};
      c.element += c.run.from;
      if (c.run.count) choose(r, space, &c, count);
    }
  } while (tsr_window_cells_next(&cells));
  combine(r, space, r->call->inputs[1] + source * r->s->element_bytes, count);
}

// The elements of a batch, and of a piece of its rows, start at the initial value.
static void fill_result(const scatter_run *r, int64_t batch, int64_t first, int64_t count) {
  const tsr_window_shape *window = &r->s->window;
  const int bytes = r->s->element_bytes;
  const int64_t length = window->dims[window->rank - 1].input;
  int64_t rows = 1;
  for (int d = 0; d < window->rank - 1; d++) rows *= window->dims[d].input;
  rows /= r->batches;
  for (int64_t i = 0; i < rows; i++)
    tsr_elements_fill(r->call->outputs[0] + ((batch * rows + i) * length + first) * bytes,
                      r->call->inputs[2], bytes, count);
}

// The inputs of the two bodies: elements, then values from outside.
static void bind_inputs(const scatter_run *r, choice_space *space) {
  const tsr_select_scatter *s = r->s;
  space->select_inputs[0] = space->values;
  space->select_inputs[1] = space->next;
  for (int k = 0; k < s->select_outside; k++) space->select_inputs[2 + k] = r->call->inputs[3 + k];
  for (int k = 0; k < s->scatter_outside; k++)
    space->scatter_inputs[2 + k] = r->call->inputs[3 + s->select_outside + k];
}

static tsr_status scatter_part(void *context, int64_t task, int worker) {
  const scatter_run *r = context;
  const tsr_select_scatter *s = r->s;
  const tsr_window_dim *last = &s->window.dims[s->window.rank - 1];
  const int64_t batch = task / r->pieces, piece = task % r->pieces;
  choice_space space = {.chosen = NULL};
  cut_space(s, tsr_kernel_scratch(r->call, worker), &space);
  if (!s->native) bind_inputs(r, &space);
  const bool cut = r->pieces > 1;
  const int64_t start = cut ? piece * s->most : 0;
  const int64_t end = cut ? tsr_least(start + s->most, last->windows) : last->windows;
  fill_result(r, batch, start, cut ? end - start : last->input);
  for (int64_t row = batch * r->rows; row < (batch + 1) * r->rows; row++)
    for (int64_t first = start; first < end; first += s->most)
      scatter_row(r, &space, row, first, tsr_least(end - first, s->most));
  return NULL;
}

tsr_status tsr_select_scatter_run(const void *description, const tsr_kernel_call *call) {
  const tsr_select_scatter *s = description;
  const tsr_window_shape *window = &s->window;
  const tsr_window_dim *last = &window->dims[window->rank - 1];
  scatter_run r = {.s = s, .call = call, .batches = 1, .pieces = 1};
  if (window->rank > 1 && is_single(&window->dims[0])) r.batches = window->dims[0].windows;
  if (is_single(last)) r.pieces = (last->windows + s->most - 1) / s->most;
  if (!r.batches || !r.pieces) return NULL;
  r.rows = tsr_window_row_count(window) / r.batches;
  return tsr_pool_run(call->pool, r.batches * r.pieces, scatter_part, &r);
}
