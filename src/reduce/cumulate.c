// Cumulative reductions in time linear in the elements.
//
// Where lines lie beside each other, one row of results comes from the row before. Lines that lie
// in one piece go a few at a time, to keep more than one addition on its way. A long line is cut in
// blocks: first the result of each block, then where each starts, then the elements.
#include "reduce/cumulate.h"

#include <string.h>

#include "base/arithmetic.h"
#include "reduce/fold_loops.h"

enum {
  LONG_LINE = 1 << 16,
  BLOCK = 4112,             // elements; blocks beside each other do not share cache sets
  COLUMNS = 1024,           // of rows that are combined at once
  TASK_ELEMENTS = 1 << 15,  // about
  WIDEST = 16               // bytes of an element
};

typedef struct cumulate_run {
  const tsr_cumulate *c;
  const tsr_fold_loops *loops;
  const tsr_kernel_call *call;
  int64_t bytes;  // of an element
  int64_t line;   // a long one
  char *totals;   // of the blocks of the line, then where they start
  int64_t block_count;
} cumulate_run;

static bool is_long(const tsr_cumulate *c) {
  return c->dims.inner == 1 && c->dims.length >= LONG_LINE;
}

static int64_t blocks_of(const tsr_cumulate *c) { return (c->dims.length + BLOCK - 1) / BLOCK; }

int64_t tsr_cumulate_scratch_bytes(const tsr_cumulate *cumulate) {
  return cumulate->dims.inner == 1 ? 0 : COLUMNS * cumulate->element_bytes;
}

int64_t tsr_cumulate_temp_bytes(const tsr_cumulate *cumulate) {
  return is_long(cumulate) ? (2 * blocks_of(cumulate) + 2) * cumulate->element_bytes : 0;
}

// ---- rows beside each other ----

static void cumulate_columns(const cumulate_run *r, int64_t outer, int64_t piece, char *start) {
  const tsr_cumulate_dims *d = &r->c->dims;
  const int64_t column = piece * COLUMNS, count = tsr_least(d->inner - column, COLUMNS);
  const int64_t step = (d->reverse ? -1 : 1) * d->inner * r->bytes;
  const int64_t first =
      outer * d->length * d->inner + column + (d->reverse ? (d->length - 1) * d->inner : 0);
  const char *from = r->call->inputs[0] + first * r->bytes;
  char *to = r->call->outputs[0] + first * r->bytes;
  tsr_elements_fill(start, r->call->inputs[1], (int)r->bytes, count);
  r->loops->pair(to, start, from, count);
  for (int64_t i = 1; i < d->length; i++)
    r->loops->pair(to + i * step, to + (i - 1) * step, from + i * step, count);
}

static tsr_status columns_task(void *context, int64_t task, int worker) {
  const cumulate_run *r = context;
  const tsr_cumulate_dims *d = &r->c->dims;
  const int64_t pieces = (d->inner + COLUMNS - 1) / COLUMNS;
  cumulate_columns(r, task / pieces, task % pieces, tsr_kernel_scratch(r->call, worker));
  return NULL;
}

// ---- lines ----

static int64_t lines_of_task(const tsr_cumulate_dims *d) {
  const int64_t lines = TASK_ELEMENTS / d->length;
  return lines < TSR_FOLD_LINES ? TSR_FOLD_LINES : lines / TSR_FOLD_LINES * TSR_FOLD_LINES;
}

static tsr_status lines_task(void *context, int64_t task, int worker) {
  (void)worker;
  const cumulate_run *r = context;
  const tsr_cumulate_dims *d = &r->c->dims;
  const int64_t each = lines_of_task(d), end = tsr_least((task + 1) * each, d->outer);
  uint64_t starts[TSR_FOLD_LINES * WIDEST / 8];
  tsr_elements_fill((char *)starts, r->call->inputs[1], (int)r->bytes, TSR_FOLD_LINES);
  for (int64_t line = task * each; line < end; line += TSR_FOLD_LINES) {
    const int64_t at = line * d->length * r->bytes;
    r->loops->scan(r->call->outputs[0] + at, r->call->inputs[0] + at, starts, d->length,
                   tsr_least(end - line, TSR_FOLD_LINES), d->length, d->reverse ? -1 : 1);
  }
  return NULL;
}

// ---- one long line ----

// Blocks, counted in the direction of the line, as elements from their start in memory.
typedef struct line_blocks {
  int64_t first, lines, step;  // elements of the first, blocks, from block to block
  int64_t length;              // of each
} line_blocks;

