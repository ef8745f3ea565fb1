// What goes wrong between ranks ends in a message on all of them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "comm/comm_internal.h"
#include "tessera/comm.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/kernels.h"
#include "tessera/reduction.h"
#include "tessera/status.h"

static tsr_comm *make_comm(int64_t local_count) {
  tsr_comm *comm = NULL;
  const tsr_comm_options options = {.size = sizeof options, .workers = 1, .timeout = 20};
  check_ok("create", tsr_comm_create_mpi(MPI_COMM_WORLD, local_count, &options, &comm));
  return comm;
}

// Ranks that call different things, and afterwards go on together.
int case_mistakes(void) {
  tsr_comm *comm = make_comm(1);
  if (!comm) return 1;
  const int rank = check_rank(), size = check_size();
  int64_t *members = calloc((size_t)size, sizeof *members);
  for (int i = 0; i < size; i++) members[i] = i;
  const tsr_groups groups = {.count = 1, .size = size, .members = members};
  float value = (float)rank, sum = 0;
  float *all = calloc((size_t)size, sizeof *all);
  const void *in = &value;
  void *out = &sum, *gathered = all;
  for (int wrong = 0; wrong < size; wrong++) {
    char part[64];
    snprintf(part, sizeof part, "rank %d calls all_gather", wrong);
    tsr_status status =
        rank == wrong ? tsr_comm_all_gather(comm, &groups, TSR_F32, 1, 1, &in, &gathered)
                      : tsr_comm_all_reduce(comm, &groups, TSR_F32, TSR_REDUCE_SUM, 1, &in, &out);
    check_fails("another call", status, TSR_CAUSE_COMM_MISMATCH, part);
    check_ok("the next call",
             tsr_comm_all_reduce(comm, &groups, TSR_F32, TSR_REDUCE_SUM, 1, &in, &out));
    check_that("its sum", sum * 2 == (float)(size * (size - 1)));
  }
  // One rank's mistake fails the call on all.
  void *none = NULL;
  tsr_status status = tsr_comm_all_reduce(comm, &groups, TSR_F32, TSR_REDUCE_SUM, 1, &in,
                                          rank == size - 1 ? &none : &out);
  check_that("a buffer that is missing on one rank fails on all", status != NULL);
  tsr_status_free(status);
  tsr_comm_release(comm);
  free(members);
  free(all);
  return check_failures > 0;
}

// What does not fit is found when the comm is made, by all ranks.
int case_create(void) {
  tsr_comm *comm = NULL;
  const int rank = check_rank(), size = check_size();
  tsr_comm_options options = {.size = sizeof options, .in_flight = rank == 1 ? 1 << 20 : 1 << 21};
  check_fails("in flight", tsr_comm_create_mpi(MPI_COMM_WORLD, 1, &options, &comm),
              TSR_CAUSE_COMM_MISMATCH,
              "rank 0 wants 2097152 bytes in flight, rank 1 wants 1048576");
  options = (tsr_comm_options){.size = sizeof options, .fast = rank == 1};
  check_fails("fast", tsr_comm_create_mpi(MPI_COMM_WORLD, 1, &options, &comm),
              TSR_CAUSE_COMM_MISMATCH, "rank 1 wants fast reductions, rank 0 does not");
  options = (tsr_comm_options){.size = rank == 1 ? 0 : sizeof options};
  check_fails("no size", tsr_comm_create_mpi(MPI_COMM_WORLD, 1, &options, &comm),
              TSR_CAUSE_BAD_ARGUMENT, "rank 1: tsr_comm_options has size 0, wanted");
  options = (tsr_comm_options){.size = sizeof options, .workers = rank == 1 ? -3 : 1};
  tsr_status status = tsr_comm_create_mpi(MPI_COMM_WORLD, 1, &options, &comm);
  check_that("a rank that cannot make its part fails all", status != NULL && !comm);
  tsr_status_free(status);
  check_fails("fewer than none", tsr_comm_create_mpi(MPI_COMM_WORLD, rank ? 1 : -1, NULL, &comm),
              TSR_CAUSE_BAD_ARGUMENT, "rank 0: -1 devices, wanted 0 or more");
  check_fails("other devices", tsr_comm_open_mpi(rank == 1 ? 6 : 5, NULL, &comm),
              TSR_CAUSE_COMM_MISMATCH, "rank 0 wants 5 devices, rank 1 wants 6");
  check_fails("no devices", tsr_comm_open_mpi(rank == 1 ? -1 : 5, NULL, &comm),
              TSR_CAUSE_BAD_ARGUMENT, "rank 1: -1 devices, wanted 1 or more");
  if (!check_ok("one for each rank", tsr_comm_open_mpi(0, NULL, &comm))) return 1;
  check_that("each rank has one device",
             tsr_comm_device_count(comm) == size && tsr_comm_local_count(comm) == 1);
  tsr_comm_release(comm);
  // Uneven: rank r brings r devices, the first none.
  if (!check_ok("uneven", tsr_comm_create_mpi(MPI_COMM_WORLD, rank, NULL, &comm))) return 1;
  check_that("all devices are counted",
             tsr_comm_device_count(comm) == (int64_t)size * (size - 1) / 2);
  check_that("the first device of a rank",
             tsr_comm_first_device(comm, rank) == (int64_t)rank * (rank - 1) / 2);
  check_that("the engine has a name", !strcmp(tsr_comm_engine_name(comm), "mpi"));
  check_ok("barrier", tsr_comm_barrier(comm));
  check_ok("nothing to share", tsr_comm_share(comm, NULL, 0, NULL));
  tsr_comm_release(comm);
  return check_failures > 0;
}

