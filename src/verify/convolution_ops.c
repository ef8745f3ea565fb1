// convolution, and what it shares with dynamic_conv.
#include "verify/window_checks.h"

typedef struct convolution {
  const tsr_op *op;
  const tsr_type *lhs, *rhs;
  const tsr_attr *numbers;
  const tsr_attr *input_spatial, *kernel_spatial, *output_spatial;
  int64_t input_batch, input_feature, kernel_input, kernel_output, output_batch, output_feature;
  int64_t feature_groups, batch_groups;
} convolution;

static convolution convolution_of(const tsr_op *op) {
  const tsr_attr *n = tsr_op_attr(op, "dimension_numbers");
  return (convolution){
      .op = op,
      .lhs = tsr_operand_type(op, 0),
      .rhs = tsr_operand_type(op, 1),
      .numbers = n,
      .input_spatial = tsr_record_ints(n, TSR_CONV_INPUT_SPATIAL),
      .kernel_spatial = tsr_record_ints(n, TSR_CONV_KERNEL_SPATIAL),
      .output_spatial = tsr_record_ints(n, TSR_CONV_OUTPUT_SPATIAL),
      .input_batch = tsr_record_int(n, TSR_CONV_INPUT_BATCH),
      .input_feature = tsr_record_int(n, TSR_CONV_INPUT_FEATURE),
      .kernel_input = tsr_record_int(n, TSR_CONV_KERNEL_INPUT_FEATURE),
      .kernel_output = tsr_record_int(n, TSR_CONV_KERNEL_OUTPUT_FEATURE),
      .output_batch = tsr_record_int(n, TSR_CONV_OUTPUT_BATCH),
      .output_feature = tsr_record_int(n, TSR_CONV_OUTPUT_FEATURE),
      .feature_groups = tsr_op_int(op, "feature_group_count", 1),
      .batch_groups = tsr_op_int(op, "batch_group_count", 1),
  };
}

// ---- dimension numbers

static tsr_status check_spatial_count(const convolution *c, const char *constraint,
                                      const char *name, const tsr_attr *dims) {
  TSR_ASK(tsr_attr_int_count(dims) == c->lhs->rank - 2, c->op, constraint,
          "%s is %s, expected length %d", name, SHOW_INTS(dims), c->lhs->rank - 2);
  return NULL;
}

// Two dimensions of their own and the spatial ones are all dimensions once.
static tsr_status check_numbers(const convolution *c, const char *constraint, const char *name,
                                int64_t first, int64_t second, const tsr_attr *spatial) {
  const int64_t rank = c->lhs->rank;
  TSR_ASK(first >= 0 && first < rank && second >= 0 && second < rank &&
              tsr_ints_within(spatial, 0, rank),
          c->op, constraint,
          "%s dimensions are %lld, %lld and %s, expected dimensions of 0 to %lld", name,
          (long long)first, (long long)second, SHOW_INTS(spatial), (long long)rank - 1);
  TSR_ASK(first != second && !tsr_ints_contain(spatial, first) &&
              !tsr_ints_contain(spatial, second) && tsr_ints_unique(spatial),
          c->op, constraint, "%s dimensions are %lld, %lld and %s, expected unique ones", name,
          (long long)first, (long long)second, SHOW_INTS(spatial));
  return NULL;
}

static tsr_status check_all_numbers(const convolution *c) {
  TSR_ASK(c->lhs->rank == c->rhs->rank && c->lhs->rank >= 2, c->op, "C1",
          "operands are %s and %s, expected one rank of 2 or more", SHOW_TYPE(c->lhs),
          SHOW_TYPE(c->rhs));
  TSR_ASK(
      tsr_is_quantised(c->lhs) || tsr_is_quantised(c->rhs) || tsr_elements_match(c->lhs, c->rhs),
      c->op, "C27", "operands are %s and %s, expected one element type", SHOW_TYPE(c->lhs),
      SHOW_TYPE(c->rhs));
  TSR_TRY(check_spatial_count(c, "C12", "input_spatial_dimensions", c->input_spatial));
  TSR_TRY(check_spatial_count(c, "C17", "kernel_spatial_dimensions", c->kernel_spatial));
  TSR_TRY(check_spatial_count(c, "C19", "output_spatial_dimensions", c->output_spatial));
  TSR_TRY(check_numbers(c, "C13", "input", c->input_batch, c->input_feature, c->input_spatial));
  TSR_TRY(check_numbers(c, "C18", "kernel", c->kernel_input, c->kernel_output, c->kernel_spatial));
  return check_numbers(c, "C20", "output", c->output_batch, c->output_feature, c->output_spatial);
}

// ---- groups

static tsr_status check_divisible(const tsr_op *op, const char *constraint, const char *name,
                                  int64_t size, const char *group_name, int64_t groups) {
  TSR_ASK(tsr_is_dynamic(size) || size % groups == 0, op, constraint,
          "%s has size %lld, expected a multiple of %s %lld", name, (long long)size, group_name,
          (long long)groups);
  return NULL;
}

