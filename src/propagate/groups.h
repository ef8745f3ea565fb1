// Sharding groups: values that are sharded alike.
#ifndef TESSERA_PROPAGATE_GROUPS_H
#define TESSERA_PROPAGATE_GROUPS_H

#include "ir/ir.h"

typedef struct tsr_group_op {
  tsr_op *op;  // sdy.sharding_group
  int64_t id;
  int64_t order;  // in the program
  int64_t first;  // for the import: the order of the first group op of the same value
  int64_t root;   // for the import: the place of the id among all ids
} tsr_group_op;

typedef struct tsr_group_list {
  tsr_group_op *items;  // owned
  int64_t count, capacity;
} tsr_group_list;

// The sharding_group ops of a program, in order.
TSR_MUST_USE tsr_status tsr_group_list_make(tsr_ir *ir, tsr_group_list *out_list);
// Gives the members of each group the sharding that some have. Where theirs differ, an open
// constraint after each of them becomes the member. Sorts the list by group.
TSR_MUST_USE tsr_status tsr_groups_sync(tsr_ir *ir, tsr_group_list *list);

#endif
