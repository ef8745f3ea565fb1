// Forms: where values lie in the space of a group, through ops that move elements.
#include <stdio.h>
#include <string.h>

#include "lower/fuse_space.h"
#include "support/test.h"
#include "syntax/syntax.h"

static tsr_ir *read_ops(const char *text) {
  tsr_ir *ir = tsr_ir_create();
  assert_non_null(ir);
  assert_ok(tsr_syntax_read(ir, "test", text, strlen(text)));
  return ir;
}

// The form of the operand of the first op, for a space that splits as it is asked to.
static bool follow(const char *op, tsr_fuse_space *space, tsr_form *form) {
  char text[512];
  snprintf(text, sizeof text, "func.func @main(%%x: %s", op);
  tsr_ir *ir = read_ops(text);
  const tsr_op *first = tsr_func_body(tsr_ir_entry(ir))->first;
  *space = (tsr_fuse_space){1, {tsr_type_element_count(first->results[0].type)}};
  tsr_form from = tsr_form_row_major(space, 0, 1);
  tsr_fuse_split split;
  bool found = false;
  assert_true(tsr_op_only_moves(first));
  while (!(found = tsr_form_through(space, first, &from, form, &split)) && split.dim >= 0) {
    const int rank = space->rank;
    assert_true(tsr_space_split(space, split));
    tsr_form_split(&from, rank, split);
  }
  tsr_ir_destroy(ir);
  return found;
}

static void forms_follow_ops_that_move_elements(void **state) {
  (void)state;
  static const struct {
    const char *op;
    int rank;
    int64_t dims[3], offset, coeff[3];
  } cases[] = {
      {"tensor<6xf32>) -> tensor<2x3xf32> {\n %y = stablehlo.reshape %x : (tensor<6xf32>) -> "
       "tensor<2x3xf32>\n return %y : tensor<2x3xf32>\n}",
       1,
       {6},
       0,
       {1}},
      {"tensor<3xf32>) -> tensor<2x3xf32> {\n %y = stablehlo.broadcast_in_dim %x, dims = [1] : "
       "(tensor<3xf32>) -> tensor<2x3xf32>\n return %y : tensor<2x3xf32>\n}",
       2,
       {2, 3},
       0,
       {0, 1}},
      {"tensor<2x1xf32>) -> tensor<2x3xf32> {\n %y = stablehlo.broadcast_in_dim %x, dims = [0, 1] "
       ": "
       "(tensor<2x1xf32>) -> tensor<2x3xf32>\n return %y : tensor<2x3xf32>\n}",
       2,
       {2, 3},
       0,
       {1, 0}},
      {"tensor<2x3x5xf32>) -> tensor<3x5x2xf32> {\n %y = stablehlo.transpose %x, dims = [1, 2, 0] "
       ": "
       "(tensor<2x3x5xf32>) -> tensor<3x5x2xf32>\n return %y : tensor<3x5x2xf32>\n}",
       3,
       {3, 5, 2},
       0,
       {5, 1, 15}},
      {"tensor<4x8xf32>) -> tensor<2x4xf32> {\n %y = stablehlo.slice %x [1:3, 1:8:2] : "
       "(tensor<4x8xf32>) -> tensor<2x4xf32>\n return %y : tensor<2x4xf32>\n}",
       2,
       {2, 4},
       9,
       {8, 2}},
      {"tensor<2x3xf32>) -> tensor<2x3xf32> {\n %y = stablehlo.reverse %x, dims = [1] : "
       "tensor<2x3xf32>\n return %y : tensor<2x3xf32>\n}",
       2,
       {2, 3},
       2,
       {3, -1}},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_fuse_space space;
    tsr_form form;
    assert_true(follow(cases[i].op, &space, &form));
    assert_int_equal(space.rank, cases[i].rank);
    assert_int_equal(form.offset, cases[i].offset);
    for (int d = 0; d < space.rank; d++) {
      assert_int_equal(space.dims[d], cases[i].dims[d]);
      assert_int_equal(form.coeff[d], cases[i].coeff[d]);
    }
  }
}

static void positions_have_no_digits_where_one_would_carry(void **state) {
  (void)state;
  // Rows of 4 in a tensor of rows of 6: index 1 of a row would start in the middle of another.
  const tsr_fuse_space space = {1, {12}};
  const tsr_form_radix digits = {2, {4, 6}, {6, 1}};
  const tsr_form every_fourth = {0, {4}};
  tsr_form forms[TSR_FORM_DIGITS];
  tsr_fuse_split split;
  assert_false(tsr_form_digits(&space, &every_fourth, &digits, forms, &split));
  assert_int_equal(split.dim, -1);
  // An index along both dims can be split.
  const tsr_fuse_space whole = {1, {24}};
  const tsr_form all = {0, {1}};
  assert_false(tsr_form_digits(&whole, &all, &digits, forms, &split));
  assert_int_equal(split.dim, 0);
  assert_int_equal(split.inner, 6);
}

static void reductions_run_by_their_own_dims(void **state) {
  (void)state;
  static const struct {
    const char *dims, *result;
    tsr_reduce_way way;
    int64_t batch, outer, row;
  } cases[] = {
      {"2, 3", "2x3", TSR_REDUCE_ROWS, 1, 6, 20},
      {"0, 1, 2, 3", "", TSR_REDUCE_ROWS, 1, 1, 120},
      {"0, 1", "4x5", TSR_REDUCE_FOLD, 1, 6, 20},
      {"1, 2", "2x5", TSR_REDUCE_FOLD, 2, 12, 5},
      {"0, 3", "3x4", TSR_REDUCE_OTHERWISE, 0, 0, 0},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    char text[512];
    snprintf(text, sizeof text,
             "func.func @main(%%x: tensor<2x3x4x5xf32>, %%z: tensor<f32>) -> tensor<%s%sf32> {\n"
             " %%r = stablehlo.reduce(%%x init: %%z) applies stablehlo.add across dimensions = [%s]"
             " : (tensor<2x3x4x5xf32>, tensor<f32>) -> tensor<%s%sf32>\n"
             " return %%r : tensor<%s%sf32>\n}",
             cases[i].result, cases[i].result[0] ? "x" : "", cases[i].dims, cases[i].result,
             cases[i].result[0] ? "x" : "", cases[i].result, cases[i].result[0] ? "x" : "");
    tsr_ir *ir = read_ops(text);
    const tsr_reduce_plan plan = tsr_reduce_plan_of(tsr_func_body(tsr_ir_entry(ir))->first);
    assert_int_equal(plan.way, cases[i].way);
    assert_int_equal(plan.op, TSR_TILE_ADD);
    if (plan.way != TSR_REDUCE_OTHERWISE) {
      assert_int_equal(plan.batch, cases[i].batch);
      assert_int_equal(plan.outer, cases[i].outer);
      assert_int_equal(plan.row, cases[i].row);
    }
    tsr_ir_destroy(ir);
  }
}

SUITE(forms, TEST(forms_follow_ops_that_move_elements),
      TEST(positions_have_no_digits_where_one_would_carry), TEST(reductions_run_by_their_own_dims))
