// The MPI engine's own: what it keeps for a comm, and how it waits.
//
// The library calls MPI from the thread that calls the comm, and never blocks in it: every call is
// a nonblocking one that is tested until it is done or nothing has happened for too long. Then, or
// when a rank fails by itself, the ranks call the roll (mpi_failure.c), so that the message can say
// who is missing, and the comm is broken: what MPI still has in its hands is never touched again.
#ifndef TESSERA_COMM_MPI_MPI_ENGINE_H
#define TESSERA_COMM_MPI_MPI_ENGINE_H

#include <mpi.h>

#include "tessera/api.h"
#include "tessera/comm.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/transport.h"
#include "tessera/status.h"

enum { TSR_MPI_SLOTS = 8, TSR_MPI_REPORT_TEXT = 240 };

// What a rank says when it gives up: why, or nothing when it heard too long of nobody.
typedef struct tsr_mpi_report {
  int64_t step;
  char why[TSR_MPI_REPORT_TEXT];
} tsr_mpi_report;

// Memory that is kept for the next call, since fresh pages are the dearest part of a message.
typedef struct tsr_mpi_buffer {
  unsigned char *bytes;
  size_t capacity;
} tsr_mpi_buffer;

// A communicator of some of the ranks (fast.c).
typedef struct tsr_mpi_subcomm {
  MPI_Comm comm;
  int count;
  int *ranks;  // rising
} tsr_mpi_subcomm;

typedef struct tsr_mpi {
  MPI_Comm data, control;  // our own: messages here, rolls there
  int rank, size;
  double timeout;              // seconds; negative = wait for ever
  int64_t step;                // of the call that is under way
  double last_progress;        // when something was last heard
  bool broken;                 // a call failed half way: nobody knows what is under way
  bool alone;                  // has no communicator to call the roll on
  bool kept;                   // stays when its comm goes
  bool fast;                   // reductions may follow MPI's own order
  bool finalize;               // MPI was started here and ends with this comm
  tsr_mpi_report report;       // what this rank said
  MPI_Request report_request;  // the last of its messages
  tsr_mpi_buffer share;        // both sides of `share`
  tsr_mpi_buffer slots[2 * TSR_MPI_SLOTS];
  tsr_mpi_subcomm *subcomms;  // in the order they were first wanted
  int64_t subcomm_count, subcomm_capacity;
} tsr_mpi;

// ---- wait.c ----

double tsr_mpi_now(void);
// COMM_FAILED with MPI's own words, or NULL for MPI_SUCCESS. `call` is the MPI function.
TSR_MUST_USE tsr_status tsr_mpi_check(int code, const char *call);
// The beginning of a call: fails when the comm is broken, and starts the clock.
TSR_MUST_USE tsr_status tsr_mpi_begin(tsr_mpi *mpi, int64_t step);
// Passes on `status`; if it is a failure, tells the other ranks, and breaks the comm.
TSR_MUST_USE tsr_status tsr_mpi_end(tsr_mpi *mpi, tsr_status status);
// Some of the requests that are done, as MPI_Testsome gives them; with `wait` at least one.
// `out_count` is -1 when there are no requests left.
TSR_MUST_USE tsr_status tsr_mpi_some(tsr_mpi *mpi, MPI_Request *requests, int count, bool wait,
                                     int *out_count, int *out_indices, MPI_Status *out_statuses);
// Waits for one request.
TSR_MUST_USE tsr_status tsr_mpi_one(tsr_mpi *mpi, MPI_Request *request);
// Room for `size` bytes; what was in it is lost.
TSR_MUST_USE tsr_status tsr_mpi_reserve(tsr_mpi_buffer *buffer, size_t size);

// ---- mpi_failure.c ----

// Whether another rank has given up. Cheap, but not for every turn of a loop.
bool tsr_mpi_peer_gave_up(tsr_mpi *mpi);
// Ends the wait for others: a failure that names the ranks that do not answer, or the one that
// failed. `called`: another rank called it first.
TSR_MUST_USE tsr_status tsr_mpi_give_up(tsr_mpi *mpi, bool called);
// Tells the others that this rank failed.
void tsr_mpi_report_failure(tsr_mpi *mpi, tsr_status status);

// ---- the engine's functions ----

tsr_status tsr_mpi_exchange(tsr_comm *comm, const tsr_exchange *parts, int64_t part_count);
tsr_status tsr_mpi_reduce(tsr_comm *comm, const tsr_reduce_job *job);
tsr_status tsr_mpi_share(tsr_comm *comm, const void *mine, size_t bytes, void *out_all);

// ---- making (create.c) ----

// tsr_comm_create_mpi; `total`, unless it is NULL, is how many devices all ranks want together, and
// must be the same on all of them.
TSR_MUST_USE tsr_status tsr_mpi_create(MPI_Comm comm, int64_t local_count, const int64_t *total,
                                       const tsr_comm_options *options, tsr_comm **out_comm);

#endif
