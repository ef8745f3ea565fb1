// What the files of this room share about copy plans.
#ifndef TESSERA_TRANSFER_TRANSFER_H
#define TESSERA_TRANSFER_TRANSFER_H

#include "layout/layout.h"
#include "tessera/engine/copy_plan.h"
#include "transfer/box_tree.h"

struct tsr_copy_plan {
  const tsr_layout *from, *to;
  int64_t tensor;
  int64_t terms;  // product of the unreduced axes; 1 without
  // Positions of the source by group (shard and term), then by process or by nearness, then
  // ascending. NULL if the replicas of a shard are indistinguishable.
  int32_t *by_process, *by_near;
  // Layouts of listed boxes or ranges; NULL for grids.
  tsr_box_tree *from_tree, *to_tree;
  int64_t *from_class;  // the first of equal boxes, for each box of the source; NULL = all differ
};

// ---- lists of numbers ----

typedef struct tsr_numbers {
  int64_t *items;  // owned
  int64_t count, capacity;
} tsr_numbers;
#define TSR_NUMBERS_EMPTY \
  { NULL, 0, 0 }
TSR_MUST_USE tsr_status tsr_numbers_add(tsr_numbers *list, int64_t number);
void tsr_numbers_tidy(tsr_numbers *list);  // sorts, drops repeats
void tsr_numbers_deinit(tsr_numbers *list);

// ---- sources of elements (source.c) ----

// Fails if partial results differ; prepares the choice of sources.
TSR_MUST_USE tsr_status tsr_source_prepare(tsr_copy_plan *plan);
// The source position of a target position's device, if it holds the same term; else -1.
int64_t tsr_source_own(const tsr_copy_plan *plan, int64_t target);
// The source position that gives the elements of `shard` to a target position.
int64_t tsr_source_of(const tsr_copy_plan *plan, int64_t target, int64_t shard);
// Adds the positions of the target's `shard` that may take from a source position: a superset of
// those that do.
TSR_MUST_USE tsr_status tsr_source_takers(const tsr_copy_plan *plan, int64_t source, int64_t shard,
                                          tsr_numbers *list);
// The process of a device by the plan's topologies; else 0.
int64_t tsr_source_process(const tsr_copy_plan *plan, int64_t device);
bool tsr_source_has_topology(const tsr_copy_plan *plan);
// The group of a source position: its shard * terms + its term.
int64_t tsr_source_group(const tsr_copy_plan *plan, int64_t source);

// ---- overlapping shards (reach.c) ----

struct tsr_blocks;
// Adds the cuts of one dimension that own some of what is held (and `own`, if elements have copies)
// or, with `all`, hold some of it. Ascending, added to an empty list.
TSR_MUST_USE tsr_status tsr_reach_cuts(const tsr_run_list *held, const tsr_cut *cut, bool all,
                                       int64_t own, tsr_numbers *list);
// Adds the shards of the source that a shard of the target takes from, ascending; a superset. `own`
// is the source shard of the target's device, or -1.
TSR_MUST_USE tsr_status tsr_reach_sources(const tsr_copy_plan *plan,
                                          const struct tsr_blocks *target, int64_t own,
                                          tsr_numbers *list);
// Adds the shards of the source that hold elements of a shard of the target, ascending; a superset.
TSR_MUST_USE tsr_status tsr_reach_holders(const tsr_copy_plan *plan,
                                          const struct tsr_blocks *target, tsr_numbers *list);
// Adds the shards of the target that share elements with a shard of the source, ascending; a
// superset.
TSR_MUST_USE tsr_status tsr_reach_targets(const tsr_copy_plan *plan,
                                          const struct tsr_blocks *source, tsr_numbers *list);

// ---- sizes (certificate.c) ----

int64_t tsr_bytes_of(int64_t elements, int bits);  // saturates at 2^63 - 1

#endif
