// A device's shard is handed to another library and taken back without a copy. Passing a tensor on
// needs no dlpack.h; a library that looks into it includes the official one.
#include <stdio.h>
#include <tessera/dlpack.h>
#include <tessera/engine.h>
#include <tessera/tessera.h>

static tsr_status run(void) {
  const float matrix[2][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}};
  TSR_OWN(comm, comm);
  TSR_OWN(mesh, mesh);
  TSR_OWN(array, array);
  TSR_OWN(buffer, buffer);
  TSR_OWN(text, text);
  TSR_TRY(tsr_comm_create(2, NULL, &comm));
  TSR_TRY(tsr_mesh_parse("x=2", NULL, &mesh));
  TSR_TRY(tsr_array_put(comm, mesh, "x, _", TSR_SHAPE(2, 4), TSR_F32, matrix, &array));

  // Out: shard 1. The receiver calls its deleter, here by way of the buffer.
  struct DLManagedTensorVersioned *tensor = NULL;
  TSR_TRY(tsr_array_to_dlpack(array, 1, &tensor));
  // In: the same memory as a buffer.
  tsr_dtype dtype;
  tsr_shape shape;
  TSR_TRY(tsr_buffer_from_dlpack(tensor, &dtype, &shape, &buffer));
  tsr_shape_print(&shape, &text);
  const float *row = tsr_buffer_data(buffer);
  printf("%s %s: %g %g %g %g\n", tsr_dtype_name(dtype, TSR_NAMES_OWN), tsr_text_string(&text),
         row[0], row[1], row[2], row[3]);
  printf("%s memory\n", (const void *)row == tsr_array_data(array, 1) ? "the same" : "other");
  return NULL;
}

int main(void) { return tsr_status_exit(run()); }
