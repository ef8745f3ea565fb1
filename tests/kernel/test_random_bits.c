// Random bits against those of XLA on a CPU (jaxlib 0.10.2), and the properties of distributions.
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernel/random_bits.h"
#include "support/test.h"

// The state is {0x123456789abcdef0, 2^64 - 2, 0xfedcba9876543210}, so that counters overflow.
static const struct {
  bool philox;
  int words, bytes, rank;
  int64_t dims[2];
  uint64_t state[3];
  uint64_t elements[15];
} recorded[] = {
    // clang-format off
    {false, 2, 1, 1, {5}, {0x123456789abcdef0, 0x1}, {0x7a, 0x2c, 0xa7, 0xca, 0x3d}},
    {false, 2, 1, 2, {3, 4}, {0x123456789abcdef0, 0x4}, {0x7a, 0x2c, 0xa7, 0xca, 0x3d, 0xf9, 0xfc, 0xae, 0x86, 0x8d, 0x68, 0xa}},
    {false, 2, 1, 2, {3, 5}, {0x123456789abcdef0, 0x7}, {0x7a, 0x2c, 0xa7, 0xca, 0x3d, 0xfc, 0xae, 0x86, 0x8d, 0x68, 0x15, 0xb9, 0x2, 0x1c, 0x86}},
    {false, 2, 1, 0, {0}, {0x123456789abcdef0, 0xffffffffffffffff}, {0x7a}},
    {false, 2, 2, 1, {5}, {0x123456789abcdef0, 0x1}, {0x507a, 0xe72c, 0x7ba7, 0xaaca, 0x803d}},
    {false, 2, 2, 2, {3, 4}, {0x123456789abcdef0, 0x4}, {0x507a, 0xe72c, 0x7ba7, 0xaaca, 0x803d, 0x80f9, 0xdefc, 0xd0ae, 0x5786, 0xdd8d, 0x168, 0x850a}},
    {false, 2, 2, 2, {3, 5}, {0x123456789abcdef0, 0x7}, {0x507a, 0xe72c, 0x7ba7, 0xaaca, 0x803d, 0xdefc, 0xd0ae, 0x5786, 0xdd8d, 0x168, 0x15, 0x9cb9, 0x1b02, 0x7d1c, 0xe486}},
    {false, 2, 2, 0, {0}, {0x123456789abcdef0, 0xffffffffffffffff}, {0x507a}},
    {false, 2, 4, 1, {5}, {0x123456789abcdef0, 0x1}, {0x3c3b507a, 0x7093e72c, 0xa4317ba7, 0x21f1aaca, 0x5eff803d}},
    {false, 2, 4, 2, {3, 4}, {0x123456789abcdef0, 0x4}, {0x3c3b507a, 0x7093e72c, 0xa4317ba7, 0x21f1aaca, 0x5eff803d, 0x4ce380f9, 0x394bdefc, 0x64dfd0ae, 0x523f5786, 0x4028dd8d, 0x553d0168, 0xe364850a}},
    {false, 2, 4, 2, {3, 5}, {0x123456789abcdef0, 0x7}, {0x3c3b507a, 0x7093e72c, 0xa4317ba7, 0x21f1aaca, 0x5eff803d, 0x394bdefc, 0x64dfd0ae, 0x523f5786, 0x4028dd8d, 0x553d0168, 0x1f390015, 0xf9d09cb9, 0x81171b02, 0x41fa7d1c, 0x8393e486}},
    {false, 2, 4, 0, {0}, {0x123456789abcdef0, 0xffffffffffffffff}, {0x3c3b507a}},
    {false, 2, 8, 1, {5}, {0x123456789abcdef0, 0x3}, {0x7093e72c3c3b507a, 0x21f1aacaa4317ba7, 0x4ce380f95eff803d, 0x64dfd0ae394bdefc, 0x4028dd8d523f5786}},
    {false, 2, 8, 2, {3, 4}, {0x123456789abcdef0, 0xa}, {0x7093e72c3c3b507a, 0x21f1aacaa4317ba7, 0x4ce380f95eff803d, 0x64dfd0ae394bdefc, 0x4028dd8d523f5786, 0xe364850a553d0168, 0xf9d09cb91f390015, 0x41fa7d1c81171b02, 0x81ca82968393e486, 0x99c674f750b8a089, 0x3c1c80baa655f33a, 0x5eabc3cc892e0991}},
    {false, 2, 8, 2, {3, 5}, {0x123456789abcdef0, 0xd}, {0x7093e72c3c3b507a, 0x21f1aacaa4317ba7, 0x4ce380f95eff803d, 0x64dfd0ae394bdefc, 0x4028dd8d523f5786, 0xe364850a553d0168, 0xf9d09cb91f390015, 0x41fa7d1c81171b02, 0x81ca82968393e486, 0x99c674f750b8a089, 0x3c1c80baa655f33a, 0x5eabc3cc892e0991, 0xe7850cd6d66a7f8f, 0xbea117dc4397f4c8, 0x22eb21b19fdd824e}},
    {false, 2, 8, 0, {0}, {0x123456789abcdef0, 0xffffffffffffffff}, {0x7093e72c3c3b507a}},
    {true, 2, 1, 1, {5}, {0x123456789abcdef0, 0x0}, {0xff, 0xa1, 0xb7, 0xa7, 0x1e}},
    {true, 2, 1, 2, {3, 4}, {0x123456789abcdef0, 0x1}, {0xff, 0xa1, 0xb7, 0xa7, 0x1e, 0xc, 0xda, 0x26, 0xf3, 0x6, 0xfe, 0xfe}},
    {true, 2, 1, 2, {3, 5}, {0x123456789abcdef0, 0x2}, {0xff, 0xa1, 0xb7, 0xa7, 0x1e, 0xc, 0xda, 0x26, 0xf3, 0x6, 0xfe, 0xfe, 0x36, 0xc0, 0xe3}},
    {true, 2, 1, 0, {0}, {0x123456789abcdef0, 0xffffffffffffffff}, {0xff}},
    {true, 2, 2, 1, {5}, {0x123456789abcdef0, 0x0}, {0x56ff, 0xd4a1, 0xdbb7, 0xd7a7, 0xdf1e}},
    {true, 2, 2, 2, {3, 4}, {0x123456789abcdef0, 0x1}, {0x56ff, 0xd4a1, 0xdbb7, 0xd7a7, 0xdf1e, 0x590c, 0xe9da, 0xb26, 0x8cf3, 0xdc06, 0x31fe, 0x65fe}},
    {true, 2, 2, 2, {3, 5}, {0x123456789abcdef0, 0x2}, {0x56ff, 0xd4a1, 0xdbb7, 0xd7a7, 0xdf1e, 0x590c, 0xe9da, 0xb26, 0x8cf3, 0xdc06, 0x31fe, 0x65fe, 0x1036, 0x32c0, 0xaee3}},
    {true, 2, 2, 0, {0}, {0x123456789abcdef0, 0xffffffffffffffff}, {0x56ff}},
    {true, 2, 4, 1, {5}, {0x123456789abcdef0, 0x0}, {0xbbd856ff, 0xb795d4a1, 0x9db4dbb7, 0xb129d7a7, 0x583ddf1e}},
    {true, 2, 4, 2, {3, 4}, {0x123456789abcdef0, 0x1}, {0xbbd856ff, 0xb795d4a1, 0x9db4dbb7, 0xb129d7a7, 0x583ddf1e, 0xb3bb590c, 0xea99e9da, 0x40230b26, 0x102d8cf3, 0x2012dc06, 0xe29031fe, 0xb33c65fe}},
    {true, 2, 4, 2, {3, 5}, {0x123456789abcdef0, 0x2}, {0xbbd856ff, 0xb795d4a1, 0x9db4dbb7, 0xb129d7a7, 0x583ddf1e, 0xb3bb590c, 0xea99e9da, 0x40230b26, 0x102d8cf3, 0x2012dc06, 0xe29031fe, 0xb33c65fe, 0x99f81036, 0xaa1b32c0, 0x142aaee3}},
    {true, 2, 4, 0, {0}, {0x123456789abcdef0, 0xffffffffffffffff}, {0xbbd856ff}},
    {true, 2, 8, 1, {5}, {0x123456789abcdef0, 0x1}, {0xb795d4a1bbd856ff, 0xb129d7a79db4dbb7, 0xb3bb590c583ddf1e, 0x40230b26ea99e9da, 0x2012dc06102d8cf3}},
    {true, 2, 8, 2, {3, 4}, {0x123456789abcdef0, 0x4}, {0xb795d4a1bbd856ff, 0xb129d7a79db4dbb7, 0xb3bb590c583ddf1e, 0x40230b26ea99e9da, 0x2012dc06102d8cf3, 0xb33c65fee29031fe, 0xaa1b32c099f81036, 0x4fb082da142aaee3, 0x208b66bc7bc0295, 0xcb85b10c1835d848, 0xd3c3b1cc51921628, 0x11ccaa92779c1614}},
    {true, 2, 8, 2, {3, 5}, {0x123456789abcdef0, 0x6}, {0xb795d4a1bbd856ff, 0xb129d7a79db4dbb7, 0xb3bb590c583ddf1e, 0x40230b26ea99e9da, 0x2012dc06102d8cf3, 0xb33c65fee29031fe, 0xaa1b32c099f81036, 0x4fb082da142aaee3, 0x208b66bc7bc0295, 0xcb85b10c1835d848, 0xd3c3b1cc51921628, 0x11ccaa92779c1614, 0xf2053a7e1e1a2fb, 0xece907e9de01422d, 0xf7ac32cacff89c33}},
    {true, 2, 8, 0, {0}, {0x123456789abcdef0, 0xffffffffffffffff}, {0xb795d4a1bbd856ff}},
    {true, 3, 1, 1, {5}, {0x123456789abcdef0, 0x0, 0xfedcba9876543211}, {0x81, 0xeb, 0xb5, 0x81, 0xdc}},
    {true, 3, 1, 2, {3, 4}, {0x123456789abcdef0, 0x1, 0xfedcba9876543211}, {0x81, 0xeb, 0xb5, 0x81, 0xdc, 0x17, 0x12, 0x84, 0x79, 0x94, 0x7, 0x9f}},
    {true, 3, 1, 2, {3, 5}, {0x123456789abcdef0, 0x2, 0xfedcba9876543211}, {0x81, 0xeb, 0xb5, 0x81, 0xdc, 0x17, 0x12, 0x84, 0x79, 0x94, 0x7, 0x9f, 0xa8, 0xc7, 0x2a}},
    {true, 3, 1, 0, {0}, {0x123456789abcdef0, 0xffffffffffffffff, 0xfedcba9876543210}, {0x81}},
    {true, 3, 2, 1, {5}, {0x123456789abcdef0, 0x0, 0xfedcba9876543211}, {0x8d81, 0xbceb, 0x54b5, 0xc581, 0x1adc}},
    {true, 3, 2, 2, {3, 4}, {0x123456789abcdef0, 0x1, 0xfedcba9876543211}, {0x8d81, 0xbceb, 0x54b5, 0xc581, 0x1adc, 0x6817, 0xe112, 0x8784, 0x7779, 0xcf94, 0xca07, 0x679f}},
    {true, 3, 2, 2, {3, 5}, {0x123456789abcdef0, 0x2, 0xfedcba9876543211}, {0x8d81, 0xbceb, 0x54b5, 0xc581, 0x1adc, 0x6817, 0xe112, 0x8784, 0x7779, 0xcf94, 0xca07, 0x679f, 0x3da8, 0x7dc7, 0xbc2a}},
    {true, 3, 2, 0, {0}, {0x123456789abcdef0, 0xffffffffffffffff, 0xfedcba9876543210}, {0x8d81}},
    {true, 3, 4, 1, {5}, {0x123456789abcdef0, 0x0, 0xfedcba9876543211}, {0x26748d81, 0x969bbceb, 0x843454b5, 0xae2bc581, 0x6aa61adc}},
    {true, 3, 4, 2, {3, 4}, {0x123456789abcdef0, 0x1, 0xfedcba9876543211}, {0x26748d81, 0x969bbceb, 0x843454b5, 0xae2bc581, 0x6aa61adc, 0xce2a6817, 0x2c4e112, 0xdd5c8784, 0x9f2b7779, 0xcdddcf94, 0x4122ca07, 0x41b1679f}},
    {true, 3, 4, 2, {3, 5}, {0x123456789abcdef0, 0x2, 0xfedcba9876543211}, {0x26748d81, 0x969bbceb, 0x843454b5, 0xae2bc581, 0x6aa61adc, 0xce2a6817, 0x2c4e112, 0xdd5c8784, 0x9f2b7779, 0xcdddcf94, 0x4122ca07, 0x41b1679f, 0xbcd13da8, 0x9f487dc7, 0x839cbc2a}},
    {true, 3, 4, 0, {0}, {0x123456789abcdef0, 0xffffffffffffffff, 0xfedcba9876543210}, {0x26748d81}},
    {true, 3, 8, 1, {5}, {0x123456789abcdef0, 0x1, 0xfedcba9876543211}, {0x969bbceb26748d81, 0xae2bc581843454b5, 0xce2a68176aa61adc, 0xdd5c878402c4e112, 0xcdddcf949f2b7779}},
    {true, 3, 8, 2, {3, 4}, {0x123456789abcdef0, 0x4, 0xfedcba9876543211}, {0x969bbceb26748d81, 0xae2bc581843454b5, 0xce2a68176aa61adc, 0xdd5c878402c4e112, 0xcdddcf949f2b7779, 0x41b1679f4122ca07, 0x9f487dc7bcd13da8, 0x9361816839cbc2a, 0xb91c8f5670213fb1, 0xa538ebeae9659b25, 0x3d0087deddf088f4, 0xb1b73134d10e6622}},
    {true, 3, 8, 2, {3, 5}, {0x123456789abcdef0, 0x6, 0xfedcba9876543211}, {0x969bbceb26748d81, 0xae2bc581843454b5, 0xce2a68176aa61adc, 0xdd5c878402c4e112, 0xcdddcf949f2b7779, 0x41b1679f4122ca07, 0x9f487dc7bcd13da8, 0x9361816839cbc2a, 0xb91c8f5670213fb1, 0xa538ebeae9659b25, 0x3d0087deddf088f4, 0xb1b73134d10e6622, 0x5a3b38f7c339d541, 0xd268aad1dc636de1, 0xe0fe3609438e7a91}},
    {true, 3, 8, 0, {0}, {0x123456789abcdef0, 0xffffffffffffffff, 0xfedcba9876543210}, {0x969bbceb26748d81}},
    // clang-format on
};

