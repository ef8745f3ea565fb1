// The writer. Its state is what the next byte depends on: whether a comma is due, whether a key was
// just written, the depth, and which open containers are on one line.
#include <assert.h>
#include <math.h>

#include "base/decimal.h"
#include "base/text_internal.h"
#include "base/utf8.h"
#include "json/json.h"
#include "json/json_node.h"
#include "json/json_scan.h"

// Levels past the last bit share it; indentation that deep is unreadable anyway.
static uint64_t level_bit(int depth) { return UINT64_C(1) << (depth < 63 ? depth : 63); }

static bool is_inline(const tsr_json_writer *w) {
  return !w->indent || w->inline_levels & level_bit(w->depth);
}

static void new_line(tsr_json_writer *w) {
  tsr_text_add_char(w->out, '\n');
  for (int i = w->depth * w->indent; i > 0; i--) tsr_text_add_char(w->out, ' ');
}

// Writes the separator before a value or key, after which a comma is due.
static void separate(tsr_json_writer *w) {
  if (!w->after_key) {
    if (w->need_comma) tsr_text_add(w->out, w->indent && is_inline(w) ? ", " : ",");
    if (w->depth && !is_inline(w)) new_line(w);
  }
  w->after_key = false;
  w->need_comma = true;
}

static void begin(tsr_json_writer *w, char bracket, bool on_one_line) {
  const bool inherited = w->indent && is_inline(w);
  separate(w);
  tsr_text_add_char(w->out, bracket);
  w->depth++;
  w->need_comma = false;
  if (on_one_line || inherited)
    w->inline_levels |= level_bit(w->depth);
  else
    w->inline_levels &= ~level_bit(w->depth);
}

static void end(tsr_json_writer *w, char bracket) {
  assert(w->depth > 0 && !w->after_key);
  const bool on_lines = w->need_comma && !is_inline(w);  // an empty container stays "[]"
  w->depth--;
  if (on_lines) new_line(w);
  tsr_text_add_char(w->out, bracket);
  w->need_comma = true;
}

