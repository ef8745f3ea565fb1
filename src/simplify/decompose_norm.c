// Batch normalisation and scans, as plain ops: the formulas of the specification.
#include <string.h>

#include "simplify/decompose_build.h"

enum { MOST_RANK = 32 };

// ---- batch normalisation ----

// What the formulas share. Per-feature tensors are broadcast along the feature's dim.
typedef struct norm_parts {
  tsr_site site;
  const tsr_type *type;  // of the operand
  int64_t feature;
  double count;  // elements of a feature
  tsr_value *epsilon;
} norm_parts;

static bool norm_open(tsr_rewriter *r, tsr_op *op, norm_parts *out) {
  const tsr_type *type = tsr_operand_type(op, 0);
  const tsr_attr *epsilon = tsr_op_attr(op, "epsilon");
  const int64_t feature = tsr_op_int(op, "feature_index", -1);
  if (!tsr_type_is_static(type) || type->rank > MOST_RANK || feature < 0 || feature >= type->rank)
    return false;
  if (!epsilon || epsilon->kind != TSR_ATTR_FLOAT || tsr_type_bits(epsilon->type) != 32)
    return false;
  const uint32_t bits = (uint32_t)epsilon->bits;
  float number;
  memcpy(&number, &bits, sizeof number);
  *out = (norm_parts){.site = {.ir = r->ir, .r = r, .place = op}, .type = type, .feature = feature};
  const int64_t features = type->dims[feature];
  const int64_t others = features ? tsr_type_element_count(type) / features : 0;
  out->count = (double)others;
  out->epsilon = tsr_site_number(&out->site, type, (double)number);
  return true;
}

static tsr_value *spread(norm_parts *n, tsr_value *x) {
  return tsr_site_broadcast(&n->site, x, n->type, &n->feature);
}

static tsr_value *sum_of(norm_parts *n, tsr_value *x) {
  bool kept[MOST_RANK] = {false};
  kept[n->feature] = true;
  return tsr_site_sum(&n->site, x, kept);
}

static tsr_value *mean_of(norm_parts *n, tsr_value *x) {
  tsr_value *sum = sum_of(n, x);
  return sum ? tsr_site_binary(&n->site, TSR_OP_DIVIDE, sum,
                               tsr_site_number(&n->site, sum->type, n->count))
             : NULL;
}

// The root of the variance, moved away from 0.
static tsr_value *deviation_of(norm_parts *n, tsr_value *variance) {
  tsr_value *moved = tsr_site_binary(&n->site, TSR_OP_ADD, spread(n, variance), n->epsilon);
  return tsr_site_unary(&n->site, TSR_OP_SQRT, moved);
}

static tsr_value *normalised(norm_parts *n, tsr_value *x, tsr_value *scale, tsr_value *offset,
                             tsr_value *mean, tsr_value *variance) {
  tsr_value *centred = tsr_site_binary(&n->site, TSR_OP_SUBTRACT, x, spread(n, mean));
  tsr_value *divided = tsr_site_binary(&n->site, TSR_OP_DIVIDE, centred, deviation_of(n, variance));
  tsr_value *scaled = tsr_site_binary(&n->site, TSR_OP_MULTIPLY, spread(n, scale), divided);
  return tsr_site_binary(&n->site, TSR_OP_ADD, scaled, spread(n, offset));
}

tsr_status tsr_decompose_norm(tsr_rewriter *r, tsr_op *op) {
  norm_parts n;
  if (!norm_open(r, op, &n)) return NULL;
  tsr_value *made = normalised(&n, tsr_op_operand(op, 0), tsr_op_operand(op, 1),
                               tsr_op_operand(op, 2), tsr_op_operand(op, 3), tsr_op_operand(op, 4));
  return tsr_site_replace(&n.site, op, &made);
}

