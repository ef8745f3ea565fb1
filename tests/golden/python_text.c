// str(value) of Python, for functions that take anything and hash its text.
#include <string.h>

#include "base/text_internal.h"
#include "golden/golden.h"
#include "json/json.h"

// A quoted string: in '...' unless it holds a ' and no ".
static void print_quoted(const char *bytes, size_t length, tsr_text *out) {
  const bool single = length && memchr(bytes, '\'', length);
  const bool twice = length && memchr(bytes, '"', length);
  const char quote = single && !twice ? '"' : '\'';
  tsr_text_add_char(out, quote);
  for (size_t i = 0; i < length; i++) {
    const char c = bytes[i];
    if (c == quote || c == '\\')
      tsr_text_addf(out, "\\%c", c);
    else if (c == '\n' || c == '\r' || c == '\t')
      tsr_text_add(out, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
    else if ((unsigned char)c < ' ' || c == 0x7f)
      tsr_text_addf(out, "\\x%02x", (unsigned char)c);
    else
      tsr_text_add_char(out, c);
  }
  tsr_text_add_char(out, quote);
}

static void print_value(const tsr_json *value, tsr_text *out);

static void print_members(const tsr_json *value, tsr_text *out) {
  const char *between = "";
  for (const tsr_json *at = tsr_json_first(value); at; at = tsr_json_next(at)) {
    size_t length = 0;
    const char *key = tsr_json_key(at, &length);
    tsr_text_add(out, between);
    if (key) {
      print_quoted(key, length, out);
      tsr_text_add(out, ": ");
    }
    print_value(at, out);
    between = ", ";
  }
}

static void print_container(const tsr_json *value, tsr_text *out) {
  const tsr_json *tuple = tsr_json_find(value, "tuple");
  const bool list = tsr_json_kind_of(value) == TSR_JSON_ARRAY;
  tsr_text_add(out, tuple ? "(" : list ? "[" : "{");
  print_members(tuple ? tuple : value, out);
  if (tuple && tsr_json_count(tuple) == 1) tsr_text_add(out, ",");
  tsr_text_add(out, tuple ? ")" : list ? "]" : "}");
}

static void print_value(const tsr_json *value, tsr_text *out) {
  const char *bytes = NULL;
  size_t length = 0;
  bool truth = false;
  switch (tsr_json_kind_of(value)) {
    case TSR_JSON_NULL:
      tsr_text_add(out, "None");
      return;
    case TSR_JSON_NUMBER:
      tsr_json_print(value, out);
      return;
    case TSR_JSON_BOOL:
      tsr_status_free(tsr_json_get_bool(value, "", &truth));
      tsr_text_add(out, truth ? "True" : "False");
      return;
    case TSR_JSON_STRING:
      tsr_status_free(tsr_json_get_string(value, "", &bytes, &length));
      print_quoted(bytes, length, out);
      return;
    default:
      print_container(value, out);
      return;
  }
}

void golden_python_text(const tsr_json *value, tsr_text *out) {
  if (tsr_json_kind_of(value) != TSR_JSON_STRING) {
    print_value(value, out);
    return;
  }
  const char *bytes = NULL;
  size_t length = 0;
  tsr_status_free(tsr_json_get_string(value, "", &bytes, &length));
  tsr_text_add_bytes(out, bytes, length);
}