static tsr_random_bits bits_of(size_t i) {
  tsr_random_bits bits = {
      .philox = recorded[i].philox,
      .state_words = recorded[i].words,
      .bytes = recorded[i].bytes,
      .mask = recorded[i].bytes < 4 ? (1u << 8 * recorded[i].bytes) - 1 : UINT32_MAX,
      .count = 1};
  for (int k = 0; k < recorded[i].rank; k++) bits.count *= recorded[i].dims[k];
  tsr_random_bits_split(&bits, recorded[i].rank, recorded[i].dims);
  return bits;
}

static void bits_and_states_are_those_of_xla(void **state) {
  (void)state;
  const uint64_t start[3] = {0x123456789abcdef0, UINT64_MAX - 1, 0xfedcba9876543210};
  for (size_t i = 0; i < COUNT_OF(recorded); i++) {
    const tsr_random_bits bits = bits_of(i);
    uint64_t next[3] = {0}, out[15] = {0};
    const char *inputs[] = {(const char *)start};
    char *outputs[] = {(char *)next, (char *)out};
    assert_ok(tsr_random_bits_run(&bits, &(tsr_kernel_call){.inputs = inputs, .outputs = outputs}));
    assert_memory_equal(next, recorded[i].state, sizeof *next * (size_t)bits.state_words);
    for (int64_t k = 0; k < bits.count; k++)
      assert_memory_equal((char *)out + k * bits.bytes, &recorded[i].elements[k],
                          (size_t)bits.bytes);
  }
}

