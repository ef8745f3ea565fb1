// What the caller adds to a program before it propagates: a mesh, and constraints.
#include <string.h>

#include "base/text_internal.h"
#include "builder/builder_spec.h"
#include "insight/insight.h"
#include "program/program_internal.h"
#include "propagate/edits.h"
#include "syntax/syntax.h"
#include "verify/sdy_checks.h"

// ---- the mesh ----

static bool has_axes(const tsr_op *op) {
  const tsr_attr *mesh = op->info->id == TSR_OP_SDY_MESH ? tsr_op_attr(op, "mesh") : NULL;
  return mesh && mesh->kind == TSR_ATTR_RECORD && tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count;
}

// The mesh op that shardings are given on: the first with axes. `*out_count` gets how many have.
static tsr_op *find_mesh_op(const tsr_ir *ir, int *out_count) {
  tsr_op *found = NULL;
  *out_count = 0;
  for (tsr_op *op = ir->module->regions[0].first->first; op; op = op->next) {
    if (!has_axes(op)) continue;
    if (!found) found = op;
    ++*out_count;
  }
  return found;
}

static tsr_status add_mesh_op(tsr_ir *ir, const tsr_mesh *mesh, tsr_op **out_op) {
  tsr_ir_block *body = ir->module->regions[0].first;
  const tsr_attr *attr = tsr_mesh_attr(ir, mesh), *name = tsr_attr_string(ir, "mesh", 4);
  const tsr_named_attr attrs[] = {{tsr_ir_name(ir, "mesh", 4), attr},
                                  {tsr_ir_name(ir, "sym_name", 8), name}};
  TSR_NEED(attr && name && attrs[0].name && attrs[1].name);
  if (tsr_ir_find_symbol(ir, "mesh"))
    return tsr_fail(BAD_ARGUMENT, "the program has a function or an empty mesh @mesh already");
  *out_op =
      tsr_op_create(ir, &(tsr_op_parts){.id = TSR_OP_SDY_MESH, .attr_count = 2, .attrs = attrs});
  TSR_NEED(*out_op);
  if (body->first)
    tsr_op_insert_before(body->first, *out_op);
  else
    tsr_op_append(body, *out_op);
  return tsr_device_count_write(ir, tsr_mesh_device_count(mesh));
}

static tsr_status replace_mesh(tsr_ir *ir, tsr_op *op, int count, const tsr_mesh *mesh) {
  if (count > 1)
    return tsr_fail(UNSUPPORTED, "the program has %d meshes; a mesh replaces the only one", count);
  const tsr_attr *attr = tsr_mesh_attr(ir, mesh);
  TSR_NEED(attr);
  TSR_TRY(tsr_op_attr_set(ir, op, "mesh", attr));
  TSR_TRY(tsr_op_attr_set(ir, op, "stablehlo.mesh", NULL));
  return tsr_device_count_write(ir, tsr_mesh_device_count(mesh));
}

static bool same_axes(const tsr_mesh *a, const tsr_mesh *b) {
  bool same = tsr_mesh_axis_count(a) == tsr_mesh_axis_count(b);
  for (int i = 0; same && i < tsr_mesh_axis_count(a); i++)
    same = tsr_mesh_axis_at(a, i)->size == tsr_mesh_axis_at(b, i)->size &&
           !strcmp(tsr_mesh_axis_at(a, i)->name, tsr_mesh_axis_at(b, i)->name);
  return same;
}

static tsr_status check_plan_mesh(const tsr_mesh *of_plan, const tsr_builder_mesh *mesh) {
  if (same_axes(of_plan, mesh->mesh)) return NULL;
  tsr_text first = TSR_TEXT_EMPTY, second = TSR_TEXT_EMPTY;
  tsr_mesh_print(of_plan, &first);
  tsr_mesh_print(mesh->mesh, &second);
  tsr_status status =
      tsr_fail(BAD_ARGUMENT, "the plan is for mesh {%s}, expected {%s}, which is mesh @%s",
               tsr_text_string(&first), tsr_text_string(&second), mesh->name);
  tsr_text_deinit(&first);
  tsr_text_deinit(&second);
  return status;
}

