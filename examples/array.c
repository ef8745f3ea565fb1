// A matrix on four devices: who holds what, after it is cut by rows, and after it is cut by
// columns; then the whole again.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/tessera.h>
#include <tessera/engine.h>

enum { ROWS = 4, COLUMNS = 6 };

static tsr_status make_layout(const tsr_mesh *mesh, const char *text, tsr_layout **out_layout) {
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_status status = tsr_spec_parse(text, TSR_FORM_ANY, &spec);
  if (!status) status = tsr_sharding_bind(mesh, spec, false, &sharding);
  if (!status)
    status = tsr_layout_create(sharding, TSR_SHAPE(ROWS, COLUMNS), TSR_POLICY_ERROR, out_layout);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  return status;
}

static tsr_status show(const tsr_array *array) {
  tsr_text line = {0};
  tsr_array_print(array, &line);
  printf("%s\n", tsr_text_string(&line));
  tsr_text_deinit(&line);
  for (int64_t i = 0; i < tsr_array_local_count(array); i++) {
    tsr_array_part part = TSR_ARRAY_PART;
    TSR_TRY(tsr_array_local_at(array, i, &part));
    printf("  device %" PRId64 ", replica %" PRId64 ", rows %" PRId64 " to %" PRId64
           ", columns %" PRId64 " to %" PRId64 ":",
           part.device, part.replica, part.ranges[0].lo, part.ranges[0].hi, part.ranges[1].lo,
           part.ranges[1].hi);
    const float *values = part.data;
    for (int64_t k = 0; k < part.shape.dims[0] * part.shape.dims[1]; k++) printf(" %g", values[k]);
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

static tsr_status run(tsr_comm *comm, const tsr_layout *rows, const tsr_layout *columns) {
  float matrix[ROWS][COLUMNS];
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++) matrix[r][c] = (float)(10 * r + c);
  tsr_array *by_rows = NULL, *by_columns = NULL;
  tsr_status status = tsr_array_shard(comm, rows, TSR_F32, matrix, NULL, &by_rows);
  if (!status) status = show(by_rows);
  if (!status) status = tsr_array_reshard(by_rows, columns, NULL, &by_columns);
  if (!status) status = show(by_columns);
  if (!status) status = show_matrix(by_columns);
  tsr_array_release(by_rows);
  tsr_array_release(by_columns);
  return status;
}

int main(void) {
  tsr_comm *comm = NULL;
  tsr_mesh *mesh = NULL;
  tsr_layout *rows = NULL, *columns = NULL;
  tsr_status status = tsr_comm_create(4, NULL, &comm);
  if (!status) status = tsr_mesh_parse("x=2,y=2", NULL, &mesh);
  if (!status) status = make_layout(mesh, "x, _", &rows);
  if (!status) status = make_layout(mesh, "_, y", &columns);
  if (!status) status = run(comm, rows, columns);
  if (status) fprintf(stderr, "%s\n", tsr_status_text(status));
  tsr_layout_release(rows);
  tsr_layout_release(columns);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
  const int code = status ? 1 : 0;
  tsr_status_free(status);
  return code;
}
