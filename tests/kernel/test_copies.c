// Strided copies, windows, counting and recasting, against loops over single elements.
#include <stdlib.h>
#include <string.h>

#include "kernel/iota.h"
#include "kernel/strided_copies.h"
#include "kernel/window_copies.h"
#include "support/test.h"

static const int worker_counts[] = {1, 2, 5};
static const int widths[] = {1, 2, 4, 8, 16};

// Bytes that differ from their neighbours.
static char *random_bytes(test_random *random, int64_t count) {
  char *bytes = malloc((size_t)count + 1);
  assert_non_null(bytes);
  for (int64_t i = 0; i < count; i++) bytes[i] = (char)test_random_next(random);
  return bytes;
}

// ---- copies ----

enum { MOST_LOOPS = 5 };

// A copy that writes a row-major target of the loops' counts and reads with any strides: loops in
// any order of the source, steps of 0 (a broadcast), backwards, and with gaps.
static tsr_copy random_copy(test_random *random, int64_t largest, int64_t *out_source) {
  tsr_copy copy = {.length = 1, .loop_count = (int)test_random_range(random, 0, MOST_LOOPS)};
  int order[MOST_LOOPS];
  for (int i = 0; i < copy.loop_count; i++) {
    const int other = (int)test_random_range(random, 0, i);
    order[i] = order[other];
    order[other] = i;
    copy.loops[i].count = test_random_range(random, i ? 1 : 0, largest);
  }
  int64_t to = 1, from = 1;
  for (int i = copy.loop_count - 1; i >= 0; i--) {
    copy.loops[i].to = to;
    to *= copy.loops[i].count;
  }
  for (int i = copy.loop_count - 1; i >= 0; i--) {
    tsr_copy_loop *loop = &copy.loops[order[i]];
    const int64_t kind = test_random_range(random, 0, 5);
    const int64_t step = kind < 3 ? 1 : kind == 3 ? 0 : kind == 4 ? -1 : 2;
    loop->from = step * from;
    if (step < 0 && loop->count) copy.from += (loop->count - 1) * from;
    if (step) from *= loop->count * (step == 2 ? 2 : 1);
  }
  *out_source = from;
  return copy;
}

static void naive_copy(const tsr_copy *copy, int loop, int64_t from, int64_t to, int width,
                       const char *source, char *target) {
  if (loop == copy->loop_count) {
    memcpy(target + to * width, source + from * width, (size_t)(copy->length * width));
    return;
  }
  for (int64_t i = 0; i < copy->loops[loop].count; i++)
    naive_copy(copy, loop + 1, from + i * copy->loops[loop].from, to + i * copy->loops[loop].to,
               width, source, target);
}

static void check_copy(test_random *random, int64_t largest, int width, tsr_pool *pool) {
  int64_t source_count = 0;
  const tsr_copy copy = random_copy(random, largest, &source_count);
  const int64_t bytes = tsr_copy_elements(&copy) * width;
  char *source = random_bytes(random, source_count * width);
  char *wanted = calloc(1, (size_t)bytes + 1), *got = calloc(1, (size_t)bytes + 1);
  naive_copy(&copy, 0, copy.from, copy.to, width, source, wanted);
  tsr_copy_part part = {.copy = copy};
  const tsr_strided_copies copies = tsr_copies_plan(width, &part, 1);
  assert_ok(tsr_copies_run(&copies, &(tsr_kernel_call){.inputs = (const char *const[]){source},
                                                       .outputs = (char *const[]){got},
                                                       .pool = pool}));
  assert_memory_equal(got, wanted, (size_t)bytes + 1);
  free(source), free(wanted), free(got);
}

static void copies_move_every_element_for_any_strides(void **state) {
  (void)state;
  test_random random = {1};
  for (size_t w = 0; w < COUNT_OF(worker_counts); w++) {
    tsr_pool *pool = NULL;
    assert_ok(tsr_pool_create(worker_counts[w], &pool));
    for (int i = 0; i < 1000; i++) check_copy(&random, 9, widths[i % 5], pool);
    for (int i = 0; i < 25; i++) check_copy(&random, 40 - 5 * (i % 5), widths[i % 5], pool);
    tsr_pool_destroy(pool);
  }
}

typedef struct transpose_case {
  int64_t rows, columns;
} transpose_case;
static const transpose_case transposes[] = {{1, 5}, {17, 33}, {64, 64}, {301, 1023}, {2050, 1030}};

static void transposes_of_any_shape_and_width(void **state) {
  (void)state;
  test_random random = {2};
  tsr_pool *pool = NULL;
  assert_ok(tsr_pool_create(2, &pool));
  for (size_t i = 0; i < COUNT_OF(transposes); i++) {
    for (size_t w = 0; w < COUNT_OF(widths); w++) {
      const int64_t m = transposes[i].rows, n = transposes[i].columns, bytes = m * n * widths[w];
      tsr_copy_part part = {
          .copy = {.length = 1, .loop_count = 2, .loops = {{n, 1, m}, {m, n, 1}}}};
      const tsr_copy copy = part.copy;
      char *source = random_bytes(&random, bytes), *wanted = malloc((size_t)bytes);
      char *got = malloc((size_t)bytes);
      naive_copy(&copy, 0, 0, 0, widths[w], source, wanted);
      const tsr_strided_copies copies = tsr_copies_plan(widths[w], &part, 1);
      assert_ok(tsr_copies_apply(&copies, (const char *const[]){source}, got, pool));
      assert_memory_equal(got, wanted, (size_t)bytes);
      free(source), free(wanted), free(got);
    }
  }
  tsr_pool_destroy(pool);
}

