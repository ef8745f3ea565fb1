// Reshards become collectives.
#include <stdlib.h>

#include "collective/collective_build.h"
#include "collective/collective_passes.h"
#include "collective/collective_steps.h"
#include "propagate/edits.h"
#include "verify/sdy_checks.h"

typedef struct reshard_walk {
  tsr_ir *ir;
  bool keep_redundant;
  int64_t *changes;
  tsr_arena arena;  // of one reshard
} reshard_walk;

// ---- ops ----

static const tsr_attr *params_attr(tsr_ir *ir, const tsr_collective_step *step) {
  const tsr_attr *const fields[] = {tsr_parts_attr(ir, step->sharding->mesh, step->axes),
                                    tsr_attr_i64(ir, step->source), tsr_attr_i64(ir, step->target)};
  if (!fields[0] || !fields[1] || !fields[2]) return NULL;
  const tsr_attr *param = tsr_attr_record(ir, TSR_RECORD_SDY_ALL_TO_ALL, fields);
  const tsr_attr *array = param ? tsr_attr_array(ir, &param, 1) : NULL;
  return array ? tsr_attr_record(ir, TSR_RECORD_SDY_ALL_TO_ALLS, &array) : NULL;
}

static tsr_op *make_op(tsr_ir *ir, const tsr_op *like, tsr_value *operand,
                       const tsr_collective_step *step) {
  tsr_collective_parts parts = {.id = step->op, .sharding = tsr_sharding_attr(ir, step->sharding)};
  if (step->op == TSR_OP_SDY_ALL_TO_ALL) {
    parts.name = "params";
    parts.axes = params_attr(ir, step);
  } else if (step->op != TSR_OP_SDY_COLLECTIVE_PERMUTE) {
    parts.name = step->op == TSR_OP_SDY_ALL_GATHER ? "gathering_axes" : "slicing_axes";
    parts.axes = tsr_axis_lists_attr(ir, step->sharding->mesh, step->axes, step->sharding->rank);
  }
  return tsr_collective_create(ir, like, operand, &parts);
}

// ---- one reshard ----

static tsr_value *behind_barriers(tsr_value *value) {
  while (tsr_op_is(value->def, TSR_OP_SDY_PROPAGATION_BARRIER))
    value = tsr_op_operand(value->def, 0);
  return value;
}

static void replace(reshard_walk *c, tsr_op *op, tsr_value *value) {
  tsr_uses_move(tsr_op_result(op, 0), value, NULL);
  tsr_op_erase(op);
  ++*c->changes;
}

static tsr_status convert(reshard_walk *c, tsr_op *op, tsr_value *value, const tsr_attr *from,
                          const tsr_attr *to, const tsr_attr *mesh) {
  tsr_tensor_sharding *source = NULL, *target = NULL;
  const tsr_collective_step *steps = NULL;
  TSR_TRY(tsr_sharding_read(&c->arena, mesh, from, &source));
  TSR_TRY(tsr_sharding_read(&c->arena, mesh, to, &target));
  TSR_TRY(tsr_collective_steps(&c->arena, source, target, value->type->dims, &steps));
  for (; steps; steps = steps->next) {
    tsr_op *made = make_op(c->ir, op, value, steps);
    TSR_NEED(made);
    tsr_op_insert_before(op, made);
    value = tsr_op_result(made, 0);
  }
  replace(c, op, value);
  return NULL;
}

// Whether a reshard stays: it changes nothing and shall be kept, or it goes to or from one device
// or another mesh.
static bool is_kept(const reshard_walk *c, const tsr_attr *from, const tsr_attr *to,
                    const tsr_attr *from_mesh, const tsr_attr *to_mesh) {
  if (c->keep_redundant &&
      (from ? tsr_sharding_is_equivalent(from, to) : tsr_sharding_is_whole(to)))
    return true;
  if ((from_mesh && tsr_sdy_is_maximal(from_mesh)) || tsr_sdy_is_maximal(to_mesh)) return true;
  return !tsr_sharding_is_whole(to) && from_mesh && !tsr_sdy_mesh_equal(from_mesh, to_mesh, true);
}

// Unreduced axes need an all-reduce, which insert-explicit-reshards makes; here they must stay.
static tsr_status check_unreduced(const tsr_op *op, const tsr_attr *from, const tsr_attr *to) {
  if (tsr_attr_equal(tsr_attr_field(from, TSR_SDY_SHARDING_UNREDUCED),
                     tsr_attr_field(to, TSR_SDY_SHARDING_UNREDUCED)))
    return NULL;
  return tsr_fail(
      UNSUPPORTED,
      "%s at line %u changes unreduced axes; sdy-insert-explicit-reshards must run first", op->name,
      op->line);
}

static tsr_status convert_op(reshard_walk *c, tsr_op *op) {
  const tsr_attr *to = tsr_op_attr(op, "sharding"), *from = NULL;
  tsr_value *value = behind_barriers(tsr_op_operand(op, 0));
  if (!to || value->type->kind != TSR_TYPE_TENSOR) return NULL;
  TSR_TRY(tsr_sharding_get(c->ir, value, &from));
  const tsr_attr *to_mesh = tsr_sdy_mesh_of(c->ir, op, to);
  const tsr_attr *from_mesh = from ? tsr_sdy_mesh_of(c->ir, op, from) : to_mesh;
  if (!to_mesh || !from_mesh)
    return tsr_fail(UNKNOWN_SYMBOL, "a sharding of %s at line %u names no mesh", op->name,
                    op->line);
  if (is_kept(c, from, to, from ? from_mesh : NULL, to_mesh)) return NULL;
  if (!from)
    from = tsr_sharding_bare(c->ir, tsr_attr_field(to, TSR_SDY_SHARDING_MESH), value->type->rank,
                             false);
  TSR_NEED(from);
  TSR_TRY(check_unreduced(op, from, to));
  if (tsr_sharding_is_whole(to)) {
    if (tsr_sharding_is_whole(from)) {
      replace(c, op, tsr_op_operand(op, 0));
      return NULL;
    }
    to = tsr_sharding_bare(c->ir, tsr_attr_field(from, TSR_SDY_SHARDING_MESH), value->type->rank,
                           true);
    TSR_NEED(to);
  }
  return convert(c, op, value, from, to, from_mesh);
}

static tsr_status visit(tsr_op *op, void *context) {
  reshard_walk *c = context;
  if (!tsr_op_is(op, TSR_OP_SDY_RESHARD)) return NULL;
  tsr_arena_reset(&c->arena);
  return convert_op(c, op);
}

tsr_status tsr_pass_reshard_to_collectives(tsr_ir *ir, const tsr_pass_options *options,
                                           int64_t *changes) {
  reshard_walk c = {.ir = ir,
                    .keep_redundant = tsr_pass_flag(options, TSR_COLLECTIVE_KEEP_REDUNDANT),
                    .changes = changes};
  tsr_status status = tsr_op_walk(ir->module, visit, &c);
  tsr_arena_deinit(&c.arena);
  return status;
}
