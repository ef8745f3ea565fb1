// Patterns are regular expressions, searched for in names as those of rules. The first that matches
// a name decides.
#include "plan/patterns.h"

#include <stdlib.h>
#include <string.h>

#include "plan/tree_internal.h"
#include "regex/regex.h"

typedef struct pattern_set {
  const char *const *patterns;  // borrowed
  int64_t count, compiled;
  tsr_regex *regexes;  // owned
  tsr_regex_engine *engine;
  tsr_regex_scratch scratch;
} pattern_set;

static void deinit_set(pattern_set *set) {
  for (int64_t i = 0; i < set->compiled; i++) tsr_regex_deinit(&set->regexes[i]);
  tsr_regex_scratch_deinit(&set->scratch);
  tsr_regex_engine_destroy(set->engine);
  free(set->regexes);
}

// Deinit also after a failure.
static tsr_status compile(pattern_set *set) {
  set->regexes = calloc((size_t)set->count + 1, sizeof *set->regexes);
  if (!set->regexes) return tsr_fail(NO_MEMORY, "%lld patterns", (long long)set->count);
  TSR_TRY(tsr_regex_engine_create(&set->engine));
  for (; set->compiled < set->count; set->compiled++)
    TSR_TRY(
        tsr_regex_compile(set->engine, set->patterns[set->compiled], &set->regexes[set->compiled]));
  return NULL;
}

static tsr_status search(pattern_set *set, int64_t pattern, const char *name, bool *out_found) {
  return tsr_note(tsr_regex_search(set->engine, &set->regexes[pattern], name, strlen(name),
                                   &set->scratch, out_found),
                  "pattern \"%s\" on the path \"%s\"", set->patterns[pattern], name);
}

static tsr_status match(pattern_set *set, const char *name, int64_t *out_pattern) {
  bool found = false;
  *out_pattern = -1;
  for (int64_t i = 0; i < set->count && !found; i++) {
    TSR_TRY(search(set, i, name, &found));
    if (found) *out_pattern = i;
  }
  return NULL;
}

static tsr_status check_used(pattern_set *set, int64_t pattern, const char *const *names,
                             int64_t count, const int64_t *first) {
  bool found = false;
  for (int64_t i = 0; i < count && !found; i++) found = first[i] == pattern;
  for (int64_t i = 0; i < count && !found; i++) TSR_TRY(search(set, pattern, names[i], &found));
  if (found) return NULL;
  return tsr_fail(NOT_FOUND, "the pattern \"%s\" matches none of %lld tensors",
                  set->patterns[pattern], (long long)count);
}

tsr_status tsr_patterns_match(const char *const *patterns, int64_t count, const char *what,
                              const char *const *names, int64_t name_count, int64_t *out_found) {
  pattern_set set = {.patterns = patterns, .count = count};
  tsr_status status = count ? compile(&set) : NULL;
  for (int64_t i = 0; i < name_count && !status; i++) status = match(&set, names[i], &out_found[i]);
  for (int64_t i = 0; i < count && !status; i++)
    status = check_used(&set, i, names, name_count, out_found);
  deinit_set(&set);
  return tsr_note(status, "%s", what);
}

// ---- trees ----

// Keeps the tensors that a pattern matches, or those that none does. `names` and `found` have room
// for one entry each.
static tsr_status keep(const tsr_tree *tree, const char *const *patterns, int64_t count,
                       bool matching, const char **names, int64_t *found, int64_t *tensors,
                       int64_t *tensor_count) {
  int64_t kept = 0;
  if (count == 0) return NULL;
  for (int64_t i = 0; i < *tensor_count; i++) names[i] = tsr_tree_at(tree, tensors[i])->path;
  TSR_TRY(tsr_patterns_match(patterns, count, matching ? "include" : "exclude", names,
                             *tensor_count, found));
  for (int64_t i = 0; i < *tensor_count; i++)
    if ((found[i] >= 0) == matching) tensors[kept++] = tensors[i];
  *tensor_count = kept;
  return kept ? NULL : tsr_fail(NOT_FOUND, "no tensor is left after leaving out what was excluded");
}

tsr_status tsr_tree_select(const tsr_tree *tree, const tsr_tree_filter *filter,
                           int64_t **out_tensors, int64_t *out_count) {
  int64_t count = tsr_tree_count(tree);
  const size_t room = (size_t)count + 1;
  int64_t *tensors = malloc(sizeof *tensors * room);
  const char **names = malloc(sizeof *names * room);
  int64_t *found = malloc(sizeof *found * room);
  tsr_status status = tensors && names && found
                          ? NULL
                          : tsr_fail(NO_MEMORY, "a list of %lld tensors", (long long)count);
  for (int64_t i = 0; i < count && !status; i++) tensors[i] = i;
  if (!status)
    status =
        keep(tree, filter->include, filter->include_count, true, names, found, tensors, &count);
  if (!status)
    status =
        keep(tree, filter->exclude, filter->exclude_count, false, names, found, tensors, &count);
  free(names);
  free(found);
  if (status) {
    free(tensors);
    return status;
  }
  *out_tensors = tensors;
  *out_count = count;
  return NULL;
}
