// Transport: what a comm needs to be told to work over some network, which makes it an *engine*.
//
// A program that only uses comms does not need this header; it is for those who write an engine.
// The threads of one process are one, inside the library; MPI is another, in a library beside it.
//
// The facade (tessera/engine/collectives.h) does for every engine what all have in common. It
// checks arguments, turns all_gather, all_to_all, permute and broadcast into copies, and, when
// there are several ranks, makes sure by `share` that all of them call the same thing and that none
// found a mistake. So an engine's functions are called on all ranks with arguments that were
// checked, or on none.
//
// An engine's functions that wait for other ranks fail with COMM_TIMEOUT after tsr_comm_timeout
// seconds without progress, and with COMM_FAILED when a rank is gone, in a message that names the
// ranks waited for; the facade adds what was being done (step and call) as a note.
#ifndef TESSERA_ENGINE_TRANSPORT_H
#define TESSERA_ENGINE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/comm.h"
#include "tessera/dtype.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/groups.h"
#include "tessera/reduction.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// all_reduce (scatter = false): outer is 1, inner the number of elements, and every member gets the
// whole. reduce_scatter: `in` has outer blocks of size * inner elements, and member i gets part i
// of each. Elements are reduced over the group's members by the tree of tessera/engine/reduce.h. in
// == out may be for all_reduce, and members of a group may share one `out`.
typedef struct tsr_reduce_job {
  const tsr_groups *groups;
  tsr_dtype dtype;
  tsr_reduction op;
  bool scatter;
  int64_t outer, inner;
  const void *const *in;
  void *const *out;
} tsr_reduce_job;

typedef struct tsr_engine {
  size_t size;  // sizeof(tsr_engine)
  const char *name;
  // Does all copies whose source or target is here. `in` and `out` are not NULL where needed.
  tsr_status (*exchange)(tsr_comm *comm, const tsr_exchange *parts, int64_t part_count);
  tsr_status (*reduce)(tsr_comm *comm, const tsr_reduce_job *job);
  // A small all-gather of control data, `bytes` from each rank, in order of ranks. It is also the
  // barrier (with 0 bytes): nobody returns before all have called. Not called with one rank only.
  tsr_status (*share)(tsr_comm *comm, const void *mine, size_t bytes, void *out_all);
  void (*destroy)(void *state);  // NULL when there is nothing to give back
} tsr_engine;
#define TSR_ENGINE TSR_SIZED(tsr_engine)

typedef struct tsr_engine_desc {
  size_t size;  // sizeof(tsr_engine_desc)
  const tsr_engine *engine;
  void *state;  // the engine's own; destroyed with the comm
  int rank, rank_count;
  const int64_t *first_devices;  // rank_count + 1 of them, rising from 0 to the number of devices
} tsr_engine_desc;
#define TSR_ENGINE_DESC TSR_SIZED(tsr_engine_desc)

// Makes a comm. On failure `state` still belongs to the caller.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_comm_create_with_engine(const tsr_engine_desc *desc, const tsr_comm_options *options,
                                tsr_comm **out_comm);
TSR_API TSR_NONNULL void *tsr_comm_engine_state(const tsr_comm *comm);
// What the options say: seconds without progress until a call fails, negative = never; and bytes of
// packed messages at most.
TSR_API TSR_NONNULL double tsr_comm_timeout(const tsr_comm *comm);
TSR_API TSR_NONNULL size_t tsr_comm_in_flight(const tsr_comm *comm);
// How many collectives were called, this one too.
TSR_API TSR_NONNULL int64_t tsr_comm_step(const tsr_comm *comm);

// ---- what engines share ----

// Does the copies of all parts whose source and target are both here, on the comm's workers.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1) tsr_status
    tsr_engine_copy_here(tsr_comm *comm, const tsr_exchange *parts, int64_t part_count);

TSR_END_DECLS

#endif