enum { MANY = 100003 };

// Tasks and blocks: element i is the same however many elements follow it.
static void long_sequences_start_as_short_ones(void **state) {
  (void)state;
  static uint32_t many[MANY], few[MANY];
  const uint64_t start[2] = {7, 9};
  for (int philox = 0; philox < 2; philox++) {
    for (int64_t count = 1; count < MANY; count = count * 3 + 1) {
      uint64_t next[2];
      const char *inputs[] = {(const char *)start};
      tsr_random_bits bits = {
          .philox = philox, .state_words = 2, .bytes = 4, .mask = UINT32_MAX, .count = MANY};
      tsr_random_bits_split(&bits, 1, (int64_t[]){MANY});
      assert_ok(tsr_random_bits_run(
          &bits,
          &(tsr_kernel_call){.inputs = inputs, .outputs = (char *[]){(char *)next, (char *)many}}));
      bits.count = count;
      tsr_random_bits_split(&bits, 1, &count);
      assert_ok(tsr_random_bits_run(
          &bits,
          &(tsr_kernel_call){.inputs = inputs, .outputs = (char *[]){(char *)next, (char *)few}}));
      assert_memory_equal(few, many, sizeof *few * (size_t)count);
    }
  }
}

static void numbers_are_drawn(tsr_random_numbers numbers, const void *a, const void *b, void *out) {
  atomic_uint_fast64_t runs = 0;
  numbers.runs = &runs;
  const char *inputs[] = {a, b};
  char *outputs[] = {out};
  assert_ok(
      tsr_random_numbers_run(&numbers, &(tsr_kernel_call){.inputs = inputs, .outputs = outputs}));
  assert_int_equal(runs, 1);
}

