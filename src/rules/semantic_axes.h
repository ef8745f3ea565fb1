// What the files on semantic axes share.
#ifndef TESSERA_RULES_SEMANTIC_AXES_H
#define TESSERA_RULES_SEMANTIC_AXES_H

#include "rules/entry.h"
#include "tessera/compat/eformer_axes.h"

// One row of axes.def.
typedef struct tsr_field_info {
  const char *name, *token;  // the token may be NULL
  tsr_axis_field in_decode;  // the field used in generation modes
  const char *axis;          // the default; NULL = by `follows`
  tsr_axis_field follows[2];
} tsr_field_info;

extern const tsr_field_info tsr_field_table[TSR_FIELD_COUNT];

// What the registry says of a name: NULL if it does not know it.
typedef struct tsr_registration {
  char *name;
  bool has_generation_rule;
  tsr_logical_names rules;  // the rule, then the generation rule
} tsr_registration;

const tsr_registration *tsr_axis_registry_find(const tsr_axis_registry *registry, const char *name);
// "; did you mean ..." over tokens and registered names; the cause is UNKNOWN_SEMANTIC_AXIS.
TSR_MUST_USE tsr_status tsr_semantic_axis_fail(const tsr_axis_registry *registry, const char *name);

#endif
