// New types out of given ones: another element, bounds, and one shape out of several.
#include "verify/op_checks.h"

const tsr_type *tsr_type_with_element(tsr_ir *ir, const tsr_type *shaped, const tsr_type *element) {
  if (shaped->element == element) return shaped;
  if (shaped->kind == TSR_TYPE_UNRANKED) return tsr_type_unranked(ir, element);
  if (shaped->kind == TSR_TYPE_BUFFER)
    return tsr_type_buffer(ir, element, shaped->rank, shaped->dims, shaped->text);
  return tsr_type_tensor(ir, element, shaped->rank, shaped->dims, shaped->encoding);
}

void tsr_type_bounds(const tsr_type *type, int64_t *out_bounds) {
  for (int i = 0; i < type->rank; i++)
    out_bounds[i] = type->encoding ? tsr_type_bound(type, i) : TSR_DYNAMIC;
}

const tsr_type *tsr_type_bounded(tsr_ir *ir, const tsr_type *element, int rank, const int64_t *dims,
                                 const int64_t *bounds) {
  bool bounded = false;
  for (int i = 0; bounds && i < rank; i++) bounded |= !tsr_is_dynamic(bounds[i]);
  if (!bounded) return tsr_type_tensor(ir, element, rank, dims, NULL);
  const tsr_attr *sizes = tsr_attr_ints(ir, bounds, rank);
  if (!sizes) return NULL;
  const tsr_attr *encoding = tsr_attr_record(ir, TSR_RECORD_BOUNDS, &sizes);
  return encoding ? tsr_type_tensor(ir, element, rank, dims, encoding) : NULL;
}

bool tsr_merge_size(int64_t *size, int64_t *bound, int64_t other_size, int64_t other_bound) {
  const bool known = !tsr_is_dynamic(*size), other_known = !tsr_is_dynamic(other_size);
  if (known && other_known && *size != other_size) return false;
  if (known || other_known) {
    const int64_t limit = tsr_is_dynamic(*bound) ? other_bound : *bound;
    *size = known ? *size : other_size;
    *bound = TSR_DYNAMIC;
    return tsr_is_dynamic(limit) || *size <= limit;
  }
  if (tsr_is_dynamic(*bound) || (!tsr_is_dynamic(other_bound) && other_bound < *bound))
    *bound = other_bound;
  return true;
}

// The size that any of both may be: a bound holds only if both have a size or bound.
static bool widen_size(int64_t *size, int64_t *bound, int64_t other_size, int64_t other_bound) {
  const bool known = !tsr_is_dynamic(*size), other_known = !tsr_is_dynamic(other_size);
  if (known && other_known) return *size == other_size;
  const int64_t limit = known ? *size : *bound;
  const int64_t other_limit = other_known ? other_size : other_bound;
  *size = TSR_DYNAMIC;
  *bound = tsr_is_dynamic(limit) || tsr_is_dynamic(other_limit) ? TSR_DYNAMIC
           : limit > other_limit                                ? limit
                                                                : other_limit;
  return true;
}

static bool all_equal(const tsr_type *const *types, int count) {
  for (int i = 1; i < count; i++)
    if (types[i] != types[0]) return false;
  return true;
}

tsr_status tsr_merge_types(tsr_ir *ir, const tsr_op *op, const char *constraint,
                           const tsr_type *const *types, int count, bool least,
                           const tsr_type **out_type) {
  *out_type = types[0];
  if (all_equal(types, count)) return NULL;
  int64_t dims[TSR_RANK_LIMIT], bounds[TSR_RANK_LIMIT];
  const tsr_type *first = types[0];
  bool bounded = first->encoding != NULL;
  for (int i = 0; i < count; i++)
    if (types[i]->kind != TSR_TYPE_TENSOR) return NULL;
  tsr_type_bounds(first, bounds);
  for (int d = 0; d < first->rank; d++) dims[d] = first->dims[d];
  for (int i = 1; i < count; i++) {
    const tsr_type *other = types[i];
    TSR_ASK(other->rank == first->rank, op, constraint, "types %s and %s have different ranks",
            SHOW_TYPE(first), SHOW_TYPE(other));
    bounded |= other->encoding != NULL;
    for (int d = 0; d < first->rank; d++) {
      const int64_t bound = other->encoding ? tsr_type_bound(other, d) : TSR_DYNAMIC;
      TSR_ASK((least ? widen_size : tsr_merge_size)(&dims[d], &bounds[d], other->dims[d], bound),
              op, constraint, "types %s and %s differ in dimension %d", SHOW_TYPE(first),
              SHOW_TYPE(other), d);
    }
  }
  *out_type = bounded ? tsr_type_bounded(ir, first->element, first->rank, dims, bounds)
                      : tsr_type_tensor(ir, first->element, first->rank, dims, NULL);
  TSR_NEED(*out_type);
  return NULL;
}
