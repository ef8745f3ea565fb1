// The order of a reduction's dims, and its space with neighbours joined.
#include "lower/reduce_space.h"

// Whether the innermost dim with more than one element is kept.
static bool ends_kept(int rank, const int64_t *dims, const bool *reduced) {
  for (int d = rank - 1; d >= 0; d--)
    if (dims[d] != 1) return !reduced[d];
  return false;
}

static void append(tsr_reduce_order *order, int rank, const bool *chosen, bool wanted) {
  for (int d = 0; d < rank; d++)
    if (chosen[d] == wanted) order->dims[order->rank++] = d;
}

bool tsr_reduce_order_of(int rank, const int64_t *dims, const bool *reduced,
                         tsr_reduce_order *out_order) {
  if (rank > TSR_REDUCE_ORDER_RANK) return false;
  tsr_reduce_order order = {.folds = ends_kept(rank, dims, reduced)};
  int row = rank;  // the first dim of a row that is folded
  while (order.folds && row > 0 && !reduced[row - 1]) row--;
  append(&order, row, reduced, false);
  order.batch = order.rank;
  append(&order, row, reduced, true);
  order.row = order.folds ? rank - row : order.rank - order.batch;
  if (!order.folds) order.batch = 0;
  for (int d = row; d < rank; d++) order.dims[order.rank++] = d;
  *out_order = order;
  return true;
}

// ---- joined ----

// A dim of the space while it is made.
typedef struct space_dim {
  int64_t size, stride, result_stride;
  int part;  // 0 = batch, 1 = between, 2 = row
} space_dim;

static int part_of(const tsr_reduce_order *order, int position) {
  return position < order->batch ? 0 : position < order->rank - order->row ? 1 : 2;
}

static bool joins(const space_dim *outer, const space_dim *inner) {
  return outer->part == inner->part && outer->stride == inner->size * inner->stride &&
         outer->result_stride == inner->size * inner->result_stride;
}

static void add_dim(tsr_reduce_space *out, int at, const space_dim *dim) {
  out->space.dims[at] = dim->size;
  out->strides[at] = dim->stride;
  out->result_strides[at] = dim->result_stride;
  out->space.batch_dims += dim->part == 0;
  out->space.row_dims += dim->part == 2;
}

static void strides_of(int rank, const int64_t *dims, const bool *reduced, int64_t *strides,
                       int64_t *result_strides) {
  int64_t stride = 1, result_stride = 1;
  for (int d = rank - 1; d >= 0; d--) {
    strides[d] = stride;
    result_strides[d] = reduced[d] ? 0 : result_stride;
    stride *= dims[d];
    if (!reduced[d]) result_stride *= dims[d];
  }
}

bool tsr_reduce_space_of(int rank, const int64_t *dims, const bool *reduced,
                         tsr_reduce_space *out_space) {
  int64_t strides[TSR_REDUCE_ORDER_RANK], result_strides[TSR_REDUCE_ORDER_RANK];
  space_dim joined[TSR_REDUCE_ORDER_RANK];
  tsr_reduce_order order;
  int count = 0;
  if (!tsr_reduce_order_of(rank, dims, reduced, &order)) return false;
  strides_of(rank, dims, reduced, strides, result_strides);
  for (int i = 0; i < rank; i++) {
    const int d = order.dims[i];
    const space_dim dim = {dims[d], strides[d], result_strides[d], part_of(&order, i)};
    if (dim.size == 1) continue;
    space_dim *last = count ? &joined[count - 1] : NULL;
    if (last && joins(last, &dim))
      *last = (space_dim){last->size * dim.size, dim.stride, dim.result_stride, dim.part};
    else
      joined[count++] = dim;
  }
  if (!count || joined[count - 1].part != 2)  // every space has a row
    joined[count++] = (space_dim){1, 0, 0, 2};
  if (count > TSR_TILE_RANK) return false;
  *out_space = (tsr_reduce_space){.space = {.rank = count}, .folds = order.folds};
  for (int i = 0; i < count; i++) add_dim(out_space, i, &joined[i]);
  return true;
}

bool tsr_reduced_dims(const tsr_op *op, bool *out_reduced) {
  const tsr_type *type = tsr_operand_type(op, 0);
  const tsr_attr *list = tsr_op_attr(op, "dimensions");
  if (type->rank > TSR_REDUCE_ORDER_RANK) return false;
  for (int d = 0; d < type->rank; d++) out_reduced[d] = false;
  for (int64_t i = 0; i < tsr_attr_int_count(list); i++) {
    const int64_t d = tsr_attr_int_at(list, i);
    if (d < 0 || d >= type->rank) return false;
    out_reduced[d] = true;
  }
  return true;
}
