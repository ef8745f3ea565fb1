// Creating a comm over MPI: duplicates of the caller's communicator, and one exchange of what each
// rank has and wants, which must agree.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "comm/mpi/mpi_engine.h"
#include "tessera/comm.h"
#include "tessera/engine/transport.h"
#include "tessera/mpi.h"

// What ranks exchange first. `cause` is not zero if a rank cannot join.
typedef struct rank_info {
  char version[16];
  int64_t local_count, wanted_count;  // wanted of all ranks together; 0 = unspecified
  uint64_t in_flight;
  int32_t fast, cause;
  char failure[TSR_MPI_REPORT_TEXT];
} rank_info;

static tsr_status check_mpi(void) {
  int initialized = 0, finalized = 0, level = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (!initialized || finalized)
    return tsr_fail(BAD_ARGUMENT, "MPI %s: call this between MPI_Init_thread and MPI_Finalize",
                    finalized ? "has ended" : "was not started");
  TSR_TRY(tsr_mpi_check(MPI_Query_thread(&level), "MPI_Query_thread"));
  if (level < MPI_THREAD_FUNNELED)
    return tsr_fail(BAD_ARGUMENT, "MPI was initialized for one thread, wanted MPI_THREAD_FUNNELED");
  return NULL;
}

static void free_state(tsr_mpi *mpi) {
  for (int i = 0; i < 2 * TSR_MPI_SLOTS; i++) free(mpi->slots[i].bytes);
  for (int64_t i = 0; i < mpi->subcomm_count; i++) free(mpi->subcomms[i].ranks);
  free(mpi->subcomms);
  free(mpi->share.bytes);
  free(mpi);
}

static void destroy(void *state) {
  tsr_mpi *mpi = state;
  int finalized = 0;
  MPI_Finalized(&finalized);
  // After a failure messages may still be pending, so MPI keeps its buffers.
  if (mpi->broken || mpi->kept) return;
  if (!finalized) {
    for (int64_t i = 0; i < mpi->subcomm_count; i++) MPI_Comm_free(&mpi->subcomms[i].comm);
    MPI_Comm_free(&mpi->data);
    MPI_Comm_free(&mpi->control);
    if (mpi->finalize) MPI_Finalize();
  }
  free_state(mpi);
}

static void abandon(tsr_comm *comm, tsr_status why) {
  tsr_mpi *mpi = tsr_comm_engine_state(comm);
  if (!mpi->broken) tsr_mpi_report_failure(mpi, why);
}

static const tsr_engine mpi_engine = {
    .size = sizeof mpi_engine,
    .name = "mpi",
    .exchange = tsr_mpi_exchange,
    .reduce = tsr_mpi_reduce,
    .share = tsr_mpi_share,
    .destroy = destroy,
    .abandon = abandon,
};

static tsr_status duplicate(tsr_mpi *mpi, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  TSR_TRY(tsr_mpi_check(MPI_Comm_size(comm, &mpi->size), "MPI_Comm_size"));
  TSR_TRY(tsr_mpi_check(MPI_Comm_rank(comm, &mpi->rank), "MPI_Comm_rank"));
  mpi->alone = true;  // no communicator for reports yet
  TSR_TRY(tsr_mpi_check(MPI_Comm_idup(comm, &mpi->control, &request), "MPI_Comm_idup"));
  TSR_TRY(tsr_mpi_one(mpi, &request));
  mpi->alone = false;
  TSR_TRY(tsr_mpi_check(MPI_Comm_set_errhandler(mpi->control, MPI_ERRORS_RETURN),
                        "MPI_Comm_set_errhandler"));
  TSR_TRY(tsr_mpi_check(MPI_Comm_idup(mpi->control, &mpi->data, &request), "MPI_Comm_idup"));
  TSR_TRY(tsr_mpi_one(mpi, &request));
  return tsr_mpi_check(MPI_Comm_set_errhandler(mpi->data, MPI_ERRORS_RETURN),
                       "MPI_Comm_set_errhandler");
}

// Fails on every rank alike if any rank's info does not match.
static tsr_status compare(const tsr_mpi *mpi, const rank_info *all) {
  for (int r = 0; r < mpi->size; r++)
    if (all[r].cause)
      return tsr_fail_at((tsr_cause)all[r].cause, __FILE__, __LINE__, "rank %d: %s", r,
                         all[r].failure);
  for (int r = 1; r < mpi->size; r++) {
    if (strcmp(all[r].version, all[0].version))
      return tsr_fail(COMM_MISMATCH, "rank 0 has Tessera %s, rank %d has %s", all[0].version, r,
                      all[r].version);
    if (all[r].wanted_count != all[0].wanted_count)
      return tsr_fail(COMM_MISMATCH, "rank 0 wants %lld devices, rank %d wants %lld",
                      (long long)all[0].wanted_count, r, (long long)all[r].wanted_count);
    if (all[r].in_flight != all[0].in_flight)
      return tsr_fail(COMM_MISMATCH, "rank 0 wants %llu bytes in flight, rank %d wants %llu",
                      (unsigned long long)all[0].in_flight, r,
                      (unsigned long long)all[r].in_flight);
    if (all[r].fast != all[0].fast)
      return tsr_fail(COMM_MISMATCH, "rank %d wants fast reductions, rank %d does not",
                      all[r].fast ? r : 0, all[r].fast ? 0 : r);
  }
  return NULL;
}

