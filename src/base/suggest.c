// The distance is the number of single edits: a letter added, dropped, changed, or swapped with its
// neighbour ("modle" is one swap from "model"). Letter case costs nothing, as it is the most likely
// mistake.
#include "base/suggest.h"

#include <ctype.h>
#include <string.h>

#include "base/text_internal.h"
#include "tessera/text.h"

enum { LONGEST = 63 };

static size_t least(size_t a, size_t b, size_t c) {
  const size_t ab = a < b ? a : b;
  return ab < c ? ab : c;
}

static bool same_letter(char a, char b) {
  return tolower((unsigned char)a) == tolower((unsigned char)b);
}

// Optimal string alignment over three rows; both words have at most LONGEST letters.
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length) {
  size_t rows[3][LONGEST + 1];
  size_t *before = rows[0], *above = rows[1], *row = rows[2];
  for (size_t j = 0; j <= b_length; j++) row[j] = j;
  for (size_t i = 1; i <= a_length; i++) {
    size_t *const spare = before;
    before = above, above = row, row = spare;
    row[0] = i;
    for (size_t j = 1; j <= b_length; j++) {
      const size_t change = above[j - 1] + !same_letter(a[i - 1], b[j - 1]);
      row[j] = least(change, above[j] + 1, row[j - 1] + 1);
      if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
        row[j] = least(row[j], before[j - 2] + 1, row[j]);
    }
  }
  return row[b_length];
}

// One edit in three letters is a slip; more is another word. A short word bears one.
tsr_suggestion tsr_suggestion_for(const char *word) {
  const size_t length = strlen(word);
  const size_t slips = length < 2 ? 0 : length < 6 ? 1 : length / 3;
  return (tsr_suggestion){.word = word, .best = NULL, .distance = slips + 1};
}

void tsr_suggestion_offer(tsr_suggestion *suggestion, const char *known) {
  const size_t a = strlen(suggestion->word), b = strlen(known);
  if (a > LONGEST || b > LONGEST) return;
  if ((a > b ? a - b : b - a) >= suggestion->distance) return;
  const size_t distance = edit_distance(suggestion->word, a, known, b);
  if (distance >= suggestion->distance) return;
  suggestion->best = known;
  suggestion->distance = distance;
}
