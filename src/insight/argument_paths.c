// Names of arguments as JAX writes them, and the paths of tensors that they are.
//
// JAX prints the way to a leaf of its arguments: a name, then ['key'], [0], .field or [<flat index
// 0>] for each step. Checkpoints join the keys by "." or "/". Both are read as the same list of
// keys; a key that holds a separator itself counts as several.
#include <stdbool.h>
#include <string.h>

#include "base/text_internal.h"
#include "insight/insight.h"

typedef struct key_reader {
  const char *at;
} key_reader;

static bool is_quote(char c) { return c == '\'' || c == '"'; }

// A key in brackets: its text without quotes and "<flat index ...>". Advances to what follows.
static size_t read_bracket(const char **at, const char **out_key) {
  static const char flat[] = "<flat index ";
  const char *begin = *at + 1;
  const char quote = is_quote(*begin) ? *begin : '\0';
  const char *end = quote ? strchr(++begin, quote) : strchr(begin, ']');
  // A quote inside a key ends it only before the bracket.
  while (quote && end && end[1] != ']') end = strchr(end + 1, quote);
  if (!end) end = begin + strlen(begin);
  *at = end;
  if (quote && **at) ++*at;
  if (**at == ']') ++*at;
  *out_key = begin;
  const size_t length = (size_t)(end - begin);
  if (length <= sizeof flat || memcmp(begin, flat, sizeof flat - 1) != 0) return length;
  *out_key = begin + sizeof flat - 1;
  return length - sizeof flat;  // without ">"
}

// The next key; false at the end.
static bool next_key(key_reader *reader, const char **out_key, size_t *out_length) {
  if (!*reader->at) return false;
  if (*reader->at == '[') {
    *out_length = read_bracket(&reader->at, out_key);
    return true;
  }
  if (*reader->at == '.' || *reader->at == '/') reader->at++;
  *out_key = reader->at;
  *out_length = strcspn(reader->at, "./[");
  reader->at += *out_length;
  return true;
}

void tsr_argument_path_print(const char *name, tsr_text *out) {
  key_reader reader = {name};
  const char *key = NULL;
  size_t length = 0;
  for (bool first = true; next_key(&reader, &key, &length);) {
    if (!length) continue;
    if (!first) tsr_text_add_char(out, '/');
    tsr_text_add_bytes(out, key, length);
    first = false;
  }
}

// One character of a name after another, keys separated by one '/' each.
typedef struct key_walk {
  key_reader reader;
  const char *key;
  size_t left;
  bool begun;
} key_walk;

static int next_char(key_walk *walk) {
  while (!walk->left) {
    if (!next_key(&walk->reader, &walk->key, &walk->left)) return '\0';
    if (walk->left && walk->begun) return '/';
  }
  walk->begun = true;
  walk->left--;
  const char c = *walk->key++;
  return c == '.' ? '/' : (unsigned char)c;
}

void tsr_argument_key_print(const char *name, tsr_text *out) {
  key_walk walk = {.reader = {name}};
  for (int c; (c = next_char(&walk));) tsr_text_add_char(out, (char)c);
}

bool tsr_argument_matches(const char *name, const char *other) {
  key_walk a = {.reader = {name}}, b = {.reader = {other}};
  for (;;) {
    const int x = next_char(&a), y = next_char(&b);
    if (x != y) return false;
    if (!x) return true;
  }
}
