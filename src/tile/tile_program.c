// Writing a tile program: values, checked one by one as they are added.
//
// An op on a type that registers do not hold exactly is written out here: the op on the carrier,
// then what makes its result a number of the type again (a rounding for floats, a wrap for
// integers). So the rest of the room knows carriers only.
#include <stdlib.h>
#include <string.h>

#include "element/convert_blocks.h"
#include "tile/tile_internal.h"

// ---- dtypes and carriers ----

bool tsr_tile_is_narrow_float(tsr_dtype dtype) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  return info && info->kind == TSR_CLASS_FLOAT && info->bits < 32;
}

bool tsr_tile_is_narrow_integer(tsr_dtype dtype) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  return info && (info->kind == TSR_CLASS_SIGNED || info->kind == TSR_CLASS_UNSIGNED) &&
         info->bits < 8;
}

tsr_tile_carrier tsr_tile_carrier_of(tsr_dtype dtype) {
  static const tsr_tile_carrier carriers[TSR_DTYPE_COUNT] = {
      [TSR_I2] = TSR_CARRIER_S8,    [TSR_I4] = TSR_CARRIER_S8,   [TSR_I8] = TSR_CARRIER_S8,
      [TSR_I16] = TSR_CARRIER_S16,  [TSR_I32] = TSR_CARRIER_S32, [TSR_I64] = TSR_CARRIER_S64,
      [TSR_U2] = TSR_CARRIER_U8,    [TSR_U4] = TSR_CARRIER_U8,   [TSR_U8] = TSR_CARRIER_U8,
      [TSR_U16] = TSR_CARRIER_U16,  [TSR_U32] = TSR_CARRIER_U32, [TSR_U64] = TSR_CARRIER_U64,
      [TSR_F64] = TSR_CARRIER_F64,  [TSR_C64] = TSR_CARRIER_C64, [TSR_C128] = TSR_CARRIER_C128,
      [TSR_BOOL] = TSR_CARRIER_BOOL};
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  if (info && info->kind == TSR_CLASS_FLOAT && dtype != TSR_F64) return TSR_CARRIER_F32;
  return carriers[dtype];
}

tsr_dtype tsr_carrier_dtype(tsr_tile_carrier carrier) {
  static const tsr_dtype dtypes[TSR_CARRIER_COUNT] = {
      [TSR_CARRIER_BOOL] = TSR_BOOL, [TSR_CARRIER_S8] = TSR_I8,   [TSR_CARRIER_S16] = TSR_I16,
      [TSR_CARRIER_S32] = TSR_I32,   [TSR_CARRIER_S64] = TSR_I64, [TSR_CARRIER_U8] = TSR_U8,
      [TSR_CARRIER_U16] = TSR_U16,   [TSR_CARRIER_U32] = TSR_U32, [TSR_CARRIER_U64] = TSR_U64,
      [TSR_CARRIER_F32] = TSR_F32,   [TSR_CARRIER_F64] = TSR_F64, [TSR_CARRIER_C64] = TSR_C64,
      [TSR_CARRIER_C128] = TSR_C128};
  return dtypes[carrier];
}

int tsr_tile_memory_bytes(tsr_dtype dtype) {
  const int bits = tsr_dtype_info_of(dtype)->bits;
  return bits < 8 ? 1 : bits / 8;
}

int tsr_carrier_bytes(tsr_tile_carrier carrier) {
  return tsr_tile_memory_bytes(tsr_carrier_dtype(carrier));
}

static tsr_dtype_class class_of(tsr_dtype dtype) { return tsr_dtype_info_of(dtype)->kind; }

static tsr_dtype component_of(tsr_dtype dtype) { return dtype == TSR_C64 ? TSR_F32 : TSR_F64; }

// ---- adding values ----

static const char *const op_names[] = {
#define TILE_OP(id, ...) #id,
#include "tile/tile_ops.def"
#undef TILE_OP
};

static int operand_count_of(tsr_tile_op op) {
  static const uint8_t counts[] = {
#define TILE_OP(id, count) count,
#include "tile/tile_ops.def"
#undef TILE_OP
  };
  return counts[op];
}

