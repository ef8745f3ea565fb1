// The public propagation: made, described, asked for single values.
#include "tessera/program/propagation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "base/text_internal.h"
#include "builder/builder_spec.h"
#include "insight/insight.h"
#include "program/pipelines.h"
#include "program/program_internal.h"
#include "syntax/syntax.h"
#include "verify/verify.h"

// ---- making ----

void tsr_propagation_destroy(tsr_propagation *propagation) {
  if (!propagation) return;
  tsr_program_release(propagation->final);
  tsr_program_release(propagation->work);
  tsr_program_release(propagation->given);
  tsr_program_release(propagation->original);
  tsr_plan_release(propagation->plan);
  free(propagation->ops);
  free(propagation->gains);
  free(propagation->refusals);
  tsr_arena_deinit(&propagation->arena);
  tsr_arena_deinit(&propagation->answers);
  tsr_arena_deinit(&propagation->scratch);
  pthread_mutex_destroy(&propagation->lock);
  free(propagation);
}

static tsr_status check_given(tsr_ir *ir, const char *name, const tsr_propagate_options *options) {
  tsr_text mesh = TSR_TEXT_EMPTY;
  tsr_status status = tsr_verify(ir, name);
  if (!status || !options->mesh) return tsr_note(status, "with the plan that was given");
  tsr_mesh_print(options->mesh, &mesh);
  status = tsr_note(status, "on mesh {%s}", tsr_text_string(&mesh));
  tsr_text_deinit(&mesh);
  return status;
}

// Names of arguments that only the file of jax.export has go to their locations, so that programs
// made of this one keep them.
static tsr_status name_arguments(const tsr_propagation *p, tsr_ir *ir) {
  const int64_t entry = tsr_program_entry(p->original);
  const tsr_op *func = entry >= 0 ? tsr_ir_entry(ir) : NULL;
  const tsr_ir_block *body = func && tsr_program_export(p->original) ? tsr_func_body(func) : NULL;
  for (int i = 0; body && i < body->arg_count; i++) {
    tsr_program_value value = TSR_PROGRAM_VALUE;
    TSR_TRY(tsr_program_argument(p->original, entry, i, &value));
    body->args[i]->location = tsr_name_location(ir, value.name);
    TSR_NEED(body->args[i]->location);
  }
  return NULL;
}

// The program with the mesh and the plan of the options. `*out_mesh` is the caller's.
static tsr_status make_given(tsr_propagation *p, const tsr_propagate_options *options,
                             tsr_builder_mesh *out_mesh) {
  tsr_ir *ir = tsr_program_copy_ir(p->original);
  const char *name = tsr_program_path(p->original);
  if (!ir) return tsr_fail(NO_MEMORY, "program %s", name);
  tsr_status status = name_arguments(p, ir);
  if (!status) status = tsr_mesh_apply(p->original, ir, options, out_mesh);
  if (!status && options->plan) status = tsr_plan_apply(p, ir, options->plan, out_mesh);
  if (!status && (options->plan || options->mesh)) status = check_given(ir, name, options);
  if (status) {
    tsr_ir_destroy(ir);
    return status;
  }
  TSR_TRY(tsr_program_wrap(ir, name, TSR_PROGRAM_BUILT, &p->given));
  return tsr_names_make(p);
}

static tsr_flow_how how_of(tsr_propagation *p, const tsr_propagate_options *options) {
  static const tsr_flow_strategy strategies[] = {
      [TSR_PROPAGATE_AGGRESSIVE] = TSR_FLOW_AGGRESSIVE,
      [TSR_PROPAGATE_BASIC] = TSR_FLOW_BASIC,
      [TSR_PROPAGATE_BASIC_FIRST] = TSR_FLOW_BASIC_THEN_AGGRESSIVE};
  tsr_flow_how how = TSR_FLOW_PIPELINE;
  how.strategy = strategies[options->strategy];
  how.op_priorities = !options->no_op_priorities;
  how.conservative = options->conservative;
  tsr_record_watch(p, &how);
  return how;
}

static tsr_status run_work(tsr_propagation *p, tsr_ir *ir, const tsr_propagate_options *options,
                           const tsr_builder_mesh *mesh) {
  const tsr_flow_how how = how_of(p, options);
  int64_t changes = 0;
  if (options->constraint_count) {
    TSR_TRY(tsr_constraints_add(p, ir, options, mesh));
    TSR_TRY_NOTE(tsr_verify(ir, tsr_program_path(p->original)),
                 "with the constraints that were given");
  }
  TSR_TRY(tsr_propagation_prepare(ir, options->shared_functions));
  return tsr_propagate(ir, &how, &changes);
}

