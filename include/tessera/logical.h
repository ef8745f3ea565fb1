// Logical axes: names for what a dimension means ("embed", "heads"), and rules that map them to
// mesh axes. flax has two mappings, which differ; both are here under their own names:
//
//                    rules            a mesh axis already used   a name without a rule
//   linen            first that fits  passes the rule over       not cut
//   flax.core.spmd   last             not looked at              stays, as a mesh axis
//
//   TSR_OWN(logical_rules, rules);  // tessera/own.h
//   TSR_OWN(text, spec);
//   TSR_TRY(tsr_logical_rules_parse("batch -> data\nembed -> model\n", "mine", &rules));
//   TSR_TRY(tsr_logical_to_spec_text("batch, _, embed", rules, &spec));  // data, _, model
#ifndef TESSERA_LOGICAL_H
#define TESSERA_LOGICAL_H

#include "tessera/json.h"
#include "tessera/scope.h"
#include "tessera/sharding.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"

TSR_BEGIN_DECLS

// What stands for one dimension, before or after mapping: nothing, a name, a group of mesh axes
// (which is not mapped further), or unconstrained. A group of one is not the same as a name, nor an
// empty group as nothing: flax tells them apart until they become a spec.
typedef enum tsr_entry_kind {
  TSR_ENTRY_NONE,
  TSR_ENTRY_NAME,
  TSR_ENTRY_GROUP,
  TSR_ENTRY_UNCONSTRAINED
} tsr_entry_kind;
typedef struct tsr_logical_entry {
  tsr_entry_kind kind;
  int count;                 // of names: 1 for a name, any number for a group
  const char *const *names;  // "" inside a group stands for None
} tsr_logical_entry;
#ifndef __cplusplus  // tessera.hpp has tsr::logical_names{"embed", tsr::group{"data", "model"}}

// Entries in C, which live to the end of the block: TSR_LOGICAL_NAME("embed"),
// TSR_LOGICAL_GROUP("data", "model").
#define TSR_LOGICAL_NONE ((tsr_logical_entry){TSR_ENTRY_NONE, 0, NULL})
#define TSR_LOGICAL_UNCONSTRAINED ((tsr_logical_entry){TSR_ENTRY_UNCONSTRAINED, 0, NULL})
#define TSR_LOGICAL_NAME(name) ((tsr_logical_entry){TSR_ENTRY_NAME, 1, (const char *const[]){name}})
#define TSR_LOGICAL_GROUP(...)                                                             \
  ((tsr_logical_entry){TSR_ENTRY_GROUP,                                                    \
                       (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)), \
                       (const char *const[]){__VA_ARGS__}})

#endif

// ---- rules ----

// One rule: a logical name and what it becomes.
typedef struct tsr_logical_rule {
  const char *name;
  tsr_logical_entry entry;
  const char *file;  // where it was written; "" or NULL = by a call
  int64_t line;      // counted from 1; 0 = by a call
} tsr_logical_rule;

typedef struct tsr_logical_rules tsr_logical_rules;  // immutable, shared by any threads

TSR_API TSR_MUST_USE tsr_status tsr_logical_rules_create(const tsr_logical_rule *rules,
                                                         int64_t count,
                                                         tsr_logical_rules **out_rules);
// [["embed", "model"], ["batch", ["replica", "data"]], ["kv", null]]
TSR_API TSR_MUST_USE tsr_status tsr_logical_rules_from_json(const tsr_json *value,
                                                            tsr_logical_rules **out_rules);
TSR_API void tsr_logical_rules_to_json(const tsr_logical_rules *rules, tsr_json_writer *writer);
// One rule a line:
//   embed -> model             # to one mesh axis
//   batch -> replica+data      # to several, major first; (data) and () are groups of one and none
//   kv    -> _                 # not cut; None does too
//   rest  -> ?                 # unconstrained
// Names that are not plain words stand in double quotes. `name` stands in messages and becomes the
// rules' file. Printing is the exact inverse, but for comments and lines.
TSR_API TSR_MUST_USE tsr_status tsr_logical_rules_parse(const char *text, const char *name,
                                                        tsr_logical_rules **out_rules);
TSR_API void tsr_logical_rules_print(const tsr_logical_rules *rules, tsr_text *out);
// A file of that form, or of JSON if it ends in .json.
TSR_API TSR_MUST_USE tsr_status tsr_logical_rules_read(const char *path,
                                                       tsr_logical_rules **out_rules);
