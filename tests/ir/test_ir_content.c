// Types and attributes: one address or one hash for equal content, in one program and across two.
#include <string.h>

#include "ir/ir.h"
#include "ir/issues.h"
#include "ir/type_content.h"
#include "support/test.h"

static tsr_ir *new_ir(void) {
  tsr_ir *ir = tsr_ir_create();
  assert_non_null(ir);
  return ir;
}

// Two quantised types, tuples, functions and the like, made twice.
static const tsr_type *make_type(tsr_ir *ir, int which) {
  static const int64_t dims[] = {2, TSR_DYNAMIC, 3};
  const tsr_type *f32 = tsr_type_of_dtype(ir, TSR_F32), *i8 = tsr_type_of_dtype(ir, TSR_I8);
  const tsr_type *pair[] = {f32, i8};
  const int64_t bounds[] = {TSR_DYNAMIC, 4, TSR_DYNAMIC};
  const tsr_attr *sizes = tsr_attr_ints(ir, bounds, 3);
  const tsr_quant_scale scales[] = {{0.5, 1}, {0.25, -1}};
  tsr_quant quant = {true, i8, f32, -128, 127, -1, 1, scales};
  switch (which) {
    case 0:
      return tsr_type_integer(ir, 32, TSR_SIGNLESS);
    case 1:
      return tsr_type_integer(ir, 32, TSR_UNSIGNED);
    case 2:
      return f32;
    case 3:
      return tsr_type_complex(ir, f32);
    case 4:
      return tsr_type_tensor(ir, f32, 3, dims, NULL);
    case 5:
      return tsr_type_tensor(ir, f32, 2, dims, NULL);
    case 6:
      return tsr_type_tensor(ir, f32, 3, dims, tsr_attr_record(ir, TSR_RECORD_BOUNDS, &sizes));
    case 7:
      return tsr_type_unranked(ir, f32);
    case 8:
      return tsr_type_buffer(ir, f32, 2, dims, ", strided<[1]>");
    case 9:
      return tsr_type_tuple(ir, TSR_TYPE_TUPLE, pair, 2);
    case 10:
      return tsr_type_tuple(ir, TSR_TYPE_FUTURE, pair, 2);
    case 11:
      return tsr_type_function(ir, pair, 1, pair + 1, 1);
    case 12:
      return tsr_type_function(ir, pair, 2, NULL, 0);
    case 13:
      return tsr_type_quant(ir, &quant);
    case 14:
      quant.axis = 0, quant.scale_count = 2;
      return tsr_type_quant(ir, &quant);
    case 15:
      return tsr_type_simple(ir, TSR_TYPE_TOKEN);
    case 16:
      return tsr_type_opaque(ir, "!foo.bar<3>", 11);
    default:
      return NULL;
  }
}
enum { TYPE_COUNT = 17 };

static void equal_types_have_one_address(void **state) {
  (void)state;
  tsr_ir *ir = new_ir();
  for (int i = 0; i < TYPE_COUNT; i++)
    for (int k = 0; k < TYPE_COUNT; k++)
      assert_int_equal(make_type(ir, i) == make_type(ir, k), i == k);
  tsr_ir_destroy(ir);
}

static void types_are_equal_across_programs_and_can_be_brought_over(void **state) {
  (void)state;
  tsr_ir *a = new_ir(), *b = new_ir();
  for (int i = 0; i < TYPE_COUNT; i++) {
    for (int k = 0; k < TYPE_COUNT; k++)
      assert_int_equal(tsr_type_equal(make_type(a, i), make_type(b, k)), i == k);
    assert_ptr_equal(tsr_type_import(b, make_type(a, i)), make_type(b, i));
    assert_ptr_equal(tsr_type_import(a, make_type(a, i)), make_type(a, i));
  }
  tsr_ir_destroy(a);
  tsr_ir_destroy(b);
}

