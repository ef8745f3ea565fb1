// Elementwise ops become code of tile programs: one row of lower/elementwise_ops.def each.
#include "lower/elementwise_code.h"

#include "simplify/scalar.h"

static tsr_dtype result_dtype(const tsr_op *op) { return op->results[0].type->dtype; }

static bool is_complex(const tsr_op *op) {
  const tsr_dtype_info *info = tsr_dtype_info_of(tsr_operand_type(op, 0)->dtype);
  return info && info->kind == TSR_CLASS_COMPLEX;
}

// ---- the functions of the rows ----

static int add_apply(tsr_tile_program *program, const tsr_op *op, const int *operands) {
  return tsr_tile_apply(program, tsr_elementwise_row_of(op)->tile, operands);
}

// The real component of a real number is itself, and the imaginary one is zero.
static int add_real(tsr_tile_program *program, const tsr_op *op, const int *operands) {
  return is_complex(op) ? tsr_tile_apply(program, TSR_TILE_REAL, operands) : operands[0];
}

static int add_imag(tsr_tile_program *program, const tsr_op *op, const int *operands) {
  static const char zero[TSR_SCALAR_BYTES];
  return is_complex(op) ? tsr_tile_apply(program, TSR_TILE_IMAG, operands)
                        : tsr_tile_constant(program, result_dtype(op), zero);
}

// Complex numbers have an order, of the real components first, but no loop of their own here.
static int add_clamp(tsr_tile_program *program, const tsr_op *op, const int *operands) {
  if (!is_complex(op)) return add_apply(program, op, operands);
  const int above = tsr_tile_apply(program, TSR_TILE_MAXIMUM, operands);
  const int pair[] = {above, operands[2]};
  return above < 0 ? above : tsr_tile_apply(program, TSR_TILE_MINIMUM, pair);
}

static int add_compare(tsr_tile_program *program, const tsr_op *op, const int *operands) {
  const int direction = (int)tsr_op_int(op, "comparison_direction", TSR_DIRECTION_EQ);
  const bool total = tsr_op_int(op, "compare_type", 0) == TSR_COMPARE_TYPE_TOTALORDER;
  return tsr_tile_compare(program, direction, total, operands[0], operands[1]);
}

static int add_convert(tsr_tile_program *program, const tsr_op *op, const int *operands) {
  if (tsr_operand_type(op, 0)->dtype == result_dtype(op)) return operands[0];
  return tsr_tile_convert(program, result_dtype(op), operands[0]);
}

static int add_bitcast(tsr_tile_program *program, const tsr_op *op, const int *operands) {
  const tsr_dtype from = tsr_operand_type(op, 0)->dtype, to = result_dtype(op);
  if (from == to) return operands[0];
  const tsr_dtype_info *a = tsr_dtype_info_of(from), *b = tsr_dtype_info_of(to);
  if (!a || !b || a->bits != b->bits) return -1;
  return tsr_tile_bitcast(program, to, operands[0]);
}

static int add_reduce_precision(tsr_tile_program *program, const tsr_op *op, const int *operands) {
  return tsr_tile_reduce_precision(program, (int)tsr_op_int(op, "exponent_bits", 0),
                                   (int)tsr_op_int(op, "mantissa_bits", -1), operands[0]);
}

static int add_constant(tsr_tile_program *program, const tsr_op *op, const int *operands) {
  (void)operands;
  const tsr_attr *splat = tsr_op_splat(op);
  return splat ? tsr_tile_add_splat(program, splat) : -1;
}

static int add_same(tsr_tile_program *program, const tsr_op *op, const int *operands) {
  (void)program;
  return op->operand_count == 1 ? operands[0] : -1;
}

