// Wrong uses: one failure, reported at the end, that names the call, the op and both values.
#include "builder/build.h"

// ---- elementwise ----

static void add_of_two_dtypes(tsr_builder *b) {
  const tsr_node x = F32(4), y = tsr_build_parameter(b, NULL, TSR_BF16, TSR_SHAPE(4), NULL);
  OUT(tsr_build_add(b, x, y));
}
static void add_of_two_shapes(tsr_builder *b) {
  const tsr_node x = F32(4, 3), y = F32(4);
  OUT(tsr_build_add(b, x, y));
}
static void op_misspelt(tsr_builder *b) { OUT(tsr_build_unary(b, "exponental", F32(4))); }
static void binary_as_unary(tsr_builder *b) { OUT(tsr_build_unary(b, "add", F32(4))); }
static void direction_unknown(tsr_builder *b) { OUT(tsr_build_compare(b, "<", F32(4), F32(4))); }
static void splat_not_exact(tsr_builder *b) { OUT(tsr_build_splat(b, TSR_I8, TSR_SHAPE(2), 200)); }
static void dtype_unknown(tsr_builder *b) {
  OUT(tsr_build_parameter(b, "x", (tsr_dtype)99, TSR_SHAPE(2), NULL));
}
static void size_negative(tsr_builder *b) { OUT(F32(4, -1)); }
static void tanh_of_integers(tsr_builder *b) { OUT(tsr_build_unary(b, "tanh", I32(4))); }

// ---- nodes ----

static void node_zero(tsr_builder *b) { OUT(tsr_build_add(b, F32(4), TSR_NO_NODE)); }
static void node_of_another_builder(tsr_builder *b) {
  OUT(tsr_build_add(b, F32(4), (tsr_node){77}));
}
static void node_of_another_function(tsr_builder *b) {
  const tsr_node x = F32(4);
  tsr_build_begin_function(b, "f");
  OUT(tsr_build_unary(b, "tanh", x));
  tsr_build_end_function(b);
}
static tsr_node escaped;
static void escape(tsr_builder *b, const tsr_node *args, tsr_node *results, void *context) {
  (void)args, (void)context;
  escaped = results[0] = tsr_build_splat(b, TSR_F32, TSR_SCALAR, 1);
}
static void node_of_closed_region(tsr_builder *b) {
  const tsr_node p = tsr_build_parameter(b, NULL, TSR_BOOL, TSR_SCALAR, NULL);
  tsr_node result;
  tsr_build_if(b, p, escape, escape, NULL, &result, 1);
  OUT(tsr_build_unary(b, "tanh", escaped));
}

// ---- shapes ----

