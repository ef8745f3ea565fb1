// What the tests of copy plans share: buffers of every device, filled and judged element by element
// from the pieces of the layouts, and plans carried out on them.
#ifndef TESSERA_TESTS_TRANSFER_CARRY_H
#define TESSERA_TESTS_TRANSFER_CARRY_H

#include "support/layouts.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/kernels.h"

typedef struct test_copies {
  tsr_copy *items;
  int64_t count, capacity;
} test_copies;
void test_copies_add(test_copies *list, const tsr_copy *copy);
void test_copies_free(test_copies *list);
void test_copies_assert_same(const test_copies *a, const test_copies *b);
// All copies of a plan, into every position, or out of every one, by target, source and place.
void test_copies_into(const tsr_copy_plan *plan, test_copies *list);
void test_copies_out_of(const tsr_copy_plan *plan, test_copies *list);

// A layout seen element by element: for each place of every position's buffer the row-major number
// of the element there, or -1 for padding.
typedef struct test_image {
  tsr_layout *layout;  // owned
  int64_t **elements;  // by position
  int64_t *counts;
} test_image;
void test_image_init(test_image *image, tsr_layout *layout);  // takes the layout over
void test_image_deinit(test_image *image);

// Carries a plan out on buffers that hold the numbers of their elements and compares every one;
// demands that both directions give the same copies, that the certificate is what they add up to,
// that as many elements move as devices lack, and that the check agrees.
void test_carry_out(const test_image *from, const test_image *to, int64_t tensor);
// Only the result, with elements of so many bits.
void test_carry_bits(const test_image *from, const test_image *to, int bits);

#endif
