// Reshards such that the shardings of each op fit together: op by op, from the inside out.
#include <string.h>

#include "propagate/edits.h"
#include "reshard/common_axes.h"
#include "reshard/op_reshards.h"
#include "reshard/reshard_passes.h"
#include "verify/sdy_checks.h"

// ---- reshards of one op ----

void tsr_op_reshards_update(tsr_op_reshards *r, const tsr_sdy_parts *axes) {
  const tsr_op_rule *rule = r->projection.rule;
  for (int i = 0; i < rule->place_count; i++) {
    tsr_factor_sharding *place = &r->projection.places[i];
    const tsr_sdy_parts *wanted = &axes[rule->places[i].factor];
    if (!place->present) continue;
    if (!place->overflow.count && tsr_sdy_parts_equal(&place->axes, wanted)) continue;
    place->axes = *wanted;
    place->overflow = (tsr_sdy_parts){NULL, 0};
    r->changed[rule->places[i].tensor] = true;
  }
}

tsr_status tsr_op_reshards_made(tsr_reshard_run *run, const tsr_op_reshards *r, int tensor,
                                const tsr_attr **out_sharding) {
  const tsr_tensor_sharding *made =
      tsr_unproject(&run->scratch, &r->projection, tensor, r->mesh->mesh_ref);
  TSR_NEED(made);
  if (!tsr_sharding_is_sound(made)) {
    const bool operand = tensor < r->op->operand_count;
    return tsr_fail(CONSTRAINT,
                    "%s at line %u: %s %d would be sharded along an axis that its sharding calls "
                    "replicated or unreduced",
                    r->op->name, r->op->line, operand ? "operand" : "result",
                    operand ? tensor : tensor - r->op->operand_count);
  }
  *out_sharding = tsr_sharding_attr(run->ir, made);
  TSR_NEED(*out_sharding);
  return NULL;
}

// Whether the devices of a sharding stand in another order than those of the mesh that all get.
static bool has_other_devices(const tsr_op_reshards *r, int tensor) {
  const tsr_tensor_sharding *sharding = r->shardings[tensor];
  return !tsr_sharding_has_no_dim_axes(sharding) &&
         !tsr_attr_equal(tsr_attr_field(sharding->mesh, TSR_SDY_MESH_DEVICE_IDS),
                         tsr_attr_field(r->mesh->mesh, TSR_SDY_MESH_DEVICE_IDS));
}

static tsr_status reshard_operand(tsr_reshard_run *run, const tsr_op_reshards *r, int index,
                                  const tsr_attr *sharding) {
  const tsr_insertion at = tsr_insertion_before(r->op);
  tsr_value *resharded = NULL;
  TSR_TRY(tsr_add_reshard(run, &at, tsr_op_operand(r->op, index), sharding, &resharded));
  tsr_op_set_operand(r->op, index, resharded);
  return NULL;
}

// The result gets the new sharding, its users the old one.
static tsr_status reshard_result(tsr_reshard_run *run, const tsr_op_reshards *r, int index,
                                 const tsr_attr *sharding, const tsr_insertion *at) {
  tsr_value *result = tsr_op_result(r->op, index), *resharded = NULL;
  const tsr_attr *old = NULL;
  TSR_TRY(tsr_sharding_get(run->ir, result, &old));
  if (!old) {
    const int rank = tsr_rule_rank(r->projection.rule, r->op->operand_count + index);
    old = tsr_sharding_bare(run->ir, r->mesh->mesh_ref, rank, true);
    TSR_NEED(old);
  }
  TSR_TRY(tsr_add_reshard(run, at, result, old, &resharded));
  tsr_uses_move(result, resharded, resharded->def);
  tsr_value *owner = tsr_shardable(result);
  return owner ? tsr_value_sharding_set(run->ir, owner, sharding) : NULL;
}

tsr_status tsr_op_reshards_add(tsr_reshard_run *run, const tsr_op_reshards *r) {
  const int operands = r->op->operand_count;
  const tsr_insertion after = tsr_insertion_after(r->op);
  for (int i = 0; i < r->projection.rule->tensor_count; i++) {
    if (!r->changed[i] && !has_other_devices(r, i)) continue;
    const tsr_attr *sharding = NULL;
    TSR_TRY(tsr_op_reshards_made(run, r, i, &sharding));
    if (i < operands)
      TSR_TRY(reshard_operand(run, r, i, sharding));
    else
      TSR_TRY(reshard_result(run, r, i - operands, sharding, &after));
  }
  return NULL;
}

