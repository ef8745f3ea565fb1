// The MPI engine: its state for a comm, and how it waits.
//
// The library calls MPI from the thread that calls the comm, and never blocks in it: every call is
// nonblocking and tested until it is done or times out. After a timeout, or if a rank fails by
// itself, ranks exchange reports (mpi_failure.c), so that the message can name the missing rank.
// The comm is then broken: buffers that MPI still uses are never touched again.
#ifndef TESSERA_COMM_MPI_MPI_ENGINE_H
#define TESSERA_COMM_MPI_MPI_ENGINE_H

#include <mpi.h>

#include "tessera/api.h"
#include "tessera/comm.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/transport.h"
#include "tessera/status.h"

enum { TSR_MPI_SLOTS = 8, TSR_MPI_REPORT_TEXT = 240 };

// What a rank sends when it gives up: the reason, or "" after a timeout.
typedef struct tsr_mpi_report {
  int64_t step;
  char why[TSR_MPI_REPORT_TEXT];
} tsr_mpi_report;

// Memory kept for the next call, since touching new pages costs more than the rest of a message.
typedef struct tsr_mpi_buffer {
  unsigned char *bytes;
  size_t capacity;
} tsr_mpi_buffer;

// A communicator of some of the ranks (fast.c).
typedef struct tsr_mpi_subcomm {
  MPI_Comm comm;
  int count;
  int *ranks;  // ascending
} tsr_mpi_subcomm;

typedef struct tsr_mpi {
  MPI_Comm data, control;  // duplicates: for messages, and for reports
  int rank, size;
  double timeout;              // seconds; negative = none
  int64_t step;                // of the current call
  double last_progress;        // time of the last completed request
  bool broken;                 // a call failed: messages may be pending
  bool alone;                  // has no communicator for reports yet
  bool kept;                   // outlives its comm
  bool fast;                   // reductions may follow MPI's own order
  bool finalize;               // MPI was started here and ends with this comm
  tsr_mpi_report report;       // of this rank
  MPI_Request report_request;  // the last of its messages
  tsr_mpi_buffer share;        // both sides of `share`
  tsr_mpi_buffer slots[2 * TSR_MPI_SLOTS];
  tsr_mpi_subcomm *subcomms;  // in order of first use
  int64_t subcomm_count, subcomm_capacity;
} tsr_mpi;

// ---- wait.c ----

double tsr_mpi_now(void);
// COMM_FAILED with MPI's own words, or NULL for MPI_SUCCESS. `call` is the MPI function.
TSR_MUST_USE tsr_status tsr_mpi_check(int code, const char *call);
// Starts a call: fails if the comm is broken, and starts the clock.
TSR_MUST_USE tsr_status tsr_mpi_begin(tsr_mpi *mpi, int64_t step);
// Returns `status`; a failure is reported to the other ranks and breaks the comm.
TSR_MUST_USE tsr_status tsr_mpi_end(tsr_mpi *mpi, tsr_status status);
// Completed requests, as by MPI_Testsome; with `wait` at least one. `out_count` is -1 if no
// requests are left.
TSR_MUST_USE tsr_status tsr_mpi_some(tsr_mpi *mpi, MPI_Request *requests, int count, bool wait,
                                     int *out_count, int *out_indices, MPI_Status *out_statuses);
// Waits for one request.
TSR_MUST_USE tsr_status tsr_mpi_one(tsr_mpi *mpi, MPI_Request *request);
// At least `size` bytes; discards the contents.
TSR_MUST_USE tsr_status tsr_mpi_reserve(tsr_mpi_buffer *buffer, size_t size);

// ---- mpi_failure.c ----

// Whether another rank has given up. Cheap, but not for every iteration of a loop.
bool tsr_mpi_peer_gave_up(tsr_mpi *mpi);
// Exchanges reports and returns a failure that names the missing ranks, or the one that failed.
// `called`: another rank gave up first.
TSR_MUST_USE tsr_status tsr_mpi_give_up(tsr_mpi *mpi, bool called);
// Sends this rank's failure to the others.
void tsr_mpi_report_failure(tsr_mpi *mpi, tsr_status status);

// ---- the engine's functions ----

tsr_status tsr_mpi_exchange(tsr_comm *comm, const tsr_exchange *arrays, int64_t array_count);
tsr_status tsr_mpi_reduce(tsr_comm *comm, const tsr_reduce_job *job);
tsr_status tsr_mpi_share(tsr_comm *comm, const void *mine, size_t bytes, void *out_all);

// ---- making (create.c) ----

// tsr_comm_create_mpi; `total` (NULL = none) is the number of devices of all ranks together, equal
// on all of them.
TSR_MUST_USE tsr_status tsr_mpi_create(MPI_Comm comm, int64_t local_count, const int64_t *total,
                                       const tsr_comm_options *options, tsr_comm **out_comm);

#endif
