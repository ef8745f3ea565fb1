// Shared by the files of this room.
#ifndef TESSERA_COMM_COMM_H
#define TESSERA_COMM_COMM_H

#include <stdatomic.h>

#include "comm/call.h"
#include "tessera/dtype.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/pool.h"
#include "tessera/engine/transport.h"
#include "tessera/reduction.h"

// A buffer of one local device in a call, for finding overlaps.
typedef struct tsr_comm_span {
  uintptr_t begin, end;
  int64_t device;
  int64_t result;  // equal results may share one `out`; -1 for an `in`
  int64_t group;   // of an `in` that may be written in place; else -1
} tsr_comm_span;

// What a rank sends to the others before a call.
typedef struct tsr_call_record {
  uint64_t name;        // hash of what is called
  tsr_hash128 digest;   // of its arguments; empty after a mistake
  tsr_hash128 balance;  // of the copies between ranks; sums to zero (balance.c)
  int64_t cause;        // of the mistake found here, or 0
} tsr_call_record;

// All copies from one rank to another, as listed by one of the two.
typedef struct tsr_lane {
  tsr_hash128 sum;  // of their hashes
  int64_t copies, elements;
} tsr_lane;

struct tsr_comm {
  atomic_int refs;
  tsr_engine functions;      // a copy
  const tsr_engine *engine;  // &functions
  void *state;
  int rank, rank_count;
  tsr_pool *pool;
  tsr_buffer_pool *buffers;
  double timeout;
  size_t in_flight;
  bool fast;
  _Atomic int64_t step;
  // Allocated once, so that a call cannot run out of memory on one rank alone.
  int64_t *first;            // per rank, and the number of devices
  int64_t *member_of;        // per device: which group it is in, or -1
  bool *sends;               // per device: whether it is a source of a permutation
  tsr_comm_span *spans;      // two per local device
  tsr_call_record *records;  // per rank
  tsr_lane *sent;            // per rank: to it
  tsr_lane *received;        // per rank: from it; in the block of `sent`
  char (*texts)[TSR_CALL_TEXT];
};

extern const tsr_engine tsr_threads_engine;

// ---- copies between ranks (balance.c) ----

// Adds the copies of an exchange to what ranks compare.
void tsr_call_balance(tsr_call *c, const tsr_exchange *arrays, int64_t array_count);
// Whether the copies of all ranks match, by their records.
bool tsr_records_balance(const tsr_comm *comm);
// Collective. The failure that names a lane with different lists at its ends.
TSR_MUST_USE tsr_status tsr_call_find_lane(const tsr_call *c);

// ---- checks ----

// Checks disjoint groups of devices of this comm; sets `member_of`.
TSR_MUST_USE tsr_status tsr_groups_check(tsr_comm *comm, const tsr_groups *groups);
// The bytes of outer * size * inner elements.
TSR_MUST_USE tsr_status tsr_blocks_check(tsr_dtype dtype, int64_t outer, int64_t size,
                                         int64_t inner, int64_t *out_bytes);
TSR_MUST_USE tsr_status tsr_reduction_check(tsr_dtype dtype, tsr_reduction op);

// What one local device reads and writes in a call.
typedef struct tsr_comm_role {
  int64_t in_bytes, out_bytes;  // 0: its entry is not read
  int64_t result, group;        // as in a span
} tsr_comm_role;
typedef tsr_comm_role tsr_comm_role_fn(const void *context, int64_t device);
// Fails if a needed buffer is missing, or overlaps another that it must not.
TSR_MUST_USE tsr_status tsr_buffers_check(tsr_comm *comm, tsr_comm_role_fn *role,
                                          const void *context, const void *const *in,
                                          void *const *out);

#endif
