// Groups of processes, channels and pairs: what collectives and transfers share.
#ifndef TESSERA_VERIFY_GROUP_CHECKS_H
#define TESSERA_VERIFY_GROUP_CHECKS_H

#include "verify/op_checks.h"

// What an op asks of its replica_groups, with the names of the constraints.
typedef struct tsr_group_rules {
  const char *form, *unique, *range, *size;
  bool even;           // no -1 that fills up a short group
  bool any_ids;        // ids need not be 0 to count - 1
  int64_t group_size;  // 0 = any
} tsr_group_rules;

TSR_MUST_USE tsr_status tsr_check_groups(tsr_ir *ir, const tsr_op *op,
                                         const tsr_group_rules *rules);
// The processes of each group, as far as the groups are written out; 0 = not known.
int64_t tsr_process_group_size(const tsr_op *op);

// The id of channel_handle; 0 without one.
int64_t tsr_channel_id(const tsr_op *op);
// use_global_device_ids needs a channel above `least` and groups that are not empty.
TSR_MUST_USE tsr_status tsr_check_global_ids(const tsr_op *op, const char *constraint,
                                             int64_t least);
// source_target_pairs: (C1) to (C4) of the ops that have it.
TSR_MUST_USE tsr_status tsr_check_pairs(const tsr_op *op, const tsr_attr *pairs);

#endif
