#include "tile/tile_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "element/convert_blocks.h"
#include "element/float_format.h"

int tile_bytes(tsr_dtype dtype) {
  const int bits = tsr_dtype_info_of(dtype)->bits;
  return bits < 8 ? 1 : bits / 8;
}

void tile_run_finished(const tsr_tile_program *program, int workers, const void *const *inputs,
                       void *const *outputs) {
  tsr_pool *pool = NULL;
  if (workers > 1) assert_ok(tsr_pool_create(workers, &pool));
  const int64_t scratch = (tsr_tile_scratch_bytes(program) + 63) / 64 * 64;
  tsr_kernel_call call = {.inputs = (const char *const *)inputs,
                          .outputs = (char *const *)outputs,
                          .scratch = aligned_alloc(64, (size_t)(scratch * workers + 64)),
                          .scratch_bytes = scratch,
                          .temp = malloc((size_t)tsr_tile_temp_bytes(program) + 1),
                          .pool = pool};
  assert_non_null(call.scratch);
  assert_non_null(call.temp);
  memset(call.scratch, 0xa5, (size_t)(scratch * workers));
  memset(call.temp, 0xa5, (size_t)tsr_tile_temp_bytes(program));
  assert_ok(tsr_tile_run(program, &call));
  free(call.scratch);
  free(call.temp);
  tsr_pool_destroy(pool);
}

void tile_run(tsr_tile_program *program, int workers, const void *const *inputs,
              void *const *outputs) {
  assert_non_null(program);
  assert_ok(tsr_tile_finish(program));
  tile_run_finished(program, workers, inputs, outputs);
  tsr_tile_destroy(program);
}

tsr_scalar_type tile_scalar(tsr_dtype dtype) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  return (tsr_scalar_type){.dtype = dtype,
                           .kind = info->kind,
                           .bits = info->kind == TSR_CLASS_BOOL ? 1 : info->bits,
                           .bytes = tile_bytes(dtype)};
}

// ---- elements ----

static const double floats[] = {0.0,     -0.0,       1.0,       -1.0,    0.5,    -0.5,
                                1.5,     2.5,        -2.5,      3.25,    1e30,   -7.0,
                                1.0e-40, -INFINITY,  INFINITY,  65504.0, -2.0,   1e-3,
                                NAN,     0.49999997, 8388609.0, 448.0,   -128.0, 4294967295.0};

static double some_float(test_random *random, int64_t i) {
  const int64_t count = (int64_t)COUNT_OF(floats);
  if (i < count) return floats[i];
  if (i % 3 == 0) return floats[test_random_range(random, 0, count - 1)];
  return ldexp((double)test_random_range(random, -1000000, 1000000),
               (int)test_random_range(random, -30, i % 5 ? 0 : 40));
}

static int64_t some_integer(test_random *random, int64_t i) {
  static const int64_t integers[] = {
      0,   1,  -1, 2,  3,         -2,        7,         -8,        8,         127, -128,
      255, 31, 32, 33, INT16_MIN, INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX, 63,  64};
  const int64_t count = (int64_t)COUNT_OF(integers);
  if (i < count || i % 3 == 0)
    return integers[i < count ? i : test_random_range(random, 0, count - 1)];
  return (int64_t)(test_random_next(random) >> test_random_range(random, 0, 63));
}

static void fill_one(tsr_dtype dtype, test_random *random, int64_t i, char *out) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  if (info->kind == TSR_CLASS_COMPLEX) {
    const tsr_dtype part = dtype == TSR_C64 ? TSR_F32 : TSR_F64;
    fill_one(part, random, i, out);
    fill_one(part, random, i + 2, out + tile_bytes(part));
  } else if (info->kind == TSR_CLASS_FLOAT) {
    const double value = some_float(random, i);
    tsr_block_store_f64(dtype, &value, out, 1);
  } else if (info->kind == TSR_CLASS_BOOL) {
    *out = (char)(test_random_next(random) >> 40 & 1);
  } else {
    const int64_t value = some_integer(random, i);
    tsr_block_store_i64(dtype, &value, out, 1);
    if (info->bits < 8 && info->kind == TSR_CLASS_SIGNED)
      *out = (char)((signed char)((unsigned char)*out << (8 - info->bits)) >> (8 - info->bits));
  }
}

void tile_fill(tsr_dtype dtype, uint64_t seed, void *out, int64_t count) {
  test_random random = {seed};
  for (int64_t i = 0; i < count; i++)
    fill_one(dtype, &random, i + (int64_t)(seed % 7), (char *)out + i * tile_bytes(dtype));
}

static bool same_float(double a, double b) {
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  return a == b && signbit(a) == signbit(b);
}

bool tile_same(tsr_dtype dtype, const void *a, const void *b) {
  const tsr_scalar_type type = tile_scalar(dtype);
  const tsr_scalar x = tsr_scalar_load(&type, a), y = tsr_scalar_load(&type, b);
  if (type.kind == TSR_CLASS_FLOAT) return same_float(x.f, y.f);
  if (type.kind == TSR_CLASS_COMPLEX) return same_float(x.f, y.f) && same_float(x.imag, y.imag);
  // In memory an integer fills its bytes.
  return !memcmp(a, b, (size_t)type.bytes);
}
