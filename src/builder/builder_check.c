// Types, dimensions and lists that callers give: checked once, before an op is drafted.
#include "base/text_internal.h"
#include "builder/builder_internal.h"
#include "element/shape_internal.h"
#include "syntax/syntax.h"

tsr_status tsr_builder_type(tsr_builder *builder, tsr_dtype dtype, const tsr_shape *shape,
                            const tsr_type **out_type) {
  if (!tsr_dtype_info_of(dtype))
    return tsr_fail(UNKNOWN_DTYPE, "dtype %d, expected one of TSR_BOOL to TSR_C128", (int)dtype);
  TSR_TRY(tsr_shape_check(shape));
  const tsr_type *type = tsr_type_shaped(builder->ir, dtype, shape->rank, shape->dims);
  TSR_NEED(type);
  *out_type = type;
  return NULL;
}

tsr_status tsr_fail_types_at(tsr_cause cause, const char *file, int line, const char *what,
                             const tsr_type *a, const tsr_type *b) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_addf(&text, "%s ", what);
  tsr_type_print(a, &text);
  tsr_text_add(&text, " and ");
  tsr_type_print(b, &text);
  tsr_text_add(&text, ", expected equal types");
  return tsr_fail_text_at(cause, file, line, &text);
}

static tsr_status fail_not_tensor(const tsr_type *type, int index) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_addf(&text, "operand %d is ", index);
  tsr_type_print(type, &text);
  tsr_text_add(&text, ", expected a static tensor of a dtype");
  return tsr_fail_text(TSR_CAUSE_CONSTRAINT, &text);
}

static tsr_status find_tensor(const tsr_builder *builder, tsr_node node, int index,
                              const tsr_type **out_type) {
  tsr_value *value = NULL;
  TSR_TRY(tsr_builder_value(builder, node, index, &value));
  const tsr_type *type = value->type;
  if (type->kind != TSR_TYPE_TENSOR || !tsr_type_is_static(type) || type->rank > TSR_MAX_RANK ||
      type->dtype == TSR_DTYPE_NONE)
    return fail_not_tensor(type, index);
  *out_type = type;
  return NULL;
}

const tsr_type *tsr_builder_tensor(tsr_builder *builder, tsr_node node, int index) {
  const tsr_type *type = NULL;
  if (builder->failure) return NULL;
  return tsr_builder_keep(builder, find_tensor(builder, node, index, &type)) ? type : NULL;
}

int tsr_builder_dim(tsr_builder *builder, int64_t dim, int rank) {
  if (dim >= -(int64_t)rank && dim < rank) return (int)(dim < 0 ? dim + rank : dim);
  (void)tsr_builder_keep(
      builder, rank ? tsr_fail(INDEX_OUT_OF_RANGE, "dimension %lld, expected %d to %d",
                               (long long)dim, -rank, rank - 1)
                    : tsr_fail(INDEX_OUT_OF_RANGE, "dimension %lld of a scalar", (long long)dim));
  return -1;
}

static bool check_length(tsr_builder *builder, const tsr_shape *list) {
  if (list->rank >= 0 && list->rank <= TSR_MAX_RANK) return true;
  return tsr_builder_keep(builder, tsr_fail(BAD_ARGUMENT, "list of %d numbers, expected 0 to %d",
                                            list->rank, TSR_MAX_RANK));
}

bool tsr_builder_dims(tsr_builder *builder, const tsr_shape *dims, int rank, tsr_shape *out_dims) {
  bool seen[TSR_MAX_RANK] = {false};
  if (!check_length(builder, dims)) return false;
  out_dims->rank = dims->rank;
  for (int i = 0; i < dims->rank; i++) {
    const int dim = tsr_builder_dim(builder, dims->dims[i], rank);
    if (dim < 0) return false;
    if (seen[dim])
      return tsr_builder_keep(builder, tsr_fail(BAD_ARGUMENT, "dimension %d is listed twice", dim));
    seen[dim] = true;
    out_dims->dims[i] = dim;
  }
  return true;
}

bool tsr_builder_list(tsr_builder *builder, const char *what, const tsr_shape *list, int rank) {
  if (list->rank == rank) return true;
  return tsr_builder_keep(builder,
                          tsr_fail(BAD_ARGUMENT, "%d %s, expected %d", list->rank, what, rank));
}

bool tsr_builder_given(tsr_builder *builder, const char *what, const void *list, int count,
                       int least) {
  tsr_status status = NULL;
  if (count < least)
    status = tsr_fail(BAD_ARGUMENT, "%d %s, expected at least %d", count, what, least);
  else if (count > TSR_BUILDER_LIST)
    status = tsr_fail(TOO_LARGE, "%d %s, expected at most %d", count, what, TSR_BUILDER_LIST);
  else if (count > 0 && !list)
    status = tsr_fail(BAD_ARGUMENT, "the %s are NULL", what);
  return tsr_builder_keep(builder, status);
}
