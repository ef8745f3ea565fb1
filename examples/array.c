// A matrix on four devices: who holds what, after it is cut by rows, and after it is cut by
// columns; then the whole again.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/tessera.h>

enum { ROWS = 4, COLUMNS = 6 };

static tsr_status show(const tsr_array *array) {
  TSR_OWN(text, line);
  tsr_array_print(array, &line);
  printf("%s\n", tsr_text_string(&line));
  for (int64_t i = 0; i < tsr_array_local_count(array); i++) {
    tsr_local_shard shard = TSR_LOCAL_SHARD;
    TSR_TRY(tsr_array_local_at(array, i, &shard));
    printf("  device %" PRId64 ", replica %" PRId64 ", rows %" PRId64 " to %" PRId64
           ", columns %" PRId64 " to %" PRId64 ":",
           shard.device, shard.replica, shard.ranges[0].lo, shard.ranges[0].hi, shard.ranges[1].lo,
           shard.ranges[1].hi);
    const float *values = shard.data;
    for (int64_t k = 0; k < shard.shape.dims[0] * shard.shape.dims[1]; k++)
      printf(" %g", values[k]);
    printf("\n");
  }
  return NULL;
}

static tsr_status show_matrix(tsr_array *array) {
  float back[ROWS][COLUMNS];
  TSR_TRY(tsr_array_gather(array, back, sizeof back, NULL));
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++) printf("%g%s", back[r][c], c == COLUMNS - 1 ? "\n" : " ");
  return NULL;
}

static tsr_status run(void) {
  float matrix[ROWS][COLUMNS];
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++) matrix[r][c] = (float)(10 * r + c);
  TSR_OWN(comm, comm);
  TSR_OWN(mesh, mesh);
  TSR_OWN(array, by_rows);
  TSR_OWN(array, by_columns);
  TSR_TRY(tsr_comm_create(4, NULL, &comm));
  TSR_TRY(tsr_mesh_parse("x=2,y=2", NULL, &mesh));
  TSR_TRY(tsr_array_put(comm, mesh, "x, _", TSR_SHAPE(ROWS, COLUMNS), TSR_F32, matrix, &by_rows));
  TSR_TRY(show(by_rows));
  TSR_TRY(tsr_array_reshard_to(by_rows, "_, y", &by_columns));
  TSR_TRY(show(by_columns));
  return show_matrix(by_columns);
}

int main(void) { return tsr_status_exit(run()); }
