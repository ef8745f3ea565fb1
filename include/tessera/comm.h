// Comm: a set of devices, and how bytes move between them.
//
//   TSR_OWN(comm, comm);  // released at the end of the block: tessera/own.h
//   TSR_TRY(tsr_comm_create(8, NULL, &comm));  // 8 devices in this process
//
// A comm has devices 0 .. device_count-1; the device ids of a mesh refer to them. In the `threads`
// engine all of them are local. In `mpi` each rank has a contiguous block. A device is a loop
// index, not a thread: a call is cut into tasks for as many workers as there are cores.
//
// A "Collective" function is called by all ranks with the same arguments, apart from memory. It
// fails on every rank or on none. Ranks compare a digest of the call before anything moves; if it
// differs, all fail with the same comm_mismatch message, which names the ranks and the difference,
// and the comm stays usable. Results do not depend on the number of workers or ranks: reductions
// follow a fixed tree. The collectives are in tessera/engine/collectives.h.
#ifndef TESSERA_COMM_H
#define TESSERA_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/buffer.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// Reference counted, from any threads. On each rank one thread at a time makes collective calls, in
// the same order on all ranks. Other functions may run beside them.
typedef struct tsr_comm tsr_comm;

typedef struct tsr_comm_options {
  size_t size;       // sizeof(tsr_comm_options)
  int workers;       // threads of this process; 0 = one for each processor it may use
  double timeout;    // seconds without progress until a call fails; 0 = 300, negative = never
  size_t in_flight;  // upper bound on bytes of packed messages; 0 = 64 MB
  // Let the transport choose the order of reductions between ranks. Results are the same on all
  // ranks, but depend on the number of ranks.
  bool fast;
  // The pool for the memory of arrays; comms may share one. Retained. NULL = a pool of its own,
  // which keeps up to a quarter of the machine's memory.
  tsr_buffer_pool *buffers;
} tsr_comm_options;
#define TSR_COMM_OPTIONS TSR_SIZED(tsr_comm_options)

// A comm of the `threads` engine: all devices are in this process.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(3) tsr_status
    tsr_comm_create(int64_t device_count, const tsr_comm_options *options, tsr_comm **out_comm);
// Collective over the ranks. A comm of the engine "threads" or "mpi". For "mpi" the library of the
// launcher's MPI is loaded, or the one that TESSERA_MPI names (docs/mpi.md), and the devices are
// divided over the ranks; 0 devices = one per rank.
//   TSR_TRY(tsr_comm_open("mpi", 0, NULL, &comm));  // starts MPI, and ends it with the comm
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_comm_open(const char *engine, int64_t device_count, const tsr_comm_options *options,
                  tsr_comm **out_comm);
TSR_API TSR_NONNULL tsr_comm *tsr_comm_retain(tsr_comm *comm);
TSR_API void tsr_comm_release(tsr_comm *comm);  // NULL is fine

TSR_API TSR_NONNULL int64_t tsr_comm_device_count(const tsr_comm *comm);
TSR_API TSR_NONNULL int tsr_comm_rank(const tsr_comm *comm);
TSR_API TSR_NONNULL int tsr_comm_rank_count(const tsr_comm *comm);

TSR_END_DECLS

#endif
