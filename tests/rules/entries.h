// What the tests of logical and semantic axes share: values written as JSON, compared as text.
#ifndef TESSERA_TESTS_RULES_ENTRIES_H
#define TESSERA_TESTS_RULES_ENTRIES_H

#include "json/json.h"
#include "tessera/compat/eformer_axes.h"
#include "tessera/logical.h"

// From JSON with ' for ", which reads better in C. NULL and "null" give no rules.
tsr_logical_rules *rules_of(const char *json);
tsr_logical_names names_of(const char *json);
tsr_axes *axes_of(const char *json);
// The spec prints as `wanted` in the short form ("none" for NULL), and is released.
void assert_spec(tsr_spec *spec, const char *wanted);
// The names are this JSON, and are let go.
void assert_names(tsr_logical_names *names, const char *wanted);
// Rules, and all fields of semantic axes, are this JSON.
void assert_rules(const tsr_logical_rules *rules, const char *wanted);
void assert_axes(const tsr_axes *axes, const char *wanted);

// A document whose text it owns, of JSON with ' for ".
typedef struct json_text {
  char *text;
  tsr_json_doc *doc;
} json_text;
json_text json_of(const char *json);
void json_free(json_text *json);

#endif
