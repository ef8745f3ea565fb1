// MPI: comms over the ranks of an MPI communicator.
//
// Each MPI has its own ABI, hence its own library (libtessera_mpi_openmpi, libtessera_mpi_mpich);
// libtessera needs none. tessera.h does not include this header, which includes <mpi.h>.
// docs/mpi.md shows how to link and run.
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

// Collective over `comm`, which is duplicated. This rank has `local_count` devices (0 is fine),
// numbered after those of lower ranks. MPI must be initialized with MPI_THREAD_FUNNELED or more;
// use the tsr_comm from the thread that may call MPI. Fails on every rank if any rank cannot join
// or has another version of the library or another `in_flight`.
//
// Release the comm on all ranks before MPI_Finalize. A call that fails with TSR_CODE_COMM breaks
// the comm: MPI may still use the buffers, so end the program, for instance by MPI_Abort.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(4) tsr_status
    tsr_comm_create_mpi(MPI_Comm comm, int64_t local_count, const tsr_comm_options *options,
                        tsr_comm **out_comm);

// Collective over MPI_COMM_WORLD. Starts MPI if necessary, and then ends it with the comm. Divides
// `device_count` devices (0 = one per rank) over the ranks in nearly equal blocks. Fails on every
// rank if device counts differ, or if the launcher started another number of processes than MPI
// sees. tsr_comm_open("mpi") of tessera/comm.h loads the launcher's library and calls this.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(3) tsr_status
    tsr_comm_open_mpi(int64_t device_count, const tsr_comm_options *options, tsr_comm **out_comm);

TSR_END_DECLS

#endif
