// From tilings, which number devices, to specs, which name mesh axes.
//
// Both are digits of a device's position. An entry of a spec is a list of sub-axes, each one digit;
// a counted tile assignment is a list of digits too. So a tiling has a spec if its digits can be
// cut at the borders of its dimensions and of the axes. A list of devices is first turned into
// digits by following its steps, and then compared as a whole.
//
// The proof is a round trip: the spec is bound, turned into tiles again, and compared. Equal digits
// mean equal assignments for any number of devices.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "mesh/mesh.h"
#include "mesh/mesh_internal.h"
#include "tiling/tiling_internal.h"
#include "spec/spec_builder.h"
#include "tessera/compat/hlo.h"
#include "tessera/engine/sharding.h"
#include "tiling/tiling.h"

// ---- a list of devices as digits ----

// "[1, 0]": the tile with this row-major number, without subgroups.
static void print_tile(const tsr_tiles *tiles, int64_t number, tsr_text *out) {
  int64_t index[TSR_MAX_TILE_DIMS];
  for (int d = tiles->dim_count; d-- > 0; number /= tiles->dims[d])
    index[d] = number % tiles->dims[d];
  tsr_text_add_char(out, '[');
  for (int d = 0; d < tiles->dim_count - tiles->subgroup_count; d++)
    tsr_text_addf(out, d ? ", %lld" : "%lld", (long long)index[d]);
  tsr_text_add_char(out, ']');
}

// The device at tile `number` breaks the even steps of the list.
static tsr_status fail_at_tile(const tsr_tiles *tiles, int64_t number, int64_t wanted) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add(&text, "tile ");
  print_tile(tiles, number, &text);
  tsr_text_addf(&text, " is on device %d, but even steps through the mesh give %lld",
                tiles->devices[number], (long long)wanted);
  return tsr_fail_text(TSR_CAUSE_NOT_EXPRESSIBLE, &text);
}

// The list must hold the positions of the mesh, starting with 0.
static tsr_status digits_of(const tsr_tiles *tiles, tsr_digits *out) {
  if (!tiles->devices) {
    *out = tiles->digits;
    return NULL;
  }
  for (int64_t n = 0; n < tiles->device_count; n++)
    if (tiles->devices[n] >= tiles->device_count)
      return tsr_fail(NOT_EXPRESSIBLE, "device %d, but the mesh has %lld devices",
                      tiles->devices[n], (long long)tiles->device_count);
  if (tiles->devices[0])
    return tsr_fail(NOT_EXPRESSIBLE, "device %d has the first tile, expected device 0",
                    tiles->devices[0]);
  int64_t number = 0, wanted = 0;
  if (tsr_digits_follow(tiles, out, &number, &wanted)) return NULL;
  return fail_at_tile(tiles, number, wanted);
}

// ---- to a spec ----

static tsr_status fail_with_mesh(const tsr_mesh *mesh, const char *what, int64_t a, int64_t b) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_addf(&text, "%s: %lld devices in steps of %lld are not a sub-axis of mesh ", what,
                (long long)a, (long long)b);
  tsr_mesh_describe(mesh, &text);
  return tsr_fail_text(TSR_CAUSE_NOT_EXPRESSIBLE, &text);
}

static void add_sub_axis(tsr_sub_axis_list *sub_axes, tsr_sub_axis sub_axis) {
  tsr_sub_axis *last = sub_axes->count ? &sub_axes->at[sub_axes->count - 1] : NULL;
  if (last && tsr_sub_axis_continues(last, &sub_axis))
    *last = tsr_sub_axis_join(last, &sub_axis);
  else
    sub_axes->at[sub_axes->count++] = sub_axis;
}

