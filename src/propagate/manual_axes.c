// Shardings at the border of a manual computation, and the pass that makes its manual axes
// complete.
#include "propagate/manual_axes.h"

#include <stdlib.h>
#include <string.h>

#include "propagate/edits.h"
#include "propagate/sharding_passes.h"
#include "verify/sdy_checks.h"

// ---- inside and outside ----

static const tsr_attr *axis_name(const tsr_attr *mesh, int axis) {
  const tsr_attr *axes = tsr_attr_field(mesh, TSR_SDY_MESH_AXES);
  return tsr_attr_field(axes->items[axis], TSR_SDY_MESH_AXIS_NAME);
}

static bool is_manual(const tsr_op *manual, const tsr_attr *mesh, const tsr_sdy_part *part) {
  return tsr_sdy_is_manual(tsr_op_attr(manual, "manual_axes"), axis_name(mesh, part->axis));
}

// The manual axes of a dim come first.
static int64_t manual_count(const tsr_op *manual, const tsr_attr *mesh, const tsr_sdy_parts *axes) {
  int64_t count = 0;
  while (count < axes->count && is_manual(manual, mesh, &axes->items[count])) count++;
  return count;
}

static bool keep_free(tsr_arena *arena, const tsr_op *manual, const tsr_attr *mesh,
                      tsr_sdy_parts *parts) {
  tsr_sdy_part *kept = tsr_arena_alloc(arena, ((size_t)parts->count + 1) * sizeof *kept);
  int64_t count = 0;
  if (!kept) return false;
  for (int64_t i = 0; i < parts->count; i++)
    if (!is_manual(manual, mesh, &parts->items[i])) kept[count++] = parts->items[i];
  *parts = (tsr_sdy_parts){kept, count};
  return true;
}

const tsr_tensor_sharding *tsr_manual_inner(tsr_arena *arena, const tsr_op *manual,
                                            const tsr_tensor_sharding *outer) {
  tsr_tensor_sharding *inner = tsr_arena_alloc(arena, sizeof *inner);
  tsr_dim_sharding *dims = tsr_arena_alloc(arena, ((size_t)outer->rank + 1) * sizeof *dims);
  if (!inner || !dims) return NULL;
  *inner = *outer;
  inner->dims = dims;
  for (int i = 0; i < outer->rank; i++) {
    dims[i] = outer->dims[i];
    const int64_t drop = manual_count(manual, outer->mesh, &dims[i].axes);
    dims[i].axes = (tsr_sdy_parts){dims[i].axes.items + drop, dims[i].axes.count - drop};
    // A dim that is closed and has no axes can have no priority.
    if (drop && !dims[i].axes.count && dims[i].closed) dims[i].priority = -1;
  }
  return keep_free(arena, manual, outer->mesh, &inner->replicated) &&
                 keep_free(arena, manual, outer->mesh, &inner->unreduced)
             ? inner
             : NULL;
}

static bool join_axes(tsr_arena *arena, const tsr_op *manual, const tsr_attr *mesh,
                      const tsr_sdy_parts *front, const tsr_sdy_parts *back, tsr_sdy_parts *out) {
  const int64_t count = manual_count(manual, mesh, front);
  tsr_sdy_part *items = tsr_arena_alloc(arena, (size_t)(count + back->count + 1) * sizeof *items);
  if (!items) return false;
  if (count) memcpy(items, front->items, (size_t)count * sizeof *items);
  if (back->count) memcpy(items + count, back->items, (size_t)back->count * sizeof *items);
  *out = (tsr_sdy_parts){items, count + back->count};
  return true;
}

const tsr_tensor_sharding *tsr_manual_outer(tsr_arena *arena, const tsr_op *manual,
                                            const tsr_tensor_sharding *outer,
                                            const tsr_tensor_sharding *inner) {
  tsr_tensor_sharding *made = tsr_arena_alloc(arena, sizeof *made);
  const int rank = outer->rank < inner->rank ? outer->rank : inner->rank;
  tsr_dim_sharding *dims = tsr_arena_alloc(arena, ((size_t)rank + 1) * sizeof *dims);
  if (!made || !dims) return NULL;
  *made = *inner;
  made->rank = rank;
  made->dims = dims;
  for (int i = 0; i < rank; i++) {
    dims[i] = inner->dims[i];
    if (!join_axes(arena, manual, outer->mesh, &outer->dims[i].axes, &inner->dims[i].axes,
                   &dims[i].axes))
      return NULL;
  }
  made->replicated = outer->replicated;
  made->unreduced = outer->unreduced;
  made->reduction = TSR_SDY_REDUCTION_SUM;
  return made;
}

