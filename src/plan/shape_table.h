// Facts that are the same for all tensors of one shape are worked out once: a table from (number,
// shape) to a value. A model of 100,000 tensors has a few dozen shapes.
//
//   tsr_shape_table table = TSR_SHAPE_TABLE(int64_t);
//   bool is_new = false;
//   int64_t *bytes = tsr_shape_table_value(&table, key, tensor, &is_new);
//   if (!bytes) return tsr_fail(NO_MEMORY, "bytes of a plan");
//   if (is_new) TSR_TRY(count_bytes(tensor, bytes));
#ifndef TESSERA_PLAN_SHAPE_TABLE_H
#define TESSERA_PLAN_SHAPE_TABLE_H

#include "plan/hash_slots.h"
#include "tessera/tree.h"

typedef struct tsr_shape_key {
  uint64_t number;
  const tsr_tensor *tensor;  // borrowed: the first one of this shape
} tsr_shape_key;

typedef struct tsr_shape_table {
  size_t value_size;
  tsr_hash_slots slots;
  tsr_shape_key *keys;  // owned, in the order they came
  char *values;         // owned, in the same order
  int64_t key_capacity, value_capacity;
} tsr_shape_table;
#define TSR_SHAPE_TABLE(type) \
  { .value_size = sizeof(type) }

// The value of (`number`, the tensor's shape), valid until the next call. A new one is all zeros.
// NULL when memory is out.
void *tsr_shape_table_value(tsr_shape_table *table, uint64_t number, const tsr_tensor *tensor,
                            bool *out_new);
void tsr_shape_table_deinit(tsr_shape_table *table);

#endif
