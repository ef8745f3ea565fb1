// The pass that reads XLA's older form: pairs first, then annotations and constraints.
#include <string.h>

#include "gspmd/gspmd_mesh.h"
#include "gspmd/gspmd_passes.h"
#include "propagate/edits.h"
#include "propagate/sharding_passes.h"
#include "verify/verify.h"

static const tsr_pass passes[] = {
#define PASS(name, function, options, summary) {name, tsr_pass_##function, options, summary},
#include "gspmd/gspmd_passes.def"
#undef PASS
};

tsr_pass_table tsr_gspmd_passes(void) {
  return (tsr_pass_table){passes, sizeof passes / sizeof *passes, NULL, 0};
}

typedef struct gspmd_walk {
  tsr_gspmd *gspmd;
  int64_t *changes;
} gspmd_walk;

// ---- arguments and results of functions ----

static const tsr_attr *exchange_entry(tsr_ir *ir, const tsr_attr *dict, const tsr_attr *sharding) {
  tsr_named_attr *entries = tsr_ir_alloc(ir, sizeof *entries * (size_t)dict->count);
  const char *name = tsr_ir_name(ir, "sdy.sharding", 12);
  if (!entries || !name) return NULL;
  for (int64_t i = 0; i < dict->count; i++) {
    entries[i] = dict->entries[i];
    if (!strcmp(entries[i].name, TSR_GSPMD_SHARDING)) entries[i] = (tsr_named_attr){name, sharding};
  }
  return tsr_attr_dict(ir, entries, dict->count);
}

static tsr_status import_dict(gspmd_walk *w, const tsr_attr **dict, const tsr_type *type) {
  const tsr_attr *text =
      (*dict)->kind == TSR_ATTR_DICT ? tsr_dict_find(*dict, TSR_GSPMD_SHARDING) : NULL;
  tsr_gspmd_sharding sharding;
  if (!text) return NULL;
  if (tsr_dict_find(*dict, "sdy.sharding"))
    return tsr_fail(UNSUPPORTED, "an argument or result with %s and sdy.sharding",
                    TSR_GSPMD_SHARDING);
  TSR_TRY(tsr_gspmd_sharding_of(w->gspmd, text, 0, tsr_type_rank(type), 0, &sharding));
  *dict = exchange_entry(w->gspmd->ir, *dict, sharding.attr);
  TSR_NEED(*dict);
  ++*w->changes;
  return NULL;
}

// `types` are those that the dictionaries of attribute `name` belong to.
static tsr_status import_dicts(gspmd_walk *w, tsr_op *func, const char *name,
                               const tsr_type *const *types, int count) {
  tsr_ir *ir = w->gspmd->ir;
  const tsr_attr *dicts = tsr_op_attr(func, name);
  if (!dicts || dicts->kind != TSR_ATTR_ARRAY || dicts->count != count) return NULL;
  const tsr_attr **made = tsr_ir_alloc(ir, sizeof(const tsr_attr *) * ((size_t)count + 1));
  TSR_NEED(made);
  for (int i = 0; i < count; i++) {
    made[i] = dicts->items[i];
    TSR_TRY(import_dict(w, &made[i], types[i]));
  }
  const tsr_attr *attr = tsr_attr_array(ir, made, count);
  TSR_NEED(attr);
  return tsr_op_attr_set(ir, func, name, attr);
}

static tsr_status import_func(gspmd_walk *w, tsr_op *func) {
  const tsr_type *type = tsr_func_type(func);
  if (!type) return NULL;
  TSR_TRY(import_dicts(w, func, "arg_attrs", type->types, type->input_count));
  return import_dicts(w, func, "res_attrs", type->types + type->input_count,
                      type->count - type->input_count);
}

// ---- ops ----

