// What other rooms use of tessera/logical.h beside what is public.
#ifndef TESSERA_RULES_LOGICAL_INTERNAL_H
#define TESSERA_RULES_LOGICAL_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "tessera/api.h"
#include "tessera/compat/flax_rules.h"
#include "tessera/logical.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"

// [["embed", "model"], ["batch", ["replica", "data"]], ["kv", null]]
TSR_MUST_USE tsr_status tsr_logical_rules_from_json(const tsr_json *value,
                                                    tsr_logical_rules **out_rules);
void tsr_logical_rules_to_json(const tsr_logical_rules *rules, tsr_json_writer *writer);
// One rule a line:
//   embed -> model             # to one mesh axis
//   batch -> replica+data      # to several, major first; (data) and () are groups of one and none
//   kv    -> _                 # not cut; None does too
//   rest  -> ?                 # unconstrained
// Names that are not plain words stand in double quotes. `name` stands in messages and becomes the
// rules' file. Printing is the exact inverse, but for comments and lines.
void tsr_logical_rules_print(const tsr_logical_rules *rules, tsr_text *out);
int64_t tsr_logical_rules_count(const tsr_logical_rules *rules);  // 0 for NULL
// A file of that form, or of JSON if it ends in .json.
const tsr_logical_rule *tsr_logical_rules_at(const tsr_logical_rules *rules, int64_t index);
// The same rules in the same order, wherever they were written.
bool tsr_logical_rules_equal(const tsr_logical_rules *a, const tsr_logical_rules *b);

// What t5x's partitioner makes of rules for a mesh of several slices (ici and dcn shapes): every
// rule for "batch" becomes replica+data. Its data axis is then what "batch" is mapped to.
TSR_MUST_USE tsr_status tsr_logical_for_slices(const tsr_logical_rules *rules,
                                               tsr_logical_rules **out_rules);

// Copies the entries.
TSR_MUST_USE tsr_status tsr_logical_names_init(tsr_logical_names *names,
                                               const tsr_logical_entry *items, int count);
// Plain names; NULL and "" stand for None.
TSR_MUST_USE tsr_status tsr_logical_names_of(const char *const *strings, int count,
                                             tsr_logical_names *out_names);
// As text, an entry for each dimension, apart by commas: "batch, _, embed", where an entry is
// written as in the rules above, "()" alone is no dimension at all, and a last comma does not
// count. Printing is the exact inverse. Fails with syntax, naming the column.
void tsr_logical_names_print(const tsr_logical_names *names, tsr_text *out);
// ["batch", null, ["data", "model"], {"unconstrained": true}]
TSR_MUST_USE tsr_status tsr_logical_names_from_json(const tsr_json *value,
                                                    tsr_logical_names *out_names);
void tsr_logical_names_to_json(const tsr_logical_names *names, tsr_json_writer *writer);
// As JAX makes a PartitionSpec of them: a group of one is its member, an empty one nothing.
TSR_MUST_USE tsr_status tsr_logical_names_to_spec(const tsr_logical_names *names,
                                                  tsr_spec **out_spec);
// The other way: one axis is a name, several are a group. Fails with not_expressible for sets, cuts
// and parts of axes.
TSR_MUST_USE tsr_status tsr_logical_names_from_spec(const tsr_spec *spec,
                                                    tsr_logical_names *out_names);

// logical_to_mesh: the same for names written as a PartitionSpec, in which a group of one is a
// name.
TSR_MUST_USE tsr_status tsr_logical_to_mesh(const tsr_spec *names, const tsr_logical_rules *rules,
                                            tsr_spec **out_spec);
// The same for one parameter of t5x's get_mesh_axes: a failure has the cause param_axes_failed and
// names the parameter.
TSR_MUST_USE tsr_status tsr_logical_param_axes(const char *path, const tsr_logical_names *names,
                                               const tsr_logical_rules *rules, tsr_spec **out_spec,
                                               tsr_logical_reason *out_reasons);

// logical_axis_rules (leave with tsr_scope_leave), set_ and get_logical_axis_rules. Inner rules
// replace outer ones, NULL hides them; a set inside a scope is undone at its exit.
TSR_MUST_USE tsr_status tsr_logical_set(const tsr_logical_rules *rules);

#endif
