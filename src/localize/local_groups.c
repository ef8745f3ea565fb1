// Devices, their groups and shards.
#include "localize/localize.h"

#include <stdlib.h>

// ---- numbers of shards ----

static int axis_count(const tsr_attr *mesh) {
  return (int)tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count;
}

static int64_t devices_after(const tsr_attr *mesh, int axis) {
  int64_t count = 1;
  for (int i = axis + 1; i < axis_count(mesh); i++) count *= tsr_sdy_axis_size(mesh, i);
  return count;
}

int64_t tsr_mesh_devices(const tsr_attr *mesh) { return devices_after(mesh, -1); }

// Where a device stands in the order of the mesh; -1 = it is not in it.
static int64_t position_of(const tsr_attr *mesh, int64_t device) {
  const tsr_attr *ids = tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS);
  const int64_t count = tsr_attr_int_count(ids);
  for (int64_t i = 0; i < count; i++)
    if (tsr_attr_int_at(ids, i) == device) return i;
  return count ? -1 : device;
}

// How far apart two neighbours along a part of an axis are in the order of devices.
static int64_t part_stride(const tsr_attr *mesh, const tsr_sdy_part *part) {
  return devices_after(mesh, part->axis) *
         (tsr_sdy_axis_size(mesh, part->axis) / tsr_sdy_end(part));
}

int64_t tsr_shard_number(const tsr_attr *mesh, const tsr_sdy_parts *axes, int64_t device) {
  const int64_t position = position_of(mesh, device);
  int64_t number = 0;
  for (int64_t i = 0; i < axes->count && position >= 0; i++) {
    const tsr_sdy_part *part = &axes->items[i];
    number = number * part->size + position / part_stride(mesh, part) % part->size;
  }
  return number;
}

int64_t tsr_shard_neighbour(const tsr_attr *mesh, const tsr_sdy_parts *axes, int64_t device,
                            int64_t shard) {
  const tsr_attr *ids = tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS);
  int64_t position = position_of(mesh, device);
  for (int64_t i = axes->count - 1; i >= 0; i--) {
    const tsr_sdy_part *part = &axes->items[i];
    const int64_t stride = part_stride(mesh, part);
    position += (shard % part->size - position / stride % part->size) * stride;
    shard /= part->size;
  }
  return tsr_attr_int_count(ids) ? tsr_attr_int_at(ids, position) : position;
}

// ---- groups ----

// Splits the axes of a mesh such that each of `axes` is one of the pieces, in the order of the
// mesh.
static tsr_status split_mesh(tsr_localizing *l, const tsr_attr *mesh, const tsr_sdy_parts *axes,
                             tsr_sdy_parts *out) {
  out->items = tsr_arena_alloc(
      &l->arena, ((size_t)axis_count(mesh) + 2 * (size_t)axes->count + 1) * sizeof *out->items);
  TSR_NEED(out->items);
  out->count = 0;
  for (int axis = 0; axis < axis_count(mesh); axis++) {
    const int64_t size = tsr_sdy_axis_size(mesh, axis);
    int64_t at = 1;
    do {
      // The next border after `at`: where one of `axes` begins or ends.
      int64_t next = size;
      for (int64_t i = 0; i < axes->count; i++) {
        if (axes->items[i].axis != axis) continue;
        const int64_t pre = axes->items[i].pre, end = tsr_sdy_end(&axes->items[i]);
        if (pre > at && pre < next) next = pre;
        if (end > at && end < next) next = end;
      }
      out->items[out->count++] = tsr_part_of(mesh, axis, at, next / at);
      at = next;
    } while (at < size);
  }
  return NULL;
}

static bool has_part(const tsr_sdy_parts *axes, const tsr_sdy_part *part) {
  for (int64_t i = 0; i < axes->count; i++)
    if (tsr_sdy_same(&axes->items[i], part)) return true;
  return false;
}

