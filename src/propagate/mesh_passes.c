// Meshes and axes put in order: meshes written inside shardings get names, axes of size 1 go,
// manual axes are complete.
#include <string.h>

#include "base/text_internal.h"
#include "propagate/edits.h"
#include "propagate/sharding_passes.h"
#include "propagate/symbol_names.h"
#include "verify/sdy_checks.h"

// ---- meshes inside shardings ----

typedef struct mesh_name {
  const tsr_attr *mesh;  // an SDY_MESH, or a symbol that is replaced
  const tsr_attr *name;  // the symbol that stands for it from now on
} mesh_name;

typedef struct lifting {
  tsr_ir *ir;
  mesh_name *names;  // in the arena of the program
  int64_t count;
  tsr_op *last;  // mesh of the module; new ones follow
  tsr_symbol_namer namer;
  tsr_op_id collective;  // whose replica groups are looked at
} lifting;

static const tsr_attr *name_of(const lifting *l, const tsr_attr *mesh) {
  for (int64_t i = 0; i < l->count; i++)
    if (tsr_attr_equal(l->names[i].mesh, mesh)) return l->names[i].name;
  return NULL;
}

static tsr_status add_name(lifting *l, const tsr_attr *mesh, const tsr_attr *name) {
  mesh_name *names = tsr_arena_grow(&l->ir->arena, l->names, l->count, sizeof *names);
  TSR_NEED(names);
  TSR_NEED(name);
  l->names = names;
  l->names[l->count++] = (mesh_name){mesh, name};
  return NULL;
}

// Meshes that are equal become one: the first of them.
static tsr_status collect_meshes(lifting *l, int64_t *changes) {
  for (tsr_op *op = l->ir->module->regions[0].first->first, *next = NULL; op; op = next) {
    next = op->next;
    if (!tsr_op_is(op, TSR_OP_SDY_MESH)) continue;
    const char *symbol = tsr_op_symbol(op);
    const tsr_attr *own = tsr_attr_symbol(l->ir, symbol, strlen(symbol));
    const tsr_attr *mesh = tsr_op_attr(op, "mesh");
    const tsr_attr *first = name_of(l, mesh);
    TSR_NEED(own);
    if (!first) {
      l->last = op;
      TSR_TRY(add_name(l, mesh, own));
      continue;
    }
    TSR_TRY(add_name(l, own, first));
    tsr_op_erase(op);
    ++*changes;
  }
  return NULL;
}

static void base_name(const tsr_attr *mesh, tsr_text *out) {
  if (tsr_sdy_is_maximal(mesh))
    tsr_text_addf(out, "maximal_mesh_%lld",
                  (long long)tsr_attr_int_at(tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS), 0));
  else
    tsr_text_add(out, tsr_sdy_is_empty(mesh) ? "empty_mesh" : "mesh");
}

static tsr_status make_mesh(lifting *l, const tsr_attr *mesh, const char *base,
                            const tsr_attr **out_name) {
  const char *name = NULL;
  TSR_TRY(tsr_symbol_name_unused(&l->namer, base, &name));
  const tsr_named_attr attrs[] = {
      {tsr_ir_name(l->ir, "mesh", 4), mesh},
      {tsr_ir_name(l->ir, "sym_name", 8), tsr_attr_string(l->ir, name, strlen(name))}};
  const tsr_op_parts parts = {.id = TSR_OP_SDY_MESH, .attrs = attrs, .attr_count = 2};
  *out_name = tsr_attr_symbol(l->ir, name, strlen(name));
  if (!attrs[0].name || !attrs[1].name || !attrs[1].attr) return tsr_fail(NO_MEMORY, "a mesh");
  tsr_op *op = tsr_op_create(l->ir, &parts);
  TSR_NEED(op);
  tsr_ir_block *body = l->ir->module->regions[0].first;
  if (l->last)
    tsr_op_insert_after(l->last, op);
  else if (body->first)
    tsr_op_insert_before(body->first, op);
  else
    tsr_op_append(body, op);
  l->last = op;
  return NULL;
}

