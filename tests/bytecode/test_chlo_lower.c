// CHLO ops as StableHLO: their bodies compute what the C library computes, and the forms are those
// that JAX's export writes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bytecode/bytecode.h"
#include "bytecode/chlo_lower.h"
#include "simplify/evaluate.h"
#include "support/test.h"
#include "tessera/own.h"

enum { POINTS = 41 };

// ---- programs of one op ----

// @main with one op of `operand_count` operands of `type`.
static tsr_ir *make(tsr_op_id id, tsr_dtype dtype, int64_t length, int operand_count,
                    tsr_dtype result_dtype) {
  tsr_ir *ir = tsr_ir_create();
  tsr_ir_block *module = ir->module->regions[0].first;
  if (!module) module = tsr_block_append(ir, &ir->module->regions[0]);
  const tsr_type *type = tsr_type_shaped(ir, dtype, 1, &length), *types[] = {type, type};
  if (length == TSR_DYNAMIC)
    types[0] = types[1] = type =
        tsr_type_tensor(ir, tsr_type_of_dtype(ir, dtype), 1, &length, NULL);
  const tsr_type *result =
      tsr_type_tensor(ir, tsr_type_of_dtype(ir, result_dtype), 1, &length, NULL);
  const tsr_named_attr attrs[] = {
      {tsr_ir_name(ir, "function_type", 13),
       tsr_attr_type(ir, tsr_type_function(ir, types, operand_count, &result, 1))},
      {tsr_ir_name(ir, "sym_name", 8), tsr_attr_string(ir, "main", 4)}};
  tsr_op *func = tsr_op_create(
      ir, &(tsr_op_parts){.id = TSR_OP_FUNC, .region_count = 1, .attr_count = 2, .attrs = attrs});
  tsr_op_append(module, func);
  tsr_ir_block *body = tsr_block_append(ir, &func->regions[0]);
  tsr_value *operands[2] = {NULL};
  for (int i = 0; i < operand_count; i++) operands[i] = tsr_block_add_arg(ir, body, type, NULL);
  tsr_op *op = tsr_op_create(ir, &(tsr_op_parts){.id = id,
                                                 .operand_count = operand_count,
                                                 .operands = operands,
                                                 .result_count = 1,
                                                 .result_types = &result});
  tsr_op_append(body, op);
  tsr_value *value = tsr_op_result(op, 0);
  tsr_op_append(body, tsr_op_create(ir, &(tsr_op_parts){.id = TSR_OP_FUNC_RETURN,
                                                        .operand_count = 1,
                                                        .operands = &value}));
  return ir;
}

// Where the op is computed after lowering: its decomposition, or @main.
static tsr_ir_block *computing_block(const tsr_ir *ir) {
  tsr_ir_block *body = tsr_func_body(tsr_ir_find_symbol(ir, "main"));
  if (body->first->info->id != TSR_OP_COMPOSITE) return body;
  const tsr_attr *symbol = tsr_op_attr(body->first, "decomposition");
  return tsr_func_body(tsr_ir_find_symbol(ir, symbol->bytes));
}

static const tsr_attr *constant_of(tsr_ir *ir, tsr_dtype dtype, const double *values,
                                   int64_t count) {
  float *narrow = tsr_ir_alloc(ir, sizeof *narrow * (size_t)count);
  double *wide = tsr_ir_alloc(ir, sizeof *wide * (size_t)count);
  for (int64_t i = 0; i < count; i++) narrow[i] = (float)values[i], wide[i] = values[i];
  const tsr_type *type = tsr_type_shaped(ir, dtype, 1, &count);
  return dtype == TSR_F32 ? tsr_attr_dense(ir, type, narrow, sizeof *narrow * (size_t)count)
                          : tsr_attr_dense(ir, type, wide, sizeof *wide * (size_t)count);
}

static double element_of(const tsr_attr *dense, tsr_dtype dtype, int64_t index) {
  float narrow = 0;
  double wide = 0;
  const char *bytes = tsr_attr_element(dense, index);
  if (dtype == TSR_F64) return memcpy(&wide, bytes, sizeof wide), wide;
  return memcpy(&narrow, bytes, sizeof narrow), (double)narrow;
}

// ---- values ----

