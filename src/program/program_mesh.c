// Shardy's meshes as ours.
#include <string.h>

#include "program/program_state.h"

static tsr_status read_axes(const tsr_attr *axes, const char *mesh, tsr_axis *out) {
  if (axes->count > TSR_MAX_AXES)
    return tsr_fail(TOO_LARGE, "mesh @%s has %lld axes, expected at most %d", mesh,
                    (long long)axes->count, TSR_MAX_AXES);
  for (int64_t i = 0; i < axes->count; i++)
    out[i] = (tsr_axis){.name = tsr_attr_field(axes->items[i], TSR_SDY_MESH_AXIS_NAME)->bytes,
                        .size = tsr_attr_field(axes->items[i], TSR_SDY_MESH_AXIS_SIZE)->integer};
  return NULL;
}

// Device ids may be unaligned in the attribute.
static tsr_status read_devices(const tsr_attr *ids, tsr_arena *arena, tsr_mesh_desc *desc) {
  const int64_t count = tsr_attr_int_count(ids);
  int64_t *devices = tsr_arena_alloc(arena, (size_t)count * sizeof *devices);
  TSR_NEED(devices);
  for (int64_t i = 0; i < count; i++) devices[i] = tsr_attr_int_at(ids, i);
  desc->device_count = count;
  desc->devices = count ? devices : NULL;
  return NULL;
}

static tsr_status make_mesh(const char *name, const tsr_attr *mesh, tsr_arena *arena,
                            tsr_mesh **out_mesh) {
  tsr_axis axes[TSR_MAX_AXES];
  tsr_mesh_desc desc = TSR_MESH_DESC;
  const tsr_attr *list = tsr_attr_field(mesh, TSR_SDY_MESH_AXES);
  TSR_TRY(read_axes(list, name, axes));
  desc.axis_count = (int)list->count;
  desc.axes = axes;
  TSR_TRY(read_devices(tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS), arena, &desc));
  return tsr_mesh_create(&desc, out_mesh);
}

tsr_status tsr_program_mesh_at(const tsr_program *program, int64_t index, tsr_mesh **out_mesh) {
  if (index < 0 || index >= program->mesh_count)
    return tsr_fail(INDEX_OUT_OF_RANGE, "mesh %lld, expected 0 to %lld", (long long)index,
                    (long long)program->mesh_count - 1);
  const tsr_attr *mesh = tsr_op_attr(program->meshes[index], "mesh");
  const char *name = tsr_program_mesh_name(program, index);
  if (!mesh || !tsr_attr_has_form(mesh, TSR_FORM_RECORD, TSR_RECORD_SDY_MESH))
    return tsr_fail(BROKEN_PROGRAM, "mesh @%s has no axes", name ? name : "");
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_status status = make_mesh(name ? name : "", mesh, &arena, out_mesh);
  tsr_arena_deinit(&arena);
  return tsr_note(status, "mesh @%s", name ? name : "");
}