static void types_answer_questions(void **state) {
  (void)state;
  tsr_ir *ir = new_ir();
  const tsr_type *open = make_type(ir, 4), *bounded = make_type(ir, 6);
  const int64_t large[] = {INT64_MAX, 2}, none[] = {INT64_MAX, 2, 0};
  const tsr_type *i4 = tsr_type_of_dtype(ir, TSR_I4), *f32 = make_type(ir, 2);
  assert_false(tsr_type_is_static(open));
  assert_int_equal(tsr_type_element_count(open), -1);
  assert_int_equal(tsr_type_element_count(tsr_type_tensor(ir, f32, 2, large, NULL)), -1);
  assert_int_equal(tsr_type_element_count(tsr_type_tensor(ir, f32, 3, none, NULL)), 0);
  assert_int_equal(tsr_type_element_count(tsr_type_tensor(ir, f32, 0, NULL, NULL)), 1);
  assert_true(tsr_type_bound(bounded, 1) == 4);
  assert_true(tsr_type_bound(bounded, 0) == TSR_DYNAMIC);
  assert_true(tsr_type_bound(open, 1) == TSR_DYNAMIC);
  assert_int_equal(tsr_type_element_bytes(i4), 1);
  assert_int_equal(tsr_type_element_bytes(make_type(ir, 3)), 8);
  assert_int_equal(tsr_type_of_dtype(ir, TSR_BOOL)->dtype, TSR_BOOL);
  assert_int_equal(tsr_type_integer(ir, 1, TSR_UNSIGNED)->dtype, TSR_DTYPE_NONE);
  for (int dtype = TSR_DTYPE_NONE + 1; dtype < TSR_DTYPE_COUNT; dtype++)
    assert_int_equal(tsr_type_of_dtype(ir, (tsr_dtype)dtype)->dtype, dtype);
  tsr_ir_destroy(ir);
}

static const tsr_attr *make_attr(tsr_ir *ir, int which) {
  static const int32_t splat[] = {7, 7, 7}, mixed[] = {7, 8, 7};
  const int64_t three[] = {3};
  const tsr_type *i32s = tsr_type_shaped(ir, TSR_I32, 1, three);
  const tsr_attr *one = tsr_attr_i64(ir, 1), *two = tsr_attr_i64(ir, 2);
  const tsr_attr *pair[] = {one, two};
  const tsr_named_attr entries[] = {{tsr_ir_name(ir, "b", 1), two}, {tsr_ir_name(ir, "a", 1), one}};
  switch (which) {
    case 0:
      return tsr_attr_unit(ir);
    case 1:
      return tsr_attr_bool(ir, true);
    case 2:
      return one;
    case 3:
      return tsr_attr_integer(ir, tsr_type_of_dtype(ir, TSR_I32), 1);
    case 4:
      return tsr_attr_float(ir, tsr_type_of_dtype(ir, TSR_F64), 1);
    case 5:
      return tsr_attr_string(ir, "a\0b", 3);
    case 6:
      return tsr_attr_string(ir, "a", 1);
    case 7:
      return tsr_attr_symbol(ir, "a", 1);
    case 8:
      return tsr_attr_type(ir, i32s);
    case 9:
      return tsr_attr_array(ir, pair, 2);
    case 10:
      return tsr_attr_array(ir, pair, 1);
    case 11:
      return tsr_attr_dict(ir, entries, 2);
    case 12:
      return tsr_attr_dense(ir, i32s, splat, sizeof splat);
    case 13:
      return tsr_attr_dense(ir, i32s, mixed, sizeof mixed);
    case 14:
      return tsr_attr_ints(ir, three, 1);
    case 15:
      return tsr_attr_enum(ir, TSR_ENUM_PRECISION, 1);
    case 16:
      return tsr_attr_enum(ir, TSR_ENUM_CHLO_PRECISION, 1);
    case 17:
      return tsr_attr_record(ir, TSR_RECORD_CHANNEL, pair);
    case 18:
      return tsr_attr_opaque(ir, "#foo<1>", 7);
    case 19:
      return tsr_attr_resource(ir, i32s, "a", 1);
    case 20:
      return tsr_attr_typed_string(ir, i32s, "a", 1);
    default:
      return NULL;
  }
}
enum { ATTR_COUNT = 21 };

