// Products, split into tasks over the batch and over tiles of the result.
//
// A task packs a block of the right side (all its columns, some of the depth) and blocks of the
// left side, and lets kernels run over pairs of panels: a panel of the right side stays in the
// first-level cache, a block of the left side in the second. Sums over the depth are in its order,
// whatever the blocks: each element is the same for any split. What the depth of one block leaves
// is kept in the result itself or, where its type is another one, in scratch memory.
//
// Calls that have the same right side may run together: its panels are packed once for all of them,
// and the rows of all calls are split as those of one product would be.
#include "kernel/gemm.h"

#include <string.h>

#include "base/arithmetic.h"

// What one task works with.
typedef struct product_task {
  const tsr_gemm *gemm;
  const tsr_kernel_call *call;
  int worker;
  int64_t batch;
  const char *left, *right;  // of its batch
  char *result;
  char *left_panels, *right_panels, *lines, *zeros, *sums;
  int64_t row, row_end, column, column_end;  // of the result
} product_task;

static int64_t round_up(int64_t count, int64_t to) { return (count + to - 1) / to * to; }

// ---- tiles ----

typedef struct block_range {
  int64_t depth, depth_end;  // the block of the depth
  int64_t row, row_end;      // the block of rows
} block_range;

// Where sums of row `row` and column `column` (in real numbers) are kept, and how far rows are
// apart.
static char *sums_at(const product_task *task, int64_t row, int64_t column, int64_t *out_stride) {
  const tsr_gemm *gemm = task->gemm;
  const int64_t size = gemm->kernels->element_bytes;
  if (gemm->direct) {
    const tsr_gemm_walk *rows = &gemm->result.rows;
    *out_stride = (rows->rank ? rows->strides[0] : 0) * gemm->parts;
    return task->result + (row * *out_stride + column) * size;
  }
  *out_stride = round_up(gemm->task_columns * gemm->parts, gemm->kernels->columns);
  return task->sums +
         ((row - task->row) * *out_stride + column - task->column * gemm->parts) * size;
}

// A tile that is narrower than its vectors, computed beside the result and then added to it.
static void run_narrow(const tsr_gemm *gemm, tsr_gemm_tile_fn *run, tsr_gemm_tile *tile, int rows,
                       int64_t columns) {
  _Alignas(64) char buffer[TSR_GEMM_ROWS * TSR_GEMM_MOST_COLUMNS * sizeof(float)];
  const int64_t size = gemm->kernels->element_bytes;
  char *c = tile->c;
  const int64_t c_row = tile->c_row;
  for (int r = 0; tile->add && r < rows; r++)
    memcpy(buffer + r * gemm->kernels->columns * size, c + r * c_row * size,
           (size_t)(columns * size));
  tile->c = buffer;
  tile->c_row = gemm->kernels->columns;
  run(tile);
  for (int r = 0; r < rows; r++)
    memcpy(c + r * c_row * size, buffer + r * gemm->kernels->columns * size,
           (size_t)(columns * size));
}

// The address of panel or, where a side is read where it lies, of row `row` of the left side.
static void set_left(const product_task *task, const block_range *blocks, int64_t row,
                     tsr_gemm_tile *tile) {
  const tsr_gemm *gemm = task->gemm;
  const tsr_gemm_side *side = &gemm->left;
  const int64_t size = gemm->kernels->element_bytes;
  if (gemm->loose_left) {
    tile->a_row = side->rows.rank ? side->rows.strides[0] : 0;
    tile->a_step = side->depth.rank ? side->depth.strides[0] : 0;
    tile->a = task->left + (row * tile->a_row + blocks->depth * tile->a_step) * size;
    return;
  }
  const int64_t depth = (blocks->depth_end - blocks->depth) * gemm->parts;
  tile->a_row = 1;
  tile->a_step = TSR_GEMM_ROWS;
  tile->a = task->left_panels + (row - blocks->row) * depth * size;
}