tsr_status tsr_decompose_norm_training(tsr_rewriter *r, tsr_op *op) {
  norm_parts n;
  if (!norm_open(r, op, &n)) return NULL;
  tsr_value *x = tsr_op_operand(op, 0), *mean = mean_of(&n, x);
  tsr_value *centred = tsr_site_binary(&n.site, TSR_OP_SUBTRACT, x, spread(&n, mean));
  tsr_value *variance = mean_of(&n, tsr_site_binary(&n.site, TSR_OP_MULTIPLY, centred, centred));
  tsr_value *const made[3] = {
      normalised(&n, x, tsr_op_operand(op, 1), tsr_op_operand(op, 2), mean, variance), mean,
      variance};
  return tsr_site_replace(&n.site, op, made);
}

tsr_status tsr_decompose_norm_grad(tsr_rewriter *r, tsr_op *op) {
  norm_parts n;
  if (!norm_open(r, op, &n)) return NULL;
  tsr_site *s = &n.site;
  tsr_value *x = tsr_op_operand(op, 0), *scale = tsr_op_operand(op, 1);
  tsr_value *mean = tsr_op_operand(op, 2), *variance = tsr_op_operand(op, 3);
  tsr_value *grad = tsr_op_operand(op, 4);
  tsr_value *count = tsr_site_number(s, n.type, n.count);
  tsr_value *centred = tsr_site_binary(s, TSR_OP_SUBTRACT, x, spread(&n, mean));
  tsr_value *moved = tsr_site_binary(s, TSR_OP_ADD, spread(&n, variance), n.epsilon);
  tsr_value *deviation = tsr_site_unary(s, TSR_OP_SQRT, moved);
  tsr_value *sum = sum_of(&n, grad);
  tsr_value *together = sum_of(&n, tsr_site_binary(s, TSR_OP_MULTIPLY, grad, centred));
  // grad * count - sum of grad - centred * (sum of grad * centred) / (variance + epsilon)
  tsr_value *first = tsr_site_binary(s, TSR_OP_MULTIPLY, grad, count);
  tsr_value *second = tsr_site_binary(s, TSR_OP_SUBTRACT, first, spread(&n, sum));
  tsr_value *third = tsr_site_binary(s, TSR_OP_MULTIPLY, spread(&n, together), centred);
  third = tsr_site_binary(s, TSR_OP_DIVIDE, third, moved);
  tsr_value *inner = tsr_site_binary(s, TSR_OP_SUBTRACT, second, third);
  tsr_value *factor = tsr_site_binary(s, TSR_OP_DIVIDE, spread(&n, scale), deviation);
  factor = tsr_site_binary(s, TSR_OP_DIVIDE, factor, count);
  tsr_value *divided = tsr_site_binary(s, TSR_OP_DIVIDE, centred, deviation);
  tsr_value *const made[3] = {tsr_site_binary(s, TSR_OP_MULTIPLY, factor, inner),
                              sum_of(&n, tsr_site_binary(s, TSR_OP_MULTIPLY, grad, divided)), sum};
  return tsr_site_replace(s, op, made);
}

// ---- chlo.scan: a loop that carries its outputs ----

typedef struct scan_parts {
  tsr_site site;
  tsr_op *op;
  int inputs, carries, outputs;
  int64_t dim, size;
  bool reverse;
  const tsr_type *index;  // tensor<i32>
} scan_parts;

static int first_segment(const tsr_op *op, const char *name, int count) {
  const tsr_attr *attr = tsr_op_attr(op, name);
  int32_t sizes[2];
  if (!attr || attr->kind != TSR_ATTR_DENSE_ARRAY || attr->count != 2 ||
      attr->type->kind != TSR_TYPE_INTEGER || attr->type->width != 32)
    return -1;
  memcpy(sizes, attr->bytes, sizeof sizes);
  return sizes[0] >= 0 && sizes[0] <= count && sizes[1] == count - sizes[0] ? sizes[0] : -1;
}

