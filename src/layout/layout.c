// Layouts are made here, and answer what concerns all shards: shape, positions, replicas. A grid
// refers to its sharding and computes everything; other kinds have a table.
#include "layout/layout.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "layout/fit_policy.h"
#include "layout/grid.h"
#include "layout/layout_internal.h"
#include "mesh/mesh_internal.h"
#include "spec/sharding_internal.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sharding.h"
#include "tessera/spec.h"

static_assert(sizeof(tsr_layout) <= 48, "a plan keeps 100,000 layouts");

tsr_layout *tsr_layout_alloc(const tsr_shape *shape, tsr_layout_kind kind) {
  const size_t sizes = sizeof(int64_t) * (size_t)shape->rank;
  tsr_layout *layout = malloc(sizeof *layout + sizes);
  if (!layout) return NULL;
  *layout = (tsr_layout){.kind = (uint8_t)kind, .rank = (uint8_t)shape->rank};
  atomic_init(&layout->refs, 1);
  memcpy(layout->dims, shape->dims, sizes);
  return layout;
}

static tsr_status check_rank(const tsr_sharding *sharding, const tsr_shape *shape) {
  const int wanted = tsr_sharding_dim_count(sharding);
  if (wanted <= shape->rank) return NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_shape_print(shape, &text);
  tsr_status status =
      tsr_fail(RANK_TOO_SMALL, "the spec has %d entries, but the tensor %s has rank %d", wanted,
               tsr_text_string(&text), shape->rank);
  tsr_text_deinit(&text);
  return status;
}

static tsr_status create_grid(const tsr_sharding *requested, const tsr_shape *shape,
                              tsr_policy policy, const tsr_sharding *sharding,
                              tsr_layout **out_layout) {
  tsr_layout *layout = tsr_layout_alloc(shape, TSR_LAYOUT_GRID);
  if (!layout) return tsr_fail(NO_MEMORY, "a layout of rank %d", shape->rank);
  layout->policy = (uint8_t)policy;
  layout->sharding = tsr_sharding_retain(sharding);
  layout->requested = tsr_sharding_retain(requested);
  layout->mesh = tsr_sharding_mesh(sharding);
  *out_layout = layout;
  return NULL;
}

tsr_status tsr_layout_create(const tsr_sharding *sharding, const tsr_shape *shape,
                             tsr_policy policy, tsr_layout **out_layout) {
  TSR_TRY(tsr_policy_check(policy));
  TSR_TRY(tsr_shape_check(shape));
  TSR_TRY(check_rank(sharding, shape));
  if (policy == TSR_POLICY_TRIM) {
    tsr_sharding *trimmed = NULL;
    TSR_TRY(tsr_fit_trim(sharding, shape, &trimmed));
    tsr_status status = create_grid(sharding, shape, policy, trimmed, out_layout);
    tsr_sharding_release(trimmed);
    return status;
  }
  TSR_TRY(tsr_fit_check(sharding, shape, policy == TSR_POLICY_ERROR));
  return create_grid(sharding, shape, policy, sharding, out_layout);
}

tsr_status tsr_layout_from_spec_text(const tsr_mesh *mesh, const char *text, const tsr_shape *shape,
                                     tsr_policy policy, tsr_layout **out_layout) {
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_status status = tsr_spec_parse(text, TSR_FORM_ANY, &spec);
  if (!status) status = tsr_sharding_bind(mesh, spec, false, &sharding);
  if (!status) status = tsr_layout_create(sharding, shape, policy, out_layout);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  return tsr_note(status, "spec \"%s\"", text);
}

tsr_status tsr_layout_from_text(const tsr_mesh *mesh, const char *spec, const tsr_shape *shape,
                                tsr_layout **out_layout) {
  return tsr_layout_from_spec_text(mesh, spec, shape, TSR_POLICY_ERROR, out_layout);
}

tsr_layout *tsr_layout_retain(const tsr_layout *layout) {
  tsr_layout *mine = (tsr_layout *)layout;
  atomic_fetch_add_explicit(&mine->refs, 1, memory_order_relaxed);
  return mine;
}

