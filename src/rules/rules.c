// Rules: patterns compiled once, searched in order, shared by threads.
//
// Rules never change once made: texts, specs and compiled patterns. A match skips the patterns
// whose byte pairs the path lacks (regex/byte_pairs.h) and searches for the others in order.
#include "rules/rules.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/room.h"
#include "base/sized.h"
#include "base/status_internal.h"
#include "base/utf8.h"
#include "regex/regex.h"
#include "rules/rules_internal.h"

enum { MOST_RULES = 1 << 30 };

struct tsr_rules {
  atomic_int refs;
  tsr_arena arena;  // of texts
  int count, compiled;
  tsr_rule *items;
  const char *warning;     // NULL = none
  tsr_rules_options kept;  // in the arena
  tsr_regex *regexes;
  tsr_regex_engine *engine;
};

// ---- making ----

tsr_status tsr_rules_options_copy(const tsr_rules_options *options,
                                  tsr_rules_options *out_options) {
  tsr_rules_options read;
  TSR_TRY(tsr_sized_read(tsr_rules_options, options, &read));
  TSR_TRY(tsr_list_check(read.facts, read.fact_count, "facts"));
  for (int64_t i = 0; i < read.fact_count; i++)
    if (!read.facts[i].name) return tsr_fail(BAD_ARGUMENT, "fact %lld has no name", (long long)i);
  TSR_TRY(tsr_list_check(read.rename_axes, read.rename_axis_count, "axes to rename"));
  if (read.keep_axes) TSR_TRY(tsr_list_check(read.keep_axes, read.keep_axis_count, "axes to keep"));
  *out_options = read;
  return NULL;
}

static const char *keep_text(tsr_rules_builder *builder, const char *text) {
  return tsr_arena_copy(&builder->arena, text, strlen(text));
}

// Rules of one file share its name.
static const char *file_of(tsr_rules_builder *builder, const char *file) {
  if (!*file) return "";
  if (builder->count && !strcmp(builder->items[builder->count - 1].file, file))
    return builder->items[builder->count - 1].file;
  return keep_text(builder, file);
}

tsr_status tsr_rules_builder_add(tsr_rules_builder *builder, const tsr_rule *rule,
                                 size_t pattern_length) {
  if (builder->count > INT_MAX / 4) return tsr_fail(TOO_LARGE, "more than %d rules", INT_MAX / 4);
  tsr_rule *items = tsr_grow(builder->items, builder->count, &builder->capacity, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "%d rules", builder->count);
  builder->items = items;
  tsr_rule own = {.file = file_of(builder, rule->file),
                  .line = rule->line,
                  .pattern = tsr_arena_copy(&builder->arena, rule->pattern, pattern_length),
                  .together = builder->together,
                  .over = builder->over,
                  .written = rule->written ? keep_text(builder, rule->written) : NULL};
  if (!own.file || !own.pattern || (rule->written && !own.written))
    return tsr_fail(NO_MEMORY, "a rule");
  own.spec = tsr_spec_retain(rule->spec);
  builder->items[builder->count++] = own;
  return NULL;
}

static bool is_word(const char *name) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  return *name && !name[strspn(name, letters)];
}

tsr_status tsr_rules_builder_together(tsr_rules_builder *builder, const char *name,
                                      const char *over, const tsr_rules_options *options) {
  builder->together = builder->over = NULL;
  if (!name && !over) return NULL;
  if (!name || !over || !*over)
    return tsr_fail(BAD_ARGUMENT, "a group needs a name and an axis, as in attention over tp");
  if (!is_word(name))
    return tsr_fail(BAD_ARGUMENT, "group name \"%s\" may only have letters, digits, _, - and .",
                    name);
  const char *axis = tsr_rule_axis_kept(options, over);
  if (!axis) return NULL;
  if (strstr(axis, "->"))  // which would split a line
    return tsr_fail(BAD_ARGUMENT, "axis \"%s\" of a group contains \"->\"", axis);
  builder->together = keep_text(builder, name);
  builder->over = keep_text(builder, axis);
  return builder->together && builder->over ? NULL : tsr_fail(NO_MEMORY, "a group of rules");
}