static bool scan_open(tsr_rewriter *r, tsr_op *op, scan_parts *s) {
  *s = (scan_parts){.site = {.ir = r->ir, .r = r, .place = op},
                    .op = op,
                    .inputs = first_segment(op, "operandSegmentSizes", op->operand_count),
                    .outputs = first_segment(op, "resultSegmentSizes", op->result_count),
                    .dim = tsr_op_int(op, "dimension", 0),
                    .size = tsr_op_int(op, "scan_dim_size", -1),
                    .reverse = tsr_op_flag(op, "is_reverse")};
  s->carries = op->operand_count - s->inputs;
  s->index = tsr_type_shaped(r->ir, TSR_I32, 0, NULL);
  if (s->inputs < 0 || s->outputs < 0 || op->result_count - s->outputs != s->carries) return false;
  if (s->inputs && s->dim < tsr_operand_type(op, 0)->rank)
    s->size = tsr_operand_type(op, 0)->dims[s->dim];
  const tsr_ir_block *body = op->regions[0].first;
  const tsr_op *end = body ? tsr_block_terminator(body) : NULL;
  for (int i = 0; i < op->operand_count; i++)
    if (!tsr_type_is_static(tsr_operand_type(op, i)) || tsr_operand_type(op, i)->rank > MOST_RANK)
      return false;
  for (int i = 0; i < op->result_count; i++)
    if (!tsr_type_is_static(op->results[i].type) || op->results[i].type->rank > MOST_RANK)
      return false;
  return end && op->regions[0].block_count == 1 && body->arg_count == op->operand_count &&
         end->operand_count == op->result_count && s->size >= 0 && s->size <= INT32_MAX && s->index;
}

// A block of the loop with an argument for the counter, each output and each carry.
static tsr_ir_block *loop_block(scan_parts *s, tsr_op *loop, int region) {
  tsr_ir_block *block = tsr_block_append(s->site.r->ir, &loop->regions[region]);
  bool made = block != NULL;
  for (int i = 0; made && i < loop->operand_count; i++)
    made = tsr_block_add_arg(s->site.r->ir, block, tsr_operand_type(loop, i), NULL) != NULL;
  if (!made && !s->site.failure) s->site.failure = tsr_fail(NO_MEMORY, "memory of a program");
  s->site.block = block;
  return made ? block : NULL;
}

static void build_condition(scan_parts *s, tsr_op *loop) {
  tsr_ir_block *block = loop_block(s, loop, 0);
  if (!block) return;
  const tsr_type *truth = tsr_type_shaped(s->site.r->ir, TSR_BOOL, 0, NULL);
  tsr_value *const sides[] = {block->args[0], tsr_site_number(&s->site, s->index, (double)s->size)};
  const tsr_site_attr attrs[] = {
      {"comparison_direction", tsr_attr_enum(s->site.r->ir, TSR_ENUM_DIRECTION, TSR_DIRECTION_LT)},
      {"compare_type",
       tsr_attr_enum(s->site.r->ir, TSR_ENUM_COMPARE_TYPE, TSR_COMPARE_TYPE_SIGNED)}};
  tsr_value *goes_on = tsr_site_add(&s->site, TSR_OP_COMPARE, truth, sides, 2, attrs, 2);
  tsr_site_op(&s->site, TSR_OP_RETURN, &goes_on, 1, NULL, 0, 0, NULL, 0);
}

// The type with one element along the scanned dim.
static const tsr_type *thin_type(scan_parts *s, const tsr_type *type) {
  int64_t dims[MOST_RANK];
  memcpy(dims, type->dims, (size_t)type->rank * sizeof *dims);
  if (s->dim < type->rank) dims[s->dim] = 1;
  return tsr_type_tensor(s->site.r->ir, type->element, type->rank, dims, NULL);
}

// The start of a slice: `at` along the scanned dim, 0 along others, after `first` operands.
static void add_starts(scan_parts *s, tsr_value *at, int rank, tsr_value **operands) {
  tsr_value *zero = tsr_site_number(&s->site, s->index, 0);
  for (int d = 0; d < rank; d++) operands[d] = d == s->dim ? at : zero;
}

static tsr_value *slice_at(scan_parts *s, tsr_value *input, tsr_value *at, const tsr_type *type) {
  const tsr_type *thin = thin_type(s, input->type);
  tsr_value *operands[1 + MOST_RANK] = {input};
  if (!thin) return NULL;
  add_starts(s, at, input->type->rank, operands + 1);
  const tsr_site_attr sizes = {"slice_sizes", tsr_attr_ints(s->site.r->ir, thin->dims, thin->rank)};
  tsr_value *slice = tsr_site_add(&s->site, TSR_OP_DYNAMIC_SLICE, thin, operands,
                                  1 + input->type->rank, &sizes, 1);
  return tsr_site_reshape(&s->site, slice, type);
}

