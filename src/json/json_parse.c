// The reader: one pass over the text that makes a tape (json/json_node.h), without recursion.
//
// An open container keeps its state in its own two slots: the head has the slot of its parent, the
// details its last member and their number. So the tape is also the stack; at its bottom is an
// array with the document's value. Objects are checked for duplicate keys when they close: a few
// keys by pairs, many by an index.
#include "json/json.h"

#include <stdlib.h>

#include "base/cursor.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "json/json_node.h"
#include "json/json_read.h"
#include "json/json_scan.h"

enum { DEEPEST = 512, MOST_PAIRED_KEYS = 8, FIRST_SLOTS = 16, DOCUMENT = 0 };

typedef struct json_parser {
  const char *name;  // the file; NULL = a note of the caller names it
  const char *end;
  tsr_json *tape;
  size_t used, capacity;
  size_t open;  // the slot of the innermost open container
  int depth;
  tsr_json_doc *doc;
  tsr_status status;  // why reading stopped
} json_parser;

// Readers take the start and return the end, so that the position stays in a register. On failure
// they set `status` and return NULL (helpers: false).

static tsr_cursor cursor_at(const json_parser *p, const char *at) {
  return (tsr_cursor){.name = p->name,
                      .start = p->doc->bytes,
                      .at = at,
                      .end = p->end,
                      .offset = p->doc->start,
                      .lines = true};
}

static const char *refuse(json_parser *p, const char *at, tsr_status status) {
  const tsr_cursor cursor = cursor_at(p, at);
  p->status = tsr_cursor_place(&cursor, status);
  return NULL;
}

#define REFUSE(at, ...) refuse(p, at, tsr_fail(JSON_SYNTAX, __VA_ARGS__))

static const char *unexpected(json_parser *p, const char *at, const char *what) {
  const tsr_cursor cursor = cursor_at(p, at);
  p->status = tsr_cursor_expected_at(&cursor, TSR_CAUSE_JSON_SYNTAX, what);
  return NULL;
}

static bool out_of_memory(json_parser *p) {
  p->status = tsr_fail(NO_MEMORY, "JSON document");
  return false;
}

// The tape.

static bool grow(json_parser *p) {
  if (p->capacity > SIZE_MAX / sizeof *p->tape / 2) return out_of_memory(p);
  tsr_json *tape = realloc(p->tape, 2 * p->capacity * sizeof *tape);
  if (!tape) return out_of_memory(p);
  p->tape = tape;
  p->capacity *= 2;
  return true;
}

static inline bool push(json_parser *p, const char *text, uint64_t word) {
  if (p->used == p->capacity && !grow(p)) return false;
  p->tape[p->used++] = (tsr_json){.text = text, .word = word};
  return true;
}

// Registers a member that starts in the next slot, and returns its marks.
static inline uint64_t adopt(json_parser *p) {
  tsr_json *head = &p->tape[p->open];
  head[1].last = p->used;
  head[1].count++;
  return json_kind(head) == TSR_JSON_OBJECT ? JSON_IS_MEMBER : 0;
}

static inline bool push_scalar(json_parser *p, tsr_json_kind kind, const char *text, size_t size,
                               uint64_t marks) {
  return push(p, text, (uint64_t)size << JSON_SIZE_SHIFT | adopt(p) | marks | kind);
}

static inline bool is_next(const json_parser *p, const char *at, char c) {
  return at < p->end && *at == c;
}