static int keep_failure(tsr_tile_program *p, tsr_status failure) {
  if (p->failure)
    tsr_status_free(failure);
  else
    p->failure = failure;
  return -1;
}

static int no_memory(tsr_tile_program *p) {
  return keep_failure(
      p, tsr_fail(NO_MEMORY, "tile program of %lld values", (long long)p->value_count));
}

static int no_code(tsr_tile_program *p, const char *name, tsr_dtype dtype) {
  return keep_failure(p, tsr_fail(UNSUPPORTED, "tile op %s has no code for %s", name,
                                  tsr_dtype_info_of(dtype)->name));
}

static bool is_value(const tsr_tile_program *p, int value) {
  return value >= 0 && value < p->value_count && !p->finished;
}

static int add_value(tsr_tile_program *p, const tsr_tile_value *value) {
  tsr_tile_value *grown = tsr_arena_grow(&p->arena, p->values, p->value_count, sizeof *grown);
  if (!grown || p->value_count >= INT32_MAX / 4) return no_memory(p);
  p->values = grown;
  p->values[p->value_count] = *value;
  return (int)p->value_count++;
}

static int add_on(tsr_tile_program *p, tsr_tile_kind kind, tsr_dtype dtype, tsr_dtype narrow,
                  int operand) {
  if (operand < 0) return -1;
  return add_value(p, &(tsr_tile_value){.kind = kind,
                                        .dtype = dtype,
                                        .narrow = narrow,
                                        .operands = {operand},
                                        .operand_count = 1});
}

static tsr_dtype dtype_of(const tsr_tile_program *p, int value) { return p->values[value].dtype; }

tsr_tile_program *tsr_tile_create(const tsr_tile_space *space) {
  tsr_tile_program *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  p->space = *space;
  p->kernels = tsr_tile_best_kernels();
  int64_t count = 1;
  for (int i = 0; i < space->rank; i++)
    if (space->dims[i] < 0 || __builtin_mul_overflow(count, space->dims[i], &count))
      (void)keep_failure(p, tsr_fail(TOO_LARGE, "tile program over more than 2^63-1 indices"));
  return p;
}

void tsr_tile_destroy(tsr_tile_program *program) {
  if (!program) return;
  tsr_status_free(program->failure);
  tsr_arena_deinit(&program->arena);
  free(program);
}

tsr_dtype tsr_tile_dtype(const tsr_tile_program *program, int value) {
  return value >= 0 && value < program->value_count ? program->values[value].dtype : TSR_DTYPE_NONE;
}

static int add_stream(tsr_tile_program *p, const tsr_tile_stream *stream, const int64_t *strides) {
  tsr_tile_stream *grown = tsr_arena_grow(&p->arena, p->streams, p->stream_count, sizeof *grown);
  if (!grown || p->stream_count >= INT32_MAX / 4) return no_memory(p);
  p->streams = grown;
  tsr_tile_stream *added = &grown[p->stream_count];
  *added = *stream;
  for (int i = 0; i < p->space.rank; i++) added->strides[i] = strides[i];
  return (int)p->stream_count++;
}

int tsr_tile_load(tsr_tile_program *program, int input, tsr_dtype dtype, const int64_t *strides,
                  int64_t offset) {
  if (!tsr_dtype_info_of(dtype) || program->finished) return -1;
  const int stream = add_stream(
      program, &(tsr_tile_stream){.argument = input, .dtype = dtype, .offset = offset}, strides);
  if (stream < 0) return -1;
  return add_value(program,
                   &(tsr_tile_value){.kind = TSR_TILE_LOAD, .dtype = dtype, .stream = stream});
}

int tsr_tile_constant(tsr_tile_program *program, tsr_dtype dtype, const void *element) {
  if (!tsr_dtype_info_of(dtype) || program->finished) return -1;
  tsr_tile_program *p = program;
  char *grown = tsr_arena_grow(&p->arena, p->constants, p->constant_count, 16);
  if (!grown) return no_memory(p);
  p->constants = grown;
  char *place = grown + 16 * p->constant_count;
  memset(place, 0, 16);
  if (tsr_tile_is_narrow_float(dtype)) {
    float wide = 0;
    tsr_block_load_f32(dtype, element, &wide, 1);
    memcpy(place, &wide, sizeof wide);
  } else {
    memcpy(place, element, (size_t)tsr_tile_memory_bytes(dtype));
  }
  return add_value(
      p, &(tsr_tile_value){
             .kind = TSR_TILE_CONSTANT, .dtype = dtype, .element = 16 * p->constant_count++});
}

