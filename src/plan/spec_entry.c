// Entries of specs: which axes they name, and whether they fit a size.
#include "plan/spec_entry.h"

#include <string.h>

#include "plan/plan.h"
#include "spec/axis_ref.h"

bool tsr_spec_is_cut(const tsr_spec_desc *desc, int rank) {
  for (int d = 0; d < desc->dim_count && d < rank; d++)
    if (desc->dims[d].stage_count) return true;
  return false;
}

const tsr_stage *tsr_spec_dim_find_stage(const tsr_spec_dim *entry, const char *axis) {
  for (int s = 0; s < entry->stage_count; s++)
    for (int i = 0; i < entry->stages[s].axis_count; i++)
      if (!strcmp(entry->stages[s].axes[i].name, axis)) return &entry->stages[s];
  return NULL;
}

int tsr_spec_find_axis(const tsr_spec_desc *desc, const char *axis) {
  for (int d = 0; d < desc->dim_count; d++)
    if (tsr_spec_dim_find_stage(&desc->dims[d], axis)) return d;
  return -1;
}

bool tsr_spec_is_repeated(const tsr_spec_desc *desc, const tsr_axis_ref *ref) {
  for (int d = 0; d < desc->dim_count; d++)
    for (int s = 0; s < desc->dims[d].stage_count; s++) {
      const tsr_stage *stage = &desc->dims[d].stages[s];
      for (int i = 0; i < stage->axis_count; i++) {
        if (&stage->axes[i] == ref) return false;
        if (tsr_axis_ref_overlaps(&stage->axes[i], ref)) return true;
      }
    }
  return false;
}

tsr_status tsr_spec_entry_fits(const tsr_spec_dim *entry, const tsr_mesh *mesh, int64_t size,
                               tsr_policy policy, bool *out_fits) {
  const tsr_spec_desc desc = {.size = sizeof desc, .dim_count = 1, .dims = entry};
  const tsr_tensor alone = {.rank = 1, .dims = &size};
  tsr_layout *layout = NULL;
  tsr_spec *spec = NULL;
  TSR_TRY(tsr_spec_create(&desc, &spec));
  const tsr_status status = tsr_tensor_try_layout(&alone, mesh, spec, policy, &layout);
  *out_fits = layout != NULL;
  tsr_layout_release(layout);
  tsr_spec_release(spec);
  return status;
}
