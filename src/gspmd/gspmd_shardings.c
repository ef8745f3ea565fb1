// One sharding of XLA's older form on the mesh of its program.
#include <string.h>

#include "gspmd/gspmd_mesh.h"

bool tsr_gspmd_calls(const tsr_op *op, const char *target) {
  return op && op->info->id == TSR_OP_CUSTOM_CALL &&
         tsr_attr_is_string(tsr_op_attr(op, "call_target_name"), target);
}

tsr_status tsr_gspmd_open_dims(const tsr_op *op, uint64_t *out_open) {
  static const char begin[] = "unspecified_dims=[";
  const tsr_attr *config = tsr_op_attr(op, "backend_config");
  *out_open = 0;
  if (!config || config->kind != TSR_ATTR_STRING || !config->length) return NULL;
  const char *at = config->bytes;
  bool fine = !strncmp(at, begin, sizeof begin - 1);
  at += fine ? sizeof begin - 1 : 0;
  while (fine && *at >= '0' && *at <= '9') {
    int dim = 0;
    for (; *at >= '0' && *at <= '9' && dim < 64; at++) dim = 10 * dim + (*at - '0');
    fine = dim < 64;
    if (fine) *out_open |= UINT64_C(1) << dim;
    at += *at == ',';
  }
  if (fine && !strcmp(at, "]")) return NULL;
  return tsr_fail(UNSUPPORTED, "the backend_config \"%s\" of @Sharding at line %u", config->bytes,
                  op->line);
}

// ---- tiles ----

// The axes of digits [begin, end), major first.
static tsr_status axes_of(tsr_gspmd *gspmd, const tsr_digits *digits, int begin, int end,
                          tsr_sdy_parts *out) {
  out->items = tsr_arena_alloc(&gspmd->arena, sizeof *out->items * TSR_MAX_DIGITS);
  out->count = 0;
  TSR_NEED(out->items);
  for (int i = begin; i < end; i++) {
    const int64_t low = digits->at[i].stride, high = low * digits->at[i].size;
    for (int axis = 0; axis < gspmd->axis_count; axis++)
      if (gspmd->strides[axis] >= low && gspmd->strides[axis] < high)
        out->items[out->count++] = tsr_part_of(gspmd->mesh, axis, 1, gspmd->sizes[axis]);
  }
  return NULL;
}

static tsr_status add_subgroup(tsr_gspmd *gspmd, tsr_subgroup kind, const tsr_sdy_parts *axes,
                               tsr_tensor_sharding *sharding, uint32_t *manual) {
  if (kind == TSR_SUBGROUP_UNREDUCED) {
    sharding->unreduced = *axes;
    tsr_sdy_parts_join(gspmd->mesh, &sharding->unreduced);
  }
  for (int64_t i = 0; kind == TSR_SUBGROUP_MANUAL && i < axes->count; i++)
    *manual |= UINT32_C(1) << axes->items[i].axis;
  return NULL;
}

static tsr_status add_tiles(tsr_gspmd *gspmd, const tsr_tiles *tiles, tsr_dim_sharding *dims,
                            tsr_tensor_sharding *sharding, uint32_t *manual) {
  tsr_digits digits;
  int first[TSR_MAX_TILE_DIMS + 1];
  bool fits = true;
  const int rank = tiles->dim_count - tiles->subgroup_count;
  if (rank != sharding->rank)
    return tsr_fail(CONSTRAINT, "a sharding of rank %d on a value of rank %d", rank,
                    sharding->rank);
  TSR_TRY(tsr_gspmd_digits(gspmd, tiles, &digits, first, &fits));
  for (int d = 0; d < tiles->dim_count; d++) {
    tsr_sdy_parts axes;
    TSR_TRY(axes_of(gspmd, &digits, first[d], first[d + 1], &axes));
    if (d < rank)
      dims[d].axes = axes;
    else
      TSR_TRY(add_subgroup(gspmd, tiles->subgroups[d - rank], &axes, sharding, manual));
  }
  return NULL;
}

// ---- other kinds ----

