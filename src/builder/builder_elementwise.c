// Elementwise ops. Operands of different shapes are broadcast by NumPy's rule before the op.
#include <string.h>

#include "base/suggest.h"
#include "base/text_internal.h"
#include "builder/builder_internal.h"
#include "element/shape_internal.h"

// ---- broadcasting ----

static tsr_status fail_shapes(const tsr_shape *a, const tsr_shape *b) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add(&text, "operands have shapes ");
  tsr_shape_print(a, &text);
  tsr_text_add(&text, " and ");
  tsr_shape_print(b, &text);
  tsr_text_add(&text, ", which do not broadcast to one shape");
  return tsr_fail_text(TSR_CAUSE_CONSTRAINT, &text);
}

// Grows `shape` so that `other` broadcasts to it too.
static tsr_status join_shapes(tsr_shape *shape, const tsr_shape *other) {
  const int rank = shape->rank > other->rank ? shape->rank : other->rank;
  tsr_shape joined = {.rank = rank};
  for (int i = 0; i < rank; i++) {
    const int at = i - (rank - shape->rank), other_at = i - (rank - other->rank);
    const int64_t size = at < 0 ? 1 : shape->dims[at];
    const int64_t other_size = other_at < 0 ? 1 : other->dims[other_at];
    if (size != other_size && size != 1 && other_size != 1) return fail_shapes(shape, other);
    joined.dims[i] = size == 1 ? other_size : size;
  }
  *shape = joined;
  return NULL;
}

bool tsr_builder_common(tsr_builder *builder, const tsr_node *operands, int count,
                        tsr_shape *out_shape) {
  *out_shape = (tsr_shape){0};
  for (int i = 0; i < count; i++) {
    const tsr_type *type = tsr_builder_tensor(builder, operands[i], i);
    if (!type) return false;
    const tsr_shape shape = tsr_shape_of_type(type);
    if (!tsr_builder_keep(builder, join_shapes(out_shape, &shape))) return false;
  }
  return true;
}

static tsr_status check_dtypes(const tsr_builder *builder, tsr_node x, tsr_node y) {
  const tsr_dtype a = tsr_build_dtype_of(builder, x), b = tsr_build_dtype_of(builder, y);
  if (a == b) return NULL;
  return tsr_fail(CONSTRAINT, "operands have dtypes %s and %s, expected the same dtype",
                  tsr_dtype_name(a, TSR_NAMES_OWN), tsr_dtype_name(b, TSR_NAMES_OWN));
}

// Both with one shape and dtype. Values of one type are not touched, whatever that is.
static bool broadcast_pair(tsr_builder *builder, tsr_node *pair) {
  tsr_value *x = NULL, *y = NULL;
  if (!tsr_builder_keep(builder, tsr_builder_value(builder, pair[0], 0, &x)) ||
      !tsr_builder_keep(builder, tsr_builder_value(builder, pair[1], 1, &y)))
    return false;
  if (x->type == y->type) return true;
  tsr_shape shape;
  if (!tsr_builder_common(builder, pair, 2, &shape)) return false;
  if (!tsr_builder_keep(builder, check_dtypes(builder, pair[0], pair[1]))) return false;
  for (int i = 0; i < 2; i++) pair[i] = tsr_build_broadcast(builder, pair[i], &shape, NULL);
  return !builder->failure;
}

// ---- ops by name ----

static const tsr_op_info *find_row(const char *name) {
  static const char *const dialects[] = {"stablehlo.", "chlo.", ""};
  for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
    char full[64];
    const size_t prefix = strlen(dialects[i]), length = strlen(name);
    if (prefix + length >= sizeof full) return NULL;
    memcpy(full, dialects[i], prefix);
    memcpy(full + prefix, name, length + 1);
    const tsr_op_info *info = tsr_op_find(full, prefix + length);
    if (info->id != TSR_OP_UNKNOWN) return info;
  }
  return NULL;
}

static void offer(tsr_suggestion *near, const char *name) {
  const char *dot = strchr(name, '.');
  tsr_suggestion_offer(near, near->word && strchr(near->word, '.') ? name : dot + 1);
}

tsr_status tsr_builder_find_op(const char *name, const tsr_op_info **out_info) {
  *out_info = find_row(name);
  if (*out_info) return NULL;
  tsr_suggestion near = tsr_suggestion_for(name);
  for (int id = 1; id < TSR_OP_COUNT; id++) offer(&near, tsr_op_info_of((tsr_op_id)id)->name);
  return tsr_fail(UNKNOWN_OP, "there is no op \"%s\"" TSR_DID_YOU_MEAN, name, TSR_SUGGESTED(near));
}

// An op with this number of operands, one result, no region and no required attribute.
static tsr_status find_plain(const char *name, int operands, tsr_op_id *out_id) {
  const tsr_op_info *info = NULL;
  TSR_TRY(tsr_builder_find_op(name, &info));
  bool plain = info->results == 1 && info->regions == 0;
  for (int i = 0; i < info->attr_count; i++) plain &= !info->attrs[i].required;
  if (!plain || info->operands != operands)
    return tsr_fail(BAD_ARGUMENT, "%s is no elementwise op of %s", info->name,
                    operands == 1 ? "one operand" : "two operands");
  *out_id = info->id;
  return NULL;
}

tsr_node tsr_build_unary(tsr_builder *builder, const char *name, tsr_node x) {
  if (!tsr_builder_enter(builder, name)) return TSR_NO_NODE;
  tsr_op_id id = TSR_OP_UNKNOWN;
  tsr_node result = TSR_NO_NODE;
  if (tsr_builder_keep(builder, find_plain(name, 1, &id))) {
    const tsr_builder_op draft = tsr_builder_draft(builder, id, &x, 1);
    result = tsr_builder_emit_one(&draft);
  }
  return tsr_builder_leave(builder, result);
}

