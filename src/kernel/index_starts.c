// Index vectors turned into elements of the operand, many at a time: entry by entry, so that loops
// know the type of the indices.
#include "kernel/index_starts.h"

#include <string.h>

#include "base/arithmetic.h"
#include "tessera/dtype.h"

// ---- reading indices ----

// Adds the starts of `count` windows along one dimension of the operand: numbers, `step` elements
// apart, moved inside or checked to be there.
typedef void add_fn(const char *from, int64_t step, int64_t count, const tsr_start_entry *entry,
                    int64_t *out);

// One set of loops for each width and sign. Those narrower than a byte are bytes here.
#define LOOPS(name, type, value)                                                \
  static void read_##name(const char *from, int64_t *out) {                     \
    type number;                                                                \
    memcpy(&number, from, sizeof number);                                       \
    *out = (value);                                                             \
  }                                                                             \
  static void clamp_##name(const char *from, int64_t step, int64_t count,       \
                           const tsr_start_entry *entry, int64_t *out) {        \
    const int64_t most = entry->size - entry->window, stride = entry->stride;   \
    for (int64_t i = 0; i < count; i++, from += step * (int64_t)sizeof(type)) { \
      int64_t at;                                                               \
      read_##name(from, &at);                                                   \
      at = at > most ? most : at;                                               \
      out[i] += (at < 0 ? 0 : at) * stride;                                     \
    }                                                                           \
  }                                                                             \
  static void check_##name(const char *from, int64_t step, int64_t count,       \
                           const tsr_start_entry *entry, int64_t *out) {        \
    const int64_t most = entry->size - entry->window, stride = entry->stride;   \
    for (int64_t i = 0; i < count; i++, from += step * (int64_t)sizeof(type)) { \
      int64_t at;                                                               \
      read_##name(from, &at);                                                   \
      const bool inside = at >= 0 && at <= most && out[i] >= 0;                 \
      out[i] = inside ? out[i] + at * stride : TSR_NO_START;                    \
    }                                                                           \
  }
LOOPS(i8, int8_t, number)  // NOLINT(bugprone-signed-char-misuse): a number, no character
LOOPS(i16, int16_t, number)
LOOPS(i32, int32_t, number)
LOOPS(i64, int64_t, number)
LOOPS(u8, uint8_t, number)
LOOPS(u16, uint16_t, number)
LOOPS(u32, uint32_t, number)
LOOPS(u64, uint64_t, number > INT64_MAX ? INT64_MAX : (int64_t)number)

