// XLA's text of a sharding: words and attributes in braces, in any order.
//
// What the text says is first collected in a draft and judged when the closing brace is reached:
// XLA's own parser takes many texts that mean nothing ({replicated manual}, repeated devices, sizes
// that do not match); those are refused here.
#include "spec/tiling.h"

#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "spec/tiling_metadata.h"

typedef struct draft {
  tsr_tiling *tiling;  // its tiles as written; the rest in final form
  bool has_kind, has_device, has_tiles, has_subgroups;
  size_t list_count, list_capacity;  // of tiling->tiles.devices
} draft;

// ---- the device array ----

static tsr_status parse_dims(tsr_scan *scan, char close, int64_t least, int64_t *dims, int *count) {
  *count = 0;
  do {
    if (*count == TSR_MAX_TILE_DIMS)
      return tsr_fail(TOO_LARGE, "more than %d dimensions in a device array", TSR_MAX_TILE_DIMS);
    TSR_TRY(tsr_scan_int(scan, &dims[*count]));
    if (dims[*count] < least || dims[*count] > INT32_MAX)
      return tsr_fail(SYNTAX, "%lld in a device array, wanted %lld to %d", (long long)dims[*count],
                      (long long)least, INT32_MAX);
    ++*count;
  } while (tsr_scan_take(scan, ','));
  return tsr_scan_expect(scan, close);
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
    return tsr_fail(SYNTAX, "T() names %d of %d dimensions", order_count, count);
  uint64_t seen = 0;
  for (int i = 0; i < count; i++) {
    if (order[i] >= count || (seen >> order[i] & 1))
      return tsr_fail(SYNTAX, "T() has %lld, wanted each of 0 to %d once", (long long)order[i],
                      count - 1);
    seen |= UINT64_C(1) << order[i];
  }
  return NULL;
}

// After `<=`: [sizes], and T(order) when there is more than one.
static tsr_status parse_iota(tsr_scan *scan, tsr_tiles *tiles) {
  int64_t sizes[TSR_MAX_TILE_DIMS], order[TSR_MAX_TILE_DIMS] = {0}, strides[TSR_MAX_TILE_DIMS];
  int count = 0, order_count = 1;
  TSR_TRY(tsr_scan_expect(scan, '['));
  TSR_TRY(parse_dims(scan, ']', 1, sizes, &count));
  if (count > 1) {
    TSR_TRY(tsr_scan_expect(scan, 'T'));
    TSR_TRY(tsr_scan_expect(scan, '('));
    TSR_TRY(parse_dims(scan, ')', 0, order, &order_count));
    TSR_TRY(check_permutation(order, order_count, count));
  }
  int64_t devices = 0, stride = 1;
  TSR_TRY(count_devices(sizes, count, &devices));
  if (devices != tiles->device_count)
    return tsr_fail(SYNTAX, "tiles for %lld devices, but %lld are counted",
                    (long long)tiles->device_count, (long long)devices);
  for (int i = count; i-- > 0; stride *= sizes[i]) strides[i] = stride;
  for (int i = 0; i < count; i++)
    tsr_digits_add(&tiles->digits, sizes[order[i]], strides[order[i]]);
  return NULL;
}

static tsr_status add_device(draft *d, int64_t device) {
  tsr_tiles *tiles = &d->tiling->tiles;
  if (d->list_count == d->list_capacity) {
    const size_t capacity = d->list_capacity ? 2 * d->list_capacity : 16;
    int32_t *devices = realloc(tiles->devices, sizeof *devices * capacity);
    if (!devices) return tsr_fail(NO_MEMORY, "list of %zu devices", capacity);
    tiles->devices = devices;
    d->list_capacity = capacity;
  }
  tiles->devices[d->list_count++] = (int32_t)device;
  return NULL;
}

