// Elements of products: every type is read as one of the four that kernels compute in, and written
// from it.
//
// Floats of at most 32 bits are summed in f32 and rounded once. Integers are summed modulo 2^32 or
// 2^64, and the result keeps the low bits, so they wrap as they would in the type of the
// result. A bool is true if any product is: it is counted.
#include <string.h>

#include "element/convert_blocks.h"
#include "kernel/gemm.h"

int64_t tsr_gemm_element_bytes(tsr_dtype dtype) {
  const int bits = tsr_dtype_info_of(dtype)->bits;
  return bits < 8 ? 1 : bits / 8;
}

int tsr_gemm_type_of(tsr_dtype result, int *out_parts) {
  const tsr_dtype_info *info = tsr_dtype_info_of(result);
  if (!info) return -1;
  *out_parts = info->kind == TSR_CLASS_COMPLEX ? 2 : 1;
  if (info->kind == TSR_CLASS_COMPLEX) return info->bits == 64 ? TSR_GEMM_F32 : TSR_GEMM_F64;
  if (info->kind == TSR_CLASS_FLOAT) return info->bits == 64 ? TSR_GEMM_F64 : TSR_GEMM_F32;
  return info->bits == 64 ? TSR_GEMM_I64 : TSR_GEMM_I32;
}

bool tsr_gemm_native(int type, tsr_dtype dtype) {
  switch (type) {
    case TSR_GEMM_F32:
      return dtype == TSR_F32 || dtype == TSR_C64;
    case TSR_GEMM_F64:
      return dtype == TSR_F64 || dtype == TSR_C128;
    case TSR_GEMM_I32:
      return dtype == TSR_I32 || dtype == TSR_U32;
    default:
      return dtype == TSR_I64 || dtype == TSR_U64;
  }
}

// ---- reading ----

#define LOOP for (int64_t i = 0; i < count; i++)

// Integers of `from`, extended to `to`.
#define READ_INTEGERS(from, to)                                                  \
  LOOP {                                                                         \
    from element;                                                                \
    memcpy(&element, in + i * stride * (int64_t)sizeof element, sizeof element); \
    ((to *)out)[i] = (to)element;                                                \
  }
#define READ_INTEGER_CASES(to)           \
  switch (dtype) {                       \
    case TSR_I2:                         \
    case TSR_I4:                         \
    case TSR_I8:                         \
      READ_INTEGERS(int8_t, to) break;   \
    case TSR_I16:                        \
      READ_INTEGERS(int16_t, to) break;  \
    case TSR_I32:                        \
      READ_INTEGERS(int32_t, to) break;  \
    case TSR_I64:                        \
      READ_INTEGERS(int64_t, to) break;  \
    case TSR_U16:                        \
      READ_INTEGERS(uint16_t, to) break; \
    case TSR_U32:                        \
      READ_INTEGERS(uint32_t, to) break; \
    case TSR_U64:                        \
      READ_INTEGERS(uint64_t, to) break; \
    default:                             \
      READ_INTEGERS(uint8_t, to) break;  \
  }

static void load_i32(tsr_dtype dtype, const char *in, int64_t stride, int64_t count, void *out) {
  READ_INTEGER_CASES(uint32_t)
}

static void load_i64(tsr_dtype dtype, const char *in, int64_t stride, int64_t count, void *out) {
  READ_INTEGER_CASES(uint64_t)
}

static float f32_of(tsr_dtype dtype, const char *in) {
  float number = 0;
  if (dtype == TSR_F64) {
    double wide;
    memcpy(&wide, in, sizeof wide);
    return (float)wide;
  }
  tsr_block_load_f32(dtype, in, &number, 1);
  return number;
}

static void load_f32(tsr_dtype dtype, const char *in, int64_t stride, int64_t count, float *out) {
  if (stride == 1 && dtype != TSR_F64) {
    tsr_block_load_f32(dtype, in, out, count);
    return;
  }
  const int64_t step = stride * tsr_gemm_element_bytes(dtype);
  LOOP out[i] = f32_of(dtype, in + i * step);
}

static void load_f64(tsr_dtype dtype, const char *in, int64_t stride, int64_t count, double *out) {
  const int64_t step = stride * tsr_gemm_element_bytes(dtype);
  LOOP {
    if (dtype == TSR_F64)
      memcpy(&out[i], in + i * step, sizeof *out);
    else
      out[i] = (double)f32_of(dtype, in + i * step);
  }
}

