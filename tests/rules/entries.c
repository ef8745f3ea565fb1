#include "rules/entries.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "json/json.h"
#include "rules/axes_internal.h"
#include "rules/logical_internal.h"
#include "support/test.h"
#include "tessera/compat/eformer_axes.h"

json_text json_of(const char *json) {
  json_text made = {strdup(json), NULL};
  assert_non_null(made.text);
  for (char *c = made.text; *c; c++)
    if (*c == '\'') *c = '"';
  assert_ok(tsr_json_parse(made.text, strlen(made.text), &made.doc));
  return made;
}

void json_free(json_text *json) {
  tsr_json_destroy(json->doc);
  free(json->text);
}

tsr_logical_rules *rules_of(const char *json) {
  tsr_logical_rules *rules = NULL;
  if (!json || !strcmp(json, "null")) return NULL;
  json_text text = json_of(json);
  assert_ok(tsr_logical_rules_from_json(tsr_json_root(text.doc), &rules));
  json_free(&text);
  return rules;
}

tsr_logical_names names_of(const char *json) {
  tsr_logical_names names = {0};
  json_text text = json_of(json);
  assert_ok(tsr_logical_names_from_json(tsr_json_root(text.doc), &names));
  json_free(&text);
  return names;
}

tsr_axes *axes_of(const char *json) {
  tsr_axes *axes = NULL;
  json_text text = json_of(json);
  assert_ok(tsr_axes_replace_json(NULL, tsr_json_root(text.doc), &axes));
  json_free(&text);
  return axes;
}

void assert_spec(tsr_spec *spec, const char *wanted) {
  tsr_text text = TSR_TEXT_EMPTY;
  if (spec)
    assert_ok(tsr_spec_print(spec, TSR_FORM_SHORT, &text));
  else
    tsr_text_add(&text, "none");
  assert_string_equal(tsr_text_string(&text), wanted);
  tsr_text_deinit(&text);
  tsr_spec_release(spec);
}

// Compact JSON with ' for ".
static void assert_json(tsr_text *text, const char *wanted) {
  for (size_t i = 0; i < text->length; i++)
    if (text->data[i] == '"') text->data[i] = '\'';
  assert_string_equal(tsr_text_string(text), wanted);
  tsr_text_deinit(text);
}

void assert_names(tsr_logical_names *names, const char *wanted) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer writer;
  tsr_json_writer_init(&writer, &text, 0);
  tsr_logical_names_to_json(names, &writer);
  assert_json(&text, wanted);
  tsr_logical_names_deinit(names);
}

void assert_rules(const tsr_logical_rules *rules, const char *wanted) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer writer;
  tsr_json_writer_init(&writer, &text, 0);
  tsr_logical_rules_to_json(rules, &writer);
  assert_json(&text, wanted);
}

void assert_axes(const tsr_axes *axes, const char *wanted) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer writer;
  tsr_json_writer_init(&writer, &text, 0);
  tsr_axes_to_json(axes, false, &writer);
  assert_json(&text, wanted);
}
