// Every type and operation, held against a slow reference that pairs neighbours round by round.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comm/reduce_kernels.h"
#include "element/convert_elements.h"
#include "element/reduction.h"
#include "support/test.h"
#include "tessera/dtype.h"
#include "tessera/engine/reduce.h"

enum { MOST_MEMBERS = 19, COUNT = 37, ROOM = 2048 };

// ---- the reference ----

typedef union wide {
  float f32;
  double f64;
  float c64[2];
  double c128[2];
  uint8_t u8;
  int8_t i8;
  uint16_t u16;
  int16_t i16;
  uint32_t u32;
  int32_t i32;
  uint64_t u64;
  int64_t i64;
} wide;

static double min_or_max(tsr_reduction op, double a, double b) {
  if (isnan(a) || isnan(b)) return (double)NAN;
  if (a == b) return (op == TSR_REDUCE_MIN) == (signbit(a) != 0) ? a : b;
  return (op == TSR_REDUCE_MIN) == (a < b) ? a : b;
}

static double real_of(tsr_reduction op, double a, double b) {
  return op == TSR_REDUCE_SUM ? a + b : op == TSR_REDUCE_PRODUCT ? a * b : min_or_max(op, a, b);
}

// A sum or product of two f32 is rounded right when it is rounded to f64 first.
static float real_f32(tsr_reduction op, float a, float b) { return (float)real_of(op, a, b); }

#define INTEGERS(member, type)                                                  \
  (op == TSR_REDUCE_SUM       ? (type)((uint64_t)a.member + (uint64_t)b.member) \
   : op == TSR_REDUCE_PRODUCT ? (type)((uint64_t)a.member * (uint64_t)b.member) \
   : op == TSR_REDUCE_MIN     ? (a.member < b.member ? a.member : b.member)     \
   : op == TSR_REDUCE_MAX     ? (a.member > b.member ? a.member : b.member)     \
   : op == TSR_REDUCE_AND     ? (type)(a.member & b.member)                     \
                              : (type)(a.member | b.member))

static wide combine_integers(tsr_dtype dtype, tsr_reduction op, wide a, wide b) {
  wide out = {0};
  if (dtype == TSR_I8) out.i8 = INTEGERS(i8, int8_t);
  if (dtype == TSR_I16) out.i16 = INTEGERS(i16, int16_t);
  if (dtype == TSR_I32) out.i32 = INTEGERS(i32, int32_t);
  if (dtype == TSR_I64) out.i64 = INTEGERS(i64, int64_t);
  if (dtype == TSR_U8) out.u8 = INTEGERS(u8, uint8_t);
  if (dtype == TSR_U16) out.u16 = INTEGERS(u16, uint16_t);
  if (dtype == TSR_U32) out.u32 = INTEGERS(u32, uint32_t);
  if (dtype == TSR_U64) out.u64 = INTEGERS(u64, uint64_t);
  return out;
}

static wide combine_complex(tsr_dtype dtype, tsr_reduction op, wide a, wide b) {
  wide out = {0};
  const bool product = op == TSR_REDUCE_PRODUCT;
  if (dtype == TSR_C64) {
    const float *x = a.c64, *y = b.c64;
    out.c64[0] = product ? real_f32(TSR_REDUCE_SUM, x[0] * y[0], -(x[1] * y[1])) : x[0] + y[0];
    out.c64[1] = product ? real_f32(TSR_REDUCE_SUM, x[0] * y[1], x[1] * y[0]) : x[1] + y[1];
  } else {
    const double *x = a.c128, *y = b.c128;
    out.c128[0] = product ? x[0] * y[0] - x[1] * y[1] : x[0] + y[0];
    out.c128[1] = product ? x[0] * y[1] + x[1] * y[0] : x[1] + y[1];
  }
  return out;
}

static wide combine(tsr_dtype dtype, tsr_reduction op, wide a, wide b) {
  if (dtype == TSR_BOOL) {
    const bool either = op == TSR_REDUCE_SUM || op == TSR_REDUCE_MAX || op == TSR_REDUCE_OR;
    return (wide){.u8 = either ? a.u8 || b.u8 : a.u8 && b.u8};
  }
  if (dtype == TSR_F32) return (wide){.f32 = real_f32(op, a.f32, b.f32)};
  if (dtype == TSR_F64) return (wide){.f64 = real_of(op, a.f64, b.f64)};
  if (dtype == TSR_C64 || dtype == TSR_C128) return combine_complex(dtype, op, a, b);
  return combine_integers(dtype, op, a, b);
}

