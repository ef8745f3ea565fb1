// What rules decide about one tensor, before any mesh is looked at: eformer's
// match_partition_rules.
#ifndef TESSERA_RULES_RULES_DECIDE_H
#define TESSERA_RULES_RULES_DECIDE_H

#include "tessera/rules.h"
#include "tessera/shape.h"

typedef enum tsr_decision_kind {
  TSR_DECIDED_BY_RULE,      // the rule's spec as it is
  TSR_DECIDED_CUT_TO_RANK,  // the rule's spec, which was longer than the rank
  TSR_DECIDED_SCALAR,       // no dimension to cut: the empty spec, whatever the rules say
  TSR_DECIDED_SMALL,        // fewer elements than the minimum: the empty spec
  TSR_DECIDED_NO_RULE       // no rule matches
} tsr_decision_kind;

typedef struct tsr_rule_decision {
  tsr_decision_kind kind;
  int64_t rule;    // -1 = none was asked or none matched
  tsr_spec *spec;  // one reference, the caller's; NULL if no rule matched
} tsr_rule_decision;

// NULL shape: a leaf that is no array. `raw` (strict = false): the rule's spec by name alone.
// Elements are counted, not bytes.
TSR_MUST_USE tsr_status tsr_rules_decide(const tsr_rules *rules, const char *path,
                                         const tsr_shape *shape, int64_t min_size, bool raw,
                                         tsr_rule_decision *out_decision);
// The rule whose pattern has most in common with a path that none matches; -1 if none has much.
int64_t tsr_rules_nearest(const tsr_rules *rules, const char *path);
// The failure for such a path: NO_RULE, which names it and the nearest rule.
TSR_MUST_USE tsr_status tsr_rules_no_rule(const tsr_rules *rules, const char *path);
// MIN_SHARDING_SIZE of the environment, else 16384.
TSR_MUST_USE tsr_status tsr_min_sharding_size(int64_t *out_size);

#endif
