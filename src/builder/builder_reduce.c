// Reductions, by kind or by a function of the caller.
#include <math.h>
#include <string.h>

#include "builder/builder_internal.h"
#include "element/float_format.h"

// ---- kinds ----

static const struct {
  const char *name;
  tsr_op_id op;
} kinds[] = {
    {"add", TSR_OP_ADD},     {"mul", TSR_OP_MULTIPLY}, {"max", TSR_OP_MAXIMUM},
    {"min", TSR_OP_MINIMUM}, {"and", TSR_OP_AND},      {"or", TSR_OP_OR},
};

tsr_status tsr_reduction_find(const char *kind, tsr_op_id *out_op) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!strcmp(kinds[i].name, kind)) {
      *out_op = kinds[i].op;
      return NULL;
    }
  return tsr_fail(BAD_ARGUMENT, "kind \"%s\", expected add, mul, max, min, and or or", kind);
}

// ---- neutral elements ----

// The code of the largest finite number of a narrow float; 0 = not one of them.
static uint32_t largest_code(tsr_dtype dtype) {
  switch (dtype) {
#define X(id, bits, mantissa, bias, largest, ...) \
  case TSR_##id:                                  \
    return largest;
    TSR_FLOAT_FORMATS(X)
#undef X
    default:
      return 0;
  }
}

// The least or largest number: an infinity where the format has one that narrows to itself.
static tsr_node extreme_float(tsr_builder *builder, tsr_dtype dtype, bool least) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  if (info->bits >= 16) return tsr_build_scalar(builder, dtype, least ? -INFINITY : INFINITY);
  const uint32_t sign = least ? 1u << (info->bits - 1) : 0;
  const uint8_t code = (uint8_t)(largest_code(dtype) | sign);
  return tsr_build_constant(builder, dtype, TSR_SCALAR, &code);
}

// The least or largest integer, by its bits.
static tsr_node extreme_integer(tsr_builder *builder, tsr_dtype dtype, bool least) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  const uint64_t ones = info->bits == 64 ? UINT64_MAX : (UINT64_C(1) << info->bits) - 1;
  const uint64_t top = (ones >> 1) + 1;
  const bool is_signed = info->kind == TSR_CLASS_SIGNED;
  const uint64_t bits = is_signed ? (least ? top : top - 1) : least ? 0 : ones;
  return tsr_build_constant(builder, dtype, TSR_SCALAR, &bits);
}

static tsr_node all_ones(tsr_builder *builder, tsr_dtype dtype) {
  const uint64_t bits = UINT64_MAX;
  return tsr_build_constant(builder, dtype, TSR_SCALAR, &bits);
}

static tsr_node extreme(tsr_builder *builder, tsr_dtype dtype, bool least) {
  const tsr_dtype_class kind = tsr_dtype_info_of(dtype)->kind;
  if (kind == TSR_CLASS_BOOL) return tsr_build_scalar(builder, dtype, !least);
  if (kind != TSR_CLASS_FLOAT) return extreme_integer(builder, dtype, least);
  return extreme_float(builder, dtype, least);
}

tsr_node tsr_build_neutral(tsr_builder *builder, tsr_op_id op, tsr_dtype dtype) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  if (!info) return TSR_NO_NODE;  // of a node that failed
  const bool ordered = op == TSR_OP_MAXIMUM || op == TSR_OP_MINIMUM;
  const bool bitwise = op == TSR_OP_AND || op == TSR_OP_OR;
  const bool fractional = info->kind == TSR_CLASS_FLOAT || info->kind == TSR_CLASS_COMPLEX;
  if ((ordered && (info->kind == TSR_CLASS_COMPLEX || dtype == TSR_F8E8M0FNU)) ||
      (bitwise && fractional)) {
    (void)tsr_builder_keep(builder, tsr_fail(CONSTRAINT, "values of dtype %s have no %s",
                                             info->name, ordered ? "order" : "logic"));
    return TSR_NO_NODE;
  }
  if (ordered) return extreme(builder, dtype, op == TSR_OP_MAXIMUM);
  if (op == TSR_OP_AND) return all_ones(builder, dtype);
  return tsr_build_scalar(builder, dtype, op == TSR_OP_MULTIPLY);
}

// ---- by kind ----

static void apply(tsr_builder *builder, const tsr_node *args, tsr_node *results, void *context) {
  const tsr_op_id op = *(const tsr_op_id *)context;
  const tsr_builder_op draft = tsr_builder_draft(builder, op, args, 2);
  results[0] = op == TSR_OP_UNKNOWN ? args[1] : tsr_builder_emit_one(&draft);
}

tsr_builder_region tsr_reduction_region(const tsr_type *const *pair, tsr_op_id *op) {
  return (tsr_builder_region){
      .build = apply, .context = op, .args = pair, .arg_count = 2, .result_count = 1, .own = true};
}

static tsr_node reduce_by(tsr_builder *builder, tsr_op_id op, tsr_node x, const tsr_shape *dims) {
  const tsr_dtype dtype = tsr_build_dtype_of(builder, x);
  const tsr_type *pair[2] = {NULL};
  const tsr_node operands[] = {x, tsr_build_neutral(builder, op, dtype)};
  if (!tsr_builder_keep(builder, tsr_builder_type(builder, dtype, TSR_SCALAR, &pair[0])))
    return TSR_NO_NODE;
  pair[1] = pair[0];
  const tsr_builder_region region = tsr_reduction_region(pair, &op);
  tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_REDUCE, operands, 2);
  draft.regions = &region;
  draft.region_count = 1;
  tsr_builder_ints(&draft, "dimensions", dims);
  return tsr_builder_emit_one(&draft);
}

