// Ops that are others in short: each becomes those others.
//
// Bodies that run in place (of async_start, of named computations) are moved out first. Then rules
// replace ops one by one; folding of constants goes along, so that shapes computed from constants
// are known. What depends on a value that is not known stays, and is refused later by name.
#include "simplify/decompose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "simplify/decompose_build.h"
#include "simplify/evaluate.h"
#include "simplify/scalar.h"

enum { MOST_RANK = 32 };

// ---- small things ----

// The integers of a constant operand, exactly `count` of them; false if it is none.
static bool constant_ints(const tsr_op *op, int index, int64_t count, int64_t *out) {
  const tsr_attr *attr = tsr_value_constant(tsr_op_operand(op, index));
  tsr_scalar_type type;
  if (!attr || tsr_type_element_count(attr->type) != count ||
      !tsr_scalar_type_of(attr->type, &type) ||
      (type.kind != TSR_CLASS_SIGNED && type.kind != TSR_CLASS_UNSIGNED))
    return false;
  for (int64_t i = 0; i < count; i++) out[i] = tsr_scalar_load(&type, tsr_attr_element(attr, i)).i;
  return true;
}

static bool is_static(const tsr_op *op) {
  for (int i = 0; i < op->result_count; i++)
    if (!tsr_type_is_static(op->results[i].type) || op->results[i].type->rank > MOST_RANK)
      return false;
  return op->operand_count == 0 || (tsr_type_is_static(tsr_operand_type(op, 0)) &&
                                    tsr_operand_type(op, 0)->rank <= MOST_RANK);
}

// Replaces an op of one result by another, with its first operands.
static tsr_status become(tsr_rewriter *r, tsr_op *op, tsr_op_id id, int operand_count,
                         const tsr_site_attr *attrs, int attr_count) {
  tsr_site site = {.ir = r->ir, .r = r, .place = op};
  tsr_value *operands[4];
  for (int i = 0; i < operand_count; i++) operands[i] = tsr_op_operand(op, i);
  tsr_value *made =
      tsr_site_add(&site, id, op->results[0].type, operands, operand_count, attrs, attr_count);
  return tsr_site_replace(&site, op, &made);
}

static const tsr_attr *ints(tsr_rewriter *r, const int64_t *values, int64_t count) {
  return tsr_attr_ints(r->ir, values, count);
}

// ---- shapes ----

static tsr_status decompose_broadcast(tsr_rewriter *r, tsr_op *op) {
  const tsr_type *from = tsr_operand_type(op, 0), *type = op->results[0].type;
  int64_t dims[MOST_RANK];
  if (!is_static(op) || type->rank < from->rank) return NULL;
  for (int d = 0; d < from->rank; d++) dims[d] = type->rank - from->rank + d;
  const tsr_site_attr attr = {"broadcast_dimensions", ints(r, dims, from->rank)};
  return become(r, op, TSR_OP_BROADCAST_IN_DIM, 1, &attr, 1);
}

static tsr_status decompose_dynamic_broadcast(tsr_rewriter *r, tsr_op *op) {
  const tsr_site_attr attr = {"broadcast_dimensions", tsr_op_attr(op, "broadcast_dimensions")};
  return is_static(op) && attr.attr ? become(r, op, TSR_OP_BROADCAST_IN_DIM, 1, &attr, 1) : NULL;
}

static tsr_status decompose_dynamic_iota(tsr_rewriter *r, tsr_op *op) {
  const tsr_site_attr attr = {"iota_dimension", tsr_op_attr(op, "iota_dimension")};
  return is_static(op) && attr.attr ? become(r, op, TSR_OP_IOTA, 0, &attr, 1) : NULL;
}

static tsr_status decompose_dynamic_reshape(tsr_rewriter *r, tsr_op *op) {
  return is_static(op) ? become(r, op, TSR_OP_RESHAPE, 1, NULL, 0) : NULL;
}

static tsr_status decompose_dynamic_pad(tsr_rewriter *r, tsr_op *op) {
  const int rank = op->results[0].type->rank;
  int64_t low[MOST_RANK], high[MOST_RANK], interior[MOST_RANK];
  if (!is_static(op) || !constant_ints(op, 2, rank, low) || !constant_ints(op, 3, rank, high) ||
      !constant_ints(op, 4, rank, interior))
    return NULL;
  const tsr_site_attr attrs[] = {{"edge_padding_low", ints(r, low, rank)},
                                 {"edge_padding_high", ints(r, high, rank)},
                                 {"interior_padding", ints(r, interior, rank)}};
  return become(r, op, TSR_OP_PAD, 2, attrs, 3);
}

