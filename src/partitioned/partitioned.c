// The public partitioned program: made, described, asked for its values.
#include <inttypes.h>
#include <stdlib.h>

#include "base/sized.h"
#include "combine/moved_bytes.h"
#include "insight/insight.h"
#include "partitioned/partitioned.h"
#include "program/program_internal.h"
#include "spmd/fallbacks.h"
#include "tessera/compat/flax_rules.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/own.h"

// ---- scopes ----

tsr_status tsr_scopes_enter(const tsr_mesh *mesh, const tsr_logical_rules *rules,
                            tsr_scope *out_scope) {
  tsr_scope scope = 0, inner = 0;
  TSR_TRY(tsr_mesh_enter(mesh, &scope));
  tsr_status status = rules ? tsr_logical_enter(rules, &inner) : NULL;
  if (status)
    tsr_scope_leave(scope);
  else
    *out_scope = scope;
  return status;
}

tsr_status tsr_partitioned_enter(const tsr_partitioned *partitioned, tsr_scope *out_scope) {
  if (!partitioned->scoped) return NULL;
  return tsr_scopes_enter(partitioned->mesh, partitioned->rules, out_scope);
}

void tsr_partitioned_set_scope(tsr_partitioned *partitioned, const tsr_logical_rules *rules) {
  partitioned->scoped = true;
  partitioned->rules = rules ? tsr_logical_rules_retain(rules) : NULL;
}

// ---- making ----

static tsr_status count_collectives(tsr_partitioned *p) {
  tsr_moved_bytes moved;
  tsr_ir *ir = tsr_program_copy_ir(p->device);
  if (!ir) return tsr_fail(NO_MEMORY, "program %s", tsr_program_path(p->device));
  tsr_status status = tsr_moved_bytes_count(ir, &moved);
  tsr_ir_destroy(ir);
  if (status) return status;
  for (int i = 0; i < TSR_MOVED_KIND_COUNT; i++) p->info.collective_count += moved.kinds[i].times;
  p->info.collective_bytes = moved.bytes;
  p->info.unknown_loops = moved.unknown_loops;
  p->info.fallback_count = tsr_spmd_fallback_count(tsr_program_ir(p->device));
  return NULL;
}

// The program as it was, if it has a mesh or the plan has one, is partitioned for that.
static const tsr_mesh *choose_mesh(const tsr_program *program,
                                   const tsr_partition_options *options) {
  const bool has_own =
      tsr_program_mesh_count(program) || (options->plan && tsr_plan_mesh(options->plan));
  return options->mesh || has_own ? options->mesh : tsr_mesh_current();
}

static tsr_status make_whole(tsr_partitioned *p, const tsr_program *program,
                             const tsr_partition_options *options) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_propagate_options given;
  TSR_OWN(program, named);
  tsr_status status = tsr_partition_specs(program, options, &arena, &given);
  if (!status) status = tsr_program_annotate(program, &given, &named);
  if (!status) status = tsr_partition_bind(named, program, options, &p->whole);
  tsr_arena_deinit(&arena);
  return status ? status : tsr_partition_check(p->whole);
}

static tsr_status make(tsr_partitioned *p, const tsr_program *program,
                       tsr_partition_options *options) {
  options->mesh = choose_mesh(program, options);
  TSR_TRY(make_whole(p, program, options));
  TSR_TRY(tsr_program_transform(p->whole, "partition", &p->device));
  TSR_TRY(tsr_program_transform(p->device, "lanes", &p->entry));
  TSR_TRY(tsr_partitioned_read(p, options->mesh));
  return count_collectives(p);
}

tsr_status tsr_program_partition(const tsr_program *program, const tsr_partition_options *given,
                                 tsr_partitioned **out_partitioned) {
  tsr_partition_options options;
  TSR_TRY(tsr_sized_read(tsr_partition_options, given, &options));
  tsr_partitioned *p = calloc(1, sizeof *p);
  if (!p) return tsr_fail(NO_MEMORY, "a partitioned program");
  atomic_init(&p->references, 1);
  tsr_status status = make(p, program, &options);
  if (status)
    tsr_partitioned_release(p);
  else
    *out_partitioned = p;
  return status;
}