// The shape with reduced dimensions of size 1, and the number of elements that become one.
static tsr_shape kept_shape(tsr_shape shape, const tsr_shape *dims, double *out_count) {
  *out_count = 1;
  for (int i = 0; i < dims->rank; i++) {
    *out_count *= (double)shape.dims[dims->dims[i]];
    shape.dims[dims->dims[i]] = 1;
  }
  return shape;
}

static tsr_node mean(tsr_builder *builder, tsr_node x, const tsr_shape *dims, double count) {
  const tsr_node sum = reduce_by(builder, TSR_OP_ADD, tsr_build_widened(builder, x), dims);
  const tsr_node divisor = tsr_build_scalar(builder, tsr_build_dtype_of(builder, sum), count);
  return tsr_build_convert(builder, tsr_build_divide(builder, sum, divisor),
                           tsr_build_dtype_of(builder, x));
}

static tsr_node reduce(tsr_builder *builder, const char *kind, tsr_node x, const tsr_shape *dims,
                       bool keep) {
  double count = 0;
  const tsr_shape kept = kept_shape(tsr_build_shape_of(builder, x), dims, &count);
  tsr_op_id op = TSR_OP_UNKNOWN;
  tsr_node result = TSR_NO_NODE;
  if (!strcmp(kind, "mean"))
    result = mean(builder, x, dims, count);
  else if (tsr_builder_keep(builder, tsr_reduction_find(kind, &op)))
    result = reduce_by(builder, op, x, dims);
  return keep ? tsr_build_reshape(builder, result, &kept) : result;
}

// The dimensions in ascending order; all of them for NULL.
static bool sorted_dims(tsr_builder *builder, const tsr_shape *dims, int rank,
                        tsr_shape *out_dims) {
  bool chosen[TSR_MAX_RANK] = {false};
  tsr_shape from_zero = {0};
  if (dims && !tsr_builder_dims(builder, dims, rank, &from_zero)) return false;
  for (int i = 0; i < from_zero.rank; i++) chosen[from_zero.dims[i]] = true;
  out_dims->rank = 0;
  for (int i = 0; i < rank; i++)
    if (!dims || chosen[i]) out_dims->dims[out_dims->rank++] = i;
  return true;
}

tsr_node tsr_build_reduce(tsr_builder *builder, const char *kind, tsr_node x, const tsr_shape *dims,
                          bool keep) {
  if (!tsr_builder_enter(builder, "reduce")) return TSR_NO_NODE;
  tsr_node result = TSR_NO_NODE;
  tsr_shape sorted;
  const tsr_type *type = tsr_builder_tensor(builder, x, 0);
  if (type && sorted_dims(builder, dims, type->rank, &sorted))
    result = reduce(builder, kind, x, &sorted, keep);
  return tsr_builder_leave(builder, result);
}

// ---- by a function ----

// Element types as scalars, twice: accumulated values, then elements.
static tsr_status scalar_args(tsr_builder *builder, const tsr_node *operands, int count,
                              const tsr_type ***out_args) {
  const tsr_type **args = tsr_ir_alloc(builder->ir, sizeof *args * 2 * (size_t)count);
  TSR_NEED(args);
  for (int i = 0; i < count; i++) {
    TSR_TRY(
        tsr_builder_type(builder, tsr_build_dtype_of(builder, operands[i]), TSR_SCALAR, &args[i]));
    args[count + i] = args[i];
  }
  *out_args = args;
  return NULL;
}

static tsr_status join_lists(tsr_builder *builder, const tsr_node *operands,
                             const tsr_node *initial, int count, tsr_node **out_all) {
  tsr_node *all = tsr_ir_alloc(builder->ir, sizeof *all * 2 * (size_t)count);
  TSR_NEED(all);
  memcpy(all, operands, sizeof *all * (size_t)count);
  memcpy(all + count, initial, sizeof *all * (size_t)count);
  *out_all = all;
  return NULL;
}

void tsr_build_reduce_with(tsr_builder *builder, const tsr_node *operands, const tsr_node *initial,
                           int count, const tsr_shape *dims, tsr_build_fn *reducer, void *context,
                           tsr_node *out_results) {
  if (!tsr_builder_enter_all(builder, "reduce_with", out_results, count)) return;
  tsr_shape sorted;
  const tsr_type **args = NULL;
  tsr_node *all = NULL;
  const tsr_type *type = tsr_builder_given(builder, "operands", operands, count, 1)
                             ? tsr_builder_tensor(builder, operands[0], 0)
                             : NULL;
  for (int i = 1; type && i < count; i++)
    if (!tsr_builder_tensor(builder, operands[i], i)) type = NULL;
  if (type && sorted_dims(builder, dims, type->rank, &sorted) &&
      tsr_builder_keep(builder, scalar_args(builder, operands, count, &args)) &&
      tsr_builder_keep(builder, join_lists(builder, operands, initial, count, &all))) {
    const tsr_builder_region region = {.build = reducer,
                                       .context = context,
                                       .args = args,
                                       .arg_count = 2 * count,
                                       .result_count = count};
    tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_REDUCE, all, 2 * count);
    draft.regions = &region;
    draft.region_count = 1;
    tsr_builder_ints(&draft, "dimensions", &sorted);
    (void)tsr_builder_emit(&draft, out_results, count);
  }
  tsr_builder_leave_all(builder, out_results, count);
}
