// Reads jax.export files: the root table and the types of arguments and results. The result and
// everything below it live in one arena; strings, keys and the module are views of the file.
#include "bytecode/export_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "bytecode/export_internal.h"

// The slots of the root table. Slots marked (old) give way to later ones.
enum {
  STORED_VERSION,
  FUNCTION_NAME,
  IN_TREE,
  IN_AVALS,  // (old)
  OUT_TREE,
  OUT_AVALS,      // (old)
  DEVICES_OLD,    // (old)
  IN_SHARDINGS,   // (old)
  OUT_SHARDINGS,  // (old)
  PLATFORMS,
  ORDERED_EFFECTS,
  UNORDERED_EFFECTS,
  DISABLED_CHECKS,
  MODULE,
  CALLING_CONVENTION,
  KEPT,
  GLOBAL_CONSTANTS,
  VJP,
  DEVICES,
  UNIQUE_AVALS,
  UNIQUE_MESHES,
  UNIQUE_SHARDINGS,
  IN_AVAL_INDICES,
  OUT_AVAL_INDICES,
  IN_SHARDING_INDICES,
  OUT_SHARDING_INDICES,
  JAX_VERSION
};
enum { AVAL_KIND, AVAL_SHAPE, AVAL_DTYPE, AVAL_MEMORY };

// By JAX's number.
static const struct {
  tsr_dtype dtype;
  const char *name;  // NULL = NumPy's
} dtypes[] = {
    {TSR_BOOL, NULL},
    {TSR_I8, NULL},
    {TSR_I16, NULL},
    {TSR_I32, NULL},
    {TSR_I64, NULL},
    {TSR_U8, NULL},
    {TSR_U16, NULL},
    {TSR_U32, NULL},
    {TSR_U64, NULL},
    {TSR_F16, NULL},
    {TSR_F32, NULL},
    {TSR_F64, NULL},
    {TSR_C64, NULL},
    {TSR_C128, NULL},
    {TSR_BF16, NULL},
    {TSR_I4, NULL},
    {TSR_U4, NULL},
    {TSR_F8E4M3B11FNUZ, NULL},
    {TSR_F8E4M3FN, NULL},
    {TSR_F8E4M3FNUZ, NULL},
    {TSR_F8E5M2, NULL},
    {TSR_F8E5M2FNUZ, NULL},
    {TSR_DTYPE_NONE, "float0"},
    {TSR_F8E4M3, NULL},
    {TSR_F8E3M4, NULL},
    {TSR_F8E8M0FNU, NULL},
    {TSR_F4E2M1FN, NULL},
    {TSR_DTYPE_NONE, "key<fry>"},
    {TSR_DTYPE_NONE, "key<rbg>"},
    {TSR_DTYPE_NONE, "key<unsafe_rbg>"},
};
enum { JAX_DTYPE_COUNT = sizeof dtypes / sizeof *dtypes };

// ---- lists ----

void *tsr_export_zeros(tsr_export_reader *reader, int64_t count, size_t size) {
  return tsr_arena_zeros(reader->arena, (size_t)count + 1, size);
}

// Reads the strings of a list: its elements, or (`slot` >= 0) that slot of its tables.
static tsr_status read_strings(tsr_export_reader *reader, const tsr_flat_list *list, int slot,
                               tsr_export_names *out_names) {
  const char **names = tsr_export_zeros(reader, list->count, sizeof *names);
  TSR_NEED(names);
  for (int64_t i = 0; i < list->count; i++) {
    if (slot < 0) {
      TSR_TRY(tsr_flat_item_string(list, i, &names[i]));
      continue;
    }
    tsr_flat_table table;
    TSR_TRY(tsr_flat_item_table(list, i, &table));
    TSR_TRY(tsr_flat_string(&table, slot, &names[i]));
    if (!names[i]) names[i] = "";
  }
  *out_names = (tsr_export_names){list->count, names};
  return NULL;
}

tsr_status tsr_export_names_read(tsr_export_reader *reader, const tsr_flat_table *table, int slot,
                                 tsr_export_names *out_names) {
  tsr_flat_list list;
  TSR_TRY(tsr_flat_list_of(table, slot, 4, &list));
  return read_strings(reader, &list, -1, out_names);
}