// Two parts that meet in every row of the target, as in a concatenation.
static void parts_share_rows_of_the_target(void **state) {
  (void)state;
  enum { ROWS = 3000, A = 70, B = 41 };
  test_random random = {3};
  char *a = random_bytes(&random, ROWS * A * 8), *b = random_bytes(&random, ROWS * B * 8);
  char *got = malloc((size_t)ROWS * (A + B) * 8);
  for (size_t w = 0; w < COUNT_OF(worker_counts); w++) {
    tsr_pool *pool = NULL;
    assert_ok(tsr_pool_create(worker_counts[w], &pool));
    tsr_copy_part parts[] = {
        {0, {.length = A, .loop_count = 1, .loops = {{ROWS, A, A + B}}}, 0},
        {1, {.to = A, .length = B, .loop_count = 1, .loops = {{ROWS, B, A + B}}}, 0}};
    const tsr_strided_copies copies = tsr_copies_plan(8, parts, 2);
    assert_true(copies.tasks > 1);
    memset(got, 0, (size_t)ROWS * (A + B) * 8);
    assert_ok(tsr_copies_apply(&copies, (const char *const[]){a, b}, got, pool));
    for (int64_t i = 0; i < ROWS; i++) {
      assert_memory_equal(got + i * (A + B) * 8, a + i * A * 8, A * 8);
      assert_memory_equal(got + (i * (A + B) + A) * 8, b + i * B * 8, B * 8);
    }
    tsr_pool_destroy(pool);
  }
  free(a), free(b), free(got);
}

static void no_elements_are_no_work(void **state) {
  (void)state;
  tsr_copy_part part = {.copy = {.length = 1, .loop_count = 2, .loops = {{3, 0, 0}, {0, 1, 1}}}};
  const tsr_strided_copies copies = tsr_copies_plan(4, &part, 1);
  assert_int_equal(copies.tasks, 0);
  assert_ok(tsr_copies_apply(&copies, (const char *const[]){NULL}, NULL, NULL));
}

// ---- windows ----

typedef struct window_case {
  tsr_dtype dtype;
  const char *bytes;  // of the start
  int64_t at;         // the row it starts at; the window has 3 of 10 rows
} window_case;
static const window_case window_cases[] = {
    {TSR_I32, "\x02\0\0\0", 2},
    {TSR_I32, "\xff\xff\xff\xff", 0},
    {TSR_U32, "\xff\xff\xff\xff", 7},
    {TSR_I8, "\x80", 0},
    {TSR_U8, "\x80", 7},
    {TSR_I4, "\xff", 0},
    {TSR_U4, "\x05", 5},
    {TSR_I16, "\x08\0", 7},
    {TSR_U16, "\x00\x80", 7},
    {TSR_I64, "\x07\0\0\0\0\0\0\0", 7},
    {TSR_I64, "\0\0\0\0\0\0\0\x80", 0},
    {TSR_U64, "\0\0\0\0\0\0\0\x80", 7},
    {TSR_U64, "\x01\0\0\0\0\0\0\0", 1},
};

static void windows_are_moved_inside_for_every_type_of_index(void **state) {
  (void)state;
  enum { ROWS = 10, COLUMNS = 4, WINDOW = 3 };
  int32_t tensor[ROWS * COLUMNS], window[WINDOW * COLUMNS], got[ROWS * COLUMNS];
  for (int32_t i = 0; i < ROWS * COLUMNS; i++) tensor[i] = i;
  for (int32_t i = 0; i < WINDOW * COLUMNS; i++) window[i] = -i - 1;
  tsr_copy_part part = {.copy = {.length = WINDOW * COLUMNS}};
  tsr_copy_part other = {.input = 1, .copy = {.length = WINDOW * COLUMNS}};
  tsr_copy_part all = {.copy = {.length = ROWS * COLUMNS}};
  for (size_t i = 0; i < COUNT_OF(window_cases); i++) {
    const window_case *c = &window_cases[i];
    const tsr_window_start read_start = {1, c->dtype, ROWS - WINDOW, COLUMNS};
    const tsr_window_start write_start = {2, c->dtype, ROWS - WINDOW, COLUMNS};
    const tsr_window_copy read = {1, &read_start, tsr_copies_plan(4, &part, 1), {0}};
    const tsr_window_copy write = {1, &write_start, tsr_copies_plan(4, &other, 1),
                                   tsr_copies_plan(4, &all, 1)};
    const char *inputs[] = {(const char *)tensor, c->bytes, NULL};
    char *outputs[] = {(char *)got};
    assert_ok(tsr_window_read(&read, &(tsr_kernel_call){.inputs = inputs, .outputs = outputs}));
    assert_memory_equal(got, tensor + c->at * COLUMNS, sizeof window);
    inputs[1] = (const char *)window, inputs[2] = c->bytes;
    assert_ok(tsr_window_write(&write, &(tsr_kernel_call){.inputs = inputs, .outputs = outputs}));
    for (int32_t e = 0; e < ROWS * COLUMNS; e++) {
      const int64_t place = e - c->at * COLUMNS;
      assert_int_equal(got[e], place >= 0 && place < WINDOW * COLUMNS ? -place - 1 : e);
    }
    memcpy(got, tensor, sizeof got);  // in place only the window is written
    inputs[0] = (const char *)got;
    const tsr_window_copy in_place = {1, &write_start, write.window, {.tasks = -1}};
    assert_ok(
        tsr_window_write(&in_place, &(tsr_kernel_call){.inputs = inputs, .outputs = outputs}));
    assert_int_equal(got[c->at * COLUMNS], -1);
  }
}

