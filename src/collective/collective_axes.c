#include "collective/collective_axes.h"

#include <string.h>

#include "base/arithmetic.h"

// ---- lists ----

static bool reserve(tsr_axis_pool *pool, tsr_axis_list *list) {
  if (list->parts.count < list->room) return true;
  const int64_t room = list->room ? 2 * list->room : 8;
  tsr_sdy_part *items = tsr_arena_zeros(pool->arena, (size_t)room, sizeof *items);
  if (!items) {
    pool->failed = true;
    return false;
  }
  if (list->parts.count) memcpy(items, list->parts.items, sizeof *items * (size_t)list->room);
  list->parts.items = items;
  list->room = room;
  return true;
}

void tsr_axes_insert(tsr_axis_pool *pool, tsr_axis_list *list, int64_t at, tsr_sdy_part part) {
  if (!reserve(pool, list)) return;
  tsr_sdy_part *place = list->parts.items + at;
  memmove(place + 1, place, sizeof *place * (size_t)(list->parts.count - at));
  *place = part;
  list->parts.count++;
}

void tsr_axes_remove(tsr_axis_list *list, int64_t at) {
  tsr_sdy_part *place = list->parts.items + at;
  memmove(place, place + 1, sizeof *place * (size_t)(--list->parts.count - at));
}

void tsr_axes_join(tsr_axis_pool *pool, tsr_axis_list *list, tsr_sdy_part part) {
  if (reserve(pool, list)) tsr_sdy_parts_append(pool->mesh, &list->parts, part);
}

void tsr_axes_push_all(tsr_axis_pool *pool, tsr_axis_list *list, const tsr_sdy_parts *parts) {
  for (int64_t i = 0; i < parts->count; i++) tsr_axes_push(pool, list, parts->items[i]);
}

int64_t tsr_axes_find(const tsr_axis_list *list, const tsr_sdy_part *part) {
  for (int64_t i = 0; i < list->parts.count; i++)
    if (tsr_sdy_same(&list->parts.items[i], part)) return i;
  return -1;
}

void tsr_axes_take(const tsr_axis_pool *pool, tsr_axis_list *list, const tsr_sdy_parts *parts,
                   int64_t from) {
  for (int64_t i = parts->count; i-- > from && list->parts.count;) {
    const tsr_sdy_parts one = {&parts->items[i], 1};
    tsr_sdy_part *last = &list->parts.items[list->parts.count - 1], prefix = *last;
    if (tsr_part_cut(pool->mesh, &prefix, &one))
      *last = prefix;
    else
      list->parts.count--;
  }
}

// ---- alignment ----

static bool before(const tsr_sdy_part *a, const tsr_sdy_part *b) {
  if (a->axis != b->axis) return a->axis < b->axis;
  return a->pre != b->pre ? a->pre < b->pre : a->size < b->size;
}

static int64_t first_overlap(const tsr_sdy_parts *others, const tsr_sdy_part *part) {
  int64_t low = 0, high = others->count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (before(&others->items[middle], part))
      low = middle + 1;
    else
      high = middle;
  }
  if (low && tsr_sdy_overlap(part, &others->items[low - 1])) return low - 1;
  return low < others->count && tsr_sdy_overlap(part, &others->items[low]) ? low : others->count;
}

static bool must_split(const tsr_sdy_part *part, const tsr_sdy_part *other) {
  return tsr_part_can_coexist(other, part) && !tsr_part_contains(other, part) &&
         tsr_sdy_overlap(other, part);
}

// Replaces the part at `at` by what comes before `other`, what both have, and the rest; gives the
// place of the rest, which is `*part` then, or behind the last piece if nothing is left (`*part` of
// size 0).
static int64_t split(tsr_axis_pool *pool, tsr_axis_list *list, int64_t at, tsr_sdy_part *part,
                     const tsr_sdy_part *other) {
  const int64_t begin = part->pre > other->pre ? part->pre : other->pre;
  const int64_t ends[2] = {tsr_sdy_end(part), tsr_sdy_end(other)};
  const int64_t end = tsr_least(ends[0], ends[1]);
  tsr_axes_remove(list, at);
  if (part->pre < begin)
    tsr_axes_insert(pool, list, at++,
                    tsr_part_of(pool->mesh, part->axis, part->pre, begin / part->pre));
  if (!pool->failed)
    tsr_axes_insert(pool, list, at++, tsr_part_of(pool->mesh, part->axis, begin, end / begin));
  *part = tsr_part_of(pool->mesh, part->axis, end, ends[0] > end ? ends[0] / end : 0);
  if (part->size && !pool->failed) tsr_axes_insert(pool, list, at, *part);
  return at;
}

void tsr_axes_align(tsr_axis_pool *pool, tsr_axis_list *list, const tsr_sdy_parts *others) {
  for (int64_t at = 0; !pool->failed && at < list->parts.count;) {
    tsr_sdy_part part = list->parts.items[at];
    int64_t k = first_overlap(others, &part);
    while (!pool->failed && part.size && k < others->count && must_split(&part, &others->items[k]))
      at = split(pool, list, at, &part, &others->items[k++]);
    if (part.size) at++;
  }
}

// ---- capacities ----

bool tsr_axis_fit(const tsr_attr *mesh, const tsr_sdy_part *part, int64_t *capacity,
                  tsr_sdy_part *within, tsr_sdy_part *rest) {
  const int64_t size = part->size, most = *capacity;
  *rest = (tsr_sdy_part){0};
  if (most <= 1 || (size % most && most % size)) return false;
  *within = *part;
  if (most >= size) {
    *capacity = most / size;
    return true;
  }
  *within = tsr_part_of(mesh, part->axis, part->pre, most);
  *rest = tsr_part_of(mesh, part->axis, tsr_sdy_end(within), size / most);
  *capacity = 1;
  return true;
}
