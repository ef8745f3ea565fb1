// The ops of CHLO: elementwise functions, ops with implicit broadcasting, constants, top_k, scan.
//
// CHLO is no part of the specification, so its rules have no names. Its tensors may be unranked.
#include <string.h>

#include "verify/region_checks.h"

tsr_status tsr_verify_chlo_same(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  return tsr_check_operands_match(op, "", 0);
}

// ---- broadcasting

// One dimension of a broadcast; false if the sizes do not fit. An unknown size gives way to a known
// one that is not 1.
static bool broadcast_size(int64_t a, int64_t b, int64_t *out_size) {
  if (a == 1 || b == 1)
    *out_size = a == 1 ? b : a;
  else if (tsr_is_dynamic(a) || tsr_is_dynamic(b))
    *out_size = tsr_is_dynamic(a) ? b : a;
  else if (a == b)
    *out_size = a;
  else
    return false;
  return true;
}

// Adds the shape of `type` to dims, which has the size 1 where nothing was added yet, at its right.
static bool broadcast_right(const tsr_type *type, int rank, int64_t *dims) {
  for (int i = 0; i < type->rank; i++) {
    int64_t *size = &dims[rank - type->rank + i];
    if (!broadcast_size(*size, type->dims[i], size)) return false;
  }
  return true;
}

// The same where each dimension of `small` has its place in broadcast_dimensions.
static bool broadcast_at(const tsr_type *small, const tsr_attr *places, int rank, int64_t *dims) {
  if (tsr_attr_int_count(places) != small->rank || !tsr_ints_within(places, 0, rank)) return false;
  for (int i = 0; i < small->rank; i++) {
    int64_t *size = &dims[tsr_attr_int_at(places, i)];
    if (!broadcast_size(*size, small->dims[i], size)) return false;
  }
  return true;
}

static bool broadcast_shape(const tsr_op *op, int rank, int64_t *dims) {
  const tsr_attr *places = tsr_op_attr(op, "broadcast_dimensions");
  for (int i = 0; i < rank; i++) dims[i] = 1;
  if (places) {
    const tsr_type *a = tsr_operand_type(op, 0), *b = tsr_operand_type(op, 1);
    const tsr_type *large = a->rank > b->rank ? a : b, *small = large == a ? b : a;
    return broadcast_right(large, rank, dims) && broadcast_at(small, places, rank, dims);
  }
  for (int i = 0; i < op->operand_count; i++)
    if (!broadcast_right(tsr_operand_type(op, i), rank, dims)) return false;
  return true;
}

static int broadcast_rank(const tsr_op *op) {
  int rank = 0;
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_type *type = tsr_operand_type(op, i);
    if (type->kind != TSR_TYPE_TENSOR) return -1;
    if (type->rank > rank) rank = type->rank;
  }
  return rank;
}

// The bound of a dimension counted from the right: that of all operands that do not spread there.
static int64_t broadcast_bound(const tsr_op *op, int from_right) {
  int64_t bound = TSR_DYNAMIC;
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_type *type = tsr_operand_type(op, i);
    const int dim = type->rank - from_right;
    if (dim < 0 || type->dims[dim] == 1) continue;
    const int64_t own = tsr_type_bound(type, dim);
    if (tsr_is_dynamic(own) || (!tsr_is_dynamic(bound) && bound != own)) return TSR_DYNAMIC;
    bound = own;
  }
  return bound;
}

// A shape that does not fit is unranked for the peer, which leaves it to the lowering of the op.
static tsr_status infer_broadcast(tsr_ir *ir, const tsr_op *op, const tsr_type *element,
                                  tsr_result_types *out) {
  int64_t dims[TSR_RANK_LIMIT];
  const int rank = broadcast_rank(op);
  TSR_NEED(element);
  if (rank < 0 || rank > TSR_RANK_LIMIT || !broadcast_shape(op, rank, dims))
    return tsr_results_add(out, tsr_type_unranked(ir, element));
  const bool places = tsr_op_attr(op, "broadcast_dimensions");
  int64_t bounds[TSR_RANK_LIMIT];
  for (int i = 0; i < rank; i++)
    bounds[i] = places || !tsr_is_dynamic(dims[i]) ? TSR_DYNAMIC : broadcast_bound(op, rank - i);
  return tsr_results_add(out, tsr_type_bounded(ir, element, rank, dims, bounds));
}