tsr_node tsr_build_binary(tsr_builder *builder, const char *name, tsr_node x, tsr_node y) {
  if (!tsr_builder_enter(builder, name)) return TSR_NO_NODE;
  tsr_op_id id = TSR_OP_UNKNOWN;
  tsr_node pair[] = {x, y}, result = TSR_NO_NODE;
  if (tsr_builder_keep(builder, find_plain(name, 2, &id)) && broadcast_pair(builder, pair)) {
    const tsr_builder_op draft = tsr_builder_draft(builder, id, pair, 2);
    result = tsr_builder_emit_one(&draft);
  }
  return tsr_builder_leave(builder, result);
}

// ---- compare, select, clamp, convert ----

// As JAX writes it, the type of comparison follows from the dtype.
static int compare_type(tsr_dtype dtype) {
  switch (tsr_dtype_info_of(dtype)->kind) {
    case TSR_CLASS_BOOL:
    case TSR_CLASS_UNSIGNED:
      return TSR_COMPARE_TYPE_UNSIGNED;
    case TSR_CLASS_SIGNED:
      return TSR_COMPARE_TYPE_SIGNED;
    default:
      return TSR_COMPARE_TYPE_FLOAT;
  }
}

static tsr_status find_direction(const char *name, int *out_value) {
  *out_value = tsr_enum_value(TSR_ENUM_DIRECTION, name, strlen(name));
  if (*out_value >= 0) return NULL;
  return tsr_fail(BAD_ARGUMENT, "direction \"%s\", expected EQ, NE, GE, GT, LE or LT", name);
}

tsr_node tsr_build_compare(tsr_builder *builder, const char *direction, tsr_node x, tsr_node y) {
  if (!tsr_builder_enter(builder, "compare")) return TSR_NO_NODE;
  int value = 0;
  tsr_node pair[] = {x, y}, result = TSR_NO_NODE;
  if (tsr_builder_keep(builder, find_direction(direction, &value)) &&
      broadcast_pair(builder, pair)) {
    tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_COMPARE, pair, 2);
    tsr_builder_attr(&draft, "comparison_direction",
                     tsr_attr_enum(builder->ir, TSR_ENUM_DIRECTION, value));
    const tsr_dtype dtype = tsr_build_dtype_of(builder, pair[0]);
    if (dtype != TSR_DTYPE_NONE)
      tsr_builder_attr(&draft, "compare_type",
                       tsr_attr_enum(builder->ir, TSR_ENUM_COMPARE_TYPE, compare_type(dtype)));
    result = tsr_builder_emit_one(&draft);
  }
  return tsr_builder_leave(builder, result);
}

tsr_node tsr_build_select(tsr_builder *builder, tsr_node condition, tsr_node x, tsr_node y) {
  if (!tsr_builder_enter(builder, "select")) return TSR_NO_NODE;
  tsr_node all[] = {condition, x, y}, result = TSR_NO_NODE;
  tsr_shape shape;
  if (tsr_builder_common(builder, all, 3, &shape) &&
      tsr_builder_keep(builder, check_dtypes(builder, x, y))) {
    // A scalar condition stays one: the op allows it.
    const bool scalar = tsr_build_shape_of(builder, condition).rank == 0;
    for (int i = scalar; i < 3; i++) all[i] = tsr_build_broadcast(builder, all[i], &shape, NULL);
    const tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_SELECT, all, 3);
    result = tsr_builder_emit_one(&draft);
  }
  return tsr_builder_leave(builder, result);
}

tsr_node tsr_build_clamp(tsr_builder *builder, tsr_node low, tsr_node x, tsr_node high) {
  if (!tsr_builder_enter(builder, "clamp")) return TSR_NO_NODE;
  tsr_node all[] = {low, x, high}, result = TSR_NO_NODE;
  tsr_shape shape;
  if (tsr_builder_common(builder, all, 3, &shape) &&
      tsr_builder_keep(builder, check_dtypes(builder, low, x)) &&
      tsr_builder_keep(builder, check_dtypes(builder, x, high))) {
    // Scalar bounds stay scalars: the op allows it.
    for (int i = 0; i < 3; i++)
      if (i == 1 || tsr_build_shape_of(builder, all[i]).rank > 0)
        all[i] = tsr_build_broadcast(builder, all[i], &shape, NULL);
    const tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_CLAMP, all, 3);
    result = tsr_builder_emit_one(&draft);
  }
  return tsr_builder_leave(builder, result);
}

tsr_node tsr_build_convert(tsr_builder *builder, tsr_node x, tsr_dtype dtype) {
  if (!tsr_builder_enter(builder, "convert")) return TSR_NO_NODE;
  tsr_node result = x;
  const tsr_type *type = tsr_builder_tensor(builder, x, 0);
  if (type && type->dtype != dtype) {
    const tsr_shape shape = tsr_shape_of_type(type);
    tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_CONVERT, &x, 1);
    result = tsr_builder_emit_shaped(&draft, dtype, &shape);
  }
  return tsr_builder_leave(builder, result);
}

tsr_node tsr_build_widened(tsr_builder *builder, tsr_node x) {
  const tsr_dtype_info *info = tsr_dtype_info_of(tsr_build_dtype_of(builder, x));
  const bool narrow = info && info->kind == TSR_CLASS_FLOAT && info->bits < 32;
  return narrow ? tsr_build_convert(builder, x, TSR_F32) : x;
}
