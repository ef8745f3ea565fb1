// Entries as JSON, the form of the recorded answers of the peers, and as the text of rule files.
#include <string.h>

#include "base/grow.h"
#include "base/text_internal.h"
#include "rules/entry.h"
#include "spec/forms.h"

// ---- JSON ----

tsr_status tsr_entries_list(const tsr_json *value, const char *what, int *out_count) {
  if (!value || tsr_json_kind_of(value) != TSR_JSON_ARRAY)
    return tsr_fail(JSON_KIND, "%s: wanted an array, found %s", what,
                    value ? tsr_json_kind_name(tsr_json_kind_of(value)) : "nothing");
  const size_t count = tsr_json_count(value);
  if (count > TSR_ENTRIES_MAX)
    return tsr_fail(TOO_LARGE, "%s: %zu entries, wanted at most %d", what, count, TSR_ENTRIES_MAX);
  *out_count = (int)count;
  return NULL;
}

static tsr_status name_from_json(tsr_arena *arena, const tsr_json *value, const char **out_name) {
  const char *bytes = NULL;
  size_t length = 0;
  TSR_TRY(tsr_json_get_string(value, "axis", &bytes, &length));
  return tsr_name_copy(arena, bytes, length, out_name);
}

static tsr_status member_from_json(tsr_arena *arena, const tsr_json *value, const char **out_name) {
  *out_name = "";
  switch (tsr_json_kind_of(value)) {
    case TSR_JSON_NULL:
      return NULL;
    case TSR_JSON_ARRAY:
      return tsr_fail(NESTED_TUPLE, "a group inside a group, wanted an axis");
    default:
      return name_from_json(arena, value, out_name);
  }
}

static tsr_status group_from_json(tsr_arena *arena, const tsr_json *value,
                                  tsr_logical_entry *out_entry) {
  int count = 0, i = 0;
  TSR_TRY(tsr_entries_list(value, "group", &count));
  const char **names = tsr_arena_zeros(arena, (size_t)count + 1, sizeof *names);
  if (!names) return tsr_fail(NO_MEMORY, "a group of %d axes", count);
  for (const tsr_json *at = tsr_json_first(value); at; at = tsr_json_next(at))
    TSR_TRY(member_from_json(arena, at, &names[i++]));
  *out_entry = (tsr_logical_entry){TSR_ENTRY_GROUP, count, names};
  return NULL;
}

static tsr_status flag_from_json(const tsr_json *value, tsr_logical_entry *out_entry) {
  bool open = false;
  TSR_TRY(tsr_json_get_bool(tsr_json_find(value, "unconstrained"), "unconstrained", &open));
  *out_entry = open ? TSR_LOGICAL_UNCONSTRAINED : TSR_LOGICAL_NONE;
  return NULL;
}

tsr_status tsr_entry_from_json(tsr_arena *arena, const tsr_json *value,
                               tsr_logical_entry *out_entry) {
  switch (tsr_json_kind_of(value)) {
    case TSR_JSON_NULL:
      *out_entry = TSR_LOGICAL_NONE;
      return NULL;
    case TSR_JSON_ARRAY:
      return group_from_json(arena, value, out_entry);
    case TSR_JSON_OBJECT:
      return flag_from_json(value, out_entry);
    default:
      break;
  }
  const char **name = tsr_arena_zeros(arena, 1, sizeof *name);
  if (!name) return tsr_fail(NO_MEMORY, "a name");
  TSR_TRY(name_from_json(arena, value, name));
  *out_entry = (tsr_logical_entry){TSR_ENTRY_NAME, 1, name};
  return NULL;
}

void tsr_entry_to_json(const tsr_logical_entry *entry, tsr_json_writer *writer) {
  switch (entry->kind) {
    case TSR_ENTRY_NONE:
      tsr_json_write_null(writer);
      return;
    case TSR_ENTRY_NAME:
      tsr_json_write_string(writer, entry->names[0]);
      return;
    case TSR_ENTRY_GROUP:
      tsr_json_begin_inline_array(writer);
      for (int i = 0; i < entry->count; i++)
        tsr_json_write_string(writer, entry->names[i][0] ? entry->names[i] : NULL);
      tsr_json_end_array(writer);
      return;
    case TSR_ENTRY_UNCONSTRAINED:
      tsr_json_begin_object(writer);
      tsr_json_add_bool(writer, "unconstrained", true);
      tsr_json_end_object(writer);
  }
}

