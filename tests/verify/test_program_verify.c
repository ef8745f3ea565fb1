// The driver: structure, places, several violations in one failure, and what runs out.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op_cases.h"
#include "syntax/syntax.h"
#include "verify/verify.h"

static const struct {
  const char *text;
  tsr_cause cause;
  const char *message;
} programs[] = {
    {"", TSR_CAUSE_NONE, ""},
    {"func.func @f(%a: tensor<f32>) { %0 = \"stablehlo.tanhh\"(%a) : (tensor<f32>) -> tensor<f32> "
     "return }",
     TSR_CAUSE_UNKNOWN_OP,
     "t:1:38: op \"stablehlo.tanhh\" is unknown; did you mean \"stablehlo.tanh\"?"},
    {"func.func @f(%a: tensor<f32>) { %0 = \"foo.bar\"(%a) : (tensor<f32>) -> tensor<f32> "
     "return }",
     TSR_CAUSE_UNKNOWN_OP, "t:1:38: op \"foo.bar\" is of the unknown dialect \"foo\""},
    {"func.func @f(%a: tensor<f32>) {\n  %0 = stablehlo.tanh %a : (tensor<f32>) -> tensor<2xf32>\n"
     "  %1 = stablehlo.abs %a : (tensor<f32>) -> tensor<f64>\n  return\n}",
     TSR_CAUSE_CONSTRAINT,
     "t:2:8: stablehlo.tanh: (C1) types tensor<f32> and tensor<2xf32> have different shapes\n"
     "t:3:8: stablehlo.abs: (C2) result 0 is tensor<f64>, expected tensor<f32>"},
    {"func.func @f(%a: tensor<f32>) {\n  \"func.return\"() : () -> ()\n  %0 = stablehlo.tanh %a : "
     "tensor<f32>\n}",
     TSR_CAUSE_CONSTRAINT,
     "t:1:1: func.func: a block ends with stablehlo.tanh, expected func.return\n"
     "t:2:3: func.return: stands before stablehlo.tanh, expected the end of the block"},
};

static void programs_are_checked_as_a_whole(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(programs); i++) {
    tsr_status status = verify_text(programs[i].text);
    assert_string_equal(tsr_status_text(status), programs[i].message);
    assert_int_equal(tsr_status_cause(status), programs[i].cause);
    tsr_status_free(status);
  }
}

static void later_violations_are_counted(void **state) {
  (void)state;
  char text[4096] = "func.func @f(%a: tensor<f32>) {\n";
  for (int i = 0; i < 25; i++) strcat(text, "stablehlo.tanh %a : (tensor<f32>) -> tensor<2xf32>\n");
  strcat(text, "return }\n");
  tsr_status status = verify_text(text);
  const char *message = tsr_status_text(status);
  assert_non_null(strstr(message, "t:21:1: stablehlo.tanh: (C1)"));
  assert_null(strstr(message, "t:22:1:"));
  assert_string_equal(strrchr(message, '\n'), "\nand 5 more");
  tsr_status_free(status);
}

// ---- programs that no reader gives

typedef struct made {
  tsr_ir *ir;
  tsr_ir_block *block;  // of the module
  const tsr_type *type;
} made;

static made make(void) {
  tsr_ir *ir = tsr_ir_create();
  return (made){ir, ir->module->regions[0].first, tsr_type_shaped(ir, TSR_F32, 0, NULL)};
}

static tsr_op *add_func(const made *m, tsr_ir_block *block, const char *name) {
  const tsr_named_attr attrs[] = {
      {tsr_ir_name(m->ir, "sym_name", 8), tsr_attr_string(m->ir, name, strlen(name))},
      {tsr_ir_name(m->ir, "function_type", 13),
       tsr_attr_type(m->ir, tsr_type_function(m->ir, NULL, 0, NULL, 0))}};
  tsr_op *func = tsr_op_create(
      m->ir,
      &(tsr_op_parts){.id = TSR_OP_FUNC, .region_count = 1, .attr_count = 2, .attrs = attrs});
  tsr_block_append(m->ir, &func->regions[0]);
  tsr_op_append(block, func);
  return func;
}