static void attributes_are_compared_by_content(void **state) {
  (void)state;
  tsr_ir *a = new_ir(), *b = new_ir();
  for (int i = 0; i < ATTR_COUNT; i++) {
    for (int k = 0; k < ATTR_COUNT; k++) {
      assert_int_equal(tsr_attr_equal(make_attr(a, i), make_attr(a, k)), i == k);
      assert_int_equal(tsr_attr_equal(make_attr(a, i), make_attr(b, k)), i == k);
    }
    assert_true(tsr_attr_equal(tsr_attr_import(b, make_attr(a, i)), make_attr(a, i)));
  }
  assert_true(tsr_attr_equal(NULL, NULL));
  assert_false(tsr_attr_equal(make_attr(a, 0), NULL));
  tsr_ir_destroy(a);
  tsr_ir_destroy(b);
}

static void equal_elements_become_a_splat(void **state) {
  (void)state;
  tsr_ir *ir = new_ir();
  const tsr_attr *splat = make_attr(ir, 12), *mixed = make_attr(ir, 13);
  assert_true(splat->splat);
  assert_int_equal(splat->length, 4);
  assert_int_equal(tsr_attr_int_at(splat, 2), 7);
  assert_false(mixed->splat);
  assert_int_equal(tsr_attr_int_at(mixed, 1), 8);
  assert_int_equal(tsr_attr_int_count(mixed), 3);
  const int64_t zero[] = {0};
  assert_false(tsr_attr_dense(ir, tsr_type_shaped(ir, TSR_I32, 1, zero), "", 0)->splat);
  tsr_ir_destroy(ir);
}

static void integers_are_kept_to_their_width(void **state) {
  (void)state;
  tsr_ir *ir = new_ir();
  const tsr_type *i8 = tsr_type_of_dtype(ir, TSR_I8), *u8 = tsr_type_of_dtype(ir, TSR_U8);
  assert_int_equal(tsr_attr_integer(ir, i8, 255)->integer, -1);
  assert_int_equal(tsr_attr_integer(ir, u8, -1)->integer, 255);
  assert_ptr_equal(tsr_attr_integer(ir, tsr_type_of_dtype(ir, TSR_BOOL), -1), ir->true_value);
  const int8_t bytes[] = {-1, 1};
  const tsr_attr *list = tsr_attr_dense_array(ir, i8, bytes, 2);
  assert_int_equal(tsr_attr_int_at(list, 0), -1);
  assert_int_equal(tsr_attr_int_at(tsr_attr_dense_array(ir, u8, bytes, 2), 0), 255);
  tsr_ir_destroy(ir);
}

static void dictionaries_are_sorted_and_searched(void **state) {
  (void)state;
  tsr_ir *ir = new_ir();
  const tsr_attr *dict = make_attr(ir, 11);
  assert_string_equal(dict->entries[0].name, "a");
  assert_int_equal(tsr_dict_find(dict, "b")->integer, 2);
  assert_null(tsr_dict_find(dict, "c"));
  assert_null(tsr_dict_find(NULL, "a"));
  tsr_ir_destroy(ir);
}

// An array of two arrays of two ..., each shared: 2^40 attributes if it were printed.
static void weight_counts_shared_attributes_as_often_as_they_print(void **state) {
  (void)state;
  tsr_ir *ir = new_ir();
  const tsr_attr *nest = tsr_attr_i64(ir, 1);
  for (int i = 0; i < 40; i++) nest = tsr_attr_array(ir, (const tsr_attr *[]){nest, nest}, 2);
  assert_true(nest->weight == UINT32_MAX);
  assert_int_equal(make_attr(ir, 9)->weight, 3);
  tsr_ir_destroy(ir);
}