void tsr_layout_release(const tsr_layout *layout) {
  tsr_layout *mine = (tsr_layout *)layout;
  if (!mine || atomic_fetch_sub_explicit(&mine->refs, 1, memory_order_acq_rel) != 1) return;
  if (mine->kind != TSR_LAYOUT_GRID) tsr_mesh_release(mine->mesh);
  tsr_sharding_release(mine->sharding);
  tsr_sharding_release(mine->requested);
  free((void *)mine->table);
  free(mine);
}

// ---- the tensor as a whole ----

tsr_layout_kind tsr_layout_kind_of(const tsr_layout *layout) {
  return (tsr_layout_kind)layout->kind;
}

int tsr_layout_rank(const tsr_layout *layout) { return layout->rank; }

tsr_shape tsr_layout_shape(const tsr_layout *layout) {
  tsr_shape shape = {.rank = layout->rank};
  memcpy(shape.dims, layout->dims, sizeof *layout->dims * layout->rank);
  return shape;
}

const tsr_mesh *tsr_layout_mesh(const tsr_layout *layout) { return layout->mesh; }
const tsr_sharding *tsr_layout_sharding(const tsr_layout *layout) { return layout->sharding; }
const tsr_sharding *tsr_layout_requested(const tsr_layout *layout) { return layout->requested; }
tsr_policy tsr_layout_policy(const tsr_layout *layout) { return (tsr_policy)layout->policy; }

int64_t tsr_layout_device_count(const tsr_layout *layout) {
  return layout->mesh ? tsr_mesh_device_count(layout->mesh) : layout->table->shard_count;
}

int64_t tsr_layout_shard_count(const tsr_layout *layout) {
  if (layout->table) return layout->table->shard_count;
  int64_t count = 1;
  for (int d = 0; d < tsr_sharding_dim_count(layout->sharding); d++)
    count *= tsr_sharding_dim_at(layout->sharding, d)->shards;
  return count;
}

static void print_cut(const tsr_mesh *mesh, const tsr_sharding_dim *dim, tsr_text *out) {
  for (int s = 0; s < dim->stage_count; s++) {
    if (s > 0) tsr_text_add(out, "; ");
    tsr_fit_print_axes(mesh, &dim->stages[s], out);
  }
}

void tsr_layout_explain(const tsr_layout *layout, tsr_text *out) {
  if (layout->sharding == layout->requested) return;
  for (int d = 0; d < tsr_sharding_dim_count(layout->requested); d++) {
    const tsr_sharding_dim *wanted = tsr_sharding_dim_at(layout->requested, d);
    const tsr_sharding_dim *given = tsr_sharding_dim_at(layout->sharding, d);
    if (wanted->shards == given->shards) continue;
    tsr_text_addf(out, "dimension %d: size %lld is not divisible by ", d,
                  (long long)layout->dims[d]);
    print_cut(layout->mesh, wanted, out);
    tsr_text_add(out, given->stage_count ? ", so it is cut by " : ", so it is not cut");
    print_cut(layout->mesh, given, out);
    tsr_text_add(out, given->stage_count ? " only\n" : "\n");
  }
}

tsr_cut tsr_layout_cut(const tsr_layout *layout, int dim) {
  return tsr_cut_of(layout->sharding, dim, layout->dims[dim]);
}

// ---- positions and shards ----

static bool has_position(const tsr_layout *layout, int64_t position) {
  return position >= 0 && position < tsr_layout_device_count(layout);
}

int64_t tsr_layout_shard(const tsr_layout *layout, int64_t position) {
  if (!has_position(layout, position)) return -1;
  if (layout->table) return position % layout->table->shard_count;
  int64_t shard = 0;
  for (int d = 0; d < tsr_sharding_dim_count(layout->sharding); d++)
    shard = shard * tsr_sharding_dim_at(layout->sharding, d)->shards +
            tsr_grid_index(layout, d, position);
  return shard;
}

static bool has_devices(const tsr_layout *layout) {
  return layout->mesh && !tsr_mesh_is_abstract(layout->mesh);
}

