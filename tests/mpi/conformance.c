// The suite that every engine must pass (tests/conformance), with the devices shared out in several
// ways: one per rank, unevenly with ranks that have none, and several.
#include "conformance/conformance.h"

#include "cases.h"

int case_conformance(void) {
  const int rank = check_rank(), size = check_size();
  const int64_t shares[] = {1, rank % 3, 3};
  const size_t count = size <= 4 ? 3 : 2;
  for (size_t i = 0; i < count; i++) {
    // Few bytes in flight make many messages of little data.
    const tsr_comm_options options = {.size = sizeof options,
                                      .workers = 1 + (int)i % 2,
                                      .timeout = 60,
                                      .in_flight = i == 1 ? 20000 : 0};
    tsr_comm *comm = NULL;
    if (!check_ok("create", tsr_comm_create_mpi(MPI_COMM_WORLD, shares[i], &options, &comm)))
      return 1;
    if (tsr_comm_device_count(comm) <= MOST_DEVICES)
      check_failures += conformance_run(comm, stdout);
    tsr_comm_release(comm);
  }
  return check_failures > 0;
}

// Every collective with each argument swapped on one rank.
int case_swaps(void) {
  const tsr_comm_options options = {.size = sizeof options, .workers = 1, .timeout = 60};
  tsr_comm *comm = NULL;
  if (!check_ok("create", tsr_comm_create_mpi(MPI_COMM_WORLD, 2, &options, &comm))) return 1;
  check_failures += swaps_run(comm, stdout);
  tsr_comm_release(comm);
  return check_failures > 0;
}
