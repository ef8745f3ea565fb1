#include "combine/range_masks.h"

#include "combine/device_numbers.h"
#include "propagate/edits.h"
#include "simplify/scalar.h"

enum { MOST_DEPTH = 12, WORD_BITS = 32 };

// ---- which dim ----

// The dim of the operand of a broadcast that becomes `dim` of its result; -1 = none.
static int source_dim(const tsr_op *broadcast, int dim) {
  const tsr_attr *dims = tsr_op_attr(broadcast, "broadcast_dimensions");
  const tsr_type *from = tsr_operand_type(broadcast, 0), *to = broadcast->results[0].type;
  for (int i = 0; i < from->rank; i++)
    if (tsr_attr_int_at(dims, i) == dim && from->dims[i] == to->dims[dim]) return i;
  return -1;
}

static bool is_looked_through(const tsr_op *op) {
  switch (op->info->id) {
    case TSR_OP_AND:
    case TSR_OP_OR:
    case TSR_OP_NOT:
    case TSR_OP_COMPARE:
    case TSR_OP_ADD:
    case TSR_OP_SUBTRACT:
    case TSR_OP_CONVERT:
      return true;
    default:
      return false;
  }
}

// Sets `*dim` to the dim of the iotas that a value is made of; false if there are several.
// NOLINTNEXTLINE(misc-no-recursion): at most MOST_DEPTH deep
static bool find_dim(const tsr_value *value, int depth, int *dim) {
  const tsr_op *op = value->def;
  if (!op || depth == MOST_DEPTH || !value->type->rank) return true;
  if (tsr_op_is(op, TSR_OP_IOTA)) {
    const int own = (int)tsr_op_int(op, "iota_dimension", -1);
    if (*dim >= 0 && *dim != own) return false;
    *dim = own;
    return true;
  }
  if (tsr_op_is(op, TSR_OP_BROADCAST_IN_DIM)) {
    int inner = -1;
    if (!find_dim(tsr_op_operand(op, 0), depth + 1, &inner)) return false;
    if (inner < 0) return true;
    const int own = (int)tsr_attr_int_at(tsr_op_attr(op, "broadcast_dimensions"), inner);
    if (*dim >= 0 && *dim != own) return false;
    *dim = own;
    return true;
  }
  for (int i = 0; is_looked_through(op) && i < op->operand_count; i++)
    if (!find_dim(tsr_op_operand(op, i), depth + 1, dim)) return false;
  return true;
}

int tsr_range_mask_dim(const tsr_value *mask) {
  int dim = -1;
  return find_dim(mask, 0, &dim) ? dim : -1;
}

// ---- indices ----

// slope * index + base
typedef struct index_line {
  int64_t slope, base;
} index_line;

static bool line_of(const tsr_value *value, int dim, int64_t device, int depth, index_line *out);

// NOLINTNEXTLINE(misc-no-recursion)
static bool line_of_sum(const tsr_op *op, int dim, int64_t device, int depth, index_line *out) {
  index_line a, b;
  if (!line_of(tsr_op_operand(op, 0), dim, device, depth, &a) ||
      !line_of(tsr_op_operand(op, 1), dim, device, depth, &b))
    return false;
  const bool adds = tsr_op_is(op, TSR_OP_ADD);
  out->slope = adds ? a.slope + b.slope : a.slope - b.slope;
  return adds ? !__builtin_add_overflow(a.base, b.base, &out->base)
              : !__builtin_sub_overflow(a.base, b.base, &out->base);
}

// Numbers that could wrap are of no use.
static bool is_wide(const tsr_type *type) {
  const tsr_type *element = tsr_type_element(type);
  if (element->kind != TSR_TYPE_INTEGER || element->sign == TSR_UNSIGNED) return false;
  for (int d = 0; d < type->rank; d++)
    if (type->dims[d] > INT32_MAX / 4) return tsr_type_bits(element) > WORD_BITS;
  return tsr_type_bits(element) >= WORD_BITS;
}

// NOLINTNEXTLINE(misc-no-recursion): at most MOST_DEPTH deep
static bool line_of(const tsr_value *value, int dim, int64_t device, int depth, index_line *out) {
  const tsr_op *op = value->def;
  if (!op || depth == MOST_DEPTH || !is_wide(value->type)) return false;
  *out = (index_line){0, 0};
  switch (op->info->id) {
    case TSR_OP_IOTA:
      out->slope = 1;
      return tsr_op_int(op, "iota_dimension", -1) == dim;
    case TSR_OP_ADD:
    case TSR_OP_SUBTRACT:
      return value->type->rank ? line_of_sum(op, dim, device, depth + 1, out)
                               : tsr_device_number(value, device, &out->base);
    case TSR_OP_CONVERT:
      return value->type->rank ? line_of(tsr_op_operand(op, 0), dim, device, depth + 1, out)
                               : tsr_device_number(value, device, &out->base);
    case TSR_OP_BROADCAST_IN_DIM: {
      const int from = source_dim(op, dim);
      if (from >= 0) return line_of(tsr_op_operand(op, 0), from, device, depth + 1, out);
      return tsr_device_number(tsr_op_operand(op, 0), device, &out->base);
    }
    default:
      return tsr_device_number(value, device, &out->base);
  }
}

