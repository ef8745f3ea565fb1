// Which piece of a tensor does each device hold? An (8, 16) matrix, rows over `data`, columns over
// `model`, on eight devices.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/tessera.h>
#include <tessera/engine.h>

static tsr_status show(const tsr_layout *layout) {
  const tsr_mesh *mesh = tsr_layout_mesh(layout);
  for (int64_t position = 0; position < tsr_layout_device_count(layout); position++) {
    tsr_range ranges[TSR_MAX_RANK];
    TSR_TRY(tsr_layout_box(layout, tsr_layout_shard(layout, position), ranges));
    printf("device %lld holds [%" PRId64 ":%" PRId64 ", %" PRId64 ":%" PRId64 "]\n",
           (long long)tsr_mesh_device_at(mesh, position), ranges[0].lo, ranges[0].hi, ranges[1].lo,
           ranges[1].hi);
  }
  return NULL;
}

int main(void) {
  tsr_mesh *mesh = NULL;
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_layout *layout = NULL;
  tsr_status status = tsr_mesh_parse("data=4,model=2", NULL, &mesh);
  if (!status) status = tsr_spec_parse("data, model", TSR_FORM_ANY, &spec);
  if (!status) status = tsr_sharding_bind(mesh, spec, false, &sharding);
  if (!status) status = tsr_layout_create(sharding, TSR_SHAPE(8, 16), TSR_POLICY_ERROR, &layout);
  if (!status) status = show(layout);
  if (status) fprintf(stderr, "%s\n", tsr_status_text(status));
  tsr_layout_release(layout);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  const int code = status ? 1 : 0;
  tsr_status_free(status);
  return code;
}
