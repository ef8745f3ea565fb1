// Rules made from other rules: flax's composite_rules, and t5x's standard lists.
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/text_internal.h"
#include "rules/logical_internal.h"
#include "tessera/compat/t5x_rules.h"

// ---- two lists as one ----

// A rule and its position in both lists joined, `a` before `b`.
typedef struct rule_place {
  const tsr_logical_rule *rule;
  int64_t position;
} rule_place;

static int by_name(const void *left, const void *right) {
  const rule_place *a = left, *b = right;
  const int order = strcmp(a->rule->name, b->rule->name);
  return order ? order : tsr_compare(a->position, b->position);
}

static int by_position(const void *left, const void *right) {
  const rule_place *a = left, *b = right;
  return tsr_compare(a->position, b->position);
}

static tsr_status fail_conflict(const tsr_logical_rule *held, const tsr_logical_rule *rule) {
  tsr_text axes = TSR_TEXT_EMPTY;
  tsr_entry_print(&held->entry, &axes);
  tsr_text_add(&axes, " and to ");
  tsr_entry_print(&rule->entry, &axes);
  return tsr_text_end(&axes, tsr_fail(CONFLICTING_RULES, "logical axis \"%s\" is mapped to %s",
                                      rule->name, tsr_text_string(&axes)));
}

// Folds all rules of one name to one: its last meaning in `a`, with which all of `b` must agree, at
// its first position.
static tsr_status fold(const rule_place *places, int64_t count, int64_t first_count,
                       rule_place *out_place) {
  const tsr_logical_rule *held = places[0].rule;
  for (int64_t i = 1; i < count; i++) {
    const tsr_logical_rule *rule = places[i].rule;
    if (places[i].position >= first_count && !tsr_entry_equal(&held->entry, &rule->entry))
      return fail_conflict(held, rule);
    held = rule;
  }
  *out_place = (rule_place){held, places[0].position};
  return NULL;
}

// Sorting by name makes this n log n.
static tsr_status fold_all(rule_place *places, int64_t count, int64_t first_count,
                           int64_t *out_count) {
  int64_t kept = 0;
  qsort(places, (size_t)count, sizeof *places, by_name);
  for (int64_t i = 0, end = 0; i < count; i = end) {
    for (end = i + 1; end < count && !strcmp(places[end].rule->name, places[i].rule->name);) end++;
    TSR_TRY(fold(&places[i], end - i, first_count, &places[kept++]));
  }
  qsort(places, (size_t)kept, sizeof *places, by_position);
  *out_count = kept;
  return NULL;
}

static tsr_status copy_places(const rule_place *places, int64_t count,
                              tsr_logical_rules **out_rules) {
  tsr_logical_list list = TSR_LOGICAL_LIST_EMPTY;
  tsr_status status = NULL;
  for (int64_t i = 0; i < count && !status; i++)
    status = tsr_logical_list_copy(&list, places[i].rule);
  return tsr_logical_list_finish(&list, status, out_rules);
}

tsr_status tsr_logical_compose(const tsr_logical_rules *a, const tsr_logical_rules *b,
                               tsr_logical_rules **out_rules) {
  const int64_t first = tsr_logical_rules_count(a), second = tsr_logical_rules_count(b);
  if (!first && !second) return tsr_logical_rules_create(NULL, 0, out_rules);
  if (!first || !second) {
    *out_rules = tsr_logical_rules_retain(first ? a : b);
    return NULL;
  }
  int64_t count = 0;
  if (__builtin_add_overflow(first, second, &count))
    return tsr_fail(TOO_LARGE, "%lld and %lld logical rules", (long long)first, (long long)second);
  rule_place *places = malloc((size_t)count * sizeof *places);
  if (!places) return tsr_fail(NO_MEMORY, "%lld logical rules", (long long)count);
  for (int64_t i = 0; i < count; i++) {
    const tsr_logical_rule *rule =
        i < first ? tsr_logical_rules_at(a, i) : tsr_logical_rules_at(b, i - first);
    places[i] = (rule_place){rule, i};
  }
  tsr_status status = fold_all(places, count, first, &count);
  if (!status) status = copy_places(places, count, out_rules);
  free(places);
  return status;
}