// ---- the full version ----

static int64_t element_count(const tsr_type *type) {
  if (!tsr_type_is_static(type)) return 0;
  const int64_t count = tsr_type_element_count(type);
  return count < 0 ? INT64_MAX : count;
}

static bool marks_overflow(tsr_op_reshards *r) {
  const tsr_op_rule *rule = r->projection.rule;
  bool any = false;
  for (int i = 0; i < rule->place_count; i++) {
    if (!r->projection.places[i].overflow.count) continue;
    r->changed[rule->places[i].tensor] = true;
    any = true;
  }
  return any;
}

// Makes an op fit; `out_axes` gets the axes of its factors.
static tsr_status make_fit(tsr_reshard_run *run, tsr_op_reshards *r, tsr_sdy_parts *out_axes) {
  const tsr_op_rule *rule = r->projection.rule;
  if (marks_overflow(r) && tsr_op_is(r->op, TSR_OP_RESHAPE))
    return tsr_reshard_reshape(run, r, out_axes);
  int64_t *sizes = tsr_arena_alloc(&run->scratch, ((size_t)rule->tensor_count + 1) * sizeof *sizes);
  TSR_NEED(sizes);
  for (int i = 0; i < rule->tensor_count; i++)
    sizes[i] = element_count(i < r->op->operand_count
                                 ? tsr_operand_type(r->op, i)
                                 : tsr_op_result(r->op, i - r->op->operand_count)->type);
  TSR_TRY(tsr_common_axes(&run->scratch, &r->projection, sizes, out_axes));
  tsr_op_reshards_update(r, out_axes);
  return tsr_op_reshards_add(run, r);
}

// ---- shardings and mesh of an op ----

// Reads the shardings of all operands and results; false in `out_any` if there are none.
static tsr_status list_shardings(tsr_reshard_run *run, tsr_op *op, tsr_op_reshards *out,
                                 bool *out_any) {
  const int count = op->operand_count + op->result_count;
  *out = (tsr_op_reshards){
      .op = op,
      .attrs = tsr_arena_zeros(&run->scratch, (size_t)count + 1, sizeof *out->attrs),
      .shardings = tsr_arena_zeros(&run->scratch, (size_t)count + 1, sizeof *out->shardings),
      .changed = tsr_arena_zeros(&run->scratch, (size_t)count + 1, sizeof *out->changed)};
  TSR_NEED(out->attrs && out->shardings && out->changed);
  *out_any = false;
  for (int i = 0; i < count; i++) {
    tsr_value *value =
        i < op->operand_count ? tsr_op_operand(op, i) : tsr_op_result(op, i - op->operand_count);
    TSR_TRY(tsr_sharding_past_barriers(run->ir, value, &out->attrs[i]));
    TSR_TRY(tsr_reshard_read(run, op, out->attrs[i], &out->shardings[i]));
    *out_any |= out->attrs[i] != NULL;
  }
  return NULL;
}

// A mesh, as it is written, and how many tensors with axes have it.
typedef struct mesh_count {
  const tsr_attr *ref;
  int tensors;
} mesh_count;

// Finds the mesh that most tensors with axes have, of meshes that differ in the order of devices.
// NULL = no mesh in common, or one of a single device.
static tsr_status find_mesh(tsr_reshard_run *run, tsr_op_reshards *r) {
  const int count = r->op->operand_count + r->op->result_count;
  const tsr_tensor_sharding *const *list = r->shardings;
  mesh_count *meshes = tsr_arena_zeros(&run->scratch, (size_t)count + 1, sizeof *meshes);
  int most = 0;
  TSR_NEED(meshes);
  r->mesh = tsr_common_mesh(list, count, true);
  if (r->mesh && tsr_sdy_is_maximal(r->mesh->mesh)) r->mesh = NULL;
  if (!r->mesh) return NULL;
  for (int i = 0; i < count; i++) {
    mesh_count *mesh = meshes;
    if (!list[i] || tsr_sharding_has_no_dim_axes(list[i])) continue;
    while (mesh->ref && !tsr_attr_equal(mesh->ref, list[i]->mesh_ref)) mesh++;
    mesh->ref = list[i]->mesh_ref;
    if (++mesh->tensors <= most) continue;
    most = mesh->tensors;
    r->mesh = list[i];
  }
  return NULL;
}

