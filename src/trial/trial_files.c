// Elements from checkpoints and to safetensors files.
//
// Files pack elements narrower than a byte, memory of a run does not. Safetensors has no integers
// of 2 and 4 bits: those are stored as i8 and u8, a byte each, as NumPy keeps them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text_internal.h"
#include "element/packed_bits.h"
#include "file/replace.h"
#include "file/safetensors.h"
#include "insight/insight.h"
#include "ir/ir.h"
#include "tessera/checkpoint/open.h"
#include "tessera/own.h"
#include "trial/trial_internal.h"

// The type that a file has for a value.
static tsr_dtype stored_dtype(tsr_dtype dtype) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  if (info->safetensors || !info->sub_byte) return dtype;
  return info->kind == TSR_CLASS_SIGNED ? TSR_I8 : TSR_U8;
}

// ---- reading ----

static tsr_status no_tensor(const tsr_trial_values *values, int64_t index, const char *path,
                            const tsr_tree *tree) {
  const tsr_trial_name wanted = tsr_trial_value_name(values, index);
  tsr_suggestion near = tsr_suggestion_for(wanted.text);
  for (int64_t i = 0; i < tsr_tree_count(tree); i++)
    tsr_suggestion_offer(&near, tsr_tree_at(tree, i)->path);
  return tsr_fail(NOT_FOUND, "%s: no tensor \"%s\"" TSR_DID_YOU_MEAN, path, wanted.text,
                  TSR_SUGGESTED(near));
}

// By number, by the name in JAX, or by that name as a path: arg0, params['w'], params/w.
static int64_t find_tensor(const tsr_trial_values *values, int64_t index, const tsr_tree *tree) {
  const char *name = values->items[index].name;
  int64_t found = tsr_tree_find(tree, tsr_trial_value_name(values, index).text);
  if (found < 0 && name) found = tsr_tree_find(tree, name);
  if (found >= 0 || !name) return found;
  TSR_OWN(text, path);
  tsr_argument_path_print(name, &path);
  return path.failed ? -1 : tsr_tree_find(tree, tsr_text_string(&path));
}

static tsr_status check_type(const tsr_trial_value *value, const char *path,
                             const tsr_tensor *tensor) {
  const tsr_shape shape = tsr_tensor_shape(tensor);
  const bool same_shape =
      shape.rank == value->shape.rank &&
      !memcmp(shape.dims, value->shape.dims, sizeof *shape.dims * (size_t)shape.rank);
  const bool same_dtype =
      tensor->dtype == value->dtype || tensor->dtype == stored_dtype(value->dtype);
  if (same_shape && same_dtype) return NULL;
  tsr_text found = TSR_TEXT_EMPTY, wanted = TSR_TEXT_EMPTY;
  tsr_trial_type_print(&(tsr_trial_value){.dtype = tensor->dtype, .shape = shape}, &found);
  tsr_trial_type_print(value, &wanted);
  tsr_status status =
      tsr_fail(SHAPES_DIFFER, "%s: tensor \"%s\" is %s, and the program has %s", path, tensor->path,
               tsr_text_string(&found), tsr_text_string(&wanted));
  tsr_text_deinit(&found);
  tsr_text_deinit(&wanted);
  return status;
}

// Packed elements take no more bytes than there are elements.
static tsr_status read_packed(const tsr_checkpoint *file, int64_t tensor,
                              const tsr_trial_value *value) {
  char *packed = malloc((size_t)value->count + 1);
  TSR_NEED(packed);
  tsr_status status = tsr_checkpoint_read(file, tensor, value->box, packed, value->count);
  if (!status)
    tsr_unpack(tsr_dtype_info_of(value->dtype)->bits, packed, 0, value->count,
               tsr_buffer_data(value->data));
  free(packed);
  return status;
}

static tsr_status read_value(const tsr_checkpoint *file, const char *path, int64_t tensor,
                             const tsr_trial_value *value) {
  const tsr_tensor *found = tsr_tree_at(tsr_checkpoint_tree(file), tensor);
  TSR_TRY(check_type(value, path, found));
  if (value->filled) return NULL;
  if (tsr_dtype_info_of(found->dtype)->sub_byte) return read_packed(file, tensor, value);
  return tsr_checkpoint_read(file, tensor, value->box, tsr_buffer_data(value->data), value->bytes);
}

