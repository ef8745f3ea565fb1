// What a program holds: its functions with their arguments and results, its meshes.
//
// Everything is computed when the program is made, so that the handle can be read by any threads.
#include <limits.h>
#include <string.h>

#include "base/sized.h"
#include "base/text_internal.h"
#include "program/program_state.h"
#include "syntax/syntax.h"

// ---- texts ----

static tsr_status keep_text(tsr_program *program, tsr_text *text, const char **out_text) {
  tsr_status status = tsr_text_check(text);
  const char *copy =
      status ? NULL : tsr_arena_copy(&program->arena, tsr_text_string(text), text->length);
  tsr_text_clear(text);
  if (status) return status;
  TSR_NEED(copy);
  *out_text = copy;
  return NULL;
}

// ---- names ----

// The name that JAX gave: the outermost name of a location.
static const tsr_attr *location_name(const tsr_attr *location) {
  if (!location || location->kind != TSR_ATTR_RECORD || location->id != TSR_RECORD_LOC_NAME)
    return NULL;
  return tsr_attr_field(location, TSR_LOC_NAME_NAME);
}

static const char *exported_name(const tsr_program *program, bool is_entry, int64_t index,
                                 int64_t count) {
  const tsr_export_file *file = program->export_file;
  // Arguments before the kept ones are platform index and tokens.
  const int64_t kept = is_entry && file ? index - (count - file->kept_count) : -1;
  if (kept < 0 || kept >= file->kept_count || file->kept[kept] >= file->in_count) return NULL;
  return file->ins[file->kept[kept]].path;
}

static tsr_status name_argument(tsr_program *program, const tsr_op *func, bool is_entry,
                                int64_t index, int64_t count, tsr_program_value *value) {
  const tsr_ir_block *body = tsr_func_body(func);
  const tsr_attr *name =
      body && index < body->arg_count ? location_name(body->args[index]->location) : NULL;
  const char *exported = name ? NULL : exported_name(program, is_entry, index, count);
  tsr_text text = TSR_TEXT_EMPTY;
  if (name && name->length)
    tsr_text_add_bytes(&text, name->bytes, name->length);
  else if (exported && *exported)
    tsr_text_add(&text, exported);
  else
    tsr_text_addf(&text, "arg%lld", (long long)index);
  tsr_status status = keep_text(program, &text, &value->name);
  tsr_text_deinit(&text);
  return status;
}

static tsr_status name_result(tsr_program *program, const tsr_attr *attrs, int64_t index,
                              tsr_program_value *value) {
  const tsr_attr *info = tsr_dict_find(attrs, "jax.result_info");
  tsr_text text = TSR_TEXT_EMPTY;
  if (info && info->kind == TSR_ATTR_STRING && info->length)
    tsr_text_add_bytes(&text, info->bytes, info->length);
  else
    tsr_text_addf(&text, "out%lld", (long long)index);
  tsr_status status = keep_text(program, &text, &value->name);
  tsr_text_deinit(&text);
  return status;
}

// ---- types and shardings ----

static tsr_status fill_type(tsr_program *program, const tsr_type *type, tsr_program_value *value) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_type_print(type, &text);
  tsr_status status = keep_text(program, &text, &value->type);
  tsr_text_deinit(&text);
  value->dtype = type->kind == TSR_TYPE_TENSOR ? type->dtype : TSR_DTYPE_NONE;
  if (!status && type->rank > TSR_MAX_RANK)
    status = tsr_fail(TOO_LARGE, "%s has rank %d, expected at most %d", value->name, type->rank,
                      TSR_MAX_RANK);
  if (status) return status;
  value->shape.rank = type->kind == TSR_TYPE_TENSOR ? type->rank : 0;
  for (int i = 0; i < value->shape.rank; i++)
    value->shape.dims[i] = type->dims[i] == TSR_DYNAMIC ? TSR_UNKNOWN_SIZE : type->dims[i];
  return NULL;
}

// A sharding that our specs cannot express, such as one on an inline mesh, has no spec.
static tsr_status fill_spec(const char *sharding, tsr_program_value *value) {
  tsr_spec *spec = NULL;
  tsr_status status = tsr_spec_parse(sharding, TSR_FORM_SHARDY, &spec);
  if (tsr_status_code(status) == TSR_CODE_NO_MEMORY) return status;
  tsr_status_free(status);
  value->spec = spec;
  return NULL;
}

static tsr_status fill_shardy(tsr_program *program, const tsr_attr *sharding,
                              tsr_program_value *value) {
  const tsr_attr *mesh = tsr_attr_field(sharding, TSR_SDY_SHARDING_MESH);
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_attr_print(sharding, &text);
  tsr_status status = keep_text(program, &text, &value->sharding);
  tsr_text_deinit(&text);
  if (status) return status;
  if (mesh->kind == TSR_ATTR_SYMBOL) value->mesh = mesh->bytes;
  return fill_spec(value->sharding, value);
}