// Rounds of neighbours; who is left over at the end waits.
static wide pair_up(tsr_dtype dtype, tsr_reduction op, wide *values, int64_t count) {
  while (count > 1) {
    int64_t kept = 0;
    for (int64_t i = 0; i + 1 < count; i += 2)
      values[kept++] = combine(dtype, op, values[i], values[i + 1]);
    if (count % 2) values[kept++] = values[count - 1];
    count = kept;
  }
  return values[0];
}

static void reference(const tsr_reducer *r, const void *const *in, int64_t from, int64_t count,
                      void *out, int64_t to) {
  const tsr_dtype dtype = tsr_reduce_partial_dtype(r->dtype);
  for (int64_t i = 0; i < count; i++) {
    wide values[MOST_MEMBERS] = {0};
    for (int64_t k = 0; k < r->members; k++)
      tsr_convert_run(r->dtype, in[k], from + i, dtype, &values[k], 0, 1);
    const wide value = pair_up(dtype, r->op, values, r->members);
    tsr_convert_run(dtype, &value, 0, r->dtype, out, to + i, 1);
  }
}

// ---- inputs ----

typedef struct inputs {
  unsigned char bytes[MOST_MEMBERS][ROOM];
  const void *in[MOST_MEMBERS];
} inputs;

// Small fractions, so that sums stay finite in most types and are rounded in some; any integers.
static void fill(inputs *set, tsr_dtype dtype, test_random *random) {
  const tsr_dtype part = dtype == TSR_C64 ? TSR_F32 : dtype == TSR_C128 ? TSR_F64 : dtype;
  const tsr_dtype_class kind = tsr_dtype_info_of(part)->kind;
  memset(set->bytes, 0, sizeof set->bytes);
  for (int k = 0; k < MOST_MEMBERS; k++) {
    unsigned char *bytes = set->bytes[k] + 1;  // at an odd address
    set->in[k] = bytes;
    for (int i = 0; i < 3 * COUNT; i++) {
      const double value = (double)test_random_range(random, -4000, 4000) / 1024;
      int64_t integer = (int64_t)test_random_next(random);
      if (kind == TSR_CLASS_BOOL) integer = integer % 16 != 0;
      if (kind == TSR_CLASS_FLOAT)
        tsr_convert_run(TSR_F64, &value, 0, part, bytes, i, 1);
      else
        tsr_convert_run(TSR_I64, &integer, 0, dtype, bytes, i, 1);
    }
  }
}

// ---- tests ----

static void results_follow_the_tree_in_every_type(void **state) {
  (void)state;
  static inputs set;
  test_random random = {1};
  for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
    fill(&set, (tsr_dtype)d, &random);
    for (int op = 0; op < TSR_REDUCTION_COUNT; op++)
      for (int64_t members = 1; members <= MOST_MEMBERS; members++) {
        const tsr_reducer r = {(tsr_dtype)d, (tsr_reduction)op, members};
        if (!tsr_reduction_allows(r.op, r.dtype)) continue;
        unsigned char wanted[ROOM], found[ROOM];
        memset(wanted, 0xa5, ROOM);
        memset(found, 0xa5, ROOM);
        reference(&r, set.in, 3, COUNT, wanted, 5);
        tsr_reduce(&r, set.in, 3, COUNT, found, 5);
        assert_memory_equal(wanted, found, ROOM);
      }
  }
}

static void blocks_join_without_a_seam(void **state) {
  (void)state;
  enum { LONG = 5000 };
  static float a[LONG], b[LONG], c[LONG], out[LONG];
  for (int i = 0; i < LONG; i++) {
    a[i] = (float)i;
    b[i] = 0.5f;
    c[i] = (float)-i;
  }
  const void *const in[] = {a, b, c};
  const tsr_reducer r = {TSR_F32, TSR_REDUCE_SUM, 3};
  tsr_reduce(&r, in, 0, LONG, out, 0);
  for (int i = 0; i < LONG; i++) assert_true(out[i] == 0.5f);
}