static inline const char *skip_space(const json_parser *p, const char *at) {
  while (at < p->end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')) at++;
  return at;
}

// Strings.

// Reads the four digits of \uXXXX.
static const char *read_hex4(json_parser *p, const char *at, uint32_t *out_unit) {
  uint32_t unit = 0;
  for (int i = 0; i < 4; i++, at++) {
    const int digit = at < p->end ? tsr_hex_digit(*at) : -1;
    if (digit < 0) return unexpected(p, at, "a hexadecimal digit");
    unit = unit << 4 | (uint32_t)digit;
  }
  *out_unit = unit;
  return at;
}

// Reads \uXXXX, or two of them that make one character; `at` is after the first 'u'.
static const char *read_unicode_escape(json_parser *p, const char *at, uint32_t *out_character) {
  const char *start = at - 2;
  uint32_t first = 0, second = 0;
  if (!(at = read_hex4(p, at, &first))) return NULL;
  if ((first & 0xf800) != 0xd800) {
    *out_character = first;
    return at;
  }
  if (first >= 0xdc00 || !is_next(p, at, '\\') || !is_next(p, at + 1, 'u'))
    return REFUSE(start, "\\u%04x is half a surrogate pair", first);
  if (!(at = read_hex4(p, at + 2, &second))) return NULL;
  if ((second & 0xfc00) != 0xdc00)
    return REFUSE(start, "\\u%04x\\u%04x is not a surrogate pair", first, second);
  *out_character = 0x10000 + ((first & 0x3ff) << 10 | (second & 0x3ff));
  return at;
}

// Resolves one escape to `*out`; `at` is after the backslash.
static const char *read_escape(json_parser *p, const char *at, char **out) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  if (is_next(p, at, 'u')) {
    uint32_t character = 0;
    at = read_unicode_escape(p, at + 1, &character);
    if (at) *out += tsr_utf8_encode(character, *out);
    return at;
  }
  const char *found = at < p->end && *at ? strchr(from, *at) : NULL;
  if (!found) return unexpected(p, at, "one of \" \\ / b f n r t u after the backslash");
  *(*out)++ = to[found - from];
  return at + 1;
}

// Steps over bytes up to the closing quote or the next backslash.
static inline const char *skip_to_mark(json_parser *p, const char *at) {
  for (;;) {
    at = json_skip_plain(at, p->end);
    if (at == p->end) return unexpected(p, at, "the end of a string");
    if (*at == '"' || *at == '\\') return at;
    const size_t length = tsr_utf8_length(at, (size_t)(p->end - at));
    if (!length) return REFUSE(at, "byte 0x%02x is not UTF-8", (unsigned char)*at);
    if (length == 1) return REFUSE(at, "control character 0x%02x in a string", (unsigned char)*at);
    at += length;
  }
}

// Reads the rest of a string with escapes, from its first backslash on. An escape is never shorter
// than its character, so the resolved string fits its place in the shadow.
static const char *read_escaped(json_parser *p, const char *start, const char *at,
                                const char **out_text, size_t *out_size) {
  tsr_json_doc *doc = p->doc;
  if (!doc->shadow && !(doc->shadow = malloc(doc->length))) {
    out_of_memory(p);
    return NULL;
  }
  char *const text = doc->shadow + (start - doc->bytes);
  char *out = text;
  for (;;) {
    const size_t run = (size_t)(at - start);
    memcpy(out, start, run);
    out += run;
    if (*at++ == '"') break;
    if (!(at = read_escape(p, at, &out))) return NULL;
    start = at;
    if (!(at = skip_to_mark(p, at))) return NULL;
  }
  *out_text = text;
  *out_size = (size_t)(out - text);
  return at;
}

// Reads a string from its opening quote on.
static inline const char *read_string(json_parser *p, const char *at, const char **out_text,
                                      size_t *out_size) {
  const char *start = ++at;
  if (!(at = skip_to_mark(p, at))) return NULL;
  if (*at == '\\') return read_escaped(p, start, at, out_text, out_size);
  *out_text = start;
  *out_size = (size_t)(at - start);
  return at + 1;
}

// Other scalars.

static inline const char *read_digits(json_parser *p, const char *at) {
  const char *start = at;
  while (at < p->end && *at >= '0' && *at <= '9') at++;
  return at > start ? at : unexpected(p, at, "a digit");
}

// Reads what may follow the integer digits.
static const char *read_fraction(json_parser *p, const char *at) {
  if (is_next(p, at, '.') && !(at = read_digits(p, at + 1))) return NULL;
  if (!is_next(p, at, 'e') && !is_next(p, at, 'E')) return at;
  at++;
  if (is_next(p, at, '+') || is_next(p, at, '-')) at++;
  return read_digits(p, at);
}

