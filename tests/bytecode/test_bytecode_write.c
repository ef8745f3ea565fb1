// Portable artifacts that are written: what is read again is the same program, and what a version
// cannot hold is refused by name.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text_internal.h"
#include "bytecode/bytecode.h"
#include "support/test.h"
#include "syntax/syntax.h"
#include "tessera/own.h"

// ---- round trips ----

typedef struct read_program {
  char *bytes;
  tsr_ir *ir;
} read_program;

static read_program read_path(const char *path) {
  read_program program = {NULL, tsr_ir_create()};
  size_t length = 0;
  assert_ok(tsr_file_read(path, &program.bytes, &length));
  assert_ok(tsr_bytecode_read(program.ir, path, program.bytes, length));
  return program;
}

static void free_program(read_program *program) {
  tsr_ir_destroy(program->ir);
  free(program->bytes);
}

static void assert_round_trip(const tsr_ir *ir, const char *version, const char *name) {
  TSR_OWN(text, artifact);
  TSR_OWN(text, difference);
  assert_ok(tsr_bytecode_write(ir, version, &artifact));
  tsr_ir *again = tsr_ir_create();
  assert_ok(tsr_bytecode_read(again, name, artifact.data, artifact.length));
  if (!tsr_ir_equal(ir, again, &difference)) fail_msg("%s: %s", name, tsr_text_string(&difference));
  tsr_ir_destroy(again);
}

static int round_trip_all(const char *file, const char *version) {
  DIR *folder = opendir("tests/programs");
  int count = 0;
  assert_non_null(folder);
  for (const struct dirent *entry; (entry = readdir(folder));) {
    char path[512];
    snprintf(path, sizeof path, "tests/programs/%s/%s", entry->d_name, file);
    FILE *opened = fopen(path, "rb");
    if (!opened) continue;
    fclose(opened);
    read_program program = read_path(path);
    assert_round_trip(program.ir, version, path);
    free_program(&program);
    count++;
  }
  closedir(folder);
  return count;
}

static void what_is_written_is_read_as_the_same_program(void **state) {
  (void)state;
  assert_true(round_trip_all("program.mlirbc", NULL) >= 100);
  assert_true(round_trip_all("module.mlirbc", NULL) >= 5);
  assert_true(round_trip_all("program.mlirbc", "1.20") >= 100);
}

static void writing_again_gives_the_same_bytes(void **state) {
  (void)state;
  TSR_OWN(text, first);
  TSR_OWN(text, second);
  read_program program = read_path("tests/programs/captured_constants/program.mlirbc");
  assert_ok(tsr_bytecode_write(program.ir, "1.15.0", &first));
  assert_ok(tsr_bytecode_write(program.ir, NULL, &second));
  assert_int_equal(first.length, second.length);
  assert_memory_equal(first.data, second.data, first.length);
  assert_memory_equal(first.data, "ML\xefR\x0dStableHLO_v1.15.0", 23);
  free_program(&program);
}

// ---- made programs ----

// @main with one op, whose operands are the arguments and whose results are returned.
typedef struct op_program {
  tsr_ir *ir;
  tsr_op *op;
} op_program;

static tsr_op *add_function(tsr_ir *ir, const char *name, const tsr_type *type) {
  const tsr_named_attr attrs[] = {
      {tsr_ir_name(ir, "function_type", 13), tsr_attr_type(ir, type)},
      {tsr_ir_name(ir, "sym_name", 8), tsr_attr_string(ir, name, strlen(name))}};
  const tsr_op_parts parts = {
      .id = TSR_OP_FUNC, .region_count = 1, .attr_count = 2, .attrs = attrs};
  tsr_op *func = tsr_op_create(ir, &parts);
  tsr_op_append(ir->module->regions[0].first, func);
  return func;
}

