// A matrix that lies in blocks dealt round robin on a 2 x 2 grid of processes, as ScaLAPACK has it,
// becomes blocks of whole rows, one for each process, as whoever writes it to a file wants it.
//
//   cc mpi_redistribute.c $(pkg-config --cflags --libs tessera-mpi_openmpi)
//   mpirun -n 4 ./mpi_redistribute
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <tessera/mpi.h>
#include <tessera/engine.h>
#include <tessera/tessera.h>

enum { ROWS = 10, COLUMNS = 8 };

static tsr_status make_layout(const char *mesh_text, const char *spec_text,
                              tsr_layout **out_layout) {
  tsr_mesh *mesh = NULL;
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_status status = tsr_mesh_parse(mesh_text, NULL, &mesh);
  if (!status) status = tsr_spec_parse(spec_text, TSR_FORM_ANY, &spec);
  if (!status) status = tsr_sharding_bind(mesh, spec, false, &sharding);
  if (!status)
    status = tsr_layout_create(sharding, TSR_SHAPE(ROWS, COLUMNS), TSR_POLICY_UNEVEN, out_layout);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  return status;
}

// What a rank tells of its rows.
typedef struct report {
  int64_t first_row, end_row;
  double first, last;
} report;

static tsr_status tell(tsr_comm *comm, const tsr_array *rows) {
  tsr_array_part part = TSR_ARRAY_PART;
  TSR_TRY(tsr_array_local_at(rows, 0, &part));
  const double *data = part.data;
  const int64_t count = part.shape.dims[0] * part.shape.dims[1];
  const report mine = {part.ranges[0].lo, part.ranges[0].hi, count ? data[0] : 0,
                       count ? data[count - 1] : 0};
  report all[4];
  TSR_TRY(tsr_comm_share(comm, &mine, sizeof mine, all));
  for (int rank = 0; tsr_comm_rank(comm) == 0 && rank < tsr_comm_rank_count(comm); rank++)
    printf("rank %d has rows %" PRId64 " to %" PRId64 ": %g ... %g\n", rank, all[rank].first_row,
           all[rank].end_row - 1, all[rank].first, all[rank].last);
  return NULL;
}

static tsr_status redistribute(tsr_comm *comm) {
  if (tsr_comm_rank_count(comm) != 4)
    return tsr_fail(BAD_ARGUMENT, "%d ranks, wanted 4", tsr_comm_rank_count(comm));
  double matrix[ROWS][COLUMNS];  // of which each rank takes the blocks that are dealt to it
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) matrix[i][j] = 100 * i + j;
  tsr_layout *blocks = NULL, *by_rows = NULL;
  tsr_array *dealt = NULL, *rows = NULL;
  tsr_status status = make_layout("p=2,q=2", "p/cyclic(2), q/cyclic(3)", &blocks);
  if (!status) status = make_layout("rank=4", "rank, _", &by_rows);
  if (!status) status = tsr_array_shard(comm, blocks, TSR_F64, matrix, NULL, &dealt);
  if (!status) status = tsr_array_reshard(dealt, by_rows, NULL, &rows);
  if (!status) status = tell(comm, rows);
  tsr_array_release(rows);
  tsr_array_release(dealt);
  tsr_layout_release(by_rows);
  tsr_layout_release(blocks);
  return status;
}

int main(int argc, char **argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  tsr_comm *comm = NULL;
  tsr_status status = tsr_comm_create_mpi(MPI_COMM_WORLD, 1, NULL, &comm);  // a device per rank
  if (!status) status = redistribute(comm);
  if (status) {
    fprintf(stderr, "%s\n", tsr_status_text(status));
    MPI_Abort(MPI_COMM_WORLD, 1);  // others may be waiting
  }
  tsr_comm_release(comm);
  MPI_Finalize();
  return 0;
}
