// The normal form of one dimension: its stages without axes and stages that cut nothing.
#ifndef TESSERA_SPEC_NORMAL_H
#define TESSERA_SPEC_NORMAL_H

#include "spec/sub_axis.h"
#include "tessera/engine/sharding.h"
#include "tessera/spec.h"

// Disjoint sub-axes of two or more members multiply to at most the number of devices, so there are
// fewer of them than a size has bits.
enum { TSR_MAX_PARTS = 64 };

typedef struct tsr_normal_stage {
  const tsr_stage *cut;
  int first, count;  // its sub-axes
} tsr_normal_stage;

typedef struct tsr_normal_dim {
  int stage_count, part_count;
  tsr_normal_stage stages[TSR_MAX_PARTS];
  tsr_sub_axis parts[TSR_MAX_PARTS];
} tsr_normal_dim;

void tsr_normal_dim_init(tsr_normal_dim *normal, const tsr_sharding_dim *dim);
// Drops sub-axes of size 1 and joins those that continue each other. Gives the new count.
int tsr_parts_join(tsr_sub_axis *parts, int count);
// The same for a set, which is sorted by axis and position first. `out_parts` holds TSR_MAX_PARTS.
int tsr_parts_normal_set(const tsr_sub_axis *parts, int count, tsr_sub_axis *out_parts);

#endif