int tsr_tile_index(tsr_tile_program *program, tsr_dtype dtype, int dim, int64_t start,
                   int64_t scale) {
  if (!tsr_dtype_info_of(dtype) || program->finished || dim < 0 || dim >= program->space.rank)
    return -1;
  int64_t strides[TSR_TILE_RANK] = {0};
  strides[dim] = scale;
  const int stream = add_stream(
      program, &(tsr_tile_stream){.dtype = TSR_I64, .offset = start, .is_index = true}, strides);
  if (stream < 0) return -1;
  const int index = add_value(
      program, &(tsr_tile_value){.kind = TSR_TILE_INDEX, .dtype = TSR_I64, .stream = stream});
  return tsr_tile_convert(program, dtype, index);
}

// ---- ops ----

// Makes the result of an op on the carrier a number of its type.
static int settled(tsr_tile_program *p, int value) {
  if (value < 0) return -1;
  const tsr_dtype dtype = dtype_of(p, value);
  if (tsr_tile_is_narrow_float(dtype)) return add_on(p, TSR_TILE_ROUND, dtype, dtype, value);
  if (tsr_tile_is_narrow_integer(dtype)) return add_on(p, TSR_TILE_WRAP, dtype, dtype, value);
  return value;
}

// Ops whose result is one of their operands or as exact as them. f8 and narrower types, some of
// which lack zeros, signs or NaN, do not count on it.
static bool keeps_type(tsr_tile_op op, tsr_dtype dtype) {
  switch (op) {
    case TSR_TILE_SELECT:
      return true;
    case TSR_TILE_MAXIMUM:
    case TSR_TILE_MINIMUM:
    case TSR_TILE_CLAMP:
      return !tsr_tile_is_narrow_float(dtype) || dtype == TSR_F16 || dtype == TSR_BF16;
    case TSR_TILE_ABS:
    case TSR_TILE_NEGATE:
    case TSR_TILE_SIGN:
    case TSR_TILE_CEIL:
    case TSR_TILE_FLOOR:
    case TSR_TILE_ROUND_NEAREST_AFZ:
    case TSR_TILE_ROUND_NEAREST_EVEN:
      return dtype == TSR_F16 || dtype == TSR_BF16;
    default:
      return false;
  }
}

static bool has_loop(const tsr_tile_program *p, tsr_tile_op op, tsr_tile_carrier carrier) {
  return p->kernels->apply[op][carrier][0] || tsr_tile_math_loop(op, tsr_carrier_dtype(carrier));
}

static int add_apply(tsr_tile_program *p, tsr_tile_op op, tsr_dtype result, const int *operands) {
  const int count = operand_count_of(op);
  tsr_tile_value value = {
      .kind = TSR_TILE_APPLY, .op = op, .dtype = result, .operand_count = count};
  for (int i = 0; i < count; i++) {
    if (operands[i] < 0) return -1;
    value.operands[i] = operands[i];
  }
  return add_value(p, &value);
}

static tsr_dtype result_of(tsr_tile_op op, tsr_dtype dtype) {
  switch (op) {
    case TSR_TILE_IS_FINITE:
    case TSR_TILE_IS_INF:
    case TSR_TILE_IS_NEG_INF:
    case TSR_TILE_IS_POS_INF:
      return TSR_BOOL;
    case TSR_TILE_REAL:
    case TSR_TILE_IMAG:
      return component_of(dtype);
    case TSR_TILE_ABS:
      return class_of(dtype) == TSR_CLASS_COMPLEX ? component_of(dtype) : dtype;
    case TSR_TILE_COMPLEX:
      return dtype == TSR_F32 ? TSR_C64 : TSR_C128;
    default:
      return dtype;
  }
}

static int byte_constant(tsr_tile_program *p, tsr_dtype dtype, int value) {
  return tsr_tile_constant(p, dtype, &(const uint8_t){(uint8_t)value});
}