static op_program make(tsr_op_id id, const tsr_type *(*type_of)(tsr_ir *ir), int operand_count,
                       const char *attr_name, const tsr_attr *(*attr_of)(tsr_ir *ir)) {
  op_program made = {.ir = tsr_ir_create()};
  tsr_ir *ir = made.ir;
  if (!ir->module->regions[0].first) tsr_block_append(ir, &ir->module->regions[0]);
  const tsr_type *type = type_of(ir), *types[] = {type, type};
  tsr_op *func = add_function(ir, "main", tsr_type_function(ir, types, operand_count, types, 1));
  tsr_ir_block *body = tsr_block_append(ir, &func->regions[0]);
  tsr_value *operands[2] = {NULL};
  for (int i = 0; i < operand_count; i++) operands[i] = tsr_block_add_arg(ir, body, type, NULL);
  tsr_named_attr attr = {NULL, NULL};
  if (attr_name)
    attr = (tsr_named_attr){tsr_ir_name(ir, attr_name, strlen(attr_name)), attr_of(ir)};
  made.op = tsr_op_create(ir, &(tsr_op_parts){.id = id,
                                              .operand_count = operand_count,
                                              .operands = operands,
                                              .result_count = 1,
                                              .result_types = types,
                                              .attr_count = attr_name != NULL,
                                              .attrs = &attr});
  tsr_op_append(body, made.op);
  tsr_value *results[] = {tsr_op_result(made.op, 0)};
  tsr_op_append(body, tsr_op_create(ir, &(tsr_op_parts){.id = TSR_OP_FUNC_RETURN,
                                                        .operand_count = 1,
                                                        .operands = results}));
  return made;
}

static const int64_t two_three[] = {2, 3};
static const tsr_type *f32(tsr_ir *ir) { return tsr_type_shaped(ir, TSR_F32, 2, two_three); }
static const tsr_type *i2(tsr_ir *ir) {
  return tsr_type_tensor(ir, tsr_type_integer(ir, 2, TSR_SIGNLESS), 2, two_three, NULL);
}
static const tsr_type *i3(tsr_ir *ir) {
  return tsr_type_tensor(ir, tsr_type_integer(ir, 3, TSR_SIGNLESS), 2, two_three, NULL);
}
static const tsr_type *f4(tsr_ir *ir) { return tsr_type_shaped(ir, TSR_F4E2M1FN, 2, two_three); }
static const tsr_attr *bit(tsr_ir *ir) { return tsr_attr_bool(ir, true); }
static const tsr_attr *text(tsr_ir *ir) { return tsr_attr_string(ir, "t\0u", 3); }
static const tsr_attr *dict(tsr_ir *ir) {
  const tsr_named_attr entry = {tsr_ir_name(ir, "a", 1), tsr_attr_i64(ir, -5)};
  return tsr_attr_dict(ir, &entry, 1);
}
static const tsr_attr *highest(tsr_ir *ir) {
  const tsr_type *f64 = tsr_type_float(ir, TSR_FLOAT_F64);
  const tsr_attr *fields[] = {
      [TSR_ACCURACY_ATOL] = tsr_attr_float(ir, f64, 0),
      [TSR_ACCURACY_RTOL] = tsr_attr_float(ir, f64, 0),
      [TSR_ACCURACY_ULPS] = tsr_attr_i64(ir, 0),
      [TSR_ACCURACY_MODE] = tsr_attr_enum(ir, TSR_ENUM_ACCURACY_MODE, TSR_ACCURACY_MODE_HIGHEST)};
  return tsr_attr_record(ir, TSR_RECORD_ACCURACY, fields);
}

static const struct {
  tsr_op_id id;
  const tsr_type *(*type_of)(tsr_ir *ir);
  int operand_count;
  const char *attr_name;
  const tsr_attr *(*attr_of)(tsr_ir *ir);
  const char *version;
  const char *message;  // NULL = the op is written, and read again
} cases[] = {
    {TSR_OP_ADD, f32, 2, NULL, NULL, "1.0.0", NULL},
    {TSR_OP_ADD, f32, 2, "mhlo.note", text, "1.0.0", NULL},
    {TSR_OP_ADD, f32, 2, "mhlo.note", dict, NULL, NULL},
    {TSR_OP_ADD, f32, 2, "mhlo.note", bit, NULL, NULL},
    {TSR_OP_ADD, i2, 2, NULL, NULL, NULL, NULL},
    {TSR_OP_TANH, f32, 1, NULL, NULL, "1.0.0", NULL},
    {TSR_OP_TANH, f32, 1, NULL, NULL, "1.15.3", NULL},
    {TSR_OP_TANH, f32, 1, "result_accuracy", highest, "1.10", NULL},
    {TSR_OP_TANH, f32, 1, "result_accuracy", highest, "1.9",
     "func.func @main: stablehlo.tanh: result_accuracy cannot be stored in StableHLO 1.9.0"},
    {TSR_OP_TAN, f32, 1, NULL, NULL, "1.4.0", NULL},
    {TSR_OP_TAN, f32, 1, NULL, NULL, "1.3.0",
     "func.func @main: stablehlo.tan: the op is in StableHLO 1.4.0 and later, not in 1.3.0"},
    {TSR_OP_ABS, f4, 1, NULL, NULL, "1.8.0", NULL},
    {TSR_OP_ABS, f4, 1, NULL, NULL, "1.7.0",
     "func.func @main: attribute function_type: type f4E2M1FN is in StableHLO 1.8.0 and later, "
     "not in 1.7.0"},
    {TSR_OP_ABS, i3, 1, NULL, NULL, NULL,
     "func.func @main: attribute function_type: type i3 has no form in portable artifacts"},
    {TSR_OP_CHLO_MULHI, f32, 2, NULL, NULL, NULL,
     "func.func @main: chlo.mulhi: the op has no form in portable artifacts"},
    {TSR_OP_CHECK_EXPECT_EQ, f32, 2, NULL, NULL, NULL,
     "func.func @main: check.expect_eq: the op has no form in portable artifacts"},
    {TSR_OP_CHOLESKY, f32, 1, "lower", bit, NULL, NULL},
    {TSR_OP_CONCATENATE, f32, 2, NULL, NULL, NULL,
     "func.func @main: stablehlo.concatenate: attribute dimension: attribute dimension is missing"},
};

