// Accessors of a document that was read; json/json_node.h describes its layout in memory.
#include <stdlib.h>

#include "base/decimal.h"
#include "base/text_internal.h"
#include "json/json.h"
#include "json/json_node.h"
#include "json/json_read.h"

void tsr_json_destroy(tsr_json_doc *doc) {
  if (!doc) return;
  for (tsr_json_index *index = doc->indexes, *next; index; index = next) {
    next = index->next;
    free(index);
  }
  free(doc->tape);
  free(doc->shadow);
  free(doc->owned);
  free(doc);
}

const tsr_json *tsr_json_root(const tsr_json_doc *doc) { return doc->tape + 2; }

tsr_json_kind tsr_json_kind_of(const tsr_json *value) { return json_kind(value); }

const char *tsr_json_kind_name(tsr_json_kind kind) {
  static const char *const names[] = {"null", "bool", "number", "string", "array", "object"};
  return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

size_t tsr_json_position(const tsr_json_doc *doc, const tsr_json *value) {
  const uintptr_t text = (uintptr_t)value->text, shadow = (uintptr_t)doc->shadow;
  const bool in_shadow = doc->shadow && text >= shadow && text - shadow < doc->length;
  const size_t offset = doc->start + (text - (in_shadow ? shadow : (uintptr_t)doc->bytes));
  return json_kind(value) == TSR_JSON_STRING ? offset - 1 : offset;  // the quote
}

size_t tsr_json_count(const tsr_json *value) {
  return json_is_container(value) ? value[1].count : 0;
}

const tsr_json *tsr_json_first(const tsr_json *value) {
  if (!tsr_json_count(value)) return NULL;
  return value + (json_kind(value) == TSR_JSON_OBJECT ? 3 : 2);
}

const tsr_json *tsr_json_next(const tsr_json *value) {
  if (value->word & JSON_IS_LAST) return NULL;
  return value + json_span(value) + (value->word & JSON_IS_MEMBER ? 1 : 0);
}

const char *tsr_json_key(const tsr_json *member, size_t *out_length) {
  if (!(member->word & JSON_IS_MEMBER)) {
    *out_length = 0;
    return NULL;
  }
  *out_length = json_size(member - 1);
  return member[-1].text;
}

bool tsr_json_key_is(const tsr_json *member, const char *name) {
  return member->word & JSON_IS_MEMBER && json_same_bytes(member - 1, name, strlen(name));
}

const tsr_json *tsr_json_find(const tsr_json *value, const char *name) {
  if (!value || json_kind(value) != TSR_JSON_OBJECT) return NULL;
  const size_t length = strlen(name);
  if (value[1].index) return tsr_json_index_find(value, name, length);
  const tsr_json *member = tsr_json_first(value);
  while (member && !json_same_bytes(member - 1, name, length)) member = tsr_json_next(member);
  return member;
}

const tsr_json *tsr_json_at(const tsr_json *value, size_t index) {
  if (!value || index >= tsr_json_count(value)) return NULL;
  // An array of scalars has one slot for each, so an index is found at once.
  if (json_size(value) == value[1].count + 2) return value + 2 + index;
  const tsr_json *member = tsr_json_first(value);
  while (index--) member = tsr_json_next(member);
  return member;
}

// Scalars.

// What was found, for messages: the value itself if it is short.
static void describe(const tsr_json *value, tsr_text *out) {
  enum { MOST_SHOWN = 60 };
  if (json_kind(value) == TSR_JSON_ARRAY)
    tsr_text_addf(out, "an array of %zu", tsr_json_count(value));
  else if (json_kind(value) == TSR_JSON_OBJECT)
    tsr_text_addf(out, "an object of %zu", tsr_json_count(value));
  else if (json_size(value) > MOST_SHOWN)
    tsr_text_addf(out, "a %s of %zu bytes", tsr_json_kind_name(json_kind(value)), json_size(value));
  else
    tsr_json_print(value, out);
}

static tsr_status wrong(tsr_cause cause, const tsr_json *value, const char *what,
                        const char *wanted) {
  if (!value)
    return tsr_fail_at(TSR_CAUSE_JSON_KIND, __FILE__, __LINE__, "%s: missing, wanted %s", what,
                       wanted);
  tsr_text found = TSR_TEXT_EMPTY;
  describe(value, &found);
  tsr_status status = tsr_text_check(&found);
  if (!status)
    status = tsr_fail_at(cause, __FILE__, __LINE__, "%s: wanted %s, found %s", what, wanted,
                         tsr_text_string(&found));
  tsr_text_deinit(&found);
  return status;
}

tsr_status tsr_json_wrong_kind(const tsr_json *value, const char *what, const char *wanted) {
  return wrong(TSR_CAUSE_JSON_KIND, value, what, wanted);
}

static bool is_kind(const tsr_json *value, tsr_json_kind kind) {
  return value && json_kind(value) == kind;
}

tsr_status tsr_json_get_bool(const tsr_json *value, const char *what, bool *out_bool) {
  if (!is_kind(value, TSR_JSON_BOOL)) return tsr_json_wrong_kind(value, what, "a bool");
  *out_bool = value->text[0] == 't';
  return NULL;
}

// Built up as a negative number, since those reach one further.
static bool read_integer(const tsr_json *value, int64_t *out_int) {
  const char *at = value->text, *const end = at + json_size(value);
  const bool negative = *at == '-';
  int64_t number = 0;
  for (at += negative; at < end; at++)
    if (__builtin_mul_overflow(number, 10, &number) ||
        __builtin_sub_overflow(number, *at - '0', &number))
      return false;
  if (!negative && __builtin_sub_overflow(0, number, &number)) return false;
  *out_int = number;
  return true;
}

tsr_status tsr_json_get_int(const tsr_json *value, const char *what, int64_t *out_int) {
  if (!is_kind(value, TSR_JSON_NUMBER)) return tsr_json_wrong_kind(value, what, "an integer");
  if (value->word & JSON_IS_FRACTION)
    return wrong(TSR_CAUSE_NOT_AN_INTEGER, value, what, "an integer");
  return read_integer(value, out_int)
             ? NULL
             : wrong(TSR_CAUSE_OVERFLOW, value, what, "an integer from -2^63 to 2^63-1");
}

tsr_status tsr_json_get_double(const tsr_json *value, const char *what, double *out_double) {
  if (!is_kind(value, TSR_JSON_NUMBER)) return tsr_json_wrong_kind(value, what, "a number");
  TSR_TRY_NOTE(tsr_decimal_parse(value->text, json_size(value), out_double), "%s", what);
  return NULL;
}

tsr_status tsr_json_get_string(const tsr_json *value, const char *what, const char **out_bytes,
                               size_t *out_length) {
  if (!is_kind(value, TSR_JSON_STRING)) return tsr_json_wrong_kind(value, what, "a string");
  *out_bytes = value->text;
  *out_length = json_size(value);
  return NULL;
}

bool tsr_json_is_string(const tsr_json *value, const char *string) {
  return is_kind(value, TSR_JSON_STRING) && json_same_bytes(value, string, strlen(string));
}
