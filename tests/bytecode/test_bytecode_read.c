// Portable artifacts: what is read from real files, and what is said of damaged ones.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "bytecode/bytecode.h"
#include "support/test.h"
#include "tessera/text.h"

static const char add_sharded[] = "tests/programs/add_sharded/program.mlirbc";

typedef struct artifact_file {
  char *bytes;
  size_t length;
} artifact_file;

static artifact_file read_file(const char *path) {
  artifact_file file = {0};
  assert_ok(tsr_file_read(path, &file.bytes, &file.length));
  return file;
}

static tsr_status try_bytes(const char *bytes, size_t length) {
  tsr_ir *ir = tsr_ir_create();
  if (!ir) return tsr_fail(NO_MEMORY, "a program");
  tsr_status status = tsr_bytecode_read(ir, "step.mlirbc", bytes, length);
  tsr_ir_destroy(ir);
  return status;
}

// ---- real files ----

static void every_program_of_the_corpus_is_read(void **state) {
  (void)state;
  DIR *folder = opendir("tests/programs");
  int count = 0;
  assert_non_null(folder);
  for (const struct dirent *entry; (entry = readdir(folder));) {
    char path[512];
    snprintf(path, sizeof path, "tests/programs/%s/program.mlirbc", entry->d_name);
    FILE *file = fopen(path, "rb");
    if (!file) continue;
    fclose(file);
    const artifact_file artifact = read_file(path);
    assert_true(tsr_bytecode_is(artifact.bytes, artifact.length));
    assert_ok(try_bytes(artifact.bytes, artifact.length));
    free(artifact.bytes);
    count++;
  }
  closedir(folder);
  assert_true(count >= 100);
}

static void an_artifact_becomes_stablehlo(void **state) {
  (void)state;
  const artifact_file file = read_file(add_sharded);
  tsr_ir *ir = tsr_ir_create();
  assert_ok(tsr_bytecode_read(ir, add_sharded, file.bytes, file.length));
  assert_true(tsr_attr_is_string(tsr_op_attr(ir->module, "sym_name"), "jit_add_sharded"));
  assert_int_equal(tsr_op_int(ir->module, "mhlo.num_partitions", 0), 8);

  const tsr_op *mesh = tsr_ir_find_symbol(ir, "mesh");
  assert_string_equal(mesh->name, "sdy.mesh");
  const tsr_attr *axes = tsr_attr_field(tsr_op_attr(mesh, "mesh"), TSR_SDY_MESH_AXES);
  assert_int_equal(axes->count, 2);
  assert_true(tsr_attr_is_string(tsr_attr_field(axes->items[1], TSR_SDY_MESH_AXIS_NAME), "y"));

  const tsr_op *func = tsr_ir_entry(ir);
  assert_true(tsr_attr_is_string(tsr_op_attr(func, "sym_visibility"), "public"));
  const tsr_attr *sharding = tsr_dict_find(tsr_func_arg_attrs(func, 1), "sdy.sharding");
  assert_true(tsr_attr_has_form(sharding, TSR_FORM_RECORD, TSR_RECORD_SDY_SHARDING));
  assert_true(tsr_attr_is_string(tsr_dict_find(tsr_func_result_attrs(func, 0), "jax.result_info"),
                                 "result"));

  const tsr_ir_block *body = tsr_func_body(func);
  const tsr_attr *location = body->args[0]->location;
  assert_true(tsr_attr_is_string(tsr_attr_field(location, TSR_LOC_NAME_NAME), "a[0]"));
  const tsr_op *add = body->first;
  assert_int_equal(add->info->id, TSR_OP_ADD);
  assert_ptr_equal(tsr_op_operand(add, 1), body->args[1]);
  assert_ptr_equal(add->results[0].type, body->args[0]->type);
  assert_int_equal(add->next->info->id, TSR_OP_FUNC_RETURN);
  assert_null(add->next->next);
  tsr_ir_destroy(ir);
  free(file.bytes);
}

static bool is_inside(const artifact_file *file, const char *bytes) {
  return bytes >= file->bytes && bytes < file->bytes + file->length;
}

