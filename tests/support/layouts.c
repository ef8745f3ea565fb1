#include "support/layouts.h"

#include <string.h>

#include "tessera/engine/layout.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sharding.h"
#include "tessera/engine/topology.h"
#include "tessera/spec.h"

static const char *const axis_names[MAX_AXES] = {"x", "y", "z"};

static int random_axes(test_random *random, tsr_axis *axes, int64_t *out_devices) {
  static const int64_t sizes[] = {1, 2, 2, 3, 4, 4, 6};
  const int count = (int)test_random_range(random, 1, MAX_AXES);
  *out_devices = 1;
  for (int i = 0; i < count; i++) {
    int64_t size = sizes[test_random_range(random, 0, (int64_t)COUNT_OF(sizes) - 1)];
    if (*out_devices * size > MAX_DEVICES) size = 1;
    *out_devices *= size;
    axes[i] = (tsr_axis){.name = axis_names[i], .size = size};
  }
  return count;
}

// A machine whose processes have `each` devices.
static tsr_topology *machine_of(int64_t devices, int64_t each) {
  tsr_device list[MAX_DEVICES];
  for (int64_t i = 0; i < devices; i++)
    list[i] =
        (tsr_device){.id = i, .process = i / each, .slice = TSR_NO_SLICE, .core = TSR_NO_CORE};
  const tsr_topology_desc desc = {.size = sizeof desc,
                                  .platform = TSR_PLATFORM_CPU,
                                  .kind = "cpu",
                                  .device_count = (int)devices,
                                  .devices = list};
  tsr_topology *machine = NULL;
  assert_ok(tsr_topology_create(&desc, &machine));
  return machine;
}

static void shuffle(test_random *random, int64_t *items, int64_t count) {
  for (int64_t i = count - 1; i > 0; i--) {
    const int64_t j = test_random_range(random, 0, i);
    const int64_t kept = items[i];
    items[i] = items[j];
    items[j] = kept;
  }
}

// Devices are in order or, every other time, shuffled.
static tsr_mesh *mesh_of(test_random *random, const tsr_axis *axes, int axis_count,
                         int64_t devices) {
  int64_t ids[MAX_DEVICES];
  for (int64_t i = 0; i < devices; i++) ids[i] = i;
  if (test_random_range(random, 0, 1)) shuffle(random, ids, devices);
  tsr_topology *machine = machine_of(devices, test_random_range(random, 1, devices));
  const tsr_mesh_desc desc = {.size = sizeof desc,
                              .axis_count = axis_count,
                              .axes = axes,
                              .device_count = devices,
                              .devices = ids,
                              .topology = machine};
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_create(&desc, &mesh));
  tsr_topology_release(machine);
  return mesh;
}

// Puts a part of an axis at a random place of a random dimension, or nowhere.
static void place_use(test_random *random, test_layout *out, test_use use) {
  const int dim = (int)test_random_range(random, -1, out->shape.rank - 1);
  if (dim < 0 || out->use_counts[dim] == MAX_USES) return;
  const int count = out->use_counts[dim]++;
  const int at = (int)test_random_range(random, 0, count);
  memmove(&out->uses[dim][at + 1], &out->uses[dim][at], sizeof use * (size_t)(count - at));
  out->uses[dim][at] = use;
}

// Whole axes, or at times their factors one by one.
static void place_uses(test_random *random, bool plain, test_layout *out) {
  for (int axis = 0; axis < tsr_mesh_axis_count(out->mesh); axis++) {
    const int64_t size = tsr_mesh_axis_at(out->mesh, axis)->size;
    const bool split = !plain && size % 2 == 0 && test_random_range(random, 0, 2) == 0;
    if (!split) {
      place_use(random, out, (test_use){axis, 1, size});
      continue;
    }
    const int64_t major = size == 6 && test_random_range(random, 0, 1) ? 3 : 2;
    place_use(random, out, (test_use){axis, 1, major});
    if (size > major) place_use(random, out, (test_use){axis, major, size / major});
  }
}

// Groups the axes of a dimension into stages; gives the number of them, their first axes and
// shards.
static int group_stages(test_random *random, bool plain, const test_layout *out, int dim,
                        int *first, int64_t *shards) {
  int stages = 0;
  for (int i = 0; i < out->use_counts[dim]; i++) {
    if (i == 0 || (!plain && test_random_range(random, 0, 1))) {
      first[stages] = i;
      shards[stages++] = 1;
    }
    shards[stages - 1] *= out->uses[dim][i].size;
  }
  first[stages] = out->use_counts[dim];
  return stages;
}