static tsr_status make_work(tsr_propagation *p, const tsr_propagate_options *options,
                            const tsr_builder_mesh *mesh) {
  tsr_ir *ir = tsr_program_copy_ir(p->given);
  if (!ir) return tsr_fail(NO_MEMORY, "program %s", tsr_program_path(p->original));
  tsr_status status = run_work(p, ir, options, mesh);
  if (!status)
    return tsr_program_wrap(ir, tsr_program_path(p->original), TSR_PROGRAM_BUILT, &p->work);
  tsr_ir_destroy(ir);
  return status;
}

static tsr_status make_final(tsr_propagation *p, bool shared) {
  tsr_ir *ir = tsr_program_copy_ir(p->work);
  if (!ir) return tsr_fail(NO_MEMORY, "program %s", tsr_program_path(p->original));
  tsr_status status = tsr_propagation_finish(ir, shared);
  if (!status)
    return tsr_program_wrap(ir, tsr_program_path(p->original), TSR_PROGRAM_BUILT, &p->final);
  tsr_ir_destroy(ir);
  return status;
}

static void count_values(tsr_propagation *p) {
  for (int64_t i = 1; i <= p->place_count; i++) {
    const tsr_sharding_place *place = &p->places[i];
    if (!tsr_slot_is_shown(p, i)) continue;
    p->info.value_count++;
    p->info.sharded_count += place->last && tsr_sharding_has_axes(place->last);
    p->info.given_count += tsr_place_is_given(place);
  }
}

static bool is_unread(const tsr_attr *dict) {
  return tsr_dict_find(dict, "mhlo.sharding") && !tsr_dict_find(dict, "sdy.sharding");
}

// Shardings that only XLA's older form has.
static void count_unread(tsr_propagation *p) {
  for (int64_t i = 0; i < p->op_count; i++) {
    const tsr_op *op = p->ops[i];
    const tsr_type *type = op->info->id == TSR_OP_FUNC ? tsr_func_type(op) : NULL;
    p->info.unread_count += tsr_op_attr(op, "mhlo.sharding") && !tsr_op_attr(op, "sdy.sharding");
    for (int k = 0; type && k < type->count; k++)
      p->info.unread_count +=
          is_unread(k < type->input_count ? tsr_func_arg_attrs(op, k)
                                          : tsr_func_result_attrs(op, k - type->input_count));
  }
}

static tsr_status make_all(tsr_propagation *p, const tsr_propagate_options *options) {
  tsr_builder_mesh mesh = {NULL, NULL};
  tsr_status status = make_given(p, options, &mesh);
  if (!status) status = make_work(p, options, &mesh);
  tsr_mesh_release(mesh.mesh);
  if (!status) status = make_final(p, options->shared_functions);
  tsr_arena_deinit(&p->scratch);
  if (status) return status;
  count_values(p);
  count_unread(p);
  return NULL;
}

tsr_status tsr_program_propagate(const tsr_program *program, const tsr_propagate_options *options,
                                 tsr_propagation **out_propagation) {
  tsr_propagate_options given;
  TSR_TRY(tsr_sized_read(tsr_propagate_options, options, &given));
  if ((unsigned)given.strategy > TSR_PROPAGATE_BASIC_FIRST)
    return tsr_fail(BAD_ARGUMENT, "strategy %d, expected 0 to %d", (int)given.strategy,
                    TSR_PROPAGATE_BASIC_FIRST);
  if (given.constraint_count < 0 || (given.constraint_count && !given.constraints))
    return tsr_fail(BAD_ARGUMENT, "%" PRId64 " constraints%s", given.constraint_count,
                    given.constraint_count < 0 ? ", expected 0 or more" : ", but they are NULL");
  tsr_propagation *made = calloc(1, sizeof *made);
  if (!made) return tsr_fail(NO_MEMORY, "a propagation");
  pthread_mutex_init(&made->lock, NULL);  // cannot fail with these attributes
  made->original = tsr_program_retain(program);
  tsr_status status = make_all(made, &given);
  if (status)
    tsr_propagation_destroy(made);
  else
    *out_propagation = made;
  return status;
}

// Adds the constraints to a copy of the given program.
static tsr_status make_annotated(tsr_propagation *p, const tsr_propagate_options *options,
                                 const tsr_builder_mesh *mesh, tsr_program **out_program) {
  const char *name = tsr_program_path(p->original);
  tsr_ir *ir = tsr_program_copy_ir(p->given);
  if (!ir) return tsr_fail(NO_MEMORY, "program %s", name);
  tsr_status status = options->constraint_count ? tsr_constraints_add(p, ir, options, mesh) : NULL;
  if (!status) status = tsr_note(tsr_verify(ir, name), "with the shardings that were given");
  if (!status) return tsr_program_wrap(ir, name, TSR_PROGRAM_BUILT, out_program);
  tsr_ir_destroy(ir);
  return status;
}