// ---- masks ----

static bool mask_of(const tsr_value *mask, int dim, int64_t device, int depth, tsr_range_mask *out);

bool tsr_range_mask_at(const tsr_range_mask *mask, int64_t index) {
  bool on = mask->first;
  for (int i = 0; i < mask->count && mask->at[i] <= index; i++) on = !on;
  return on;
}

int64_t tsr_range_mask_end(const tsr_range_mask *mask, int64_t index) {
  for (int i = 0; i < mask->count; i++)
    if (mask->at[i] > index) return mask->at[i];
  return INT64_MAX;
}

static bool joined(tsr_op_id id, bool a, bool b) { return id == TSR_OP_AND ? a && b : a || b; }

// NOLINTNEXTLINE(misc-no-recursion)
static bool join_masks(const tsr_op *op, int dim, int64_t device, int depth, tsr_range_mask *out) {
  tsr_range_mask a, b;
  if (!mask_of(tsr_op_operand(op, 0), dim, device, depth, &a) ||
      !mask_of(tsr_op_operand(op, 1), dim, device, depth, &b))
    return false;
  *out = (tsr_range_mask){.first = joined(op->info->id, a.first, b.first)};
  bool on = out->first;
  for (int64_t at = INT64_MIN;;) {
    const int64_t x = tsr_range_mask_end(&a, at), y = tsr_range_mask_end(&b, at);
    at = x < y ? x : y;
    if (at == INT64_MAX) return true;
    const bool now = joined(op->info->id, tsr_range_mask_at(&a, at), tsr_range_mask_at(&b, at));
    if (now == on) continue;
    if (out->count == TSR_MASK_CHANGES) return false;
    out->at[out->count++] = at;
    on = now;
  }
}

static bool compares(int direction, int64_t a, int64_t b) {
  return tsr_order_holds(direction, a<b, a == b, a> b);
}

// A comparison changes at most before and after the index at which both sides are equal.
static bool compare_lines(const tsr_op *op, int dim, int64_t device, int depth,
                          tsr_range_mask *out) {
  const int direction = (int)tsr_op_int(op, "comparison_direction", -1);
  index_line a, b;
  int64_t equal = 0;
  if (!line_of(tsr_op_operand(op, 0), dim, device, depth, &a) ||
      !line_of(tsr_op_operand(op, 1), dim, device, depth, &b) ||
      __builtin_sub_overflow(b.base, a.base, &equal))
    return false;
  const int64_t slope = a.slope - b.slope;
  *out = (tsr_range_mask){.first = compares(direction, 0, equal)};
  if (!slope) return true;
  if (slope != 1 && slope != -1) return false;
  if (equal <= INT64_MIN + 1 || equal >= INT64_MAX - 1) return false;
  const int64_t place = slope * equal;
  out->first = compares(direction, -slope, 0);
  const bool there = compares(direction, 0, 0), after = compares(direction, slope, 0);
  if (there != out->first) out->at[out->count++] = place;
  if (after != there) out->at[out->count++] = place + 1;
  return true;
}

// NOLINTNEXTLINE(misc-no-recursion): at most MOST_DEPTH deep
static bool mask_of(const tsr_value *mask, int dim, int64_t device, int depth,
                    tsr_range_mask *out) {
  const tsr_op *op = mask->def;
  if (!op || depth == MOST_DEPTH) return false;
  switch (op->info->id) {
    case TSR_OP_AND:
    case TSR_OP_OR:
      return join_masks(op, dim, device, depth + 1, out);
    case TSR_OP_NOT:
      if (!mask_of(tsr_op_operand(op, 0), dim, device, depth + 1, out)) return false;
      out->first = !out->first;
      return true;
    case TSR_OP_COMPARE:
      return compare_lines(op, dim, device, depth + 1, out);
    case TSR_OP_BROADCAST_IN_DIM: {
      const int from = source_dim(op, dim);
      return from >= 0 && mask_of(tsr_op_operand(op, 0), from, device, depth + 1, out);
    }
    default:
      return false;
  }
}

bool tsr_range_mask_on(const tsr_value *mask, int dim, int64_t device, tsr_range_mask *out_mask) {
  return mask_of(mask, dim, device, 0, out_mask);
}