static void dim_out_of_range(tsr_builder *b) { OUT(tsr_build_softmax(b, F32(4, 3), 2)); }
static void dim_of_scalar(tsr_builder *b) {
  OUT(tsr_build_reduce(b, "add", tsr_build_splat(b, TSR_F32, TSR_SCALAR, 1), TSR_DIMS(0), false));
}
static void dim_twice(tsr_builder *b) {
  OUT(tsr_build_reduce(b, "add", F32(4, 3), TSR_DIMS(1, -1), false));
}
static void reshape_of_other_count(tsr_builder *b) {
  OUT(tsr_build_reshape(b, F32(4, 3), TSR_SHAPE(5, -1)));
}
static void reshape_open_twice(tsr_builder *b) {
  OUT(tsr_build_reshape(b, F32(4, 3), TSR_SHAPE(-1, -1)));
}
static void broadcast_to_fewer(tsr_builder *b) {
  OUT(tsr_build_broadcast(b, F32(4, 3), TSR_SHAPE(3), NULL));
}
static void transpose_of_one_dim(tsr_builder *b) {
  OUT(tsr_build_transpose(b, F32(4, 3), TSR_DIMS(1)));
}
static void slice_starts(tsr_builder *b) {
  OUT(tsr_build_slice(b, F32(4, 3), TSR_DIMS(0), TSR_DIMS(1, 1), NULL));
}
static void concatenate_nothing(tsr_builder *b) {
  OUT(tsr_build_concatenate(b, LIST(F32(4)), 0, 0));
}
static void kind_unknown(tsr_builder *b) {
  OUT(tsr_build_reduce(b, "sum", F32(4, 3), NULL, false));
}
static void max_of_complex(tsr_builder *b) {
  OUT(tsr_build_reduce(b, "max", tsr_build_parameter(b, NULL, TSR_C64, TSR_SHAPE(3), NULL), NULL,
                       false));
}
static void and_of_floats(tsr_builder *b) {
  OUT(tsr_build_reduce(b, "and", F32(4, 3), NULL, false));
}
static void softmax_of_integers(tsr_builder *b) { OUT(tsr_build_softmax(b, I32(4), 0)); }
static void dot_lists_differ(tsr_builder *b) {
  tsr_dot_options options = TSR_DOT_OPTIONS;
  options.x_contract = TSR_DIMS(1);
  OUT(tsr_build_dot_general(b, F32(4, 3), F32(3, 4), &options));
}
static void precision_unknown(tsr_builder *b) {
  tsr_dot_options options = TSR_DOT_OPTIONS;
  options.x_contract = TSR_DIMS(1);
  options.y_contract = TSR_DIMS(0);
  options.precision = "BEST";
  OUT(tsr_build_dot_general(b, F32(4, 3), F32(3, 4), &options));
}
static void attention_heads(tsr_builder *b) {
  OUT(tsr_build_attention(b, F32(8, 4, 2), F32(8, 3, 2), F32(8, 3, 2), NULL));
}
static void options_not_initialised(tsr_builder *b) {
  const tsr_attention_options options = {.causal = true};
  OUT(tsr_build_attention(b, F32(8, 4, 2), F32(8, 4, 2), F32(8, 4, 2), &options));
}

// ---- functions, meshes, specs ----

static void function_open(tsr_builder *b) { tsr_build_begin_function(b, "f"); }
static void function_in_function(tsr_builder *b) {
  tsr_build_begin_function(b, "f");
  tsr_build_begin_function(b, "g");
}
static void function_twice(tsr_builder *b) {
  tsr_build_begin_function(b, "f");
  tsr_build_end_function(b);
  tsr_build_begin_function(b, "f");
}
static void function_without_name(tsr_builder *b) { tsr_build_begin_function(b, ""); }
static void function_not_begun(tsr_builder *b) { tsr_build_end_function(b); }
static void callee_unknown(tsr_builder *b) { tsr_build_call(b, "f", NULL, 0, NULL, 0); }
static void define_f(tsr_builder *b) {
  tsr_build_begin_function(b, "f");
  OUT(F32(4));
  tsr_build_end_function(b);
}
static void callee_open(tsr_builder *b) {
  tsr_build_begin_function(b, "f");
  tsr_build_call(b, "f", NULL, 0, NULL, 0);
}
static void call_of_other_type(tsr_builder *b) {
  define_f(b);
  tsr_node result;
  tsr_build_call(b, "f", LIST(F32(5)), 1, &result, 1);
}
static void call_of_other_count(tsr_builder *b) {
  define_f(b);
  tsr_node results[2];
  tsr_build_call(b, "f", LIST(F32(4)), 1, results, 2);
}
static void mesh_missing(tsr_builder *b) {
  tsr_parameter_options options = TSR_PARAMETER_OPTIONS;
  options.spec = "data";
  (void)tsr_build_parameter(b, "x", TSR_F32, TSR_SHAPE(4), &options);
}
static void declare_mesh(tsr_builder *b) {
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_parse("data=2,model=2", NULL, &mesh));
  tsr_build_mesh(b, NULL, mesh);
  tsr_mesh_release(mesh);
}
static void mesh_twice(tsr_builder *b) {
  declare_mesh(b);
  declare_mesh(b);
}
static void axis_unknown(tsr_builder *b) {
  declare_mesh(b);
  OUT(tsr_build_constrain(b, F32(4), "dada"));
}
static void spec_too_long(tsr_builder *b) {
  declare_mesh(b);
  OUT(tsr_build_constrain(b, F32(4), "data, model"));
}
static void output_taken_twice(tsr_builder *b) {
  const tsr_node x = F32(4);
  tsr_output_options options = TSR_OUTPUT_OPTIONS;
  options.takes = x;
  tsr_build_output(b, x, NULL, &options);
  tsr_build_output(b, x, "again", &options);
}
static void output_takes_other_type(tsr_builder *b) {
  tsr_output_options options = TSR_OUTPUT_OPTIONS;
  options.takes = F32(4);
  tsr_build_output(b, F32(5), NULL, &options);
}
static void output_takes_a_result(tsr_builder *b) {
  tsr_output_options options = TSR_OUTPUT_OPTIONS;
  const tsr_node x = F32(4);
  options.takes = tsr_build_unary(b, "tanh", x);
  tsr_build_output(b, x, NULL, &options);
}