static const tsr_attr *one_device(tsr_ir *ir, int64_t device) {
  const tsr_attr *const fields[] = {tsr_attr_array(ir, NULL, 0), tsr_attr_ints(ir, &device, 1)};
  return fields[0] && fields[1] ? tsr_attr_record(ir, TSR_RECORD_SDY_MESH, fields) : NULL;
}

static tsr_status make_maximal(tsr_gspmd *gspmd, int64_t device, tsr_gspmd_sharding *out) {
  const tsr_attr *mesh = one_device(gspmd->ir, device);
  TSR_NEED(mesh);
  const tsr_tensor_sharding sharding = {.mesh_ref = mesh, .mesh = mesh};
  *out = (tsr_gspmd_sharding){.attr = tsr_sharding_attr(gspmd->ir, &sharding)};
  TSR_NEED(out->attr);
  return NULL;
}

static tsr_status all_axes(tsr_gspmd *gspmd, tsr_sdy_parts *out) {
  out->items = tsr_arena_alloc(&gspmd->arena, sizeof *out->items * TSR_MAX_DIGITS);
  TSR_NEED(out->items);
  for (out->count = 0; out->count < gspmd->axis_count; out->count++)
    out->items[out->count] = tsr_part_of(gspmd->mesh, (int)out->count, 1, gspmd->sizes[out->count]);
  return NULL;
}

static tsr_status fill(tsr_gspmd *gspmd, const tsr_tiling *tiling, tsr_tensor_sharding *sharding,
                       uint64_t open, uint32_t *manual) {
  tsr_dim_sharding *dims = tsr_arena_zeros(&gspmd->arena, (size_t)sharding->rank, sizeof *dims);
  TSR_NEED(dims);
  for (int d = 0; d < sharding->rank; d++) {
    const bool opened = d < 64 && (open >> d & 1);
    dims[d] =
        (tsr_dim_sharding){.closed = tiling->kind != TSR_TILING_UNKNOWN && !opened, .priority = -1};
  }
  sharding->dims = dims;
  if (tiling->group != TSR_GROUP_NONE)
    return tsr_fail(UNSUPPORTED, "a sharding with a shard group");
  if (tiling->kind == TSR_TILING_MANUAL && gspmd->axis_count)
    *manual = (uint32_t)((UINT64_C(1) << gspmd->axis_count) - 1);
  if (tiling->kind == TSR_TILING_UNREDUCED) return all_axes(gspmd, &sharding->unreduced);
  if (tiling->kind != TSR_TILING_TILED) return NULL;
  return add_tiles(gspmd, &tiling->tiles, dims, sharding, manual);
}

tsr_status tsr_gspmd_sharding_of(tsr_gspmd *gspmd, const tsr_attr *text, int index, int rank,
                                 uint64_t open, tsr_gspmd_sharding *out_sharding) {
  const tsr_tiling *tiling = tsr_gspmd_tiling(gspmd, text);
  if (tiling && tiling->kind == TSR_TILING_TUPLE) {
    if (index >= tiling->element_count)
      return tsr_fail(CONSTRAINT, "the sharding %s has %d elements, and value %d needs one",
                      text->bytes, tiling->element_count, index);
    tiling = tiling->elements[index];
  }
  if (!tiling) return tsr_fail(CONSTRAINT, "a sharding that is not there");
  if (tiling->kind == TSR_TILING_MAXIMAL) return make_maximal(gspmd, tiling->device, out_sharding);
  tsr_tensor_sharding sharding = {.mesh_ref = gspmd->mesh, .mesh = gspmd->mesh, .rank = rank};
  tsr_gspmd_sharding made = {0};
  tsr_status status = fill(gspmd, tiling, &sharding, open, &made.manual);
  if (!status) {
    made.attr = tsr_sharding_attr(gspmd->ir, &sharding);
    if (!made.attr) status = tsr_fail(NO_MEMORY, "a sharding");
  }
  tsr_arena_reset(&gspmd->arena);
  if (!status) *out_sharding = made;
  return status;
}
