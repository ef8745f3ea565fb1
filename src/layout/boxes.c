// Layouts given as boxes or flat ranges, made by others (torch DCP, ZeRO). Boxes are checked here
// to be inside the tensor; tsr_layout_check proves that they tile it.
//
// Several shards may hold the same box; the lowest of them owns it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "element/shape_internal.h"
#include "layout/cover.h"
#include "layout/layout.h"
#include "layout/layout_internal.h"
#include "tessera/engine/layout.h"

// A shard owns a box if no lower shard has an equal one.
static tsr_status mark_owned(const tsr_range *ranges, int rank, int64_t count, bool *out_owned) {
  int64_t *lower = malloc(sizeof *lower * (size_t)(count > 0 ? count : 1));
  if (!lower) return tsr_fail(NO_MEMORY, "the owners of %lld boxes", (long long)count);
  tsr_status status = tsr_box_classes(ranges, rank, count, NULL, lower);
  for (int64_t i = 0; i < count && !status; i++) out_owned[i] = lower[i] == 0;
  free(lower);
  return status;
}

static size_t words(int64_t count, size_t size) { return (size_t)count * size; }

static tsr_status alloc_table(int64_t shard_count, int64_t box_count, int rank, bool flat,
                              tsr_box_table **out_table) {
  const size_t ranges = words(box_count * rank, sizeof(tsr_range));
  const size_t first = flat ? 0 : words(shard_count + 1, sizeof(int64_t));
  const size_t offsets = flat ? 0 : words(box_count, sizeof(int64_t));
  tsr_box_table *made =
      malloc(sizeof *made + ranges + first + offsets + words(box_count, sizeof(bool)));
  if (!made) return tsr_fail(NO_MEMORY, "a layout of %lld boxes", (long long)box_count);
  char *end = (char *)(made + 1);
  *made = (tsr_box_table){.shard_count = shard_count,
                          .ranges = (tsr_range *)end,
                          .first = flat ? NULL : (int64_t *)(end + ranges),
                          .offsets = flat ? NULL : (int64_t *)(end + ranges + first),
                          .owned = (bool *)(end + ranges + first + offsets)};
  *out_table = made;
  return NULL;
}

static tsr_status check_shards(const tsr_mesh *mesh, int64_t shard_count) {
  if (shard_count < 1)
    return tsr_fail(BAD_ARGUMENT, "%lld shards, wanted 1 or more", (long long)shard_count);
  if (mesh && tsr_mesh_device_count(mesh) % shard_count != 0)
    return tsr_fail(BAD_ARGUMENT, "%lld shards do not divide the mesh's %lld devices",
                    (long long)shard_count, (long long)tsr_mesh_device_count(mesh));
  return NULL;
}

static tsr_status check_range(tsr_range range, int64_t size, const char *what, int64_t shard) {
  if (range.lo >= 0 && range.lo <= range.hi && range.hi <= size) return NULL;
  return tsr_fail(BROKEN_LAYOUT, "shard %lld: range %lld-%lld is not inside %s of size %lld",
                  (long long)shard, (long long)range.lo, (long long)range.hi, what,
                  (long long)size);
}

static tsr_status count_boxes(int64_t shard_count, const int64_t *box_counts, int64_t *out_count) {
  int64_t count = 0;
  for (int64_t s = 0; s < shard_count; s++) {
    if (box_counts[s] < 0)
      return tsr_fail(BAD_ARGUMENT, "shard %lld has %lld boxes, wanted 0 or more", (long long)s,
                      (long long)box_counts[s]);
    if (__builtin_add_overflow(count, box_counts[s], &count)) count = INT64_MAX;
  }
  TSR_TRY(tsr_layout_check_listed(count, "boxes"));
  *out_count = count;
  return NULL;
}

// Checks the boxes of a shard and sets their offsets.
static tsr_status place_boxes(const tsr_shape *shape, int64_t shard, const tsr_box_table *t) {
  int64_t offset = 0;
  for (int64_t box = t->first[shard]; box < t->first[shard + 1]; box++) {
    const tsr_range *ranges = t->ranges + box * shape->rank;
    for (int d = 0; d < shape->rank; d++) {
      char what[32];
      snprintf(what, sizeof what, "dimension %d", d);
      TSR_TRY(check_range(ranges[d], shape->dims[d], what, shard));
    }
    t->offsets[box] = offset;
    const int64_t volume = tsr_box_volume(ranges, shape->rank);
    if (__builtin_add_overflow(offset, volume, &offset) || offset > INT64_C(1) << 62)
      return tsr_fail(TOO_LARGE, "shard %lld has more than 2^62 elements", (long long)shard);
  }
  return NULL;
}

