// Rules that match nothing are often misspelt. The literals of a pattern, its runs of ordinary
// characters between metacharacters, are searched for in the path with a few edits. A hit is a
// hint, not a proof.
#include "advice/near.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum {
  SHORTEST = 4,  // letters that are worth looking for
  LONGEST = 63,
  LETTERS_PER_SLIP = 8
};

static int least(int a, int b) { return a < b ? a : b; }

static int differ(char a, char b) { return tolower((unsigned char)a) != tolower((unsigned char)b); }

// The least number of edits between the word and any substring of the text. Three columns of the
// usual table are kept. The match may begin anywhere, so all columns begin with 0. A swap of
// neighbours is one edit.
static int distance_within(const char *word, int length, const char *text) {
  int columns[3][LONGEST + 1];
  int *before = columns[0], *last = columns[1], *column = columns[2];
  for (int i = 0; i <= length; i++) column[i] = i;
  int best = length;
  for (const char *at = text; *at; at++) {
    int *const spare = before;
    before = last, last = column, column = spare;
    column[0] = 0;
    for (int i = 1; i <= length; i++) {
      const int change = last[i - 1] + differ(word[i - 1], *at);
      column[i] = least(change, 1 + least(last[i], column[i - 1]));
      if (i > 1 && at > text && !differ(word[i - 1], at[-1]) && !differ(word[i - 2], *at))
        column[i] = least(column[i], 1 + before[i - 2]);
    }
    best = least(best, column[length]);
  }
  return best;
}

// ---- literals of a pattern ----

static const char *skip_class(const char *at) {
  at++;
  if (*at == '^') at++;
  if (*at == ']') at++;
  while (*at && *at != ']') at += at[0] == '\\' && at[1] ? 2 : 1;
  return *at ? at + 1 : at;
}

// Skips the group at `at` if it has alternatives, since any of them may be meant; else only its
// opening.
static const char *skip_group(const char *at) {
  int depth = 0;
  bool alternatives = false;
  for (const char *end = at; *end;) {
    if (*end == '\\' && end[1]) {
      end += 2;
      continue;
    }
    if (*end == '[') {
      end = skip_class(end);
      continue;
    }
    alternatives = alternatives || *end == '|';
    depth += (*end == '(') - (*end == ')');
    end++;
    if (!depth && alternatives) return end;
    if (!depth) break;
  }
  const size_t opening = at[1] == '?' ? strcspn(at, ":>=!)") : 0;
  return at[opening] ? at + opening + 1 : at + opening;
}

// Past a class "[...]", a group or its opening "(?P<name>", a count "{2,3}", or one character.
static const char *skip_special(const char *at) {
  if (*at == '[') return skip_class(at);
  if (*at == '(') return skip_group(at);
  const size_t count = *at == '{' ? strcspn(at, "}") : 0;
  return at[count] ? at + count + 1 : at + count;
}

// Takes the ordinary character at `*at`; 0 if there is none.
static char take_plain(const char **at) {
  const char c = **at;
  if (c == '\\' && (*at)[1] && ispunct((unsigned char)(*at)[1])) {
    *at += 2;
    return (*at)[-1];
  }
  if (!c || strchr("\\.^$*+?()[]{}|", c)) return 0;
  (*at)++;
  return c;
}

// Takes the literal at `*at`, if any, and skips the metacharacter after it; false at the end of an
// alternative. A character that may be repeated or absent is left out.
static bool next_literal(const char **at, char *out_literal, int *out_length) {
  int length = 0;
  for (char c; (c = take_plain(at)) != 0;) {
    if (**at && strchr("*?{", **at)) break;
    if (length < LONGEST) out_literal[length++] = c;
  }
  *out_length = length;
  if (!**at || **at == '|') return length > 0;
  if (**at == '\\')
    *at += (*at)[1] ? 2 : 1;
  else
    *at = skip_special(*at);
  return true;
}

// Of one alternative; moves `*at` to its end.
static int alternative_distance(const char **at, const char *path) {
  char literal[LONGEST];
  int sum = 0, length = 0, letters = 0;
  bool near = true;
  while (next_literal(at, literal, &length)) {
    if (length < SHORTEST) continue;
    const int distance = distance_within(literal, length, path);
    near = near && distance <= 1 + length / LETTERS_PER_SLIP;
    letters += length;
    sum += distance;
  }
  return near && letters ? sum : -1;
}

int tsr_pattern_distance(const char *pattern, const char *path) {
  int best = -1;
  for (const char *at = pattern; *at;) {
    const int distance = alternative_distance(&at, path);
    if (distance >= 0 && (best < 0 || distance < best)) best = distance;
    if (*at == '|') at++;
  }
  return best;
}
