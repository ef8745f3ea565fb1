// Constants and ops that arrange elements in another shape.
#include "base/arithmetic.h"
#include "verify/op_checks.h"
#include "verify/shape_rules.h"

tsr_status tsr_verify_types_only(tsr_ir *ir, const tsr_op *op) {
  (void)ir, (void)op;
  return NULL;
}

tsr_status tsr_infer_first_operand(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  (void)ir;
  return tsr_results_add(out, tsr_operand_type(op, 0));
}

// ---- constants

// Constants of quantised types hold values of the storage type.
tsr_status tsr_verify_constant(tsr_ir *ir, const tsr_op *op) {
  const tsr_attr *value = tsr_op_attr(op, "value");
  if (!op->result_count) return NULL;
  const tsr_type *type = op->results[0].type;
  if (tsr_is_quantised(type))
    type = tsr_type_with_element(ir, type, tsr_type_element(type)->quant->storage);
  TSR_NEED(type);
  TSR_ASK(value->type == type, op, "C1", "value is %s, expected %s", SHOW_TYPE(value->type),
          SHOW_TYPE(type));
  return NULL;
}

tsr_status tsr_infer_constant(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  (void)ir;
  if (op->result_count && tsr_is_quantised(op->results[0].type)) return tsr_results_unknown(out);
  return tsr_results_add(out, tsr_op_attr(op, "value")->type);
}

tsr_status tsr_verify_iota(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const int64_t dim = tsr_op_int(op, "iota_dimension", 0);
  const tsr_type *type = op->results[0].type;
  TSR_ASK(dim >= 0 && dim < type->rank, op, "C1", "iota_dimension is %lld, expected 0 to %d for %s",
          (long long)dim, type->rank - 1, SHOW_TYPE(type));
  return NULL;
}

// ---- bitcast_convert

static bool is_complex(const tsr_type *type) {
  return tsr_type_element(type)->kind == TSR_TYPE_COMPLEX;
}

tsr_status tsr_verify_bitcast_convert(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const tsr_type *operand = tsr_operand_type(op, 0), *result = op->results[0].type;
  TSR_ASK(is_complex(operand) == is_complex(result), op, "C2",
          "converts %s to %s, expected complex elements on both sides or neither",
          SHOW_TYPE(operand), SHOW_TYPE(result));
  const int operand_bits = tsr_element_bits(operand), result_bits = tsr_element_bits(result);
  const tsr_type *small = operand_bits < result_bits ? operand : result;
  const tsr_type *large = operand_bits < result_bits ? result : operand;
  const int small_bits = tsr_element_bits(small), large_bits = tsr_element_bits(large);
  const int extra = small_bits == large_bits ? 0 : 1;
  TSR_ASK(small->rank == large->rank + extra, op, "C1", "converts %s to %s, expected rank %d of %s",
          SHOW_TYPE(operand), SHOW_TYPE(result), large->rank + extra, SHOW_TYPE(small));
  for (int i = 0; i < large->rank; i++)
    TSR_ASK(tsr_sizes_match(small->dims[i], large->dims[i]), op, "C1",
            "converts %s to %s, expected the same size of dimension %d", SHOW_TYPE(operand),
            SHOW_TYPE(result), i);
  if (!extra || tsr_is_dynamic(small->dims[large->rank])) return NULL;
  TSR_ASK(small->dims[large->rank] == large_bits / small_bits && large_bits % small_bits == 0, op,
          "C1", "converts %s to %s, expected %d x %d bits in the last dimension",
          SHOW_TYPE(operand), SHOW_TYPE(result), large_bits / small_bits, small_bits);
  return NULL;
}

// ---- broadcasts

