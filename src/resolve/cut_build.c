// Ops that passes of this room build, and sizes of sharded tensors.
#include "resolve/cut_build.h"

#include <string.h>

#include "base/arithmetic.h"
#include "propagate/edits.h"
#include "verify/sdy_checks.h"

// ---- shardings ----

tsr_status tsr_cut_of_attr(tsr_arena *arena, const tsr_ir *ir, const tsr_op *op,
                           const tsr_attr *attr, const tsr_tensor_sharding **out_sharding) {
  *out_sharding = NULL;
  const tsr_attr *mesh = attr ? tsr_sdy_mesh_of(ir, op, attr) : NULL;
  if (!mesh || !tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count) return NULL;
  tsr_tensor_sharding *sharding = NULL;
  TSR_TRY(tsr_sharding_read(arena, mesh, attr, &sharding));
  *out_sharding = sharding;
  return NULL;
}

tsr_status tsr_cut_of_value(tsr_arena *arena, tsr_ir *ir, tsr_value *value,
                            const tsr_tensor_sharding **out_sharding) {
  const tsr_attr *attr = NULL;
  *out_sharding = NULL;
  if (value->type->kind != TSR_TYPE_TENSOR) return NULL;
  TSR_TRY(tsr_sharding_get(ir, value, &attr));
  const tsr_op *op = value->def ? value->def : tsr_block_parent(value->block);
  return tsr_cut_of_attr(arena, ir, op, attr, out_sharding);
}

int64_t tsr_even_size(int64_t size, int64_t count) {
  const int64_t more = size % count ? count - size % count : 0;
  return size > INT64_MAX - more ? -1 : size + more;
}

tsr_status tsr_even_type(tsr_ir *ir, const tsr_type *type, const tsr_tensor_sharding *sharding,
                         const tsr_type **out_type) {
  *out_type = type;
  if (!sharding || !tsr_type_is_static(type) || type->rank != sharding->rank) return NULL;
  int64_t dims[TSR_MAX_RANK];
  bool same = true;
  if (type->rank > TSR_MAX_RANK)
    return tsr_fail(UNSUPPORTED, "a tensor of rank %d, expected at most %d", type->rank,
                    TSR_MAX_RANK);
  for (int i = 0; i < type->rank; i++) {
    dims[i] = tsr_even_size(type->dims[i], tsr_cut_count(sharding, i));
    if (dims[i] < 0)
      return tsr_fail(TOO_LARGE, "dimension %d of size %lld is too large to be padded", i,
                      (long long)type->dims[i]);
    same = same && dims[i] == type->dims[i];
  }
  if (same) return NULL;
  *out_type = tsr_type_tensor(ir, type->element, type->rank, dims, NULL);
  TSR_NEED(*out_type);
  return NULL;
}

// ---- ops ----

static void keep(tsr_site *site, tsr_status failure) {
  if (site->failure)
    tsr_status_free(failure);
  else
    site->failure = failure;
}

tsr_value *tsr_site_shard(tsr_site *site, tsr_value *value, const tsr_attr *sharding) {
  if (!value || !sharding || site->failure) return value;
  keep(site, tsr_value_sharding_set(site->ir, value, sharding));
  return site->failure ? NULL : value;
}

const tsr_type *tsr_site_sized(tsr_site *site, const tsr_type *like, const int64_t *dims) {
  const tsr_type *type = tsr_type_tensor(site->ir, like->element, like->rank, dims, NULL);
  if (!type) keep(site, tsr_fail(NO_MEMORY, "memory of a program"));
  return type;
}

const tsr_type *tsr_site_scalar(tsr_site *site, const tsr_type *like) {
  const tsr_type *type = tsr_type_tensor(site->ir, tsr_type_element(like), 0, NULL, NULL);
  if (!type) keep(site, tsr_fail(NO_MEMORY, "memory of a program"));
  return type;
}

static tsr_value *add_constant(tsr_site *site, const tsr_type *type, const char *bytes,
                               size_t length) {
  const tsr_site_attr value = {"value", tsr_attr_dense(site->ir, type, bytes, length)};
  return tsr_site_add(site, TSR_OP_CONSTANT, type, NULL, 0, &value, 1);
}

tsr_value *tsr_site_integer(tsr_site *site, int bits, int64_t number) {
  const tsr_type *element = tsr_type_integer(site->ir, bits, TSR_SIGNLESS);
  const tsr_type *type = element ? tsr_type_tensor(site->ir, element, 0, NULL, NULL) : NULL;
  char *bytes = tsr_ir_alloc(site->ir, sizeof number);
  if (!type || !bytes) {
    keep(site, tsr_fail(NO_MEMORY, "memory of a program"));
    return NULL;
  }
  memcpy(bytes, &number, sizeof number);  // little-endian: the low bytes come first
  return add_constant(site, type, bytes, (size_t)bits / 8);
}

tsr_value *tsr_site_zeros(tsr_site *site, const tsr_type *type) {
  if (!type || site->failure) return NULL;
  const size_t width = tsr_type_element_bytes(type->element);
  char *bytes = tsr_ir_alloc(site->ir, width + 1);
  if (!bytes) {
    keep(site, tsr_fail(NO_MEMORY, "memory of a program"));
    return NULL;
  }
  memset(bytes, 0, width + 1);
  return add_constant(site, type, bytes, tsr_type_element_count(type) ? width : 0);
}

