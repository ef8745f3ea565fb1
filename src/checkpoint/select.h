// Which tensors a transform writes, and as what types: the options' patterns applied to views.
#ifndef TESSERA_CHECKPOINT_SELECT_H
#define TESSERA_CHECKPOINT_SELECT_H

#include "checkpoint/view.h"
#include "tessera/api.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/dtype.h"
#include "tessera/status.h"
#include "tessera/tree.h"

// Whether the enum values and counts of the options are valid.
TSR_MUST_USE tsr_status tsr_selection_check(const tsr_transform_options *options);
// Of these, whether its lists are there: what must hold before ranks compare them.
TSR_MUST_USE tsr_status tsr_selection_check_lists(const tsr_transform_options *options);
// A type that may be missing: TSR_DTYPE_NONE, or one that exists.
TSR_MUST_USE tsr_status tsr_dtype_check_wanted(tsr_dtype dtype);
// Takes out the views that are not included, or excluded, and casts the others. `source` are the
// tensors that views come from, for what goes with them; NULL = the views themselves.
TSR_MUST_USE tsr_status tsr_views_select(tsr_views *views, const tsr_tree *source,
                                         const tsr_transform_options *options);
// Names, types and shapes of views.
TSR_MUST_USE tsr_status tsr_views_tree(const tsr_views *views, tsr_tree **out_tree);

#endif
