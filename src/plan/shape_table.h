// What is the same for all tensors of one shape is worked out once: a table from (number, shape) to
// a small index. A model of 100,000 tensors has a few dozen shapes.
#ifndef TESSERA_PLAN_SHAPE_TABLE_H
#define TESSERA_PLAN_SHAPE_TABLE_H

#include "tessera/tree.h"

typedef struct tsr_shape_entry {
  uint64_t key, hash;
  const tsr_tensor *tensor;  // borrowed: the first one of this shape
} tsr_shape_entry;

typedef struct tsr_shape_table {
  tsr_shape_entry *entries;  // owned, in the order they came
  int count, capacity;
  int32_t *slots;  // owned: entry + 1; 0 = free
  size_t slot_mask;
} tsr_shape_table;
#define TSR_SHAPE_TABLE_EMPTY \
  { NULL, 0, 0, NULL, 0 }

// The index of (`key`, the tensor's shape), which is `count - 1` if it is new.
TSR_MUST_USE tsr_status tsr_shape_table_add(tsr_shape_table *table, uint64_t key,
                                            const tsr_tensor *tensor, int *out_index);
void tsr_shape_table_deinit(tsr_shape_table *table);

#endif
