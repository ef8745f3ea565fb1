// Arguments and results by name: one value, or all whose names begin so, as a spec of a pytree's
// prefix means in JAX.
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text_internal.h"
#include "insight/insight.h"
#include "ir/ir.h"
#include "partitioned/partitioned.h"
#include "program/program_internal.h"

tsr_status tsr_value_choice_init(const tsr_program *program, tsr_arena *arena,
                                 tsr_value_choice *out_choice) {
  int64_t entry = 0;
  tsr_program_function function = TSR_PROGRAM_FUNCTION;
  TSR_TRY(tsr_program_entry_function(program, &entry, &function));
  *out_choice = (tsr_value_choice){.argument_count = function.argument_count,
                                   .result_count = function.result_count};
  out_choice->arguments = tsr_arena_zeros(arena, (size_t)function.argument_count + 1, sizeof(bool));
  out_choice->results = tsr_arena_zeros(arena, (size_t)function.result_count + 1, sizeof(bool));
  TSR_NEED(out_choice->arguments && out_choice->results);
  return NULL;
}

// "%arg12" after "%arg", "out3" after "out" -> the number; -1 for anything else.
static int64_t number_after(const char *name, const char *start) {
  const size_t length = strlen(start);
  char *end = NULL;
  if (strncmp(name, start, length) != 0 || !isdigit((unsigned char)name[length])) return -1;
  const long long number = strtoll(name + length, &end, 10);
  return *end ? -1 : number;
}

typedef struct name_match {
  const char *name;
  tsr_text key, other;
  tsr_suggestion near;
  bool failed;  // a text had no memory: clearing it forgets that
} name_match;

// Whether a value's name is the one looked for, or begins with it.
static bool matches(name_match *m, const char *value, bool whole) {
  const char *key = tsr_text_string(&m->key);
  tsr_text_clear(&m->other);
  tsr_argument_key_print(value, &m->other);
  m->failed |= m->other.failed;
  const char *other = tsr_text_string(&m->other);
  if (whole) {
    tsr_suggestion_offer(&m->near, value);
    return !strcmp(key, other);
  }
  return m->key.length && !strncmp(key, other, m->key.length) && other[m->key.length] == '/';
}

typedef tsr_status value_of_fn(const tsr_program *, int64_t, int64_t, tsr_program_value *);

static tsr_status choose_among(const tsr_program *program, value_of_fn *value_of, name_match *m,
                               bool whole, bool *chosen, int64_t count, int64_t *chosen_count) {
  for (int64_t i = 0; i < count; i++) {
    tsr_program_value value = TSR_PROGRAM_VALUE;
    TSR_TRY(value_of(program, tsr_program_entry(program), i, &value));
    if (!matches(m, value.name, whole)) continue;
    chosen[i] = true;
    ++*chosen_count;
  }
  return NULL;
}

static tsr_status choose(const tsr_program *program, name_match *m, tsr_value_choice *choice,
                         bool with_results) {
  const int64_t argument = number_after(m->name, "%arg"), result = number_after(m->name, "out");
  if (argument >= 0 && argument < choice->argument_count) {
    choice->count += !choice->arguments[argument];
    choice->arguments[argument] = true;
    return NULL;
  }
  if (with_results && result >= 0 && result < choice->result_count) {
    choice->results[result] = true;
    choice->count++;
    return NULL;
  }
  tsr_argument_key_print(m->name, &m->key);
  TSR_TRY(tsr_text_check(&m->key));
  for (int whole = 1; whole >= 0 && !choice->count; whole--) {
    TSR_TRY(choose_among(program, tsr_program_argument, m, whole, choice->arguments,
                         choice->argument_count, &choice->count));
    if (!with_results || choice->count) continue;
    TSR_TRY(choose_among(program, tsr_program_result, m, whole, choice->results,
                         choice->result_count, &choice->count));
  }
  return m->failed ? tsr_fail(NO_MEMORY, "name of a value") : NULL;
}

tsr_status tsr_value_choose(const tsr_program *program, const char *name,
                            tsr_value_choice *choice) {
  name_match m = {.name = name, .near = tsr_suggestion_for(name)};
  choice->count = 0;
  tsr_status status = choose(program, &m, choice, true);
  tsr_text_deinit(&m.key);
  tsr_text_deinit(&m.other);
  return status;
}

tsr_status tsr_argument_choose(const tsr_program *program, const char *name, const char *what,
                               tsr_value_choice *choice) {
  if (!name) return tsr_fail(BAD_ARGUMENT, "%s has no name", what);
  name_match m = {.name = name, .near = tsr_suggestion_for(name)};
  choice->count = 0;
  tsr_status status = choose(program, &m, choice, false);
  if (!status && !choice->count)
    status = tsr_fail(NOT_FOUND,
                      "%s \"%s\": the program has %" PRId64
                      " arguments, and none has this name or begins with it" TSR_DID_YOU_MEAN,
                      what, name, choice->argument_count, TSR_SUGGESTED(m.near));
  tsr_text_deinit(&m.key);
  tsr_text_deinit(&m.other);
  return status;
}
