// Transport: the functions that an *engine* gives a comm to work over some network.
//
// For authors of engines. The library has one for the threads of a process; MPI is in a library of
// its own.
//
// The facade (tessera/engine/collectives.h) checks arguments, turns all_gather, all_to_all, permute
// and broadcast into copies and, over several ranks, uses `share` to verify that all make the same
// call without a mistake. So an engine's functions are called on all ranks with checked arguments,
// or on none.
//
// Functions that wait for other ranks fail with COMM_TIMEOUT after tsr_comm_timeout seconds without
// progress, and with COMM_FAILED if a rank is gone. The message names the ranks waited for; the
// facade adds the step and the call as a note.
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
// whole result. reduce_scatter: `in` has outer blocks of size * inner elements, and member i gets
// piece i of each. Elements are reduced by the tree of tessera/engine/reduce.h. all_reduce may be
// in place, and members of a group may share one `out`.
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
  // Does all copies with a local source or target. `in` and `out` are not NULL where needed.
  tsr_status (*exchange)(tsr_comm *comm, const tsr_exchange *arrays, int64_t array_count);
  tsr_status (*reduce)(tsr_comm *comm, const tsr_reduce_job *job);
  // A small all-gather of control data, `bytes` from each rank, in order of ranks. With 0 bytes it
  // is the barrier: it returns after all ranks have called it. Not called on a single rank.
  tsr_status (*share)(tsr_comm *comm, const void *mine, size_t bytes, void *out_all);
  void (*destroy)(void *state);  // may be NULL
  // This rank failed between calls: the others, which may wait for it, fail with the reason. May be
  // NULL: then they fail after the timeout.
  void (*abandon)(tsr_comm *comm, tsr_status why);
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
// From the options: seconds without progress until a call fails (negative = never), and the upper
// bound on bytes of packed messages.
TSR_API TSR_NONNULL double tsr_comm_timeout(const tsr_comm *comm);
TSR_API TSR_NONNULL size_t tsr_comm_in_flight(const tsr_comm *comm);
// Number of collectives called so far, including the current one.
TSR_API TSR_NONNULL int64_t tsr_comm_step(const tsr_comm *comm);

// ---- what engines share ----

// Does the copies of all arrays whose source and target are both local, on the comm's workers.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1) tsr_status
    tsr_engine_copy_here(tsr_comm *comm, const tsr_exchange *arrays, int64_t array_count);

TSR_END_DECLS

#endif
