// A cell: a stretch of one result of a reduction, small enough to be one message of each party.
#ifndef TESSERA_COMM_MPI_CELL_H
#define TESSERA_COMM_MPI_CELL_H

#include "comm/mpi/parties.h"
#include "tessera/api.h"
#include "tessera/comm.h"
#include "tessera/engine/reduce.h"
#include "tessera/engine/transport.h"
#include "tessera/status.h"

// What is the same for all cells of a call.
typedef struct tsr_mpi_job {
  tsr_comm *comm;
  const tsr_reduce_job *job;
  tsr_reducer reducer;
  int bits;
} tsr_mpi_job;

typedef struct tsr_mpi_cell {
  const tsr_mpi_group *group;
  int64_t part;        // of a scattered result: the member who gets it
  int64_t begin, end;  // elements of the result
} tsr_mpi_cell;

// This rank's values of the cell, one after the other, into `message`, or the place where they
// already lie like that, when they are a single stretch of one buffer.
TSR_MUST_USE tsr_status tsr_mpi_cell_fill(const tsr_mpi_job *job, const tsr_mpi_cell *cell,
                                          unsigned char *message, const void **out_place);
// Reduces the cell from this rank's members and the `messages` of the other parties (one entry per
// party), and writes it to all who get it here.
TSR_MUST_USE tsr_status tsr_mpi_cell_reduce(const tsr_mpi_job *job, const tsr_mpi_cell *cell,
                                            unsigned char *const *messages);
// The local buffer in which a result that all get is made or received, at the cell's begin.
unsigned char *tsr_mpi_cell_place(const tsr_mpi_job *job, const tsr_mpi_cell *cell);
// Copies it from there to the other members here.
TSR_MUST_USE tsr_status tsr_mpi_cell_spread(const tsr_mpi_job *job, const tsr_mpi_cell *cell);

// ---- fast.c ----

// Whether MPI has a reduction that means the same.
bool tsr_mpi_fast_allows(const tsr_reduce_job *job);
struct tsr_mpi;
TSR_MUST_USE tsr_status tsr_mpi_reduce_fast(struct tsr_mpi *mpi, const tsr_mpi_job *job,
                                            const tsr_mpi_group *groups);

#endif