static tsr_status check_groups(const convolution *c) {
  const tsr_op *op = c->op;
  TSR_ASK(c->feature_groups > 0, op, "C21", "feature_group_count is %lld, expected 1 or more",
          (long long)c->feature_groups);
  TSR_ASK(c->batch_groups > 0, op, "C22", "batch_group_count is %lld, expected 1 or more",
          (long long)c->batch_groups);
  TSR_ASK(c->feature_groups == 1 || c->batch_groups == 1, op, "C23",
          "feature_group_count is %lld and batch_group_count is %lld, expected one of them to be 1",
          (long long)c->feature_groups, (long long)c->batch_groups);
  const int64_t features = c->lhs->dims[c->input_feature];
  const int64_t kernel_inputs = c->rhs->dims[c->kernel_input];
  const int64_t outputs = c->rhs->dims[c->kernel_output];
  TSR_TRY(check_divisible(op, "C10", "input_batch_dimension", c->lhs->dims[c->input_batch],
                          "batch_group_count", c->batch_groups));
  TSR_TRY(check_divisible(op, "C11", "input_feature_dimension", features, "feature_group_count",
                          c->feature_groups));
  TSR_ASK(tsr_is_dynamic(features) || tsr_is_dynamic(kernel_inputs) ||
              features / c->feature_groups == kernel_inputs,
          op, "C14", "kernel_input_feature_dimension has size %lld, expected %lld / %lld",
          (long long)kernel_inputs, (long long)features, (long long)c->feature_groups);
  TSR_TRY(check_divisible(op, "C15", "kernel_output_feature_dimension", outputs,
                          "batch_group_count", c->batch_groups));
  return check_divisible(op, "C16", "kernel_output_feature_dimension", outputs,
                         "feature_group_count", c->feature_groups);
}

// ---- windows

static tsr_op_window window_of(const convolution *c, const tsr_attr *padding, int64_t *sizes) {
  const int rank = c->lhs->rank - 2;
  for (int i = 0; i < rank; i++) sizes[i] = c->rhs->dims[tsr_attr_int_at(c->kernel_spatial, i)];
  return (tsr_op_window){
      .rank = rank,
      .sizes = sizes,
      .positive = "C25",
      .strides = {"window_strides", "C2", "C3", tsr_op_attr(c->op, "window_strides")},
      .base_dilations = {"lhs_dilation", "C5", "C6", tsr_op_attr(c->op, "lhs_dilation")},
      .window_dilations = {"rhs_dilation", "C7", "C8", tsr_op_attr(c->op, "rhs_dilation")},
      .padding_name = "C4",
      .padding = padding,
  };
}

static tsr_status check_quantised_dims(const convolution *c) {
  const tsr_op *op = c->op;
  if (tsr_is_axis_quantised(c->rhs))
    TSR_ASK(c->rhs->element->quant->axis == c->kernel_output, op, "C29",
            "rhs is quantised along dimension %d, expected kernel_output_feature_dimension %lld",
            c->rhs->element->quant->axis, (long long)c->kernel_output);
  const tsr_type *result = op->result_count ? op->results[0].type : NULL;
  if (result && tsr_is_axis_quantised(result))
    TSR_ASK(result->element->quant->axis == c->output_feature, op, "C30",
            "the result is quantised along dimension %d, expected output_feature_dimension %lld",
            result->element->quant->axis, (long long)c->output_feature);
  return tsr_check_quantised_product(op, 28);
}

tsr_status tsr_check_convolution(const tsr_op *op, const tsr_attr *padding) {
  const convolution c = convolution_of(op);
  TSR_TRY(check_all_numbers(&c));
  TSR_TRY(check_groups(&c));
  const tsr_attr *config = tsr_op_attr(op, "precision_config");
  TSR_ASK(!config || config->count <= 2, op, "C24",
          "precision_config has %lld entries, expected at most 2", (long long)config->count);
  int64_t sizes[TSR_RANK_LIMIT];
  const tsr_op_window window = window_of(&c, padding, sizes);
  TSR_TRY(tsr_check_window(op, &window));
  const tsr_attr *reversal = tsr_op_attr(op, "window_reversal");
  TSR_ASK(!reversal || !reversal->count || reversal->count == window.rank, op, "C9",
          "window_reversal has %lld entries, expected %d", (long long)reversal->count, window.rank);
  return check_quantised_dims(&c);
}

tsr_status tsr_infer_convolved(tsr_ir *ir, const tsr_op *op, const tsr_attr *padding,
                               tsr_result_types *out) {
  const convolution c = convolution_of(op);
  int64_t sizes[TSR_RANK_LIMIT], dims[TSR_RANK_LIMIT];
  const tsr_op_window window = window_of(&c, padding, sizes);
  for (int i = 0; i < window.rank; i++)
    dims[tsr_attr_int_at(c.output_spatial, i)] =
        tsr_window_places(&window, i, c.lhs->dims[tsr_attr_int_at(c.input_spatial, i)]);
  const int64_t batch = c.lhs->dims[c.input_batch];
  dims[c.output_batch] = tsr_is_dynamic(batch) ? batch : batch / c.batch_groups;
  dims[c.output_feature] = c.rhs->dims[c.kernel_output];
  return tsr_results_add(out, tsr_type_tensor(ir, c.lhs->element, c.lhs->rank, dims, NULL));
}

tsr_status tsr_verify_convolution(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  return tsr_check_convolution(op, tsr_op_attr(op, "padding"));
}

tsr_status tsr_infer_convolution(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  return tsr_infer_convolved(ir, op, tsr_op_attr(op, "padding"), out);
}
