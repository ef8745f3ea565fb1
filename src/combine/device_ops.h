// Collectives of StableHLO in the program of one device: who meets whom, new ones, and gathers as
// this program has them.
#ifndef TESSERA_COMBINE_DEVICE_OPS_H
#define TESSERA_COMBINE_DEVICE_OPS_H

#include "simplify/decompose_build.h"

// Ops that a pass looks at, in the order of the program.
typedef struct tsr_op_list {
  tsr_op **items;
  int64_t count, capacity;
} tsr_op_list;
TSR_MUST_USE tsr_status tsr_op_list_add(tsr_op_list *list, tsr_op *op);
void tsr_op_list_deinit(tsr_op_list *list);

// The bytes of a static tensor; 0 for other types.
int64_t tsr_type_bytes_of(const tsr_type *type);

// The op of a reduction whose body is (x, y) -> x op y, the arguments in their order; -1 for any
// other body.
int tsr_combiner_of(const tsr_op *op);

// The first number of a channel that no op of the program has.
int64_t tsr_channel_unused(tsr_ir *ir);
const tsr_attr *tsr_channel_attr(tsr_ir *ir, int64_t channel);  // NULL without memory

// A value that all_gather makes of shards: `counts[d]` of them along dim d. The shard at the
// indices i of each dim is that of the member number sum(i[d] * strides[d]) of each group.
typedef struct tsr_gathered {
  tsr_op *gather;
  tsr_value *shard;  // of the rank of the whole
  int64_t counts[TSR_MAX_RANK], strides[TSR_MAX_RANK];
} tsr_gathered;
// False if the value is not made by an all_gather, alone or with reshapes and a transpose around it
// as gathers along several dims are written.
bool tsr_gathered_find(const tsr_value *value, tsr_gathered *out_gathered);

// Whether nothing but `value` uses the gather.
bool tsr_gathered_only(const tsr_value *value, const tsr_gathered *gathered);
// Erases the gather and what makes `value` of it, which nothing uses any more.
void tsr_gathered_erase(const tsr_value *value, const tsr_gathered *gathered);

// Groups of an all_gather, each with the member `first` in front. NULL without memory.
const tsr_attr *tsr_groups_from(tsr_ir *ir, const tsr_op *gather, int64_t first);

#endif