static tsr_status read_effects(tsr_export_reader *reader, const tsr_flat_table *root, int slot,
                               tsr_export_names *out_names) {
  tsr_flat_list list;
  TSR_TRY(tsr_flat_list_of(root, slot, 4, &list));
  return read_strings(reader, &list, 0, out_names);
}

// ---- arguments and results ----

static tsr_status read_aval(tsr_export_reader *reader, const tsr_flat_table *table,
                            tsr_export_value *value) {
  uint64_t kind = 0, dtype = 0, memory = 0;
  tsr_export_names shape;
  TSR_TRY(tsr_flat_number(table, AVAL_KIND, 1, 0, &kind));
  TSR_TRY(tsr_flat_number(table, AVAL_DTYPE, 1, 0, &dtype));
  TSR_TRY(tsr_flat_number(table, AVAL_MEMORY, 1, 0, &memory));
  TSR_TRY(tsr_export_names_read(reader, table, AVAL_SHAPE, &shape));
  if (kind) return tsr_fail(UNSUPPORTED, "a value of kind %d, wanted 0, an array", (int)kind);
  if (dtype >= JAX_DTYPE_COUNT)
    return tsr_fail(UNSUPPORTED, "dtype number %d, wanted 0 to %d", (int)dtype,
                    JAX_DTYPE_COUNT - 1);
  if (memory >= TSR_EXPORT_MEMORY_COUNT)
    return tsr_fail(BROKEN_PROGRAM, "memory space %d, wanted 0 to %d", (int)memory,
                    TSR_EXPORT_MEMORY_COUNT - 1);
  value->rank = shape.count;
  value->dims = shape.names;
  value->dtype = dtypes[dtype].dtype;
  value->dtype_name =
      dtypes[dtype].name ? dtypes[dtype].name : tsr_dtype_name(value->dtype, TSR_NAMES_NUMPY);
  value->memory = (tsr_export_memory)memory;
  return NULL;
}

static tsr_status read_avals(tsr_export_reader *reader, const tsr_flat_table *root, int slot,
                             int64_t *out_count, tsr_export_value **out_values) {
  tsr_flat_list list;
  TSR_TRY(tsr_flat_list_of(root, slot, 4, &list));
  tsr_export_value *values = tsr_export_zeros(reader, list.count, sizeof *values);
  TSR_NEED(values);
  for (int64_t i = 0; i < list.count; i++) {
    tsr_flat_table table;
    TSR_TRY(tsr_flat_item_table(&list, i, &table));
    TSR_TRY_NOTE(read_aval(reader, &table, &values[i]), "value %lld", (long long)i);
  }
  *out_count = list.count;
  *out_values = values;
  return NULL;
}

// The values of arguments or results: by index among the unique ones, or else each by itself.
static tsr_status read_values(tsr_export_reader *reader, const tsr_flat_table *root, int index_slot,
                              int old_slot, int64_t *out_count, tsr_export_value **out_values) {
  tsr_flat_list indices;
  TSR_TRY(tsr_flat_list_of(root, index_slot, 4, &indices));
  if (!indices.count) return read_avals(reader, root, old_slot, out_count, out_values);
  tsr_export_value *unique = NULL;
  int64_t unique_count = 0;
  TSR_TRY(read_avals(reader, root, UNIQUE_AVALS, &unique_count, &unique));
  tsr_export_value *values = tsr_export_zeros(reader, indices.count, sizeof *values);
  TSR_NEED(values);
  for (int64_t i = 0; i < indices.count; i++) {
    const uint64_t index = tsr_flat_item_number(&indices, i, 4);
    if (index >= (uint64_t)unique_count)
      return tsr_fail(BROKEN_PROGRAM, "value %lld has type %lld, and the file has %lld",
                      (long long)i, (long long)index, (long long)unique_count);
    values[i] = unique[index];
  }
  *out_count = indices.count;
  *out_values = values;
  return NULL;
}