static tsr_status outer_attr(tsr_ir *ir, tsr_arena *arena, const tsr_op *manual,
                             const tsr_attr *outer, const tsr_attr *inner,
                             const tsr_attr **out_sharding) {
  const tsr_attr *outer_mesh = tsr_sdy_mesh_of(ir, manual, outer);
  const tsr_attr *inner_mesh = tsr_sdy_mesh_of(ir, manual, inner);
  tsr_tensor_sharding *a = NULL, *b = NULL;
  if (!outer_mesh || !inner_mesh)
    return tsr_fail(UNKNOWN_SYMBOL, "a sharding of %s names no mesh", manual->name);
  TSR_TRY(tsr_sharding_read(arena, outer_mesh, outer, &a));
  TSR_TRY(tsr_sharding_read(arena, inner_mesh, inner, &b));
  const tsr_tensor_sharding *made = tsr_manual_outer(arena, manual, a, b);
  TSR_NEED(made);
  *out_sharding = tsr_sharding_attr(ir, made);
  TSR_NEED(*out_sharding);
  return NULL;
}

tsr_status tsr_manual_outer_attr(tsr_ir *ir, const tsr_op *manual, const tsr_attr *outer,
                                 const tsr_attr *inner, const tsr_attr **out_sharding) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_status status = outer_attr(ir, &arena, manual, outer, inner, out_sharding);
  tsr_arena_deinit(&arena);
  return status;
}

// The manual computation that a value is an argument of, and the sharding that it has outside; NULL
// = it is none.
static const tsr_op *manual_of(const tsr_value *value, const tsr_attr **out_outer) {
  const tsr_op *op = value->def ? NULL : tsr_block_parent(value->block);
  if (!tsr_op_is(op, TSR_OP_SDY_MANUAL_COMPUTATION)) return NULL;
  const tsr_attr *list = tsr_shardings_list(tsr_op_attr(op, "in_shardings"));
  if (!list || value->index >= list->count) return NULL;
  *out_outer = list->items[value->index];
  return op;
}

tsr_status tsr_sharding_store(tsr_ir *ir, tsr_value *value, const tsr_attr *sharding) {
  const tsr_attr *outer = NULL;
  const tsr_op *manual = manual_of(value, &outer);
  if (manual) TSR_TRY(tsr_manual_outer_attr(ir, manual, outer, sharding, &sharding));
  return tsr_value_sharding_set(ir, value, sharding);
}

static tsr_status restore_argument(tsr_sharding_table *table, const tsr_value *value) {
  const tsr_attr *attr = NULL;
  const tsr_op *manual = manual_of(value, &attr);
  const uint32_t slot = tsr_sharding_slot_of(value);
  const tsr_tensor_sharding *inner = tsr_sharding_at(table, slot);
  tsr_tensor_sharding *outer = NULL;
  if (!manual || !inner) return NULL;
  const tsr_attr *mesh = tsr_sdy_mesh_of(table->ir, manual, attr);
  if (!mesh) return NULL;
  TSR_TRY(tsr_sharding_read(&table->arena, mesh, attr, &outer));
  const tsr_tensor_sharding *made = tsr_manual_outer(&table->arena, manual, outer, inner);
  TSR_NEED(made);
  return tsr_sharding_put(table, slot, made);
}

static tsr_status restore_op(tsr_op *op, void *context) {
  const tsr_ir_block *body =
      tsr_op_is(op, TSR_OP_SDY_MANUAL_COMPUTATION) ? op->regions[0].first : NULL;
  for (int i = 0; body && i < body->arg_count; i++)
    if (tsr_edge_of(body->args[i])) return NULL;
  for (int i = 0; body && i < body->arg_count; i++)
    TSR_TRY(restore_argument(context, body->args[i]));
  return NULL;
}

