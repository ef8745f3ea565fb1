// FlatBuffers: see flatbuffer.h. All positions are counted from the start of the file, and
// `inside` is the only judge of whether a range may be read.
#include "bytecode/flatbuffer.h"

#include <string.h>

#include "base/utf8.h"

enum { DISTANCE_BYTES = 4, TABLE_COST = 16 };

static bool inside(const tsr_flat *file, size_t at, size_t bytes) {
  return at <= file->length && bytes <= file->length - at;
}

// Little-endian, whatever this machine is; `width` is at most 8.
static uint64_t number_at(const tsr_flat *file, size_t at, int width) {
  uint64_t number = 0;
  for (int i = width; i-- > 0;) number = number << 8 | file->bytes[at + (size_t)i];
  return number;
}

tsr_status tsr_flat_spend(tsr_flat *file, size_t cost) {
  if (cost > file->allowance)
    return tsr_fail(BROKEN_PROGRAM, "its tables repeat more than a file of %zu bytes can hold",
                    file->length);
  file->allowance -= cost;
  return NULL;
}

static tsr_status past_end(const tsr_flat *file, const char *what, size_t at) {
  return tsr_fail(BROKEN_PROGRAM, "%s at byte %zu is past the end, at byte %zu", what, at,
                  file->length);
}

// The vtable holds its own size, the size of the table, and the place of every field.
static tsr_status open_vtable(tsr_flat_table *table) {
  const tsr_flat *file = table->file;
  if (!inside(file, table->vtable, 4)) return past_end(file, "the vtable", table->vtable);
  const size_t bytes = number_at(file, table->vtable, 2);
  if (bytes < 4 || bytes % 2 || !inside(file, table->vtable, bytes))
    return tsr_fail(BROKEN_PROGRAM,
                    "the vtable at byte %zu has %zu bytes, wanted an even number "
                    "from 4 to what is left of %zu",
                    table->vtable, bytes, file->length);
  table->slot_count = (int)(bytes / 2 - 2);
  table->bytes = number_at(file, table->vtable + 2, 2);
  if (table->bytes < 4 || !inside(file, table->at, table->bytes))
    return tsr_fail(BROKEN_PROGRAM,
                    "the table at byte %zu has %zu bytes, wanted 4 to what is "
                    "left of %zu",
                    table->at, table->bytes, file->length);
  return NULL;
}

static tsr_status open_table(tsr_flat *file, size_t at, tsr_flat_table *out_table) {
  TSR_TRY(tsr_flat_spend(file, TABLE_COST));
  if (!inside(file, at, 4)) return past_end(file, "a table", at);
  // The distance to the vtable is signed and points back.
  const int64_t vtable = (int64_t)at - (int32_t)(uint32_t)number_at(file, at, 4);
  if (vtable < 0)
    return tsr_fail(BROKEN_PROGRAM,
                    "the vtable of the table at byte %zu is "
                    "before the file",
                    at);
  tsr_flat_table table = {.file = file, .at = at, .vtable = (size_t)vtable};
  TSR_TRY(open_vtable(&table));
  *out_table = table;
  return NULL;
}

// Where the field of a slot stands; 0 if it is absent.
static tsr_status find_field(const tsr_flat_table *table, int slot, size_t width, size_t *out_at) {
  *out_at = 0;
  if (slot >= table->slot_count) return NULL;
  const size_t offset = number_at(table->file, table->vtable + 4 + 2 * (size_t)slot, 2);
  if (!offset) return NULL;
  if (offset < 4 || offset + width > table->bytes)
    return tsr_fail(BROKEN_PROGRAM,
                    "field %d of the table at byte %zu is at its byte %zu, wanted "
                    "4 to %zu",
                    slot, table->at, offset, table->bytes);
  *out_at = table->at + offset;
  return NULL;
}

// What the distance at `at` points to.
static tsr_status follow(const tsr_flat *file, size_t at, size_t *out_at) {
  const size_t distance = number_at(file, at, DISTANCE_BYTES);
  if (!inside(file, at, distance) || at + distance == file->length)
    return past_end(file, "what is referred to", at + distance);
  *out_at = at + distance;
  return NULL;
}

