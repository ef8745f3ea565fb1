// Rule files: one rule a line, `name -> entry`, or JSON. Errors say the file, the line and the
// column.
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text_internal.h"
#include "json/json.h"
#include "rules/logical_internal.h"
#include "spec/forms.h"
#include "tessera/compat/flax_rules.h"

// ---- JSON ----

static tsr_status rule_from_json(tsr_logical_list *list, const tsr_json *pair) {
  tsr_logical_rule rule = {.file = ""};
  const char *name = NULL;
  size_t length = 0;
  int count = 0;
  TSR_TRY(tsr_entries_list(pair, "rule", &count));
  if (count != 2) return tsr_fail(JSON_KIND, "%d values, wanted a name and its mesh axes", count);
  const tsr_json *key = tsr_json_first(pair);
  TSR_TRY(tsr_json_get_string(key, "name", &name, &length));
  TSR_TRY(tsr_name_copy(&list->memory, name, length, &rule.name));
  TSR_TRY(tsr_entry_from_json(&list->memory, tsr_json_next(key), &rule.entry));
  return tsr_logical_list_add(list, &rule);
}

static tsr_status rules_from_json(tsr_logical_list *list, const tsr_json *value) {
  if (!value || tsr_json_kind_of(value) != TSR_JSON_ARRAY)
    return tsr_fail(JSON_KIND, "logical rules: wanted an array, found %s",
                    value ? tsr_json_kind_name(tsr_json_kind_of(value)) : "nothing");
  for (const tsr_json *at = tsr_json_first(value); at; at = tsr_json_next(at))
    TSR_TRY_NOTE(rule_from_json(list, at), "in rule %lld", (long long)list->count);
  return NULL;
}

tsr_status tsr_logical_rules_from_json(const tsr_json *value, tsr_logical_rules **out_rules) {
  tsr_logical_list list = TSR_LOGICAL_LIST_EMPTY;
  tsr_status status = rules_from_json(&list, value);
  return tsr_logical_list_finish(&list, status, out_rules);
}

void tsr_logical_rules_to_json(const tsr_logical_rules *rules, tsr_json_writer *writer) {
  tsr_json_begin_array(writer);
  for (int64_t i = 0; i < tsr_logical_rules_count(rules); i++) {
    const tsr_logical_rule *rule = tsr_logical_rules_at(rules, i);
    tsr_json_begin_inline_array(writer);
    tsr_json_write_string(writer, rule->name);
    tsr_entry_to_json(&rule->entry, writer);
    tsr_json_end_array(writer);
  }
  tsr_json_end_array(writer);
}

// ---- text ----

// `name -> entry`, blanks and comments aside; an empty line is none.
static tsr_status read_line(tsr_logical_list *list, const char *text, const char *file, int line) {
  tsr_cursor cursor = TSR_CURSOR("rule", text);
  tsr_logical_rule rule = {.file = file, .line = line};
  bool quoted = false;
  if (!tsr_cursor_peek(&cursor) || tsr_cursor_peek(&cursor) == '#') return NULL;
  TSR_TRY(tsr_entry_read_name(&list->memory, &cursor, "a logical name", &rule.name, &quoted));
  tsr_cursor arrow = cursor;
  if (!tsr_cursor_take(&arrow, '-') || *arrow.at != '>')
    return tsr_cursor_expected(&cursor, "\"->\"");
  cursor.at = arrow.at + 1;
  TSR_TRY(tsr_entry_read(&list->memory, &cursor, &rule.entry));
  if (tsr_cursor_peek(&cursor) && tsr_cursor_peek(&cursor) != '#')
    return tsr_cursor_expected(&cursor, "the end of the line");
  return tsr_logical_list_add(list, &rule);
}

static tsr_status read_lines(tsr_logical_list *list, const char *text, const char *name) {
  const char *file = NULL;
  TSR_TRY(tsr_name_copy(&list->memory, name, strlen(name), &file));
  for (int line = 1; *text; line++) {
    const size_t length = strcspn(text, "\n");
    const char *copy = tsr_arena_copy(&list->memory, text, length);
    if (!copy) return tsr_fail(NO_MEMORY, "a line of %zu bytes", length);
    TSR_TRY_NOTE(read_line(list, copy, file, line), "%s:%d", name, line);
    text += length + (text[length] == '\n');
  }
  return NULL;
}

tsr_status tsr_logical_rules_parse(const char *text, const char *name,
                                   tsr_logical_rules **out_rules) {
  tsr_logical_list list = TSR_LOGICAL_LIST_EMPTY;
  tsr_status status = read_lines(&list, text, name ? name : "rules");
  return tsr_logical_list_finish(&list, status, out_rules);
}

void tsr_logical_rules_print(const tsr_logical_rules *rules, tsr_text *out) {
  for (int64_t i = 0; i < tsr_logical_rules_count(rules); i++) {
    const tsr_logical_rule *rule = tsr_logical_rules_at(rules, i);
    tsr_write_short_name(rule->name, out);
    tsr_text_add(out, " -> ");
    tsr_entry_print(&rule->entry, out);
    tsr_text_add_char(out, '\n');
  }
}

// ---- files ----

static tsr_status read_json(const char *path, tsr_logical_rules **out_rules) {
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_json_read_file(path, &doc));
  tsr_status status = tsr_logical_rules_from_json(tsr_json_root(doc), out_rules);
  tsr_json_destroy(doc);
  return tsr_note(status, "%s", path);
}

static tsr_status check_text(const char *path, const char *bytes, size_t length) {
  const char *zero = length ? memchr(bytes, '\0', length) : NULL;
  return zero ? tsr_fail(SYNTAX, "%s: a zero byte at byte %zu, wanted text", path,
                         (size_t)(zero - bytes))
              : NULL;
}

tsr_status tsr_logical_rules_read(const char *path, tsr_logical_rules **out_rules) {
  if (tsr_ends_with(path, ".json")) return read_json(path, out_rules);
  char *bytes = NULL;
  size_t length = 0;
  TSR_TRY(tsr_file_read(path, &bytes, &length));
  tsr_status status = check_text(path, bytes, length);
  char *text = status ? NULL : strndup(bytes, length);
  if (!status)
    status = text ? tsr_logical_rules_parse(text, path, out_rules)
                  : tsr_fail(NO_MEMORY, "a file of %zu bytes", length);
  free(text);
  free(bytes);
  return status;
}
