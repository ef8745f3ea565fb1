// flax.core.spmd's mapping: a plain dictionary of names, and what it does to a value on a mesh.
#include <stdlib.h>
#include <string.h>

#include "mesh/mesh_internal.h"
#include "rules/entry.h"
#include "rules/logical_internal.h"
#include "tessera/compat/flax_rules.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"

// The last rule for a name, or NULL. An empty name is none.
static const tsr_logical_rule *find_last(const tsr_logical_rules *rules, const char *name) {
  for (int64_t i = tsr_logical_rules_count(rules) - 1; name[0] && i >= 0; i--) {
    const tsr_logical_rule *rule = tsr_logical_rules_at(rules, i);
    if (!strcmp(rule->name, name)) return rule;
  }
  return NULL;
}

// The entries after mapping, which borrow from both arguments, in a block to free().
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