static tsr_status read_values(const tsr_checkpoint *file, const char *path,
                              tsr_trial_values *values, bool all) {
  const tsr_tree *tree = tsr_checkpoint_tree(file);
  int64_t found = 0;
  for (int64_t i = 0; i < values->count; i++) {
    const int64_t tensor = find_tensor(values, i, tree);
    if (values->items[i].dtype == TSR_DTYPE_NONE) continue;  // nothing reads it
    values->items[i].missing = tensor < 0;
    if (tensor < 0 && all) return no_tensor(values, i, path, tree);
    if (tensor >= 0) TSR_TRY(read_value(file, path, tensor, &values->items[i]));
    found += tensor >= 0;
  }
  return found || !values->count ? NULL : no_tensor(values, 0, path, tree);
}

static tsr_status read_file(tsr_trial_values *values, const char *path, bool all) {
  tsr_checkpoint *file = NULL;
  TSR_TRY(tsr_checkpoint_open(path, NULL, &file));
  tsr_status status = read_values(file, path, values, all);
  tsr_checkpoint_release(file);
  return status;
}

tsr_status tsr_trial_values_read(tsr_trial_values *values, const char *path) {
  return read_file(values, path, true);
}

tsr_status tsr_trial_values_read_some(tsr_trial_values *values, const char *path) {
  return read_file(values, path, false);
}

// ---- what is not read ----

static void print_unused(const tsr_tree *tree, const bool *used, tsr_text *out) {
  int64_t count = 0, first = -1;
  for (int64_t i = tsr_tree_count(tree); i-- > 0;) {
    if (used[i]) continue;
    first = i;
    count++;
  }
  if (count)
    tsr_text_addf(out, "%lld of %lld tensors %s no argument of the program, %s\"%s\"\n",
                  (long long)count, (long long)tsr_tree_count(tree), count == 1 ? "is" : "are",
                  count == 1 ? "" : "the first ", tsr_tree_at(tree, first)->path);
}

tsr_status tsr_trial_values_unused(const tsr_trial_values *values, const char *path,
                                   tsr_text *out) {
  tsr_checkpoint *file = NULL;
  TSR_TRY(tsr_checkpoint_open(path, NULL, &file));
  const tsr_tree *tree = tsr_checkpoint_tree(file);
  bool *used = calloc((size_t)tsr_tree_count(tree) + 1, sizeof *used);
  for (int64_t i = 0; used && i < values->count; i++) {
    const int64_t tensor = find_tensor(values, i, tree);
    if (tensor >= 0) used[tensor] = true;
  }
  tsr_status status = used ? NULL : tsr_fail(NO_MEMORY, "%s: tensors that were read", path);
  if (!status) print_unused(tree, used, out);
  free(used);
  tsr_checkpoint_release(file);
  return status;
}

// ---- sizes ----

static bool has_unknown_size(const tsr_shape *shape) {
  for (int i = 0; i < shape->rank; i++)
    if (shape->dims[i] == TSR_UNKNOWN_SIZE) return true;
  return false;
}

// The shapes of a function's arguments, unknown sizes from the tensors of their names.
static tsr_status find_shapes(const tsr_program *program, const tsr_tree *tree, int64_t count,
                              tsr_shape *shapes, bool *out_unknown) {
  for (int64_t i = 0; i < count; i++) {
    tsr_program_value value = TSR_PROGRAM_VALUE;
    const tsr_trial_name name = tsr_trial_value_name(&(tsr_trial_values){0}, i);
    TSR_TRY(tsr_program_argument(program, tsr_program_entry(program), i, &value));
    shapes[i] = value.shape;
    if (!has_unknown_size(&value.shape)) continue;
    int64_t tensor = tsr_tree_find(tree, value.name);
    if (tensor < 0) tensor = tsr_tree_find(tree, name.text);
    if (tensor < 0)
      return tsr_fail(NOT_FOUND, "no tensor \"%s\", whose sizes the program needs", value.name);
    shapes[i] = tsr_tensor_shape(tsr_tree_at(tree, tensor));
    *out_unknown = true;
  }
  return NULL;
}

