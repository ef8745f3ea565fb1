// Data movement: broadcast, reshape, transpose, slices, padding.
#include "base/text_internal.h"
#include "builder/builder_internal.h"
#include "element/shape_internal.h"

// ---- broadcast ----

// Dimension i of x becomes the one at its place from the end.
static tsr_status fail_broadcast(const tsr_shape *from, const tsr_shape *to) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add(&text, "shape ");
  tsr_shape_print(from, &text);
  tsr_text_add(&text, " does not broadcast to ");
  tsr_shape_print(to, &text);
  return tsr_fail_text(TSR_CAUSE_CONSTRAINT, &text);
}

static tsr_status align(const tsr_shape *from, const tsr_shape *to, tsr_shape *out_dims) {
  if (from->rank > to->rank) return fail_broadcast(from, to);
  *out_dims = (tsr_shape){.rank = from->rank};
  for (int i = 0; i < from->rank; i++) {
    const int at = i + to->rank - from->rank;
    if (from->dims[i] != 1 && from->dims[i] != to->dims[at]) return fail_broadcast(from, to);
    out_dims->dims[i] = at;
  }
  return NULL;
}

tsr_node tsr_build_broadcast(tsr_builder *builder, tsr_node x, const tsr_shape *shape,
                             const tsr_shape *dims) {
  if (!tsr_builder_enter(builder, "broadcast")) return TSR_NO_NODE;
  tsr_node result = x;
  tsr_shape from_zero;
  const tsr_type *type = tsr_builder_tensor(builder, x, 0);
  const tsr_shape from = type ? tsr_shape_of_type(type) : (tsr_shape){0};
  const bool same = !dims && tsr_shape_equal(&from, shape);
  if (type && !same && tsr_builder_keep(builder, tsr_shape_check(shape)) &&
      (dims ? tsr_builder_dims(builder, dims, shape->rank, &from_zero)
            : tsr_builder_keep(builder, align(&from, shape, &from_zero)))) {
    tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_BROADCAST_IN_DIM, &x, 1);
    tsr_builder_ints(&draft, "broadcast_dimensions", &from_zero);
    result = tsr_builder_emit_shaped(&draft, type->dtype, shape);
  }
  return tsr_builder_leave(builder, result);
}

// ---- reshape, transpose ----

static tsr_status fail_reshape(const tsr_shape *from, const tsr_shape *to) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add(&text, "shape ");
  tsr_shape_print(from, &text);
  tsr_text_add(&text, " has not the number of elements of ");
  tsr_shape_print(to, &text);
  return tsr_fail_text(TSR_CAUSE_CONSTRAINT, &text);
}

// Replaces a -1 by the size that is left.
static tsr_status complete(const tsr_shape *from, const tsr_shape *to, tsr_shape *out_shape) {
  int open = -1;
  *out_shape = *to;
  for (int i = 0; i < to->rank && i < TSR_MAX_RANK; i++) {
    if (to->dims[i] != -1) continue;
    if (open >= 0) return tsr_fail(BAD_ARGUMENT, "two sizes are -1, expected at most one");
    open = i;
    out_shape->dims[i] = 1;
  }
  int64_t wanted = 0, given = 0;
  TSR_TRY(tsr_shape_count(out_shape, &given));
  TSR_TRY(tsr_shape_count(from, &wanted));
  if (open >= 0 && given > 0 && wanted % given == 0) {
    out_shape->dims[open] = wanted / given;
    given = wanted;
  }
  return given == wanted ? NULL : fail_reshape(from, to);
}

tsr_node tsr_build_reshape(tsr_builder *builder, tsr_node x, const tsr_shape *shape) {
  if (!tsr_builder_enter(builder, "reshape")) return TSR_NO_NODE;
  tsr_node result = x;
  const tsr_type *type = tsr_builder_tensor(builder, x, 0);
  const tsr_shape from = type ? tsr_shape_of_type(type) : (tsr_shape){0};
  tsr_shape to;
  if (type && tsr_builder_keep(builder, complete(&from, shape, &to)) &&
      !tsr_shape_equal(&from, &to)) {
    tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_RESHAPE, &x, 1);
    result = tsr_builder_emit_shaped(&draft, type->dtype, &to);
  }
  return tsr_builder_leave(builder, result);
}

tsr_node tsr_build_squeeze(tsr_builder *builder, tsr_node x, int dim) {
  const tsr_shape from = tsr_build_shape_of(builder, x);
  tsr_shape to = {.rank = from.rank - 1};
  for (int i = 0; i < to.rank; i++) to.dims[i] = from.dims[i < dim ? i : i + 1];
  return builder->failure ? TSR_NO_NODE : tsr_build_reshape(builder, x, &to);
}

static bool is_identity(const tsr_shape *permutation) {
  for (int i = 0; i < permutation->rank; i++)
    if (permutation->dims[i] != i) return false;
  return true;
}

tsr_node tsr_build_transpose(tsr_builder *builder, tsr_node x, const tsr_shape *permutation) {
  if (!tsr_builder_enter(builder, "transpose")) return TSR_NO_NODE;
  tsr_node result = x;
  const tsr_type *type = tsr_builder_tensor(builder, x, 0);
  tsr_shape order = {.rank = type ? type->rank : 0};
  for (int i = 0; i < order.rank; i++) order.dims[i] = order.rank - 1 - i;
  if (type &&
      (!permutation || (tsr_builder_list(builder, "dimensions", permutation, type->rank) &&
                        tsr_builder_dims(builder, permutation, type->rank, &order))) &&
      !is_identity(&order)) {
    tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_TRANSPOSE, &x, 1);
    tsr_builder_ints(&draft, "permutation", &order);
    result = tsr_builder_emit_one(&draft);
  }
  return tsr_builder_leave(builder, result);
}