// The largest constant of a program.
static const tsr_attr *largest_constant(const tsr_op *op, const tsr_attr *largest) {
  const tsr_attr *value = op->info->id == TSR_OP_CONSTANT ? tsr_op_attr(op, "value") : NULL;
  if (value && (!largest || value->length > largest->length)) largest = value;
  for (int i = 0; i < op->region_count; i++)
    for (const tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      for (const tsr_op *inner = block->first; inner; inner = inner->next)
        largest = largest_constant(inner, largest);
  return largest;
}

static void constants_are_views_of_the_file(void **state) {
  (void)state;
  const char *path = "tests/programs/captured_constants/program.mlirbc";
  const artifact_file file = read_file(path);
  tsr_ir *ir = tsr_ir_create();
  assert_ok(tsr_bytecode_read(ir, path, file.bytes, file.length));
  const tsr_attr *value = largest_constant(ir->module, NULL);
  assert_true(value->length > 64);
  assert_true(is_inside(&file, value->bytes));
  tsr_ir_destroy(ir);
  free(file.bytes);
}

// ---- versions ----

static tsr_ir *read_seed(const char *name, artifact_file *out_file) {
  char path[256];
  snprintf(path, sizeof path, "tests/fuzz/seeds/bytecode/%s.mlirbc", name);
  *out_file = read_file(path);
  tsr_ir *ir = tsr_ir_create();
  assert_ok(tsr_bytecode_read(ir, path, out_file->bytes, out_file->length));
  return ir;
}

// MLIR bytecode 0, 1, 3, 4 and 6, and the oldest to the newest versions of ops.
static const char *const versions[] = {"ops_0.9.0",  "ops_0.10.0", "ops_0.12.0",
                                       "ops_0.14.0", "ops_1.0.0",  "ops_1.17.0"};

static void all_versions_of_a_module_are_the_same_program(void **state) {
  (void)state;
  artifact_file newest_file;
  tsr_ir *newest = read_seed("ops_1.17.0", &newest_file);
  for (size_t i = 0; i < COUNT_OF(versions); i++) {
    artifact_file file;
    tsr_ir *ir = read_seed(versions[i], &file);
    tsr_text difference = TSR_TEXT_EMPTY;
    if (!tsr_ir_equal(ir, newest, &difference))
      fail_msg("%s: %s", versions[i], tsr_text_string(&difference));
    tsr_text_deinit(&difference);
    tsr_ir_destroy(ir);
    free(file.bytes);
  }
  tsr_ir_destroy(newest);
  free(newest_file.bytes);
}

// 6 only differs from 5 in ops that neither VHLO nor Shardy has.
static void bytecode_5_is_read_as_6(void **state) {
  (void)state;
  artifact_file file;
  tsr_ir *ir = read_seed("ops_1.17.0", &file);
  file.bytes[4] = 0x0b;
  assert_ok(try_bytes(file.bytes, file.length));
  tsr_ir_destroy(ir);
  free(file.bytes);
}

static const char *constant_at(const tsr_ir *ir, int index, const tsr_attr **out_value) {
  const tsr_op *op = tsr_func_body(tsr_ir_entry(ir))->first;
  for (int i = 0; i < index; i++) op = op->next;
  *out_value = tsr_op_attr(op, "value");
  return (*out_value)->bytes;
}

static void bools_are_one_in_a_byte(void **state) {
  (void)state;
  static const struct {
    int index;
    size_t length;
    bool splat;
    const char *bytes;
  } cases[] = {
      {0, 1, true, "\1"}, {1, 1, true, "\0"}, {3, 3, false, "\1\0\1"},
      {4, 1, true, "\1"}, {7, 1, true, "\0"}, {6, 9, false, "\1\0\0\0\0\0\0\1\1"},
      {8, 1, true, "\1"}, {9, 0, false, ""},
  };
  artifact_file file;
  tsr_ir *ir = read_seed("bools_1.17.0", &file);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const tsr_attr *value = NULL;
    const char *bytes = constant_at(ir, cases[i].index, &value);
    assert_int_equal(value->length, cases[i].length);
    assert_int_equal(value->splat, cases[i].splat);
    assert_memory_equal(bytes, cases[i].bytes, cases[i].length);
  }
  tsr_ir_destroy(ir);
  free(file.bytes);
}

