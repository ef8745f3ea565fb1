// Metadata is carried, not understood: it is read field by field only to give it back in the order
// and the escapes that XLA prints.
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

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

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
static tsr_status parse_escape(tsr_scan *scan, unsigned char *out_byte) {
  static const char names[] = "abfnrtv?'\"\\", bytes[] = "\a\b\f\n\r\t\v?'\"\\";
  const char *at = scan->at;
  const char *name = *at ? strchr(names, *at) : NULL;
  int value = -1;
  if (name) {
    value = (unsigned char)bytes[name - names];
    scan->at++;
  } else if (*at >= '0' && *at <= '7') {
    value = 0;
    while (scan->at < at + 3 && *scan->at >= '0' && *scan->at <= '7')
      value = value * 8 + (*scan->at++ - '0');
  } else if (*at == 'x' && hex_digit(at[1]) >= 0 && hex_digit(at[2]) >= 0) {
    value = hex_digit(at[1]) * 16 + hex_digit(at[2]);
    scan->at += 3;
  }
  if (value < 0 || value > 255) {
    scan->at = at;
    return tsr_scan_fail(scan, "an escape");
  }
  *out_byte = (unsigned char)value;
  return NULL;
}

static tsr_status parse_string(tsr_scan *scan, tsr_text *out) {
  TSR_TRY(tsr_scan_expect(scan, '"'));
  while (*scan->at != '"') {
    if (!*scan->at) return tsr_scan_fail(scan, "'\"'");
    unsigned char byte = (unsigned char)*scan->at++;
    if (byte == '\\') TSR_TRY(parse_escape(scan, &byte));
    print_byte(byte, out);
  }
  scan->at++;
  return NULL;
}

// ---- fields ----

static tsr_status parse_integers(tsr_scan *scan, tsr_text *out) {
  TSR_TRY(tsr_scan_expect(scan, '{'));
  for (bool first = true; !tsr_scan_take(scan, '}'); first = false) {
    int64_t value = 0;
    if (!first) TSR_TRY(tsr_scan_expect(scan, ','));
    TSR_TRY(tsr_scan_int(scan, &value));
    if (!first) tsr_text_add_char(out, ',');
    tsr_text_add_int(out, value);
  }
  return NULL;
}

// Ends a value that began at `before`. XLA leaves out empty ones, so then nothing stays.
static void close_value(tsr_text *out, size_t before, char end) {
  if (out->failed) return;
  if (out->length == before)
    tsr_text_clear(out);
  else
    tsr_text_add_char(out, end);
}

// Writes `name=value`, or nothing where XLA would not print the value.
static tsr_status parse_value(tsr_scan *scan, size_t field, tsr_text *out) {
  int64_t integer = 0;
  size_t before = 0;
  switch (fields[field].kind) {
    case STRING:
      tsr_text_addf(out, "%s=\"", fields[field].name);
      before = out->length;
      TSR_TRY(parse_string(scan, out));
      close_value(out, before, '"');
      break;
    case INTEGER:
      TSR_TRY(tsr_scan_int(scan, &integer));
      if (integer) tsr_text_addf(out, "%s=%lld", fields[field].name, (long long)integer);
      break;
    case INTEGERS:
      tsr_text_addf(out, "%s={", fields[field].name);
      before = out->length;
      TSR_TRY(parse_integers(scan, out));
      close_value(out, before, '}');
      break;
  }
  return NULL;
}

static tsr_status find_field(tsr_scan *scan, size_t *out_field) {
  tsr_scan_peek(scan);
  const char *at = scan->at;
  size_t length = 0;
  const char *word = tsr_scan_word(scan, &length);
  for (size_t i = 0; i < FIELD_COUNT; i++) {
    if (strlen(fields[i].name) != length || memcmp(fields[i].name, word, length)) continue;
    *out_field = i;
    return NULL;
  }
  scan->at = at;
  return tsr_scan_fail(scan, "a field of metadata");
}

static tsr_status parse_fields(tsr_scan *scan, tsr_text texts[FIELD_COUNT]) {
  bool seen[FIELD_COUNT] = {false};
  TSR_TRY(tsr_scan_expect(scan, '{'));
  while (!tsr_scan_take(scan, '}')) {
    size_t field = 0;
    TSR_TRY(find_field(scan, &field));
    if (seen[field]) return tsr_fail(SYNTAX, "metadata has %s twice", fields[field].name);
    seen[field] = true;
    TSR_TRY(tsr_scan_expect(scan, '='));
    TSR_TRY(parse_value(scan, field, &texts[field]));
    tsr_scan_take(scan, ',');
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

static tsr_status parse_entry(tsr_scan *scan, tsr_arena *memory, const char **out_entry) {
  tsr_text texts[FIELD_COUNT] = {TSR_TEXT_EMPTY};
  tsr_status status = parse_fields(scan, texts);
  if (!status) status = join_fields(texts, memory, out_entry);
  for (size_t i = 0; i < FIELD_COUNT; i++) tsr_text_deinit(&texts[i]);
  return status;
}

// ---- entries ----

typedef struct entries {
  tsr_arena *memory;
  const char **at;
  int count, capacity;
} entries;

static tsr_status add_entry(entries *list, tsr_scan *scan) {
  if (list->count == list->capacity) {
    const int capacity = list->capacity ? 2 * list->capacity : 1;
    const char **at = tsr_arena_zeros(list->memory, (size_t)capacity, sizeof *at);
    if (!at) return tsr_fail(NO_MEMORY, "metadata");
    if (list->count) memcpy(at, list->at, sizeof *at * (size_t)list->count);
    list->at = at;
    list->capacity = capacity;
  }
  TSR_TRY(parse_entry(scan, list->memory, &list->at[list->count]));
  list->count++;
  return NULL;
}

tsr_status tsr_metadata_parse(tsr_scan *scan, tsr_arena *memory, const char ***out_entries,
                              int *out_count) {
  entries list = {.memory = memory};
  tsr_scan inside = *scan;
  const bool many = tsr_scan_take(&inside, '{') && tsr_scan_peek(&inside) == '{';
  if (many) {
    *scan = inside;
    do {
      TSR_TRY(add_entry(&list, scan));
    } while (tsr_scan_take(scan, ','));
    TSR_TRY(tsr_scan_expect(scan, '}'));
  } else {
    TSR_TRY(add_entry(&list, scan));
  }
  *out_entries = list.at;
  *out_count = list.count;
  return NULL;
}