static tsr_status decompose_real_slice(tsr_rewriter *r, tsr_op *op) {
  const int rank = op->results[0].type->rank;
  int64_t starts[MOST_RANK], limits[MOST_RANK], strides[MOST_RANK];
  if (!is_static(op) || !constant_ints(op, 1, rank, starts) ||
      !constant_ints(op, 2, rank, limits) || !constant_ints(op, 3, rank, strides))
    return NULL;
  for (int d = 0; d < rank; d++) {
    const int64_t size = tsr_operand_type(op, 0)->dims[d];
    if (starts[d] < 0 || limits[d] < starts[d] || limits[d] > size || strides[d] < 1) return NULL;
    if ((limits[d] - starts[d] + strides[d] - 1) / strides[d] != op->results[0].type->dims[d])
      return NULL;
  }
  const tsr_site_attr attrs[] = {{"start_indices", ints(r, starts, rank)},
                                 {"limit_indices", ints(r, limits, rank)},
                                 {"strides", ints(r, strides, rank)}};
  return become(r, op, TSR_OP_SLICE, 1, attrs, 3);
}

static tsr_status decompose_dynamic_gather(tsr_rewriter *r, tsr_op *op) {
  const int rank = tsr_operand_type(op, 0)->rank;
  int64_t sizes[MOST_RANK];
  if (!is_static(op) || !constant_ints(op, 2, rank, sizes)) return NULL;
  const tsr_attr *sorted = tsr_op_attr(op, "indices_are_sorted");
  const tsr_site_attr attrs[] = {{"dimension_numbers", tsr_op_attr(op, "dimension_numbers")},
                                 {"slice_sizes", ints(r, sizes, rank)},
                                 {"indices_are_sorted", sorted}};
  return become(r, op, TSR_OP_GATHER, 2, attrs, sorted ? 3 : 2);
}

static tsr_status decompose_dynamic_conv(tsr_rewriter *r, tsr_op *op) {
  static const char *const kept[] = {
      "batch_group_count", "dimension_numbers", "feature_group_count", "lhs_dilation",
      "precision_config",  "rhs_dilation",      "window_reversal",     "window_strides"};
  const int64_t count = 2 * ((int64_t)op->results[0].type->rank - 2);
  int64_t padding[2 * MOST_RANK];
  if (!is_static(op) || count < 0 || !constant_ints(op, 2, count, padding)) return NULL;
  // Attributes hold what a site's list has room for, but for the padding, which is set after.
  tsr_site site = {.ir = r->ir, .r = r, .place = op};
  tsr_site_attr attrs[8];
  int attr_count = 0;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
    if (tsr_op_attr(op, kept[i]))
      attrs[attr_count++] = (tsr_site_attr){kept[i], tsr_op_attr(op, kept[i])};
  tsr_value *const operands[] = {tsr_op_operand(op, 0), tsr_op_operand(op, 1)};
  tsr_value *made =
      tsr_site_add(&site, TSR_OP_CONVOLUTION, op->results[0].type, operands, 2, attrs, attr_count);
  const tsr_type *type = tsr_type_shaped(r->ir, TSR_I64, 2, (int64_t[]){count / 2, 2});
  int64_t *bytes = tsr_ir_alloc(r->ir, sizeof padding);
  TSR_NEED(type && bytes ? type : NULL);
  memcpy(bytes, padding, sizeof *bytes * (size_t)count);
  const tsr_attr *dense = tsr_attr_dense(r->ir, type, bytes, sizeof *bytes * (size_t)count);
  const char *name = tsr_ir_name(r->ir, "padding", 7);
  TSR_NEED(dense && name ? dense : NULL);
  if (made) TSR_NEED(tsr_op_set_attr(r->ir, made->def, name, dense) ? made : NULL);
  return tsr_site_replace(&site, op, &made);
}

// ---- gathers ----

