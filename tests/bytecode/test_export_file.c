// jax.export files: every field against what JAX says of the same file, and damaged files.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "bytecode/export_file.h"
#include "bytecode/export_internal.h"
#include "json/json.h"
#include "support/test.h"
#include "tessera/own.h"

typedef struct loaded_export {
  char *bytes;
  size_t length;
  tsr_export_file *file;
} loaded_export;

static loaded_export load(const char *path) {
  loaded_export loaded = {0};
  assert_ok(tsr_file_read(path, &loaded.bytes, &loaded.length));
  assert_true(tsr_export_is(loaded.bytes, loaded.length));
  assert_ok(tsr_export_read(path, loaded.bytes, loaded.length, &loaded.file));
  return loaded;
}

static void unload(loaded_export *loaded) {
  tsr_export_destroy(loaded->file);
  free(loaded->bytes);
}

static loaded_export load_seed(const char *name) {
  char path[256];
  snprintf(path, sizeof path, "tests/fuzz/seeds/export/%s", name);
  return load(path);
}

// ---- fields.json, as JAX wrote it ----

static void write_names(tsr_json_writer *json, const char *key, const tsr_export_names *names) {
  if (key) tsr_json_write_key(json, key);
  tsr_json_begin_array(json);
  for (int64_t i = 0; i < names->count; i++) tsr_json_write_string(json, names->names[i]);
  tsr_json_end_array(json);
}

static void write_avals(tsr_json_writer *json, const char *key, const tsr_export_value *values,
                        int64_t count) {
  tsr_json_add_array(json, key);
  for (int64_t i = 0; i < count; i++) {
    const tsr_export_names shape = {values[i].rank, values[i].dims};
    tsr_json_begin_object(json);
    write_names(json, "shape", &shape);
    tsr_json_add_string(json, "dtype", values[i].dtype_name);
    tsr_json_end_object(json);
  }
  tsr_json_end_array(json);
}

static void write_mesh(tsr_json_writer *json, const tsr_export_mesh *mesh) {
  tsr_json_add_array(json, "mesh");
  for (int64_t i = 0; i < mesh->axis_count; i++) {
    char type[64];
    snprintf(type, sizeof type, "AxisType.%c%s", mesh->axes[i].type[0] - 'a' + 'A',
             mesh->axes[i].type + 1);
    tsr_json_begin_array(json);
    tsr_json_write_string(json, mesh->axes[i].name);
    tsr_json_write_int(json, mesh->axes[i].size);
    tsr_json_write_string(json, type);
    tsr_json_end_array(json);
  }
  tsr_json_end_array(json);
}

static void write_shardings(tsr_json_writer *json, const char *key, const tsr_export_value *values,
                            int64_t count) {
  tsr_json_add_array(json, key);
  for (int64_t i = 0; i < count; i++) {
    const tsr_export_sharding *sharding = values[i].sharding;
    if (sharding->kind != TSR_EXPORT_NAMED) {
      tsr_json_write_null(json);
      continue;
    }
    tsr_json_begin_object(json);
    write_mesh(json, sharding->mesh);
    tsr_json_add_array(json, "spec");
    for (int64_t k = 0; k < sharding->dim_count; k++) write_names(json, NULL, &sharding->dims[k]);
    tsr_json_end_array(json);
    tsr_json_add_string(json, "memory_kind", sharding->memory_kind);
    tsr_json_end_object(json);
  }
  tsr_json_end_array(json);
}

static void write_tree(tsr_json_writer *json, const char *key, const tsr_export_tree *tree) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_export_tree_print(tree, &text);
  tsr_json_add_string(json, key, tsr_text_string(&text));
  tsr_text_deinit(&text);
}

static int64_t vjp_order(const tsr_export_file *file) {
  int64_t order = 0;
  for (; file->vjp; file = file->vjp) order++;
  return order;
}