// A digit as sub-axes: the range from stride to stride * size, cut at the borders of axes.
static tsr_status find_sub_axes(const tsr_mesh *mesh, const char *what, tsr_digit digit,
                                tsr_sub_axis_list *sub_axes) {
  int64_t high_of_axis = tsr_mesh_device_count(mesh);
  for (int axis = 0; axis < tsr_mesh_axis_count(mesh); axis++) {
    const int64_t size = tsr_mesh_axis_at(mesh, axis)->size, low_of_axis = high_of_axis / size;
    const int64_t end = digit.stride * digit.size;
    const int64_t low = digit.stride > low_of_axis ? digit.stride : low_of_axis;
    const int64_t high = end < high_of_axis ? end : high_of_axis;
    if (high > low) {
      if (low % low_of_axis || high % low || high_of_axis % high)
        return fail_with_mesh(mesh, what, digit.size, digit.stride);
      add_sub_axis(sub_axes, (tsr_sub_axis){axis, high_of_axis / high, high / low});
    }
    high_of_axis = low_of_axis;
  }
  return NULL;
}

typedef struct translation {
  const tsr_mesh *mesh;
  tsr_tiles tiles;  // borrowed list
  tsr_sub_axis_list dims[TSR_MAX_TILE_DIMS];
} translation;

// The sub-axes of each dimension. The order within a subgroup has no meaning; mesh order is used.
static tsr_status find_dims(translation *t) {
  tsr_digits digits, split;
  int first[TSR_MAX_TILE_DIMS + 1];
  TSR_TRY(digits_of(&t->tiles, &digits));
  if (!tsr_digits_split(&digits, t->tiles.dims, t->tiles.dim_count, &split, first))
    return tsr_fail(NOT_EXPRESSIBLE,
                    "a tile dimension ends inside a run of devices that it does not divide");
  const int data_dims = t->tiles.dim_count - t->tiles.subgroup_count;
  t->tiles.digits = (tsr_digits){0};
  t->tiles.devices = NULL;
  for (int d = 0; d < t->tiles.dim_count; d++) {
    char what[40];
    snprintf(what, sizeof what, "tile dimension %d", d);
    if (d >= data_dims)
      qsort(split.at + first[d], (size_t)(first[d + 1] - first[d]), sizeof *split.at,
            tsr_digits_compare);
    for (int i = first[d]; i < first[d + 1]; i++) {
      TSR_TRY(find_sub_axes(t->mesh, what, split.at[i], &t->dims[d]));
      tsr_digits_add(&t->tiles.digits, split.at[i].size, split.at[i].stride);
    }
  }
  return NULL;
}

// Manual axes and manual subgroups must be the same.
static tsr_status check_subgroups(const translation *t) {
  const int data_dims = t->tiles.dim_count - t->tiles.subgroup_count;
  for (int i = 0; i < t->tiles.subgroup_count; i++) {
    const tsr_subgroup kind = t->tiles.subgroups[i];
    const tsr_sub_axis_list *sub_axes = &t->dims[data_dims + i];
    for (int j = 0; j < sub_axes->count && kind != TSR_SUBGROUP_UNREDUCED; j++) {
      const tsr_axis *axis = tsr_mesh_axis_at(t->mesh, sub_axes->at[j].axis);
      if ((kind == TSR_SUBGROUP_MANUAL) == (axis->type == TSR_AXIS_MANUAL)) continue;
      return tsr_fail(NOT_EXPRESSIBLE, "the tiling %s over axis \"%s\", which is %s in the mesh",
                      kind == TSR_SUBGROUP_MANUAL ? "is manual" : "replicates", axis->name,
                      tsr_axis_type_name(axis->type));
    }
  }
  return NULL;
}

static tsr_status build_spec(const translation *t, tsr_reduction reduction,
                             tsr_spec_builder *builder) {
  const int data_dims = t->tiles.dim_count - t->tiles.subgroup_count;
  for (int d = 0; d < data_dims; d++) {
    TSR_TRY(tsr_spec_builder_dim(builder));
    if (t->dims[d].count) TSR_TRY(tsr_spec_builder_stage(builder));
    for (int i = 0; i < t->dims[d].count; i++) {
      const tsr_axis_ref ref = tsr_sub_axis_ref(t->mesh, &t->dims[d].at[i]);
      TSR_TRY(tsr_spec_builder_axis(builder, &ref));
    }
  }
  for (int s = 0; s < t->tiles.subgroup_count; s++) {
    if (t->tiles.subgroups[s] != TSR_SUBGROUP_UNREDUCED) continue;
    for (int i = 0; i < t->dims[data_dims + s].count; i++) {
      const tsr_axis_ref ref = tsr_sub_axis_ref(t->mesh, &t->dims[data_dims + s].at[i]);
      TSR_TRY(tsr_spec_builder_member(builder, TSR_SET_UNREDUCED, &ref));
    }
    builder->reduction = reduction;
  }
  return NULL;
}

