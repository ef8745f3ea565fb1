// A matrix that lies in blocks dealt round robin on a 2 x 2 grid of processes, as ScaLAPACK has it,
// becomes blocks of whole rows, one for each process, as a writer of files needs them.
//
//   cc mpi_redistribute.c $(pkg-config --cflags --libs tessera-mpi_openmpi)
//   mpirun -n 4 ./mpi_redistribute
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <tessera/engine.h>
#include <tessera/mpi.h>
#include <tessera/tessera.h>

enum { ROWS = 10, COLUMNS = 8 };

// 10 rows do not divide by 4 ranks: the last one has fewer.
static tsr_status make_layout(const char *mesh_text, const char *spec_text,
                              tsr_layout **out_layout) {
  TSR_OWN(mesh, mesh);
  TSR_OWN(spec, spec);
  TSR_OWN(sharding, sharding);
  TSR_TRY(tsr_mesh_parse(mesh_text, NULL, &mesh));
  TSR_TRY(tsr_spec_parse(spec_text, TSR_FORM_ANY, &spec));
  TSR_TRY(tsr_sharding_bind(mesh, spec, false, &sharding));
  return tsr_layout_create(sharding, TSR_SHAPE(ROWS, COLUMNS), TSR_POLICY_UNEVEN, out_layout);
}

// What a rank prints about its rows.
typedef struct report {
  int64_t first_row, end_row;
  double first, last;
} report;

static tsr_status print_all(tsr_comm *comm, const tsr_array *rows) {
  tsr_local_shard shard = TSR_LOCAL_SHARD;
  TSR_TRY(tsr_array_local_at(rows, 0, &shard));
  const double *data = shard.data;
  const int64_t count = shard.shape.dims[0] * shard.shape.dims[1];
  const report mine = {shard.ranges[0].lo, shard.ranges[0].hi, count ? data[0] : 0,
                       count ? data[count - 1] : 0};
  report all[4];
  TSR_TRY(tsr_comm_share(comm, &mine, sizeof mine, all));
  for (int rank = 0; tsr_comm_rank(comm) == 0 && rank < tsr_comm_rank_count(comm); rank++)
    printf("rank %d has rows %" PRId64 " to %" PRId64 ": %g ... %g\n", rank, all[rank].first_row,
           all[rank].end_row - 1, all[rank].first, all[rank].last);
  return NULL;
}

static tsr_status run(void) {
  TSR_OWN(comm, comm);
  TSR_TRY(tsr_comm_create_mpi(MPI_COMM_WORLD, 1, NULL, &comm));  // a device per rank
  if (tsr_comm_rank_count(comm) != 4)
    return tsr_fail(BAD_ARGUMENT, "%d ranks, wanted 4", tsr_comm_rank_count(comm));
  double matrix[ROWS][COLUMNS];  // each rank takes the blocks dealt to it
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) matrix[i][j] = 100 * i + j;
  TSR_OWN(layout, blocks);
  TSR_OWN(layout, by_rows);
  TSR_OWN(array, dealt);
  TSR_OWN(array, rows);
  TSR_TRY(make_layout("p=2,q=2", "p/cyclic(2), q/cyclic(3)", &blocks));
  TSR_TRY(make_layout("rank=4", "rank, _", &by_rows));
  TSR_TRY(tsr_array_shard(comm, blocks, TSR_F64, matrix, NULL, &dealt));
  TSR_TRY(tsr_array_reshard(dealt, by_rows, NULL, &rows));
  return print_all(comm, rows);
}

int main(int argc, char **argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  const int code = tsr_status_exit(run());
  if (code) MPI_Abort(MPI_COMM_WORLD, code);  // others may be waiting
  MPI_Finalize();
  return 0;
}
