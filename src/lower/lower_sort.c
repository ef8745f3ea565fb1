// stablehlo.sort, chlo.top_k, mhlo.topk and stablehlo.map.
//
// Comparisons as JAX writes them are read as keys: `a < b` of one operand, or of one and then of
// the next where they are equal; floats with zeros made equal and NaNs put last. A sort by keys
// compares nothing. Any other comparison runs as its own program.
#include "lower/lower_sort.h"

#include <math.h>

#include "reduce/sort.h"
#include "reduce/sort_compared.h"
#include "reduce/top_k.h"
#include "lower/body_match.h"
#include "lower/lower_reduce.h"
#include "simplify/evaluate.h"
#include "simplify/scalar.h"

// ---- reading comparisons ----

// What one side of a comparison is: an argument of the body, or a component of it.
typedef struct compared_side {
  const tsr_value *argument;
  int component;
  bool joined;  // zeros made equal, and NaNs
} compared_side;

static bool is_number(const tsr_value *value, double number) {
  const tsr_attr *attr = tsr_value_constant(value);
  tsr_scalar_type type;
  if (!attr || tsr_type_element_count(attr->type) != 1 || !tsr_scalar_type_of(attr->type, &type) ||
      type.kind != TSR_CLASS_FLOAT)
    return false;
  const double found = tsr_scalar_load(&type, attr->bytes).f;
  return isnan(number) ? isnan(found) : found == number;
}

// select(x == 0, 0, x)
static bool joins_zeros(const tsr_value *value, const tsr_value *x) {
  const tsr_op *select = tsr_match_op(value, TSR_OP_SELECT);
  if (!select || tsr_op_operand(select, 2) != x || !is_number(tsr_op_operand(select, 1), 0))
    return false;
  const tsr_op *equal = tsr_match_op(tsr_op_operand(select, 0), TSR_OP_COMPARE);
  return equal && tsr_op_int(equal, "comparison_direction", -1) == TSR_DIRECTION_EQ &&
         !tsr_compares_totally(equal) &&
         ((tsr_op_operand(equal, 0) == x && is_number(tsr_op_operand(equal, 1), 0)) ||
          (tsr_op_operand(equal, 1) == x && is_number(tsr_op_operand(equal, 0), 0)));
}

// x, if the value is select(x != x, NaN, select(x == 0, 0, x)); NULL otherwise.
static const tsr_value *joined_float(const tsr_value *value) {
  const tsr_op *select = tsr_match_op(value, TSR_OP_SELECT);
  if (!select || !is_number(tsr_op_operand(select, 1), NAN)) return NULL;
  const tsr_op *unequal = tsr_match_op(tsr_op_operand(select, 0), TSR_OP_COMPARE);
  if (!unequal) return NULL;
  const tsr_value *x = tsr_op_operand(unequal, 0);
  const bool matches = tsr_match_compare(&unequal->results[0], TSR_DIRECTION_NE, x, x) &&
                       joins_zeros(tsr_op_operand(select, 2), x);
  return matches ? x : NULL;
}

static compared_side side_of(const tsr_value *value) {
  const tsr_value *plain = joined_float(value);
  compared_side side = {.argument = plain ? plain : value, .joined = plain != NULL};
  const tsr_op *part = side.argument->def;
  if (part && (part->info->id == TSR_OP_REAL || part->info->id == TSR_OP_IMAG)) {
    side.component = part->info->id == TSR_OP_IMAG;
    side.argument = tsr_op_operand(part, 0);
  }
  return side;
}

// The key that `value`, a comparison in this direction of both elements of one operand, orders by.
static bool key_of(const tsr_value *value, const tsr_ir_block *block, tsr_sort_key *out) {
  const tsr_op *compare = tsr_match_op(value, TSR_OP_COMPARE);
  if (!compare) return false;
  int direction = (int)tsr_op_int(compare, "comparison_direction", -1);
  compared_side a = side_of(tsr_op_operand(compare, 0)), b = side_of(tsr_op_operand(compare, 1));
  if (a.argument->block != block || b.argument->block != block || a.joined != b.joined ||
      a.component != b.component)
    return false;
  if (a.argument->index > b.argument->index) {
    const compared_side first = b;
    b = a, a = first;
    direction = tsr_direction_exchanged(direction);
  }
  if (a.argument->index % 2 || b.argument->index != a.argument->index + 1) return false;
  if (direction != TSR_DIRECTION_LT && direction != TSR_DIRECTION_GT &&
      direction != TSR_DIRECTION_EQ)
    return false;
  const tsr_type *type = tsr_operand_type(compare, 0);
  *out = (tsr_sort_key){.operand = a.argument->index / 2,
                        .offset = a.component * (int)tsr_type_element_bytes(type->element),
                        .order = {.dtype = type->dtype,
                                  .descending = direction == TSR_DIRECTION_GT,
                                  .joined = a.joined || !tsr_compares_totally(compare)}};
  return tsr_key_exists(type->dtype);
}

