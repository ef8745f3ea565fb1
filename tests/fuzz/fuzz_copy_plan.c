// Whatever two specs, shape and policy (a line each, after two bytes for the meshes): no crash, and
// the plan between their layouts is proved by the check, moves exactly what devices lack, and has
// as many copies out of its sources as into its targets.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "layout/layout_internal.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/layout.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "transfer/transfer_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_ELEMENTS = 1 << 12 };

static const char *const meshes[] = {"x=1",
                                     "x=4",
                                     "x=2,y=4",
                                     "x=3,y=2",
                                     "x=2,y=2 devices=[7,1,0,9]",
                                     "x=2,y=3,z=2",
                                     "x=2,y=2 abstract",
                                     "x=8,y=1"};

static int64_t count_copies(const tsr_copy_plan *plan, bool into) {
  const tsr_layout *layout = into ? tsr_copy_plan_to(plan) : tsr_copy_plan_from(plan);
  int64_t count = 0;
  for (int64_t p = 0; p < tsr_layout_device_count(layout); p++) {
    tsr_copies copies;
    tsr_status status =
        into ? tsr_copies_init_into(&copies, plan, p) : tsr_copies_init_out_of(&copies, plan, p);
    assert(!status);
    count += tsr_copies_count(&copies);
    tsr_copies_deinit(&copies);
  }
  return count;
}

static void check_plan(const tsr_copy_plan *plan) {
  tsr_certificate certificate = TSR_CERTIFICATE;
  tsr_status status = tsr_copy_plan_check(plan);
  assert(!status);
  status = tsr_copy_plan_certify(plan, TSR_F32, &certificate);
  assert(!status);
  assert(certificate.bytes_moved == certificate.bytes_lower_bound);
  assert(certificate.copies == count_copies(plan, true));
  assert(certificate.copies == count_copies(plan, false));
}

static tsr_status make(const char *mesh_text, const char *spec_text, const tsr_shape *shape,
                       tsr_policy policy, tsr_layout **out_layout) {
  tsr_mesh *mesh = NULL;
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_status status = tsr_mesh_parse(mesh_text, NULL, &mesh);
  if (!status) status = tsr_spec_parse(spec_text, TSR_FORM_ANY, &spec);
  if (!status) status = tsr_sharding_bind(mesh, spec, false, &sharding);
  if (!status) status = tsr_layout_create(sharding, shape, policy, out_layout);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  return status;
}

static void run(const char *from_mesh, const char *to_mesh, char *const *lines) {
  tsr_shape shape;
  tsr_policy policy = TSR_POLICY_UNEVEN;
  int64_t elements = 0;
  tsr_layout *from = NULL, *to = NULL;
  tsr_copy_plan *plan = NULL;
  tsr_status status = tsr_shape_parse(lines[2], &shape);
  if (!status) status = tsr_shape_count(&shape, &elements);
  if (!status) status = tsr_policy_parse(lines[3], &policy);
  if (!status) status = make(from_mesh, lines[0], &shape, policy, &from);
  if (!status) status = make(to_mesh, lines[1], &shape, TSR_POLICY_UNEVEN, &to);
  if (!status) status = tsr_copy_plan_create(from, to, NULL, &plan);
  if (!status && elements <= MOST_ELEMENTS) check_plan(plan);
  tsr_status_free(status);
  tsr_copy_plan_release(plan);
  tsr_layout_release(from);
  tsr_layout_release(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { MESHES = sizeof meshes / sizeof *meshes };
  if (size < 2) return 0;
  char *text = malloc(size);
  if (!text) return 0;
  memcpy(text, data + 2, size - 2);
  text[size - 2] = '\0';
  char *lines[4] = {"", "", "", "uneven"}, *rest = text;
  for (int i = 0; i < 4 && rest; i++) lines[i] = strsep(&rest, "\n");
  run(meshes[data[0] % MESHES], meshes[data[1] % MESHES], lines);
  free(text);
  return 0;
}