static tsr_status read_interface(tsr_export_reader *reader, const tsr_flat_table *root,
                                 tsr_export_file *file) {
  tsr_export_shared shared;
  TSR_TRY_NOTE(tsr_export_tree_read(reader, root, IN_TREE, &file->in_tree), "in_tree");
  TSR_TRY_NOTE(tsr_export_tree_read(reader, root, OUT_TREE, &file->out_tree), "out_tree");
  TSR_TRY_NOTE(read_values(reader, root, IN_AVAL_INDICES, IN_AVALS, &file->in_count, &file->ins),
               "in_avals");
  TSR_TRY_NOTE(
      read_values(reader, root, OUT_AVAL_INDICES, OUT_AVALS, &file->out_count, &file->outs),
      "out_avals");
  TSR_TRY_NOTE(tsr_export_paths(reader, &file->in_tree, 1, file->ins, file->in_count), "in_tree");
  TSR_TRY_NOTE(tsr_export_paths(reader, &file->out_tree, 0, file->outs, file->out_count),
               "out_tree");
  TSR_TRY(tsr_export_shared_read(reader, root, &shared));
  TSR_TRY_NOTE(tsr_export_shardings_read(reader, root, IN_SHARDING_INDICES, IN_SHARDINGS, &shared,
                                         file->ins, file->in_count),
               "in_shardings");
  TSR_TRY_NOTE(tsr_export_shardings_read(reader, root, OUT_SHARDING_INDICES, OUT_SHARDINGS, &shared,
                                         file->outs, file->out_count),
               "out_shardings");
  return NULL;
}

static tsr_status read_kept(tsr_export_reader *reader, const tsr_flat_table *root,
                            tsr_export_file *file) {
  tsr_flat_list list;
  TSR_TRY(tsr_flat_list_of(root, KEPT, 2, &list));
  int64_t *kept = tsr_export_zeros(reader, list.count, sizeof *kept);
  TSR_NEED(kept);
  int64_t previous = -1;
  for (int64_t i = 0; i < list.count; i++) {
    kept[i] = (int64_t)tsr_flat_item_number(&list, i, 2);
    if (kept[i] <= previous || kept[i] >= file->in_count)
      return tsr_fail(BROKEN_PROGRAM,
                      "module_kept_var_idx has %lld after %lld, wanted ascending "
                      "numbers below %lld",
                      (long long)kept[i], (long long)previous, (long long)file->in_count);
    previous = kept[i];
    file->ins[kept[i]].kept = true;
  }
  file->kept = kept;
  file->kept_count = list.count;
  return NULL;
}

// ---- the rest of the root table ----

static const char *const check_kinds[] = {"platform", "custom_call", "shape_assertions"};
enum { CHECK_KIND_COUNT = sizeof check_kinds / sizeof *check_kinds };

static tsr_status read_checks(tsr_export_reader *reader, const tsr_flat_table *root,
                              tsr_export_file *file) {
  tsr_flat_list list;
  TSR_TRY(tsr_flat_list_of(root, DISABLED_CHECKS, 4, &list));
  file->disabled_checks = tsr_export_zeros(reader, list.count, sizeof *file->disabled_checks);
  TSR_NEED(file->disabled_checks);
  file->check_count = list.count;
  for (int64_t i = 0; i < list.count; i++) {
    tsr_flat_table table;
    uint64_t kind = 0;
    TSR_TRY(tsr_flat_item_table(&list, i, &table));
    TSR_TRY(tsr_flat_number(&table, 0, 1, 0, &kind));
    if (kind >= CHECK_KIND_COUNT)
      return tsr_fail(BROKEN_PROGRAM, "disabled check %lld has kind %d, wanted 0 to %d",
                      (long long)i, (int)kind, CHECK_KIND_COUNT - 1);
    file->disabled_checks[i].kind = check_kinds[kind];
    TSR_TRY(tsr_flat_string(&table, 1, &file->disabled_checks[i].target));
  }
  return NULL;
}

static tsr_status read_numbers(const tsr_flat_table *root, tsr_export_file *file) {
  uint64_t version = 0, convention = 0, devices = 0, old_devices = 0, constants = 0;
  TSR_TRY(tsr_flat_number(root, STORED_VERSION, 2, 0, &version));
  TSR_TRY(tsr_flat_number(root, CALLING_CONVENTION, 2, 0, &convention));
  TSR_TRY(tsr_flat_number(root, DEVICES, 4, 0, &devices));
  TSR_TRY(tsr_flat_number(root, DEVICES_OLD, 2, 0, &old_devices));
  TSR_TRY(tsr_flat_number(root, GLOBAL_CONSTANTS, 1, 0, &constants));
  file->stored_version = (int)version;
  file->calling_convention = (int)convention;
  file->device_count = (int64_t)(devices ? devices : old_devices);
  file->uses_global_constants = constants != 0;
  return NULL;
}

