// Ops with regions: reductions, maps, sorts, control flow; and dot_general, which is one of its
// own.
#include "simplify/evaluator.h"

// ---- running regions ----

bool tsr_argument_set(const tsr_value *argument, const tsr_constant *from, int64_t index,
                      tsr_constant *out) {
  if (!tsr_constant_open(argument->type, out) || out->count != 1) return false;
  if (out->scalar.bytes != from->scalar.bytes) return false;
  memcpy(out->one, tsr_constant_at(from, index), (size_t)from->scalar.bytes);
  return true;
}

bool tsr_constant_put(const tsr_constant *scalar, tsr_constant *out, int64_t index) {
  const size_t width = (size_t)out->scalar.bytes;
  if (scalar->scalar.bytes != out->scalar.bytes || scalar->count != 1) return false;
  memcpy(out->bytes ? (char *)out->bytes + (size_t)index * width : out->one, scalar->one, width);
  return true;
}

tsr_ir_block *tsr_region_block(const tsr_op *op, int region, int arguments) {
  if (region >= op->region_count || op->regions[region].block_count != 1) return NULL;
  tsr_ir_block *block = op->regions[region].first;
  return block->arg_count == arguments ? block : NULL;
}

bool tsr_eval_map(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                  tsr_constant *results) {
  tsr_ir_block *block = tsr_region_block(op, 0, op->operand_count);
  if (!block || !tsr_constant_fill(e, op->results[0].type, results)) return false;
  for (int64_t i = 0; i < results->count; i++) {
    tsr_constant *arguments = tsr_block_slots(e, block), made;
    for (int k = 0; k < op->operand_count; k++) {
      if (operands[k]->count != results->count) return false;
      if (!tsr_argument_set(block->args[k], operands[k], i, &arguments[k])) return false;
    }
    if (!tsr_block_run(e, block, &made, 1) || !tsr_constant_put(&made, results, i)) return false;
  }
  return true;
}

// ---- reduce ----

// The op of a body that is `return op(accumulator, element)`, the common case; NULL for others.
static tsr_scalar_fn *plain_body(const tsr_ir_block *block, const tsr_constant *input) {
  const tsr_op *op = block->first;
  if (block->arg_count != 2 || !op || op->next != block->last || op == block->last) return NULL;
  if (op->operand_count != 2 || op->result_count != 1 || block->last->operand_count != 1)
    return NULL;
  if (tsr_op_operand(op, 0) != block->args[0] || tsr_op_operand(op, 1) != block->args[1] ||
      tsr_op_operand(block->last, 0) != &op->results[0] ||
      tsr_type_element(op->results[0].type) != tsr_type_element(input->type))
    return NULL;
  return tsr_scalar_op(op->info->id, input->scalar.kind);
}

static bool reduce_plain(tsr_scalar_fn *function, const tsr_constant *input, tsr_walk *walk,
                         tsr_constant *out) {
  int64_t i = 0;
  for (bool more = tsr_walk_start(walk); more; more = tsr_walk_next(walk), i++) {
    char *target = out->bytes ? (char *)out->bytes + walk->offset * out->scalar.bytes : out->one;
    const tsr_scalar pair[3] = {tsr_scalar_load(&out->scalar, target),
                                tsr_scalar_load(&input->scalar, tsr_constant_at(input, i))};
    tsr_scalar made = {.i = 0};
    if (!function(&input->scalar, pair, &made) || !tsr_scalar_store(&out->scalar, made, target))
      return false;
  }
  return true;
}

bool tsr_accumulate(tsr_evaluator *e, tsr_ir_block *block, int inputs, tsr_constant *results,
                    int64_t at, const tsr_constant *const *elements, int64_t element) {
  tsr_constant *arguments = tsr_block_slots(e, block), near[4];
  tsr_constant *made = inputs <= 4 ? near : tsr_evaluator_alloc(e, inputs, sizeof *made);
  for (int k = 0; made && k < inputs; k++)
    if (!tsr_argument_set(block->args[k], &results[k], at, &arguments[k]) ||
        !tsr_argument_set(block->args[inputs + k], elements[k], element, &arguments[inputs + k]))
      return false;
  if (!made || !tsr_block_run(e, block, made, inputs)) return false;
  for (int k = 0; k < inputs; k++)
    if (!tsr_constant_put(&made[k], &results[k], at)) return false;
  return true;
}

