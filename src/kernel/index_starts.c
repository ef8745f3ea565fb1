// Index vectors turned into elements of the operand, many at a time: entry by entry, so that loops
// know the type of the indices.
#include "kernel/index_starts.h"

#include <string.h>

#include "base/arithmetic.h"
#include "tessera/dtype.h"

// ---- reading indices ----

// One loop for each width and sign. Those narrower than a byte are bytes here.
#define READ(name, type, value)                                                     \
  static void name(const char *from, int64_t stride, int64_t count, int64_t *out) { \
    for (int64_t i = 0; i < count; i++) {                                           \
      type number;                                                                  \
      memcpy(&number, from + i * stride * (int64_t)sizeof number, sizeof number);   \
      out[i] = (value);                                                             \
    }                                                                               \
  }
READ(read_i8, int8_t, number)
READ(read_i16, int16_t, number)
READ(read_i32, int32_t, number)
READ(read_i64, int64_t, number)
READ(read_u8, uint8_t, number)
READ(read_u16, uint16_t, number)
READ(read_u32, uint32_t, number)
READ(read_u64, uint64_t, number > INT64_MAX ? INT64_MAX : (int64_t)number)

typedef void read_fn(const char *from, int64_t stride, int64_t count, int64_t *out);
static read_fn *const readers[TSR_DTYPE_COUNT] = {
    [TSR_BOOL] = read_u8, [TSR_I2] = read_i8,   [TSR_I4] = read_i8,   [TSR_I8] = read_i8,
    [TSR_I16] = read_i16, [TSR_I32] = read_i32, [TSR_I64] = read_i64, [TSR_U2] = read_u8,
    [TSR_U4] = read_u8,   [TSR_U8] = read_u8,   [TSR_U16] = read_u16, [TSR_U32] = read_u32,
    [TSR_U64] = read_u64,
};

void tsr_read_indices(tsr_dtype dtype, const char *from, int64_t stride, int64_t count,
                      int64_t *out) {
  readers[dtype](from, stride, count, out);
}

// ---- starts ----

void tsr_index_starts_simplify(tsr_index_starts *starts) {
  int kept = 0;
  starts->count = 1;
  for (int i = 0; i < starts->dim_count; i++) {
    const tsr_start_dim dim = starts->dims[i];
    tsr_start_dim *before = &starts->dims[kept - 1];
    starts->count *= dim.count;
    if (dim.count == 1) continue;
    if (kept && before->index == dim.index * dim.count &&
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

static void add_clamped(const tsr_start_entry *entry, const int64_t *numbers, int64_t count,
                        int64_t *out) {
  const int64_t most = entry->size - entry->window, stride = entry->stride;
  for (int64_t i = 0; i < count; i++) {
    const int64_t at = numbers[i] > most ? most : numbers[i];
    out[i] += (at < 0 ? 0 : at) * stride;
  }
}

static void add_inside(const tsr_start_entry *entry, const int64_t *numbers, int64_t count,
                       int64_t *out) {
  const int64_t most = entry->size - entry->window, stride = entry->stride;
  for (int64_t i = 0; i < count; i++) {
    const bool inside = numbers[i] >= 0 && numbers[i] <= most && out[i] >= 0;
    out[i] = inside ? out[i] + numbers[i] * stride : TSR_NO_START;
  }
}

enum { BLOCK = 256 };

// Windows of one pass of the innermost dimension.
static void read_block(const tsr_index_starts *starts, const char *indices,
                       const window_place *place, int64_t count, int64_t *out) {
  const tsr_start_dim one = {1, 0, 0};
  const tsr_start_dim *inner = starts->dim_count ? &starts->dims[starts->dim_count - 1] : &one;
  int64_t numbers[BLOCK];
  for (int64_t i = 0; i < count; i++) out[i] = place->operand + i * inner->operand;
  for (int k = 0; k < starts->entry_count; k++) {
    const tsr_start_entry *entry = &starts->entries[k];
    tsr_read_indices(starts->dtype, index_at(starts, indices, place->index + entry->index),
                     inner->index, count, numbers);
    (starts->clamped ? add_clamped : add_inside)(entry, numbers, count, out);
  }
}

void tsr_index_starts_read(const tsr_index_starts *starts, const char *indices, int64_t begin,
                           int64_t count, int64_t *out) {
  for (int64_t done = 0; done < count;) {
    const window_place place = place_of(starts, begin + done);
    const int64_t now = tsr_least(tsr_least(place.left, count - done), BLOCK);
    read_block(starts, indices, &place, now, out + done);
    done += now;
  }
}

int64_t tsr_index_starts_vector(const tsr_index_starts *starts, const char *indices, int64_t at,
                                int64_t *out_vector) {
  const window_place place = place_of(starts, at);
  for (int k = 0; k < starts->entry_count; k++)
    tsr_read_indices(starts->dtype,
                     index_at(starts, indices, place.index + starts->entries[k].index), 1, 1,
                     &out_vector[k]);
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
