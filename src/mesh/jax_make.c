// make_mesh: a mesh with names over some devices of a machine.
//
// JAX takes the first devices of the list, and fails if these form no box. tsr_jax_make_mesh_in_box
// then chooses a box. In a slice that is a full box every smaller box exists, so only its sizes
// matter, and the low corner is as good as any place.
#include <stdlib.h>

#include "base/room.h"
#include "mesh/jax.h"
#include "mesh/mesh_build_internal.h"

// A mesh being made.
typedef struct mesh_request {
  const tsr_topology *topology;
  int rank;
  int64_t shape[TSR_MAX_AXES];
  tsr_axis axes[TSR_MAX_AXES];
  int64_t wanted;  // devices
  tsr_jax_mesh_options options;
  tsr_device_list list;
} mesh_request;

static tsr_status request_init(mesh_request *request, const tsr_topology *topology,
                               const tsr_axis *axes, int axis_count, bool use_types) {
  TSR_TRY(tsr_rank_check(axis_count));
  TSR_TRY(tsr_list_check(axes, axis_count, "axes"));
  const tsr_device_list list = tsr_device_list_of(topology);
  *request = (mesh_request){.topology = topology,
                            .rank = axis_count,
                            .options = {.size = sizeof request->options,
                                        .allow_split_physical_axes = list.kind->make_mesh_splits},
                            .list = list};
  for (int i = 0; i < axis_count; i++) {
    request->shape[i] = axes[i].size;
    request->axes[i] = axes[i];
    if (!use_types) request->axes[i].type = TSR_AXIS_EXPLICIT;
  }
  TSR_TRY(tsr_dims_check(request->shape, axis_count, "mesh"));
  char text[TSR_DIMS_TEXT];
  int64_t wanted = 0;
  if (!tsr_dims_product(request->shape, axis_count, &wanted) || wanted > request->list.count)
    return tsr_fail(TOO_FEW_DEVICES, "mesh (%s) needs more devices than the %lld there are",
                    tsr_dims_text(request->shape, axis_count, ", ", text),
                    (long long)request->list.count);
  request->wanted = wanted;
  return NULL;
}

static tsr_status check_one_slice(const tsr_device_list *list) {
  for (int64_t i = 1; i < list->count; i++)
    if (list->devices[i].slice != list->devices[0].slice)
      return tsr_fail(SEVERAL_SLICES,
                      "devices %lld and %lld are in different slices; a hybrid mesh can hold both",
                      (long long)list->devices[0].id, (long long)list->devices[i].id);
  return NULL;
}

static tsr_status make_over(const mesh_request *request, const tsr_device_list *list,
                            tsr_mesh **out_mesh) {
  tsr_device_array array = {0};
  TSR_TRY(tsr_device_array_init(&array, request->shape, request->rank));
  tsr_mesh_reason unused;
  tsr_status status =
      tsr_jax_arrange(list, request->shape, request->rank, &request->options, array.ids, &unused);
  if (!status) status = check_one_slice(list);
  if (!status) status = tsr_mesh_over_array(request->topology, &array, request->axes, out_mesh);
  tsr_device_array_deinit(&array);
  return status;
}

tsr_status tsr_jax_make_mesh(const tsr_topology *topology, const tsr_axis *axes, int axis_count,
                             bool use_types, tsr_mesh **out_mesh) {
  mesh_request request;
  TSR_TRY(request_init(&request, topology, axes, axis_count, use_types));
  request.list.count = request.wanted;
  return make_over(&request, &request.list, out_mesh);
}

// ---- a box of devices ----

// A box with the required number of devices, and its criteria.
typedef struct sub_box {
  int64_t sizes[TSR_FIELD_COUNT];
  bool fits;              // the mesh can be assigned to it
  int64_t whole_product;  // of the torus axes it spans, whose rings it keeps
  int64_t extent;         // sum of the sizes; smaller is more compact
} sub_box;

