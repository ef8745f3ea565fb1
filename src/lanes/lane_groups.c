// Groups of lanes, from what collectives say of devices and mesh axes.
#include "lanes/lane_groups.h"

#include "processes/run_parallel.h"
#include "verify/sdy_axes.h"

int tsr_lane_members(const tsr_lane_site *site, const tsr_op *op) {
  return (int)tsr_op_int(op, TSR_MEMBERS_ATTR, site->manual ? site->manual->lanes : 1);
}

// ---- groups ----

// The place of a lane along axes of the mesh, the first of `axes` counting most; and among the
// lanes that differ in other axes only.
static void place_lane(const tsr_manual *m, const int *position, int lane, const int *axes,
                       int axis_count, int64_t *out_place, int64_t *out_other) {
  const int64_t *coords = m->coords + (int64_t)lane * m->axis_count;
  *out_place = *out_other = 0;
  for (int i = 0; i < axis_count; i++)
    *out_place = *out_place * m->sizes[axes[i]] + coords[axes[i]];
  for (int i = 0; i < m->axis_count; i++)
    if (m->is_manual[i] && position[i] < 0) *out_other = *out_other * m->sizes[i] + coords[i];
}

// Groups of #stablehlo.replica_group_mesh_axes: the lanes along its axes.
static tsr_status groups_of_axes(const tsr_lane_site *site, const tsr_op *op,
                                 const tsr_attr *groups, tsr_lane_groups *out) {
  const tsr_manual *m = site->manual;
  const tsr_attr *list = tsr_attr_field(groups, TSR_GROUP_AXES_AXES);
  int *axes = tsr_arena_zeros(site->arena, (size_t)list->count + 1, sizeof *axes);
  int *position = tsr_arena_zeros(site->arena, (size_t)m->axis_count + 1, sizeof *position);
  int *starts = tsr_arena_zeros(site->arena, (size_t)m->lanes + 1, sizeof *starts);
  int *members = tsr_arena_zeros(site->arena, (size_t)m->lanes, sizeof *members);
  TSR_NEED(axes && position && starts && members ? axes : NULL);
  for (int i = 0; i < m->axis_count; i++) position[i] = -1;
  int64_t size = 1;
  int axis_count = 0;
  for (int64_t i = 0; i < list->count; i++) {
    const tsr_attr *name = tsr_attr_field(list->items[i], TSR_AXIS_REF_NAME);
    const int axis = tsr_sdy_axis_find(m->mesh, name);
    if (axis < 0 || tsr_attr_field(list->items[i], TSR_AXIS_REF_SUB_AXIS))
      return tsr_fail(UNSUPPORTED, "%s: groups along a part of axis \"%s\"",
                      tsr_op_title_in(site->arena, op), name->bytes);
    if (!m->is_manual[axis] || position[axis] >= 0) continue;
    position[axis] = axis_count;
    axes[axis_count++] = axis;
    size *= m->sizes[axis];
  }
  for (int lane = 0; lane < m->lanes; lane++) {
    int64_t place = 0, other = 0;
    place_lane(m, position, lane, axes, axis_count, &place, &other);
    members[other * size + place] = lane;
  }
  out->group_count = (int)(m->lanes / size);
  for (int i = 0; i <= out->group_count; i++) starts[i] = (int)(i * size);
  out->starts = starts;
  out->members = members;
  return NULL;
}

static int lane_of(const tsr_lane_site *site, int64_t device) {
  if (site->manual) return tsr_manual_lane(site->manual, device);
  return device == 0 ? 0 : -1;
}

// Groups written as device ids; -1 fills short ones. Devices that are no lanes are left out.
static tsr_status groups_of_ids(const tsr_lane_site *site, const tsr_op *op, const tsr_attr *groups,
                                tsr_lane_groups *out) {
  const int64_t rows = groups->type->dims[0], columns = groups->type->dims[1];
  int *starts = tsr_arena_zeros(site->arena, (size_t)rows + 1, sizeof *starts);
  int *members = tsr_arena_zeros(site->arena, (size_t)out->lanes, sizeof *members);
  bool *seen = tsr_arena_zeros(site->arena, (size_t)out->lanes, sizeof *seen);
  TSR_NEED(starts && members && seen ? starts : NULL);
  int count = 0, used = 0;
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++) {
      const int lane = lane_of(site, tsr_attr_int_at(groups, i * columns + j));
      if (lane < 0) continue;
      if (seen[lane])
        return tsr_fail(CONSTRAINT, "%s: a device occurs twice in its groups",
                        tsr_op_title_in(site->arena, op));
      seen[lane] = true;
      members[count++] = lane;
    }
    if (count > starts[used]) starts[++used] = count;
  }
  out->group_count = used;
  out->starts = starts;
  out->members = members;
  return NULL;
}