TSR_API tsr_logical_rules *tsr_logical_rules_retain(const tsr_logical_rules *rules);
TSR_API void tsr_logical_rules_release(const tsr_logical_rules *rules);   // NULL is fine
TSR_API int64_t tsr_logical_rules_count(const tsr_logical_rules *rules);  // 0 for NULL
TSR_API const tsr_logical_rule *tsr_logical_rules_at(const tsr_logical_rules *rules, int64_t index);
// The same rules in the same order, wherever they were written.
TSR_API bool tsr_logical_rules_equal(const tsr_logical_rules *a, const tsr_logical_rules *b);

// flax.core.spmd's composite_rules: both lists as one; a name with two meanings is an error. NULL
// is the empty list. If one is empty the other is given as it is; else each name is kept once, with
// its last meaning in `a`, in the order of first appearance.
TSR_API TSR_MUST_USE tsr_status tsr_logical_compose(const tsr_logical_rules *a,
                                                    const tsr_logical_rules *b,
                                                    tsr_logical_rules **out_rules);

// t5x's standard_logical_axis_rules, for activations and parameters cut in 1 or 2 dimensions. The
// `additional` rules (may be NULL) come last, so that they help only where all before were passed
// over; with `additional_first` they come first, and override.
TSR_API TSR_MUST_USE tsr_status tsr_logical_standard(int64_t activation_dims,
                                                     int64_t parameter_dims,
                                                     const tsr_logical_rules *additional,
                                                     bool additional_first,
                                                     tsr_logical_rules **out_rules);
// What t5x's partitioner makes of rules for a mesh of several slices (ici and dcn shapes): every
// rule for "batch" becomes replica+data. Its data axis is then what "batch" is mapped to.
TSR_API TSR_MUST_USE tsr_status tsr_logical_for_slices(const tsr_logical_rules *rules,
                                                       tsr_logical_rules **out_rules);

// ---- names of one tensor ----

// A list of entries. Made by the functions here it owns its memory; {count, items, NULL} borrows.
typedef struct tsr_logical_names {
  int count;
  const tsr_logical_entry *items;
  void *memory;
} tsr_logical_names;

// Copies the entries.
TSR_API TSR_MUST_USE tsr_status tsr_logical_names_init(tsr_logical_names *names,
                                                       const tsr_logical_entry *items, int count);
TSR_API void tsr_logical_names_deinit(tsr_logical_names *names);
// Plain names; NULL and "" stand for None.
TSR_API TSR_MUST_USE tsr_status tsr_logical_names_of(const char *const *strings, int count,
                                                     tsr_logical_names *out_names);
// As text, an entry for each dimension, apart by commas: "batch, _, embed", where an entry is
// written as in the rules above, "()" alone is no dimension at all, and a last comma does not
// count. Printing is the exact inverse. Fails with syntax, naming the column.
TSR_API TSR_MUST_USE tsr_status tsr_logical_names_parse(const char *text,
                                                        tsr_logical_names *out_names);
TSR_API void tsr_logical_names_print(const tsr_logical_names *names, tsr_text *out);
// ["batch", null, ["data", "model"], {"unconstrained": true}]
TSR_API TSR_MUST_USE tsr_status tsr_logical_names_from_json(const tsr_json *value,
                                                            tsr_logical_names *out_names);
TSR_API void tsr_logical_names_to_json(const tsr_logical_names *names, tsr_json_writer *writer);
// As JAX makes a PartitionSpec of them: a group of one is its member, an empty one nothing.
TSR_API TSR_MUST_USE tsr_status tsr_logical_names_to_spec(const tsr_logical_names *names,
                                                          tsr_spec **out_spec);
// The other way: one axis is a name, several are a group. Fails with not_expressible for sets, cuts
// and parts of axes.
TSR_API TSR_MUST_USE tsr_status tsr_logical_names_from_spec(const tsr_spec *spec,
                                                            tsr_logical_names *out_names);

// flax's Partitioned.add_axis: puts `name` (NULL = None) before position `index`, with Nones up to
// it; a negative index counts from the end, and stops at the start. remove_axis takes it away
// again, and fails with axis_name_mismatch if another stands there.
TSR_API TSR_MUST_USE tsr_status tsr_logical_add_axis(const tsr_logical_names *names, int64_t index,
                                                     const char *name,
                                                     tsr_logical_names *out_names);
TSR_API TSR_MUST_USE tsr_status tsr_logical_remove_axis(const tsr_logical_names *names,
                                                        int64_t index, const char *name,
                                                        tsr_logical_names *out_names);

// ---- mapping, as linen does ----

// Why a name became what it is.
typedef struct tsr_logical_reason {
  int64_t rule;    // the rule that served it; -1 = none
  int64_t passed;  // the first rule for it that was passed over, its axes being taken; -1 = none
  int blocked_by;  // the dimension that had taken one of them; -1 = none
} tsr_logical_reason;