// The mesh of an op that the program had.
static tsr_status read_mesh(const tsr_program *program, const char *name, tsr_mesh **out_mesh) {
  for (int64_t i = 0; i < tsr_program_mesh_count(program); i++)
    if (!strcmp(tsr_program_mesh_name(program, i), name))
      return tsr_program_mesh_at(program, i, out_mesh);
  return tsr_fail(NOT_FOUND, "the program has no mesh @%s", name);
}

tsr_status tsr_mesh_apply(const tsr_program *program, tsr_ir *ir,
                          const tsr_propagate_options *options, tsr_builder_mesh *out_mesh) {
  int count = 0;
  tsr_op *op = find_mesh_op(ir, &count);
  const tsr_mesh *of_plan = options->plan ? tsr_plan_mesh(options->plan) : NULL;
  const tsr_mesh *given = options->mesh ? options->mesh : op ? NULL : of_plan;
  *out_mesh = (tsr_builder_mesh){NULL, NULL};
  if (options->mesh && op) TSR_TRY(replace_mesh(ir, op, count, options->mesh));
  if (given && !op) TSR_TRY(add_mesh_op(ir, given, &op));
  if (!op) return NULL;
  out_mesh->name = tsr_op_symbol(op);
  if (given)
    out_mesh->mesh = tsr_mesh_retain(given);
  else if (options->plan || options->constraint_count)
    TSR_TRY(read_mesh(program, out_mesh->name, &out_mesh->mesh));
  return of_plan ? check_plan_mesh(of_plan, out_mesh) : NULL;
}

tsr_status tsr_spec_to_attr(tsr_ir *ir, const tsr_spec *spec, const tsr_type *type,
                            const tsr_builder_mesh *mesh, const tsr_attr **out_attr) {
  tsr_text text = TSR_TEXT_EMPTY;
  if (!mesh->mesh) return tsr_fail(NO_MESH_ACTIVE, "the program has no mesh, and none was given");
  if (type->kind != TSR_TYPE_TENSOR || type->rank > TSR_MAX_RANK)
    return tsr_fail(BAD_ARGUMENT, "only tensors of at most %d dimensions have shardings",
                    TSR_MAX_RANK);
  tsr_status status = tsr_spec_on_mesh(spec, type->rank, mesh, &text);
  char *kept = status ? NULL : tsr_arena_copy(&ir->arena, tsr_text_string(&text), text.length);
  if (!status && !kept) status = tsr_fail(NO_MEMORY, "a sharding");
  if (!status) status = tsr_syntax_read_attr(ir, kept, text.length, out_attr);
  tsr_text_deinit(&text);
  return status;
}

// ---- constraints ----

typedef struct op_table {
  tsr_op **ops;  // by origin - 1
} op_table;

static tsr_status note_op(tsr_op *op, void *context) {
  const op_table *table = context;
  if (op->origin) table->ops[op->origin - 1] = op;
  return NULL;
}

// The value of the copy that is a value of the given program.
static tsr_value *in_copy(const op_table *table, const tsr_value *value) {
  if (value->def) return tsr_op_result(table->ops[value->def->origin - 1], value->index);
  const tsr_op *parent = tsr_block_parent(value->block);
  const tsr_op *copy = table->ops[parent->origin - 1];
  return copy->regions[value->block->region - parent->regions].first->args[value->index];
}

static tsr_status constrain(tsr_propagation *p, tsr_ir *work, tsr_value *value,
                            const tsr_attr *sharding, const tsr_op **out_op) {
  const tsr_named_attr attr = {tsr_ir_name(work, "sharding", strlen("sharding")), sharding};
  const tsr_op *like = value->def ? value->def : tsr_block_parent(value->block);
  (void)p;
  TSR_NEED(attr.name);
  tsr_op *op = tsr_op_like(work, like, TSR_OP_SDY_SHARDING_CONSTRAINT, value, &attr);
  TSR_NEED(op);
  tsr_op_insert_after_value(value, op);
  tsr_uses_move(value, tsr_op_result(op, 0), op);
  *out_op = op;
  return NULL;
}