// Ops on integers of 2 and 4 bits that bytes do not give: those that look at the upper bits.
static int apply_narrow_integer(tsr_tile_program *p, tsr_tile_op op, tsr_dtype dtype,
                                const int *operands) {
  const int bits = tsr_dtype_info_of(dtype)->bits;
  const bool is_signed = class_of(dtype) == TSR_CLASS_SIGNED;
  const tsr_dtype plain = bits == 2 ? TSR_U2 : TSR_U4, with_sign = bits == 2 ? TSR_I2 : TSR_I4;
  int in[2] = {operands[0], operand_count_of(op) > 1 ? operands[1] : -1}, result = -1;
  switch (op) {
    case TSR_TILE_POPCNT:
    case TSR_TILE_COUNT_LEADING_ZEROS:
    case TSR_TILE_SHIFT_RIGHT_LOGICAL:
      in[0] = add_on(p, TSR_TILE_WRAP, plain, plain, in[0]);
      result = add_apply(p, op, dtype, in);
      if (op == TSR_TILE_COUNT_LEADING_ZEROS)
        result = add_apply(p, TSR_TILE_SUBTRACT, dtype,
                           (int[]){result, byte_constant(p, dtype, 8 - bits)});
      break;
    case TSR_TILE_SHIFT_RIGHT_ARITHMETIC:
      in[0] = add_on(p, TSR_TILE_WRAP, with_sign, with_sign, in[0]);
      result = add_apply(p, op, dtype, in);
      break;
    case TSR_TILE_MULHI:
      result = add_apply(p, TSR_TILE_MULTIPLY, dtype, in);
      result =
          add_apply(p, is_signed ? TSR_TILE_SHIFT_RIGHT_ARITHMETIC : TSR_TILE_SHIFT_RIGHT_LOGICAL,
                    dtype, (int[]){result, byte_constant(p, dtype, bits)});
      break;
    default:
      return settled(p, add_apply(p, op, dtype, operands));
  }
  return settled(p, result);
}

static int apply_real(tsr_tile_program *p, tsr_tile_op op, tsr_dtype dtype, const int *operands) {
  static const char zero[16];
  switch (op) {
    case TSR_TILE_REAL:
    case TSR_TILE_CONJ:
      return operands[0];
    case TSR_TILE_IMAG:
      return tsr_tile_constant(p, dtype, zero);
    default:
      return -1;
  }
}

static bool operands_fit(const tsr_tile_program *p, tsr_tile_op op, const int *operands) {
  const int first = op == TSR_TILE_SELECT, count = operand_count_of(op);
  if (first && dtype_of(p, operands[0]) != TSR_BOOL) return false;
  for (int i = first + 1; i < count; i++)
    if (dtype_of(p, operands[i]) != dtype_of(p, operands[first])) return false;
  return true;
}

int tsr_tile_apply(tsr_tile_program *program, tsr_tile_op op, const int *operands) {
  tsr_tile_program *p = program;
  for (int i = 0; i < operand_count_of(op); i++)
    if (!is_value(p, operands[i])) return -1;
  const tsr_dtype dtype = dtype_of(p, operands[op == TSR_TILE_SELECT]);
  if (!operands_fit(p, op, operands))
    return keep_failure(p, tsr_fail(CONSTRAINT,
                                    "operands of tile op %s have different types, "
                                    "such as %s",
                                    op_names[op], tsr_dtype_info_of(dtype)->name));
  if (class_of(dtype) == TSR_CLASS_FLOAT &&
      (op == TSR_TILE_REAL || op == TSR_TILE_IMAG || op == TSR_TILE_CONJ))
    return apply_real(p, op, dtype, operands);
  const tsr_tile_carrier carrier = tsr_tile_carrier_of(dtype);
  if (!has_loop(p, op, carrier) || (op == TSR_TILE_COMPLEX && tsr_tile_is_narrow_float(dtype)))
    return no_code(p, op_names[op], dtype);
  if (op == TSR_TILE_NEXT_AFTER && tsr_tile_is_narrow_float(dtype))
    return add_value(p, &(tsr_tile_value){.kind = TSR_TILE_NEXT,
                                          .dtype = dtype,
                                          .narrow = dtype,
                                          .operands = {operands[0], operands[1]},
                                          .operand_count = 2});
  if (tsr_tile_is_narrow_integer(dtype) && !keeps_type(op, dtype))
    return apply_narrow_integer(p, op, dtype, operands);
  const int value = add_apply(p, op, result_of(op, dtype), operands);
  return keeps_type(op, dtype) ? value : settled(p, value);
}