// Result dims: those of the operand before `dim`, those of the indices after the batch ones, those
// of the operand after `dim`.
static tsr_status decompose_index_select(tsr_rewriter *r, tsr_op *op) {
  const tsr_type *type = tsr_operand_type(op, 0), *indices = tsr_operand_type(op, 1);
  int64_t dim = tsr_op_int(op, "dim", -1), batch = tsr_op_int(op, "batch_dims", 0);
  if (!is_static(op) || !tsr_type_is_static(indices)) return NULL;
  if (dim < 0) dim += type->rank;
  if (batch < 0) batch += indices->rank;
  if (dim < 0 || dim >= type->rank || batch < 0 || batch > dim || batch > indices->rank)
    return NULL;
  int64_t offsets[MOST_RANK], sizes[MOST_RANK], batches[MOST_RANK];
  int offset_count = 0;
  for (int d = 0; d < type->rank; d++) {
    sizes[d] = d == dim || d < batch ? 1 : type->dims[d];
    if (d >= batch && d < dim) offsets[offset_count++] = d;
    if (d > dim) offsets[offset_count++] = d - 1 + indices->rank - batch;
  }
  for (int64_t d = 0; d < batch; d++) batches[d] = d;
  const tsr_attr *fields[6];
  fields[TSR_GATHER_OFFSET_DIMS] = ints(r, offsets, offset_count);
  fields[TSR_GATHER_COLLAPSED_SLICE_DIMS] = ints(r, &dim, 1);
  fields[TSR_GATHER_OPERAND_BATCHING_DIMS] = ints(r, batches, batch);
  fields[TSR_GATHER_START_INDICES_BATCHING_DIMS] = ints(r, batches, batch);
  fields[TSR_GATHER_START_INDEX_MAP] = ints(r, &dim, 1);
  fields[TSR_GATHER_INDEX_VECTOR_DIM] = tsr_attr_i64(r->ir, indices->rank);
  for (int i = 0; i < 6; i++) TSR_NEED(fields[i]);
  const tsr_site_attr attrs[] = {
      {"dimension_numbers", tsr_attr_record(r->ir, TSR_RECORD_GATHER, fields)},
      {"slice_sizes", ints(r, sizes, type->rank)}};
  return become(r, op, TSR_OP_GATHER, 2, attrs, 2);
}

// ---- products ----

static const tsr_attr *dot_numbers(tsr_rewriter *r, const int64_t *const lists[4],
                                   const int counts[4]) {
  const tsr_attr *fields[4];
  for (int i = 0; i < 4; i++) {
    fields[i] = ints(r, lists[i], counts[i]);
    if (!fields[i]) return NULL;
  }
  return tsr_attr_record(r->ir, TSR_RECORD_DOT, fields);
}

static tsr_status decompose_dot(tsr_rewriter *r, tsr_op *op) {
  const tsr_type *lhs = tsr_operand_type(op, 0), *rhs = tsr_operand_type(op, 1);
  if (!is_static(op) || lhs->rank < 1 || rhs->rank < 1) return NULL;
  const int64_t last = lhs->rank - 1, first = 0;
  const int64_t *const lists[4] = {&first, &first, &last, &first};
  const int counts[4] = {0, 0, 1, 1};
  const tsr_attr *precision = tsr_op_attr(op, "precision_config");
  const tsr_site_attr attrs[] = {{"dot_dimension_numbers", dot_numbers(r, lists, counts)},
                                 {"precision_config", precision}};
  return become(r, op, TSR_OP_DOT_GENERAL, 2, attrs, precision ? 2 : 1);
}

// ---- chlo: implicit broadcasting ----

