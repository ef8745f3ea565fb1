// Comm: the devices that arrays lie on, and how bytes move between them.
//
//   TSR_OWN(comm, comm);  // given back at the end of the block: tessera/own.h
//   TSR_TRY(tsr_comm_create(8, NULL, &comm));  // 8 devices in this process
//
// A comm is a set of devices 0 .. device_count-1, some of which are here: all of them in the
// `threads` engine, a contiguous block of them per rank in others (`mpi`). The device ids of a mesh
// are a comm's devices. N devices are a loop index, not N threads: the work of a call is cut in
// tasks that as many workers as cores share.
//
// A function that says "Collective" is called by all ranks with the same arguments but for memory,
// and fails on every rank or on none. Ranks compare a digest of what they ask for before
// anything moves: where one calls something else, or with other arguments, all fail with
// comm_mismatch, in the same words, which name the ranks and what differs, and the comm can be used
// afterwards. Results never depend on the number of workers or ranks: reductions follow a fixed
// tree over the members of a group. The collectives themselves are in tessera/engine/collectives.h;
// arrays (tessera/array.h) call them where they need them.
#ifndef TESSERA_COMM_H
#define TESSERA_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/buffer.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// Shared by retain and release, from any threads. Collective calls are made by one thread at a time
// on each rank, in the same order on all ranks; functions that only look at it, and those of arrays
// that need no other rank, may run beside them.
typedef struct tsr_comm tsr_comm;

typedef struct tsr_comm_options {
  size_t size;       // sizeof(tsr_comm_options)
  int workers;       // threads of this process; 0 = one for each processor it may use
  double timeout;    // seconds without progress until a call fails; 0 = 300, negative = never
  size_t in_flight;  // bytes of packed messages at most; 0 = 64 MB
  // Reductions between ranks may follow the transport's own order, which some networks are built
  // for. Results are then the same on all ranks, but not those of other numbers of ranks.
  bool fast;
  // Where arrays on this comm have their memory from: several comms may share one pool, and it may
  // have an allocator of the caller's. Held until the comm is gone. NULL = a pool of its own, which
  // keeps up to a quarter of the machine's memory.
  tsr_buffer_pool *buffers;
} tsr_comm_options;
#define TSR_COMM_OPTIONS TSR_SIZED(tsr_comm_options)

// Makes a comm of the `threads` engine: all devices are in this process.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(3) tsr_status
    tsr_comm_create(int64_t device_count, const tsr_comm_options *options, tsr_comm **out_comm);
// Makes a comm of the engine of that name: "threads", or "mpi", whose library is loaded (see
// docs/mpi.md: the one of the launcher that started the program, or what the variable TESSERA_MPI
// names) and shares the devices out to the ranks; 0 devices = one for each rank. Collective over
// the ranks.
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
