// Simple passes after propagation: what was only there for it goes, shardings of inputs and outputs
// are made even, dimensions are closed.
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "factor/sharding_lists.h"
#include "factor/shardings.h"
#include "ir/intern.h"
#include "propagate/edits.h"
#include "propagate/manual_axes.h"
#include "propagate/sharding_passes.h"
#include "propagate/symbol_names.h"
#include "tessera/engine/hash.h"
#include "verify/sdy_checks.h"

typedef struct export_walk {
  tsr_ir *ir;
  int64_t *changes;
  tsr_intern_table *merged;  // of ops
} export_walk;

// ---- equal constants of a region become one ----

static bool is_merged(const tsr_op *op) {
  return tsr_op_is(op, TSR_OP_CONSTANT) || tsr_op_is(op, TSR_OP_SDY_CONSTANT) ||
         (tsr_op_is(op, TSR_OP_BROADCAST_IN_DIM) && tsr_value_is_scalar(tsr_op_operand(op, 0)));
}

static uint64_t constant_hash(const tsr_op *op) {
  const void *const place[] = {op->block->region, op->info, tsr_op_result(op, 0)->type,
                               op->operand_count ? tsr_op_operand(op, 0) : NULL};
  uint64_t hash = tsr_hash64(place, sizeof place, 0);
  for (int i = 0; i < op->attr_count; i++)
    hash = tsr_hash64(&op->attrs[i].attr->hash, sizeof(uint64_t), hash);
  return hash;
}

static bool same_constant(const void *item, const void *wanted) {
  const tsr_op *a = item, *b = wanted;
  if (a->info != b->info || a->block->region != b->block->region ||
      a->attr_count != b->attr_count || tsr_op_result(a, 0)->type != tsr_op_result(b, 0)->type)
    return false;
  if (a->operand_count && tsr_op_operand(a, 0) != tsr_op_operand(b, 0)) return false;
  for (int i = 0; i < a->attr_count; i++)
    if (a->attrs[i].name != b->attrs[i].name || !tsr_attr_equal(a->attrs[i].attr, b->attrs[i].attr))
      return false;
  return true;
}

static tsr_status merge_op(tsr_op *op, void *context) {
  const export_walk *w = context;
  if (!op->block || !is_merged(op)) return NULL;
  const uint64_t hash = constant_hash(op);
  tsr_op *first = (tsr_op *)tsr_intern_find(w->merged, hash, same_constant, op);
  if (!first) {
    if (!tsr_intern_add(w->merged, hash, op)) return tsr_fail(NO_MEMORY, "constants");
    return NULL;
  }
  tsr_uses_move(tsr_op_result(op, 0), tsr_op_result(first, 0), NULL);
  tsr_op_erase(op);
  ++*w->changes;
  return NULL;
}

tsr_status tsr_pass_constant_or_scalar_merger(tsr_ir *ir, const tsr_pass_options *options,
                                              int64_t *changes) {
  tsr_intern_table merged = {0};
  export_walk w = {ir, changes, &merged};
  (void)options;
  tsr_status status = tsr_op_walk_after(ir->module, merge_op, &w);
  tsr_intern_deinit(&merged);
  return status;
}

// ---- groups, constraints, rules, meshes ----

static tsr_status drop_group(tsr_op *op, void *context) {
  const export_walk *w = context;
  if (!tsr_op_is(op, TSR_OP_SDY_SHARDING_GROUP)) return NULL;
  tsr_op_erase(op);
  ++*w->changes;
  return NULL;
}

tsr_status tsr_pass_remove_sharding_groups(tsr_ir *ir, const tsr_pass_options *options,
                                           int64_t *changes) {
  export_walk w = {ir, changes, NULL};
  (void)options;
  return tsr_op_walk_after(ir->module, drop_group, &w);
}

static tsr_status make_reshard(tsr_op *op, void *context) {
  const export_walk *w = context;
  if (!tsr_op_is(op, TSR_OP_SDY_SHARDING_CONSTRAINT)) return NULL;
  op->info = tsr_op_info_of(TSR_OP_SDY_RESHARD);
  op->name = op->info->name;
  ++*w->changes;
  return NULL;
}