// Rank 0 sends other than rank 1 wants: that is found before anything is sent.
static int be_unlike(int64_t sent, int64_t wanted, const char *why) {
  tsr_comm *comm = make_comm(1);
  if (!comm) return 1;
  const int rank = check_rank();
  int64_t in_data[4] = {1, 2, 3, 4}, out_data[4] = {0};
  const void *in = in_data;
  void *out = out_data;
  const tsr_copy copy = {.source = rank == 2 ? 1 : 0,
                         .target = rank == 2 ? 2 : 1,
                         .length = rank == 0 ? sent : wanted};
  const tsr_exchange part = {.copies = &copy, .copy_count = 1, .bits = 64, .in = &in, .out = &out};
  check_fails("unlike copies", tsr_comm_exchange(comm, &part, 1), TSR_CAUSE_COMM_MISMATCH, why);
  check_ok("the next call", tsr_comm_barrier(comm));
  tsr_comm_release(comm);
  return check_failures > 0;
}

int case_unlike_short(void) {
  return be_unlike(2, 4, "rank 0 sends rank 1 1 copies of 2 elements, rank 1 lists 1 of 4 from it");
}

int case_unlike_long(void) {
  return be_unlike(4, 2, "rank 0 sends rank 1 1 copies of 4 elements, rank 1 lists 1 of 2 from it");
}

// A program that does not call MPI itself; run without a launcher too.
int case_open(void) {
  tsr_comm *comm = NULL;
  tsr_status status = tsr_comm_open("mpi", 5, NULL, &comm);
  if (status) {
    printf("%s\n", tsr_status_text(status));
    tsr_status_free(status);
    return 3;
  }
  check_that("five devices", tsr_comm_device_count(comm) == 5);
  check_ok("barrier", tsr_comm_barrier(comm));
  if (tsr_comm_rank(comm) == 0)
    printf("%d ranks, %lld devices here\n", tsr_comm_rank_count(comm),
           (long long)tsr_comm_local_count(comm));
  tsr_comm_release(comm);
  check_fails("again", tsr_comm_open("mpi", 5, NULL, &comm), TSR_CAUSE_UNSUPPORTED,
              "MPI has ended");
  check_fails("no such engine", tsr_comm_open("smoke", 5, NULL, &comm), TSR_CAUSE_BAD_ARGUMENT,
              "engine \"smoke\", wanted threads or mpi");
  return check_failures > 0;
}
