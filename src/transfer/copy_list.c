// Copies in a compact form: a fixed head, and the loops as words in a shared array. Millions of
// them are sorted and joined.
#include "transfer/copy_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "element/copy_internal.h"
#include "tessera/engine/kernels.h"
#include "tessera/status.h"

static tsr_status add_word(tsr_copy_list *list, int64_t word) {
  int64_t *words = tsr_grow(list->words, list->word_count, &list->word_capacity, sizeof *words);
  if (!words) return tsr_fail(NO_MEMORY, "the loops of %lld copies", (long long)list->count);
  list->words = words;
  words[list->word_count++] = word;
  return NULL;
}

tsr_status tsr_copy_list_add(tsr_copy_list *list, const tsr_copy *copy) {
  tsr_copy_head *heads = tsr_grow(list->heads, list->count, &list->capacity, sizeof *heads);
  if (!heads) return tsr_fail(NO_MEMORY, "%lld copies", (long long)list->count);
  list->heads = heads;
  const int64_t at = list->word_count;
  TSR_TRY(add_word(list, copy->from));
  TSR_TRY(add_word(list, copy->length));
  for (int i = 0; i < copy->loop_count; i++) {
    TSR_TRY(add_word(list, copy->loops[i].count));
    TSR_TRY(add_word(list, copy->loops[i].from));
    TSR_TRY(add_word(list, copy->loops[i].to));
  }
  heads[list->count++] =
      (tsr_copy_head){copy->source, copy->target, copy->to, at, copy->loop_count};
  return NULL;
}

void tsr_copy_list_get(const tsr_copy_list *list, int64_t index, tsr_copy *out_copy) {
  const tsr_copy_head *head = &list->heads[index];
  const int64_t *word = list->words + head->at;
  out_copy->source = head->source;
  out_copy->target = head->target;
  out_copy->to = head->to;
  out_copy->from = word[0];
  out_copy->length = word[1];
  out_copy->loop_count = (int)head->loop_count;
  for (int i = 0; i < out_copy->loop_count; i++)
    out_copy->loops[i] = (tsr_copy_loop){word[2 + 3 * i], word[3 + 3 * i], word[4 + 3 * i]};
}

void tsr_copy_list_deinit(tsr_copy_list *list) {
  free(list->heads);
  free(list->words);
  *list = (tsr_copy_list)TSR_COPY_LIST_EMPTY;
}

// ---- sorting and joining ----

static int by_target(const void *left, const void *right) {
  const tsr_copy_head *a = left, *b = right;
  if (a->target != b->target) return a->target < b->target ? -1 : 1;
  if (a->source != b->source) return a->source < b->source ? -1 : 1;
  return (a->to > b->to) - (a->to < b->to);
}

// Extends `head` by `next` if each run of `next` starts where one of `head` ends, in the same
// loops.
static bool lengthen(tsr_copy_list *list, const tsr_copy_head *head, const tsr_copy_head *next) {
  int64_t *words = list->words + head->at;
  const int64_t *more = list->words + next->at;
  if (head->target != next->target || head->source != next->source ||
      head->loop_count != next->loop_count || head->to + words[1] != next->to ||
      words[0] + words[1] != more[0])
    return false;
  const size_t loops = sizeof *words * 3 * (size_t)head->loop_count;
  if (memcmp(words + 2, more + 2, loops) != 0) return false;
  words[1] += more[1];
  return true;
}

// A longer run may fill its innermost loop.
static void simplify(tsr_copy_list *list, int64_t index) {
  tsr_copy copy;
  tsr_copy_list_get(list, index, &copy);
  tsr_copy_simplify(&copy);
  int64_t *words = list->words + list->heads[index].at;
  words[1] = copy.length;
  list->heads[index].loop_count = copy.loop_count;
  for (int i = 0; i < copy.loop_count; i++) {
    words[2 + 3 * i] = copy.loops[i].count;
    words[3 + 3 * i] = copy.loops[i].from;
    words[4 + 3 * i] = copy.loops[i].to;
  }
}

void tsr_copy_list_tidy(tsr_copy_list *list, int64_t first) {
  if (list->count - first < 2) return;
  tsr_copy_head *heads = list->heads;
  qsort(heads + first, (size_t)(list->count - first), sizeof *heads, by_target);
  int64_t kept = first;
  for (int64_t i = first + 1; i < list->count; i++) {
    if (lengthen(list, &heads[kept], &heads[i]))
      simplify(list, kept);
    else
      heads[++kept] = heads[i];
  }
  list->count = kept + 1;
}