static tsr_value *put_at(scan_parts *s, tsr_value *output, tsr_value *at, tsr_value *made) {
  tsr_value *operands[2 + MOST_RANK] = {
      output, tsr_site_reshape(&s->site, made, thin_type(s, output->type))};
  add_starts(s, at, output->type->rank, operands + 2);
  return tsr_site_add(&s->site, TSR_OP_DYNAMIC_UPDATE_SLICE, output->type, operands,
                      2 + output->type->rank, NULL, 0);
}

// Moves the ops of the scan's body to the loop's, with its arguments replaced.
static void move_body(scan_parts *s, tsr_ir_block *to, tsr_value *at) {
  tsr_ir_block *body = s->op->regions[0].first;
  for (int i = 0; i < body->arg_count && !s->site.failure; i++) {
    tsr_value *value = i < s->inputs
                           ? slice_at(s, tsr_op_operand(s->op, i), at, body->args[i]->type)
                           : to->args[1 + s->outputs + i - s->inputs];
    if (value) tsr_value_replace(body->args[i], value);
  }
  const tsr_op *end = tsr_block_terminator(body);
  while (body->first != end) {
    tsr_op *op = body->first;
    tsr_op_unlink(op);
    tsr_op_append(to, op);
  }
}

static void build_loop_body(scan_parts *s, tsr_op *loop) {
  tsr_ir_block *block = loop_block(s, loop, 1);
  if (!block) return;
  tsr_value *counter = block->args[0], *at = counter;
  if (s->reverse)
    at = tsr_site_binary(&s->site, TSR_OP_SUBTRACT,
                         tsr_site_number(&s->site, s->index, (double)(s->size - 1)), counter);
  move_body(s, block, at);
  const tsr_op *end = tsr_block_terminator(s->op->regions[0].first);
  tsr_value **next = tsr_ir_alloc(s->site.r->ir, (size_t)loop->operand_count * sizeof(tsr_value *));
  if (!next) {
    if (!s->site.failure) s->site.failure = tsr_fail(NO_MEMORY, "memory of a program");
    return;
  }
  next[0] = tsr_site_binary(&s->site, TSR_OP_ADD, counter, tsr_site_number(&s->site, s->index, 1));
  for (int i = 0; i < s->outputs; i++)
    next[1 + i] = put_at(s, block->args[1 + i], at, tsr_op_operand(end, i));
  for (int i = 0; i < s->carries; i++)
    next[1 + s->outputs + i] = tsr_op_operand(end, s->outputs + i);
  tsr_site_op(&s->site, TSR_OP_RETURN, next, loop->operand_count, NULL, 0, 0, NULL, 0);
}

tsr_status tsr_decompose_scan(tsr_rewriter *r, tsr_op *op) {
  scan_parts s;
  if (!scan_open(r, op, &s)) return NULL;
  const int count = 1 + op->result_count;
  tsr_value **values = tsr_ir_alloc(r->ir, (size_t)count * sizeof *values);
  const tsr_type **types = tsr_ir_alloc(r->ir, (size_t)count * sizeof *types);
  TSR_NEED(values);
  TSR_NEED(types);
  values[0] = tsr_site_number(&s.site, s.index, 0);
  for (int i = 0; i < s.outputs; i++)
    values[1 + i] = tsr_site_number(&s.site, op->results[i].type, 0);
  for (int i = 0; i < s.carries; i++) values[1 + s.outputs + i] = tsr_op_operand(op, s.inputs + i);
  for (int i = 0; i < count; i++) {
    if (!values[i]) return s.site.failure;
    types[i] = values[i]->type;
  }
  tsr_op *loop = tsr_site_op(&s.site, TSR_OP_WHILE, values, count, types, count, 2, NULL, 0);
  if (!loop) return s.site.failure;
  build_condition(&s, loop);
  build_loop_body(&s, loop);
  s.site.block = NULL;
  for (int i = 0; i < op->result_count; i++) values[i] = &loop->results[1 + i];
  return tsr_site_replace(&s.site, op, values);
}