static tsr_status open_list(tsr_flat *file, size_t at, int width, tsr_flat_list *out_list) {
  if (!inside(file, at, 4)) return past_end(file, "a list", at);
  const size_t count = number_at(file, at, 4);
  if (count > (file->length - at - 4) / (size_t)width)
    return tsr_fail(BROKEN_PROGRAM,
                    "the list at byte %zu has %zu elements of %d bytes, and %zu "
                    "bytes are left",
                    at, count, width, file->length - at - 4);
  TSR_TRY(tsr_flat_spend(file, count * (size_t)width));
  *out_list = (tsr_flat_list){file, at + 4, (int64_t)count, true};
  return NULL;
}

static tsr_status open_string(tsr_flat *file, size_t at, const char **out_string) {
  tsr_flat_list list;
  TSR_TRY(open_list(file, at, 1, &list));
  const size_t end = list.at + (size_t)list.count;
  const char *string = (const char *)file->bytes + list.at;
  if (end == file->length || file->bytes[end] || memchr(string, 0, (size_t)list.count))
    return tsr_fail(BROKEN_PROGRAM, "the string at byte %zu does not end with its one zero byte",
                    at);
  if (!tsr_utf8_is_valid(string))
    return tsr_fail(BROKEN_PROGRAM, "the string at byte %zu is not UTF-8", at);
  *out_string = string;
  return NULL;
}

tsr_status tsr_flat_root(tsr_flat *file, tsr_flat_table *out_root) {
  if (file->length < 8)
    return tsr_fail(BROKEN_PROGRAM, "the file has %zu bytes, wanted 8 or more", file->length);
  size_t at = 0;
  TSR_TRY(follow(file, 0, &at));
  return open_table(file, at, out_root);
}

tsr_status tsr_flat_number(const tsr_flat_table *table, int slot, int width, uint64_t otherwise,
                           uint64_t *out_number) {
  size_t at = 0;
  TSR_TRY(find_field(table, slot, (size_t)width, &at));
  *out_number = at ? number_at(table->file, at, width) : otherwise;
  return NULL;
}

// The place that a slot refers to; 0 if it is absent.
static tsr_status find_target(const tsr_flat_table *table, int slot, size_t *out_at) {
  size_t at = 0;
  TSR_TRY(find_field(table, slot, DISTANCE_BYTES, &at));
  if (!at) {
    *out_at = 0;
    return NULL;
  }
  return follow(table->file, at, out_at);
}

tsr_status tsr_flat_child(const tsr_flat_table *table, int slot, tsr_flat_table *out_child,
                          bool *out_present) {
  size_t at = 0;
  TSR_TRY(find_target(table, slot, &at));
  if (at) TSR_TRY(open_table(table->file, at, out_child));
  *out_present = at != 0;
  return NULL;
}

tsr_status tsr_flat_list_of(const tsr_flat_table *table, int slot, int width,
                            tsr_flat_list *out_list) {
  size_t at = 0;
  TSR_TRY(find_target(table, slot, &at));
  if (at) return open_list(table->file, at, width, out_list);
  *out_list = (tsr_flat_list){table->file, 0, 0, false};
  return NULL;
}

tsr_status tsr_flat_string(const tsr_flat_table *table, int slot, const char **out_string) {
  size_t at = 0;
  TSR_TRY(find_target(table, slot, &at));
  if (at) return open_string(table->file, at, out_string);
  *out_string = NULL;
  return NULL;
}

uint64_t tsr_flat_item_number(const tsr_flat_list *list, int64_t index, int width) {
  return number_at(list->file, list->at + (size_t)index * (size_t)width, width);
}

tsr_status tsr_flat_item_table(const tsr_flat_list *list, int64_t index,
                               tsr_flat_table *out_table) {
  size_t at = 0;
  TSR_TRY(follow(list->file, list->at + DISTANCE_BYTES * (size_t)index, &at));
  return open_table(list->file, at, out_table);
}

tsr_status tsr_flat_item_string(const tsr_flat_list *list, int64_t index, const char **out_string) {
  size_t at = 0;
  TSR_TRY(follow(list->file, list->at + DISTANCE_BYTES * (size_t)index, &at));
  return open_string(list->file, at, out_string);
}