static void write_fields(const loaded_export *loaded, tsr_text *out) {
  const tsr_export_file *file = loaded->file;
  tsr_json_writer json;
  tsr_json_writer_init(&json, out, 0);
  tsr_json_begin_object(&json);
  tsr_json_add_string(&json, "fun_name", file->function_name);
  write_tree(&json, "in_tree", &file->in_tree);
  write_tree(&json, "out_tree", &file->out_tree);
  write_avals(&json, "in_avals", file->ins, file->in_count);
  write_avals(&json, "out_avals", file->outs, file->out_count);
  tsr_json_add_int(&json, "nr_devices", file->device_count);
  write_names(&json, "platforms", &file->platforms);
  write_names(&json, "ordered_effects", &file->ordered_effects);
  write_names(&json, "unordered_effects", &file->unordered_effects);
  tsr_json_add_array(&json, "disabled_safety_checks");
  tsr_json_end_array(&json);
  tsr_json_add_int(&json, "calling_convention_version", file->calling_convention);
  tsr_json_add_ints(&json, "module_kept_var_idx", file->kept, (size_t)file->kept_count);
  tsr_json_add_bool(&json, "uses_global_constants", file->uses_global_constants);
  write_shardings(&json, "in_named_shardings", file->ins, file->in_count);
  write_shardings(&json, "out_named_shardings", file->outs, file->out_count);
  tsr_json_add_int(&json, "mlir_bytes", (int64_t)file->module_length);
  tsr_json_add_int(&json, "vjp_order", vjp_order(file));
  tsr_json_add_int(&json, "size", (int64_t)loaded->length);
  tsr_json_end_object(&json);
}

// The text of a JSON value, whatever white space it was written with.
static void reprint(const char *bytes, size_t length, tsr_text *out) {
  tsr_json_doc *doc = NULL;
  assert_ok(tsr_json_parse(bytes, length, &doc));
  tsr_json_print(tsr_json_root(doc), out);
  tsr_json_destroy(doc);
}

static void all_fields_are_those_that_jax_reads(void **state) {
  static const char *const names[] = {"captured_constants", "multi_platform", "prng_keys",
                                      "sharded_2x4_donated", "unsharded_named_donated"};
  (void)state;
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    char path[256];
    TSR_OWN(text, found);
    TSR_OWN(text, found_plain);
    TSR_OWN(text, wanted);
    char *fields = NULL, *module = NULL;
    size_t length = 0, module_length = 0;
    snprintf(path, sizeof path, "tests/programs/exported_%s/exported.bin", names[i]);
    loaded_export loaded = load(path);
    write_fields(&loaded, &found);
    reprint(tsr_text_string(&found), found.length, &found_plain);
    snprintf(path, sizeof path, "tests/programs/exported_%s/fields.json", names[i]);
    assert_ok(tsr_file_read(path, &fields, &length));
    reprint(fields, length, &wanted);
    assert_string_equal(tsr_text_string(&found_plain), tsr_text_string(&wanted));
    snprintf(path, sizeof path, "tests/programs/exported_%s/module.mlirbc", names[i]);
    assert_ok(tsr_file_read(path, &module, &module_length));
    assert_int_equal(loaded.file->module_length, module_length);
    assert_memory_equal(loaded.file->module, module, module_length);
    free(fields);
    free(module);
    unload(&loaded);
  }
}

// ---- paths, types and shardings ----

static const struct {
  const char *seed;
  bool is_result;
  int index;
  const char *path, *type, *sharding;
} values[] = {
    {"dict_and_keywords", false, 0, "[0][\"b'x\"]", "float32[3]", ""},
    {"dict_and_keywords", false, 1, "[0]['w']", "float32[2,3]", ""},
    {"dict_and_keywords", false, 3, "[1][1]", "bfloat16[1]", ""},
    {"dict_and_keywords", false, 4, "['scale']", "float32[]", ""},
    {"dict_and_keywords", true, 0, "[0]['o']", "float32[2,4]", ""},
    {"dict_and_keywords", true, 1, "[1][0]", "bfloat16[1]", ""},
    {"symbolic", false, 0, "[0]", "float32[b,4]", ""},
    {"symbolic", false, 1, "[1]", "int8[n,2*n + 1]", ""},
    {"namedtuple", false, 1, "[0].b", "int4[]", ""},
    {"namedtuple", true, 1, ".b[0]", "int4[]", ""},
    {"checks", true, 0, "", "float8_e4m3fn[3]", ""},
    {"sharded", false, 0, "[0]", "float32[8,4]", "P(('x', 'y'), None)"},
    {"sharded", false, 1, "[1]", "float32[4,8]", "P(None, 'z')"},
    {"sharded", true, 0, "[0]", "float32[8,4]", "P('x',)"},
    {"hlo_shardings", false, 0, "[0]", "float32[8,4]",
     "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"},
    {"hlo_shardings", false, 1, "[1]", "float32[4,8]",
     "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}"},
    {"hlo_shardings", true, 1, "[1]", "float32[4,8]", ""},
};