static tsr_status check_elements(const tsr_op *op, int first) {
  for (int i = first + 1; i < op->operand_count; i++)
    TSR_ASK(tsr_elements_match(tsr_operand_type(op, first), tsr_operand_type(op, i)), op, "",
            "operand %d is %s, expected the elements of %s", i, SHOW_TYPE(tsr_operand_type(op, i)),
            SHOW_TYPE(tsr_operand_type(op, first)));
  return NULL;
}

tsr_status tsr_verify_chlo_broadcast(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  return check_elements(op, 0);
}

tsr_status tsr_infer_chlo_broadcast(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  return infer_broadcast(ir, op, tsr_operand_type(op, 0)->element, out);
}

tsr_status tsr_infer_chlo_broadcast_pred(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  return infer_broadcast(ir, op, tsr_type_integer(ir, 1, TSR_SIGNLESS), out);
}

tsr_status tsr_infer_chlo_broadcast_complex(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  return infer_broadcast(ir, op, tsr_type_complex(ir, tsr_operand_type(op, 0)->element), out);
}

tsr_status tsr_verify_chlo_broadcast_select(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  return check_elements(op, 1);
}

tsr_status tsr_infer_chlo_broadcast_select(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  return infer_broadcast(ir, op, tsr_operand_type(op, 1)->element, out);
}

// ---- constants

tsr_status tsr_infer_chlo_constant_like(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_attr *value = tsr_op_attr(op, "value");
  const bool typed = value->kind == TSR_ATTR_INTEGER || value->kind == TSR_ATTR_FLOAT;
  if (!typed) return tsr_results_unknown(out);  // #complex.number, which is kept as its text
  return tsr_results_add(out, tsr_type_with_element(ir, tsr_operand_type(op, 0), value->type));
}

// ---- top_k

tsr_status tsr_verify_chlo_top_k(tsr_ir *ir, const tsr_op *op) {
  const tsr_type *type = tsr_operand_type(op, 0);
  const int64_t k = tsr_op_int(op, "k", 0);
  (void)ir;
  if (type->kind == TSR_TYPE_UNRANKED) return NULL;
  TSR_ASK(type->rank >= 1, op, "", "operand is %s, expected rank 1 or more", SHOW_TYPE(type));
  const int64_t last = type->dims[type->rank - 1];
  TSR_ASK(tsr_is_dynamic(last) || last >= k, op, "",
          "operand is %s, expected a last size of %lld or more", SHOW_TYPE(type), (long long)k);
  TSR_ASK(k >= 0, op, "", "k is %lld, expected 0 or more", (long long)k);
  return NULL;
}

tsr_status tsr_infer_chlo_top_k(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_type *type = tsr_operand_type(op, 0), *i32 = tsr_type_integer(ir, 32, TSR_SIGNLESS);
  int64_t dims[TSR_RANK_LIMIT];
  TSR_NEED(i32);
  if (type->kind == TSR_TYPE_UNRANKED) {
    TSR_TRY(tsr_results_add(out, type));
    return tsr_results_add(out, tsr_type_unranked(ir, i32));
  }
  for (int i = 0; i < type->rank; i++) dims[i] = type->dims[i];
  dims[type->rank - 1] = tsr_op_int(op, "k", 0);
  TSR_TRY(tsr_results_add(out, tsr_type_tensor(ir, type->element, type->rank, dims, NULL)));
  return tsr_results_add(out, tsr_type_tensor(ir, i32, type->rank, dims, NULL));
}

// ---- scan