// The sharding of an op without results that runs on one device; NULL = none.
static const tsr_attr *device_of_effect(const tsr_reshard_run *run, const tsr_op *op) {
  const tsr_attr *list =
      op->result_count ? NULL : tsr_shardings_list(tsr_op_attr(op, "sdy.sharding"));
  const tsr_attr *sharding = list && list->count == 1 ? list->items[0] : NULL;
  const tsr_attr *mesh = sharding ? tsr_sdy_mesh_of(run->ir, op, sharding) : NULL;
  return mesh && tsr_sdy_is_maximal(mesh) ? sharding : NULL;
}

static bool is_on_one_device(const tsr_op_reshards *r) {
  for (int i = 0; i < r->op->result_count; i++) {
    const tsr_tensor_sharding *sharding = r->shardings[r->op->operand_count + i];
    if (sharding && tsr_sdy_is_maximal(sharding->mesh)) return true;
  }
  return false;
}

tsr_status tsr_gather_factors(tsr_reshard_run *run, tsr_op *op, const tsr_op_rule *rule,
                              const bool *gathered) {
  tsr_op_reshards r;
  bool any = false;
  TSR_TRY(list_shardings(run, op, &r, &any));
  if (any) TSR_TRY(find_mesh(run, &r));
  if (!r.mesh) return NULL;
  TSR_TRY(tsr_project(&run->scratch, rule, r.mesh->mesh, r.shardings, true, &r.projection));
  for (int i = 0; i < rule->place_count; i++) {
    tsr_factor_sharding *place = &r.projection.places[i];
    if (!gathered[rule->places[i].factor] || !place->present) continue;
    if (!place->axes.count && !place->overflow.count) continue;
    place->axes = place->overflow = (tsr_sdy_parts){NULL, 0};
    r.changed[rule->places[i].tensor] = true;
  }
  return tsr_op_reshards_add(run, &r);
}

// ---- all ops ----

// Whether the version that reshards few ops does so for this one: a concatenation whose operands
// are sharded otherwise than its result, and what JAX makes of ragged products.
static tsr_status is_always_full(tsr_reshard_run *run, const tsr_op *op, bool *out_full) {
  const tsr_attr *result = NULL;
  *out_full = !strcmp(op->name, "mhlo.ragged_dot");
  if (!tsr_op_is(op, TSR_OP_CONCATENATE)) return NULL;
  TSR_TRY(tsr_sharding_get(run->ir, tsr_op_result(op, 0), &result));
  for (int i = 0; i < op->operand_count && !*out_full; i++) {
    const tsr_attr *operand = NULL;
    TSR_TRY(tsr_sharding_get(run->ir, tsr_op_operand(op, i), &operand));
    *out_full = !tsr_attr_equal(operand, result);
  }
  return NULL;
}

static tsr_status reshard_by_rule(tsr_reshard_run *run, tsr_op_reshards *r, bool full) {
  const tsr_op_rule *rule = NULL;
  tsr_sdy_parts *axes = NULL;
  TSR_TRY(find_mesh(run, r));
  if (!r->mesh) return NULL;
  TSR_TRY(tsr_rule_of(&run->scratch, r->op, TSR_RULE_PLAIN, &rule));
  if (!rule || rule->custom) return NULL;
  TSR_TRY(tsr_project(&run->scratch, rule, r->mesh->mesh, r->shardings, true, &r->projection));
  if (full) {
    axes = tsr_arena_zeros(&run->scratch, (size_t)rule->factor_count + 1, sizeof *axes);
    TSR_NEED(axes);
    TSR_TRY(make_fit(run, r, axes));
  } else if (tsr_op_is(r->op, TSR_OP_DOT) || tsr_op_is(r->op, TSR_OP_DOT_GENERAL)) {
    TSR_TRY(tsr_reshard_dot(run, r));
  }
  return tsr_reduce_results(run, r, axes);
}