static void values_have_their_place_type_and_sharding(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(values); i++) {
    loaded_export loaded = load_seed(values[i].seed);
    const tsr_export_value *list = values[i].is_result ? loaded.file->outs : loaded.file->ins;
    const tsr_export_value *value = &list[values[i].index];
    TSR_OWN(text, type);
    TSR_OWN(text, sharding);
    tsr_export_value_print(value, &type);
    tsr_export_sharding_print(value->sharding, &sharding);
    assert_string_equal(value->path, values[i].path);
    assert_string_equal(tsr_text_string(&type), values[i].type);
    assert_string_equal(tsr_text_string(&sharding), values[i].sharding);
    unload(&loaded);
  }
}

static void disabled_checks_name_their_target(void **state) {
  (void)state;
  loaded_export loaded = load_seed("checks");
  assert_int_equal(loaded.file->check_count, 2);
  assert_string_equal(loaded.file->disabled_checks[0].kind, "custom_call");
  assert_string_equal(loaded.file->disabled_checks[0].target, "foo");
  assert_string_equal(loaded.file->disabled_checks[1].kind, "platform");
  assert_null(loaded.file->disabled_checks[1].target);
  unload(&loaded);
}

static void derivatives_are_nested_and_unused_arguments_are_not_kept(void **state) {
  (void)state;
  loaded_export loaded = load_seed("unused_with_vjp");
  assert_int_equal(vjp_order(loaded.file), 2);
  assert_int_equal(loaded.file->in_count, 3);
  assert_int_equal(loaded.file->kept_count, 1);
  assert_false(loaded.file->ins[0].kept);
  assert_true(loaded.file->ins[1].kept);
  assert_int_equal(loaded.file->vjp->in_count, 4);   // the inputs, then the cotangent
  assert_int_equal(loaded.file->vjp->out_count, 3);  // cotangents of the inputs
  assert_int_equal(loaded.file->device_count, 1);
  unload(&loaded);
}

static const struct {
  const char *hex, *text;  // NULL = refused
} op_shardings[] = {
    {"", "{replicated}"},
    {"08011a0101220103", "{maximal device=3}"},
    {"0804", "{manual}"},
    {"0805", "{unknown}"},
    {"08031a030201022204000201033001", "{devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}"},
    {"08031a0202044a0108520100", "{devices=[2,4]<=[8]}"},
    {"08031a0204024a02020452020100", "{devices=[4,2]<=[2,4]T(1,0)}"},
    {"08031a03020202420204004a0108520100",
     "{devices=[2,2,2]<=[8] last_tile_dims={manual, replicated}}"},
    {"08022a002a020804", "{{replicated}, {manual}}"},
    {"08", NULL},
    {"0809", NULL},
    {"08031a7f01", NULL},
    {"0803420109", NULL},
    {"0801", NULL},
    {"07", NULL},
    {"08031a0204024a020204520101", NULL},
};

static void op_shardings_become_the_text_of_xla(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(op_shardings); i++) {
    unsigned char bytes[64];
    const size_t length = strlen(op_shardings[i].hex) / 2;
    for (size_t k = 0; k < length; k++) {
      unsigned byte = 0;
      assert_int_equal(sscanf(op_shardings[i].hex + 2 * k, "%2x", &byte), 1);
      bytes[k] = (unsigned char)byte;
    }
    TSR_OWN(text, text);
    const bool known = tsr_op_sharding_print(bytes, length, &text);
    assert_int_equal(known, op_shardings[i].text != NULL);
    assert_string_equal(tsr_text_string(&text), known ? op_shardings[i].text : "");
  }
}

// ---- damage ----

static void files_that_are_cut_are_refused(void **state) {
  (void)state;
  loaded_export loaded = load_seed("sharded");
  // A copy of the exact size, so that a read past its end is found.
  for (size_t length = 0; length < loaded.length - 8; length++) {
    char *copy = malloc(length + 1);
    memcpy(copy, loaded.bytes, length);
    tsr_export_file *file = NULL;
    assert_fails_with(tsr_export_read("cut", copy, length, &file), BROKEN_PROGRAM, "cut: ");
    assert_null(file);
    free(copy);
  }
  unload(&loaded);
}

