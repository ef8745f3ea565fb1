// The logical rules in force on a thread: a scope of base that holds one reference.
#include "base/scope.h"
#include "rules/logical_internal.h"
#include "tessera/compat/flax_rules.h"
#include "tessera/compat/scope.h"
#include "tessera/logical.h"

static void release(void *rules) { tsr_logical_rules_release(rules); }

tsr_status tsr_logical_enter(const tsr_logical_rules *rules, tsr_scope *out_scope) {
  tsr_logical_rules *held = tsr_logical_rules_retain(rules);
  const tsr_status status = tsr_scope_enter(TSR_SCOPE_RULES, held, release, out_scope);
  if (status) tsr_logical_rules_release(held);
  return status;
}

tsr_status tsr_logical_set(const tsr_logical_rules *rules) {
  tsr_logical_rules *held = tsr_logical_rules_retain(rules);
  const tsr_status status = tsr_scope_set(TSR_SCOPE_RULES, held, release);
  if (status) tsr_logical_rules_release(held);
  return status;
}

const tsr_logical_rules *tsr_logical_current(void) { return tsr_scope_current(TSR_SCOPE_RULES); }