// The symbol that stands for a mesh, made if there is none yet; NULL = leave it as it is.
static tsr_status lift_mesh(lifting *l, const tsr_attr *mesh, const tsr_attr **out_name) {
  *out_name = name_of(l, mesh);
  if (*out_name || mesh->kind != TSR_ATTR_RECORD || mesh->id != TSR_RECORD_SDY_MESH) return NULL;
  tsr_text base = TSR_TEXT_EMPTY;
  base_name(mesh, &base);
  tsr_status status = tsr_text_check(&base);
  if (!status) status = make_mesh(l, mesh, tsr_text_string(&base), out_name);
  tsr_text_deinit(&base);
  return status ? status : add_name(l, mesh, *out_name);
}

static tsr_status lift_sharding(void *context, tsr_op *op, const tsr_attr *sharding,
                                const tsr_attr **out_sharding) {
  lifting *l = context;
  const tsr_attr *name = NULL;
  (void)op;
  TSR_TRY(lift_mesh(l, tsr_attr_field(sharding, TSR_SDY_SHARDING_MESH), &name));
  *out_sharding = name ? tsr_sharding_with(l->ir, sharding, TSR_SDY_SHARDING_MESH, name) : sharding;
  return NULL;
}

// The SDY_MESH of a mesh as StableHLO writes it. NULL without memory.
static const tsr_attr *shardy_mesh(tsr_ir *ir, const tsr_attr *mesh) {
  const tsr_attr *axes = tsr_attr_field(mesh, TSR_MESH_AXES);
  const tsr_attr **made = tsr_ir_alloc(ir, ((size_t)axes->count + 1) * sizeof(const tsr_attr *));
  for (int64_t i = 0; made && i < axes->count; i++) {
    const tsr_attr *const fields[] = {tsr_attr_field(axes->items[i], TSR_MESH_AXIS_NAME),
                                      tsr_attr_field(axes->items[i], TSR_MESH_AXIS_SIZE)};
    made[i] = tsr_attr_record(ir, TSR_RECORD_SDY_MESH_AXIS, fields);
    if (!made[i]) return NULL;
  }
  if (!made) return NULL;
  const tsr_attr *const fields[] = {tsr_attr_array(ir, made, axes->count),
                                    tsr_attr_ints(ir, NULL, 0)};
  return fields[0] && fields[1] ? tsr_attr_record(ir, TSR_RECORD_SDY_MESH, fields) : NULL;
}

static tsr_status lift_groups(tsr_op *op, void *context) {
  lifting *l = context;
  const tsr_attr *groups = op->info->id == l->collective ? tsr_op_attr(op, "replica_groups") : NULL;
  if (!groups || groups->kind != TSR_ATTR_RECORD || groups->id != TSR_RECORD_GROUP_AXES)
    return NULL;
  const tsr_attr *mesh = tsr_attr_field(groups, TSR_GROUP_AXES_MESH), *name = NULL;
  TSR_TRY(lift_mesh(l, mesh, &name));
  if (!name && mesh->kind == TSR_ATTR_RECORD && mesh->id == TSR_RECORD_MESH) {
    const tsr_attr *own = shardy_mesh(l->ir, mesh);
    TSR_NEED(own);
    TSR_TRY(make_mesh(l, own, "mesh", &name));
    TSR_TRY(add_name(l, mesh, name));
  }
  if (!name) return NULL;
  const tsr_attr *const fields[] = {name, tsr_attr_field(groups, TSR_GROUP_AXES_AXES)};
  const tsr_attr *made = tsr_attr_record(l->ir, TSR_RECORD_GROUP_AXES, fields);
  TSR_NEED(made);
  return tsr_op_attr_set(l->ir, op, "replica_groups", made);
}

// ---- the mesh as readers of StableHLO alone see it: {axes = [{name = "x", size = 2}]} ----

static const tsr_attr *axis_dict(tsr_ir *ir, const tsr_attr *axis) {
  const tsr_named_attr entries[] = {
      {tsr_ir_name(ir, "name", 4), tsr_attr_field(axis, TSR_SDY_MESH_AXIS_NAME)},
      {tsr_ir_name(ir, "size", 4), tsr_attr_field(axis, TSR_SDY_MESH_AXIS_SIZE)}};
  return entries[0].name && entries[1].name ? tsr_attr_dict(ir, entries, 2) : NULL;
}

