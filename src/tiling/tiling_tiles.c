// The arithmetic of tile assignments: digits, and XLA's normal form of subgroups.
#include "tiling/tiling.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "tiling/tiling_internal.h"
#include "tessera/status.h"

// ---- digits ----

void tsr_digits_add(tsr_digits *digits, int64_t size, int64_t stride) {
  if (size == 1) return;
  if (digits->count) {
    tsr_digit *last = &digits->at[digits->count - 1];
    if (last->stride == size * stride) {
      *last = (tsr_digit){stride, last->size * size};
      return;
    }
  }
  digits->at[digits->count++] = (tsr_digit){stride, size};
}

static int64_t device_at(const tsr_digits *digits, int64_t number) {
  int64_t device = 0;
  for (int i = digits->count; i-- > 0;) {
    device += number % digits->at[i].size * digits->at[i].stride;
    number /= digits->at[i].size;
  }
  return device;
}

int64_t tsr_tiles_device(const tsr_tiles *tiles, int64_t number) {
  return tiles->devices ? tiles->devices[number] : device_at(&tiles->digits, number);
}

// Works from the minor end, filling the output from its end, and moves the result to the front.
bool tsr_digits_split(const tsr_digits *digits, const int64_t *dims, int dim_count,
                      tsr_digits *out_digits, int *out_first) {
  tsr_digits split = {0};
  int free = TSR_MAX_DIGITS, next = digits->count;
  tsr_digit digit = {.stride = 0, .size = 1};
  for (int d = dim_count; d-- > 0;) {
    for (int64_t left = dims[d]; left > 1;) {
      if (digit.size == 1) digit = digits->at[--next];
      const int64_t size = digit.size < left ? digit.size : left;
      assert(size > 0);  // digits have sizes, and there are as many as the dimensions need
      if (left % size || digit.size % size) return false;
      split.at[--free] = (tsr_digit){digit.stride, size};
      digit = (tsr_digit){digit.stride * size, digit.size / size};
      left /= size;
    }
    out_first[d] = free;
  }
  split.count = TSR_MAX_DIGITS - free;
  memmove(split.at, split.at + free, sizeof *split.at * (size_t)split.count);
  for (int d = 0; d < dim_count; d++) out_first[d] -= free;
  out_first[dim_count] = split.count;
  *out_digits = split;
  return true;
}

bool tsr_digits_follow(const tsr_tiles *tiles, tsr_digits *out_digits, int64_t *out_number,
                       int64_t *out_wanted) {
  tsr_digit found[TSR_MAX_DIGITS];
  int count = 0;
  tsr_digits digits = {0};
  for (int64_t block = 1; block < tiles->device_count; block *= found[count++].size) {
    const int64_t blocks = tiles->device_count / block, stride = tiles->devices[block];
    int64_t size = 1;
    while (size < blocks && tiles->devices[size * block] == size * stride) size++;
    *out_number = block * size;
    *out_wanted = size * stride;
    if (blocks % size) return false;
    found[count] = (tsr_digit){stride, size};
  }
  while (count-- > 0) tsr_digits_add(&digits, found[count].size, found[count].stride);
  for (int64_t n = 0; n < tiles->device_count; n++) {
    *out_number = n;
    *out_wanted = device_at(&digits, n);
    if (*out_wanted != tiles->devices[n]) return false;
  }
  *out_digits = digits;
  return true;
}

// ---- equality ----

static bool same_array(const tsr_tiles *a, const tsr_tiles *b) {
  if (!a->devices && !b->devices)
    return a->digits.count == b->digits.count &&
           !memcmp(a->digits.at, b->digits.at, sizeof *a->digits.at * (size_t)a->digits.count);
  for (int64_t n = 0; n < a->device_count; n++)
    if (tsr_tiles_device(a, n) != tsr_tiles_device(b, n)) return false;
  return true;
}

bool tsr_tiles_equal(const tsr_tiles *a, const tsr_tiles *b) {
  return a->dim_count == b->dim_count && a->subgroup_count == b->subgroup_count &&
         !memcmp(a->dims, b->dims, sizeof *a->dims * (size_t)a->dim_count) &&
         !memcmp(a->subgroups, b->subgroups, sizeof *a->subgroups * (size_t)a->subgroup_count) &&
         same_array(a, b);
}