static inline const char *read_number(json_parser *p, const char *at) {
  const char *start = at;
  uint64_t marks = 0;
  if (*at == '-') at++;
  if (is_next(p, at, '0'))
    at++;
  else if (!(at = read_digits(p, at)))
    return NULL;
  if (is_next(p, at, '.') || is_next(p, at, 'e') || is_next(p, at, 'E')) {
    marks = JSON_IS_FRACTION;
    if (!(at = read_fraction(p, at))) return NULL;
  }
  return push_scalar(p, TSR_JSON_NUMBER, start, (size_t)(at - start), marks) ? at : NULL;
}

static const char *read_word(json_parser *p, const char *at, const char *word, tsr_json_kind kind) {
  const size_t length = strlen(word);
  if ((size_t)(p->end - at) < length || memcmp(at, word, length))
    return unexpected(p, at, "a value");
  return push_scalar(p, kind, at, length, 0) ? at + length : NULL;
}

static inline const char *read_string_value(json_parser *p, const char *at) {
  const char *text;
  size_t size;
  if (!(at = read_string(p, at, &text, &size))) return NULL;
  return push_scalar(p, TSR_JSON_STRING, text, size, 0) ? at : NULL;
}

// Containers.

// Reads a key and its colon.
static const char *read_key(json_parser *p, const char *at) {
  at = skip_space(p, at);
  if (!is_next(p, at, '"')) return unexpected(p, at, "a key");
  const char *text;
  size_t size;
  if (!(at = read_string(p, at, &text, &size))) return NULL;
  if (!push(p, text, (uint64_t)size << JSON_SIZE_SHIFT | TSR_JSON_STRING)) return NULL;
  at = skip_space(p, at);
  return is_next(p, at, ':') ? at + 1 : unexpected(p, at, "\":\"");
}

static bool refuse_duplicate(json_parser *p, const tsr_json *key) {
  const char *at = p->doc->bytes + tsr_json_position(p->doc, key);
  const int shown = json_size(key) < 100 ? (int)json_size(key) : 100;
  refuse(p, at,
         tsr_fail(JSON_DUPLICATE_KEY, "key \"%.*s\" is in this object already", shown, key->text));
  return false;
}

static bool check_few_keys(json_parser *p, const tsr_json *head, size_t count) {
  const tsr_json *keys[MOST_PAIRED_KEYS];
  const tsr_json *key = head + 2;
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < i; j++)
      if (json_same_bytes(keys[j], key->text, json_size(key))) return refuse_duplicate(p, key);
    keys[i] = key;
    key += 1 + json_span(key + 1);
  }
  return true;
}

static bool index_keys(json_parser *p, tsr_json *head, size_t count) {
  const tsr_json *duplicate;
  tsr_json_index *index;
  p->status = tsr_json_index_create(head, count, &index, &duplicate);
  if (p->status) return false;
  index->next = p->doc->indexes;
  p->doc->indexes = index;
  head[1].index = index;
  return !duplicate || refuse_duplicate(p, duplicate - 1);
}

static inline const char *open_container(json_parser *p, const char *at, tsr_json_kind kind) {
  if (p->depth == DEEPEST)
    return refuse(p, at, tsr_fail(TOO_LARGE, "nested more than %d deep", DEEPEST));
  const uint64_t marks = adopt(p);
  const size_t head = p->used;
  if (!push(p, at, (uint64_t)p->open << JSON_SIZE_SHIFT | marks | kind)) return NULL;
  if (!push(p, NULL, 0)) return NULL;
  p->open = head;
  p->depth++;
  return skip_space(p, at + 1);
}

static const char *close_container(json_parser *p, const char *at) {
  tsr_json *head = &p->tape[p->open];
  const size_t span = p->used - p->open, count = head[1].count;
  const uint64_t low = head->word & ((1 << JSON_SIZE_SHIFT) - 1);
  p->open = json_size(head);
  p->depth--;
  head->word = (uint64_t)span << JSON_SIZE_SHIFT | low;
  if (count) p->tape[head[1].last].word |= JSON_IS_LAST;
  head[1].index = NULL;
  if (json_kind(head) == TSR_JSON_ARRAY || count < 2) return at + 1;
  const bool distinct =
      count <= MOST_PAIRED_KEYS ? check_few_keys(p, head, count) : index_keys(p, head, count);
  return distinct ? at + 1 : NULL;
}