static tsr_status fill_sharding(tsr_program *program, const tsr_attr *attrs,
                                tsr_program_value *value) {
  const tsr_attr *shardy = tsr_dict_find(attrs, "sdy.sharding");
  const tsr_attr *hlo = tsr_dict_find(attrs, "mhlo.sharding");
  if (shardy && tsr_attr_has_form(shardy, TSR_FORM_RECORD, TSR_RECORD_SDY_SHARDING))
    return fill_shardy(program, shardy, value);
  if (hlo && hlo->kind == TSR_ATTR_STRING) value->sharding = hlo->bytes;
  return NULL;
}

static void fill_donation(const tsr_attr *attrs, tsr_program_value *value) {
  const tsr_attr *aliased = tsr_dict_find(attrs, "tf.aliasing_output");
  const tsr_attr *donor = tsr_dict_find(attrs, "jax.buffer_donor");
  value->aliased = aliased && aliased->kind == TSR_ATTR_INTEGER ? aliased->integer : -1;
  value->donated =
      value->aliased >= 0 || (donor && donor->kind == TSR_ATTR_INTEGER && donor->integer);
}

// ---- functions ----

static tsr_status fill_values(tsr_program *program, tsr_program_row *row, bool is_entry) {
  const tsr_type *type = tsr_func_type(row->op);
  const int inputs = type->input_count, results = type->count - inputs;
  row->arguments = tsr_arena_zeros(&program->arena, (size_t)inputs, sizeof *row->arguments);
  row->results = tsr_arena_zeros(&program->arena, (size_t)results, sizeof *row->results);
  TSR_NEED(row->arguments && row->results);
  for (int i = 0; i < inputs; i++) {
    const tsr_attr *attrs = tsr_func_arg_attrs(row->op, i);
    row->arguments[i].size = sizeof(tsr_program_value);
    TSR_TRY(name_argument(program, row->op, is_entry, i, inputs, &row->arguments[i]));
    TSR_TRY(fill_type(program, type->types[i], &row->arguments[i]));
    TSR_TRY(fill_sharding(program, attrs, &row->arguments[i]));
    fill_donation(attrs, &row->arguments[i]);
  }
  for (int i = 0; i < results; i++) {
    const tsr_attr *attrs = tsr_func_result_attrs(row->op, i);
    row->results[i].size = sizeof(tsr_program_value);
    row->results[i].aliased = -1;
    TSR_TRY(name_result(program, attrs, i, &row->results[i]));
    TSR_TRY(fill_type(program, type->types[inputs + i], &row->results[i]));
    TSR_TRY(fill_sharding(program, attrs, &row->results[i]));
  }
  return NULL;
}

typedef struct op_sums {
  int64_t ops, constant_bytes;
} op_sums;

static tsr_status count_op(tsr_op *op, void *context) {
  op_sums *sums = context;
  const tsr_attr *value = op->info->id == TSR_OP_CONSTANT ? tsr_op_attr(op, "value") : NULL;
  sums->ops++;
  if (value && value->kind == TSR_ATTR_DENSE) sums->constant_bytes += (int64_t)value->length;
  return NULL;
}

static tsr_status fill_function(tsr_program *program, tsr_op *op, const tsr_op *entry) {
  tsr_program_row *row = &program->functions[program->function_count++];
  op_sums sums = {0};
  row->op = op;
  TSR_TRY(tsr_op_walk(op, count_op, &sums));
  row->op_count = sums.ops - 1;  // without the function itself
  program->op_count += row->op_count;
  program->constant_bytes += sums.constant_bytes;
  return fill_values(program, row, op == entry);
}

tsr_status tsr_program_index(tsr_program *program) {
  const tsr_ir_block *body = program->ir->module->regions[0].first;
  const tsr_op *entry = tsr_ir_entry(program->ir);
  size_t functions = 0, meshes = 0;
  for (const tsr_op *op = body->first; op; op = op->next) {
    functions += op->info->id == TSR_OP_FUNC && tsr_func_type(op);
    meshes += op->info->id == TSR_OP_SDY_MESH;
  }
  program->functions = tsr_arena_zeros(&program->arena, functions, sizeof *program->functions);
  program->meshes = tsr_arena_zeros(&program->arena, meshes, sizeof(const tsr_op *));
  TSR_NEED(program->functions && program->meshes);
  for (tsr_op *op = body->first; op; op = op->next) {
    if (op->info->id == TSR_OP_SDY_MESH) program->meshes[program->mesh_count++] = op;
    if (op->info->id == TSR_OP_FUNC && tsr_func_type(op))
      TSR_TRY(fill_function(program, op, entry));
  }
  return NULL;
}

void tsr_program_index_free(tsr_program *program) {
  for (int64_t i = 0; i < program->function_count; i++) {
    const tsr_program_row *row = &program->functions[i];
    const tsr_type *type = tsr_func_type(row->op);
    for (int k = 0; row->arguments && k < type->input_count; k++)
      tsr_spec_release(row->arguments[k].spec);
    for (int k = 0; row->results && k < type->count - type->input_count; k++)
      tsr_spec_release(row->results[k].spec);
  }
}

// ---- what the caller asks ----

int64_t tsr_program_function_count(const tsr_program *program) { return program->function_count; }

