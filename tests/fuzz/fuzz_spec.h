// What holds for every text that is a spec, in whatever notation.
#ifndef TESSERA_TESTS_FUZZ_FUZZ_SPEC_H
#define TESSERA_TESTS_FUZZ_FUZZ_SPEC_H

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "spec/sharding_internal.h"
#include "spec/spec_internal.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tsr_spec *fuzz_parse(const char *text, tsr_spec_form form) {
  tsr_spec *spec = NULL;
  tsr_status status = tsr_spec_parse(text, form, &spec);
  assert((status == NULL) == (spec != NULL));
  tsr_status_free(status);
  return spec;
}

// What a form prints, it reads back; what it cannot print, it says so.
static void fuzz_read_back(const tsr_spec *spec, tsr_spec_form form) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_status status = tsr_spec_print(spec, form, &text);
  if (!status) {
    tsr_spec *again = fuzz_parse(tsr_text_string(&text), form);
    assert(again);
    if (form != TSR_FORM_JAX || !tsr_spec_desc_of(spec)->mesh_name) {
      assert(tsr_spec_equal(spec, again));
      assert(tsr_spec_hash(spec) == tsr_spec_hash(again));
    }
    tsr_spec_release(again);
  } else {
    assert(form != TSR_FORM_SHORT && tsr_status_cause(status) == TSR_CAUSE_NOT_EXPRESSIBLE);
  }
  tsr_status_free(status);
  tsr_text_deinit(&text);
}

// Where the spec fits a mesh, its normal form means the same.
static void fuzz_bind(const tsr_spec *spec) {
  static const tsr_axis axes[] = {{"x", 8, 0}, {"y", 6, 0}, {"data", 1, 0}};
  tsr_mesh *mesh = NULL;
  tsr_sharding *sharding = NULL, *normal = NULL;
  tsr_status status = tsr_mesh_create(
      &(tsr_mesh_desc){.size = sizeof(tsr_mesh_desc), .axis_count = 3, .axes = axes}, &mesh);
  assert(!status);
  status = tsr_sharding_bind(mesh, spec, false, &sharding);
  if (!status) {
    bool same = false;
    status = tsr_sharding_normalise(sharding, &normal);
    assert(!status);
    status = tsr_sharding_equivalent(sharding, normal, INT32_MAX, &same);
    assert(!status && same);
  }
  tsr_status_free(status);
  tsr_sharding_release(sharding);
  tsr_sharding_release(normal);
  tsr_mesh_release(mesh);
}

static int fuzz_spec(const uint8_t *data, size_t size, tsr_spec_form form) {
  char *text = malloc(size + 1);
  if (!text) return 0;
  if (size) memcpy(text, data, size);
  text[size] = '\0';
  tsr_spec *spec = fuzz_parse(text, form);
  free(text);
  if (!spec) return 0;
  for (int f = TSR_FORM_SHORT; f <= TSR_FORM_SHARDY; f++) fuzz_read_back(spec, (tsr_spec_form)f);
  fuzz_bind(spec);
  tsr_spec_release(spec);
  return 0;
}

#endif
