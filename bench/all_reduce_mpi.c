// All-reduce over MPI, against the MPI's own, on the same buffers.
// bench: all-reduce of 64 MB of f32 on 2 ranks
// rival: MPI_Allreduce of Open MPI
// bar: 1.0 x
#include "mpi_rounds.h"
#include "tessera/comm.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/groups.h"
#include "tessera/reduction.h"

enum { COUNT = 1 << 24, TURNS = 2 };

typedef struct work {
  tsr_comm *comm;
  const void *in;
  void *out;
} work;

static tsr_status ours(void *context) {
  const work *w = context;
  static const int64_t members[] = {0, 1};
  const tsr_groups groups = {.count = 1, .size = 2, .members = members};
  for (int i = 0; i < TURNS; i++)
    TSR_TRY(tsr_comm_all_reduce(w->comm, &groups, TSR_F32, TSR_REDUCE_SUM, COUNT, &w->in, &w->out));
  return NULL;
}

static tsr_status theirs(void *context) {
  const work *w = context;
  for (int i = 0; i < TURNS; i++)
    MPI_Allreduce(w->in, w->out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  return NULL;
}

int main(int argc, char **argv) {
  mpi_rounds_begin(argc, argv, "2");
  float *in = malloc(COUNT * sizeof *in), *out = calloc(COUNT, sizeof *out);
  if (!in || !out) abort();
  for (int i = 0; i < COUNT; i++) in[i] = (float)i;
  work w = {.in = in, .out = out};
  mpi_rounds_fail(tsr_comm_create_mpi(MPI_COMM_WORLD, 1, NULL, &w.comm));
  if (argc > 1 && !strcmp(argv[1], "rival"))
    mpi_rounds_serve(theirs, &w);
  else
    mpi_rounds_serve(ours, &w);
  tsr_comm_release(w.comm);
  MPI_Finalize();
  free(in);
  free(out);
  return 0;
}
