// Arguments without a file: random ones, and those that a case describes by a formula.
//
// Each element is a function of seed, argument and index, so no element depends on another.
#include <math.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/text_internal.h"
#include "element/convert_elements.h"
#include "element/packed_bits.h"
#include "tessera/engine/kernels.h"
#include "trial/trial_internal.h"

enum { CHUNK = 1024 };  // elements; a multiple of 8, so that chunks begin with a byte

// Elements `first` and on of an argument, as numbers; two for a complex one.
typedef void number_fn(const void *context, int64_t first, int64_t count, double *out);

// A narrow integer is kept as one of 8 bits, with its sign.
static tsr_dtype memory_dtype(tsr_dtype dtype) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  if (!info->sub_byte || info->kind == TSR_CLASS_FLOAT) return dtype;
  return info->kind == TSR_CLASS_SIGNED ? TSR_I8 : TSR_U8;
}

static void store_numbers(const tsr_trial_value *value, tsr_dtype real, int64_t at,
                          const double *numbers, int64_t count) {
  const tsr_dtype_info *info = tsr_dtype_info_of(real);
  char *const data = tsr_buffer_data(value->data);
  char packed[CHUNK];
  if (!info->sub_byte) {
    tsr_convert_run(TSR_F64, numbers, 0, real, data, at, count);
    return;
  }
  tsr_convert_run(TSR_F64, numbers, 0, real, packed, 0, count);
  tsr_unpack(info->bits, packed, 0, count, (uint8_t *)data + at);
}

// Elements `at` and on of the memory are elements `first` and on of the tensor, `count` of them.
static void fill_run(const tsr_trial_value *value, number_fn *number, const void *context,
                     int64_t first, int64_t at, int64_t count) {
  const bool complex = tsr_dtype_info_of(value->dtype)->kind == TSR_CLASS_COMPLEX;
  const tsr_dtype real = value->dtype == TSR_C64    ? TSR_F32
                         : value->dtype == TSR_C128 ? TSR_F64
                                                    : memory_dtype(value->dtype);
  const int64_t parts = complex ? 2 : 1, end = parts * count;
  double numbers[CHUNK];
  for (int64_t i = 0; i < end; i += CHUNK) {
    const int64_t some = tsr_least(CHUNK, end - i);
    number(context, parts * first + i, some, numbers);
    store_numbers(value, real, parts * at + i, numbers, some);
  }
}

static void fill_value(const tsr_trial_value *value, number_fn *number, const void *context) {
  if (value->dtype == TSR_DTYPE_NONE || value->filled) return;
  const int last = value->shape.rank - 1;
  const int64_t row = value->box && last >= 0 ? value->box[last].hi - value->box[last].lo : 0;
  if (!row) {
    fill_run(value, number, context, 0, 0, value->count);
    return;
  }
  for (int64_t at = 0; at < value->count; at += row)
    fill_run(value, number, context, tsr_trial_whole_index(value, at), at, row);
}

// ---- random numbers ----

typedef struct random_stream {
  uint64_t key;
  const tsr_dtype_info *info;
  bool positive;  // the type has no zero and no negative numbers
} random_stream;

// Steele, Lea and Flood's mix of 64 bits (SplitMix64), of a counter.
static uint64_t mix(uint64_t key, uint64_t counter) {
  uint64_t x = key + counter * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

static double unit(uint64_t bits) { return ((double)(bits >> 11) + 0.5) * 0x1p-53; }

// Box and Muller: two uniform numbers give a normal one.
static double normal(uint64_t key, uint64_t index) {
  const double radius = sqrt(-2 * log(unit(mix(key, 2 * index))));
  return radius * cos(2 * 3.14159265358979323846 * unit(mix(key, 2 * index + 1)));
}

static double random_integer(const random_stream *stream, uint64_t index) {
  const uint64_t bits = mix(stream->key, index) >> 16;
  if (stream->info->kind == TSR_CLASS_BOOL) return (double)(bits % 2);
  if (stream->info->bits < 4) return (double)(bits % 2);
  if (stream->info->kind == TSR_CLASS_SIGNED && stream->info->bits < 32)
    return (double)(bits % 10) - 5;
  return (double)(bits % 10);
}

static void random_numbers(const void *context, int64_t first, int64_t count, double *out) {
  const random_stream *stream = context;
  const bool real =
      stream->info->kind == TSR_CLASS_FLOAT || stream->info->kind == TSR_CLASS_COMPLEX;
  for (int64_t i = 0; i < count; i++) {
    const uint64_t index = (uint64_t)(first + i);
    const double number = real ? normal(stream->key, index) : random_integer(stream, index);
    out[i] = stream->positive ? fabs(number) + 0.5 : number;
  }
}

tsr_status tsr_trial_values_random(tsr_trial_values *values, uint64_t seed) {
  for (int64_t i = 0; i < values->count; i++) {
    const tsr_trial_value *value = &values->items[i];
    const random_stream stream = {.key = mix(mix(seed, 1), (uint64_t)i),
                                  .info = tsr_dtype_info_of(value->dtype),
                                  .positive = value->dtype == TSR_F8E8M0FNU};
    fill_value(value, random_numbers, &stream);
  }
  return NULL;
}

// ---- the formula of a case ----

typedef struct formula {
  uint32_t argument;
  double scale, offset;
  int64_t high;  // integers are less than this; 0 = floats
} formula;

static void formula_numbers(const void *context, int64_t first, int64_t count, double *out) {
  const formula *f = context;
  const uint32_t start = (uint32_t)first + 1000003U * f->argument;
  for (int64_t i = 0; i < count; i++) {
    const uint32_t h = (start + (uint32_t)i) * 2654435761U >> 8;
    out[i] = f->high ? (double)(h % (uint64_t)f->high)
                     : (double)(float)(((double)h / 0x1p24 - 0.5) * f->scale + f->offset);
  }
}

static tsr_status read_formula(const tsr_json *input, const tsr_trial_value *value, formula *out) {
  const tsr_dtype_class kind = tsr_dtype_info_of(value->dtype)->kind;
  if (kind == TSR_CLASS_FLOAT) {
    TSR_TRY(tsr_json_get_double(tsr_json_find(input, "scale"), "scale", &out->scale));
    return tsr_json_get_double(tsr_json_find(input, "offset"), "offset", &out->offset);
  }
  TSR_TRY(tsr_json_get_int(tsr_json_find(input, "high"), "high", &out->high));
  if (out->high < 1)
    return tsr_fail(BAD_ARGUMENT, "high is %lld, wanted 1 or more", (long long)out->high);
  return NULL;
}

tsr_status tsr_trial_values_generate(tsr_trial_values *values, const tsr_trial_case *trial) {
  const tsr_json *inputs = tsr_json_find(tsr_json_root(trial->facts), "inputs");
  if ((int64_t)tsr_json_count(inputs) != values->count)
    return tsr_fail(BAD_ARGUMENT, "the case has %zu inputs, and the program %lld arguments",
                    tsr_json_count(inputs), (long long)values->count);
  const tsr_json *input = tsr_json_first(inputs);
  for (int64_t i = 0; i < values->count; i++, input = tsr_json_next(input)) {
    formula f = {.argument = (uint32_t)i};
    TSR_TRY_NOTE(read_formula(input, &values->items[i], &f), "input %lld of the case",
                 (long long)i);
    fill_value(&values->items[i], formula_numbers, &f);
  }
  return NULL;
}
