// A rule that matches nothing is most often misspelt. Its plain parts, the runs of ordinary letters
// between metacharacters, are looked for in the path with a letter or two changed, added, or left
// out. That is no proof of anything, only a hint worth a line.
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

// The least number of edits between the word and any part of the text. Of the usual table, with the
// text across, three columns are kept; the match may begin and end anywhere, so that all columns
// begin with 0. A swap of neighbours is one edit.
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

// ---- plain parts of a pattern ----

static const char *skip_class(const char *at) {
  at++;
  if (*at == '^') at++;
  if (*at == ']') at++;
  while (*at && *at != ']') at += at[0] == '\\' && at[1] ? 2 : 1;
  return *at ? at + 1 : at;
}

// Past the group that opens at `at` if it has alternatives, else past what opens it. Which of its
// alternatives was meant cannot be known.
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

// The letter that stands at `*at` for itself, after which `*at` is moved; 0 if there is none.
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

// Takes the plain part at `*at`, if any, then what stands after it; false at the end of an
// alternative. A letter that may be repeated or left out is not part of it.
static bool next_part(const char **at, char *out_part, int *out_length) {
  int length = 0;
  for (char c; (c = take_plain(at)) != 0;) {
    if (**at && strchr("*?{", **at)) break;
    if (length < LONGEST) out_part[length++] = c;
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
  char part[LONGEST];
  int sum = 0, length = 0, letters = 0;
  bool near = true;
  while (next_part(at, part, &length)) {
    if (length < SHORTEST) continue;
    const int distance = distance_within(part, length, path);
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