static void changed_bytes_are_read_or_refused(void **state) {
  (void)state;
  loaded_export loaded = load_seed("dict_and_keywords");
  test_random random = {7};
  char *copy = malloc(loaded.length);
  for (int round = 0; round < 20000; round++) {
    memcpy(copy, loaded.bytes, loaded.length);
    for (int64_t k = test_random_range(&random, 1, 4); k > 0; k--)
      copy[test_random_range(&random, 0, (int64_t)loaded.length - 1)] =
          (char)test_random_range(&random, 0, 255);
    tsr_export_file *file = NULL;
    tsr_status_free(tsr_export_read("changed", copy, loaded.length, &file));
    tsr_export_destroy(file);
  }
  free(copy);
  unload(&loaded);
}

// A root table with one field, in slot `slot`, which refers to what follows the table.
static size_t make_file(unsigned char *bytes, int slot, const void *rest, size_t rest_length) {
  const size_t vtable = 4, vtable_bytes = 4 + 2 * (size_t)(slot + 1);
  const size_t table = (vtable + vtable_bytes + 3) / 4 * 4;
  memset(bytes, 0, table + 8);
  bytes[0] = (unsigned char)table;
  bytes[vtable] = (unsigned char)vtable_bytes;
  bytes[vtable + 2] = 8;
  bytes[vtable + 4 + 2 * (size_t)slot] = 4;
  bytes[table] = (unsigned char)(table - vtable);
  bytes[table + 4] = 4;
  memcpy(bytes + table + 8, rest, rest_length);
  return table + 8 + rest_length;
}

static const struct {
  int slot;
  const char *rest;
  size_t length;
  const char *message;
} broken[] = {
    {13, "\x00\x00\x00\x00", 4, "x: jax.export file: in_tree: it is missing"},
    {1, "\xff\x00\x00\x00", 4,
     "x: jax.export file: function_name: the list at byte 20 has 255 elements of 1 bytes, and 0 "
     "bytes are left"},
    {1,
     "\x02\x00\x00\x00"
     "ab",
     6,
     "x: jax.export file: function_name: the string at byte 20 does not end with its one zero "
     "byte"},
    {1,
     "\x02\x00\x00\x00"
     "\xff\xff\0",
     7, "x: jax.export file: function_name: the string at byte 20 is not UTF-8"},
    {1, "", 0,
     "x: jax.export file: function_name: what is referred to at byte 20 is past the end, at byte "
     "20"},
    {0, "", 0, "x: jax.export file: it has no module"},
};

static void broken_files_are_refused_with_the_reason(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(broken); i++) {
    unsigned char bytes[256];
    const size_t length = make_file(bytes, broken[i].slot, broken[i].rest, broken[i].length);
    tsr_export_file *file = NULL;
    assert_fails(tsr_export_read("x", bytes, length, &file), BROKEN_PROGRAM, broken[i].message);
    assert_null(file);
    assert_false(tsr_export_is(bytes, length));
  }
}

static void other_files_are_not_taken_for_exports(void **state) {
  static const char *const paths[] = {"tests/programs/exported_prng_keys/module.mlirbc",
                                      "tests/programs/exported_prng_keys/module.mlir",
                                      "tests/programs/exported_prng_keys/fields.json"};
  (void)state;
  for (size_t i = 0; i < COUNT_OF(paths); i++) {
    char *bytes = NULL;
    size_t length = 0;
    assert_ok(tsr_file_read(paths[i], &bytes, &length));
    assert_false(tsr_export_is(bytes, length));
    free(bytes);
  }
  assert_false(tsr_export_is("", 0));
}

static tsr_status read_again(void *context) {
  const loaded_export *loaded = context;
  tsr_export_file *file = NULL;
  tsr_status status = tsr_export_read("again", loaded->bytes, loaded->length, &file);
  tsr_export_destroy(file);
  return status;
}

static void every_allocation_may_fail(void **state) {
  static const char *const seeds[] = {"sharded", "hlo_shardings", "namedtuple"};
  (void)state;
  for (size_t i = 0; i < COUNT_OF(seeds); i++) {
    loaded_export loaded = load_seed(seeds[i]);
    test_allocation_sweep(read_again, &loaded);
    unload(&loaded);
  }
}

SUITE(export_file, TEST(all_fields_are_those_that_jax_reads),
      TEST(values_have_their_place_type_and_sharding), TEST(disabled_checks_name_their_target),
      TEST(derivatives_are_nested_and_unused_arguments_are_not_kept),
      TEST(op_shardings_become_the_text_of_xla), TEST(files_that_are_cut_are_refused),
      TEST(changed_bytes_are_read_or_refused), TEST(broken_files_are_refused_with_the_reason),
      TEST(other_files_are_not_taken_for_exports), TEST(every_allocation_may_fail))