static const tsr_attr *device_tensor(tsr_ir *ir, const tsr_attr *devices) {
  const int64_t count = tsr_attr_int_count(devices);
  int64_t *ids = tsr_ir_alloc(ir, (size_t)count * sizeof *ids);
  const tsr_type *type = tsr_type_shaped(ir, TSR_I64, 1, &count);
  if (!ids || !type) return NULL;
  for (int64_t i = 0; i < count; i++) ids[i] = tsr_attr_int_at(devices, i);
  return tsr_attr_dense(ir, type, ids, (size_t)count * sizeof *ids);
}

const tsr_attr *tsr_stablehlo_mesh(tsr_ir *ir, const tsr_attr *mesh) {
  const tsr_attr *axes = tsr_attr_field(mesh, TSR_SDY_MESH_AXES);
  const tsr_attr *devices = tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS);
  const tsr_attr **made = tsr_ir_alloc(ir, ((size_t)axes->count + 1) * sizeof(const tsr_attr *));
  if (!made) return NULL;
  for (int64_t i = 0; i < axes->count; i++) {
    made[i] = tsr_attr_record(ir, TSR_RECORD_MESH_AXIS, axes->items[i]->items);
    if (!made[i]) return NULL;
  }
  const bool ordered = tsr_attr_int_count(devices);
  const tsr_attr *const fields[] = {tsr_attr_array(ir, made, axes->count),
                                    ordered ? device_tensor(ir, devices) : NULL};
  if (!fields[0] || (ordered && !fields[1])) return NULL;
  return tsr_attr_record(ir, TSR_RECORD_MESH, fields);
}

static tsr_status name_stablehlo_mesh(tsr_ir *ir, tsr_op *op) {
  const tsr_attr *mesh = tsr_op_attr(op, "mesh");
  const tsr_attr *axes = tsr_attr_field(mesh, TSR_SDY_MESH_AXES);
  const tsr_attr *devices = tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS);
  if (tsr_op_attr(op, "stablehlo.mesh")) return NULL;
  const tsr_attr **dicts = tsr_ir_alloc(ir, ((size_t)axes->count + 1) * sizeof(const tsr_attr *));
  TSR_NEED(dicts);
  for (int64_t i = 0; i < axes->count; i++) {
    dicts[i] = axis_dict(ir, axes->items[i]);
    TSR_NEED(dicts[i]);
  }
  const bool listed = tsr_attr_int_count(devices) > 0;
  const tsr_named_attr entries[] = {
      {tsr_ir_name(ir, "axes", 4), tsr_attr_array(ir, dicts, axes->count)},
      {tsr_ir_name(ir, "device_ids", 10), listed ? device_tensor(ir, devices) : axes}};
  if (!entries[0].name || !entries[0].attr || !entries[1].name || !entries[1].attr)
    return tsr_fail(NO_MEMORY, "a mesh");
  const tsr_attr *dict = tsr_attr_dict(ir, entries, listed ? 2 : 1);
  TSR_NEED(dict);
  return tsr_op_attr_set(ir, op, "stablehlo.mesh", dict);
}

tsr_status tsr_pass_lift_inlined_meshes(tsr_ir *ir, const tsr_pass_options *options,
                                        int64_t *changes) {
  (void)options;
  lifting l = {.ir = ir, .namer = {.ir = ir}};
  static const tsr_op_id collectives[] = {TSR_OP_ALL_GATHER, TSR_OP_ALL_REDUCE,
                                          TSR_OP_REDUCE_SCATTER, TSR_OP_ALL_TO_ALL,
                                          TSR_OP_COLLECTIVE_BROADCAST};
  TSR_TRY(collect_meshes(&l, changes));
  TSR_TRY(tsr_shardings_change(ir, lift_sharding, &l, changes));
  for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++) {
    l.collective = collectives[i];
    TSR_TRY(tsr_op_walk(ir->module, lift_groups, &l));
  }
  for (tsr_op *op = ir->module->regions[0].first->first; op; op = op->next)
    if (tsr_op_is(op, TSR_OP_SDY_MESH)) TSR_TRY(name_stablehlo_mesh(ir, op));
  return NULL;
}

// ---- axes of size 1 ----

