// Arrays and trees that the tests of this room share. All of them hold the pattern.
#ifndef TESSERA_TESTS_PLACE_ARRAYS_H
#define TESSERA_TESTS_PLACE_ARRAYS_H

#include "support/models.h"
#include "support/pattern.h"
#include "support/test.h"
#include "tessera/compat/constrain.h"
#include "tessera/place.h"

tsr_comm *make_comm(int64_t devices);
// f32 on the first device alone: nobody has placed it.
tsr_array *make_unplaced(tsr_comm *comm, const tsr_shape *shape);
tsr_array *make_placed(tsr_comm *comm, const tsr_mesh *mesh, const char *text,
                       const tsr_shape *shape);
// `w` (8, 16) and `b` (16) unplaced, `h` (8, 16) in host memory, `s` a scalar there, `x` a shape
// with the spec "tp".
tsr_array_tree *make_array_tree(tsr_comm *comm);
// The array lies by this spec, and every device has its part of the pattern.
void assert_lies(const tsr_array *array, const char *expected);
// What a report says; releases it.
void assert_report(tsr_place_report *report, const char *expected);

#endif
