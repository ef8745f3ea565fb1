// Windows that move over a tensor, and the ops that reduce what a window shows: reduce_window, and
// select_and_scatter, which goes the other way.
#include "verify/window_checks.h"

// ---- windows

static int64_t number_at(const tsr_window_numbers *list, int dim) {
  return tsr_attr_int_count(list->ints) ? tsr_attr_int_at(list->ints, dim) : 1;
}

static tsr_status check_list(const tsr_op *op, const tsr_window_numbers *list, int rank) {
  const int64_t count = tsr_attr_int_count(list->ints);
  TSR_ASK(!count || count == rank, op, list->count, "%s is %s, expected length %d", list->name,
          SHOW_INTS(list->ints), rank);
  TSR_ASK(tsr_ints_at_least(list->ints, 1), op, list->positive,
          "%s is %s, expected numbers of 1 or more", list->name, SHOW_INTS(list->ints));
  return NULL;
}

static tsr_status check_padding(const tsr_op *op, const tsr_op_window *window) {
  const tsr_attr *padding = window->padding;
  if (!padding) return NULL;
  const tsr_type *type = padding->type;
  TSR_ASK(
      type->rank == 2 && type->dims[1] == 2 && (!type->dims[0] || type->dims[0] == window->rank),
      op, window->padding_name, "padding is of type %s, expected shape [%d, 2]", SHOW_TYPE(type),
      window->rank);
  return NULL;
}

tsr_status tsr_check_window(const tsr_op *op, const tsr_op_window *window) {
  TSR_TRY(check_padding(op, window));
  for (int i = 0; i < window->rank; i++)
    TSR_ASK(tsr_is_dynamic(window->sizes[i]) || window->sizes[i] > 0, op, window->positive,
            "size %d of the window is %lld, expected 1 or more", i, (long long)window->sizes[i]);
  TSR_TRY(check_list(op, &window->strides, window->rank));
  TSR_TRY(check_list(op, &window->base_dilations, window->rank));
  return check_list(op, &window->window_dilations, window->rank);
}

// The extent of `size` elements with holes between them; false if it is too large.
static bool dilate(int64_t size, int64_t dilation, int64_t *out_extent) {
  *out_extent = 0;
  if (size <= 0) return true;
  return !__builtin_mul_overflow(size - 1, dilation, out_extent) &&
         !__builtin_add_overflow(*out_extent, 1, out_extent);
}

int64_t tsr_window_places(const tsr_op_window *window, int dim, int64_t size) {
  if (tsr_is_dynamic(size) || tsr_is_dynamic(window->sizes[dim])) return TSR_DYNAMIC;
  int64_t base = 0, extent = 0;
  if (!dilate(size, number_at(&window->base_dilations, dim), &base)) return 0;
  if (!dilate(window->sizes[dim], number_at(&window->window_dilations, dim), &extent)) return 0;
  const bool padded = window->padding && window->padding->type->dims[0];
  for (int side = 0; padded && side < 2; side++)
    if (__builtin_add_overflow(base, tsr_dense_int(window->padding, 2 * dim + side), &base))
      return 0;
  if (base <= 0 || extent > base) return 0;
  return (base - extent) / number_at(&window->strides, dim) + 1;
}

// ---- the window of an op

// The sizes of the window out of an attribute.
static int64_t sizes_of(const tsr_attr *ints, int64_t *out_sizes) {
  const int64_t count = tsr_attr_int_count(ints);
  for (int64_t i = 0; i < count && i < TSR_RANK_LIMIT; i++) out_sizes[i] = tsr_attr_int_at(ints, i);
  return count;
}

static tsr_status check_window_rank(const tsr_op *op, const tsr_type *type) {
  const tsr_attr *dims = tsr_op_attr(op, "window_dimensions");
  TSR_ASK(tsr_attr_int_count(dims) == type->rank, op, "C4",
          "window_dimensions is %s, expected length %d for %s", SHOW_INTS(dims), type->rank,
          SHOW_TYPE(type));
  return NULL;
}

// ---- reduce_window

static tsr_op_window reduction_window(const tsr_op *op, int64_t *sizes) {
  return (tsr_op_window){
      .rank = (int)sizes_of(tsr_op_attr(op, "window_dimensions"), sizes),
      .sizes = sizes,
      .positive = "C5",
      .strides = {"window_strides", "C6", "C7", tsr_op_attr(op, "window_strides")},
      .base_dilations = {"base_dilations", "C8", "C9", tsr_op_attr(op, "base_dilations")},
      .window_dilations = {"window_dilations", "C10", "C11", tsr_op_attr(op, "window_dilations")},
      .padding_name = "C12",
      .padding = tsr_op_attr(op, "padding"),
  };
}

