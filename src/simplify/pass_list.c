// The list of passes: read, checked, run.
#include "simplify/pass_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"

typedef struct chosen_pass {
  const tsr_pass_table *table;
  const tsr_pass *pass;
  tsr_pass_options options;
} chosen_pass;

typedef struct list_reader {
  const tsr_pass_table *tables;
  int table_count;
  const char *at;
  tsr_arena arena;  // texts of options
} list_reader;

void tsr_pass_report_deinit(tsr_pass_report *report) {
  free(report->changes);
  *report = (tsr_pass_report){0};
}

// ---- words ----

enum { WORD_ROOM = 64 };

static void skip_spaces(list_reader *r) {
  while (*r->at == ' ') r->at++;
}

// A word up to one of `ends`, without spaces around it, cut to what `room` holds.
static void read_word(list_reader *r, const char *ends, char *room) {
  skip_spaces(r);
  size_t length = strcspn(r->at, ends);
  const char *start = r->at;
  r->at += length;
  while (length && start[length - 1] == ' ') length--;
  const size_t kept = length < WORD_ROOM ? length : WORD_ROOM - 1;
  memcpy(room, start, kept);
  room[kept] = '\0';
  skip_spaces(r);
}

// The pass of a name, and the table that it stands in; NULL = none, and `near` has seen all names.
static const tsr_pass *find_pass(const list_reader *r, const char *name, tsr_suggestion *near,
                                 const tsr_pass_table **out_table) {
  for (int t = 0; t < r->table_count; t++)
    for (int i = 0; i < r->tables[t].count; i++) {
      const tsr_pass *pass = &r->tables[t].passes[i];
      *out_table = &r->tables[t];
      if (!strcmp(pass->name, name)) return pass;
      tsr_suggestion_offer(near, pass->name);
    }
  return NULL;
}

// ---- options ----

static tsr_status find_option(const chosen_pass *chosen, const char *name, int *out_index) {
  tsr_suggestion near = tsr_suggestion_for(name);
  for (int i = 0; i < chosen->table->option_count; i++) {
    const tsr_pass_option *option = &chosen->table->options[i];
    if (!(chosen->pass->options >> i & 1)) continue;
    if (!strcmp(option->name, name)) {
      *out_index = i;
      return NULL;
    }
    tsr_suggestion_offer(&near, option->name);
  }
  return tsr_fail(UNKNOWN_PASS, "option \"%s\" of pass \"%s\" is unknown" TSR_DID_YOU_MEAN, name,
                  chosen->pass->name, TSR_SUGGESTED(near));
}

// The place of a value among words such as "basic|aggressive"; -1 = it is none of them.
static int64_t word_index(const char *words, const char *value) {
  const size_t length = strlen(value);
  for (int64_t i = 0;; i++) {
    const size_t size = strcspn(words, "|");
    if (size == length && !memcmp(words, value, size)) return i;
    if (!words[size]) return -1;
    words += size + 1;
  }
}

static tsr_status wrong_value(const chosen_pass *chosen, const tsr_pass_option *option,
                              const char *value, const char *expected) {
  return tsr_fail(SYNTAX, "option \"%s\" of pass \"%s\" is \"%s\", expected %s", option->name,
                  chosen->pass->name, value, expected);
}

static tsr_status read_number(const chosen_pass *chosen, const tsr_pass_option *option,
                              const char *value, int64_t *out_number) {
  char *end = NULL;
  const long long number = strtoll(value, &end, 10);
  if (end == value || *end || number < 1)
    return wrong_value(chosen, option, value, "a positive number");
  *out_number = number;
  return NULL;
}

static tsr_status set_option(list_reader *r, chosen_pass *chosen, int index, const char *value) {
  const tsr_pass_option *option = &chosen->table->options[index];
  int64_t number = 0;
  switch (option->kind) {
    case TSR_PASS_BOOL:
      number = *value ? word_index("false|true|0|1", value) : 1;
      if (number < 0) return wrong_value(chosen, option, value, "true or false");
      number &= 1;
      break;
    case TSR_PASS_COUNT:
      TSR_TRY(read_number(chosen, option, value, &number));
      break;
    case TSR_PASS_CHOICE:
      number = word_index(option->words, value);
      if (number < 0) return wrong_value(chosen, option, value, option->words);
      break;
    case TSR_PASS_TEXT:
      chosen->options.values[index].text = tsr_arena_copy(&r->arena, value, strlen(value));
      TSR_NEED(chosen->options.values[index].text);
      break;
  }
  chosen->options.values[index].given = true;
  chosen->options.values[index].number = number;
  return NULL;
}

// Whether an option of the pass begins here.
static bool is_option(const chosen_pass *chosen, const char *at) {
  for (int i = 0; i < chosen->table->option_count; i++) {
    const char *name = chosen->table->options[i].name;
    const size_t length = strlen(name);
    if (chosen->pass->options >> i & 1 && !strncmp(at, name, length) && strchr(" =,}", at[length]))
      return true;
  }
  return false;
}

