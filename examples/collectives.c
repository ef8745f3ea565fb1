// The collectives that a program would call itself: four devices, summed along one axis of the mesh
// and gathered along the other.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/engine.h>
#include <tessera/tessera.h>

enum { DEVICES = 4, COUNT = 2 };

static void show(const char *what, void *const *buffers, int count) {
  printf("%s\n", what);
  for (int device = 0; device < DEVICES; device++) {
    const float *values = buffers[device];
    printf("  device %d:", device);
    for (int i = 0; i < count; i++) printf(" %g", values[i]);
    printf("\n");
  }
}

static tsr_status run(void) {
  float mine[DEVICES][COUNT], sums[DEVICES][COUNT], all[DEVICES][2 * COUNT];
  const void *in[DEVICES];
  void *sum[DEVICES], *gathered[DEVICES];
  for (int device = 0; device < DEVICES; device++) {
    for (int i = 0; i < COUNT; i++) mine[device][i] = (float)(10 * device + i);
    in[device] = mine[device];
    sum[device] = sums[device];
    gathered[device] = all[device];
  }
  const char *const x[] = {"x"}, *const y[] = {"y"};
  TSR_OWN(comm, comm);
  TSR_OWN(mesh, mesh);
  TSR_OWN(groups, columns);
  TSR_OWN(groups, rows);
  TSR_TRY(tsr_comm_create(DEVICES, NULL, &comm));
  TSR_TRY(tsr_mesh_parse("x=2,y=2", NULL, &mesh));
  TSR_TRY(tsr_mesh_groups(mesh, x, 1, &columns));
  TSR_TRY(tsr_mesh_groups(mesh, y, 1, &rows));
  TSR_TRY(tsr_comm_all_reduce(comm, &columns, TSR_F32, TSR_REDUCE_SUM, COUNT, in, sum));
  TSR_TRY(tsr_comm_all_gather(comm, &rows, TSR_F32, 1, COUNT, in, gathered));
  show("summed over x", sum, COUNT);
  show("gathered over y", gathered, 2 * COUNT);
  return NULL;
}

int main(void) { return tsr_status_exit(run()); }
