// Failures: how ranks that time out find out which rank is missing.
//
// A rank that gives up sends a report to all others, on a separate communicator, and waits for
// theirs. Ranks that wait in a call poll for reports and give up too. So all ranks that are alive
// give up together, and those without a report are the missing ones. A rank that fails by itself
// (no memory, an MPI error) sends the reason in its report, so the others need not wait for the
// timeout.
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm/mpi/mpi_engine.h"
#include "tessera/status.h"

enum { TAG = 1, RANKS_NAMED = 16 };

static void send_reports(tsr_mpi *mpi, const char *why) {
  mpi->broken = true;
  mpi->report = (tsr_mpi_report){.step = mpi->step};
  snprintf(mpi->report.why, sizeof mpi->report.why, "%s", why);
  // Not waited for: reports are small, and a rank that they do not reach is gone.
  for (int other = 0; other < mpi->size; other++) {
    if (other == mpi->rank) continue;
    MPI_Isend(&mpi->report, (int)sizeof mpi->report, MPI_BYTE, other, TAG, mpi->control,
              &mpi->report_request);
    MPI_Request_free(&mpi->report_request);
  }
}

bool tsr_mpi_peer_gave_up(tsr_mpi *mpi) {
  int flag = 0;
  return !mpi->alone &&
         MPI_Iprobe(MPI_ANY_SOURCE, TAG, mpi->control, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
         flag;
}

void tsr_mpi_report_failure(tsr_mpi *mpi, tsr_status status) {
  if (mpi->size > 1 && !mpi->alone) send_reports(mpi, tsr_status_text(status));
  mpi->broken = true;
}

// Receives one pending report and returns its source; -1 if there is none.
static int receive_report(tsr_mpi *mpi, bool *reported, tsr_mpi_report *reports) {
  MPI_Status status;
  int flag = 0;
  if (MPI_Iprobe(MPI_ANY_SOURCE, TAG, mpi->control, &flag, &status) != MPI_SUCCESS || !flag)
    return -1;
  const int source = status.MPI_SOURCE;
  // The message is here, so this returns at once.
  MPI_Recv(&reports[source], (int)sizeof *reports, MPI_BYTE, source, TAG, mpi->control, &status);
  reported[source] = true;
  return source;
}

static void collect_reports(tsr_mpi *mpi, double seconds, bool *reported, tsr_mpi_report *reports) {
  const double end = tsr_mpi_now() + seconds;
  int missing = mpi->size - 1;
  while (missing && tsr_mpi_now() < end) {
    const int source = receive_report(mpi, reported, reports);
    if (source < 0) {
      sched_yield();
      continue;
    }
    missing--;
    if (reports[source].why[0]) return;  // a reason; no need for more
  }
}

// " 1, 3, 5 and 4 others": the ranks without a report.
static void name_missing(const tsr_mpi *mpi, const bool *reported, char *out, size_t out_size) {
  size_t used = 0;
  int named = 0, others = 0;
  out[0] = '\0';
  for (int other = 0; other < mpi->size; other++) {
    if (reported[other]) continue;
    if (named == RANKS_NAMED) {
      others++;
      continue;
    }
    used += (size_t)snprintf(out + used, out_size - used, "%s%d", named++ ? ", " : "", other);
  }
  if (others) snprintf(out + used, out_size - used, " and %d others", others);
}

static tsr_status describe(const tsr_mpi *mpi, bool called, const bool *reported,
                           const tsr_mpi_report *reports) {
  int missing = 0;
  for (int other = 0; other < mpi->size; other++) {
    missing += !reported[other];
    // A rank's own reason is better than a timeout.
    if (other != mpi->rank && reported[other] && reports[other].why[0])
      return tsr_fail(COMM_FAILED, "rank %d failed at step %lld: %s", other,
                      (long long)reports[other].step, reports[other].why);
  }
  if (missing) {
    char names[32 * RANKS_NAMED];
    name_missing(mpi, reported, names, sizeof names);
    return tsr_fail(COMM_TIMEOUT, "no answer from rank%s %s within %.1f s", missing > 1 ? "s" : "",
                    names, mpi->timeout);
  }
  if (called)
    return tsr_fail(COMM_TIMEOUT, "the other ranks waited too long for rank %d and gave up",
                    mpi->rank);
  return tsr_fail(COMM_TIMEOUT, "no progress for %.1f s, although all ranks answer", mpi->timeout);
}

tsr_status tsr_mpi_give_up(tsr_mpi *mpi, bool called) {
  if (mpi->alone) {
    mpi->broken = true;
    return tsr_fail(COMM_TIMEOUT, "not all %d ranks called to create a comm within %.1f s",
                    mpi->size, mpi->timeout);
  }
  bool *reported = calloc((size_t)mpi->size, sizeof *reported);
  tsr_mpi_report *reports = calloc((size_t)mpi->size, sizeof *reports);
  tsr_status status = NULL;
  send_reports(mpi, "");
  if (!reported || !reports) {
    status = tsr_fail(NO_MEMORY, "roll of %d ranks", mpi->size);
  } else {
    reported[mpi->rank] = true;
    reports[mpi->rank] = mpi->report;
    // Without a timeout here, reports of other ranks are still answered.
    collect_reports(mpi, mpi->timeout < 0 || mpi->timeout > 8 ? 2 : mpi->timeout / 4, reported,
                    reports);
    status = describe(mpi, called, reported, reports);
  }
  free(reports);
  free(reported);
  return status;
}