static void ops_are_stored_in_the_form_of_the_version(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    TSR_OWN(text, artifact);
    op_program made = make(cases[i].id, cases[i].type_of, cases[i].operand_count,
                           cases[i].attr_name, cases[i].attr_of);
    if (cases[i].message) {
      tsr_status status = tsr_bytecode_write(made.ir, cases[i].version, &artifact);
      assert_message(status, cases[i].message);
      tsr_status_free(status);
    } else {
      assert_round_trip(made.ir, cases[i].version, "made");
    }
    tsr_ir_destroy(made.ir);
  }
}

static const char *const wrong_versions[] = {"0.9.0", "1.21.0", "2.0", "1", "1.x", "", "1.15.0a"};

static void unknown_versions_are_refused(void **state) {
  (void)state;
  op_program made = make(TSR_OP_ADD, f32, 2, NULL, NULL);
  for (size_t i = 0; i < COUNT_OF(wrong_versions); i++) {
    TSR_OWN(text, artifact);
    char message[128];
    snprintf(message, sizeof message,
             "StableHLO version \"%s\" cannot be written, wanted 1.0.0 to 1.20.0",
             wrong_versions[i]);
    assert_fails(tsr_bytecode_write(made.ir, wrong_versions[i], &artifact), UNKNOWN_VERSION,
                 message);
    assert_int_equal(artifact.length, 0);
  }
  tsr_ir_destroy(made.ir);
}

// ---- constants ----

static tsr_ir *make_constant(const tsr_type *(*type_of)(tsr_ir *ir), const void *bytes,
                             size_t length) {
  op_program made = make(TSR_OP_CONSTANT, type_of, 0, NULL, NULL);
  const tsr_type *type = tsr_op_result(made.op, 0)->type;
  assert_true(tsr_op_set_attr(made.ir, made.op, tsr_ir_name(made.ir, "value", 5),
                              tsr_attr_dense(made.ir, type, bytes, length)));
  return made.ir;
}

static const tsr_type *bools(tsr_ir *ir) {
  const int64_t dims[] = {11};
  return tsr_type_shaped(ir, TSR_BOOL, 1, dims);
}
static const tsr_type *one_bool(tsr_ir *ir) { return tsr_type_shaped(ir, TSR_BOOL, 0, NULL); }
static const tsr_type *no_floats(tsr_ir *ir) {
  const int64_t dims[] = {0, 4};
  return tsr_type_shaped(ir, TSR_F32, 2, dims);
}
static const tsr_type *complexes(tsr_ir *ir) {
  const int64_t dims[] = {2};
  return tsr_type_shaped(ir, TSR_C64, 1, dims);
}

static const struct {
  const tsr_type *(*type_of)(tsr_ir *ir);
  const char *bytes;
  size_t length;
} constants[] = {
    {bools, "\1\0\0\1\1\0\1\0\1\0\1", 11},
    {bools, "\1\1\1\1\1\1\1\1\1\1\1", 11},
    {bools, "\0\0\0\0\0\0\0\0\0\0\0", 11},
    {one_bool, "\1", 1},
    {one_bool, "\0", 1},
    {no_floats, "", 0},
    {complexes, "abcdefghijklmnop", 16},
    {complexes, "abcdefghabcdefgh", 16},
};

static void constants_keep_their_elements(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(constants); i++) {
    tsr_ir *ir = make_constant(constants[i].type_of, constants[i].bytes, constants[i].length);
    assert_round_trip(ir, NULL, "constant");
    tsr_ir_destroy(ir);
  }
}

