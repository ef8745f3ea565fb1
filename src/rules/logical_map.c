// The mappings of logical names to mesh axes: linen's, then that of flax.core.spmd.
//
// In linen the order of the rules decides, not that of the dimensions: with embed -> model, mlp ->
// model, mlp -> data, a tensor (mlp, embed) is cut as (data, model). A rule applies whole or not at
// all, and a mesh axis cuts one dimension only.
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text_internal.h"
#include "mesh/mesh_internal.h"
#include "rules/logical_internal.h"
#include "spec/sharding.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"

// The state of a mapping. A dimension is settled when its entry is final: entries that are no names
// from the start, names when a rule applies.
typedef struct mapping {
  const tsr_logical_names *names;
  const tsr_logical_rules *rules;
  tsr_logical_entry *found;
  bool *settled;
  tsr_logical_reason *reasons;
} mapping;

static bool has_axis(const tsr_logical_entry *entry, const char *axis) {
  const bool named = entry->kind == TSR_ENTRY_NAME || entry->kind == TSR_ENTRY_GROUP;
  for (int i = 0; named && i < entry->count; i++)
    if (!strcmp(entry->names[i], axis)) return true;
  return false;
}

// The first dimension that uses one of the entry's axes; -1 = none.
static int find_taker(const mapping *map, const tsr_logical_entry *entry) {
  const bool named = entry->kind == TSR_ENTRY_NAME || entry->kind == TSR_ENTRY_GROUP;
  for (int d = 0; named && d < map->names->count; d++)
    for (int i = 0; map->settled[d] && i < entry->count; i++)
      if (entry->names[i][0] && has_axis(&map->found[d], entry->names[i])) return d;
  return -1;
}

static int find_dim(const tsr_logical_names *names, const char *name) {
  for (int d = 0; d < names->count; d++)
    if (names->items[d].kind == TSR_ENTRY_NAME && !strcmp(names->items[d].names[0], name)) return d;
  return -1;
}

static tsr_status check_names(const tsr_logical_names *names) {
  TSR_TRY(tsr_entries_check(names->items, names->count));
  for (int d = 0; d < names->count; d++) {
    if (names->items[d].kind != TSR_ENTRY_NAME) continue;
    const int first = find_dim(names, names->items[d].names[0]);
    if (first != d)
      return tsr_fail(DUPLICATE_LOGICAL_NAME,
                      "dimensions %d and %d are both called \"%s\", wanted a name for each", first,
                      d, names->items[d].names[0]);
  }
  return NULL;
}

static void apply_rule(mapping *map, int64_t index) {
  const tsr_logical_rule *rule = tsr_logical_rules_at(map->rules, index);
  const int dim = find_dim(map->names, rule->name);
  if (dim < 0 || map->settled[dim]) return;
  const int taker = find_taker(map, &rule->entry);
  if (taker < 0) {
    map->found[dim] = rule->entry;
    map->settled[dim] = true;
    map->reasons[dim].rule = index;
  } else if (map->reasons[dim].passed < 0) {
    map->reasons[dim].passed = index;
    map->reasons[dim].blocked_by = taker;
  }
}

static void apply_rules(mapping *map) {
  for (int d = 0; d < map->names->count; d++) {
    map->found[d] = map->names->items[d];
    map->settled[d] = map->names->items[d].kind != TSR_ENTRY_NAME;
    map->reasons[d] = (tsr_logical_reason){-1, -1, -1};
  }
  for (int64_t i = 0; i < tsr_logical_rules_count(map->rules); i++) apply_rule(map, i);
}

static void mapping_deinit(mapping *map) {
  free(map->found);
  free(map->settled);
  free(map->reasons);
}

// Maps the names. Unsettled dimensions keep their names. Deinit also after a failure.
static tsr_status mapping_init(mapping *map, const tsr_logical_names *names,
                               const tsr_logical_rules *rules) {
  *map = (mapping){.names = names, .rules = rules ? rules : tsr_logical_current()};
  TSR_TRY(check_names(names));
  const size_t room = (size_t)names->count + 1;
  map->found = calloc(room, sizeof *map->found);
  map->settled = calloc(room, sizeof *map->settled);
  map->reasons = calloc(room, sizeof *map->reasons);
  if (!map->found || !map->settled || !map->reasons)
    return tsr_fail(NO_MEMORY, "mapping of %d names", names->count);
  apply_rules(map);
  return NULL;
}

// The spec of a mapping; names without a rule are not cut.
static tsr_status mapping_spec(mapping *map, tsr_spec **out_spec) {
  for (int d = 0; d < map->names->count; d++)
    if (!map->settled[d]) map->found[d] = TSR_LOGICAL_NONE;
  const tsr_logical_names found = {map->names->count, map->found, NULL};
  return tsr_logical_names_to_spec(&found, out_spec);
}