static const struct {
  tsr_op_id from, to;
} broadcasting[] = {
#define BROADCASTS(name) \
  { TSR_OP_CHLO_BROADCAST_##name, TSR_OP_##name }
    BROADCASTS(ADD),
    BROADCASTS(AND),
    BROADCASTS(ATAN2),
    BROADCASTS(COMPLEX),
    BROADCASTS(DIVIDE),
    BROADCASTS(MAXIMUM),
    BROADCASTS(MINIMUM),
    BROADCASTS(MULTIPLY),
    BROADCASTS(OR),
    BROADCASTS(POWER),
    BROADCASTS(REMAINDER),
    BROADCASTS(SHIFT_LEFT),
    BROADCASTS(SUBTRACT),
    BROADCASTS(SHIFT_RIGHT_ARITHMETIC),
    BROADCASTS(XOR),
    BROADCASTS(SHIFT_RIGHT_LOGICAL),
    BROADCASTS(COMPARE),
    BROADCASTS(SELECT),
    {TSR_OP_CHLO_BROADCAST_NEXT_AFTER, TSR_OP_CHLO_NEXT_AFTER},
    {TSR_OP_CHLO_BROADCAST_POLYGAMMA, TSR_OP_CHLO_POLYGAMMA},
    {TSR_OP_CHLO_BROADCAST_ZETA, TSR_OP_CHLO_ZETA},
};

// An operand in the shape of the result: dims aligned at the end, or as `given` says.
static tsr_value *broadcast_operand(tsr_site *site, tsr_value *x, const tsr_type *shape,
                                    const tsr_attr *given) {
  const tsr_type *type = x->type, *wide = tsr_site_retyped(site, shape, type->element);
  int64_t dims[MOST_RANK];
  if (!tsr_type_is_static(type) || type->rank > shape->rank) return NULL;
  const bool listed = given && type->rank < shape->rank && tsr_attr_int_count(given) == type->rank;
  for (int d = 0; d < type->rank; d++)
    dims[d] = listed ? tsr_attr_int_at(given, d) : shape->rank - type->rank + d;
  return tsr_site_broadcast(site, x, wide, dims);
}

static tsr_status decompose_broadcasting(tsr_rewriter *r, tsr_op *op) {
  const tsr_type *type = op->results[0].type;
  tsr_op_id id = TSR_OP_UNKNOWN;
  for (size_t i = 0; i < sizeof broadcasting / sizeof *broadcasting; i++)
    if (broadcasting[i].from == op->info->id) id = broadcasting[i].to;
  if (id == TSR_OP_UNKNOWN || !is_static(op) || op->operand_count > 3) return NULL;
  tsr_site site = {.ir = r->ir, .r = r, .place = op};
  tsr_value *operands[3];
  for (int i = 0; i < op->operand_count; i++)
    operands[i] = broadcast_operand(&site, tsr_op_operand(op, i), type,
                                    tsr_op_attr(op, "broadcast_dimensions"));
  const tsr_attr *kind = tsr_op_attr(op, "compare_type");
  const tsr_site_attr attrs[] = {
      {"comparison_direction",
       tsr_attr_enum(r->ir, TSR_ENUM_DIRECTION,
                     (int)tsr_op_int(op, "comparison_direction", TSR_DIRECTION_EQ))},
      {"compare_type",
       tsr_attr_enum(r->ir, TSR_ENUM_COMPARE_TYPE, (int)tsr_op_int(op, "compare_type", 0))}};
  const int attr_count = id != TSR_OP_COMPARE ? 0 : kind ? 2 : 1;
  tsr_value *made = tsr_site_add(&site, id, type, operands, op->operand_count, attrs, attr_count);
  return tsr_site_replace(&site, op, &made);
}

static tsr_status decompose_constant_like(tsr_rewriter *r, tsr_op *op) {
  const tsr_type *type = op->results[0].type;
  const tsr_attr *value = tsr_op_attr(op, "value");
  tsr_scalar_type scalar;
  if (!is_static(op) || !value || !tsr_scalar_type_of(type, &scalar)) return NULL;
  if (value->kind != TSR_ATTR_INTEGER && value->kind != TSR_ATTR_FLOAT) return NULL;
  if (value->type != type->element) return NULL;
  uint64_t *bytes = tsr_ir_alloc(r->ir, sizeof *bytes);
  TSR_NEED(bytes);
  *bytes = value->kind == TSR_ATTR_FLOAT ? value->bits : (uint64_t)value->integer;
  const size_t length = tsr_type_element_count(type) ? (size_t)scalar.bytes : 0;
  return tsr_rewriter_exchange_constant(r, op, tsr_attr_dense(r->ir, type, bytes, length));
}

// ---- reductions ----

// Whether the body of a reduction computes with other elements than its inputs have.
static bool is_promoted(const tsr_op *op) {
  const tsr_ir_block *block = op->region_count ? op->regions[0].first : NULL;
  if (!block || block->arg_count != op->operand_count) return false;
  for (int i = 0; i < op->operand_count; i++)
    if (tsr_type_element(tsr_operand_type(op, i)) != tsr_type_element(block->args[i]->type))
      return true;
  return false;
}

// The inputs are converted first.
static tsr_status decompose_promotion(tsr_rewriter *r, tsr_op *op) {
  if (!is_promoted(op)) return NULL;
  tsr_site site = {.ir = r->ir, .r = r, .place = op};
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_value *argument = op->regions[0].first->args[i];
    tsr_value *wide =
        tsr_site_convert(&site, tsr_op_operand(op, i), tsr_type_element(argument->type));
    if (!wide) return site.failure;
    tsr_op_set_operand(op, i, wide);
  }
  return tsr_rewriter_changed(r, op);
}

