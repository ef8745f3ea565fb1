// Logical axes: names for what a dimension means ("embed", "heads"), and rules that map them to
// mesh axes. flax has two mappings, which differ; linen's is here, the other one in
// tessera/compat/flax_rules.h:
//
//                    rules            a mesh axis already used   a name without a rule
//   linen            first that fits  passes the rule over       not cut
//   flax.core.spmd   last             not looked at              stays, as a mesh axis
//
//   TSR_OWN(logical_rules, rules);  // given back at the end of the block: tessera/own.h
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

typedef struct tsr_logical_rules tsr_logical_rules;  // immutable, shared by any threads

// One rule a line:
//   embed -> model             # to one mesh axis
//   batch -> replica+data      # to several, major first; (data) and () are groups of one and none
//   kv    -> _                 # not cut; None does too
//   rest  -> ?                 # unconstrained
// Names that are not plain words stand in double quotes. `name` stands in messages and becomes the
// rules' file; NULL = "rules".
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_logical_rules_parse(const char *text, const char *name, tsr_logical_rules **out_rules);
// A file of that form, or of JSON if it ends in .json.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_logical_rules_read(const char *path,
                                                                   tsr_logical_rules **out_rules);
TSR_API TSR_NONNULL tsr_logical_rules *tsr_logical_rules_retain(const tsr_logical_rules *rules);
TSR_API void tsr_logical_rules_release(const tsr_logical_rules *rules);  // NULL is fine

// ---- names of one tensor ----

// A list of entries. Made by the functions here it owns its memory; {count, items, NULL} borrows.
typedef struct tsr_logical_names {
  int count;
  const tsr_logical_entry *items;
  void *memory;
} tsr_logical_names;

// As text, an entry for each dimension, apart by commas: "batch, _, embed", where an entry is
// written as in the rules above, "()" alone is no dimension at all, and a last comma does not
// count. Fails with syntax, naming the column.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_logical_names_parse(const char *text,
                                                                    tsr_logical_names *out_names);
TSR_API void tsr_logical_names_deinit(tsr_logical_names *names);  // NULL is fine

// ---- mapping ----

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
TSR_API TSR_MUST_USE TSR_NONNULL_AT(3) tsr_status
    tsr_logical_to_mesh_axes(const tsr_logical_names *names, const tsr_logical_rules *rules,
                             tsr_spec **out_spec, tsr_logical_reason *out_reasons);
// The same from text to text: "batch, _, embed" becomes "data, _, model", which is added to `out`
// and is what tsr_array_put, tsr_array_reshard_to and tsr_layout_from_text take.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_logical_to_spec_text(const char *names, const tsr_logical_rules *rules, tsr_text *out);

TSR_END_DECLS

#endif