tsr_partitioned *tsr_partitioned_retain(const tsr_partitioned *partitioned) {
  tsr_partitioned *shared = (tsr_partitioned *)(uintptr_t)partitioned;
  atomic_fetch_add(&shared->references, 1);
  return shared;
}

static void release_values(const tsr_partitioned_value *values, int64_t count) {
  for (int64_t i = 0; values && i < count; i++) {
    tsr_layout_release(values[i].layout);
    tsr_spec_release(values[i].spec);
  }
}

void tsr_partitioned_release(const tsr_partitioned *partitioned) {
  tsr_partitioned *p = (tsr_partitioned *)(uintptr_t)partitioned;
  if (!p || atomic_fetch_sub(&p->references, 1) > 1) return;
  release_values(p->arguments, p->info.argument_count);
  release_values(p->results, p->info.result_count);
  tsr_program_release(p->whole);
  tsr_program_release(p->device);
  tsr_program_release(p->entry);
  tsr_program_release(p->named_values);
  tsr_mesh_release(p->mesh);
  tsr_logical_rules_release(p->rules);
  tsr_arena_deinit(&p->arena);
  free(p);
}

// ---- asking ----

const tsr_program *tsr_partitioned_lower(const tsr_partitioned *partitioned,
                                         tsr_lowered_form form) {
  if ((unsigned)form >= TSR_LOWERED_FORM_COUNT) return NULL;
  return form == TSR_LOWERED_WHOLE ? partitioned->whole : partitioned->device;
}

tsr_status tsr_partitioned_describe(const tsr_partitioned *partitioned,
                                    tsr_partitioned_info *out_info) {
  TSR_TRY(tsr_sized_check(tsr_partitioned_info, out_info));
  tsr_sized_fill(tsr_partitioned_info, &partitioned->info, out_info);
  return NULL;
}

tsr_status tsr_partitioned_fallback_at(const tsr_partitioned *partitioned, int64_t index,
                                       tsr_partition_fallback *out_fallback) {
  TSR_TRY(tsr_sized_check(tsr_partition_fallback, out_fallback));
  if (index < 0 || index >= partitioned->info.fallback_count)
    return tsr_fail(INDEX_OUT_OF_RANGE, "fallback %" PRId64 ", there are %" PRId64, index,
                    partitioned->info.fallback_count);
  const tsr_spmd_fallback row = tsr_spmd_fallback_at(tsr_program_ir(partitioned->device), index);
  const tsr_partition_fallback fallback = {.size = sizeof fallback,
                                           .op = row.op,
                                           .operand = row.operand,
                                           .dim = row.dim,
                                           .axes = row.axes,
                                           .bytes = row.bytes,
                                           .places = row.places,
                                           .cause = row.cause};
  tsr_sized_fill(tsr_partition_fallback, &fallback, out_fallback);
  return NULL;
}

static tsr_status give(const tsr_partitioned_value *values, int64_t count, int64_t index,
                       const char *what, tsr_partitioned_value *out_value) {
  TSR_TRY(tsr_sized_check(tsr_partitioned_value, out_value));
  if (index < 0 || index >= count)
    return tsr_fail(INDEX_OUT_OF_RANGE, "%s %" PRId64 ", the program has %" PRId64, what, index,
                    count);
  tsr_sized_fill(tsr_partitioned_value, &values[index], out_value);
  return NULL;
}

tsr_status tsr_partitioned_argument(const tsr_partitioned *partitioned, int64_t index,
                                    tsr_partitioned_value *out_argument) {
  return give(partitioned->arguments, partitioned->info.argument_count, index, "argument",
              out_argument);
}

tsr_status tsr_partitioned_result(const tsr_partitioned *partitioned, int64_t index,
                                  tsr_partitioned_value *out_result) {
  return give(partitioned->results, partitioned->info.result_count, index, "result", out_result);
}
