// Loops, branches and regions of the caller.
#include "builder/build.h"

static void below_five(tsr_builder *b, const tsr_node *args, tsr_node *results, void *context) {
  (void)context;
  results[0] = tsr_build_compare(b, "LT", args[0], tsr_build_splat(b, TSR_I32, TSR_SCALAR, 5));
}
static void doubled(tsr_builder *b, const tsr_node *args, tsr_node *results, void *context) {
  (void)context;
  results[0] = tsr_build_add(b, args[0], tsr_build_splat(b, TSR_I32, TSR_SCALAR, 1));
  results[1] = tsr_build_add(b, args[1], args[1]);
}
static void while_loop(tsr_builder *b) {
  tsr_node last[2];
  const tsr_node x = F32(4), zero = tsr_build_splat(b, TSR_I32, TSR_SCALAR, 0);
  tsr_build_while(b, LIST(zero, x), 2, below_five, doubled, NULL, last);
  OUT(last[1]);
}

static void tanh_of(tsr_builder *b, const tsr_node *args, tsr_node *results, void *context) {
  (void)args;
  results[0] = tsr_build_unary(b, "tanh", *(const tsr_node *)context);
}
static void sine_of(tsr_builder *b, const tsr_node *args, tsr_node *results, void *context) {
  (void)args;
  results[0] = tsr_build_unary(b, "sine", *(const tsr_node *)context);
}
static void branches(tsr_builder *b) {
  const tsr_node p = tsr_build_parameter(b, NULL, TSR_BOOL, TSR_SCALAR, NULL);
  const tsr_node i = tsr_build_parameter(b, NULL, TSR_I32, TSR_SCALAR, NULL);
  tsr_node x = F32(4), y, z;
  tsr_build_if(b, p, tanh_of, sine_of, &x, &y, 1);
  tsr_build_case(b, i, (tsr_build_fn *[]){tanh_of, sine_of}, 2, &y, &z, 1);
  OUT(z);
}

static void running_sum(tsr_builder *b, const tsr_node *args, tsr_node *results, void *context) {
  (void)context;
  results[0] = results[1] = tsr_build_add(b, args[0], args[1]);
}
static void scan(tsr_builder *b) {
  const tsr_node xs = F32(3, 4);
  tsr_node results[2];
  tsr_build_scan(b, LIST(F32(4)), 1, &xs, 1, 1, running_sum, NULL, NULL, results);
  OUT(results[0]);
  OUT(results[1]);
}
static void square(tsr_builder *b, const tsr_node *args, tsr_node *results, void *context) {
  (void)context;
  results[0] = tsr_build_multiply(b, args[0], args[0]);
}
static void scan_of_length(tsr_builder *b) {
  tsr_scan_options options = TSR_SCAN_OPTIONS;
  options.length = 3;
  options.reverse = true;
  tsr_node result;
  tsr_build_scan(b, LIST(F32(4)), 1, NULL, 0, 0, square, NULL, &options, &result);
  OUT(result);
}

static void first_largest(tsr_builder *b, const tsr_node *args, tsr_node *results, void *context) {
  (void)context;
  const tsr_node first = tsr_build_compare(b, "GE", args[0], args[2]);
  results[0] = tsr_build_select(b, first, args[0], args[2]);
  results[1] = tsr_build_select(b, first, args[1], args[3]);
}
static void argmax(tsr_builder *b) {
  const tsr_node least = tsr_build_splat(b, TSR_F32, TSR_SCALAR, -1e30);
  const tsr_node zero = tsr_build_splat(b, TSR_I32, TSR_SCALAR, 0);
  tsr_node results[2];
  const tsr_node x = F32(4, 3), i = tsr_build_iota(b, TSR_I32, TSR_SHAPE(4, 3), 1);
  tsr_build_reduce_with(b, LIST(x, i), LIST(least, zero), 2, TSR_DIMS(1), first_largest, NULL,
                        results);
  OUT(results[0]);
  OUT(results[1]);
}
static void barrier(tsr_builder *b) {
  tsr_node both[2];
  const tsr_node x = F32(4), y = I32(3);
  tsr_build_barrier(b, LIST(x, y), 2, both);
  OUT(both[1]);
}