int64_t tsr_layout_device_at(const tsr_layout *layout, int64_t position) {
  if (!has_position(layout, position)) return -1;
  return has_devices(layout) ? tsr_mesh_device_at(layout->mesh, position) : position;
}

int64_t tsr_layout_device_find(const tsr_layout *layout, int64_t device) {
  if (has_devices(layout)) return device >= 0 ? tsr_mesh_device_find(layout->mesh, device) : -1;
  return device >= 0 && device < tsr_layout_device_count(layout) ? device : -1;
}

// `dim` is a valid dimension; the result is 1 or more.
static int64_t dim_shards(const tsr_layout *layout, int dim) {
  if (layout->table) return dim == 0 ? layout->table->shard_count : 1;
  return tsr_sharding_dim_at(layout->sharding, dim)->shards;
}

bool tsr_layout_shard_coords(const tsr_layout *layout, int64_t shard, int64_t *out_coords) {
  int64_t coords[TSR_MAX_RANK], rest = shard;
  for (int d = layout->rank - 1; d >= 0; d--) {
    const int64_t shards = dim_shards(layout, d);
    coords[d] = rest % shards;
    rest /= shards;
  }
  // A rest after the last digit means a number beyond the last shard.
  if (shard < 0 || rest) return false;
  for (int d = 0; d < layout->rank; d++) out_coords[d] = coords[d];
  return true;
}

int64_t tsr_layout_dim_shards(const tsr_layout *layout, int dim) {
  return dim >= 0 && dim < layout->rank ? dim_shards(layout, dim) : 0;
}

int64_t tsr_layout_replica_count(const tsr_layout *layout) {
  return tsr_layout_device_count(layout) / tsr_layout_shard_count(layout);
}

int64_t tsr_layout_replica_at(const tsr_layout *layout, int64_t shard, int64_t index) {
  if (index < 0 || index >= tsr_layout_replica_count(layout)) return -1;
  if (shard < 0 || shard >= tsr_layout_shard_count(layout)) return -1;
  if (layout->table) return shard + index * layout->table->shard_count;
  int64_t coords[TSR_MAX_RANK];
  tsr_layout_shard_coords(layout, shard, coords);
  tsr_place places[TSR_MAX_PLACES];
  const int count = tsr_grid_places(layout, places);
  int64_t position = 0;
  for (int i = 0; i < count; i++) {
    const int64_t number = places[i].dim < 0 ? index : coords[places[i].dim];
    position += number / places[i].weight % places[i].size * places[i].stride;
  }
  return position;
}

int64_t tsr_layout_replica_id(const tsr_layout *layout, int64_t position) {
  if (!has_position(layout, position)) return -1;
  if (layout->table) return position / layout->table->shard_count;
  tsr_place places[TSR_MAX_PLACES];
  const int count = tsr_grid_places(layout, places);
  int64_t id = 0;
  for (int i = 0; i < count; i++)
    if (places[i].dim < 0) id += position / places[i].stride % places[i].size * places[i].weight;
  return id;
}

tsr_status tsr_layout_check_shard(const tsr_layout *layout, int64_t shard) {
  const int64_t count = tsr_layout_shard_count(layout);
  if (shard >= 0 && shard < count) return NULL;
  return tsr_fail(INDEX_OUT_OF_RANGE, "shard %lld is none of the layout's %lld", (long long)shard,
                  (long long)count);
}

tsr_status tsr_layout_check_listed(int64_t count, const char *what) {
  if (count <= INT32_MAX) return NULL;
  return tsr_fail(TOO_LARGE, "%lld %s are too many to list, wanted at most %d", (long long)count,
                  what, INT32_MAX);
}

tsr_status tsr_layout_check_dim(const tsr_layout *layout, int dim) {
  if (dim >= 0 && dim < layout->rank) return NULL;
  return tsr_fail(INDEX_OUT_OF_RANGE, "dimension %d of a tensor of rank %d", dim, layout->rank);
}

int64_t tsr_layout_process(const tsr_layout *layout, int64_t position) {
  return layout->mesh ? tsr_mesh_process(layout->mesh, position) : 0;
}
