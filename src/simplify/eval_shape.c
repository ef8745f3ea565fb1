// Ops that only move elements. Most are one walk: the element at each index of the result stands at
// an offset in the operand that is linear in the index, so an op only states base and strides.
#include "simplify/evaluator.h"

// The elements of `operand` at the walk's offsets, in its order.
static bool move(tsr_evaluator *e, const tsr_constant *operand, tsr_walk *walk,
                 const tsr_type *type, tsr_constant *out) {
  if (!tsr_constant_open(type, out) || out->scalar.dtype != operand->scalar.dtype) return false;
  if (!tsr_walk_fits(walk, operand->count)) return false;
  memcpy(out->one, operand->one, sizeof out->one);
  if (!operand->bytes) return true;
  char *to = tsr_constant_fill(e, type, out);
  if (!to) return false;
  const size_t width = (size_t)out->scalar.bytes;
  for (bool more = tsr_walk_start(walk); more; more = tsr_walk_next(walk), to += width)
    memcpy(to, tsr_constant_at(operand, walk->offset), width);
  return true;
}

// Writes all of `source`, in its order, to the walk's offsets of `target`.
static void put(const tsr_constant *source, tsr_walk *walk, char *target) {
  const size_t width = (size_t)source->scalar.bytes;
  int64_t i = 0;
  for (bool more = tsr_walk_start(walk); more; more = tsr_walk_next(walk))
    memcpy(target + (size_t)walk->offset * width, tsr_constant_at(source, i++), width);
}

static void put_all(const tsr_constant *source, int64_t count, char *target) {
  const size_t width = (size_t)source->scalar.bytes;
  for (int64_t i = 0; i < count; i++)
    memcpy(target + (size_t)i * width, tsr_constant_at(source, i), width);
}

static bool same_rank(const tsr_constant *operand, const tsr_op *op) {
  return tsr_constant_rank(operand) == op->results[0].type->rank;
}

bool tsr_eval_constant(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                       tsr_constant *results) {
  (void)e, (void)operands;
  return tsr_constant_of_attr(tsr_op_attr(op, "value"), results);
}

bool tsr_eval_iota(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                   tsr_constant *results) {
  (void)operands;
  const int64_t dim = tsr_op_int(op, "iota_dimension", -1);
  const tsr_type *type = op->results[0].type;
  tsr_walk walk;
  if (!tsr_constant_open(type, results) || dim < 0 || dim >= type->rank) return false;
  if (!tsr_walk_init(&walk, type)) return false;
  const bool splat = type->dims[dim] <= 1;
  char *to = splat ? results->one : tsr_constant_fill(e, type, results);
  if (!to) return false;
  const tsr_scalar_type whole = {.kind = TSR_CLASS_SIGNED, .bits = 64, .dtype = TSR_I64};
  for (bool more = tsr_walk_start(&walk); more; more = !splat && tsr_walk_next(&walk)) {
    const tsr_scalar number = {.i = walk.index[dim]};
    if (!tsr_scalar_convert(&whole, &results->scalar, number, to)) return false;
    to += results->scalar.bytes;
  }
  return true;
}

bool tsr_eval_broadcast_in_dim(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                               tsr_constant *results) {
  const tsr_type *type = op->results[0].type;
  const tsr_constant *operand = operands[0];
  const int rank = tsr_constant_rank(operand);
  int64_t dims[TSR_EVALUATED_RANK], strides[TSR_EVALUATED_RANK];
  tsr_walk walk;
  if (!tsr_walk_init(&walk, type)) return false;
  if (tsr_dims_of_attr(tsr_op_attr(op, "broadcast_dimensions"), type->rank, rank, dims) != rank)
    return false;
  tsr_strides_of(operand->type, strides);
  for (int i = 0; i < rank; i++)
    walk.strides[dims[i]] = tsr_constant_dims(operand)[i] == 1 ? 0 : strides[i];
  return move(e, operand, &walk, type, results);
}

bool tsr_eval_broadcast(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                        tsr_constant *results) {
  const tsr_type *type = op->results[0].type;
  const int added = type->rank - tsr_constant_rank(operands[0]);
  tsr_walk walk;
  if (added < 0 || !tsr_walk_init(&walk, type)) return false;
  tsr_strides_of(operands[0]->type, walk.strides + added);
  return move(e, operands[0], &walk, type, results);
}

bool tsr_eval_transpose(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                        tsr_constant *results) {
  const tsr_type *type = op->results[0].type;
  int64_t permutation[TSR_EVALUATED_RANK], strides[TSR_EVALUATED_RANK];
  tsr_walk walk;
  if (!same_rank(operands[0], op) || !tsr_walk_init(&walk, type)) return false;
  if (tsr_dims_of_attr(tsr_op_attr(op, "permutation"), type->rank, type->rank, permutation) !=
      type->rank)
    return false;
  tsr_strides_of(operands[0]->type, strides);
  for (int d = 0; d < type->rank; d++) walk.strides[d] = strides[permutation[d]];
  return move(e, operands[0], &walk, type, results);
}

