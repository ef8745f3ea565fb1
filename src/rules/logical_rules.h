// Logical rules while they are made.
#ifndef TESSERA_RULES_LOGICAL_RULES_H
#define TESSERA_RULES_LOGICAL_RULES_H

#include "rules/entry.h"
#include "tessera/compat/flax_rules.h"

// A list of rules that grows. What its rules point to lives in `memory`.
typedef struct tsr_logical_list {
  tsr_arena memory;
  tsr_logical_rule *rules;
  int64_t count, capacity;
} tsr_logical_list;

#define TSR_LOGICAL_LIST_EMPTY \
  { TSR_ARENA_EMPTY, NULL, 0, 0 }

// Adds a rule as it is, or a copy of it.
TSR_MUST_USE tsr_status tsr_logical_list_add(tsr_logical_list *list, const tsr_logical_rule *rule);
TSR_MUST_USE tsr_status tsr_logical_list_copy(tsr_logical_list *list, const tsr_logical_rule *rule);
// Makes rules of the list if `status` is NULL, and frees the list in any case.
TSR_MUST_USE tsr_status tsr_logical_list_finish(tsr_logical_list *list, tsr_status status,
                                                tsr_logical_rules **out_rules);

#endif
