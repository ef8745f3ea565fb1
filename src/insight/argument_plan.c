// Arguments of a program as a tree of tensors, plans made of their shardings, and plans for them.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/name_index.h"
#include "base/text_internal.h"
#include "builder/builder_spec.h"
#include "insight/insight.h"
#include "program/program_internal.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/plan.h"
#include "tessera/engine/sharding.h"

// ---- arguments as tensors ----

typedef struct argument_list {
  tsr_arena arena;
  int64_t count;
  tsr_program_value *values;
  tsr_tensor *tensors;
  const tsr_spec **specs;
} argument_list;

static bool is_tensor(const tsr_program_value *value) {
  if (value->dtype == TSR_DTYPE_NONE) return false;
  for (int i = 0; i < value->shape.rank; i++)
    if (value->shape.dims[i] < 0) return false;
  return true;
}

static tsr_status keep_text(tsr_arena *arena, tsr_text *text, const char **out_text) {
  tsr_status status = tsr_text_check(text);
  *out_text = status ? NULL : tsr_arena_copy(arena, tsr_text_string(text), text->length);
  tsr_text_deinit(text);
  if (status) return status;
  TSR_NEED(*out_text);
  return NULL;
}

static tsr_status add_argument(argument_list *list, const tsr_program *program, int64_t entry,
                               int64_t index) {
  tsr_program_value *value = &list->values[list->count];
  *value = TSR_PROGRAM_VALUE;
  TSR_TRY(tsr_program_argument(program, entry, index, value));
  if (!is_tensor(value)) return NULL;
  tsr_text path = TSR_TEXT_EMPTY;
  const char *kept = NULL;
  tsr_argument_path_print(value->name, &path);
  TSR_TRY(keep_text(&list->arena, &path, &kept));
  list->tensors[list->count] = tsr_tensor_of(kept, value->dtype, &value->shape);
  list->specs[list->count++] = value->spec;
  return NULL;
}

static tsr_status fill_list(argument_list *list, const tsr_program *program) {
  int64_t entry = 0;
  tsr_program_function function = TSR_PROGRAM_FUNCTION;
  TSR_TRY(tsr_program_entry_function(program, &entry, &function));
  const size_t room = (size_t)function.argument_count + 1;
  list->values = tsr_arena_zeros(&list->arena, room, sizeof *list->values);
  list->tensors = tsr_arena_zeros(&list->arena, room, sizeof *list->tensors);
  list->specs = tsr_arena_zeros(&list->arena, room, sizeof *list->specs);
  TSR_NEED(list->values && list->tensors && list->specs);
  for (int64_t i = 0; i < function.argument_count; i++)
    TSR_TRY(add_argument(list, program, entry, i));
  return NULL;
}

tsr_status tsr_program_tree(const tsr_program *program, tsr_tree **out_tree) {
  argument_list list = {0};
  tsr_status status = fill_list(&list, program);
  if (!status) status = tsr_tree_create(list.tensors, list.count, out_tree);
  tsr_arena_deinit(&list.arena);
  return status;
}

// ---- the plan of a program ----

// The mesh that all specs are on; the only one of the program if none has one.
static tsr_status common_mesh(const tsr_program *program, const argument_list *list,
                              tsr_mesh **out_mesh) {
  const int64_t count = tsr_program_mesh_count(program);
  const char *name = NULL;
  for (int64_t i = 0; i < list->count; i++) {
    const char *mesh = list->specs[i] ? list->values[i].mesh : NULL;
    if (mesh && name && strcmp(mesh, name) != 0)
      return tsr_fail(UNSUPPORTED,
                      "argument %s is on mesh @%s and others are on @%s; a plan has one mesh",
                      list->values[i].name, mesh, name);
    if (mesh) name = mesh;
  }
  for (int64_t i = 0; i < count; i++)
    if (name ? !strcmp(tsr_program_mesh_name(program, i), name) : count == 1)
      return tsr_program_mesh_at(program, i, out_mesh);
  return tsr_fail(NOT_FOUND, "the program has %" PRId64 " meshes, expected one for its arguments",
                  count);
}