tsr_status tsr_logical_to_mesh_axes(const tsr_logical_names *names, const tsr_logical_rules *rules,
                                    tsr_spec **out_spec, tsr_logical_reason *out_reasons) {
  mapping map;
  if (!names) {
    *out_spec = NULL;
    return NULL;
  }
  tsr_status status = mapping_init(&map, names, rules);
  if (!status) status = mapping_spec(&map, out_spec);
  if (!status && out_reasons && names->count)
    memcpy(out_reasons, map.reasons, (size_t)names->count * sizeof *out_reasons);
  mapping_deinit(&map);
  return status;
}

tsr_status tsr_logical_to_mesh(const tsr_spec *names, const tsr_logical_rules *rules,
                               tsr_spec **out_spec) {
  tsr_logical_names list;
  TSR_TRY(tsr_logical_names_from_spec(names, &list));
  tsr_status status = tsr_logical_to_mesh_axes(&list, rules, out_spec, NULL);
  tsr_logical_names_deinit(&list);
  return status;
}

tsr_status tsr_logical_param_axes(const char *path, const tsr_logical_names *names,
                                  const tsr_logical_rules *rules, tsr_spec **out_spec,
                                  tsr_logical_reason *out_reasons) {
  tsr_status status = tsr_logical_to_mesh_axes(names, rules, out_spec, out_reasons);
  if (!status || tsr_status_cause(status) == TSR_CAUSE_NO_MEMORY) return status;
  tsr_status named =
      tsr_fail(PARAM_AXES_FAILED, "parameter \"%s\": %s", path, tsr_status_text(status));
  tsr_status_free(status);
  return named;
}

// ---- constraints ----

static int first_unsettled(const mapping *map) {
  for (int d = 0; d < map->names->count; d++)
    if (!map->settled[d]) return d;
  return -1;
}

// Why no rule applied: none has the name, or its axes were taken.
static tsr_status fail_unmatched(const mapping *map, int dim) {
  const char *name = map->names->items[dim].names[0];
  const tsr_logical_reason *reason = &map->reasons[dim];
  if (reason->passed >= 0) {
    tsr_text axes = TSR_TEXT_EMPTY;
    tsr_entry_print(&tsr_logical_rules_at(map->rules, reason->passed)->entry, &axes);
    return tsr_text_end(
        &axes,
        tsr_fail(UNMATCHED_AXIS,
                 "dimension %d: no rule is left for logical axis \"%s\": rule %lld maps it to %s, "
                 "which dimension %d has taken",
                 dim, name, (long long)reason->passed, tsr_text_string(&axes), reason->blocked_by));
  }
  tsr_suggestion near = tsr_suggestion_for(name);
  for (int64_t i = 0; i < tsr_logical_rules_count(map->rules); i++)
    tsr_suggestion_offer(&near, tsr_logical_rules_at(map->rules, i)->name);
  return tsr_fail(UNMATCHED_AXIS, "dimension %d: no rule for logical axis \"%s\"" TSR_DID_YOU_MEAN,
                  dim, name, TSR_SUGGESTED(near));
}

static tsr_status bind_auto(const tsr_mesh *mesh, const tsr_spec *spec,
                            tsr_sharding **out_sharding) {
  tsr_sharding *sharding = NULL;
  TSR_TRY(tsr_sharding_bind(mesh, spec, true, &sharding));
  tsr_status status = tsr_sharding_check_auto(sharding);
  if (status)
    tsr_sharding_release(sharding);
  else
    *out_sharding = sharding;
  return status;
}

// The sharding under a fallback; NULL = no constraint.
static tsr_status constrain(mapping *map, const tsr_mesh *mesh, tsr_fallback fallback,
                            tsr_sharding **out_sharding) {
  tsr_spec *spec = NULL;
  const int left = fallback == TSR_FALLBACK_UNSHARDED ? -1 : first_unsettled(map);
  if (left >= 0 && fallback == TSR_FALLBACK_RAISE) return fail_unmatched(map, left);
  if (left >= 0 || !mesh) {
    *out_sharding = NULL;
    return NULL;
  }
  TSR_TRY(mapping_spec(map, &spec));
  tsr_status status = bind_auto(mesh, spec, out_sharding);
  tsr_spec_release(spec);
  return status;
}

tsr_status tsr_logical_constrain(const tsr_logical_names *names, const tsr_logical_rules *rules,
                                 const tsr_mesh *mesh, tsr_fallback fallback,
                                 tsr_sharding **out_sharding) {
  mapping map;
  if ((unsigned)fallback > TSR_FALLBACK_NO_CONSTRAINT)
    return tsr_fail(BAD_ARGUMENT, "fallback %d does not exist, wanted 0 to %d", (int)fallback,
                    TSR_FALLBACK_NO_CONSTRAINT);
  if (!rules) rules = tsr_logical_current();
  if (!names || !tsr_logical_rules_count(rules)) {
    *out_sharding = NULL;
    return NULL;
  }
  tsr_status status = mapping_init(&map, names, rules);
  if (!status) status = constrain(&map, mesh ? mesh : tsr_mesh_current(), fallback, out_sharding);
  mapping_deinit(&map);
  return status;
}