tsr_status tsr_verify_broadcast(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const tsr_attr *sizes = tsr_op_attr(op, "broadcast_sizes");
  TSR_ASK(tsr_ints_at_least(sizes, 0), op, "", "broadcast_sizes is %s, expected sizes of 0 or more",
          SHOW_INTS(sizes));
  const tsr_type *operand = tsr_operand_type(op, 0);
  TSR_ASK(tsr_attr_int_count(sizes) + operand->rank <= TSR_RANK_LIMIT, op, "",
          "the result has more than %d dimensions", TSR_RANK_LIMIT);
  return tsr_check_one_element(op, "", true);
}

tsr_status tsr_infer_broadcast(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_attr *sizes = tsr_op_attr(op, "broadcast_sizes");
  const tsr_type *operand = tsr_operand_type(op, 0);
  const int added = (int)tsr_attr_int_count(sizes);
  int64_t dims[TSR_RANK_LIMIT];
  for (int i = 0; i < added; i++) dims[i] = tsr_attr_int_at(sizes, i);
  for (int i = 0; i < operand->rank; i++) dims[added + i] = operand->dims[i];
  return tsr_results_add(out,
                         tsr_type_tensor(ir, operand->element, added + operand->rank, dims, NULL));
}

// One scale that is spread over a dimension stays the same everywhere.
static tsr_status check_spread_scales(const tsr_op *op, const tsr_attr *map) {
  const tsr_type *operand = tsr_operand_type(op, 0), *result = op->results[0].type;
  const tsr_quant *from = operand->element->quant, *to = result->element->quant;
  TSR_ASK(to->axis == tsr_attr_int_at(map, from->axis), op, "C6",
          "the result is quantised along dimension %d, expected %lld", to->axis,
          (long long)tsr_attr_int_at(map, from->axis));
  if (operand->dims[from->axis] != 1) return NULL;
  for (int i = 0; i < to->scale_count; i++)
    TSR_ASK(to->scales[i].scale == from->scales[0].scale &&
                to->scales[i].zero_point == from->scales[0].zero_point,
            op, "C6", "scale %d of the result is %g:%lld, expected %g:%lld", i, to->scales[i].scale,
            (long long)to->scales[i].zero_point, from->scales[0].scale,
            (long long)from->scales[0].zero_point);
  return NULL;
}

tsr_status tsr_check_broadcast(const tsr_op *op) {
  const tsr_type *operand = tsr_operand_type(op, 0), *result = op->results[0].type;
  const tsr_attr *map = tsr_op_attr(op, "broadcast_dimensions");
  const bool dynamic = op->info->id == TSR_OP_DYNAMIC_BROADCAST_IN_DIM;
  TSR_ASK(tsr_attr_int_count(map) == operand->rank, op, "C2",
          "broadcast_dimensions is %s, expected a dimension for each of %s", SHOW_INTS(map),
          SHOW_TYPE(operand));
  TSR_TRY(tsr_check_dims(op, "C4", "C3", "broadcast_dimensions", map, result->rank));
  for (int i = 0; i < operand->rank; i++) {
    const int64_t size = operand->dims[i], dim = tsr_attr_int_at(map, i);
    TSR_ASK(size == 1 || tsr_is_dynamic(size) || size == result->dims[dim] ||
                (dynamic && tsr_is_dynamic(result->dims[dim])),
            op, "C5",
            "dimension %d of %s is spread over dimension %lld of %s, expected the same size or 1",
            i, SHOW_TYPE(operand), (long long)dim, SHOW_TYPE(result));
  }
  return tsr_is_axis_quantised(operand) ? check_spread_scales(op, map) : NULL;
}

tsr_status tsr_verify_broadcast_in_dim(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  TSR_TRY(tsr_check_one_element(op, "C1", !tsr_is_axis_quantised(tsr_operand_type(op, 0))));
  return tsr_check_broadcast(op);
}

// ---- reshape

static bool same_scales(const tsr_quant *a, const tsr_quant *b) {
  if (a->scale_count != b->scale_count) return false;
  for (int i = 0; i < a->scale_count; i++)
    if (a->scales[i].scale != b->scales[i].scale ||
        a->scales[i].zero_point != b->scales[i].zero_point)
      return false;
  return true;
}

