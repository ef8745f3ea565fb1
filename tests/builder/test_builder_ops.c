// What each op of the builder prints as.
#include "builder/build.h"

#include <stdio.h>
#include <string.h>

// ---- elementwise ----

static void broadcasting(tsr_builder *b) {
  const tsr_node x = F32(4, 1), y = F32(3);
  OUT(tsr_build_add(b, x, y));
}
static void same_type(tsr_builder *b) {
  const tsr_node x = F32(4), y = F32(4);
  OUT(tsr_build_binary(b, "power", x, y));
}
static void unary_of_chlo(tsr_builder *b) { OUT(tsr_build_unary(b, "erf", F32(4))); }
static void comparison(tsr_builder *b) {
  const tsr_node x = I32(4), y = I32(4);
  OUT(tsr_build_compare(b, "GE", x, y));
}
static void selection(tsr_builder *b) {
  const tsr_node p = tsr_build_parameter(b, NULL, TSR_BOOL, TSR_SCALAR, NULL);
  const tsr_node x = F32(4, 3), y = F32(3);
  OUT(tsr_build_select(b, p, x, y));
}
static void clamp(tsr_builder *b) {
  const tsr_node zero = tsr_build_splat(b, TSR_F32, TSR_SCALAR, 0);
  const tsr_node x = F32(4), high = F32(4);
  OUT(tsr_build_clamp(b, zero, x, high));
}
static void conversion(tsr_builder *b) { OUT(tsr_build_convert(b, F32(4), TSR_BF16)); }

// ---- constants ----

static void data(tsr_builder *b) {
  const int32_t numbers[] = {1, 2, 3, 4};
  const uint8_t flags[] = {0, 2}, packed[] = {0x21, 0x0f};
  OUT(tsr_build_constant(b, TSR_I32, TSR_SHAPE(2, 2), numbers));
  OUT(tsr_build_constant(b, TSR_BOOL, TSR_SHAPE(2), flags));
  OUT(tsr_build_constant(b, TSR_I4, TSR_SHAPE(3), packed));
  OUT(tsr_build_constant(b, TSR_F32, TSR_SHAPE(0), NULL));
}
static void splats(tsr_builder *b) {
  OUT(tsr_build_splat(b, TSR_BF16, TSR_SHAPE(2), 1.5));
  OUT(tsr_build_splat(b, TSR_BOOL, TSR_SCALAR, 1));
  OUT(tsr_build_splat(b, TSR_C64, TSR_SCALAR, 2));
  OUT(tsr_build_splat(b, TSR_I4, TSR_SHAPE(2), -3));
  OUT(tsr_build_splat(b, TSR_F32, TSR_SHAPE(0, 2), 1));
}
static void counting(tsr_builder *b) { OUT(tsr_build_iota(b, TSR_I32, TSR_SHAPE(2, 3), -1)); }

// ---- shapes ----

static void broadcast_by_dims(tsr_builder *b) {
  OUT(tsr_build_broadcast(b, F32(4), TSR_SHAPE(4, 3), TSR_DIMS(0)));
}
static void reshape(tsr_builder *b) { OUT(tsr_build_reshape(b, F32(4, 6), TSR_SHAPE(3, -1))); }
static void transpose(tsr_builder *b) {
  OUT(tsr_build_transpose(b, F32(4, 6, 2), TSR_DIMS(-1, 0, 1)));
}
static void reversed(tsr_builder *b) { OUT(tsr_build_transpose(b, F32(4, 6), NULL)); }
static void slice(tsr_builder *b) {
  OUT(tsr_build_slice(b, F32(4, 6), TSR_DIMS(1, 0), TSR_DIMS(4, 6), TSR_DIMS(1, 2)));
}
static void padding(tsr_builder *b) {
  const tsr_node zero = tsr_build_splat(b, TSR_F32, TSR_SCALAR, 0);
  OUT(tsr_build_pad(b, F32(4), zero, TSR_DIMS(1), TSR_DIMS(-1), NULL));
}
static void concatenation(tsr_builder *b) {
  const tsr_node x = F32(4, 1), y = F32(4, 2);
  OUT(tsr_build_concatenate(b, LIST(x, y), 2, -1));
}
static void dynamic_slices(tsr_builder *b) {
  const tsr_node i = tsr_build_parameter(b, NULL, TSR_I32, TSR_SCALAR, NULL), x = F32(4, 6);
  const tsr_node part = tsr_build_dynamic_slice(b, x, LIST(i, i), TSR_SHAPE(1, 6));
  OUT(tsr_build_dynamic_update(b, x, part, LIST(i, i)));
}
static void rows(tsr_builder *b) {
  const tsr_node x = F32(4, 6), i = I32(3);
  const tsr_node taken = tsr_build_take(b, x, i, 1);
  OUT(tsr_build_scatter(b, "set", x, i, taken, 1));
}

