// The passes that propagate, and the table of all passes of this room.
#include "propagate/propagate.h"

#include <stdlib.h>

#include "propagate/edits.h"
#include "propagate/flow.h"
#include "propagate/manual_axes.h"
#include "propagate/sharding_passes.h"

// ---- rules as attributes ----

typedef struct rule_walk {
  tsr_ir *ir;
  bool conservative;
  tsr_arena arena;
  int64_t changes;
} rule_walk;

static tsr_status write_rule(tsr_op *op, void *context) {
  rule_walk *w = context;
  const tsr_op_rule *rule = NULL;
  tsr_arena_reset(&w->arena);
  TSR_TRY(
      tsr_rule_of(&w->arena, op, w->conservative ? TSR_RULE_CONSERVATIVE : TSR_RULE_PLAIN, &rule));
  if (!rule || tsr_op_attr(op, "sdy.sharding_rule")) return NULL;
  const tsr_attr *attr = tsr_rule_attr(w->ir, rule);
  TSR_NEED(attr);
  w->changes++;
  return tsr_op_attr_set(w->ir, op, "sdy.sharding_rule", attr);
}

static tsr_status write_rules(tsr_ir *ir, bool conservative, int64_t *changes) {
  rule_walk w = {.ir = ir, .conservative = conservative};
  tsr_status status = tsr_op_walk(ir->module, write_rule, &w);
  tsr_arena_deinit(&w.arena);
  *changes += w.changes;
  return status;
}

// Rules that users wrote stay.
static tsr_status drop_rule(tsr_op *op, void *context) {
  const tsr_attr *rule = tsr_op_attr(op, "sdy.sharding_rule");
  if (!rule || rule->kind != TSR_ATTR_RECORD || rule->id != TSR_RECORD_SDY_RULE ||
      tsr_attr_field(rule, TSR_SDY_RULE_CUSTOM)->integer)
    return NULL;
  return tsr_op_attr_set(context, op, "sdy.sharding_rule", NULL);
}

tsr_status tsr_rules_drop(tsr_ir *ir) { return tsr_op_walk(ir->module, drop_rule, ir); }

// ---- propagation ----

static tsr_status run(tsr_ir *ir, const tsr_flow_how *how, const tsr_group_list *groups,
                      tsr_flow_notes *notes, int64_t *changes) {
  tsr_flow flow;
  tsr_status status = tsr_flow_init(&flow, ir, how, groups);
  flow.notes = notes;
  if (!status && notes) status = tsr_flow_notes_number(notes, flow.table.count);
  if (!status && how->begin) status = how->begin(how->context, &flow.table);
  if (!status) status = tsr_flow_priorities(&flow);
  if (!status && how->settled) status = tsr_flow_review(&flow);
  if (!status && how->end) status = how->end(how->context, &flow.table);
  if (!status) status = tsr_manual_arguments_restore(&flow.table);
  if (!status) status = tsr_sharding_table_write(&flow.table);
  *changes += flow.changes;
  tsr_flow_deinit(&flow);
  return status;
}

static tsr_status propagate(tsr_ir *ir, const tsr_flow_how *how, tsr_flow_notes *notes,
                            int64_t *changes) {
  tsr_group_list groups = {0};
  TSR_TRY(tsr_group_list_make(ir, &groups));
  tsr_status status = tsr_groups_sync(ir, &groups);
  if (!status) status = run(ir, how, &groups, notes, changes);
  free(groups.items);
  return status;
}

// Origins are those of the shardings that users wrote, before groups made their members alike.
static tsr_status propagate_noting(tsr_ir *ir, const tsr_flow_how *how, int64_t *changes) {
  tsr_flow_notes notes;
  TSR_TRY(tsr_flow_notes_begin(&notes, ir, how->note_origins, how->note_edges));
  tsr_status status = propagate(ir, how, &notes, changes);
  if (!status) status = tsr_flow_notes_write(&notes);
  tsr_flow_notes_deinit(&notes);
  return status;
}

tsr_status tsr_propagate(tsr_ir *ir, const tsr_flow_how *how, int64_t *changes) {
  if (how->note_origins || how->note_edges)
    TSR_TRY(propagate_noting(ir, how, changes));
  else
    TSR_TRY(propagate(ir, how, NULL, changes));
  if (how->keep_rules) return write_rules(ir, how->conservative, changes);
  return tsr_rules_drop(ir);
}

static tsr_flow_how how_of(const tsr_pass_options *options) {
  return (tsr_flow_how){.keep_rules = tsr_pass_flag(options, TSR_SHARDING_KEEP_RULES),
                        .conservative = tsr_pass_flag(options, TSR_SHARDING_CONSERVATIVE),
                        .note_origins = tsr_pass_flag(options, TSR_SHARDING_ORIGINS),
                        .note_edges = tsr_pass_flag(options, TSR_SHARDING_EDGES),
                        .dump_folder = options->values[TSR_SHARDING_DUMP].text,
                        .strategy = (tsr_flow_strategy)tsr_pass_number(
                            options, TSR_SHARDING_STRATEGY, TSR_FLOW_AGGRESSIVE)};
}

tsr_status tsr_pass_basic_propagate(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  tsr_flow_how how = how_of(options);
  how.strategy = TSR_FLOW_BASIC;
  return tsr_propagate(ir, &how, changes);
}

tsr_status tsr_pass_aggressive_propagate(tsr_ir *ir, const tsr_pass_options *options,
                                         int64_t *changes) {
  const tsr_flow_how how = how_of(options);
  return tsr_propagate(ir, &how, changes);
}

tsr_status tsr_pass_op_priority_propagate(tsr_ir *ir, const tsr_pass_options *options,
                                          int64_t *changes) {
  tsr_flow_how how = how_of(options);
  how.op_priorities = tsr_pass_number(options, TSR_SHARDING_OP_PRIORITY, 1);
  return tsr_propagate(ir, &how, changes);
}

tsr_status tsr_pass_user_priority_propagate(tsr_ir *ir, const tsr_pass_options *options,
                                            int64_t *changes) {
  tsr_flow_how how = how_of(options);
  how.op_priorities = tsr_pass_number(options, TSR_SHARDING_OP_PRIORITY, 1);
  how.user_priorities = true;
  return tsr_propagate(ir, &how, changes);
}

// ---- the table ----

#define OPTION(id) (1u << TSR_SHARDING_##id)
#define PASS_ROWS "propagate/sharding_passes.def"
#include "simplify/pass_table.inc"

tsr_pass_table tsr_sharding_passes(void) { return pass_table; }
