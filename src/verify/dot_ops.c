// Products of tensors summed over dimensions: dot and dot_general.
#include <stdio.h>

#include "verify/op_checks.h"

static tsr_status check_precision(const tsr_op *op, const char *constraint) {
  const tsr_attr *config = tsr_op_attr(op, "precision_config");
  TSR_ASK(!config || config->count <= 2, op, constraint,
          "precision_config has %lld entries, expected at most 2", (long long)config->count);
  return NULL;
}

// ---- quantised elements

typedef struct product_name {
  char text[16];
} product_name;

static product_name name_of(int number) {
  product_name name = {""};
  snprintf(name.text, sizeof name.text, "C%d", number);
  return name;
}

// Integers times integers.
static tsr_status check_static_range(const tsr_op *op, int first, const tsr_type *result) {
  const tsr_quant *lhs = tsr_operand_type(op, 0)->element->quant;
  const tsr_quant *rhs = tsr_operand_type(op, 1)->element->quant;
  TSR_ASK(lhs->storage == rhs->storage, op, name_of(first + 3).text,
          "operands store %s and %s, expected one type", SHOW_TYPE(lhs->storage),
          SHOW_TYPE(rhs->storage));
  TSR_ASK(lhs->expressed == rhs->expressed && lhs->expressed == tsr_expressed(result), op,
          name_of(first + 4).text, "operands and result express %s, %s and %s, expected one type",
          SHOW_TYPE(lhs->expressed), SHOW_TYPE(rhs->expressed), SHOW_TYPE(tsr_expressed(result)));
  TSR_ASK(rhs->axis >= 0 || !tsr_is_axis_quantised(result), op, name_of(first + 5).text,
          "the result is %s, expected per-tensor quantisation as of rhs", SHOW_TYPE(result));
  return NULL;
}

tsr_status tsr_check_quantised_product(const tsr_op *op, int first) {
  const tsr_type *lhs = tsr_operand_type(op, 0), *rhs = tsr_operand_type(op, 1);
  const tsr_type *result = op->result_count ? op->results[0].type : lhs;
  if (!tsr_is_quantised(lhs) && !tsr_is_quantised(rhs) && !tsr_is_quantised(result)) return NULL;
  TSR_ASK(tsr_is_quantised(rhs) && tsr_is_quantised(lhs) == tsr_is_quantised(result), op,
          name_of(first).text,
          "operands and result are %s, %s and %s, expected a quantised rhs and a result that is "
          "quantised as lhs is",
          SHOW_TYPE(lhs), SHOW_TYPE(rhs), SHOW_TYPE(result));
  if (tsr_is_quantised(lhs)) return check_static_range(op, first, result);
  const tsr_type *expressed = rhs->element->quant->expressed;
  TSR_ASK(lhs->element == expressed && result->element == expressed, op, name_of(first + 6).text,
          "lhs and result are %s and %s, expected elements of type %s as rhs expresses",
          SHOW_TYPE(lhs), SHOW_TYPE(result), SHOW_TYPE(expressed));
  return NULL;
}

static tsr_status check_quantised_dot(const tsr_op *op, const tsr_attr *contracting) {
  const tsr_type *rhs = tsr_operand_type(op, 1);
  if (tsr_is_quantised(rhs)) {
    const tsr_quant *quant = rhs->element->quant;
    for (int i = 0; i < quant->scale_count; i++)
      TSR_ASK(!quant->scales[i].zero_point, op, "C15", "rhs is %s, expected zero points of 0",
              SHOW_TYPE(rhs));
    TSR_ASK(quant->axis < 0 || !tsr_ints_contain(contracting, quant->axis), op, "C16",
            "rhs is quantised along dimension %d, which is contracted", quant->axis);
  }
  return tsr_check_quantised_product(op, 14);
}

// ---- algorithms

