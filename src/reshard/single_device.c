// Ops on a single device: operands are brought there from a replicated form, results become
// replicated on all devices and then what they were to be.
#include "propagate/edits.h"
#include "reshard/reshard_run.h"
#include "verify/sdy_checks.h"

typedef struct single_device {
  tsr_reshard_run *run;
  tsr_op *op;
  const tsr_attr *global;      // the name of the first mesh with axes, which all devices are on
  const tsr_attr *there;       // the sharding on the device, of no dims
  const tsr_attr *there_mesh;  // its mesh, as it is written
} single_device;

static const tsr_attr *replicated(const single_device *d, const tsr_type *type) {
  return tsr_sharding_bare(d->run->ir, d->global, tsr_type_rank(type), true);
}

static bool is_single(const single_device *d, const tsr_attr *sharding) {
  const tsr_attr *mesh = sharding ? tsr_sdy_mesh_of(d->run->ir, d->op, sharding) : NULL;
  return mesh && tsr_sdy_is_maximal(mesh);
}

static const tsr_attr *mesh_of(const tsr_attr *sharding) {
  return tsr_attr_field(sharding, TSR_SDY_SHARDING_MESH);
}

// The device that the results name; two are refused.
static tsr_status find_device(single_device *d, const tsr_attr *const *results) {
  const int count = d->op->result_count ? d->op->result_count : 1;
  int64_t device = -1;
  for (int i = 0; i < count; i++) {
    if (!is_single(d, results[i])) continue;
    const tsr_attr *mesh = tsr_sdy_mesh_of(d->run->ir, d->op, results[i]);
    const int64_t id = tsr_attr_int_at(tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS), 0);
    if (d->there_mesh && id != device)
      return tsr_fail(CONSTRAINT,
                      "results of %s at line %u are on the devices %lld and %lld, expected one",
                      d->op->name, d->op->line, (long long)device, (long long)id);
    device = id;
    d->there_mesh = mesh_of(results[i]);
  }
  return NULL;
}

static tsr_status find_global(single_device *d) {
  const tsr_ir *ir = d->run->ir;
  for (const tsr_op *op = ir->module->regions[0].first->first; op; op = op->next) {
    const tsr_attr *mesh = tsr_op_is(op, TSR_OP_SDY_MESH) ? tsr_op_attr(op, "mesh") : NULL;
    if (!mesh || !tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count) continue;
    const tsr_attr *name = tsr_op_attr(op, "sym_name");
    d->global = tsr_attr_symbol(d->run->ir, name->bytes, name->length);
    TSR_NEED(d->global);
    return NULL;
  }
  return NULL;
}

static tsr_status bring_operand(const single_device *d, tsr_use *use) {
  const tsr_attr *sharding = NULL;
  const tsr_insertion at = tsr_insertion_before(d->op);
  tsr_value *value = use->value;
  if (value->type->kind != TSR_TYPE_TENSOR) return NULL;
  TSR_TRY(tsr_sharding_get(d->run->ir, value, &sharding));
  if (!sharding) sharding = replicated(d, value->type);
  TSR_NEED(sharding);
  if (tsr_sharding_is_equivalent(sharding, d->there) &&
      tsr_attr_equal(mesh_of(sharding), d->there_mesh))
    return NULL;
  if (tsr_sharding_cuts_dims(sharding) || !tsr_attr_equal(mesh_of(sharding), d->global))
    TSR_TRY(tsr_add_reshard(d->run, &at, value, replicated(d, value->type), &value));
  TSR_TRY(tsr_add_reshard(d->run, &at, value, d->there, &value));
  tsr_use_set(use, value);
  return NULL;
}

// Adds a reshard after `*last`, for all users of a value, and makes it the last one.
static tsr_status reshard_all(const single_device *d, tsr_value **value, const tsr_attr *sharding,
                              tsr_op **last) {
  const tsr_insertion at = tsr_insertion_after(*last);
  tsr_value *made = NULL;
  TSR_TRY(tsr_add_reshard(d->run, &at, *value, sharding, &made));
  tsr_uses_move(*value, made, made->def);
  *value = made;
  *last = made->def;
  return NULL;
}

static tsr_status return_result(const single_device *d, int index, const tsr_attr *wanted,
                                tsr_op **last) {
  tsr_value *value = tsr_op_result(d->op, index);
  if (value->type->kind != TSR_TYPE_TENSOR) return NULL;
  const tsr_attr *everywhere = replicated(d, value->type);
  TSR_NEED(everywhere);
  TSR_TRY(reshard_all(d, &value, everywhere, last));
  if (!wanted || is_single(d, wanted) || tsr_attr_equal(wanted, everywhere)) return NULL;
  return reshard_all(d, &value, wanted, last);
}

static tsr_status set_result(const single_device *d, int index) {
  tsr_value *value = tsr_op_result(d->op, index), *owner = tsr_shardable(value);
  const bool token = value->type->kind == TSR_TYPE_TOKEN;
  if (!owner || (!token && value->type->kind != TSR_TYPE_TENSOR)) return NULL;
  const tsr_attr *sharding = token ? replicated(d, value->type) : d->there;
  TSR_NEED(sharding);
  return tsr_value_sharding_set(d->run->ir, owner, sharding);
}

tsr_status tsr_reshard_single_device(tsr_reshard_run *run, tsr_op *op,
                                     const tsr_attr *const *results) {
  single_device d = {.run = run, .op = op};
  tsr_op *last = op;
  TSR_TRY(find_device(&d, results));
  TSR_TRY(find_global(&d));
  if (!d.global || !d.there_mesh) return NULL;
  d.there = tsr_sharding_bare(run->ir, d.there_mesh, 0, true);
  TSR_NEED(d.there);
  for (int i = 0; i < op->operand_count; i++) TSR_TRY(bring_operand(&d, &op->operands[i]));
  for (int i = 0; i < op->result_count; i++) TSR_TRY(return_result(&d, i, results[i], &last));
  for (int i = 0; i < op->result_count; i++) TSR_TRY(set_result(&d, i));
  return NULL;
}
