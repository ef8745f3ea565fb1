// The names of one tensor's dimensions, and how transforms that add or remove a dimension (scan
// over layers, vmap) change them.
#include <stdlib.h>

#include "base/text_internal.h"
#include "rules/logical_internal.h"

tsr_status tsr_logical_names_of(const char *const *strings, int count,
                                tsr_logical_names *out_names) {
  if (count < 0 || (count && !strings)) return tsr_fail(BAD_ARGUMENT, "a list of %d names", count);
  tsr_logical_entry *items = calloc((size_t)count + 1, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "a list of %d names", count);
  for (int i = 0; i < count; i++)
    if (strings[i] && strings[i][0]) items[i] = (tsr_logical_entry){TSR_ENTRY_NAME, 1, &strings[i]};
  tsr_status status = tsr_logical_names_init(out_names, items, count);
  free(items);
  return status;
}

// ---- JSON ----

static tsr_status read_entries(tsr_arena *arena, const tsr_json *value, tsr_logical_entry **out,
                               int *out_count) {
  int i = 0;
  TSR_TRY(tsr_entries_list(value, "names", out_count));
  *out = tsr_arena_zeros(arena, (size_t)*out_count + 1, sizeof **out);
  if (!*out) return tsr_fail(NO_MEMORY, "a list of %d names", *out_count);
  for (const tsr_json *at = tsr_json_first(value); at; at = tsr_json_next(at), i++)
    TSR_TRY_NOTE(tsr_entry_from_json(arena, at, &(*out)[i]), "entry %d", i);
  return NULL;
}

tsr_status tsr_logical_names_from_json(const tsr_json *value, tsr_logical_names *out_names) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_logical_entry *items = NULL;
  int count = 0;
  tsr_status status = read_entries(&arena, value, &items, &count);
  if (!status) status = tsr_logical_names_init(out_names, items, count);
  tsr_arena_deinit(&arena);
  return status;
}

void tsr_logical_names_to_json(const tsr_logical_names *names, tsr_json_writer *writer) {
  tsr_json_begin_inline_array(writer);
  for (int i = 0; i < names->count; i++) tsr_entry_to_json(&names->items[i], writer);
  tsr_json_end_array(writer);
}

// ---- axes that come and go ----

// The entry of a name that may be NULL; borrows it.
static tsr_logical_entry entry_of(const char *const *name) {
  return *name ? (tsr_logical_entry){TSR_ENTRY_NAME, 1, name} : TSR_LOGICAL_NONE;
}

tsr_status tsr_logical_add_axis(const tsr_logical_names *names, int64_t index, const char *name,
                                tsr_logical_names *out_names) {
  if (names->count < 0) return tsr_fail(BAD_ARGUMENT, "a list of %d entries", names->count);
  if (index < 0) index = index < -names->count ? 0 : index + names->count;
  if (index >= TSR_ENTRIES_MAX)
    return tsr_fail(TOO_LARGE, "an axis at position %lld, wanted one below %d", (long long)index,
                    TSR_ENTRIES_MAX);
  const int at = (int)index;
  const int count = 1 + (names->count > at ? names->count : at);
  const int before = names->count < at ? names->count : at;
  tsr_logical_entry *items = calloc((size_t)count, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "a list of %d names", count);
  for (int i = 0; i < before; i++) items[i] = names->items[i];
  items[at] = entry_of(&name);
  for (int i = at; i < names->count; i++) items[i + 1] = names->items[i];
  tsr_status status = tsr_logical_names_init(out_names, items, count);
  free(items);
  return status;
}

static tsr_status fail_mismatch(const tsr_logical_entry *found, const tsr_logical_entry *wanted,
                                int64_t index) {
  tsr_text names = TSR_TEXT_EMPTY;
  tsr_entry_print(found, &names);
  tsr_text_add(&names, ", not ");
  tsr_entry_print(wanted, &names);
  return tsr_text_end(&names, tsr_fail(AXIS_NAME_MISMATCH, "axis %lld is called %s",
                                       (long long)index, tsr_text_string(&names)));
}

tsr_status tsr_logical_remove_axis(const tsr_logical_names *names, int64_t index, const char *name,
                                   tsr_logical_names *out_names) {
  const int64_t at = index < 0 ? index + names->count : index;
  if (at < 0 || at >= names->count)
    return tsr_fail(INDEX_OUT_OF_RANGE, "axis %lld of %d names", (long long)index, names->count);
  const tsr_logical_entry wanted = entry_of(&name);
  if (!tsr_entry_equal(&names->items[at], &wanted))
    return fail_mismatch(&names->items[at], &wanted, index);
  tsr_logical_entry *items = calloc((size_t)names->count, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "a list of %d names", names->count);
  for (int i = 0, j = 0; i < names->count; i++)
    if (i != at) items[j++] = names->items[i];
  tsr_status status = tsr_logical_names_init(out_names, items, names->count - 1);
  free(items);
  return status;
}
