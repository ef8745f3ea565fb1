// A program over MPI against the installed package: with the library linked, or loaded by name.
#include <stdio.h>
#include <string.h>

#include <tessera/engine.h>
#ifdef LINKED
#include <tessera/mpi.h>
#endif
#include <tessera/tessera.h>

static tsr_status add_up(tsr_comm *comm, double *out_sum) {
  const int64_t members[] = {0, 1};
  const tsr_groups groups = {.count = 1, .size = 2, .members = members};
  const double mine = tsr_comm_rank(comm) + 1;
  const void *in = &mine;
  void *out = out_sum;
  return tsr_comm_all_reduce(comm, &groups, TSR_F64, TSR_REDUCE_SUM, 1, &in, &out);
}

int main(int argc, char **argv) {
  tsr_comm *comm = NULL;
  double sum = 0;
#ifdef LINKED
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  tsr_status status = tsr_comm_create_mpi(MPI_COMM_WORLD, 1, NULL, &comm);
#else
  (void)argc;
  (void)argv;
  tsr_status status = tsr_comm_open("mpi", 2, NULL, &comm);
#endif
  if (!status) status = add_up(comm, &sum);
  if (status) {
    printf("%s\n", tsr_status_text(status));
    tsr_status_free(status);
    return 1;
  }
  if (tsr_comm_rank(comm) == 0) printf("the sum is %g\n", sum);
  tsr_comm_release(comm);
#ifdef LINKED
  MPI_Finalize();
#endif
  return 0;
}
