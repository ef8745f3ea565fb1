// Boxes against a region: do they tile it, and what volume do they cover. Recursion over halves of
// the region; cover.h has the idea and its cost.
#include "layout/cover.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

// The boxes that touch the current region are a list of indices on one stack. The lists of its two
// halves are pushed above it and popped when done.
typedef struct cover {
  int rank;
  const tsr_range *boxes;
  tsr_range region[TSR_MAX_RANK];  // the current one
  int64_t *stack;
  int64_t used, capacity;
  int64_t *sides;  // scratch for medians: two for each box
} cover;

// A list on the stack. Offsets, since the stack moves when it grows.
typedef struct stack_list {
  int64_t start, count;
} stack_list;

int64_t tsr_box_volume(const tsr_range *box, int rank) {
  int64_t volume = 1;
  for (int d = 0; d < rank; d++) volume *= box[d].lo < box[d].hi ? box[d].hi - box[d].lo : 0;
  return volume;
}

// ---- equal boxes ----

typedef struct box_order {
  const tsr_range *boxes;
  size_t bytes;  // of one
} box_order;

static int compare_boxes(const box_order *order, int64_t a, int64_t b) {
  const char *bytes = (const char *)order->boxes;
  return memcmp(bytes + (size_t)a * order->bytes, bytes + (size_t)b * order->bytes, order->bytes);
}

// Puts equal boxes together, in order of index.
static int by_box(const void *left, const void *right, void *context) {
  const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  const int found = compare_boxes(context, a, b);
  return found ? found : (a > b) - (a < b);
}

tsr_status tsr_box_classes(const tsr_range *boxes, int rank, int64_t count, int64_t *out_first,
                           int64_t *out_ranks) {
  int64_t *sorted = malloc(sizeof *sorted * ((size_t)count + 1));
  if (!sorted) return tsr_fail(NO_MEMORY, "the order of %lld boxes", (long long)count);
  for (int64_t i = 0; i < count; i++) sorted[i] = i;
  box_order order = {boxes, sizeof *boxes * (size_t)rank};
  qsort_r(sorted, (size_t)count, sizeof *sorted, by_box, &order);
  for (int64_t i = 0, first = 0; i < count; i++) {
    if (compare_boxes(&order, sorted[first], sorted[i]) != 0) first = i;
    if (out_first) out_first[sorted[i]] = sorted[first];
    if (out_ranks) out_ranks[sorted[i]] = i - first;
  }
  free(sorted);
  return NULL;
}

// ---- halving ----

static const tsr_range *box_at(const cover *c, stack_list list, int64_t i) {
  return c->boxes + c->stack[list.start + i] * c->rank;
}

// The volume of a box inside the current region.
static int64_t clipped_volume(const cover *c, const tsr_range *box) {
  int64_t volume = 1;
  for (int d = 0; d < c->rank; d++) {
    const int64_t lo = box[d].lo > c->region[d].lo ? box[d].lo : c->region[d].lo;
    const int64_t hi = box[d].hi < c->region[d].hi ? box[d].hi : c->region[d].hi;
    if (lo >= hi) return 0;
    volume *= hi - lo;
  }
  return volume;
}

// Whether the boxes' volumes add up to the region's. Stops at the first excess, so it cannot
// overflow.
static bool volumes_add_up(const cover *c, stack_list list) {
  int64_t left = tsr_box_volume(c->region, c->rank);
  for (int64_t i = 0; i < list.count && left >= 0; i++)
    left -= clipped_volume(c, box_at(c, list, i));
  return left == 0;
}

static bool any_fills(const cover *c, stack_list list) {
  const int64_t volume = tsr_box_volume(c->region, c->rank);
  for (int64_t i = 0; i < list.count; i++)
    if (clipped_volume(c, box_at(c, list, i)) == volume) return true;
  return false;
}

static tsr_status push(cover *c, int64_t box) {
  int64_t *stack = tsr_grow(c->stack, c->used, &c->capacity, sizeof *stack);
  if (!stack) return tsr_fail(NO_MEMORY, "the cover of %lld boxes", (long long)c->used);
  c->stack = stack;
  c->stack[c->used++] = box;
  return NULL;
}

// Pushes the boxes of `list` that touch the current region.
static tsr_status push_touching(cover *c, stack_list list, stack_list *out_list) {
  const int64_t start = c->used;
  for (int64_t i = 0; i < list.count; i++) {
    const int64_t box = c->stack[list.start + i];
    if (clipped_volume(c, c->boxes + box * c->rank) > 0) TSR_TRY(push(c, box));
  }
  *out_list = (stack_list){start, c->used - start};
  return NULL;
}

// ---- cut planes ----

static int64_t collect_sides(cover *c, stack_list list, int dim) {
  const tsr_range region = c->region[dim];
  int64_t count = 0;
  for (int64_t i = 0; i < list.count; i++) {
    const tsr_range side = box_at(c, list, i)[dim];
    if (side.lo > region.lo && side.lo < region.hi) c->sides[count++] = side.lo;
    if (side.hi > region.lo && side.hi < region.hi) c->sides[count++] = side.hi;
  }
  return count;
}

// The median of `values` (quickselect).
static int64_t median(int64_t *values, int64_t count) {
  const int64_t middle = count / 2;
  for (int64_t lo = 0, hi = count - 1; lo < hi;) {
    const int64_t pivot = values[lo + (hi - lo) / 2];
    int64_t i = lo, j = hi;
    while (i <= j) {
      while (values[i] < pivot) i++;
      while (values[j] > pivot) j--;
      if (i > j) break;
      const int64_t swapped = values[i];
      values[i++] = values[j];
      values[j--] = swapped;
    }
    if (middle <= j)
      hi = j;
    else if (middle >= i)
      lo = i;
    else
      break;
  }
  return values[middle];
}

