// The table of passes, and those of a few lines.
#include "collective/collective_passes.h"

#include <string.h>

#include "collective/collective_build.h"
#include "propagate/edits.h"
#include "verify/sdy_checks.h"

#define OPTION(id) (1u << TSR_COLLECTIVE_##id)
#define PASS_ROWS "collective/collective_passes.def"
#include "simplify/pass_table.inc"

tsr_pass_table tsr_collective_passes(void) { return pass_table; }

typedef struct removal {
  tsr_ir *ir;
  int64_t *changes;
} removal;

// ---- collectives around dots ----

static bool bypass(removal *r, tsr_op *op) {
  tsr_uses_move(tsr_op_result(op, 0), tsr_op_operand(op, 0), NULL);
  tsr_op_erase(op);
  ++*r->changes;
  return true;
}

static tsr_status take_scatter(removal *r, tsr_op *dot) {
  const tsr_attr *sharding = NULL, *scattered = NULL;
  tsr_value *result = tsr_op_result(dot, 0);
  if (!tsr_value_has_one_use(result) || !tsr_op_is(result->uses->user, TSR_OP_SDY_REDUCE_SCATTER))
    return NULL;
  TSR_TRY(tsr_value_sharding(r->ir, result, &sharding));
  if (sharding && tsr_attr_field(sharding, TSR_SDY_SHARDING_UNREDUCED)->count) return NULL;
  TSR_TRY(tsr_value_sharding(r->ir, tsr_op_result(result->uses->user, 0), &scattered));
  const tsr_attr *list = tsr_shardings_attr(r->ir, &scattered, 1);
  TSR_NEED(list);
  TSR_TRY(tsr_op_attr_set(r->ir, dot, "sdy.sharding", list));
  bypass(r, result->uses->user);
  return NULL;
}

static tsr_status visit_dot(tsr_op *op, void *context) {
  removal *r = context;
  bool gathered = false;
  if (!tsr_op_is(op, TSR_OP_DOT) && !tsr_op_is(op, TSR_OP_DOT_GENERAL)) return NULL;
  for (int i = 0; i < op->operand_count; i++) {
    tsr_op *def = tsr_op_operand(op, i)->def;
    if (tsr_op_is(def, TSR_OP_SDY_ALL_GATHER) && tsr_value_has_one_use(tsr_op_result(def, 0)))
      gathered = bypass(r, def);
  }
  return gathered ? NULL : take_scatter(r, op);
}

tsr_status tsr_pass_remove_for_matmul(tsr_ir *ir, const tsr_pass_options *options,
                                      int64_t *changes) {
  removal r = {ir, changes};
  (void)options;
  return tsr_op_walk_after(ir->module, visit_dot, &r);
}

// ---- notes of propagation ----

static const char *const notes[] = {
    "sdy.block_arg_propagation_edges", "sdy.block_arg_sharding_origins", "sdy.propagation_edges",
    "sdy.result_propagation_edges",    "sdy.result_sharding_origins",    "sdy.sharding_origins"};
enum { NOTE_COUNT = sizeof notes / sizeof *notes };

static bool is_note(const char *name) {
  for (int i = 0; i < NOTE_COUNT; i++)
    if (!strcmp(notes[i], name)) return true;
  return false;
}

// Functions keep those among their own attributes.
static tsr_status clean_op(tsr_op *op, void *context) {
  removal *r = context;
  if (tsr_op_is(op, TSR_OP_FUNC)) {
    TSR_TRY(tsr_dicts_drop(r->ir, op, "arg_attrs", is_note));
    return tsr_dicts_drop(r->ir, op, "res_attrs", is_note);
  }
  for (int i = op->attr_count; i-- > 0;) {
    const char *name = op->attrs[i].name;
    if (!is_note(name)) continue;
    ++*r->changes;
    TSR_TRY(tsr_op_attr_set(r->ir, op, name, NULL));
  }
  return NULL;
}

tsr_status tsr_pass_remove_debug_info(tsr_ir *ir, const tsr_pass_options *options,
                                      int64_t *changes) {
  removal r = {ir, changes};
  (void)options;
  return tsr_op_walk(ir->module, clean_op, &r);
}