// Combinations of precision types that some hardware has, each with one component per operand.
static const struct {
  tsr_float operands, accumulation;
  int primitives;
} algorithms[] = {
    {TSR_FLOAT_F16, TSR_FLOAT_F16, 1},   {TSR_FLOAT_F16, TSR_FLOAT_F32, 1},
    {TSR_FLOAT_BF16, TSR_FLOAT_BF16, 1}, {TSR_FLOAT_BF16, TSR_FLOAT_F32, 1},
    {TSR_FLOAT_BF16, TSR_FLOAT_F32, 3},  {TSR_FLOAT_BF16, TSR_FLOAT_F32, 6},
    {TSR_FLOAT_BF16, TSR_FLOAT_F32, 9},  {TSR_FLOAT_TF32, TSR_FLOAT_F32, 1},
    {TSR_FLOAT_TF32, TSR_FLOAT_F32, 3},  {TSR_FLOAT_F32, TSR_FLOAT_F32, 1},
    {TSR_FLOAT_F64, TSR_FLOAT_F64, 1},
};

static bool is_f8(const tsr_type *type) {
  return type->kind == TSR_TYPE_FLOAT && tsr_float_bits(type->format) == 8 &&
         type->format != TSR_FLOAT_F8E8M0FNU;
}

static bool is_known_algorithm(const tsr_attr *a) {
  const tsr_type *lhs = tsr_attr_field(a, TSR_DOT_ALGORITHM_LHS_PRECISION)->type;
  const tsr_type *rhs = tsr_attr_field(a, TSR_DOT_ALGORITHM_RHS_PRECISION)->type;
  const tsr_type *sum = tsr_attr_field(a, TSR_DOT_ALGORITHM_ACCUMULATION)->type;
  const int64_t primitives = tsr_record_int(a, TSR_DOT_ALGORITHM_PRIMITIVES);
  if (tsr_record_int(a, TSR_DOT_ALGORITHM_LHS_COMPONENTS) != 1 ||
      tsr_record_int(a, TSR_DOT_ALGORITHM_RHS_COMPONENTS) != 1)
    return false;
  if (is_f8(lhs) && is_f8(rhs) && tsr_is_float_of(sum, TSR_FLOAT_F32) && primitives == 1)
    return true;
  if (tsr_record_int(a, TSR_DOT_ALGORITHM_IMPRECISE) || lhs != rhs) return false;
  for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
    if (tsr_is_float_of(lhs, algorithms[i].operands) &&
        tsr_is_float_of(sum, algorithms[i].accumulation) && primitives == algorithms[i].primitives)
      return true;
  return false;
}

static tsr_status check_algorithm(const tsr_op *op, const tsr_attr *a) {
  static const struct {
    int field;
    const char *name, *constraint;
  } counts[] = {
      {TSR_DOT_ALGORITHM_LHS_COMPONENTS, "lhs_component_count", "C22"},
      {TSR_DOT_ALGORITHM_RHS_COMPONENTS, "rhs_component_count", "C23"},
      {TSR_DOT_ALGORITHM_PRIMITIVES, "num_primitive_operations", "C24"},
  };
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    TSR_ASK(tsr_record_int(a, counts[i].field) > 0, op, counts[i].constraint,
            "%s is %lld, expected 1 or more", counts[i].name,
            (long long)tsr_record_int(a, counts[i].field));
  TSR_ASK(is_known_algorithm(a), op, "I8", "algorithm %s is not known on any hardware",
          SHOW_ATTR(a));
  const tsr_attr *config = tsr_op_attr(op, "precision_config");
  for (int64_t i = 0; config && i < config->count; i++)
    TSR_ASK(config->items[i]->integer == TSR_PRECISION_DEFAULT, op, "C21",
            "precision_config is %s, expected DEFAULT beside an algorithm", SHOW_ATTR(config));
  return NULL;
}

// ---- dot_general

typedef struct dot_dims {
  const tsr_attr *lhs_batch, *rhs_batch, *lhs_sum, *rhs_sum;
} dot_dims;

