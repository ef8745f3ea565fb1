// How a product is computed: its way, blocks and tasks, from its sizes alone.
#include "base/arithmetic.h"
#include "kernel/gemm.h"

enum {
  DEPTH_BLOCK = 320,    // a panel of the right side is 20 KiB, one of the left 8 KiB
  ROW_BLOCK = 144,      // a block of the left side is 180 KiB
  MOST_COLUMNS = 1024,  // of a task: a block of the right side is 1.25 MiB
  MOST_SUMS = 1 << 17,  // of a task that keeps its sums apart
  // With smaller tiles too much of the time goes into packing.
  FEW_TASKS = 4,
  SMALL_TILE = 256 * 512,
  FEW_ROWS = 12,  // so few that packing the right side would cost more than it gains
  FEW_COLUMNS = 48,
  // A matrix that is read once, where it lies, is read some rows at a time, each a piece of memory:
  // a column of tiles alone takes a line of many rows, which no processor foresees.
  READ_ONCE = 1 << 19,
  LOOSE_DEPTH = 16,
  // Products of this many rows and columns share their panels.
  SHARED_ROWS = 384,
  MOST_SHARED_ROWS = 8192,  // of panels: 10 MiB
  SHARED_COLUMNS = 384,
  CHUNK_COLUMNS = 1024,  // panels of 1.25 MiB, as fast as wider ones
  SHARED_TASK_ROWS = 144,
  SHARED_TASK_COLUMNS = 384,
  // Of calls that run together: what more of them would save is not worth the panels' memory.
  MOST_JOINED_ROWS = 2048,
  SHORT_DEPTH = 32,  // a sum that has the bits of a plain loop
  LEAST_DOT = 64,    // a shorter depth is summed in order
  MOST_TASKS = 1 << 16,
};
static const double least_flops = 2e7;  // of a task: some 200 microseconds
static const double most_flops = 2e9;
static const double row_bytes = 1 << 20;  // of a matrix that is read once, for each task

static int64_t round_up(int64_t count, int64_t to) { return (count + to - 1) / to * to; }
static int64_t parts_of(int64_t count, int64_t each) { return (count + each - 1) / each; }
// Those of all calls that run together.
static int64_t all_rows(const tsr_gemm *gemm) { return gemm->left.rows.count * gemm->calls; }

// One stride, or none where there is one index only.
static bool has_one_stride(const tsr_gemm_walk *walk) { return walk->rank <= 1; }
static bool is_dense(const tsr_gemm_walk *walk) {
  return walk->rank == 0 || (walk->rank == 1 && walk->strides[0] == 1);
}

// A side that kernels can read where it lies.
static bool is_plain(const tsr_gemm *gemm, const tsr_gemm_side *side) {
  return gemm->parts == 1 && !side->window && tsr_gemm_native(gemm->type, side->dtype) &&
         has_one_stride(&side->rows) && has_one_stride(&side->depth);
}

// ---- products with one row ----

static bool choose_row(tsr_gemm *gemm, bool swapped) {
  const tsr_gemm_side *row = swapped ? &gemm->right : &gemm->left;
  const tsr_gemm_side *matrix = swapped ? &gemm->left : &gemm->right;
  const tsr_gemm_walk *results = swapped ? &gemm->result.rows : &gemm->result.columns;
  if (row->rows.count != 1 || !is_plain(gemm, row) || !is_plain(gemm, matrix)) return false;
  if (!tsr_gemm_native(gemm->type, gemm->result.dtype) || !has_one_stride(results)) return false;
  gemm->swapped = swapped;
  if (is_dense(&matrix->rows) && is_dense(results)) {
    gemm->way = TSR_GEMM_AXPY;
    return true;
  }
  if (!is_dense(&matrix->depth) || matrix->depth.count < LEAST_DOT) return false;
  gemm->way = TSR_GEMM_DOT;
  return true;
}

