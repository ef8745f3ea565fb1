// spread-single-device: values on a single device (a mesh without axes, of one device) become
// replicated ones of the mesh that the program runs on. Computing them everywhere moves no bytes
// and gives the same bits. Custom calls and ops with effects keep their device: they run once, by
// sdy-resolve-single-device-sharding.
#include <string.h>

#include "base/arithmetic.h"
#include "factor/shardings.h"
#include "propagate/edits.h"
#include "spmd/spmd_passes.h"
#include "verify/sdy_checks.h"

typedef struct spreading {
  tsr_ir *ir;
  const char *name;         // of the first mesh with axes
  const tsr_attr *symbol;   // the same as an attribute
  int64_t devices;          // of that mesh
  const tsr_attr *ordered;  // its device ids; no items = in plain order
  int64_t *changes;
} spreading;

static bool find_mesh(spreading *s) {
  for (const tsr_op *op = s->ir->module->regions[0].first->first; op; op = op->next) {
    const tsr_attr *mesh = tsr_op_is(op, TSR_OP_SDY_MESH) ? tsr_op_attr(op, "mesh") : NULL;
    if (!mesh || !tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count) continue;
    s->name = tsr_op_symbol(op);
    s->ordered = tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS);
    s->devices = 1;
    for (int64_t i = 0; i < tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count; i++)
      s->devices = tsr_saturated_multiply(s->devices, tsr_sdy_axis_size(mesh, (int)i));
    return true;
  }
  return false;
}

static bool has_device(const spreading *s, int64_t device) {
  const int64_t count = tsr_attr_int_count(s->ordered);
  if (!count) return device < s->devices;
  for (int64_t i = 0; i < count; i++)
    if (tsr_attr_int_at(s->ordered, i) == device) return true;
  return false;
}

// Whether a sharding (or NULL) is on a single device, which must be one of the mesh.
static tsr_status is_single(const spreading *s, const tsr_op *op, const tsr_attr *sharding,
                            bool *out_single) {
  const tsr_attr *mesh = sharding ? tsr_sdy_mesh_of(s->ir, op, sharding) : NULL;
  *out_single = mesh && tsr_sdy_is_maximal(mesh);
  if (!*out_single) return NULL;
  const int64_t device = tsr_attr_int_at(tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS), 0);
  if (has_device(s, device)) return NULL;
  return tsr_fail(CONSTRAINT,
                  "%s at line %u is on device %lld, which is none of the %lld devices of mesh "
                  "\"%s\"",
                  op->name, op->line, (long long)device, (long long)s->devices, s->name);
}

static tsr_status spread(const spreading *s, const tsr_op *op, const tsr_type *type,
                         const tsr_attr **sharding) {
  bool single = false;
  TSR_TRY(is_single(s, op, *sharding, &single));
  if (!single) return NULL;
  *sharding = tsr_sharding_bare(s->ir, s->symbol, tsr_type_rank(type), true);
  TSR_NEED(*sharding);
  ++*s->changes;
  return NULL;
}

static tsr_status spread_value(const spreading *s, const tsr_op *op, tsr_value *value) {
  const tsr_attr *sharding = NULL;
  TSR_TRY(tsr_value_sharding(s->ir, value, &sharding));
  const tsr_attr *spread_one = sharding;
  TSR_TRY(spread(s, op, value->type, &spread_one));
  return spread_one == sharding ? NULL : tsr_value_sharding_set(s->ir, value, spread_one);
}

static tsr_status spread_func(const spreading *s, tsr_op *func) {
  const tsr_ir_block *body = tsr_func_body(func);
  const tsr_type *type = tsr_func_type(func);
  for (int i = 0; body && i < body->arg_count; i++) TSR_TRY(spread_value(s, func, body->args[i]));
  for (int i = 0; i < type->count - type->input_count; i++) {
    const tsr_attr *sharding = tsr_func_result_sharding(func, i), *spread_one = sharding;
    TSR_TRY(spread(s, func, type->types[type->input_count + i], &spread_one));
    if (spread_one != sharding) TSR_TRY(tsr_func_result_sharding_set(s->ir, func, i, spread_one));
  }
  return NULL;
}

// Whether it matters where and how often an op runs.
static bool keeps_device(const tsr_op *op) {
  if (tsr_op_is(op, TSR_OP_CUSTOM_CALL)) return true;
  return tsr_op_computes(op) && !op->region_count && !(op->info->traits & TSR_TRAIT_PURE);
}

// Results leave the device replicated: a function that returns one has it on all devices.
static tsr_status constrain_results(const spreading *s, tsr_op *op) {
  for (int i = 0; i < op->result_count; i++) {
    tsr_value *result = tsr_op_result(op, i);
    const tsr_attr *sharding = NULL;
    TSR_TRY(tsr_value_sharding(s->ir, result, &sharding));
    const tsr_attr *spread_one = sharding;
    if (result->type->kind == TSR_TYPE_TENSOR) TSR_TRY(spread(s, op, result->type, &spread_one));
    if (spread_one == sharding) continue;
    const tsr_named_attr attr = {tsr_ir_name(s->ir, "sharding", 8), spread_one};
    tsr_op *made =
        attr.name ? tsr_op_like(s->ir, op, TSR_OP_SDY_SHARDING_CONSTRAINT, result, &attr) : NULL;
    TSR_NEED(made);
    tsr_op_insert_after(op, made);
    tsr_uses_move(result, tsr_op_result(made, 0), made);
  }
  return NULL;
}

// A device is one of those outside of a manual computation; inside, each has a program of its own.
static tsr_status check_place(const spreading *s, const tsr_op *op) {
  const tsr_attr *list = tsr_shardings_list(tsr_op_attr(op, "sdy.sharding"));
  for (int64_t i = 0; list && i < list->count; i++) {
    bool single = false;
    TSR_TRY(is_single(s, op, list->items[i], &single));
    if (!single) continue;
    for (const tsr_op *around = tsr_op_parent(op); around; around = tsr_op_parent(around))
      if (tsr_op_is(around, TSR_OP_SDY_MANUAL_COMPUTATION))
        return tsr_fail(UNSUPPORTED,
                        "%s at line %u is on a single device inside the manual computation at line "
                        "%u, expected no sharding there",
                        op->name, op->line, around->line);
  }
  return NULL;
}

static tsr_status spread_op(tsr_op *op, void *context) {
  const spreading *s = context;
  if (tsr_op_is(op, TSR_OP_FUNC)) return spread_func(s, op);
  if (keeps_device(op)) {
    TSR_TRY(check_place(s, op));
    return constrain_results(s, op);
  }
  for (int i = 0; i < op->result_count; i++) TSR_TRY(spread_value(s, op, tsr_op_result(op, i)));
  return NULL;
}

tsr_status tsr_pass_spread_single_device(tsr_ir *ir, const tsr_pass_options *options,
                                         int64_t *changes) {
  spreading s = {.ir = ir, .changes = changes};
  (void)options;
  if (!find_mesh(&s)) return NULL;
  s.symbol = tsr_attr_symbol(ir, s.name, strlen(s.name));
  TSR_NEED(s.symbol);
  return tsr_op_walk(ir->module, spread_op, &s);
}
