// Copies: fewer loops for the same elements, and every element where it belongs.
#include <string.h>

#include "element/copy_internal.h"
#include "support/test.h"
#include "tessera/engine/kernels.h"

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

// ---- any copy, held against one element at a time ----

enum { MOST_ELEMENTS = 6000 };

static void move_bit(const unsigned char *source, int64_t from, unsigned char *target, int64_t to) {
  const unsigned mask = 1U << (to % 8), bit = (unsigned)source[from / 8] >> (from % 8) & 1U;
  target[to / 8] = (unsigned char)((target[to / 8] & ~mask) | (bit ? mask : 0));
}

static void copy_slowly(const tsr_copy *copy, int64_t begin, int64_t end, int bits,
                        const unsigned char *source, unsigned char *target) {
  for (int64_t e = begin; e < end; e++) {
    int64_t rest = e / copy->length;
    int64_t from = copy->from + e % copy->length, to = copy->to + e % copy->length;
    for (int i = copy->loop_count - 1; i >= 0; i--) {
      from += rest % copy->loops[i].count * copy->loops[i].from;
      to += rest % copy->loops[i].count * copy->loops[i].to;
      rest /= copy->loops[i].count;
    }
    for (int b = 0; b < bits; b++) move_bit(source, from * bits + b, target, to * bits + b);
  }
}

// A row-major box of up to three dimensions whose order in the target is another one: so runs,
// strided elements and transposes all come up.
static tsr_copy random_copy(test_random *random) {
  static const int64_t sizes[] = {1, 2, 3, 5, 8, 16, 19, 37, 64, 70};
  int64_t dims[3];
  for (int i = 0; i < 3; i++) dims[i] = sizes[test_random_range(random, 0, 9)];
  while (dims[0] * dims[1] * dims[2] > MOST_ELEMENTS / 3) {
    const int64_t largest = test_random_range(random, 0, 2);
    dims[largest] = (dims[largest] + 1) / 2;
  }
  int order[3] = {0, 1, 2};
  for (int i = 2; i > 0; i--) {
    const int k = (int)test_random_range(random, 0, i), kept = order[i];
    order[i] = order[k];
    order[k] = kept;
  }
  int64_t from[3], to[3], in = 1, out = 1;
  for (int i = 2; i >= 0; i--) {
    from[i] = in;
    in *= dims[i] + (test_random_range(random, 0, 3) == 0);
    to[order[i]] = out;
    out *= dims[order[i]];
  }
  tsr_copy copy = {.from = test_random_range(random, 0, 9),
                   .to = test_random_range(random, 0, 9),
                   .length = 1,
                   .loop_count = 3};
  for (int i = 0; i < 3; i++) copy.loops[i] = (tsr_copy_loop){dims[i], from[i], to[i]};
  if (test_random_range(random, 0, 3)) tsr_copy_simplify(&copy);
  return copy;
}

static void any_part_of_any_copy_is_right(void **state) {
  (void)state;
  static const int widths[] = {2, 4, 6, 8, 16, 24, 32, 64, 128, 12};
  enum { BYTES = 2 * MOST_ELEMENTS * 16 };
  static _Alignas(64) unsigned char source[BYTES], target[BYTES], wanted[BYTES];
  test_random random = {7};
  for (int i = 0; i < BYTES; i++) source[i] = (unsigned char)test_random_next(&random);
  for (int round = 0; round < 600; round++) {
    const tsr_copy copy = random_copy(&random);
    const int bits = widths[round % 10];
    const int64_t elements = tsr_copy_elements(&copy);
    int64_t begin = 0, end = elements;
    if (round % 3) {
      begin = test_random_range(&random, 0, elements);
      end = test_random_range(&random, begin, elements);
    }
    memset(target, 0x5a, sizeof target);
    memset(wanted, 0x5a, sizeof wanted);
    tsr_copy_run_range(&copy, begin, end, bits, source, target,
                       round / 10 % 2 ? TSR_STORES_STREAMED : TSR_STORES_CACHED);
    copy_slowly(&copy, begin, end, bits, source, wanted);
    assert_memory_equal(target, wanted, sizeof target);
  }
}

// Makes one side of a copy contiguous in the order of the loops, from element `at` on: a message.
static void pack(tsr_copy *copy, bool target, int64_t at) {
  int64_t step = copy->length;
  *(target ? &copy->to : &copy->from) = at;
  for (int i = copy->loop_count - 1; i >= 0; i--) {
    *(target ? &copy->loops[i].to : &copy->loops[i].from) = step;
    step *= copy->loops[i].count;
  }
}

static void messages_carry_copies(void **state) {
  (void)state;
  static const int widths[] = {2, 4, 6, 8, 32};
  enum { BYTES = 2 * MOST_ELEMENTS * 4 };
  static unsigned char source[BYTES], target[BYTES], wanted[BYTES], message[BYTES];
  test_random random = {11};
  for (int i = 0; i < BYTES; i++) source[i] = (unsigned char)test_random_next(&random);
  for (int round = 0; round < 200; round++) {
    const tsr_copy copy = random_copy(&random);
    const int bits = widths[round % 5];
    const int64_t elements = tsr_copy_elements(&copy), middle = elements / 2;
    // The second half of the elements, which lie at the start of the message.
    tsr_copy packed = copy, unpacked = copy;
    pack(&packed, true, -middle);
    pack(&unpacked, false, -middle);
    memset(target, 0, sizeof target);
    memset(wanted, 0, sizeof wanted);
    tsr_copy_run_range(&packed, middle, elements, bits, source, message, TSR_STORES_CACHED);
    tsr_copy_run_range(&unpacked, middle, elements, bits, message, target, TSR_STORES_CACHED);
    copy_slowly(&copy, middle, elements, bits, source, wanted);
    assert_memory_equal(target, wanted, sizeof target);
  }
}

static void long_runs_of_bits_are_shifted_by_words(void **state) {
  (void)state;
  enum { BYTES = 400 };
  unsigned char source[BYTES], target[BYTES], wanted[BYTES];
  for (int i = 0; i < BYTES; i++) source[i] = (unsigned char)(i * 37 + 11);
  for (int from = 0; from < 8; from++) {
    for (int to = 0; to < 8; to++) {
      for (int64_t length = 0; length < 300; length += 7) {
        const tsr_copy copy = {.from = from, .to = to, .length = length};
        memset(target, 0xff, sizeof target);
        memset(wanted, 0xff, sizeof wanted);
        tsr_copy_run(&copy, 2, source, target);
        copy_slowly(&copy, 0, length, 2, source, wanted);
        assert_memory_equal(target, wanted, sizeof target);
      }
    }
  }
}

static void a_turn_of_zero_steps_repeats_the_source(void **state) {
  (void)state;
  // One row of 3 becomes each of 4 rows.
  char target[13] = "............";
  const tsr_copy copy = {.length = 3, .loop_count = 1, .loops = {{4, 0, 3}}};
  tsr_copy_run(&copy, 8, "abc", target);
  assert_string_equal(target, "abcabcabcabc");
}

SUITE(copy, TEST(loops_that_continue_are_joined), TEST(an_empty_copy_has_no_loops),
      TEST(a_box_goes_where_its_loops_say),
      TEST(elements_smaller_than_a_byte_keep_their_neighbours), TEST(any_part_of_any_copy_is_right),
      TEST(messages_carry_copies), TEST(long_runs_of_bits_are_shifted_by_words),
      TEST(a_turn_of_zero_steps_repeats_the_source))
