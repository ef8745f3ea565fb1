// The axis names of many specs, each once, in order of first use.
#include <stdlib.h>

#include "base/grow.h"
#include "base/name_index.h"
#include "spec/spec_internal.h"
#include "tessera/spec.h"

typedef struct name_set {
  const char **names;
  int64_t count, capacity;
  tsr_name_index index;
} name_set;

static tsr_status add(name_set *set, const char *name) {
  int64_t existing = -1;
  if (!name[0]) return NULL;
  TSR_TRY(tsr_name_index_add(&set->index, name, set->count, &existing));
  if (existing >= 0) return NULL;
  const char **names = tsr_grow(set->names, set->count, &set->capacity, sizeof *names);
  if (!names) return tsr_fail(NO_MEMORY, "%lld axis names", (long long)set->count);
  set->names = names;
  set->names[set->count++] = name;
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
  name_set set = {.names = malloc(sizeof *set.names), .capacity = 1};
  tsr_status status = set.names ? NULL : tsr_fail(NO_MEMORY, "axis names");
  for (int64_t i = 0; !status && i < spec_count; i++)
    status = add_spec(&set, tsr_spec_desc_of(specs[i]));
  tsr_name_index_deinit(&set.index);
  if (status) {
    free(set.names);
    return status;
  }
  *out_names = set.names;
  *out_count = (int)set.count;
  return NULL;
}