static tsr_status give(tsr_propagation *p, tsr_ir *work, const op_table *table,
                       const tsr_named_value *named, const tsr_spec *spec,
                       const tsr_builder_mesh *mesh, const tsr_op **out_op) {
  const tsr_attr *attr = NULL;
  const tsr_type *type = tsr_func_type(named->func);
  type = named->value ? named->value->type : type->types[type->input_count + named->index];
  TSR_TRY(tsr_spec_to_attr(work, spec, type, mesh, &attr));
  tsr_op *func = table->ops[named->func->origin - 1];
  const bool entry = named->func == tsr_ir_entry(tsr_program_ir(p->given));
  if (!named->value) {
    if (!entry) return tsr_fail(UNSUPPORTED, "only results of the entry can be given a sharding");
    *out_op = func;
    return tsr_func_result_sharding_set(work, func, named->index, attr);
  }
  tsr_value *value = in_copy(table, named->value);
  if (entry && !value->def && tsr_block_parent(value->block) == func) {
    *out_op = func;
    return tsr_value_sharding_set(work, value, attr);
  }
  return constrain(p, work, value, attr, out_op);
}

// A spec in any notation, or the dims of a Shardy sharding alone, as reports write them.
static tsr_status read_spec(const char *given, const tsr_builder_mesh *mesh, tsr_spec **out_spec) {
  tsr_text text = TSR_TEXT_EMPTY;
  if (strncmp(given, "[{", 2) != 0) return tsr_spec_parse(given, TSR_FORM_ANY, out_spec);
  tsr_text_addf(&text, "<@%s, %s>", mesh ? mesh->name : "mesh", given);
  tsr_status status = tsr_text_check(&text);
  if (!status) status = tsr_spec_parse(tsr_text_string(&text), TSR_FORM_SHARDY, out_spec);
  tsr_text_deinit(&text);
  return status;
}

static tsr_status add_constraint(tsr_propagation *p, tsr_ir *work, const op_table *table,
                                 const tsr_value_constraint *given, const tsr_builder_mesh *mesh) {
  tsr_named_value named;
  tsr_spec *spec = NULL;
  if (!given->value || !given->spec)
    return tsr_fail(BAD_ARGUMENT, "a constraint has no %s", given->value ? "spec" : "value");
  TSR_TRY(tsr_value_find(p, given->value, &named));
  TSR_TRY(read_spec(given->spec, mesh, &spec));
  const int64_t index = p->constraint_count++;
  p->constraints[index].named = named;
  tsr_status status = give(p, work, table, &named, spec, mesh, &p->constraints[index].op);
  tsr_spec_release(spec);
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_addf(&text, "%s=%s", given->value, given->spec);
  p->constraints[index].text = tsr_arena_copy(&p->arena, tsr_text_string(&text), text.length);
  if (!status && (text.failed || !p->constraints[index].text))
    status = tsr_fail(NO_MEMORY, "a constraint");
  tsr_text_deinit(&text);
  return status;
}

tsr_status tsr_constraints_add(tsr_propagation *propagation, tsr_ir *work,
                               const tsr_propagate_options *options, const tsr_builder_mesh *mesh) {
  tsr_propagation *p = propagation;
  const size_t count = (size_t)options->constraint_count;
  op_table table = {tsr_arena_zeros(&p->scratch, (size_t)p->op_count + 1, sizeof *table.ops)};
  p->constraints = tsr_arena_zeros(&p->arena, count + 1, sizeof *p->constraints);
  TSR_NEED(table.ops && p->constraints);
  TSR_TRY(tsr_op_walk(work->module, note_op, &table));
  for (size_t i = 0; i < count; i++) {
    const tsr_value_constraint *given = &options->constraints[i];
    TSR_TRY_NOTE(add_constraint(p, work, &table, given, mesh), "constraint %s=%s",
                 given->value ? given->value : "", given->spec ? given->spec : "");
  }
  return NULL;
}