static bool reduce_block(tsr_evaluator *e, tsr_ir_block *block, int inputs,
                         const tsr_constant *const *operands, tsr_walk *walk, tsr_constant *out) {
  int64_t i = 0;
  for (bool more = tsr_walk_start(walk); more; more = tsr_walk_next(walk))
    if (!tsr_accumulate(e, block, inputs, out, walk->offset, operands, i++)) return false;
  return true;
}

// A walk over the input whose offset is the element of the result that an index belongs to.
static bool reduce_walk(const tsr_op *op, const tsr_type *input, tsr_walk *walk) {
  int64_t dims[TSR_EVALUATED_RANK];
  const int count = tsr_dims_of_attr(tsr_op_attr(op, "dimensions"), input->rank, input->rank, dims);
  if (count < 0 || !tsr_walk_init(walk, input)) return false;
  int64_t stride = 1;
  for (int d = input->rank - 1; d >= 0; d--) {
    if (tsr_has_dim(dims, count, d)) continue;
    walk->strides[d] = stride;
    stride *= input->dims[d];
  }
  return true;
}

bool tsr_eval_reduce(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                     tsr_constant *results) {
  const int inputs = op->result_count;
  tsr_ir_block *block = tsr_region_block(op, 0, 2 * inputs);
  tsr_walk walk;
  if (!block || inputs < 1 || op->operand_count != 2 * inputs) return false;
  if (!reduce_walk(op, operands[0]->type, &walk)) return false;
  if (!tsr_evaluator_spend(e, operands[0]->count)) return false;
  for (int k = 0; k < inputs; k++) {
    const tsr_constant *init = operands[inputs + k];
    if (!tsr_constant_fill(e, op->results[k].type, &results[k]) || init->count != 1) return false;
    if (operands[k]->count != operands[0]->count || !tsr_walk_fits(&walk, results[k].count))
      return false;
    for (int64_t i = 0; i < results[k].count; i++)
      if (!tsr_constant_put(init, &results[k], i)) return false;
  }
  tsr_scalar_fn *plain = inputs == 1 ? plain_body(block, operands[0]) : NULL;
  if (plain && results[0].scalar.dtype == operands[0]->scalar.dtype)
    return reduce_plain(plain, operands[0], &walk, results);
  return reduce_block(e, block, inputs, operands, &walk, results);
}

// ---- dot_general ----

typedef struct dot_side {
  int64_t batching[TSR_EVALUATED_RANK], contracting[TSR_EVALUATED_RANK];
  int batching_count, contracting_count;
} dot_side;

static bool read_side(const tsr_attr *record, int batching, int contracting, int rank,
                      dot_side *out) {
  out->batching_count =
      tsr_dims_of_attr(tsr_attr_field(record, batching), rank, rank, out->batching);
  out->contracting_count =
      tsr_dims_of_attr(tsr_attr_field(record, contracting), rank, rank, out->contracting);
  return out->batching_count >= 0 && out->contracting_count >= 0;
}

// Strides of a side over the result's dimensions (batch, free of lhs, free of rhs) into `outer`,
// and over the contracted ones into `inner`. Gives the number of its free dimensions.
static int side_walks(const dot_side *side, const tsr_type *type, int free_at, tsr_walk *outer,
                      tsr_walk *inner) {
  int64_t strides[TSR_EVALUATED_RANK];
  int free_count = 0;
  tsr_strides_of(type, strides);
  for (int i = 0; i < side->batching_count; i++) outer->strides[i] = strides[side->batching[i]];
  for (int i = 0; i < side->contracting_count; i++) {
    inner->strides[i] = strides[side->contracting[i]];
    inner->dims[i] = type->dims[side->contracting[i]];
  }
  inner->rank = side->contracting_count;
  for (int d = 0; d < type->rank; d++) {
    if (tsr_has_dim(side->batching, side->batching_count, d)) continue;
    if (tsr_has_dim(side->contracting, side->contracting_count, d)) continue;
    if (free_at + free_count >= outer->rank) return -1;
    outer->strides[free_at + free_count++] = strides[d];
  }
  return free_count;
}

// Products and sums are rounded one by one, in the order of the indices, to the result's type, or
// to f64 where that is narrower than f32.
static tsr_scalar_type sum_type(const tsr_scalar_type *type) {
  const bool narrow =
      type->kind == TSR_CLASS_FLOAT && type->dtype != TSR_F32 && type->dtype != TSR_F64;
  return narrow ? (tsr_scalar_type){TSR_F64, TSR_CLASS_FLOAT, 64, 8} : *type;
}