// One group of all lanes, or each lane by itself.
static tsr_status simple_groups(const tsr_lane_site *site, bool together, tsr_lane_groups *out) {
  int *starts = tsr_arena_zeros(site->arena, (size_t)out->lanes + 1, sizeof *starts);
  int *members = tsr_arena_zeros(site->arena, (size_t)out->lanes, sizeof *members);
  TSR_NEED(starts && members ? starts : NULL);
  out->group_count = together ? 1 : out->lanes;
  for (int i = 0; i < out->lanes; i++) members[i] = i;
  for (int i = 0; i <= out->group_count; i++) starts[i] = together ? i * out->lanes : i;
  out->starts = starts;
  out->members = members;
  return NULL;
}

static bool names_other_devices(const tsr_attr *groups) {
  const int64_t count = tsr_attr_int_count(groups);
  for (int64_t i = 0; i < count; i++)
    if (tsr_attr_int_at(groups, i) > 0) return true;
  return false;
}

static tsr_status groups_of_processes(const tsr_lane_site *site, const tsr_op *op,
                                      tsr_lane_groups *out) {
  tsr_process_groups groups;
  TSR_TRY(tsr_process_groups_make(site->ir, site->arena, op, site->manual->grid, &groups));
  out->group_count = groups.group_count;
  out->starts = groups.starts;
  out->members = groups.members;
  return NULL;
}

// A program on a mesh has one replica, so groups of replicas say nothing: with a channel all
// partitions are together, without one each is by itself.
tsr_status tsr_lane_groups_of(const tsr_lane_site *site, const tsr_op *op, tsr_lane_groups *out) {
  const tsr_attr *groups = tsr_op_attr(op, "replica_groups");
  *out = (tsr_lane_groups){.lanes = tsr_lane_members(site, op)};
  if (tsr_op_attr(op, TSR_MEMBERS_ATTR)) return simple_groups(site, true, out);
  if (site->manual && site->manual->grid.replicas) return groups_of_processes(site, op, out);
  if (groups->kind == TSR_ATTR_RECORD && site->manual) return groups_of_axes(site, op, groups, out);
  if (groups->kind != TSR_ATTR_DENSE || tsr_type_element_count(groups->type) == 0)
    return simple_groups(site, true, out);
  if (names_other_devices(groups) || tsr_op_flag(op, "use_global_device_ids"))
    return groups_of_ids(site, op, groups, out);
  const tsr_attr *channel = tsr_op_attr(op, "channel_handle");
  const bool has_channel = channel && tsr_attr_field(channel, TSR_CHANNEL_HANDLE)->integer > 0;
  return simple_groups(site, has_channel, out);
}

// For each lane the one whose value it gets.
tsr_status tsr_lane_sources_of(const tsr_lane_site *site, const tsr_op *op,
                               const int **out_sources) {
  const tsr_attr *written = tsr_op_attr(op, TSR_SOURCES_ATTR);
  const int lanes = tsr_lane_members(site, op);
  if (!written && site->manual && site->manual->grid.replicas)
    return tsr_process_sources_make(site->arena, op, site->manual->grid, out_sources);
  int *sources = tsr_arena_zeros(site->arena, (size_t)lanes, sizeof *sources);
  TSR_NEED(sources);
  for (int i = 0; i < lanes; i++) sources[i] = written ? (int)tsr_attr_int_at(written, i) : -1;
  const tsr_attr *pairs = tsr_op_attr(op, "source_target_pairs");
  for (int64_t i = 0; !written && i + 1 < tsr_attr_int_count(pairs); i += 2) {
    const int from = lane_of(site, tsr_attr_int_at(pairs, i));
    const int to = lane_of(site, tsr_attr_int_at(pairs, i + 1));
    if (from >= 0 && to >= 0) sources[to] = from;
  }
  *out_sources = sources;
  return NULL;
}