// The same for columns from `column` (in real numbers, from the task's first).
static void set_right(const product_task *task, const block_range *blocks, int64_t column,
                      tsr_gemm_tile *tile) {
  const tsr_gemm *gemm = task->gemm;
  const tsr_gemm_side *side = &gemm->right;
  const int64_t size = gemm->kernels->element_bytes, columns = gemm->kernels->columns;
  if (gemm->loose_right && task->column + column + columns <= task->column_end) {
    tile->b_step = side->depth.rank ? side->depth.strides[0] : 0;
    tile->b = task->right + (task->column + column + blocks->depth * tile->b_step) * size;
    return;
  }
  const int64_t depth = (blocks->depth_end - blocks->depth) * gemm->parts;
  tile->b_step = columns;
  tile->b = task->right_panels + (gemm->loose_right ? 0 : column * depth * size);
}

// Sums are read again from memory when their next block of the depth begins: those of the next
// tile are fetched while this one runs.
static void fetch_next(const tsr_gemm_tile *tile, int64_t size) {
  const char *next = (const char *)tile->c + TSR_GEMM_ROWS * tile->c_row * size;
  if (!tile->add) return;
  for (int r = 0; r < TSR_GEMM_ROWS; r++) __builtin_prefetch(next + r * tile->c_row * size, 1);
}

static void run_tiles(const product_task *task, const block_range *blocks) {
  const tsr_gemm *gemm = task->gemm;
  const tsr_gemm_kernels *kernels = gemm->kernels;
  const bool loose = gemm->loose_left || gemm->loose_right;
  const int64_t columns = (task->column_end - task->column) * gemm->parts;
  const int lanes = kernels->columns / TSR_GEMM_VECTORS;
  tsr_gemm_tile tile = {.depth = (blocks->depth_end - blocks->depth) * gemm->parts};
  for (int64_t column = 0; column < columns; column += kernels->columns) {
    const int64_t width = tsr_least(kernels->columns, columns - column);
    const int vectors = (int)((width + lanes - 1) / lanes);
    set_right(task, blocks, column, &tile);
    for (int64_t row = blocks->row; row < blocks->row_end; row += TSR_GEMM_ROWS) {
      const int rows = (int)tsr_least(TSR_GEMM_ROWS, blocks->row_end - row);
      set_left(task, blocks, row, &tile);
      tile.c = sums_at(task, row, task->column * gemm->parts + column, &tile.c_row);
      tile.rows = rows;
      tile.add = blocks->depth > 0;
      fetch_next(&tile, kernels->element_bytes);
      tsr_gemm_tile_fn *run = (loose ? kernels->loose : kernels->packed)[rows - 1][vectors - 1];
      if (gemm->direct && width < vectors * lanes)
        run_narrow(gemm, run, &tile, rows, width);
      else
        run(&tile);
    }
  }
}

// ---- a task of panels ----

static void pack_right(const product_task *task, const block_range *blocks) {
  const tsr_gemm *gemm = task->gemm;
  const int columns = gemm->kernels->columns;
  const tsr_gemm_packing packing = {
      .gemm = gemm,
      .side = &gemm->right,
      .memory = task->right,
      .width = columns / gemm->parts,
      .lines = task->lines,
      .zeros = task->zeros,
      .pack = gemm->parts > 1 ? gemm->kernels->pack_complex_columns : gemm->kernels->pack_columns};
  // Of a side that is read where it lies only the last columns are packed.
  const int64_t whole =
      gemm->loose_right ? (task->column_end - task->column) / columns * columns : 0;
  tsr_gemm_pack(&packing, task->column + whole, task->column_end, blocks->depth, blocks->depth_end,
                task->right_panels);
}

static void pack_left(const product_task *task, const block_range *blocks) {
  const tsr_gemm *gemm = task->gemm;
  const tsr_gemm_packing packing = {.gemm = gemm,
                                    .side = &gemm->left,
                                    .memory = task->left,
                                    .width = TSR_GEMM_ROWS,
                                    .lines = task->lines,
                                    .zeros = task->zeros,
                                    .pack = gemm->kernels->pack_rows};
  tsr_gemm_pack(&packing, blocks->row, blocks->row_end, blocks->depth, blocks->depth_end,
                task->left_panels);
}

