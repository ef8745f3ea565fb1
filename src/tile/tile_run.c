// Running a finished program: tasks, the tiles of a task, the steps of a tile.
#include <string.h>

#include "base/arithmetic.h"
#include "tile/tile_internal.h"

// ---- steps ----

// Row by row: an operand is one element for each row, one for all rows, or a vector.
static void run_rows(const tsr_tile_worker *w, const tsr_tile_step *step, char *out,
                     const void **in) {
  for (int64_t i = 0; i < w->rows; i++) {
    step->loop(out, in, w->columns);
    out += w->columns * step->width;
    for (int k = 0; k < step->operand_count; k++) {
      const int64_t columns = step->per_row >> k & 1 ? 1 : step->single >> k & 1 ? 0 : w->columns;
      in[k] = (const char *)in[k] + columns * step->widths[k];
    }
  }
}

static inline void run_step(tsr_tile_worker *w, const tsr_tile_step *step) {
  if (step->action) {
    step->action(w, step);
    return;
  }
  const void *in[TSR_TILE_OPERANDS];
  for (int k = 0; k < step->operand_count; k++) in[k] = tsr_tile_at(w, step->in[k]);
  if (step->per_row)
    run_rows(w, step, tsr_tile_at(w, step->out), in);
  else
    step->loop(tsr_tile_at(w, step->out), in, tsr_tile_count(w, step->extent));
}

static void run_steps(tsr_tile_worker *w, const tsr_tile_step *steps, int64_t count) {
  for (int64_t i = 0; i < count; i++) run_step(w, &steps[i]);
}

static char *address_at(const tsr_tile_worker *w, const tsr_tile_address *a) {
  char *memory = a->is_output ? w->outputs[a->argument] : (char *)w->inputs[a->argument];
  // Without elements there may be no memory: any address will do.
  if (!memory) return w->scratch;
  if (a->simple) return memory + a->offset + w->row * a->row_step + w->column * a->column_step;
  return memory + tsr_tile_offset(w->program, a->stream, w->row, w->column) * a->bytes;
}

// The addresses of the streams whose memory is used where it is.
static void find_streams(tsr_tile_worker *w) {
  const tsr_tile_program *p = w->program;
  for (int i = 0; i < p->address_count; i++)
    w->bases[p->addresses[i].base] = address_at(w, &p->addresses[i]);
}

static void start_worker(tsr_tile_worker *w, const tsr_tile_program *p, const char *const *inputs,
                         char *const *outputs, char *temp, char *scratch) {
  w->program = p;
  w->inputs = inputs, w->outputs = outputs;
  w->temp = temp, w->scratch = scratch;
  w->bases = (char **)(void *)scratch;
  w->row = w->column = 0;
  w->first = true;
  w->bases[TSR_BASE_REGISTERS] = scratch;
  w->bases[TSR_BASE_CONSTANTS] = p->constants;
}

// What is the same for all rows, for the columns of a tile that starts at `column`.
static void run_once(tsr_tile_worker *w, int64_t row, int64_t column, int64_t columns) {
  const tsr_tile_program *p = w->program;
  if (!p->once_count) return;
  w->row = row, w->rows = p->tile_rows;
  w->column = column, w->columns = columns;
  find_streams(w);
  run_steps(w, p->once, p->once_count);
}

static void run_tile(tsr_tile_worker *w) {
  w->first = w->column == 0;
  find_streams(w);
  run_steps(w, w->program->steps, w->program->step_count);
}

// ---- a task of tiles ----

typedef struct tile_run {
  const tsr_tile_program *program;
  const tsr_kernel_call *call;
  int phase;
} tile_run;

static void run_rows_of_tiles(tsr_tile_worker *w, int64_t row, int64_t end, int64_t first,
                              int64_t last) {
  const tsr_tile_program *p = w->program;
  // A row may have no columns, and a sum all the same.
  const int64_t least = p->columns ? 0 : 1;
  run_once(w, row, first, tsr_least(p->tile_columns, last - first));
  for (; row < end; row += p->tile_rows)
    for (int64_t column = first; column < last + least; column += p->tile_columns) {
      w->row = row, w->rows = tsr_least(p->tile_rows, end - row);
      w->column = column, w->columns = tsr_least(p->tile_columns, last - column);
      run_tile(w);
    }
}