// ---- reductions and contractions ----

static void reduction(tsr_builder *b) {
  OUT(tsr_build_reduce(b, "max", I32(4, 6), TSR_DIMS(-1, 0), true));
}
static void dot(tsr_builder *b) {
  tsr_dot_options options = TSR_DOT_OPTIONS;
  options.x_batch = options.y_batch = TSR_DIMS(0);
  options.x_contract = TSR_DIMS(-1);
  options.y_contract = TSR_DIMS(1);
  options.dtype = TSR_F64;
  options.precision = "HIGHEST";
  const tsr_node x = F32(2, 3, 4), y = F32(2, 4, 5);
  OUT(tsr_build_dot_general(b, x, y, &options));
}
static void convolution(tsr_builder *b) {
  tsr_convolution_options options = TSR_CONVOLUTION_OPTIONS;
  options.strides = TSR_DIMS(2, 1);
  options.low = TSR_DIMS(1, 0);
  options.kernel_dilation = TSR_DIMS(1, 2);
  const tsr_node x = F32(1, 8, 8, 3), kernel = F32(3, 3, 3, 4);
  OUT(tsr_build_convolution(b, x, kernel, &options));
}
static void sort(tsr_builder *b) {
  tsr_node sorted;
  tsr_build_sort(b, LIST(F32(4)), 1, 0, NULL, NULL, &sorted);
  OUT(sorted);
}
static void top_k(tsr_builder *b) {
  tsr_node indices;
  OUT(tsr_build_top_k(b, F32(4), 2, &indices));
  OUT(indices);
}

// ---- any op ----

static void any_op(tsr_builder *b) {
  tsr_op_options options = TSR_OP_OPTIONS;
  options.attrs = "dimensions = [1], note = \"kept\"";
  OUT(tsr_build_op(b, "stablehlo.reverse", LIST(F32(4, 6)), 1, &options));
}
static void any_types(tsr_builder *b) {
  tsr_op_options options = TSR_OP_OPTIONS;
  options.attrs = "call_target_name = \"f\"";
  options.results = "tensor<?xf32>, !stablehlo.token";
  const tsr_node first = tsr_build_op(b, "custom_call", LIST(F32(4)), 1, &options);
  OUT(tsr_build_add(b, first, first));
  OUT(tsr_build_result(b, first, 1));
}
static void largest(tsr_builder *b, const tsr_node *args, tsr_node *results, void *context) {
  (void)context;
  results[0] = tsr_build_binary(b, "maximum", args[0], args[1]);
}
static void any_region(tsr_builder *b) {
  tsr_op_options options = TSR_OP_OPTIONS;
  const tsr_build_region region = {largest, NULL, "tensor<f32>, tensor<f32>", 1};
  options.attrs = "window_dimensions = [2]";
  options.region_count = 1;
  options.regions = &region;
  const tsr_node zero = tsr_build_splat(b, TSR_F32, TSR_SCALAR, 0);
  OUT(tsr_build_op(b, "reduce_window", LIST(F32(4), zero), 2, &options));
}