bool tsr_value_is_zeros(const tsr_value *value) {
  const tsr_attr *constant =
      tsr_op_is(value->def, TSR_OP_CONSTANT) ? tsr_op_attr(value->def, "value") : NULL;
  if (!constant || constant->kind != TSR_ATTR_DENSE || !constant->splat) return false;
  for (size_t i = 0; i < constant->length; i++)
    if (constant->bytes[i]) return false;
  return true;
}

tsr_value *tsr_site_pad(tsr_site *site, tsr_value *x, tsr_value *padding, const tsr_type *type,
                        const int64_t *low, const int64_t *high, const int64_t *interior) {
  static const int64_t zeros[TSR_MAX_RANK] = {0};
  if (!x || !padding || !type) return NULL;
  const int rank = type->rank;
  tsr_value *const operands[] = {x, padding};
  const tsr_site_attr attrs[] = {
      {"edge_padding_high", tsr_attr_ints(site->ir, high ? high : zeros, rank)},
      {"edge_padding_low", tsr_attr_ints(site->ir, low ? low : zeros, rank)},
      {"interior_padding", tsr_attr_ints(site->ir, interior ? interior : zeros, rank)}};
  return tsr_site_add(site, TSR_OP_PAD, type, operands, 2, attrs, 3);
}

tsr_value *tsr_site_pad_end(tsr_site *site, tsr_value *x, tsr_value *padding,
                            const tsr_type *type) {
  int64_t high[TSR_MAX_RANK];
  if (!x || !type) return NULL;
  for (int i = 0; i < type->rank; i++) high[i] = type->dims[i] - x->type->dims[i];
  return tsr_site_pad(site, x, padding, type, NULL, high, NULL);
}

tsr_value *tsr_site_slice(tsr_site *site, tsr_value *x, const int64_t *starts,
                          const int64_t *limits) {
  int64_t from[TSR_MAX_RANK] = {0}, dims[TSR_MAX_RANK], strides[TSR_MAX_RANK];
  if (!x) return NULL;
  const int rank = x->type->rank;
  for (int i = 0; i < rank; i++) {
    if (starts) from[i] = starts[i];
    dims[i] = limits[i] - from[i];
    strides[i] = 1;
  }
  const tsr_site_attr attrs[] = {{"limit_indices", tsr_attr_ints(site->ir, limits, rank)},
                                 {"start_indices", tsr_attr_ints(site->ir, from, rank)},
                                 {"strides", tsr_attr_ints(site->ir, strides, rank)}};
  return tsr_site_add(site, TSR_OP_SLICE, tsr_site_sized(site, x->type, dims), &x, 1, attrs, 3);
}

tsr_value *tsr_site_compare(tsr_site *site, tsr_value *x, tsr_value *y, int direction) {
  tsr_value *const operands[] = {x, y};
  if (!x) return NULL;
  const tsr_type *truth = tsr_type_integer(site->ir, 1, TSR_SIGNLESS);
  const tsr_site_attr attr = {"comparison_direction",
                              tsr_attr_enum(site->ir, TSR_ENUM_DIRECTION, direction)};
  return tsr_site_add(site, TSR_OP_COMPARE, truth ? tsr_site_retyped(site, x->type, truth) : NULL,
                      operands, 2, &attr, 1);
}

tsr_value *tsr_site_device(tsr_site *site, int64_t replicas, int64_t partitions) {
  if (replicas > 1 && partitions > 1) {
    keep(site, tsr_fail(UNSUPPORTED, "%lld replicas of %lld partitions: one of them must be 1",
                        (long long)replicas, (long long)partitions));
    return NULL;
  }
  const tsr_type *wide = tsr_type_integer(site->ir, 64, TSR_SIGNLESS);
  const tsr_type *word = tsr_type_integer(site->ir, 32, TSR_UNSIGNED);
  const tsr_type *type = word ? tsr_type_tensor(site->ir, word, 0, NULL, NULL) : NULL;
  tsr_value *id = tsr_site_add(site, replicas > 1 ? TSR_OP_REPLICA_ID : TSR_OP_PARTITION_ID, type,
                               NULL, 0, NULL, 0);
  return wide ? tsr_site_convert(site, id, wide) : NULL;
}

tsr_value *tsr_site_pick(tsr_site *site, const tsr_type *element, const void *items, int64_t count,
                         tsr_value *index) {
  const int64_t one = 1;
  if (!index || !element || site->failure) return NULL;
  const size_t bytes = (size_t)count * tsr_type_element_bytes(element);
  void *kept = tsr_ir_alloc(site->ir, bytes + 1);
  const tsr_type *type = tsr_type_tensor(site->ir, element, 1, &count, NULL);
  const tsr_type *single = tsr_type_tensor(site->ir, element, 1, &one, NULL);
  if (!kept || !type || !single) {
    keep(site, tsr_fail(NO_MEMORY, "a table of devices"));
    return NULL;
  }
  memcpy(kept, items, bytes);
  tsr_value *const operands[] = {add_constant(site, type, kept, bytes), index};
  const tsr_site_attr sizes = {"slice_sizes", tsr_attr_ints(site->ir, &one, 1)};
  return tsr_site_add(site, TSR_OP_DYNAMIC_SLICE, single, operands, 2, &sizes, 1);
}

tsr_value *tsr_site_lookup(tsr_site *site, const int64_t *numbers, int64_t count,
                           tsr_value *index) {
  tsr_value *found = tsr_site_pick(site, site->ir->i64, numbers, count, index);
  return found ? tsr_site_reshape(site, found, tsr_site_scalar(site, found->type)) : NULL;
}
