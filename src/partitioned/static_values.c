// Static arguments: their values become constants of the program, and what depends on them alone is
// computed. The number of the platform, which jax.export adds, is one of them.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/room.h"
#include "base/text_internal.h"
#include "builder/builder_spec.h"
#include "exec/signature.h"
#include "partitioned/donations.h"
#include "partitioned/partitioned.h"
#include "program/program_internal.h"
#include "refine/refine.h"
#include "syntax/syntax.h"
#include "verify/verify.h"
#include "tessera/own.h"

typedef struct binding {
  const tsr_program *named, *origin;
  tsr_arena arena;
  tsr_ir *ir;  // a copy of `named`
  tsr_op *func;
  const tsr_attr **constants;  // for each argument; NULL = it stays
  int64_t bound;
} binding;

// ---- values ----

static tsr_status check_type(const tsr_static_argument *given, const tsr_type *type) {
  static const tsr_shape scalar = {0};
  const tsr_shape *shape = given->shape ? given->shape : &scalar;
  const bool tensor = type->kind == TSR_TYPE_TENSOR && tsr_type_is_static(type);
  bool same = tensor && type->dtype == given->dtype && type->rank == shape->rank;
  for (int i = 0; same && i < shape->rank; i++) same = type->dims[i] == shape->dims[i];
  if (same) return NULL;
  const tsr_dtype_info *info = tsr_dtype_info_of(given->dtype);
  TSR_OWN(text, text);
  tsr_text_add(&text, info ? info->name : "no dtype");
  tsr_text_add(&text, " ");
  tsr_shape_print(shape, &text);
  tsr_text_add(&text, ", expected ");
  tsr_type_print(type, &text);
  TSR_TRY(tsr_text_check(&text));
  return tsr_fail(BAD_ARGUMENT, "its value is %s", tsr_text_string(&text));
}

static tsr_status bind_one(binding *b, const tsr_static_argument *given) {
  tsr_value_choice choice;
  TSR_TRY(tsr_value_choice_init(b->named, &b->arena, &choice));
  TSR_TRY(tsr_argument_choose(b->named, given->argument, "static argument", &choice));
  if (choice.count > 1)
    return tsr_fail(BAD_ARGUMENT,
                    "static argument \"%s\" means %" PRId64 " arguments, expected one for a value",
                    given->argument, choice.count);
  int64_t index = 0;
  while (!choice.arguments[index]) index++;
  const tsr_type *type = tsr_func_type(b->func)->types[index];
  TSR_TRY_NOTE(check_type(given, type), "static argument \"%s\"", given->argument);
  if (b->constants[index])
    return tsr_fail(BAD_ARGUMENT, "static argument \"%s\" is given twice", given->argument);
  b->bound++;
  return tsr_note(tsr_dense_of_data(b->ir, type, given->data, &b->constants[index]),
                  "static argument \"%s\"", given->argument);
}

// ---- what jax.export adds ----

static tsr_status bind_platform(binding *b, const char *platform) {
  tsr_signature signature;
  if (!tsr_program_export(b->origin)) return NULL;
  TSR_TRY(tsr_signature_read(b->origin, platform, &b->arena, &signature));
  for (int64_t i = 0; i < signature.program_count; i++) {
    if (signature.sources[i] == TSR_NO_ARGUMENT)
      return tsr_fail(UNSUPPORTED, "argument %" PRId64 " of the exported function is a token", i);
    if (signature.sources[i] != TSR_PLATFORM_ARGUMENT) continue;
    b->bound++;
    const tsr_type *type = tsr_func_type(b->func)->types[i];
    TSR_TRY(tsr_dense_of_data(b->ir, type, &signature.platform, &b->constants[i]));
  }
  return NULL;
}

// ---- donated arguments ----