static bool dot_element(const tsr_constant *const *operands, const tsr_scalar_type *type,
                        tsr_walk *left, tsr_walk *right, char *out) {
  tsr_scalar_fn *multiply = tsr_scalar_op(TSR_OP_MULTIPLY, type->kind);
  tsr_scalar_fn *add = tsr_scalar_op(TSR_OP_ADD, type->kind);
  char sum[TSR_SCALAR_BYTES] = {0}, a[TSR_SCALAR_BYTES], b[TSR_SCALAR_BYTES];
  bool more = tsr_walk_start(left) && tsr_walk_start(right);
  for (; more; more = tsr_walk_next(left) && tsr_walk_next(right)) {
    const tsr_scalar_type *from[2] = {&operands[0]->scalar, &operands[1]->scalar};
    const tsr_scalar x = tsr_scalar_load(from[0], tsr_constant_at(operands[0], left->offset));
    const tsr_scalar y = tsr_scalar_load(from[1], tsr_constant_at(operands[1], right->offset));
    if (!tsr_scalar_convert(from[0], type, x, a) || !tsr_scalar_convert(from[1], type, y, b))
      return false;
    tsr_scalar pair[3] = {tsr_scalar_load(type, a), tsr_scalar_load(type, b)}, made = {.i = 0};
    if (!multiply(type, pair, &made) || !tsr_scalar_store(type, made, a)) return false;
    pair[0] = tsr_scalar_load(type, sum), pair[1] = tsr_scalar_load(type, a);
    if (!add(type, pair, &made) || !tsr_scalar_store(type, made, sum)) return false;
  }
  memcpy(out, sum, (size_t)type->bytes);
  return true;
}

bool tsr_eval_dot_general(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                          tsr_constant *results) {
  const tsr_type *type = op->results[0].type;
  const tsr_attr *record = tsr_op_attr(op, "dot_dimension_numbers");
  dot_side lhs, rhs;
  tsr_walk outer[2], inner[2] = {{.rank = 0}, {.rank = 0}};
  if (!record || record->kind != TSR_ATTR_RECORD || tsr_op_attr(op, "algorithm")) return false;
  if (!tsr_walk_init(&outer[0], type) || !tsr_walk_init(&outer[1], type)) return false;
  if (!read_side(record, TSR_DOT_LHS_BATCHING, TSR_DOT_LHS_CONTRACTING, operands[0]->type->rank,
                 &lhs) ||
      !read_side(record, TSR_DOT_RHS_BATCHING, TSR_DOT_RHS_CONTRACTING, operands[1]->type->rank,
                 &rhs))
    return false;
  const int left = side_walks(&lhs, operands[0]->type, lhs.batching_count, &outer[0], &inner[0]);
  const int right = left < 0 ? -1
                             : side_walks(&rhs, operands[1]->type, rhs.batching_count + left,
                                          &outer[1], &inner[1]);
  if (right < 0 || lhs.batching_count + left + right != type->rank) return false;
  char *to = tsr_constant_fill(e, type, results);
  int64_t depth = 1, work = 0;
  for (int i = 0; i < inner[0].rank; i++) depth *= inner[0].dims[i];
  if (!to || results->scalar.dtype == TSR_F8E8M0FNU) return false;
  const tsr_scalar_type summed = sum_type(&results->scalar);
  if (__builtin_mul_overflow(depth, results->count, &work) || !tsr_evaluator_spend(e, work))
    return false;
  bool more = tsr_walk_start(&outer[0]) && tsr_walk_start(&outer[1]);
  for (; more; more = tsr_walk_next(&outer[0]) && tsr_walk_next(&outer[1])) {
    inner[0].base = outer[0].offset;
    inner[1].base = outer[1].offset;
    if (!tsr_walk_fits(&inner[0], operands[0]->count) ||
        !tsr_walk_fits(&inner[1], operands[1]->count))
      return false;
    char sum[TSR_SCALAR_BYTES];
    if (!dot_element(operands, &summed, &inner[0], &inner[1], sum)) return false;
    if (!tsr_scalar_store(&results->scalar, tsr_scalar_load(&summed, sum), to)) return false;
    to += results->scalar.bytes;
  }
  return true;
}

// ---- sort ----

typedef struct sort_order {
  tsr_evaluator *e;
  tsr_ir_block *block;
  const tsr_constant *const *operands;
  int inputs;
} sort_order;