static void resources_are_found_by_their_key(void **state) {
  (void)state;
  artifact_file file;
  tsr_ir *ir = read_seed("attrs_1.17.0", &file);
  assert_int_equal(ir->resource_count, 1);
  assert_string_equal(ir->resources[0].name, "blob1");
  assert_int_equal(ir->resources[0].attr->length, 24);
  assert_true(is_inside(&file, ir->resources[0].attr->bytes));
  const tsr_attr *use = tsr_op_attr(ir->module, "f.r");
  assert_int_equal(use->kind, TSR_ATTR_RESOURCE);
  assert_string_equal(use->bytes, "blob1");
  tsr_ir_destroy(ir);
  free(file.bytes);
}

static void wide_integers_keep_their_sign(void **state) {
  (void)state;
  artifact_file file;
  tsr_ir *ir = read_seed("wide_1.17.0", &file);
  assert_int_equal(tsr_op_int(ir->module, "a.i", 0), 5);
  assert_int_equal(tsr_op_int(ir->module, "b.i", 0), -5);
  assert_int_equal(tsr_op_attr(ir->module, "b.i")->type->width, 128);
  assert_int_equal(tsr_op_int(ir->module, "d.d", 0), 200);
  tsr_ir_destroy(ir);
  free(file.bytes);
}

static void casts_between_dialects_are_gone(void **state) {
  (void)state;
  artifact_file file;
  tsr_ir *ir = read_seed("sdy_1.15.0", &file);
  const tsr_ir_block *body = tsr_func_body(tsr_ir_entry(ir));
  assert_string_equal(body->first->name, "sdy.sharding_constraint");
  assert_ptr_equal(tsr_op_operand(body->first, 0), body->args[0]);
  for (const tsr_op *op = body->first; op; op = op->next)
    assert_int_not_equal(op->info->id, TSR_OP_CAST);
  tsr_ir_destroy(ir);
  free(file.bytes);
}

// ---- damage ----

// Changes bytes of add_sharded, whose layout is: header to 23, dialects 24 to 42, entry sizes,
// entries, ir, strings, properties.
static const struct {
  size_t at;
  unsigned char byte;
  tsr_cause cause;
  const char *message;
} damages[] = {
    {0, 'm', TSR_CAUSE_BROKEN_PROGRAM, "step.mlirbc: byte 0: header: expected \"ML\\xefR\""},
    {4, 0x0f, TSR_CAUSE_UNKNOWN_VERSION,
     "step.mlirbc: byte 4: header: MLIR bytecode version 7, at most 6 is known"},
    {5, 'M', TSR_CAUSE_UNSUPPORTED,
     "step.mlirbc: byte 5: header: ordinary MLIR bytecode of \"MtableHLO_v1.15.0\", which only the "
     "version of MLIR that wrote it reads; serialize the module as a portable artifact "
     "(jax.export, or serialize_portable_artifact of StableHLO), or print it as text"},
    {23, 9, TSR_CAUSE_BROKEN_PROGRAM, "step.mlirbc: byte 23: file: section id 9, expected 0 to 8"},
    {23, 3, TSR_CAUSE_BROKEN_PROGRAM, "step.mlirbc: byte 41: file: a second entry size section"},
    {23, 7, TSR_CAUSE_BROKEN_PROGRAM,
     "step.mlirbc: byte 23: file: a dialect version section outside of the dialect section"},
    {25, 0xff, TSR_CAUSE_BROKEN_PROGRAM,
     "step.mlirbc: byte 26: dialect section: 127 dialects, but 15 bytes are left"},
    {26, 0xff, TSR_CAUSE_BROKEN_PROGRAM, "step.mlirbc: byte 26: dialect section: string 63 of 34"},
    {38, 1, TSR_CAUSE_UNKNOWN_OP,
     "step.mlirbc: byte 420: ir section: op \"vhlo.builtin\" is not known (StableHLO 1.20)"},
    {43, 1, TSR_CAUSE_BROKEN_PROGRAM,
     "step.mlirbc: byte 47: entry size section: 57 entries in a group, but 6 are left"},
    {138, 15, TSR_CAUSE_BROKEN_PROGRAM,
     "step.mlirbc: byte 139: attribute and type section: 966 bytes, but 726 are left"},
    {139, 0x7f, TSR_CAUSE_UNKNOWN_VERSION,
     "step.mlirbc: byte 139: attribute 0: attribute code 63 of the dialect \"builtin\" is not "
     "known; the file was written by a newer version"},
    {151, 0xff, TSR_CAUSE_BROKEN_PROGRAM,
     "step.mlirbc: byte 151: attribute 6: attribute 127 of 75"},
    {155, 0x0f, TSR_CAUSE_BROKEN_PROGRAM, "step.mlirbc: byte 153: attribute 7: it contains itself"},
    {382, 0x0f, TSR_CAUSE_BROKEN_PROGRAM,
     "step.mlirbc: byte 382: type 0: an integer of 1 bits and signedness 3, expected at most "
     "16777215 bits and 0 to 2"},
    {391, 3, TSR_CAUSE_BROKEN_PROGRAM,
     "step.mlirbc: byte 390: type 3: dimension 0 has the size -1"},
    {396, 1, TSR_CAUSE_BROKEN_PROGRAM,
     "step.mlirbc: byte 420: ir section: func.func: argument 0 has another type in the body"},
    {404, 3, TSR_CAUSE_BROKEN_PROGRAM,
     "step.mlirbc: byte 404: ir section: sdy.mesh: the attribute \"mesh\" has another kind than "
     "the op wants"},
    {405, 1, TSR_CAUSE_BROKEN_PROGRAM,
     "step.mlirbc: byte 404: ir section: builtin.module: its properties are missing"},
    {534, '9', TSR_CAUSE_UNKNOWN_VERSION,
     "step.mlirbc: byte 436: ir section: op \"vhlo.add_v9\" is newer than StableHLO 1.20, whose op "
     "is \"vhlo.add_v1\""},
    {406, 0xff, TSR_CAUSE_BROKEN_PROGRAM, "step.mlirbc: byte 406: ir section: attribute 127 of 75"},
};