// ---- flax.core.spmd ----

// A plain dictionary from names to mesh axes, and what shard_value does with it on a mesh.

// The last rule for a name, or NULL. An empty name is none.
static const tsr_logical_rule *find_last(const tsr_logical_rules *rules, const char *name) {
  for (int64_t i = tsr_logical_rules_count(rules) - 1; name[0] && i >= 0; i--) {
    const tsr_logical_rule *rule = tsr_logical_rules_at(rules, i);
    if (!strcmp(rule->name, name)) return rule;
  }
  return NULL;
}

// The mapped entries, which borrow from both arguments; free() the block.
static tsr_status map_entries(const tsr_logical_names *names, const tsr_logical_rules *rules,
                              tsr_logical_entry **out_items) {
  TSR_TRY(tsr_entries_check(names->items, names->count));
  tsr_logical_entry *items = calloc((size_t)names->count + 1, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "mapping of %d names", names->count);
  for (int i = 0; i < names->count; i++) {
    const tsr_logical_entry *entry = &names->items[i];
    const tsr_logical_rule *rule =
        entry->kind == TSR_ENTRY_NAME ? find_last(rules, entry->names[0]) : NULL;
    items[i] = rule ? rule->entry : *entry;
  }
  *out_items = items;
  return NULL;
}

tsr_status tsr_logical_from_sharding_rules(const tsr_logical_names *names,
                                           const tsr_logical_rules *rules,
                                           tsr_logical_names *out_names) {
  tsr_logical_entry *items = NULL;
  TSR_TRY(map_entries(names, rules, &items));
  tsr_status status = tsr_logical_names_init(out_names, items, names->count);
  free(items);
  return status;
}

tsr_status tsr_logical_get_pspec(const tsr_logical_names *names, const tsr_logical_rules *rules,
                                 tsr_spec **out_spec) {
  tsr_logical_rules *all = NULL;
  tsr_logical_entry *items = NULL;
  TSR_TRY(tsr_logical_compose(tsr_logical_current(), rules, &all));
  tsr_status status = map_entries(names, all, &items);
  if (!status) {
    const tsr_logical_names mapped = {names->count, items, NULL};
    status = tsr_logical_names_to_spec(&mapped, out_spec);
  }
  free(items);
  tsr_logical_rules_release(all);
  return status;
}

// ---- values on a mesh ----

static int count_type(const tsr_mesh *mesh, tsr_axis_type type) {
  int count = 0;
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++)
    count += tsr_mesh_axis_at(mesh, i)->type == type;
  return count;
}

static tsr_status find_action(const tsr_mesh *mesh, tsr_shard_action *out_action) {
  const int axes = tsr_mesh_axis_count(mesh);
  const int is_auto = count_type(mesh, TSR_AXIS_AUTO);
  const int is_explicit = count_type(mesh, TSR_AXIS_EXPLICIT);
  if (!axes)
    return tsr_fail(MIXED_AXIS_TYPES, "the mesh has no axes, wanted some, all explicit or auto");
  if (is_auto < axes && is_explicit < axes) {
    if (is_auto + is_explicit == 0)
      return tsr_fail(MIXED_AXIS_TYPES,
                      "all axes of the mesh are manual, wanted all explicit or all auto");
    return tsr_fail(MIXED_AXIS_TYPES,
                    "of the mesh's axes %d are auto, %d explicit and %d manual, wanted all "
                    "explicit or all auto",
                    is_auto, is_explicit, axes - is_auto - is_explicit);
  }
  *out_action = is_auto ? TSR_SHARD_CONSTRAIN : TSR_SHARD_RESHARD;
  return NULL;
}

tsr_status tsr_logical_shard_value(const tsr_logical_names *names, const tsr_logical_rules *rules,
                                   const tsr_mesh *mesh, tsr_shard_action *out_action,
                                   tsr_sharding **out_sharding) {
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  if (!names || !names->count) {
    *out_action = TSR_SHARD_NOTHING;
    *out_sharding = NULL;
    return NULL;
  }
  if (!mesh) TSR_TRY(tsr_mesh_require(&mesh));
  TSR_TRY(tsr_logical_get_pspec(names, rules, &spec));
  tsr_status status = tsr_sharding_bind(mesh, spec, true, &sharding);
  tsr_spec_release(spec);
  if (!status) status = find_action(mesh, out_action);
  if (status)
    tsr_sharding_release(sharding);
  else
    *out_sharding = sharding;
  return status;
}
