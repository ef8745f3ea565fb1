// Instructions that are more than one loop: conversions by way of memory, bits of floats,
// spreading, reductions of rows.
#include <math.h>
#include <string.h>

#include "base/arithmetic.h"
#include "element/convert_blocks.h"
#include "element/convert_elements.h"
#include "element/float_format.h"
#include "tile/tile_internal.h"

enum { BLOCK = 256 };

// ---- conversions ----

void tsr_tile_do_narrow(tsr_tile_worker *worker, const tsr_tile_step *step) {
  const tsr_dtype from = tsr_carrier_dtype(tsr_tile_carrier_of(step->value->from));
  const tsr_dtype by = step->value->narrow, to = tsr_carrier_dtype(tsr_tile_carrier_of(by));
  const int64_t count = tsr_tile_count(worker, step->extent);
  const char *in = tsr_tile_at(worker, step->in[0]);
  char *out = tsr_tile_at(worker, step->out), codes[BLOCK * sizeof(int64_t)];
  if (by == to) {
    tsr_convert_run(from, in, 0, to, out, 0, count);
    return;
  }
  for (int64_t i = 0; i < count; i += BLOCK) {
    const int64_t some = tsr_least(BLOCK, count - i);
    tsr_convert_run(from, in, i, by, codes, 0, some);
    tsr_convert_run(by, codes, 0, to, out, i, some);
  }
}

void tsr_tile_round(const tsr_tile_program *program, tsr_dtype narrow, float *elements,
                    int64_t count) {
  if (narrow == TSR_BF16) {
    const void *in = elements;
    program->kernels->round_bf16(elements, &in, count);
    return;
  }
  uint16_t codes[BLOCK];
  for (int64_t i = 0; i < count; i += BLOCK) {
    const int64_t some = tsr_least(BLOCK, count - i);
    tsr_block_store_f32(narrow, elements + i, codes, some);
    tsr_block_load_f32(narrow, codes, elements + i, some);
  }
}

void tsr_tile_do_round(tsr_tile_worker *worker, const tsr_tile_step *step) {
  const float *in = (const float *)(const void *)tsr_tile_at(worker, step->in[0]);
  float *out = (float *)(void *)tsr_tile_at(worker, step->out);
  const int64_t count = tsr_tile_count(worker, step->extent);
  uint16_t codes[BLOCK];
  for (int64_t i = 0; i < count; i += BLOCK) {
    const int64_t some = tsr_least(BLOCK, count - i);
    tsr_block_store_f32(step->value->narrow, in + i, codes, some);
    tsr_block_load_f32(step->value->narrow, codes, out + i, some);
  }
}

// ---- bits ----

// Elements in memory: floats by their codes, integers as bytes.
static void encode(tsr_dtype dtype, const char *in, char *codes, int64_t count) {
  if (tsr_tile_is_narrow_float(dtype))
    tsr_block_store_f32(dtype, (const float *)(const void *)in, codes, count);
  else
    memcpy(codes, in, (size_t)(count * tsr_tile_memory_bytes(dtype)));
}

static void decode(const tsr_tile_program *p, tsr_dtype dtype, char *codes, char *out,
                   int64_t count) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  if (info->bits < 8)
    for (int64_t i = 0; i < count; i++)
      codes[i] = (char)((unsigned char)codes[i] & ((1u << info->bits) - 1));
  if (tsr_tile_is_narrow_float(dtype)) {
    tsr_block_load_f32(dtype, codes, (float *)(void *)out, count);
    return;
  }
  const void *in = codes;
  if (info->bits < 8)
    p->kernels->wrap[2 * (info->kind == TSR_CLASS_UNSIGNED) + (info->bits == 4)](out, &in, count);
  else
    memcpy(out, codes, (size_t)(count * tsr_tile_memory_bytes(dtype)));
}

void tsr_tile_do_bitcast(tsr_tile_worker *worker, const tsr_tile_step *step) {
  const int64_t count = tsr_tile_count(worker, step->extent);
  const char *in = tsr_tile_at(worker, step->in[0]);
  char *out = tsr_tile_at(worker, step->out), codes[BLOCK * 16];
  const int in_bytes = step->widths[0], out_bytes = step->width;
  for (int64_t i = 0; i < count; i += BLOCK) {
    const int64_t some = tsr_least(BLOCK, count - i);
    encode(step->value->narrow, in + i * in_bytes, codes, some);
    decode(worker->program, step->value->dtype, codes, out + i * out_bytes, some);
  }
}

typedef struct float_bits {
  int mantissa, exponent;  // of the type
  int kept_exponent, kept_mantissa;
} float_bits;