static bool is_direction(const tsr_value *value, int direction) {
  const tsr_op *compare = tsr_match_op(value, TSR_OP_COMPARE);
  return compare && tsr_op_int(compare, "comparison_direction", -1) == direction;
}

static bool same_key(const tsr_sort_key *a, const tsr_sort_key *b) {
  return a->operand == b->operand && a->offset == b->offset && a->order.joined == b->order.joined;
}

// Splits `before | (equal & rest)`: the key of `before`, and `rest`.
static bool split_keys(const tsr_value *value, const tsr_ir_block *block, tsr_sort_key *out_key,
                       const tsr_value **out_rest) {
  const tsr_op *either = tsr_match_op(value, TSR_OP_OR);
  for (int i = 0; either && i < 2; i++) {
    const tsr_op *both = tsr_match_op(tsr_op_operand(either, 1 - i), TSR_OP_AND);
    for (int j = 0; both && j < 2; j++) {
      const tsr_value *equal = tsr_op_operand(both, j);
      tsr_sort_key key;
      if (is_direction(equal, TSR_DIRECTION_EQ) && key_of(equal, block, &key) &&
          key_of(tsr_op_operand(either, i), block, out_key) && same_key(&key, out_key)) {
        *out_rest = tsr_op_operand(both, 1 - j);
        return true;
      }
    }
  }
  return false;
}

// The keys of a comparison; 0 if it is none by keys.
static int read_keys(const tsr_ir_block *block, const tsr_value *value, tsr_sort_key *keys,
                     int room) {
  for (int count = 0; count < room; count++) {
    if (is_direction(value, TSR_DIRECTION_EQ)) return 0;
    if (key_of(value, block, &keys[count])) return count + 1;
    if (!split_keys(value, block, &keys[count], &value)) return 0;
  }
  return 0;
}

// ---- sort ----

static tsr_status lines_of(tsr_lowering *lowering, const tsr_op *op, tsr_sort_lines *out) {
  const tsr_type *type = tsr_operand_type(op, 0);
  int64_t dim = tsr_op_int(op, "dimension", -1);
  if (dim < 0) dim += type->rank;
  int *bytes = tsr_lower_alloc(lowering, op->operand_count, sizeof *bytes);
  TSR_NEED(bytes);
  for (int k = 0; k < op->operand_count; k++)
    bytes[k] = (int)tsr_type_element_bytes(tsr_type_element(tsr_operand_type(op, k)));
  *out = (tsr_sort_lines){.outer = 1,
                          .length = 1,
                          .inner = 1,
                          .operand_count = op->operand_count,
                          .element_bytes = bytes};
  if (type->rank) tsr_dims_around(type, (int)dim, &out->outer, &out->length, &out->inner);
  if (out->length > UINT32_MAX)
    return tsr_fail(TOO_LARGE, "%s: it has lines of %lld elements, at most %lld are sorted",
                    tsr_op_title(lowering, op), (long long)out->length, (long long)UINT32_MAX);
  return NULL;
}

static tsr_status lower_by_keys(tsr_lowering *lowering, tsr_op *op, const tsr_sort *sort) {
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_kernel(lowering, op, tsr_sort_run, sort, sizeof *sort, &step));
  step->scratch_bytes = tsr_sort_scratch_bytes(sort);
  step->temp_bytes = tsr_sort_temp_bytes(sort);
  return NULL;
}

static tsr_status lower_by_comparison(tsr_lowering *lowering, tsr_op *op,
                                      const tsr_sort_lines *lines) {
  tsr_sort_compared sort = {.lines = *lines};
  tsr_region_code code;
  TSR_TRY(tsr_region_compile(lowering, &op->regions[0], TSR_SORT_LANES, &code));
  sort.program = code.program;
  sort.outside_count = code.outside_count;
  tsr_value **inputs =
      tsr_lower_alloc(lowering, op->operand_count + code.outside_count, sizeof *inputs);
  tsr_schedule_step *step = NULL;
  tsr_status status = NULL;
  if (!inputs) {
    status = tsr_fail(NO_MEMORY, "memory of a schedule");
  } else {
    for (int i = 0; i < op->operand_count; i++) inputs[i] = tsr_op_operand(op, i);
    for (int i = 0; i < code.outside_count; i++) inputs[op->operand_count + i] = code.outside[i];
    status = tsr_lower_kernel_on(lowering, op, inputs, op->operand_count + code.outside_count,
                                 tsr_sort_compared_run, &sort, sizeof sort, &step);
  }
  if (status) {
    tsr_sort_compared_destroy(&sort);
    return status;
  }
  step->destroy = tsr_sort_compared_destroy;
  step->scratch_bytes = tsr_sort_compared_scratch_bytes(&sort);
  return NULL;
}

