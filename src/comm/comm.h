// What the files of this room share about comms beyond the public headers.
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
  int64_t result;  // `out`s with the same result may be one buffer; -1 for an `in`
  int64_t group;   // of an `in` that may be written in place; else -1
} tsr_comm_span;

// What a rank tells the others before a call: the same for all, unless somebody is mistaken.
typedef struct tsr_call_record {
  uint64_t name;        // hash of what is called
  tsr_hash128 digest;   // digest of its arguments; of nothing when there is a mistake
  tsr_hash128 balance;  // of the copies between ranks (balance.c): of all ranks zero
  int64_t cause;        // of the mistake found here, or 0
} tsr_call_record;

// All copies from one rank to another, as one of the two lists them.
typedef struct tsr_lane {
  tsr_hash128 sum;  // of their hashes
  int64_t copies, elements;
} tsr_lane;

struct tsr_comm {
  atomic_int refs;
  tsr_engine functions;      // as far as this library knows them
  const tsr_engine *engine;  // &functions
  void *state;
  int rank, rank_count;
  tsr_pool *pool;
  tsr_buffer_pool *buffers;
  double timeout;
  size_t in_flight;
  _Atomic int64_t step;
  // Room for every call, so that no call of one rank alone can fail for want of memory.
  int64_t *first;            // per rank, and the number of devices
  int64_t *member_of;        // per device: which group it is in, or -1
  bool *sends;               // per device: whether it is a source of a permutation
  tsr_comm_span *spans;      // two per local device
  tsr_call_record *records;  // per rank
  tsr_lane *sent;            // per rank: what goes there
  tsr_lane *received;        // per rank: what comes from there; in the block of `sent`
  char (*texts)[TSR_CALL_TEXT];
};

extern const tsr_engine tsr_threads_engine;

// ---- copies between ranks (balance.c) ----

// Adds the copies of an exchange to what ranks compare.
void tsr_call_balance(tsr_call *c, const tsr_exchange *parts, int64_t part_count);
// Whether the copies of all ranks fit together, by their records.
bool tsr_records_balance(const tsr_comm *comm);
// Collective. The failure that names a lane which its ends list differently.
TSR_MUST_USE tsr_status tsr_call_find_lane(const tsr_call *c);

// ---- checks ----

// Groups of devices of this comm, disjoint; leaves in `member_of` which group each device is in.
TSR_MUST_USE tsr_status tsr_groups_check(tsr_comm *comm, const tsr_groups *groups);
// The bytes of outer * size * inner elements.
TSR_MUST_USE tsr_status tsr_blocks_check(tsr_dtype dtype, int64_t outer, int64_t size,
                                         int64_t inner, int64_t *out_bytes);
TSR_MUST_USE tsr_status tsr_reduction_check(tsr_dtype dtype, tsr_reduction op);

// What one local device reads and writes in a call.
typedef struct tsr_comm_role {
  int64_t in_bytes, out_bytes;  // 0: its entry is not looked at
  int64_t result, group;        // as in a span
} tsr_comm_role;
typedef tsr_comm_role tsr_comm_role_fn(const void *context, int64_t device);
// Every buffer that is needed is there, and none overlaps another that it must not.
TSR_MUST_USE tsr_status tsr_buffers_check(tsr_comm *comm, tsr_comm_role_fn *role,
                                          const void *context, const void *const *in,
                                          void *const *out);

#endif
