// sdy-resolve-single-device-sharding: an op whose result lies on one device (a maximal mesh) runs
// there only. The other devices have zeros, and a sum over all gives every device the result. An op
// without results that names a device runs there only, too.
#include <stdlib.h>
#include <string.h>

#include "propagate/edits.h"
#include "resolve/cut_build.h"
#include "resolve/resolve_passes.h"
#include "simplify/scalar.h"
#include "verify/sdy_checks.h"

typedef struct placed_op {
  tsr_op *op;
  int64_t device;
} placed_op;

typedef struct device_placing {
  tsr_ir *ir;
  const tsr_op *mesh;  // sdy.mesh: the first one with axes
  int64_t replicas, partitions;
  bool exact;  // zeros that keep the sign of what they are added to
  placed_op *ops;
  int64_t count, capacity;
} device_placing;

// ---- which device ----

static const tsr_attr *mesh_of(const device_placing *p, const tsr_op *op,
                               const tsr_attr *sharding) {
  return sharding ? tsr_sdy_mesh_of(p->ir, op, sharding) : NULL;
}

static bool has_axes(const tsr_attr *sharding) {
  const tsr_attr *dims = tsr_attr_field(sharding, TSR_SDY_SHARDING_DIMS);
  for (int64_t i = 0; i < dims->count; i++)
    if (tsr_attr_field(dims->items[i], TSR_SDY_DIM_AXES)->count) return true;
  return false;
}

// The device that the sharding of an op without results names; -1 = none.
static int64_t device_of_effect(const device_placing *p, const tsr_op *op) {
  const tsr_attr *list = tsr_shardings_list(tsr_op_attr(op, "sdy.sharding"));
  const tsr_attr *mesh = list && list->count == 1 ? mesh_of(p, op, list->items[0]) : NULL;
  if (!mesh || !tsr_sdy_is_maximal(mesh)) return -1;
  return tsr_attr_int_at(tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS), 0);
}

// The device of an op; -1 = it is not one of a single device. Results on two devices, or one beside
// a sharded one, are refused.
static tsr_status device_of(const device_placing *p, tsr_op *op, int64_t *out_device) {
  bool sharded = false;
  *out_device = op->result_count ? -1 : device_of_effect(p, op);
  for (int i = 0; i < op->result_count; i++) {
    tsr_value *result = tsr_op_result(op, i);
    const tsr_attr *sharding = NULL;
    if (result->type->kind != TSR_TYPE_TENSOR) continue;
    TSR_TRY(tsr_sharding_get(p->ir, result, &sharding));
    const tsr_attr *mesh = mesh_of(p, op, sharding);
    if (!mesh || !tsr_sdy_is_maximal(mesh)) {
      sharded |= sharding && has_axes(sharding);
      continue;
    }
    const int64_t device = tsr_attr_int_at(tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS), 0);
    if (*out_device >= 0 && *out_device != device)
      return tsr_fail(CONSTRAINT, "%s: its results lie on device %lld and on device %lld", op->name,
                      (long long)*out_device, (long long)device);
    *out_device = device;
  }
  if (*out_device >= 0 && sharded)
    return tsr_fail(CONSTRAINT, "%s: one result lies on device %lld, another one is sharded",
                    op->name, (long long)*out_device);
  return NULL;
}

static bool is_single(const device_placing *p, const tsr_op *reshard) {
  const tsr_attr *mesh = mesh_of(p, reshard, tsr_op_attr(reshard, "sharding"));
  return mesh && tsr_sdy_is_maximal(mesh);
}

// ---- the branches ----

// The op itself, on operands from before they were resharded to the device.
static tsr_status add_op(const device_placing *p, tsr_site *site, tsr_op *op, tsr_ir_block *block) {
  tsr_value_map *map = tsr_value_map_create();
  tsr_op *copy = map ? tsr_op_clone(p->ir, op, map) : NULL;
  tsr_value_map_destroy(map);
  TSR_NEED(copy);
  tsr_op_append(block, copy);
  TSR_TRY(tsr_op_attr_set(p->ir, copy, "sdy.sharding", NULL));
  for (int i = 0; i < copy->operand_count; i++) {
    const tsr_op *def = tsr_op_operand(copy, i)->def;
    if (tsr_op_is(def, TSR_OP_SDY_RESHARD) && is_single(p, def))
      tsr_op_set_operand(copy, i, tsr_op_operand(def, 0));
  }
  tsr_value **values = tsr_ir_alloc(p->ir, ((size_t)copy->result_count + 1) * sizeof *values);
  TSR_NEED(values);
  for (int i = 0; i < copy->result_count; i++) values[i] = tsr_op_result(copy, i);
  site->block = block;
  tsr_site_op(site, TSR_OP_RETURN, values, copy->result_count, NULL, 0, 0, NULL, 0);
  return site->failure;
}

