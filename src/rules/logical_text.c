// Files of logical rules: one rule a line, `name -> entry`, or JSON. Errors name file, line and
// column.
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text_internal.h"
#include "rules/logical_internal.h"
#include "spec/forms.h"

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

// `name -> entry`, up to the end of the line; an empty line is no rule.
static tsr_status read_line(tsr_logical_list *list, tsr_cursor *cursor, const char *file,
                            int line) {
  tsr_logical_rule rule = {.file = file, .line = line};
  bool quoted = false;
  const char first = tsr_cursor_peek(cursor);
  if (!first || first == '\n') return NULL;
  TSR_TRY(tsr_entry_read_name(&list->memory, cursor, "a logical name", &rule.name, &quoted));
  if (!tsr_cursor_take_word(cursor, "->")) return tsr_cursor_expected(cursor, "\"->\"");
  TSR_TRY(tsr_entry_read(&list->memory, cursor, &rule.entry));
  const char last = tsr_cursor_peek(cursor);
  if (last && last != '\n') return tsr_cursor_expected(cursor, "the end of the line");
  return tsr_cursor_place_missing(cursor, tsr_logical_list_add(list, &rule));
}

static tsr_status read_lines(tsr_logical_list *list, const char *text, const char *name) {
  tsr_cursor cursor = {.name = name,
                       .start = text,
                       .at = text,
                       .lines = true,
                       .ends_matter = true,
                       .hash_comments = true};
  const char *file = NULL;
  TSR_TRY(tsr_name_copy(&list->memory, name, strlen(name), &file));
  for (int line = 1; *cursor.at; line++) {
    TSR_TRY(read_line(list, &cursor, file, line));
    if (*cursor.at) cursor.at++;
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

tsr_status tsr_logical_rules_read(const char *path, tsr_logical_rules **out_rules) {
  if (tsr_ends_with(path, ".json")) return read_json(path, out_rules);
  char *text = NULL;
  TSR_TRY(tsr_file_read_text(path, &text));
  const tsr_status status = tsr_logical_rules_parse(text, path, out_rules);
  free(text);
  return status;
}