tsr_status tsr_pass_sharding_constraint_to_reshard(tsr_ir *ir, const tsr_pass_options *options,
                                                   int64_t *changes) {
  export_walk w = {ir, changes, NULL};
  (void)options;
  return tsr_op_walk(ir->module, make_reshard, &w);
}

tsr_status tsr_pass_drop_sharding_rules(tsr_ir *ir, const tsr_pass_options *options,
                                        int64_t *changes) {
  (void)options;
  (void)changes;
  return tsr_rules_drop(ir);
}

static bool is_sharding(const char *name) { return !strcmp(name, "sdy.sharding"); }

static tsr_status drop_sharding(tsr_op *op, void *context) {
  const export_walk *w = context;
  if (tsr_op_is(op, TSR_OP_SDY_MESH)) {
    tsr_op_erase(op);
    ++*w->changes;
    return NULL;
  }
  if (tsr_op_is(op, TSR_OP_FUNC)) {
    TSR_TRY(tsr_dicts_drop(w->ir, op, "arg_attrs", is_sharding));
    TSR_TRY(tsr_dicts_drop(w->ir, op, "res_attrs", is_sharding));
  }
  if (!tsr_op_attr(op, "sdy.sharding")) return NULL;
  ++*w->changes;
  return tsr_op_attr_set(w->ir, op, "sdy.sharding", NULL);
}

tsr_status tsr_pass_drop_sharding_and_mesh(tsr_ir *ir, const tsr_pass_options *options,
                                           int64_t *changes) {
  export_walk w = {ir, changes, NULL};
  (void)options;
  return tsr_op_walk_after(ir->module, drop_sharding, &w);
}

static tsr_status inline_mesh(void *context, tsr_op *op, const tsr_attr *sharding,
                              const tsr_attr **out_sharding) {
  const tsr_attr *mesh = tsr_sdy_mesh_of(context, op, sharding);
  if (!mesh) return tsr_fail(UNKNOWN_SYMBOL, "a sharding of %s names no mesh", op->name);
  *out_sharding = tsr_sharding_with(context, sharding, TSR_SDY_SHARDING_MESH, mesh);
  return NULL;
}

// Groups of replicas may name a mesh too.
static tsr_status inline_groups(tsr_op *op, void *context) {
  const tsr_attr *groups = tsr_op_attr(op, "replica_groups");
  if (!groups || groups->kind != TSR_ATTR_RECORD || groups->id != TSR_RECORD_GROUP_AXES)
    return NULL;
  const tsr_attr *name = tsr_attr_field(groups, TSR_GROUP_AXES_MESH);
  const tsr_op *mesh =
      name->kind == TSR_ATTR_SYMBOL ? tsr_ir_find_symbol(context, name->bytes) : NULL;
  if (!tsr_op_is(mesh, TSR_OP_SDY_MESH)) return NULL;
  const tsr_attr *const fields[] = {tsr_stablehlo_mesh(context, tsr_op_attr(mesh, "mesh")),
                                    tsr_attr_field(groups, TSR_GROUP_AXES_AXES)};
  TSR_NEED(fields[0]);
  const tsr_attr *made = tsr_attr_record(context, TSR_RECORD_GROUP_AXES, fields);
  TSR_NEED(made);
  return tsr_op_attr_set(context, op, "replica_groups", made);
}

tsr_status tsr_pass_inline_meshes(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  (void)options;
  TSR_TRY(tsr_shardings_change(ir, inline_mesh, ir, changes));
  TSR_TRY(tsr_op_walk(ir->module, inline_groups, ir));
  for (tsr_op *op = ir->module->regions[0].first->first, *next = NULL; op; op = next) {
    next = op->next;
    if (tsr_op_is(op, TSR_OP_SDY_MESH)) tsr_op_erase(op);
  }
  return NULL;
}

// ---- closed dimensions ----

// A copy of a dim with other axes; NULL without memory.
static const tsr_attr *dim_with(tsr_ir *ir, const tsr_attr *axes, const tsr_attr *closed,
                                const tsr_attr *priority) {
  const tsr_attr *const fields[] = {axes, closed, priority};
  return axes && closed ? tsr_attr_record(ir, TSR_RECORD_SDY_DIM, fields) : NULL;
}

