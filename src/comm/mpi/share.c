// A small all-gather of control data, and the barrier: the facade uses it to check that all ranks
// make the same call.
#include <limits.h>
#include <string.h>

#include "comm/mpi/mpi_engine.h"
#include "tessera/comm.h"
#include "tessera/engine/transport.h"
#include "tessera/status.h"

static tsr_status gather(tsr_mpi *mpi, const void *mine, size_t bytes, void *out_all) {
  const size_t size = (size_t)mpi->size;
  if (bytes > INT_MAX / size)
    return tsr_fail(TOO_LARGE, "%zu bytes of control data, wanted %zu at most", bytes,
                    INT_MAX / size);
  // Not the caller's memory: if a rank is missing, MPI keeps what it was given.
  TSR_TRY(tsr_mpi_reserve(&mpi->share, bytes * (size + 1)));
  unsigned char *all = mpi->share.bytes, *own = all + bytes * size;
  memcpy(own, mine, bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  TSR_TRY(tsr_mpi_check(
      MPI_Iallgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, mpi->data, &request),
      "MPI_Iallgather"));
  TSR_TRY(tsr_mpi_one(mpi, &request));
  memcpy(out_all, all, bytes * size);
  return NULL;
}

static tsr_status meet(tsr_mpi *mpi) {
  MPI_Request request = MPI_REQUEST_NULL;
  TSR_TRY(tsr_mpi_check(MPI_Ibarrier(mpi->data, &request), "MPI_Ibarrier"));
  return tsr_mpi_one(mpi, &request);
}

tsr_status tsr_mpi_share(tsr_comm *comm, const void *mine, size_t bytes, void *out_all) {
  tsr_mpi *mpi = tsr_comm_engine_state(comm);
  TSR_TRY(tsr_mpi_begin(mpi, tsr_comm_step(comm)));
  return tsr_mpi_end(mpi, bytes ? gather(mpi, mine, bytes, out_all) : meet(mpi));
}
