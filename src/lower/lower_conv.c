// Convolutions as products of matrices: one side is the input under the moving window, the other
// one the weights. Groups are a batch of products. The side whose dim lies innermost in the result
// is the right one.
#include <string.h>

#include "base/arithmetic.h"
#include "kernel/conv_depthwise.h"
#include "lower/dot_lower.h"
#include "lower/copy_parts.h"
#include "simplify/evaluator.h"

// The dims and strides that a convolution's dimension numbers name.
typedef struct conv_dims {
  int spatial;
  int64_t groups;  // of features or of the batch
  bool batch_groups;
  int64_t input_batch, input_features, output_batch, output_features;  // sizes
  int64_t input_batch_stride, input_feature_stride;
  int64_t kernel_input_stride, kernel_output_stride;
  int64_t output_batch_stride, output_feature_stride;
  int64_t kernel_start;  // with reversed windows the last place
  int64_t kernel_strides[TSR_MAX_RANK], output_strides[TSR_MAX_RANK];
  tsr_gemm_window window;
} conv_dims;

static int64_t int_of(const tsr_op *op, const char *name, int64_t index, int64_t otherwise) {
  const tsr_attr *list = tsr_op_attr(op, name);
  return list && tsr_attr_int_count(list) ? tsr_attr_int_at(list, index) : otherwise;
}

// Sums of coordinates must not overflow.
static tsr_status check_dim(tsr_lowering *lowering, const tsr_op *op, const tsr_conv_dim *dim) {
  const int64_t most = INT64_C(1) << 60;
  const int64_t moved = tsr_saturated_multiply(dim->output, dim->step);
  const int64_t reach = tsr_saturated_multiply(dim->kernel, dim->kernel_dilation);
  if (moved <= most && reach <= most && dim->pad_low <= most && dim->pad_low >= -most) return NULL;
  return tsr_fail(TOO_LARGE, "%s: its window reaches over more than 2^60 elements",
                  tsr_op_title(lowering, op));
}

// What does not matter becomes 1, so that it cannot overflow.
static tsr_conv_dim conv_dim(const tsr_op *op, int index, int64_t input, int64_t stride,
                             int64_t kernel, int64_t output) {
  return (tsr_conv_dim){
      .input = input,
      .input_stride = stride,
      .output = output,
      .kernel = kernel,
      .step = output > 1 ? int_of(op, "window_strides", index, 1) : 1,
      .kernel_dilation = kernel > 1 ? int_of(op, "rhs_dilation", index, 1) : 1,
      .input_dilation = int_of(op, "lhs_dilation", index, 1),
      .pad_low = int_of(op, "padding", 2 * index, 0),
  };
}

static tsr_status read_spatial(tsr_lowering *lowering, const tsr_op *op, const tsr_attr *numbers,
                               int index, conv_dims *out) {
  const tsr_type *input = tsr_operand_type(op, 0), *kernel = tsr_operand_type(op, 1);
  const tsr_type *output = op->results[0].type;
  int64_t in[TSR_MAX_RANK] = {0}, weights[TSR_MAX_RANK] = {0}, result[TSR_MAX_RANK] = {0};
  tsr_strides_of(input, in);
  tsr_strides_of(kernel, weights);
  tsr_strides_of(output, result);
  const int64_t i = tsr_attr_int_at(tsr_attr_field(numbers, TSR_CONV_INPUT_SPATIAL), index);
  const int64_t k = tsr_attr_int_at(tsr_attr_field(numbers, TSR_CONV_KERNEL_SPATIAL), index);
  const int64_t o = tsr_attr_int_at(tsr_attr_field(numbers, TSR_CONV_OUTPUT_SPATIAL), index);
  out->window.dims[index] =
      conv_dim(op, index, input->dims[i], in[i], kernel->dims[k], output->dims[o]);
  out->output_strides[index] = result[o];
  out->kernel_strides[index] = weights[k];
  if (int_of(op, "window_reversal", index, 0) && kernel->dims[k] > 1) {
    out->kernel_start += (kernel->dims[k] - 1) * weights[k];
    out->kernel_strides[index] = -weights[k];
  }
  return check_dim(lowering, op, &out->window.dims[index]);
}

static int64_t dim_of(const tsr_attr *numbers, int field) {
  return tsr_attr_field(numbers, field)->integer;
}

