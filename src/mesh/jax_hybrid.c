// create_hybrid_device_mesh: granules (slices, or processes) on a slow network outside, devices on
// a fast one inside.
//
// Devices are grouped by granule, each granule is arranged like a machine, and its block goes to
// the granule's place in the outer mesh: axis k has size outer k times inner k.
#include <stdlib.h>

#include "base/compare.h"
#include "base/room.h"
#include "base/sized.h"
#include "mesh/jax.h"
#include "mesh/nd.h"

typedef struct granule {
  int64_t key;
  int64_t first;  // position of its first device in the list
  int64_t start, count;
} granule;

typedef struct granule_member {
  int64_t key;
  int64_t position;
} granule_member;

// All temporaries of one call.
typedef struct workspace {
  granule_member *members;
  tsr_device *devices;  // grouped by granule, each in list order
  granule *granules;
  int64_t granule_count;
  int64_t *ids;  // of `devices`, each granule's in the order of its mesh
} workspace;

static void workspace_deinit(workspace *work) {
  free(work->members);
  free(work->devices);
  free(work->granules);
  free(work->ids);
}

static tsr_status workspace_init(workspace *work, int64_t device_count) {
  const size_t count = (size_t)device_count;
  *work = (workspace){.members = malloc(count * sizeof *work->members),
                      .devices = malloc(count * sizeof *work->devices),
                      .granules = malloc(count * sizeof *work->granules),
                      .ids = malloc(count * sizeof *work->ids)};
  if (work->members && work->devices && work->granules && work->ids) return NULL;
  workspace_deinit(work);
  return tsr_fail(NO_MEMORY, "the granules of %lld devices", (long long)device_count);
}

static int compare_members(const void *a, const void *b) {
  const granule_member *x = a, *y = b;
  const int order = tsr_compare(x->key, y->key);
  return order ? order : tsr_compare(x->position, y->position);
}

static int compare_first(const void *a, const void *b) {
  const granule *x = a, *y = b;
  return tsr_compare(x->first, y->first);
}

static tsr_status list_members(const tsr_device_list *list, bool by_process,
                               granule_member *out_members) {
  bool sorted = true;
  for (int64_t i = 0; i < list->count; i++) {
    const tsr_device *device = &list->devices[i];
    if (!by_process && device->slice == TSR_NO_SLICE)
      return tsr_fail(MISSING_GRANULE_ATTRIBUTE,
                      "device %lld belongs to no slice; make processes the granules instead",
                      (long long)device->id);
    out_members[i] =
        (granule_member){.key = by_process ? device->process : device->slice, .position = i};
    if (i > 0 && out_members[i].key < out_members[i - 1].key) sorted = false;
  }
  if (!sorted) qsort(out_members, (size_t)list->count, sizeof *out_members, compare_members);
  return NULL;
}

// Groups devices by granule; granules are sorted by key or by their first device.
static tsr_status group(const tsr_device_list *list, const tsr_jax_mesh_options *options,
                        workspace *work) {
  TSR_TRY(list_members(list, options->process_is_granule, work->members));
  for (int64_t i = 0; i < list->count; i++) {
    const granule_member *this = &work->members[i];
    work->devices[i] = list->devices[this->position];
    if (i == 0 || this->key != this[-1].key)
      work->granules[work->granule_count++] =
          (granule){.key = this->key, .first = this->position, .start = i};
    work->granules[work->granule_count - 1].count++;
  }
  if (options->keep_granule_order)
    qsort(work->granules, (size_t)work->granule_count, sizeof *work->granules, compare_first);
  return NULL;
}

static tsr_status check_outer(const int64_t *dcn, int rank, int64_t granule_count,
                              bool by_process) {
  char text[TSR_DIMS_TEXT];
  int64_t places = 0;
  if (tsr_dims_product(dcn, rank, &places) && places == granule_count)
    return tsr_dims_check(dcn, rank, "outer mesh");
  const char *many = by_process ? "processes" : "slices", *one = by_process ? "process" : "slice";
  return tsr_fail(GRANULE_COUNT_MISMATCH,
                  "outer mesh (%s) is for another number of %s; there %s %lld %s",
                  tsr_dims_text(dcn, rank, ", ", text), many, granule_count == 1 ? "is" : "are",
                  (long long)granule_count, granule_count == 1 ? one : many);
}

// Arranges every granule; all then have the same number of devices.
static tsr_status arrange_granules(const tsr_device_list *list, const int64_t *shape, int rank,
                                   const tsr_jax_mesh_options *options, workspace *work) {
  for (int64_t g = 0; g < work->granule_count; g++) {
    const granule *this = &work->granules[g];
    tsr_device_list local = *list;
    local.devices = work->devices + this->start;
    local.count = this->count;
    tsr_mesh_reason unused;
    tsr_status status = tsr_jax_check_shape(shape, rank, local.count);
    if (!status)
      status = tsr_jax_arrange(&local, shape, rank, options, work->ids + this->start, &unused);
    if (status)
      return tsr_note(status, "in %s %lld", options->process_is_granule ? "process" : "slice",
                      (long long)this->key);
  }
  return NULL;
}

// Puts the block of each granule at its row-major place in the outer mesh.
static tsr_status join_blocks(const workspace *work, const int64_t *shape, const int64_t *dcn,
                              int rank, tsr_device_array *out_array) {
  int64_t dims[TSR_MAX_AXES], index[TSR_MAX_AXES] = {0};
  for (int k = 0; k < rank; k++) dims[k] = shape[k] * dcn[k];
  tsr_device_array array = {0};
  TSR_TRY(tsr_device_array_init(&array, dims, rank));
  tsr_nd block = tsr_nd_rows(dims, rank);
  for (int k = 0; k < rank; k++) block.dims[k] = shape[k];
  for (int64_t g = 0; g < work->granule_count; g++) {
    block.offset = 0;
    for (int k = 0; k < rank; k++) block.offset += index[k] * shape[k] * block.strides[k];
    tsr_nd_scatter(&block, work->ids + work->granules[g].start, array.ids);
    for (int k = rank - 1; k >= 0 && ++index[k] == dcn[k]; k--) index[k] = 0;
  }
  *out_array = array;
  return NULL;
}

static tsr_status build(const tsr_device_list *list, const int64_t *shape, const int64_t *dcn,
                        int rank, const tsr_jax_mesh_options *options, workspace *work,
                        tsr_device_array *out_array) {
  TSR_TRY(group(list, options, work));
  TSR_TRY(check_outer(dcn, rank, work->granule_count, options->process_is_granule));
  TSR_TRY(arrange_granules(list, shape, rank, options, work));
  return join_blocks(work, shape, dcn, rank, out_array);
}

tsr_status tsr_jax_create_hybrid_device_mesh(const tsr_topology *topology,
                                             const int64_t *mesh_shape,
                                             const int64_t *dcn_mesh_shape, int rank,
                                             const tsr_jax_mesh_options *options,
                                             tsr_device_array *out_array) {
  TSR_TRY(tsr_rank_check(rank));
  TSR_TRY(tsr_list_check(mesh_shape, rank, "sizes of the mesh"));
  TSR_TRY(tsr_list_check(dcn_mesh_shape, rank, "sizes of the mesh between granules"));
  const tsr_device_list list = tsr_device_list_of(topology);
  tsr_jax_mesh_options known;
  TSR_TRY(tsr_sized_read(tsr_jax_mesh_options, options, &known));
  workspace work;
  TSR_TRY(workspace_init(&work, list.count));
  tsr_status status = build(&list, mesh_shape, dcn_mesh_shape, rank, &known, &work, out_array);
  workspace_deinit(&work);
  return status;
}