tsr_status tsr_check_kept_scales(const tsr_op *op, const char *constraint) {
  const tsr_type *operand = tsr_operand_type(op, 0), *result = op->results[0].type;
  if (!tsr_is_quantised(operand)) return NULL;
  const tsr_quant *from = tsr_type_element(operand)->quant;
  const tsr_quant *to = tsr_type_element(result)->quant;
  TSR_ASK(same_scales(from, to), op, constraint,
          "operand and result are %s and %s, expected the same scales and zero points",
          SHOW_TYPE(operand), SHOW_TYPE(result));
  return NULL;
}

// The product of the sizes before a dimension; wraps, which equal products do alike.
static uint64_t size_before(const tsr_type *type, int dim) {
  uint64_t product = 1;
  for (int i = 0; i < dim; i++) product *= (uint64_t)type->dims[i];
  return product;
}

tsr_status tsr_check_reshape(const tsr_op *op) {
  const tsr_type *operand = tsr_operand_type(op, 0), *result = op->results[0].type;
  if (!tsr_type_is_static(operand) || !tsr_type_is_static(result)) return NULL;
  TSR_ASK(tsr_type_element_count(operand) == tsr_type_element_count(result), op, "C2",
          "%s has %lld elements and %s has %lld, expected as many", SHOW_TYPE(operand),
          (long long)tsr_type_element_count(operand), SHOW_TYPE(result),
          (long long)tsr_type_element_count(result));
  TSR_TRY(tsr_check_kept_scales(op, "C1"));
  if (!tsr_is_axis_quantised(operand)) return NULL;
  const int from = operand->element->quant->axis, to = result->element->quant->axis;
  TSR_ASK(operand->dims[from] == result->dims[to], op, "C3",
          "the quantised dimension has size %lld in %s and %lld in %s, expected one size",
          (long long)operand->dims[from], SHOW_TYPE(operand), (long long)result->dims[to],
          SHOW_TYPE(result));
  TSR_ASK(size_before(operand, from) == size_before(result, to), op, "C3",
          "%s and %s have different numbers of elements before the quantised dimension",
          SHOW_TYPE(operand), SHOW_TYPE(result));
  return NULL;
}

tsr_status tsr_verify_reshape(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  TSR_TRY(tsr_check_one_element(op, "C1", false));
  return tsr_check_reshape(op);
}

// ---- reverse and transpose

tsr_status tsr_verify_reverse(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const tsr_attr *dims = tsr_op_attr(op, "dimensions");
  TSR_TRY(tsr_check_dims(op, "C2", "C3", "dimensions", dims, tsr_operand_type(op, 0)->rank));
  return tsr_check_one_element(op, "C1", true);
}

tsr_status tsr_verify_transpose(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const tsr_type *operand = tsr_operand_type(op, 0);
  const tsr_attr *permutation = tsr_op_attr(op, "permutation");
  TSR_ASK(tsr_attr_int_count(permutation) == operand->rank && tsr_ints_unique(permutation) &&
              tsr_ints_within(permutation, 0, operand->rank),
          op, "C2", "permutation is %s, expected a permutation of 0 to %d", SHOW_INTS(permutation),
          operand->rank - 1);
  if (!op->result_count) return NULL;
  TSR_TRY(tsr_check_one_element(op, "C1", false));
  TSR_TRY(tsr_check_kept_scales(op, "C1"));
  const tsr_type *result = op->results[0].type;
  if (!tsr_is_axis_quantised(result) || result->rank != operand->rank) return NULL;
  const int from = operand->element->quant->axis, to = result->element->quant->axis;
  TSR_ASK(from == tsr_attr_int_at(permutation, to), op, "C4",
          "dimension %d of the result is quantised, which is dimension %lld of the operand, "
          "expected %d",
          to, (long long)tsr_attr_int_at(permutation, to), from);
  return NULL;
}