static tsr_status fill_boxes(const tsr_shape *shape, const int64_t *box_counts,
                             const tsr_range *boxes, int64_t box_count, tsr_box_table *t) {
  const size_t bytes = words(box_count * shape->rank, sizeof *boxes);
  if (bytes > 0) memcpy(t->ranges, boxes, bytes);
  t->first[0] = 0;
  for (int64_t s = 0; s < t->shard_count; s++) {
    t->first[s + 1] = t->first[s] + box_counts[s];
    TSR_TRY(place_boxes(shape, s, t));
  }
  return mark_owned(t->ranges, shape->rank, box_count, t->owned);
}

static tsr_status fill_flat(const tsr_shape *shape, const tsr_range *ranges, tsr_box_table *t) {
  int64_t elements = 0;
  TSR_TRY(tsr_shape_count(shape, &elements));
  for (int64_t s = 0; s < t->shard_count; s++) {
    TSR_TRY(check_range(ranges[s], elements, "the flat tensor", s));
    t->ranges[s] = ranges[s];
  }
  return mark_owned(t->ranges, 1, t->shard_count, t->owned);
}

// Takes ownership of the table, also on failure.
static tsr_status finish(const tsr_mesh *mesh, const tsr_shape *shape, tsr_layout_kind kind,
                         tsr_box_table *table, tsr_layout **out_layout) {
  tsr_layout *layout = tsr_layout_alloc(shape, kind);
  if (!layout) {
    free(table);
    return tsr_fail(NO_MEMORY, "a layout of rank %d", shape->rank);
  }
  layout->policy = TSR_POLICY_UNEVEN;
  layout->mesh = mesh ? tsr_mesh_retain(mesh) : NULL;
  layout->table = table;
  *out_layout = layout;
  return NULL;
}

tsr_status tsr_layout_from_boxes(const tsr_mesh *mesh, const tsr_shape *shape, int64_t shard_count,
                                 const int64_t *box_counts, const tsr_range *boxes,
                                 tsr_layout **out_layout) {
  TSR_TRY(tsr_shape_check(shape));
  TSR_TRY(check_shards(mesh, shard_count));
  int64_t box_count = 0;
  TSR_TRY(count_boxes(shard_count, box_counts, &box_count));
  TSR_TRY(tsr_list_check(boxes, box_count * shape->rank, "ranges"));
  tsr_box_table *table = NULL;
  TSR_TRY(alloc_table(shard_count, box_count, shape->rank, false, &table));
  tsr_status status = fill_boxes(shape, box_counts, boxes, box_count, table);
  if (!status) return finish(mesh, shape, TSR_LAYOUT_BOXES, table, out_layout);
  free(table);
  return status;
}

tsr_status tsr_layout_from_flat(const tsr_mesh *mesh, const tsr_shape *shape, int64_t shard_count,
                                const tsr_range *ranges, tsr_layout **out_layout) {
  TSR_TRY(tsr_shape_check(shape));
  TSR_TRY(check_shards(mesh, shard_count));
  tsr_box_table *table = NULL;
  TSR_TRY(alloc_table(shard_count, shard_count, 1, true, &table));
  tsr_status status = fill_flat(shape, ranges, table);
  if (!status) return finish(mesh, shape, TSR_LAYOUT_FLAT, table, out_layout);
  free(table);
  return status;
}

// ---- flat ranges as boxes ----

// Grows the box from the inside out: over whole slices while `*at` starts one and enough elements
// remain to fill it.
bool tsr_flat_next(const tsr_layout *layout, int64_t *at, int64_t end, tsr_range *out_box) {
  if (*at >= end) return false;
  int dim = layout->rank - 1;  // the box has a range of it; later ones are whole
  int64_t slice = 1;           // elements of one step along it
  while (dim > 0 && *at % (slice * layout->dims[dim]) == 0 &&
         end - *at >= slice * layout->dims[dim])
    slice *= layout->dims[dim--];
  int64_t rest = *at / slice, taken = slice;
  for (int d = layout->rank - 1; d >= 0; d--) {
    const int64_t size = layout->dims[d];
    out_box[d] = (tsr_range){0, size};
    if (d > dim) continue;
    const int64_t lo = rest % size;
    int64_t count = 1;
    if (d == dim) count = (end - *at) / slice < size - lo ? (end - *at) / slice : size - lo;
    out_box[d] = (tsr_range){lo, lo + count};
    taken *= count;
    rest /= size;
  }
  *at += taken;
  return true;
}