static void split_row(tsr_gemm *gemm) {
  const tsr_gemm_side *matrix = gemm->swapped ? &gemm->left : &gemm->right;
  const int64_t count = matrix->rows.count;
  const double bytes_of_one = (double)(matrix->depth.count * gemm->kernels->element_bytes);
  int64_t each = (int64_t)(row_bytes / bytes_of_one);
  each = round_up(each < 64 ? 64 : each, 64);
  // Sums of a task stay in the first-level cache.
  if (each > 4096) each = 4096;
  if ((double)count * bytes_of_one <= 2 * row_bytes && count <= 4096) each = count;
  gemm->task_rows = gemm->swapped ? each : 1;
  gemm->task_columns = gemm->swapped ? 1 : each;
  gemm->line_bytes = round_up(matrix->depth.count * gemm->kernels->element_bytes, 64);
}

// ---- products by panels ----

static void choose_blocks(tsr_gemm *gemm) {
  const int64_t depth = gemm->left.depth.count;
  const int64_t most = DEPTH_BLOCK / gemm->parts;
  // Of about equal size, so that none is very short.
  gemm->depth_block = depth ? round_up(parts_of(depth, parts_of(depth, most)), 4) : 1;
  gemm->depth_block = tsr_least(gemm->depth_block, most);
  gemm->direct = tsr_gemm_native(gemm->type, gemm->result.dtype) &&
                 has_one_stride(&gemm->result.rows) && is_dense(&gemm->result.columns);
}

// Halves the longer side of the tasks until they are small enough, but not too small.
static void split_panels(tsr_gemm *gemm) {
  const int64_t m = all_rows(gemm), n = gemm->right.rows.count;
  const double depth = 2.0 * gemm->parts * gemm->parts * (double)gemm->left.depth.count;
  const double all = depth * (double)m * (double)n * (double)gemm->left.batch.count;
  double wanted = all / 8;
  if (wanted < least_flops) wanted = least_flops;
  if (wanted > most_flops) wanted = most_flops;
  int64_t row_parts = 1, column_parts = 1;
  for (;;) {
    gemm->task_rows = round_up(parts_of(m, row_parts), TSR_GEMM_ROWS);
    gemm->task_columns = round_up(parts_of(n, column_parts), gemm->kernels->columns);
    const bool large =
        depth * (double)gemm->task_rows * (double)gemm->task_columns > 1.5 * wanted ||
        gemm->task_columns > MOST_COLUMNS ||
        (!gemm->direct && gemm->task_rows * gemm->task_columns > MOST_SUMS);
    const bool least = gemm->task_rows <= 96 && gemm->task_columns <= 96;
    const bool enough = row_parts * column_parts >= FEW_TASKS &&
                        gemm->task_rows * gemm->task_columns <= SMALL_TILE &&
                        gemm->task_columns <= MOST_COLUMNS &&
                        depth * (double)gemm->task_rows * (double)gemm->task_columns < most_flops;
    if (!large || least || enough) return;
    if (gemm->task_columns > MOST_COLUMNS || gemm->task_columns >= gemm->task_rows)
      column_parts *= 2;
    else if (gemm->task_rows > 96)
      row_parts *= 2;
    else
      column_parts *= 2;
  }
}

// Gives a task that should have `rows` rows those of whole calls, or some of one call.
static void take_rows(tsr_gemm *gemm, int64_t rows) {
  const int64_t each = gemm->left.rows.count;
  gemm->task_calls = rows < each ? 1 : tsr_least(rows / each, gemm->calls);
  gemm->task_rows = round_up(parts_of(each, parts_of(each, rows)), TSR_GEMM_ROWS);
}