typedef const tsr_attr *dim_change(tsr_ir *ir, const tsr_attr *dim, int64_t index, void *context);

// A sharding whose dims are changed one by one. NULL without memory.
static const tsr_attr *change_dims(tsr_ir *ir, const tsr_attr *sharding, dim_change *change,
                                   void *context) {
  const tsr_attr *dims = tsr_attr_field(sharding, TSR_SDY_SHARDING_DIMS);
  const tsr_attr **made = tsr_ir_alloc(ir, ((size_t)dims->count + 1) * sizeof(const tsr_attr *));
  if (!made) return NULL;
  for (int64_t i = 0; i < dims->count; i++) {
    made[i] = change(ir, dims->items[i], i, context);
    if (!made[i]) return NULL;
  }
  return tsr_sharding_with(ir, sharding, TSR_SDY_SHARDING_DIMS,
                           tsr_attr_array(ir, made, dims->count));
}

static const tsr_attr *close_dim(tsr_ir *ir, const tsr_attr *dim, int64_t index, void *context) {
  (void)index;
  (void)context;
  return dim_with(ir, tsr_attr_field(dim, TSR_SDY_DIM_AXES), tsr_attr_bool(ir, true),
                  tsr_attr_field(dim, TSR_SDY_DIM_PRIORITY));
}

static tsr_status close_sharding(void *context, tsr_op *op, const tsr_attr *sharding,
                                 const tsr_attr **out_sharding) {
  (void)op;
  const tsr_attr *closed = change_dims(context, sharding, close_dim, NULL);
  const tsr_attr *none = tsr_attr_array(context, NULL, 0);
  *out_sharding =
      closed ? tsr_sharding_with(context, closed, TSR_SDY_SHARDING_REPLICATED, none) : NULL;
  return NULL;
}

tsr_status tsr_pass_close_shardings(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  (void)options;
  return tsr_shardings_change(ir, close_sharding, ir, changes);
}

// ---- even shardings ----

typedef struct even_context {
  const tsr_attr *mesh;
  const tsr_type *type;
} even_context;

static const tsr_attr *part_attr(tsr_ir *ir, const tsr_attr *axis, int64_t pre, int64_t size) {
  const tsr_attr *const sizes[] = {tsr_attr_i64(ir, pre), tsr_attr_i64(ir, size)};
  const tsr_attr *sub =
      sizes[0] && sizes[1] ? tsr_attr_record(ir, TSR_RECORD_SDY_SUB_AXIS, sizes) : NULL;
  const tsr_attr *const fields[] = {tsr_attr_field(axis, TSR_SDY_AXIS_NAME), sub};
  return sub ? tsr_attr_record(ir, TSR_RECORD_SDY_AXIS, fields) : NULL;
}

static int64_t part_size(const tsr_attr *mesh, const tsr_attr *axis, int64_t *out_pre) {
  const tsr_attr *sub = tsr_attr_field(axis, TSR_SDY_AXIS_SUB_AXIS);
  const int index = tsr_sdy_axis_find(mesh, tsr_attr_field(axis, TSR_SDY_AXIS_NAME));
  *out_pre = sub ? tsr_attr_field(sub, TSR_SDY_SUB_AXIS_PRE_SIZE)->integer : 1;
  if (sub) return tsr_attr_field(sub, TSR_SDY_SUB_AXIS_SIZE)->integer;
  return index < 0 ? 1 : tsr_sdy_axis_size(mesh, index);
}

// The longest beginning of the axes that divides a size; the last one may be cut. -1 without
// memory.
static int64_t even_axes(tsr_ir *ir, const tsr_attr *mesh, const tsr_attr *axes, int64_t size,
                         const tsr_attr **out) {
  int64_t count = 0, pre = 1;
  for (int64_t i = 0; i < axes->count; i++) {
    const int64_t axis = part_size(mesh, axes->items[i], &pre);
    const int64_t shared = tsr_gcd(axis, size);
    if (shared == 1) break;
    out[count] = shared == axis ? axes->items[i] : part_attr(ir, axes->items[i], pre, shared);
    if (!out[count++]) return -1;
    if (shared != axis) break;
    size /= shared;
  }
  return count;
}