static const struct {
  build_fn *build;
  const char *body;
} cases[] = {
    {while_loop,
     "%c = stablehlo.constant dense<0> : tensor<i32>\n"
     "%0:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0) : tensor<i32>, "
     "tensor<4xf32>\n"
     "cond {\n"
     "%c_1 = stablehlo.constant dense<5> : tensor<i32>\n"
     "%1 = stablehlo.compare LT, %iterArg, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> "
     "tensor<i1>\n"
     "stablehlo.return %1 : tensor<i1>\n"
     "} do {\n"
     "%c_1 = stablehlo.constant dense<1> : tensor<i32>\n"
     "%1 = stablehlo.add %iterArg, %c_1 : tensor<i32>\n"
     "%2 = stablehlo.add %iterArg_0, %iterArg_0 : tensor<4xf32>\n"
     "stablehlo.return %1, %2 : tensor<i32>, tensor<4xf32>\n"
     "}\n"
     "return %0#1 : tensor<4xf32>\n"},
    {branches,
     "%0 = \"stablehlo.if\"(%arg0) ({\n"
     "%2 = stablehlo.tanh %arg2 : tensor<4xf32>\n"
     "stablehlo.return %2 : tensor<4xf32>\n"
     "}, {\n"
     "%2 = stablehlo.sine %arg2 : tensor<4xf32>\n"
     "stablehlo.return %2 : tensor<4xf32>\n"
     "}) : (tensor<i1>) -> tensor<4xf32>\n"
     "%1 = \"stablehlo.case\"(%arg1) ({\n"
     "%2 = stablehlo.tanh %0 : tensor<4xf32>\n"
     "stablehlo.return %2 : tensor<4xf32>\n"
     "}, {\n"
     "%2 = stablehlo.sine %0 : tensor<4xf32>\n"
     "stablehlo.return %2 : tensor<4xf32>\n"
     "}) : (tensor<i32>) -> tensor<4xf32>\n"
     "return %1 : tensor<4xf32>\n"},
    {scan,
     "%c = stablehlo.constant dense<0> : tensor<i32>\n"
     "%cst = stablehlo.constant dense<0.000000e+00> : tensor<3x4xf32>\n"
     "%0:3 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg1, %iterArg_1 = %cst) : "
     "tensor<i32>, tensor<4xf32>, tensor<3x4xf32>\n"
     "cond {\n"
     "%c_2 = stablehlo.constant dense<3> : tensor<i32>\n"
     "%1 = stablehlo.compare LT, %iterArg, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> "
     "tensor<i1>\n"
     "stablehlo.return %1 : tensor<i1>\n"
     "} do {\n"
     "%1 = stablehlo.dynamic_slice %arg0, %iterArg, %c, sizes = [1, 4] : (tensor<3x4xf32>, "
     "tensor<i32>, tensor<i32>) -> tensor<1x4xf32>\n"
     "%2 = stablehlo.reshape %1 : (tensor<1x4xf32>) -> tensor<4xf32>\n"
     "%3 = stablehlo.add %iterArg_0, %2 : tensor<4xf32>\n"
     "%c_2 = stablehlo.constant dense<1> : tensor<i32>\n"
     "%4 = stablehlo.add %iterArg, %c_2 : tensor<i32>\n"
     "%5 = stablehlo.reshape %3 : (tensor<4xf32>) -> tensor<1x4xf32>\n"
     "%6 = stablehlo.dynamic_update_slice %iterArg_1, %5, %iterArg, %c : (tensor<3x4xf32>, "
     "tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>\n"
     "stablehlo.return %4, %3, %6 : tensor<i32>, tensor<4xf32>, tensor<3x4xf32>\n"
     "}\n"
     "return %0#1, %0#2 : tensor<4xf32>, tensor<3x4xf32>\n"},
    {scan_of_length,
     "%c = stablehlo.constant dense<0> : tensor<i32>\n"
     "%0:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0) : tensor<i32>, "
     "tensor<4xf32>\n"
     "cond {\n"
     "%c_1 = stablehlo.constant dense<3> : tensor<i32>\n"
     "%1 = stablehlo.compare LT, %iterArg, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> "
     "tensor<i1>\n"
     "stablehlo.return %1 : tensor<i1>\n"
     "} do {\n"
     "%c_1 = stablehlo.constant dense<2> : tensor<i32>\n"
     "%1 = stablehlo.subtract %c_1, %iterArg : tensor<i32>\n"
     "%2 = stablehlo.multiply %iterArg_0, %iterArg_0 : tensor<4xf32>\n"
     "%c_2 = stablehlo.constant dense<1> : tensor<i32>\n"
     "%3 = stablehlo.add %iterArg, %c_2 : tensor<i32>\n"
     "stablehlo.return %3, %2 : tensor<i32>, tensor<4xf32>\n"
     "}\n"
     "return %0#1 : tensor<4xf32>\n"},
    {argmax,
     "%cst = stablehlo.constant dense<-1.000000e+30> : tensor<f32>\n"
     "%c = stablehlo.constant dense<0> : tensor<i32>\n"
     "%0 = stablehlo.iota dim = 1 : tensor<4x3xi32>\n"
     "%1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : "
     "(tensor<4x3xf32>, tensor<4x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, "
     "tensor<4xi32>)\n"
     "reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: "
     "tensor<i32>)  {\n"
     "%2 = stablehlo.compare GE, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> "
     "tensor<i1>\n"
     "%3 = stablehlo.select %2, %arg1, %arg3 : tensor<i1>, tensor<f32>\n"
     "%4 = stablehlo.select %2, %arg2, %arg4 : tensor<i1>, tensor<i32>\n"
     "stablehlo.return %3, %4 : tensor<f32>, tensor<i32>\n"
     "}\n"
     "return %1#0, %1#1 : tensor<4xf32>, tensor<4xi32>\n"},
    {barrier,
     "%0:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<4xf32>, tensor<3xi32>\n"
     "return %0#1 : tensor<3xi32>\n"},
};

