#include "combine/cut_values.h"

#include "base/arithmetic.h"
#include "propagate/edits.h"
#include "resolve/cut_build.h"
#include "verify/sdy_checks.h"

static int64_t bytes_of(const tsr_type *type, const tsr_tensor_sharding *cut) {
  int64_t bytes = (int64_t)tsr_type_element_bytes(tsr_type_element(type));
  for (int d = 0; d < type->rank; d++) {
    const int64_t shards = cut && d < cut->rank ? tsr_cut_count(cut, d) : 1;
    bytes = tsr_saturated_multiply(bytes, (type->dims[d] - 1) / shards + 1);
  }
  return tsr_type_element_count(type) ? bytes : 0;
}

tsr_status tsr_cut_bytes(tsr_ir *ir, tsr_value *value, int64_t *out_bytes) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  const tsr_tensor_sharding *cut = NULL;
  tsr_status status = tsr_cut_of_value(&arena, ir, value, &cut);
  if (!status) *out_bytes = tsr_type_is_static(value->type) ? bytes_of(value->type, cut) : 0;
  tsr_arena_deinit(&arena);
  return status;
}

static tsr_status is_apart(tsr_arena *arena, const tsr_tensor_sharding *cut, const tsr_attr *axes,
                           bool *out_apart) {
  tsr_sdy_parts list;
  TSR_TRY(
      tsr_sdy_parts_make(arena, cut->mesh, tsr_attr_field(axes, TSR_SDY_AXIS_LIST_AXES), &list));
  *out_apart = !tsr_parts_overlap(&cut->unreduced, &list);
  for (int d = 0; *out_apart && d < cut->rank; d++)
    *out_apart = !tsr_parts_overlap(&cut->dims[d].axes, &list);
  return NULL;
}

tsr_status tsr_cut_is_uniform(tsr_ir *ir, tsr_value *value, const tsr_attr *axes,
                              bool *out_uniform) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  const tsr_tensor_sharding *cut = NULL;
  *out_uniform = true;
  tsr_status status = tsr_cut_of_value(&arena, ir, value, &cut);
  if (!status && cut) status = is_apart(&arena, cut, axes, out_uniform);
  tsr_arena_deinit(&arena);
  return status;
}

tsr_status tsr_cut_attr(tsr_ir *ir, tsr_value *value, const tsr_attr *like,
                        const tsr_attr **out_sharding) {
  const tsr_attr *sharding = NULL;
  TSR_TRY(tsr_sharding_get(ir, value, &sharding));
  if (!sharding)
    sharding = tsr_sharding_bare(ir, tsr_attr_field(like, TSR_SDY_SHARDING_MESH),
                                 tsr_type_rank(value->type), true);
  TSR_NEED(sharding);
  *out_sharding = sharding;
  return NULL;
}

int tsr_reduction_of(const tsr_op *reduce) {
  return (int)tsr_op_int(reduce, "reduction_op", TSR_SDY_REDUCTION_SUM);
}

const tsr_attr *tsr_reduced_axes(const tsr_op *reduce) {
  return tsr_op_attr(reduce, "reduction_axes");
}

bool tsr_same_reduction(const tsr_op *a, const tsr_op *b) {
  return tsr_reduction_of(a) == tsr_reduction_of(b) &&
         tsr_attr_equal(tsr_reduced_axes(a), tsr_reduced_axes(b)) &&
         tsr_attr_equal(tsr_attr_field(tsr_op_attr(a, "out_sharding"), TSR_SDY_SHARDING_MESH),
                        tsr_attr_field(tsr_op_attr(b, "out_sharding"), TSR_SDY_SHARDING_MESH));
}

static tsr_status join_parts(tsr_arena *arena, const tsr_attr *mesh, const tsr_attr *a,
                             const tsr_attr *b, tsr_sdy_parts *out) {
  tsr_sdy_parts first, second, rest;
  TSR_TRY(tsr_sdy_parts_make(arena, mesh, a, &first));
  TSR_TRY(tsr_sdy_parts_make(arena, mesh, b, &second));
  TSR_NEED(tsr_parts_minus(arena, mesh, &second, &first, &rest) ? mesh : NULL);
  out->items = tsr_arena_zeros(arena, (size_t)(first.count + rest.count) + 1, sizeof *out->items);
  TSR_NEED(out->items);
  for (out->count = 0; out->count < first.count; out->count++)
    out->items[out->count] = first.items[out->count];
  for (int64_t i = 0; i < rest.count; i++) out->items[out->count++] = rest.items[i];
  tsr_sdy_parts_join(mesh, out);
  return NULL;
}

tsr_status tsr_joined_axes(tsr_ir *ir, const tsr_attr *mesh, const tsr_attr *a, const tsr_attr *b,
                           const tsr_attr **out_axes) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_sdy_parts parts = {NULL, 0};
  tsr_status status = join_parts(&arena, mesh, a, b, &parts);
  if (!status) *out_axes = tsr_parts_attr(ir, mesh, &parts);
  tsr_arena_deinit(&arena);
  if (!status) TSR_NEED(*out_axes);
  return status;
}

// Arguments of blocks and results of calls and loops have no op that would ask for the mark.
tsr_status tsr_partial_mark(tsr_ir *ir, tsr_value *value, const tsr_op *reduce) {
  const tsr_attr *to = tsr_op_attr(reduce, "out_sharding"), *sharding = NULL;
  const tsr_attr *mesh = tsr_sdy_mesh_of(ir, reduce, to);
  if (!mesh || !value->def || value->def->region_count > 1 || tsr_op_is(value->def, TSR_OP_CALL))
    return NULL;
  TSR_TRY(tsr_cut_attr(ir, value, to, &sharding));
  const tsr_attr *axes = NULL;
  const tsr_attr *kind = tsr_attr_enum(ir, TSR_ENUM_SDY_REDUCTION, tsr_reduction_of(reduce));
  TSR_TRY(tsr_joined_axes(ir, mesh, tsr_attr_field(sharding, TSR_SDY_SHARDING_UNREDUCED),
                          tsr_attr_field(tsr_reduced_axes(reduce), TSR_SDY_AXIS_LIST_AXES), &axes));
  TSR_NEED(kind);
  sharding = tsr_sharding_with(ir, sharding, TSR_SDY_SHARDING_UNREDUCED, axes);
  sharding = sharding ? tsr_sharding_with(ir, sharding, TSR_SDY_SHARDING_REDUCTION, kind) : NULL;
  TSR_NEED(sharding);
  return tsr_value_sharding_set(ir, value, sharding);
}
