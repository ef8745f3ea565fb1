// Logical axes: names for what a dimension means ("embed", "heads"), and rules that map them to
// mesh axes. flax has two mappings; linen's is here, the other one in tessera/compat/flax_rules.h:
//
//                    rules            a mesh axis already used   a name without a rule
//   linen            first that fits  skips the rule             not cut
//   flax.core.spmd   last             not checked                kept as a mesh axis
//
//   TSR_OWN(logical_rules, rules);  // released at the end of the block: tessera/own.h
//   TSR_OWN(text, spec);
//   TSR_TRY(tsr_logical_rules_parse("batch -> data\nembed -> model\n", "mine", &rules));
//   TSR_TRY(tsr_logical_to_spec_text("batch, _, embed", rules, &spec));  // data, _, model
#ifndef TESSERA_LOGICAL_H
#define TESSERA_LOGICAL_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"

TSR_BEGIN_DECLS

// The entry of one dimension, before or after mapping: nothing, a name, a group of mesh axes (which
// is not mapped further), or unconstrained. As in flax, a group of one differs from a name, and an
// empty group from nothing, until they become a spec.
typedef enum tsr_entry_kind {
  TSR_ENTRY_NONE,
  TSR_ENTRY_NAME,
  TSR_ENTRY_GROUP,
  TSR_ENTRY_UNCONSTRAINED
} tsr_entry_kind;
typedef struct tsr_logical_entry {
  tsr_entry_kind kind;
  int count;                 // of names: 1 for a name, any number for a group
  const char *const *names;  // "" inside a group is None
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

typedef struct tsr_logical_rules tsr_logical_rules;  // immutable, shared by any threads

// One rule a line:
//   embed -> model             # to one mesh axis
//   batch -> replica+data      # to several, major first; (data) and () are groups of one and none
//   kv    -> _                 # not cut; None does too
//   rest  -> ?                 # unconstrained
// Names that are not plain words are in double quotes. `name` is the rules' file, also in messages;
// NULL = "rules".
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_logical_rules_parse(const char *text, const char *name, tsr_logical_rules **out_rules);
// A file of that form, or JSON if its name ends in .json.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_logical_rules_read(const char *path,
                                                                   tsr_logical_rules **out_rules);
TSR_API TSR_NONNULL tsr_logical_rules *tsr_logical_rules_retain(const tsr_logical_rules *rules);
TSR_API void tsr_logical_rules_release(const tsr_logical_rules *rules);  // NULL is fine

// ---- names of one tensor ----

// A list of entries. Lists made by these functions own their memory; {count, items, NULL} borrows.
typedef struct tsr_logical_names {
  int count;
  const tsr_logical_entry *items;
  void *memory;
} tsr_logical_names;

// From text, an entry for each dimension, separated by commas: "batch, _, embed". Entries are
// written as in the rules above; "()" alone means no dimensions; a trailing comma is ignored. A
// syntax error names the column.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_logical_names_parse(const char *text,
                                                                    tsr_logical_names *out_names);
TSR_API void tsr_logical_names_deinit(tsr_logical_names *names);  // NULL is fine

// ---- mapping ----

// Why a name was mapped as it was.
typedef struct tsr_logical_reason {
  int64_t rule;    // the rule that applied; -1 = none
  int64_t passed;  // the first rule for the name that was skipped, its axes being taken; -1 = none
  int blocked_by;  // the dimension that had taken one of its axes; -1 = none
} tsr_logical_reason;

// logical_to_mesh_axes: a rule applies if its name is unassigned and no other dimension uses one of
// its mesh axes; rules apply in order. A rule to nothing assigns its name too. Names without a rule
// become None. A name given twice is an error. NULL rules = those in scope; NULL names give a NULL
// spec. `out_reasons` has one element per entry and may be NULL.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(3) tsr_status
    tsr_logical_to_mesh_axes(const tsr_logical_names *names, const tsr_logical_rules *rules,
                             tsr_spec **out_spec, tsr_logical_reason *out_reasons);
// The same from text to text: "batch, _, embed" becomes "data, _, model", which is added to `out`.
// tsr_array_put, tsr_array_reshard_to and tsr_layout_from_text take such a spec.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_logical_to_spec_text(const char *names, const tsr_logical_rules *rules, tsr_text *out);

TSR_END_DECLS

#endif