static double square(double x) { return x * x; }
static double digamma(double x) {
  double sum = 0;
  for (; x < 20; x++) sum -= 1 / x;
  const double r = 1 / (x * x);
  return sum + log(x) - 0.5 / x - r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r / 240)));
}
static double bessel_i1e(double x) {
  double term = x / 2, sum = term;
  for (int k = 1; k < 200; k++) sum += term *= x * x / 4 / (k * (k + 1.0));
  return sum * exp(-fabs(x));
}
// By bisection of erf.
static double erf_inv(double y) {
  if (y == 0) return 0;
  double low = -6, high = 6;
  for (int i = 0; i < 200; i++) {
    const double middle = (low + high) / 2;
    if (erf(middle) < y)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static const struct {
  tsr_op_id id;
  double (*function)(double x);
  double low, high;
  double ulps;    // of the result that it may differ by
  double ulps64;  // the same for f64; 0 = f64 stays
} functions[] = {
    {TSR_OP_CHLO_ACOS, acos, -1, 1, 3, 3},
    {TSR_OP_CHLO_ACOSH, acosh, 1, 50, 4, 4},
    {TSR_OP_CHLO_ASIN, asin, -1, 1, 3, 3},
    {TSR_OP_CHLO_ASINH, asinh, -50, 50, 4, 4},
    {TSR_OP_CHLO_ATAN, atan, -50, 50, 2, 2},
    {TSR_OP_CHLO_ATANH, atanh, -0.95, 0.95, 4, 8},
    {TSR_OP_CHLO_BESSEL_I1E, bessel_i1e, -40, 40, 8, 16},
    {TSR_OP_CHLO_COSH, cosh, -80, 80, 4, 4},
    {TSR_OP_CHLO_DIGAMMA, digamma, 0.55, 40, 60, 200},
    {TSR_OP_CHLO_ERF, erf, -4, 4, 4, 4},
    {TSR_OP_CHLO_ERF_INV, erf_inv, -0.99, 0.99, 16, 0},
    {TSR_OP_CHLO_ERFC, erfc, -4, 8, 6, 12},
    {TSR_OP_CHLO_LGAMMA, lgamma, 3, 60, 12, 40},
    {TSR_OP_CHLO_SINH, sinh, -80, 80, 5, 5},
    {TSR_OP_CHLO_SQUARE, square, -9, 9, 1, 1},
    {TSR_OP_CHLO_TAN, tan, -1.5, 1.5, 2, 2},
};

// Within `ulps` units in the last place of the wanted value.
static void assert_near(const char *name, double x, double found, double wanted, double ulps,
                        int digits) {
  const double unit = ldexp(1, (wanted != 0 ? ilogb(wanted) : -126) - digits + 1);
  if (fabs(found - wanted) > ulps * unit)
    fail_msg("%s(%.17g) = %.17g, wanted %.17g: %.1f ulp", name, x, found, wanted,
             fabs(found - wanted) / unit);
}

static void check_function(size_t row, tsr_dtype dtype) {
  double points[POINTS];
  for (int i = 0; i < POINTS; i++) {
    points[i] = functions[row].low + (functions[row].high - functions[row].low) * i / (POINTS - 1);
    if (dtype == TSR_F32) points[i] = (double)(float)points[i];
  }
  tsr_ir *ir = make(functions[row].id, dtype, POINTS, 1, dtype);
  assert_ok(tsr_chlo_lower(ir));
  assert_false(tsr_chlo_is_used(ir));
  const tsr_attr *argument = constant_of(ir, dtype, points, POINTS), *result = NULL;
  bool known = false;
  assert_ok(tsr_evaluate_block(ir, computing_block(ir), &argument, NULL, &known, &result));
  assert_true(known);
  for (int i = 0; i < POINTS; i++)
    assert_near(tsr_op_info_of(functions[row].id)->name, points[i], element_of(result, dtype, i),
                functions[row].function(points[i]),
                dtype == TSR_F32 ? functions[row].ulps : functions[row].ulps64,
                dtype == TSR_F32 ? 24 : 53);
  tsr_ir_destroy(ir);
}

static void bodies_compute_what_the_c_library_does(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(functions); i++) {
    check_function(i, TSR_F32);
    if (functions[i].ulps64 > 0) check_function(i, TSR_F64);
  }
}

static void next_after_is_that_of_the_c_library(void **state) {
  (void)state;
  const double x[] = {0, -0.0, 1, 1, -1, 0, HUGE_VAL, 5e-324, 2.5, -3};
  const double y[] = {1, -1, 2, -2, 1, 0, 1, 0, 2.5, -HUGE_VAL};
  tsr_ir *ir = make(TSR_OP_CHLO_NEXT_AFTER, TSR_F64, COUNT_OF(x), 2, TSR_F64);
  assert_ok(tsr_chlo_lower(ir));
  const tsr_attr *arguments[] = {constant_of(ir, TSR_F64, x, COUNT_OF(x)),
                                 constant_of(ir, TSR_F64, y, COUNT_OF(y))};
  const tsr_attr *result = NULL;
  bool known = false;
  assert_ok(tsr_evaluate_block(ir, computing_block(ir), arguments, NULL, &known, &result));
  assert_true(known);
  for (size_t i = 0; i < COUNT_OF(x); i++)
    assert_true(element_of(result, TSR_F64, (int64_t)i) == nextafter(x[i], y[i]));
  tsr_ir_destroy(ir);
}

static void zeta_and_polygamma_have_their_known_values(void **state) {
  static const double pi = 3.14159265358979323846;
  (void)state;
  const struct {
    tsr_op_id id;
    double x, y, wanted;
  } cases[] = {{TSR_OP_CHLO_ZETA, 2, 1, pi * pi / 6},
               {TSR_OP_CHLO_ZETA, 4, 1, pi * pi * pi * pi / 90},
               {TSR_OP_CHLO_ZETA, 3, 0.5, 8.4143983221171599978},
               {TSR_OP_CHLO_POLYGAMMA, 0, 1, -0.57721566490153286061},
               {TSR_OP_CHLO_POLYGAMMA, 1, 1, pi * pi / 6},
               {TSR_OP_CHLO_POLYGAMMA, 2, 1, -2.4041138063191885708}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_ir *ir = make(cases[i].id, TSR_F64, 1, 2, TSR_F64);
    assert_ok(tsr_chlo_lower(ir));
    const tsr_attr *arguments[] = {constant_of(ir, TSR_F64, &cases[i].x, 1),
                                   constant_of(ir, TSR_F64, &cases[i].y, 1)};
    const tsr_attr *result = NULL;
    bool known = false;
    assert_ok(tsr_evaluate_block(ir, computing_block(ir), arguments, NULL, &known, &result));
    assert_true(known);
    assert_near(tsr_op_info_of(cases[i].id)->name, cases[i].x, element_of(result, TSR_F64, 0),
                cases[i].wanted, 16, 53);
    tsr_ir_destroy(ir);
  }
}

static void infinities_are_found(void **state) {
  static const struct {
    tsr_op_id id;
    const char *found;
  } cases[] = {{TSR_OP_CHLO_IS_INF, "\1\1\0\0"},
               {TSR_OP_CHLO_IS_POS_INF, "\1\0\0\0"},
               {TSR_OP_CHLO_IS_NEG_INF, "\0\1\0\0"}};
  (void)state;
  const double x[] = {HUGE_VAL, -HUGE_VAL, NAN, 1};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_ir *ir = make(cases[i].id, TSR_F32, COUNT_OF(x), 1, TSR_BOOL);
    assert_ok(tsr_chlo_lower(ir));
    const tsr_attr *argument = constant_of(ir, TSR_F32, x, COUNT_OF(x)), *result = NULL;
    bool known = false;
    assert_ok(tsr_evaluate_block(ir, computing_block(ir), &argument, NULL, &known, &result));
    assert_true(known);
    for (int64_t k = 0; k < (int64_t)COUNT_OF(x); k++)
      assert_int_equal(*tsr_attr_element(result, k), cases[i].found[k]);
    tsr_ir_destroy(ir);
  }
}

