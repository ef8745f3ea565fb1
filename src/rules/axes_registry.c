// The registry of semantic names that a program adds or redefines.
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/suggest.h"
#include "rules/axes_internal.h"
#include "rules/logical_internal.h"

struct tsr_axis_registry {
  tsr_registration *items;
  int count;
  int64_t capacity;
};

tsr_status tsr_axis_registry_create(tsr_axis_registry **out_registry) {
  tsr_axis_registry *registry = calloc(1, sizeof *registry);
  if (!registry) return tsr_fail(NO_MEMORY, "a registry of semantic axes");
  *out_registry = registry;
  return NULL;
}

static void registration_deinit(tsr_registration *item) {
  free(item->name);
  tsr_logical_names_deinit(&item->rules);
}

void tsr_axis_registry_clear(tsr_axis_registry *registry) {
  while (registry->count) registration_deinit(&registry->items[--registry->count]);
}

void tsr_axis_registry_destroy(tsr_axis_registry *registry) {
  if (!registry) return;
  tsr_axis_registry_clear(registry);
  free(registry->items);
  free(registry);
}

// ---- looking up ----

static int find(const tsr_axis_registry *registry, const char *name) {
  for (int i = 0; registry && i < registry->count; i++)
    if (!strcmp(registry->items[i].name, name)) return i;
  return -1;
}

const tsr_registration *tsr_axis_registry_find(const tsr_axis_registry *registry,
                                               const char *name) {
  const int index = find(registry, name);
  return index < 0 ? NULL : &registry->items[index];
}

tsr_status tsr_semantic_axis_fail(const tsr_axis_registry *registry, const char *name) {
  const tsr_axis_field field = tsr_field_find(name);
  if (find(registry, name) >= 0)
    return tsr_fail(
        UNKNOWN_SEMANTIC_AXIS,
        "semantic axis \"%s\" is registered for nothing; a dimension that is not cut is "
        "\"_\"",
        name);
  if (field != TSR_FIELD_NONE && tsr_field_token(field))
    return tsr_fail(UNKNOWN_SEMANTIC_AXIS,
                    "\"%s\" is a field, wanted a semantic axis; did you mean \"%s\"?", name,
                    tsr_field_token(field));
  tsr_suggestion near = tsr_suggestion_for(name);
  for (int i = 0; i < TSR_FIELD_COUNT; i++)
    if (tsr_field_table[i].token) tsr_suggestion_offer(&near, tsr_field_table[i].token);
  for (int i = 0; registry && i < registry->count; i++)
    tsr_suggestion_offer(&near, registry->items[i].name);
  return tsr_fail(UNKNOWN_SEMANTIC_AXIS, "there is no semantic axis \"%s\"" TSR_DID_YOU_MEAN, name,
                  TSR_SUGGESTED(near));
}

// ---- changing ----

// A copy without blanks around it, in a block to free().
static tsr_status trim(const char *name, char **out_name) {
  size_t length = strlen(name);
  while (length && isspace((unsigned char)name[length - 1])) length--;
  while (length && isspace((unsigned char)*name)) name++, length--;
  if (!length) return tsr_fail(EMPTY_SEMANTIC_AXIS, "a semantic axis without a name");
  *out_name = strndup(name, length);
  return *out_name ? NULL : tsr_fail(NO_MEMORY, "a name of %zu bytes", length);
}

// The twin, in generation modes, of a rule that is one field.
static const char *twin_of(const tsr_logical_entry *rule) {
  const tsr_axis_field field =
      rule->kind == TSR_ENTRY_NAME ? tsr_field_find(rule->names[0]) : TSR_FIELD_NONE;
  const tsr_axis_field twin =
      field == TSR_FIELD_NONE ? TSR_FIELD_NONE : tsr_field_table[field].in_decode;
  return twin == TSR_FIELD_NONE ? NULL : tsr_field_name(twin);
}

// Copies the rules; without a generation rule, the twin of the rule's field.
static tsr_status copy_rules(tsr_registration *item, const tsr_logical_entry *rule,
                             const tsr_logical_entry *generation_rule) {
  TSR_TRY(tsr_entries_check(rule, 1));
  if (generation_rule) TSR_TRY(tsr_entries_check(generation_rule, 1));
  const char *twin = twin_of(rule);
  const tsr_logical_entry found = {TSR_ENTRY_NAME, 1, &twin};
  tsr_logical_entry both[] = {*rule, found};
  if (generation_rule) both[1] = *generation_rule;
  item->has_generation_rule = generation_rule || twin;
  return tsr_logical_names_init(&item->rules, both, item->has_generation_rule ? 2 : 1);
}

// Replaces the registration of that name, or adds one.
static tsr_status put(tsr_axis_registry *registry, const tsr_registration *item) {
  const int index = find(registry, item->name);
  if (index >= 0) {
    registration_deinit(&registry->items[index]);
    registry->items[index] = *item;
    return NULL;
  }
  if (registry->count == INT_MAX) return tsr_fail(TOO_LARGE, "%d semantic axes", registry->count);
  tsr_registration *items =
      tsr_grow(registry->items, registry->count, &registry->capacity, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "%d semantic axes", registry->count);
  registry->items = items;
  items[registry->count++] = *item;
  return NULL;
}

static tsr_status check_new(const tsr_axis_registry *registry, const char *name, bool override) {
  const bool built_in = tsr_field_find_token(name) != TSR_FIELD_NONE || !strcmp(name, "_");
  if (override || (!built_in && find(registry, name) < 0)) return NULL;
  return tsr_fail(SEMANTIC_AXIS_ALREADY_EXISTS,
                  "semantic axis \"%s\" exists already%s, wanted a new name or override", name,
                  built_in ? " as a built-in" : "");
}

tsr_status tsr_axis_registry_add(tsr_axis_registry *registry, const char *name,
                                 const tsr_logical_entry *rule,
                                 const tsr_logical_entry *generation_rule, bool override) {
  tsr_registration item = {.name = NULL};
  tsr_status status = trim(name, &item.name);
  if (!status) status = check_new(registry, item.name, override);
  if (!status) status = copy_rules(&item, rule, generation_rule);
  if (!status) status = put(registry, &item);
  if (status) registration_deinit(&item);
  return status;
}

tsr_status tsr_axis_registry_remove(tsr_axis_registry *registry, const char *name,
                                    bool missing_ok) {
  char *trimmed = NULL;
  TSR_TRY(trim(name, &trimmed));
  const int index = find(registry, trimmed);
  tsr_status status = NULL;
  if (index >= 0) {
    registration_deinit(&registry->items[index]);
    registry->count--;
    memmove(&registry->items[index], &registry->items[index + 1],
            (size_t)(registry->count - index) * sizeof *registry->items);
  } else if (!missing_ok) {
    status =
        tsr_fail(SEMANTIC_AXIS_NOT_REGISTERED, "semantic axis \"%s\" is not registered", trimmed);
  }
  free(trimmed);
  return status;
}
