// Metadata is kept, not interpreted. Its fields are parsed only to print them in XLA's order and
// with XLA's escapes.
#include "tiling/tiling_metadata.h"

#include <string.h>

#include "base/text_internal.h"
#include "tessera/text.h"

typedef enum field_kind { STRING, INTEGER, INTEGERS } field_kind;

// In XLA's order.
static const struct {
  const char *name;
  field_kind kind;
} fields[] = {
    {"op_type", STRING},
    {"op_name", STRING},
    {"source_file", STRING},
    {"source_line", INTEGER},
    {"source_end_line", INTEGER},
    {"source_column", INTEGER},
    {"source_end_column", INTEGER},
    {"profile_type", INTEGERS},
    {"deduplicated_name", STRING},
    {"scheduling_name", STRING},
    {"stack_frame_id", INTEGER},
    {"metadata_payload", STRING},
};
#define FIELD_COUNT (sizeof fields / sizeof *fields)

// ---- strings ----

static void print_byte(unsigned char byte, tsr_text *out) {
  static const char plain[] = "\n\r\t\"'\\", names[] = "nrt\"'\\";
  const char *special = byte ? strchr(plain, byte) : NULL;
  if (special)
    tsr_text_addf(out, "\\%c", names[special - plain]);
  else if (byte < ' ' || byte >= 127)
    tsr_text_addf(out, "\\%03o", byte);
  else
    tsr_text_add_char(out, (char)byte);
}

// The byte after a backslash: a letter's, up to three octal digits, or `x` and two hex digits.
static tsr_status parse_escape(tsr_cursor *cursor, unsigned char *out_byte) {
  static const char names[] = "abfnrtv?'\"\\", bytes[] = "\a\b\f\n\r\t\v?'\"\\";
  const char *at = cursor->at;
  const char *name = *at ? strchr(names, *at) : NULL;
  int value = -1;
  if (name) {
    value = (unsigned char)bytes[name - names];
    cursor->at++;
  } else if (*at >= '0' && *at <= '7') {
    value = 0;
    while (cursor->at < at + 3 && *cursor->at >= '0' && *cursor->at <= '7')
      value = value * 8 + (*cursor->at++ - '0');
  } else if (*at == 'x' && tsr_hex_digit(at[1]) >= 0 && tsr_hex_digit(at[2]) >= 0) {
    value = tsr_hex_digit(at[1]) * 16 + tsr_hex_digit(at[2]);
    cursor->at += 3;
  }
  if (value < 0 || value > 255) {
    cursor->at = at;
    return tsr_cursor_expected(cursor, "an escape");
  }
  *out_byte = (unsigned char)value;
  return NULL;
}

static tsr_status parse_string(tsr_cursor *cursor, tsr_text *out) {
  TSR_TRY(tsr_cursor_expect(cursor, '"'));
  while (*cursor->at != '"') {
    if (!*cursor->at) return tsr_cursor_expected(cursor, "'\"'");
    unsigned char byte = (unsigned char)*cursor->at++;
    if (byte == '\\') TSR_TRY(parse_escape(cursor, &byte));
    print_byte(byte, out);
  }
  cursor->at++;
  return NULL;
}

// ---- fields ----

static tsr_status parse_integers(tsr_cursor *cursor, tsr_text *out) {
  TSR_TRY(tsr_cursor_expect(cursor, '{'));
  for (bool first = true; !tsr_cursor_take(cursor, '}'); first = false) {
    int64_t value = 0;
    if (!first) TSR_TRY(tsr_cursor_expect(cursor, ','));
    TSR_TRY(tsr_cursor_int(cursor, &value));
    if (!first) tsr_text_add_char(out, ',');
    tsr_text_add_int(out, value);
  }
  return NULL;
}

// Ends a value that began at `before`, or removes it if it is empty, as XLA does.
static void close_value(tsr_text *out, size_t before, char end) {
  if (out->failed) return;
  if (out->length == before)
    tsr_text_clear(out);
  else
    tsr_text_add_char(out, end);
}