// The ids of devices in groups: along the other pieces of the mesh from group to group, along
// `axes` within one.
static const tsr_attr *groups_of_ids(tsr_localizing *l, const tsr_attr *mesh,
                                     const tsr_sdy_parts *axes) {
  const tsr_attr *ids = tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS);
  const int64_t devices = tsr_mesh_devices(mesh), size = tsr_parts_size(axes);
  tsr_sdy_parts pieces = {NULL, 0}, others = {NULL, 0};
  tsr_status status = split_mesh(l, mesh, axes, &pieces);
  tsr_status_free(status);
  if (status) return NULL;
  others.items = tsr_arena_alloc(&l->arena, ((size_t)pieces.count + 1) * sizeof *others.items);
  int64_t *numbers = tsr_ir_alloc(l->ir, ((size_t)devices + 1) * sizeof *numbers);
  if (!others.items || !numbers || devices % size) return NULL;
  for (int64_t i = 0; i < pieces.count; i++)
    if (!has_part(axes, &pieces.items[i])) others.items[others.count++] = pieces.items[i];
  for (int64_t i = 0; i < devices; i++) {
    const int64_t device = tsr_attr_int_count(ids) ? tsr_attr_int_at(ids, i) : i;
    const int64_t group = tsr_shard_number(mesh, &others, device);
    numbers[group * size + tsr_shard_number(mesh, axes, device)] = device;
  }
  const int64_t dims[] = {devices / size, size};
  const tsr_type *type = tsr_type_tensor(l->ir, l->ir->i64, 2, dims, NULL);
  return type ? tsr_attr_dense(l->ir, type, numbers, (size_t)devices * sizeof *numbers) : NULL;
}

static const tsr_attr *groups_of_axes(tsr_localizing *l, const tsr_tensor_sharding *cut,
                                      const tsr_sdy_parts *axes) {
  const tsr_attr **names = tsr_ir_alloc(l->ir, ((size_t)axes->count + 1) * sizeof *names);
  if (!names) return NULL;
  for (int64_t i = 0; i < axes->count; i++) {
    const tsr_attr *axis = tsr_attr_field(cut->mesh, TSR_SDY_MESH_AXES)->items[axes->items[i].axis];
    const tsr_attr *const fields[] = {tsr_attr_field(axis, TSR_SDY_MESH_AXIS_NAME), NULL};
    names[i] = tsr_attr_record(l->ir, TSR_RECORD_AXIS_REF, fields);
    if (!names[i]) return NULL;
  }
  const tsr_attr *const fields[] = {cut->mesh_ref, tsr_attr_array(l->ir, names, axes->count)};
  return fields[1] ? tsr_attr_record(l->ir, TSR_RECORD_GROUP_AXES, fields) : NULL;
}

const tsr_attr *tsr_device_groups(tsr_localizing *l, const tsr_tensor_sharding *cut,
                                  const tsr_sdy_parts *axes) {
  bool whole = true;
  for (int64_t i = 0; i < axes->count; i++) whole = whole && axes->items[i].whole;
  return l->mesh_axes && whole ? groups_of_axes(l, cut, axes) : groups_of_ids(l, cut->mesh, axes);
}

const tsr_attr *tsr_next_channel(tsr_localizing *l) {
  const tsr_attr *const fields[] = {tsr_attr_i64(l->ir, l->next_channel++), tsr_attr_i64(l->ir, 1)};
  return fields[0] && fields[1] ? tsr_attr_record(l->ir, TSR_RECORD_CHANNEL, fields) : NULL;
}

tsr_status tsr_axis_list_read(tsr_localizing *l, const tsr_tensor_sharding *cut,
                              const tsr_attr *list, tsr_sdy_parts *out_axes) {
  return tsr_sdy_parts_make(&l->arena, cut->mesh, list, out_axes);
}

// ---- ops that depend on the device ----

tsr_value *tsr_site_shard_start(tsr_localizing *l, tsr_site *site, const tsr_attr *mesh,
                                const tsr_sdy_parts *axes, int64_t size) {
  const int64_t devices = tsr_mesh_devices(mesh);
  int64_t *starts = malloc(((size_t)devices + 1) * sizeof *starts);
  if (!starts) {
    if (!site->failure) site->failure = tsr_fail(NO_MEMORY, "a table of devices");
    return NULL;
  }
  for (int64_t i = 0; i < devices; i++) starts[i] = tsr_shard_number(mesh, axes, i) * size;
  tsr_value *device = tsr_site_device(site, l->replicas, l->partitions);
  tsr_value *start = tsr_site_lookup(site, starts, devices, device);
  free(starts);
  return start;
}

tsr_value *tsr_site_own_shard(tsr_localizing *l, tsr_site *site, tsr_value *x, const tsr_attr *mesh,
                              const tsr_sdy_parts *axes, const tsr_type *type) {
  tsr_value *operands[TSR_MAX_RANK + 1] = {x};
  for (int d = 0; d < type->rank; d++)
    operands[d + 1] = axes[d].count ? tsr_site_shard_start(l, site, mesh, &axes[d], type->dims[d])
                                    : tsr_site_integer(site, 64, 0);
  const tsr_site_attr sizes = {"slice_sizes", tsr_attr_ints(l->ir, type->dims, type->rank)};
  return tsr_site_add(site, TSR_OP_DYNAMIC_SLICE, type, operands, type->rank + 1, &sizes, 1);
}