// ---- counts and lists ----

static void operands_negative(tsr_builder *b) {
  OUT(tsr_build_op(b, "tuple", LIST(F32(4)), -1, NULL));
}
static void operands_null(tsr_builder *b) { OUT(tsr_build_op(b, "tanh", NULL, 1, NULL)); }
static void results_negative(tsr_builder *b) {
  tsr_build_barrier(b, LIST(F32(4)), -1, LIST(TSR_NO_NODE));
}
static void results_null(tsr_builder *b) { tsr_build_barrier(b, LIST(F32(4)), 1, NULL); }
static void starts_null(tsr_builder *b) {
  OUT(tsr_build_dynamic_slice(b, F32(4), NULL, TSR_SHAPE(1)));
}
static void arguments_null(tsr_builder *b) {
  define_f(b);
  tsr_node result;
  tsr_build_call(b, "f", NULL, 1, &result, 1);
}
static void list_too_long(tsr_builder *b) {
  const tsr_shape long_list = {.rank = 33};
  OUT(tsr_build_reduce(b, "add", F32(4), &long_list, false));
}
static void data_null(tsr_builder *b) { OUT(tsr_build_constant(b, TSR_F32, TSR_SHAPE(2), NULL)); }

// ---- any op ----

static void op_operands(tsr_builder *b) { OUT(tsr_build_op(b, "clamp", LIST(F32(4)), 1, NULL)); }
static void op_regions(tsr_builder *b) { OUT(tsr_build_op(b, "sort", LIST(F32(4)), 1, NULL)); }
static void op_terminator(tsr_builder *b) {
  (void)tsr_build_op(b, "stablehlo.return", LIST(F32(4)), 1, NULL);
}
static void op_types_missing(tsr_builder *b) {
  OUT(tsr_build_op(b, "reshape", LIST(F32(4)), 1, NULL));
}
static void result_out_of_range(tsr_builder *b) {
  OUT(tsr_build_result(b, tsr_build_unary(b, "tanh", F32(4)), 1));
}

