// Which piece of a tensor does each device hold? An (8, 16) matrix, rows over `data`, columns over
// `model`, on eight devices.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/tessera.h>

static tsr_status show(const tsr_layout *layout) {
  const tsr_mesh *mesh = tsr_layout_mesh(layout);
  for (int64_t position = 0; position < tsr_layout_device_count(layout); position++) {
    tsr_range ranges[TSR_MAX_RANK];
    TSR_TRY(tsr_layout_box(layout, tsr_layout_shard(layout, position), ranges));
    printf("device %" PRId64 " holds [%" PRId64 ":%" PRId64 ", %" PRId64 ":%" PRId64 "]\n",
           tsr_mesh_device_at(mesh, position), ranges[0].lo, ranges[0].hi, ranges[1].lo,
           ranges[1].hi);
  }
  return NULL;
}

static tsr_status run(void) {
  TSR_OWN(mesh, mesh);
  TSR_OWN(layout, layout);
  TSR_TRY(tsr_mesh_parse("data=4,model=2", NULL, &mesh));
  TSR_TRY(tsr_layout_from_text(mesh, "data, model", TSR_SHAPE(8, 16), &layout));
  return show(layout);
}

int main(void) { return tsr_status_exit(run()); }