// ---- forms ----

static void two_ops_of_a_type_share_a_decomposition(void **state) {
  (void)state;
  tsr_ir *ir = make(TSR_OP_CHLO_ERF, TSR_BF16, 8, 1, TSR_BF16);
  tsr_ir_block *body = tsr_func_body(tsr_ir_find_symbol(ir, "main"));
  const tsr_type *type = body->args[0]->type;
  tsr_value *value = tsr_op_result(body->first, 0);
  tsr_op *second = tsr_op_create(ir, &(tsr_op_parts){.id = TSR_OP_CHLO_ERF,
                                                     .operand_count = 1,
                                                     .operands = &value,
                                                     .result_count = 1,
                                                     .result_types = &type});
  tsr_op_insert_before(body->last, second);
  assert_ok(tsr_chlo_lower(ir));
  assert_int_equal(body->first->info->id, TSR_OP_COMPOSITE);
  assert_int_equal(body->first->next->info->id, TSR_OP_COMPOSITE);
  assert_true(tsr_attr_is_string(tsr_op_attr(body->first, "name"), "chlo.erf"));
  assert_int_equal(tsr_op_int(body->first, "version", 0), 1);
  assert_true(tsr_attr_equal(tsr_op_attr(body->first, "decomposition"),
                             tsr_op_attr(body->first->next, "decomposition")));
  const tsr_op *decomposition = tsr_ir_find_symbol(ir, "chlo.erf.impl");
  assert_non_null(decomposition);
  assert_true(tsr_attr_is_string(tsr_op_attr(decomposition, "sym_visibility"), "private"));
  assert_int_equal(tsr_func_body(decomposition)->first->info->id, TSR_OP_CONVERT);  // to f32
  assert_null(decomposition->next);
  tsr_ir_destroy(ir);
}