// Writes the sums of a task as elements of the result.
static void store_sums(const product_task *task) {
  const tsr_gemm *gemm = task->gemm;
  const tsr_gemm_result *result = &gemm->result;
  const int64_t bytes = tsr_gemm_element_bytes(result->dtype);
  const int64_t size = gemm->kernels->element_bytes * gemm->parts;
  const tsr_gemm_walk *columns = &result->columns;
  const int last = columns->rank - 1;
  for (int64_t row = task->row; row < task->row_end; row++) {
    int64_t stride = 0;
    const char *sums = sums_at(task, row, task->column * gemm->parts, &stride);
    char *out = task->result + tsr_gemm_walk_place(&result->rows, row) * bytes;
    int64_t count = 0;
    for (int64_t at = task->column; at < task->column_end; at += count, sums += count * size) {
      count = task->column_end - at;
      if (last > 0) count = tsr_least(count, columns->sizes[last] - at % columns->sizes[last]);
      tsr_gemm_store(gemm->type, sums, result->dtype,
                     out + tsr_gemm_walk_place(columns, at) * bytes,
                     last >= 0 ? columns->strides[last] : 1, count);
    }
  }
}

// The epilogue of rows `row` to before `row_end` of a task.
static void finish_rows(const product_task *task, int64_t row, int64_t row_end) {
  tsr_gemm_finish_block(
      task->gemm, task->call, task->worker,
      &(tsr_gemm_block){task->batch, row, row_end, task->column, task->column_end});
}

// Sets what a task reads and writes: that of one call.
static void set_product(product_task *task, const tsr_kernel_call *call, int64_t batch) {
  const tsr_gemm *gemm = task->gemm;
  const tsr_gemm_side *left = &gemm->left, *right = &gemm->right;
  task->left =
      call->inputs[left->input] + (left->start + tsr_gemm_walk_place(&left->batch, batch)) *
                                      tsr_gemm_element_bytes(left->dtype);
  task->right =
      call->inputs[right->input] + (right->start + tsr_gemm_walk_place(&right->batch, batch)) *
                                       tsr_gemm_element_bytes(right->dtype);
  task->result =
      call->outputs[gemm->epilogue ? gemm->epilogue->product : 0] +
      tsr_gemm_walk_place(&gemm->result.batch, batch) * tsr_gemm_element_bytes(gemm->result.dtype);
  task->call = call;
  task->batch = batch;
}

// Rows of `count` calls that have the same right side; one if sums are kept apart.
static void run_panels(product_task *task, const tsr_kernel_call *calls, int64_t count,
                       int64_t batch) {
  const tsr_gemm *gemm = task->gemm;
  const int64_t depth = gemm->left.depth.count;
  for (int64_t k = 0; k < depth; k += gemm->depth_block) {
    block_range blocks = {.depth = k, .depth_end = tsr_least(depth, k + gemm->depth_block)};
    for (int64_t i = 0; i < count; i++) {
      set_product(task, &calls[i], batch);
      if (!i) pack_right(task, &blocks);
      for (int64_t row = task->row; row < task->row_end; row += gemm->row_block) {
        blocks.row = row;
        blocks.row_end = tsr_least(task->row_end, row + gemm->row_block);
        if (!gemm->loose_left) pack_left(task, &blocks);
        run_tiles(task, &blocks);
        if (gemm->direct && blocks.depth_end == depth) finish_rows(task, row, blocks.row_end);
      }
    }
  }
  if (gemm->direct) return;
  store_sums(task);
  finish_rows(task, task->row, task->row_end);
}

// ---- a task with one row ----

