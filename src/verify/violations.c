// How a violation is worded: the op, the name of the constraint, and what was found and wanted.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "syntax/syntax.h"
#include "verify/op_checks.h"

// The next string of the message; the last one is used again where there are too many.
static tsr_text *next_text(tsr_shown *shown) {
  const int limit = (int)(sizeof shown->texts / sizeof *shown->texts);
  if (shown->count == limit) {
    tsr_text_clear(&shown->texts[limit - 1]);
    return &shown->texts[limit - 1];
  }
  return &shown->texts[shown->count++];
}

const char *tsr_show_type(tsr_shown *shown, const tsr_type *type) {
  if (!type) return "none";
  tsr_text *text = next_text(shown);
  tsr_type_print(type, text);
  return tsr_text_string(text);
}

const char *tsr_show_attr(tsr_shown *shown, const tsr_attr *attr) {
  if (!attr) return "none";
  tsr_text *text = next_text(shown);
  tsr_attr_print(attr, text);
  return tsr_text_string(text);
}

static void add_size(tsr_text *text, int64_t value) {
  if (value == TSR_DYNAMIC)
    tsr_text_add_char(text, '?');
  else
    tsr_text_add_int(text, value);
}

enum { INTS_SHOWN = 32 };  // a message stays readable

// Either of the two lists.
static const char *show_numbers(tsr_shown *shown, const tsr_attr *ints, const int64_t *values,
                                int64_t count) {
  tsr_text *text = next_text(shown);
  tsr_text_add_char(text, '[');
  for (int64_t i = 0; i < count && i < INTS_SHOWN; i++) {
    if (i) tsr_text_add(text, ", ");
    if (ints) add_size(text, tsr_attr_int_at(ints, i));
    if (values) add_size(text, values[i]);
  }
  if (count > INTS_SHOWN) tsr_text_add(text, ", ...");
  tsr_text_add_char(text, ']');
  return tsr_text_string(text);
}

const char *tsr_show_ints(tsr_shown *shown, const tsr_attr *ints) {
  return show_numbers(shown, ints, NULL, tsr_attr_int_count(ints));
}

const char *tsr_show_list(tsr_shown *shown, const int64_t *values, int64_t count) {
  return show_numbers(shown, NULL, values, count);
}

const char *tsr_show_list_item(tsr_shown *shown, int64_t value) {
  tsr_text *text = next_text(shown);
  add_size(text, value);
  return tsr_text_string(text);
}

// Frees the strings; false if memory ran out while one was made.
static bool free_shown(tsr_shown *shown) {
  bool whole = true;
  for (int i = 0; i < shown->count; i++) {
    whole &= !shown->texts[i].failed;
    tsr_text_deinit(&shown->texts[i]);
  }
  return whole;
}

tsr_status tsr_violation_at(tsr_shown *shown, const char *file, int line, const tsr_op *op,
                            const char *constraint, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  const int length = vsnprintf(NULL, 0, format, args);
  char *message = malloc((size_t)length + 1);
  if (message) vsnprintf(message, (size_t)length + 1, format, again);
  va_end(again);
  va_end(args);
  tsr_status failure = NULL;
  if (!free_shown(shown) || !message)
    failure = tsr_fail(NO_MEMORY, "message of %d bytes", length);
  else if (*constraint)
    failure =
        tsr_fail_at(TSR_CAUSE_CONSTRAINT, file, line, "%s: (%s) %s", op->name, constraint, message);
  else
    failure = tsr_fail_at(TSR_CAUSE_CONSTRAINT, file, line, "%s: %s", op->name, message);
  free(message);
  return failure;
}