static void size_panels(tsr_gemm *gemm) {
  const int64_t size = gemm->kernels->element_bytes * gemm->parts;
  const int64_t few_rows = tsr_least(gemm->task_rows, all_rows(gemm));
  if (gemm->calls > 1) take_rows(gemm, gemm->task_rows);
  const int64_t rows = tsr_least(gemm->task_rows, gemm->left.rows.count);
  const bool loose = gemm->kernels->loose[0][0] != NULL;
  gemm->loose_left = loose && is_plain(gemm, &gemm->left) && gemm->task_columns <= FEW_COLUMNS;
  gemm->loose_right =
      loose && is_plain(gemm, &gemm->right) && is_dense(&gemm->right.rows) && few_rows <= FEW_ROWS;
  if (gemm->loose_right && gemm->right.depth.count * gemm->right.rows.count * size >= READ_ONCE)
    gemm->depth_block = tsr_least(gemm->depth_block, LOOSE_DEPTH);
  gemm->row_block = round_up(parts_of(rows, parts_of(rows, ROW_BLOCK)), TSR_GEMM_ROWS);
  const int64_t left_rows = round_up(tsr_least(rows, gemm->row_block), TSR_GEMM_ROWS);
  const int64_t columns = round_up(gemm->task_columns * gemm->parts, gemm->kernels->columns);
  const int64_t step = gemm->depth_block * size;
  // Packing may write a little past the last panel.
  gemm->left_bytes = gemm->loose_left ? 0 : round_up(left_rows * step, 64) + TSR_GEMM_SLACK;
  gemm->right_bytes = round_up((gemm->loose_right ? gemm->kernels->columns : columns) * step, 64);
  gemm->line_bytes = round_up(step, 64);
  gemm->sum_bytes = gemm->direct ? 0 : round_up(rows * columns * gemm->kernels->element_bytes, 64);
}

// A large product: with tiles of its own each task would pack what others pack too. For each block
// of the depth all workers pack panels, then all run tiles.
static bool share_panels(tsr_gemm *gemm) {
  const int64_t rows = all_rows(gemm), columns = gemm->right.rows.count;
  gemm->shared = gemm->direct && !gemm->panels_only && gemm->parts == 1 &&
                 gemm->left.batch.count == 1 && rows >= SHARED_ROWS && rows <= MOST_SHARED_ROWS &&
                 columns >= SHARED_COLUMNS && gemm->left.depth.count >= DEPTH_BLOCK / 2;
  if (!gemm->shared) return false;
  const int64_t size = gemm->kernels->element_bytes;
  const int64_t lanes = gemm->kernels->columns;
  gemm->chunk_columns = round_up(parts_of(columns, parts_of(columns, CHUNK_COLUMNS)), lanes);
  take_rows(gemm, SHARED_TASK_ROWS);
  const int64_t parts = parts_of(gemm->chunk_columns, SHARED_TASK_COLUMNS);
  gemm->task_columns = round_up(parts_of(gemm->chunk_columns, parts), lanes);
  gemm->row_block =
      round_up(parts_of(gemm->task_rows, parts_of(gemm->task_rows, ROW_BLOCK)), TSR_GEMM_ROWS);
  const int64_t row_tasks = gemm->task_calls > 1
                                ? parts_of(gemm->calls, gemm->task_calls)
                                : gemm->calls * parts_of(gemm->left.rows.count, gemm->task_rows);
  const int64_t task_rows = gemm->task_calls * gemm->task_rows;
  gemm->left_bytes =
      round_up(row_tasks * (task_rows * gemm->depth_block * size + TSR_GEMM_SLACK), 64);
  gemm->right_bytes = round_up(gemm->chunk_columns * gemm->depth_block * size, 64);
  gemm->temp_bytes = gemm->left_bytes + gemm->right_bytes;
  gemm->line_bytes = round_up(gemm->depth_block * size, 64);
  gemm->sum_bytes = 0;
  gemm->loose_left = gemm->loose_right = false;
  return true;
}

// Several products for one task, where they are small.
static void split_batch(tsr_gemm *gemm) {
  const double flops = 2.0 * gemm->parts * gemm->parts * (double)gemm->left.depth.count *
                       (double)gemm->task_rows * (double)gemm->task_columns;
  const int64_t batch = gemm->left.batch.count, tiles = gemm->row_tasks * gemm->column_tasks;
  const double least = gemm->way == TSR_GEMM_PANELS ? least_flops : row_bytes / 2;
  gemm->task_batch = 1;
  if (tiles == 1 && flops < least)
    gemm->task_batch = tsr_least(batch, (int64_t)(least / (flops + 2000)) + 1);
  if (parts_of(batch, gemm->task_batch) * tiles > MOST_TASKS && tiles < MOST_TASKS)
    gemm->task_batch = parts_of(batch, MOST_TASKS / tiles);
  gemm->tasks = parts_of(batch, gemm->task_batch) * tiles;
}