// What a sum of floats leaves as it is: -0, as +0 would make +0 of -0. Others have one zero.
static tsr_status add_exact_zeros(tsr_site *site, const tsr_op *op, int index, tsr_value **out) {
  const tsr_type *type = op->results[index].type;
  tsr_scalar_type scalar = {0};
  if (type->element->kind == TSR_TYPE_COMPLEX) {
    *out = tsr_site_unary(site, TSR_OP_NEGATE, tsr_site_zeros(site, type));
  } else if (tsr_scalar_type_of(type, &scalar) && scalar.dtype == TSR_F8E8M0FNU) {
    return tsr_fail(UNSUPPORTED,
                    "%s at line %u: result %d is of a type without a zero, and on one "
                    "device",
                    op->name, op->line, index);
  } else {
    *out = scalar.kind == TSR_CLASS_FLOAT ? tsr_site_number(site, type, -0.0)
                                          : tsr_site_zeros(site, type);
  }
  return NULL;
}

static tsr_status add_zeros(const device_placing *p, tsr_site *site, const tsr_op *op,
                            tsr_ir_block *block) {
  tsr_value **values = tsr_ir_alloc(p->ir, ((size_t)op->result_count + 1) * sizeof *values);
  TSR_NEED(values);
  site->block = block;
  for (int i = 0; i < op->result_count && !site->failure; i++) {
    const tsr_type *type = op->results[i].type;
    if (type->kind == TSR_TYPE_TOKEN)
      values[i] = tsr_site_add(site, TSR_OP_CREATE_TOKEN, type, NULL, 0, NULL, 0);
    else if (type->kind != TSR_TYPE_TENSOR || !tsr_type_is_static(type))
      return tsr_fail(UNSUPPORTED, "%s: result %d is not a tensor of known size", op->name, i);
    else if (p->exact)
      TSR_TRY(add_exact_zeros(site, op, i, &values[i]));
    else
      values[i] = tsr_site_zeros(site, type);
  }
  tsr_site_op(site, TSR_OP_RETURN, values, op->result_count, NULL, 0, 0, NULL, 0);
  return site->failure;
}

static tsr_status add_if(const device_placing *p, tsr_site *site, tsr_op *op, int64_t device,
                         tsr_op **out_if) {
  tsr_value *here = tsr_site_device(site, p->replicas, p->partitions);
  tsr_value *wanted = tsr_site_integer(site, 64, device);
  tsr_value *chosen = tsr_site_compare(site, here, wanted, TSR_DIRECTION_EQ);
  const tsr_type **types = tsr_ir_alloc(p->ir, ((size_t)op->result_count + 1) * sizeof *types);
  if (site->failure) return site->failure;
  TSR_NEED(types);
  for (int i = 0; i < op->result_count; i++) types[i] = op->results[i].type;
  tsr_op *branch = tsr_site_op(site, TSR_OP_IF, &chosen, 1, types, op->result_count, 2, NULL, 0);
  if (site->failure) return site->failure;
  TSR_NEED(branch);
  for (int i = 0; i < 2; i++) {
    tsr_ir_block *block = tsr_block_append(p->ir, &branch->regions[i]);
    TSR_NEED(block);
    TSR_TRY(i ? add_zeros(p, site, op, block) : add_op(p, site, op, block));
  }
  site->block = NULL;
  *out_if = branch;
  return NULL;
}

// ---- results for all devices ----

static const tsr_attr *all_axes(const device_placing *p) {
  const tsr_attr *axes = tsr_attr_field(tsr_op_attr(p->mesh, "mesh"), TSR_SDY_MESH_AXES);
  const tsr_attr **names = tsr_ir_alloc(p->ir, ((size_t)axes->count + 1) * sizeof *names);
  if (!names) return NULL;
  for (int64_t i = 0; i < axes->count; i++) {
    const tsr_attr *const fields[] = {tsr_attr_field(axes->items[i], TSR_SDY_MESH_AXIS_NAME), NULL};
    names[i] = tsr_attr_record(p->ir, TSR_RECORD_SDY_AXIS, fields);
    if (!names[i]) return NULL;
  }
  const tsr_attr *list = tsr_attr_array(p->ir, names, axes->count);
  return list ? tsr_attr_record(p->ir, TSR_RECORD_SDY_AXIS_LIST, &list) : NULL;
}

// Users of the op's result read the sum. A reshard to what the sum is already goes.
static void give_users(tsr_value *from, tsr_value *sum, const tsr_attr *replicated) {
  for (tsr_use *use = from->uses, *next = NULL; use; use = next) {
    tsr_op *user = use->user;
    next = use->next;
    if (tsr_op_is(user, TSR_OP_SDY_RESHARD) &&
        tsr_attr_equal(tsr_op_attr(user, "sharding"), replicated)) {
      tsr_value_replace(tsr_op_result(user, 0), sum);
      tsr_op_erase(user);
    } else {
      tsr_op_set_operand(user, (int)(use - user->operands), sum);
    }
  }
}

