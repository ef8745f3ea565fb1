// Copies: fewer loops for the same elements, and every element where it belongs.
#include "tessera/copy.h"

#include <string.h>

#include "support/test.h"

static void loops_that_continue_are_joined(void **state) {
  (void)state;
  // 4 rows of 8, dense on both sides, are one run.
  tsr_copy copy = {.length = 8, .loop_count = 2, .loops = {{1, 99, 7}, {4, 8, 8}}};
  tsr_copy_simplify(&copy);
  assert_int_equal(copy.loop_count, 0);
  assert_int_equal(copy.length, 32);
  // Two loops with gaps inside, where the outer goes on where the inner ends.
  copy = (tsr_copy){.length = 2, .loop_count = 2, .loops = {{3, 20, 40}, {5, 4, 8}}};
  tsr_copy_simplify(&copy);
  assert_int_equal(copy.loop_count, 1);
  assert_int_equal(copy.loops[0].count, 15);
  assert_int_equal(tsr_copy_elements(&copy), 30);
}

static void an_empty_copy_has_no_loops(void **state) {
  (void)state;
  tsr_copy copy = {.length = 2, .loop_count = 1, .loops = {{0, 1, 1}}};
  tsr_copy_simplify(&copy);
  assert_int_equal(copy.length, 0);
  assert_int_equal(copy.loop_count, 0);
}

static void a_box_goes_where_its_loops_say(void **state) {
  (void)state;
  // Rows 1 and 2, columns 1 to 3 of 3 x 4, into a dense 2 x 3.
  const char source[] = "abcdefghijkl";
  char target[7] = "......";
  const tsr_copy copy = {.from = 5, .to = 0, .length = 3, .loop_count = 1, .loops = {{2, 4, 3}}};
  tsr_copy_run(&copy, 8, source, target);
  assert_string_equal(target, "fghjkl");
}

static void elements_smaller_than_a_byte_keep_their_neighbours(void **state) {
  (void)state;
  // Nibbles 1, 2, 3 of the source to places 2, 3, 4 of the target.
  const unsigned char source[] = {0x21, 0x43};
  unsigned char target[] = {0xff, 0xff, 0xff};
  const tsr_copy copy = {.from = 1, .to = 2, .length = 3};
  tsr_copy_run(&copy, 4, source, target);
  assert_memory_equal(target, ((unsigned char[]){0xff, 0x32, 0xf4}), 3);
}

SUITE(copy, TEST(loops_that_continue_are_joined), TEST(an_empty_copy_has_no_loops),
      TEST(a_box_goes_where_its_loops_say),
      TEST(elements_smaller_than_a_byte_keep_their_neighbours))
