// Rules as JSON: [["regex", spec], ...], the form in which Python programs keep them.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "json/json.h"
#include "json/json_read.h"
#include "rules/rules.h"
#include "rules/rules_internal.h"
#include "spec/spec_internal.h"

static tsr_status copy_string(const tsr_json *value, const char *what, char **out) {
  const char *bytes = NULL;
  size_t length = 0;
  TSR_TRY(tsr_json_get_string(value, what, &bytes, &length));
  if (memchr(bytes, '\0', length)) return tsr_fail(SYNTAX, "a %s with a zero byte", what);
  *out = strndup(bytes, length);
  return *out ? NULL : tsr_fail(NO_MEMORY, "a %s", what);
}

// A text may hold expressions, and is kept then; a list may not.
static tsr_status read_spec(tsr_rules_builder *builder, const tsr_json *value,
                            const tsr_rules_options *options, tsr_spec **out, char **out_written) {
  if (value && tsr_json_kind_of(value) == TSR_JSON_STRING) {
    char *text = NULL;
    TSR_TRY(copy_string(value, "spec", &text));
    tsr_status status = tsr_rule_spec_parse(builder, text, options, out);
    if (!status && tsr_rule_spec_is_computed(text))
      *out_written = text;
    else
      free(text);
    return status;
  }
  tsr_spec *spec = NULL;
  TSR_TRY(tsr_spec_from_json(value, &spec));
  tsr_status status = tsr_rule_spec_adapt(spec, options, out);
  tsr_spec_release(spec);
  return status;
}

// What the third member says of a rule: where it was written, and its group. Texts are owned.
typedef struct remarks {
  char *file;  // NULL = the whole list's name
  int line;
  char *together, *over, *written;
} remarks;

static tsr_status read_text(const tsr_json *value, const char *key, char **out) {
  const tsr_json *member = tsr_json_find(value, key);
  if (!member) return NULL;
  free(*out);
  *out = NULL;
  return copy_string(member, key, out);
}

static tsr_status read_remarks(const tsr_json *value, remarks *out) {
  const tsr_json *line = tsr_json_find(value, "line");
  int64_t number = 0;
  if (!value) return NULL;
  if (tsr_json_kind_of(value) != TSR_JSON_OBJECT)
    return tsr_json_wrong_kind(value, "its place", "an object with file and line");
  if (line) TSR_TRY(tsr_json_get_int(line, "line", &number));
  if (number < 0 || number > INT_MAX)
    return tsr_fail(BAD_ARGUMENT, "line %lld, wanted 0 to %d", (long long)number, INT_MAX);
  out->line = (int)number;
  TSR_TRY(read_text(value, "together", &out->together));
  TSR_TRY(read_text(value, "over", &out->over));
  TSR_TRY(read_text(value, "written", &out->written));
  return read_text(value, "file", &out->file);
}

static void forget_remarks(remarks *of) {
  free(of->file);
  free(of->together);
  free(of->over);
  free(of->written);
}

static tsr_status add_rule(tsr_rules_builder *builder, const tsr_json *rule, const char *name,
                           const tsr_rules_options *options) {
  const size_t count = tsr_json_count(rule);
  if (tsr_json_kind_of(rule) != TSR_JSON_ARRAY || count < 2 || count > 3)
    return tsr_json_wrong_kind(rule, "a rule", "a list of pattern and spec");
  const tsr_json *first = tsr_json_first(rule), *second = tsr_json_next(first);
  char *pattern = NULL;
  remarks more = {0};
  tsr_spec *spec = NULL;
  tsr_status status = copy_string(first, "pattern", &pattern);
  if (!status) status = read_spec(builder, second, options, &spec, &more.written);
  if (!status) status = read_remarks(tsr_json_next(second), &more);
  if (!status) status = tsr_rules_builder_together(builder, more.together, more.over, options);
  const tsr_rule own = {.pattern = pattern,
                        .spec = spec,
                        .file = more.file ? more.file : name,
                        .line = more.line,
                        .written = more.written};
  if (!status) status = tsr_rules_builder_add(builder, &own, strlen(pattern));
  tsr_spec_release(spec);
  forget_remarks(&more);
  free(pattern);
  return status;
}

tsr_status tsr_rules_add_json(tsr_rules_builder *builder, const tsr_json *value, const char *name,
                              const tsr_rules_options *options) {
  int index = 0;
  if (!value || tsr_json_kind_of(value) != TSR_JSON_ARRAY)
    return tsr_fail(JSON_KIND, "%s%srules must be a list of [pattern, spec]", name,
                    *name ? ": " : "");
  for (const tsr_json *rule = tsr_json_first(value); rule; rule = tsr_json_next(rule), index++) {
    tsr_status status = add_rule(builder, rule, name, options);
    if (status && *name) return tsr_note(status, "rule %d of %s", index, name);
    if (status) return tsr_note(status, "rule %d", index);
  }
  return NULL;
}

tsr_status tsr_rules_from_json(const tsr_json *value, tsr_rules **out_rules) {
  tsr_rules_builder builder = TSR_RULES_BUILDER_EMPTY;
  const tsr_rules_options options = {.size = sizeof options};
  tsr_status status = tsr_rules_add_json(&builder, value, "", &options);
  if (!status) status = tsr_rules_builder_finish(&builder, out_rules);
  tsr_rules_builder_deinit(&builder);
  return status;
}

static void write_member(const char *key, const char *text, tsr_json_writer *writer) {
  if (!text) return;
  tsr_json_write_key(writer, key);
  tsr_json_write_string(writer, text);
}

static void write_remarks(const tsr_rule *rule, tsr_json_writer *writer) {
  const bool placed = *rule->file || rule->line;
  if (!placed && !rule->together && !rule->written) return;
  tsr_json_begin_object(writer);
  if (placed) {
    write_member("file", rule->file, writer);
    tsr_json_write_key(writer, "line");
    tsr_json_write_int(writer, rule->line);
  }
  write_member("together", rule->together, writer);
  write_member("over", rule->over, writer);
  write_member("written", rule->written, writer);
  tsr_json_end_object(writer);
}

void tsr_rules_to_json(const tsr_rules *rules, tsr_json_writer *writer) {
  tsr_json_begin_array(writer);
  for (int64_t i = 0; i < tsr_rules_count(rules); i++) {
    const tsr_rule *rule = tsr_rules_at(rules, i);
    tsr_json_begin_inline_array(writer);
    tsr_json_write_string(writer, rule->pattern);
    tsr_spec_to_json(rule->spec, writer);
    write_remarks(rule, writer);
    tsr_json_end_array(writer);
  }
  tsr_json_end_array(writer);
}