static bool divides(const tsr_attr *mesh, const tsr_attr *axes, int64_t size) {
  int64_t pre = 1;
  for (int64_t i = 0; i < axes->count; i++) {
    const int64_t axis = part_size(mesh, axes->items[i], &pre);
    if (axis < 1 || size % axis) return false;
    size /= axis;
  }
  return true;
}

static const tsr_attr *even_dim(tsr_ir *ir, const tsr_attr *dim, int64_t index, void *context) {
  const even_context *even = context;
  const tsr_attr *axes = tsr_attr_field(dim, TSR_SDY_DIM_AXES);
  if (index >= even->type->rank || divides(even->mesh, axes, even->type->dims[index])) return dim;
  const tsr_attr **kept = tsr_ir_alloc(ir, ((size_t)axes->count + 1) * sizeof(const tsr_attr *));
  const int64_t count = kept ? even_axes(ir, even->mesh, axes, even->type->dims[index], kept) : -1;
  return count < 0 ? NULL
                   : dim_with(ir, tsr_attr_array(ir, kept, count),
                              tsr_attr_field(dim, TSR_SDY_DIM_CLOSED), NULL);
}

tsr_status tsr_sharding_even(tsr_ir *ir, const tsr_op *op, const tsr_type *type,
                             const tsr_attr **sharding) {
  const tsr_attr *mesh = tsr_sdy_mesh_of(ir, op, *sharding);
  even_context even = {mesh, type};
  if (!mesh || type->kind != TSR_TYPE_TENSOR || !tsr_type_is_static(type)) return NULL;
  *sharding = change_dims(ir, *sharding, even_dim, &even);
  TSR_NEED(*sharding);
  return NULL;
}

// Changes the shardings in an attribute of an op; `type` gives the types of their values.
static tsr_status even_list(tsr_ir *ir, tsr_op *op, const char *name, tsr_type_at *type) {
  const tsr_attr *list = tsr_shardings_list(tsr_op_attr(op, name));
  if (!list) return NULL;
  const tsr_attr **made = tsr_ir_alloc(ir, ((size_t)list->count + 1) * sizeof(const tsr_attr *));
  TSR_NEED(made);
  for (int64_t i = 0; i < list->count; i++) {
    made[i] = list->items[i];
    const tsr_type *of = type(op, (int)i);
    if (of) TSR_TRY(tsr_sharding_even(ir, op, of, &made[i]));
  }
  const tsr_attr *all = tsr_shardings_attr(ir, made, list->count);
  TSR_NEED(all);
  return tsr_op_attr_set(ir, op, name, all);
}

static const tsr_type *result_type(const tsr_op *op, int index) {
  return index < op->result_count ? tsr_op_result(op, index)->type : NULL;
}

// Arguments of a manual computation: their shardings inside, with what the op has outside in front.
static tsr_status even_arguments(tsr_ir *ir, tsr_op *op) {
  const tsr_attr *list = tsr_shardings_list(tsr_op_attr(op, "in_shardings"));
  const tsr_ir_block *body = op->regions[0].first;
  if (!list || !list->count || !body) return NULL;
  const tsr_attr **made = tsr_ir_alloc(ir, (size_t)list->count * sizeof(const tsr_attr *));
  TSR_NEED(made);
  for (int64_t i = 0; i < list->count; i++) {
    const tsr_attr *inner = NULL;
    made[i] = list->items[i];
    if (i >= body->arg_count) continue;
    TSR_TRY(tsr_value_sharding(ir, body->args[i], &inner));
    if (!inner) continue;
    TSR_TRY(tsr_sharding_even(ir, op, body->args[i]->type, &inner));
    TSR_TRY(tsr_manual_outer_attr(ir, op, list->items[i], inner, &made[i]));
  }
  const tsr_attr *all = tsr_shardings_attr(ir, made, list->count);
  TSR_NEED(all);
  return tsr_op_attr_set(ir, op, "in_shardings", all);
}

// Changes the shardings of the arguments or results of a function.
typedef tsr_status func_change(tsr_ir *ir, const tsr_op *func, const tsr_type *type,
                               const tsr_attr **sharding);