static dot_dims dims_of(const tsr_op *op) {
  const tsr_attr *numbers = tsr_op_attr(op, "dot_dimension_numbers");
  return (dot_dims){tsr_record_ints(numbers, TSR_DOT_LHS_BATCHING),
                    tsr_record_ints(numbers, TSR_DOT_RHS_BATCHING),
                    tsr_record_ints(numbers, TSR_DOT_LHS_CONTRACTING),
                    tsr_record_ints(numbers, TSR_DOT_RHS_CONTRACTING)};
}

static tsr_status check_as_many(const tsr_op *op, const char *constraint, const char *name,
                                const tsr_attr *lhs, const tsr_attr *rhs) {
  TSR_ASK(tsr_attr_int_count(lhs) == tsr_attr_int_count(rhs), op, constraint,
          "%s are %s of lhs and %s of rhs, expected as many", name, SHOW_INTS(lhs), SHOW_INTS(rhs));
  return NULL;
}

static tsr_status check_distinct(const tsr_op *op, const char *constraint, const char *name,
                                 const tsr_attr *batch, const tsr_attr *sum) {
  TSR_ASK(tsr_ints_distinct(batch, sum), op, constraint,
          "batching and contracting dimensions of %s are %s and %s, expected unique ones", name,
          SHOW_INTS(batch), SHOW_INTS(sum));
  return NULL;
}

static tsr_status check_range(const tsr_op *op, const char *constraint, const char *name,
                              const tsr_attr *dims, const tsr_type *type) {
  TSR_ASK(tsr_ints_within(dims, 0, type->rank), op, constraint,
          "%s is %s, expected dimensions of 0 to %d for %s", name, SHOW_INTS(dims), type->rank - 1,
          SHOW_TYPE(type));
  return NULL;
}

static tsr_status check_sizes(const tsr_op *op, const char *constraint, const char *name,
                              const tsr_attr *lhs_dims, const tsr_attr *rhs_dims) {
  const tsr_type *lhs = tsr_operand_type(op, 0), *rhs = tsr_operand_type(op, 1);
  for (int64_t i = 0; i < tsr_attr_int_count(lhs_dims); i++) {
    const int64_t x = tsr_attr_int_at(lhs_dims, i), y = tsr_attr_int_at(rhs_dims, i);
    TSR_ASK(tsr_sizes_match(lhs->dims[x], rhs->dims[y]), op, constraint,
            "%s dimensions %lld of %s and %lld of %s have different sizes", name, (long long)x,
            SHOW_TYPE(lhs), (long long)y, SHOW_TYPE(rhs));
  }
  return NULL;
}

tsr_status tsr_verify_dot_general(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const tsr_type *lhs = tsr_operand_type(op, 0), *rhs = tsr_operand_type(op, 1);
  const dot_dims d = dims_of(op);
  TSR_TRY(check_precision(op, "C11"));
  TSR_TRY(check_as_many(op, "C1", "batching dimensions", d.lhs_batch, d.rhs_batch));
  TSR_TRY(check_as_many(op, "C2", "contracting dimensions", d.lhs_sum, d.rhs_sum));
  TSR_TRY(check_distinct(op, "C3", "lhs", d.lhs_batch, d.lhs_sum));
  TSR_TRY(check_distinct(op, "C4", "rhs", d.rhs_batch, d.rhs_sum));
  TSR_TRY(check_range(op, "C5", "lhs_batching_dimensions", d.lhs_batch, lhs));
  TSR_TRY(check_range(op, "C6", "lhs_contracting_dimensions", d.lhs_sum, lhs));
  TSR_TRY(check_range(op, "C7", "rhs_batching_dimensions", d.rhs_batch, rhs));
  TSR_TRY(check_range(op, "C8", "rhs_contracting_dimensions", d.rhs_sum, rhs));
  TSR_TRY(check_sizes(op, "C9", "batching", d.lhs_batch, d.rhs_batch));
  TSR_TRY(check_sizes(op, "C10", "contracting", d.lhs_sum, d.rhs_sum));
  const tsr_attr *algorithm = tsr_op_attr(op, "algorithm");
  if (algorithm) TSR_TRY(check_algorithm(op, algorithm));
  const int64_t rank = (int64_t)lhs->rank + rhs->rank - tsr_attr_int_count(d.lhs_batch) -
                       2 * tsr_attr_int_count(d.lhs_sum);
  TSR_ASK(rank <= TSR_RANK_LIMIT, op, "C12", "the result has %lld dimensions, expected at most %d",
          (long long)rank, TSR_RANK_LIMIT);
  return check_quantised_dot(op, d.rhs_sum);
}

