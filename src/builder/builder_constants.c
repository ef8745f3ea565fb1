// Constants: data of the caller, one value for all elements, and counting along a dimension.
#include <math.h>
#include <string.h>

#include "builder/builder_internal.h"
#include "builder/builder_spec.h"
#include "element/packed_bits.h"
#include "tessera/engine/kernels.h"

static tsr_node emit_attr(tsr_builder *builder, const tsr_type *type, const tsr_attr *value) {
  tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_CONSTANT, NULL, 0);
  tsr_builder_attr(&draft, "value", value);
  draft.type_count = 1;
  draft.types = &type;
  return tsr_builder_emit_one(&draft);
}

static tsr_node emit_dense(tsr_builder *builder, const tsr_type *type, const void *bytes,
                           size_t length) {
  return emit_attr(builder, type, tsr_attr_dense(builder->ir, type, bytes, length));
}

// ---- data ----

// The caller's elements as attributes store them: one byte or more each, bools 0 or 1.
static void store(const tsr_type *type, const void *data, int64_t count, size_t length,
                  uint8_t *out) {
  const tsr_dtype_info *info = tsr_dtype_info_of(type->dtype);
  if (info->sub_byte) {
    tsr_unpack(info->bits, data, 0, count, out);
    return;
  }
  memcpy(out, data, length);
  for (size_t i = 0; info->kind == TSR_CLASS_BOOL && i < length; i++) out[i] = out[i] != 0;
}

tsr_status tsr_dense_of_data(tsr_ir *ir, const tsr_type *type, const void *data,
                             const tsr_attr **out_attr) {
  const int64_t count = tsr_type_element_count(type);
  const size_t size = tsr_type_element_bytes(tsr_type_element(type));
  if ((uint64_t)count > SIZE_MAX / 2 / size)
    return tsr_fail(TOO_LARGE, "constant of %lld elements", (long long)count);
  if (count && !data) return tsr_fail(BAD_ARGUMENT, "data is NULL");
  const size_t length = (size_t)count * size;
  uint8_t *bytes = tsr_ir_alloc(ir, length + 1);
  TSR_NEED(bytes);
  if (count) store(type, data, count, length, bytes);
  *out_attr = tsr_attr_dense(ir, type, bytes, length);
  TSR_NEED(*out_attr);
  return NULL;
}

tsr_node tsr_build_constant(tsr_builder *builder, tsr_dtype dtype, const tsr_shape *shape,
                            const void *data) {
  if (!tsr_builder_enter(builder, "constant")) return TSR_NO_NODE;
  const tsr_type *type = NULL;
  const tsr_attr *value = NULL;
  tsr_node result = TSR_NO_NODE;
  if (tsr_builder_keep(builder, tsr_builder_type(builder, dtype, shape, &type)) &&
      tsr_builder_keep(builder, tsr_dense_of_data(builder->ir, type, data, &value)))
    result = emit_attr(builder, type, value);
  return tsr_builder_leave(builder, result);
}

// ---- one value ----

static tsr_dtype real_dtype(tsr_dtype dtype) {
  return dtype == TSR_C64 ? TSR_F32 : dtype == TSR_C128 ? TSR_F64 : dtype;
}

// Integers and bools must hold the value exactly.
static tsr_status check_exact(tsr_dtype dtype, double value, const void *encoded) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  if (info->kind == TSR_CLASS_FLOAT || info->kind == TSR_CLASS_COMPLEX) return NULL;
  double back = 0;
  TSR_TRY(tsr_convert(dtype, encoded, TSR_F64, &back, 1));
  // The largest integers of 64 bits round up to a power of two that is not one of them.
  if (back == value && fabs(value) < 0x1p63) return NULL;
  return tsr_fail(BAD_ARGUMENT, "%g is not a value of dtype %s", value, info->name);
}

static tsr_status encode(tsr_builder *builder, const tsr_type *type, double value,
                         uint8_t **out_bytes, size_t *out_length) {
  const tsr_dtype_info *info = tsr_dtype_info_of(type->dtype);
  uint8_t *bytes = tsr_arena_zeros(&builder->ir->arena, 16, 1);
  TSR_NEED(bytes);
  TSR_TRY(tsr_convert(TSR_F64, &value, real_dtype(type->dtype), bytes, 1));
  TSR_TRY(check_exact(type->dtype, value, bytes));
  if (info->sub_byte) tsr_unpack(info->bits, (uint8_t[]){bytes[0]}, 0, 1, bytes);
  *out_bytes = bytes;
  *out_length = tsr_type_element_bytes(tsr_type_element(type));
  return NULL;
}

tsr_node tsr_build_splat(tsr_builder *builder, tsr_dtype dtype, const tsr_shape *shape,
                         double value) {
  if (!tsr_builder_enter(builder, "splat")) return TSR_NO_NODE;
  const tsr_type *type = NULL;
  uint8_t *bytes = NULL;
  size_t length = 0;
  tsr_node result = TSR_NO_NODE;
  if (tsr_builder_keep(builder, tsr_builder_type(builder, dtype, shape, &type)) &&
      tsr_builder_keep(builder, encode(builder, type, value, &bytes, &length)))
    result = emit_dense(builder, type, bytes, tsr_type_element_count(type) == 0 ? 0 : length);
  return tsr_builder_leave(builder, result);
}

tsr_node tsr_build_scalar(tsr_builder *builder, tsr_dtype dtype, double value) {
  return tsr_build_splat(builder, dtype, TSR_SCALAR, value);
}

// ---- counting ----

tsr_node tsr_build_iota(tsr_builder *builder, tsr_dtype dtype, const tsr_shape *shape, int dim) {
  if (!tsr_builder_enter(builder, "iota")) return TSR_NO_NODE;
  tsr_node result = TSR_NO_NODE;
  const int from_zero = tsr_builder_dim(builder, dim, shape->rank);
  if (from_zero >= 0) {
    tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_IOTA, NULL, 0);
    tsr_builder_int(&draft, "iota_dimension", from_zero);
    result = tsr_builder_emit_shaped(&draft, dtype, shape);
  }
  return tsr_builder_leave(builder, result);
}