// The round trip: the spec must give every position the same tile.
static tsr_status prove(const translation *t, const tsr_spec *spec) {
  tsr_sharding *sharding = NULL;
  tsr_tiles back = {0};
  TSR_TRY(tsr_sharding_bind(t->mesh, spec, false, &sharding));
  tsr_status status =
      tsr_tiles_from_sharding(sharding, t->tiles.dim_count - t->tiles.subgroup_count, &back);
  tsr_sharding_release(sharding);
  TSR_TRY(status);
  if (tsr_tiles_equal(&back, &t->tiles)) return NULL;
  return tsr_fail(NOT_EXPRESSIBLE, "no spec gives these tiles");
}

static tsr_status translate(translation *t, tsr_reduction reduction, tsr_spec **out_spec) {
  tsr_spec_builder builder = TSR_SPEC_BUILDER_EMPTY;
  tsr_spec *spec = NULL;
  tsr_status status = find_dims(t);
  if (!status) status = check_subgroups(t);
  if (!status) status = build_spec(t, reduction, &builder);
  if (!status) status = tsr_spec_builder_finish(&builder, &spec);
  tsr_spec_builder_deinit(&builder);
  if (!status) status = prove(t, spec);
  if (status) {
    tsr_spec_release(spec);
    return status;
  }
  *out_spec = spec;
  return NULL;
}

// A tiling without tiles is one subgroup over the whole mesh; on one device it is empty.
static void set_whole(tsr_tiles *tiles, int64_t devices, tsr_subgroup kind) {
  const int count = devices > 1;
  *tiles = (tsr_tiles){.dim_count = count, .subgroup_count = count, .device_count = devices};
  tiles->dims[0] = devices;
  tiles->subgroups[0] = kind;
  tsr_digits_add(&tiles->digits, devices, 1);
}

static tsr_reduction get_reduction(const tsr_tiling *tiling) {
  for (int i = 0; i < tiling->metadata_count; i++)
    for (int r = 0; r < TSR_SPEC_REDUCTION_COUNT; r++)
      if (!strcmp(tiling->metadata[i], tsr_reduction_entries[r])) return (tsr_reduction)r;
  return TSR_REDUCE_SUM;
}

tsr_status tsr_tiling_to_spec(const tsr_tiling *tiling, const tsr_mesh *mesh, tsr_spec **out_spec) {
  translation t = {.mesh = mesh, .tiles = tiling->tiles};
  const int64_t devices = tsr_mesh_device_count(mesh);
  switch (tiling->kind) {
    case TSR_TILING_REPLICATED:
      set_whole(&t.tiles, devices, TSR_SUBGROUP_REPLICATED);
      break;
    case TSR_TILING_MANUAL:
      set_whole(&t.tiles, devices, TSR_SUBGROUP_MANUAL);
      break;
    case TSR_TILING_UNREDUCED:
      set_whole(&t.tiles, devices, TSR_SUBGROUP_UNREDUCED);
      break;
    case TSR_TILING_TILED:
      if (t.tiles.device_count == devices) break;
      return tsr_fail(NOT_EXPRESSIBLE, "the tiling has %lld devices, the mesh %lld",
                      (long long)t.tiles.device_count, (long long)devices);
    case TSR_TILING_MAXIMAL:
      set_whole(&t.tiles, devices, TSR_SUBGROUP_REPLICATED);
      if (devices == 1 && tiling->device == 0) break;
      return tsr_fail(NOT_EXPRESSIBLE,
                      "everything is on device %lld, but the mesh has %lld devices",
                      (long long)tiling->device, (long long)devices);
    case TSR_TILING_UNKNOWN:
      return tsr_fail(NOT_EXPRESSIBLE, "the tiling is unknown");
    case TSR_TILING_TUPLE:
      return tsr_fail(NOT_EXPRESSIBLE, "a tuple of %d tilings, expected one tiling",
                      tiling->element_count);
  }
  return translate(&t, get_reduction(tiling), out_spec);
}