// ---- numbers ----

static void iota_counts_along_a_dimension_in_any_type(void **state) {
  (void)state;
  int16_t wide[2 * 3 * 2];
  const tsr_iota counted = {TSR_I16, 2, 3, 12};
  char *outputs[] = {(char *)wide};
  assert_ok(tsr_iota_run(&counted, &(tsr_kernel_call){.outputs = outputs}));
  const int16_t wanted[] = {0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2};
  assert_memory_equal(wide, wanted, sizeof wanted);
  int8_t narrow[20];
  outputs[0] = (char *)narrow;
  assert_ok(tsr_iota_run(&(tsr_iota){TSR_I4, 1, 20, 20}, &(tsr_kernel_call){.outputs = outputs}));
  for (int i = 0; i < 20; i++) assert_int_equal(narrow[i], i % 16 < 8 ? i % 16 : i % 16 - 16);
  double complex_numbers[3][2];
  outputs[0] = (char *)complex_numbers;
  assert_ok(tsr_iota_run(&(tsr_iota){TSR_C128, 1, 3, 3}, &(tsr_kernel_call){.outputs = outputs}));
  for (int i = 0; i < 3; i++) {
    assert_true(complex_numbers[i][0] == i);
    assert_true(complex_numbers[i][1] == 0);
  }
}

static void iota_of_many_tasks_counts_on(void **state) {
  (void)state;
  enum { ELEMENTS = 300000, INNER = 7, COUNT = 1000 };
  int32_t *got = malloc(sizeof *got * ELEMENTS);
  char *outputs[] = {(char *)got};
  const tsr_iota iota = {TSR_I32, INNER, COUNT, ELEMENTS};
  for (size_t w = 0; w < COUNT_OF(worker_counts); w++) {
    tsr_pool *pool = NULL;
    assert_ok(tsr_pool_create(worker_counts[w], &pool));
    assert_ok(tsr_iota_run(&iota, &(tsr_kernel_call){.outputs = outputs, .pool = pool}));
    for (int i = 0; i < ELEMENTS; i++) assert_int_equal(got[i], i / INNER % COUNT);
    tsr_pool_destroy(pool);
  }
  free(got);
}

typedef struct bitcast_case {
  tsr_bitcast cast;
  const char *from, *to;
  size_t bytes;
} bitcast_case;
static const bitcast_case bitcast_cases[] = {
    {{16, 4, true, 4}, "\x1f\x82", "\xff\x01\x02\xf8", 4},
    {{16, 4, false, 4}, "\x1f\x82", "\x0f\x01\x02\x08", 4},
    {{4, 16, true, 1}, "\xff\x01\x02\xf8", "\x1f\x82", 2},
    {{4, 8, false, 2}, "\xff\x01\x02\xf8", "\x1f\x82", 2},
    {{4, 4, false, 2}, "\xff\x07", "\x0f\x07", 2},
    {{4, 4, true, 2}, "\x0f\x07", "\xff\x07", 2},
    {{2, 4, true, 2}, "\x03\x00\xfe\x03", "\x03\xfe", 2},
    {{4, 2, true, 4}, "\x03\xfe", "\xff\x00\xfe\xff", 4},
    {{8, 1, false, 8}, "\x81", "\1\0\0\0\0\0\0\1", 8},
};

static void bits_are_recast_from_the_lowest_on(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(bitcast_cases); i++) {
    const bitcast_case *c = &bitcast_cases[i];
    char got[8];
    assert_ok(tsr_bitcast_run(
        &c->cast, &(tsr_kernel_call){.inputs = &c->from, .outputs = (char *const[]){got}}));
    assert_memory_equal(got, c->to, c->bytes);
  }
}

SUITE(copies, TEST(copies_move_every_element_for_any_strides),
      TEST(transposes_of_any_shape_and_width), TEST(parts_share_rows_of_the_target),
      TEST(no_elements_are_no_work), TEST(windows_are_moved_inside_for_every_type_of_index),
      TEST(iota_counts_along_a_dimension_in_any_type), TEST(iota_of_many_tasks_counts_on),
      TEST(bits_are_recast_from_the_lowest_on))
