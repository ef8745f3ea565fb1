// Layers of models, written with the functions that models are written with.
//
// Floats narrower than f32 are widened first and narrowed at the end: sums of many elements and
// exponentials need the mantissa.
#include "builder/builder_internal.h"

static tsr_node number(tsr_builder *b, tsr_node like, double value) {
  const tsr_dtype dtype = tsr_build_dtype_of(b, like);
  return b->failure ? TSR_NO_NODE : tsr_build_scalar(b, dtype, value);
}

// Layers are of floats: exponentials and means of integers would be a surprise.
static bool check_float(tsr_builder *b, tsr_node x) {
  const tsr_type *type = tsr_builder_tensor(b, x, 0);
  if (!type) return false;
  const tsr_dtype_info *info = tsr_dtype_info_of(type->dtype);
  return tsr_builder_keep(
      b, info->kind == TSR_CLASS_FLOAT
             ? NULL
             : tsr_fail(CONSTRAINT, "x has dtype %s, expected a float", info->name));
}

tsr_node tsr_build_softmax(tsr_builder *b, tsr_node x, int dim) {
  if (!tsr_builder_enter(b, "softmax")) return TSR_NO_NODE;
  if (!check_float(b, x)) return tsr_builder_leave(b, TSR_NO_NODE);
  const tsr_node wide = tsr_build_widened(b, x);
  const tsr_node largest = tsr_build_reduce(b, "max", wide, TSR_DIMS(dim), true);
  const tsr_node powers = tsr_build_unary(b, "exponential", tsr_build_subtract(b, wide, largest));
  const tsr_node sum = tsr_build_reduce(b, "add", powers, TSR_DIMS(dim), true);
  const tsr_node shares = tsr_build_divide(b, powers, sum);
  return tsr_builder_leave(b, tsr_build_convert(b, shares, tsr_build_dtype_of(b, x)));
}

// ---- norms ----

// x / sqrt(mean(x^2) + epsilon) over the last dimension.
static tsr_node by_deviation(tsr_builder *b, tsr_node x, double epsilon) {
  const tsr_node square = tsr_build_multiply(b, x, x);
  const tsr_node mean = tsr_build_reduce(b, "mean", square, TSR_DIMS(-1), true);
  const tsr_node shifted = tsr_build_add(b, mean, number(b, mean, epsilon));
  return tsr_build_multiply(b, x, tsr_build_unary(b, "rsqrt", shifted));
}

static tsr_node scaled(tsr_builder *b, tsr_node x, const char *op, tsr_node by) {
  return by.id ? tsr_build_binary(b, op, x, tsr_build_widened(b, by)) : x;
}

tsr_node tsr_build_layer_norm(tsr_builder *b, tsr_node x, tsr_node scale, tsr_node bias,
                              double epsilon) {
  if (!tsr_builder_enter(b, "layer_norm")) return TSR_NO_NODE;
  if (!check_float(b, x)) return tsr_builder_leave(b, TSR_NO_NODE);
  const tsr_node wide = tsr_build_widened(b, x);
  const tsr_node mean = tsr_build_reduce(b, "mean", wide, TSR_DIMS(-1), true);
  tsr_node y = by_deviation(b, tsr_build_subtract(b, wide, mean), epsilon);
  y = scaled(b, scaled(b, y, "multiply", scale), "add", bias);
  return tsr_builder_leave(b, tsr_build_convert(b, y, tsr_build_dtype_of(b, x)));
}

tsr_node tsr_build_rms_norm(tsr_builder *b, tsr_node x, tsr_node scale, double epsilon) {
  if (!tsr_builder_enter(b, "rms_norm")) return TSR_NO_NODE;
  if (!check_float(b, x)) return tsr_builder_leave(b, TSR_NO_NODE);
  tsr_node y = by_deviation(b, tsr_build_widened(b, x), epsilon);
  y = scaled(b, y, "multiply", scale);
  return tsr_builder_leave(b, tsr_build_convert(b, y, tsr_build_dtype_of(b, x)));
}

// ---- activations ----

// tanh(sqrt(2 / pi) * (x + 0.044715 x^3)), close to erf(x / sqrt(2)).
static tsr_node by_tanh(tsr_builder *b, tsr_node x) {
  const tsr_node cube = tsr_build_multiply(b, tsr_build_multiply(b, x, x), x);
  const tsr_node bent = tsr_build_multiply(b, cube, number(b, x, 0.044715));
  const tsr_node sum = tsr_build_add(b, x, bent);
  return tsr_build_unary(b, "tanh",
                         tsr_build_multiply(b, sum, number(b, x, 0.79788456080286535588)));
}

static tsr_node by_erf(tsr_builder *b, tsr_node x) {
  const tsr_node part = tsr_build_multiply(b, x, number(b, x, 0.70710678118654752440));
  return tsr_build_unary(b, "erf", part);
}

tsr_node tsr_build_gelu(tsr_builder *b, tsr_node x, bool approximate) {
  if (!tsr_builder_enter(b, "gelu")) return TSR_NO_NODE;
  if (!check_float(b, x)) return tsr_builder_leave(b, TSR_NO_NODE);
  const tsr_node curve = approximate ? by_tanh(b, x) : by_erf(b, x);
  const tsr_node weight = tsr_build_add(b, curve, number(b, x, 1));
  const tsr_node half = tsr_build_multiply(b, x, number(b, x, 0.5));
  return tsr_builder_leave(b, tsr_build_multiply(b, half, weight));
}

tsr_node tsr_build_silu(tsr_builder *b, tsr_node x) {
  if (!tsr_builder_enter(b, "silu")) return TSR_NO_NODE;
  if (!check_float(b, x)) return tsr_builder_leave(b, TSR_NO_NODE);
  return tsr_builder_leave(b, tsr_build_multiply(b, x, tsr_build_unary(b, "logistic", x)));
}
