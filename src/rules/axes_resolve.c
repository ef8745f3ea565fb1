// From semantic names to mesh axes.
//
// A name means a rule: a token its field, a registered name its registration. In a generation mode
// the rule may have a twin. Rules are followed, through fields and other names, until only mesh
// axes are left. The result is one flat list without empty entries.
#include <string.h>

#include "base/arena.h"
#include "rules/axes_internal.h"
#include "rules/logical_internal.h"

// Registrations may refer to one another. These limits bound the length of a chain, and the names
// followed for one dimension, since nested groups grow fast.
enum { MOST_LINKS = 64, MOST_STEPS = 1 << 16 };

// One dimension being resolved.
typedef struct resolver {
  const tsr_axes *axes;
  const tsr_axis_registry *registry;
  bool generation;
  tsr_arena *memory;
  const char **found;
  int count, steps;
  bool grouped;  // a group was met
} resolver;

// The meaning of a name: a field, or a rule to follow.
typedef struct meaning {
  tsr_axis_field field;
  const tsr_logical_entry *rule;
} meaning;

// The chain of names being followed, innermost first.
typedef struct link {
  const char *name;
  const struct link *outer;
  int depth;
} link;

static tsr_status add_axis(resolver *to, const char *axis) {
  if (!axis[0] || !strcmp(axis, "_")) return NULL;
  if (to->count == TSR_ENTRIES_MAX)
    return tsr_fail(TOO_LARGE, "more than %d mesh axes for one dimension", TSR_ENTRIES_MAX);
  const char **found = tsr_arena_grow(to->memory, to->found, to->count, sizeof *found);
  if (!found) return tsr_fail(NO_MEMORY, "%d mesh axes", to->count);
  to->found = found;
  found[to->count++] = axis;
  return NULL;
}

static tsr_status add_field(resolver *to, tsr_axis_field field) {
  const tsr_logical_entry *value = tsr_axes_at(to->axes, field);
  if (value->kind == TSR_ENTRY_GROUP) to->grouped = true;
  for (int i = 0; i < value->count; i++) TSR_TRY(add_axis(to, value->names[i]));
  return NULL;
}

// A name registered for nothing is unknown.
static bool find_meaning(const resolver *in, const char *name, meaning *out_meaning) {
  const tsr_registration *item = tsr_axis_registry_find(in->registry, name);
  if (item) {
    *out_meaning = (meaning){TSR_FIELD_NONE, &item->rules.items[0]};
    return item->rules.items[0].kind != TSR_ENTRY_NONE;
  }
  *out_meaning = (meaning){tsr_field_find_token(name), NULL};
  return out_meaning->field != TSR_FIELD_NONE;
}

static tsr_status follow(resolver *to, const tsr_logical_entry *rule, const link *outer);

static tsr_status fail_long(const char *name) {
  return tsr_fail(TOO_LARGE, "semantic axis \"%s\" refers to too many others", name);
}

static tsr_status follow_name(resolver *to, const char *name, const link *outer) {
  meaning means;
  const tsr_axis_field field = tsr_field_find(name);
  if (++to->steps > MOST_STEPS) return fail_long(name);
  if (field != TSR_FIELD_NONE) return add_field(to, field);
  if (!find_meaning(to, name, &means)) return add_axis(to, name);
  if (means.field != TSR_FIELD_NONE) return add_field(to, means.field);
  const link here = {name, outer, outer ? outer->depth + 1 : 1};
  for (const link *at = outer; at; at = at->outer)
    if (!strcmp(at->name, name))
      return tsr_fail(CYCLIC_REGISTRATION, "semantic axis \"%s\" is registered in terms of itself",
                      name);
  if (here.depth > MOST_LINKS) return fail_long(name);
  return follow(to, means.rule, &here);
}

static tsr_status follow(resolver *to, const tsr_logical_entry *rule, const link *outer) {
  if (rule->kind == TSR_ENTRY_GROUP) to->grouped = true;
  for (int i = 0; i < rule->count; i++) TSR_TRY(follow_name(to, rule->names[i], outer));
  return NULL;
}

// In generation modes: the generation rule, or the field's twin unless that is nothing.
static meaning in_generation(const resolver *in, const char *name, meaning means) {
  const tsr_registration *item = tsr_axis_registry_find(in->registry, name);
  if (item && item->has_generation_rule) return (meaning){TSR_FIELD_NONE, &item->rules.items[1]};
  if (means.field == TSR_FIELD_NONE) return means;
  const tsr_axis_field twin = tsr_field_table[means.field].in_decode;
  if (twin == TSR_FIELD_NONE || tsr_axes_at(in->axes, twin)->kind == TSR_ENTRY_NONE) return means;
  return (meaning){twin, NULL};
}