// ---- subgroups ----

const tsr_subgroup tsr_subgroup_order[] = {TSR_SUBGROUP_MANUAL, TSR_SUBGROUP_UNREDUCED,
                                           TSR_SUBGROUP_REPLICATED};

static const tsr_tiling_kind kind_alone[] = {
    [TSR_SUBGROUP_REPLICATED] = TSR_TILING_REPLICATED,
    [TSR_SUBGROUP_MANUAL] = TSR_TILING_MANUAL,
    [TSR_SUBGROUP_UNREDUCED] = TSR_TILING_UNREDUCED,
};

static int64_t product(const int64_t *sizes, int count) {
  int64_t result = 1;
  for (int i = 0; i < count; i++) result *= sizes[i];
  return result;
}

static bool one_kind(const tsr_tiles *tiles) {
  for (int i = 1; i < tiles->subgroup_count; i++)
    if (tiles->subgroups[i] != tiles->subgroups[0]) return false;
  return true;
}

// The dimensions in normal order, those that cut the tensor as one: old sizes other than 1, and the
// old dimension at each new position. Neighbours that stay neighbours are one dimension, so that a
// border that does not move cannot split a digit.
typedef struct regrouping {
  int count;
  int64_t sizes[TSR_MAX_TILE_DIMS + 1];
  int order[TSR_MAX_TILE_DIMS + 1];
  int merged_count;
  int64_t merged_sizes[TSR_SUBGROUP_COUNT];
  tsr_subgroup merged[TSR_SUBGROUP_COUNT];
} regrouping;

static void merge_neighbours(regrouping *to) {
  for (int i = 1; i < to->count;) {
    const int old = to->order[i];
    if (old != to->order[i - 1] + 1) {
      i++;
      continue;
    }
    to->sizes[old - 1] *= to->sizes[old];
    to->count--;
    for (int j = i; j < to->count; j++) to->order[j] = to->order[j + 1];
    for (int j = old; j < to->count; j++) to->sizes[j] = to->sizes[j + 1];
    for (int j = 0; j < to->count; j++) to->order[j] -= to->order[j] > old;
  }
}

static void regroup(const tsr_tiles *tiles, regrouping *out) {
  const int data_dims = tiles->dim_count - tiles->subgroup_count;
  *out = (regrouping){.count = 1};
  out->sizes[0] = product(tiles->dims, data_dims);
  int place[TSR_MAX_TILE_DIMS];
  for (int i = 0; i < tiles->subgroup_count; i++) {
    place[i] = out->count;
    if (tiles->dims[data_dims + i] > 1) out->sizes[out->count++] = tiles->dims[data_dims + i];
  }
  int next = 1;
  for (int k = 0; k < TSR_SUBGROUP_COUNT; k++) {
    int64_t size = 1;
    for (int i = 0; i < tiles->subgroup_count; i++) {
      if (tiles->subgroups[i] != tsr_subgroup_order[k] || tiles->dims[data_dims + i] == 1) continue;
      out->order[next++] = place[i];
      size *= tiles->dims[data_dims + i];
    }
    if (size == 1) continue;
    out->merged[out->merged_count] = tsr_subgroup_order[k];
    out->merged_sizes[out->merged_count++] = size;
  }
}

int tsr_digits_compare(const void *a, const void *b) {
  const tsr_digit *x = a, *y = b;
  return (x->stride < y->stride) - (x->stride > y->stride);
}

// Sorts the digits of replicas, so that replicas ascend. False if a digit crosses their group.
static bool sort_replicas(const tsr_digits *digits, int64_t devices, int64_t replicas,
                          tsr_digits *out) {
  tsr_digits split, merged = {0};
  int first[3];
  const int64_t dims[] = {devices / replicas, replicas};
  if (!tsr_digits_split(digits, dims, 2, &split, first)) return false;
  qsort(split.at + first[1], (size_t)(split.count - first[1]), sizeof *split.at,
        tsr_digits_compare);
  for (int i = 0; i < split.count; i++)
    tsr_digits_add(&merged, split.at[i].size, split.at[i].stride);
  *out = merged;
  return true;
}

