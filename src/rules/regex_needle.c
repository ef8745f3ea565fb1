// Needles: what the subject must contain if a pattern is to match at all.
//
// A pattern such as (q|k|v)_proj\.weight$ can match only where "_proj.weight" stands, and
// q_proj|wte only where one of two texts does. A sequence offers its runs of plain characters and
// what its pieces need; the offer whose shortest text is longest is kept. An alternation needs
// either side's.
#include <string.h>

#include "base/utf8.h"
#include "rules/regex_syntax.h"

static const tsr_needles nothing;

static size_t shortest(const tsr_needles *needles) {
  size_t length = needles->count ? SIZE_MAX : 0;
  for (int i = 0; i < needles->count; i++)
    if (needles->lengths[i] < length) length = needles->lengths[i];
  return length;
}

// Keeps the sharper of two: longer texts first, then fewer of them.
static void offer(tsr_needles *best, const tsr_needles *other) {
  const size_t a = shortest(best), b = shortest(other);
  if (b > a || (b == a && other->count < best->count)) *best = *other;
  best->exact = false;
}

static tsr_status one_needle(tsr_arena *arena, const char *bytes, size_t length, tsr_needles *out) {
  char *copy = tsr_arena_copy(arena, bytes, length);
  if (!copy) return tsr_fail(NO_MEMORY, "a pattern");
  *out = (tsr_needles){.count = 1, .items = {copy}, .lengths = {length}, .exact = true};
  return NULL;
}

tsr_status tsr_needle_of_character(tsr_arena *arena, uint32_t c, tsr_needles *out) {
  char bytes[4];
  return one_needle(arena, bytes, tsr_utf8_encode(c, bytes), out);
}

void tsr_needles_loosen(tsr_needles *needles) { needles->exact = false; }

void tsr_needles_either(tsr_needles *a, const tsr_needles *b) {
  if (!a->count || !b->count || a->count + b->count > TSR_NEEDLE_MAX) {
    *a = nothing;
    return;
  }
  for (int i = 0; i < b->count; i++) {
    a->items[a->count] = b->items[i];
    a->lengths[a->count++] = b->lengths[i];
  }
  a->exact = false;
}

void tsr_needle_run_init(tsr_needle_run *run, tsr_arena *arena) {
  run->arena = arena;
  run->length = 0;
  run->exact = true;
  run->best = nothing;
}

void tsr_needle_run_mark(tsr_needle_run *run) { run->exact = false; }

static tsr_status flush(tsr_needle_run *run) {
  if (!run->length) return NULL;
  tsr_needles found;
  TSR_TRY(one_needle(run->arena, run->text, run->length, &found));
  offer(&run->best, &found);
  run->length = 0;
  return NULL;
}

tsr_status tsr_needle_run_add(tsr_needle_run *run, const tsr_needles *piece) {
  if (piece->exact && piece->lengths[0] <= TSR_NEEDLE_LENGTH - run->length) {
    memcpy(run->text + run->length, piece->items[0], piece->lengths[0]);
    run->length += piece->lengths[0];
    return NULL;
  }
  run->exact = false;
  TSR_TRY(flush(run));
  offer(&run->best, piece);
  return NULL;
}

tsr_status tsr_needle_run_finish(tsr_needle_run *run, tsr_needles *out) {
  const bool exact = run->exact && run->length;
  TSR_TRY(flush(run));
  *out = run->best;
  out->exact = exact;
  return NULL;
}
