// Where the axes of a sharding cut the elements of a tensor.
#include "collective/axis_strides.h"

#include <math.h>
#include <stdlib.h>

static int by_stride(const void *a, const void *b) {
  const tsr_axis_stride *x = a, *y = b;
  if (x->stride != y->stride) return x->stride < y->stride ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

static bool is_near(double a, double b) { return fabs(a - b) < 1e-6; }

// Joins an axis with the minor one before it that it continues; false if it does not.
static bool join(const tsr_attr *mesh, bool uneven, tsr_axis_stride *back,
                 const tsr_axis_stride *entry) {
  if (back->axis.axis != entry->axis.axis || tsr_sdy_end(&entry->axis) != back->axis.pre)
    return false;
  const bool follows =
      uneven ? back->before == entry->before ||
                   (back->before == entry->before * entry->size && entry->axis.size == entry->size)
             : is_near(entry->stride, back->stride * (double)back->axis.size);
  if (!follows) return false;
  back->axis =
      tsr_part_of(mesh, back->axis.axis, entry->axis.pre, back->axis.size * entry->axis.size);
  if (entry->before < back->before) back->before = entry->before;
  return true;
}

static void list(const tsr_tensor_sharding *sharding, const tsr_type *type, tsr_axis_strides *out) {
  double below = 1.0;
  for (int d = type->rank - 1; d >= 0; d--) {
    const tsr_sdy_parts *axes = &sharding->dims[d].axes;
    const int64_t size = type->dims[d];
    int64_t shards = tsr_parts_size(axes), before = 1;
    const int64_t shard = size / shards + (size % shards != 0);
    double stride = below * (out->uneven ? (double)size / (double)shards : (double)shard);
    for (int k = 0; k < d; k++) before *= type->dims[k];
    for (int64_t i = axes->count; i-- > 0;) {
      shards /= axes->items[i].size;
      out->items[out->count] =
          (tsr_axis_stride){axes->items[i], stride, before * shards, size, out->count};
      out->count++;
      stride *= (double)axes->items[i].size;
    }
    below *= (double)size;
  }
}

tsr_status tsr_axis_strides_make(tsr_arena *arena, const tsr_tensor_sharding *sharding,
                                 const tsr_type *type, bool uneven, tsr_axis_strides *out_strides) {
  int64_t count = 0;
  for (int d = 0; d < sharding->rank; d++) count += sharding->dims[d].axes.count;
  tsr_axis_strides made = {tsr_arena_zeros(arena, (size_t)count + 1, sizeof *made.items), 0,
                           uneven};
  TSR_NEED(made.items);
  list(sharding, type, &made);
  if (count) qsort(made.items, (size_t)count, sizeof *made.items, by_stride);
  made.count = 0;
  for (int64_t i = 0; i < count; i++)
    if (!made.count || !join(sharding->mesh, uneven, &made.items[made.count - 1], &made.items[i]))
      made.items[made.count++] = made.items[i];
  *out_strides = made;
  return NULL;
}

bool tsr_axis_strides_equal(const tsr_axis_strides *a, const tsr_axis_strides *b) {
  if (a->count != b->count) return false;
  for (int64_t i = 0; i < a->count; i++)
    if (!tsr_sdy_same(&a->items[i].axis, &b->items[i].axis) ||
        (a->uneven ? a->items[i].before != b->items[i].before
                   : !is_near(a->items[i].stride, b->items[i].stride)))
      return false;
  return true;
}
