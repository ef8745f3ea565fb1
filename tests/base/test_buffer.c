#include <pthread.h>
#include <string.h>

#include "support/test.h"
#include "tessera/buffer.h"

static tsr_buffer *make(tsr_buffer_pool *pool, int64_t bytes) {
  tsr_buffer *buffer = NULL;
  assert_ok(tsr_buffer_create(pool, bytes, &buffer));
  memset(tsr_buffer_data(buffer), 7, (size_t)bytes);
  return buffer;
}

static tsr_buffer_pool *make_pool(int64_t most_idle) {
  tsr_buffer_pool *pool = NULL;
  assert_ok(tsr_buffer_pool_create(most_idle, &pool));
  return pool;
}

static void buffers_are_aligned_to_64_bytes_and_large_ones_to_huge_pages(void **state) {
  (void)state;
  static const struct {
    int64_t bytes;
    uintptr_t alignment;
  } cases[] = {{0, 64}, {1, 64}, {100, 64}, {4 << 20, 2 << 20}, {(5 << 20) + 3, 2 << 20}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_buffer *buffer = make(NULL, cases[i].bytes);
    assert_int_equal((uintptr_t)tsr_buffer_data(buffer) % cases[i].alignment, 0);
    assert_int_equal(tsr_buffer_bytes(buffer), cases[i].bytes);
    assert_false(tsr_buffer_is_borrowed(buffer));
    tsr_buffer_release(buffer);
  }
}

static void a_pool_gives_a_freed_block_to_the_next_of_its_size(void **state) {
  (void)state;
  static const struct {
    int64_t first, second;
    bool reused;
  } cases[] = {
      {1000, 1000, true}, {1000, 990, true},  {70, 70, true},      {1000, 900, true},
      {64, 0, true},      {1000, 100, false}, {1000, 1100, false}, {1 << 20, 1 << 20, true},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_buffer_pool *pool = make_pool(-1);
    tsr_buffer *first = make(pool, cases[i].first);
    const void *place = tsr_buffer_data(first);
    tsr_buffer_release(first);
    const int64_t idle = tsr_buffer_pool_idle(pool);
    assert_true(idle >= cases[i].first);
    tsr_buffer *second = make(pool, cases[i].second);
    assert_int_equal(tsr_buffer_pool_idle(pool), cases[i].reused ? 0 : idle);
    if (cases[i].reused) assert_ptr_equal(tsr_buffer_data(second), place);
    tsr_buffer_release(second);
    tsr_buffer_pool_release(pool);
  }
}

static void a_pool_keeps_no_more_than_it_may_and_drops_the_oldest(void **state) {
  (void)state;
  tsr_buffer_pool *pool = make_pool(4096);
  tsr_buffer *buffers[3];
  for (int i = 0; i < 3; i++) buffers[i] = make(pool, 2048);
  assert_int_equal(tsr_buffer_pool_in_use(pool), 3 * 2048);
  const void *last = tsr_buffer_data(buffers[2]);
  for (int i = 0; i < 3; i++) tsr_buffer_release(buffers[i]);
  assert_int_equal(tsr_buffer_pool_idle(pool), 4096);
  assert_int_equal(tsr_buffer_pool_in_use(pool), 0);
  assert_int_equal(tsr_buffer_pool_peak(pool), 3 * 2048);
  tsr_buffer_pool_trim(pool, 2048);
  assert_int_equal(tsr_buffer_pool_idle(pool), 2048);
  tsr_buffer *again = make(pool, 2048);
  assert_ptr_equal(tsr_buffer_data(again), last);
  // A buffer outlives its pool's maker.
  tsr_buffer_pool_release(pool);
  memset(tsr_buffer_data(again), 1, 2048);
  tsr_buffer_release(again);
}

static void count_release(void *context, void *data) {
  (void)data;
  ++*(int *)context;
}

