// reduce_window: a reduction over the window at each index of the result.
#include "simplify/evaluator.h"

// Of one dimension. Cells between dilated elements, and those of the padding, hold the initial
// value, as the specification writes it.
typedef struct window_dim {
  int64_t size, stride, base_dilation, dilation, low;
} window_dim;

static bool read_list(const tsr_op *op, const char *name, int rank, int64_t *out) {
  const tsr_attr *attr = tsr_op_attr(op, name);
  for (int d = 0; d < rank; d++) out[d] = 1;
  if (attr && !tsr_ints_of_attr(attr, rank, out)) return false;
  for (int d = 0; d < rank; d++)
    if (out[d] < 1) return false;
  return true;
}

static bool read_window(const tsr_op *op, int rank, window_dim *out) {
  int64_t sizes[TSR_EVALUATED_RANK], strides[TSR_EVALUATED_RANK], base[TSR_EVALUATED_RANK];
  int64_t dilations[TSR_EVALUATED_RANK], padding[2 * TSR_EVALUATED_RANK] = {0};
  const tsr_attr *pads = tsr_op_attr(op, "padding");
  if (!tsr_op_attr(op, "window_dimensions") || !read_list(op, "window_dimensions", rank, sizes) ||
      !read_list(op, "window_strides", rank, strides) ||
      !read_list(op, "base_dilations", rank, base) ||
      !read_list(op, "window_dilations", rank, dilations) ||
      (pads && !tsr_ints_of_attr(pads, 2 * (int64_t)rank, padding)))
    return false;
  for (int d = 0; d < rank; d++)
    out[d] = (window_dim){sizes[d], strides[d], base[d], dilations[d], padding[2 * d]};
  return true;
}

// The index in the input of a cell of a window; -1 where the cell holds the initial value, -2 where
// numbers overflow.
static int64_t cell_at(const window_dim *dim, int64_t size, int64_t window, int64_t cell) {
  int64_t start = 0, at = 0;
  if (__builtin_mul_overflow(window, dim->stride, &start) ||
      __builtin_mul_overflow(cell, dim->dilation, &at) || __builtin_add_overflow(start, at, &at) ||
      __builtin_sub_overflow(at, dim->low, &at))
    return -2;
  if (at < 0 || at % dim->base_dilation || at / dim->base_dilation >= size) return -1;
  return at / dim->base_dilation;
}

// The element of the input under a cell of a window, or as above.
static int64_t element_under(const window_dim *dims, const tsr_type *input, const tsr_walk *results,
                             const tsr_walk *cells) {
  int64_t element = 0;
  bool outside = false;
  for (int d = 0; d < input->rank; d++) {
    const int64_t at = cell_at(&dims[d], input->dims[d], results->index[d], cells->index[d]);
    if (at == -2) return -2;
    outside = outside || at < 0;
    element = element * input->dims[d] + (at < 0 ? 0 : at);
  }
  return outside ? -1 : element;
}

static bool reduce_cells(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                         const window_dim *dims, tsr_walk *walk, tsr_walk *cells,
                         tsr_constant *results) {
  tsr_ir_block *block = op->regions[0].first;
  const int inputs = op->result_count;
  int64_t at = 0;
  for (bool more = tsr_walk_start(walk); more; more = tsr_walk_next(walk), at++)
    for (bool inside = tsr_walk_start(cells); inside; inside = tsr_walk_next(cells)) {
      const int64_t element = element_under(dims, operands[0]->type, walk, cells);
      const tsr_constant *const *from = element < 0 ? operands + inputs : operands;
      if (element == -2 ||
          !tsr_accumulate(e, block, inputs, results, at, from, element < 0 ? 0 : element))
        return false;
    }
  return true;
}

bool tsr_eval_reduce_window(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                            tsr_constant *results) {
  const int inputs = op->result_count;
  window_dim dims[TSR_EVALUATED_RANK];
  tsr_walk walk, cells;
  if (inputs < 1 || op->operand_count != 2 * inputs || !tsr_region_block(op, 0, 2 * inputs))
    return false;
  const tsr_type *input = operands[0]->type;
  if (op->results[0].type->kind != TSR_TYPE_TENSOR || op->results[0].type->rank != input->rank ||
      !read_window(op, input->rank, dims) || !tsr_walk_init(&walk, op->results[0].type))
    return false;
  cells = (tsr_walk){.rank = input->rank};
  for (int d = 0; d < input->rank; d++) cells.dims[d] = dims[d].size;
  for (int k = 0; k < inputs; k++) {
    const tsr_constant *init = operands[inputs + k];
    if (!tsr_constant_fill(e, op->results[k].type, &results[k])) return false;
    if (operands[k]->count != operands[0]->count || results[k].count != results[0].count)
      return false;
    for (int64_t i = 0; i < results[k].count; i++)
      if (!tsr_constant_put(init, &results[k], i)) return false;
  }
  return reduce_cells(e, op, operands, dims, &walk, &cells, results);
}
