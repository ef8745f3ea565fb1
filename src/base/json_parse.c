// The reader: one pass over the text that leaves a tape (base/json_node.h), without recursion.
//
// A container that is still open keeps its bookkeeping in its own two slots: the head holds where
// its parent is, the details hold its last member and their number. So the tape is also the stack;
// at its bottom lies an array that stands for the document and holds the one value. Objects are
// checked for duplicate keys when they close: a few keys in pairs, many by an index.
#include "base/json_node.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_scan.h"
#include "base/utf8.h"

enum { DEEPEST = 512, MOST_PAIRED_KEYS = 8, FIRST_SLOTS = 16, DOCUMENT = 0 };

typedef struct parser {
  const char *at, *end;
  tsr_json *tape;
  size_t used, capacity;
  size_t open;  // the slot of the innermost open container
  int depth;
  tsr_json_doc *doc;
  tsr_status status;  // why reading stopped
} parser;

// Failure. Every function below that returns bool has set `status` when it returns false.

static tsr_status note_place(tsr_status status, const parser *p, const char *at) {
  size_t line = 1, column = 1;
  for (const char *c = p->doc->bytes; c < at; c++) {
    if (*c == '\n') line++, column = 1;
    // Continuation bytes are no columns of their own.
    else if (((unsigned char)*c & 0xc0) != 0x80)
      column++;
  }
  const size_t byte = (size_t)(at - p->doc->bytes);
  return tsr_note(status, "line %zu, column %zu (byte %zu)", line, column, byte);
}

static bool refuse(parser *p, const char *at, tsr_status status) {
  p->status = note_place(status, p, at);
  return false;
}

#define REFUSE(at, ...) refuse(p, at, tsr_fail(JSON_SYNTAX, __VA_ARGS__))

static bool unexpected(parser *p, const char *wanted) {
  if (p->at == p->end) return REFUSE(p->at, "the text ends where %s was wanted", wanted);
  const unsigned char c = (unsigned char)*p->at;
  if (c >= 0x20 && c < 0x7f) return REFUSE(p->at, "found '%c', wanted %s", c, wanted);
  return REFUSE(p->at, "found byte 0x%02x, wanted %s", c, wanted);
}

static bool out_of_memory(parser *p) {
  p->status = tsr_fail(NO_MEMORY, "JSON document");
  return false;
}

// The tape.

static bool grow(parser *p) {
  if (p->capacity > SIZE_MAX / sizeof *p->tape / 2) return out_of_memory(p);
  tsr_json *tape = realloc(p->tape, 2 * p->capacity * sizeof *tape);
  if (!tape) return out_of_memory(p);
  p->tape = tape;
  p->capacity *= 2;
  return true;
}

static inline bool push(parser *p, const char *text, uint64_t word) {
  if (p->used == p->capacity && !grow(p)) return false;
  p->tape[p->used++] = (tsr_json){.text = text, .word = word};
  return true;
}

// Tells the open container that a member starts in the next slot, and gives the member's marks.
static inline uint64_t adopt(parser *p) {
  tsr_json *head = &p->tape[p->open];
  head[1].last = p->used;
  head[1].count++;
  return json_kind(head) == TSR_JSON_OBJECT ? JSON_IS_MEMBER : 0;
}

static inline bool push_scalar(parser *p, tsr_json_kind kind, const char *text, size_t size,
                               uint64_t marks) {
  return push(p, text, (uint64_t)size << JSON_SIZE_SHIFT | adopt(p) | marks | kind);
}

static inline void skip_space(parser *p) {
  while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r'))
    p->at++;
}

static inline bool take(parser *p, char c) {
  if (p->at == p->end || *p->at != c) return false;
  p->at++;
  return true;
}

// Strings.

static int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Reads the four digits of \uXXXX.
static bool read_hex4(parser *p, uint32_t *out_unit) {
  uint32_t unit = 0;
  for (int i = 0; i < 4; i++, p->at++) {
    const int digit = p->at < p->end ? hex_value(*p->at) : -1;
    if (digit < 0) return unexpected(p, "a hexadecimal digit");
    unit = unit << 4 | (uint32_t)digit;
  }
  *out_unit = unit;
  return true;
}