// MLIR keeps the element of a splat that has no elements.
static void a_splat_of_no_elements_keeps_its_element(void **state) {
  static const char source[] =
      "func.func @main() -> tensor<0x2xi64> {\n"
      "  %0 = stablehlo.constant dense<7> : tensor<0x2xi64>\n"
      "  return %0 : tensor<0x2xi64>\n"
      "}\n";
  (void)state;
  tsr_ir *ir = tsr_ir_create();
  assert_ok(tsr_syntax_read(ir, "source", source, strlen(source)));
  assert_round_trip(ir, NULL, "source");
  tsr_ir_destroy(ir);
}

// What has no code of its own is stored as text, and blobs of resources in their section.
static void texts_and_resources_are_kept(void **state) {
  static const char source[] =
      "module attributes {foo.x = #foo.bar<3>} {\n"
      "  func.func private @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {my.unit,\n"
      "      my.list = array<i32: 1, 2>, my.nested = @a::@b, my.f8 = 1.0 : f8E4M3FN,\n"
      "      my.type = tensor<?x3xf8E5M2>} {\n"
      "    %0 = stablehlo.constant dense_resource<blob> : tensor<4xf32>\n"
      "    %1 = stablehlo.add %arg0, %0 {my.note = #foo.bar<4>} : tensor<4xf32>\n"
      "    return %1 : tensor<4xf32>\n"
      "  }\n"
      "  func.func private @types(tensor<2x!quant.uniform<i8:f32, 2.0:15>>,\n"
      "      tensor<2x3x!quant.uniform<i8:f32:1, {0.1:-30, 0.5:-20, 2.0:-10}>>,\n"
      "      tensor<?x4xf32, #stablehlo.bounds<5, ?>>, tuple<tensor<i4>, tensor<ui64>>,\n"
      "      tensor<*xf32>, !stablehlo.token) -> tensor<2xcomplex<f64>>\n"
      "}\n"
      "{-#\n"
      "  dialect_resources: {\n"
      "    builtin: {\n"
      "      blob: \"0x040000000000803F000000400000404000008040\"\n"
      "    }\n"
      "  }\n"
      "#-}\n";
  (void)state;
  tsr_ir *ir = tsr_ir_create();
  assert_ok(tsr_syntax_read(ir, "source", source, strlen(source)));
  assert_int_equal(ir->resource_count, 1);
  assert_round_trip(ir, NULL, "source");
  assert_round_trip(ir, "1.11", "source");
  tsr_ir_destroy(ir);
}

// ---- large programs, memory ----

static void a_chain_of_many_ops_is_written(void **state) {
  (void)state;
  enum { OPS = 20000 };
  op_program made = make(TSR_OP_ADD, f32, 2, NULL, NULL);
  const tsr_type *types[] = {f32(made.ir)};
  tsr_value *last = tsr_op_result(made.op, 0);
  tsr_op *end = made.op->next;
  for (int i = 0; i < OPS; i++) {
    tsr_value *operands[] = {last, last};
    tsr_op *op = tsr_op_create(made.ir, &(tsr_op_parts){.id = TSR_OP_MULTIPLY,
                                                        .operand_count = 2,
                                                        .operands = operands,
                                                        .result_count = 1,
                                                        .result_types = types});
    tsr_op_insert_before(end, op);
    last = tsr_op_result(op, 0);
  }
  tsr_op_set_operand(end, 0, last);
  assert_round_trip(made.ir, NULL, "chain");
  tsr_ir_destroy(made.ir);
}

static tsr_status write_again(void *context) {
  const read_program *program = context;
  tsr_text artifact = TSR_TEXT_EMPTY;
  tsr_status status = tsr_bytecode_write(program->ir, NULL, &artifact);
  tsr_text_deinit(&artifact);
  return status;
}

static void every_allocation_may_fail(void **state) {
  static const char *const paths[] = {"tests/programs/add_sharded/program.mlirbc",
                                      "tests/programs/cond_switch/program.mlirbc"};
  (void)state;
  for (size_t i = 0; i < COUNT_OF(paths); i++) {
    read_program program = read_path(paths[i]);
    test_allocation_sweep(write_again, &program);
    free_program(&program);
  }
}

SUITE(bytecode_write, TEST(what_is_written_is_read_as_the_same_program),
      TEST(writing_again_gives_the_same_bytes), TEST(ops_are_stored_in_the_form_of_the_version),
      TEST(unknown_versions_are_refused), TEST(constants_keep_their_elements),
      TEST(a_splat_of_no_elements_keeps_its_element), TEST(texts_and_resources_are_kept),
      TEST(a_chain_of_many_ops_is_written), TEST(every_allocation_may_fail))
