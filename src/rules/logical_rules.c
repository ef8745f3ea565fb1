// Logical rules: an immutable list. Names, entries and the file's name live in one arena, which the
// list takes over from its builder.
#include "rules/logical_internal.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/scope.h"
#include "tessera/compat/scope.h"

struct tsr_logical_rules {
  atomic_int refs;
  int64_t count;
  tsr_logical_rule *rules;
  tsr_arena memory;
};

// ---- a list under construction ----

tsr_status tsr_logical_list_add(tsr_logical_list *list, const tsr_logical_rule *rule) {
  if (list->count > INT_MAX)
    return tsr_fail(TOO_LARGE, "%lld logical rules", (long long)list->count);
  tsr_logical_rule *rules = tsr_grow(list->rules, list->count, &list->capacity, sizeof *rules);
  if (!rules) return tsr_fail(NO_MEMORY, "%lld logical rules", (long long)list->count);
  list->rules = rules;
  rules[list->count++] = *rule;
  return NULL;
}

// Rules of one file share its name.
static tsr_status copy_file(tsr_logical_list *list, const char *file, const char **out_file) {
  const char *last = list->count ? list->rules[list->count - 1].file : "";
  if (!file) file = "";
  if (!strcmp(file, last)) {
    *out_file = last;
    return NULL;
  }
  return tsr_name_copy(&list->memory, file, strlen(file), out_file);
}

tsr_status tsr_logical_list_copy(tsr_logical_list *list, const tsr_logical_rule *rule) {
  tsr_logical_rule copy = {.line = rule->line};
  if (!rule->name) return tsr_fail(BAD_ARGUMENT, "a logical rule without a name");
  TSR_TRY_NOTE(tsr_entries_check(&rule->entry, 1), "rule \"%s\"", rule->name);
  TSR_TRY(tsr_name_copy(&list->memory, rule->name, strlen(rule->name), &copy.name));
  TSR_TRY(tsr_entry_copy(&list->memory, &rule->entry, &copy.entry));
  TSR_TRY(copy_file(list, rule->file, &copy.file));
  return tsr_logical_list_add(list, &copy);
}

tsr_status tsr_logical_list_finish(tsr_logical_list *list, tsr_status status,
                                   tsr_logical_rules **out_rules) {
  tsr_logical_rules *made = status ? NULL : malloc(sizeof *made);
  if (!made) {
    if (!status) status = tsr_fail(NO_MEMORY, "%lld logical rules", (long long)list->count);
    free(list->rules);
    tsr_arena_deinit(&list->memory);
    return status;
  }
  atomic_init(&made->refs, 1);
  made->count = list->count;
  made->rules = list->rules;
  made->memory = list->memory;
  *out_rules = made;
  return NULL;
}

// ---- the value ----

tsr_status tsr_logical_rules_create(const tsr_logical_rule *rules, int64_t count,
                                    tsr_logical_rules **out_rules) {
  tsr_logical_list list = TSR_LOGICAL_LIST_EMPTY;
  tsr_status status = NULL;
  if (count < 0 || (count && !rules))
    return tsr_fail(BAD_ARGUMENT, "%lld logical rules", (long long)count);
  for (int64_t i = 0; i < count && !status; i++) status = tsr_logical_list_copy(&list, &rules[i]);
  return tsr_logical_list_finish(&list, status, out_rules);
}

tsr_logical_rules *tsr_logical_rules_retain(const tsr_logical_rules *rules) {
  tsr_logical_rules *shared = (tsr_logical_rules *)rules;
  if (shared) atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
  return shared;
}

void tsr_logical_rules_release(const tsr_logical_rules *rules) {
  tsr_logical_rules *shared = (tsr_logical_rules *)rules;
  if (!shared || atomic_fetch_sub_explicit(&shared->refs, 1, memory_order_acq_rel) > 1) return;
  free(shared->rules);
  tsr_arena_deinit(&shared->memory);
  free(shared);
}

int64_t tsr_logical_rules_count(const tsr_logical_rules *rules) { return rules ? rules->count : 0; }

const tsr_logical_rule *tsr_logical_rules_at(const tsr_logical_rules *rules, int64_t index) {
  return index >= 0 && index < tsr_logical_rules_count(rules) ? &rules->rules[index] : NULL;
}

static bool rule_equal(const tsr_logical_rule *a, const tsr_logical_rule *b) {
  return !strcmp(a->name, b->name) && tsr_entry_equal(&a->entry, &b->entry);
}

bool tsr_logical_rules_equal(const tsr_logical_rules *a, const tsr_logical_rules *b) {
  const int64_t count = tsr_logical_rules_count(a);
  if (count != tsr_logical_rules_count(b)) return false;
  for (int64_t i = 0; i < count; i++)
    if (!rule_equal(&a->rules[i], &b->rules[i])) return false;
  return true;
}

// ---- the rules in scope ----

static void release(void *rules) { tsr_logical_rules_release(rules); }

tsr_status tsr_logical_enter(const tsr_logical_rules *rules, tsr_scope *out_scope) {
  tsr_logical_rules *held = tsr_logical_rules_retain(rules);
  const tsr_status status = tsr_scope_enter(TSR_SCOPE_RULES, held, release, out_scope);
  if (status) tsr_logical_rules_release(held);
  return status;
}

tsr_status tsr_logical_set(const tsr_logical_rules *rules) {
  tsr_logical_rules *held = tsr_logical_rules_retain(rules);
  const tsr_status status = tsr_scope_set(TSR_SCOPE_RULES, held, release);
  if (status) tsr_logical_rules_release(held);
  return status;
}

const tsr_logical_rules *tsr_logical_current(void) { return tsr_scope_current(TSR_SCOPE_RULES); }
