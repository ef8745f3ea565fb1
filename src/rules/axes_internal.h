// Semantic axes, for other rooms and tests, beyond tessera/compat/eformer_axes.h.
#ifndef TESSERA_RULES_AXES_INTERNAL_H
#define TESSERA_RULES_AXES_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "rules/entry.h"
#include "tessera/api.h"
#include "tessera/compat/eformer_axes.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"

const char *tsr_field_name(tsr_axis_field field);        // "batch_axis"
const char *tsr_field_token(tsr_axis_field field);       // "__BATCH__"; NULL if it has none
tsr_axis_field tsr_field_find(const char *name);         // by name; TSR_FIELD_NONE if unknown
tsr_axis_field tsr_field_find_token(const char *token);  // by token

// All fields with their values, or only those that were given, which read back as the same axes.
void tsr_axes_to_json(const tsr_axes *axes, bool only_given, tsr_json_writer *writer);
// tsr_axes_replace with fields of JSON: {"tensor_parallel_axis": "mdl", "batch_axis": ["dp",
// "fsdp"], "head_axis": null}. `axes` NULL = the defaults; `value` null or NULL = no change.
TSR_MUST_USE tsr_status tsr_axes_replace_json(const tsr_axes *axes, const tsr_json *value,
                                              tsr_axes **out_axes);
// Compares the values of all fields, given or not.
bool tsr_axes_equal(const tsr_axes *a, const tsr_axes *b);
const tsr_logical_entry *tsr_axes_at(const tsr_axes *axes, tsr_axis_field field);
bool tsr_axes_is_given(const tsr_axes *axes, tsr_axis_field field);

const char *tsr_mode_name(tsr_mode mode);  // "__train__"

// An unknown name is an error unless `missing_ok`. Blanks around it are ignored.
TSR_MUST_USE tsr_status tsr_axis_registry_remove(tsr_axis_registry *registry, const char *name,
                                                 bool missing_ok);
void tsr_axis_registry_clear(tsr_axis_registry *registry);

// PartitionAxis.resolve_axis: the mesh axes of each dimension, as in tsr_axes_resolve_spec.
TSR_MUST_USE tsr_status tsr_axes_resolve(const tsr_axes *axes, const tsr_axis_registry *registry,
                                         const tsr_logical_names *names, tsr_mode mode,
                                         tsr_logical_names *out_entries);

const tsr_dynamic_axes *tsr_dynamic_axes_at(int64_t index);  // NULL after the last

const tsr_axes *tsr_axes_current(void);  // innermost; NULL = none
TSR_MUST_USE tsr_status tsr_axes_require(const tsr_axes **out_axes);

// ---- between the files of this room ----

// One row of axes.def.
typedef struct tsr_field_info {
  const char *name, *token;  // the token may be NULL
  tsr_axis_field in_decode;  // the field used in generation modes
  const char *axis;          // the default; NULL = by `follows`
  tsr_axis_field follows[2];
} tsr_field_info;

extern const tsr_field_info tsr_field_table[TSR_FIELD_COUNT];

// A registered name.
typedef struct tsr_registration {
  char *name;
  bool has_generation_rule;
  tsr_logical_names rules;  // the rule, then the generation rule
} tsr_registration;

const tsr_registration *tsr_axis_registry_find(const tsr_axis_registry *registry, const char *name);
// The error for an unknown name, UNKNOWN_SEMANTIC_AXIS, with the nearest token or registered name.
TSR_MUST_USE tsr_status tsr_semantic_axis_fail(const tsr_axis_registry *registry, const char *name);

#endif