int tsr_tile_compare(tsr_tile_program *program, int direction, bool total_order, int a, int b) {
  tsr_tile_program *p = program;
  if (!is_value(p, a) || !is_value(p, b)) return -1;
  const tsr_dtype dtype = dtype_of(p, a);
  if (dtype_of(p, b) != dtype)
    return keep_failure(
        p, tsr_fail(CONSTRAINT, "tile compare of %s and %s, wanted equal types",
                    tsr_dtype_info_of(dtype)->name, tsr_dtype_info_of(dtype_of(p, b))->name));
  const tsr_tile_carrier carrier = tsr_tile_carrier_of(dtype);
  // At most and less are at least and more of swapped operands.
  if (direction == 4 || direction == 5)
    return tsr_tile_compare(p, direction - 2, total_order, b, a);
  if (direction < 0 || direction > 5 || !p->kernels->compare[direction][carrier][0])
    return no_code(p, "COMPARE", dtype);
  if (total_order && class_of(dtype) == TSR_CLASS_FLOAT) {
    const tsr_dtype order = dtype == TSR_F64 ? TSR_I64 : TSR_I32;
    a = add_on(p, TSR_TILE_ORDER, order, dtype, a);
    b = add_on(p, TSR_TILE_ORDER, order, dtype, b);
    if (a < 0 || b < 0) return -1;
  }
  return add_value(p, &(tsr_tile_value){.kind = TSR_TILE_COMPARE,
                                        .dtype = TSR_BOOL,
                                        .a = direction,
                                        .operands = {a, b},
                                        .operand_count = 2});
}

// ---- conversions ----

// To a real type from a real one.
static int convert_real(tsr_tile_program *p, tsr_dtype to, int value) {
  const tsr_dtype from = dtype_of(p, value);
  const tsr_tile_carrier source = tsr_tile_carrier_of(from), target = tsr_tile_carrier_of(to);
  const bool from_float = class_of(from) == TSR_CLASS_FLOAT;
  if (tsr_tile_is_narrow_float(to)) {
    // By way of f32 only what is exact there, for numbers are rounded once.
    if (source == TSR_CARRIER_F32) return add_on(p, TSR_TILE_ROUND, to, to, value);
    if (tsr_carrier_bytes(source) > 2) return add_on(p, TSR_TILE_NARROW, to, to, value);
    return settled(p, add_on(p, TSR_TILE_CONVERT, to, to, value));
  }
  if (tsr_tile_is_narrow_integer(to)) {
    if (from_float) return add_on(p, TSR_TILE_NARROW, to, to, value);
    if (tsr_carrier_bytes(source) == 1) return add_on(p, TSR_TILE_WRAP, to, to, value);
    return settled(p, add_on(p, TSR_TILE_CONVERT, to, to, value));
  }
  if (source == target) return add_on(p, TSR_TILE_CONVERT, to, to, value);
  return add_on(p, p->kernels->convert[source][target] ? TSR_TILE_CONVERT : TSR_TILE_NARROW, to, to,
                value);
}

int tsr_tile_convert(tsr_tile_program *program, tsr_dtype to, int value) {
  static const char zero[16];
  tsr_tile_program *p = program;
  if (!is_value(p, value) || !tsr_dtype_info_of(to)) return -1;
  const tsr_dtype from = dtype_of(p, value);
  if (from == to) return value;
  const bool from_complex = class_of(from) == TSR_CLASS_COMPLEX;
  const bool to_complex = class_of(to) == TSR_CLASS_COMPLEX;
  if (from_complex && to_complex) return add_on(p, TSR_TILE_CONVERT, to, to, value);
  if (from_complex) return tsr_tile_convert(p, to, tsr_tile_apply(p, TSR_TILE_REAL, &value));
  if (!to_complex) return convert_real(p, to, value);
  const int parts[2] = {tsr_tile_convert(p, component_of(to), value),
                        tsr_tile_constant(p, component_of(to), zero)};
  return tsr_tile_apply(p, TSR_TILE_COMPLEX, parts);
}