static void regions_print_as_stablehlo(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) expect_body(cases[i].build, cases[i].body);
}

// ---- wrong regions ----

static void nothing(tsr_builder *b, const tsr_node *args, tsr_node *results, void *context) {
  (void)b, (void)args, (void)results, (void)context;
}
static void result_missing(tsr_builder *b) {
  tsr_node y;
  tsr_build_if(b, tsr_build_parameter(b, NULL, TSR_BOOL, TSR_SCALAR, NULL), nothing, nothing, NULL,
               &y, 1);
}
static void converted(tsr_builder *b, const tsr_node *args, tsr_node *results, void *context) {
  (void)context;
  results[0] = tsr_build_convert(b, args[0], TSR_F16);
}
static void carry_of_other_type(tsr_builder *b) {
  tsr_scan_options options = TSR_SCAN_OPTIONS;
  options.length = 3;
  tsr_node y;
  tsr_build_scan(b, LIST(F32(4)), 1, NULL, 0, 0, converted, NULL, &options, &y);
}
static void steps_missing(tsr_builder *b) {
  tsr_node y;
  tsr_build_scan(b, LIST(F32(4)), 1, NULL, 0, 0, converted, NULL, NULL, &y);
}
static void inputs_of_two_lengths(tsr_builder *b) {
  tsr_node y;
  const tsr_node three = F32(3, 4), four = F32(4, 4);
  tsr_build_scan(b, NULL, 0, LIST(three, four), 2, 1, running_sum, NULL, NULL, &y);
}
static void begins_a_function(tsr_builder *b, const tsr_node *args, tsr_node *results,
                              void *context) {
  (void)args, (void)results, (void)context;
  tsr_build_begin_function(b, "f");
}
static void function_in_region(tsr_builder *b) {
  tsr_node y;
  tsr_build_scan(b, LIST(F32(4)), 1, LIST(F32(3, 4)), 1, 0, begins_a_function, NULL, NULL, &y);
}
static void asks_for_a_parameter(tsr_builder *b, const tsr_node *args, tsr_node *results,
                                 void *context) {
  (void)args, (void)context;
  results[0] = F32(4);
}
static void parameter_in_region(tsr_builder *b) {
  tsr_node y;
  tsr_build_scan(b, LIST(F32(4)), 1, LIST(F32(3, 4)), 1, 0, asks_for_a_parameter, NULL, NULL, &y);
}
static void wrong_inside(tsr_builder *b, const tsr_node *args, tsr_node *results, void *context) {
  (void)context;
  results[0] = tsr_build_add(b, args[0], tsr_build_splat(b, TSR_F16, TSR_SCALAR, 1));
}
static void failure_inside(tsr_builder *b) {
  tsr_node y;
  tsr_build_scan(b, LIST(F32(4)), 1, LIST(F32(3, 4)), 1, 0, wrong_inside, NULL, NULL, &y);
  assert_int_equal(y.id, 0);
  OUT(y);
}
static void deeper(tsr_builder *b, const tsr_node *args, tsr_node *results, void *context) {
  (void)args;
  if (!tsr_builder_failed(b))
    tsr_build_if(b, *(const tsr_node *)context, deeper, deeper, context, results, 1);
}
static void nested_too_deep(tsr_builder *b) {
  tsr_node p = tsr_build_parameter(b, NULL, TSR_BOOL, TSR_SCALAR, NULL), y;
  tsr_build_if(b, p, deeper, deeper, &p, &y, 1);
}

static const struct {
  build_fn *build;
  tsr_cause cause;
  const char *message;
} wrong[] = {
    {result_missing, TSR_CAUSE_BAD_ARGUMENT,
     "call 2, if: results of a region: operand 0 is no value"},
    {carry_of_other_type, TSR_CAUSE_CONSTRAINT,
     "call 2, scan: carry 0: the body makes and gets tensor<4xf16> and tensor<4xf32>, expected "
     "equal types"},
    {steps_missing, TSR_CAUSE_BAD_ARGUMENT, "call 2, scan: 0 steps, expected 1 to 2147483647"},
    {inputs_of_two_lengths, TSR_CAUSE_CONSTRAINT, "call 3, scan: input 1 has 4 steps, expected 3"},
    {function_in_region, TSR_CAUSE_BAD_ARGUMENT,
     "call 4, begin_function: a function cannot begin in a region"},
    {parameter_in_region, TSR_CAUSE_BAD_ARGUMENT,
     "call 4, parameter: a region has no parameters, only functions have"},
    {failure_inside, TSR_CAUSE_CONSTRAINT,
     "call 5, add: operands have dtypes f32 and f16, expected the same dtype"},
    {nested_too_deep, TSR_CAUSE_TOO_LARGE, "call 258, if: regions are nested more than 256 deep"},
};

static void wrong_regions_are_named(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(wrong); i++)
    expect_failure(wrong[i].build, wrong[i].cause, wrong[i].message);
}

SUITE(builder_control, TEST(regions_print_as_stablehlo), TEST(wrong_regions_are_named))
