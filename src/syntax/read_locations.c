// Where ops come from: loc(...).
#include <assert.h>
#include <string.h>

#include "syntax/reader_parts.h"

static tsr_status read_inner(tsr_reader *reader, const tsr_attr **out_location);

static tsr_status make(tsr_reader *reader, tsr_record_id id, const tsr_attr *const *fields,
                       const tsr_attr **out_location) {
  *out_location = tsr_attr_record(reader->ir, id, fields);
  TSR_NEED(*out_location);
  return NULL;
}

static bool is_record(const tsr_attr *attr, tsr_record_id id) {
  return attr->kind == TSR_ATTR_RECORD && attr->id == (int)id;
}

static bool is_location(const tsr_attr *attr) {
  return attr->kind == TSR_ATTR_RECORD &&
         !strcmp(tsr_record_info_of((tsr_record_id)attr->id).dialect, "loc");
}

// "file":3:4, "file":3:4 to :9 or "file":3:4 to 5:9; from the first colon on.
static tsr_status read_place(tsr_reader *reader, const tsr_attr *name,
                             const tsr_attr **out_location) {
  int64_t place[4] = {0};
  int count = 2;
  tsr_next(reader);
  TSR_TRY(tsr_read_int(reader, "a line", &place[0]));
  if (tsr_take_sign(reader, ":")) TSR_TRY(tsr_read_int(reader, "a column", &place[1]));
  if (tsr_take_word(reader, "to")) {
    place[2] = place[0];
    if (!tsr_at_sign(reader, ":")) TSR_TRY(tsr_read_int(reader, "the last line", &place[2]));
    TSR_TRY(tsr_expect_sign(reader, ":"));
    TSR_TRY(tsr_read_int(reader, "the last column", &place[3]));
    const bool same_line = place[2] == place[0];
    count = !same_line ? 4 : place[3] == place[1] ? 2 : 3;
    if (count == 3) place[2] = place[3];
  }
  const tsr_attr *fields[] = {name, tsr_attr_ints(reader->ir, place, count)};
  TSR_NEED(fields[1]);
  return make(reader, TSR_RECORD_LOC_FILE, fields, out_location);
}

// "name", "name"(location), or a place in a file.
static tsr_status read_named(tsr_reader *reader, const tsr_attr **out_location) {
  const char *bytes = NULL;
  size_t length = 0;
  TSR_TRY(tsr_read_string(reader, "a name", &bytes, &length));
  const tsr_attr *name = tsr_attr_string(reader->ir, bytes, length), *child = NULL;
  TSR_NEED(name);
  if (tsr_at_sign(reader, ":")) return read_place(reader, name, out_location);
  if (tsr_take_sign(reader, "(")) {
    TSR_TRY(read_inner(reader, &child));
    TSR_TRY(tsr_expect_sign(reader, ")"));
    if (is_record(child, TSR_RECORD_LOC_UNKNOWN)) child = NULL;
  }
  const tsr_attr *fields[] = {name, child};
  return make(reader, TSR_RECORD_LOC_NAME, fields, out_location);
}

// callsite(location at location)
static tsr_status read_callsite(tsr_reader *reader, const tsr_attr **out_location) {
  const tsr_attr *fields[2] = {NULL};
  tsr_next(reader);
  TSR_TRY(tsr_expect_sign(reader, "("));
  TSR_TRY(read_inner(reader, &fields[TSR_LOC_CALL_CALLEE]));
  TSR_TRY(tsr_expect_word(reader, "at"));
  TSR_TRY(read_inner(reader, &fields[TSR_LOC_CALL_CALLER]));
  TSR_TRY(tsr_expect_sign(reader, ")"));
  return make(reader, TSR_RECORD_LOC_CALL, fields, out_location);
}

// ---- fused locations ----

enum { MOST_COMPARED = 256 };  // of a list in which equal locations are dropped

typedef struct fused_list {
  const tsr_attr *metadata;
  tsr_attr_list list;
} fused_list;

static bool has_equal(const tsr_attr_list *list, const tsr_attr *location) {
  for (int64_t i = 0; i < list->count && i < MOST_COMPARED; i++)
    if (tsr_attr_equal(list->items[i], location)) return true;
  return false;
}