static void judge(const mesh_request *request, const tsr_torus *torus, sub_box *box) {
  box->whole_product = 1;
  box->extent = 0;
  for (int field = 0; field < TSR_FIELD_COUNT; field++) {
    if (box->sizes[field] == torus->sizes[field]) box->whole_product *= box->sizes[field];
    box->extent += box->sizes[field];
  }
  tsr_assignment unused;
  tsr_stuck stuck;
  box->fits = request->options.allow_split_physical_axes ||
              tsr_torus_assign_whole(box->sizes, torus->rank, request->shape, request->rank,
                                     &unused, &stuck);
}

static bool is_better(const sub_box *a, const sub_box *b) {
  if (a->fits != b->fits) return a->fits;
  if (a->whole_product != b->whole_product) return a->whole_product > b->whole_product;
  return a->extent < b->extent;
}

// The best box; false if no box has this number of devices.
static bool choose_box(const mesh_request *request, const tsr_torus *torus, sub_box *out_box) {
  bool found = false;
  for (int64_t x = 1; x <= torus->sizes[TSR_FIELD_X]; x++) {
    for (int64_t y = 1; y <= torus->sizes[TSR_FIELD_Y]; y++) {
      for (int64_t z = 1; request->wanted % (x * y) == 0 && z <= torus->sizes[TSR_FIELD_Z]; z++) {
        const int64_t chips = x * y * z, cores = request->wanted / chips;
        if (request->wanted % chips || cores > torus->sizes[TSR_FIELD_CORE]) continue;
        sub_box box = {.sizes = {x, y, z, cores}};
        judge(request, torus, &box);
        if (!found || is_better(&box, out_box)) *out_box = box;
        found = true;
      }
    }
  }
  return found;
}

static bool holds_device(const sub_box *box, const tsr_torus *torus, const tsr_device *device) {
  const int64_t place[] = {device->coords[0], device->coords[1], device->coords[2], device->core};
  for (int field = 0; field < TSR_FIELD_COUNT; field++)
    if ((int64_t)place[field] - torus->low[field] >= box->sizes[field]) return false;
  return true;
}

// Narrows `slice`, the devices of one slice, to those of the best box, in list order.
static tsr_status narrow_to_box(const mesh_request *request, tsr_device_list *slice,
                                tsr_device *devices) {
  tsr_torus torus;
  TSR_TRY(tsr_torus_init(&torus, slice));
  sub_box box = {0};
  char text[TSR_DIMS_TEXT];
  if (!choose_box(request, &torus, &box))
    return tsr_fail(NOT_A_CUBOID, "no box of %lld devices exists in a slice of %s",
                    (long long)request->wanted, tsr_dims_text(torus.dims, torus.rank, "x", text));
  int64_t count = 0;
  for (int64_t i = 0; i < slice->count; i++)
    if (holds_device(&box, &torus, &devices[i])) devices[count++] = devices[i];
  slice->count = count;
  return NULL;
}

static tsr_status make_in_box(const mesh_request *request, tsr_device *devices,
                              tsr_mesh **out_mesh) {
  tsr_device_list slice = request->list;
  slice.devices = devices;
  slice.count = 0;
  for (int64_t i = 0; i < request->list.count; i++)
    if (request->list.devices[i].slice == request->list.devices[0].slice)
      devices[slice.count++] = request->list.devices[i];
  TSR_TRY(narrow_to_box(request, &slice, devices));
  return make_over(request, &slice, out_mesh);
}

tsr_status tsr_jax_make_mesh_in_box(const tsr_topology *topology, const tsr_axis *axes,
                                    int axis_count, bool use_types, tsr_mesh **out_mesh) {
  tsr_status status = tsr_jax_make_mesh(topology, axes, axis_count, use_types, out_mesh);
  const tsr_cause cause = tsr_status_cause(status);
  if (cause != TSR_CAUSE_NOT_A_CUBOID && cause != TSR_CAUSE_NO_AXIS_ASSIGNMENT) return status;
  tsr_status_free(status);
  mesh_request request;
  TSR_TRY(request_init(&request, topology, axes, axis_count, use_types));
  tsr_device *devices = malloc((size_t)request.list.count * sizeof *devices);
  if (!devices)
    return tsr_fail(NO_MEMORY, "a box among %lld devices", (long long)request.list.count);
  status = make_in_box(&request, devices, out_mesh);
  free(devices);
  return status;
}