// Exchanges infos, and computes the first device of each rank.
static tsr_status share_info(tsr_mpi *mpi, const rank_info *mine, int64_t *first) {
  rank_info *all = calloc((size_t)mpi->size, sizeof *all);
  if (!all) return tsr_fail(NO_MEMORY, "greetings of %d ranks", mpi->size);
  MPI_Request request = MPI_REQUEST_NULL;
  tsr_status status =
      tsr_mpi_check(MPI_Iallgather(mine, (int)sizeof *mine, MPI_BYTE, all, (int)sizeof *mine,
                                   MPI_BYTE, mpi->data, &request),
                    "MPI_Iallgather");
  if (!status) status = tsr_mpi_one(mpi, &request);
  if (status) return status;  // MPI may still write into `all`
  status = compare(mpi, all);
  first[0] = 0;
  for (int r = 0; !status && r < mpi->size; r++)
    if (__builtin_add_overflow(first[r], all[r].local_count, &first[r + 1]))
      status = tsr_fail(OVERFLOW, "the number of devices of all ranks overflows");
  free(all);
  return status;
}

// All ranks have created their comm, or none has: `mine` is the local outcome.
static tsr_status agree_made(tsr_mpi *mpi, tsr_status mine, tsr_comm **made) {
  const int vote = mine ? mpi->rank : mpi->size;
  int first_failed = vote;
  MPI_Request request = MPI_REQUEST_NULL;
  tsr_status status =
      tsr_mpi_check(MPI_Iallreduce(&vote, &first_failed, 1, MPI_INT, MPI_MIN, mpi->data, &request),
                    "MPI_Iallreduce");
  if (!status) status = tsr_mpi_one(mpi, &request);
  if (!status && first_failed == mpi->size) return NULL;
  if (mine) {
    tsr_status_free(status);
    return mine;
  }
  // The engine's state outlives the comm that is given up: the caller of `make` frees it.
  mpi->kept = true;
  tsr_comm_release(*made);
  mpi->kept = false;
  return status ? status : tsr_fail(COMM_FAILED, "rank %d could not create its comm", first_failed);
}

// This rank's info, with the failure `found` or a wrong device count.
static rank_info describe_rank(const tsr_mpi *mpi, int64_t local_count, const int64_t *total,
                               size_t in_flight, tsr_status found) {
  const int64_t count = total ? *total : local_count, least = total ? 1 : 0;
  rank_info mine = {.local_count = local_count,
                    .wanted_count = total ? *total : 0,
                    .in_flight = in_flight,
                    .fast = mpi->fast};
  snprintf(mine.version, sizeof mine.version, "%s", tsr_version());
  if (found) {
    mine.cause = (int32_t)tsr_status_cause(found);
    snprintf(mine.failure, sizeof mine.failure, "%s", tsr_status_text(found));
  } else if (count < least) {
    mine.cause = TSR_CAUSE_BAD_ARGUMENT;
    snprintf(mine.failure, sizeof mine.failure, "%lld devices, wanted %lld or more",
             (long long)count, (long long)least);
  }
  return mine;
}

// `found` is a mistake in the options, which is reported to all ranks. Takes ownership of it.
static tsr_status make(MPI_Comm comm, int64_t local_count, const int64_t *total,
                       const tsr_comm_options *options, tsr_status found, tsr_mpi *mpi,
                       tsr_comm **out_comm) {
  tsr_status alone = duplicate(mpi, comm);
  int64_t *first = alone ? NULL : calloc((size_t)mpi->size + 1, sizeof *first);
  if (!alone && !found && !first) found = tsr_fail(NO_MEMORY, "%d ranks", mpi->size);
  const rank_info mine = describe_rank(mpi, local_count, total, options->in_flight, found);
  tsr_status_free(found);
  if (alone) return alone;
  int64_t nothing[2];
  tsr_comm *made = NULL;
  tsr_status status = share_info(mpi, &mine, first ? first : nothing);
  if (!status) {
    const tsr_engine_desc desc = {.size = sizeof desc,
                                  .engine = &mpi_engine,
                                  .state = mpi,
                                  .rank = mpi->rank,
                                  .rank_count = mpi->size,
                                  .first_devices = first};
    status = agree_made(mpi, tsr_comm_create_with_engine(&desc, options, &made), &made);
  }
  free(first);
  if (!status) *out_comm = made;
  return status;
}

tsr_status tsr_mpi_create(MPI_Comm comm, int64_t local_count, const int64_t *total,
                          const tsr_comm_options *options, tsr_comm **out_comm) {
  TSR_TRY(check_mpi());
  tsr_comm_options wanted = TSR_COMM_OPTIONS;
  tsr_status found = tsr_sized_read(tsr_comm_options, options, &wanted);
  tsr_mpi *mpi = calloc(1, sizeof *mpi);
  if (!mpi) {
    tsr_status_free(found);
    return tsr_fail(NO_MEMORY, "a comm over MPI");
  }
  mpi->data = mpi->control = MPI_COMM_NULL;
  mpi->timeout = wanted.timeout == 0 || isnan(wanted.timeout) ? 300 : wanted.timeout;
  mpi->fast = wanted.fast;
  mpi->last_progress = tsr_mpi_now();
  tsr_status status = make(comm, local_count, total, &wanted, found, mpi, out_comm);
  if (!status || mpi->broken) return status;
  if (mpi->data != MPI_COMM_NULL) MPI_Comm_free(&mpi->data);
  if (mpi->control != MPI_COMM_NULL) MPI_Comm_free(&mpi->control);
  free_state(mpi);
  return status;
}

tsr_status tsr_comm_create_mpi(MPI_Comm comm, int64_t local_count, const tsr_comm_options *options,
                               tsr_comm **out_comm) {
  return tsr_mpi_create(comm, local_count, NULL, options, out_comm);
}