static tsr_status add_sum(const device_placing *p, tsr_site *site, tsr_value *from, tsr_value *to) {
  if (from->type->kind != TSR_TYPE_TENSOR) {
    tsr_value_replace(from, to);
    return NULL;
  }
  const char *name = tsr_op_symbol(p->mesh);
  const tsr_attr *mesh = tsr_attr_symbol(p->ir, name, strlen(name));
  const tsr_attr *replicated = mesh ? tsr_sharding_bare(p->ir, mesh, from->type->rank, true) : NULL;
  const tsr_site_attr attrs[] = {
      {"out_sharding", replicated},
      {"reduction_axes", all_axes(p)},
      {"reduction_op", tsr_attr_enum(p->ir, TSR_ENUM_SDY_REDUCTION, TSR_SDY_REDUCTION_SUM)}};
  tsr_value *sum = tsr_site_add(site, TSR_OP_SDY_ALL_REDUCE, to->type, &to, 1, attrs, 3);
  if (site->failure) return site->failure;
  TSR_NEED(sum);
  give_users(from, sum, replicated);
  return NULL;
}

// Reshards to the device that nothing reads any more.
static void drop_reshards(const device_placing *p, const tsr_op *op, tsr_op **dropped, int *count) {
  for (int i = 0; i < op->operand_count; i++) {
    tsr_op *def = tsr_op_operand(op, i)->def;
    bool seen = false;
    if (!tsr_op_is(def, TSR_OP_SDY_RESHARD) || !is_single(p, def)) continue;
    for (int k = 0; k < *count; k++) seen |= dropped[k] == def;
    if (!seen) dropped[(*count)++] = def;
  }
}

static tsr_status place_op(const device_placing *p, tsr_op *op, int64_t device) {
  tsr_site site = {.ir = p->ir, .place = op};
  tsr_op *branch = NULL;
  int count = 0;
  tsr_op **reshards = tsr_ir_alloc(p->ir, ((size_t)op->operand_count + 1) * sizeof *reshards);
  TSR_NEED(reshards);
  TSR_TRY(add_if(p, &site, op, device, &branch));
  for (int i = 0; i < op->result_count; i++)
    TSR_TRY(add_sum(p, &site, tsr_op_result(op, i), tsr_op_result(branch, i)));
  drop_reshards(p, op, reshards, &count);
  tsr_op_erase(op);
  for (int i = 0; i < count; i++)
    if (!tsr_op_result(reshards[i], 0)->uses) tsr_op_erase(reshards[i]);
  return NULL;
}

// ---- the pass ----

// Placing an op may erase reshards around it, so all ops of single devices are found first.
static tsr_status find_op(tsr_op *op, void *context) {
  device_placing *p = context;
  int64_t device = -1;
  if (!strncmp(op->name, "sdy.", 4)) return NULL;
  TSR_TRY(device_of(p, op, &device));
  if (device < 0) return NULL;
  if (p->count == p->capacity) {
    const int64_t capacity = p->capacity ? p->capacity * 2 : 16;
    placed_op *grown = realloc(p->ops, (size_t)capacity * sizeof *grown);
    if (!grown) return tsr_fail(NO_MEMORY, "ops of single devices");
    p->ops = grown;
    p->capacity = capacity;
  }
  p->ops[p->count++] = (placed_op){op, device};
  return NULL;
}

static const tsr_op *first_mesh(const tsr_ir *ir) {
  for (const tsr_op *op = ir->module->regions[0].first->first; op; op = op->next)
    if (tsr_op_is(op, TSR_OP_SDY_MESH) &&
        tsr_attr_field(tsr_op_attr(op, "mesh"), TSR_SDY_MESH_AXES)->count)
      return op;
  return NULL;
}

tsr_status tsr_pass_resolve_single_device(tsr_ir *ir, const tsr_pass_options *options,
                                          int64_t *changes) {
  device_placing p = {.ir = ir,
                      .mesh = first_mesh(ir),
                      .replicas = tsr_pass_number(options, TSR_RESOLVE_REPLICAS, 1),
                      .partitions = tsr_pass_number(options, TSR_RESOLVE_PARTITIONS, 1),
                      .exact = tsr_pass_flag(options, TSR_RESOLVE_EXACT)};
  tsr_status status = p.mesh ? tsr_op_walk_after(ir->module, find_op, &p) : NULL;
  for (int64_t i = 0; i < p.count && !status; i++)
    status = place_op(&p, p.ops[i].op, p.ops[i].device);
  *changes += p.count;
  free(p.ops);
  return status;
}