bool tsr_eval_slice(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                    tsr_constant *results) {
  const tsr_type *type = op->results[0].type;
  int64_t starts[TSR_EVALUATED_RANK], steps[TSR_EVALUATED_RANK], strides[TSR_EVALUATED_RANK];
  tsr_walk walk;
  if (!same_rank(operands[0], op) || !tsr_walk_init(&walk, type)) return false;
  if (!tsr_ints_of_attr(tsr_op_attr(op, "start_indices"), type->rank, starts) ||
      !tsr_ints_of_attr(tsr_op_attr(op, "strides"), type->rank, steps))
    return false;
  tsr_strides_of(operands[0]->type, strides);
  for (int d = 0; d < type->rank; d++) {
    int64_t start = 0;
    if (__builtin_mul_overflow(starts[d], strides[d], &start) ||
        __builtin_add_overflow(walk.base, start, &walk.base) ||
        __builtin_mul_overflow(steps[d], strides[d], &walk.strides[d]))
      return false;
  }
  return move(e, operands[0], &walk, type, results);
}

bool tsr_eval_reverse(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                      tsr_constant *results) {
  const tsr_type *type = op->results[0].type;
  int64_t dims[TSR_EVALUATED_RANK];
  tsr_walk walk;
  if (!same_rank(operands[0], op) || !tsr_walk_init(&walk, type)) return false;
  const int count = tsr_dims_of_attr(tsr_op_attr(op, "dimensions"), type->rank, type->rank, dims);
  if (count < 0) return false;
  tsr_walk_row_major(&walk);
  for (int i = 0; i < count; i++) {
    const int64_t d = dims[i];
    walk.base += (walk.dims[d] - 1) * walk.strides[d];
    walk.strides[d] = -walk.strides[d];
  }
  return move(e, operands[0], &walk, type, results);
}

// The starts of a window of `sizes`, moved so that it stays inside `operand`.
static bool window_base(const tsr_constant *operand, const tsr_type *window,
                        const tsr_constant *const *starts, tsr_walk *walk) {
  if (window->rank != tsr_constant_rank(operand)) return false;
  for (int d = 0; d < window->rank; d++) {
    const int64_t most = tsr_constant_dims(operand)[d] - window->dims[d];
    if (most < 0) return false;
    const int64_t wanted = tsr_constant_integer(starts[d], 0);
    walk->base += (wanted < 0 ? 0 : wanted > most ? most : wanted) * walk->strides[d];
  }
  return true;
}

bool tsr_eval_dynamic_slice(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                            tsr_constant *results) {
  const tsr_type *type = op->results[0].type;
  tsr_walk walk;
  if (op->operand_count != 1 + type->rank || !tsr_walk_init(&walk, type)) return false;
  if (!same_rank(operands[0], op)) return false;
  tsr_strides_of(operands[0]->type, walk.strides);
  return window_base(operands[0], type, operands + 1, &walk) &&
         move(e, operands[0], &walk, type, results);
}

bool tsr_eval_dynamic_update_slice(tsr_evaluator *e, tsr_op *op,
                                   const tsr_constant *const *operands, tsr_constant *results) {
  const tsr_type *type = op->results[0].type, *window = operands[1]->type;
  tsr_walk walk;
  if (op->operand_count != 2 + type->rank || operands[0]->type != type) return false;
  if (operands[1]->scalar.dtype != operands[0]->scalar.dtype || !tsr_walk_init(&walk, window))
    return false;
  tsr_strides_of(type, walk.strides);
  if (!window_base(operands[0], window, operands + 2, &walk)) return false;
  if (tsr_constant_same_splat(operands[0], operands[1]) || operands[1]->count == 0) {
    *results = *operands[0];
    return true;
  }
  char *to = tsr_constant_fill(e, type, results);
  if (!to || !tsr_walk_fits(&walk, results->count)) return false;
  put_all(operands[0], results->count, to);
  put(operands[1], &walk, to);
  return true;
}

