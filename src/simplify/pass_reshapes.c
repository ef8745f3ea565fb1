// Reshapes and broadcasts: composed and dropped; a broadcast that repeats no element is a reshape.
#include "simplify/rewriter.h"

enum { MOST_DIMS = 32 };

static tsr_status reshape_of(tsr_rewriter *r, tsr_op *op, tsr_value *operand) {
  return tsr_rewriter_exchange(
      r, op, (tsr_op_parts){.id = TSR_OP_RESHAPE, .operand_count = 1, .operands = &operand});
}

static tsr_status broadcast_of(tsr_rewriter *r, tsr_op *op, tsr_value *operand, const int64_t *dims,
                               int count) {
  const tsr_named_attr entry = {tsr_ir_name(r->ir, "broadcast_dimensions", 20),
                                tsr_attr_ints(r->ir, dims, count)};
  TSR_NEED(entry.name);
  TSR_NEED(entry.attr);
  return tsr_rewriter_exchange(r, op,
                               (tsr_op_parts){.id = TSR_OP_BROADCAST_IN_DIM,
                                              .operand_count = 1,
                                              .operands = &operand,
                                              .attr_count = 1,
                                              .attrs = &entry});
}

static bool is_static_reshape(const tsr_op *op) {
  return tsr_type_is_static(tsr_operand_type(op, 0)) && tsr_type_is_static(op->results[0].type);
}

static tsr_status simplify_reshape(tsr_rewriter *r, tsr_op *op) {
  if (!tsr_op_is_plain(op) || !is_static_reshape(op)) return NULL;
  if (tsr_operand_type(op, 0) == op->results[0].type)
    return tsr_rewriter_replace(r, op, tsr_op_operand(op, 0));
  const tsr_op *inner = tsr_operand_def(op, 0, TSR_OP_RESHAPE);
  return inner && is_static_reshape(inner) ? reshape_of(r, op, tsr_op_operand(inner, 0)) : NULL;
}

// ---- broadcast_in_dim ----

static bool read_dims(const tsr_op *op, int64_t *out) {
  const tsr_attr *attr = tsr_op_attr(op, "broadcast_dimensions");
  const int rank = tsr_operand_type(op, 0)->rank;
  if (rank > MOST_DIMS || tsr_attr_int_count(attr) != rank) return false;
  for (int i = 0; i < rank; i++) {
    out[i] = tsr_attr_int_at(attr, i);
    if (out[i] < 0 || out[i] >= op->results[0].type->rank) return false;
  }
  return true;
}

// No element is repeated or changes its place: as many elements, and the dimensions that have more
// than one index stay in order.
static bool repeats_nothing(const tsr_op *op, const int64_t *dims) {
  const tsr_type *from = tsr_operand_type(op, 0), *to = op->results[0].type;
  int64_t last = -1;
  if (tsr_type_element_count(from) != tsr_type_element_count(to)) return false;
  for (int i = 0; i < from->rank; i++) {
    if (from->dims[i] == 1) continue;
    if (dims[i] < last) return false;
    last = dims[i];
  }
  return true;
}

// Where the operand is a reshape that only adds or drops dimensions of size 1: the broadcast of
// what was reshaped, if each of its dimensions keeps a place of its own.
static tsr_status through_reshape(tsr_rewriter *r, tsr_op *op, const int64_t *dims,
                                  const tsr_op *reshape) {
  const tsr_type *from = tsr_operand_type(reshape, 0), *middle = reshape->results[0].type;
  int64_t places[MOST_DIMS];
  int at = 0;
  if (from->rank > middle->rank) return NULL;
  for (int d = 0; d < middle->rank; d++) {
    if (at < from->rank && from->dims[at] == middle->dims[d])
      places[at++] = dims[d];
    else if (middle->dims[d] != 1)
      return NULL;
  }
  return at == from->rank ? broadcast_of(r, op, tsr_op_operand(reshape, 0), places, at) : NULL;
}

static tsr_status through_broadcast(tsr_rewriter *r, tsr_op *op, const int64_t *outer,
                                    const tsr_op *inner) {
  int64_t dims[MOST_DIMS];
  const int rank = tsr_operand_type(inner, 0)->rank;
  if (!read_dims(inner, dims)) return NULL;
  for (int i = 0; i < rank; i++) dims[i] = outer[dims[i]];
  return broadcast_of(r, op, tsr_op_operand(inner, 0), dims, rank);
}

static tsr_status simplify_broadcast(tsr_rewriter *r, tsr_op *op) {
  int64_t dims[MOST_DIMS];
  if (!tsr_op_is_plain(op) || !is_static_reshape(op) || !read_dims(op, dims)) return NULL;
  const tsr_op *inner = tsr_operand_def(op, 0, TSR_OP_BROADCAST_IN_DIM);
  if (inner && is_static_reshape(inner)) return through_broadcast(r, op, dims, inner);
  if (repeats_nothing(op, dims)) {
    if (tsr_operand_type(op, 0) == op->results[0].type)
      return tsr_rewriter_replace(r, op, tsr_op_operand(op, 0));
    return reshape_of(r, op, tsr_op_operand(op, 0));
  }
  inner = tsr_operand_def(op, 0, TSR_OP_RESHAPE);
  return inner && is_static_reshape(inner) ? through_reshape(r, op, dims, inner) : NULL;
}

static const tsr_rewrite_rule reshape_table[] = {
    {TSR_OP_RESHAPE, simplify_reshape},
    {TSR_OP_BROADCAST_IN_DIM, simplify_broadcast},
};

tsr_rewrite_set tsr_reshape_rules(void) { return (tsr_rewrite_set)TSR_REWRITE_SET(reshape_table); }

tsr_status tsr_pass_reshapes(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  const tsr_rewrite_set set = tsr_reshape_rules();
  return tsr_rewrite(ir, options, &set, 1, changes);
}