// A reshard to a sharding with more unreduced axes becomes the ops that make them.
static tsr_status unreduce_reshard(tsr_reshard_run *run, tsr_op *op, bool *out_done) {
  const tsr_insertion at = tsr_insertion_before(op);
  const tsr_attr *made = NULL;
  TSR_TRY(tsr_unreduce_use(run, &at, &op->operands[0], tsr_op_attr(op, "sharding"), &made));
  *out_done = made != NULL;
  if (!made) return NULL;
  tsr_uses_move(tsr_op_result(op, 0), tsr_op_operand(op, 0), NULL);
  tsr_op_erase(op);
  return NULL;
}

static tsr_status reshard_op(tsr_op *op, void *context) {
  tsr_reshard_run *run = context;
  tsr_op_reshards r;
  bool any = false, full = run->full;
  if (op->info->traits & TSR_TRAIT_TERMINATES || tsr_op_is(op, TSR_OP_FUNC)) return NULL;
  tsr_arena_reset(&run->scratch);
  if (tsr_is_data_flow_op(op->info->id)) return tsr_reshard_data_flow(run, op);
  if (tsr_op_is(op, TSR_OP_CALL)) return tsr_reshard_call(run, op);
  if (!full) TSR_TRY(is_always_full(run, op, &full));
  if (tsr_op_is(op, TSR_OP_SDY_RESHARD)) {
    bool done = false;
    TSR_TRY(unreduce_reshard(run, op, &done));
    if (done) return NULL;
  }
  TSR_TRY(tsr_reduce_operands(run, op));
  const tsr_attr *effect = device_of_effect(run, op);
  if (effect) return tsr_reshard_single_device(run, op, &effect);
  TSR_TRY(list_shardings(run, op, &r, &any));
  if (!any) return NULL;
  if (is_on_one_device(&r)) return tsr_reshard_single_device(run, op, r.attrs + op->operand_count);
  return reshard_by_rule(run, &r, full);
}

// ---- functions ----

static tsr_status refuse_one_device(const tsr_ir *ir, const tsr_op *func, const tsr_attr *sharding,
                                    const char *what, int index) {
  const tsr_attr *mesh = sharding ? tsr_sdy_mesh_of(ir, func, sharding) : NULL;
  if (!mesh || !tsr_sdy_is_maximal(mesh)) return NULL;
  return tsr_fail(CONSTRAINT, "%s %d of function @%s is on a single device, expected all devices",
                  what, index, tsr_op_symbol(func));
}

static tsr_status reshard_func(tsr_reshard_run *run, tsr_op *func) {
  const tsr_type *type = tsr_func_type(func);
  const tsr_ir_block *body = tsr_func_body(func);
  for (int i = 0; body && i < body->arg_count; i++) {
    const tsr_attr *sharding = NULL;
    TSR_TRY(tsr_sharding_get(run->ir, body->args[i], &sharding));
    TSR_TRY(refuse_one_device(run->ir, func, sharding, "argument", i));
  }
  for (int i = 0; i < type->count - type->input_count; i++)
    TSR_TRY(refuse_one_device(run->ir, func, tsr_func_result_sharding(func, i), "result", i));
  TSR_TRY(tsr_op_walk_after(func, reshard_op, run));
  tsr_arena_reset(&run->scratch);
  return tsr_reshard_return(run, func);
}

tsr_status tsr_pass_insert_explicit_reshards(tsr_ir *ir, const tsr_pass_options *options,
                                             int64_t *changes) {
  tsr_reshard_run run = {
      .ir = ir, .full = tsr_pass_flag(options, TSR_RESHARD_FULL), .changes = changes};
  tsr_status status = NULL;
  for (tsr_op *op = ir->module->regions[0].first->first; op && !status; op = op->next)
    if (tsr_op_is(op, TSR_OP_FUNC)) status = reshard_func(&run, op);
  tsr_arena_deinit(&run.scratch);
  return status;
}

// ---- the table ----

#define OPTION(id) (1u << TSR_RESHARD_##id)
#define PASS_ROWS "reshard/reshard_passes.def"
#include "simplify/pass_table.inc"

tsr_pass_table tsr_reshard_passes(void) { return pass_table; }