tsr_status tsr_infer_transpose(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_type *operand = tsr_operand_type(op, 0);
  const tsr_attr *permutation = tsr_op_attr(op, "permutation");
  int64_t dims[TSR_RANK_LIMIT], bounds[TSR_RANK_LIMIT];
  for (int i = 0; i < operand->rank; i++) {
    const int from = (int)tsr_attr_int_at(permutation, i);
    dims[i] = operand->dims[from];
    bounds[i] = operand->encoding ? tsr_type_bound(operand, from) : TSR_DYNAMIC;
  }
  return tsr_results_add(out, tsr_type_bounded(ir, operand->element, operand->rank, dims, bounds));
}

// ---- concatenate

tsr_status tsr_verify_concatenate(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const tsr_type *first = tsr_operand_type(op, 0);
  const int64_t dim = tsr_op_int(op, "dimension", 0);
  TSR_TRY(tsr_check_one_element(op, "C1", true));
  TSR_ASK(dim >= 0 && dim < first->rank, op, "C4", "dimension is %lld, expected 0 to %d for %s",
          (long long)dim, first->rank - 1, SHOW_TYPE(first));
  int64_t sum = 0;
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_type *type = tsr_operand_type(op, i);
    bool fits = type->rank == first->rank;
    for (int d = 0; fits && d < type->rank; d++)
      fits = d == dim || tsr_sizes_match(type->dims[d], first->dims[d]);
    TSR_ASK(fits, op, "C2",
            "inputs 0 and %d are %s and %s, expected one shape but for dimension %lld", i,
            SHOW_TYPE(first), SHOW_TYPE(type), (long long)dim);
    if (!tsr_is_dynamic(type->dims[dim])) sum = tsr_saturated_add(sum, type->dims[dim]);
  }
  TSR_ASK(sum < INT64_MAX, op, "C6", "dimension %lld of the result is too large", (long long)dim);
  return NULL;
}

// Sizes add up; with an unknown one, bounds do if every other input has a size or a bound.
static void append_size(int64_t *size, int64_t *bound, int64_t other_size, int64_t other_bound) {
  const bool known = !tsr_is_dynamic(*size), other_known = !tsr_is_dynamic(other_size);
  const int64_t limit = known ? *size : *bound,
                other_limit = other_known ? other_size : other_bound;
  const bool limited = !tsr_is_dynamic(limit) && !tsr_is_dynamic(other_limit);
  const int64_t sum = limited ? tsr_saturated_add(limit, other_limit) : TSR_DYNAMIC;
  *size = known && other_known ? sum : TSR_DYNAMIC;
  *bound = known && other_known ? TSR_DYNAMIC : sum;
}

tsr_status tsr_infer_concatenate(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_type *first = tsr_operand_type(op, 0);
  const int64_t dim = tsr_op_int(op, "dimension", 0);
  int64_t dims[TSR_RANK_LIMIT], bounds[TSR_RANK_LIMIT];
  tsr_type_bounds(first, bounds);
  for (int d = 0; d < first->rank; d++) dims[d] = first->dims[d];
  for (int i = 1; i < op->operand_count; i++) {
    const tsr_type *type = tsr_operand_type(op, i);
    for (int d = 0; d < first->rank; d++) {
      const int64_t bound = type->encoding ? tsr_type_bound(type, d) : TSR_DYNAMIC;
      if (d == dim)
        append_size(&dims[d], &bounds[d], type->dims[d], bound);
      else
        TSR_ASK(tsr_merge_size(&dims[d], &bounds[d], type->dims[d], bound), op, "C2",
                "inputs 0 to %d have different sizes of dimension %d", i, d);
    }
  }
  return tsr_results_add(out, tsr_type_bounded(ir, first->element, first->rank, dims, bounds));
}
