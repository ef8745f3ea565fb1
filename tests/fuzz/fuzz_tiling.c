// Whatever the bytes: no crash, and what can be read prints to a text that reads as the same value
// and prints the same. A spec found on some mesh has a tiling, which has that spec.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tiling/tiling_internal.h"
#include "tessera/compat/hlo.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const tsr_tiling *tiling) {
  tsr_text text = TSR_TEXT_EMPTY, again = TSR_TEXT_EMPTY;
  tsr_tiling *read = NULL;
  tsr_tiling_print(tiling, &text);
  tsr_status status = tsr_tiling_parse(tsr_text_string(&text), &read);
  assert(!status);
  assert(tsr_tiling_equal(tiling, read));
  tsr_tiling_print(read, &again);
  assert(!strcmp(tsr_text_string(&text), tsr_text_string(&again)));
  tsr_tiling_release(read);
  tsr_text_deinit(&again);
  tsr_text_deinit(&text);
}

// The tiling of a spec on a mesh, which has the same spec.
static void check_spec(const tsr_spec *spec, const tsr_mesh *mesh) {
  tsr_sharding *sharding = NULL;
  tsr_tiling *tiling = NULL;
  tsr_spec *again = NULL;
  tsr_status status = tsr_sharding_bind(mesh, spec, false, &sharding);
  assert(!status);
  status = tsr_tiling_from_sharding(sharding, tsr_spec_desc_of(spec)->dim_count, &tiling);
  assert(!status);
  status = tsr_tiling_to_spec(tiling, mesh, &again);
  assert(!status);
  // A tiling that cuts nothing does not say how many dimensions it does not cut.
  assert(tsr_tiling_kind_of(tiling) != TSR_TILING_TILED || tsr_spec_equal(spec, again));
  tsr_spec_release(again);
  tsr_tiling_release(tiling);
  tsr_sharding_release(sharding);
}

static void check_meshes(const tsr_tiling *tiling) {
  static const char *const meshes[] = {"x=1", "x=8", "x=2,y=4", "x=2,y=3,z=2", "x=2:manual,y=4"};
  for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++) {
    tsr_mesh *mesh = NULL;
    tsr_spec *spec = NULL;
    tsr_status status = tsr_mesh_parse(meshes[i], NULL, &mesh);
    assert(!status);
    status = tsr_tiling_to_spec(tiling, mesh, &spec);
    if (!status) check_spec(spec, mesh);
    tsr_status_free(status);
    tsr_spec_release(spec);
    tsr_mesh_release(mesh);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  tsr_tiling *tiling = NULL;
  tsr_status status = tsr_tiling_parse(text, &tiling);
  if (!status) {
    check_text(tiling);
    check_meshes(tiling);
  }
  tsr_status_free(status);
  tsr_tiling_release(tiling);
  free(text);
  return 0;
}