// All of a list at once: a function may have thousands.
static tsr_status change_list(tsr_ir *ir, const tsr_sharding_list *list,
                              const tsr_type *const *types, func_change *change) {
  const tsr_attr *dicts = tsr_op_attr(list->op, list->name);
  const tsr_attr **made = calloc((size_t)list->count + 1, sizeof(const tsr_attr *));
  bool same = true;
  tsr_status status = made ? NULL : tsr_fail(NO_MEMORY, "shardings of a function");
  for (int i = 0; !status && i < list->count; i++) {
    const tsr_attr *old = tsr_sharding_in_dicts(dicts, i);
    made[i] = old;
    if (old) status = change(ir, list->op, types[i], &made[i]);
    same &= tsr_attr_equal(old, made[i]);
  }
  if (!status && !same) status = tsr_sharding_list_write(ir, list, made);
  free(made);
  return status;
}

static tsr_status change_func(tsr_ir *ir, tsr_op *func, func_change *change) {
  const tsr_type *type = tsr_func_type(func);
  const tsr_ir_block *body = tsr_func_body(func);
  const tsr_sharding_list results = tsr_sharding_list_of_results(func);
  if (body && body->arg_count) {
    const tsr_sharding_list arguments = tsr_sharding_list_of(body->args[0]);
    TSR_TRY(change_list(ir, &arguments, type->types, change));
  }
  return change_list(ir, &results, type->types + type->input_count, change);
}

typedef struct divided_walk {
  tsr_ir *ir;
  const tsr_op *only;  // the function whose arguments and results are meant; NULL = those of all
} divided_walk;

static tsr_status even_op(tsr_op *op, void *context) {
  const divided_walk *w = context;
  tsr_ir *ir = w->ir;
  switch (op->info->id) {
    case TSR_OP_FUNC:
      return w->only && w->only != op ? NULL : change_func(ir, op, tsr_sharding_even);
    case TSR_OP_CALL:
      return w->only ? NULL : even_list(ir, op, "sdy.sharding", result_type);
    case TSR_OP_SDY_MANUAL_COMPUTATION:
      TSR_TRY(even_arguments(ir, op));
      return even_list(ir, op, "out_shardings", result_type);
    default:
      return NULL;
  }
}

tsr_status tsr_pass_update_non_divisible_shardings(tsr_ir *ir, const tsr_pass_options *options,
                                                   int64_t *changes) {
  const bool leaves = tsr_pass_flag(options, TSR_SHARDING_LEAVE_CALLS);
  divided_walk w = {ir, leaves ? tsr_ir_entry(ir) : NULL};
  (void)changes;
  return tsr_op_walk(ir->module, even_op, &w);
}

// ---- parts of axes ----

static const tsr_attr *whole_dim(tsr_ir *ir, const tsr_attr *dim, int64_t index, void *context) {
  const tsr_attr *axes = tsr_attr_field(dim, TSR_SDY_DIM_AXES);
  const tsr_attr *closed = tsr_attr_field(dim, TSR_SDY_DIM_CLOSED);
  int64_t count = 0;
  (void)index;
  (void)context;
  while (count < axes->count && !tsr_attr_field(axes->items[count], TSR_SDY_AXIS_SUB_AXIS)) count++;
  if (closed->integer || count == axes->count) return dim;
  return dim_with(ir, tsr_attr_array(ir, axes->items, count), closed,
                  tsr_attr_field(dim, TSR_SDY_DIM_PRIORITY));
}

static tsr_status whole_sharding(tsr_ir *ir, const tsr_op *func, const tsr_type *type,
                                 const tsr_attr **sharding) {
  (void)func;
  (void)type;
  *sharding = change_dims(ir, *sharding, whole_dim, NULL);
  TSR_NEED(*sharding);
  return NULL;
}

tsr_status tsr_pass_remove_sub_axes(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  tsr_op *entry = tsr_ir_entry(ir);
  (void)options;
  (void)changes;
  if (!entry) return tsr_fail(UNKNOWN_SYMBOL, "several functions, and none is @main");
  return change_func(ir, entry, whole_sharding);
}
