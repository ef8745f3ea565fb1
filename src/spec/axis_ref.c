// Axis references compared by name and range, without a mesh.
#include "spec/axis_ref.h"

#include <string.h>

bool tsr_axis_ref_equal(const tsr_axis_ref *a, const tsr_axis_ref *b) {
  const bool same_part = a->size == b->size && (a->size == 0 || a->pre == b->pre);
  return same_part && !strcmp(a->name, b->name);
}

bool tsr_axis_ref_overlaps(const tsr_axis_ref *a, const tsr_axis_ref *b) {
  if (strcmp(a->name, b->name) != 0 || a->size == 1 || b->size == 1) return false;
  if (tsr_axis_ref_is_whole(a) || tsr_axis_ref_is_whole(b)) return true;
  // A sub-axis covers the factors from `pre` to `pre * size`: intervals on a multiplicative scale.
  return a->pre < b->pre * b->size && b->pre < a->pre * a->size;
}