static tsr_status read_module(const tsr_flat_table *root, tsr_export_file *file) {
  tsr_flat_list module;
  TSR_TRY(tsr_flat_list_of(root, MODULE, 1, &module));
  if (!module.present) return tsr_fail(BROKEN_PROGRAM, "it has no module");
  file->module = module.file->bytes + module.at;
  file->module_length = (size_t)module.count;
  return NULL;
}

static tsr_status read_names(tsr_export_reader *reader, const tsr_flat_table *root,
                             tsr_export_file *file) {
  TSR_TRY_NOTE(tsr_flat_string(root, FUNCTION_NAME, &file->function_name), "function_name");
  TSR_TRY_NOTE(tsr_flat_string(root, JAX_VERSION, &file->jax_version), "jax_version");
  if (!file->function_name) file->function_name = "";
  TSR_TRY_NOTE(tsr_export_names_read(reader, root, PLATFORMS, &file->platforms), "platforms");
  TSR_TRY_NOTE(read_effects(reader, root, ORDERED_EFFECTS, &file->ordered_effects),
               "ordered_effects");
  TSR_TRY_NOTE(read_effects(reader, root, UNORDERED_EFFECTS, &file->unordered_effects),
               "unordered_effects");
  return read_checks(reader, root, file);
}

static tsr_status read_file(tsr_export_reader *reader, const tsr_flat_table *root, int depth,
                            tsr_export_file *file) {
  TSR_TRY(read_numbers(root, file));
  TSR_TRY(read_names(reader, root, file));
  TSR_TRY(read_module(root, file));
  TSR_TRY(read_interface(reader, root, file));
  TSR_TRY(read_kept(reader, root, file));
  tsr_flat_table vjp;
  bool present = false;
  TSR_TRY(tsr_flat_child(root, VJP, &vjp, &present));
  if (!present) return NULL;
  if (depth == TSR_EXPORT_DEPTH)
    return tsr_fail(BROKEN_PROGRAM, "derivatives are nested deeper than %d", TSR_EXPORT_DEPTH);
  file->vjp = tsr_export_zeros(reader, 1, sizeof *file->vjp);
  TSR_NEED(file->vjp);
  TSR_TRY_NOTE(read_file(reader, &vjp, depth + 1, file->vjp), "vjp");
  return NULL;
}

// ---- opening ----

static const char bytecode_start[4] = "ML\xefR";

bool tsr_export_is(const void *bytes, size_t length) {
  tsr_flat flat = {bytes, length, TSR_FLAT_ALLOWANCE(length)};
  tsr_flat_table root;
  tsr_export_file file = {0};
  tsr_status status = tsr_flat_root(&flat, &root);
  if (!status) status = read_module(&root, &file);
  const bool is = !status && file.module_length >= sizeof bytecode_start &&
                  !memcmp(file.module, bytecode_start, sizeof bytecode_start);
  tsr_status_free(status);
  return is;
}

// The result and its arena, in one block.
typedef struct opened_file {
  tsr_export_file file;
  tsr_arena arena;
} opened_file;

tsr_status tsr_export_read(const char *name, const void *bytes, size_t length,
                           tsr_export_file **out_file) {
  opened_file *opened = calloc(1, sizeof *opened);
  if (!opened) return tsr_fail(NO_MEMORY, "%s: a jax.export file", name);
  tsr_export_reader reader = {.flat = {bytes, length, TSR_FLAT_ALLOWANCE(length)},
                              .arena = &opened->arena};
  tsr_flat_table root;
  tsr_status status = tsr_flat_root(&reader.flat, &root);
  if (!status) status = read_file(&reader, &root, 0, &opened->file);
  if (status) {
    tsr_export_destroy(&opened->file);
    return tsr_note(status, "%s: jax.export file", name);
  }
  *out_file = &opened->file;
  return NULL;
}

void tsr_export_destroy(tsr_export_file *file) {
  if (!file) return;
  opened_file *opened = (opened_file *)file;
  tsr_arena_deinit(&opened->arena);
  free(opened);
}

void tsr_export_value_print(const tsr_export_value *value, tsr_text *out) {
  tsr_text_addf(out, "%s[", value->dtype_name);
  for (int64_t i = 0; i < value->rank; i++)
    tsr_text_addf(out, "%s%s", i ? "," : "", value->dims[i]);
  tsr_text_add(out, "]");
}