static void add_escape(tsr_text *out, unsigned char c) {
  static const char shorts[] = {['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
                                ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't'};
  if (c < sizeof shorts && shorts[c])
    tsr_text_addf(out, "\\%c", shorts[c]);
  else
    tsr_text_addf(out, "\\u%04x", c);
}

// A character of two or three bytes.
static void add_wide_escape(tsr_text *out, const char *bytes, size_t length) {
  unsigned character = (unsigned char)bytes[0] & (length == 2 ? 0x1fu : 0x0fu);
  for (size_t i = 1; i < length; i++)
    character = character << 6 | ((unsigned char)bytes[i] & 0x3fu);
  tsr_text_addf(out, "\\u%04x", character);
}

// Bytes without quotes, backslashes and control characters below ' '.
static void add_plain(const tsr_json_writer *w, const char *bytes, size_t length) {
  const char *found = NULL;
  while (w->indent && length && (found = memchr(bytes, 0x7f, length))) {
    const size_t before = (size_t)(found - bytes);
    tsr_text_add_bytes(w->out, bytes, before);
    add_escape(w->out, 0x7f);
    bytes += before + 1;
    length -= before + 1;
  }
  tsr_text_add_bytes(w->out, bytes, length);
}

// Invalid UTF-8 (file names may have any bytes) becomes U+FFFD, so that the output is valid.
// Indented output is for people: control characters for terminals are escaped though JSON allows
// them.
static void add_string(const tsr_json_writer *w, const char *bytes, size_t length) {
  const char *at = bytes, *const stop = bytes + length;
  tsr_text *out = w->out;
  tsr_text_add_char(out, '"');
  while (at < stop) {
    const char *special = json_skip_plain(at, stop);
    add_plain(w, at, (size_t)(special - at));
    at = special;
    if (at == stop) break;
    const size_t wide = tsr_utf8_length(at, (size_t)(stop - at));
    if (wide == 1)
      add_escape(out, (unsigned char)*at);
    else if (w->indent && tsr_utf8_is_control(at, wide))
      add_wide_escape(out, at, wide);
    else if (wide)
      tsr_text_add_bytes(out, at, wide);
    else
      tsr_text_add(out, "\xef\xbf\xbd");
    at += wide ? wide : 1;
  }
  tsr_text_add_char(out, '"');
}

static void add_scalar(tsr_json_writer *w, const char *bytes, size_t length) {
  separate(w);
  tsr_text_add_bytes(w->out, bytes, length);
}

void tsr_json_writer_init(tsr_json_writer *writer, tsr_text *out, int indent) {
  *writer = (tsr_json_writer){.out = out, .indent = indent};
}

void tsr_json_begin_object(tsr_json_writer *writer) { begin(writer, '{', false); }
void tsr_json_begin_inline_object(tsr_json_writer *writer) { begin(writer, '{', true); }
void tsr_json_end_object(tsr_json_writer *writer) { end(writer, '}'); }
void tsr_json_begin_array(tsr_json_writer *writer) { begin(writer, '[', false); }
void tsr_json_begin_inline_array(tsr_json_writer *writer) { begin(writer, '[', true); }
void tsr_json_end_array(tsr_json_writer *writer) { end(writer, ']'); }

static void write_key_bytes(tsr_json_writer *w, const char *key, size_t length) {
  assert(!w->after_key);
  separate(w);
  add_string(w, key, length);
  tsr_text_add(w->out, w->indent ? ": " : ":");
  w->after_key = true;
}

void tsr_json_write_key(tsr_json_writer *writer, const char *key) {
  write_key_bytes(writer, key, strlen(key));
}

void tsr_json_write_bytes(tsr_json_writer *writer, const char *bytes, size_t length) {
  separate(writer);
  add_string(writer, bytes, length);
}

void tsr_json_write_string(tsr_json_writer *writer, const char *string) {
  if (string)
    tsr_json_write_bytes(writer, string, strlen(string));
  else
    tsr_json_write_null(writer);
}

void tsr_json_write_int(tsr_json_writer *writer, int64_t value) {
  separate(writer);
  tsr_text_add_int(writer->out, value);
}

void tsr_json_write_uint(tsr_json_writer *writer, uint64_t value) {
  separate(writer);
  tsr_text_addf(writer->out, "%llu", (unsigned long long)value);
}

void tsr_json_write_double(tsr_json_writer *writer, double value) {
  if (!isfinite(value)) {
    tsr_json_write_null(writer);
    return;
  }
  separate(writer);
  tsr_text_add_double(writer->out, value);
}

void tsr_json_write_bool(tsr_json_writer *writer, bool value) {
  add_scalar(writer, value ? "true" : "false", value ? 4 : 5);
}

void tsr_json_write_null(tsr_json_writer *writer) { add_scalar(writer, "null", 4); }

void tsr_json_write_ints(tsr_json_writer *writer, const int64_t *values, size_t count) {
  tsr_json_begin_inline_array(writer);
  for (size_t i = 0; i < count; i++) tsr_json_write_int(writer, values[i]);
  tsr_json_end_array(writer);
}

// Recursion is bounded: documents have at most 512 levels.
static void write_value(tsr_json_writer *w, const tsr_json *value) {
  const tsr_json_kind kind = json_kind(value);
  if (kind == TSR_JSON_STRING) {
    tsr_json_write_bytes(w, value->text, json_size(value));
  } else if (!json_is_container(value)) {
    add_scalar(w, value->text, json_size(value));
  } else {
    begin(w, kind == TSR_JSON_ARRAY ? '[' : '{', false);
    for (const tsr_json *m = tsr_json_first(value); m; m = tsr_json_next(m)) {
      if (kind == TSR_JSON_OBJECT) write_key_bytes(w, m[-1].text, json_size(m - 1));
      write_value(w, m);
    }
    end(w, kind == TSR_JSON_ARRAY ? ']' : '}');
  }
}

void tsr_json_print(const tsr_json *value, tsr_text *out) {
  tsr_json_writer writer;
  tsr_json_writer_init(&writer, out, 0);
  write_value(&writer, value);
}
