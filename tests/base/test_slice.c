// Slices: Python's meaning, told from an independent model that walks index by index.
#include <stdio.h>
#include <string.h>

#include "element/slice.h"
#include "support/test.h"
#include "tessera/shape.h"
#include "tessera/text.h"

static const struct {
  const char *text, *printed, *shape;
} good[] = {
    // Of a tensor of shape (4, 16, 10).
    {"", "0:4, 0:16, 0:10", "(4, 16, 10)"},
    {"[]", "0:4, 0:16, 0:10", "(4, 16, 10)"},
    {":", "0:4, 0:16, 0:10", "(4, 16, 10)"},
    {"...", "0:4, 0:16, 0:10", "(4, 16, 10)"},
    {"0", "0, 0:16, 0:10", "(16, 10)"},
    {"-1", "3, 0:16, 0:10", "(16, 10)"},
    {"1, 2, 3", "1, 2, 3", "()"},
    {"[1:3, :8]", "1:3, 0:8, 0:10", "(2, 8, 10)"},
    {" 1 : 3 , : 8 , ", "1:3, 0:8, 0:10", "(2, 8, 10)"},
    {"..., -1", "0:4, 0:16, 9", "(4, 16)"},
    {"0, ..., ::2", "0, 0:16, 0:9:2", "(16, 5)"},
    {"0, ..., 1, 2", "0, 1, 2", "()"},
    {"::-1", "3::-1, 0:16, 0:10", "(4, 16, 10)"},
    {":, 14:2:-5", "0:4, 14:3:-5, 0:10", "(4, 3, 10)"},
    {":, -100:100", "0:4, 0:16, 0:10", "(4, 16, 10)"},
    {":, 8:2", "0:4, 0:0, 0:10", "(4, 0, 10)"},
    {":, 2:8:-1", "0:4, 0:0, 0:10", "(4, 0, 10)"},
    {":, 5:6:-9", "0:4, 0:0, 0:10", "(4, 0, 10)"},
    {":, 5::100", "0:4, 5:6, 0:10", "(4, 1, 10)"},
    {":, ::-9223372036854775808", "0:4, 15:16, 0:10", "(4, 1, 10)"},
    {"9223372036854775807:", "0:0, 0:16, 0:10", "(0, 16, 10)"},
    {"-9223372036854775808:", "0:4, 0:16, 0:10", "(4, 16, 10)"},
};

static void slices_are_read_and_printed(void **state) {
  (void)state;
  const tsr_shape *of = TSR_SHAPE(4, 16, 10);
  for (size_t i = 0; i < COUNT_OF(good); i++) {
    tsr_slice slice, again;
    tsr_text text = TSR_TEXT_EMPTY, shape_text = TSR_TEXT_EMPTY;
    assert_ok(tsr_slice_parse(good[i].text, of, &slice));
    tsr_slice_print(&slice, &text);
    assert_string_equal(tsr_text_string(&text), good[i].printed);
    const tsr_shape shape = tsr_slice_shape(&slice);
    tsr_shape_print(&shape, &shape_text);
    assert_string_equal(tsr_text_string(&shape_text), good[i].shape);
    assert_ok(tsr_slice_parse(tsr_text_string(&text), of, &again));
    for (int d = 0; d < 3; d++) {
      assert_int_equal(slice.dims[d].start, again.dims[d].start);
      assert_int_equal(slice.dims[d].step, again.dims[d].step);
      assert_int_equal(slice.dims[d].count, again.dims[d].count);
      assert_int_equal(slice.dims[d].single, again.dims[d].single);
    }
    tsr_text_deinit(&text);
    tsr_text_deinit(&shape_text);
  }
}

