// Constant tensors and walks over their indices.
#include "simplify/evaluator.h"

int64_t tsr_constant_integer(const tsr_constant *constant, int64_t index) {
  const tsr_scalar scalar = tsr_scalar_load(&constant->scalar, tsr_constant_at(constant, index));
  return constant->scalar.kind == TSR_CLASS_UNSIGNED && scalar.i < 0 ? INT64_MAX : scalar.i;
}

bool tsr_constant_same_splat(const tsr_constant *a, const tsr_constant *b) {
  return !a->bytes && !b->bytes && !memcmp(a->one, b->one, sizeof a->one);
}

bool tsr_evaluator_spend(tsr_evaluator *e, int64_t steps) {
  if (steps > e->steps_left) return false;
  e->steps_left -= steps;
  return true;
}

void *tsr_evaluator_alloc(tsr_evaluator *e, int64_t count, size_t size) {
  void *memory = tsr_arena_zeros(&e->scratch, (size_t)(count > 0 ? count : 1), size);
  if (!memory) e->out_of_memory = true;
  return memory;
}

// No product of some dimensions overflows, also where another one is 0.
static bool has_strides(const tsr_type *type) {
  int64_t product = 1;
  for (int d = 0; d < type->rank; d++)
    if (type->dims[d] > 0 && __builtin_mul_overflow(product, type->dims[d], &product)) return false;
  return true;
}

bool tsr_constant_open(const tsr_type *type, tsr_constant *out) {
  *out = (tsr_constant){.type = type};
  if (type->kind != TSR_TYPE_TENSOR || type->rank > TSR_EVALUATED_RANK || !has_strides(type))
    return false;
  out->count = tsr_type_element_count(type);
  return out->count >= 0 && tsr_scalar_type_of(type, &out->scalar);
}

char *tsr_constant_fill(tsr_evaluator *e, const tsr_type *type, tsr_constant *out) {
  if (!tsr_constant_open(type, out)) return NULL;
  if (out->count <= 1) return out->one;
  if (out->count > e->element_limit || !tsr_evaluator_spend(e, out->count)) return NULL;
  char *bytes = tsr_evaluator_alloc(e, out->count, (size_t)out->scalar.bytes);
  out->bytes = bytes;
  return bytes;
}

bool tsr_constant_of_attr(const tsr_attr *attr, tsr_constant *out) {
  if (!attr || attr->kind != TSR_ATTR_DENSE || !tsr_constant_open(attr->type, out)) return false;
  if (out->count > 1 && !attr->splat)
    out->bytes = attr->bytes;
  else if (out->count > 0)
    memcpy(out->one, tsr_attr_element(attr, 0), (size_t)out->scalar.bytes);
  return true;
}

const tsr_attr *tsr_constant_attr(tsr_ir *ir, const tsr_constant *constant) {
  const size_t width = (size_t)constant->scalar.bytes;
  const size_t length = constant->bytes   ? width * (size_t)constant->count
                        : constant->count ? width
                                          : 0;
  char *bytes = tsr_ir_alloc(ir, length + 1);
  if (!bytes) return NULL;
  memcpy(bytes, constant->bytes ? constant->bytes : constant->one, length);
  return tsr_attr_dense(ir, constant->type, bytes, length);
}

// ---- walks over indices ----

bool tsr_walk_init(tsr_walk *walk, const tsr_type *type) {
  if (type->rank > TSR_EVALUATED_RANK) return false;
  *walk = (tsr_walk){.rank = type->rank};
  for (int d = 0; d < type->rank; d++) walk->dims[d] = type->dims[d];
  return true;
}

void tsr_walk_row_major(tsr_walk *walk) {
  int64_t stride = 1;
  for (int d = walk->rank - 1; d >= 0; d--) {
    walk->strides[d] = stride;
    stride *= walk->dims[d];
  }
}

void tsr_strides_of(const tsr_type *type, int64_t *out_strides) {
  int64_t stride = 1;
  for (int d = type->rank - 1; d >= 0; d--) {
    out_strides[d] = stride;
    stride *= type->dims[d];
  }
}

bool tsr_walk_start(tsr_walk *walk) {
  for (int d = 0; d < walk->rank; d++) {
    if (walk->dims[d] <= 0) return false;
    walk->index[d] = 0;
  }
  walk->offset = walk->base;
  return true;
}

bool tsr_walk_next(tsr_walk *walk) {
  for (int d = walk->rank - 1; d >= 0; d--) {
    walk->offset += walk->strides[d];
    if (++walk->index[d] < walk->dims[d]) return true;
    walk->offset -= walk->strides[d] * walk->dims[d];
    walk->index[d] = 0;
  }
  return false;
}

bool tsr_walk_fits(const tsr_walk *walk, int64_t count) {
  int64_t least = walk->base, most = walk->base;
  for (int d = 0; d < walk->rank; d++) {
    if (walk->dims[d] <= 0) return true;
    int64_t reach = 0;
    if (__builtin_mul_overflow(walk->dims[d] - 1, walk->strides[d], &reach)) return false;
    if (__builtin_add_overflow(reach < 0 ? least : most, reach, reach < 0 ? &least : &most))
      return false;
  }
  return least >= 0 && most < count;
}

bool tsr_ints_of_attr(const tsr_attr *attr, int64_t count, int64_t *out) {
  if (!attr || tsr_attr_int_count(attr) != count) return false;
  for (int64_t i = 0; i < count; i++) out[i] = tsr_attr_int_at(attr, i);
  return true;
}

int tsr_dims_of_attr(const tsr_attr *attr, int64_t limit, int room, int64_t *out) {
  const int64_t count = tsr_attr_int_count(attr);
  if (count > room || (count && !tsr_ints_of_attr(attr, count, out))) return -1;
  for (int64_t i = 0; i < count; i++)
    if (out[i] < 0 || out[i] >= limit) return -1;
  return (int)count;
}

bool tsr_has_dim(const int64_t *dims, int count, int64_t dim) {
  for (int i = 0; i < count; i++)
    if (dims[i] == dim) return true;
  return false;
}