// Reads \uXXXX, or two of them that make one character; `p->at` is after the first 'u'.
static bool read_unicode_escape(parser *p, uint32_t *out_character) {
  const char *start = p->at - 2;
  uint32_t first = 0, second = 0;  // gcc cannot see that a refused digit leaves this function
  if (!read_hex4(p, &first)) return false;
  if ((first & 0xf800) != 0xd800) {
    *out_character = first;
    return true;
  }
  if (first >= 0xdc00 || !take(p, '\\') || !take(p, 'u'))
    return REFUSE(start, "\\u%04x is half a surrogate pair", first);
  if (!read_hex4(p, &second)) return false;
  if ((second & 0xfc00) != 0xdc00)
    return REFUSE(start, "\\u%04x\\u%04x is not a surrogate pair", first, second);
  *out_character = 0x10000 + ((first & 0x3ff) << 10 | (second & 0x3ff));
  return true;
}

// Resolves one escape to `*out`; `p->at` is after the backslash.
static bool read_escape(parser *p, char **out) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  if (take(p, 'u')) {
    uint32_t character;
    if (!read_unicode_escape(p, &character)) return false;
    *out += tsr_utf8_encode(character, *out);
    return true;
  }
  const char *found = p->at < p->end && *p->at ? strchr(from, *p->at) : NULL;
  if (!found) return unexpected(p, "one of \" \\ / b f n r t u after the backslash");
  *(*out)++ = to[found - from];
  p->at++;
  return true;
}

// Steps over bytes up to the closing quote or the next backslash.
static inline bool skip_to_mark(parser *p) {
  for (;;) {
    p->at = json_skip_plain(p->at, p->end);
    if (p->at == p->end) return unexpected(p, "the end of a string");
    if (*p->at == '"' || *p->at == '\\') return true;
    const size_t length = tsr_utf8_length(p->at, (size_t)(p->end - p->at));
    if (!length) return REFUSE(p->at, "byte 0x%02x is not UTF-8", (unsigned char)*p->at);
    if (length == 1)
      return REFUSE(p->at, "control character 0x%02x in a string", (unsigned char)*p->at);
    p->at += length;
  }
}

// Reads the rest of a string that has escapes; `p->at` is at the first backslash. An escape is
// never shorter than what it stands for, so the resolved string fits the place it has in the
// shadow.
static bool read_escaped(parser *p, const char *start, const char **out_text, size_t *out_size) {
  tsr_json_doc *doc = p->doc;
  if (!doc->shadow && !(doc->shadow = malloc(doc->length))) return out_of_memory(p);
  char *const text = doc->shadow + (start - doc->bytes);
  char *out = text;
  for (;;) {
    const size_t run = (size_t)(p->at - start);
    memcpy(out, start, run);
    out += run;
    if (*p->at++ == '"') break;
    if (!read_escape(p, &out)) return false;
    start = p->at;
    if (!skip_to_mark(p)) return false;
  }
  *out_text = text;
  *out_size = (size_t)(out - text);
  return true;
}

// Reads a string; `p->at` is at its opening quote.
static inline bool read_string(parser *p, const char **out_text, size_t *out_size) {
  const char *start = ++p->at;
  if (!skip_to_mark(p)) return false;
  if (*p->at == '\\') return read_escaped(p, start, out_text, out_size);
  *out_text = start;
  *out_size = (size_t)(p->at++ - start);
  return true;
}

// Other scalars.

static inline void skip_digits(parser *p) {
  while (p->at < p->end && *p->at >= '0' && *p->at <= '9') p->at++;
}

static inline bool read_digits(parser *p) {
  const char *start = p->at;
  skip_digits(p);
  return p->at > start || unexpected(p, "a digit");
}

static inline bool read_number(parser *p) {
  const char *start = p->at;
  uint64_t marks = 0;
  take(p, '-');
  if (!take(p, '0') && !read_digits(p)) return false;
  if (take(p, '.')) {
    marks = JSON_IS_FRACTION;
    if (!read_digits(p)) return false;
  }
  if (take(p, 'e') || take(p, 'E')) {
    marks = JSON_IS_FRACTION;
    if (!take(p, '+')) take(p, '-');
    if (!read_digits(p)) return false;
  }
  return push_scalar(p, TSR_JSON_NUMBER, start, (size_t)(p->at - start), marks);
}

