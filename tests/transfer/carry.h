// What the tests of copy plans share: buffers of every device, filled and judged element by element
// from the pieces of the layouts, and plans carried out on them.
#ifndef TESSERA_TESTS_TRANSFER_CARRY_H
#define TESSERA_TESTS_TRANSFER_CARRY_H

#include "support/layouts.h"
#include "tessera/transfer.h"

typedef struct test_copies {
  tsr_copy *items;
  int64_t count, capacity;
} test_copies;
void test_copies_add(test_copies *list, const tsr_copy *copy);
void test_copies_free(test_copies *list);
// All copies of a plan, into every position, or out of every one, by target, source and place.
void test_copies_into(const tsr_copy_plan *plan, test_copies *list);
void test_copies_out_of(const tsr_copy_plan *plan, test_copies *list);

// For each place of a position's buffer the row-major number of its element, or -1 for padding; to
// free.
int64_t *test_elements(const tsr_layout *layout, int64_t position, int64_t *out_count);

// Carries a plan out on buffers of elements `bits` wide and compares every element; demands that
// both directions give the same copies, and that as many elements move as devices lack.
void test_carry_out(const tsr_layout *from, const tsr_layout *to, int64_t tensor, int bits);

#endif