// ---- t5x ----

static const char data[] = "data", model[] = "model";

// The standard rules, by the number of dimensions that are cut. Parameters are cut along embed over
// the axes that activations do not use.
typedef struct variant {
  const char *name;
  const char *axis;  // NULL = not cut
  bool when[2][2];   // by activation dims - 1, then parameter dims - 1
} variant;

// clang-format off
static const variant standard[] = {
    //                      1,1    1,2     2,1    2,2
    {"batch",     data,  {{true,  true}, {true,  true}}},
    {"vocab",     model, {{true,  true}, {true,  true}}},
    {"embed",     NULL,  {{true, false}, {false, false}}},
    {"mlp",       model, {{true,  true}, {true,  true}}},
    {"heads",     model, {{true,  true}, {true,  true}}},
    {"kv",        NULL,  {{true,  true}, {true,  true}}},
    {"joined_kv", model, {{true,  true}, {true,  true}}},
    {"embed",     model, {{false, false}, {true,  true}}},
    {"embed",     data,  {{false, true}, {false, true}}},
    {"relpos_buckets",  NULL, {{true, true}, {true, true}}},
    {"abspos_buckets",  NULL, {{true, true}, {true, true}}},
    {"length",          NULL, {{true, true}, {true, true}}},
    {"layers",          NULL, {{true, true}, {true, true}}},
    {"stack",           NULL, {{true, true}, {true, true}}},
    {"mlp_activations", NULL, {{true, true}, {true, true}}},
};
// clang-format on

static tsr_status add_standard(tsr_logical_list *list, int activation_dims, int parameter_dims) {
  for (size_t i = 0; i < sizeof standard / sizeof *standard; i++) {
    const variant *row = &standard[i];
    if (!row->when[activation_dims - 1][parameter_dims - 1]) continue;
    const tsr_logical_rule rule = {
        .name = row->name, .entry = row->axis ? TSR_LOGICAL_NAME(row->axis) : TSR_LOGICAL_NONE};
    TSR_TRY(tsr_logical_list_copy(list, &rule));
  }
  return NULL;
}

static tsr_status add_all(tsr_logical_list *list, const tsr_logical_rules *rules) {
  for (int64_t i = 0; i < tsr_logical_rules_count(rules); i++)
    TSR_TRY(tsr_logical_list_copy(list, tsr_logical_rules_at(rules, i)));
  return NULL;
}

tsr_status tsr_logical_standard(int64_t activation_dims, int64_t parameter_dims,
                                const tsr_logical_rules *additional, bool additional_first,
                                tsr_logical_rules **out_rules) {
  if (activation_dims < 1 || activation_dims > 2 || parameter_dims < 1 || parameter_dims > 2)
    return tsr_fail(UNSUPPORTED_DIMS,
                    "activations cut in %lld dimensions and parameters in %lld, wanted 1 or 2",
                    (long long)activation_dims, (long long)parameter_dims);
  tsr_logical_list list = TSR_LOGICAL_LIST_EMPTY;
  tsr_status status = additional_first ? add_all(&list, additional) : NULL;
  if (!status) status = add_standard(&list, (int)activation_dims, (int)parameter_dims);
  if (!status && !additional_first) status = add_all(&list, additional);
  return tsr_logical_list_finish(&list, status, out_rules);
}

tsr_status tsr_logical_for_slices(const tsr_logical_rules *rules, tsr_logical_rules **out_rules) {
  const tsr_logical_entry over_slices = TSR_LOGICAL_GROUP("replica", data);
  tsr_logical_list list = TSR_LOGICAL_LIST_EMPTY;
  tsr_status status = NULL;
  for (int64_t i = 0; i < tsr_logical_rules_count(rules) && !status; i++) {
    tsr_logical_rule rule = *tsr_logical_rules_at(rules, i);
    if (!strcmp(rule.name, "batch")) rule.entry = over_slices;
    status = tsr_logical_list_copy(&list, &rule);
  }
  return tsr_logical_list_finish(&list, status, out_rules);
}