typedef struct index_loops {
  void (*read)(const char *from, int64_t *out);
  add_fn *clamp, *check;
} index_loops;
#define ROW(name) \
  { read_##name, clamp_##name, check_##name }
static const index_loops loops_of[TSR_DTYPE_COUNT] = {
    [TSR_BOOL] = ROW(u8), [TSR_I2] = ROW(i8),   [TSR_I4] = ROW(i8),   [TSR_I8] = ROW(i8),
    [TSR_I16] = ROW(i16), [TSR_I32] = ROW(i32), [TSR_I64] = ROW(i64), [TSR_U2] = ROW(u8),
    [TSR_U4] = ROW(u8),   [TSR_U8] = ROW(u8),   [TSR_U16] = ROW(u16), [TSR_U32] = ROW(u32),
    [TSR_U64] = ROW(u64),
};

int64_t tsr_index_read(tsr_dtype dtype, const char *from) {
  int64_t number;
  loops_of[dtype].read(from, &number);
  return number;
}

// The most frequent indices, side by side: 32 bits are enough for all of it, by vectors.
#define CLAMP_ROW(name, TARGET)                                                          \
  TARGET static void name(const char *from, int64_t count, int32_t most, int32_t stride, \
                          int64_t *restrict out) {                                       \
    for (int64_t i = 0; i < count; i++) {                                                \
      int32_t at;                                                                        \
      memcpy(&at, from + i * (int64_t)sizeof at, sizeof at);                             \
      at = at > most ? most : at;                                                        \
      at = at < 0 ? 0 : at;                                                              \
      out[i] += (int64_t)at * stride;                                                    \
    }                                                                                    \
  }
CLAMP_ROW(clamp_row, )
#if defined __x86_64__
CLAMP_ROW(clamp_row_avx2, __attribute__((target("avx2"))))
#endif

static bool clamp_fast(const tsr_index_starts *starts, const tsr_start_entry *entry,
                       const char *from, int64_t step, int64_t count, int64_t *out) {
  const int64_t most = entry->size - entry->window;
  if (starts->dtype != TSR_I32 || step != 1 || most > INT32_MAX || entry->stride > INT32_MAX)
    return false;
#if defined __x86_64__
  if (__builtin_cpu_supports("avx2")) {
    clamp_row_avx2(from, count, (int32_t)most, (int32_t)entry->stride, out);
    return true;
  }
#endif
  clamp_row(from, count, (int32_t)most, (int32_t)entry->stride, out);
  return true;
}

// ---- starts ----

void tsr_index_starts_simplify(tsr_index_starts *starts) {
  int kept = 0;
  starts->count = 1;
  for (int i = 0; i < starts->dim_count; i++) {
    const tsr_start_dim dim = starts->dims[i];
    tsr_start_dim *before = kept ? &starts->dims[kept - 1] : NULL;
    starts->count *= dim.count;
    if (dim.count == 1) continue;
    if (before && before->index == dim.index * dim.count &&
        before->operand == dim.operand * dim.count)
      *before = (tsr_start_dim){before->count * dim.count, dim.index, dim.operand};
    else
      starts->dims[kept++] = dim;
  }
  starts->dim_count = kept;
}

// The place of a window in both tensors.
typedef struct window_place {
  int64_t index, operand;
  int64_t left;  // windows up to the end of the innermost dimension, this one included
} window_place;

static window_place place_of(const tsr_index_starts *starts, int64_t at) {
  window_place place = {0, 0, 1};
  for (int i = starts->dim_count - 1; i >= 0; i--) {
    const tsr_start_dim *dim = &starts->dims[i];
    const int64_t along = at % dim->count;
    if (i == starts->dim_count - 1) place.left = dim->count - along;
    place.index += along * dim->index;
    place.operand += along * dim->operand;
    at /= dim->count;
  }
  return place;
}

static const char *index_at(const tsr_index_starts *starts, const char *indices, int64_t element) {
  const int bits = tsr_dtype_info_of(starts->dtype)->bits;
  return indices + element * (bits < 8 ? 1 : bits / 8);
}

// Windows of one pass of the innermost dimension.
static void read_block(const tsr_index_starts *starts, const char *indices,
                       const window_place *place, int64_t count, int64_t *out) {
  const tsr_start_dim one = {1, 0, 0};
  const tsr_start_dim *inner = starts->dim_count ? &starts->dims[starts->dim_count - 1] : &one;
  for (int64_t i = 0; i < count; i++) out[i] = place->operand + i * inner->operand;
  for (int k = 0; k < starts->entry_count; k++) {
    const tsr_start_entry *entry = &starts->entries[k];
    const char *from = index_at(starts, indices, place->index + entry->index);
    const index_loops *loops = &loops_of[starts->dtype];
    if (!starts->clamped)
      loops->check(from, inner->index, count, entry, out);
    else if (!clamp_fast(starts, entry, from, inner->index, count, out))
      loops->clamp(from, inner->index, count, entry, out);
  }
}

void tsr_index_starts_read(const tsr_index_starts *starts, const char *indices, int64_t begin,
                           int64_t count, int64_t *out) {
  for (int64_t done = 0; done < count;) {
    const window_place place = place_of(starts, begin + done);
    const int64_t now = tsr_least(place.left, count - done);
    read_block(starts, indices, &place, now, out + done);
    done += now;
  }
}

int64_t tsr_index_starts_vector(const tsr_index_starts *starts, const char *indices, int64_t at,
                                int64_t *out_vector) {
  const window_place place = place_of(starts, at);
  for (int k = 0; k < starts->entry_count; k++)
    out_vector[k] = tsr_index_read(
        starts->dtype, index_at(starts, indices, place.index + starts->entries[k].index));
  return place.operand;
}

tsr_copy tsr_index_copy(const tsr_index_loop *loops, int count, bool to_operand) {
  tsr_copy copy = {.length = 1, .loop_count = count};
  for (int i = 0; i < count; i++) {
    const int64_t operand = loops[i].operand, element = loops[i].element;
    copy.loops[i] = to_operand ? (tsr_copy_loop){loops[i].count, element, operand}
                               : (tsr_copy_loop){loops[i].count, operand, element};
  }
  return copy;
}

int64_t tsr_index_units(const tsr_index_walk *walk) {
  int64_t units = walk->row;
  for (int i = 0; i < walk->loop_count; i++) units *= walk->loops[i].count;
  return units;
}
