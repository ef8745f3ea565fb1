// Values whose dims are padded: records of them, masks, constants.
#include "resolve/padding.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "propagate/edits.h"

// ---- records ----

const tsr_type *tsr_padding_whole(const tsr_padding *p, const tsr_value *value) {
  return value->mark ? p->records[value->mark].whole : value->type;
}

bool tsr_padding_is_zeros(const tsr_padding *p, const tsr_value *value) {
  return value->mark && p->records[value->mark].zeros;
}

tsr_status tsr_padding_record(tsr_padding *p, tsr_value *value, const tsr_type *whole, bool zeros) {
  if (!p->count) p->count = 1;  // 0 = a value without one
  tsr_padded_value *records = tsr_grow(p->records, p->count, &p->capacity, sizeof *records);
  if (!records) return tsr_fail(NO_MEMORY, "padded values");
  p->records = records;
  value->mark = p->count;
  p->records[p->count++] = (tsr_padded_value){whole, zeros};
  return NULL;
}

tsr_status tsr_padding_set(tsr_padding *p, tsr_value *value, const tsr_type *type, bool zeros) {
  TSR_TRY(tsr_padding_record(p, value, tsr_padding_whole(p, value), zeros));
  value->type = type;
  ++*p->changes;
  return NULL;
}

tsr_status tsr_padding_even(tsr_padding *p, tsr_value *value, const tsr_type *type,
                            const tsr_type **out_type) {
  const tsr_tensor_sharding *sharding = NULL;
  TSR_TRY(tsr_cut_of_value(&p->scratch, p->ir, value, &sharding));
  return tsr_even_type(p->ir, type, sharding, out_type);
}

// ---- masks ----

// True where an index is inside the whole tensor along the dims that `masked` names (NULL = all)
// and that are padded; NULL if there is none.
static tsr_value *inside_mask(tsr_site *site, const tsr_type *whole, const tsr_type *type,
                              const bool *masked, const tsr_attr *sharding) {
  tsr_value *mask = NULL;
  int bits = 32;
  for (int d = 0; d < type->rank; d++)
    if (type->dims[d] > INT32_MAX) bits = 64;
  const tsr_type *word = tsr_type_integer(site->ir, bits, TSR_SIGNLESS);
  const tsr_type *indices = word ? tsr_site_retyped(site, type, word) : NULL;
  for (int d = 0; d < type->rank; d++) {
    if (whole->dims[d] == type->dims[d] || (masked && !masked[d])) continue;
    const tsr_site_attr dim = {"iota_dimension", tsr_attr_i64(site->ir, d)};
    tsr_value *iota =
        tsr_site_shard(site, tsr_site_add(site, TSR_OP_IOTA, indices, NULL, 0, &dim, 1), sharding);
    tsr_value *limit = tsr_site_integer(site, bits, whole->dims[d]);
    limit = tsr_site_shard(site, tsr_site_broadcast(site, limit, indices, NULL), sharding);
    tsr_value *inside = tsr_site_compare(site, iota, limit, TSR_DIRECTION_LT);
    inside = tsr_site_shard(site, inside, sharding);
    if (mask)
      inside = tsr_site_shard(site, tsr_site_binary(site, TSR_OP_AND, mask, inside), sharding);
    mask = inside;
  }
  return mask;
}

tsr_status tsr_padding_mask(tsr_padding *p, tsr_op *op, int index, tsr_value *value,
                            const bool *masked, bool zeros) {
  tsr_value *operand = tsr_op_operand(op, index);
  const tsr_type *whole = tsr_padding_whole(p, operand);
  const tsr_attr *sharding = NULL;
  if (!tsr_is_padded(p, operand)) return NULL;
  TSR_TRY(tsr_sharding_get(p->ir, operand, &sharding));
  tsr_site site = tsr_padding_site(p, op);
  tsr_value *scalar = value ? value : tsr_site_zeros(&site, tsr_site_scalar(&site, operand->type));
  tsr_value *mask = inside_mask(&site, whole, operand->type, masked, sharding);
  if (site.failure || !mask) return site.failure;
  tsr_value *filled = tsr_site_broadcast(&site, scalar, operand->type, NULL);
  tsr_value *const operands[] = {mask, operand, tsr_site_shard(&site, filled, sharding)};
  tsr_value *made = tsr_site_add(&site, TSR_OP_SELECT, operand->type, operands, 3, NULL, 0);
  made = tsr_site_shard(&site, made, sharding);
  if (site.failure || !made) return site.failure;
  tsr_op_set_operand(op, index, made);
  return tsr_padding_record(p, made, whole, zeros);
}