static void the_output_may_be_an_input(void **state) {
  (void)state;
  static inputs set, spoilt;
  test_random random = {2};
  const tsr_dtype types[] = {TSR_F32, TSR_BF16, TSR_I4, TSR_U8};
  for (size_t t = 0; t < COUNT_OF(types); t++) {
    fill(&set, types[t], &random);
    for (int64_t members = 1; members <= MOST_MEMBERS; members++)
      for (int64_t k = 0; k < members; k += 5) {
        const tsr_reducer r = {types[t], TSR_REDUCE_SUM, members};
        unsigned char wanted[ROOM];
        memcpy(wanted, set.bytes[k], ROOM);
        reference(&r, set.in, 2, COUNT, wanted + 1, 2);
        memcpy(spoilt.bytes, set.bytes, sizeof set.bytes);
        for (int i = 0; i < MOST_MEMBERS; i++) spoilt.in[i] = spoilt.bytes[i] + 1;
        tsr_reduce(&r, spoilt.in, 2, COUNT, spoilt.bytes[k] + 1, 2);
        assert_memory_equal(wanted, spoilt.bytes[k], ROOM);
      }
  }
}

static bool is_node(int64_t members, int64_t first, int64_t last) {
  for (int64_t size = 1; size < 2 * members; size *= 2)
    if (first % size == 0 && last == (first + size < members ? first + size : members)) return true;
  return false;
}

static void a_range_is_the_fewest_nodes(void **state) {
  (void)state;
  for (int64_t members = 1; members <= 40; members++)
    for (int64_t first = 0; first < members; first++) {
      // The fewest nodes from `first` to each end, by trying all.
      int fewest[41] = {0};
      for (int64_t last = first + 1; last <= members; last++) {
        fewest[last] = 100;
        for (int64_t cut = first; cut < last; cut++)
          if (is_node(members, cut, last) && fewest[cut] + 1 < fewest[last])
            fewest[last] = fewest[cut] + 1;
        tsr_reduce_node nodes[TSR_REDUCE_MAX_NODES];
        const int64_t count = tsr_reduce_nodes(members, first, last, nodes);
        assert_int_equal(count, fewest[last]);
        for (int i = 0; i < count; i++) {
          assert_int_equal(nodes[i].first, i ? nodes[i - 1].last : first);
          assert_true(is_node(members, nodes[i].first, nodes[i].last));
        }
        assert_int_equal(nodes[count - 1].last, last);
      }
    }
  tsr_reduce_node nodes[TSR_REDUCE_MAX_NODES];
  const int64_t large = INT64_C(1) << 40;
  assert_int_equal(tsr_reduce_nodes(large, 1, large - 1, nodes), 78);
  assert_int_equal(tsr_reduce_nodes(large, 3, 3, nodes), 0);
}

// Cuts the members among ranks; each rank sends partials of its nodes, or its members as they are.
static int64_t make_terms(const tsr_reducer *r, const inputs *set, test_random *random,
                          unsigned char (*partials)[ROOM], tsr_reduce_term *terms) {
  int64_t count = 0;
  for (int64_t first = 0, last; first < r->members; first = last) {
    last = test_random_range(random, first + 1, r->members);
    tsr_reduce_node nodes[TSR_REDUCE_MAX_NODES];
    const int64_t node_count = tsr_reduce_nodes(r->members, first, last, nodes);
    for (int i = 0; i < node_count; i++) {
      tsr_reduce_term raw[MOST_MEMBERS];
      const int64_t size = nodes[i].last - nodes[i].first;
      for (int64_t k = 0; k < size; k++) {
        const int64_t member = nodes[i].first + k;
        raw[k] = (tsr_reduce_term){{member, member + 1}, false, set->in[member], 3};
      }
      if (test_random_range(random, 0, 2) == 0) {
        memcpy(terms + count, raw, sizeof *raw * (size_t)size);
        count += size;
        continue;
      }
      tsr_reduce_terms(r, raw, size, COUNT, true, partials[count], 1);
      terms[count] = (tsr_reduce_term){nodes[i], true, partials[count], 1};
      count++;
    }
  }
  return count;
}

