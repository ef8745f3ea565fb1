#include "combine/device_numbers.h"

#include "localize/localize.h"
#include "propagate/edits.h"
#include "simplify/evaluate.h"

enum { MOST_DEPTH = 24 };

static bool number_of(const tsr_value *value, int64_t device, int depth, int64_t *out);

static bool element_of(const tsr_attr *dense, int64_t index, int64_t *out) {
  const tsr_type *element = tsr_type_element(dense->type);
  const size_t width = tsr_type_element_bytes(element);
  if (element->kind != TSR_TYPE_INTEGER || width > 8 || !dense->length) return false;
  const unsigned char *bytes = (const unsigned char *)tsr_attr_element(dense, index);
  uint64_t bits = 0;
  for (size_t i = 0; i < width; i++) bits |= (uint64_t)bytes[i] << (8 * i);
  if (width < 8 && element->sign != TSR_UNSIGNED && bytes[width - 1] & 0x80)
    bits |= ~UINT64_C(0) << (8 * width);
  *out = (int64_t)bits;
  return true;
}

// An entry of a table of constants.
static bool entry_of(const tsr_op *slice, int64_t device, int depth, int64_t *out) {
  const tsr_attr *table = tsr_value_constant(tsr_op_operand(slice, 0));
  int64_t index = 0;
  if (!table || table->type->rank != 1 || slice->results[0].type->dims[0] != 1 ||
      !number_of(tsr_op_operand(slice, 1), device, depth, &index))
    return false;
  const int64_t last = table->type->dims[0] - 1;
  return element_of(table, index < 0 ? 0 : index > last ? last : index, out);
}

static int64_t between(int64_t low, int64_t x, int64_t high) {
  return x < low ? low : x > high ? high : x;
}

// Results that overflow are of no use here.
static bool combine(tsr_op_id id, const int64_t *x, int64_t *out) {
  switch (id) {
    case TSR_OP_ADD:
      return !__builtin_add_overflow(x[0], x[1], out);
    case TSR_OP_SUBTRACT:
      return !__builtin_sub_overflow(x[0], x[1], out);
    case TSR_OP_MULTIPLY:
      return !__builtin_mul_overflow(x[0], x[1], out);
    case TSR_OP_DIVIDE:
      if (x[0] < 0 || x[1] <= 0) return false;
      *out = x[0] / x[1];
      return true;
    case TSR_OP_REMAINDER:
      if (x[0] < 0 || x[1] <= 0) return false;
      *out = x[0] % x[1];
      return true;
    case TSR_OP_MAXIMUM:
      *out = x[0] > x[1] ? x[0] : x[1];
      return true;
    case TSR_OP_MINIMUM:
      *out = x[0] < x[1] ? x[0] : x[1];
      return true;
    case TSR_OP_CLAMP:
      *out = between(x[0], x[1], x[2]);
      return true;
    default:
      return false;
  }
}

// NOLINTNEXTLINE(misc-no-recursion): at most MOST_DEPTH deep
static bool operands_of(const tsr_op *op, int64_t device, int depth, int64_t *out) {
  for (int i = 0; i < op->operand_count; i++)
    if (!number_of(tsr_op_operand(op, i), device, depth, &out[i])) return false;
  return true;
}

// NOLINTNEXTLINE(misc-no-recursion)
static bool number_of(const tsr_value *value, int64_t device, int depth, int64_t *out) {
  const tsr_op *op = value->def;
  const tsr_attr *constant = tsr_value_constant(value);
  int64_t numbers[3] = {0};
  if (constant) return tsr_type_element_count(value->type) == 1 && element_of(constant, 0, out);
  if (!op || depth == MOST_DEPTH || op->operand_count > 3) return false;
  switch (op->info->id) {
    case TSR_OP_PARTITION_ID:
      *out = device;
      return true;
    case TSR_OP_RESHAPE:
    case TSR_OP_CONVERT:
      return tsr_type_element(value->type)->kind == TSR_TYPE_INTEGER &&
             number_of(tsr_op_operand(op, 0), device, depth + 1, out);
    case TSR_OP_DYNAMIC_SLICE:
      return op->operand_count == 2 && entry_of(op, device, depth + 1, out);
    default:
      return tsr_value_is_scalar(value) && operands_of(op, device, depth + 1, numbers) &&
             combine(op->info->id, numbers, out);
  }
}