// The length of a value without quotes. A text goes on after a comma, as in Shardy's lists of
// names, unless another option follows.
static size_t value_length(const list_reader *r, const chosen_pass *chosen, int index) {
  size_t length = strcspn(r->at, " ,}");
  if (chosen->table->options[index].kind != TSR_PASS_TEXT) return length;
  while (r->at[length] == ',' && !is_option(chosen, r->at + length + 1) && r->at[length + 1] != ' ')
    length += 1 + strcspn(r->at + length + 1, " ,}");
  return length;
}

// What stands after "=": a word, or a text in quotes, in the arena.
static tsr_status read_value(list_reader *r, const chosen_pass *chosen, int index,
                             const char **out_value) {
  const char *pass = chosen->pass->name;
  skip_spaces(r);
  const char quote = *r->at == '\'' || *r->at == '"' ? *r->at++ : '\0';
  const char ends[] = {quote, '\0'};
  const size_t length = quote ? strcspn(r->at, ends) : value_length(r, chosen, index);
  if (quote && !r->at[length])
    return tsr_fail(SYNTAX, "an option of pass \"%s\" lacks a closing quote", pass);
  *out_value = tsr_arena_copy(&r->arena, r->at, length);
  TSR_NEED(*out_value);
  r->at += length + (quote != '\0');
  skip_spaces(r);
  return NULL;
}

// "{all, ops=20}" or "{all=true ops=20}", from the brace on.
static tsr_status read_options(list_reader *r, chosen_pass *chosen) {
  const char *pass = chosen->pass->name;
  r->at++;
  skip_spaces(r);
  while (*r->at && *r->at != '}') {
    char name[WORD_ROOM];
    const char *value = "";
    int index = 0;
    read_word(r, " =,}", name);
    TSR_TRY(find_option(chosen, name, &index));
    if (*r->at == '=') {
      r->at++;
      TSR_TRY(read_value(r, chosen, index, &value));
    }
    TSR_TRY(set_option(r, chosen, index, value));
    if (*r->at == ',') r->at++;
    skip_spaces(r);
  }
  if (!*r->at) return tsr_fail(SYNTAX, "options of pass \"%s\" lack a closing brace", pass);
  r->at++;
  skip_spaces(r);
  return NULL;
}

// ---- the list ----

static tsr_status read_pass(list_reader *r, chosen_pass *out) {
  char name[WORD_ROOM];
  *out = (chosen_pass){0};
  read_word(r, ",{", name);
  tsr_suggestion near = tsr_suggestion_for(name);
  out->pass = find_pass(r, name, &near, &out->table);
  if (!out->pass)
    return tsr_fail(UNKNOWN_PASS, "pass \"%s\" is unknown" TSR_DID_YOU_MEAN, name,
                    TSR_SUGGESTED(near));
  if (*r->at == '{') TSR_TRY(read_options(r, out));
  if (*r->at && *r->at != ',')
    return tsr_fail(SYNTAX, "after pass \"%s\" stands \"%.20s\", expected a comma", name, r->at);
  if (*r->at) r->at++;
  return NULL;
}

static tsr_status read_passes(list_reader *r, chosen_pass *out, int *out_count) {
  int count = 0;
  bool more = true;
  while (more) {
    TSR_TRY(read_pass(r, &out[count++]));
    more = *r->at || r->at[-1] == ',';
  }
  *out_count = count;
  return NULL;
}

static tsr_status run_all(tsr_ir *ir, list_reader *r, chosen_pass *chosen,
                          tsr_pass_report *report) {
  int count = 0;
  TSR_TRY(read_passes(r, chosen, &count));
  for (int i = 0; i < count; i++) {
    const tsr_pass *pass = chosen[i].pass;
    int64_t changes = 0;
    TSR_TRY_NOTE(pass->run(ir, &chosen[i].options, &changes), "in pass %s", pass->name);
    report->changes[report->count++] = (tsr_pass_change){pass->name, changes};
  }
  return NULL;
}

tsr_status tsr_pass_list_run(tsr_ir *ir, const tsr_pass_table *tables, int table_count,
                             const char *list, tsr_pass_report *out_report) {
  size_t most = 1;
  for (const char *at = list; *at; at++) most += *at == ',';
  list_reader r = {.tables = tables, .table_count = table_count, .at = list};
  chosen_pass *chosen = calloc(most, sizeof *chosen);
  tsr_pass_report report = {.changes = calloc(most, sizeof *report.changes)};
  tsr_status status = chosen && report.changes ? run_all(ir, &r, chosen, &report)
                                               : tsr_fail(NO_MEMORY, "a list of passes");
  free(chosen);
  tsr_arena_deinit(&r.arena);
  if (status || !out_report)
    tsr_pass_report_deinit(&report);
  else
    *out_report = report;
  return status;
}
