// The list of passes: read, checked, run.
#include "simplify/passes.h"

#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "simplify/rewriter.h"

enum { ROUNDS = 8 };

static const struct {
  tsr_pass_info info;
  tsr_pass_fn *run;
} passes[] = {
#define PASS(name, function, summary) {{name, summary}, tsr_pass_##function},
#include "simplify/passes.def"
#undef PASS
};
enum { PASS_COUNT = sizeof passes / sizeof *passes };

int tsr_pass_count(void) { return PASS_COUNT; }

const tsr_pass_info *tsr_pass_info_of(int index) {
  return index >= 0 && index < PASS_COUNT ? &passes[index].info : NULL;
}

void tsr_pass_report_deinit(tsr_pass_report *report) {
  free(report->changes);
  *report = (tsr_pass_report){0};
}

// ---- simplify ----

static tsr_status simplify_once(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  const tsr_rewrite_set sets[] = {tsr_algebra_rules(), tsr_transpose_rules(), tsr_reshape_rules(),
                                  tsr_fold_rules()};
  TSR_TRY(tsr_pass_inline(ir, options, changes));
  TSR_TRY(tsr_rewrite(ir, options, sets, sizeof sets / sizeof *sets, changes));
  TSR_TRY(tsr_pass_canonicalize(ir, options, changes));
  TSR_TRY(tsr_pass_cse(ir, options, changes));
  return tsr_pass_symbol_dce(ir, options, changes);
}

tsr_status tsr_pass_simplify(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  const int64_t rounds = options->rounds ? options->rounds : ROUNDS;
  for (int64_t i = 0; i < rounds; i++) {
    const int64_t before = *changes;
    TSR_TRY(simplify_once(ir, options, changes));
    if (*changes == before) return NULL;
  }
  return NULL;
}

// ---- reading the list ----

typedef struct chosen_pass {
  int index;
  tsr_pass_options options;
} chosen_pass;

// A word up to one of `ends`, without spaces around it, in `room`; NULL if it is too long.
enum { WORD_ROOM = 64 };
static const char *read_word(const char **at, const char *ends, char *room) {
  while (**at == ' ') ++*at;
  size_t length = strcspn(*at, ends);
  const char *start = *at;
  *at += length;
  while (length && start[length - 1] == ' ') length--;
  const size_t kept = length < WORD_ROOM ? length : WORD_ROOM - 1;
  memcpy(room, start, kept);
  room[kept] = '\0';
  return room;
}

static tsr_status find_pass(const char *name, int *out_index) {
  tsr_suggestion near = tsr_suggestion_for(name);
  for (int i = 0; i < PASS_COUNT; i++) {
    if (!strcmp(passes[i].info.name, name)) {
      *out_index = i;
      return NULL;
    }
    tsr_suggestion_offer(&near, passes[i].info.name);
  }
  return tsr_fail(UNKNOWN_PASS, "pass \"%s\" is unknown" TSR_DID_YOU_MEAN, name,
                  TSR_SUGGESTED(near));
}

static tsr_status set_number(const char *pass, const char *name, const char *value,
                             int64_t *out_number) {
  char *end = NULL;
  const long long number = strtoll(value, &end, 10);
  if (end == value || *end || number < 1)
    return tsr_fail(SYNTAX, "option \"%s\" of pass \"%s\" is \"%s\", expected a positive number",
                    name, pass, value);
  *out_number = number;
  return NULL;
}

static tsr_status set_option(const char *pass, const char *name, const char *value,
                             tsr_pass_options *options) {
  static const char *const names[] = {"all", "elements", "ops", "rounds"};
  if (!strcmp(name, "all") && !*value) {
    options->all = true;
    return NULL;
  }
  if (!strcmp(name, "elements")) return set_number(pass, name, value, &options->elements);
  if (!strcmp(name, "ops")) return set_number(pass, name, value, &options->ops);
  if (!strcmp(name, "rounds")) return set_number(pass, name, value, &options->rounds);
  tsr_suggestion near = tsr_suggestion_for(name);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) tsr_suggestion_offer(&near, names[i]);
  return tsr_fail(UNKNOWN_PASS, "option \"%s\" of pass \"%s\" is unknown" TSR_DID_YOU_MEAN, name,
                  pass, TSR_SUGGESTED(near));
}

// "{all, ops=20}", from the brace on.
static tsr_status read_options(const char *pass, const char **at, tsr_pass_options *options) {
  char name[WORD_ROOM], value[WORD_ROOM];
  do {
    ++*at;
    read_word(at, "=,}", name);
    *value = '\0';
    if (**at == '=') {
      ++*at;
      read_word(at, ",}", value);
    }
    TSR_TRY(set_option(pass, name, value, options));
  } while (**at == ',');
  if (**at != '}') return tsr_fail(SYNTAX, "options of pass \"%s\" lack a closing brace", pass);
  ++*at;
  while (**at == ' ') ++*at;
  return NULL;
}

static tsr_status read_pass(const char **at, chosen_pass *out) {
  char name[WORD_ROOM];
  *out = (chosen_pass){0};
  read_word(at, ",{", name);
  TSR_TRY(find_pass(name, &out->index));
  if (**at == '{') TSR_TRY(read_options(name, at, &out->options));
  if (**at && **at != ',')
    return tsr_fail(SYNTAX, "after pass \"%s\" stands \"%.20s\", expected a comma", name, *at);
  if (**at) ++*at;
  return NULL;
}

static tsr_status read_passes(const char *text, chosen_pass *out, int *out_count) {
  int count = 0;
  bool more = true;
  while (more) {
    TSR_TRY(read_pass(&text, &out[count++]));
    more = *text || text[-1] == ',';
  }
  *out_count = count;
  return NULL;
}

// ---- running ----

static tsr_status run_all(tsr_ir *ir, const char *text, chosen_pass *chosen,
                          tsr_pass_report *report) {
  int count = 0;
  TSR_TRY(read_passes(text, chosen, &count));
  for (int i = 0; i < count; i++) {
    const char *name = passes[chosen[i].index].info.name;
    int64_t changes = 0;
    TSR_TRY_NOTE(passes[chosen[i].index].run(ir, &chosen[i].options, &changes), "in pass %s", name);
    report->changes[report->count++] = (tsr_pass_change){name, changes};
  }
  return NULL;
}

tsr_status tsr_passes_run(tsr_ir *ir, const char *text, tsr_pass_report *out_report) {
  size_t most = 1;
  for (const char *at = text; *at; at++) most += *at == ',';
  chosen_pass *chosen = calloc(most, sizeof *chosen);
  tsr_pass_report report = {.changes = calloc(most, sizeof *report.changes)};
  tsr_status status = chosen && report.changes ? run_all(ir, text, chosen, &report)
                                               : tsr_fail(NO_MEMORY, "a list of passes");
  free(chosen);
  if (status || !out_report)
    tsr_pass_report_deinit(&report);
  else
    *out_report = report;
  return status;
}
