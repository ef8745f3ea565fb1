// Logical axes, for other rooms and tests, beyond tessera/logical.h and
// tessera/compat/flax_rules.h.
#ifndef TESSERA_RULES_LOGICAL_INTERNAL_H
#define TESSERA_RULES_LOGICAL_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "rules/entry.h"
#include "tessera/api.h"
#include "tessera/compat/flax_rules.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"

// [["embed", "model"], ["batch", ["replica", "data"]], ["kv", null]]
TSR_MUST_USE tsr_status tsr_logical_rules_from_json(const tsr_json *value,
                                                    tsr_logical_rules **out_rules);
void tsr_logical_rules_to_json(const tsr_logical_rules *rules, tsr_json_writer *writer);
// The inverse of tsr_logical_rules_parse, without comments.
void tsr_logical_rules_print(const tsr_logical_rules *rules, tsr_text *out);
int64_t tsr_logical_rules_count(const tsr_logical_rules *rules);  // 0 for NULL
const tsr_logical_rule *tsr_logical_rules_at(const tsr_logical_rules *rules, int64_t index);
// The same rules in the same order; files and lines do not count.
bool tsr_logical_rules_equal(const tsr_logical_rules *a, const tsr_logical_rules *b);

// t5x's rules for a mesh of several slices (ici and dcn shapes): every rule for "batch" becomes
// replica+data.
TSR_MUST_USE tsr_status tsr_logical_for_slices(const tsr_logical_rules *rules,
                                               tsr_logical_rules **out_rules);

// Copies the entries.
TSR_MUST_USE tsr_status tsr_logical_names_init(tsr_logical_names *names,
                                               const tsr_logical_entry *items, int count);
// Plain names; NULL and "" are None.
TSR_MUST_USE tsr_status tsr_logical_names_of(const char *const *strings, int count,
                                             tsr_logical_names *out_names);
// The exact inverse of tsr_logical_names_parse.
void tsr_logical_names_print(const tsr_logical_names *names, tsr_text *out);
// ["batch", null, ["data", "model"], {"unconstrained": true}]
TSR_MUST_USE tsr_status tsr_logical_names_from_json(const tsr_json *value,
                                                    tsr_logical_names *out_names);
void tsr_logical_names_to_json(const tsr_logical_names *names, tsr_json_writer *writer);
// As in JAX's PartitionSpec: a group of one is its member, an empty group nothing.
TSR_MUST_USE tsr_status tsr_logical_names_to_spec(const tsr_logical_names *names,
                                                  tsr_spec **out_spec);
// The reverse: one axis is a name, several are a group. Fails with not_expressible for sets, cuts
// and sub-axes.
TSR_MUST_USE tsr_status tsr_logical_names_from_spec(const tsr_spec *spec,
                                                    tsr_logical_names *out_names);

// logical_to_mesh: tsr_logical_to_mesh_axes for names given as a PartitionSpec, in which a group of
// one is a name.
TSR_MUST_USE tsr_status tsr_logical_to_mesh(const tsr_spec *names, const tsr_logical_rules *rules,
                                            tsr_spec **out_spec);
// The same for one parameter in t5x's get_mesh_axes: an error has the cause param_axes_failed and
// names the parameter.
TSR_MUST_USE tsr_status tsr_logical_param_axes(const char *path, const tsr_logical_names *names,
                                               const tsr_logical_rules *rules, tsr_spec **out_spec,
                                               tsr_logical_reason *out_reasons);

// set_logical_axis_rules: replaces the rules in scope until the scope is left.
TSR_MUST_USE tsr_status tsr_logical_set(const tsr_logical_rules *rules);

// ---- rules under construction ----

// A growing list of rules. Their names and entries live in `memory`.
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
