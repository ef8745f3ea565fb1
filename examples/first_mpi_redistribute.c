// A matrix whose blocks are dealt round robin to a 2 x 2 grid of processes, as ScaLAPACK has it,
// becomes blocks of whole rows, one for each process.
//
//   cc first_mpi_redistribute.c $(pkg-config --cflags --libs tessera)
//   mpirun -n 4 ./a.out
#include <inttypes.h>
#include <stdio.h>
#include <tessera/tessera.h>

static tsr_status run(void) {
  double matrix[8][12];  // each rank takes the blocks dealt to it
  for (int i = 0; i < 8 * 12; i++) matrix[i / 12][i % 12] = i;
  TSR_OWN(comm, comm);  // released at the end of the block, like all that follow
  TSR_OWN(mesh, mesh);
  TSR_OWN(array, dealt);
  TSR_OWN(array, rows);
  TSR_TRY(tsr_comm_open("mpi", 0, NULL, &comm));  // one device for each rank
  TSR_TRY(tsr_mesh_parse("p=2,q=2", NULL, &mesh));
  TSR_TRY(tsr_array_put(comm, mesh, "p/cyclic(2), q/cyclic(3)", TSR_SHAPE(8, 12), TSR_F64, matrix,
                        &dealt));
  TSR_TRY(tsr_array_reshard_to(dealt, "p+q, _", &rows));
  tsr_local_shard mine = TSR_LOCAL_SHARD;
  TSR_TRY(tsr_array_local_at(rows, 0, &mine));
  const double *values = mine.data;
  printf("rank %d has rows %" PRId64 " to %" PRId64 ": %g ... %g\n", tsr_comm_rank(comm),
         mine.ranges[0].lo, mine.ranges[0].hi - 1, values[0], values[mine.shape.dims[0] * 12 - 1]);
  return NULL;
}

int main(void) { return tsr_status_exit(run()); }