// The values of a collective that reduces them: all operands but the roots.
static int reduced_count(const tsr_op *op) {
  return op->operand_count - (tsr_op_flag(op, "has_dynamic_root") ? 1 : 0);
}

static const tsr_type *element_of_body(const tsr_op *op) {
  const tsr_ir_block *block = op->region_count ? op->regions[0].first : NULL;
  return block && block->arg_count ? tsr_type_element(block->args[0]->type) : NULL;
}

static bool reduces_between_processes(const tsr_op *op) {
  return op->info->id == TSR_OP_ALL_REDUCE || op->info->id == TSR_OP_COLLECTIVE_REDUCE ||
         op->info->id == TSR_OP_REDUCE_SCATTER;
}

static bool is_promoted_collective(const tsr_op *op) {
  const tsr_type *element = element_of_body(op);
  for (int i = 0; element && i < reduced_count(op); i++)
    if (tsr_type_element(tsr_operand_type(op, i)) != element) return true;
  return false;
}

static tsr_status promote_collective(tsr_rewriter *r, tsr_op *op) {
  if (!is_promoted_collective(op)) return NULL;
  tsr_site site = {.r = r, .place = op};
  for (int i = 0; i < reduced_count(op); i++) {
    tsr_value *wide = tsr_site_convert(&site, tsr_op_operand(op, i), element_of_body(op));
    if (!wide) return site.failure;
    tsr_op_set_operand(op, i, wide);
  }
  return tsr_rewriter_changed(r, op);
}

// ---- reductions in steps ----

enum {
  SPLIT_ELEMENTS = 1 << 14,  // from which a reduction is worth two
  NARROW_ROW = 64,           // elements of a row that are too few for vectors
  WIDE_ROW = 512,
  SPLIT_ROWS = 1 << 10
};

// The number that changes nothing; false where a type has none.
static bool identity_of(tsr_op_id id, const tsr_type *type, double *out) {
  tsr_scalar_type scalar;
  if (!tsr_scalar_type_of(type, &scalar)) return false;
  const bool truth = scalar.kind == TSR_CLASS_BOOL;
  const bool narrow = scalar.kind == TSR_CLASS_FLOAT && tsr_type_bits(type->element) < 16;
  switch (id) {
    case TSR_OP_ADD:
    case TSR_OP_OR:
    case TSR_OP_XOR:
      *out = 0;
      return true;
    case TSR_OP_MULTIPLY:
      *out = 1;
      return true;
    case TSR_OP_MAXIMUM:
      *out = truth ? 0 : -INFINITY;  // the lowest integer
      return !narrow && scalar.kind != TSR_CLASS_COMPLEX;
    case TSR_OP_MINIMUM:
      *out = truth ? 1 : INFINITY;
      return !narrow && scalar.kind != TSR_CLASS_COMPLEX;
    case TSR_OP_AND:
      *out = truth ? 1 : scalar.kind == TSR_CLASS_SIGNED ? -1 : INFINITY;
      return true;
    default:
      return false;
  }
}

// A reduction of one tensor by one op.
typedef struct plain_reduce {
  tsr_op_id body;
  double identity;
  const tsr_type *type;
  bool reduced[MOST_RANK];
} plain_reduce;

