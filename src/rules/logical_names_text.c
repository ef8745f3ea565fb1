// Names of dimensions as text: entries separated by commas. A list of one empty group is "(),",
// since "()" is the empty list.
#include "base/arena.h"
#include "base/text_internal.h"
#include "rules/logical_internal.h"

static bool is_empty_list(tsr_cursor cursor) {
  return tsr_cursor_take(&cursor, '(') && tsr_cursor_take(&cursor, ')') &&
         !tsr_cursor_peek(&cursor);
}

static tsr_status read_list(tsr_arena *arena, const char *text, tsr_logical_entry **out_items,
                            int *out_count) {
  tsr_cursor cursor = TSR_CURSOR("names", text);
  if (is_empty_list(cursor)) return NULL;
  if (!tsr_cursor_peek(&cursor))
    return tsr_cursor_fail(&cursor, SYNTAX, "an empty text; no names are written ()");
  do {
    if (*out_count == TSR_ENTRIES_MAX)
      return tsr_cursor_fail(&cursor, TOO_LARGE, "more than %d names", TSR_ENTRIES_MAX);
    tsr_logical_entry *items = tsr_arena_grow(arena, *out_items, *out_count, sizeof *items);
    if (!items) return tsr_fail(NO_MEMORY, "a list of %d names", *out_count);
    *out_items = items;
    TSR_TRY(tsr_entry_read(arena, &cursor, &(*out_items)[(*out_count)++]));
  } while (tsr_cursor_take(&cursor, ',') && tsr_cursor_peek(&cursor));
  return tsr_cursor_peek(&cursor) ? tsr_cursor_expected(&cursor, "\",\" or the end") : NULL;
}

tsr_status tsr_logical_names_parse(const char *text, tsr_logical_names *out_names) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_logical_entry *items = NULL;
  int count = 0;
  tsr_status status = read_list(&arena, text, &items, &count);
  if (!status) status = tsr_logical_names_init(out_names, items, count);
  tsr_arena_deinit(&arena);
  return status;
}

void tsr_logical_names_print(const tsr_logical_names *names, tsr_text *out) {
  for (int i = 0; i < names->count; i++) {
    if (i) tsr_text_add(out, ", ");
    tsr_entry_print(&names->items[i], out);
  }
  if (!names->count) tsr_text_add(out, "()");
  if (names->count == 1 && names->items[0].kind == TSR_ENTRY_GROUP && !names->items[0].count)
    tsr_text_add_char(out, ',');
}

tsr_status tsr_logical_to_spec_text(const char *text, const tsr_logical_rules *rules,
                                    tsr_text *out) {
  tsr_logical_names names = {0};
  tsr_spec *spec = NULL;
  tsr_text made = TSR_TEXT_EMPTY;
  tsr_status status = tsr_logical_names_parse(text, &names);
  if (!status) status = tsr_logical_to_mesh_axes(&names, rules, &spec, NULL);
  if (!status) status = tsr_spec_print(spec, TSR_FORM_SHORT, &made);
  if (!status) status = tsr_text_check(&made);
  if (!status) tsr_text_add_bytes(out, made.data, made.length);
  if (!status) status = tsr_text_check(out);
  tsr_text_deinit(&made);
  tsr_spec_release(spec);
  tsr_logical_names_deinit(&names);
  return tsr_note(status, "names \"%s\"", text);
}