static tsr_status mark_donated(binding *b, const tsr_partition_options *options) {
  tsr_value_choice choice;
  const int64_t entry = tsr_program_entry(b->named);
  TSR_TRY(tsr_list_check(options->donated, options->donated_count, "donated arguments"));
  if (!options->donated_count) return NULL;
  TSR_TRY(tsr_value_choice_init(b->named, &b->arena, &choice));
  for (int64_t i = 0; i < options->donated_count; i++)
    TSR_TRY(tsr_argument_choose(b->named, options->donated[i], "donated argument", &choice));
  tsr_donation *donations =
      tsr_arena_zeros(&b->arena, (size_t)choice.argument_count + 1, sizeof *donations);
  TSR_NEED(donations);
  for (int64_t i = 0; i < choice.argument_count; i++) {
    tsr_program_value value = TSR_PROGRAM_VALUE;
    TSR_TRY(tsr_program_argument(b->named, entry, i, &value));
    donations[i] = (tsr_donation){value.donated || choice.arguments[i], value.aliased};
  }
  return tsr_donations_write(b->ir, b->func, donations);
}

// ---- names ----

// An argument that the program does not name is called as the result that takes its memory, without
// the word "result".
static tsr_status name_by_results(binding *b) {
  static const char result[] = "result";
  const int64_t entry = tsr_program_entry(b->named);
  const tsr_ir_block *body = tsr_func_body(b->func);
  for (int i = 0; i < body->arg_count; i++) {
    tsr_program_value argument = TSR_PROGRAM_VALUE, taker = TSR_PROGRAM_VALUE;
    char unnamed[32];
    snprintf(unnamed, sizeof unnamed, "arg%d", i);
    TSR_TRY(tsr_program_argument(b->named, entry, i, &argument));
    if (argument.aliased < 0 || strcmp(argument.name, unnamed) != 0) continue;
    TSR_TRY(tsr_program_result(b->named, entry, argument.aliased, &taker));
    const bool starts = !strncmp(taker.name, result, strlen(result));
    const char *name = starts ? taker.name + strlen(result) : taker.name;
    body->args[i]->location = tsr_name_location(b->ir, *name ? name : taker.name);
    TSR_NEED(body->args[i]->location);
  }
  return NULL;
}

// ---- the program ----

static tsr_status bind_all(binding *b, const tsr_partition_options *options) {
  TSR_TRY(tsr_list_check(options->statics, options->static_count, "static arguments"));
  const tsr_ir_block *body = b->func ? tsr_func_body(b->func) : NULL;
  if (!body) return tsr_fail(NOT_FOUND, "the program has no function @main to partition");
  b->constants = tsr_arena_zeros(&b->arena, (size_t)body->arg_count + 1, sizeof *b->constants);
  TSR_NEED(b->constants);
  TSR_TRY(bind_platform(b, options->platform));
  for (int64_t i = 0; i < options->static_count; i++) TSR_TRY(bind_one(b, &options->statics[i]));
  TSR_TRY(mark_donated(b, options));
  TSR_TRY(name_by_results(b));
  if (b->bound) TSR_TRY(tsr_bind_arguments(b->ir, b->func, b->constants));
  return tsr_verify(b->ir, tsr_program_path(b->named));
}

static tsr_status fold(tsr_program *program, tsr_program **out_program) {
  tsr_status status = tsr_program_transform(program, "inline,fold,dce", out_program);
  tsr_program_release(program);
  return status;
}

tsr_status tsr_partition_bind(const tsr_program *named, const tsr_program *origin,
                              const tsr_partition_options *options, tsr_program **out_program) {
  binding b = {.named = named, .origin = origin, .ir = tsr_program_copy_ir(named)};
  tsr_program *bound = NULL;
  if (!b.ir) return tsr_fail(NO_MEMORY, "program %s", tsr_program_path(named));
  b.func = tsr_ir_entry(b.ir);
  tsr_status status = bind_all(&b, options);
  tsr_arena_deinit(&b.arena);
  if (status) {
    tsr_ir_destroy(b.ir);
    return status;
  }
  TSR_TRY(tsr_program_wrap(b.ir, tsr_program_path(named), TSR_PROGRAM_BUILT, &bound));
  if (b.bound) return fold(bound, out_program);
  *out_program = bound;
  return NULL;
}