static void run_row(const product_task *task) {
  const tsr_gemm *gemm = task->gemm;
  const tsr_gemm_side *row_side = gemm->swapped ? &gemm->right : &gemm->left;
  const tsr_gemm_side *side = gemm->swapped ? &gemm->left : &gemm->right;
  const char *row = gemm->swapped ? task->right : task->left;
  const char *matrix = gemm->swapped ? task->left : task->right;
  const int64_t first = gemm->swapped ? task->row : task->column;
  const int64_t end = gemm->swapped ? task->row_end : task->column_end;
  const int64_t size = gemm->kernels->element_bytes, depth = side->depth.count;
  const int64_t stride = row_side->depth.rank ? row_side->depth.strides[0] : 1;
  if (stride != 1) {
    tsr_gemm_load(gemm->type, row_side->dtype, row, stride, depth, task->lines);
    row = task->lines;
  }
  const tsr_gemm_walk *results = gemm->swapped ? &gemm->result.rows : &gemm->result.columns;
  const int64_t out_stride = results->rank ? results->strides[0] : 1;
  if (gemm->way == TSR_GEMM_AXPY) {
    gemm->kernels->axpy(row, matrix + first * size, side->depth.rank ? side->depth.strides[0] : 0,
                        depth, task->result + first * size, end - first, false);
    return;
  }
  const int64_t row_stride = side->rows.rank ? side->rows.strides[0] : 0;
  for (int64_t i = first; i < end; i++)
    gemm->kernels->dot(row, matrix + i * row_stride * size, depth,
                       task->result + i * out_stride * size);
}

// ---- a run ----

typedef struct gemm_run {
  const tsr_gemm *gemm;
  const tsr_kernel_call *calls;  // more than one of a joined plan: with the same right side
  int64_t count;
} gemm_run;

static int64_t parts_of(int64_t count, int64_t each) { return (count + each - 1) / each; }

// Some calls of a run: all rows of several, or some rows of one.
typedef struct call_range {
  int64_t first, count;
} call_range;

static int64_t row_tasks_of(const gemm_run *run) {
  const tsr_gemm *gemm = run->gemm;
  return gemm->task_calls > 1 ? parts_of(run->count, gemm->task_calls)
                              : run->count * gemm->row_tasks;
}

// The rows of a task, among those of all calls.
static call_range set_rows(const gemm_run *run, int64_t index, product_task *task) {
  const tsr_gemm *gemm = run->gemm;
  const int64_t rows = gemm->left.rows.count;
  if (gemm->task_calls > 1) {
    const int64_t first = index * gemm->task_calls;
    task->row = 0;
    task->row_end = rows;
    return (call_range){first, tsr_least(gemm->task_calls, run->count - first)};
  }
  task->row = index % gemm->row_tasks * gemm->task_rows;
  task->row_end = tsr_least(rows, task->row + gemm->task_rows);
  return (call_range){index / gemm->row_tasks, 1};
}

static void run_product(product_task *task, const tsr_kernel_call *calls, int64_t count,
                        int64_t batch) {
  if (task->gemm->way == TSR_GEMM_PANELS) {
    run_panels(task, calls, count, batch);
    return;
  }
  set_product(task, calls, batch);
  run_row(task);
  finish_rows(task, task->row, task->row_end);
}

// Tasks of all calls: columns innermost, then rows, then the batch.
static tsr_status run_task(void *context, int64_t index, int worker) {
  const gemm_run *run = context;
  const tsr_gemm *gemm = run->gemm;
  char *scratch = tsr_kernel_scratch(run->calls, worker);
  product_task task = {.gemm = gemm, .worker = worker, .left_panels = scratch};
  task.right_panels = task.left_panels + gemm->left_bytes;
  task.lines = task.right_panels + gemm->right_bytes;
  task.zeros = task.lines + TSR_GEMM_MOST_COLUMNS * gemm->line_bytes;
  task.sums = task.zeros + gemm->line_bytes;
  if (gemm->left.window || gemm->right.window) memset(task.zeros, 0, (size_t)gemm->line_bytes);
  task.column = index % gemm->column_tasks * gemm->task_columns;
  task.column_end = tsr_least(gemm->right.rows.count, task.column + gemm->task_columns);
  const int64_t batches = parts_of(gemm->left.batch.count, gemm->task_batch);
  const int64_t part = index / gemm->column_tasks / gemm->row_tasks;
  const int64_t row = index / gemm->column_tasks % gemm->row_tasks;
  const call_range calls = set_rows(run, part / batches * gemm->row_tasks + row, &task);
  const int64_t first = part % batches * gemm->task_batch;
  const int64_t end = tsr_least(gemm->left.batch.count, first + gemm->task_batch);
  for (int64_t batch = first; batch < end; batch++)
    run_product(&task, run->calls + calls.first, calls.count, batch);
  return NULL;
}

