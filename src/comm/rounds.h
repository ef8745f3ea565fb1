// Shared by the collectives: their arguments, and the copies that data movement becomes.
#ifndef TESSERA_COMM_ROUNDS_H
#define TESSERA_COMM_ROUNDS_H

#include "comm/comm.h"
#include "tessera/dtype.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/kernels.h"

typedef struct tsr_collective_args {
  tsr_comm *comm;
  const tsr_groups *groups;
  tsr_dtype dtype;
  const void *const *in;
  void *const *out;
  int64_t in_bytes, out_bytes;  // of a member
  bool in_place;                // `in` may be `out`
  bool alike;                   // all members get the same result
} tsr_collective_args;

// The role of a device as a member of the groups; the context is a tsr_collective_args.
tsr_comm_role tsr_member_role(const void *context, int64_t device);
// Adds groups to what ranks compare; they must outlive the call.
void tsr_call_add_groups(tsr_call *c, const tsr_groups *groups);
// For messages: the values as given, even if invalid.
long long tsr_group_count(const tsr_groups *groups);
long long tsr_group_size(const tsr_groups *groups);
const char *tsr_type_name(tsr_dtype dtype);

// Copies are collected and exchanged in rounds, so that a large group does not need memory for all
// its pairs. Rounds end after the same pairs on all ranks, whichever copies a rank lists.
typedef struct tsr_copy_rounds {
  const tsr_collective_args *args;
  int64_t pairs, capacity;  // capacity 0: nothing to move
  int64_t copy_count;
  tsr_copy *copies;
} tsr_copy_rounds;

// Allocates for `pairs` of devices; 0 allocates nothing.
TSR_MUST_USE tsr_status tsr_rounds_begin(tsr_copy_rounds *r, const tsr_collective_args *a,
                                         int64_t pairs);
// Counts a pair and, unless `skip`, adds its copy if either end is local.
TSR_MUST_USE tsr_status tsr_rounds_add(tsr_copy_rounds *r, const tsr_copy *copy, bool skip);
// Exchanges the rest unless `status` is a failure, which it returns.
TSR_MUST_USE tsr_status tsr_rounds_end(tsr_copy_rounds *r, tsr_status status);

// Whether an earlier local member has the same `out`.
bool tsr_is_written_by_another(const tsr_collective_args *a, const int64_t *members, int64_t index);

#endif