// The op of a body that is one op of its two arguments; NULL for any other.
static const tsr_op *only_op(const tsr_op *reduce) {
  const tsr_ir_block *block = reduce->regions[0].first;
  const tsr_op *end = block ? tsr_block_terminator(block) : NULL;
  const tsr_op *op = end ? block->first : NULL;
  if (!op || op->next != end || block->arg_count != 2 || op->operand_count != 2 ||
      op->result_count != 1 || end->operand_count != 1 || tsr_op_operand(end, 0) != &op->results[0])
    return NULL;
  const tsr_value *a = tsr_op_operand(op, 0), *b = tsr_op_operand(op, 1);
  const tsr_value *x = block->args[0], *y = block->args[1];
  return (a == x && b == y) || (a == y && b == x) ? op : NULL;
}

static bool mark_reduced(const tsr_op *op, int rank, bool *out) {
  const tsr_attr *list = tsr_op_attr(op, "dimensions");
  for (int d = 0; d < rank; d++) out[d] = false;
  for (int64_t i = 0; i < tsr_attr_int_count(list); i++) {
    const int64_t d = tsr_attr_int_at(list, i);
    if (d < 0 || d >= rank) return false;
    out[d] = true;
  }
  return true;
}

static bool read_plain(const tsr_op *op, plain_reduce *out) {
  if (op->operand_count != 2 || op->result_count != 1 || !is_static(op)) return false;
  const tsr_type *type = tsr_operand_type(op, 0);
  const tsr_op *body = only_op(op);
  if (!body || op->results[0].type->element != type->element) return false;
  out->body = body->info->id;
  out->type = type;
  return identity_of(out->body, type, &out->identity) && mark_reduced(op, type->rank, out->reduced);
}

// One step of a reduction: of the dims that `reduced` says.
static tsr_value *reduce_step(tsr_site *site, const plain_reduce *p, tsr_value *x,
                              const bool *reduced, tsr_value *initial) {
  int64_t dims[MOST_RANK], list[MOST_RANK];
  int rank = 0, count = 0;
  if (!x) return NULL;
  for (int d = 0; d < x->type->rank; d++)
    if (reduced[d])
      list[count++] = d;
    else
      dims[rank++] = x->type->dims[d];
  const tsr_type *element = p->type->element;
  const tsr_type *type = tsr_type_tensor(site->ir, element, rank, dims, NULL);
  const tsr_type *scalar = tsr_type_tensor(site->ir, element, 0, NULL, NULL);
  if (!initial) initial = tsr_site_number(site, scalar, p->identity);
  const tsr_site_attr attr = {"dimensions", tsr_attr_ints(site->ir, list, count)};
  tsr_value *const operands[] = {x, initial};
  tsr_op *made = tsr_site_op(site, TSR_OP_REDUCE, operands, 2, &type, 1, 1, &attr, 1);
  tsr_site_body(site, made, p->body, element);
  return made ? &made->results[0] : NULL;
}

// The innermost of several groups of reduced dims with kept dims between them: the dims from
// `*out_first` on. False if there is one group only.
static bool innermost_group(const plain_reduce *p, int *out_first) {
  int d = p->type->rank - 1;
  while (d >= 0 && (!p->reduced[d] || p->type->dims[d] == 1)) d--;
  while (d >= 0 && (p->reduced[d] || p->type->dims[d] == 1)) d--;
  *out_first = d + 1;
  while (d >= 0 && (!p->reduced[d] || p->type->dims[d] == 1)) d--;
  return d >= 0;
}

// Groups of reduced dims one after another, the innermost first: memory is read in its order.
static tsr_status split_groups(tsr_rewriter *r, tsr_op *op) {
  plain_reduce p;
  int first = 0, rank = 0;
  if (tsr_type_element_count(tsr_operand_type(op, 0)) < SPLIT_ELEMENTS || !read_plain(op, &p) ||
      !innermost_group(&p, &first))
    return NULL;
  bool now[MOST_RANK], then[MOST_RANK];
  for (int d = 0; d < p.type->rank; d++) {
    now[d] = p.reduced[d] && d >= first;
    if (!now[d]) then[rank++] = p.reduced[d];
  }
  tsr_site site = {.ir = r->ir, .r = r, .place = op};
  tsr_value *inner = reduce_step(&site, &p, tsr_op_operand(op, 0), now, NULL);
  tsr_value *made = reduce_step(&site, &p, inner, then, tsr_op_operand(op, 1));
  return tsr_site_replace(&site, op, &made);
}