bool tsr_eval_pad(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                  tsr_constant *results) {
  const tsr_type *type = op->results[0].type;
  const tsr_constant *operand = operands[0];
  int64_t low[TSR_EVALUATED_RANK], interior[TSR_EVALUATED_RANK];
  tsr_walk walk;
  if (!same_rank(operand, op) || operands[1]->scalar.dtype != operand->scalar.dtype) return false;
  if (!tsr_ints_of_attr(tsr_op_attr(op, "edge_padding_low"), type->rank, low) ||
      !tsr_ints_of_attr(tsr_op_attr(op, "interior_padding"), type->rank, interior))
    return false;
  if (!tsr_constant_open(type, results) || !tsr_walk_init(&walk, operand->type)) return false;
  memcpy(results->one, operands[1]->one, sizeof results->one);
  if (tsr_constant_same_splat(operand, operands[1]) || operand->count == 0) return true;
  char *to = tsr_constant_fill(e, type, results);
  int64_t strides[TSR_EVALUATED_RANK];
  if (!to || !tsr_evaluator_spend(e, operand->count)) return false;
  put_all(operands[1], results->count, to);
  tsr_strides_of(type, strides);
  const size_t width = (size_t)results->scalar.bytes;
  int64_t i = 0;
  for (bool more = tsr_walk_start(&walk); more; more = tsr_walk_next(&walk), i++) {
    int64_t offset = 0;
    for (int d = 0; d < type->rank && offset >= 0; d++) {
      int64_t at = 0;
      if (__builtin_mul_overflow(walk.index[d], interior[d], &at) ||
          __builtin_add_overflow(at, walk.index[d], &at) || __builtin_add_overflow(at, low[d], &at))
        return false;
      offset = at < 0 || at >= type->dims[d] ? -1 : offset + at * strides[d];
    }
    if (offset >= 0) memcpy(to + (size_t)offset * width, tsr_constant_at(operand, i), width);
  }
  return true;
}

bool tsr_eval_concatenate(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                          tsr_constant *results) {
  const tsr_type *type = op->results[0].type;
  const int64_t dim = tsr_op_int(op, "dimension", -1);
  if (!tsr_constant_open(type, results) || dim < 0 || dim >= type->rank) return false;
  bool splat = true;
  for (int i = 0; i < op->operand_count; i++) {
    if (!same_rank(operands[i], op) || operands[i]->scalar.dtype != results->scalar.dtype)
      return false;
    splat = splat && tsr_constant_same_splat(operands[i], operands[0]);
  }
  memcpy(results->one, operands[0]->one, sizeof results->one);
  if (splat) return true;
  char *to = tsr_constant_fill(e, type, results);
  int64_t start = 0;
  for (int i = 0; to && i < op->operand_count; i++) {
    tsr_walk walk;
    if (!tsr_walk_init(&walk, operands[i]->type)) return false;
    tsr_strides_of(type, walk.strides);
    if (__builtin_mul_overflow(start, walk.strides[dim], &walk.base)) return false;
    if (!tsr_walk_fits(&walk, results->count)) return false;
    put(operands[i], &walk, to);
    if (__builtin_add_overflow(start, walk.dims[dim], &start)) return false;
  }
  return to != NULL;
}

static bool retype(const tsr_constant *operand, const tsr_type *type, tsr_constant *out) {
  if (!tsr_constant_open(type, out) || out->count != operand->count) return false;
  if (out->scalar.bytes != operand->scalar.bytes) return false;
  memcpy(out->one, operand->one, sizeof out->one);
  out->bytes = operand->bytes;
  return true;
}

bool tsr_eval_reshape(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                      tsr_constant *results) {
  (void)e;
  return retype(operands[0], op->results[0].type, results) &&
         results->scalar.dtype == operands[0]->scalar.dtype;
}

// Bits are numbered through a tensor, the low ones first, so that an element of twice the width is
// two neighbours.
static bool bit_at(const tsr_constant *constant, int64_t bit) {
  const int bits = constant->scalar.bits;
  const char *element = tsr_constant_at(constant, bit / bits);
  return element[bit % bits / 8] >> (bit % bits % 8) & 1;
}

bool tsr_eval_bitcast(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                      tsr_constant *results) {
  const tsr_constant *from = operands[0];
  const tsr_type *type = op->results[0].type;
  if (!tsr_constant_open(type, results)) return false;
  const int bits = results->scalar.bits;
  if (bits == from->scalar.bits) return retype(from, type, results);
  if (results->count > e->element_limit || from->count > e->element_limit) return false;
  if (results->count * bits != from->count * from->scalar.bits) return false;
  char *to = tsr_constant_fill(e, type, results);
  if (!to || !tsr_evaluator_spend(e, from->count * from->scalar.bits)) return false;
  for (int64_t bit = 0; bit < results->count * bits; bit++) {
    char *byte = to + bit / bits * results->scalar.bytes + bit % bits / 8;
    if (bit_at(from, bit)) *byte = (char)(*byte | 1 << (bit % bits % 8));
  }
  return true;
}

bool tsr_eval_dimension_size(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                             tsr_constant *results) {
  (void)e;
  const int64_t dim = tsr_op_int(op, "dimension", -1);
  if (dim < 0 || dim >= tsr_constant_rank(operands[0])) return false;
  return tsr_constant_open(op->results[0].type, results) &&
         tsr_scalar_store(&results->scalar, (tsr_scalar){.i = tsr_constant_dims(operands[0])[dim]},
                          results->one);
}
