// Rows taken by index, and combined into other rows by index: gather and scatter along one
// dimension.
#include <string.h>

#include "builder/builder_internal.h"

// Dimensions of a window of x inside take's result: those before `dim`, and after the indices.
static tsr_shape window_dims(int rank, int dim, int index_rank) {
  tsr_shape dims = {.rank = rank - 1};
  for (int i = 0; i < rank - 1; i++) dims.dims[i] = i < dim ? i : i + index_rank;
  return dims;
}

static const tsr_attr *ints(tsr_ir *ir, const tsr_shape *list) {
  return tsr_attr_ints(ir, list->dims, list->rank);
}

static const tsr_attr *record(tsr_ir *ir, tsr_record_id id, const tsr_attr *const *fields,
                              int count) {
  for (int i = 0; i < count; i++)
    if (!fields[i]) return NULL;
  return tsr_attr_record(ir, id, fields);
}

static const tsr_attr *gather_dims(tsr_ir *ir, int rank, int dim, int index_rank) {
  const tsr_shape window = window_dims(rank, dim, index_rank), none = {0};
  const tsr_shape one = {1, {dim}};
  const tsr_attr *fields[] = {[TSR_GATHER_OFFSET_DIMS] = ints(ir, &window),
                              [TSR_GATHER_COLLAPSED_SLICE_DIMS] = ints(ir, &one),
                              [TSR_GATHER_OPERAND_BATCHING_DIMS] = ints(ir, &none),
                              [TSR_GATHER_START_INDICES_BATCHING_DIMS] = ints(ir, &none),
                              [TSR_GATHER_START_INDEX_MAP] = ints(ir, &one),
                              [TSR_GATHER_INDEX_VECTOR_DIM] = tsr_attr_i64(ir, index_rank)};
  return record(ir, TSR_RECORD_GATHER, fields, sizeof fields / sizeof *fields);
}

tsr_node tsr_build_take(tsr_builder *builder, tsr_node x, tsr_node indices, int dim) {
  if (!tsr_builder_enter(builder, "take")) return TSR_NO_NODE;
  tsr_node result = TSR_NO_NODE;
  const tsr_type *type = tsr_builder_tensor(builder, x, 0);
  const tsr_type *index_type = type ? tsr_builder_tensor(builder, indices, 1) : NULL;
  const int from_zero = index_type ? tsr_builder_dim(builder, dim, type->rank) : -1;
  if (from_zero >= 0) {
    tsr_shape sizes = tsr_shape_of_type(type);
    sizes.dims[from_zero] = 1;
    tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_GATHER, (tsr_node[]){x, indices}, 2);
    tsr_builder_attr(&draft, "dimension_numbers",
                     gather_dims(builder->ir, type->rank, from_zero, index_type->rank));
    tsr_builder_ints(&draft, "slice_sizes", &sizes);
    result = tsr_builder_emit_one(&draft);
  }
  return tsr_builder_leave(builder, result);
}

static const tsr_attr *scatter_dims(tsr_ir *ir, int rank, int dim, int index_rank) {
  const tsr_shape window = window_dims(rank, dim, index_rank), none = {0};
  const tsr_shape one = {1, {dim}};
  const tsr_attr *fields[] = {[TSR_SCATTER_UPDATE_WINDOW_DIMS] = ints(ir, &window),
                              [TSR_SCATTER_INSERTED_WINDOW_DIMS] = ints(ir, &one),
                              [TSR_SCATTER_INPUT_BATCHING_DIMS] = ints(ir, &none),
                              [TSR_SCATTER_INDICES_BATCHING_DIMS] = ints(ir, &none),
                              [TSR_SCATTER_DIMS_TO_OPERAND_DIMS] = ints(ir, &one),
                              [TSR_SCATTER_INDEX_VECTOR_DIM] = tsr_attr_i64(ir, index_rank)};
  return record(ir, TSR_RECORD_SCATTER, fields, sizeof fields / sizeof *fields);
}

static tsr_status find_kind(tsr_builder *builder, const char *kind, tsr_dtype dtype,
                            tsr_op_id *out_op, const tsr_type **out_scalar) {
  *out_op = TSR_OP_UNKNOWN;
  if (strcmp(kind, "set") != 0) TSR_TRY(tsr_reduction_find(kind, out_op));
  return tsr_builder_type(builder, dtype, TSR_SCALAR, out_scalar);
}

tsr_node tsr_build_scatter(tsr_builder *builder, const char *kind, tsr_node x, tsr_node indices,
                           tsr_node updates, int dim) {
  if (!tsr_builder_enter(builder, "scatter")) return TSR_NO_NODE;
  tsr_node result = TSR_NO_NODE;
  tsr_op_id op = TSR_OP_UNKNOWN;
  const tsr_type *pair[2] = {NULL};
  const tsr_type *type = tsr_builder_tensor(builder, x, 0);
  const tsr_type *index_type = type ? tsr_builder_tensor(builder, indices, 1) : NULL;
  const int from_zero = index_type ? tsr_builder_dim(builder, dim, type->rank) : -1;
  if (from_zero >= 0 &&
      tsr_builder_keep(builder, find_kind(builder, kind, type->dtype, &op, &pair[0]))) {
    pair[1] = pair[0];
    const tsr_builder_region region = tsr_reduction_region(pair, &op);
    tsr_builder_op draft =
        tsr_builder_draft(builder, TSR_OP_SCATTER, (tsr_node[]){x, indices, updates}, 3);
    draft.regions = &region;
    draft.region_count = 1;
    tsr_builder_attr(&draft, "scatter_dimension_numbers",
                     scatter_dims(builder->ir, type->rank, from_zero, index_type->rank));
    result = tsr_builder_emit_one(&draft);
  }
  return tsr_builder_leave(builder, result);
}