// Rows of few elements that are added up: several rows become one, whose parts follow at the end.
static tsr_status widen_rows(tsr_rewriter *r, tsr_op *op) {
  plain_reduce p;
  int64_t batch = 1, outer = 1, row = 1;
  if (tsr_type_element_count(tsr_operand_type(op, 0)) < SPLIT_ELEMENTS || !read_plain(op, &p))
    return NULL;
  int d = p.type->rank - 1;
  for (; d >= 0 && !p.reduced[d]; d--) row *= p.type->dims[d];
  for (; d >= 0 && p.reduced[d]; d--) outer *= p.type->dims[d];
  for (; d >= 0; d--) {
    if (p.reduced[d]) return NULL;
    batch *= p.type->dims[d];
  }
  if (row < 2 || row >= NARROW_ROW || outer < SPLIT_ROWS) return NULL;
  int64_t rows = (NARROW_ROW + row - 1) / row, most = WIDE_ROW / row;
  for (int64_t i = rows; i <= most; i++)
    if (outer % i == 0) rows = i;
  if (outer % rows) return NULL;
  tsr_site site = {.ir = r->ir, .r = r, .place = op};
  const bool middle[3] = {false, true, false};
  const tsr_type *element = p.type->element;
  tsr_value *x = tsr_site_reshape(
      &site, tsr_op_operand(op, 0),
      tsr_type_tensor(r->ir, element, 3, (int64_t[]){batch, outer / rows, rows * row}, NULL));
  x = reduce_step(&site, &p, x, middle, NULL);
  x = tsr_site_reshape(&site, x,
                       tsr_type_tensor(r->ir, element, 3, (int64_t[]){batch, rows, row}, NULL));
  x = reduce_step(&site, &p, x, middle, tsr_op_operand(op, 1));
  x = tsr_site_reshape(&site, x, op->results[0].type);
  return tsr_site_replace(&site, op, &x);
}

static tsr_status decompose_replica_sum(tsr_rewriter *r, tsr_op *op) {
  tsr_site site = {.ir = r->ir, .r = r, .place = op};
  tsr_value *x = tsr_op_operand(op, 0);
  const tsr_site_attr groups = {"replica_groups", tsr_op_attr(op, "replica_groups")};
  if (!is_static(op)) return NULL;
  tsr_op *made =
      tsr_site_op(&site, TSR_OP_ALL_REDUCE, &x, 1, &op->results[0].type, 1, 1, &groups, 1);
  tsr_site_body(&site, made, TSR_OP_ADD, tsr_type_element(x->type));
  tsr_value *value = made ? &made->results[0] : NULL;
  return tsr_site_replace(&site, op, &value);
}

// ---- bodies moved out ----

typedef struct op_list {
  tsr_op **items;
  int64_t count, capacity;
} op_list;

static tsr_status collect_bodies(tsr_op *op, void *context) {
  op_list *list = context;
  if (op->info->id != TSR_OP_ASYNC_DONE && op->info->id != TSR_OP_SDY_NAMED_COMPUTATION)
    return NULL;
  tsr_op **items = tsr_grow(list->items, list->count, &list->capacity, sizeof *items);
  TSR_NEED(items);
  list->items = items;
  items[list->count++] = op;
  return NULL;
}

// Moves the body of `holder` before it, and gives the terminator's operands to the results of `op`.
static void move_out(tsr_op *holder, tsr_op *op) {
  tsr_ir_block *body = holder->region_count == 1 ? holder->regions[0].first : NULL;
  const tsr_op *end = body ? tsr_block_terminator(body) : NULL;
  if (!end || holder->regions[0].block_count != 1 || body->arg_count != holder->operand_count ||
      end->operand_count != op->result_count)
    return;
  for (int i = 0; i < op->result_count; i++)
    if (op->results[i].type != tsr_operand_type(end, i)) return;
  for (int i = 0; i < body->arg_count; i++)
    tsr_value_replace(body->args[i], tsr_op_operand(holder, i));
  while (body->first != end) {
    tsr_op *moved = body->first;
    tsr_op_unlink(moved);
    tsr_op_insert_before(holder, moved);
  }
  for (int i = 0; i < op->result_count; i++)
    tsr_value_replace(&op->results[i], tsr_op_operand(end, i));
  tsr_op_erase(op);
  if (holder != op) tsr_op_erase(holder);
}

static bool used_once(const tsr_value *value) { return value->uses && !value->uses->next; }

