// Selections: which tensors of a checkpoint a job takes, and their dtypes.
#ifndef TESSERA_VIEW_SELECT_H
#define TESSERA_VIEW_SELECT_H

#include "tessera/api.h"
#include "tessera/checkpoint/map.h"
#include "tessera/dtype.h"
#include "tessera/plan.h"
#include "tessera/status.h"
#include "tessera/tree.h"
#include "view/view.h"

// The fields that the options of a transform, a load and a save share. Lists are borrowed.
typedef struct tsr_selection {
  const tsr_mapping *map;  // applied first; NULL = none
  const char *const *include, *const *exclude;
  int64_t include_count, exclude_count;
  const tsr_cast_rule *casts;  // the first that matches decides; `dtype` if none does
  int64_t cast_count;
  tsr_dtype dtype;
  bool no_companions, allow_overflow;
} tsr_selection;
// The selection in an options struct that has these fields.
#define TSR_SELECTION_OF(options)                             \
  ((tsr_selection){.map = (options)->map,                     \
                   .include = (options)->include,             \
                   .exclude = (options)->exclude,             \
                   .include_count = (options)->include_count, \
                   .exclude_count = (options)->exclude_count, \
                   .casts = (options)->casts,                 \
                   .cast_count = (options)->cast_count,       \
                   .dtype = (options)->dtype,                 \
                   .no_companions = (options)->no_companions, \
                   .allow_overflow = (options)->allow_overflow})

// Checks lists and dtypes.
TSR_MUST_USE tsr_status tsr_selection_check(const tsr_selection *selection);
// Checks the lists alone: ranks may compare them afterwards.
TSR_MUST_USE tsr_status tsr_selection_check_lists(const tsr_selection *selection);
// Removes the views that are not included or are excluded, and casts the others. `tree` has their
// names, types and shapes; NULL = it is made here.
TSR_MUST_USE tsr_status tsr_views_select(tsr_views *views, const tsr_tree *tree,
                                         const tsr_selection *selection);
// The tensors of a checkpoint that a selection takes. Reads are compared with `hashes`, which
// outlive the views; NULL = they are not.
TSR_MUST_USE tsr_status tsr_views_selected(const tsr_checkpoint *source,
                                           const tsr_selection *selection, tsr_replicas replicas,
                                           tsr_source_hashes *hashes, tsr_views *out_views);
// Names, types and shapes of the views that tsr_views_selected gives, without making them.
TSR_MUST_USE tsr_status tsr_selection_tree(const tsr_checkpoint *source,
                                           const tsr_selection *selection, tsr_tree **out_tree);
// Names, types and shapes of views.
TSR_MUST_USE tsr_status tsr_views_tree(const tsr_views *views, tsr_tree **out_tree);
// A plan for exactly these tensors.
TSR_MUST_USE tsr_status tsr_views_plan(const tsr_views *views, const tsr_plan *plan,
                                       tsr_plan **out_plan);

#endif
