// The normal form of one dimension: what is left of its stages when all that cuts nothing is gone.
#ifndef TESSERA_SPEC_NORMAL_H
#define TESSERA_SPEC_NORMAL_H

#include "spec/sub_axis.h"
#include "tessera/engine/sharding.h"
#include "tessera/spec.h"

// Parts of two or more members that do not overlap multiply to the number of devices at most, so
// there are never as many as a size has bits.
enum { TSR_MAX_PARTS = 64 };

typedef struct tsr_normal_stage {
  const tsr_stage *cut;
  int first, count;  // its parts
} tsr_normal_stage;

typedef struct tsr_normal_dim {
  int stage_count, part_count;
  tsr_normal_stage stages[TSR_MAX_PARTS];
  tsr_sub_axis parts[TSR_MAX_PARTS];
} tsr_normal_dim;

void tsr_normal_dim_init(tsr_normal_dim *normal, const tsr_sharding_dim *dim);
// Parts of size 1 dropped, parts that continue one another joined. Gives the new count.
int tsr_parts_join(tsr_sub_axis *parts, int count);
// A set: the same after sorting by axis and place. `out_parts` has room for TSR_MAX_PARTS.
int tsr_parts_normal_set(const tsr_sub_axis *parts, int count, tsr_sub_axis *out_parts);

#endif
