// Rules as JSON: [["regex", spec], ...], the form in which Python programs keep them.
#include <limits.h>
#include <string.h>

#include "json/json_read.h"
#include "rules/rules.h"
#include "rules/rules_internal.h"
#include "spec/spec_internal.h"

static tsr_status copy_string(const tsr_json *value, const char *what, tsr_arena *arena,
                              const char **out) {
  const char *bytes = NULL;
  size_t length = 0;
  TSR_TRY(tsr_json_get_string(value, what, &bytes, &length));
  if (memchr(bytes, '\0', length)) return tsr_fail(SYNTAX, "a %s with a zero byte", what);
  *out = tsr_arena_copy(arena, bytes, length);
  return *out ? NULL : tsr_fail(NO_MEMORY, "a %s", what);
}

// A text may have expressions, and is kept then; a list has none.
static tsr_status read_spec(tsr_rules_builder *builder, const tsr_json *value,
                            const tsr_rules_options *options, tsr_arena *arena, tsr_spec **out,
                            const char **out_written) {
  if (value && tsr_json_kind_of(value) == TSR_JSON_STRING) {
    const char *text = NULL;
    TSR_TRY(copy_string(value, "spec", arena, &text));
    if (tsr_rule_spec_is_computed(text)) *out_written = text;
    return tsr_rule_spec_parse(builder, text, options, out);
  }
  tsr_spec *spec = NULL;
  TSR_TRY(tsr_spec_from_json(value, &spec));
  tsr_status status = tsr_rule_spec_adapt(spec, options, out);
  tsr_spec_release(spec);
  return status;
}

static tsr_status read_line(const tsr_json *value, int64_t *out) {
  TSR_TRY(tsr_json_get_int(value, "line", out));
  if (*out >= 0 && *out <= INT_MAX) return NULL;
  return tsr_fail(BAD_ARGUMENT, "line %lld, wanted 0 to %d", (long long)*out, INT_MAX);
}

static tsr_status read_remarks(const tsr_json *value, tsr_arena *arena, tsr_rule *out) {
  const struct {
    const char *key;
    const char **text;
  } members[] = {{"together", &out->together},
                 {"over", &out->over},
                 {"written", &out->written},
                 {"file", &out->file}};
  if (!value) return NULL;
  if (tsr_json_kind_of(value) != TSR_JSON_OBJECT)
    return tsr_json_wrong_kind(value, "its place", "an object with file and line");
  const tsr_json *line = tsr_json_find(value, "line");
  if (line) TSR_TRY(read_line(line, &out->line));
  for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
    const tsr_json *member = tsr_json_find(value, members[i].key);
    if (member) TSR_TRY(copy_string(member, members[i].key, arena, members[i].text));
  }
  return NULL;
}

static tsr_status add_rule(tsr_rules_builder *builder, const tsr_json *rule, const char *name,
                           const tsr_rules_options *options, tsr_arena *arena) {
  const size_t count = tsr_json_count(rule);
  if (tsr_json_kind_of(rule) != TSR_JSON_ARRAY || count < 2 || count > 3)
    return tsr_json_wrong_kind(rule, "a rule", "a list of pattern and spec");
  const tsr_json *first = tsr_json_first(rule), *second = tsr_json_next(first);
  tsr_rule own = {.file = name};
  tsr_spec *spec = NULL;
  TSR_TRY(copy_string(first, "pattern", arena, &own.pattern));
  TSR_TRY(read_spec(builder, second, options, arena, &spec, &own.written));
  own.spec = spec;
  tsr_status status = read_remarks(tsr_json_next(second), arena, &own);
  if (!status) status = tsr_rules_builder_together(builder, own.together, own.over, options);
  if (!status) status = tsr_rules_builder_add(builder, &own, strlen(own.pattern));
  tsr_spec_release(spec);
  return status;
}

tsr_status tsr_rules_add_json(tsr_rules_builder *builder, const tsr_json *value, const char *name,
                              const tsr_rules_options *options) {
  int index = 0;
  if (!value || tsr_json_kind_of(value) != TSR_JSON_ARRAY)
    return tsr_fail(JSON_KIND, "%s%srules must be a list of [pattern, spec]", name,
                    *name ? ": " : "");
  for (const tsr_json *rule = tsr_json_first(value); rule; rule = tsr_json_next(rule), index++) {
    tsr_arena arena = TSR_ARENA_EMPTY;
    tsr_status status = add_rule(builder, rule, name, options, &arena);
    tsr_arena_deinit(&arena);
    if (status && *name) return tsr_note(status, "rule %d of %s", index, name);
    if (status) return tsr_note(status, "rule %d", index);
  }
  return NULL;
}

static void write_member(const char *key, const char *text, tsr_json_writer *writer) {
  if (!text) return;
  tsr_json_add_string(writer, key, text);
}

static void write_remarks(const tsr_rule *rule, tsr_json_writer *writer) {
  const bool placed = *rule->file || rule->line;
  if (!placed && !rule->together && !rule->written) return;
  tsr_json_begin_object(writer);
  if (placed) {
    write_member("file", rule->file, writer);
    tsr_json_add_int(writer, "line", rule->line);
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