static void tanh_of_arg(tsr_builder *b, const tsr_node *args, tsr_node *results, void *context) {
  (void)context;
  results[0] = tsr_build_unary(b, "tanh", args[0]);
}
static void manual(tsr_builder *b) {
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_parse("x=2", NULL, &mesh));
  tsr_build_mesh(b, NULL, mesh);
  tsr_mesh_release(mesh);
  tsr_op_options options = TSR_OP_OPTIONS;
  const tsr_build_region region = {tanh_of_arg, NULL, "tensor<4xf32>", 1};
  options.attrs =
      "in_shardings = #sdy.sharding_per_value<[<@mesh, [{\"x\"}]>]>, "
      "out_shardings = #sdy.sharding_per_value<[<@mesh, [{\"x\"}]>]>, "
      "manual_axes = #sdy<manual_axes{\"x\"}>";
  options.results = "tensor<8xf32>";
  options.region_count = 1;
  options.regions = &region;
  OUT(tsr_build_op(b, "sdy.manual_computation", LIST(F32(8)), 1, &options));
}

// ---- nothing to do ----

static void unchanged(tsr_builder *b) {
  const tsr_node x = F32(4, 6);
  assert_int_equal(tsr_build_convert(b, x, TSR_F32).id, x.id);
  assert_int_equal(tsr_build_reshape(b, x, TSR_SHAPE(4, 6)).id, x.id);
  assert_int_equal(tsr_build_broadcast(b, x, TSR_SHAPE(4, 6), NULL).id, x.id);
  assert_int_equal(tsr_build_transpose(b, x, TSR_DIMS(0, 1)).id, x.id);
  OUT(x);
}

