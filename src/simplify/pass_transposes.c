// Transposes: composed, dropped, and moved into broadcasts and the operands of dot_general.
#include "simplify/rewriter.h"

enum { MOST_DIMS = 32 };

static bool read_permutation(const tsr_op *op, int64_t *out) {
  const tsr_attr *attr = tsr_op_attr(op, "permutation");
  const int rank = op->results[0].type->rank;
  if (rank > MOST_DIMS || tsr_attr_int_count(attr) != rank) return false;
  for (int d = 0; d < rank; d++) {
    out[d] = tsr_attr_int_at(attr, d);
    if (out[d] < 0 || out[d] >= rank) return false;
  }
  return true;
}

static tsr_status exchange(tsr_rewriter *r, tsr_op *op, tsr_op_id id, tsr_value *operand,
                           const char *name, const tsr_attr *attr) {
  TSR_NEED(name);
  TSR_NEED(attr);
  const tsr_named_attr entry = {name, attr};
  return tsr_rewriter_exchange(
      r, op,
      (tsr_op_parts){
          .id = id, .operand_count = 1, .operands = &operand, .attr_count = 1, .attrs = &entry});
}

static bool is_identity(const int64_t *permutation, int rank) {
  for (int d = 0; d < rank; d++)
    if (permutation[d] != d) return false;
  return true;
}

// Whether only dimensions of size 1 change places, so that no element does.
static bool moves_nothing(const tsr_type *from, const int64_t *permutation, int rank) {
  int64_t last = -1;
  for (int d = 0; d < rank; d++) {
    const int64_t size = from->dims[permutation[d]];
    if (size == 1) continue;
    if (permutation[d] < last) return false;
    last = permutation[d];
  }
  return true;
}

static tsr_status compose(tsr_rewriter *r, tsr_op *op, const int64_t *outer, const tsr_op *inner) {
  int64_t first[MOST_DIMS], both[MOST_DIMS];
  const int rank = op->results[0].type->rank;
  if (!read_permutation(inner, first)) return NULL;
  for (int d = 0; d < rank; d++) both[d] = first[outer[d]];
  return exchange(r, op, TSR_OP_TRANSPOSE, tsr_op_operand(inner, 0),
                  tsr_ir_name(r->ir, "permutation", 11), tsr_attr_ints(r->ir, both, rank));
}

// The transpose of a broadcast is a broadcast to other dimensions.
static tsr_status into_broadcast(tsr_rewriter *r, tsr_op *op, const int64_t *permutation,
                                 const tsr_op *broadcast) {
  const tsr_attr *attr = tsr_op_attr(broadcast, "broadcast_dimensions");
  const int rank = op->results[0].type->rank;
  int64_t places[MOST_DIMS] = {0}, dims[MOST_DIMS];
  for (int d = 0; d < rank; d++) places[permutation[d]] = d;
  const int64_t count = tsr_attr_int_count(attr);
  if (count > rank) return NULL;
  for (int64_t i = 0; i < count; i++) {
    const int64_t dim = tsr_attr_int_at(attr, i);
    if (dim < 0 || dim >= rank) return NULL;
    dims[i] = places[dim];
  }
  return exchange(r, op, TSR_OP_BROADCAST_IN_DIM, tsr_op_operand(broadcast, 0),
                  tsr_ir_name(r->ir, "broadcast_dimensions", 20),
                  tsr_attr_ints(r->ir, dims, count));
}

static tsr_status simplify_transpose(tsr_rewriter *r, tsr_op *op) {
  int64_t permutation[MOST_DIMS];
  const tsr_type *from = tsr_operand_type(op, 0);
  if (!tsr_op_is_plain(op) || op->results[0].type->kind != TSR_TYPE_TENSOR) return NULL;
  if (from->kind != TSR_TYPE_TENSOR || from->rank != op->results[0].type->rank) return NULL;
  if (!read_permutation(op, permutation)) return NULL;
  if (is_identity(permutation, from->rank))
    return tsr_rewriter_replace(r, op, tsr_op_operand(op, 0));
  const tsr_op *inner = tsr_operand_def(op, 0, TSR_OP_TRANSPOSE);
  if (inner) return compose(r, op, permutation, inner);
  inner = tsr_operand_def(op, 0, TSR_OP_BROADCAST_IN_DIM);
  if (inner) return into_broadcast(r, op, permutation, inner);
  if (!tsr_type_is_static(from) || !moves_nothing(from, permutation, from->rank)) return NULL;
  tsr_value *operand = tsr_op_operand(op, 0);
  return tsr_rewriter_exchange(
      r, op, (tsr_op_parts){.id = TSR_OP_RESHAPE, .operand_count = 1, .operands = &operand});
}