static tsr_status move_bodies_out(tsr_ir *ir) {
  op_list list = {.items = NULL};
  tsr_status status = tsr_op_walk(ir->module, collect_bodies, &list);
  for (int64_t i = 0; !status && i < list.count; i++) {
    tsr_op *op = list.items[i], *holder = op;
    if (op->info->id == TSR_OP_ASYNC_DONE) {
      holder = op->operand_count == 1 ? tsr_op_operand(op, 0)->def : NULL;
      if (!holder || holder->info->id != TSR_OP_ASYNC_START || holder->result_count != 1 ||
          !used_once(&holder->results[0]))
        continue;
    }
    move_out(holder, op);
  }
  free(list.items);
  return status;
}

// ---- all rules ----

static const tsr_rewrite_rule rules[] = {
    {TSR_OP_BROADCAST, decompose_broadcast},
    {TSR_OP_DYNAMIC_BROADCAST_IN_DIM, decompose_dynamic_broadcast},
    {TSR_OP_DYNAMIC_IOTA, decompose_dynamic_iota},
    {TSR_OP_DYNAMIC_RESHAPE, decompose_dynamic_reshape},
    {TSR_OP_DYNAMIC_PAD, decompose_dynamic_pad},
    {TSR_OP_REAL_DYNAMIC_SLICE, decompose_real_slice},
    {TSR_OP_DYNAMIC_GATHER, decompose_dynamic_gather},
    {TSR_OP_DYNAMIC_CONV, decompose_dynamic_conv},
    {TSR_OP_TORCH_INDEX_SELECT, decompose_index_select},
    {TSR_OP_DOT, decompose_dot},
    {TSR_OP_EINSUM, tsr_decompose_einsum},
    {TSR_OP_UNARY_EINSUM, tsr_decompose_unary_einsum},
    {TSR_OP_BATCH_NORM_INFERENCE, tsr_decompose_norm},
    {TSR_OP_BATCH_NORM_TRAINING, tsr_decompose_norm_training},
    {TSR_OP_BATCH_NORM_GRAD, tsr_decompose_norm_grad},
    {TSR_OP_CHLO_CONSTANT_LIKE, decompose_constant_like},
    {TSR_OP_CHLO_SCAN, tsr_decompose_scan},
    {TSR_OP_REDUCE, decompose_promotion},
    {TSR_OP_REDUCE, split_groups},
    {TSR_OP_REDUCE, widen_rows},
    {TSR_OP_REDUCE_WINDOW, decompose_promotion},
    {TSR_OP_ALL_REDUCE, promote_collective},
    {TSR_OP_COLLECTIVE_REDUCE, promote_collective},
    {TSR_OP_REDUCE_SCATTER, promote_collective},
    {TSR_OP_CROSS_REPLICA_SUM, decompose_replica_sum},
    {TSR_OP_UNKNOWN, decompose_broadcasting},
};

static tsr_status is_needed(tsr_op *op, void *context) {
  bool *needed = context;
  if (op->info->id == TSR_OP_REDUCE || op->info->id == TSR_OP_REDUCE_WINDOW) {
    const int64_t count = op->operand_count ? tsr_type_element_count(tsr_operand_type(op, 0)) : 0;
    *needed = *needed || is_promoted(op) || count >= SPLIT_ELEMENTS;
    return NULL;
  }
  if (reduces_between_processes(op)) {
    *needed = *needed || is_promoted_collective(op);
    return NULL;
  }
  for (size_t i = 0; i + 1 < sizeof rules / sizeof *rules; i++)
    *needed = *needed || rules[i].id == op->info->id;
  *needed = *needed || !strncmp(op->name, "chlo.broadcast_", 15);
  return NULL;
}

tsr_status tsr_decompose(tsr_ir *ir) {
  const tsr_rewrite_set own = TSR_REWRITE_SET(rules);
  const tsr_rewrite_set sets[] = {own, tsr_fold_rules()};
  const tsr_pass_options options = {0};
  int64_t changes = 0;
  bool needed = false;
  TSR_TRY(move_bodies_out(ir));
  TSR_TRY(tsr_op_walk(ir->module, is_needed, &needed));
  return needed ? tsr_rewrite(ir, &options, sets, 2, &changes) : NULL;
}
