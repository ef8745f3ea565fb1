// Arguments and results, from the entry of a program and from what jax.export wrote around it.
#include "exec/signature.h"

#include <stdlib.h>
#include <string.h>

#include "bytecode/export_file.h"
#include "lower/lowering.h"
#include "program/program_internal.h"

static tsr_executable_value value_of(const tsr_program_value *from) {
  return (tsr_executable_value){.size = sizeof(tsr_executable_value),
                                .name = from->name,
                                .dtype = from->dtype,
                                .shape = from->shape,
                                .donated = from->donated,
                                .aliased = from->aliased};
}

static tsr_status read_argument(const tsr_program *program, int64_t entry, int64_t index,
                                tsr_executable_value *out) {
  tsr_program_value value = TSR_PROGRAM_VALUE;
  TSR_TRY(tsr_program_argument(program, entry, index, &value));
  *out = value_of(&value);
  return NULL;
}

static int64_t type_bytes(const tsr_type *type) {
  return type->kind == TSR_TYPE_TENSOR ? tsr_type_bytes(type) : 0;
}

static tsr_status find_platform(const tsr_export_file *file, const char *platform,
                                int64_t *out_index) {
  const char *wanted = platform ? platform : "cpu";
  *out_index = 0;
  for (int64_t i = 0; i < file->platforms.count; i++)
    if (!strcmp(file->platforms.names[i], wanted)) {
      *out_index = i;
      return NULL;
    }
  if (!platform) return NULL;
  return tsr_fail(NOT_FOUND,
                  "the file was exported for %lld platforms, the first is %s; not for %s",
                  (long long)file->platforms.count,
                  file->platforms.count ? file->platforms.names[0] : "none", platform);
}

// Whether all sizes of an input are numbers, and these.
static bool read_sizes(const tsr_export_value *input, tsr_shape *out) {
  if (input->rank > TSR_MAX_RANK) return false;
  for (int64_t i = 0; i < input->rank; i++) {
    char *end = NULL;
    out->dims[i] = strtoll(input->dims[i], &end, 10);
    if (end == input->dims[i] || *end || out->dims[i] < 0) return false;
  }
  out->rank = (int)input->rank;
  return true;
}

// An input that the program does not use: no byte of it is read. Keys and symbolic sizes have no
// type here.
static tsr_executable_value unused_input(const tsr_export_value *input) {
  tsr_executable_value value = {
      .size = sizeof value, .name = input->path, .dtype = TSR_DTYPE_NONE, .aliased = -1};
  tsr_shape shape = {0};
  int64_t count = 0;
  const tsr_dtype_info *info = tsr_dtype_info_of(input->dtype);
  if (!info || !read_sizes(input, &shape)) return value;
  tsr_status status = tsr_shape_count(&shape, &count);
  const bool fits = !status && count < INT64_MAX / 16;
  tsr_status_free(status);
  if (!fits) return value;
  value.dtype = input->dtype;
  value.shape = shape;
  value.bytes = count * (info->bits < 8 ? 1 : info->bits / 8);
  return value;
}

static tsr_status read_export(const tsr_program *program, const tsr_export_file *file,
                              int64_t entry, const tsr_op *func, tsr_arena *arena,
                              tsr_signature *out) {
  const int64_t leading = out->program_count - file->kept_count;
  out->argument_count = file->in_count;
  out->arguments = tsr_arena_zeros(arena, (size_t)file->in_count + 1, sizeof *out->arguments);
  TSR_NEED(out->arguments);
  for (int64_t i = 0; i < file->in_count; i++) out->arguments[i] = unused_input(&file->ins[i]);
  const tsr_ir_block *body = tsr_func_body(func);
  for (int64_t i = 0; i < leading; i++)
    out->sources[i] =
        body->args[i]->type->kind == TSR_TYPE_TENSOR ? TSR_PLATFORM_ARGUMENT : TSR_NO_ARGUMENT;
  for (int64_t i = 0; i < file->kept_count; i++) {
    const int64_t source = file->kept[i];
    out->sources[leading + i] = source;
    TSR_TRY(read_argument(program, entry, leading + i, &out->arguments[source]));
    out->arguments[source].bytes = type_bytes(body->args[leading + i]->type);
  }
  return NULL;
}

static tsr_status read_plain(const tsr_program *program, int64_t entry, const tsr_op *func,
                             tsr_arena *arena, tsr_signature *out) {
  const tsr_ir_block *body = tsr_func_body(func);
  out->argument_count = out->program_count;
  out->arguments = tsr_arena_zeros(arena, (size_t)out->program_count + 1, sizeof *out->arguments);
  TSR_NEED(out->arguments);
  for (int64_t i = 0; i < out->program_count; i++) {
    TSR_TRY(read_argument(program, entry, i, &out->arguments[i]));
    out->arguments[i].bytes = type_bytes(body->args[i]->type);
    out->sources[i] = i;
  }
  return NULL;
}

static tsr_status read_results(const tsr_program *program, int64_t entry, const tsr_op *func,
                               tsr_arena *arena, tsr_signature *out) {
  const tsr_type *type = tsr_func_type(func);
  out->result_count = type->count - type->input_count;
  out->results = tsr_arena_zeros(arena, (size_t)out->result_count + 1, sizeof *out->results);
  TSR_NEED(out->results);
  for (int64_t i = 0; i < out->result_count; i++) {
    tsr_program_value value = TSR_PROGRAM_VALUE;
    TSR_TRY(tsr_program_result(program, entry, i, &value));
    out->results[i] = value_of(&value);
    out->results[i].aliased = -1;
    out->results[i].bytes = type_bytes(type->types[type->input_count + i]);
  }
  return NULL;
}

tsr_status tsr_signature_read(const tsr_program *program, const char *platform, tsr_arena *arena,
                              tsr_signature *out) {
  *out = (tsr_signature){0};
  const int64_t entry = tsr_program_entry(program);
  const tsr_op *func = entry >= 0 ? tsr_program_function_op(program, entry) : NULL;
  const tsr_ir_block *body = func ? tsr_func_body(func) : NULL;
  if (!body)
    return tsr_fail(UNKNOWN_SYMBOL, "the program has no function main, and not just one function");
  out->program_count = body->arg_count;
  out->sources = tsr_arena_zeros(arena, (size_t)body->arg_count + 1, sizeof *out->sources);
  out->aliased = tsr_arena_zeros(arena, (size_t)body->arg_count + 1, sizeof *out->aliased);
  TSR_NEED(out->sources && out->aliased ? out : NULL);
  const tsr_export_file *file = tsr_program_export(program);
  if (file && file->kept_count <= out->program_count) {
    TSR_TRY(find_platform(file, platform, &out->platform));
    TSR_TRY(read_export(program, file, entry, func, arena, out));
  } else {
    TSR_TRY(read_plain(program, entry, func, arena, out));
  }
  for (int64_t i = 0; i < out->program_count; i++)
    out->aliased[i] = out->sources[i] >= 0 ? out->arguments[out->sources[i]].aliased : -1;
  return read_results(program, entry, func, arena, out);
}