static int compare_devices(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static tsr_status check_distinct(const int32_t *devices, size_t count) {
  int32_t *sorted = malloc(sizeof *sorted * count);
  if (!sorted) return tsr_fail(NO_MEMORY, "list of %zu devices", count);
  memcpy(sorted, devices, sizeof *sorted * count);
  qsort(sorted, count, sizeof *sorted, compare_devices);
  tsr_status status = NULL;
  for (size_t i = 1; !status && i < count; i++)
    if (sorted[i] == sorted[i - 1])
      status = tsr_fail(DUPLICATE_DEVICE, "device %d is listed twice", sorted[i]);
  free(sorted);
  return status;
}

static tsr_status parse_list(tsr_scan *scan, draft *d) {
  do {
    int64_t device = 0;
    TSR_TRY(tsr_scan_int(scan, &device));
    if (device < 0 || device > INT32_MAX)
      return tsr_fail(SYNTAX, "device %lld, wanted 0 to %d", (long long)device, INT32_MAX);
    TSR_TRY(add_device(d, device));
  } while (tsr_scan_take(scan, ','));
  const tsr_tiles *tiles = &d->tiling->tiles;
  if ((int64_t)d->list_count != tiles->device_count)
    return tsr_fail(SYNTAX, "tiles for %lld devices, but %zu are listed",
                    (long long)tiles->device_count, d->list_count);
  if (d->list_count == 1)
    return tsr_fail(SYNTAX, "a list of one device, wanted {maximal device=%d}", tiles->devices[0]);
  return check_distinct(tiles->devices, d->list_count);
}

static tsr_status parse_devices(tsr_scan *scan, draft *d) {
  tsr_tiles *tiles = &d->tiling->tiles;
  if (d->has_tiles) return tsr_fail(SYNTAX, "devices= is given twice");
  d->has_tiles = true;
  TSR_TRY(tsr_scan_expect(scan, '='));
  TSR_TRY(tsr_scan_expect(scan, '['));
  TSR_TRY(parse_dims(scan, ']', 1, tiles->dims, &tiles->dim_count));
  TSR_TRY(count_devices(tiles->dims, tiles->dim_count, &tiles->device_count));
  if (!tsr_scan_take(scan, '<')) return parse_list(scan, d);
  TSR_TRY(tsr_scan_expect(scan, '='));
  return parse_iota(scan, tiles);
}

// ---- subgroups ----

static tsr_status add_subgroup(draft *d, tsr_subgroup kind) {
  tsr_tiles *tiles = &d->tiling->tiles;
  if (tiles->subgroup_count == TSR_MAX_TILE_DIMS)
    return tsr_fail(TOO_LARGE, "more than %d last tile dimensions", TSR_MAX_TILE_DIMS);
  tiles->subgroups[tiles->subgroup_count++] = kind;
  return NULL;
}

static bool word_is(const char *word, size_t length, const char *name) {
  return strlen(name) == length && !memcmp(word, name, length);
}

static tsr_status parse_subgroup(tsr_scan *scan, draft *d) {
  tsr_scan_peek(scan);
  const char *at = scan->at;
  size_t length = 0;
  const char *word = tsr_scan_word(scan, &length);
  if (word_is(word, length, "replicated")) return add_subgroup(d, TSR_SUBGROUP_REPLICATED);
  if (word_is(word, length, "manual")) return add_subgroup(d, TSR_SUBGROUP_MANUAL);
  if (word_is(word, length, "unreduced")) return add_subgroup(d, TSR_SUBGROUP_UNREDUCED);
  scan->at = at;
  return tsr_scan_fail(scan, "replicated, manual or unreduced");
}

static tsr_status start_subgroups(draft *d) {
  if (d->has_subgroups) return tsr_fail(SYNTAX, "the last tile dimensions are described twice");
  d->has_subgroups = true;
  return NULL;
}

static tsr_status parse_last_replicate(tsr_scan *scan, draft *d) {
  (void)scan;
  TSR_TRY(start_subgroups(d));
  return add_subgroup(d, TSR_SUBGROUP_REPLICATED);
}

static tsr_status parse_last_dims(tsr_scan *scan, draft *d) {
  TSR_TRY(start_subgroups(d));
  TSR_TRY(tsr_scan_expect(scan, '='));
  TSR_TRY(tsr_scan_expect(scan, '{'));
  if (tsr_scan_take(scan, '}')) return NULL;
  do {
    TSR_TRY(parse_subgroup(scan, d));
  } while (tsr_scan_take(scan, ','));
  return tsr_scan_expect(scan, '}');
}

// ---- words ----

static tsr_status set_kind(draft *d, tsr_tiling_kind kind) {
  if (d->has_kind) return tsr_fail(SYNTAX, "a sharding of two kinds");
  d->has_kind = true;
  d->tiling->kind = kind;
  return NULL;
}

static tsr_status parse_replicated(tsr_scan *scan, draft *d) {
  (void)scan;
  return set_kind(d, TSR_TILING_REPLICATED);
}

static tsr_status parse_manual(tsr_scan *scan, draft *d) {
  (void)scan;
  return set_kind(d, TSR_TILING_MANUAL);
}

static tsr_status parse_unknown(tsr_scan *scan, draft *d) {
  (void)scan;
  return set_kind(d, TSR_TILING_UNKNOWN);
}

static tsr_status parse_unreduced(tsr_scan *scan, draft *d) {
  (void)scan;
  return set_kind(d, TSR_TILING_UNREDUCED);
}

static tsr_status parse_maximal(tsr_scan *scan, draft *d) {
  (void)scan;
  return set_kind(d, TSR_TILING_MAXIMAL);
}

static tsr_status parse_device(tsr_scan *scan, draft *d) {
  if (d->has_device) return tsr_fail(SYNTAX, "device= is given twice");
  d->has_device = true;
  TSR_TRY(tsr_scan_expect(scan, '='));
  return tsr_scan_int(scan, &d->tiling->device);
}

static tsr_status parse_group(tsr_scan *scan, draft *d, tsr_shard_group group) {
  if (d->tiling->group) return tsr_fail(SYNTAX, "a sharding in two shard groups");
  d->tiling->group = group;
  return tsr_scan_int(scan, &d->tiling->group_id);
}

static tsr_status parse_shard_as(tsr_scan *scan, draft *d) {
  return parse_group(scan, d, TSR_GROUP_AS);
}

static tsr_status parse_shard_like(tsr_scan *scan, draft *d) {
  return parse_group(scan, d, TSR_GROUP_LIKE);
}

static tsr_status parse_metadata(tsr_scan *scan, draft *d) {
  tsr_tiling *tiling = d->tiling;
  if (tiling->metadata_count) return tsr_fail(SYNTAX, "metadata= is given twice");
  TSR_TRY(tsr_scan_expect(scan, '='));
  return tsr_metadata_parse(scan, &tiling->memory, &tiling->metadata, &tiling->metadata_count);
}

static tsr_status refuse_mesh(tsr_scan *scan, draft *d) {
  (void)scan;
  (void)d;
  return tsr_fail(UNSUPPORTED,
                  "XLA's sharding over a named mesh is not understood, wanted devices=[...]");
}

static const struct {
  const char *name;
  tsr_status (*parse)(tsr_scan *scan, draft *d);
} words[] = {
    {"device", parse_device},
    {"devices", parse_devices},
    {"last_tile_dim_replicate", parse_last_replicate},
    {"last_tile_dims", parse_last_dims},
    {"manual", parse_manual},
    {"maximal", parse_maximal},
    {"maximal_mesh", refuse_mesh},
    {"mesh", refuse_mesh},
    {"metadata", parse_metadata},
    {"replicated", parse_replicated},
    {"shard_as", parse_shard_as},
    {"shard_like", parse_shard_like},
    {"unknown", parse_unknown},
    {"unreduced", parse_unreduced},
};

static tsr_status parse_word(tsr_scan *scan, draft *d) {
  tsr_scan_peek(scan);
  const char *at = scan->at;
  size_t length = 0;
  const char *word = tsr_scan_word(scan, &length);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (word_is(word, length, words[i].name)) return words[i].parse(scan, d);
  scan->at = at;
  return tsr_scan_fail(scan, "a word of XLA's sharding");
}

// ---- one sharding, and tuples of them ----

static tsr_status judge(draft *d) {
  tsr_tiling *tiling = d->tiling;
  tsr_tiles *tiles = &tiling->tiles;
  if (!d->has_kind && !d->has_tiles) return tsr_fail(SYNTAX, "a sharding without devices=[...]");
  if (d->has_kind && (d->has_tiles || d->has_subgroups))
    return tsr_fail(SYNTAX, "a sharding that is not tiled, yet has tiles");
  if (d->has_device != (d->has_kind && tiling->kind == TSR_TILING_MAXIMAL))
    return tsr_fail(SYNTAX, d->has_device ? "device= without maximal" : "maximal without device=");
  if (d->has_kind) return NULL;
  if (tiles->subgroup_count > tiles->dim_count)
    return tsr_fail(SYNTAX, "%d last tile dimensions of %d", tiles->subgroup_count,
                    tiles->dim_count);
  if (tiles->dim_count - tiles->subgroup_count > TSR_MAX_RANK)
    return tsr_fail(TOO_LARGE, "tiling of more than %d dimensions", TSR_MAX_RANK);
  return tsr_tiles_normalise(tiles, &tiling->kind);
}

// What stands between braces, the closing one included.
static tsr_status parse_single(tsr_scan *scan, tsr_tiling **out_tiling) {
  draft d = {0};
  TSR_TRY(tsr_tiling_new(TSR_TILING_TILED, &d.tiling));
  tsr_status status = NULL;
  while (!status && !tsr_scan_take(scan, '}')) status = parse_word(scan, &d);
  if (!status) status = judge(&d);
  if (status) {
    tsr_tiling_release(d.tiling);
    return status;
  }
  *out_tiling = d.tiling;
  return NULL;
}

static tsr_status add_element(tsr_tiling *tuple, int *capacity, tsr_tiling *element) {
  if (tuple->element_count == *capacity) {
    const int grown = *capacity ? 2 * *capacity : 4;
    tsr_tiling **elements = tsr_arena_zeros(&tuple->memory, (size_t)grown, sizeof *elements);
    if (!elements) return tsr_fail(NO_MEMORY, "tuple of %d shardings", grown);
    if (*capacity) memcpy(elements, tuple->elements, sizeof *elements * (size_t)*capacity);
    tuple->elements = elements;
    *capacity = grown;
  }
  tuple->elements[tuple->element_count++] = element;
  return NULL;
}

static tsr_status parse_elements(tsr_scan *scan, tsr_tiling *tuple) {
  int capacity = 0;
  if (tsr_scan_take(scan, '}')) return NULL;
  do {
    tsr_tiling *element = NULL;
    TSR_TRY(tsr_scan_expect(scan, '{'));
    TSR_TRY_NOTE(parse_single(scan, &element), "in element %d of the tuple", tuple->element_count);
    tsr_status status = add_element(tuple, &capacity, element);
    if (status) {
      tsr_tiling_release(element);
      return status;
    }
  } while (tsr_scan_take(scan, ','));
  return tsr_scan_expect(scan, '}');
}

static tsr_status parse_tuple(tsr_scan *scan, tsr_tiling **out_tiling) {
  tsr_tiling *tuple = NULL;
  TSR_TRY(tsr_tiling_new(TSR_TILING_TUPLE, &tuple));
  tsr_status status = parse_elements(scan, tuple);
  if (status) {
    tsr_tiling_release(tuple);
    return status;
  }
  *out_tiling = tuple;
  return NULL;
}

tsr_status tsr_tiling_parse(const char *text, tsr_tiling **out_tiling) {
  tsr_scan scan = TSR_SCAN(text);
  scan.comments = true;
  tsr_tiling *tiling = NULL;
  TSR_TRY(tsr_scan_expect(&scan, '{'));
  const char first = tsr_scan_peek(&scan);
  const bool tuple = first == '{' || first == '}';
  TSR_TRY(tuple ? parse_tuple(&scan, &tiling) : parse_single(&scan, &tiling));
  tsr_status status = tsr_scan_end(&scan);
  if (status) {
    tsr_tiling_release(tiling);
    return status;
  }
  *out_tiling = tiling;
  return NULL;
}