tsr_status tsr_rules_builder_warn(tsr_rules_builder *builder, tsr_status reason) {
  if (!builder->warning) {
    const size_t length = (size_t)tsr_status_line_length(reason);
    builder->warning = tsr_arena_copy(&builder->arena, tsr_status_text(reason), length);
  }
  tsr_status_free(reason);
  return builder->warning ? NULL : tsr_fail(NO_MEMORY, "a warning");
}

static void release_specs(const tsr_rule *items, int count) {
  for (int i = 0; i < count; i++) tsr_spec_release(items[i].spec);
}

// Notes the rule: its line, or its number for rules given by a call.
static tsr_status note_rule(tsr_status status, const tsr_rule *rule, int64_t index) {
  if (rule->line) return tsr_note(status, "%s:%lld", rule->file, (long long)rule->line);
  if (*rule->file) return tsr_note(status, "rule %lld of %s", (long long)index, rule->file);
  return tsr_note(status, "rule %lld", (long long)index);
}

static tsr_status compile(tsr_rules *rules) {
  TSR_TRY(tsr_regex_engine_create(&rules->engine));
  for (; rules->compiled < rules->count; rules->compiled++) {
    const int i = rules->compiled;
    tsr_status status =
        tsr_regex_compile(rules->engine, rules->items[i].pattern, &rules->regexes[i]);
    if (status) return note_rule(status, &rules->items[i], i);
  }
  return NULL;
}

static tsr_status finish(tsr_rules_builder *builder, tsr_rules **out_rules) {
  tsr_rules *rules = calloc(1, sizeof *rules);
  tsr_regex *regexes = calloc((size_t)builder->count + 1, sizeof *regexes);
  if (!rules || !regexes) {
    free(rules);
    free(regexes);
    return tsr_fail(NO_MEMORY, "%d rules", builder->count);
  }
  *rules = (tsr_rules){.arena = builder->arena,
                       .count = builder->count,
                       .items = builder->items,
                       .warning = builder->warning,
                       .kept = builder->kept,
                       .regexes = regexes};
  atomic_init(&rules->refs, 1);
  *builder = (tsr_rules_builder)TSR_RULES_BUILDER_EMPTY;
  tsr_status status = compile(rules);
  if (status)
    tsr_rules_release(rules);
  else
    *out_rules = rules;
  return status;
}

tsr_status tsr_rules_builder_finish(tsr_rules_builder *builder, tsr_status status,
                                    tsr_rules **out_rules) {
  if (!status) status = finish(builder, out_rules);
  release_specs(builder->items, builder->count);
  free(builder->items);
  tsr_arena_deinit(&builder->arena);
  return status;
}

static tsr_status add_given(tsr_rules_builder *builder, const tsr_rule *rules, int64_t count) {
  static const tsr_rules_options all = {.size = sizeof all};
  if (count < 0) return tsr_fail(BAD_ARGUMENT, "%lld rules, wanted 0 or more", (long long)count);
  for (int64_t i = 0; i < count; i++) {
    tsr_rule rule = rules[i];
    if (!rule.file) rule.file = "";
    if (!rule.pattern || !rule.spec)
      return tsr_fail(BAD_ARGUMENT, "rule %lld has no %s", (long long)i,
                      rule.pattern ? "spec" : "pattern");
    TSR_TRY_NOTE(tsr_rules_builder_together(builder, rule.together, rule.over, &all), "rule %lld",
                 (long long)i);
    TSR_TRY(tsr_rules_builder_add(builder, &rule, strlen(rule.pattern)));
  }
  return NULL;
}

tsr_status tsr_rules_create(const tsr_rule *rules, int64_t count, tsr_rules **out_rules) {
  tsr_rules_builder builder = TSR_RULES_BUILDER_EMPTY;
  if (count < 0 || count > MOST_RULES || (count && !rules))
    return tsr_fail(BAD_ARGUMENT, "%lld rules%s, wanted 0 to %d", (long long)count,
                    count && !rules ? " in a NULL list" : "", MOST_RULES);
  return tsr_rules_builder_finish(&builder, add_given(&builder, rules, count), out_rules);
}