// Two numbers of 32 bits: inputs and inits, or outputs and carries. False if there are others.
static bool segments(const tsr_op *op, const char *name, int count, int out_sizes[2]) {
  const tsr_attr *attr = tsr_op_attr(op, name);
  int32_t sizes[2];
  if (!attr || attr->kind != TSR_ATTR_DENSE_ARRAY || attr->count != 2) return false;
  if (attr->type->kind != TSR_TYPE_INTEGER || attr->type->width != 32) return false;
  memcpy(sizes, attr->bytes, sizeof sizes);
  if (sizes[0] < 0 || sizes[1] < 0 || sizes[0] > count || sizes[1] != count - sizes[0])
    return false;
  out_sizes[0] = sizes[0];
  out_sizes[1] = sizes[1];
  return true;
}

static tsr_status check_scan_sizes(const tsr_op *op, int inputs) {
  const tsr_attr *given = tsr_op_attr(op, "scan_dim_size");
  const int64_t dim = tsr_op_int(op, "dimension", 0);
  int64_t size = given ? given->integer : TSR_DYNAMIC;
  TSR_ASK(dim >= 0 && (!given || size >= 0), op, "",
          "dimension and scan_dim_size must be 0 or more");
  for (int i = 0; i < inputs; i++) {
    const tsr_type *type = tsr_operand_type(op, i);
    TSR_ASK(type->kind == TSR_TYPE_TENSOR && dim < type->rank, op, "",
            "dimension is %lld, expected less than the rank of operand %d, %s", (long long)dim, i,
            SHOW_TYPE(type));
    TSR_ASK(tsr_sizes_match(type->dims[dim], size), op, "",
            "operand %d is %s, expected the size %lld at dimension %lld", i, SHOW_TYPE(type),
            (long long)size, (long long)dim);
    if (tsr_is_dynamic(size)) size = type->dims[dim];
  }
  return NULL;
}

// An input's type without the dimension, as the body sees it.
static const tsr_type *scan_slice(tsr_ir *ir, const tsr_type *type, int64_t dim) {
  int64_t dims[TSR_RANK_LIMIT];
  int rank = 0;
  for (int i = 0; i < type->rank; i++)
    if (i != dim) dims[rank++] = type->dims[i];
  return tsr_type_tensor(ir, type->element, rank, dims, NULL);
}

static tsr_status check_scan_body(tsr_ir *ir, const tsr_op *op, int inputs, int inits) {
  const tsr_op *end = NULL;
  TSR_TRY(tsr_region_return(op, 0, "", &end));
  const tsr_ir_block *body = end->block;
  TSR_ASK(body->arg_count == op->operand_count, op, "",
          "the body has %d arguments, expected %d as there are operands", body->arg_count,
          op->operand_count);
  for (int i = 0; i < body->arg_count; i++) {
    const tsr_type *wanted = tsr_operand_type(op, i);
    TSR_ASK(wanted->kind == TSR_TYPE_TENSOR, op, "", "operand %d is %s, expected a known rank", i,
            SHOW_TYPE(wanted));
    if (i < inputs) wanted = scan_slice(ir, wanted, tsr_op_int(op, "dimension", 0));
    TSR_NEED(wanted);
    TSR_ASK(tsr_types_match(wanted, body->args[i]->type), op, "",
            "argument %d of the body is %s, expected %s", i, SHOW_TYPE(body->args[i]->type),
            SHOW_TYPE(wanted));
  }
  TSR_ASK(end->operand_count >= inits, op, "", "the body returns %d values, expected %d or more",
          end->operand_count, inits);
  return NULL;
}