static const tsr_elementwise_row rows[TSR_OP_COUNT] = {
#define ELEMENTWISE(op, function, tile, cost) \
  [TSR_OP_##op] = {add_##function, TSR_TILE_##tile, cost},
#include "lower/elementwise_ops.def"
#undef ELEMENTWISE
};

const tsr_elementwise_row *tsr_elementwise_row_of(const tsr_op *op) { return &rows[op->info->id]; }

// ---- constants ----

const tsr_attr *tsr_op_splat(const tsr_op *op) {
  if (rows[op->info->id].add != add_constant) return NULL;
  const tsr_attr *dense = tsr_op_attr(op, "value");
  if (!dense || dense->kind != TSR_ATTR_DENSE || tsr_type_element_count(dense->type) < 1)
    return NULL;
  return dense->splat || tsr_type_element_count(dense->type) == 1 ? dense : NULL;
}

// Integers narrower than a byte are extended by their sign in memory of a run, not in attributes.
int tsr_tile_add_splat(tsr_tile_program *program, const tsr_attr *dense) {
  tsr_scalar_type type;
  if (!tsr_scalar_type_of(dense->type, &type)) return -1;
  const char *element = tsr_attr_element(dense, 0);
  char aligned[TSR_SCALAR_BYTES] = {0};
  for (int i = 0; i < type.bytes; i++) aligned[i] = element[i];
  if (type.kind == TSR_CLASS_SIGNED && type.bits < 8)
    aligned[0] = (char)tsr_scalar_load(&type, element).i;
  return tsr_tile_constant(program, type.dtype, aligned);
}

// ---- ops ----

// Tiles hold narrow floats as f32, and the way there and back makes NaNs quiet: their bits are read
// where they lie in memory.
static bool has_own_bits(const tsr_type *type) {
  const tsr_dtype_info *info = tsr_dtype_info_of(type->dtype);
  return info && (info->kind != TSR_CLASS_FLOAT || info->bits >= 32);
}

bool tsr_op_is_elementwise(const tsr_op *op) {
  const tsr_elementwise_row *row = tsr_elementwise_row_of(op);
  if (!row->add || op->result_count != 1 || !tsr_type_runs(op->results[0].type)) return false;
  if (row->add == add_constant) return tsr_op_splat(op) != NULL;
  if (op->operand_count < 1 || op->operand_count > 3) return false;
  for (int i = 0; i < op->operand_count; i++)
    if (!tsr_type_runs(tsr_operand_type(op, i))) return false;
  if (row->add != add_bitcast) return true;
  return has_own_bits(tsr_operand_type(op, 0)) && has_own_bits(op->results[0].type) &&
         tsr_type_element_count(tsr_operand_type(op, 0)) ==
             tsr_type_element_count(op->results[0].type);
}

int tsr_tile_add_op(tsr_tile_program *program, const tsr_op *op, const int *operands) {
  const tsr_elementwise_row *row = tsr_elementwise_row_of(op);
  const int value = row->add ? row->add(program, op, operands) : -1;
  return tsr_tile_dtype(program, value) == result_dtype(op) ? value : -1;
}

// ---- one op by itself: a tile program of one dim ----

typedef struct element_inputs {
  int slots[3];
  int count;
  uint64_t overwritten;  // the inputs whose memory the result may take
} element_inputs;

// A value is one input, however often the op reads it.
static int add_input(element_inputs *inputs, int slot) {
  int index = 0;
  while (index < inputs->count && inputs->slots[index] != slot) index++;
  if (index == inputs->count) inputs->slots[inputs->count++] = slot;
  return index;
}

// A scalar serves all indices: the predicate of a select, the bounds of a clamp.
static tsr_status load_operand(tsr_lowering *lowering, tsr_tile_program *program, const tsr_op *op,
                               int operand, element_inputs *inputs, int *out_value) {
  tsr_value *value = tsr_op_operand(op, operand);
  const tsr_type *result = op->results[0].type;
  const tsr_attr *splat = value->def ? tsr_op_splat(value->def) : NULL;
  if (splat) {
    *out_value = tsr_tile_add_splat(program, splat);
    return NULL;
  }
  int slot = -1;
  TSR_TRY(tsr_slot_of(lowering, value, &slot));
  const bool whole = tsr_type_element_count(value->type) == tsr_type_element_count(result);
  const int index = add_input(inputs, slot);
  if (whole && tsr_type_bytes(value->type) == tsr_type_bytes(result))
    inputs->overwritten |= TSR_INPUT(index);
  *out_value = tsr_tile_load(program, index, value->type->dtype, (int64_t[]){whole}, 0);
  return NULL;
}

static tsr_status make_program(tsr_lowering *lowering, tsr_tile_program *program, const tsr_op *op,
                               element_inputs *inputs) {
  int operands[3] = {-1, -1, -1};
  for (int i = 0; i < op->operand_count; i++)
    TSR_TRY(load_operand(lowering, program, op, i, inputs, &operands[i]));
  const int value = tsr_tile_add_op(program, op, operands);
  tsr_tile_store(program, value, 0, (int64_t[]){1}, 0);
  TSR_TRY(tsr_tile_finish(program));
  return value >= 0 ? NULL : tsr_lower_none(lowering, (tsr_op *)op);
}

tsr_status tsr_lower_elementwise(tsr_lowering *lowering, tsr_op *op) {
  if (!tsr_op_is_elementwise(op)) return tsr_lower_none(lowering, op);
  const int64_t count = tsr_type_element_count(op->results[0].type);
  int slot = -1;
  TSR_TRY(tsr_slot_create(lowering, &op->results[0], &slot));
  if (count == 0) return NULL;
  element_inputs inputs = {0};
  tsr_tile_program *program =
      tsr_tile_create(&(tsr_tile_space){.rank = 1, .dims = {count}, .row_dims = 1});
  TSR_NEED(program);
  const tsr_status status = make_program(lowering, program, op, &inputs);
  if (status) {
    tsr_tile_destroy(program);
    return status;
  }
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_tile(lowering, op, program, inputs.slots, inputs.count, &slot, 1, &step));
  step->overwrites[0] = inputs.overwritten;
  return NULL;
}
