#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "support/test.h"
#include "tessera/tessera.h"

static void pieces_are_aligned_and_do_not_overlap(void **state) {
  (void)state;
  tsr_arena arena = TSR_ARENA_EMPTY;
  enum { PIECES = 500 };
  unsigned char *pieces[PIECES];
  size_t sizes[PIECES];
  test_random random = {3};
  for (int i = 0; i < PIECES; i++) {
    sizes[i] = (size_t)test_random_range(&random, 0, i % 50 ? 100 : 20000);
    pieces[i] = tsr_arena_alloc(&arena, sizes[i]);
    assert_non_null(pieces[i]);
    assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
    memset(pieces[i], i & 0xff, sizes[i]);
  }
  for (int i = 0; i < PIECES; i++)
    for (size_t j = 0; j < sizes[i]; j++) assert_int_equal(pieces[i][j], i & 0xff);
  tsr_arena_deinit(&arena);
  tsr_arena_deinit(&arena);  // empty again, hence harmless
}

static void copies_are_terminated_and_zeros_are_zero(void **state) {
  (void)state;
  tsr_arena arena = TSR_ARENA_EMPTY;
  assert_string_equal(tsr_arena_copy(&arena, "abcdef", 3), "abc");
  const int64_t *zeros = tsr_arena_zeros(&arena, 1000, sizeof *zeros);
  for (int i = 0; i < 1000; i++) assert_int_equal(zeros[i], 0);
  assert_null(tsr_arena_zeros(&arena, SIZE_MAX / 4, 8));
  assert_null(tsr_arena_alloc(&arena, SIZE_MAX));
  tsr_arena_deinit(&arena);
}

static void an_arena_that_is_reset_takes_no_more_memory(void **state) {
  (void)state;
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_arena_reset(&arena);  // nothing to keep
  for (int i = 0; i < 100; i++) assert_non_null(tsr_arena_alloc(&arena, 1000));
  tsr_arena_reset(&arena);
  const void *first = tsr_arena_alloc(&arena, 1000);
  tsr_arena_reset(&arena);
  assert_ptr_equal(tsr_arena_alloc(&arena, 10), first);
  tsr_arena_deinit(&arena);
}

static tsr_status fill(void *context) {
  (void)context;
  tsr_arena arena = TSR_ARENA_EMPTY;
  bool good = true;
  for (int i = 0; i < 20; i++) good = good && tsr_arena_zeros(&arena, 100, 8);
  good = good && tsr_arena_copy(&arena, "a", 1);
  tsr_arena_deinit(&arena);
  return good ? NULL : tsr_fail(NO_MEMORY, "arena");
}

static void arenas_survive_running_out_of_memory(void **state) {
  (void)state;
  test_allocation_sweep(fill, NULL);
}

static void the_version_is_that_of_the_headers(void **state) {
  (void)state;
  char version[32];
  snprintf(version, sizeof version, "%d.%d.%d", TSR_VERSION_MAJOR, TSR_VERSION_MINOR,
           TSR_VERSION_PATCH);
  assert_string_equal(tsr_version(), version);
  assert_string_equal(tsr_version(), TSR_VERSION);
  int major = 0, minor = 0, patch = 0;
  assert_int_equal(sscanf(TSR_VERSION, "%d.%d.%d", &major, &minor, &patch), 3);
  assert_int_equal(tsr_version_number(), major * 10000 + minor * 100 + patch);
#if TSR_VERSION_NUMBER < 100
#error "0.1.0 is 100"
#endif
}

SUITE(arena, TEST(pieces_are_aligned_and_do_not_overlap),
      TEST(copies_are_terminated_and_zeros_are_zero),
      TEST(an_arena_that_is_reset_takes_no_more_memory), TEST(arenas_survive_running_out_of_memory),
      TEST(the_version_is_that_of_the_headers))