// Reads from the start of a value to the end of its first scalar. An empty container is closed
// here, so that afterwards always a ',' or a closing bracket follows.
static const char *read_value(json_parser *p, const char *at) {
  for (;;) {
    at = skip_space(p, at);
    if (at == p->end) return unexpected(p, at, "a value");
    switch (*at) {
      case '{':
        if (!(at = open_container(p, at, TSR_JSON_OBJECT))) return NULL;
        if (is_next(p, at, '}')) return close_container(p, at);
        if (!(at = read_key(p, at))) return NULL;
        break;
      case '[':
        if (!(at = open_container(p, at, TSR_JSON_ARRAY))) return NULL;
        if (is_next(p, at, ']')) return close_container(p, at);
        break;
      case '"':
        return read_string_value(p, at);
      case 't':
        return read_word(p, at, "true", TSR_JSON_BOOL);
      case 'f':
        return read_word(p, at, "false", TSR_JSON_BOOL);
      case 'n':
        return read_word(p, at, "null", TSR_JSON_NULL);
      default:
        if (*at != '-' && (*at < '0' || *at > '9')) return unexpected(p, at, "a value");
        return read_number(p, at);
    }
  }
}

// Steps from the end of a value to where the next one starts, closing containers on the way.
static const char *step(json_parser *p, const char *at) {
  while (p->open != DOCUMENT) {
    const bool in_object = json_kind(&p->tape[p->open]) == TSR_JSON_OBJECT;
    at = skip_space(p, at);
    if (is_next(p, at, ',')) return in_object ? read_key(p, at + 1) : at + 1;
    if (!is_next(p, at, in_object ? '}' : ']'))
      return unexpected(p, at, in_object ? "\",\" or \"}\"" : "\",\" or \"]\"");
    if (!(at = close_container(p, at))) return NULL;
  }
  return at;
}

static bool read_document(json_parser *p) {
  const char *at = p->doc->bytes;
  if (!push(p, at, TSR_JSON_ARRAY) || !push(p, NULL, 0)) return false;
  do {
    if (!(at = read_value(p, at)) || !(at = step(p, at))) return false;
  } while (p->open != DOCUMENT);
  p->tape[p->tape[1].last].word |= JSON_IS_LAST;
  at = skip_space(p, at);
  return at == p->end || unexpected(p, at, "the end");
}

// Fills in a document whose bytes are set, or destroys it.
static tsr_status parse_into(tsr_json_doc *doc, const char *name, tsr_json_doc **out_doc) {
  // The headers of checkpoints have about eight bytes of text per slot. Unused slots cost nothing:
  // their memory is never touched.
  const size_t capacity = doc->length / 8 + FIRST_SLOTS;
  json_parser p = {.name = name, .end = doc->bytes + doc->length, .doc = doc, .capacity = capacity};
  p.tape = malloc(capacity * sizeof *p.tape);
  tsr_memory_prefer_huge(p.tape, capacity * sizeof *p.tape);
  const bool good = p.tape ? read_document(&p) : out_of_memory(&p);
  doc->tape = p.tape;
  if (!good) {
    tsr_json_destroy(doc);
    return p.status;
  }
  *out_doc = doc;
  return NULL;
}

tsr_status tsr_json_parse_at(const char *bytes, size_t length, size_t start,
                             tsr_json_doc **out_doc) {
  tsr_json_doc *doc = calloc(1, sizeof *doc);
  if (!doc) return tsr_fail(NO_MEMORY, "JSON document");
  doc->bytes = bytes;
  doc->length = length;
  doc->start = start;
  return parse_into(doc, NULL, out_doc);
}

tsr_status tsr_json_parse(const char *bytes, size_t length, tsr_json_doc **out_doc) {
  return tsr_json_parse_at(bytes, length, 0, out_doc);
}

tsr_status tsr_json_read_file(const char *path, tsr_json_doc **out_doc) {
  tsr_json_doc *doc = calloc(1, sizeof *doc);
  if (!doc) return tsr_fail(NO_MEMORY, "JSON document");
  tsr_status status = tsr_file_read(path, &doc->owned, &doc->length);
  if (status) {
    free(doc);
    return status;
  }
  doc->bytes = doc->owned;
  return parse_into(doc, path, out_doc);
}