int tsr_tile_bitcast(tsr_tile_program *program, tsr_dtype to, int value) {
  tsr_tile_program *p = program;
  if (!is_value(p, value) || !tsr_dtype_info_of(to)) return -1;
  const tsr_dtype from = dtype_of(p, value);
  if (from == to) return value;
  const bool of_bool = from == TSR_BOOL || to == TSR_BOOL;
  if (of_bool || tsr_dtype_info_of(from)->bits != tsr_dtype_info_of(to)->bits)
    return no_code(p, "BITCAST", from);
  return add_on(p, TSR_TILE_BITCAST, to, from, value);
}

int tsr_tile_reduce_precision(tsr_tile_program *program, int exponent_bits, int mantissa_bits,
                              int value) {
  tsr_tile_program *p = program;
  if (!is_value(p, value)) return -1;
  const tsr_dtype dtype = dtype_of(p, value);
  if (class_of(dtype) != TSR_CLASS_FLOAT || exponent_bits < 1 || mantissa_bits < 0)
    return no_code(p, "REDUCE_PRECISION", dtype);
  const int result = add_on(p, TSR_TILE_PRECISION, dtype, dtype, value);
  if (result < 0) return -1;
  p->values[result].a = exponent_bits;
  p->values[result].b = mantissa_bits;
  return tsr_dtype_info_of(dtype)->bits < 16 ? settled(p, result) : result;
}

// ---- reductions and outputs ----

bool tsr_tile_op_reduces(tsr_tile_op op) {
  switch (op) {
    case TSR_TILE_ADD:
    case TSR_TILE_MULTIPLY:
    case TSR_TILE_MAXIMUM:
    case TSR_TILE_MINIMUM:
    case TSR_TILE_AND:
    case TSR_TILE_OR:
    case TSR_TILE_XOR:
      return true;
    default:
      return false;
  }
}

static bool reduces(tsr_tile_program *p, tsr_tile_op op, int value) {
  const tsr_tile_carrier carrier = tsr_tile_carrier_of(dtype_of(p, value));
  if (tsr_tile_op_reduces(op) && tsr_tile_reducers_of(p->kernels, op, carrier)->rows) return true;
  (void)no_code(p, op_names[op], dtype_of(p, value));
  return false;
}

int tsr_tile_reduce(tsr_tile_program *program, tsr_tile_op op, int value) {
  tsr_tile_program *p = program;
  if (!is_value(p, value) || !reduces(p, op, value)) return -1;
  const tsr_dtype dtype = dtype_of(p, value);
  const int reduced = add_on(p, TSR_TILE_REDUCE, dtype, dtype, value);
  if (reduced >= 0) p->values[reduced].op = op;
  return reduced;
}

int tsr_tile_spread_out(tsr_tile_program *program, int value) {
  if (!is_value(program, value)) return -1;
  const tsr_dtype dtype = dtype_of(program, value);
  return add_on(program, TSR_TILE_SPREAD, dtype, dtype, value);
}

void tsr_tile_store(tsr_tile_program *program, int value, int output, const int64_t *strides,
                    int64_t offset) {
  if (!is_value(program, value)) return;
  (void)add_stream(program,
                   &(tsr_tile_stream){.argument = output,
                                      .dtype = dtype_of(program, value),
                                      .offset = offset,
                                      .value = value,
                                      .is_output = true},
                   strides);
}

void tsr_tile_fold(tsr_tile_program *program, tsr_tile_op op, int value, int output) {
  tsr_tile_program *p = program;
  if (!is_value(p, value) || !reduces(p, op, value)) return;
  tsr_tile_folding *grown = tsr_arena_grow(&p->arena, p->folds, p->fold_count, sizeof *grown);
  if (!grown) {
    (void)no_memory(p);
    return;
  }
  p->folds = grown;
  grown[p->fold_count++] =
      (tsr_tile_folding){.op = op, .dtype = dtype_of(p, value), .value = value, .output = output};
}