// As MLIR fuses: unknown locations and equal ones are dropped, fused ones of the same metadata
// spread out.
static tsr_status fuse(tsr_reader *reader, fused_list *fused, const tsr_attr *location) {
  if (is_record(location, TSR_RECORD_LOC_UNKNOWN)) return NULL;
  if (is_record(location, TSR_RECORD_LOC_FUSED) &&
      tsr_attr_equal(tsr_attr_field(location, TSR_LOC_FUSED_METADATA), fused->metadata)) {
    const tsr_attr *inner = tsr_attr_field(location, TSR_LOC_FUSED_LIST);
    for (int64_t i = 0; i < inner->count; i++)
      if (!has_equal(&fused->list, inner->items[i]))
        TSR_TRY(tsr_attr_list_add(reader, &fused->list, inner->items[i]));
    return NULL;
  }
  return has_equal(&fused->list, location) ? NULL
                                           : tsr_attr_list_add(reader, &fused->list, location);
}

static tsr_status add_fused(tsr_reader *reader, void *context) {
  const tsr_attr *location = NULL;
  TSR_TRY(read_inner(reader, &location));
  return fuse(reader, context, location);
}

// fused<metadata>[location, ...]
static tsr_status read_fused(tsr_reader *reader, const tsr_attr **out_location) {
  fused_list fused = {NULL, {NULL, 0}};
  tsr_next(reader);
  if (tsr_take_sign(reader, "<")) {
    TSR_TRY(tsr_read_attr(reader, NULL, &fused.metadata));
    TSR_TRY(tsr_expect_sign(reader, ">"));
  }
  TSR_TRY(tsr_read_list(reader, "[", "]", add_fused, &fused));
  if (fused.list.count < 2 && !fused.metadata) {
    *out_location = fused.list.count ? fused.list.items[0] : reader->ir->unknown_location;
    return NULL;
  }
  if (!fused.list.count)
    TSR_TRY(tsr_attr_list_add(reader, &fused.list, reader->ir->unknown_location));
  const tsr_attr *fields[] = {tsr_attr_array(reader->ir, fused.list.items, fused.list.count),
                              fused.metadata};
  TSR_NEED(fields[0]);
  return make(reader, TSR_RECORD_LOC_FUSED, fields, out_location);
}

// ---- all ----

static tsr_status read_alias(tsr_reader *reader, const tsr_attr **out_location) {
  const char *start = reader->token.start;
  TSR_TRY(tsr_read_attr(reader, NULL, out_location));
  return is_location(*out_location)
             ? NULL
             : tsr_reader_fail(reader, start, SYNTAX, "%.*s is not a location",
                               (int)(reader->last_end - start), start);
}

static tsr_status read_form(tsr_reader *reader, const tsr_attr **out_location) {
  if (tsr_at_kind(reader, TSR_TOKEN_STRING)) return read_named(reader, out_location);
  if (tsr_at_kind(reader, TSR_TOKEN_HASH)) return read_alias(reader, out_location);
  if (tsr_at_word(reader, "callsite")) return read_callsite(reader, out_location);
  if (tsr_at_word(reader, "fused")) return read_fused(reader, out_location);
  if (!tsr_take_word(reader, "unknown"))
    return tsr_reader_expected(reader,
                               "a location: a string, an alias, callsite, fused or unknown");
  *out_location = reader->ir->unknown_location;
  return NULL;
}

// What stands between the parentheses of loc(...).
static tsr_status read_inner(tsr_reader *reader, const tsr_attr **out_location) {
  const char *start = reader->token.start;
  TSR_TRY(tsr_reader_enter(reader));
  TSR_TRY(read_form(reader, out_location));
  assert(*out_location);
  tsr_reader_leave(reader);
  if ((*out_location)->weight > TSR_MOST_WEIGHT)
    return tsr_reader_fail(reader, start, TOO_LARGE, "a location made of more than %d attributes",
                           TSR_MOST_WEIGHT);
  return NULL;
}

tsr_status tsr_read_location(tsr_reader *reader, const tsr_attr **out_location) {
  const tsr_attr *location = NULL;
  TSR_TRY(tsr_expect_word(reader, "loc"));
  TSR_TRY(tsr_expect_sign(reader, "("));
  TSR_TRY(read_inner(reader, &location));
  TSR_TRY(tsr_expect_sign(reader, ")"));
  *out_location = location;
  return NULL;
}

tsr_status tsr_read_optional_location(tsr_reader *reader, const tsr_attr **out_location) {
  *out_location = NULL;
  return tsr_at_word(reader, "loc") ? tsr_read_location(reader, out_location) : NULL;
}