static tsr_status read_dims(tsr_lowering *lowering, const tsr_op *op, conv_dims *out) {
  const tsr_attr *numbers = tsr_op_attr(op, "dimension_numbers");
  const tsr_type *input = tsr_operand_type(op, 0), *output = op->results[0].type;
  int64_t in[TSR_MAX_RANK] = {0}, weights[TSR_MAX_RANK] = {0}, result[TSR_MAX_RANK] = {0};
  tsr_strides_of(input, in);
  tsr_strides_of(tsr_operand_type(op, 1), weights);
  tsr_strides_of(output, result);
  const int64_t batch = dim_of(numbers, TSR_CONV_INPUT_BATCH);
  const int64_t feature = dim_of(numbers, TSR_CONV_INPUT_FEATURE);
  const int64_t output_batch = dim_of(numbers, TSR_CONV_OUTPUT_BATCH);
  const int64_t output_feature = dim_of(numbers, TSR_CONV_OUTPUT_FEATURE);
  const int64_t batch_groups = tsr_op_int(op, "batch_group_count", 1);
  *out = (conv_dims){
      .spatial = input->rank - 2,
      .groups = batch_groups > 1 ? batch_groups : tsr_op_int(op, "feature_group_count", 1),
      .batch_groups = batch_groups > 1,
      .input_batch = input->dims[batch],
      .input_features = input->dims[feature],
      .output_batch = output->dims[output_batch],
      .output_features = output->dims[output_feature],
      .input_batch_stride = in[batch],
      .input_feature_stride = in[feature],
      .kernel_input_stride = weights[dim_of(numbers, TSR_CONV_KERNEL_INPUT_FEATURE)],
      .kernel_output_stride = weights[dim_of(numbers, TSR_CONV_KERNEL_OUTPUT_FEATURE)],
      .output_batch_stride = result[output_batch],
      .output_feature_stride = result[output_feature],
  };
  out->window.rank = out->spatial;
  for (int i = 0; i < out->spatial; i++) TSR_TRY(read_spatial(lowering, op, numbers, i, out));
  return NULL;
}

// ---- sides ----

static int64_t channels_of(const conv_dims *c) {
  return c->batch_groups ? c->input_features : c->input_features / c->groups;
}

// A window of one place that never leaves the input: positions are a walk.
static bool is_point(const tsr_conv_dim *dim) {
  return dim->kernel == 1 && dim->pad_low == 0 && dim->input_dilation == 1 &&
         (dim->output == 0 || (dim->output - 1) * dim->step < dim->input);
}

static bool all_points(const conv_dims *c) {
  for (int i = 0; i < c->spatial; i++)
    if (!is_point(&c->window.dims[i])) return false;
  return true;
}

static void set_window(conv_dims *c) {
  // Long lines are better read place by place: then none is cut at the edge of the input.
  enum { MOST = 1 << 30, MOST_JOINED = 32 };
  tsr_gemm_window *window = &c->window;
  window->batch = c->output_batch;
  window->batch_stride = c->input_batch_stride;
  window->batch_inside = c->input_batch_stride == 1 && c->output_batch > 1;
  window->channels = channels_of(c);
  window->channel_stride = c->input_feature_stride;
  if (!window->rank) return;
  const tsr_conv_dim *last = &window->dims[window->rank - 1];
  window->joined = last->kernel_dilation == 1 && last->input_dilation == 1 &&
                   window->channel_stride == 1 && last->input_stride == window->channels &&
                   tsr_saturated_multiply(last->output, last->step) < MOST &&
                   last->pad_low < MOST && last->pad_low > -MOST && last->kernel < MOST &&
                   window->channels < MOST_JOINED;
}

static tsr_gemm_side input_side(const conv_dims *c, tsr_dtype dtype) {
  tsr_gemm_side side = {.input = 0, .dtype = dtype};
  const int64_t group = c->batch_groups ? c->output_batch * c->input_batch_stride
                                        : channels_of(c) * c->input_feature_stride;
  tsr_gemm_walk_init(&side.batch);
  tsr_gemm_walk_add(&side.batch, c->groups, group);
  tsr_gemm_walk_init(&side.rows);
  tsr_gemm_walk_init(&side.depth);
  tsr_gemm_walk_add(&side.rows, c->output_batch, c->input_batch_stride);
  for (int i = 0; i < c->spatial; i++) {
    const tsr_conv_dim *dim = &c->window.dims[i];
    tsr_gemm_walk_add(&side.rows, dim->output, dim->step * dim->input_stride);
    tsr_gemm_walk_add(&side.depth, dim->kernel, 0);
  }
  tsr_gemm_walk_add(&side.depth, channels_of(c), c->input_feature_stride);
  return side;
}

static tsr_gemm_side kernel_side(const conv_dims *c, tsr_dtype dtype) {
  tsr_gemm_side side = {.input = 1, .dtype = dtype, .start = c->kernel_start};
  const int64_t features = c->output_features / c->groups;
  tsr_gemm_walk_init(&side.batch);
  tsr_gemm_walk_add(&side.batch, c->groups, features * c->kernel_output_stride);
  tsr_gemm_walk_init(&side.rows);
  tsr_gemm_walk_add(&side.rows, features, c->kernel_output_stride);
  tsr_gemm_walk_init(&side.depth);
  for (int i = 0; i < c->spatial; i++)
    tsr_gemm_walk_add(&side.depth, c->window.dims[i].kernel, c->kernel_strides[i]);
  tsr_gemm_walk_add(&side.depth, channels_of(c), c->kernel_input_stride);
  return side;
}

