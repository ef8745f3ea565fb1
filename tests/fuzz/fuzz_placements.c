// Whatever the bytes: no crash, and what can be read prints to a text that reads and prints the
// same. A spec found for a shape gives placements back. With and without the mesh in a text, the
// same placements are read.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "spec/notation_internal.h"
#include "tessera/compat/torch.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const tsr_placements *placements) {
  tsr_text text = TSR_TEXT_EMPTY, again = TSR_TEXT_EMPTY;
  tsr_placements read;
  tsr_placements_print(placements, &text);
  tsr_status status = tsr_placements_parse(tsr_text_string(&text), &read);
  assert(!status);
  tsr_placements_print(&read, &again);
  assert(!strcmp(tsr_text_string(&text), tsr_text_string(&again)));
  tsr_text_deinit(&again);
  tsr_text_deinit(&text);
}

static void check_shape(const tsr_placements *placements, const tsr_mesh *mesh,
                        const tsr_shape *shape) {
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_placements back;
  tsr_status status = tsr_placements_to_spec(placements, mesh, 2, shape, &spec);
  if (!status) {
    status = tsr_sharding_bind(mesh, spec, false, &sharding);
    assert(!status);
    // Parts of axes have no placement of their own.
    status = tsr_placements_from_sharding(sharding, 2, shape, &back);
    assert(!status || tsr_status_cause(status) == TSR_CAUSE_NOT_EXPRESSIBLE);
  }
  tsr_status_free(status);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
}

static void check_meshes(const tsr_placements *placements) {
  static const char *const meshes[] = {"a=2", "a=2,b=4", "a=2,b=3,c=1", "a=2,b=2,c=2,d=2"};
  for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++) {
    tsr_mesh *mesh = NULL;
    tsr_status status = tsr_mesh_parse(meshes[i], NULL, &mesh);
    assert(!status);
    check_shape(placements, mesh, NULL);
    check_shape(placements, mesh, TSR_SHAPE(24, 16));
    check_shape(placements, mesh, TSR_SHAPE(19, INT64_C(1) << 40));
    tsr_mesh_release(mesh);
  }
}

static void check_dtensor(const char *text, tsr_status alone) {
  tsr_dtensor dtensor;
  tsr_status status = tsr_dtensor_parse(text, NULL, &dtensor);
  assert(!alone || status);  // the mesh may be what is wrong
  if (!status) {
    assert(!dtensor.mesh || tsr_mesh_device_count(dtensor.mesh) > 0);
    status = tsr_dtensor_check(&dtensor, dtensor.mesh, &dtensor.shape);
    assert(!status);
    tsr_dtensor_deinit(&dtensor);
  }
  tsr_status_free(status);
  (void)tsr_dtensor_looks_like(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  tsr_placements placements;
  tsr_status status = tsr_placements_parse(text, &placements);
  check_dtensor(text, status);
  if (!status) {
    check_text(&placements);
    check_meshes(&placements);
  }
  tsr_status_free(status);
  free(text);
  return 0;
}
