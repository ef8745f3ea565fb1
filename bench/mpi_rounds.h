// How a benchmark over MPI talks to bench/run: it starts itself under mpirun, and rank 0 answers
// for all: the wall time of the slowest, the CPU time of all together.
#ifndef TESSERA_BENCH_MPI_ROUNDS_H
#define TESSERA_BENCH_MPI_ROUNDS_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rounds.h"
#include "tessera/mpi.h"

// Starts the program again under a launcher, unless that has been done; then starts MPI.
static inline void mpi_rounds_begin(int argc, char **argv, const char *ranks) {
  if (!getenv("OMPI_COMM_WORLD_SIZE")) {
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    setenv("OMPI_MCA_btl", "self,vader", 0);
    execl(BENCH_SESSION, BENCH_SESSION, BENCH_MPIRUN, "--oversubscribe", "-n", ranks, argv[0],
          argc > 1 ? argv[1] : (char *)NULL, (char *)NULL);
    perror(BENCH_SESSION);
    exit(1);
  }
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
}

static inline void mpi_rounds_fail(tsr_status status) {
  if (!status) return;
  rounds_fail(status);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Answers every line that rank 0 reads with one call of `round` on all ranks.
static inline void mpi_rounds_serve(tsr_status (*round)(void *context), void *context) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (;;) {
    char line[64];
    int more = rank == 0 && fgets(line, sizeof line, stdin);
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!more) break;
    MPI_Barrier(MPI_COMM_WORLD);
    const double wall = rounds_clock(CLOCK_MONOTONIC);
    const double cpu = rounds_clock(CLOCK_PROCESS_CPUTIME_ID);
    mpi_rounds_fail(round(context));
    double mine[2] = {rounds_clock(CLOCK_MONOTONIC) - wall,
                      rounds_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu};
    double all[2] = {0, 0};
    MPI_Reduce(&mine[0], &all[0], 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine[1], &all[1], 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank) continue;
    printf("%.9f %.9f\n", all[0], all[1]);
    fflush(stdout);
  }
}

#endif