tsr_status tsr_verify_chlo_scan(tsr_ir *ir, const tsr_op *op) {
  int in[2];
  TSR_ASK(segments(op, "operandSegmentSizes", op->operand_count, in), op, "",
          "operandSegmentSizes is %s, expected the numbers of inputs and inits",
          SHOW_ATTR(tsr_op_attr(op, "operandSegmentSizes")));
  TSR_TRY(check_scan_sizes(op, in[0]));
  TSR_TRY(check_scan_body(ir, op, in[0], in[1]));
  const tsr_op *end = tsr_block_terminator(op->regions[0].first);
  TSR_ASK(in[0] || end->operand_count > in[1], op, "", "there are no inputs and no outputs");
  return NULL;
}

static int64_t scan_size(const tsr_op *op, int inputs) {
  const int64_t dim = tsr_op_int(op, "dimension", 0);
  int64_t size = tsr_op_int(op, "scan_dim_size", TSR_DYNAMIC);
  for (int i = 0; i < inputs && tsr_is_dynamic(size); i++)
    size = tsr_operand_type(op, i)->dims[dim];
  return size;
}

// Outputs have the dimension that the body's values do not have.
static tsr_status infer_output(tsr_ir *ir, const tsr_op *op, const tsr_type *type, int64_t size,
                               tsr_result_types *out) {
  const int64_t dim = tsr_op_int(op, "dimension", 0);
  int64_t dims[TSR_RANK_LIMIT + 1];
  TSR_ASK(type->kind == TSR_TYPE_TENSOR && dim <= type->rank, op, "",
          "the body returns %s, expected rank %lld or more", SHOW_TYPE(type), (long long)dim);
  for (int i = 0; i < type->rank; i++) dims[i < dim ? i : i + 1] = type->dims[i];
  dims[dim] = size;
  return tsr_results_add(out, tsr_type_tensor(ir, type->element, type->rank + 1, dims, NULL));
}

tsr_status tsr_infer_chlo_scan(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_op *end = tsr_block_terminator(op->regions[0].first);
  int in[2];
  if (!segments(op, "operandSegmentSizes", op->operand_count, in)) return tsr_results_unknown(out);
  const int64_t size = scan_size(op, in[0]);
  for (int i = 0; i < end->operand_count; i++) {
    const tsr_type *type = tsr_operand_type(end, i);
    if (i < end->operand_count - in[1])
      TSR_TRY(infer_output(ir, op, type, size, out));
    else
      TSR_TRY(tsr_results_add(out, type));
  }
  return NULL;
}

// ---- ragged_dot: a dot_general with one dimension that falls into groups of different sizes.
//
// The ragged dimension of lhs is a free one (m), a contracting one (k) or a batching one (b):
//   m: [b, m, k] and [g, b, k, n], groups [b, g], give [b, m, n]
//   k: [b, m, k] and [b, k, n],    groups [b, g], give [g, b, m, n]
//   b: [b, m, k] and [b, k, n],    groups [g],    give [b, m, n]

typedef struct ragged_dims {
  const tsr_type *lhs, *rhs, *groups;
  const tsr_attr *lhs_batch, *rhs_batch, *lhs_contract, *rhs_contract, *ragged, *group;
} ragged_dims;

static ragged_dims dims_of(const tsr_op *op) {
  const tsr_attr *numbers = tsr_op_attr(op, "ragged_dot_dimension_numbers");
  return (ragged_dims){.lhs = tsr_operand_type(op, 0),
                       .rhs = tsr_operand_type(op, 1),
                       .groups = tsr_operand_type(op, 2),
                       .lhs_batch = tsr_record_ints(numbers, TSR_RAGGED_DOT_LHS_BATCHING),
                       .rhs_batch = tsr_record_ints(numbers, TSR_RAGGED_DOT_RHS_BATCHING),
                       .lhs_contract = tsr_record_ints(numbers, TSR_RAGGED_DOT_LHS_CONTRACTING),
                       .rhs_contract = tsr_record_ints(numbers, TSR_RAGGED_DOT_RHS_CONTRACTING),
                       .ragged = tsr_record_ints(numbers, TSR_RAGGED_DOT_LHS_RAGGED),
                       .group = tsr_record_ints(numbers, TSR_RAGGED_DOT_RHS_GROUP)};
}

