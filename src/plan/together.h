// Groups of rules whose tensors are all cut over an axis or none is: q, k, v and o of an attention.
// Rules name their group (tessera/rules.h).
#ifndef TESSERA_PLAN_TOGETHER_H
#define TESSERA_PLAN_TOGETHER_H

#include "plan/plan.h"

// One group in one layer.
typedef struct tsr_together_layer {
  int64_t rule;            // the first that cannot be cut; -1 = all can
  int64_t shards;          // the number of shards that it cannot be cut in
  bool large;              // some tensor has the minimum size
  int64_t pieces, copies;  // of the first cut; 0 = none yet
  int64_t uneven_rule;     // the first with an uneven cut; -1 = none
  bool mixed;              // cuts differ in pieces or copies
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

// Without a mesh no group is checked.
void tsr_together_init(tsr_together *groups, const tsr_rules *rules, const tsr_mesh *mesh);
void tsr_together_deinit(tsr_together *groups);
// Before rows are set: records a tensor of `rule` that has the minimum size; and whether the group
// of `rule` has one in the layer of `path`.
TSR_MUST_USE tsr_status tsr_together_add_large(tsr_together *groups, int64_t rule,
                                               const char *path);
TSR_MUST_USE tsr_status tsr_together_find_large(tsr_together *groups, int64_t rule,
                                                const char *path, bool *out_large);
// Whether a row set by `rule` could keep its group from being cut. Nearly no row can.
bool tsr_together_may_break(const tsr_together *groups, const tsr_plan_builder *builder,
                            int64_t row, int64_t rule);
// Checks a corrected row set by `rule`. `whole`: it will not be cut, whatever its spec.
TSR_MUST_USE tsr_status tsr_together_check_row(tsr_together *groups,
                                               const tsr_plan_builder *builder, int64_t row,
                                               int64_t rule, bool whole);
// After all rows were checked: drops the axis from a row whose group cannot be cut in its layer,
// with a note.
TSR_MUST_USE tsr_status tsr_together_apply(tsr_together *groups, tsr_plan_builder *builder,
                                           int64_t row, int64_t rule);

#endif