// Writes `name=value`, or nothing if XLA would not print the value.
static tsr_status parse_value(tsr_cursor *cursor, size_t field, tsr_text *out) {
  int64_t integer = 0;
  size_t before = 0;
  switch (fields[field].kind) {
    case STRING:
      tsr_text_addf(out, "%s=\"", fields[field].name);
      before = out->length;
      TSR_TRY(parse_string(cursor, out));
      close_value(out, before, '"');
      break;
    case INTEGER:
      TSR_TRY(tsr_cursor_int(cursor, &integer));
      if (integer) tsr_text_addf(out, "%s=%lld", fields[field].name, (long long)integer);
      break;
    case INTEGERS:
      tsr_text_addf(out, "%s={", fields[field].name);
      before = out->length;
      TSR_TRY(parse_integers(cursor, out));
      close_value(out, before, '}');
      break;
  }
  return NULL;
}

static tsr_status find_field(tsr_cursor *cursor, size_t *out_field) {
  for (size_t i = 0; i < FIELD_COUNT; i++) {
    if (!tsr_cursor_take_word(cursor, fields[i].name)) continue;
    *out_field = i;
    return NULL;
  }
  return tsr_cursor_expected(cursor, "a field of metadata");
}

static tsr_status parse_fields(tsr_cursor *cursor, tsr_text texts[FIELD_COUNT]) {
  bool seen[FIELD_COUNT] = {false};
  TSR_TRY(tsr_cursor_expect(cursor, '{'));
  while (!tsr_cursor_take(cursor, '}')) {
    size_t field = 0;
    TSR_TRY(find_field(cursor, &field));
    if (seen[field]) return tsr_fail(SYNTAX, "%s is given twice", fields[field].name);
    seen[field] = true;
    TSR_TRY(tsr_cursor_expect(cursor, '='));
    TSR_TRY(parse_value(cursor, field, &texts[field]));
    tsr_cursor_take(cursor, ',');
  }
  return NULL;
}

static tsr_status join_fields(const tsr_text texts[FIELD_COUNT], tsr_arena *memory,
                              const char **out_entry) {
  tsr_text entry = TSR_TEXT_EMPTY;
  bool failed = false;
  for (size_t i = 0; i < FIELD_COUNT; i++) {
    failed |= texts[i].failed;
    if (entry.length && texts[i].length) tsr_text_add_char(&entry, ' ');
    tsr_text_add(&entry, tsr_text_string(&texts[i]));
  }
  *out_entry = tsr_arena_copy(memory, tsr_text_string(&entry), entry.length);
  failed |= entry.failed || !*out_entry;
  tsr_text_deinit(&entry);
  return failed ? tsr_fail(NO_MEMORY, "metadata") : NULL;
}

static tsr_status parse_entry(tsr_cursor *cursor, tsr_arena *memory, const char **out_entry) {
  tsr_text texts[FIELD_COUNT] = {TSR_TEXT_EMPTY};
  tsr_status status = parse_fields(cursor, texts);
  if (!status) status = join_fields(texts, memory, out_entry);
  for (size_t i = 0; i < FIELD_COUNT; i++) tsr_text_deinit(&texts[i]);
  return status;
}

// ---- entries ----

static tsr_status add_entry(tsr_cursor *cursor, tsr_arena *memory, const char ***entries,
                            int *count) {
  const char **larger = tsr_arena_grow(memory, *entries, *count, sizeof *larger);
  if (!larger) return tsr_fail(NO_MEMORY, "metadata");
  *entries = larger;
  return parse_entry(cursor, memory, &larger[(*count)++]);
}

tsr_status tsr_metadata_parse(tsr_cursor *cursor, tsr_arena *memory, const char ***out_entries,
                              int *out_count) {
  const char **entries = NULL;
  int count = 0;
  tsr_cursor inside = *cursor;
  const bool many = tsr_cursor_take(&inside, '{') && tsr_cursor_peek(&inside) == '{';
  if (many) *cursor = inside;
  do {
    TSR_TRY(add_entry(cursor, memory, &entries, &count));
  } while (many && tsr_cursor_take(cursor, ','));
  if (many) TSR_TRY(tsr_cursor_expect(cursor, '}'));
  *out_entries = entries;
  *out_count = count;
  return NULL;
}