// ---- a run with shared panels ----

// One block of the depth and one chunk of columns.
typedef struct shared_block {
  gemm_run run;
  product_task whole;  // of the columns of the chunk; its panels are shared
  block_range blocks;
  int64_t row_tasks, column_tasks;
} shared_block;

static void set_lines(const gemm_run *run, int worker, product_task *task) {
  task->lines = tsr_kernel_scratch(run->calls, worker);
  task->zeros = task->lines + TSR_GEMM_MOST_COLUMNS * run->gemm->line_bytes;
  if (run->gemm->left.window || run->gemm->right.window)
    memset(task->zeros, 0, (size_t)run->gemm->line_bytes);
}

// Panels of rows `row` on of call `call` of a task. Packing may write a little past the last panel,
// so the panels of each task have room after them.
static char *shared_left(const shared_block *block, int64_t task, int64_t call, int64_t row) {
  const tsr_gemm *gemm = block->run.gemm;
  const int64_t size = gemm->kernels->element_bytes;
  const int64_t most = gemm->task_calls * gemm->task_rows * gemm->depth_block * size;
  const int64_t line = (block->blocks.depth_end - block->blocks.depth) * size;
  return block->whole.left_panels + task * (most + TSR_GEMM_SLACK) +
         (call * gemm->task_rows + row) * line;
}

// Panels of the rows of a task, or of its columns: first all tasks of columns, then those of rows.
static tsr_status pack_shared(void *context, int64_t index, int worker) {
  const shared_block *block = context;
  const tsr_gemm *gemm = block->run.gemm;
  product_task task = block->whole;
  block_range blocks = block->blocks;
  const int64_t line = (blocks.depth_end - blocks.depth) * gemm->kernels->element_bytes;
  set_lines(&block->run, worker, &task);
  if (index < block->column_tasks) {
    const int64_t first = index * gemm->task_columns;
    task.right_panels += first * line;
    task.column += first;
    task.column_end = tsr_least(task.column_end, task.column + gemm->task_columns);
    pack_right(&task, &blocks);
    return NULL;
  }
  const int64_t part = index - block->column_tasks;
  const call_range calls = set_rows(&block->run, part, &task);
  blocks.row = task.row;
  blocks.row_end = task.row_end;
  for (int64_t i = 0; i < calls.count; i++) {
    set_product(&task, &block->run.calls[calls.first + i], 0);
    task.left_panels = shared_left(block, part, i, 0);
    pack_left(&task, &blocks);
  }
  return NULL;
}

static tsr_status run_shared_tile(void *context, int64_t index, int worker) {
  const shared_block *block = context;
  const tsr_gemm *gemm = block->run.gemm;
  product_task task = block->whole;
  block_range blocks = block->blocks;
  const int64_t line = (blocks.depth_end - blocks.depth) * gemm->kernels->element_bytes;
  const int64_t first = index % block->column_tasks * gemm->task_columns;
  const int64_t part = index / block->column_tasks;
  const call_range calls = set_rows(&block->run, part, &task);
  task.worker = worker;
  task.right_panels += first * line;
  task.column += first;
  task.column_end = tsr_least(task.column_end, task.column + gemm->task_columns);
  for (int64_t i = 0; i < calls.count; i++) {
    set_product(&task, &block->run.calls[calls.first + i], 0);
    for (blocks.row = task.row; blocks.row < task.row_end; blocks.row = blocks.row_end) {
      blocks.row_end = tsr_least(task.row_end, blocks.row + gemm->row_block);
      task.left_panels = shared_left(block, part, i, blocks.row - task.row);
      run_tiles(&task, &blocks);
      if (blocks.depth_end == gemm->left.depth.count)
        finish_rows(&task, blocks.row, blocks.row_end);
    }
  }
  return NULL;
}