tsr_status tsr_program_annotate(const tsr_program *program, const tsr_propagate_options *options,
                                tsr_program **out_program) {
  tsr_builder_mesh mesh = {NULL, NULL};
  tsr_propagation *p = calloc(1, sizeof *p);
  if (!p) return tsr_fail(NO_MEMORY, "a program");
  pthread_mutex_init(&p->lock, NULL);  // cannot fail with these attributes
  p->original = tsr_program_retain(program);
  tsr_status status = make_given(p, options, &mesh);
  if (!status) status = make_annotated(p, options, &mesh, out_program);
  tsr_mesh_release(mesh.mesh);
  tsr_propagation_destroy(p);
  return status;
}

// ---- asking ----

const tsr_program *tsr_propagation_program(const tsr_propagation *propagation) {
  return propagation->final;
}

tsr_status tsr_propagation_describe(const tsr_propagation *propagation,
                                    tsr_propagation_info *out_info) {
  TSR_TRY(tsr_sized_check(tsr_propagation_info, out_info));
  tsr_sized_fill(tsr_propagation_info, &propagation->info, out_info);
  return NULL;
}

// Keeps a text as long as the propagation.
static const char *keep(tsr_arena *arena, tsr_text *text) {
  const char *kept =
      text->failed ? NULL : tsr_arena_copy(arena, tsr_text_string(text), text->length);
  tsr_text_clear(text);
  return kept;
}

static void release_spec(void *spec) { tsr_spec_release(spec); }

static bool keep_spec(tsr_propagation *p, tsr_sharded_value *value) {
  tsr_spec *spec = NULL;
  tsr_status status = tsr_spec_parse(value->sharding, TSR_FORM_SHARDY, &spec);
  const bool lost = tsr_status_code(status) == TSR_CODE_NO_MEMORY;
  tsr_status_free(status);
  value->spec = spec;
  // The program that is kept for its whole life frees it.
  tsr_ir *ir = (tsr_ir *)(uintptr_t)tsr_program_ir(p->given);
  return !lost && (!spec || tsr_ir_keep(ir, spec, release_spec));
}

static bool fill_texts(tsr_propagation *p, uint32_t slot, tsr_sharded_value *value,
                       tsr_text *text) {
  const tsr_op *func = tsr_slot_function(p, slot);
  const char *symbol = func ? tsr_op_symbol(func) : NULL;
  tsr_slot_print(p, slot, text);
  value->name = keep(&p->answers, text);
  value->function = symbol ? symbol : "";
  tsr_type_print(tsr_slot_type(p, slot), text);
  value->type = keep(&p->answers, text);
  if (!value->name || !value->type) return false;
  if (!p->places[slot].last) return true;
  tsr_tensor_sharding_print(p->places[slot].last, false, text);
  value->sharding = keep(&p->answers, text);
  return value->sharding && keep_spec(p, value);
}

static void fill_copies(const tsr_propagation *p, const tsr_named_value *named, uint32_t first,
                        tsr_sharded_value *value) {
  const tsr_tensor_sharding *a = p->places[first].last;
  value->copies = 1;
  for (uint32_t at = first; (at = tsr_value_slot(p, named, at)); value->copies++) {
    const tsr_tensor_sharding *b = p->places[at].last;
    value->copies_differ |= a != b && (!a || !b || !tsr_tensor_sharding_equal(a, b));
  }
}

static const tsr_sharded_value *answer_of(tsr_propagation *p, const tsr_named_value *named,
                                          uint32_t slot) {
  tsr_sharding_place *place = &p->places[slot];
  tsr_text text = TSR_TEXT_EMPTY;
  if (place->answer) return place->answer;
  tsr_sharded_value *made = tsr_arena_zeros(&p->answers, 1, sizeof *made);
  if (!made) return NULL;
  made->size = sizeof *made;
  made->given = tsr_place_is_given(place);
  fill_copies(p, named, slot, made);
  if (fill_texts(p, slot, made, &text)) place->answer = made;
  tsr_text_deinit(&text);
  return place->answer;
}

tsr_status tsr_propagation_find(const tsr_propagation *propagation, const char *value,
                                tsr_sharded_value *out_value) {
  tsr_propagation *p = (tsr_propagation *)(uintptr_t)propagation;  // `answers`, under its lock
  tsr_named_value named;
  TSR_TRY(tsr_sized_check(tsr_sharded_value, out_value));
  TSR_TRY(tsr_value_find(propagation, value, &named));
  const uint32_t slot = tsr_value_slot(propagation, &named, 0);
  if (!slot) return tsr_fail(NOT_FOUND, "%s has no sharding: no result depends on it", value);
  pthread_mutex_lock(&p->lock);
  const tsr_sharded_value *answer = answer_of(p, &named, slot);
  pthread_mutex_unlock(&p->lock);
  if (!answer) return tsr_fail(NO_MEMORY, "value %s", value);
  tsr_sized_fill(tsr_sharded_value, answer, out_value);
  return NULL;
}
