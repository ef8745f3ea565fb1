// Evaluates names and numbers: replaces words by their values, and runs loops.
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text_internal.h"
#include "map/map.h"
#include "rules/rules.h"

enum { MOST_TURNS = 1 << 16 };

void tsr_map_scope_deinit(tsr_map_scope *scope) {
  free(scope->words);
  *scope = (tsr_map_scope){0};
}

tsr_status tsr_map_scope_push(tsr_map_scope *scope, tsr_map_word word) {
  tsr_map_word *words = tsr_grow(scope->words, scope->count, &scope->capacity, sizeof *words);
  if (!words) return tsr_fail(NO_MEMORY, "words of a map");
  scope->words = words;
  scope->words[scope->count++] = word;
  return NULL;
}

static const tsr_map_word *find(const tsr_map_scope *scope, const char *word) {
  for (int i = scope->count; i-- > 0;)
    if (!strcmp(scope->words[i].word, word)) return &scope->words[i];
  return NULL;
}

// Why a word has no number: perhaps it is a capture whose text is not one.
static tsr_status explain(const tsr_map_scope *scope, const char *text, tsr_status status) {
  if (tsr_status_cause(status) != TSR_CAUSE_UNKNOWN_FACT) return status;
  for (int i = 0; i < scope->count; i++) {
    const tsr_map_word *word = &scope->words[i];
    if (word->is_number || !strstr(text, word->word)) continue;
    tsr_status_free(status);
    return tsr_fail(NOT_AN_INTEGER, "capture \"%s\" is \"%s\", which is not a number", word->word,
                    word->text);
  }
  return status;
}

tsr_status tsr_map_number(const tsr_map_scope *scope, const char *text, int64_t *out) {
  tsr_fact *facts = malloc(sizeof *facts * (size_t)(scope->count + 1));
  if (!facts) return tsr_fail(NO_MEMORY, "facts");
  tsr_rules_options options = {.size = sizeof options, .facts = facts};
  for (int i = scope->count; i-- > 0;)
    if (scope->words[i].is_number)
      facts[options.fact_count++] = (tsr_fact){scope->words[i].word, scope->words[i].value};
  tsr_status status = tsr_facts_evaluate(text, &options, out);
  free(facts);
  return status ? tsr_note(explain(scope, text, status), "in \"%s\"", text) : NULL;
}

static tsr_status fill_piece(const tsr_map_scope *scope, const tsr_name_piece *piece,
                             tsr_text *out) {
  const tsr_map_word *word = piece->word ? find(scope, piece->word) : NULL;
  int64_t value = 0;
  if (piece->text || (word && word->text)) {
    tsr_text_add(out, piece->text ? piece->text : word->text);
    return NULL;
  }
  const char *number = piece->word ? piece->word : piece->number;
  TSR_TRY(tsr_map_number(scope, number, &value));
  // A negative layer would make a name that no model has.
  if (value < 0)
    return tsr_fail(INDEX_OUT_OF_RANGE, "{%s} of a name is %lld, wanted 0 or more", number,
                    (long long)value);
  tsr_text_add_int(out, value);
  return NULL;
}

tsr_status tsr_map_name_fill(const tsr_map_scope *scope, const tsr_map_name *name, tsr_text *out) {
  for (int i = 0; i < name->count; i++) TSR_TRY(fill_piece(scope, &name->pieces[i], out));
  return tsr_text_check(out);
}

tsr_status tsr_map_loops_run(tsr_map_scope *scope, const tsr_map_loop *loops, int count,
                             tsr_map_turn_fn *fn, void *context) {
  int64_t from = 0, to = 0;
  if (count == 0) return fn(context, scope);
  TSR_TRY(tsr_map_number(scope, loops->from, &from));
  TSR_TRY(tsr_map_number(scope, loops->to, &to));
  if (from < 0 || to < from || to - from > MOST_TURNS)
    return tsr_fail(INDEX_OUT_OF_RANGE, "a loop over %s from %lld to %lld, wanted 0 to %d turns",
                    loops->variable, (long long)from, (long long)to, MOST_TURNS);
  TSR_TRY(tsr_map_scope_push(
      scope, (tsr_map_word){.word = loops->variable, .value = from, .is_number = true}));
  const int place = scope->count - 1;
  tsr_status status = NULL;
  for (; scope->words[place].value < to && !status; scope->words[place].value++)
    status = tsr_map_loops_run(scope, loops + 1, count - 1, fn, context);
  scope->count = place;
  return status;
}