static void borrowed_memory_is_released_once_by_its_last_holder(void **state) {
  (void)state;
  char memory[16];
  int released = 0;
  tsr_buffer *buffer = NULL;
  assert_ok(tsr_buffer_wrap(memory, sizeof memory, false, count_release, &released, &buffer));
  assert_ptr_equal(tsr_buffer_data(buffer), memory);
  assert_true(tsr_buffer_is_borrowed(buffer));
  assert_false(tsr_buffer_is_writable(buffer));
  tsr_buffer *other = tsr_buffer_retain(buffer);
  tsr_buffer_release(buffer);
  assert_int_equal(released, 0);
  tsr_buffer_release(other);
  assert_int_equal(released, 1);
  tsr_buffer_release(NULL);
}

static void only_a_sole_holder_may_write(void **state) {
  (void)state;
  tsr_buffer *buffer = make(NULL, 8);
  assert_true(tsr_buffer_is_writable(buffer));
  tsr_buffer *other = tsr_buffer_retain(buffer);
  assert_false(tsr_buffer_is_writable(buffer));
  assert_int_equal(tsr_buffer_holders(buffer), 2);
  tsr_buffer_release(other);
  assert_true(tsr_buffer_is_writable(buffer));
  tsr_buffer_release(buffer);
}

static void bad_sizes_are_refused(void **state) {
  (void)state;
  tsr_buffer *buffer = NULL;
  tsr_buffer_pool *pool = NULL;
  assert_fails(tsr_buffer_create(NULL, -1, &buffer), TOO_LARGE,
               "buffer of -1 bytes, wanted 0 to 2^62");
  assert_fails(tsr_buffer_wrap(NULL, 4, false, NULL, NULL, &buffer), BAD_ARGUMENT,
               "4 bytes of borrowed memory at no address");
  assert_fails(tsr_buffer_pool_create(-2, &pool), BAD_ARGUMENT,
               "pool that keeps -2 bytes, wanted 0 or more, or -1");
}

static void *use_pool(void *pool) {
  for (int i = 0; i < 500; i++) {
    tsr_buffer *buffer = NULL;
    tsr_status status = tsr_buffer_create(pool, 64 + i % 7 * 100, &buffer);
    if (status) return status;
    memset(tsr_buffer_data(buffer), i, 64);
    tsr_buffer_release(tsr_buffer_retain(buffer));
    tsr_buffer_release(buffer);
  }
  return NULL;
}

static void threads_may_share_a_pool(void **state) {
  (void)state;
  tsr_buffer_pool *pool = make_pool(2000);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, use_pool, pool), 0);
  for (int i = 0; i < 4; i++) {
    void *failure = NULL;
    pthread_join(threads[i], &failure);
    assert_null(failure);
  }
  assert_int_equal(tsr_buffer_pool_in_use(pool), 0);
  assert_true(tsr_buffer_pool_idle(pool) <= 2000);
  tsr_buffer_pool_release(pool);
}

static tsr_status make_some(void *context) {
  (void)context;
  tsr_buffer_pool *pool = NULL;
  tsr_buffer *owned = NULL, *borrowed = NULL;
  char memory[4];
  tsr_status status = tsr_buffer_pool_create(-1, &pool);
  if (!status) status = tsr_buffer_create(pool, 100, &owned);
  if (!status) status = tsr_buffer_wrap(memory, 4, true, NULL, NULL, &borrowed);
  tsr_buffer_release(owned);
  tsr_buffer_release(borrowed);
  tsr_buffer_pool_release(pool);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  test_allocation_sweep(make_some, NULL);
}

SUITE(buffer, TEST(buffers_are_aligned_to_64_bytes_and_large_ones_to_huge_pages),
      TEST(a_pool_gives_a_freed_block_to_the_next_of_its_size),
      TEST(a_pool_keeps_no_more_than_it_may_and_drops_the_oldest),
      TEST(borrowed_memory_is_released_once_by_its_last_holder), TEST(only_a_sole_holder_may_write),
      TEST(bad_sizes_are_refused), TEST(threads_may_share_a_pool), TEST(every_allocation_may_fail))
