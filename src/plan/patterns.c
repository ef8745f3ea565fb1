#include "plan/patterns.h"

#include <stdlib.h>

#include "plan/tree_internal.h"
#include "rules/rules_internal.h"
#include "tessera/rules.h"
#include "tessera/tree.h"

static tsr_status compile(const char *const *patterns, int64_t count, tsr_rules **out_rules) {
  tsr_spec *whole = NULL;
  tsr_rule *rules = calloc((size_t)count + 1, sizeof *rules);
  tsr_status status = rules ? tsr_spec_parse("()", TSR_FORM_SHORT, &whole)
                            : tsr_fail(NO_MEMORY, "a list of %lld patterns", (long long)count);
  for (int64_t i = 0; i < count && !status; i++)
    rules[i] = (tsr_rule){.pattern = patterns[i], .spec = whole, .file = ""};
  if (!status) status = tsr_rules_create(rules, count, out_rules);
  tsr_spec_release(whole);
  free(rules);
  return status;
}

static tsr_status check_used(const tsr_rules *rules, int64_t pattern, const char *const *names,
                             int64_t count) {
  bool matches = false;
  for (int64_t i = 0; i < count && !matches; i++)
    TSR_TRY(tsr_rules_match_one(rules, pattern, names[i], &matches));
  if (matches) return NULL;
  return tsr_fail(NOT_FOUND, "the pattern \"%s\" matches none of %lld tensors",
                  tsr_rules_at(rules, pattern)->pattern, (long long)count);
}

tsr_status tsr_patterns_match(const char *const *patterns, int64_t count, const char *what,
                              const char *const *names, int64_t name_count, int64_t *out_found) {
  tsr_rules *rules = NULL;
  tsr_status status = compile(patterns, count, &rules);
  for (int64_t i = 0; i < count && !status; i++) status = check_used(rules, i, names, name_count);
  for (int64_t i = 0; i < name_count && !status; i++)
    status = tsr_rules_match(rules, names[i], &out_found[i]);
  tsr_rules_release(rules);
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