static void run_folds(tsr_tile_worker *w, int64_t batch, int64_t segment, int64_t first,
                      int64_t last) {
  const tsr_tile_program *p = w->program;
  const int64_t begin = segment * p->task_rows, end = tsr_least(p->folded, begin + p->task_rows);
  for (int64_t column = first; column < last; column += p->tile_columns) {
    const int64_t columns = tsr_least(p->tile_columns, last - column);
    w->folded_rows = 0;
    run_once(w, batch * p->folded + begin, column, columns);
    for (int64_t row = begin; row < end; row += p->tile_rows) {
      w->row = batch * p->folded + row, w->rows = tsr_least(p->tile_rows, end - row);
      w->column = column, w->columns = columns;
      run_tile(w);
      tsr_tile_fold_tile(w);
    }
    w->column = column, w->columns = columns;
    tsr_tile_fold_finish(w, batch, segment);
  }
}

static tsr_status run_task(void *context, int64_t index, int worker) {
  const tile_run *run = context;
  const tsr_tile_program *p = run->program;
  const int64_t first = index % p->column_tasks * p->task_columns;
  const int64_t last = tsr_least(p->columns, first + p->task_columns);
  const int64_t part = index / p->column_tasks;
  tsr_tile_worker w;
  start_worker(&w, p, run->call->inputs, run->call->outputs, run->call->temp,
               tsr_kernel_scratch(run->call, worker));
  if (p->fold_count) {
    run_folds(&w, part / p->row_tasks, part % p->row_tasks, first, last);
  } else {
    const int64_t row = part * p->task_rows;
    run_rows_of_tiles(&w, row, tsr_least(p->rows, row + p->task_rows), first, last);
  }
  return NULL;
}

static tsr_status run_segments(void *context, int64_t index, int worker) {
  const tile_run *run = context;
  const tsr_tile_program *p = run->program;
  tsr_tile_worker w;
  start_worker(&w, p, run->call->inputs, run->call->outputs, run->call->temp,
               tsr_kernel_scratch(run->call, worker));
  const int64_t chunks = p->columns / p->tile_columns + (p->columns % p->tile_columns != 0);
  w.column = index % chunks * p->tile_columns;
  w.columns = tsr_least(p->tile_columns, p->columns - w.column);
  tsr_tile_fold_segments(&w, index / chunks);
  return NULL;
}

// ---- phases ----

static tsr_tile_place carry_of(const tsr_tile_worker *w, const tsr_tile_step *step, int level) {
  return (tsr_tile_place){TSR_BASE_REGISTERS,
                          w->program->carry_place + 16 * (64 * (int64_t)step->reduction + level)};
}

// Adds a number to a binary counter whose carries are in scratch.
static void carry(tsr_tile_worker *w, const tsr_tile_step *step, int64_t count, char *sum) {
  int level = 0;
  for (; count >> level & 1; level++)
    step->combine(sum, (const void *[]){tsr_tile_at(w, carry_of(w, step, level)), sum}, 1);
  memcpy(tsr_tile_at(w, carry_of(w, step, level)), sum, (size_t)step->width);
}

static void carried(tsr_tile_worker *w, const tsr_tile_step *step, int64_t count, char *out) {
  int level = __builtin_ctzll((unsigned long long)count);
  memcpy(out, tsr_tile_at(w, carry_of(w, step, level)), (size_t)step->width);
  for (level++; count >> level; level++)
    if (count >> level & 1)
      step->combine(out, (const void *[]){tsr_tile_at(w, carry_of(w, step, level)), out}, 1);
}

static char *partial_at(const tsr_tile_worker *w, const tsr_tile_step *step, int64_t segment) {
  const tsr_tile_program *p = w->program;
  return w->temp + 16 * ((w->row * p->column_tasks + segment) * p->reductions + step->reduction);
}

static bool is_reduction(const tsr_tile_step *step) {
  return step->result >= 0 && step->value->kind == TSR_TILE_REDUCE;
}

// The order of a tree also for few elements: they are the end of a longer row.
static void reduce_part(const tsr_tile_step *step, const char *in, int64_t count, char *out) {
  char left[16], right[16];
  int64_t half = 1;
  if (count > TSR_TILE_IN_ORDER || count == 1) {
    step->reduce(out, in, 1, count);
    return;
  }
  while (2 * half < count) half *= 2;
  reduce_part(step, in, half, left);
  reduce_part(step, in + half * step->width, count - half, right);
  step->combine(out, (const void *[]){left, right}, 1);
}

// The reductions of earlier phases, and what follows from them for the row.
static void run_row_steps(tsr_tile_worker *w) {
  const tsr_tile_program *p = w->program;
  for (int64_t i = 0; i < p->step_count; i++) {
    const tsr_tile_step *step = &p->steps[i];
    if (step->extent & TSR_EXTENT_COLUMN || !(step->phases >> w->phase & 1)) continue;
    if (!is_reduction(step)) {
      run_step(w, step);
    } else if (step->value->level <= w->phase) {
      char sum[16];
      for (int64_t k = 0; k < p->column_tasks; k++) {
        memcpy(sum, partial_at(w, step, k), (size_t)step->width);
        carry(w, step, k, sum);
      }
      carried(w, step, p->column_tasks, tsr_tile_at(w, step->out));
      tsr_tile_settle(w, step, tsr_tile_at(w, step->out));
    }
  }
}