static bool read_word(parser *p, const char *word, tsr_json_kind kind) {
  const size_t length = strlen(word);
  if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length))
    return unexpected(p, "a value");
  p->at += length;
  return push_scalar(p, kind, p->at - length, length, 0);
}

static inline bool read_string_value(parser *p) {
  const char *text;
  size_t size;
  return read_string(p, &text, &size) && push_scalar(p, TSR_JSON_STRING, text, size, 0);
}

// Containers.

static bool read_key(parser *p) {
  skip_space(p);
  if (p->at == p->end || *p->at != '"') return unexpected(p, "a key");
  const char *text;
  size_t size;
  if (!read_string(p, &text, &size)) return false;
  if (!push(p, text, (uint64_t)size << JSON_SIZE_SHIFT | TSR_JSON_STRING)) return false;
  skip_space(p);
  return take(p, ':') || unexpected(p, "':'");
}

static bool refuse_duplicate(parser *p, const tsr_json *key) {
  const char *at = p->doc->bytes + tsr_json_position(p->doc, key);
  const int shown = json_size(key) < 100 ? (int)json_size(key) : 100;
  return refuse(
      p, at,
      tsr_fail(JSON_DUPLICATE_KEY, "key \"%.*s\" is in this object already", shown, key->text));
}

static bool check_few_keys(parser *p, const tsr_json *head, size_t count) {
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

static bool index_keys(parser *p, tsr_json *head, size_t count) {
  const tsr_json *duplicate;
  tsr_json_index *index;
  p->status = tsr_json_index_create(head, count, &index, &duplicate);
  if (p->status) return false;
  index->next = p->doc->indexes;
  p->doc->indexes = index;
  head[1].index = index;
  return !duplicate || refuse_duplicate(p, duplicate - 1);
}

static bool open_container(parser *p, tsr_json_kind kind) {
  if (p->depth == DEEPEST)
    return refuse(p, p->at, tsr_fail(TOO_LARGE, "nested more than %d deep", DEEPEST));
  const uint64_t marks = adopt(p);
  const size_t head = p->used;
  if (!push(p, p->at, (uint64_t)p->open << JSON_SIZE_SHIFT | marks | kind)) return false;
  if (!push(p, NULL, 0)) return false;
  p->open = head;
  p->depth++;
  p->at++;
  return true;
}

static bool close_container(parser *p) {
  tsr_json *head = &p->tape[p->open];
  const size_t span = p->used - p->open, count = head[1].count;
  const uint64_t low = head->word & ((1 << JSON_SIZE_SHIFT) - 1);
  p->open = json_size(head);
  head->word = (uint64_t)span << JSON_SIZE_SHIFT | low;
  if (count) p->tape[head[1].last].word |= JSON_IS_LAST;
  head[1].index = NULL;
  p->depth--;
  p->at++;
  if (json_kind(head) == TSR_JSON_ARRAY || count < 2) return true;
  return count <= MOST_PAIRED_KEYS ? check_few_keys(p, head, count) : index_keys(p, head, count);
}

// Reads from the start of a value to the start of its first scalar, inclusive. An empty container
// is closed here, so that afterwards always a ',' or a closing bracket follows.
static bool read_value(parser *p) {
  for (;;) {
    skip_space(p);
    if (p->at == p->end) return unexpected(p, "a value");
    switch (*p->at) {
      case '{':
        if (!open_container(p, TSR_JSON_OBJECT)) return false;
        skip_space(p);
        if (p->at < p->end && *p->at == '}') return close_container(p);
        if (!read_key(p)) return false;
        break;
      case '[':
        if (!open_container(p, TSR_JSON_ARRAY)) return false;
        skip_space(p);
        if (p->at < p->end && *p->at == ']') return close_container(p);
        break;
      case '"':
        return read_string_value(p);
      case 't':
        return read_word(p, "true", TSR_JSON_BOOL);
      case 'f':
        return read_word(p, "false", TSR_JSON_BOOL);
      case 'n':
        return read_word(p, "null", TSR_JSON_NULL);
      default:
        if (*p->at != '-' && (*p->at < '0' || *p->at > '9')) return unexpected(p, "a value");
        return read_number(p);
    }
  }
}

// Steps from the end of a value to where the next one starts, closing containers on the way.
static bool step(parser *p) {
  while (p->open != DOCUMENT) {
    const bool in_object = json_kind(&p->tape[p->open]) == TSR_JSON_OBJECT;
    skip_space(p);
    if (take(p, ',')) return !in_object || read_key(p);
    if (p->at == p->end || *p->at != (in_object ? '}' : ']'))
      return unexpected(p, in_object ? "',' or '}'" : "',' or ']'");
    if (!close_container(p)) return false;
  }
  return true;
}

static bool read_document(parser *p) {
  if (!push(p, p->at, TSR_JSON_ARRAY) || !push(p, NULL, 0)) return false;
  do {
    if (!read_value(p) || !step(p)) return false;
  } while (p->open != DOCUMENT);
  p->tape[p->tape[1].last].word |= JSON_IS_LAST;
  skip_space(p);
  return p->at == p->end || unexpected(p, "the end of the text");
}

// Fills in a document whose bytes are set, or destroys it.
static tsr_status parse_into(tsr_json_doc *doc, tsr_json_doc **out_doc) {
  // Eight bytes of text make a slot in the headers of checkpoints. Slots that are not reached cost
  // nothing, their memory being never touched.
  const size_t capacity = doc->length / 8 + FIRST_SLOTS;
  parser p = {.at = doc->bytes, .end = doc->bytes + doc->length, .doc = doc, .capacity = capacity};
  p.tape = malloc(capacity * sizeof *p.tape);
  const bool good = p.tape ? read_document(&p) : out_of_memory(&p);
  doc->tape = p.tape;
  if (!good) {
    tsr_json_destroy(doc);
    return p.status;
  }
  *out_doc = doc;
  return NULL;
}

tsr_status tsr_json_parse(const char *bytes, size_t length, tsr_json_doc **out_doc) {
  tsr_json_doc *doc = calloc(1, sizeof *doc);
  if (!doc) return tsr_fail(NO_MEMORY, "JSON document");
  doc->bytes = bytes;
  doc->length = length;
  return parse_into(doc, out_doc);
}

// Reads all there is, also from pipes and devices, which do not know their length.
static tsr_status read_all(int file, char **out_bytes, size_t *out_length) {
  struct stat about;
  const bool sized = !fstat(file, &about) && S_ISREG(about.st_mode) && about.st_size > 0;
  size_t capacity = sized ? (size_t)about.st_size + 1 : 1 << 16, length = 0;
  char *bytes = malloc(capacity);
  for (;;) {
    if (!bytes) return tsr_fail(NO_MEMORY, "file of %zu bytes", capacity);
    const ssize_t got = read(file, bytes + length, capacity - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int error = errno;
      free(bytes);
      return tsr_fail(IO, "%s", strerror(error));
    }
    if (!got) break;
    length += (size_t)got;
    if (length < capacity) continue;
    capacity *= 2;
    char *larger = realloc(bytes, capacity);
    if (!larger) free(bytes);
    bytes = larger;
  }
  *out_bytes = bytes;
  *out_length = length;
  return NULL;
}

static tsr_status read_path(const char *path, char **out_bytes, size_t *out_length) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return tsr_fail(IO, "%s", strerror(errno));
  tsr_status status = read_all(file, out_bytes, out_length);
  close(file);
  return status;
}

tsr_status tsr_json_read_file(const char *path, tsr_json_doc **out_doc) {
  tsr_json_doc *doc = calloc(1, sizeof *doc);
  if (!doc) return tsr_fail(NO_MEMORY, "JSON document");
  tsr_status status = read_path(path, &doc->owned, &doc->length);
  if (status) {
    free(doc);
    return tsr_note(status, "%s", path);
  }
  doc->bytes = doc->owned;
  return tsr_note(parse_into(doc, out_doc), "%s", path);
}
