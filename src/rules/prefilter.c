// The needles of all rules in one automaton (Aho and Corasick's), so that sixty rules cost one walk
// over the path instead of sixty searches.
//
// A state is a prefix of some needle; its row says where each byte leads. Bytes that occur in no
// needle share one column, which keeps the table small enough for the nearest caches. A state knows
// the rules whose needle ends there, and the next shorter suffix that ends a needle too.
//
// The table is bounded: rules whose needles no longer fit are tried on every path, as are those
// without needles. So a prefilter costs time when it is full, never a wrong answer.
#include "rules/prefilter.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STATES = 1 << 15, NO_STATE = 0xffff };

struct tsr_prefilter {
  int rule_count, state_count, column_count;
  uint8_t column[256];  // of each byte
  uint16_t *next;       // [state][column]
  uint16_t *shorter;    // the state of the longest suffix that ends a needle; NO_STATE = none
  int *first;           // of a state's rules in `rules`; state_count + 1 of them
  int *rules;
  uint64_t *always;  // rules to be tried on every path
};

// The trie while it grows: which state each needle ends in.
typedef struct ending {
  int state, rule;
} ending;
typedef struct trie {
  tsr_prefilter *filter;
  ending *endings;
  int ending_count;
} trie;

static uint16_t *row(const tsr_prefilter *filter, int state) {
  return filter->next + (size_t)state * (size_t)filter->column_count;
}

static void choose_columns(tsr_prefilter *filter, const tsr_regex *regexes, int count) {
  bool used[256] = {false};
  for (int r = 0; r < count; r++)
    for (int i = 0; i < regexes[r].needles.count; i++)
      for (size_t j = 0; j < regexes[r].needles.lengths[i]; j++)
        used[(unsigned char)regexes[r].needles.items[i][j]] = true;
  filter->column_count = 1;
  for (int c = 0; c < 256; c++) filter->column[c] = used[c] ? (uint8_t)filter->column_count++ : 0;
}

static size_t needle_bytes(const tsr_needles *needles) {
  size_t sum = 0;
  for (int i = 0; i < needles->count; i++) sum += needles->lengths[i];
  return sum;
}

static void add_needle(trie *t, const char *bytes, size_t length, int rule) {
  tsr_prefilter *filter = t->filter;
  int state = 0;
  for (size_t i = 0; i < length; i++) {
    uint16_t *to = &row(filter, state)[filter->column[(unsigned char)bytes[i]]];
    if (*to == NO_STATE) *to = (uint16_t)filter->state_count++;
    state = *to;
  }
  t->endings[t->ending_count++] = (ending){state, rule};
}

static void add_rules(trie *t, const tsr_regex *regexes, int capacity) {
  for (int r = 0; r < t->filter->rule_count; r++) {
    const tsr_needles *needles = &regexes[r].needles;
    const bool fits = needle_bytes(needles) <= (size_t)(capacity - t->filter->state_count);
    if (!needles->count || !fits)
      t->filter->always[r / 64] |= UINT64_C(1) << (r % 64);
    else
      for (int i = 0; i < needles->count; i++)
        add_needle(t, needles->items[i], needles->lengths[i], r);
  }
}

// Which states end needles, and of which rules: a counting sort by state.
static void sort_endings(const trie *t) {
  tsr_prefilter *filter = t->filter;
  for (int i = 0; i < t->ending_count; i++) filter->first[t->endings[i].state + 1]++;
  for (int s = 0; s < filter->state_count; s++) filter->first[s + 1] += filter->first[s];
  // From behind, so that `first` ends where it should begin.
  for (int i = 0; i < t->ending_count; i++)
    filter->rules[--filter->first[t->endings[i].state + 1]] = t->endings[i].rule;
  memmove(filter->first, filter->first + 1, (size_t)filter->state_count * sizeof *filter->first);
  filter->first[filter->state_count] = t->ending_count;
}

static bool ends_needle(const tsr_prefilter *filter, int state) {
  return filter->first[state + 1] > filter->first[state];
}