// ---- text ----

tsr_status tsr_entry_read_name(tsr_arena *arena, tsr_cursor *cursor, const char *what,
                               const char **out_name, bool *out_quoted) {
  *out_quoted = tsr_cursor_peek(cursor) == '"';
  if (!*out_quoted) {
    size_t length = 0;
    const char *start = tsr_cursor_identifier(cursor, &length);
    return length ? tsr_name_copy(arena, start, length, out_name)
                  : tsr_cursor_expected(cursor, what);
  }
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_status status = tsr_cursor_quoted(cursor, tsr_cursor_escape, &text);
  if (!status) status = tsr_name_copy(arena, tsr_text_string(&text), text.length, out_name);
  tsr_text_deinit(&text);
  return status;
}

// A member of a group; nothing becomes "", and so a quoted empty name means nothing too.
static tsr_status read_member(tsr_arena *arena, tsr_cursor *cursor, const char **out_name,
                              bool *out_nothing) {
  bool quoted = false;
  TSR_TRY(tsr_entry_read_name(arena, cursor, "a mesh axis", out_name, &quoted));
  *out_nothing = !quoted && (!strcmp(*out_name, "_") || !strcmp(*out_name, "None"));
  if (*out_nothing) *out_name = "";
  return NULL;
}

// Axes joined by '+'. `*out_nothing` tells whether the last one was `_`.
static tsr_status read_members(tsr_arena *arena, tsr_cursor *cursor, tsr_logical_entry *out_entry,
                               bool *out_nothing) {
  const char **names = NULL;
  int count = 0;
  do {
    if (count == TSR_ENTRIES_MAX)
      return tsr_cursor_fail(cursor, TOO_LARGE, "more than %d axes in a group", TSR_ENTRIES_MAX);
    names = tsr_arena_grow(arena, names, count, sizeof *names);
    if (!names) return tsr_fail(NO_MEMORY, "a group of %d axes", count + 1);
    TSR_TRY(read_member(arena, cursor, &names[count++], out_nothing));
  } while (tsr_cursor_take(cursor, '+'));
  *out_entry = (tsr_logical_entry){TSR_ENTRY_GROUP, count, names};
  return NULL;
}

static tsr_status read_group(tsr_arena *arena, tsr_cursor *cursor, tsr_logical_entry *out_entry) {
  bool nothing = false;
  if (tsr_cursor_peek(cursor) == ')')
    *out_entry = (tsr_logical_entry){TSR_ENTRY_GROUP, 0, NULL};
  else
    TSR_TRY(read_members(arena, cursor, out_entry, &nothing));
  return tsr_cursor_expect(cursor, ')');
}

tsr_status tsr_entry_read(tsr_arena *arena, tsr_cursor *cursor, tsr_logical_entry *out_entry) {
  bool nothing = false;
  if (tsr_cursor_take(cursor, '(')) return read_group(arena, cursor, out_entry);
  if (tsr_cursor_take(cursor, '?')) {
    *out_entry = TSR_LOGICAL_UNCONSTRAINED;
    return NULL;
  }
  TSR_TRY(read_members(arena, cursor, out_entry, &nothing));
  if (out_entry->count == 1) {
    out_entry->kind = nothing ? TSR_ENTRY_NONE : TSR_ENTRY_NAME;
    out_entry->count = !nothing;
  }
  return NULL;
}

static void print_member(const char *name, tsr_text *out) {
  if (name[0])
    tsr_write_short_name(name, out);
  else
    tsr_text_add_char(out, '_');
}

void tsr_entry_print(const tsr_logical_entry *entry, tsr_text *out) {
  const bool bracketed = entry->kind == TSR_ENTRY_GROUP && entry->count < 2;
  switch (entry->kind) {
    case TSR_ENTRY_NONE:
      tsr_text_add_char(out, '_');
      return;
    case TSR_ENTRY_NAME:
      tsr_write_short_name(entry->names[0], out);
      return;
    case TSR_ENTRY_UNCONSTRAINED:
      tsr_text_add_char(out, '?');
      return;
    case TSR_ENTRY_GROUP:
      break;
  }
  if (bracketed) tsr_text_add_char(out, '(');
  for (int i = 0; i < entry->count; i++) {
    if (i) tsr_text_add_char(out, '+');
    print_member(entry->names[i], out);
  }
  if (bracketed) tsr_text_add_char(out, ')');
}
