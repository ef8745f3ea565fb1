// Folds: reductions over rows, column by column.
//
// The order is that of a reduction of a row (tile_moves.inc): a balanced tree over neighbours. So a
// sum has the same bits whether the elements are the columns of a row or the rows of a column.
// Sums of 1, 2, 4, ... rows wait in `levels`, the way that carries wait in a binary counter; a
// segment of rows, a power of two, leaves its sum in `temp`, where the sums of segments are then
// added the same way.
#include <string.h>

#include "element/convert_blocks.h"
#include "tile/tile_internal.h"

// ---- a binary counter of rows ----

typedef struct row_counter {
  tsr_tile_loop *combine;
  tsr_tile_folder *eight;
  char *levels;
  int64_t pitch, columns, count;  // `count` rows were added
  int width;
} row_counter;

static char *level_at(const row_counter *c, int level) {
  return c->levels + (level + 1) * c->pitch;
}

// The first level that is free for the sum of 2^level rows.
static int top_of(const row_counter *c, int level) {
  return level + __builtin_ctzll(~((unsigned long long)c->count >> level));
}

// Where a sum goes that reaches `level`; the first place of `levels` is for what is on its way up.
static char *place_at(const row_counter *c, int level, int top) {
  return level == top ? level_at(c, top) : c->levels;
}

static void carry_up(row_counter *c, int level, int top, const char *row) {
  for (; level < top; level++) {
    char *to = place_at(c, level + 1, top);
    c->combine(to, (const void *[]){level_at(c, level), row}, c->columns);
    row = to;
  }
}

static void count_row(row_counter *c, const char *row) {
  const int top = top_of(c, 0);
  if (top == 0) memcpy(level_at(c, 0), row, (size_t)(c->columns * c->width));
  carry_up(c, 0, top, row);
  c->count++;
}

// Eight rows, after a multiple of eight.
static void count_eight(row_counter *c, const char *rows) {
  const int top = top_of(c, 3);
  char *to = place_at(c, 3, top);
  c->eight(to, rows, c->columns);
  carry_up(c, 3, top, to);
  c->count += 8;
}

// The sum of all rows; there is at least one.
static const char *counted(row_counter *c) {
  int level = __builtin_ctzll((unsigned long long)c->count);
  const char *sum = level_at(c, level);
  for (level++; c->count >> level; level++) {
    if (!(c->count >> level & 1)) continue;
    c->combine(c->levels, (const void *[]){level_at(c, level), sum}, c->columns);
    sum = c->levels;
  }
  return sum;
}

static row_counter counter_of(const tsr_tile_worker *w, const tsr_tile_folding *fold) {
  const tsr_tile_program *p = w->program;
  const tsr_tile_carrier carrier = tsr_tile_carrier_of(fold->dtype);
  return (row_counter){.combine = p->kernels->apply[fold->op][carrier][0],
                       .eight = tsr_tile_reducers_of(p->kernels, fold->op, carrier)->eight,
                       .levels = w->scratch + fold->levels,
                       .pitch = fold->pitch,
                       .columns = w->columns,
                       .width = fold->width};
}

// ---- folding ----

bool tsr_tile_has_order(tsr_tile_op op, tsr_dtype dtype) {
  const tsr_dtype_class kind = tsr_dtype_info_of(dtype)->kind;
  if (kind == TSR_CLASS_COMPLEX) return true;
  return kind == TSR_CLASS_FLOAT && (op == TSR_TILE_ADD || op == TSR_TILE_MULTIPLY);
}

static bool is_in_order(const tsr_tile_program *p, const tsr_tile_folding *fold) {
  return p->folded <= TSR_TILE_IN_ORDER && tsr_tile_has_order(fold->op, fold->dtype);
}

// Few rows are added in order, in the element type.
static void add_in_order(const tsr_tile_worker *w, const tsr_tile_folding *fold, row_counter *c,
                         const char *row) {
  char *sum = level_at(c, 0);
  if (c->count++ == 0) {
    memcpy(sum, row, (size_t)(c->columns * c->width));
    return;
  }
  c->combine(sum, (const void *[]){sum, row}, c->columns);
  if (tsr_tile_is_narrow_float(fold->dtype))
    tsr_tile_round(w->program, fold->dtype, (float *)(void *)sum, c->columns);
}