static tsr_status check_types(tsr_gemm *gemm) {
  gemm->type = tsr_gemm_type_of(gemm->result.dtype, &gemm->parts);
  const tsr_dtype sides[] = {gemm->left.dtype, gemm->right.dtype};
  for (int i = 0; i < 2; i++) {
    int parts = 0;
    const int type = tsr_gemm_type_of(sides[i], &parts);
    const bool integer = type >= TSR_GEMM_I32;
    if (gemm->type < 0 || type < 0 || parts != gemm->parts ||
        integer != (gemm->type >= TSR_GEMM_I32))
      return tsr_fail(UNSUPPORTED, "a product of %s with result %s",
                      tsr_dtype_name(sides[i], TSR_NAMES_STABLEHLO),
                      tsr_dtype_name(gemm->result.dtype, TSR_NAMES_STABLEHLO));
  }
  // Bools are counted.
  if (gemm->result.dtype == TSR_BOOL && gemm->left.depth.count > INT32_MAX)
    gemm->type = TSR_GEMM_I64;
  return NULL;
}

int64_t tsr_gemm_most_scratch(const tsr_gemm *gemm) {
  const int64_t step = round_up(DEPTH_BLOCK * gemm->kernels->element_bytes * gemm->parts, 64);
  const int64_t rows = ROW_BLOCK + TSR_GEMM_ROWS, columns = MOST_COLUMNS + TSR_GEMM_MOST_COLUMNS;
  return (rows + columns * gemm->parts + TSR_GEMM_MOST_COLUMNS + 2) * step +
         2 * MOST_SUMS * gemm->kernels->element_bytes * gemm->parts;
}

// Tasks and memory of a product by panels.
static void plan_panels(tsr_gemm *gemm) {
  gemm->way = TSR_GEMM_PANELS;
  choose_blocks(gemm);
  if (share_panels(gemm)) return;
  split_panels(gemm);
  size_panels(gemm);
}

// What follows from the size of tasks.
static void count_tasks(tsr_gemm *gemm) {
  gemm->row_tasks = parts_of(gemm->left.rows.count, gemm->task_rows);
  gemm->column_tasks = parts_of(gemm->right.rows.count, gemm->task_columns);
  split_batch(gemm);
  gemm->scratch_bytes = (gemm->shared ? 0 : gemm->left_bytes + gemm->right_bytes) +
                        (TSR_GEMM_MOST_COLUMNS + 1) * gemm->line_bytes + gemm->sum_bytes;
}

// Panels give the same bits for any rows; products with one row have ways of their own.
bool tsr_gemm_plan_joined(const tsr_gemm *gemm, int64_t calls, tsr_gemm *out_joined) {
  if (!gemm->tasks || gemm->way != TSR_GEMM_PANELS || !gemm->direct || gemm->loose_left ||
      gemm->left.batch.count != 1 || !gemm->left.depth.count)
    return false;
  calls = tsr_least(calls, MOST_JOINED_ROWS / gemm->left.rows.count);
  if (calls < 2) return false;
  *out_joined = *gemm;
  out_joined->calls = calls;
  out_joined->temp_bytes = 0;
  plan_panels(out_joined);
  count_tasks(out_joined);
  return true;
}

tsr_status tsr_gemm_plan(tsr_gemm *gemm) {
  TSR_TRY(check_types(gemm));
  if (!gemm->kernels)
    gemm->kernels = tsr_gemm_kernels_of(gemm->type, gemm->left.depth.count <= SHORT_DEPTH);
  gemm->way = TSR_GEMM_PANELS;
  gemm->shared = false;
  gemm->joined = NULL;
  gemm->calls = gemm->task_calls = 1;
  gemm->temp_bytes = 0;
  gemm->flops = tsr_saturated_multiply(
      tsr_saturated_multiply(
          tsr_saturated_multiply(gemm->left.rows.count, gemm->right.rows.count),
          tsr_saturated_multiply(gemm->left.depth.count, gemm->left.batch.count)),
      2 * gemm->parts * gemm->parts);
  if (!gemm->left.rows.count || !gemm->right.rows.count || !gemm->left.batch.count) {
    gemm->tasks = 0;
    return NULL;
  }
  if (!gemm->panels_only && (choose_row(gemm, false) || choose_row(gemm, true))) {
    split_row(gemm);
  } else {
    plan_panels(gemm);
  }
  count_tasks(gemm);
  return NULL;
}