static const struct {
  build_fn *build;
  const char *body;
} cases[] = {
    {broadcasting,
     "%0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<4x1xf32>) -> "
     "tensor<4x3xf32>\n"
     "%1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf32>) -> "
     "tensor<4x3xf32>\n"
     "%2 = stablehlo.add %0, %1 : tensor<4x3xf32>\n"
     "return %2 : tensor<4x3xf32>\n"},
    {same_type,
     "%0 = stablehlo.power %arg0, %arg1 : tensor<4xf32>\n"
     "return %0 : tensor<4xf32>\n"},
    {unary_of_chlo,
     "%0 = chlo.erf %arg0 : tensor<4xf32> -> tensor<4xf32>\n"
     "return %0 : tensor<4xf32>\n"},
    {comparison,
     "%0 = stablehlo.compare GE, %arg0, %arg1, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> "
     "tensor<4xi1>\n"
     "return %0 : tensor<4xi1>\n"},
    {selection,
     "%0 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<3xf32>) -> "
     "tensor<4x3xf32>\n"
     "%1 = stablehlo.select %arg0, %arg1, %0 : tensor<i1>, tensor<4x3xf32>\n"
     "return %1 : tensor<4x3xf32>\n"},
    {clamp,
     "%cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>\n"
     "%0 = stablehlo.clamp %cst, %arg0, %arg1 : (tensor<f32>, tensor<4xf32>, tensor<4xf32>) "
     "-> tensor<4xf32>\n"
     "return %0 : tensor<4xf32>\n"},
    {conversion,
     "%0 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xbf16>\n"
     "return %0 : tensor<4xbf16>\n"},
    {data,
     "%c = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>\n"
     "%c_0 = stablehlo.constant dense<[false, true]> : tensor<2xi1>\n"
     "%c_1 = stablehlo.constant dense<[1, 2, -1]> : tensor<3xi4>\n"
     "%cst = stablehlo.constant dense<> : tensor<0xf32>\n"
     "return %c, %c_0, %c_1, %cst : tensor<2x2xi32>, tensor<2xi1>, tensor<3xi4>, "
     "tensor<0xf32>\n"},
    {splats,
     "%cst = stablehlo.constant dense<1.500000e+00> : tensor<2xbf16>\n"
     "%c = stablehlo.constant dense<true> : tensor<i1>\n"
     "%cst_0 = stablehlo.constant dense<(2.000000e+00,0.000000e+00)> : tensor<complex<f32>>\n"
     "%c_1 = stablehlo.constant dense<-3> : tensor<2xi4>\n"
     "%cst_2 = stablehlo.constant dense<> : tensor<0x2xf32>\n"
     "return %cst, %c, %cst_0, %c_1, %cst_2 : tensor<2xbf16>, tensor<i1>, "
     "tensor<complex<f32>>, tensor<2xi4>, tensor<0x2xf32>\n"},
    {counting,
     "%0 = stablehlo.iota dim = 1 : tensor<2x3xi32>\n"
     "return %0 : tensor<2x3xi32>\n"},
    {broadcast_by_dims,
     "%0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<4xf32>) -> "
     "tensor<4x3xf32>\n"
     "return %0 : tensor<4x3xf32>\n"},
    {reshape,
     "%0 = stablehlo.reshape %arg0 : (tensor<4x6xf32>) -> tensor<3x8xf32>\n"
     "return %0 : tensor<3x8xf32>\n"},
    {transpose,
     "%0 = stablehlo.transpose %arg0, dims = [2, 0, 1] : (tensor<4x6x2xf32>) -> "
     "tensor<2x4x6xf32>\n"
     "return %0 : tensor<2x4x6xf32>\n"},
    {reversed,
     "%0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>\n"
     "return %0 : tensor<6x4xf32>\n"},
    {slice,
     "%0 = stablehlo.slice %arg0 [1:4, 0:6:2] : (tensor<4x6xf32>) -> tensor<3x3xf32>\n"
     "return %0 : tensor<3x3xf32>\n"},
    {padding,
     "%cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>\n"
     "%0 = stablehlo.pad %arg0, %cst, low = [1], high = [-1], interior = [0] : "
     "(tensor<4xf32>, tensor<f32>) -> tensor<4xf32>\n"
     "return %0 : tensor<4xf32>\n"},
    {concatenation,
     "%0 = stablehlo.concatenate %arg0, %arg1, dim = 1 : (tensor<4x1xf32>, tensor<4x2xf32>) "
     "-> tensor<4x3xf32>\n"
     "return %0 : tensor<4x3xf32>\n"},
    {dynamic_slices,
     "%0 = stablehlo.dynamic_slice %arg1, %arg0, %arg0, sizes = [1, 6] : (tensor<4x6xf32>, "
     "tensor<i32>, tensor<i32>) -> tensor<1x6xf32>\n"
     "%1 = stablehlo.dynamic_update_slice %arg1, %0, %arg0, %arg0 : (tensor<4x6xf32>, "
     "tensor<1x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>\n"
     "return %1 : tensor<4x6xf32>\n"},
    {rows,
     "%0 = \"stablehlo.gather\"(%arg0, %arg1) <{dimension_numbers = "
     "#stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = "
     "[1], index_vector_dim = 1>, slice_sizes = array<i64: 4, 1>}> : (tensor<4x6xf32>, "
     "tensor<3xi32>) -> tensor<4x3xf32>\n"
     "%1 = \"stablehlo.scatter\"(%arg0, %arg1, %0) <{scatter_dimension_numbers = "
     "#stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], "
     "scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({\n"
     "^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):\n"
     "stablehlo.return %arg3 : tensor<f32>\n"
     "}) : (tensor<4x6xf32>, tensor<3xi32>, tensor<4x3xf32>) -> tensor<4x6xf32>\n"
     "return %1 : tensor<4x6xf32>\n"},
    {reduction,
     "%c = stablehlo.constant dense<-2147483648> : tensor<i32>\n"
     "%0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.maximum across dimensions = "
     "[0, 1] : (tensor<4x6xi32>, tensor<i32>) -> tensor<i32>\n"
     "%1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1x1xi32>\n"
     "return %1 : tensor<1x1xi32>\n"},
    {dot,
     "%0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = "
     "[2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> "
     "tensor<2x3x5xf64>\n"
     "return %0 : tensor<2x3x5xf64>\n"},
    {convolution,
     "%0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, "
     "0, 1, f], window = {stride = [2, 1], pad = [[1, 0], [0, 0]], rhs_dilate = [1, 2]} "
     "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, "
     "tensor<3x3x3x4xf32>) -> tensor<1x4x4x4xf32>\n"
     "return %0 : tensor<1x4x4x4xf32>\n"},
    {sort,
     "%0 = \"stablehlo.sort\"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({\n"
     "^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):\n"
     "%1 = stablehlo.compare LT, %arg1, %arg2, TOTALORDER : (tensor<f32>, tensor<f32>) -> "
     "tensor<i1>\n"
     "stablehlo.return %1 : tensor<i1>\n"
     "}) : (tensor<4xf32>) -> tensor<4xf32>\n"
     "return %0 : tensor<4xf32>\n"},
    {top_k,
     "%values, %indices = chlo.top_k(%arg0, k = 2) : tensor<4xf32> -> (tensor<2xf32>, "
     "tensor<2xi32>)\n"
     "return %values, %indices : tensor<2xf32>, tensor<2xi32>\n"},
    {any_op,
     "%0 = stablehlo.reverse %arg0, dims = [1] {note = \"kept\"} : tensor<4x6xf32>\n"
     "return %0 : tensor<4x6xf32>\n"},
    {any_types,
     "%0:2 = stablehlo.custom_call @f(%arg0) : (tensor<4xf32>) -> (tensor<?xf32>, "
     "!stablehlo.token)\n"
     "%1 = stablehlo.add %0#0, %0#0 : tensor<?xf32>\n"
     "return %1, %0#1 : tensor<?xf32>, !stablehlo.token\n"},
    {any_region,
     "%cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>\n"
     "%0 = \"stablehlo.reduce_window\"(%arg0, %cst) <{window_dimensions = array<i64: 2>}> "
     "({\n"
     "^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):\n"
     "%1 = stablehlo.maximum %arg1, %arg2 : tensor<f32>\n"
     "stablehlo.return %1 : tensor<f32>\n"
     "}) : (tensor<4xf32>, tensor<f32>) -> tensor<3xf32>\n"
     "return %0 : tensor<3xf32>\n"},
    {manual,
     "%0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{\"x\"}]>] "
     "out_shardings=[<@mesh, [{\"x\"}]>] manual_axes={\"x\"} (%arg1: tensor<4xf32>) {\n"
     "%1 = stablehlo.tanh %arg1 : tensor<4xf32>\n"
     "sdy.return %1 : tensor<4xf32>\n"
     "} : (tensor<8xf32>) -> tensor<8xf32>\n"
     "return %0 : tensor<8xf32>\n"},
    {unchanged, "return %arg0 : tensor<4x6xf32>\n"},
};

