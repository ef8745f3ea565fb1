// A cell: a range of one result of a reduction that fits one message of each party.
#ifndef TESSERA_COMM_MPI_CELL_H
#define TESSERA_COMM_MPI_CELL_H

#include "comm/mpi/parties.h"
#include "tessera/api.h"
#include "tessera/comm.h"
#include "tessera/engine/reduce.h"
#include "tessera/engine/transport.h"
#include "tessera/status.h"

// Common to all cells of a call.
typedef struct tsr_mpi_job {
  tsr_comm *comm;
  const tsr_reduce_job *job;
  tsr_reducer reducer;
  int bits;
} tsr_mpi_job;

typedef struct tsr_mpi_cell {
  const tsr_mpi_group *group;
  int64_t slice;       // of a scattered result: the member that gets it
  int64_t begin, end;  // elements of the result
} tsr_mpi_cell;

// This rank's values of the cell, contiguous: in `message`, or in place if they are one range of a
// buffer.
TSR_MUST_USE tsr_status tsr_mpi_cell_fill(const tsr_mpi_job *job, const tsr_mpi_cell *cell,
                                          unsigned char *message, const void **out_place);
// Reduces the cell from this rank's members and the `messages` of the other parties (one entry per
// party), and writes it to all local members that get it.
TSR_MUST_USE tsr_status tsr_mpi_cell_reduce(const tsr_mpi_job *job, const tsr_mpi_cell *cell,
                                            unsigned char *const *messages);
// The address of the cell in the first local buffer of a result that all members get.
unsigned char *tsr_mpi_cell_place(const tsr_mpi_job *job, const tsr_mpi_cell *cell);
// Copies it from there to the other local members.
TSR_MUST_USE tsr_status tsr_mpi_cell_spread(const tsr_mpi_job *job, const tsr_mpi_cell *cell);

// ---- fast.c ----

// Whether MPI has an operation with the same semantics.
bool tsr_mpi_fast_allows(const tsr_reduce_job *job);
struct tsr_mpi;
TSR_MUST_USE tsr_status tsr_mpi_reduce_fast(struct tsr_mpi *mpi, const tsr_mpi_job *job,
                                            const tsr_mpi_group *groups);

#endif