tsr_rules *tsr_rules_retain(const tsr_rules *rules) {
  tsr_rules *shared = (tsr_rules *)(uintptr_t)rules;
  if (shared) atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
  return shared;
}

void tsr_rules_release(const tsr_rules *shared) {
  tsr_rules *rules = (tsr_rules *)(uintptr_t)shared;
  if (!rules || atomic_fetch_sub_explicit(&rules->refs, 1, memory_order_acq_rel) != 1) return;
  for (int i = 0; i < rules->compiled; i++) tsr_regex_deinit(&rules->regexes[i]);
  free(rules->regexes);
  tsr_regex_engine_destroy(rules->engine);
  release_specs(rules->items, rules->count);
  free(rules->items);
  tsr_arena_deinit(&rules->arena);
  free(rules);
}

const tsr_fact *tsr_rules_facts(const tsr_rules *rules, int64_t *out_count) {
  *out_count = rules->kept.fact_count;
  return rules->kept.facts;
}

const tsr_rules_options *tsr_rules_kept(const tsr_rules *rules) { return &rules->kept; }

const char *tsr_rules_warnings(const tsr_rules *rules) {
  return rules->warning ? rules->warning : "";
}

int64_t tsr_rules_count(const tsr_rules *rules) { return rules->count; }

const tsr_rule *tsr_rules_at(const tsr_rules *rules, int64_t index) {
  return index < 0 || index >= rules->count ? NULL : &rules->items[index];
}

// ---- matching ----

static bool is_utf8(const char *path, size_t length) {
  size_t at = 0;
  while (at < length) {
    const size_t step =
        (unsigned char)path[at] < 0x80 ? 1 : tsr_utf8_length(path + at, length - at);
    if (!step) return false;
    at += step;
  }
  return true;
}

static tsr_status check_path(const char *path, size_t length) {
  if (is_utf8(path, length)) return NULL;
  return tsr_fail(BAD_ARGUMENT, "the path \"%s\" is not UTF-8", path);
}

static tsr_status search(const tsr_rules *rules, int64_t index, const char *path, size_t length,
                         tsr_regex_scratch *scratch, bool *out_found) {
  tsr_status status =
      tsr_regex_search(rules->engine, &rules->regexes[index], path, length, scratch, out_found);
  if (!status) return NULL;
  status = tsr_note(status, "pattern \"%s\" on the path \"%s\"", rules->items[index].pattern, path);
  return note_rule(status, &rules->items[index], index);
}

// Searches for the patterns whose byte pairs the path has, in order.
static tsr_status find_first(const tsr_rules *rules, const char *path, size_t length,
                             tsr_regex_scratch *scratch, int64_t *out_rule) {
  const tsr_byte_pairs pairs = tsr_byte_pairs_of(path, length);
  bool found = false;
  int index = 0;
  for (; index < rules->count; index++) {
    if (!tsr_byte_pairs_contain(&pairs, &rules->regexes[index].pairs)) continue;
    TSR_TRY(search(rules, index, path, length, scratch, &found));
    if (found) break;
  }
  *out_rule = found ? index : -1;
  return NULL;
}

tsr_status tsr_rules_match(const tsr_rules *rules, const char *path, int64_t *out_rule) {
  const size_t length = strlen(path);
  tsr_regex_scratch scratch = TSR_REGEX_SCRATCH_EMPTY;
  TSR_TRY(check_path(path, length));
  tsr_status status = find_first(rules, path, length, &scratch, out_rule);
  tsr_regex_scratch_deinit(&scratch);
  return status;
}

tsr_status tsr_rules_match_one(const tsr_rules *rules, int64_t index, const char *path,
                               bool *out_matches) {
  const size_t length = strlen(path);
  tsr_regex_scratch scratch = TSR_REGEX_SCRATCH_EMPTY;
  if (index < 0 || index >= rules->count)
    return tsr_fail(INDEX_OUT_OF_RANGE, "there is no rule %lld among %d", (long long)index,
                    rules->count);
  TSR_TRY(check_path(path, length));
  tsr_status status = search(rules, index, path, length, &scratch, out_matches);
  tsr_regex_scratch_deinit(&scratch);
  return status;
}
