// Questions about the entries of a spec that need no sharding.
#ifndef TESSERA_PLAN_SPEC_ENTRY_H
#define TESSERA_PLAN_SPEC_ENTRY_H

#include "tessera/layout.h"
#include "tessera/mesh.h"
#include "tessera/spec.h"

// Whether any of the first `rank` entries cuts.
bool tsr_spec_is_cut(const tsr_spec_desc *desc, int rank);
// The stage of an entry that an axis is in; NULL = none.
const tsr_stage *tsr_spec_dim_find_stage(const tsr_spec_dim *entry, const char *axis);
// The first dimension that an axis cuts; -1 = none.
int tsr_spec_find_axis(const tsr_spec_desc *desc, const char *axis);
// Whether an axis before `ref`, which is one of the spec's own, overlaps it.
bool tsr_spec_is_repeated(const tsr_spec_desc *desc, const tsr_axis_ref *ref);
// Whether one entry can be laid out along a dimension of this size.
TSR_MUST_USE tsr_status tsr_spec_entry_fits(const tsr_spec_dim *entry, const tsr_mesh *mesh,
                                            int64_t size, tsr_policy policy, bool *out_fits);

#endif