void tsr_tile_fold_tile(tsr_tile_worker *worker) {
  const tsr_tile_program *p = worker->program;
  for (int64_t i = 0; i < p->fold_count; i++) {
    const tsr_tile_folding *fold = &p->folds[i];
    const char *row = tsr_tile_at(worker, p->values[fold->value].place);
    const bool in_order = is_in_order(p, fold);
    row_counter c = counter_of(worker, fold);
    c.count = worker->folded_rows;
    const int64_t pitch = c.columns * c.width;
    int64_t k = 0;
    for (; c.eight && !in_order && !(c.count & 7) && k + 8 <= worker->rows;
         k += 8, row += 8 * pitch)
      count_eight(&c, row);
    for (; k < worker->rows; k++, row += pitch)
      if (in_order)
        add_in_order(worker, fold, &c, row);
      else
        count_row(&c, row);
  }
  worker->folded_rows += worker->rows;
}

// Writes a row of sums to the output, as elements in memory.
static void give_row(const tsr_tile_worker *w, const tsr_tile_folding *fold, const char *sum,
                     int64_t batch) {
  const tsr_tile_program *p = w->program;
  const int bytes = tsr_tile_memory_bytes(fold->dtype);
  char *out = w->outputs[fold->output] + (batch * p->columns + w->column) * bytes;
  if (tsr_tile_is_narrow_float(fold->dtype)) {
    tsr_block_store_f32(fold->dtype, (const float *)(const void *)sum, out, w->columns);
    return;
  }
  memcpy(out, sum, (size_t)(w->columns * bytes));
  if (tsr_tile_is_narrow_integer(fold->dtype)) {
    const tsr_dtype d = fold->dtype;
    const int wrap = 2 * (d == TSR_U2 || d == TSR_U4) + (d == TSR_I4 || d == TSR_U4);
    p->kernels->wrap[wrap](out, (const void *[]){out}, w->columns);
  }
}

static void give_nothing(const tsr_tile_worker *w, const tsr_tile_folding *fold, int64_t batch) {
  char element[16];
  tsr_tile_identity(fold->op, fold->dtype, element);
  char *row = w->scratch + fold->levels;
  const int index = __builtin_ctz((unsigned)fold->width);
  w->program->kernels->blocks->spread[index](row, element, 1, w->columns);
  give_row(w, fold, row, batch);
}

static char *partial_at(const tsr_tile_worker *w, const tsr_tile_folding *fold, int64_t batch,
                        int64_t segment) {
  const tsr_tile_program *p = w->program;
  const int64_t row = batch * p->row_tasks + segment;
  return w->temp + fold->partial + (row * p->columns + w->column) * fold->width;
}

void tsr_tile_fold_finish(tsr_tile_worker *worker, int64_t batch, int64_t segment) {
  const tsr_tile_program *p = worker->program;
  for (int64_t i = 0; i < p->fold_count; i++) {
    const tsr_tile_folding *fold = &p->folds[i];
    row_counter c = counter_of(worker, fold);
    c.count = worker->folded_rows;
    if (!c.count) {
      give_nothing(worker, fold, batch);
      continue;
    }
    const char *sum = is_in_order(p, fold) ? level_at(&c, 0) : counted(&c);
    if (p->row_tasks > 1)
      memcpy(partial_at(worker, fold, batch, segment), sum, (size_t)(c.columns * c.width));
    else
      give_row(worker, fold, sum, batch);
  }
}

void tsr_tile_fold_segments(tsr_tile_worker *worker, int64_t batch) {
  const tsr_tile_program *p = worker->program;
  for (int64_t i = 0; i < p->fold_count; i++) {
    const tsr_tile_folding *fold = &p->folds[i];
    row_counter c = counter_of(worker, fold);
    for (int64_t k = 0; k < p->row_tasks; k++) count_row(&c, partial_at(worker, fold, batch, k));
    give_row(worker, fold, counted(&c), batch);
  }
}
