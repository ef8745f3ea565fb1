// Groups of rules whose tensors are cut over an axis together or not at all: q, k, v and o of one
// attention. Which rules form a group, they say themselves (tessera/rules.h).
#ifndef TESSERA_PLAN_TOGETHER_H
#define TESSERA_PLAN_TOGETHER_H

#include "plan/plan.h"

// What is known of one group in one layer.
typedef struct tsr_together_layer {
  int64_t rule;    // that cannot be cut as the others; -1 = all can
  int64_t shards;  // in which it cannot
  bool large;      // not all its tensors are below the minimum size
  // What a cut divides, for cuts that come out uneven: those must be alike.
  int64_t pieces, copies;  // of the first; 0 = none yet
  int64_t uneven_rule;     // the first whose cut comes out uneven; -1 = none
  bool mixed;
} tsr_together_layer;

typedef struct tsr_together {
  const tsr_rules *rules;
  const tsr_mesh *mesh;
  bool any_group;
  tsr_name_index names;  // of groups with layers, in the arena
  tsr_arena arena;
  tsr_text key;
  tsr_together_layer *layers;  // owned
  int64_t count, capacity;
  int64_t broken;  // layers that cannot be cut
} tsr_together;

#define TSR_TOGETHER_EMPTY \
  { .names = TSR_NAME_INDEX_EMPTY, .arena = TSR_ARENA_EMPTY }

// Without a mesh nothing is cut, so nothing can disagree.
void tsr_together_init(tsr_together *groups, const tsr_rules *rules, const tsr_mesh *mesh);
void tsr_together_deinit(tsr_together *groups);
// Before rows are set: a tensor of `rule` that is not too small to be cut, and whether the group of
// `rule` has one in the layer of `path`.
TSR_MUST_USE tsr_status tsr_together_add_large(tsr_together *groups, int64_t rule,
                                               const char *path);
TSR_MUST_USE tsr_status tsr_together_find_large(tsr_together *groups, int64_t rule,
                                                const char *path, bool *out_large);
// Whether a row that was set by `rule` may keep its group from being cut: nearly none does.
bool tsr_together_may_break(const tsr_together *groups, const tsr_plan_builder *builder,
                            int64_t row, int64_t rule);
// Looks at a row that was set by `rule`, corrected. `whole`: it will not be cut, whatever its spec.
TSR_MUST_USE tsr_status tsr_together_check_row(tsr_together *groups,
                                               const tsr_plan_builder *builder, int64_t row,
                                               int64_t rule, bool whole);
// After all were looked at: drops the axis from a row whose group cannot be cut in its layer, with
// a note.
TSR_MUST_USE tsr_status tsr_together_apply(tsr_together *groups, tsr_plan_builder *builder,
                                           int64_t row, int64_t rule);

#endif
