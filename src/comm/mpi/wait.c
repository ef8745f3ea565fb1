// Waiting with a timeout, which counts from the last completed request.
//
// The loop yields its processor after a while: ranks may outnumber the cores, and then the rank
// waited for needs it.
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "comm/mpi/mpi_engine.h"
#include "tessera/status.h"

enum { SPINS = 64, LOOKS = 1024 };

double tsr_mpi_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

tsr_status tsr_mpi_check(int code, const char *call) {
  if (code == MPI_SUCCESS) return NULL;
  char text[MPI_MAX_ERROR_STRING] = "unknown error";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return tsr_fail(COMM_FAILED, "%s: %s", call, text);
}

tsr_status tsr_mpi_begin(tsr_mpi *mpi, int64_t step) {
  mpi->step = step;
  mpi->last_progress = tsr_mpi_now();
  if (!mpi->broken) return tsr_mpi_peer_gave_up(mpi) ? tsr_mpi_give_up(mpi, true) : NULL;
  return tsr_fail(COMM_FAILED, "this comm broke at step %lld; make another one, or end the program",
                  (long long)mpi->report.step);
}

tsr_status tsr_mpi_end(tsr_mpi *mpi, tsr_status status) {
  if (status && !mpi->broken) tsr_mpi_report_failure(mpi, status);
  return status;
}

// Checks the clock, and reports of other ranks.
static tsr_status look(tsr_mpi *mpi, int spins) {
  if (spins < SPINS) return NULL;
  sched_yield();
  if (spins % LOOKS == 0 && tsr_mpi_peer_gave_up(mpi)) return tsr_mpi_give_up(mpi, true);
  if (mpi->timeout < 0) return NULL;
  // Collecting reports takes its share of the timeout.
  const double reserve = mpi->timeout / 4 < 2 ? mpi->timeout / 4 : 2;
  return tsr_mpi_now() - mpi->last_progress < mpi->timeout - reserve ? NULL
                                                                     : tsr_mpi_give_up(mpi, false);
}

// MPI_Testsome reports which requests failed, and why, only in their statuses.
static tsr_status check_some(int code, int count, const MPI_Status *statuses) {
  for (int i = 0; code == MPI_ERR_IN_STATUS && i < count; i++)
    if (statuses[i].MPI_ERROR != MPI_SUCCESS && statuses[i].MPI_ERROR != MPI_ERR_PENDING)
      return tsr_note(tsr_mpi_check(statuses[i].MPI_ERROR, "MPI_Testsome"), "message from rank %d",
                      statuses[i].MPI_SOURCE);
  return tsr_mpi_check(code, "MPI_Testsome");
}

tsr_status tsr_mpi_some(tsr_mpi *mpi, MPI_Request *requests, int count, bool wait, int *out_count,
                        int *out_indices, MPI_Status *out_statuses) {
  int done = 0;
  for (int spins = 1;; spins = spins < 1 << 30 ? spins + 1 : SPINS) {
    const int code = MPI_Testsome(count, requests, &done, out_indices, out_statuses);
    TSR_TRY(check_some(code, done, out_statuses));
    if (done || !wait) break;
    TSR_TRY(look(mpi, spins));
  }
  if (done > 0) mpi->last_progress = tsr_mpi_now();
  *out_count = done == MPI_UNDEFINED ? -1 : done;
  return NULL;
}

tsr_status tsr_mpi_one(tsr_mpi *mpi, MPI_Request *request) {
  int done = 0;
  for (int spins = 1;; spins = spins < 1 << 30 ? spins + 1 : SPINS) {
    TSR_TRY(tsr_mpi_check(MPI_Test(request, &done, MPI_STATUS_IGNORE), "MPI_Test"));
    if (done) break;
    TSR_TRY(look(mpi, spins));
  }
  mpi->last_progress = tsr_mpi_now();
  return NULL;
}

tsr_status tsr_mpi_reserve(tsr_mpi_buffer *buffer, size_t size) {
  if (size <= buffer->capacity) return NULL;
  free(buffer->bytes);
  *buffer = (tsr_mpi_buffer){0};
  const size_t rounded = (size + 63) / 64 * 64;
  buffer->bytes = aligned_alloc(64, rounded);
  if (!buffer->bytes) return tsr_fail(NO_MEMORY, "%zu bytes of messages", size);
  buffer->capacity = rounded;
  return NULL;
}
