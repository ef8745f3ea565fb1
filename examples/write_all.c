// All shards of an array written at once: eight devices share one buffer with the same vector, also
// after it was scaled. Written one by one, each gets its own copy.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/engine.h>
#include <tessera/tessera.h>

// Called once for each distinct shard, which `data` holds.
static tsr_status scale(void *context, const tsr_local_shard *shard, void *data) {
  const float by = *(const float *)context;
  float *values = data;
  for (int64_t i = 0; i < shard->shape.dims[0]; i++) values[i] *= by;
  return NULL;
}

static void show(const char *when, const tsr_array *array) {
  const float *values = tsr_array_data(array, 7);
  printf("%-12s %3" PRId64 " bytes; device 7 has %g %g %g ...\n", when, tsr_array_memory(array),
         values[0], values[1], values[2]);
}

static tsr_status run(void) {
  float host[16], ten = 10;
  for (int i = 0; i < 16; i++) host[i] = (float)i;
  TSR_OWN(comm, comm);
  TSR_OWN(mesh, mesh);
  TSR_OWN(array, array);
  TSR_TRY(tsr_comm_create(8, NULL, &comm));
  TSR_TRY(tsr_mesh_parse("x=8", NULL, &mesh));
  TSR_TRY(tsr_array_put(comm, mesh, "()", TSR_SHAPE(16), TSR_F32, host, &array));
  show("put", array);
  TSR_TRY(tsr_array_write_all(array, scale, &ten));
  show("all at once", array);
  for (int64_t i = 0; i < tsr_array_local_count(array); i++) {
    void *data = NULL;
    tsr_local_shard shard = TSR_LOCAL_SHARD;
    TSR_TRY(tsr_array_local_at(array, i, &shard));
    TSR_TRY(tsr_array_write(array, i, &data));
    TSR_TRY(scale(&ten, &shard, data));
  }
  show("one by one", array);
  return NULL;
}

int main(void) { return tsr_status_exit(run()); }