static tsr_status run_shared(const gemm_run *run) {
  const tsr_gemm *gemm = run->gemm;
  const tsr_kernel_call *call = run->calls;
  shared_block block = {.run = *run, .whole = {.gemm = gemm}};
  const int64_t depth = gemm->left.depth.count, columns = gemm->right.rows.count;
  set_product(&block.whole, call, 0);
  block.whole.left_panels = call->temp;
  block.whole.right_panels = call->temp + gemm->left_bytes;
  block.row_tasks = row_tasks_of(run);
  for (int64_t column = 0; column < columns; column += gemm->chunk_columns) {
    block.whole.column = column;
    block.whole.column_end = tsr_least(columns, column + gemm->chunk_columns);
    block.column_tasks = parts_of(block.whole.column_end - column, gemm->task_columns);
    for (int64_t k = 0; k < depth; k += gemm->depth_block) {
      block.blocks =
          (block_range){.depth = k, .depth_end = tsr_least(depth, k + gemm->depth_block)};
      TSR_TRY(tsr_pool_run(call->pool, block.column_tasks + block.row_tasks, pack_shared, &block));
      TSR_TRY(
          tsr_pool_run(call->pool, block.column_tasks * block.row_tasks, run_shared_tile, &block));
    }
  }
  return NULL;
}

// ---- calls ----

// Without depth every sum is 0, whatever its type.
static void clear_result(const tsr_gemm *gemm, char *out) {
  const int64_t count =
      gemm->result.batch.count * gemm->result.rows.count * gemm->result.columns.count;
  memset(out, 0, (size_t)(count * tsr_gemm_element_bytes(gemm->result.dtype)));
}

// Calls of one plan; those of a joined one have the same right side.
static tsr_status run_planned(const tsr_gemm *gemm, const tsr_kernel_call *calls, int64_t count) {
  gemm_run run = {gemm, calls, count};
  if (gemm->shared && gemm->calls > 1) return run_shared(&run);
  for (int64_t i = 0; gemm->shared && i < count; i++)
    TSR_TRY(run_shared(&(gemm_run){gemm, &calls[i], 1}));
  if (gemm->shared) return NULL;
  const int64_t batches = parts_of(gemm->left.batch.count, gemm->task_batch);
  const int64_t tasks = row_tasks_of(&run) * batches * gemm->column_tasks;
  return tsr_pool_run(tasks > 1 ? calls->pool : NULL, tasks, run_task, &run);
}

// Brings the calls with the right side of the first one to the front. How many there are.
static int64_t gather_calls(const tsr_gemm *gemm, tsr_kernel_call *calls, int64_t count) {
  const int right = gemm->right.input;
  int64_t end = 1;
  for (int64_t i = 1; i < count; i++) {
    const tsr_kernel_call call = calls[i];
    if (call.inputs[right] != calls[0].inputs[right]) continue;
    calls[i] = calls[end];
    calls[end++] = call;
  }
  return end;
}

tsr_status tsr_gemm_run_calls(const void *description, tsr_kernel_call *calls, int count) {
  const tsr_gemm *gemm = description;
  if (!gemm->tasks) return NULL;
  if (!gemm->left.depth.count) {
    for (int i = 0; i < count; i++) clear_result(gemm, calls[i].outputs[0]);
    return NULL;
  }
  if (!gemm->joined) return run_planned(gemm, calls, count);
  for (int64_t first = 0, end = 0; first < count; first = end) {
    const int64_t alike = gather_calls(gemm, calls + first, count - first);
    end = first + tsr_least(alike, gemm->joined->calls);
    TSR_TRY(run_planned(alike > 1 ? gemm->joined : gemm, calls + first, end - first));
  }
  return NULL;
}

tsr_status tsr_gemm_run(const void *description, const tsr_kernel_call *call) {
  tsr_kernel_call one = *call;
  return tsr_gemm_run_calls(description, &one, 1);
}