// Complex numbers are read as pairs.
static void load_pairs(int type, tsr_dtype part, const char *in, int64_t stride, int64_t count,
                       char *out) {
  const int64_t bytes = part == TSR_F64 ? 8 : 4, out_bytes = type == TSR_GEMM_F64 ? 8 : 4;
  LOOP tsr_gemm_load(type, part, in + 2 * i * stride * bytes, 1, 2, out + 2 * i * out_bytes);
}

void tsr_gemm_load(int type, tsr_dtype dtype, const char *from, int64_t stride, int64_t count,
                   void *out) {
  if (dtype == TSR_C64 || dtype == TSR_C128) {
    load_pairs(type, dtype == TSR_C64 ? TSR_F32 : TSR_F64, from, stride, count, out);
    return;
  }
  switch (type) {
    case TSR_GEMM_F32:
      load_f32(dtype, from, stride, count, out);
      break;
    case TSR_GEMM_F64:
      load_f64(dtype, from, stride, count, out);
      break;
    case TSR_GEMM_I32:
      load_i32(dtype, from, stride, count, out);
      break;
    default:
      load_i64(dtype, from, stride, count, out);
      break;
  }
}

// ---- writing ----

#define WRITE_INTEGERS(from, to)                                                  \
  LOOP {                                                                          \
    const to element = (to)((const from *)in)[i];                                 \
    memcpy(out + i * stride * (int64_t)sizeof element, &element, sizeof element); \
  }

// The low `bits` of a number, extended by their sign.
static int8_t narrow(uint32_t number, int bits) {
  const int shift = 8 - bits;
  return (int8_t)((int8_t)(uint8_t)(number << shift) >> shift);
}

static void store_i32(const void *in, tsr_dtype dtype, char *out, int64_t stride, int64_t count) {
  const uint32_t *numbers = in;
  const int bits = tsr_dtype_info_of(dtype)->bits;
  switch (dtype) {
    case TSR_BOOL:
      LOOP out[i * stride] = numbers[i] != 0;
      break;
    case TSR_I2:
    case TSR_I4:
      LOOP out[i * stride] = narrow(numbers[i], bits);
      break;
    case TSR_U2:
    case TSR_U4:
      LOOP out[i * stride] = (char)(numbers[i] & ((1u << bits) - 1));
      break;
    case TSR_I16:
    case TSR_U16:
      WRITE_INTEGERS(uint32_t, uint16_t) break;
    case TSR_I32:
    case TSR_U32:
      WRITE_INTEGERS(uint32_t, uint32_t) break;
    default:
      WRITE_INTEGERS(uint32_t, uint8_t) break;
  }
}

static void store_i64(const void *in, tsr_dtype dtype, char *out, int64_t stride, int64_t count) {
  if (dtype == TSR_BOOL) {
    LOOP out[i * stride] = ((const uint64_t *)in)[i] != 0;
  } else {
    WRITE_INTEGERS(uint64_t, uint64_t)
  }
}

static void store_floats(int type, const char *in, tsr_dtype dtype, char *out, int64_t stride,
                         int64_t count) {
  const int64_t run = stride == 1 ? count : 1;
  const int64_t bytes = tsr_gemm_element_bytes(dtype), in_bytes = type == TSR_GEMM_F64 ? 8 : 4;
  for (int64_t i = 0; i < count; i += run) {
    char *to = out + i * stride * bytes;
    if (type == TSR_GEMM_F64)
      tsr_block_store_f64(dtype, (const double *)(const void *)(in + i * in_bytes), to, run);
    else
      tsr_block_store_f32(dtype, (const float *)(const void *)(in + i * in_bytes), to, run);
  }
}

void tsr_gemm_store(int type, const void *in, tsr_dtype dtype, char *to, int64_t stride,
                    int64_t count) {
  if (dtype == TSR_C64 || dtype == TSR_C128) {
    const int64_t bytes = dtype == TSR_C64 ? 8 : 16;
    LOOP memcpy(to + i * stride * bytes, (const char *)in + i * bytes, (size_t)bytes);
    return;
  }
  switch (type) {
    case TSR_GEMM_I32:
      store_i32(in, dtype, to, stride, count);
      break;
    case TSR_GEMM_I64:
      store_i64(in, dtype, to, stride, count);
      break;
    default:
      store_floats(type, in, dtype, to, stride, count);
      break;
  }
}