static tsr_status add_meaning(resolver *to, const char *name, meaning means) {
  if (to->generation) means = in_generation(to, name, means);
  return means.field != TSR_FIELD_NONE ? add_field(to, means.field) : follow(to, means.rule, NULL);
}

static tsr_status add_name(resolver *to, const char *name) {
  meaning means;
  if (!find_meaning(to, name, &means)) return tsr_semantic_axis_fail(to->registry, name);
  return add_meaning(to, name, means);
}

// In a group, names of fields and mesh axes are allowed too.
static tsr_status add_member(resolver *to, const char *name) {
  meaning means;
  if (!name[0] || !strcmp(name, "_")) return NULL;
  if (!find_meaning(to, name, &means)) {
    const tsr_logical_entry literal = {TSR_ENTRY_NAME, 1, &name};
    return add_meaning(to, name, (meaning){tsr_field_find(name), &literal});
  }
  return add_meaning(to, name, means);
}

static bool is_nothing(const tsr_logical_entry *entry) {
  return entry->kind == TSR_ENTRY_NONE ||
         (entry->kind == TSR_ENTRY_NAME && !strcmp(entry->names[0], "_"));
}

static tsr_status resolve_entry(resolver *to, const tsr_logical_entry *entry,
                                tsr_logical_entry *out_entry) {
  to->grouped = entry->kind == TSR_ENTRY_GROUP;
  if (to->grouped) {
    for (int i = 0; i < entry->count; i++) TSR_TRY(add_member(to, entry->names[i]));
  } else if (entry->kind == TSR_ENTRY_NAME && !is_nothing(entry)) {
    TSR_TRY(add_name(to, entry->names[0]));
  }
  const tsr_entry_kind single = to->count ? TSR_ENTRY_NAME : TSR_ENTRY_NONE;
  *out_entry = (tsr_logical_entry){to->grouped ? TSR_ENTRY_GROUP : single, to->count, to->found};
  if (entry->kind == TSR_ENTRY_UNCONSTRAINED) *out_entry = *entry;
  return NULL;
}

static tsr_status resolve_all(const tsr_axes *axes, const tsr_axis_registry *registry,
                              const tsr_logical_names *names, tsr_mode mode, tsr_arena *memory,
                              tsr_logical_entry **out_items) {
  if ((unsigned)mode >= TSR_MODE_COUNT)
    return tsr_fail(UNKNOWN_MODE, "mode %d, wanted one of tsr_mode", (int)mode);
  TSR_TRY(tsr_entries_check(names->items, names->count));
  tsr_logical_entry *items = tsr_arena_zeros(memory, (size_t)names->count + 1, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "%d semantic axes", names->count);
  const bool generation = mode == TSR_MODE_DECODE || mode == TSR_MODE_INSERT;
  for (int i = 0; i < names->count; i++) {
    resolver one = {.axes = axes, .registry = registry, .generation = generation, .memory = memory};
    TSR_TRY_NOTE(resolve_entry(&one, &names->items[i], &items[i]), "dimension %d", i);
  }
  *out_items = items;
  return NULL;
}

tsr_status tsr_axes_resolve(const tsr_axes *axes, const tsr_axis_registry *registry,
                            const tsr_logical_names *names, tsr_mode mode,
                            tsr_logical_names *out_entries) {
  tsr_arena memory = TSR_ARENA_EMPTY;
  tsr_logical_entry *items = NULL;
  tsr_status status = resolve_all(axes, registry, names, mode, &memory, &items);
  if (!status) status = tsr_logical_names_init(out_entries, items, names->count);
  tsr_arena_deinit(&memory);
  return status;
}

tsr_status tsr_axes_resolve_spec(const tsr_axes *axes, const tsr_axis_registry *registry,
                                 const tsr_logical_names *names, tsr_mode mode,
                                 tsr_spec **out_spec) {
  tsr_arena memory = TSR_ARENA_EMPTY;
  tsr_logical_entry *items = NULL;
  tsr_status status = resolve_all(axes, registry, names, mode, &memory, &items);
  if (!status)
    status = tsr_logical_names_to_spec(&(tsr_logical_names){names->count, items, NULL}, out_spec);
  tsr_arena_deinit(&memory);
  return status;
}