// Pairs of dimensions of lhs and rhs that have the same size.
static tsr_status check_pairs(const tsr_op *op, const ragged_dims *d, const tsr_attr *lhs,
                              const tsr_attr *rhs, const char *what) {
  TSR_ASK(tsr_attr_int_count(lhs) == tsr_attr_int_count(rhs), op, "",
          "%s dimensions are %s and %s, expected as many of both", what, SHOW_INTS(lhs),
          SHOW_INTS(rhs));
  TSR_ASK(tsr_ints_within(lhs, 0, d->lhs->rank) && tsr_ints_within(rhs, 0, d->rhs->rank), op, "",
          "%s dimensions are %s and %s, expected dimensions of the operands", what, SHOW_INTS(lhs),
          SHOW_INTS(rhs));
  for (int64_t i = 0; i < tsr_attr_int_count(lhs); i++) {
    const int64_t a = d->lhs->dims[tsr_attr_int_at(lhs, i)];
    const int64_t b = d->rhs->dims[tsr_attr_int_at(rhs, i)];
    TSR_ASK(tsr_sizes_match(a, b), op, "",
            "%s dimensions have the sizes %lld and %lld, expected equal", what, (long long)a,
            (long long)b);
  }
  return NULL;
}

static tsr_status check_distinct(const tsr_op *op, const tsr_attr *a, const tsr_attr *b) {
  TSR_ASK(tsr_ints_unique(a) && tsr_ints_unique(b) && tsr_ints_distinct(a, b), op, "",
          "dimensions are %s and %s, expected each once", SHOW_INTS(a), SHOW_INTS(b));
  return NULL;
}

static bool is_batch(const ragged_dims *d) {
  return tsr_ints_contain(d->lhs_batch, tsr_attr_int_at(d->ragged, 0));
}

static bool is_contracting(const ragged_dims *d) {
  return tsr_ints_contain(d->lhs_contract, tsr_attr_int_at(d->ragged, 0));
}

static bool is_free(const ragged_dims *d, int64_t dim) {
  return !tsr_ints_contain(d->lhs_batch, dim) && !tsr_ints_contain(d->lhs_contract, dim);
}

// Adds the sizes of a list up to the ragged dimension.
static int add_until(const ragged_dims *d, const tsr_attr *list, int64_t end, int64_t *sizes,
                     int count) {
  for (int64_t i = 0; i < tsr_attr_int_count(list); i++) {
    const int64_t dim = tsr_attr_int_at(list, i);
    if (dim == end) break;
    sizes[count++] = d->lhs->dims[dim];
  }
  return count;
}

// The dimensions of lhs that groups may have before the number of groups.
static int group_prefix(const ragged_dims *d, int64_t *sizes) {
  const int64_t ragged = tsr_attr_int_at(d->ragged, 0);
  int count = add_until(d, d->lhs_batch, ragged, sizes, 0);
  if (is_batch(d)) return count;
  if (is_contracting(d)) return add_until(d, d->lhs_contract, ragged, sizes, count);
  for (int i = 0; i < ragged; i++)
    if (is_free(d, i)) sizes[count++] = d->lhs->dims[i];
  return count;
}

static tsr_status check_groups(const tsr_op *op, const ragged_dims *d) {
  int64_t sizes[TSR_RANK_LIMIT];
  const int count = group_prefix(d, sizes);
  TSR_ASK(d->groups->rank >= 1, op, "", "group_sizes is %s, expected rank 1 or more",
          SHOW_TYPE(d->groups));
  if (d->groups->rank == 1) return NULL;
  bool same = d->groups->rank == count + 1;
  for (int i = 0; same && i < count; i++) same = sizes[i] == d->groups->dims[i];
  TSR_ASK(same, op, "", "group_sizes is %s, expected the sizes %s before the groups",
          SHOW_TYPE(d->groups), SHOW_LIST(sizes, count));
  return NULL;
}

