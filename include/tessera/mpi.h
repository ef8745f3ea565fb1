// MPI: comms over the ranks of an MPI communicator.
//
// One library per MPI (libtessera_mpi_openmpi, libtessera_mpi_mpich), since each has a binary
// interface of its own; libtessera needs none. tessera.h leaves this header out, for it includes
// <mpi.h>. See docs/mpi.md for how to link and run.
//
//   MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
//   tsr_comm *comm = NULL;
//   tsr_status status = tsr_comm_create_mpi(MPI_COMM_WORLD, 1, NULL, &comm);  // a device per rank
//   ...
//   tsr_comm_release(comm);
//   MPI_Finalize();
#ifndef TESSERA_MPI_H
#define TESSERA_MPI_H

#include <mpi.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/comm.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// Collective over `comm`, which is copied and stays the caller's. This rank brings `local_count`
// devices (0 is fine), numbered after those of the lower ranks. MPI must have been started with
// MPI_THREAD_FUNNELED or more, and the tsr_comm is used by the thread that may call MPI. Fails on
// every rank when any rank cannot take part, has another version of the library or another
// `in_flight`.
//
// Release the comm on all ranks, before MPI_Finalize. A call that fails with TSR_CODE_COMM leaves
// the comm broken: MPI may still hold messages, also of the buffers that were given, so the program
// should end, as by MPI_Abort.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(4) tsr_status
    tsr_comm_create_mpi(MPI_Comm comm, int64_t local_count, const tsr_comm_options *options,
                        tsr_comm **out_comm);

// Collective over MPI_COMM_WORLD. Starts MPI unless the program has done so (and then ends it with
// the comm), and shares `device_count` devices (0 = one for each rank) out to the ranks, in blocks
// as equal as can be. Fails on every rank when they want different numbers of devices, and when the
// launcher started another number of processes than MPI sees. tsr_comm_open("mpi") (tessera/comm.h)
// loads the library that fits the launcher and calls this.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(3) tsr_status
    tsr_comm_open_mpi(int64_t device_count, const tsr_comm_options *options, tsr_comm **out_comm);

TSR_END_DECLS

#endif
