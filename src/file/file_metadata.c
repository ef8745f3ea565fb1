// Metadata of a model: a growing list of key and value, read from and written to JSON.
#include "file/file_metadata.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text_internal.h"
#include "json/json.h"
#include "json/json_read.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/status.h"
#include "tessera/text.h"

void tsr_metadata_list_deinit(tsr_metadata_list *list) {
  free(list->items);
  *list = (tsr_metadata_list){0};
}

tsr_status tsr_metadata_list_add(tsr_metadata_list *list, tsr_arena *arena, const char *key,
                                 size_t key_length, const char *value, size_t value_length) {
  tsr_metadata *items = tsr_grow(list->items, list->count, &list->capacity, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "metadata");
  list->items = items;
  const tsr_metadata item = {tsr_arena_copy(arena, key, key_length),
                             tsr_arena_copy(arena, value, value_length)};
  if (!item.key || !item.value) return tsr_fail(NO_MEMORY, "metadata");
  items[list->count++] = item;
  return NULL;
}

// C strings end at a zero byte; JSON strings may contain one.
static size_t length_as_c(const char *text, size_t length) {
  const char *zero = memchr(text, '\0', length);
  return zero ? (size_t)(zero - text) : length;
}

static tsr_status read_member(tsr_metadata_list *list, tsr_arena *arena, const tsr_json *member,
                              tsr_text *warnings) {
  const char *value = NULL;
  size_t key_length = 0, value_length = 0;
  const char *key = tsr_json_key(member, &key_length);
  TSR_TRY(tsr_json_get_string(member, "its value", &value, &value_length));
  const size_t key_kept = length_as_c(key, key_length);
  const size_t value_kept = length_as_c(value, value_length);
  if (key_kept != key_length || value_kept != value_length)
    tsr_text_addf(warnings, "metadata \"%.*s\" contains a zero byte; the rest is left out\n",
                  (int)key_kept, key);
  return tsr_metadata_list_add(list, arena, key, key_kept, value, value_kept);
}

tsr_status tsr_metadata_list_read(tsr_metadata_list *list, tsr_arena *arena,
                                  const tsr_json_doc *doc, const tsr_json *value,
                                  tsr_text *warnings) {
  if (tsr_json_kind_of(value) != TSR_JSON_OBJECT)
    return tsr_json_wrong_kind(value, "its value", "an object of strings");
  for (const tsr_json *m = tsr_json_first(value); m; m = tsr_json_next(m)) {
    size_t length = 0;
    const char *key = tsr_json_key(m, &length);
    TSR_TRY_NOTE(read_member(list, arena, m, warnings), "\"%.*s\" at byte %zu", (int)length, key,
                 tsr_json_position(doc, m));
  }
  return tsr_text_check(warnings);
}

static int by_key(const void *left, const void *right) {
  return strcmp(((const tsr_metadata *)left)->key, ((const tsr_metadata *)right)->key);
}

tsr_status tsr_metadata_write(const tsr_metadata *items, int64_t count, tsr_json_writer *json) {
  tsr_metadata *sorted = malloc(sizeof *sorted * (size_t)(count + 1));
  if (!sorted) return tsr_fail(NO_MEMORY, "metadata");
  if (count) memcpy(sorted, items, sizeof *sorted * (size_t)count);
  qsort(sorted, (size_t)count, sizeof *sorted, by_key);
  tsr_json_begin_object(json);
  for (int64_t i = 0; i < count; i++) tsr_json_add_string(json, sorted[i].key, sorted[i].value);
  tsr_json_end_object(json);
  free(sorted);
  return NULL;
}
