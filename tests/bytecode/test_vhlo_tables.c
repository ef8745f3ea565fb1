// The tables of portable artifacts agree with themselves and with the table of ops.
#include <string.h>

#include "bytecode/vhlo.h"
#include "support/test.h"

static const char *const names[] = {
#define VHLO_OP(op, name, since, until, row) name,
#include "bytecode/vhlo_ops.def"
#undef VHLO_OP
};

static void every_op_is_found_by_name_and_by_version(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    const tsr_vhlo_op *op = tsr_vhlo_find(names[i], strlen(names[i]));
    assert_non_null(op);
    assert_ptr_equal(tsr_vhlo_of(op->id, op->since), op);
    assert_ptr_equal(tsr_vhlo_of(op->id, op->until), op);
    assert_true(tsr_vhlo_since(op->id) <= op->since);
  }
  assert_null(tsr_vhlo_find("add_v2", 6));
  assert_null(tsr_vhlo_of(TSR_OP_TAN, TSR_VHLO_VERSION(1, 3)));
  assert_string_equal(tsr_vhlo_of(TSR_OP_GATHER, TSR_VHLO_VERSION(1, 0))->name, "gather_v1");
  assert_string_equal(tsr_vhlo_of(TSR_OP_FUNC_RETURN, TSR_VHLO_NEWEST)->name, "return_v1");
}

static void versions_of_an_op_follow_each_other(void **state) {
  (void)state;
  for (size_t i = 1; i < COUNT_OF(names); i++) {
    const tsr_vhlo_op *before = tsr_vhlo_find(names[i - 1], strlen(names[i - 1]));
    const tsr_vhlo_op *op = tsr_vhlo_find(names[i], strlen(names[i]));
    if (op->id != before->id) continue;
    assert_int_equal(op->since, before->until + 1);
  }
}

static const tsr_attr_info *field_of(const tsr_op_info *info, const char *name) {
  for (int i = 0; i < info->attr_count; i++)
    if (!strcmp(info->attrs[i].name, name)) return &info->attrs[i];
  return NULL;
}

static void stored_attributes_are_sorted_and_belong_to_the_op(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    const tsr_vhlo_op *op = tsr_vhlo_find(names[i], strlen(names[i]));
    const tsr_op_info *info = tsr_op_info_of(op->id);
    for (int k = 0; k < op->attr_count; k++) {
      const tsr_vhlo_attr *attr = &op->attrs[k];
      if (k) assert_true(strcmp(op->attrs[k - 1].stored, attr->stored) < 0);
      assert_int_equal(!attr->name, attr->form == TSR_VHLO_IGNORED);
      if (!attr->name) continue;
      const tsr_attr_info *field = field_of(info, attr->name);
      assert_non_null(field);
      if (attr->record >= 0) assert_int_equal(field->id, attr->record);
      // What is left out must be allowed to be absent; the fields of a record are left out
      // together.
      if (attr->otherwise != TSR_VHLO_DEFAULT_NONE) assert_false(field->required);
    }
  }
}

// Without the attributes that only func.func and func.call have outside of VHLO.
static bool is_only_of_func(const tsr_op_info *info, const char *name) {
  return (info->id == TSR_OP_FUNC || info->id == TSR_OP_CALL) &&
         (!strcmp(name, "no_inline") || info->id == TSR_OP_CALL);
}

static void the_newest_version_stores_every_attribute(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    const tsr_vhlo_op *op = tsr_vhlo_find(names[i], strlen(names[i]));
    const tsr_op_info *info = tsr_op_info_of(op->id);
    if (op->until != TSR_VHLO_NEWEST) continue;
    for (int k = 0; k < info->attr_count; k++) {
      bool stored = is_only_of_func(info, info->attrs[k].name);
      for (int a = 0; a < op->attr_count && !stored; a++)
        stored = op->attrs[a].name && !strcmp(op->attrs[a].name, info->attrs[k].name);
      assert_true(stored);
    }
  }
}

static void records_are_stored_with_all_their_fields(void **state) {
  (void)state;
  int found = 0;
  for (int dialect = 0; dialect < TSR_DIALECT_COUNT; dialect++)
    for (uint64_t code = 0; code < 100; code++) {
      const tsr_attr_code *row = tsr_attr_code_of((tsr_code_dialect)dialect, code);
      if (!row || row->form != TSR_CODE_RECORD) continue;
      int count = 0;
      while (row->wires[count] != TSR_WIRE_END) count++;
      assert_int_equal(count, tsr_record_info_of((tsr_record_id)row->id).field_count);
      found++;
    }
  assert_true(found > 40);
}

static void codes_are_found_by_what_they_mean(void **state) {
  (void)state;
  assert_int_equal(tsr_type_code_find(TSR_DIALECT_VHLO, TSR_TYPE_CODE_FLOAT, TSR_FLOAT_F32, 0), 4);
  assert_int_equal(tsr_type_code_find(TSR_DIALECT_VHLO, TSR_TYPE_CODE_INTEGER, 8, TSR_UNSIGNED),
                   16);
  assert_int_equal(tsr_type_code_find(TSR_DIALECT_VHLO, TSR_TYPE_CODE_FLOAT, TSR_FLOAT_F128, 0),
                   -1);
  assert_int_equal(tsr_attr_code_find(TSR_DIALECT_SDY, TSR_CODE_RECORD, TSR_RECORD_SDY_SHARDING),
                   6);
  assert_null(tsr_attr_code_of(TSR_DIALECT_VHLO, 0));
  assert_null(tsr_attr_code_of(TSR_DIALECT_VHLO, UINT64_MAX));
  assert_null(tsr_type_code_of(TSR_DIALECT_SDY, 0));
}

static void old_versions_are_written_in_old_bytecode(void **state) {
  (void)state;
  static const struct {
    int version, bytecode;
  } cases[] = {{TSR_VHLO_VERSION(0, 9), 0},  {TSR_VHLO_VERSION(0, 10), 1},
               {TSR_VHLO_VERSION(0, 11), 1}, {TSR_VHLO_VERSION(0, 12), 3},
               {TSR_VHLO_VERSION(0, 14), 4}, {TSR_VHLO_VERSION(0, 15), 6},
               {TSR_VHLO_NEWEST, 6}};
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    assert_int_equal(tsr_vhlo_bytecode_version(cases[i].version), cases[i].bytecode);
}

SUITE(vhlo_tables, TEST(every_op_is_found_by_name_and_by_version),
      TEST(versions_of_an_op_follow_each_other),
      TEST(stored_attributes_are_sorted_and_belong_to_the_op),
      TEST(the_newest_version_stores_every_attribute),
      TEST(records_are_stored_with_all_their_fields), TEST(codes_are_found_by_what_they_mean),
      TEST(old_versions_are_written_in_old_bytecode))