tsr_status tsr_lower_sort(tsr_lowering *lowering, tsr_op *op) {
  const tsr_ir_block *block = op->regions[0].first;
  const tsr_op *end = block ? tsr_block_terminator(block) : NULL;
  if (!end || op->operand_count < 1 || end->operand_count != 1 ||
      block->arg_count != 2 * op->operand_count || op->result_count != op->operand_count)
    return tsr_lower_none(lowering, op);
  for (int k = 0; k < op->operand_count; k++)
    if (!tsr_type_runs(tsr_operand_type(op, k)) || op->results[k].type != tsr_operand_type(op, k))
      return tsr_lower_none(lowering, op);
  tsr_sort sort = {.key_count = 0};
  enum { MOST_KEYS = 16 };
  tsr_sort_key *keys = tsr_lower_alloc(lowering, MOST_KEYS, sizeof *keys);
  TSR_NEED(keys);
  TSR_TRY(lines_of(lowering, op, &sort.lines));
  sort.key_count = read_keys(block, tsr_op_operand(end, 0), keys, MOST_KEYS);
  sort.keys = keys;
  return sort.key_count ? lower_by_keys(lowering, op, &sort)
                        : lower_by_comparison(lowering, op, &sort.lines);
}

// ---- top_k ----

tsr_status tsr_lower_top_k_of(tsr_lowering *lowering, tsr_op *op, int64_t k, bool largest) {
  const tsr_type *type = tsr_operand_type(op, 0);
  if (!tsr_type_runs(type) || type->rank < 1 || op->result_count != 2 ||
      !tsr_key_exists(type->dtype) || op->results[1].type->dtype != TSR_I32)
    return tsr_lower_none(lowering, op);
  tsr_top_k top = {.order = {.dtype = type->dtype, .descending = largest},
                   .element_bytes = (int)tsr_type_element_bytes(type->element),
                   .k = k,
                   .places = 1};
  int64_t inner = 1;
  tsr_dims_around(type, type->rank - 1, &top.rows, &top.length, &inner);
  if (k < 0 || k > top.length || top.length > INT32_MAX)
    return tsr_fail(UNSUPPORTED, "%s: it takes %lld of %lld elements", tsr_op_title(lowering, op),
                    (long long)k, (long long)top.length);
  tsr_value *input = tsr_op_operand(op, 0);
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_kernel_on(lowering, op, &input, 1, tsr_top_k_run, &top, sizeof top, &step));
  step->scratch_bytes = tsr_top_k_scratch_bytes(&top);
  return NULL;
}

tsr_status tsr_lower_top_k(tsr_lowering *lowering, tsr_op *op) {
  const bool largest =
      op->info->id != TSR_OP_MHLO_TOPK || !tsr_op_attr(op, "largest") || tsr_op_flag(op, "largest");
  return tsr_lower_top_k_of(lowering, op, tsr_op_int(op, "k", -1), largest);
}

// ---- map ----

tsr_status tsr_lower_map(tsr_lowering *lowering, tsr_op *op) {
  const int64_t count = tsr_type_element_count(op->results[0].type);
  int output = -1;
  for (int i = 0; i < op->operand_count; i++)
    if (!tsr_type_runs(tsr_operand_type(op, i)) ||
        tsr_type_element_count(tsr_operand_type(op, i)) != count)
      return tsr_lower_none(lowering, op);
  if (count <= 0) return tsr_slot_create(lowering, &op->results[0], &output);
  tsr_region_code code;
  TSR_TRY(tsr_region_compile(lowering, &op->regions[0], count, &code));
  const int all = op->operand_count + code.outside_count;
  int *inputs = tsr_lower_alloc(lowering, all + 1, sizeof *inputs);
  tsr_status status = inputs ? NULL : tsr_fail(NO_MEMORY, "memory of a schedule");
  for (int i = 0; !status && i < all; i++) {
    tsr_value *value =
        i < op->operand_count ? tsr_op_operand(op, i) : code.outside[i - op->operand_count];
    status = tsr_slot_of(lowering, value, &inputs[i]);
  }
  if (!status) status = tsr_slot_create(lowering, &op->results[0], &output);
  if (status) {
    tsr_tile_destroy(code.program);
    return status;
  }
  tsr_schedule_step *step = NULL;
  return tsr_lower_tile(lowering, op, code.program, inputs, all, &output, 1, &step);
}