// The digits of the regrouped array; false if it needs a list.
static bool regroup_digits(const tsr_tiles *tiles, const regrouping *to, int64_t replicas,
                           tsr_digits *out) {
  tsr_digits split, moved = {0};
  int first[TSR_MAX_TILE_DIMS + 2];
  if (!tsr_digits_split(&tiles->digits, to->sizes, to->count, &split, first)) return false;
  for (int i = 0; i < to->count; i++)
    for (int j = first[to->order[i]]; j < first[to->order[i] + 1]; j++)
      tsr_digits_add(&moved, split.at[j].size, split.at[j].stride);
  return sort_replicas(&moved, tiles->device_count, replicas, out);
}

#define MOST_LISTED (1 << 24)

tsr_status tsr_tiles_new_list(int64_t count, int32_t **out_devices) {
  if (count > MOST_LISTED)
    return tsr_fail(TOO_LARGE, "%lld devices would have to be listed, expected at most %d",
                    (long long)count, MOST_LISTED);
  int32_t *devices = malloc(sizeof *devices * (size_t)count);
  if (!devices) return tsr_fail(NO_MEMORY, "list of %lld devices", (long long)count);
  *out_devices = devices;
  return NULL;
}

// The regrouped array as a list, walked in its new order by an odometer over old strides.
static tsr_status regroup_list(const tsr_tiles *tiles, const regrouping *to, int64_t replicas,
                               int32_t **out_devices) {
  const size_t count = (size_t)tiles->device_count;
  int32_t *devices = NULL;
  TSR_TRY(tsr_tiles_new_list(tiles->device_count, &devices));
  int64_t strides[TSR_MAX_TILE_DIMS + 1], index[TSR_MAX_TILE_DIMS + 1] = {0};
  int64_t stride = 1;
  for (int i = to->count; i-- > 0; stride *= to->sizes[i]) strides[i] = stride;
  for (size_t n = 0; n < count; n++) {
    int64_t from = 0;
    for (int i = 0; i < to->count; i++) from += index[i] * strides[to->order[i]];
    devices[n] = (int32_t)tsr_tiles_device(tiles, from);
    for (int i = to->count; i-- > 0;) {
      if (++index[i] < to->sizes[to->order[i]]) break;
      index[i] = 0;
    }
  }
  for (size_t n = 0; replicas > 1 && n < count; n += (size_t)replicas)
    qsort(devices + n, (size_t)replicas, sizeof *devices, tsr_compare_int32);
  *out_devices = devices;
  return NULL;
}

static void set_subgroups(tsr_tiles *tiles, const regrouping *to) {
  const int data_dims = tiles->dim_count - tiles->subgroup_count;
  for (int i = 0; i < to->merged_count; i++) {
    tiles->dims[data_dims + i] = to->merged_sizes[i];
    tiles->subgroups[i] = to->merged[i];
  }
  tiles->subgroup_count = to->merged_count;
  tiles->dim_count = data_dims + to->merged_count;
}

tsr_status tsr_tiles_normalise(tsr_tiles *tiles, tsr_tiling_kind *out_kind) {
  *out_kind = TSR_TILING_TILED;
  if (!tiles->subgroup_count) return NULL;
  regrouping to;
  regroup(tiles, &to);
  const bool uncut = to.sizes[0] == 1;
  merge_neighbours(&to);
  if (uncut && (one_kind(tiles) || to.merged_count == 1)) {
    *out_kind = kind_alone[to.merged_count ? to.merged[0] : tiles->subgroups[0]];
    return NULL;
  }
  const int last = to.merged_count - 1;
  const bool replicated = last >= 0 && to.merged[last] == TSR_SUBGROUP_REPLICATED;
  const int64_t replicas = replicated ? to.merged_sizes[last] : 1;
  if (tiles->devices || !regroup_digits(tiles, &to, replicas, &tiles->digits)) {
    int32_t *devices = NULL;
    TSR_TRY(regroup_list(tiles, &to, replicas, &devices));
    free(tiles->devices);
    tiles->devices = devices;
  }
  set_subgroups(tiles, &to);
  return NULL;
}
