// The needles of all rules in one automaton (Aho and Corasick's), so that sixty rules cost one walk
// over the path instead of sixty searches.
//
// A state is a prefix of some needle; its row says where each byte leads. Bytes that occur in no
// needle share one column, which keeps the table small enough for the nearest caches. A state knows
// what to report when it is reached: itself if a needle ends there, else the next shorter suffix
// that ends one. A rule has up to TSR_NEED_MAX sets of needles, and a bit for each set; it is a
// candidate when all its bits are set. Bits of sets that a rule does not have are set from the
// start.
//
// The table is bounded: a set whose needles no longer fit counts as one the rule does not have. So
// the filter costs time when it is full, never a wrong answer.
#include "regex/prefilter.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STATES = 1 << 15, NO_STATE = 0xffff };

// Bits of one word of the scratch memory that a state sets.
typedef struct hit {
  uint64_t mask;
  int word;
} hit;

struct tsr_prefilter {
  int rule_count, state_count, column_count;
  uint8_t column[256];  // of each byte
  uint16_t *next;       // [state][column]
  uint16_t *report;     // the longest suffix of a state that ends a needle, itself too
  uint16_t *shorter;    // the same, but not itself
  int *first;           // of a state's hits in `hits`; state_count + 1 of them
  hit *hits;
  uint64_t *always;  // [set][word]: bits that are set from the start
};

// Needles while the trie grows: which state each ends in, and its bit: set * 64 * words + rule.
typedef struct ending {
  int state, bit;
} ending;
typedef struct trie {
  tsr_prefilter *filter;
  ending *endings;
  int ending_count, capacity;  // of states
} trie;

static uint16_t *row(const tsr_prefilter *filter, int state) {
  return filter->next + (size_t)state * (size_t)filter->column_count;
}

static void mark_bytes(const tsr_needles *set, bool *used) {
  for (int i = 0; i < set->count; i++)
    for (int j = 0; j < set->lengths[i]; j++) used[(unsigned char)set->items[i][j]] = true;
}

static void choose_columns(tsr_prefilter *filter, const tsr_regex *regexes) {
  bool used[256] = {false};
  for (int r = 0; r < filter->rule_count; r++)
    for (int s = 0; s < regexes[r].needs.count; s++) mark_bytes(&regexes[r].needs.sets[s], used);
  filter->column_count = 1;
  for (int c = 0; c < 256; c++) filter->column[c] = used[c] ? (uint8_t)filter->column_count++ : 0;
}

static int set_bytes(const tsr_needles *set) {
  int sum = 0;
  for (int i = 0; i < set->count; i++) sum += set->lengths[i];
  return sum;
}

static void add_needle(trie *t, const char *bytes, int length, int bit) {
  tsr_prefilter *filter = t->filter;
  int state = 0;
  for (int i = 0; i < length; i++) {
    uint16_t *to = &row(filter, state)[filter->column[(unsigned char)bytes[i]]];
    if (*to == NO_STATE) *to = (uint16_t)filter->state_count++;
    state = *to;
  }
  t->endings[t->ending_count++] = (ending){state, bit};
}

static void add_set(trie *t, const tsr_needs *needs, int index, int bit) {
  const tsr_needles *set = &needs->sets[index];
  if (index >= needs->count || set_bytes(set) > t->capacity - t->filter->state_count) {
    t->filter->always[bit / 64] |= UINT64_C(1) << (bit % 64);
    return;
  }
  for (int i = 0; i < set->count; i++) add_needle(t, set->items[i], set->lengths[i], bit);
}

// Set by set, so that every rule has its sharpest before the table fills.
static void add_rules(trie *t, const tsr_regex *regexes) {
  const int words = tsr_prefilter_words(t->filter);
  for (int s = 0; s < TSR_NEED_MAX; s++)
    for (int r = 0; r < t->filter->rule_count; r++)
      add_set(t, &regexes[r].needs, s, s * words * 64 + r);
}

static int compare_endings(const void *a, const void *b) {
  const ending *x = a, *y = b;
  if (x->state != y->state) return x->state < y->state ? -1 : 1;
  return x->bit < y->bit ? -1 : x->bit > y->bit;
}

// Which bits each state sets, those of a word together.
static void gather_hits(const trie *t) {
  tsr_prefilter *filter = t->filter;
  int state = 0, count = 0;
  if (t->ending_count)
    qsort(t->endings, (size_t)t->ending_count, sizeof *t->endings, compare_endings);
  for (int i = 0; i < t->ending_count; i++) {
    const ending *e = &t->endings[i];
    const int word = e->bit / 64;
    const bool same = count > filter->first[state] && state == e->state;
    for (; state < e->state; state++) filter->first[state + 1] = count;
    if (!same || filter->hits[count - 1].word != word) filter->hits[count++] = (hit){0, word};
    filter->hits[count - 1].mask |= UINT64_C(1) << (e->bit % 64);
  }
  for (; state < filter->state_count; state++) filter->first[state + 1] = count;
}