// Writes a dimension's stages; `refs` has room for its axes.
static void write_dim(test_random *random, bool plain, test_layout *out, int dim,
                      tsr_spec_dim *spec_dim, tsr_axis_ref *refs) {
  int first[MAX_USES + 1];
  int64_t shards[MAX_USES];
  const int stages = group_stages(random, plain, out, dim, first, shards);
  test_cut *cut = &out->cuts[dim];
  test_make_cut(random, out->shape.dims[dim], shards, stages, cut);
  for (int s = 0; s < stages; s++) {
    if (plain) {
      cut->written[s] = (tsr_stage){.kind = TSR_STAGE_EVEN};
      cut->stages[s].kind = TSR_STAGE_EVEN;
    }
    cut->written[s].axis_count = first[s + 1] - first[s];
    cut->written[s].axes = refs + first[s];
  }
  for (int i = 0; i < out->use_counts[dim]; i++) {
    const test_use *use = &out->uses[dim][i];
    const bool whole = use->size == tsr_mesh_axis_at(out->mesh, use->axis)->size;
    refs[i] = (tsr_axis_ref){axis_names[use->axis], use->pre, whole ? 0 : use->size};
  }
  *spec_dim = (tsr_spec_dim){.stage_count = stages, .stages = cut->written};
}

// Cuts what `out` has a mesh and a shape for.
static void cut_tensor(test_random *random, bool plain, test_layout *out) {
  place_uses(random, plain, out);
  tsr_spec_dim dims[MAX_DIMS];
  tsr_axis_ref refs[MAX_DIMS][MAX_USES];
  for (int d = 0; d < out->shape.rank; d++) write_dim(random, plain, out, d, &dims[d], refs[d]);
  const tsr_spec_desc desc = {.size = sizeof desc, .dim_count = out->shape.rank, .dims = dims};
  tsr_spec *spec = NULL;
  assert_ok(tsr_spec_create(&desc, &spec));
  assert_ok(tsr_sharding_bind(out->mesh, spec, false, &out->sharding));
  tsr_spec_release(spec);
}

void test_layout_make(test_random *random, bool plain, test_layout *out) {
  memset(out, 0, sizeof *out);
  tsr_axis axes[MAX_AXES];
  int64_t devices = 1;
  const int count = random_axes(random, axes, &devices);
  out->mesh = mesh_of(random, axes, count, devices);
  out->shape.rank = (int)test_random_range(random, 1, MAX_DIMS);
  for (int d = 0; d < out->shape.rank; d++)
    out->shape.dims[d] = test_random_range(random, test_random_range(random, 0, 9) > 0, MAX_SIZE);
  cut_tensor(random, plain, out);
}

void test_layout_make_other(test_random *random, bool plain, const test_layout *made,
                            test_layout *out) {
  memset(out, 0, sizeof *out);
  tsr_axis axes[MAX_AXES];
  int64_t devices = 1;
  int count = 0;
  do count = random_axes(random, axes, &devices);
  while (devices != tsr_mesh_device_count(made->mesh));
  out->mesh = mesh_of(random, axes, count, devices);
  out->shape = made->shape;
  cut_tensor(random, plain, out);
}

void test_layout_free(test_layout *made) {
  tsr_sharding_release(made->sharding);
  tsr_mesh_release(made->mesh);
}

int64_t test_layout_index(const test_layout *made, int dim, int64_t position) {
  int64_t coords[TSR_MAX_AXES], index = 0;
  tsr_mesh_coords(made->mesh, position, coords);
  for (int i = 0; i < made->use_counts[dim]; i++) {
    const test_use *use = &made->uses[dim][i];
    const int64_t below = tsr_mesh_axis_at(made->mesh, use->axis)->size / (use->pre * use->size);
    index = index * use->size + coords[use->axis] / below % use->size;
  }
  return index;
}

tsr_status test_layout_read(const char *mesh, const char *spec, const char *shape,
                            tsr_policy policy, tsr_layout **out_layout) {
  tsr_mesh *made_mesh = NULL;
  tsr_spec *made_spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_shape made_shape;
  tsr_status status = tsr_mesh_parse(mesh, NULL, &made_mesh);
  if (!status) status = tsr_spec_parse(spec, TSR_FORM_ANY, &made_spec);
  if (!status) status = tsr_shape_parse(shape, &made_shape);
  if (!status) status = tsr_sharding_bind(made_mesh, made_spec, false, &sharding);
  if (!status) status = tsr_layout_create(sharding, &made_shape, policy, out_layout);
  tsr_sharding_release(sharding);
  tsr_spec_release(made_spec);
  tsr_mesh_release(made_mesh);
  return status;
}

tsr_layout *test_layout_of(const char *mesh, const char *spec, const char *shape,
                           tsr_policy policy) {
  tsr_layout *layout = NULL;
  assert_ok(test_layout_read(mesh, spec, shape, policy, &layout));
  return layout;
}