static void forms_are_recognised(void **state) {
  (void)state;
  static const struct {
    int attr;
    tsr_attr_form form;
    int id;
    bool has;
  } cases[] = {
      {0, TSR_FORM_UNIT, 0, true},
      {1, TSR_FORM_BOOL, 0, true},
      {2, TSR_FORM_BOOL, 0, false},
      {2, TSR_FORM_I64, 0, true},
      {3, TSR_FORM_I64, 0, false},
      {3, TSR_FORM_I32, 0, true},
      {5, TSR_FORM_STRING, 0, true},
      {7, TSR_FORM_SYMBOL, 0, true},
      {14, TSR_FORM_INTS, 0, true},
      {14, TSR_FORM_BOOLS, 0, false},
      {13, TSR_FORM_DENSE, 0, true},
      {13, TSR_FORM_DENSE_I64, 0, false},
      {15, TSR_FORM_ENUM, TSR_ENUM_PRECISION, true},
      {15, TSR_FORM_ENUM, TSR_ENUM_CHLO_PRECISION, false},
      {17, TSR_FORM_RECORD, TSR_RECORD_CHANNEL, true},
      {9, TSR_FORM_RECORDS, TSR_RECORD_CHANNEL, false},
      {18, TSR_FORM_ANY_ATTR, 0, true},
  };
  tsr_ir *ir = new_ir();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(tsr_attr_has_form(make_attr(ir, cases[i].attr), cases[i].form, cases[i].id),
                     cases[i].has);
  tsr_ir_destroy(ir);
}

static void several_issues_are_one_failure(void **state) {
  (void)state;
  tsr_issues issues = {.text = TSR_TEXT_EMPTY};
  assert_null(tsr_issues_take(&issues));
  tsr_issues_add(&issues, "a.mlir", 0, 0, NULL);
  for (uint32_t i = 1; i <= 23; i++)
    tsr_issues_add(&issues, "a.mlir", i < 3 ? i : 0, 4, tsr_fail(CONSTRAINT, "wrong %u", i));
  tsr_status status = tsr_issues_take(&issues);
  const char *text = tsr_status_text(status);
  assert_int_equal(tsr_status_cause(status), TSR_CAUSE_CONSTRAINT);
  assert_non_null(strstr(text, "a.mlir:1:4: wrong 1\na.mlir:2:4: wrong 2\nwrong 3\n"));
  assert_non_null(strstr(text, "\nwrong 20\nand 3 more"));
  tsr_status_free(status);
  assert_null(tsr_issues_take(&issues));
}

static tsr_status make_all(void *context) {
  (void)context;
  tsr_ir *ir = tsr_ir_create();
  TSR_NEED(ir);
  bool made = true;
  for (int i = 0; made && i < 4; i++) made = tsr_type_shaped(ir, TSR_F32, 0, NULL);
  for (int i = 0; made && i < 500; i++)
    made = tsr_attr_i64(ir, i) && tsr_type_integer(ir, i + 1, TSR_SIGNED) &&
           tsr_ir_name(ir, (char[]){(char)('a' + i % 26), (char)('a' + i / 26)}, 2);
  tsr_ir_destroy(ir);
  TSR_NEED(made);
  return NULL;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  test_allocation_sweep(make_all, NULL);
}

SUITE(ir_content, TEST(equal_types_have_one_address),
      TEST(types_are_equal_across_programs_and_can_be_brought_over), TEST(types_answer_questions),
      TEST(attributes_are_compared_by_content), TEST(equal_elements_become_a_splat),
      TEST(integers_are_kept_to_their_width), TEST(dictionaries_are_sorted_and_searched),
      TEST(weight_counts_shared_attributes_as_often_as_they_print), TEST(forms_are_recognised),
      TEST(several_issues_are_one_failure), TEST(every_allocation_may_fail))
