// A matrix on four devices: cut by rows, cut again by columns, then whole again in host memory.
#include <stdio.h>
#include <tessera/tessera.h>

static void show(const char *name, const tsr_array *array) {
  TSR_OWN(text, text);
  tsr_array_print(array, &text);
  printf("%-8s %s\n", name, tsr_text_string(&text));
}

static tsr_status run(void) {
  float matrix[4][6], back[4][6];
  for (int i = 0; i < 24; i++) matrix[i / 6][i % 6] = (float)i;
  TSR_OWN(comm, comm);  // released at the end of the block, like all that follow
  TSR_OWN(mesh, mesh);
  TSR_OWN(array, rows);
  TSR_OWN(array, columns);
  TSR_TRY(tsr_comm_create(4, NULL, &comm));
  TSR_TRY(tsr_mesh_parse("x=2,y=2", NULL, &mesh));
  TSR_TRY(tsr_array_put(comm, mesh, "x, _", TSR_SHAPE(4, 6), TSR_F32, matrix, &rows));
  TSR_TRY(tsr_array_reshard_to(rows, "_, y", &columns));
  TSR_TRY(tsr_array_gather(columns, back, sizeof back, NULL));
  show("rows", rows);
  show("columns", columns);
  printf("gathered %g %g %g ... %g\n", back[0][0], back[0][1], back[0][2], back[3][5]);
  return NULL;
}

int main(void) { return tsr_status_exit(run()); }
