// A device's shard is handed to another library and taken back without a copy. Passing a tensor on
// needs no dlpack.h; a library that looks into it includes the official one.
#include <stdio.h>
#include <tessera/dlpack.h>
#include <tessera/engine.h>
#include <tessera/tessera.h>

static tsr_status run(void) {
  const float matrix[2][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}};
  TSR_OWN(comm, comm);
  TSR_OWN(comm, single);
  TSR_OWN(mesh, mesh);
  TSR_OWN(mesh, one);
  TSR_OWN(layout, whole);
  TSR_OWN(array, array);
  TSR_OWN(array, row);
  TSR_OWN(text, text);
  TSR_TRY(tsr_comm_create(2, NULL, &comm));
  TSR_TRY(tsr_mesh_parse("x=2", NULL, &mesh));
  TSR_TRY(tsr_array_put(comm, mesh, "x, _", TSR_SHAPE(2, 4), TSR_F32, matrix, &array));

  // Out: shard 1. Who receives it calls its deleter.
  struct DLManagedTensorVersioned *tensor = NULL;
  TSR_TRY(tsr_array_to_dlpack(array, 1, &tensor));
  // In: an array of its own, on one device, that borrows the memory and owns the tensor.
  TSR_TRY(tsr_comm_create(1, NULL, &single));
  TSR_TRY(tsr_mesh_parse("x=1", NULL, &one));
  TSR_TRY(tsr_layout_from_text(one, "()", TSR_SHAPE(1, 4), &whole));
  TSR_TRY(tsr_array_from_dlpack(single, whole, tensor, true, &row));
  tsr_array_print(row, &text);
  printf("%s\n", tsr_text_string(&text));
  const float *data = tsr_array_data(row, 0);
  printf("%g %g %g %g, in %s memory\n", (double)data[0], (double)data[1], (double)data[2],
         (double)data[3], data == tsr_array_data(array, 1) ? "the same" : "other");
  return NULL;
}

int main(void) { return tsr_status_exit(run()); }
