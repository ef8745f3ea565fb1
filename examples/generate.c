// An array that no host tensor stands behind: each distinct shard is computed once, where it lies.
// It goes to a NumPy file, and comes back in another layout, every device reading its own shard.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/checkpoint.h>
#include <tessera/engine.h>
#include <tessera/tessera.h>

// Element (row, column) is its place in the whole matrix.
static tsr_status number(void *context, const tsr_local_shard *shard, void *data) {
  const int64_t columns = *(const int64_t *)context;
  float *values = data;
  for (int64_t r = shard->ranges[0].lo; r < shard->ranges[0].hi; r++)
    for (int64_t c = shard->ranges[1].lo; c < shard->ranges[1].hi; c++)
      *values++ = (float)(r * columns + c);
  return NULL;
}

static tsr_status run(void) {
  int64_t columns = 6;
  float whole[4][6];
  TSR_OWN(comm, comm);
  TSR_OWN(mesh, mesh);
  TSR_OWN(layout, rows);
  TSR_OWN(layout, pairs);
  TSR_OWN(array, array);
  TSR_OWN(array, again);
  TSR_TRY(tsr_comm_create(4, NULL, &comm));
  TSR_TRY(tsr_mesh_parse("x=2,y=2", NULL, &mesh));
  TSR_TRY(tsr_layout_from_text(mesh, "x, _", TSR_SHAPE(4, columns), &rows));
  TSR_TRY(tsr_layout_from_text(mesh, "x, y", TSR_SHAPE(4, columns), &pairs));
  TSR_TRY(tsr_array_generate(comm, rows, TSR_F32, number, &columns, &array));
  printf("%" PRId64 " devices, %" PRId64 " bytes of memory\n", tsr_array_local_count(array),
         tsr_array_memory(array));
  TSR_TRY(tsr_array_save_npy(array, "numbers.npy"));
  TSR_TRY(tsr_array_load_npy(comm, pairs, "numbers.npy", TSR_F32, &again));
  TSR_TRY(tsr_array_gather(again, whole, sizeof whole, NULL));
  printf("the last element is %g\n", whole[3][5]);
  return NULL;
}

int main(void) { return tsr_status_exit(run()); }