static void damage_is_named_with_its_place(void **state) {
  (void)state;
  const artifact_file file = read_file(add_sharded);
  for (size_t i = 0; i < COUNT_OF(damages); i++) {
    const char before = file.bytes[damages[i].at];
    file.bytes[damages[i].at] = (char)damages[i].byte;
    tsr_status status = try_bytes(file.bytes, file.length);
    assert_message(status, damages[i].message);
    assert_int_equal(tsr_status_cause(status), damages[i].cause);
    tsr_status_free(status);
    file.bytes[damages[i].at] = before;
  }
  free(file.bytes);
}

static void every_truncation_fails(void **state) {
  (void)state;
  const artifact_file file = read_file(add_sharded);
  for (size_t length = 0; length < file.length; length++) {
    char *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, file.bytes, length);
    tsr_status status = try_bytes(copy, length);
    assert_int_equal(tsr_status_cause(status), TSR_CAUSE_BROKEN_PROGRAM);
    tsr_status_free(status);
    free(copy);
  }
  free(file.bytes);
}

static void flipped_bits_are_read_or_refused(void **state) {
  (void)state;
  const artifact_file file = read_file(add_sharded);
  for (size_t bit = 0; bit < 8 * file.length; bit++) {
    const char mask = (char)(1 << bit % 8);
    file.bytes[bit / 8] = (char)(file.bytes[bit / 8] ^ mask);
    tsr_status status = try_bytes(file.bytes, file.length);
    assert_int_not_equal(tsr_status_cause(status), TSR_CAUSE_NO_MEMORY);
    tsr_status_free(status);
    file.bytes[bit / 8] = (char)(file.bytes[bit / 8] ^ mask);
  }
  free(file.bytes);
}

static tsr_status read_once(void *context) {
  const artifact_file *file = context;
  return try_bytes(file->bytes, file->length);
}

static void memory_that_runs_out_is_reported(void **state) {
  (void)state;
  artifact_file file = read_file("tests/programs/cond_switch/program.mlirbc");
  test_allocation_sweep(read_once, &file);
  free(file.bytes);
}

SUITE(bytecode_read, TEST(every_program_of_the_corpus_is_read), TEST(an_artifact_becomes_stablehlo),
      TEST(constants_are_views_of_the_file), TEST(all_versions_of_a_module_are_the_same_program),
      TEST(bytecode_5_is_read_as_6), TEST(bools_are_one_in_a_byte),
      TEST(resources_are_found_by_their_key), TEST(wide_integers_keep_their_sign),
      TEST(casts_between_dialects_are_gone), TEST(damage_is_named_with_its_place),
      TEST(every_truncation_fails), TEST(flipped_bits_are_read_or_refused),
      TEST(memory_that_runs_out_is_reported))