typedef struct plane {
  int dim;  // -1 = no box side is inside the region
  int64_t at;
} plane;

// Cuts the dimension with the most box sides inside the region, so that each cut halves their
// number.
static plane choose_plane(cover *c, stack_list list) {
  plane best = {-1, 0};
  int64_t most = 0;
  for (int d = 0; d < c->rank; d++) {
    const int64_t sides = collect_sides(c, list, d);
    if (sides > most) {
      most = sides;
      best.dim = d;
    }
  }
  if (best.dim >= 0) best.at = median(c->sides, collect_sides(c, list, best.dim));
  return best;
}

// ---- tiling ----

// The current region is not tiled: descends to a region that no box, or more than one, covers.
static tsr_status find_fault(cover *c, stack_list list, tsr_cover_fault *out_fault) {
  for (plane cut; (cut = choose_plane(c, list)).dim >= 0;) {
    const tsr_range whole = c->region[cut.dim];
    stack_list half = {0, 0};
    c->region[cut.dim].hi = cut.at;
    TSR_TRY(push_touching(c, list, &half));
    if (volumes_add_up(c, half)) {
      c->region[cut.dim] = (tsr_range){cut.at, whole.hi};
      TSR_TRY(push_touching(c, list, &half));
    }
    list = half;
  }
  memcpy(out_fault->ranges, c->region, sizeof *c->region * (size_t)c->rank);
  out_fault->times = list.count;
  return NULL;
}

static tsr_status check_tiles(cover *c, stack_list list, bool *out_tiles,
                              tsr_cover_fault *out_fault) {
  *out_tiles = volumes_add_up(c, list);
  if (!*out_tiles) return find_fault(c, list, out_fault);
  if (list.count <= 1) return NULL;
  // Volumes add up and there are several boxes, so a side is inside the region.
  const plane cut = choose_plane(c, list);
  assert(cut.dim >= 0);
  const tsr_range whole = c->region[cut.dim];
  const tsr_range halves[2] = {{whole.lo, cut.at}, {cut.at, whole.hi}};
  for (int h = 0; h < 2 && *out_tiles; h++) {
    const int64_t mark = c->used;
    stack_list half = {0, 0};
    c->region[cut.dim] = halves[h];
    TSR_TRY(push_touching(c, list, &half));
    TSR_TRY(check_tiles(c, half, out_tiles, out_fault));
    c->used = mark;
  }
  c->region[cut.dim] = whole;
  return NULL;
}

// ---- volume ----

static tsr_status add_volume(cover *c, stack_list list, int64_t *volume) {
  if (list.count == 0) return NULL;
  if (list.count == 1 || any_fills(c, list)) {
    *volume += list.count == 1 ? clipped_volume(c, box_at(c, list, 0))
                               : tsr_box_volume(c->region, c->rank);
    return NULL;
  }
  const plane cut = choose_plane(c, list);
  assert(cut.dim >= 0);  // else each box would fill the region
  const tsr_range whole = c->region[cut.dim];
  const tsr_range halves[2] = {{whole.lo, cut.at}, {cut.at, whole.hi}};
  for (int h = 0; h < 2; h++) {
    const int64_t mark = c->used;
    stack_list half = {0, 0};
    c->region[cut.dim] = halves[h];
    TSR_TRY(push_touching(c, list, &half));
    TSR_TRY(add_volume(c, half, volume));
    c->used = mark;
  }
  c->region[cut.dim] = whole;
  return NULL;
}

// ---- both ----

static void deinit(cover *c) {
  free(c->stack);
  free(c->sides);
}

// Starts with the list of boxes that touch the region.
static tsr_status init(cover *c, const tsr_range *region, int rank, const tsr_range *boxes,
                       int64_t count, stack_list *out_list) {
  *c = (cover){.rank = rank, .boxes = boxes, .capacity = 2 * count + 16};
  memcpy(c->region, region, sizeof *region * (size_t)rank);
  c->stack = malloc(sizeof *c->stack * (size_t)c->capacity);
  c->sides = malloc(sizeof *c->sides * (size_t)c->capacity);
  if (!c->stack || !c->sides)
    return tsr_fail(NO_MEMORY, "the cover of %lld boxes", (long long)count);
  for (int64_t i = 0; i < count; i++)
    if (clipped_volume(c, boxes + i * rank) > 0) c->stack[c->used++] = i;
  *out_list = (stack_list){0, c->used};
  return NULL;
}

tsr_status tsr_cover_tiles(const tsr_range *region, int rank, const tsr_range *boxes, int64_t count,
                           bool *out_tiles, tsr_cover_fault *out_fault) {
  cover c;
  stack_list all = {0, 0};
  bool tiles = false;
  tsr_status status = init(&c, region, rank, boxes, count, &all);
  if (!status) status = check_tiles(&c, all, &tiles, out_fault);
  deinit(&c);
  if (!status) *out_tiles = tiles;
  return status;
}

tsr_status tsr_cover_volume(const tsr_range *region, int rank, const tsr_range *boxes,
                            int64_t count, int64_t *out_volume) {
  cover c;
  stack_list all = {0, 0};
  int64_t volume = 0;
  tsr_status status = init(&c, region, rank, boxes, count, &all);
  if (!status) status = add_volume(&c, all, &volume);
  deinit(&c);
  if (!status) *out_volume = volume;
  return status;
}
