// Sub-axes of a mesh, by axis index, as digits of a mesh position.
//
// A position is the row-major index of a device, so each sub-axis is one digit of it in a mixed
// radix: position / stride % size. A list of sub-axes, major to minor, is a number made of such
// digits: the shard that a position holds.
#ifndef TESSERA_SPEC_SUB_AXIS_H
#define TESSERA_SPEC_SUB_AXIS_H

#include "tessera/api.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/spec.h"
#include "tessera/status.h"

typedef struct tsr_digit {
  int64_t stride, size;
} tsr_digit;

tsr_digit tsr_sub_axis_digit(const tsr_mesh *mesh, const tsr_sub_axis *sub_axis);
// The sub-axis that a spec names. Fails if its numbers do not divide the axis.
TSR_MUST_USE tsr_status tsr_sub_axis_bind(const tsr_mesh *mesh, int axis, const tsr_axis_ref *ref,
                                          tsr_sub_axis *out_sub_axis);
// The inverse; a whole axis has no numbers.
tsr_axis_ref tsr_sub_axis_ref(const tsr_mesh *mesh, const tsr_sub_axis *sub_axis);
bool tsr_sub_axis_equal(const tsr_sub_axis *a, const tsr_sub_axis *b);
// Whether `minor` continues `major`, so that both in this order are one larger sub-axis; and that.
bool tsr_sub_axis_continues(const tsr_sub_axis *major, const tsr_sub_axis *minor);
tsr_sub_axis tsr_sub_axis_join(const tsr_sub_axis *major, const tsr_sub_axis *minor);
// Whether two disjoint sub-axes of one axis are independent digits: one starts at a multiple of the
// other's end. (In an axis of 6, (1)2 and (3)2 are not.)
bool tsr_sub_axis_independent(const tsr_sub_axis *a, const tsr_sub_axis *b);

#endif
