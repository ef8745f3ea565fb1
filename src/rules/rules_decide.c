// The spec of one tensor: the first rule that matches, then the limits of its shape.
#include "rules/rules_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
  DEFAULT_MIN_SIZE = 16384,
  LEAST_IN_COMMON = 4  // characters that make two texts worth comparing
};

static tsr_status empty_spec(tsr_decision_kind kind, int64_t rule, tsr_rule_decision *out) {
  const tsr_spec_desc desc = {.size = sizeof desc};
  tsr_spec *spec = NULL;
  TSR_TRY(tsr_spec_create(&desc, &spec));
  *out = (tsr_rule_decision){kind, rule, spec};
  return NULL;
}

static tsr_status cut_to_rank(const tsr_spec *spec, int rank, int64_t rule,
                              tsr_rule_decision *out) {
  tsr_spec_desc desc = *tsr_spec_desc_of(spec);
  tsr_spec *cut = NULL;
  desc.dim_count = rank;
  TSR_TRY(tsr_spec_create(&desc, &cut));
  *out = (tsr_rule_decision){TSR_DECIDED_CUT_TO_RANK, rule, cut};
  return NULL;
}

static tsr_status take_rule(const tsr_rules *rules, int64_t rule, tsr_rule_decision *out) {
  *out = (tsr_rule_decision){TSR_DECIDED_BY_RULE, rule,
                             tsr_spec_retain(tsr_rules_at(rules, rule)->spec)};
  return NULL;
}

tsr_status tsr_rules_decide(const tsr_rules *rules, const char *path, const tsr_shape *shape,
                            int64_t min_size, bool raw, tsr_rule_decision *out_decision) {
  const int rank = shape ? shape->rank : 0;
  int64_t rule = -1;
  if (!raw && !rank) return empty_spec(TSR_DECIDED_SCALAR, -1, out_decision);
  TSR_TRY(tsr_rules_match(rules, path, &rule));
  if (rule < 0) {
    *out_decision = (tsr_rule_decision){TSR_DECIDED_NO_RULE, -1, NULL};
    return NULL;
  }
  if (raw) return take_rule(rules, rule, out_decision);
  const tsr_spec *spec = tsr_rules_at(rules, rule)->spec;
  int64_t elements = 0;
  TSR_TRY(tsr_shape_count(shape, &elements));
  if (elements < min_size) return empty_spec(TSR_DECIDED_SMALL, rule, out_decision);
  if (tsr_spec_desc_of(spec)->dim_count > rank) return cut_to_rank(spec, rank, rule, out_decision);
  return take_rule(rules, rule, out_decision);
}

tsr_status tsr_min_sharding_size(int64_t *out_size) {
  const char *text = getenv("MIN_SHARDING_SIZE");
  char *end = NULL;
  if (!text) {
    *out_size = DEFAULT_MIN_SIZE;
    return NULL;
  }
  errno = 0;
  const long long value = strtoll(text, &end, 10);
  if (end == text || *end || errno)
    return tsr_fail(NOT_AN_INTEGER, "MIN_SHARDING_SIZE is \"%s\", wanted an integer", text);
  *out_size = value;
  return NULL;
}

// ---- near misses ----

// The length of the longest text that both contain.
static int in_common(const char *a, const char *b) {
  int longest = 0;
  for (; *a; a++)
    for (const char *at = b; *at; at++) {
      int length = 0;
      while (a[length] && a[length] == at[length]) length++;
      if (length > longest) longest = length;
    }
  return longest;
}

int64_t tsr_rules_nearest(const tsr_rules *rules, const char *path) {
  int64_t nearest = -1, most = LEAST_IN_COMMON - 1;
  for (int64_t i = 0; i < tsr_rules_count(rules); i++) {
    const int length = in_common(tsr_rules_at(rules, i)->pattern, path);
    if (length <= most) continue;
    most = length;
    nearest = i;
  }
  return nearest;
}

tsr_status tsr_rules_no_rule(const tsr_rules *rules, const char *path) {
  const int64_t nearest = tsr_rules_nearest(rules, path);
  if (nearest < 0) return tsr_fail(NO_RULE, "no rule matches \"%s\"", path);
  const tsr_rule *rule = tsr_rules_at(rules, nearest);
  if (rule->line)
    return tsr_fail(NO_RULE, "no rule matches \"%s\"; the nearest is %s:%lld \"%s\"", path,
                    rule->file, (long long)rule->line, rule->pattern);
  return tsr_fail(NO_RULE, "no rule matches \"%s\"; the nearest is rule %lld \"%s\"", path,
                  (long long)nearest, rule->pattern);
}