static tsr_status check_group_dim(const tsr_op *op, const ragged_dims *d) {
  const int64_t wanted = is_batch(d) || is_contracting(d) ? 0 : 1;
  TSR_ASK(tsr_ints_within(d->group, 0, d->rhs->rank), op, "",
          "rhs_group_dimensions is %s, expected dimensions of %s", SHOW_INTS(d->group),
          SHOW_TYPE(d->rhs));
  TSR_TRY(check_distinct(op, d->group, d->rhs_batch));
  TSR_TRY(check_distinct(op, d->group, d->rhs_contract));
  TSR_ASK(tsr_attr_int_count(d->group) == wanted, op, "",
          "rhs_group_dimensions is %s, expected %lld of them", SHOW_INTS(d->group),
          (long long)wanted);
  if (!wanted) return NULL;
  const int64_t groups = d->groups->dims[d->groups->rank - 1];
  const int64_t size = d->rhs->dims[tsr_attr_int_at(d->group, 0)];
  TSR_ASK(tsr_sizes_match(groups, size), op, "",
          "the group dimension of rhs has size %lld, expected %lld", (long long)size,
          (long long)groups);
  return NULL;
}

tsr_status tsr_verify_chlo_ragged_dot(tsr_ir *ir, const tsr_op *op) {
  const ragged_dims d = dims_of(op);
  const tsr_attr *precision = tsr_op_attr(op, "precision_config");
  (void)ir;
  TSR_ASK(!precision || precision->count <= 2, op, "",
          "precision_config has %lld entries, expected 2",
          precision ? (long long)precision->count : 0);
  for (int i = 0; i < 3; i++)
    TSR_ASK(tsr_operand_type(op, i)->kind == TSR_TYPE_TENSOR, op, "",
            "operand %d has no known rank", i);
  TSR_TRY(check_pairs(op, &d, d.lhs_batch, d.rhs_batch, "batching"));
  TSR_TRY(check_pairs(op, &d, d.lhs_contract, d.rhs_contract, "contracting"));
  TSR_TRY(check_distinct(op, d.lhs_batch, d.lhs_contract));
  TSR_TRY(check_distinct(op, d.rhs_batch, d.rhs_contract));
  TSR_ASK(tsr_attr_int_count(d.ragged) == 1, op, "", "lhs_ragged_dimensions is %s, expected one",
          SHOW_INTS(d.ragged));
  TSR_ASK(tsr_ints_within(d.ragged, 0, d.lhs->rank), op, "",
          "lhs_ragged_dimensions is %s, expected a dimension of %s", SHOW_INTS(d.ragged),
          SHOW_TYPE(d.lhs));
  TSR_TRY(check_groups(op, &d));
  return check_group_dim(op, &d);
}

// The peer infers the shape alone; the elements of the result are what the op says.
static int result_shape(const ragged_dims *d, int64_t *sizes) {
  int count = 0;
  if (is_contracting(d)) sizes[count++] = d->groups->dims[d->groups->rank - 1];
  count = add_until(d, d->lhs_batch, -1, sizes, count);
  for (int i = 0; i < d->lhs->rank; i++)
    if (is_free(d, i)) sizes[count++] = d->lhs->dims[i];
  for (int i = 0; i < d->rhs->rank; i++)
    if (!tsr_ints_contain(d->rhs_batch, i) && !tsr_ints_contain(d->rhs_contract, i) &&
        !tsr_ints_contain(d->group, i))
      sizes[count++] = d->rhs->dims[i];
  return count;
}

tsr_status tsr_infer_chlo_ragged_dot(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const ragged_dims d = dims_of(op);
  int64_t sizes[2 * TSR_RANK_LIMIT + 1];
  const int rank = result_shape(&d, sizes);
  const tsr_type *element =
      op->result_count ? tsr_type_element(op->results[0].type) : d.lhs->element;
  return tsr_results_add(out, tsr_type_tensor(ir, element, rank, sizes, NULL));
}