bool tsr_device_number(const tsr_value *value, int64_t device, int64_t *out_number) {
  return number_of(value, device, 0, out_number);
}

// ---- values that devices have in common ----

static bool is_argument(const tsr_ir *ir, const tsr_value *value) {
  const tsr_op *entry = tsr_ir_entry(ir);
  const tsr_ir_block *body = entry ? tsr_func_body(entry) : NULL;
  return body && tsr_value_block(value) == body;
}

static bool have_one_shard(tsr_arena *scratch, tsr_ir *ir, tsr_value *argument, int64_t a,
                           int64_t b) {
  const tsr_tensor_sharding *cut = NULL;
  tsr_status status = tsr_cut_of_value(scratch, ir, argument, &cut);
  const bool known = !status && !(cut && cut->unreduced.count);
  tsr_status_free(status);
  for (int d = 0; known && cut && d < cut->rank; d++)
    if (tsr_shard_number(cut->mesh, &cut->dims[d].axes, a) !=
        tsr_shard_number(cut->mesh, &cut->dims[d].axes, b))
      return false;
  return known;
}

// Whether two devices are in one group of a collective.
static bool are_grouped(const tsr_op *op, int64_t a, int64_t b) {
  const tsr_attr *groups = tsr_op_attr(op, "replica_groups");
  int64_t places[2] = {-1, -1};
  if (!groups || groups->kind != TSR_ATTR_DENSE || groups->type->rank != 2 ||
      !tsr_op_flag(op, "use_global_device_ids"))
    return false;
  for (int64_t i = 0; i < tsr_attr_int_count(groups); i++) {
    if (tsr_attr_int_at(groups, i) == a) places[0] = i / groups->type->dims[1];
    if (tsr_attr_int_at(groups, i) == b) places[1] = i / groups->type->dims[1];
  }
  return places[0] >= 0 && places[0] == places[1];
}

// NOLINTNEXTLINE(misc-no-recursion): at most MOST_ALIKE deep
static bool hold_alike(tsr_arena *scratch, tsr_ir *ir, tsr_value *value, int64_t a, int64_t b,
                       int depth) {
  enum { MOST_ALIKE = 6 };
  const tsr_op *op = value->def;
  if (!op) return is_argument(ir, value) && have_one_shard(scratch, ir, value, a, b);
  switch (op->info->id) {
    case TSR_OP_ALL_GATHER:
    case TSR_OP_ALL_REDUCE:
      return are_grouped(op, a, b);
    case TSR_OP_PARTITION_ID:
    case TSR_OP_REPLICA_ID:
      return false;
    default:
      if (depth == MOST_ALIKE || !(op->info->traits & TSR_TRAIT_PURE) || op->region_count)
        return false;
  }
  for (int i = 0; i < op->operand_count; i++)
    if (!hold_alike(scratch, ir, tsr_op_operand(op, i), a, b, depth + 1)) return false;
  return true;
}

bool tsr_devices_hold_alike(tsr_arena *scratch, tsr_ir *ir, tsr_value *value, int64_t a,
                            int64_t b) {
  return hold_alike(scratch, ir, value, a, b, 0);
}

int64_t tsr_device_count(const tsr_ir *ir) {
  int64_t most = 0;
  for (const tsr_op *op = ir->module->regions[0].first->first; op; op = op->next) {
    const tsr_attr *mesh = tsr_op_is(op, TSR_OP_SDY_MESH) ? tsr_op_attr(op, "mesh") : NULL;
    const int64_t devices = mesh ? tsr_mesh_devices(mesh) : 0;
    if (devices > most) most = devices;
  }
  return most;
}