static void partials_give_the_same_bits(void **state) {
  (void)state;
  static inputs set;
  static unsigned char partials[2 * MOST_MEMBERS][ROOM];
  test_random random = {3};
  const tsr_dtype types[] = {TSR_F32, TSR_F16,  TSR_F8E4M3FN, TSR_F6E2M3FN,
                             TSR_I2,  TSR_C128, TSR_F64};
  for (size_t t = 0; t < COUNT_OF(types); t++)
    for (int turn = 0; turn < 40; turn++) {
      if (turn % 20 == 0) fill(&set, types[t], &random);
      const tsr_reducer r = {types[t], turn % 2 ? TSR_REDUCE_SUM : TSR_REDUCE_PRODUCT,
                             1 + turn % MOST_MEMBERS};
      unsigned char wanted[ROOM] = {0}, found[ROOM] = {0};
      tsr_reduce(&r, set.in, 3, COUNT, wanted, 0);
      tsr_reduce_term terms[2 * MOST_MEMBERS];
      const int64_t count = make_terms(&r, &set, &random, partials, terms);
      tsr_reduce_terms(&r, terms, count, COUNT, false, found, 0);
      assert_memory_equal(wanted, found, ROOM);
    }
}

static const struct {
  tsr_reduction op;
  float a, b, result;
} special[] = {
    {TSR_REDUCE_MAX, 0.0f, -0.0f, 0.0f},
    {TSR_REDUCE_MAX, -0.0f, 0.0f, 0.0f},
    {TSR_REDUCE_MIN, 0.0f, -0.0f, -0.0f},
    {TSR_REDUCE_MIN, -0.0f, 0.0f, -0.0f},
    {TSR_REDUCE_MIN, 1, -INFINITY, -INFINITY},
    {TSR_REDUCE_MAX, 1, -INFINITY, 1},
    {TSR_REDUCE_MIN, NAN, 1, NAN},
    {TSR_REDUCE_MAX, 1, -NAN, NAN},
    {TSR_REDUCE_MAX, NAN, -INFINITY, NAN},
    {TSR_REDUCE_SUM, INFINITY, -INFINITY, NAN},
    {TSR_REDUCE_SUM, -NAN, 1, NAN},
    {TSR_REDUCE_PRODUCT, 0, INFINITY, NAN},
    {TSR_REDUCE_SUM, -0.0f, -0.0f, -0.0f},
    {TSR_REDUCE_SUM, -0.0f, 0.0f, 0.0f},
};

static void zeros_have_signs_and_nan_is_one(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(special); i++) {
    const void *const in[] = {&special[i].a, &special[i].b};
    const tsr_reducer r = {TSR_F32, special[i].op, 2};
    float found = 7;
    tsr_reduce(&r, in, 0, 1, &found, 0);
    uint32_t bits, wanted;
    memcpy(&bits, &found, 4);
    memcpy(&wanted, &special[i].result, 4);
    assert_int_equal(bits, isnan(special[i].result) ? 0x7fc00000 : wanted);
    const double a = special[i].a, b = special[i].b;
    const void *const in_f64[] = {&a, &b};
    const tsr_reducer r_f64 = {TSR_F64, special[i].op, 2};
    double found_f64 = 7;
    tsr_reduce(&r_f64, in_f64, 0, 1, &found_f64, 0);
    assert_true(isnan(found) ? isnan(found_f64)
                             : found_f64 == found && !signbit(found_f64) == !signbit(found));
  }
}

static void narrow_floats_are_rounded_once(void **state) {
  (void)state;
  // 256 + 1 + 1 + ... in bf16, which has 8 bits: every step alone would be lost.
  const uint16_t large = 0x4380, one = 0x3f80;
  const void *in[9] = {&large, &one, &one, &one, &one, &one, &one, &one, &one};
  const tsr_reducer r = {TSR_BF16, TSR_REDUCE_SUM, 9};
  uint16_t sum = 0;
  tsr_reduce(&r, in, 0, 1, &sum, 0);
  assert_int_equal(sum, 0x4384);  // 264
}