// Breadth first: a state's longest suffix is shorter, hence done before it. `fail` and `queue` have
// room for every state.
static void link_states(tsr_prefilter *filter, uint16_t *fail, uint16_t *queue) {
  int head = 0, tail = 0;
  queue[tail++] = 0;
  fail[0] = 0;
  filter->report[0] = filter->shorter[0] = NO_STATE;
  while (head < tail) {
    const int state = queue[head++];
    for (int c = 0; c < filter->column_count; c++) {
      uint16_t *to = &row(filter, state)[c];
      const uint16_t suffix = state ? row(filter, fail[state])[c] : 0;
      if (*to == NO_STATE) {
        *to = suffix;
        continue;
      }
      const bool ends = filter->first[*to + 1] > filter->first[*to];
      fail[*to] = suffix;
      filter->shorter[*to] = filter->report[suffix];
      filter->report[*to] = ends ? *to : filter->report[suffix];
      queue[tail++] = *to;
    }
  }
}

// Room for all needles, within bounds: the number of states, and of needles.
static int measure(const tsr_regex *regexes, int count, size_t *out_needles) {
  size_t states = 1;
  *out_needles = 0;
  for (int r = 0; r < count; r++)
    for (int s = 0; s < regexes[r].needs.count; s++) {
      *out_needles += (size_t)regexes[r].needs.sets[s].count;
      if (states < MOST_STATES) states += (size_t)set_bytes(&regexes[r].needs.sets[s]);
    }
  return states < MOST_STATES ? (int)states : MOST_STATES;
}

void tsr_prefilter_destroy(tsr_prefilter *filter) {
  if (!filter) return;
  free(filter->next);
  free(filter->report);
  free(filter->shorter);
  free(filter->first);
  free(filter->hits);
  free(filter->always);
  free(filter);
}

// Whether there was memory for everything.
static bool build(tsr_prefilter *filter, const tsr_regex *regexes) {
  size_t needles = 0;
  trie t = {.filter = filter, .capacity = measure(regexes, filter->rule_count, &needles)};
  const size_t states = (size_t)t.capacity, cells = states * (size_t)filter->column_count;
  const size_t words = (size_t)tsr_prefilter_words(filter);
  uint16_t *links = calloc(2 * states, sizeof *links);
  t.endings = calloc(needles + 1, sizeof *t.endings);
  filter->next = malloc(cells * sizeof *filter->next);
  filter->report = calloc(states, sizeof *filter->report);
  filter->shorter = calloc(states, sizeof *filter->shorter);
  filter->first = calloc(states + 1, sizeof *filter->first);
  filter->hits = calloc(needles + 1, sizeof *filter->hits);
  filter->always = calloc(TSR_NEED_MAX * words + 1, sizeof *filter->always);
  const bool room = links && t.endings && filter->next && filter->report && filter->shorter &&
                    filter->first && filter->hits && filter->always;
  if (room) {
    memset(filter->next, 0xff, cells * sizeof *filter->next);
    filter->state_count = 1;
    add_rules(&t, regexes);
    gather_hits(&t);
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
  choose_columns(filter, regexes);
  if (!build(filter, regexes)) {
    tsr_prefilter_destroy(filter);
    return tsr_fail(NO_MEMORY, "a filter of %d rules", count);
  }
  *out_filter = filter;
  return NULL;
}

int tsr_prefilter_words(const tsr_prefilter *filter) { return (filter->rule_count + 63) / 64; }

void tsr_prefilter_run(const tsr_prefilter *filter, const char *path, size_t length,
                       uint64_t *scratch) {
  const size_t words = (size_t)tsr_prefilter_words(filter);
  memcpy(scratch, filter->always, TSR_NEED_MAX * words * sizeof *scratch);
  int state = 0;
  for (size_t i = 0; i < length; i++) {
    state = row(filter, state)[filter->column[(unsigned char)path[i]]];
    for (int at = filter->report[state]; at != NO_STATE; at = filter->shorter[at])
      for (int j = filter->first[at]; j < filter->first[at + 1]; j++)
        scratch[filter->hits[j].word] |= filter->hits[j].mask;
  }
  for (size_t w = 0; w < words; w++)
    for (size_t s = 1; s < TSR_NEED_MAX; s++) scratch[w] &= scratch[s * words + w];
}