// Where the positions, and each feature, lie in the result.
static void output_walks(const conv_dims *c, tsr_gemm_walk *positions, tsr_gemm_walk *features) {
  tsr_gemm_walk_init(positions);
  if (!c->window.batch_inside)
    tsr_gemm_walk_add(positions, c->output_batch, c->output_batch_stride);
  for (int i = 0; i < c->spatial; i++)
    tsr_gemm_walk_add(positions, c->window.dims[i].output, c->output_strides[i]);
  if (c->window.batch_inside) tsr_gemm_walk_add(positions, c->output_batch, c->output_batch_stride);
  tsr_gemm_walk_init(features);
  tsr_gemm_walk_add(features, c->output_features / c->groups, c->output_feature_stride);
}

static tsr_status lower_product(tsr_lowering *lowering, tsr_op *op, conv_dims *c) {
  tsr_gemm gemm = {.result.dtype = op->results[0].type->dtype};
  tsr_gemm_window *window = NULL;
  if (all_points(c)) {
    c->window.batch_inside = false;
  } else {
    window = tsr_lower_alloc(lowering, 1, sizeof *window);
    TSR_NEED(window);
    *window = c->window;
  }
  tsr_gemm_side input = input_side(c, tsr_operand_type(op, 0)->dtype);
  const tsr_gemm_side kernel = kernel_side(c, tsr_operand_type(op, 1)->dtype);
  input.window = window;
  const bool features_inside = c->output_feature_stride == 1;
  gemm.left = features_inside ? input : kernel;
  gemm.right = features_inside ? kernel : input;
  output_walks(c, features_inside ? &gemm.result.rows : &gemm.result.columns,
               features_inside ? &gemm.result.columns : &gemm.result.rows);
  tsr_gemm_walk_init(&gemm.result.batch);
  tsr_gemm_walk_add(&gemm.result.batch, c->groups,
                    c->output_features / c->groups * c->output_feature_stride);
  tsr_value *inputs[] = {tsr_op_operand(op, 0), tsr_op_operand(op, 1)};
  tsr_schedule_step *step = NULL;
  return tsr_note(tsr_lower_gemm(lowering, op, inputs, 2, &gemm, &step), "in %s",
                  tsr_op_title(lowering, op));
}

// ---- each channel by itself ----

static bool is_depthwise(const tsr_op *op, const conv_dims *c) {
  const tsr_dtype dtype = op->results[0].type->dtype;
  int parts = 0;
  const int type = tsr_gemm_type_of(dtype, &parts);
  return !c->batch_groups && c->groups > 1 && c->groups == c->input_features &&
         c->groups == c->output_features && type >= 0 && parts == 1 &&
         tsr_gemm_native(type, dtype) && tsr_operand_type(op, 0)->dtype == dtype &&
         tsr_operand_type(op, 1)->dtype == dtype && c->input_feature_stride == 1 &&
         c->kernel_output_stride == 1 && c->output_feature_stride == 1;
}

static tsr_status lower_depthwise(tsr_lowering *lowering, tsr_op *op, const conv_dims *c) {
  tsr_depthwise depthwise = {.window = c->window, .weight_start = c->kernel_start};
  depthwise.window.batch_inside = false;
  depthwise.window.channels = c->input_features;
  memcpy(depthwise.weight_strides, c->kernel_strides, sizeof c->kernel_strides);
  tsr_gemm_walk_init(&depthwise.rows);
  tsr_gemm_walk_add(&depthwise.rows, c->output_batch, c->output_batch_stride);
  for (int i = 0; i < c->spatial; i++)
    tsr_gemm_walk_add(&depthwise.rows, c->window.dims[i].output, c->output_strides[i]);
  int parts = 0;
  tsr_depthwise_plan(&depthwise, tsr_gemm_type_of(op->results[0].type->dtype, &parts));
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_kernel(lowering, op, tsr_depthwise_run, &depthwise, sizeof depthwise, &step));
  step->scratch_bytes = depthwise.scratch_bytes;
  step->flops = depthwise.flops;
  return NULL;
}

tsr_status tsr_lower_convolution(tsr_lowering *lowering, tsr_op *op) {
  TSR_TRY(tsr_check_ranks(lowering, op));
  conv_dims dims;
  TSR_TRY(read_dims(lowering, op, &dims));
  set_window(&dims);
  if (is_depthwise(op, &dims)) return lower_depthwise(lowering, op, &dims);
  return lower_product(lowering, op, &dims);
}
