// Masks that are true on ranges of one dim: comparisons of indices with numbers that a device
// knows, as those that choose the pieces of an exchange or hide padding.
#ifndef TESSERA_COMBINE_RANGE_MASKS_H
#define TESSERA_COMBINE_RANGE_MASKS_H

#include "ir/ir.h"

// True and false change at each of `at`, in order.
enum { TSR_MASK_CHANGES = 16 };
typedef struct tsr_range_mask {
  bool first;  // before all changes
  int count;
  int64_t at[TSR_MASK_CHANGES];
} tsr_range_mask;

// The dim along which a mask has ranges, as far as its ops tell; -1 = none, or several.
int tsr_range_mask_dim(const tsr_value *mask);
// What the mask is on a device, for indices of the dim. False if it depends on anything else.
bool tsr_range_mask_on(const tsr_value *mask, int dim, int64_t device, tsr_range_mask *out_mask);
// Where the range ends that `index` is in.
int64_t tsr_range_mask_end(const tsr_range_mask *mask, int64_t index);
bool tsr_range_mask_at(const tsr_range_mask *mask, int64_t index);

#endif