static void uniform_numbers_are_within_their_bounds(void **state) {
  (void)state;
  static float floats[MANY];
  static int8_t bytes[MANY];
  const float a = -2, b = 3;
  const int8_t low = -5, high = 4;
  numbers_are_drawn((tsr_random_numbers){.dtype = TSR_F32, .count = MANY}, &a, &b, floats);
  numbers_are_drawn((tsr_random_numbers){.dtype = TSR_I8, .count = MANY}, &low, &high, bytes);
  double sum = 0;
  int counts[9] = {0};
  for (int i = 0; i < MANY; i++) {
    assert_true(floats[i] >= a && floats[i] < b);
    assert_true(bytes[i] >= low && bytes[i] < high);
    sum += floats[i];
    counts[bytes[i] - low]++;
  }
  assert_true(fabs(sum / MANY - 0.5) < 0.02);
  for (int i = 0; i < 9; i++) assert_in_range(counts[i], MANY / 9 - 700, MANY / 9 + 700);
}

static void normal_numbers_have_their_mean_and_deviation(void **state) {
  (void)state;
  static double numbers[MANY];
  const double mean = 10, deviation = 2;
  numbers_are_drawn((tsr_random_numbers){.normal = true, .dtype = TSR_F64, .count = MANY}, &mean,
                    &deviation, numbers);
  double sum = 0, squares = 0;
  for (int i = 0; i < MANY; i++) sum += numbers[i];
  for (int i = 0; i < MANY; i++) squares += (numbers[i] - mean) * (numbers[i] - mean);
  assert_true(fabs(sum / MANY - mean) < 0.03);
  assert_true(fabs(sqrt(squares / MANY) - deviation) < 0.03);
}

static void later_runs_give_other_numbers(void **state) {
  (void)state;
  atomic_uint_fast64_t runs = 0;
  const tsr_random_numbers numbers = {.dtype = TSR_F64, .count = 8, .runs = &runs};
  const double zero = 0, one = 1;
  double first[8], second[8];
  const char *inputs[] = {(const char *)&zero, (const char *)&one};
  assert_ok(tsr_random_numbers_run(
      &numbers, &(tsr_kernel_call){.inputs = inputs, .outputs = (char *[]){(char *)first}}));
  assert_ok(tsr_random_numbers_run(
      &numbers, &(tsr_kernel_call){.inputs = inputs, .outputs = (char *[]){(char *)second}}));
  assert_memory_not_equal(first, second, sizeof first);
}

SUITE(random_bits, TEST(bits_and_states_are_those_of_xla), TEST(long_sequences_start_as_short_ones),
      TEST(uniform_numbers_are_within_their_bounds),
      TEST(normal_numbers_have_their_mean_and_deviation), TEST(later_runs_give_other_numbers))
