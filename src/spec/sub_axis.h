// Parts of mesh axes, by index, as digits of a mesh position.
//
// A position is the row-major index of a device, so each part of an axis is one digit of it in a
// mixed radix: position / stride % size. A list of parts, major to minor, is then a number made of
// such digits; it says which shard a position holds.
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

tsr_digit tsr_sub_axis_digit(const tsr_mesh *mesh, const tsr_sub_axis *part);
// The part of a mesh axis that a spec names. Fails when the numbers do not divide the axis.
TSR_MUST_USE tsr_status tsr_sub_axis_bind(const tsr_mesh *mesh, int axis, const tsr_axis_ref *ref,
                                          tsr_sub_axis *out_part);
// The other way: a whole axis is named without numbers.
tsr_axis_ref tsr_sub_axis_ref(const tsr_mesh *mesh, const tsr_sub_axis *part);
// Whether `minor` continues `major`, so that the two in this order are one larger part; and that.
bool tsr_sub_axis_equal(const tsr_sub_axis *a, const tsr_sub_axis *b);
bool tsr_sub_axis_continues(const tsr_sub_axis *major, const tsr_sub_axis *minor);
tsr_sub_axis tsr_sub_axis_join(const tsr_sub_axis *major, const tsr_sub_axis *minor);
// Whether two disjoint parts of one axis are independent digits: one ends at a multiple of which
// the other starts. (Of an axis of 6, the major half and the minor half are not.)
bool tsr_sub_axis_independent(const tsr_sub_axis *a, const tsr_sub_axis *b);

#endif
