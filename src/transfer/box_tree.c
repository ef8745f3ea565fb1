// A binary tree over boxes in one array: node n has children 2n + 1 and 2n + 2, leaves hold up to 8
// boxes (box_tree.h).
#include "transfer/box_tree.h"

#include <stdlib.h>

enum { LEAF = 8 };

struct tsr_box_tree {
  const tsr_range *boxes;
  int rank;
  int64_t count;     // of those that are not empty
  int64_t *order;    // their indices; a node is a stretch of them
  tsr_range *hulls;  // `rank` for each node; the halves of node n are 2n + 1 and 2n + 2
};

static bool is_empty(const tsr_range *box, int rank) {
  for (int d = 0; d < rank; d++)
    if (box[d].lo >= box[d].hi) return true;
  return false;
}

static bool meets(const tsr_range *a, const tsr_range *b, int rank) {
  for (int d = 0; d < rank; d++)
    if (a[d].hi <= b[d].lo || b[d].hi <= a[d].lo) return false;
  return true;
}

static size_t node_count(int64_t count) {
  size_t nodes = 1;
  for (int64_t left = count; left > LEAF; left = (left + 1) / 2) nodes = 2 * nodes + 1;
  return nodes;
}

typedef struct by_middle {
  const tsr_range *boxes;
  int rank, dim;
} by_middle;

static int compare_middles(const void *left, const void *right, void *context) {
  const by_middle *by = context;
  const int64_t i = *(const int64_t *)left, j = *(const int64_t *)right;
  const tsr_range a = by->boxes[i * by->rank + by->dim], b = by->boxes[j * by->rank + by->dim];
  const int64_t x = a.lo / 2 + a.hi / 2, y = b.lo / 2 + b.hi / 2;
  return x != y ? (x > y) - (x < y) : (i > j) - (i < j);
}

static void find_hull(const tsr_box_tree *tree, int64_t first, int64_t end, tsr_range *hull) {
  for (int64_t i = first; i < end; i++) {
    const tsr_range *box = tree->boxes + tree->order[i] * tree->rank;
    for (int d = 0; d < tree->rank; d++) {
      if (i == first || box[d].lo < hull[d].lo) hull[d].lo = box[d].lo;
      if (i == first || box[d].hi > hull[d].hi) hull[d].hi = box[d].hi;
    }
  }
}

// The distance between the lowest and the highest middle of a node's boxes.
static int64_t spread(const tsr_box_tree *tree, int64_t first, int64_t end, int dim) {
  int64_t low = INT64_MAX, high = 0;
  for (int64_t i = first; i < end; i++) {
    const tsr_range range = tree->boxes[tree->order[i] * tree->rank + dim];
    const int64_t middle = range.lo / 2 + range.hi / 2;
    if (middle < low) low = middle;
    if (middle > high) high = middle;
  }
  return high - low;
}

static void build(tsr_box_tree *tree, size_t node, int64_t first, int64_t end) {
  find_hull(tree, first, end, tree->hulls + node * (size_t)tree->rank);
  if (end - first <= LEAF) return;
  by_middle by = {tree->boxes, tree->rank, 0};
  int64_t widest = -1;
  for (int d = 0; d < tree->rank; d++) {
    const int64_t found = spread(tree, first, end, d);
    if (found > widest) by.dim = d, widest = found;
  }
  if (tree->rank > 0)
    qsort_r(tree->order + first, (size_t)(end - first), sizeof *tree->order, compare_middles, &by);
  const int64_t middle = first + (end - first + 1) / 2;
  build(tree, 2 * node + 1, first, middle);
  build(tree, 2 * node + 2, middle, end);
}

tsr_status tsr_box_tree_create(const tsr_range *boxes, int rank, int64_t count,
                               tsr_box_tree **out_tree) {
  int64_t kept = 0;
  for (int64_t i = 0; i < count; i++) kept += !is_empty(boxes + i * rank, rank);
  const size_t hulls = sizeof(tsr_range) * node_count(kept) * (size_t)rank;
  tsr_box_tree *tree = malloc(sizeof *tree + hulls + sizeof(int64_t) * (size_t)kept);
  if (!tree) return tsr_fail(NO_MEMORY, "an index of %lld boxes", (long long)kept);
  tsr_range *first_hull = (tsr_range *)(tree + 1);
  *tree = (tsr_box_tree){.boxes = boxes,
                         .rank = rank,
                         .hulls = first_hull,
                         .order = (int64_t *)((char *)first_hull + hulls)};
  for (int64_t i = 0; i < count; i++)
    if (!is_empty(boxes + i * rank, rank)) tree->order[tree->count++] = i;
  if (tree->count > 0) build(tree, 0, 0, tree->count);
  *out_tree = tree;
  return NULL;
}

void tsr_box_tree_destroy(tsr_box_tree *tree) { free(tree); }

typedef struct tree_search {
  const tsr_box_tree *tree;
  const tsr_range *box;
  tsr_status (*found)(void *context, int64_t index);
  void *context;
} tree_search;

static tsr_status descend(const tree_search *s, size_t node, int64_t first, int64_t end) {
  const tsr_box_tree *tree = s->tree;
  if (!meets(tree->hulls + node * (size_t)tree->rank, s->box, tree->rank)) return NULL;
  if (end - first > LEAF) {
    const int64_t middle = first + (end - first + 1) / 2;
    TSR_TRY(descend(s, 2 * node + 1, first, middle));
    return descend(s, 2 * node + 2, middle, end);
  }
  for (int64_t i = first; i < end; i++)
    if (meets(tree->boxes + tree->order[i] * tree->rank, s->box, tree->rank))
      TSR_TRY(s->found(s->context, tree->order[i]));
  return NULL;
}

tsr_status tsr_box_tree_find(const tsr_box_tree *tree, const tsr_range *box,
                             tsr_status (*found)(void *context, int64_t index), void *context) {
  const tree_search s = {tree, box, found, context};
  if (tree->count == 0 || is_empty(box, tree->rank)) return NULL;
  return descend(&s, 0, 0, tree->count);
}
