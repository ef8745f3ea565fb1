#include "element/shape_internal.h"
#include "support/test.h"
#include "tessera/shape.h"

static const struct {
  const char *text, *printed;
} good[] = {
    {"8,16", "(8, 16)"},
    {"8x16", "(8, 16)"},
    {"[8, 16]", "(8, 16)"},
    {"(8, 16)", "(8, 16)"},
    {"()", "()"},
    {"[]", "()"},
    {" ( ) ", "()"},
    {"8", "(8,)"},
    {"(8,)", "(8,)"},
    {"[8,]", "(8,)"},
    {"[8 x 16]", "(8, 16)"},
    {" 1 , 2 ", "(1, 2)"},
    {"0x10", "(0, 10)"},
    {"4611686018427387904", "(4611686018427387904,)"},
    {"0,4611686018427387904", "(0, 4611686018427387904)"},
    {"007", "(7,)"},
};

static void shapes_are_read_and_printed(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(good); i++) {
    tsr_shape shape, again;
    tsr_text text = TSR_TEXT_EMPTY;
    assert_ok(tsr_shape_parse(good[i].text, &shape));
    tsr_shape_print(&shape, &text);
    assert_string_equal(tsr_text_string(&text), good[i].printed);
    assert_ok(tsr_shape_parse(tsr_text_string(&text), &again));
    assert_true(tsr_shape_equal(&shape, &again));
    tsr_text_deinit(&text);
  }
}

static const struct {
  const char *text;
  tsr_cause cause;
  const char *message;
} bad[] = {
    {"", TSR_CAUSE_SYNTAX, "shape: column 1: expected an integer, found the end"},
    {"8,", TSR_CAUSE_SYNTAX, "shape: column 3: expected an integer, found the end"},
    {"(8", TSR_CAUSE_SYNTAX, "shape: column 3: expected \")\", found the end"},
    {"[8)", TSR_CAUSE_SYNTAX, "shape: column 3: expected \"]\", found \")\""},
    {"(,)", TSR_CAUSE_SYNTAX, "shape: column 2: expected an integer, found \",\""},
    {"(8x)", TSR_CAUSE_SYNTAX, "shape: column 4: expected an integer, found \")\""},
    {"8x16,4", TSR_CAUSE_SYNTAX, "shape: column 5: expected the end, found \",\""},
    {"8 16", TSR_CAUSE_SYNTAX, "shape: column 3: expected the end, found \"16\""},
    {"(8) 2", TSR_CAUSE_SYNTAX, "shape: column 5: expected the end, found \"2\""},
    {"9223372036854775808", TSR_CAUSE_SYNTAX,
     "shape: column 1: expected an integer of 64 bits, found \"9223372036854775808\""},
    {"-8", TSR_CAUSE_BAD_ARGUMENT, "shape \"-8\": dimension 0 has size -8, wanted 0 or more"},
    {"2147483648x2147483648x2", TSR_CAUSE_OVERFLOW,
     "shape \"2147483648x2147483648x2\": more than 2^62 elements in the first 3 dimensions"},
    {"0,9223372036854775807", TSR_CAUSE_OVERFLOW,
     "shape \"0,9223372036854775807\": more than 2^62 elements in the first 2 dimensions"},
    {"1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", TSR_CAUSE_TOO_LARGE,
     "shape \"1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,...\": rank 33, wanted 0 "
     "to 32"},
};

static void malformed_shapes_say_where(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    tsr_shape shape = {.rank = 77};
    test_assert_fails(tsr_shape_parse(bad[i].text, &shape), bad[i].cause, bad[i].message, __FILE__,
                      __LINE__);
    assert_int_equal(shape.rank, 77);
  }
}

static void counts_and_bytes_are_exact(void **state) {
  (void)state;
  int64_t count = -1, bytes = -1;
  assert_ok(tsr_shape_count(TSR_SCALAR, &count));
  assert_int_equal(count, 1);
  assert_ok(tsr_shape_count(TSR_SHAPE(3, 0, 5), &count));
  assert_int_equal(count, 0);
  assert_ok(tsr_shape_count(TSR_SHAPE(INT64_C(1) << 31, INT64_C(1) << 31), &count));
  assert_int_equal(count, INT64_C(1) << 62);
  assert_ok(tsr_shape_bytes(TSR_SHAPE(3, 3), TSR_I4, &bytes));
  assert_int_equal(bytes, 5);
  assert_fails_with(tsr_shape_bytes(TSR_SHAPE(INT64_C(1) << 62), TSR_BF16, &bytes), OVERFLOW,
                    "4611686018427387904 elements of bf16");
  assert_fails_with(tsr_shape_bytes(TSR_SHAPE(-1), TSR_BF16, &bytes), BAD_ARGUMENT,
                    "dimension 0 has size -1, wanted 0 or more");
}

static void shapes_are_checked_when_made(void **state) {
  (void)state;
  tsr_shape shape = {.rank = 77};
  assert_fails(tsr_shape_init(&shape, NULL, -1), TOO_LARGE, "rank -1, wanted 0 to 32");
  assert_fails(tsr_shape_init(&shape, (int64_t[]){2, -3}, 2), BAD_ARGUMENT,
               "dimension 1 has size -3, wanted 0 or more");
  assert_int_equal(shape.rank, 77);
  assert_ok(tsr_shape_init(&shape, NULL, 0));
  assert_true(tsr_shape_equal(&shape, TSR_SCALAR));
  assert_ok(tsr_shape_init(&shape, (int64_t[]){2, 3}, 2));
  assert_true(tsr_shape_equal(&shape, TSR_SHAPE(2, 3)));
  assert_false(tsr_shape_equal(&shape, TSR_SHAPE(2, 4)));
  assert_false(tsr_shape_equal(&shape, TSR_SHAPE(2)));
}

static void printing_and_reading_are_inverses(void **state) {
  (void)state;
  test_random random = {1};
  for (int round = 0; round < 10000; round++) {
    tsr_shape shape = {.rank = (int)test_random_range(&random, 0, 8)}, again;
    for (int i = 0; i < shape.rank; i++) shape.dims[i] = test_random_range(&random, 0, 127);
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_shape_print(&shape, &text);
    assert_ok(tsr_shape_parse(tsr_text_string(&text), &again));
    assert_true(tsr_shape_equal(&shape, &again));
    tsr_text_deinit(&text);
  }
}

SUITE(shape, TEST(shapes_are_read_and_printed), TEST(malformed_shapes_say_where),
      TEST(counts_and_bytes_are_exact), TEST(shapes_are_checked_when_made),
      TEST(printing_and_reading_are_inverses))