// ---- slice, pad, concatenate ----

static tsr_shape all_equal(int rank, int64_t value) {
  tsr_shape list = {.rank = rank};
  for (int i = 0; i < rank; i++) list.dims[i] = value;
  return list;
}

tsr_node tsr_build_slice(tsr_builder *builder, tsr_node x, const tsr_shape *starts,
                         const tsr_shape *limits, const tsr_shape *strides) {
  if (!tsr_builder_enter(builder, "slice")) return TSR_NO_NODE;
  tsr_node result = TSR_NO_NODE;
  const tsr_type *type = tsr_builder_tensor(builder, x, 0);
  const tsr_shape ones = all_equal(type ? type->rank : 0, 1);
  if (!strides) strides = &ones;
  if (type && tsr_builder_list(builder, "starts", starts, type->rank) &&
      tsr_builder_list(builder, "limits", limits, type->rank) &&
      tsr_builder_list(builder, "strides", strides, type->rank)) {
    tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_SLICE, &x, 1);
    tsr_builder_ints(&draft, "start_indices", starts);
    tsr_builder_ints(&draft, "limit_indices", limits);
    tsr_builder_ints(&draft, "strides", strides);
    result = tsr_builder_emit_one(&draft);
  }
  return tsr_builder_leave(builder, result);
}

tsr_node tsr_build_pad(tsr_builder *builder, tsr_node x, tsr_node value, const tsr_shape *low,
                       const tsr_shape *high, const tsr_shape *interior) {
  if (!tsr_builder_enter(builder, "pad")) return TSR_NO_NODE;
  tsr_node result = TSR_NO_NODE;
  const tsr_type *type = tsr_builder_tensor(builder, x, 0);
  const tsr_shape zeros = all_equal(type ? type->rank : 0, 0);
  if (!interior) interior = &zeros;
  if (type && tsr_builder_list(builder, "low paddings", low, type->rank) &&
      tsr_builder_list(builder, "high paddings", high, type->rank) &&
      tsr_builder_list(builder, "interior paddings", interior, type->rank)) {
    tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_PAD, (tsr_node[]){x, value}, 2);
    tsr_builder_ints(&draft, "edge_padding_low", low);
    tsr_builder_ints(&draft, "edge_padding_high", high);
    tsr_builder_ints(&draft, "interior_padding", interior);
    result = tsr_builder_emit_one(&draft);
  }
  return tsr_builder_leave(builder, result);
}

tsr_node tsr_build_concatenate(tsr_builder *builder, const tsr_node *operands, int count, int dim) {
  if (!tsr_builder_enter(builder, "concatenate")) return TSR_NO_NODE;
  tsr_node result = TSR_NO_NODE;
  const tsr_type *type = tsr_builder_given(builder, "operands", operands, count, 1)
                             ? tsr_builder_tensor(builder, operands[0], 0)
                             : NULL;
  const int from_zero = type ? tsr_builder_dim(builder, dim, type->rank) : -1;
  if (from_zero >= 0) {
    tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_CONCATENATE, operands, count);
    tsr_builder_int(&draft, "dimension", from_zero);
    result = tsr_builder_emit_one(&draft);
  }
  return tsr_builder_leave(builder, result);
}

// ---- slices at places that are computed ----

// x, perhaps the update, and one start per dimension of x.
static int gather_operands(tsr_node *all, tsr_node x, const tsr_node *update,
                           const tsr_node *starts, int rank) {
  int count = 0;
  all[count++] = x;
  if (update) all[count++] = *update;
  for (int i = 0; i < rank; i++) all[count++] = starts[i];
  return count;
}

tsr_node tsr_build_dynamic_slice(tsr_builder *builder, tsr_node x, const tsr_node *starts,
                                 const tsr_shape *sizes) {
  if (!tsr_builder_enter(builder, "dynamic_slice")) return TSR_NO_NODE;
  tsr_node all[2 + TSR_MAX_RANK], result = TSR_NO_NODE;
  const tsr_type *type = tsr_builder_tensor(builder, x, 0);
  if (type && tsr_builder_list(builder, "sizes", sizes, type->rank) &&
      tsr_builder_given(builder, "starts", starts, type->rank, 0)) {
    const int count = gather_operands(all, x, NULL, starts, type->rank);
    tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_DYNAMIC_SLICE, all, count);
    tsr_builder_ints(&draft, "slice_sizes", sizes);
    result = tsr_builder_emit_one(&draft);
  }
  return tsr_builder_leave(builder, result);
}

tsr_node tsr_build_dynamic_update(tsr_builder *builder, tsr_node x, tsr_node update,
                                  const tsr_node *starts) {
  if (!tsr_builder_enter(builder, "dynamic_update")) return TSR_NO_NODE;
  tsr_node all[2 + TSR_MAX_RANK], result = TSR_NO_NODE;
  const tsr_type *type = tsr_builder_tensor(builder, x, 0);
  if (type && tsr_builder_given(builder, "starts", starts, type->rank, 0)) {
    const int count = gather_operands(all, x, &update, starts, type->rank);
    const tsr_builder_op draft =
        tsr_builder_draft(builder, TSR_OP_DYNAMIC_UPDATE_SLICE, all, count);
    result = tsr_builder_emit_one(&draft);
  }
  return tsr_builder_leave(builder, result);
}