tsr_status tsr_manual_arguments_restore(tsr_sharding_table *table) {
  return tsr_op_walk(table->ir->module, restore_op, table);
}

// ---- complete manual axes ----

typedef struct manual_cleanup {
  tsr_ir *ir;
  int64_t *changes;
} manual_cleanup;

// The mesh that a list of shardings is bound to, empty ones left out; as it is written.
static const tsr_attr *find_mesh(const tsr_ir *ir, const tsr_op *op, const tsr_attr *list,
                                 const tsr_attr *before, const tsr_attr **out_ref) {
  const tsr_attr *mesh = before;
  for (int64_t i = 0; list && i < list->count; i++) {
    const tsr_attr *other = tsr_sdy_mesh_of(ir, op, list->items[i]);
    if (!other || (mesh && !tsr_sdy_is_empty(mesh))) continue;
    mesh = other;
    *out_ref = tsr_attr_field(list->items[i], TSR_SDY_SHARDING_MESH);
  }
  return mesh;
}

static void use_axes(const tsr_sdy_parts *parts, tsr_sdy_parts *used) {
  for (int64_t i = 0; i < parts->count; i++) used->items[used->count++] = parts->items[i];
}

// Adds what of an axis no part of `used`, which is sorted, has.
static void add_rest(const tsr_attr *mesh, int axis, const tsr_sdy_parts *used,
                     tsr_sdy_parts *out) {
  const int64_t size = tsr_sdy_axis_size(mesh, axis);
  int64_t at = 1;
  bool any = false;
  for (int64_t i = 0; i < used->count; i++) {
    const tsr_sdy_part *part = &used->items[i];
    if (part->axis != axis) continue;
    any = true;
    if (part->pre > at) out->items[out->count++] = tsr_part_of(mesh, axis, at, part->pre / at);
    if (tsr_sdy_end(part) > at) at = tsr_sdy_end(part);
  }
  if (at < size || !any) out->items[out->count++] = tsr_part_of(mesh, axis, at, size / at);
}

static tsr_status complete_one(tsr_ir *ir, tsr_arena *arena, const tsr_op *op, const tsr_attr *mesh,
                               const tsr_attr *ref, const tsr_attr **sharding) {
  const tsr_attr *names = tsr_attr_field(tsr_op_attr(op, "manual_axes"), TSR_SDY_MANUAL_AXES_NAMES);
  tsr_tensor_sharding *read = NULL;
  TSR_TRY(tsr_sharding_read(arena, mesh, *sharding, &read));
  int64_t most = read->replicated.count + read->unreduced.count;
  for (int i = 0; i < read->rank; i++) most += read->dims[i].axes.count;
  tsr_sdy_parts used = {tsr_arena_alloc(arena, ((size_t)most + 1) * sizeof(tsr_sdy_part)), 0};
  tsr_sdy_parts rest = {
      tsr_arena_alloc(arena, (size_t)(2 * most + names->count + 1) * sizeof(tsr_sdy_part)), 0};
  TSR_NEED(used.items);
  TSR_NEED(rest.items);
  for (int i = 0; i < read->rank; i++) use_axes(&read->dims[i].axes, &used);
  use_axes(&read->replicated, &used);
  use_axes(&read->unreduced, &used);
  tsr_sdy_parts_sort(&used);
  for (int64_t i = 0; i < names->count; i++)
    add_rest(mesh, tsr_sdy_axis_find(mesh, names->items[i]), &used, &rest);
  if (!rest.count) return NULL;
  use_axes(&read->replicated, &rest);
  tsr_sdy_parts_join(mesh, &rest);
  read->replicated = rest;
  read->mesh_ref = ref;
  read->mesh = mesh;
  *sharding = tsr_sharding_attr(ir, read);
  TSR_NEED(*sharding);
  return NULL;
}