static int64_t axis_size(const tsr_attr *mesh, const tsr_attr *axis) {
  const tsr_attr *part = tsr_attr_field(axis, TSR_SDY_AXIS_SUB_AXIS);
  if (part) return tsr_attr_field(part, TSR_SDY_SUB_AXIS_SIZE)->integer;
  const int index = tsr_sdy_axis_find(mesh, tsr_attr_field(axis, TSR_SDY_AXIS_NAME));
  return index < 0 ? 0 : tsr_sdy_axis_size(mesh, index);
}

// The axes of a list that are not of size 1: the list itself if all are. NULL without memory.
static const tsr_attr *without_ones(tsr_ir *ir, const tsr_attr *mesh, const tsr_attr *axes) {
  const tsr_attr **kept = tsr_ir_alloc(ir, ((size_t)axes->count + 1) * sizeof(const tsr_attr *));
  int64_t count = 0;
  if (!kept) return NULL;
  for (int64_t i = 0; i < axes->count; i++)
    if (axis_size(mesh, axes->items[i]) != 1) kept[count++] = axes->items[i];
  return count == axes->count ? axes : tsr_attr_array(ir, kept, count);
}

// A dim that is closed and has no axes can have no priority.
static const tsr_attr *dim_without_ones(tsr_ir *ir, const tsr_attr *mesh, const tsr_attr *dim) {
  const tsr_attr *old = tsr_attr_field(dim, TSR_SDY_DIM_AXES);
  const tsr_attr *closed = tsr_attr_field(dim, TSR_SDY_DIM_CLOSED);
  const tsr_attr *axes = without_ones(ir, mesh, old);
  if (!axes || axes == old) return axes ? dim : NULL;
  const tsr_attr *const fields[] = {
      axes, closed,
      axes->count || !closed->integer ? tsr_attr_field(dim, TSR_SDY_DIM_PRIORITY) : NULL};
  return tsr_attr_record(ir, TSR_RECORD_SDY_DIM, fields);
}

static tsr_status drop_ones(void *context, tsr_op *op, const tsr_attr *sharding,
                            const tsr_attr **out_sharding) {
  tsr_ir *ir = context;
  const tsr_attr *mesh = tsr_sdy_mesh_of(ir, op, sharding);
  const tsr_attr *dims = tsr_attr_field(sharding, TSR_SDY_SHARDING_DIMS);
  *out_sharding = sharding;
  if (!mesh) return NULL;
  const tsr_attr **kept = tsr_ir_alloc(ir, ((size_t)dims->count + 1) * sizeof(const tsr_attr *));
  TSR_NEED(kept);
  for (int64_t i = 0; i < dims->count; i++) {
    kept[i] = dim_without_ones(ir, mesh, dims->items[i]);
    TSR_NEED(kept[i]);
  }
  const tsr_attr *const fields[] = {
      tsr_attr_field(sharding, TSR_SDY_SHARDING_MESH), tsr_attr_array(ir, kept, dims->count),
      without_ones(ir, mesh, tsr_attr_field(sharding, TSR_SDY_SHARDING_REPLICATED)),
      without_ones(ir, mesh, tsr_attr_field(sharding, TSR_SDY_SHARDING_UNREDUCED)),
      tsr_attr_field(sharding, TSR_SDY_SHARDING_REDUCTION)};
  *out_sharding = fields[1] && fields[2] && fields[3]
                      ? tsr_attr_record(ir, TSR_RECORD_SDY_SHARDING, fields)
                      : NULL;
  return NULL;
}

static bool has_ones(const tsr_ir *ir) {
  for (const tsr_op *op = ir->module->regions[0].first->first; op; op = op->next) {
    if (!tsr_op_is(op, TSR_OP_SDY_MESH)) continue;
    const tsr_attr *mesh = tsr_op_attr(op, "mesh");
    const int64_t count = tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count;
    for (int i = 0; i < count; i++)
      if (tsr_sdy_axis_size(mesh, i) == 1) return true;
  }
  return false;
}

tsr_status tsr_pass_remove_size_one_axes(tsr_ir *ir, const tsr_pass_options *options,
                                         int64_t *changes) {
  (void)options;
  return has_ones(ir) ? tsr_shardings_change(ir, drop_ones, ir, changes) : NULL;
}