static tsr_status refine_with(const tsr_program *program, const tsr_tree *tree, int64_t count,
                              tsr_shape *shapes, tsr_program **out_program) {
  bool unknown = false;
  TSR_TRY(find_shapes(program, tree, count, shapes, &unknown));
  if (unknown) return tsr_program_refine(program, shapes, count, out_program);
  *out_program = tsr_program_retain(program);
  return NULL;
}

tsr_status tsr_trial_refine(const tsr_program *program, const char *path,
                            tsr_program **out_program) {
  tsr_program_function entry = TSR_PROGRAM_FUNCTION;
  tsr_checkpoint *file = NULL;
  if (tsr_program_entry(program) < 0) {
    *out_program = tsr_program_retain(program);
    return NULL;
  }
  TSR_TRY(tsr_program_function_at(program, tsr_program_entry(program), &entry));
  TSR_TRY(tsr_checkpoint_open(path, NULL, &file));
  tsr_shape *shapes = calloc((size_t)entry.argument_count + 1, sizeof *shapes);
  tsr_status status = shapes ? refine_with(program, tsr_checkpoint_tree(file), entry.argument_count,
                                           shapes, out_program)
                             : tsr_fail(NO_MEMORY, "shapes of arguments");
  free(shapes);
  tsr_checkpoint_release(file);
  return status ? tsr_note(status, "%s", path) : NULL;
}

// ---- writing ----

typedef struct value_writing {
  tsr_trial_name *names;
  tsr_tensor *tensors;
} value_writing;

static tsr_status describe_all(const tsr_trial_values *values, value_writing *out) {
  out->names = calloc((size_t)values->count + 1, sizeof *out->names);
  out->tensors = calloc((size_t)values->count + 1, sizeof *out->tensors);
  TSR_NEED(out->names);
  TSR_NEED(out->tensors);
  for (int64_t i = 0; i < values->count; i++) {
    const tsr_trial_value *value = &values->items[i];
    out->names[i] = tsr_trial_value_name(values, i);
    out->tensors[i] = tsr_tensor_of(out->names[i].text, stored_dtype(value->dtype), &value->shape);
  }
  return NULL;
}

static tsr_status write_value(const tsr_trial_value *value, int64_t begin, tsr_replacement *file) {
  const tsr_dtype stored = stored_dtype(value->dtype);
  int64_t bytes = 0;
  TSR_TRY(tsr_shape_bytes(&value->shape, stored, &bytes));
  if (!tsr_dtype_info_of(stored)->sub_byte)
    return tsr_replacement_write(file, tsr_buffer_data(value->data), bytes, begin);
  const void *elements = NULL;
  void *owned = NULL;
  TSR_TRY(tsr_trial_pack(value, &elements, &owned));
  tsr_status status = tsr_replacement_write(file, elements, bytes, begin);
  free(owned);
  return status;
}

static tsr_status write_all(const tsr_trial_values *values, const tsr_safetensors_file *plan,
                            const char *path) {
  tsr_replacement file;
  TSR_TRY(tsr_replacement_begin(&file, path));
  tsr_status status = tsr_replacement_write(&file, plan->header, plan->length, 0);
  for (int64_t i = 0; !status && i < values->count; i++)
    status = write_value(&values->items[i], plan->begins[i], &file);
  return tsr_replacement_end(&file, status);
}

tsr_status tsr_trial_values_write(const tsr_trial_values *values, const char *path) {
  value_writing all = {0};
  tsr_safetensors_file plan = {0};
  tsr_status status = describe_all(values, &all);
  if (!status) status = tsr_safetensors_plan(all.tensors, values->count, NULL, 0, &plan);
  if (!status) status = write_all(values, &plan, path);
  tsr_safetensors_file_deinit(&plan);
  free(all.names);
  free(all.tensors);
  return status;
}