#define CASE(build, cause, message) \
  { #build, build, TSR_CAUSE_##cause, message }
static const struct {
  const char *name;
  build_fn *build;
  tsr_cause cause;
  const char *message;
} cases[] = {
    CASE(add_of_two_dtypes, CONSTRAINT,
         "call 3, add: operands have dtypes f32 and bf16, expected the same dtype"),
    CASE(add_of_two_shapes, CONSTRAINT,
         "call 3, add: operands have shapes (4, 3) and (4,), which do not broadcast to one shape"),
    CASE(op_misspelt, UNKNOWN_OP,
         "call 2, exponental: there is no op \"exponental\"; did you mean \"exponential\"?"),
    CASE(binary_as_unary, BAD_ARGUMENT,
         "call 2, add: stablehlo.add is no elementwise op of one operand"),
    CASE(direction_unknown, BAD_ARGUMENT,
         "call 3, compare: direction \"<\", expected EQ, NE, GE, GT, LE or LT"),
    CASE(splat_not_exact, BAD_ARGUMENT, "call 1, splat: 200 is not a value of dtype i8"),
    CASE(dtype_unknown, UNKNOWN_DTYPE,
         "call 1, parameter: \"x\": dtype 99, expected one of TSR_BOOL to TSR_C128"),
    CASE(size_negative, BAD_ARGUMENT,
         "call 1, parameter: dimension 1 has size -1, wanted 0 or more"),
    CASE(node_zero, BAD_ARGUMENT, "call 2, add: operand 1 is no value"),
    CASE(node_of_another_builder, BAD_ARGUMENT,
         "call 2, add: operand 1 is node 77, expected 1 to 1"),
    CASE(node_of_another_function, BAD_ARGUMENT,
         "call 3, tanh: operand 0 is a value of another function or region, expected one of this "
         "region or of those around it"),
    CASE(node_of_closed_region, BAD_ARGUMENT,
         "call 5, tanh: operand 0 is a value of another function or region, expected one of this "
         "region or of those around it"),
    CASE(dim_out_of_range, INDEX_OUT_OF_RANGE,
         "call 2, softmax: reduce: dimension 2, expected -2 to 1"),
    CASE(dim_of_scalar, INDEX_OUT_OF_RANGE, "call 2, reduce: dimension 0 of a scalar"),
    CASE(dim_twice, BAD_ARGUMENT, "call 2, reduce: dimension 1 is listed twice"),
    CASE(reshape_of_other_count, CONSTRAINT,
         "call 2, reshape: shape (4, 3) has not the number of elements of (5, -1)"),
    CASE(reshape_open_twice, BAD_ARGUMENT,
         "call 2, reshape: two sizes are -1, expected at most one"),
    CASE(broadcast_to_fewer, CONSTRAINT,
         "call 2, broadcast: shape (4, 3) does not broadcast to (3,)"),
    CASE(transpose_of_one_dim, BAD_ARGUMENT, "call 2, transpose: 1 dimensions, expected 2"),
    CASE(slice_starts, BAD_ARGUMENT, "call 2, slice: 1 starts, expected 2"),
    CASE(concatenate_nothing, BAD_ARGUMENT, "call 2, concatenate: 0 operands, expected at least 1"),
    CASE(kind_unknown, BAD_ARGUMENT,
         "call 2, reduce: kind \"sum\", expected add, mul, max, min, and or or"),
    CASE(max_of_complex, CONSTRAINT, "call 2, reduce: values of dtype c64 have no order"),
    CASE(and_of_floats, CONSTRAINT, "call 2, reduce: values of dtype f32 have no logic"),
    CASE(softmax_of_integers, CONSTRAINT, "call 2, softmax: x has dtype i32, expected a float"),
    CASE(dot_lists_differ, BAD_ARGUMENT,
         "call 3, dot_general: 1 contracting dimensions of x and 0 of y"),
    CASE(precision_unknown, BAD_ARGUMENT,
         "call 3, dot_general: precision \"BEST\", expected DEFAULT, HIGH or HIGHEST"),
    CASE(attention_heads, CONSTRAINT,
         "call 4, attention: 4 heads of queries, expected a multiple of the 3 of keys"),
    CASE(options_not_initialised, BAD_ARGUMENT,
         "call 4, attention: tsr_attention_options has size 0, wanted 32: initialise it with "
         "TSR_ATTENTION_OPTIONS"),
    CASE(function_open, BAD_ARGUMENT, "function \"f\" has not ended"),
    CASE(function_in_function, BAD_ARGUMENT,
         "call 2, begin_function: function \"f\" has not ended"),
    CASE(function_twice, BAD_ARGUMENT,
         "call 3, begin_function: there is already a function or mesh \"f\""),
    CASE(function_without_name, BAD_ARGUMENT,
         "call 1, begin_function: the name of the function is empty"),
    CASE(function_not_begun, BAD_ARGUMENT, "call 1, end_function: no function has begun"),
    CASE(callee_unknown, UNKNOWN_SYMBOL, "call 1, call: there is no function \"f\""),
    CASE(callee_open, BAD_ARGUMENT, "call 2, call: function \"f\" has not ended"),
    CASE(call_of_other_type, CONSTRAINT,
         "call 6, call: function \"f\": operand 0: value and parameter have types tensor<5xf32> "
         "and tensor<4xf32>, expected equal types"),
    CASE(call_of_other_count, BAD_ARGUMENT,
         "call 6, call: function \"f\" has 1 outputs, expected 2"),
    CASE(mesh_missing, UNKNOWN_SYMBOL,
         "call 1, parameter: \"x\": spec \"data\": mesh \"mesh\" is not declared in this program"),
    CASE(mesh_twice, BAD_ARGUMENT, "call 2, mesh: there is already a function or mesh \"mesh\""),
    CASE(axis_unknown, UNKNOWN_MESH_AXIS,
         "call 3, constrain: spec \"dada\": dimension 0: axis \"dada\" is not in mesh {data=2, "
         "model=2}; did you mean \"data\"?"),
    CASE(spec_too_long, RANK_TOO_SMALL,
         "call 3, constrain: spec \"data, model\": the spec has 2 dimensions, expected at most 1"),
    CASE(output_taken_twice, BAD_ARGUMENT,
         "call 3, output: \"again\": parameter 0 is already taken by another output"),
    CASE(output_takes_other_type, CONSTRAINT,
         "call 3, output: the output and the parameter it takes have types tensor<5xf32> and "
         "tensor<4xf32>, expected equal types"),
    CASE(output_takes_a_result, BAD_ARGUMENT, "call 3, output: the value taken is not a parameter"),
    CASE(operands_negative, BAD_ARGUMENT, "call 2, tuple: -1 operands, expected at least 0"),
    CASE(operands_null, BAD_ARGUMENT, "call 1, tanh: the operands are NULL"),
    CASE(results_negative, BAD_ARGUMENT, "call 2, barrier: -1 results, expected at least 0"),
    CASE(results_null, BAD_ARGUMENT, "call 2, barrier: the results are NULL"),
    CASE(starts_null, BAD_ARGUMENT, "call 2, dynamic_slice: the starts are NULL"),
    CASE(arguments_null, BAD_ARGUMENT, "call 5, call: function \"f\": the operands are NULL"),
    CASE(list_too_long, BAD_ARGUMENT, "call 2, reduce: list of 33 numbers, expected 0 to 32"),
    CASE(data_null, BAD_ARGUMENT, "call 1, constant: data is NULL"),
    CASE(op_operands, BAD_ARGUMENT, "call 2, clamp: 1 operands, expected 3"),
    CASE(op_regions, BAD_ARGUMENT, "call 2, sort: 0 regions, expected 1"),
    CASE(op_terminator, BAD_ARGUMENT,
         "call 2, stablehlo.return: stablehlo.return is not an op of a function"),
    CASE(op_types_missing, BAD_ARGUMENT,
         "call 2, reshape: stablehlo.reshape: types of results do not follow from the operands, "
         "expected to be given"),
    CASE(result_out_of_range, INDEX_OUT_OF_RANGE,
         "call 3, result: result 1 of stablehlo.tanh, expected 0 to 0"),
};

static void wrong_uses_are_reported_at_the_end(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    print_message("%s\n", cases[i].name);
    expect_failure(cases[i].build, cases[i].cause, cases[i].message);
  }
}

// The constraint is named by the room verify.
static void an_op_is_checked_when_it_is_added(void **state) {
  (void)state;
  TSR_OWN(builder, b);
  TSR_OWN(program, program);
  assert_ok(tsr_builder_create(NULL, &b));
  tanh_of_integers(b);
  assert_fails_with(tsr_builder_finish(b, &program), CONSTRAINT,
                    "call 2, tanh: stablehlo.tanh: (I1) operand 0 is tensor<4xi32>");
}

SUITE(builder_wrong, TEST(wrong_uses_are_reported_at_the_end),
      TEST(an_op_is_checked_when_it_is_added))
