// The normal form of one dimension: its stages without axes and stages that cut nothing.
#ifndef TESSERA_SPEC_NORMAL_H
#define TESSERA_SPEC_NORMAL_H

#include "spec/sub_axis.h"
#include "tessera/engine/sharding.h"
#include "tessera/spec.h"

// Disjoint sub-axes of two or more members multiply to at most the number of devices, so there are
// fewer of them than a size has bits.
enum { TSR_MAX_SUB_AXES = 64 };

typedef struct tsr_normal_stage {
  const tsr_stage *cut;
  int first, count;  // its sub-axes
} tsr_normal_stage;

typedef struct tsr_normal_dim {
  int stage_count, sub_axis_count;
  tsr_normal_stage stages[TSR_MAX_SUB_AXES];
  tsr_sub_axis sub_axes[TSR_MAX_SUB_AXES];
} tsr_normal_dim;

void tsr_normal_dim_init(tsr_normal_dim *normal, const tsr_sharding_dim *dim);
// Drops sub-axes of size 1 and joins those that continue each other. Gives the new count.
int tsr_sub_axes_join(tsr_sub_axis *sub_axes, int count);
// The same for a set, which is sorted by axis and position first. `out_axes` has room for
// TSR_MAX_SUB_AXES.
int tsr_sub_axes_normal_set(const tsr_sub_axis *sub_axes, int count, tsr_sub_axis *out_axes);

#endif
