// What is done to blocks of a product while they are in cache.
#include "base/arithmetic.h"
#include "kernel/gemm.h"

// Whether an index walks through memory in one step of `stride`.
static bool steps_by(const tsr_gemm_walk *walk, int64_t stride) {
  return walk->rank == 0 || (walk->rank == 1 && walk->strides[0] == stride);
}

bool tsr_gemm_takes_epilogue(const tsr_gemm *gemm) {
  const tsr_gemm_result *result = &gemm->result;
  return gemm->tasks > 0 && gemm->left.depth.count > 0 && !gemm->epilogue &&
         steps_by(&result->columns, 1) && steps_by(&result->rows, result->columns.count) &&
         steps_by(&result->batch, result->columns.count * result->rows.count);
}

void tsr_gemm_largest_block(const tsr_gemm *gemm, int64_t *out_rows, int64_t *out_columns) {
  const bool by_blocks = gemm->way == TSR_GEMM_PANELS && gemm->direct;
  *out_rows = tsr_least(gemm->result.rows.count, by_blocks ? gemm->row_block : gemm->task_rows);
  *out_columns = tsr_least(gemm->result.columns.count, gemm->task_columns);
  if (!gemm->joined) return;
  int64_t rows = 0, columns = 0;
  tsr_gemm_largest_block(gemm->joined, &rows, &columns);
  if (rows > *out_rows) *out_rows = rows;
  if (columns > *out_columns) *out_columns = columns;
}

static int64_t place_of(const tsr_gemm_argument *argument, const tsr_gemm_block *block) {
  return block->batch * argument->batch + block->row * argument->row +
         block->column * argument->column;
}

void tsr_gemm_finish_block(const tsr_gemm *gemm, const tsr_kernel_call *call, int worker,
                           const tsr_gemm_block *block) {
  const tsr_gemm_epilogue *e = gemm->epilogue;
  const char *inputs[TSR_GEMM_ARGUMENTS + 1];
  char *outputs[TSR_GEMM_ARGUMENTS];
  if (!e) return;
  const int64_t rows = gemm->result.rows.count, columns = gemm->result.columns.count;
  inputs[0] =
      call->outputs[e->product] + ((block->batch * rows + block->row) * columns + block->column) *
                                      tsr_gemm_element_bytes(gemm->result.dtype);
  for (int i = 0; i < e->input_count; i++)
    inputs[i + 1] = call->inputs[e->inputs[i].index] + place_of(&e->inputs[i], block);
  for (int i = 0; i < e->output_count; i++)
    outputs[i] = call->outputs[e->outputs[i].index] + place_of(&e->outputs[i], block);
  tsr_tile_run_block(e->program, block->row_end - block->row, block->column_end - block->column,
                     inputs, outputs, tsr_kernel_scratch(call, worker) + e->scratch);
}
