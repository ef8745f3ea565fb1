// Needles: what the subject must contain if a pattern is to match at all.
//
// A pattern such as attn/.*(q|k|v)_proj$ can match only where "attn/" stands and "_proj" too, and
// q_proj|wte only where one of two texts does. A sequence offers its runs of plain characters and
// what its pieces need, and the sharpest offers are kept: a set is as sharp as its shortest text is
// long. An alternation needs what one side or the other does.
#include <string.h>

#include "base/utf8.h"
#include "regex/regex_syntax.h"

static int sharpness(const tsr_needles *set) {
  int length = TSR_NEEDLE_LENGTH + 1;
  for (int i = 0; i < set->count; i++)
    if (set->lengths[i] < length) length = set->lengths[i];
  return length * TSR_NEEDLE_MAX - set->count;
}

// Keeps a set if it is sharper than one that is kept, or there is room.
static void offer(tsr_needs *best, const tsr_needles *set) {
  int at = best->count;
  while (at > 0 && sharpness(&best->sets[at - 1]) < sharpness(set)) at--;
  if (at == TSR_NEED_MAX) return;
  if (best->count < TSR_NEED_MAX) best->count++;
  memmove(&best->sets[at + 1], &best->sets[at],
          (size_t)(best->count - 1 - at) * sizeof best->sets[at]);
  best->sets[at] = *set;
}

static tsr_status one_needle(tsr_arena *arena, const char *bytes, size_t length, tsr_needles *out) {
  char *copy = tsr_arena_copy(arena, bytes, length);
  if (!copy) return tsr_fail(NO_MEMORY, "a pattern");
  *out = (tsr_needles){.count = 1, .items = {copy}, .lengths = {(uint8_t)length}};
  return NULL;
}

tsr_status tsr_needs_of_character(tsr_arena *arena, uint32_t c, tsr_needs *out) {
  char bytes[4];
  const size_t length = tsr_utf8_encode(c, bytes);
  tsr_needs needs = {.count = 1, .exact = true};
  TSR_TRY(one_needle(arena, bytes, length, &needs.sets[0]));
  *out = needs;
  return NULL;
}

void tsr_needs_loosen(tsr_needs *needs) { needs->exact = false; }

void tsr_needs_either(tsr_needs *a, const tsr_needs *b) {
  tsr_needles *set = &a->sets[0];
  a->exact = false;
  if (!a->count || !b->count || set->count + b->sets[0].count > TSR_NEEDLE_MAX) {
    a->count = 0;
    return;
  }
  a->count = 1;
  for (int i = 0; i < b->sets[0].count; i++) {
    set->items[set->count] = b->sets[0].items[i];
    set->lengths[set->count++] = b->sets[0].lengths[i];
  }
}

void tsr_need_run_init(tsr_need_run *run, tsr_arena *arena) {
  run->arena = arena;
  run->length = 0;
  run->exact = true;
  run->best.count = 0;
}

void tsr_need_run_mark(tsr_need_run *run) { run->exact = false; }

static tsr_status flush(tsr_need_run *run) {
  if (!run->length) return NULL;
  tsr_needles found;
  TSR_TRY(one_needle(run->arena, run->text, run->length, &found));
  offer(&run->best, &found);
  run->length = 0;
  return NULL;
}

tsr_status tsr_need_run_add(tsr_need_run *run, const tsr_needs *piece) {
  const tsr_needles *first = &piece->sets[0];
  if (piece->exact && first->lengths[0] <= TSR_NEEDLE_LENGTH - run->length) {
    memcpy(run->text + run->length, first->items[0], first->lengths[0]);
    run->length += first->lengths[0];
    return NULL;
  }
  run->exact = false;
  TSR_TRY(flush(run));
  for (int i = 0; i < piece->count; i++) offer(&run->best, &piece->sets[i]);
  return NULL;
}

tsr_status tsr_need_run_finish(tsr_need_run *run, tsr_needs *out) {
  const bool exact = run->exact && run->length;
  TSR_TRY(flush(run));
  *out = run->best;
  out->exact = exact;
  return NULL;
}