static void ops_print_as_stablehlo(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) expect_body(cases[i].build, cases[i].body);
}

// ---- neutral elements of reductions ----

static const struct {
  const char *kind;
  tsr_dtype dtype;
  const char *neutral;
} neutrals[] = {
    {"add", TSR_F32, "0.000000e+00"},
    {"mul", TSR_BF16, "1.000000e+00"},
    {"max", TSR_F32, "0xFF800000"},
    {"min", TSR_F16, "0x7C00"},
    {"max", TSR_F8E4M3FN, "-4.480000e+02"},
    {"min", TSR_F8E5M2, "5.734400e+04"},
    {"max", TSR_I8, "-128"},
    {"min", TSR_I64, "9223372036854775807"},
    {"max", TSR_U16, "0"},
    {"min", TSR_U8, "255"},
    {"max", TSR_I4, "-8"},
    {"min", TSR_BOOL, "true"},
    {"and", TSR_I32, "-1"},
    {"and", TSR_BOOL, "true"},
    {"or", TSR_U32, "0"},
};
static size_t row;

static void reduce_by_row(tsr_builder *b) {
  const tsr_node x = tsr_build_parameter(b, NULL, neutrals[row].dtype, TSR_SHAPE(4), NULL);
  OUT(tsr_build_reduce(b, neutrals[row].kind, x, NULL, false));
}

static void reductions_start_from_the_neutral_element(void **state) {
  (void)state;
  for (row = 0; row < COUNT_OF(neutrals); row++) {
    TSR_OWN(text, text);
    char wanted[64];
    tsr_program *program = build_program(reduce_by_row);
    assert_ok(tsr_program_print(program, NULL, &text));
    tsr_program_release(program);
    snprintf(wanted, sizeof wanted, "dense<%s>", neutrals[row].neutral);
    if (!strstr(tsr_text_string(&text), wanted))
      fail_msg("expected %s in %s", wanted, tsr_text_string(&text));
  }
}

SUITE(builder_ops, TEST(ops_print_as_stablehlo), TEST(reductions_start_from_the_neutral_element))
