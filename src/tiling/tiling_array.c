// Reads the device array of XLA's text: [2,1,4] and then <=[2,4]T(1,0), or a list.
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/grow.h"
#include "tiling/tiling_text.h"

static tsr_status parse_dims(tsr_cursor *cursor, char close, int64_t least, int64_t *dims,
                             int *count) {
  *count = 0;
  do {
    if (*count == TSR_MAX_TILE_DIMS)
      return tsr_fail(TOO_LARGE, "more than %d dimensions in a device array", TSR_MAX_TILE_DIMS);
    TSR_TRY(tsr_cursor_int(cursor, &dims[*count]));
    if (dims[*count] < least || dims[*count] > INT32_MAX)
      return tsr_fail(SYNTAX, "%lld in a device array, expected %lld to %d",
                      (long long)dims[*count], (long long)least, INT32_MAX);
    ++*count;
  } while (tsr_cursor_take(cursor, ','));
  return tsr_cursor_expect(cursor, close);
}

static tsr_status count_devices(const int64_t *dims, int dim_count, int64_t *out_count) {
  int64_t count = 1;
  for (int i = 0; i < dim_count; i++)
    if (__builtin_mul_overflow(count, dims[i], &count) || count > INT32_MAX)
      return tsr_fail(TOO_LARGE, "device array of more than %d devices", INT32_MAX);
  *out_count = count;
  return NULL;
}

static tsr_status check_permutation(const int64_t *order, int order_count, int count) {
  if (order_count != count)
    return tsr_fail(SYNTAX, "T() names %d dimensions, expected %d", order_count, count);
  uint64_t seen = 0;
  for (int i = 0; i < count; i++) {
    if (order[i] >= count || (seen >> order[i] & 1))
      return tsr_fail(SYNTAX, "T() has %lld, expected each of 0 to %d once", (long long)order[i],
                      count - 1);
    seen |= UINT64_C(1) << order[i];
  }
  return NULL;
}

// After `<=`: [sizes], and T(order) when there is more than one.
tsr_status tsr_tiles_parse_iota(tsr_cursor *cursor, tsr_tiles *tiles) {
  int64_t sizes[TSR_MAX_TILE_DIMS], order[TSR_MAX_TILE_DIMS] = {0}, strides[TSR_MAX_TILE_DIMS];
  int count = 0, order_count = 1;
  TSR_TRY(tsr_cursor_expect(cursor, '['));
  TSR_TRY(parse_dims(cursor, ']', 1, sizes, &count));
  if (count > 1) {
    TSR_TRY(tsr_cursor_expect(cursor, 'T'));
    TSR_TRY(tsr_cursor_expect(cursor, '('));
    TSR_TRY(parse_dims(cursor, ')', 0, order, &order_count));
    TSR_TRY(check_permutation(order, order_count, count));
  }
  int64_t devices = 0, stride = 1;
  TSR_TRY(count_devices(sizes, count, &devices));
  if (devices != tiles->device_count)
    return tsr_fail(SYNTAX, "tiles for %lld devices, but the array counts %lld",
                    (long long)tiles->device_count, (long long)devices);
  for (int i = count; i-- > 0; stride *= sizes[i]) strides[i] = stride;
  for (int i = 0; i < count; i++)
    tsr_digits_add(&tiles->digits, sizes[order[i]], strides[order[i]]);
  return NULL;
}

// The list grows as it is read, since the text may claim any length.
static tsr_status add_device(tsr_tiles *tiles, int64_t count, int64_t *capacity, int64_t device) {
  int32_t *devices = tsr_grow(tiles->devices, count, capacity, sizeof *devices);
  if (!devices) return tsr_fail(NO_MEMORY, "list of %lld devices", (long long)count);
  tiles->devices = devices;
  tiles->devices[count] = (int32_t)device;
  return NULL;
}

static tsr_status check_distinct(const int32_t *devices, size_t count) {
  int32_t *sorted = malloc(sizeof *sorted * count);
  if (!sorted) return tsr_fail(NO_MEMORY, "list of %zu devices", count);
  memcpy(sorted, devices, sizeof *sorted * count);
  qsort(sorted, count, sizeof *sorted, tsr_compare_int32);
  tsr_status status = NULL;
  for (size_t i = 1; !status && i < count; i++)
    if (sorted[i] == sorted[i - 1])
      status = tsr_fail(DUPLICATE_DEVICE, "device %d is listed twice", sorted[i]);
  free(sorted);
  return status;
}

tsr_status tsr_tiles_parse_list(tsr_cursor *cursor, tsr_tiles *tiles) {
  int64_t count = 0, capacity = 0;
  do {
    int64_t device = 0;
    TSR_TRY(tsr_cursor_int(cursor, &device));
    if (device < 0 || device > INT32_MAX)
      return tsr_fail(SYNTAX, "device %lld, expected 0 to %d", (long long)device, INT32_MAX);
    TSR_TRY(add_device(tiles, count++, &capacity, device));
  } while (tsr_cursor_take(cursor, ','));
  if (count != tiles->device_count)
    return tsr_fail(SYNTAX, "tiles for %lld devices, but %lld are listed",
                    (long long)tiles->device_count, (long long)count);
  if (count == 1)
    return tsr_fail(SYNTAX, "a list of one device, expected {maximal device=%d}",
                    tiles->devices[0]);
  return check_distinct(tiles->devices, (size_t)count);
}

tsr_status tsr_tiles_parse_dims(tsr_cursor *cursor, tsr_tiles *tiles) {
  TSR_TRY(tsr_cursor_expect(cursor, '['));
  TSR_TRY(parse_dims(cursor, ']', 1, tiles->dims, &tiles->dim_count));
  return count_devices(tiles->dims, tiles->dim_count, &tiles->device_count);
}
