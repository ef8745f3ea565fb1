// A failure is one block: the struct, then its text, which grows at the front as notes are added.
#include "tessera/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status_internal.h"
#include "base/text_internal.h"
#include "tessera/text.h"

struct tsr_failure {
  tsr_cause cause;
  bool is_fixed;  // never freed, never changed
  char origin[56];
  char *text;
  // The place in a text (base/cursor.h), counted from the end of `text`, which grows at the front.
  size_t place_tail, place_length;  // length 0 = none
  size_t excerpt_length;            // of the lines after the message, with the newline before them
  size_t byte;                      // of that text
};

// What is returned when there is no memory to say anything better. It is known by `is_fixed` and
// not by its address: a program that loads a module may have two copies of this library.
#define OUT_OF_MEMORY "out of memory"
static struct tsr_failure out_of_memory = {
    .cause = TSR_CAUSE_NO_MEMORY, .is_fixed = true, .origin = "", .text = (char[]){OUT_OF_MEMORY}};

static const struct {
  tsr_code code;
  const char *slug, *alias;
} causes[] = {
    [TSR_CAUSE_NONE] = {TSR_CODE_OK, "", ""},
#define TSR_CAUSE_ROW(number, id, code, slug, alias) [number] = {TSR_CODE_##code, slug, alias},
#include "tessera/causes.def"
#undef TSR_CAUSE_ROW
};

// Numbers have gaps where causes were taken out, and a module's copy of this library may know more.
static bool is_known(tsr_cause cause) {
  return (size_t)cause < sizeof causes / sizeof *causes && causes[cause].slug;
}

static char *format_text(const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  const int length = vsnprintf(NULL, 0, format, args);
  char *text = length < 0 ? NULL : malloc((size_t)length + 1);
  if (text) vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  // Messages quote untrusted files and are read on terminals.
  if (text) tsr_make_plain(text, (size_t)length);
  return text;
}

tsr_status tsr_fail_at(tsr_cause cause, const char *file, int line, const char *format, ...) {
  struct tsr_failure *failure = malloc(sizeof *failure);
  if (!failure) return &out_of_memory;
  va_list args;
  va_start(args, format);
  failure->text = format_text(format, args);
  va_end(args);
  if (!failure->text) {
    free(failure);
    return &out_of_memory;
  }
  const char *slash = strrchr(file, '/');
  failure->cause = cause;
  failure->is_fixed = false;
  failure->place_tail = failure->place_length = failure->excerpt_length = failure->byte = 0;
  snprintf(failure->origin, sizeof failure->origin, "%s:%d", slash ? slash + 1 : file, line);
  // Callers name what they wanted the memory for: a large block may fail where a message does not.
  const bool plain = cause != TSR_CAUSE_NO_MEMORY || strstr(failure->text, OUT_OF_MEMORY);
  return plain ? failure : tsr_raised(tsr_note(failure, OUT_OF_MEMORY));
}

tsr_status tsr_note(tsr_status status, const char *format, ...) {
  if (!status || status->is_fixed) return status;
  va_list args;
  va_start(args, format);
  char *note = format_text(format, args);
  va_end(args);
  // Without memory for the note, the message is still useful.
  if (!note) return status;
  const size_t note_length = strlen(note), text_length = strlen(status->text);
  char *text = realloc(note, note_length + 2 + text_length + 1);
  if (!text) {
    free(note);
    return status;
  }
  memcpy(text + note_length, ": ", 2);
  memcpy(text + note_length + 2, status->text, text_length + 1);
  free(status->text);
  status->text = text;
  return status;
}

bool tsr_status_has_place(tsr_status status) { return status && status->place_length; }

size_t tsr_status_place(tsr_status status) { return status ? status->byte : 0; }

tsr_status tsr_status_set_place(tsr_status status, const char *place, const char *excerpt,
                                size_t byte) {
  if (!status || status->is_fixed) return status;
  const size_t length = strlen(status->text), notes = length - status->place_tail;
  const size_t message = status->place_length ? notes + status->place_length : 0;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_addf(&text, "%s: ", place);
  const size_t place_length = text.length;
  if (message) tsr_text_add_bytes(&text, status->text, notes);
  tsr_text_add_bytes(&text, status->text + message, length - message - status->excerpt_length);
  tsr_text_addf(&text, "%s%s", *excerpt ? "\n" : "", excerpt);
  if (text.failed) {
    tsr_text_deinit(&text);
    return status;  // as with notes, the message alone still says what is wrong
  }
  free(status->text);
  status->text = text.data;
  status->place_tail = text.length;
  status->place_length = place_length;
  status->excerpt_length = *excerpt ? strlen(excerpt) + 1 : 0;
  status->byte = byte;
  return status;
}

int tsr_status_line_length(tsr_status status) {
  return status ? (int)(strlen(status->text) - status->excerpt_length) : 0;
}

const char *tsr_status_text(tsr_status status) { return status ? status->text : ""; }

tsr_cause tsr_status_cause(tsr_status status) { return status ? status->cause : TSR_CAUSE_NONE; }

tsr_code tsr_status_code(tsr_status status) {
  const tsr_cause cause = tsr_status_cause(status);
  return is_known(cause) ? causes[cause].code : TSR_CODE_INVALID;
}

const char *tsr_status_origin(tsr_status status) { return status ? status->origin : ""; }

void tsr_status_free(tsr_status status) {
  if (!status || status->is_fixed) return;
  free(status->text);
  free(status);
}

int tsr_status_exit(tsr_status status) {
  enum { FAILED = 2 };  // 1 is an answer: no
  if (!status) return 0;
  const int code = FAILED + (int)tsr_status_code(status);
  fprintf(stderr, "%s\n", tsr_status_text(status));
  tsr_status_free(status);
  return code;
}

const char *tsr_cause_slug(tsr_cause cause) { return is_known(cause) ? causes[cause].slug : ""; }

// Whether `word` is one of those in `words`, separated by blanks.
static bool has_word(const char *words, const char *word) {
  const size_t length = strlen(word);
  for (const char *at = words; *at;) {
    const size_t next = strcspn(at, " ");
    if (next == length && !memcmp(at, word, length)) return true;
    at += next + (at[next] != '\0');
  }
  return false;
}

bool tsr_cause_matches(tsr_cause cause, const char *slug) {
  if (!is_known(cause) || !*slug) return false;
  return !strcmp(causes[cause].slug, slug) || has_word(causes[cause].alias, slug);
}