static tsr_op *add_op(const made *m, tsr_ir_block *block, tsr_op_id id, tsr_value *operand) {
  const bool ends = id == TSR_OP_FUNC_RETURN;
  tsr_op *op = tsr_op_create(m->ir, &(tsr_op_parts){.id = id,
                                                    .operand_count = operand ? 1 : 0,
                                                    .operands = &operand,
                                                    .result_count = ends ? 0 : 1,
                                                    .result_types = &m->type});
  tsr_op_append(block, op);
  return op;
}

static void values_are_defined_before_they_are_used(void **state) {
  (void)state;
  const made m = make();
  tsr_ir_block *body = add_func(&m, m.block, "f")->regions[0].first;
  tsr_value *arg = tsr_block_add_arg(m.ir, body, m.type, NULL);
  tsr_op *late = add_op(&m, body, TSR_OP_TANH, arg);
  tsr_op *early = add_op(&m, body, TSR_OP_ABS, tsr_op_result(late, 0));
  add_op(&m, body, TSR_OP_FUNC_RETURN, NULL);
  tsr_op_unlink(early);
  tsr_op_insert_before(late, early);
  assert_fails_with(tsr_verify(m.ir, "t"), CONSTRAINT,
                    "stablehlo.abs: operand 0 is used before it is defined");
  tsr_ir_destroy(m.ir);
}

static void isolated_ops_use_no_values_from_outside(void **state) {
  (void)state;
  const made m = make();
  tsr_ir_block *body = add_func(&m, m.block, "f")->regions[0].first;
  tsr_value *arg = tsr_block_add_arg(m.ir, body, m.type, NULL);
  tsr_ir_block *inner = add_func(&m, body, "g")->regions[0].first;
  add_op(&m, inner, TSR_OP_TANH, arg);
  add_op(&m, inner, TSR_OP_FUNC_RETURN, NULL);
  add_op(&m, body, TSR_OP_FUNC_RETURN, NULL);
  assert_fails_with(tsr_verify(m.ir, "t"), CONSTRAINT,
                    "stablehlo.tanh: operand 0 is defined outside of func.func, which is isolated");
  tsr_ir_destroy(m.ir);
}

static void values_of_other_regions_are_not_visible(void **state) {
  (void)state;
  const made m = make();
  tsr_ir_block *first = add_func(&m, m.block, "f")->regions[0].first;
  tsr_value *arg = tsr_block_add_arg(m.ir, first, m.type, NULL);
  add_op(&m, first, TSR_OP_FUNC_RETURN, NULL);
  tsr_ir_block *second = add_func(&m, m.block, "g")->regions[0].first;
  add_op(&m, second, TSR_OP_TANH, arg);
  add_op(&m, second, TSR_OP_FUNC_RETURN, NULL);
  assert_fails_with(tsr_verify(m.ir, "t"), CONSTRAINT,
                    "stablehlo.tanh: operand 0 is defined in a region that does not hold the op");
  tsr_ir_destroy(m.ir);
}

static void symbols_are_unique(void **state) {
  (void)state;
  const made m = make();
  for (int i = 0; i < 2; i++)
    add_op(&m, add_func(&m, m.block, "f")->regions[0].first, TSR_OP_FUNC_RETURN, NULL);
  assert_fails_with(tsr_verify(m.ir, "t"), CONSTRAINT, "func.func: symbol \"f\" is defined twice");
  tsr_ir_destroy(m.ir);
}

static void deep_nests_are_refused(void **state) {
  (void)state;
  const made m = make();
  tsr_ir_block *block = m.block;
  for (int i = 0; i < 300; i++) {
    tsr_op *inner = tsr_op_create(m.ir, &(tsr_op_parts){.id = TSR_OP_MODULE, .region_count = 1});
    tsr_op_append(block, inner);
    block = tsr_block_append(m.ir, &inner->regions[0]);
  }
  assert_fails_with(tsr_verify(m.ir, "t"), TOO_LARGE, "ops are nested more than 256 deep");
  tsr_ir_destroy(m.ir);
}

