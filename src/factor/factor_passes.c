// Rules written on ops, for people to read and for other tools.
#include "factor/factor_passes.h"

#include <string.h>

#include "base/log.h"
#include "base/text_internal.h"
#include "factor/rule.h"

#define OPTION(id) (1u << TSR_FACTOR_##id)
#define PASS_ROWS "factor/factor_passes.def"
#include "simplify/pass_table.inc"

tsr_pass_table tsr_factor_passes(void) { return pass_table; }

typedef struct populating {
  tsr_ir *ir;
  tsr_arena scratch;
  const char *name;  // of the attribute
  unsigned how;
  bool warned, warned_of_call;
  int64_t *changes;
} populating;

// Says once, of ops and of custom calls apart, that Shardy does not know one.
static void warn(populating *p, const tsr_op *op) {
  const bool call = op->info->id == TSR_OP_CUSTOM_CALL;
  bool *warned = call ? &p->warned_of_call : &p->warned;
  if (*warned || tsr_op_is_ruled(op)) return;
  *warned = true;
  const tsr_attr *target = call ? tsr_op_attr(op, "call_target_name") : NULL;
  tsr_text line = TSR_TEXT_EMPTY;
  tsr_text_addf(&line, "warning: %s%.*s%s is unknown to SDY sharding rule registry",
                call ? "custom call @" : "op '",
                target ? (int)target->length : (int)strlen(op->name),
                target ? target->bytes : op->name, call ? "" : "'");
  if (!line.failed) tsr_log_line(tsr_text_string(&line));
  tsr_text_deinit(&line);
}

static tsr_status populate(tsr_op *op, void *context) {
  populating *p = context;
  const tsr_op_rule *rule = NULL;
  if (tsr_op_attr(op, "sdy.sharding_rule")) return NULL;
  warn(p, op);
  tsr_arena_reset(&p->scratch);
  TSR_TRY(tsr_rule_of(&p->scratch, op, p->how, &rule));
  if (!rule) return NULL;
  const tsr_attr *attr = tsr_rule_attr(p->ir, rule);
  TSR_NEED(attr);
  TSR_NEED(tsr_op_set_attr(p->ir, op, p->name, attr));
  ++*p->changes;
  return NULL;
}

tsr_status tsr_pass_populate_rules(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  static const char name[] = "sdy.sharding_rule";
  populating p = {.ir = ir, .name = tsr_ir_name(ir, name, sizeof name - 1), .changes = changes};
  p.how = tsr_pass_flag(options, TSR_FACTOR_CONSERVATIVE) ? TSR_RULE_CONSERVATIVE : TSR_RULE_PLAIN;
  TSR_NEED(p.name);
  tsr_status status = tsr_op_walk(ir->module, populate, &p);
  tsr_arena_deinit(&p.scratch);
  return status;
}