static uint64_t rounded_to(uint64_t magnitude, int drop) {
  if (drop <= 0) return magnitude;
  const uint64_t odd = magnitude >> drop & 1, half = (UINT64_C(1) << (drop - 1)) - 1;
  return (magnitude + half + odd) >> drop << drop;
}

static uint64_t reduced(const float_bits *f, uint64_t bits) {
  const uint64_t sign = bits & UINT64_C(1) << (f->mantissa + f->exponent);
  const uint64_t infinity = ((UINT64_C(1) << f->exponent) - 1) << f->mantissa;
  uint64_t magnitude = bits ^ sign;
  // A NaN stays; without mantissa bits there is only infinity to stand for it.
  if (magnitude > infinity) return f->kept_mantissa ? bits : infinity;
  magnitude = rounded_to(magnitude, f->mantissa - f->kept_mantissa);
  if (f->kept_exponent < f->exponent) {
    const uint64_t bias = (UINT64_C(1) << (f->exponent - 1)) - 1;
    const uint64_t reach = (UINT64_C(1) << (f->kept_exponent - 1)) - 1;
    if (magnitude >> f->mantissa > bias + reach)
      magnitude = infinity;
    else if (magnitude >> f->mantissa <= bias - reach)
      magnitude = 0;
  }
  return sign | magnitude;
}

static void reduce_codes(const float_bits *f, int bytes, char *codes, int64_t count) {
  for (int64_t i = 0; i < count; i++, codes += bytes) {
    uint64_t bits = 0;
    memcpy(&bits, codes, (size_t)bytes);
    bits = reduced(f, bits);
    memcpy(codes, &bits, (size_t)bytes);
  }
}

static float_bits bits_of(const tsr_tile_value *value) {
  float_bits f = {23, 8, value->a, value->b};
  if (value->narrow == TSR_F64) f.mantissa = 52, f.exponent = 11;
  if (value->narrow == TSR_F16) f.mantissa = 10, f.exponent = 5;
  if (value->narrow == TSR_BF16) f.mantissa = 7, f.exponent = 8;
  return f;
}

void tsr_tile_do_precision(tsr_tile_worker *worker, const tsr_tile_step *step) {
  const float_bits f = bits_of(step->value);
  // Floats of a byte or less are reduced as f32.
  const bool is_byte = tsr_dtype_info_of(step->value->narrow)->bits <= 8;
  const tsr_dtype dtype = is_byte ? TSR_F32 : step->value->narrow;
  const int64_t count = tsr_tile_count(worker, step->extent);
  const char *in = tsr_tile_at(worker, step->in[0]);
  char *out = tsr_tile_at(worker, step->out), codes[BLOCK * sizeof(double)];
  for (int64_t i = 0; i < count; i += BLOCK) {
    const int64_t some = tsr_least(BLOCK, count - i);
    encode(dtype, in + i * step->width, codes, some);
    reduce_codes(&f, tsr_tile_memory_bytes(dtype), codes, some);
    decode(worker->program, dtype, codes, out + i * step->width, some);
  }
}

// The neighbour of a number of a narrow type in the direction of another: codes of floats of one
// sign follow each other.
static float next_narrow(tsr_dtype dtype, float a, float b) {
  uint32_t code = 0;
  float next = 0;
  if (a != a || b != b) return a + b;
  if (a == b) return b;
  if (a == 0) {
    code = 1;
    tsr_block_load_f32(dtype, &code, &next, 1);
    return b < 0 ? -next : next;
  }
  tsr_block_store_f32(dtype, &a, &code, 1);
  code = (a < b) == (a > 0) ? code + 1 : code - 1;
  tsr_block_load_f32(dtype, &code, &next, 1);
  return next;
}

void tsr_tile_do_next(tsr_tile_worker *worker, const tsr_tile_step *step) {
  const int64_t count = tsr_tile_count(worker, step->extent);
  const float *a = (const float *)(const void *)tsr_tile_at(worker, step->in[0]);
  const float *b = (const float *)(const void *)tsr_tile_at(worker, step->in[1]);
  float *out = (float *)(void *)tsr_tile_at(worker, step->out);
  for (int64_t i = 0; i < count; i++) out[i] = next_narrow(step->value->narrow, a[i], b[i]);
}

// ---- spreading and reducing ----

static int width_index(int bytes) { return __builtin_ctz((unsigned)bytes); }

void tsr_tile_do_spread(tsr_tile_worker *worker, const tsr_tile_step *step) {
  const char *in = tsr_tile_at(worker, step->in[0]);
  char *out = tsr_tile_at(worker, step->out);
  const int64_t count = tsr_tile_count(worker, step->extent);
  tsr_tile_spread *spread = worker->program->kernels->blocks->spread[width_index(step->width)];
  switch (worker->program->values[step->operands[0]].extent) {
    case TSR_EXTENT_ONE:
      spread(out, in, 1, count);
      break;
    case TSR_EXTENT_ROW:
      spread(out, in, worker->rows, worker->columns);
      break;
    default:
      memcpy(out, in, (size_t)(count * step->width));
  }
}