// Whether element `a` stands before `b`.
static bool stands_before(const sort_order *s, int64_t a, int64_t b, bool *out_truth) {
  tsr_constant *arguments = tsr_block_slots(s->e, s->block), made;
  for (int k = 0; k < s->inputs; k++)
    if (!tsr_argument_set(s->block->args[2 * k], s->operands[k], a, &arguments[2 * k]) ||
        !tsr_argument_set(s->block->args[2 * k + 1], s->operands[k], b, &arguments[2 * k + 1]))
      return false;
  if (!tsr_block_run(s->e, s->block, &made, 1)) return false;
  *out_truth = made.one[0] != 0;
  return made.scalar.kind == TSR_CLASS_BOOL;
}

// Merges runs of `width`, twice as wide each time: stable, and it ends whatever the order says.
static bool merge_runs(const sort_order *s, int64_t *order, int64_t *spare, int64_t count) {
  for (int64_t width = 1; width < count; width *= 2) {
    for (int64_t start = 0; start < count; start += 2 * width) {
      const int64_t middle = start + width < count ? start + width : count;
      const int64_t end = middle + width < count ? middle + width : count;
      int64_t a = start, b = middle;
      for (int64_t i = start; i < end; i++) {
        bool second = a >= middle;
        if (a < middle && b < end && !stands_before(s, order[b], order[a], &second)) return false;
        spare[i] = second ? order[b++] : order[a++];
      }
    }
    memcpy(order, spare, (size_t)count * sizeof *order);
  }
  return true;
}

bool tsr_eval_sort(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                   tsr_constant *results) {
  const tsr_type *type = op->results[0].type;
  const int inputs = op->operand_count;
  int64_t dim = tsr_op_int(op, "dimension", -1);
  if (dim < 0) dim += type->rank;
  sort_order s = {e, tsr_region_block(op, 0, 2 * inputs), operands, inputs};
  if (!s.block || op->result_count != inputs || dim < 0 || dim >= type->rank) return false;
  for (int k = 0; k < inputs; k++)
    if (!tsr_constant_fill(e, op->results[k].type, &results[k]) ||
        results[k].count != operands[0]->count || operands[k]->count != operands[0]->count)
      return false;
  const int64_t length = type->dims[dim];
  int64_t stride = 1;
  for (int d = (int)dim + 1; d < type->rank; d++) stride *= type->dims[d];
  int64_t *order = tsr_evaluator_alloc(e, 2 * length, sizeof *order);
  if (!order) return false;
  for (int64_t line = 0; length && line < operands[0]->count / length; line++) {
    const int64_t base = line / stride * stride * length + line % stride;
    for (int64_t i = 0; i < length; i++) order[i] = base + i * stride;
    if (!merge_runs(&s, order, order + length, length)) return false;
    for (int k = 0; k < inputs; k++)
      for (int64_t i = 0; i < length; i++) {
        char *to = results[k].bytes ? (char *)results[k].bytes : results[k].one;
        memcpy(to + (base + i * stride) * results[k].scalar.bytes,
               tsr_constant_at(operands[k], order[i]), (size_t)results[k].scalar.bytes);
      }
  }
  return true;
}

// ---- control flow ----

bool tsr_eval_case(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                   tsr_constant *results) {
  const int64_t wanted = tsr_constant_integer(operands[0], 0), last = op->region_count - 1;
  tsr_ir_block *block = tsr_region_block(op, (int)(wanted < 0 || wanted > last ? last : wanted), 0);
  return block && tsr_block_run(e, block, results, op->result_count);
}

bool tsr_eval_if(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                 tsr_constant *results) {
  tsr_ir_block *block = tsr_region_block(op, operands[0]->one[0] ? 0 : 1, 0);
  return block && tsr_block_run(e, block, results, op->result_count);
}

bool tsr_eval_while(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                    tsr_constant *results) {
  const int count = op->result_count;
  tsr_ir_block *test = tsr_region_block(op, 0, count), *body = tsr_region_block(op, 1, count);
  if (!test || !body || op->operand_count != count) return false;
  for (int i = 0; i < count; i++) results[i] = *operands[i];
  const size_t size = (size_t)count * sizeof *results;
  while (tsr_evaluator_spend(e, 1)) {
    tsr_constant go_on;
    if (count) memcpy(tsr_block_slots(e, test), results, size);
    if (!tsr_block_run(e, test, &go_on, 1) || go_on.scalar.kind != TSR_CLASS_BOOL) return false;
    if (!go_on.one[0]) return true;
    if (count) memcpy(tsr_block_slots(e, body), results, size);
    if (!tsr_block_run(e, body, results, count)) return false;
  }
  return false;
}
