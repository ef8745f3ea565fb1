// The tables of ops, records and enums: complete, sorted, and found by name.
#include <string.h>

#include "ir/ir.h"
#include "support/test.h"

static void every_op_is_found_by_its_name(void **state) {
  (void)state;
  for (int id = 1; id < TSR_OP_COUNT; id++) {
    const tsr_op_info *info = tsr_op_info_of((tsr_op_id)id);
    assert_int_equal(info->id, id);
    assert_ptr_equal(tsr_op_find(info->name, strlen(info->name)), info);
  }
}

static void other_names_are_unknown(void **state) {
  (void)state;
  static const char *const names[] = {"", "add", "stablehlo.ad", "stablehlo.addd", "unknown"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    assert_int_equal(tsr_op_find(names[i], strlen(names[i]))->id, TSR_OP_UNKNOWN);
  assert_int_equal(tsr_op_find("stablehlo.add_more", strlen("stablehlo.add"))->id, TSR_OP_ADD);
}

// Bytecode stores them in this order, and dictionaries print in it.
static void attributes_of_ops_are_sorted_by_name(void **state) {
  (void)state;
  for (int id = 1; id < TSR_OP_COUNT; id++) {
    const tsr_op_info *info = tsr_op_info_of((tsr_op_id)id);
    for (int i = 1; i < info->attr_count; i++)
      assert_true(strcmp(info->attrs[i - 1].name, info->attrs[i].name) < 0);
  }
}

static void records_know_their_fields(void **state) {
  (void)state;
  const tsr_record_info gather = tsr_record_info_of(TSR_RECORD_GATHER);
  assert_string_equal(gather.name, "gather");
  assert_int_equal(gather.field_count, 6);
  assert_string_equal(gather.fields[TSR_GATHER_INDEX_VECTOR_DIM].name, "index_vector_dim");
  const tsr_record_info scatter = tsr_record_info_of(TSR_RECORD_SCATTER);
  assert_string_equal(scatter.fields[TSR_SCATTER_UPDATE_WINDOW_DIMS].name, "update_window_dims");
  assert_int_equal(tsr_record_info_of(TSR_RECORD_LOC_UNKNOWN).field_count, 0);
  assert_int_equal(tsr_record_info_of(TSR_RECORD_LOC_FUSED).field_count, 2);
  assert_int_equal(tsr_record_find("sdy", "mesh_axis", 9), TSR_RECORD_SDY_MESH_AXIS);
  assert_int_equal(tsr_record_find("sdy", "gather", 6), -1);
}

static void enums_are_found_by_word_and_by_number(void **state) {
  (void)state;
  assert_int_equal(tsr_enum_find("stablehlo", "precision", 9), TSR_ENUM_PRECISION);
  assert_int_equal(tsr_enum_find("chlo", "precision", 9), TSR_ENUM_CHLO_PRECISION);
  assert_int_equal(tsr_enum_value(TSR_ENUM_DIRECTION, "LT", 2), TSR_DIRECTION_LT);
  assert_int_equal(tsr_enum_value(TSR_ENUM_DIRECTION, "LTT", 3), -1);
  assert_string_equal(tsr_enum_name(TSR_ENUM_RNG_DISTRIBUTION, 2), "NORMAL");
  assert_null(tsr_enum_name(TSR_ENUM_RNG_DISTRIBUTION, 0));
}

static void floats_have_dtypes_and_bits(void **state) {
  (void)state;
  assert_int_equal(tsr_float_find("f8E4M3FN", 8), TSR_FLOAT_F8E4M3FN);
  assert_int_equal(tsr_float_find("f8E4M3F", 7), -1);
  assert_int_equal(tsr_float_bits(TSR_FLOAT_TF32), 19);
  assert_int_equal(tsr_float_dtype(TSR_FLOAT_TF32), TSR_DTYPE_NONE);
  assert_int_equal(tsr_float_dtype(TSR_FLOAT_BF16), TSR_BF16);
}

SUITE(op_table, TEST(every_op_is_found_by_its_name), TEST(other_names_are_unknown),
      TEST(attributes_of_ops_are_sorted_by_name), TEST(records_know_their_fields),
      TEST(enums_are_found_by_word_and_by_number), TEST(floats_have_dtypes_and_bits))