// Up to TSR_FOLD_LINES blocks of full length, or the last block alone.
static line_blocks blocks_from(const cumulate_run *r, int64_t block) {
  const int64_t length = r->c->dims.length, full = length / BLOCK;
  line_blocks b = {block * BLOCK, tsr_least(full - block, TSR_FOLD_LINES), BLOCK, BLOCK};
  if (block >= full) b = (line_blocks){block * BLOCK, 1, BLOCK, length - full * BLOCK};
  if (r->c->dims.reverse) {
    b.first = length - b.first - b.length;
    b.step = -BLOCK;
  }
  return b;
}

// The first element of each block, in the direction of the line.
static void first_elements(const cumulate_run *r, const line_blocks *b, const char *from,
                           void *out) {
  const char *first = from + (r->c->dims.reverse ? b->length - 1 : 0) * r->bytes;
  for (int64_t k = 0; k < b->lines; k++)
    memcpy((char *)out + k * r->bytes, first + k * b->step * r->bytes, (size_t)r->bytes);
}

enum { TASK_BLOCKS = 8 };

static tsr_status totals_task(void *context, int64_t task, int worker) {
  (void)worker;
  const cumulate_run *r = context;
  const int64_t step = r->c->dims.reverse ? -1 : 1;
  const int64_t end = tsr_least((task + 1) * TASK_BLOCKS, r->block_count);
  for (int64_t block = task * TASK_BLOCKS; block < end;) {
    const line_blocks b = blocks_from(r, block);
    const char *from = r->call->inputs[0] + (r->line * r->c->dims.length + b.first) * r->bytes;
    uint64_t starts[TSR_FOLD_LINES * WIDEST / 8];
    first_elements(r, &b, from, starts);
    r->loops->last(r->totals + block * r->bytes, from + (step > 0 ? r->bytes : 0), starts,
                   b.length - 1, b.lines, b.step, step);
    block += b.lines;
  }
  return NULL;
}

static tsr_status blocks_task(void *context, int64_t task, int worker) {
  (void)worker;
  const cumulate_run *r = context;
  const int64_t step = r->c->dims.reverse ? -1 : 1;
  const int64_t end = tsr_least((task + 1) * TASK_BLOCKS, r->block_count);
  const char *block_starts = r->totals + r->block_count * r->bytes;
  for (int64_t block = task * TASK_BLOCKS; block < end;) {
    const line_blocks b = blocks_from(r, block);
    const int64_t at = (r->line * r->c->dims.length + b.first) * r->bytes;
    const int64_t skipped = step > 0 ? r->bytes : 0;
    uint64_t starts[TSR_FOLD_LINES * WIDEST / 8];
    char *to = r->call->outputs[0] + at;
    first_elements(r, &b, r->call->inputs[0] + at, starts);
    r->loops->scan(to + skipped, r->call->inputs[0] + at + skipped, starts, b.length - 1, b.lines,
                   b.step, step);
    for (int64_t k = 0; k < b.lines; k++) {
      char *line = to + k * b.step * r->bytes;
      memcpy(line + (step > 0 ? 0 : b.length - 1) * r->bytes, (char *)starts + k * r->bytes,
             (size_t)r->bytes);
      r->loops->offset(line, block_starts + (block + k) * r->bytes, b.length);
    }
    block += b.lines;
  }
  return NULL;
}

static tsr_status cumulate_long(cumulate_run *r) {
  r->block_count = blocks_of(r->c);
  r->totals = r->call->temp;
  const int64_t tasks = (r->block_count + TASK_BLOCKS - 1) / TASK_BLOCKS;
  char *starts = r->totals + r->block_count * r->bytes;
  for (r->line = 0; r->line < r->c->dims.outer; r->line++) {
    TSR_TRY(tsr_pool_run(r->call->pool, tasks, totals_task, r));
    memcpy(starts, r->call->inputs[1], (size_t)r->bytes);
    r->loops->scan(starts + r->bytes, r->totals, starts, r->block_count, 1, 0, 1);
    TSR_TRY(tsr_pool_run(r->call->pool, tasks, blocks_task, r));
  }
  return NULL;
}

tsr_status tsr_cumulate_run(const void *description, const tsr_kernel_call *call) {
  const tsr_cumulate *c = description;
  const tsr_cumulate_dims *d = &c->dims;
  cumulate_run r = {
      .c = c, .loops = tsr_fold_loops_of(c->dtype, c->op), .call = call, .bytes = c->element_bytes};
  if (!d->outer || !d->length || !d->inner) return NULL;
  if (is_long(c)) return cumulate_long(&r);
  if (d->inner == 1) {
    const int64_t each = lines_of_task(d);
    return tsr_pool_run(d->outer > each ? call->pool : NULL, (d->outer + each - 1) / each,
                        lines_task, &r);
  }
  const int64_t tasks = d->outer * ((d->inner + COLUMNS - 1) / COLUMNS);
  const bool worth = d->outer * d->length * d->inner > TASK_ELEMENTS;
  return tsr_pool_run(worth ? call->pool : NULL, tasks, columns_task, &r);
}