typedef struct dot_shape {
  int rank;
  int64_t dims[TSR_RANK_LIMIT], bounds[TSR_RANK_LIMIT];
} dot_shape;

static void add_dim(dot_shape *shape, const tsr_type *type, int dim) {
  shape->dims[shape->rank] = type->dims[dim];
  shape->bounds[shape->rank++] = tsr_type_bound(type, dim);
}

static void add_free_dims(dot_shape *shape, const tsr_type *type, const tsr_attr *batch,
                          const tsr_attr *sum) {
  for (int i = 0; i < type->rank; i++)
    if (!tsr_ints_contain(batch, i) && !tsr_ints_contain(sum, i)) add_dim(shape, type, i);
}

tsr_status tsr_infer_dot_general(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_type *lhs = tsr_operand_type(op, 0), *rhs = tsr_operand_type(op, 1);
  const dot_dims d = dims_of(op);
  dot_shape shape;
  shape.rank = 0;
  for (int64_t i = 0; i < tsr_attr_int_count(d.lhs_batch); i++) {
    const int x = (int)tsr_attr_int_at(d.lhs_batch, i), y = (int)tsr_attr_int_at(d.rhs_batch, i);
    add_dim(&shape, lhs, x);
    TSR_ASK(tsr_merge_size(&shape.dims[i], &shape.bounds[i], rhs->dims[y], tsr_type_bound(rhs, y)),
            op, "C9", "batching dimensions %d of %s and %d of %s have different sizes", x,
            SHOW_TYPE(lhs), y, SHOW_TYPE(rhs));
  }
  add_free_dims(&shape, lhs, d.lhs_batch, d.lhs_sum);
  add_free_dims(&shape, rhs, d.rhs_batch, d.rhs_sum);
  return tsr_results_add(out,
                         tsr_type_bounded(ir, lhs->element, shape.rank, shape.dims, shape.bounds));
}

// ---- dot

// Vectors and matrices; the last dimension of lhs and the first of rhs are summed.
tsr_status tsr_verify_dot(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const tsr_type *lhs = tsr_operand_type(op, 0), *rhs = tsr_operand_type(op, 1);
  TSR_TRY(check_precision(op, ""));
  TSR_ASK(lhs->rank >= 1 && lhs->rank <= 2 && rhs->rank >= 1 && rhs->rank <= 2, op, "",
          "operands are %s and %s, expected ranks of 1 or 2", SHOW_TYPE(lhs), SHOW_TYPE(rhs));
  TSR_ASK(tsr_sizes_match(lhs->dims[lhs->rank - 1], rhs->dims[0]), op, "",
          "operands are %s and %s, expected equal sizes of the dimensions that are summed",
          SHOW_TYPE(lhs), SHOW_TYPE(rhs));
  return NULL;
}

tsr_status tsr_infer_dot(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_type *lhs = tsr_operand_type(op, 0), *rhs = tsr_operand_type(op, 1);
  int64_t dims[2] = {0}, bounds[2] = {0};
  int rank = 0;
  if (lhs->rank == 2) {
    dims[rank] = lhs->dims[0];
    bounds[rank++] = tsr_type_bound(lhs, 0);
  }
  if (rhs->rank == 2) {
    dims[rank] = rhs->dims[1];
    bounds[rank++] = tsr_type_bound(rhs, 1);
  }
  return tsr_results_add(out, tsr_type_bounded(ir, lhs->element, rank, dims, bounds));
}