static const struct {
  tsr_op_id id;
  tsr_dtype dtype;
  int64_t length;
  int operand_count;
  const char *message;
} kept[] = {
    {TSR_OP_CHLO_ERF_INV, TSR_F64, 4, 1, "func.func @main: chlo.erf_inv: "},
    {TSR_OP_CHLO_ASIN_ACOS_KERNEL, TSR_F32, 4, 1, "func.func @main: chlo._asin_acos_kernel: "},
    {TSR_OP_CHLO_COSH, TSR_C64, 4, 1, "func.func @main: chlo.cosh: "},
    {TSR_OP_CHLO_COSH, TSR_F32, TSR_DYNAMIC, 1, "func.func @main: chlo.cosh: "},
    {TSR_OP_CHLO_COSH, TSR_F32, 4, 0, "func.func @main: chlo.cosh: "},
};

static void other_ops_stay_and_are_refused_by_name(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(kept); i++) {
    TSR_OWN(text, artifact);
    tsr_ir *ir =
        make(kept[i].id, kept[i].dtype, kept[i].length, kept[i].operand_count, kept[i].dtype);
    assert_fails_with(tsr_bytecode_write(ir, NULL, &artifact), UNSUPPORTED, kept[i].message);
    assert_true(tsr_chlo_is_used(ir));
    tsr_ir_destroy(ir);
  }
}

static void writing_leaves_the_program_as_it_is(void **state) {
  (void)state;
  TSR_OWN(text, artifact);
  tsr_ir *ir = make(TSR_OP_CHLO_SINH, TSR_F32, 4, 1, TSR_F32), *again = tsr_ir_create();
  assert_ok(tsr_bytecode_write(ir, NULL, &artifact));
  assert_int_equal(tsr_func_body(tsr_ir_find_symbol(ir, "main"))->first->info->id,
                   TSR_OP_CHLO_SINH);
  assert_ok(tsr_bytecode_read(again, "again", artifact.data, artifact.length));
  assert_int_equal(tsr_func_body(tsr_ir_find_symbol(again, "main"))->first->info->id,
                   TSR_OP_COMPOSITE);
  tsr_ir_destroy(ir);
  tsr_ir_destroy(again);
}

static tsr_status write_one(void *context) {
  tsr_text artifact = TSR_TEXT_EMPTY;
  tsr_status status = tsr_bytecode_write(context, NULL, &artifact);
  tsr_text_deinit(&artifact);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  static const tsr_op_id ids[] = {TSR_OP_CHLO_ACOSH, TSR_OP_CHLO_NEXT_AFTER, TSR_OP_CHLO_ERFC};
  for (size_t i = 0; i < COUNT_OF(ids); i++) {
    tsr_ir *ir = make(ids[i], TSR_F32, 4, tsr_op_info_of(ids[i])->operands, TSR_F32);
    test_allocation_sweep(write_one, ir);
    tsr_ir_destroy(ir);
  }
}

SUITE(chlo_lower, TEST(bodies_compute_what_the_c_library_does),
      TEST(next_after_is_that_of_the_c_library), TEST(zeta_and_polygamma_have_their_known_values),
      TEST(infinities_are_found), TEST(two_ops_of_a_type_share_a_decomposition),
      TEST(other_ops_stay_and_are_refused_by_name), TEST(writing_leaves_the_program_as_it_is),
      TEST(every_allocation_may_fail))