// logical_to_mesh_axes: rules in order; one applies if its name is there and still unassigned and
// none of its mesh axes is used by another dimension. A rule to nothing closes its name. Names left
// over become None. A name given twice is an error. NULL rules = those in scope, NULL names = none,
// which give a NULL spec. `out_reasons` has one place per entry and may be NULL.
TSR_API TSR_MUST_USE tsr_status tsr_logical_to_mesh_axes(const tsr_logical_names *names,
                                                         const tsr_logical_rules *rules,
                                                         tsr_spec **out_spec,
                                                         tsr_logical_reason *out_reasons);
// The same from text to text: "batch, _, embed" becomes "data, _, model", which is added to `out`
// and is what tsr_array_put, tsr_array_reshard_to and tsr_layout_from_text take.
TSR_API TSR_MUST_USE tsr_status tsr_logical_to_spec_text(const char *names,
                                                         const tsr_logical_rules *rules,
                                                         tsr_text *out);
// logical_to_mesh: the same for names written as a PartitionSpec, in which a group of one is a
// name.
TSR_API TSR_MUST_USE tsr_status tsr_logical_to_mesh(const tsr_spec *names,
                                                    const tsr_logical_rules *rules,
                                                    tsr_spec **out_spec);
// The same for one parameter of t5x's get_mesh_axes: a failure has the cause param_axes_failed and
// names the parameter.
TSR_API TSR_MUST_USE tsr_status tsr_logical_param_axes(const char *path,
                                                       const tsr_logical_names *names,
                                                       const tsr_logical_rules *rules,
                                                       tsr_spec **out_spec,
                                                       tsr_logical_reason *out_reasons);

// What with_logical_constraint does about names that no rule served.
typedef enum tsr_fallback {
  TSR_FALLBACK_UNSHARDED,     // AXIS_IS_UNSHARDED: not cut
  TSR_FALLBACK_RAISE,         // RAISE_ERROR
  TSR_FALLBACK_NO_CONSTRAINT  // NO_CONSTRAINT: leave the value alone
} tsr_fallback;
// The sharding that with_logical_constraint asks for; NULL where the value is left alone: without
// rules, names or mesh (NULL = the current one), or by the fallback. Only Auto axes may be used.
TSR_API TSR_MUST_USE tsr_status tsr_logical_constrain(const tsr_logical_names *names,
                                                      const tsr_logical_rules *rules,
                                                      const tsr_mesh *mesh, tsr_fallback fallback,
                                                      tsr_sharding **out_sharding);

// ---- mapping, as flax.core.spmd does ----

// from_sharding_rules: the last rule for a name wins, other entries stay as they are, and nothing
// is checked.
TSR_API TSR_MUST_USE tsr_status tsr_logical_from_sharding_rules(const tsr_logical_names *names,
                                                                const tsr_logical_rules *rules,
                                                                tsr_logical_names *out_names);
// get_pspec: the rules in scope composed with `rules` (may be NULL), then the mapping above.
TSR_API TSR_MUST_USE tsr_status tsr_logical_get_pspec(const tsr_logical_names *names,
                                                      const tsr_logical_rules *rules,
                                                      tsr_spec **out_spec);

typedef enum tsr_shard_action {
  TSR_SHARD_NOTHING,   // no names: the value is left alone
  TSR_SHARD_RESHARD,   // all axes of the mesh are Explicit
  TSR_SHARD_CONSTRAIN  // all are Auto
} tsr_shard_action;
// What shard_value does, and the sharding it asks for (NULL for nothing). NULL mesh = the current
// one, without which it fails. A mesh that is neither all Explicit nor all Auto is an error that
// says what its axes are.
TSR_API TSR_MUST_USE tsr_status tsr_logical_shard_value(const tsr_logical_names *names,
                                                        const tsr_logical_rules *rules,
                                                        const tsr_mesh *mesh,
                                                        tsr_shard_action *out_action,
                                                        tsr_sharding **out_sharding);

// ---- the rules in scope ----

// logical_axis_rules (leave with tsr_scope_leave), set_ and get_logical_axis_rules. Inner rules
// replace outer ones, NULL hides them; a set inside a scope is undone at its exit.
TSR_API TSR_MUST_USE tsr_status tsr_logical_enter(const tsr_logical_rules *rules,
                                                  tsr_scope *out_scope);
TSR_API TSR_MUST_USE tsr_status tsr_logical_set(const tsr_logical_rules *rules);
TSR_API const tsr_logical_rules *tsr_logical_current(void);  // borrowed; NULL = none

TSR_END_DECLS

#endif
