// The axis names of many specs, each once, in order of first use.
#include <stdlib.h>
#include <string.h>

#include "spec/spec_internal.h"
#include "tessera/engine/kernels.h"
#include "tessera/spec.h"

// Open addressing over the list of names: a slot holds an index into it plus one, 0 = free. The
// number of slots is a power of two and at least twice that of names.
typedef struct name_set {
  const char **names;
  int count, capacity;
  int *slots;
  size_t slot_count;
} name_set;

static size_t slot_of(const name_set *set, const char *name) {
  size_t slot = (size_t)tsr_hash64(name, strlen(name), 0) & (set->slot_count - 1);
  while (set->slots[slot] && strcmp(set->names[set->slots[slot] - 1], name) != 0)
    slot = (slot + 1) & (set->slot_count - 1);
  return slot;
}

static tsr_status grow(name_set *set) {
  const int capacity = set->capacity ? set->capacity * 2 : 16;
  const char **names = realloc(set->names, (size_t)capacity * sizeof *names);
  if (!names) return tsr_fail(NO_MEMORY, "%d axis names", capacity);
  set->names = names;
  int *slots = calloc((size_t)capacity * 2, sizeof *slots);
  if (!slots) return tsr_fail(NO_MEMORY, "%d axis names", capacity);
  free(set->slots);
  set->slots = slots;
  set->capacity = capacity;
  set->slot_count = (size_t)capacity * 2;
  for (int i = 0; i < set->count; i++) set->slots[slot_of(set, names[i])] = i + 1;
  return NULL;
}

static tsr_status add(name_set *set, const char *name) {
  if (set->count == set->capacity) TSR_TRY(grow(set));
  const size_t slot = slot_of(set, name);
  if (!name[0] || set->slots[slot]) return NULL;
  set->names[set->count++] = name;
  set->slots[slot] = set->count;
  return NULL;
}

static tsr_status add_refs(name_set *set, const tsr_axis_ref *refs, int count) {
  for (int i = 0; i < count; i++) TSR_TRY(add(set, refs[i].name));
  return NULL;
}

static tsr_status add_spec(name_set *set, const tsr_spec_desc *desc) {
  for (int d = 0; d < desc->dim_count; d++)
    for (int s = 0; s < desc->dims[d].stage_count; s++)
      TSR_TRY(add_refs(set, desc->dims[d].stages[s].axes, desc->dims[d].stages[s].axis_count));
  TSR_TRY(add_refs(set, desc->unreduced, desc->unreduced_count));
  TSR_TRY(add_refs(set, desc->reduced, desc->reduced_count));
  return add_refs(set, desc->replicated, desc->replicated_count);
}

tsr_status tsr_spec_axis_names(const tsr_spec *const *specs, int64_t spec_count,
                               const char ***out_names, int *out_count) {
  name_set set = {0};
  tsr_status status = grow(&set);
  for (int64_t i = 0; !status && i < spec_count; i++)
    status = add_spec(&set, tsr_spec_desc_of(specs[i]));
  free(set.slots);
  if (status) {
    free(set.names);
    return status;
  }
  *out_names = set.names;
  *out_count = set.count;
  return NULL;
}