// Breadth first: a state's longest suffix is shorter, hence done before it. `fail` and `queue` have
// room for every state.
static void link_states(tsr_prefilter *filter, uint16_t *fail, uint16_t *queue) {
  int head = 0, tail = 0;
  queue[tail++] = 0;
  fail[0] = 0;
  filter->shorter[0] = NO_STATE;
  while (head < tail) {
    const int state = queue[head++];
    for (int c = 0; c < filter->column_count; c++) {
      uint16_t *to = &row(filter, state)[c];
      const uint16_t other = state ? row(filter, fail[state])[c] : 0;
      if (*to == NO_STATE) {
        *to = other;
        continue;
      }
      fail[*to] = other;
      filter->shorter[*to] = ends_needle(filter, other) ? other : filter->shorter[other];
      queue[tail++] = *to;
    }
  }
}

static int most_states(const tsr_regex *regexes, int count) {
  size_t states = 1;
  for (int r = 0; r < count && states < MOST_STATES; r++)
    states += needle_bytes(&regexes[r].needles);
  return states < MOST_STATES ? (int)states : MOST_STATES;
}

static size_t count_needles(const tsr_regex *regexes, int count) {
  size_t sum = 0;
  for (int r = 0; r < count; r++) sum += (size_t)regexes[r].needles.count;
  return sum;
}

void tsr_prefilter_destroy(tsr_prefilter *filter) {
  if (!filter) return;
  free(filter->next);
  free(filter->shorter);
  free(filter->first);
  free(filter->rules);
  free(filter->always);
  free(filter);
}

// Whether there was memory for everything.
static bool build(tsr_prefilter *filter, const tsr_regex *regexes) {
  const int capacity = most_states(regexes, filter->rule_count);
  const size_t states = (size_t)capacity, needles = count_needles(regexes, filter->rule_count);
  const size_t cells = states * (size_t)filter->column_count;
  trie t = {.filter = filter, .endings = calloc(needles + 1, sizeof *t.endings)};
  uint16_t *links = calloc(2 * states, sizeof *links);
  filter->next = malloc(cells * sizeof *filter->next);
  filter->shorter = calloc(states, sizeof *filter->shorter);
  filter->first = calloc(states + 1, sizeof *filter->first);
  filter->rules = calloc(needles + 1, sizeof *filter->rules);
  filter->always = calloc((size_t)tsr_prefilter_words(filter) + 1, sizeof *filter->always);
  const bool room = t.endings && links && filter->next && filter->shorter && filter->first &&
                    filter->rules && filter->always;
  if (room) {
    memset(filter->next, 0xff, cells * sizeof *filter->next);
    filter->state_count = 1;
    add_rules(&t, regexes, capacity);
    sort_endings(&t);
    link_states(filter, links, links + states);
  }
  free(t.endings);
  free(links);
  return room;
}

tsr_status tsr_prefilter_create(const tsr_regex *regexes, int count, tsr_prefilter **out_filter) {
  tsr_prefilter *filter = calloc(1, sizeof *filter);
  if (!filter) return tsr_fail(NO_MEMORY, "a filter of %d rules", count);
  filter->rule_count = count;
  choose_columns(filter, regexes, count);
  if (!build(filter, regexes)) {
    tsr_prefilter_destroy(filter);
    return tsr_fail(NO_MEMORY, "a filter of %d rules", count);
  }
  *out_filter = filter;
  return NULL;
}

int tsr_prefilter_words(const tsr_prefilter *filter) { return (filter->rule_count + 63) / 64; }

void tsr_prefilter_run(const tsr_prefilter *filter, const char *path, size_t length,
                       uint64_t *out_candidates) {
  memcpy(out_candidates, filter->always,
         (size_t)tsr_prefilter_words(filter) * sizeof *out_candidates);
  int state = 0;
  for (size_t i = 0; i < length; i++) {
    state = row(filter, state)[filter->column[(unsigned char)path[i]]];
    for (int at = state; at != NO_STATE; at = filter->shorter[at])
      for (int j = filter->first[at]; j < filter->first[at + 1]; j++)
        out_candidates[filter->rules[j] / 64] |= UINT64_C(1) << (filter->rules[j] % 64);
  }
}