tsr_status tsr_padding_mask_zeros(tsr_padding *p, tsr_op *op, int index, const tsr_attr *dims,
                                  const tsr_attr *more) {
  bool masked[TSR_MAX_RANK] = {false};
  bool any = false;
  const tsr_value *operand = tsr_op_operand(op, index);
  const tsr_type *type = operand->type, *whole = tsr_padding_whole(p, operand);
  if (type == whole || tsr_padding_is_zeros(p, operand)) return NULL;
  for (int64_t i = 0; i < tsr_attr_int_count(dims); i++) masked[tsr_attr_int_at(dims, i)] = true;
  if (more) masked[more->integer] = true;
  for (int d = 0; d < type->rank; d++) any |= masked[d] && type->dims[d] != whole->dims[d];
  return any ? tsr_padding_mask(p, op, index, NULL, masked, false) : NULL;
}

tsr_status tsr_padding_mask_product(tsr_padding *p, tsr_op *op) {
  const tsr_attr *dims = tsr_op_attr(op, "dot_dimension_numbers");
  TSR_TRY(tsr_padding_mask_zeros(p, op, 0, tsr_attr_field(dims, TSR_DOT_LHS_CONTRACTING), NULL));
  return tsr_padding_mask_zeros(p, op, 1, tsr_attr_field(dims, TSR_DOT_RHS_CONTRACTING), NULL);
}

tsr_status tsr_padding_mask_reduction(tsr_padding *p, tsr_op *op) {
  bool reduced[TSR_MAX_RANK] = {false};
  const tsr_attr *dims = tsr_op_attr(op, "dimensions");
  for (int64_t i = 0; i < tsr_attr_int_count(dims); i++) reduced[tsr_attr_int_at(dims, i)] = true;
  for (int i = 0; i < op->result_count; i++)
    TSR_TRY(tsr_padding_mask(p, op, i, tsr_op_operand(op, op->result_count + i), reduced, false));
  return NULL;
}

// ---- single ops ----

tsr_status tsr_padding_ints(tsr_padding *p, tsr_op *op, const char *name, const int64_t *values,
                            int count) {
  const tsr_attr *attr = tsr_attr_ints(p->ir, values, count);
  TSR_NEED(attr);
  return tsr_op_attr_set(p->ir, op, name, attr);
}

tsr_status tsr_padding_constant(tsr_padding *p, tsr_op *op) {
  tsr_value *result = tsr_op_result(op, 0);
  const tsr_attr *value = tsr_op_attr(op, "value");
  const tsr_type *even = NULL, *type = result->type;
  TSR_TRY(tsr_padding_even(p, result, type, &even));
  const int64_t count = tsr_type_element_count(even);
  const size_t width = tsr_type_element_bytes(type->element);
  if (value->kind != TSR_ATTR_DENSE || count < 0)
    return tsr_fail(UNSUPPORTED, "%s: a constant that cannot be padded", op->name);
  const char *bytes = value->bytes;
  if (!value->splat) {
    char *grown = (uint64_t)count < SIZE_MAX / (width + 1)
                      ? tsr_ir_alloc(p->ir, (size_t)count * width + 1)
                      : NULL;
    TSR_NEED(grown);
    memset(grown, 0, (size_t)count * width + 1);
    for (int64_t i = 0, whole = tsr_type_element_count(type); i < whole; i++) {
      int64_t at = 0, stride = 1, rest = i;
      for (int d = type->rank - 1; d >= 0; d--) {
        at += rest % type->dims[d] * stride;
        rest /= type->dims[d];
        stride *= even->dims[d];
      }
      memcpy(grown + (size_t)at * width, tsr_attr_element(value, i), width);
    }
    bytes = grown;
  }
  const tsr_attr *made =
      tsr_attr_dense(p->ir, even, bytes, value->splat ? value->length : (size_t)count * width);
  TSR_NEED(made);
  TSR_TRY(tsr_op_attr_set(p->ir, op, "value", made));
  return tsr_padding_set(p, result, even, !value->splat);
}

void tsr_padding_end(tsr_padding *p) {
  tsr_arena_deinit(&p->scratch);
  free(p->records);
}