tsr_status tsr_program_plan(const tsr_program *program, tsr_plan **out_plan) {
  argument_list list = {0};
  tsr_mesh *mesh = NULL;
  tsr_tree *tree = NULL;
  tsr_status status = fill_list(&list, program);
  if (!status) status = common_mesh(program, &list, &mesh);
  if (!status) status = tsr_tree_create(list.tensors, list.count, &tree);
  if (!status) status = tsr_plan_from_specs(tree, mesh, list.specs, out_plan);
  tsr_tree_release(tree);
  tsr_mesh_release(mesh);
  tsr_arena_deinit(&list.arena);
  return status;
}

// ---- a plan for the arguments ----

typedef struct plan_rows {
  tsr_propagation *p;
  const tsr_plan *plan;
  tsr_name_index index;  // keys of paths -> rows
  bool *used;
  const char **unmatched, **unused;
} plan_rows;

static tsr_status index_rows(plan_rows *rows) {
  tsr_arena *arena = &rows->p->arena;
  const int64_t count = tsr_plan_count(rows->plan);
  rows->used = tsr_arena_zeros(arena, (size_t)count + 1, sizeof *rows->used);
  rows->unused = tsr_arena_zeros(arena, (size_t)count + 1, sizeof *rows->unused);
  TSR_NEED(rows->used && rows->unused);
  for (int64_t i = 0; i < count; i++) {
    const char *path = tsr_tree_at(tsr_plan_tree(rows->plan), i)->path, *key = NULL;
    tsr_text text = TSR_TEXT_EMPTY;
    int64_t before = -1;
    tsr_argument_key_print(path, &text);
    TSR_TRY(keep_text(arena, &text, &key));
    TSR_TRY(tsr_name_index_add(&rows->index, key, i, &before));
    if (before >= 0)
      return tsr_fail(BAD_ARGUMENT, "rows \"%s\" and \"%s\" of the plan mean the same argument",
                      tsr_tree_at(tsr_plan_tree(rows->plan), before)->path, path);
  }
  return NULL;
}

// The row of an argument: of its name, else of its name without the first key; -1 = none.
static tsr_status find_row(const plan_rows *rows, const char *name, int64_t *out_row) {
  tsr_text key = TSR_TEXT_EMPTY;
  tsr_argument_key_print(name, &key);
  TSR_TRY(tsr_text_check(&key));
  const char *rest = strchr(tsr_text_string(&key), '/');
  *out_row = tsr_name_index_find(&rows->index, tsr_text_string(&key));
  if (*out_row < 0 && rest) *out_row = tsr_name_index_find(&rows->index, rest + 1);
  tsr_text_deinit(&key);
  return NULL;
}

static tsr_status check_shape(const tsr_program_value *argument, const tsr_plan_row *row) {
  const tsr_shape given = {.rank = row->tensor->rank};
  bool same = given.rank == argument->shape.rank;
  for (int i = 0; same && i < given.rank; i++)
    same = row->tensor->dims[i] == argument->shape.dims[i];
  if (same) return NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  for (int i = 0; i < given.rank; i++)
    tsr_text_addf(&text, "%s%" PRId64, i ? "x" : "", row->tensor->dims[i]);
  tsr_status status =
      tsr_fail(SHAPES_DIFFER, "argument %s is %s, but row \"%s\" of the plan is %s", argument->name,
               argument->type, row->tensor->path, given.rank ? tsr_text_string(&text) : "a scalar");
  tsr_text_deinit(&text);
  return status;
}