static const struct {
  const char *text;
  tsr_cause cause;
  const char *message;
} bad[] = {
    {"4", TSR_CAUSE_INDEX_OUT_OF_RANGE, "slice \"4\": index 4 of dimension 0, whose size is 4"},
    {":, -17", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "slice \":, -17\": index -17 of dimension 1, whose size is 16"},
    {"0, 0, 0, 0", TSR_CAUSE_RANK_TOO_SMALL,
     "slice \"0, 0, 0, 0\": 4 dimensions of a tensor that has 3"},
    {"..., ...", TSR_CAUSE_SYNTAX, "slice \"..., ...\": \"...\" stands twice"},
    {"::0", TSR_CAUSE_BAD_ARGUMENT, "slice \"::0\": a step of 0"},
    {"a", TSR_CAUSE_SYNTAX,
     "slice: column 1: expected an index, a range as 0:4 or \"...\", found \"a\""},
    {"[0", TSR_CAUSE_SYNTAX, "slice: column 3: expected \"]\", found the end"},
    {"[", TSR_CAUSE_SYNTAX,
     "slice: column 2: expected an index, a range as 0:4 or \"...\", found the end"},
    {"0]", TSR_CAUSE_SYNTAX, "slice: column 2: expected the end, found \"]\""},
    {"..", TSR_CAUSE_SYNTAX, "slice: column 3: expected \".\", found the end"},
    {"0:1:2:3", TSR_CAUSE_SYNTAX, "slice: column 6: expected the end, found \":\""},
    {",", TSR_CAUSE_SYNTAX,
     "slice: column 1: expected an index, a range as 0:4 or \"...\", found \",\""},
    {"99999999999999999999", TSR_CAUSE_SYNTAX,
     "slice: column 1: expected an integer of 64 bits, found \"99999999999999999999\""},
};

static void what_is_no_slice_is_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    tsr_slice slice;
    test_assert_fails(tsr_slice_parse(bad[i].text, TSR_SHAPE(4, 16, 10), &slice), bad[i].cause,
                      bad[i].message, __FILE__, __LINE__);
  }
  char many[200] = "0";
  for (int i = 0; i < TSR_MAX_RANK + 1; i++) strcat(many, ",0");
  tsr_slice slice;
  assert_fails_with(tsr_slice_parse(many, TSR_SHAPE(4), &slice), TOO_LARGE,
                    "more than 32 dimensions");
}

// Python's rule in other words: walk from the start in steps while the stop is not reached, taking
// the indices that exist.
static int64_t walk(int64_t size, const int64_t *start, const int64_t *stop, int64_t step,
                    int64_t *out) {
  int64_t count = 0;
  const int64_t from = start ? (*start < 0 ? *start + size : *start) : step > 0 ? 0 : size - 1;
  const int64_t to = stop ? (*stop < 0 ? *stop + size : *stop) : step > 0 ? size : -1;
  // Bounds outside are cut off, on the side they are on.
  int64_t at = from;
  if (step > 0 && at < 0) at = 0;
  if (step < 0 && at >= size) at = size - 1;
  for (; step > 0 ? at < to && at < size : at > to && at >= 0; at += step) out[count++] = at;
  return count;
}

static void ranges_are_pythons(void **state) {
  (void)state;
  test_random random = {7};
  for (int turn = 0; turn < 20000; turn++) {
    const int64_t size = test_random_range(&random, 0, 9);
    const int64_t start = test_random_range(&random, -12, 12);
    const int64_t stop = test_random_range(&random, -12, 12);
    int64_t step = test_random_range(&random, -5, 5), wanted[32];
    if (step == 0) step = 1;
    const bool has_start = test_random_range(&random, 0, 3),
               has_stop = test_random_range(&random, 0, 3);
    char a[24] = "", b[24] = "", text[80];
    if (has_start) snprintf(a, sizeof a, "%lld", (long long)start);
    if (has_stop) snprintf(b, sizeof b, "%lld", (long long)stop);
    snprintf(text, sizeof text, "%s:%s:%lld", a, b, (long long)step);
    tsr_slice slice;
    assert_ok(tsr_slice_parse(text, TSR_SHAPE(size), &slice));
    const int64_t count =
        walk(size, has_start ? &start : NULL, has_stop ? &stop : NULL, step, wanted);
    assert_int_equal(slice.dims[0].count, count);
    assert_int_equal(tsr_slice_elements(&slice), count);
    for (int64_t i = 0; i < count; i++)
      assert_int_equal(slice.dims[0].start + i * slice.dims[0].step, wanted[i]);
  }
}

static void scalars_have_one_slice(void **state) {
  (void)state;
  tsr_slice slice;
  assert_ok(tsr_slice_parse("...", TSR_SCALAR, &slice));
  assert_int_equal(slice.rank, 0);
  assert_int_equal(tsr_slice_elements(&slice), 1);
  assert_fails_with(tsr_slice_parse("0", TSR_SCALAR, &slice), RANK_TOO_SMALL,
                    "1 dimensions of a tensor that has 0");
}

SUITE(slice, TEST(slices_are_read_and_printed), TEST(what_is_no_slice_is_refused),
      TEST(ranges_are_pythons), TEST(scalars_have_one_slice))