// ---- dot_general ----

// Dimension numbers of one side, moved from the transposed operand to what was transposed.
static const tsr_attr *moved(tsr_ir *ir, const tsr_attr *list, const int64_t *permutation,
                             int rank) {
  int64_t dims[MOST_DIMS];
  const int64_t count = tsr_attr_int_count(list);
  for (int64_t i = 0; i < count; i++) {
    const int64_t dim = tsr_attr_int_at(list, i);
    dims[i] = permutation[dim >= 0 && dim < rank ? dim : 0];
  }
  return tsr_attr_ints(ir, dims, count);
}

static bool lists(const tsr_attr *list, int64_t dim) {
  for (int64_t i = 0; i < tsr_attr_int_count(list); i++)
    if (tsr_attr_int_at(list, i) == dim) return true;
  return false;
}

// The free dimensions of the result keep their order only if the transpose keeps it.
static bool keeps_free_order(const tsr_attr *batching, const tsr_attr *contracting,
                             const int64_t *permutation, int rank) {
  int64_t last = -1;
  for (int d = 0; d < rank; d++) {
    if (lists(batching, d) || lists(contracting, d)) continue;
    if (permutation[d] < last) return false;
    last = permutation[d];
  }
  return true;
}

static tsr_status absorb(tsr_rewriter *r, tsr_op *op, int side) {
  tsr_op *transpose = tsr_operand_def(op, side, TSR_OP_TRANSPOSE);
  const tsr_attr *record = tsr_op_attr(op, "dot_dimension_numbers");
  int64_t permutation[MOST_DIMS];
  if (!transpose || !record || record->kind != TSR_ATTR_RECORD) return NULL;
  if (!read_permutation(transpose, permutation)) return NULL;
  const int rank = transpose->results[0].type->rank;
  const int batch_field = side ? TSR_DOT_RHS_BATCHING : TSR_DOT_LHS_BATCHING;
  const int sum_field = side ? TSR_DOT_RHS_CONTRACTING : TSR_DOT_LHS_CONTRACTING;
  const tsr_attr *batching = tsr_attr_field(record, batch_field);
  const tsr_attr *contracting = tsr_attr_field(record, sum_field);
  if (tsr_attr_int_count(batching) > rank || tsr_attr_int_count(contracting) > rank) return NULL;
  if (!keeps_free_order(batching, contracting, permutation, rank)) return NULL;
  const tsr_attr *fields[4];
  for (int i = 0; i < 4; i++) fields[i] = tsr_attr_field(record, i);
  fields[batch_field] = moved(r->ir, batching, permutation, rank);
  fields[sum_field] = moved(r->ir, contracting, permutation, rank);
  const char *name = tsr_ir_name(r->ir, "dot_dimension_numbers", 21);
  TSR_NEED(fields[batch_field]);
  TSR_NEED(fields[sum_field]);
  TSR_NEED(name);
  const tsr_attr *numbers = tsr_attr_record(r->ir, TSR_RECORD_DOT, fields);
  TSR_NEED(numbers);
  if (!tsr_op_set_attr(r->ir, op, name, numbers)) return tsr_fail(NO_MEMORY, "memory of a program");
  tsr_op_set_operand(op, side, tsr_op_operand(transpose, 0));
  TSR_TRY(tsr_rewriter_push(r, transpose));
  return tsr_rewriter_changed(r, op);
}

static tsr_status simplify_dot(tsr_rewriter *r, tsr_op *op) {
  const int64_t before = r->changes;
  if (!tsr_op_is_plain(op)) return NULL;
  TSR_TRY(absorb(r, op, 0));
  return r->changes == before ? absorb(r, op, 1) : NULL;
}

static const tsr_rewrite_rule transpose_table[] = {
    {TSR_OP_TRANSPOSE, simplify_transpose},
    {TSR_OP_DOT_GENERAL, simplify_dot},
};

tsr_rewrite_set tsr_transpose_rules(void) {
  return (tsr_rewrite_set)TSR_REWRITE_SET(transpose_table);
}

tsr_status tsr_pass_transposes(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  const tsr_rewrite_set set = tsr_transpose_rules();
  return tsr_rewrite(ir, options, &set, 1, changes);
}