tsr_status tsr_verify_reduce_window(tsr_ir *ir, const tsr_op *op) {
  TSR_TRY(tsr_check_inputs_and_inits(op, "C1", "C2", "C3"));
  TSR_TRY(check_window_rank(op, tsr_operand_type(op, 0)));
  int64_t sizes[TSR_RANK_LIMIT];
  const tsr_op_window window = reduction_window(op, sizes);
  TSR_TRY(tsr_check_window(op, &window));
  return tsr_check_reducer(ir, op, "C13", sizes, window.rank);
}

tsr_status tsr_infer_reduce_window(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  int64_t sizes[TSR_RANK_LIMIT], dims[TSR_RANK_LIMIT], bounds[TSR_RANK_LIMIT];
  const tsr_op_window window = reduction_window(op, sizes);
  for (int i = 0; i < op->operand_count / 2; i++) {
    const tsr_type *input = tsr_operand_type(op, i);
    for (int d = 0; d < input->rank; d++) {
      dims[d] = tsr_window_places(&window, d, input->dims[d]);
      bounds[d] = tsr_window_places(&window, d, tsr_type_bound(input, d));
    }
    TSR_TRY(tsr_results_add(
        out, tsr_type_bounded(ir, tsr_combiner_element(op, 0, i), input->rank, dims, bounds)));
  }
  return NULL;
}

// ---- select_and_scatter

static tsr_op_window source_window(const tsr_op *op, int64_t *sizes) {
  return (tsr_op_window){
      .rank = (int)sizes_of(tsr_op_attr(op, "window_dimensions"), sizes),
      .sizes = sizes,
      .positive = "C5",
      .strides = {"window_strides", "C6", "C7", tsr_op_attr(op, "window_strides")},
      .padding_name = "C8",
      .padding = tsr_op_attr(op, "padding"),
  };
}

static bool same_kind(const tsr_type *a, const tsr_type *b) {
  const tsr_type *x = tsr_type_element(a), *y = tsr_type_element(b);
  return x == y || (x->kind == TSR_TYPE_FLOAT && y->kind == TSR_TYPE_FLOAT);
}

// Takes two elements of the operand, returns whether the first is selected.
static tsr_status check_select(const tsr_op *op) {
  const tsr_ir_block *block = tsr_only_block(op, 0);
  const tsr_op *end = tsr_block_terminator(block);
  const tsr_type *operand = tsr_operand_type(op, 0);
  TSR_ASK(block->arg_count == 2, op, "C9", "select takes %d arguments, expected 2",
          block->arg_count);
  for (int i = 0; i < 2; i++) {
    const tsr_type *type = block->args[i]->type;
    TSR_ASK(tsr_is_scalar(type) && same_kind(type, operand), op, "C9",
            "argument %d of select is %s, expected a scalar of %s", i, SHOW_TYPE(type),
            SHOW_TYPE(operand->element));
  }
  TSR_ASK(end->operand_count == 1, op, "C9", "select returns %d values, expected 1",
          end->operand_count);
  const tsr_type *result = tsr_operand_type(end, 0);
  TSR_ASK(tsr_is_scalar(result) && tsr_is_pred(result), op, "C9",
          "select returns %s, expected tensor<i1>", SHOW_TYPE(result));
  return NULL;
}

static tsr_status check_source(const tsr_op *op, const tsr_op_window *window) {
  const tsr_type *operand = tsr_operand_type(op, 0), *source = tsr_operand_type(op, 1);
  int64_t wanted[TSR_RANK_LIMIT];
  bool fits = source->rank == operand->rank;
  for (int i = 0; i < operand->rank; i++) {
    wanted[i] = tsr_window_places(window, i, operand->dims[i]);
    fits = fits && tsr_sizes_match(wanted[i], source->dims[i]);
  }
  TSR_ASK(fits, op, "C2", "source is %s, expected shape %s", SHOW_TYPE(source),
          SHOW_LIST(wanted, operand->rank));
  return NULL;
}

tsr_status tsr_verify_select_and_scatter(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const tsr_type *source = tsr_operand_type(op, 1), *init = tsr_operand_type(op, 2);
  const tsr_type *operand = tsr_operand_type(op, 0);
  TSR_ASK(same_kind(operand, source), op, "C1",
          "operand and source are %s and %s, expected one element type", SHOW_TYPE(operand),
          SHOW_TYPE(source));
  TSR_TRY(tsr_check_one_kind(op, "C3", "operand", operand, "init_value", init));
  TSR_TRY(check_select(op));
  TSR_TRY(tsr_check_combiner(op, 1, "C10", &source, &init, 1));
  TSR_TRY(check_window_rank(op, operand));
  int64_t sizes[TSR_RANK_LIMIT];
  const tsr_op_window window = source_window(op, sizes);
  TSR_TRY(tsr_check_window(op, &window));
  return check_source(op, &window);
}

tsr_status tsr_infer_select_and_scatter(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  return tsr_results_add(
      out, tsr_type_with_element(ir, tsr_operand_type(op, 0), tsr_combiner_element(op, 1, 0)));
}