#ifdef TSR_REDUCE_AVX2
// Of any bytes: infinities, NaNs of all kinds and subnormals among them.
static void kernels_for_avx2_give_the_same_bits(void **state) {
  (void)state;
  if (!__builtin_cpu_supports("avx2")) skip();
  static inputs set;
  test_random random = {5};
  for (int k = 0; k < MOST_MEMBERS; k++) {
    set.in[k] = set.bytes[k] + 1;
    for (int i = 0; i < ROOM; i++)
      set.bytes[k][i] = (unsigned char)(test_random_next(&random) >> 9);
    for (int i = 0; i < ROOM; i += 64) memset(set.bytes[k] + i, 0xff, (size_t)(k * 3));
  }
  for (int d = 1; d < TSR_DTYPE_COUNT; d++)
    for (int op = 0; op < TSR_REDUCTION_COUNT; op++) {
      const tsr_reduce_kernels *a = &tsr_reduce_plain[d][op], *b = &tsr_reduce_avx2[d][op];
      tsr_reduce_kernel *const plain[] = {a->of_2, a->of_4, a->of_8};
      tsr_reduce_kernel *const fast[] = {b->of_2, b->of_4, b->of_8};
      for (int size = 0; size < 3 && plain[0]; size++) {
        unsigned char wanted[ROOM] = {0}, found[ROOM] = {0};
        plain[size](wanted, set.in, COUNT);
        fast[size](found, set.in, COUNT);
        assert_memory_equal(wanted, found, ROOM);
      }
    }
}
#else
static void kernels_for_avx2_give_the_same_bits(void **state) {
  (void)state;
  skip();
}
#endif

// The buffer is the only allocation: another that failed would go unreported, which a sweep
// refuses.
static tsr_status reduce_bf16(void *context) {
  unsigned char *out = malloc(ROOM);
  if (!out) return tsr_fail(NO_MEMORY, "buffer");
  const tsr_reducer r = {TSR_BF16, TSR_REDUCE_SUM, MOST_MEMBERS};
  tsr_reduce(&r, ((inputs *)context)->in, 0, COUNT, out, 0);
  free(out);
  return NULL;
}

static void nothing_is_allocated(void **state) {
  (void)state;
  static inputs set;
  fill(&set, TSR_BF16, &(test_random){4});
  test_allocation_sweep(reduce_bf16, &set);
}

static void reductions_have_names_and_types(void **state) {
  (void)state;
  assert_string_equal(tsr_reduction_name(TSR_REDUCE_SUM), "sum");
  assert_string_equal(tsr_reduction_name(TSR_REDUCE_OR), "or");
  assert_null(tsr_reduction_name(TSR_REDUCTION_COUNT));
  assert_true(tsr_reduction_allows(TSR_REDUCE_AND, TSR_I4) &&
              tsr_reduction_allows(TSR_REDUCE_OR, TSR_BOOL));
  assert_true(tsr_reduction_allows(TSR_REDUCE_MAX, TSR_F4E2M1FN));
  assert_false(tsr_reduction_allows(TSR_REDUCE_AND, TSR_F32));
  assert_true(tsr_reduction_allows(TSR_REDUCE_PRODUCT, TSR_C64));
  assert_false(tsr_reduction_allows(TSR_REDUCE_MIN, TSR_C64));
  assert_false(tsr_reduction_allows(TSR_REDUCE_SUM, TSR_DTYPE_NONE));
  assert_false(tsr_reduction_allows(TSR_REDUCTION_COUNT, TSR_F32));
  for (int d = 1; d < TSR_DTYPE_COUNT; d++)
    for (int op = 0; op < TSR_REDUCTION_COUNT; op++)
      assert_true(tsr_reduction_allows((tsr_reduction)op, (tsr_dtype)d) ==
                  (tsr_reduce_plain[tsr_reduce_partial_dtype((tsr_dtype)d)][op].of_8 != NULL));
}

SUITE(reduce, TEST(results_follow_the_tree_in_every_type), TEST(blocks_join_without_a_seam),
      TEST(the_output_may_be_an_input), TEST(a_range_is_the_fewest_nodes),
      TEST(partials_give_the_same_bits), TEST(zeros_have_signs_and_nan_is_one),
      TEST(narrow_floats_are_rounded_once), TEST(kernels_for_avx2_give_the_same_bits),
      TEST(nothing_is_allocated), TEST(reductions_have_names_and_types))