static tsr_status complete_list(tsr_ir *ir, tsr_arena *arena, tsr_op *op, const char *name,
                                tsr_type_at *type, const tsr_attr *mesh, const tsr_attr *ref) {
  const tsr_attr *list = tsr_shardings_list(tsr_op_attr(op, name));
  if (!list || !list->count) return NULL;
  const tsr_attr **items = tsr_arena_alloc(arena, (size_t)list->count * sizeof(const tsr_attr *));
  TSR_NEED(items);
  for (int64_t i = 0; i < list->count; i++) {
    items[i] = list->items[i];
    if (!tsr_type_is_shaped(type(op, (int)i))) continue;
    TSR_TRY(complete_one(ir, arena, op, mesh, ref, &items[i]));
  }
  const tsr_attr *made = tsr_shardings_attr(ir, items, list->count);
  TSR_NEED(made);
  return tsr_op_attr_set(ir, op, name, made);
}

// Manual axes in the order of the mesh.
static tsr_status sort_manual(tsr_ir *ir, tsr_arena *arena, tsr_op *op, const tsr_attr *mesh) {
  const tsr_attr *names = tsr_attr_field(tsr_op_attr(op, "manual_axes"), TSR_SDY_MANUAL_AXES_NAMES);
  const tsr_attr **sorted =
      tsr_arena_alloc(arena, ((size_t)names->count + 1) * sizeof(const tsr_attr *));
  TSR_NEED(sorted);
  for (int64_t i = 0; i < names->count; i++) {
    int64_t k = i;
    const int axis = tsr_sdy_axis_find(mesh, names->items[i]);
    if (axis < 0) return NULL;
    for (; k > 0 && tsr_sdy_axis_find(mesh, sorted[k - 1]) > axis; k--) sorted[k] = sorted[k - 1];
    sorted[k] = names->items[i];
  }
  const tsr_attr *array = tsr_attr_array(ir, sorted, names->count);
  TSR_NEED(array);
  const tsr_attr *made = tsr_attr_record(ir, TSR_RECORD_SDY_MANUAL_AXES, &array);
  TSR_NEED(made);
  return tsr_op_attr_set(ir, op, "manual_axes", made);
}

static tsr_status refuse_body(const tsr_op *op) {
  const tsr_attr *names = tsr_attr_field(tsr_op_attr(op, "manual_axes"), TSR_SDY_MANUAL_AXES_NAMES);
  const tsr_op *first = op->regions[0].first ? op->regions[0].first->first : NULL;
  if (names->count && first && !tsr_op_is(first, TSR_OP_SDY_RETURN))
    return tsr_fail(UNSUPPORTED,
                    "sdy.manual_computation at line %u has manual axes and a body, but neither "
                    "operands nor results",
                    op->line);
  return NULL;
}

static tsr_status clean_op(tsr_ir *ir, tsr_arena *arena, tsr_op *op) {
  const tsr_attr *in = tsr_shardings_list(tsr_op_attr(op, "in_shardings"));
  const tsr_attr *out = tsr_shardings_list(tsr_op_attr(op, "out_shardings"));
  const tsr_attr *ref = NULL;
  if (!(in && in->count) && !(out && out->count)) return refuse_body(op);
  const tsr_attr *mesh = find_mesh(ir, op, in, NULL, &ref);
  mesh = find_mesh(ir, op, out, mesh, &ref);
  if (!mesh) return tsr_fail(CONSTRAINT, "shardings of %s have no mesh in common", op->name);
  TSR_TRY(sort_manual(ir, arena, op, mesh));
  TSR_TRY(complete_list(ir, arena, op, "in_shardings", tsr_operand_type_at, mesh, ref));
  return complete_list(ir, arena, op, "out_shardings", tsr_result_type_at, mesh, ref);
}

static tsr_status clean_visit(tsr_op *op, void *context) {
  const manual_cleanup *c = context;
  tsr_arena arena = TSR_ARENA_EMPTY;
  if (!tsr_op_is(op, TSR_OP_SDY_MANUAL_COMPUTATION)) return NULL;
  ++*c->changes;
  tsr_status status = clean_op(c->ir, &arena, op);
  tsr_arena_deinit(&arena);
  return status;
}

tsr_status tsr_pass_manual_axes_cleanup(tsr_ir *ir, const tsr_pass_options *options,
                                        int64_t *changes) {
  manual_cleanup c = {ir, changes};
  (void)options;
  return tsr_op_walk_after(ir->module, clean_visit, &c);
}