static tsr_status check_function(const tsr_program *program, int64_t index) {
  if (index >= 0 && index < program->function_count) return NULL;
  return tsr_fail(INDEX_OUT_OF_RANGE, "function %lld, expected 0 to %lld", (long long)index,
                  (long long)program->function_count - 1);
}

const tsr_op *tsr_program_function_op(const tsr_program *program, int64_t index) {
  return index >= 0 && index < program->function_count ? program->functions[index].op : NULL;
}

tsr_status tsr_program_function_at(const tsr_program *program, int64_t index,
                                   tsr_program_function *out_function) {
  TSR_TRY(check_function(program, index));
  TSR_TRY(tsr_sized_check(tsr_program_function, out_function));
  const tsr_program_row *row = &program->functions[index];
  const tsr_type *type = tsr_func_type(row->op);
  const tsr_attr *visibility = tsr_op_attr(row->op, "sym_visibility");
  const char *name = tsr_op_symbol(row->op);
  const tsr_program_function function = {.size = sizeof function,
                                         .name = name ? name : "",
                                         .is_public = !tsr_attr_is_string(visibility, "private"),
                                         .declared = !tsr_func_body(row->op),
                                         .argument_count = type->input_count,
                                         .result_count = type->count - type->input_count,
                                         .op_count = row->op_count};
  tsr_sized_fill(tsr_program_function, &function, out_function);
  return NULL;
}

int64_t tsr_program_find_function(const tsr_program *program, const char *name) {
  for (int64_t i = 0; i < program->function_count; i++) {
    const char *symbol = tsr_op_symbol(program->functions[i].op);
    if (symbol && !strcmp(symbol, name)) return i;
  }
  return -1;
}

int64_t tsr_program_entry(const tsr_program *program) {
  const int64_t entry = tsr_program_find_function(program, "main");
  return entry < 0 && program->function_count == 1 ? 0 : entry;
}

tsr_status tsr_program_entry_function(const tsr_program *program, int64_t *out_index,
                                      tsr_program_function *out_function) {
  *out_index = tsr_program_entry(program);
  if (*out_index < 0)
    return tsr_fail(NOT_FOUND, "the program has %lld functions and none is \"main\"",
                    (long long)program->function_count);
  return tsr_program_function_at(program, *out_index, out_function);
}

static tsr_status fill_value(const tsr_program_value *values, int64_t count, const char *what,
                             int64_t index, tsr_program_value *out_value) {
  if (index < 0 || index >= count)
    return tsr_fail(INDEX_OUT_OF_RANGE, "%s %lld, expected 0 to %lld", what, (long long)index,
                    (long long)count - 1);
  TSR_TRY(tsr_sized_check(tsr_program_value, out_value));
  tsr_sized_fill(tsr_program_value, &values[index], out_value);
  return NULL;
}

tsr_status tsr_program_argument(const tsr_program *program, int64_t function, int64_t index,
                                tsr_program_value *out_argument) {
  TSR_TRY(check_function(program, function));
  const tsr_program_row *row = &program->functions[function];
  return fill_value(row->arguments, tsr_func_type(row->op)->input_count, "argument", index,
                    out_argument);
}

tsr_status tsr_program_result(const tsr_program *program, int64_t function, int64_t index,
                              tsr_program_value *out_result) {
  TSR_TRY(check_function(program, function));
  const tsr_program_row *row = &program->functions[function];
  const tsr_type *type = tsr_func_type(row->op);
  return fill_value(row->results, type->count - type->input_count, "result", index, out_result);
}

// ---- the module ----

static int64_t module_int(const tsr_program *program, const char *name) {
  const int64_t value = tsr_op_int(program->ir->module, name, 1);
  return value > 0 && value <= INT_MAX ? value : 1;
}

tsr_status tsr_program_describe(const tsr_program *program, tsr_program_info *out_info) {
  TSR_TRY(tsr_sized_check(tsr_program_info, out_info));
  const tsr_export_file *file = program->export_file;
  const tsr_attr *name = tsr_op_attr(program->ir->module, "sym_name");
  tsr_program_info info = {.size = sizeof info,
                           .form = program->form,
                           .name = name && name->kind == TSR_ATTR_STRING ? name->bytes : "",
                           .op_count = program->op_count,
                           .constant_bytes = program->constant_bytes,
                           .device_count = module_int(program, "mhlo.num_partitions") *
                                           module_int(program, "mhlo.num_replicas"),
                           .function_name = "",
                           .jax_version = ""};
  if (file) {
    info.function_name = file->function_name;
    info.jax_version = file->jax_version ? file->jax_version : "";
    info.platform_count = file->platforms.count;
    info.platforms = file->platforms.names;
    info.calling_convention = file->calling_convention;
  }
  tsr_sized_fill(tsr_program_info, &info, out_info);
  return NULL;
}

int64_t tsr_program_mesh_count(const tsr_program *program) { return program->mesh_count; }

const char *tsr_program_mesh_name(const tsr_program *program, int64_t index) {
  return index >= 0 && index < program->mesh_count ? tsr_op_symbol(program->meshes[index]) : NULL;
}
