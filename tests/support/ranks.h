// Ranks as threads of one process: a comm of several ranks without MPI, for testing what the rooms
// above do with one. Sends nothing: a receiver reads the sender's memory, after making sure that
// both have listed the same copies in the same order.
#ifndef TESSERA_TESTS_SUPPORT_RANKS_H
#define TESSERA_TESTS_SUPPORT_RANKS_H

#include "tessera/comm.h"

// Calls `body` once on each of `rank_count` threads, each with its own comm. Rank r has the devices
// from first_devices[r] to before first_devices[r + 1]. Returns the failure of the lowest rank that
// has one. cmocka's assertions must not be used inside: they jump out of the test's own thread.
typedef tsr_status test_rank_fn(void *context, tsr_comm *comm);
TSR_MUST_USE tsr_status test_ranks_run(int rank_count, const int64_t *first_devices,
                                       test_rank_fn *body, void *context);

#endif
