// Axes of a Shardy mesh and the parts of them that shardings name.
//
// An axis of size n is seen as [m, k, n / (m * k)]; the part "x":(m)k is its middle. Names are
// resolved once, so that everything else compares numbers.
#ifndef TESSERA_VERIFY_SDY_AXES_H
#define TESSERA_VERIFY_SDY_AXES_H

#include "base/arena.h"
#include "ir/ir.h"
#include "tessera/text.h"

enum { TSR_SDY_AXES_MOST = 1024 };  // more are refused: looking up names is linear

typedef struct tsr_sdy_part {
  int axis;           // of the mesh
  bool whole;         // the full axis; then pre is 1 and size that of the axis
  int64_t pre, size;  // the product divides the size of the axis
} tsr_sdy_part;

typedef struct tsr_sdy_parts {
  tsr_sdy_part *items;
  int64_t count;
} tsr_sdy_parts;

static inline int64_t tsr_sdy_end(const tsr_sdy_part *part) { return part->pre * part->size; }
static inline bool tsr_sdy_same(const tsr_sdy_part *a, const tsr_sdy_part *b) {
  return a->axis == b->axis && a->pre == b->pre && a->size == b->size;
}
// An axis of size 1 overlaps itself too, though the numbers do not say so.
static inline bool tsr_sdy_overlap(const tsr_sdy_part *a, const tsr_sdy_part *b) {
  if (a->axis != b->axis) return false;
  return a->whole || b->whole || (a->pre < tsr_sdy_end(b) && b->pre < tsr_sdy_end(a));
}
// Whether two parts that stand side by side are one.
static inline bool tsr_sdy_can_join(const tsr_sdy_part *a, const tsr_sdy_part *b) {
  return a->axis == b->axis && !a->whole && !b->whole && tsr_sdy_end(a) == b->pre;
}

// The sizes and names of the axes of an SDY_MESH.
int64_t tsr_sdy_axis_size(const tsr_attr *mesh, int axis);
int tsr_sdy_axis_find(const tsr_attr *mesh, const tsr_attr *name);  // -1 = none
void tsr_sdy_part_print(const tsr_attr *mesh, const tsr_sdy_part *part, tsr_text *out);

// Adds the axes of an array of SDY_AXIS to `parts`, which has room for them: each must be an axis
// of the mesh, a valid part of it, and not to be joined with the one before it.
TSR_MUST_USE tsr_status tsr_sdy_parts_add(const tsr_attr *mesh, const tsr_attr *axes,
                                          tsr_sdy_parts *parts);
TSR_MUST_USE tsr_status tsr_sdy_parts_make(tsr_arena *arena, const tsr_attr *mesh,
                                           const tsr_attr *axes, tsr_sdy_parts *out_parts);
// Fails where two parts overlap. Sorts them.
TSR_MUST_USE tsr_status tsr_sdy_parts_distinct(const tsr_attr *mesh, tsr_sdy_parts *parts);
// Whether they stand in the order of the mesh.
bool tsr_sdy_parts_sorted(const tsr_sdy_parts *parts);
void tsr_sdy_parts_sort(tsr_sdy_parts *parts);
bool tsr_sdy_parts_equal(const tsr_sdy_parts *a, const tsr_sdy_parts *b);
// Appends a part, joined with the last one where that is possible. There is room for it.
void tsr_sdy_parts_append(const tsr_attr *mesh, tsr_sdy_parts *parts, tsr_sdy_part part);
// Sorts them, and joins neighbours.
void tsr_sdy_parts_join(const tsr_attr *mesh, tsr_sdy_parts *parts);
// Removes `part` from the end; false if the last part does not end with it.
bool tsr_sdy_parts_take(tsr_sdy_parts *parts, const tsr_sdy_part *part);
void tsr_sdy_parts_print(const tsr_attr *mesh, const tsr_sdy_parts *parts, tsr_text *out);

#endif