// An op without results can stand on one device only; it has one sharding for this.
static tsr_status import_op(gspmd_walk *w, tsr_op *op, const tsr_attr *text) {
  tsr_ir *ir = w->gspmd->ir;
  const int count = op->result_count ? op->result_count : 1;
  const tsr_tiling *tiling = tsr_gspmd_tiling(w->gspmd, text);
  if (tsr_op_attr(op, "sdy.sharding"))
    return tsr_fail(UNSUPPORTED, "%s at line %u has %s and sdy.sharding", op->name, op->line,
                    TSR_GSPMD_SHARDING);
  if (tiling && tiling->kind == TSR_TILING_TUPLE && tiling->element_count != op->result_count)
    return tsr_fail(CONSTRAINT, "%s at line %u has %d results and a sharding of %d", op->name,
                    op->line, op->result_count, tiling->element_count);
  if (!op->result_count && (!tiling || tiling->kind != TSR_TILING_MAXIMAL))
    return tsr_fail(UNSUPPORTED, "%s at line %u has no results and the sharding %s", op->name,
                    op->line, text->bytes);
  const tsr_attr **list = tsr_ir_alloc(ir, sizeof(const tsr_attr *) * (size_t)count);
  TSR_NEED(list);
  for (int i = 0; i < count; i++) {
    tsr_gspmd_sharding sharding;
    const int rank = op->result_count ? tsr_type_rank(tsr_op_result(op, i)->type) : 0;
    TSR_TRY(tsr_gspmd_sharding_of(w->gspmd, text, i, rank, 0, &sharding));
    list[i] = sharding.attr;
  }
  const tsr_attr *attr = tsr_shardings_attr(ir, list, count);
  TSR_NEED(attr);
  TSR_TRY(tsr_op_attr_set(ir, op, "sdy.sharding", attr));
  TSR_TRY(tsr_op_attr_set(ir, op, TSR_GSPMD_SHARDING, NULL));
  ++*w->changes;
  return NULL;
}

static bool says_nothing(const tsr_gspmd *gspmd, const tsr_gspmd_sharding *sharding) {
  return gspmd->axis_count &&
         sharding->manual == (uint32_t)((UINT64_C(1) << gspmd->axis_count) - 1);
}

// A constraint of values whose axes are all manual says nothing.
static tsr_status import_constraint(gspmd_walk *w, tsr_op *op, const tsr_attr *text) {
  tsr_ir *ir = w->gspmd->ir;
  uint64_t open = 0;
  tsr_gspmd_sharding sharding;
  if (op->operand_count != 1 || op->result_count != 1)
    return tsr_fail(CONSTRAINT, "@Sharding at line %u has %d operands and %d results, not one each",
                    op->line, op->operand_count, op->result_count);
  tsr_value *value = tsr_op_operand(op, 0), *result = tsr_op_result(op, 0);
  TSR_TRY(tsr_gspmd_open_dims(op, &open));
  TSR_TRY(tsr_gspmd_sharding_of(w->gspmd, text, 0, tsr_type_rank(value->type), open, &sharding));
  if (!says_nothing(w->gspmd, &sharding)) {
    const tsr_named_attr attr = {tsr_ir_name(ir, "sharding", 8), sharding.attr};
    TSR_NEED(attr.name);
    tsr_op *made = tsr_op_like(ir, op, TSR_OP_SDY_SHARDING_CONSTRAINT, value, &attr);
    TSR_NEED(made);
    tsr_op_insert_before(op, made);
    value = tsr_op_result(made, 0);
  }
  tsr_value_replace(result, value);
  tsr_op_erase(op);
  ++*w->changes;
  return NULL;
}

static tsr_status import_visit(tsr_op *op, void *context) {
  gspmd_walk *w = context;
  if (op->info->id == TSR_OP_FUNC) return import_func(w, op);
  if (tsr_gspmd_calls(op, "SPMDFullToShardShape") || tsr_gspmd_calls(op, "SPMDShardToFullShape"))
    return tsr_fail(UNSUPPORTED,
                    "@%s at line %u stands at no call: bodies of shard_map are calls of functions",
                    tsr_op_attr(op, "call_target_name")->bytes, op->line);
  const tsr_attr *text = tsr_op_attr(op, TSR_GSPMD_SHARDING);
  if (!text) return NULL;
  if (tsr_gspmd_calls(op, "Sharding")) return import_constraint(w, op, text);
  return import_op(w, op, text);
}

// ---- the pass ----

static tsr_status import_all(tsr_gspmd *gspmd, int64_t *changes) {
  gspmd_walk w = {gspmd, changes};
  TSR_TRY(tsr_gspmd_import_manual(gspmd, changes));
  TSR_TRY(tsr_op_walk_after(gspmd->ir->module, import_visit, &w));
  TSR_TRY(tsr_pass_lift_inlined_meshes(gspmd->ir, NULL, changes));
  // Shapes and manual axes of the older form are checked by no one before.
  return tsr_verify(gspmd->ir, "the program with its shardings");
}

tsr_status tsr_pass_import_gspmd(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  tsr_gspmd gspmd;
  (void)options;
  tsr_status status = tsr_gspmd_init(&gspmd, ir);
  if (!status && gspmd.count) status = import_all(&gspmd, changes);
  tsr_gspmd_deinit(&gspmd);
  return status;
}