static void run_phase_tile(tsr_tile_worker *w, int64_t chunk) {
  const tsr_tile_program *p = w->program;
  find_streams(w);
  for (int64_t i = 0; i < p->step_count; i++) {
    const tsr_tile_step *step = &p->steps[i];
    if (!(step->phases >> w->phase & 1)) continue;
    if (is_reduction(step)) {
      char sum[16];
      if (step->value->level != w->phase + 1) continue;
      reduce_part(step, tsr_tile_at(w, step->in[0]), w->columns, sum);
      carry(w, step, chunk, sum);
    } else if (step->extent & TSR_EXTENT_COLUMN) {
      run_step(w, step);
    }
  }
}

static void keep_partials(tsr_tile_worker *w, int64_t chunks) {
  const tsr_tile_program *p = w->program;
  for (int64_t i = 0; i < p->step_count; i++) {
    const tsr_tile_step *step = &p->steps[i];
    if (is_reduction(step) && step->value->level == w->phase + 1)
      carried(w, step, chunks, partial_at(w, step, w->segment));
  }
}

static tsr_status run_phase(void *context, int64_t index, int worker) {
  const tile_run *run = context;
  const tsr_tile_program *p = run->program;
  tsr_tile_worker w;
  start_worker(&w, p, run->call->inputs, run->call->outputs, run->call->temp,
               tsr_kernel_scratch(run->call, worker));
  w.phase = run->phase;
  w.segment = index % p->column_tasks;
  const int64_t first = w.segment * p->task_columns;
  const int64_t last = tsr_least(p->columns, first + p->task_columns);
  run_once(&w, index / p->column_tasks, first, p->tile_columns);
  w.row = index / p->column_tasks, w.rows = 1;
  w.column = first, w.columns = tsr_least(p->tile_columns, last - first);
  w.first = w.segment == 0;
  find_streams(&w);
  run_row_steps(&w);
  int64_t chunk = 0;
  for (; w.column < last; w.column += p->tile_columns, chunk++) {
    w.columns = tsr_least(p->tile_columns, last - w.column);
    run_phase_tile(&w, chunk);
  }
  keep_partials(&w, chunk);
  return NULL;
}

// ---- running ----

tsr_status tsr_tile_run(const void *program, const tsr_kernel_call *call) {
  const tsr_tile_program *p = program;
  tile_run run = {.program = p, .call = call};
  tsr_pool *pool = p->parallel ? call->pool : NULL;
  if (p->mode == TSR_TILE_MODE_PHASED) {
    for (; run.phase <= p->levels; run.phase++)
      TSR_TRY(tsr_pool_run(pool, p->rows * p->column_tasks, run_phase, &run));
    return NULL;
  }
  if (p->fold_count) {
    TSR_TRY(tsr_pool_run(pool, p->batches * p->row_tasks * p->column_tasks, run_task, &run));
    if (p->row_tasks < 2) return NULL;
    const int64_t chunks = p->columns / p->tile_columns + (p->columns % p->tile_columns != 0);
    return tsr_pool_run(pool, p->batches * chunks, run_segments, &run);
  }
  if (!p->rows || (!p->columns && !p->levels)) return NULL;
  const int64_t tasks = p->row_tasks * p->column_tasks;
  return tasks == 1 ? run_task(&run, 0, 0) : tsr_pool_run(pool, tasks, run_task, &run);
}

void tsr_tile_run_block(const tsr_tile_program *program, int64_t rows, int64_t columns,
                        const char *const *inputs, char *const *outputs, char *scratch) {
  tsr_tile_worker w;
  start_worker(&w, program, inputs, outputs, NULL, scratch);
  run_rows_of_tiles(&w, 0, rows, 0, columns);
}

void tsr_tile_run_few(const tsr_tile_program *program, int64_t count, const char *const *inputs,
                      char *const *outputs, char *scratch) {
  const tsr_tile_program *p = program;
  tsr_tile_worker w;
  start_worker(&w, p, inputs, outputs, NULL, scratch);
  w.rows = 1;
  w.columns = tsr_least(count, p->tile_columns);
  find_streams(&w);
  run_steps(&w, p->once, p->once_count);
  for (; w.column < count; w.column += p->tile_columns) {
    w.columns = tsr_least(count - w.column, p->tile_columns);
    if (w.column) find_streams(&w);
    run_steps(&w, p->steps, p->step_count);
  }
}