// JAX refuses arguments whose sizes do not divide.
static tsr_status check_division(const tsr_program_value *argument, const tsr_plan_row *row,
                                 const tsr_mesh *mesh) {
  tsr_sharding *sharding = NULL;
  tsr_layout *layout = NULL;
  tsr_status status = tsr_sharding_bind(mesh, row->final, false, &sharding);
  if (!status) status = tsr_layout_create(sharding, &argument->shape, TSR_POLICY_ERROR, &layout);
  tsr_layout_release(layout);
  tsr_sharding_release(sharding);
  return tsr_note(status, "argument %s, row \"%s\" of the plan", argument->name, row->tensor->path);
}

static tsr_status apply_row(plan_rows *rows, tsr_ir *ir, tsr_value *value,
                            const tsr_program_value *argument, int64_t index,
                            const tsr_builder_mesh *mesh) {
  tsr_plan_row row = TSR_PLAN_ROW;
  const tsr_attr *attr = NULL;
  TSR_TRY(tsr_plan_at(rows->plan, index, &row));
  TSR_TRY(check_shape(argument, &row));
  TSR_TRY(check_division(argument, &row, mesh->mesh));
  TSR_TRY_NOTE(tsr_spec_to_attr(ir, row.final, value->type, mesh, &attr), "argument %s",
               argument->name);
  rows->used[index] = true;
  return tsr_value_sharding_set(ir, value, attr);
}

static tsr_status apply_rows(plan_rows *rows, tsr_ir *ir, const tsr_builder_mesh *mesh) {
  tsr_propagation *p = rows->p;
  const int64_t entry = tsr_program_entry(p->original);
  const tsr_op *func = tsr_ir_entry(ir);
  const tsr_ir_block *body = func && entry >= 0 ? tsr_func_body(func) : NULL;
  if (!body) return tsr_fail(NOT_FOUND, "the program has no function @main to plan");
  const size_t room = (size_t)body->arg_count + 1;
  rows->unmatched = tsr_arena_zeros(&p->arena, room, sizeof *rows->unmatched);
  p->planned = tsr_arena_zeros(&p->arena, room, sizeof *p->planned);
  TSR_NEED(rows->unmatched && p->planned);
  for (int i = 0; i < body->arg_count; i++) {
    tsr_program_value argument = TSR_PROGRAM_VALUE;
    int64_t row = -1;
    TSR_TRY(tsr_program_argument(p->original, entry, i, &argument));
    TSR_TRY(find_row(rows, argument.name, &row));
    if (row < 0) {
      rows->unmatched[p->info.unmatched_count++] = argument.name;
      continue;
    }
    TSR_TRY(apply_row(rows, ir, body->args[i], &argument, row, mesh));
    p->planned[i] = tsr_tree_at(tsr_plan_tree(rows->plan), row)->path;
  }
  if (body->arg_count && p->info.unmatched_count == body->arg_count)
    return tsr_fail(
        NOT_FOUND,
        "no row of the plan means an argument: the first row is \"%s\", the first "
        "argument is %s",
        tsr_plan_count(rows->plan) ? tsr_tree_at(tsr_plan_tree(rows->plan), 0)->path : "",
        rows->unmatched[0]);
  return NULL;
}

static void list_unused(plan_rows *rows) {
  tsr_propagation_info *info = &rows->p->info;
  for (int64_t i = 0; i < tsr_plan_count(rows->plan); i++)
    if (!rows->used[i])
      rows->unused[info->unused_count++] = tsr_tree_at(tsr_plan_tree(rows->plan), i)->path;
  info->unmatched = rows->unmatched;
  info->unused = rows->unused;
}

tsr_status tsr_plan_apply(tsr_propagation *propagation, tsr_ir *ir, const tsr_plan *plan,
                          const tsr_builder_mesh *mesh) {
  plan_rows rows = {.p = propagation, .plan = plan, .index = TSR_NAME_INDEX_EMPTY};
  propagation->plan = tsr_plan_retain(plan);
  tsr_status status = index_rows(&rows);
  if (!status) status = apply_rows(&rows, ir, mesh);
  if (!status) list_unused(&rows);
  tsr_name_index_deinit(&rows.index);
  return status;
}