// Also where they are used: every op is looked at.
static void large_ranks_are_refused(void **state) {
  (void)state;
  made m = make();
  int64_t *dims = calloc(300, sizeof *dims);
  m.type = tsr_type_shaped(m.ir, TSR_F32, 300, dims);
  free(dims);
  tsr_ir_block *body = add_func(&m, m.block, "f")->regions[0].first;
  tsr_value *arg = tsr_block_add_arg(m.ir, body, m.type, NULL);
  tsr_op *op = add_op(&m, body, TSR_OP_TANH, arg);
  add_op(&m, body, TSR_OP_FUNC_RETURN, NULL);
  tsr_inferred inferred = {NULL, 0};
  assert_fails(tsr_infer_op(m.ir, op, &inferred), TOO_LARGE,
               "stablehlo.tanh: rank 300 of a tensor, expected at most 256");
  assert_fails(tsr_verify(m.ir, "t"), TOO_LARGE,
               "func.func: rank 300 of a tensor, expected at most 256\n"
               "stablehlo.tanh: rank 300 of a tensor, expected at most 256");
  tsr_ir_destroy(m.ir);
}

static void bounds_belong_to_unknown_sizes(void **state) {
  (void)state;
  static const struct {
    int64_t size, bounds[2];
    int count;
    const char *message;
  } types[] = {
      {TSR_DYNAMIC, {2}, 1, ""},
      {2,
       {2},
       1,
       "func.func: dimension 0 of tensor<2xf32, #stablehlo.bounds<2>> has a size and a bound, "
       "expected one of them"},
      {TSR_DYNAMIC,
       {2, 3},
       2,
       "func.func: tensor<?xf32, #stablehlo.bounds<2, 3>> has 2 bounds, expected 1"},
  };
  for (size_t i = 0; i < COUNT_OF(types); i++) {
    made m = make();
    const tsr_attr *bounds = tsr_attr_ints(m.ir, types[i].bounds, types[i].count);
    m.type = tsr_type_tensor(m.ir, m.type->element, 1, &types[i].size,
                             tsr_attr_record(m.ir, TSR_RECORD_BOUNDS, &bounds));
    tsr_op *func = add_func(&m, m.block, "f");
    const tsr_type *type = tsr_type_function(m.ir, &m.type, 1, NULL, 0);
    tsr_op_set_attr(m.ir, func, tsr_ir_name(m.ir, "function_type", 13), tsr_attr_type(m.ir, type));
    tsr_block_add_arg(m.ir, func->regions[0].first, m.type, NULL);
    add_op(&m, func->regions[0].first, TSR_OP_FUNC_RETURN, NULL);
    tsr_status status = tsr_verify(m.ir, "t");
    assert_string_equal(tsr_status_text(status), types[i].message);
    tsr_status_free(status);
    tsr_ir_destroy(m.ir);
  }
}

// ---- memory

static tsr_status read_and_verify(void *context) {
  const char *text = context;
  tsr_ir *ir = tsr_ir_create();
  if (!ir) return tsr_fail(NO_MEMORY, "program");
  tsr_status status = tsr_syntax_read(ir, "t", text, strlen(text));
  if (!status) status = tsr_verify(ir, "t");
  tsr_ir_destroy(ir);
  if (tsr_status_cause(status) != TSR_CAUSE_CONSTRAINT) return status;
  tsr_status_free(status);
  return NULL;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  char good[] =
      "func.func @f(%a: tensor<?x3xf32>, %b: tensor<2x3xf32>) -> tensor<2xf32> {\n"
      "  %0 = stablehlo.add %a, %b : (tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>\n"
      "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : "
      "(tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>\n  return %1 : tensor<2xf32>\n}";
  char bad[] =
      "func.func @f(%a: tensor<2x3xf32>) {\n"
      "  %0 = stablehlo.transpose %a, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>\n"
      "  return\n}";
  test_allocation_sweep(read_and_verify, good);
  test_allocation_sweep(read_and_verify, bad);
}

SUITE(program_verify, TEST(programs_are_checked_as_a_whole), TEST(later_violations_are_counted),
      TEST(values_are_defined_before_they_are_used), TEST(isolated_ops_use_no_values_from_outside),
      TEST(values_of_other_regions_are_not_visible), TEST(symbols_are_unique),
      TEST(deep_nests_are_refused), TEST(large_ranks_are_refused),
      TEST(bounds_belong_to_unknown_sizes), TEST(running_out_of_memory_is_reported))