static void set_real(tsr_tile_carrier carrier, double value, char *out) {
  tsr_convert_run(TSR_F64, &value, 0, tsr_carrier_dtype(carrier), out, 0, 1);
}

void tsr_tile_identity(tsr_tile_op op, tsr_dtype dtype, void *out) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  const tsr_tile_carrier carrier = tsr_tile_carrier_of(dtype);
  const bool integer = info->kind == TSR_CLASS_SIGNED || info->kind == TSR_CLASS_UNSIGNED;
  // Saturation makes the bounds of bytes to 8-byte integers of infinities.
  const double limit = integer && info->bits < 8
                           ? ldexp(1, info->bits - (info->kind == TSR_CLASS_SIGNED)) - 1
                           : (double)INFINITY;
  memset(out, 0, (size_t)tsr_carrier_bytes(carrier));
  switch (op) {
    case TSR_TILE_MULTIPLY:
      set_real(carrier, 1, out);
      break;
    case TSR_TILE_MAXIMUM:
      if (info->kind == TSR_CLASS_BOOL) break;
      set_real(carrier,
               integer && info->bits < 8 ? info->kind == TSR_CLASS_SIGNED ? -limit - 1 : 0 : -limit,
               out);
      break;
    case TSR_TILE_MINIMUM:
      set_real(carrier, limit, out);
      break;
    case TSR_TILE_AND:
      memset(out, info->kind == TSR_CLASS_BOOL ? 1 : 0xff, (size_t)tsr_carrier_bytes(carrier));
      if (tsr_tile_is_narrow_integer(dtype) && info->kind == TSR_CLASS_UNSIGNED)
        *(unsigned char *)out = (unsigned char)((1u << info->bits) - 1);
      break;
    default:
      break;
  }
}

// Narrow floats in order, rounded at every step, all rows at once: an accumulator for each row
// takes one column after another.
static void reduce_rounding(tsr_tile_worker *w, const tsr_tile_step *step, const char *in,
                            char *out) {
  const tsr_tile_program *p = w->program;
  const int bytes = step->width;
  tsr_tile_move *gather = p->kernels->blocks->gather[width_index(bytes)];
  char *column = w->scratch + p->raw_place;
  gather(out, in, w->rows, 1, 1, w->columns, 1);
  for (int64_t j = 1; j < w->columns; j++) {
    gather(column, in + j * bytes, w->rows, 1, 1, w->columns, 1);
    step->combine(out, (const void *[]){out, column}, w->rows);
    tsr_tile_round(p, step->value->dtype, (float *)(void *)out, w->rows);
  }
}

void tsr_tile_settle(tsr_tile_worker *worker, const tsr_tile_step *step, char *out) {
  const tsr_tile_worker *w = worker;
  const tsr_dtype dtype = step->value->dtype;
  if (tsr_tile_is_narrow_float(dtype))
    tsr_tile_round(w->program, dtype, (float *)(void *)out, w->rows);
  if (tsr_tile_is_narrow_integer(dtype)) {
    char codes[BLOCK];
    for (int64_t i = 0; i < w->rows; i += BLOCK) {
      const int64_t some = tsr_least(BLOCK, w->rows - i);
      memcpy(codes, out + i, (size_t)some);
      decode(w->program, dtype, codes, out + i, some);
    }
  }
}

void tsr_tile_do_reduce(tsr_tile_worker *worker, const tsr_tile_step *step) {
  const char *in = tsr_tile_at(worker, step->in[0]);
  char *out = tsr_tile_at(worker, step->out);
  const tsr_tile_value *value = step->value;
  const bool rounds = step->in_order && worker->columns <= TSR_TILE_IN_ORDER &&
                      tsr_tile_is_narrow_float(value->dtype);
  if (worker->columns == 0) {
    for (int64_t i = 0; i < worker->rows; i++)
      tsr_tile_identity(value->op, value->dtype, out + i * step->width);
  } else if (rounds && value->dtype == TSR_BF16) {
    worker->program->kernels->blocks->reduce_bf16[value->op - TSR_TILE_ADD](out, in, worker->rows,
                                                                            worker->columns);
  } else if (rounds) {
    reduce_rounding(worker, step, in, out);
  } else {
    step->reduce(out, in, worker->rows, worker->columns);
    tsr_tile_settle(worker, step, out);
  }
}
