#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer_internal.h"
#include "support/test.h"
#include "tessera/buffer.h"
#include "tessera/engine/buffer.h"

static tsr_buffer *make(tsr_buffer_pool *pool, int64_t bytes) {
  tsr_buffer *buffer = NULL;
  assert_ok(tsr_buffer_create(pool, bytes, &buffer));
  memset(tsr_buffer_data(buffer), 7, (size_t)bytes);
  return buffer;
}

static tsr_buffer_pool *make_pool(int64_t most_idle) {
  tsr_buffer_pool *pool = NULL;
  const tsr_buffer_pool_options options = {.size = sizeof options, .most_idle = most_idle};
  assert_ok(tsr_buffer_pool_create(&options, &pool));
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
    tsr_buffer_pool *pool = make_pool(0);
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

// ---- the caller's allocator ----

// A heap of so many bytes, which counts.
typedef struct heap {
  int64_t left, taken;  // bytes
  int calls, returned;  // blocks
  int64_t off;          // bytes by which addresses are wrong
} heap;

static void *take(void *context, int64_t bytes, int64_t alignment) {
  heap *h = context;
  assert_int_equal(alignment, 64);
  assert_true(bytes > 0);
  h->calls++;
  if (bytes > h->left) return NULL;
  char *block = aligned_alloc(64, (size_t)(bytes + 64) / 64 * 64 + 64);
  assert_non_null(block);
  h->left -= bytes;
  h->taken += bytes;
  return block + h->off;
}

static void put_back(void *context, void *block, int64_t bytes) {
  heap *h = context;
  h->left += bytes;
  h->taken -= bytes;
  h->returned++;
  free((char *)block - h->off);
}

static tsr_buffer_pool *pool_of(heap *h, bool keep_none) {
  const tsr_buffer_pool_options options = {.size = sizeof options,
                                           .keep_none = keep_none,
                                           .allocate = take,
                                           .release = put_back,
                                           .context = h};
  tsr_buffer_pool *pool = NULL;
  assert_ok(tsr_buffer_pool_create(&options, &pool));
  return pool;
}

static void a_pool_takes_memory_from_the_callers_allocator_only(void **state) {
  (void)state;
  heap h = {.left = 1 << 24};
  tsr_buffer_pool *pool = pool_of(&h, false);
  static const int64_t sizes[] = {0, 1, 100, 5 << 20};
  tsr_buffer *buffers[COUNT_OF(sizes)];
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    buffers[i] = make(pool, sizes[i]);
    assert_int_equal(h.calls, i + 1);
    assert_int_equal(h.taken, tsr_buffer_pool_in_use(pool));
  }
  for (size_t i = 0; i < COUNT_OF(sizes); i++) tsr_buffer_release(buffers[i]);
  assert_int_equal(h.taken, tsr_buffer_pool_idle(pool));
  tsr_buffer *again = make(pool, 100);
  assert_int_equal(h.calls, COUNT_OF(sizes));
  tsr_buffer_pool_release(pool);
  assert_int_equal(h.returned, 0);  // the buffer holds the pool
  tsr_buffer_release(again);
  assert_int_equal(h.taken, 0);
  assert_int_equal(h.returned, COUNT_OF(sizes));
}

static void a_pool_may_keep_nothing(void **state) {
  (void)state;
  heap h = {.left = 1 << 20};
  tsr_buffer_pool *pool = pool_of(&h, true);
  for (int i = 1; i <= 3; i++) {
    tsr_buffer_release(make(pool, 1000));
    assert_int_equal(h.returned, i);
    assert_int_equal(tsr_buffer_pool_idle(pool), 0);
  }
  tsr_buffer_pool_release(pool);
  assert_int_equal(h.taken, 0);
}

static void an_allocator_without_memory_is_asked_again_when_some_was_idle(void **state) {
  (void)state;
  heap h = {.left = 1024};
  tsr_buffer_pool *pool = pool_of(&h, false);
  tsr_buffer_release(make(pool, 512));
  tsr_buffer_release(make(pool, 1024));  // needs the idle bytes
  assert_int_equal(h.calls, 3);
  tsr_buffer *buffer = NULL;
  assert_fails(tsr_buffer_create(pool, 2000, &buffer), NO_MEMORY,
               "out of memory: buffer of 2000 bytes");
  assert_int_equal(h.calls, 5);
  assert_fails(tsr_buffer_create(pool, 2000, &buffer), NO_MEMORY,
               "out of memory: buffer of 2000 bytes");
  assert_int_equal(h.calls, 6);
  assert_null(buffer);
  assert_int_equal(tsr_buffer_pool_in_use(pool), 0);
  tsr_buffer_pool_release(pool);
  assert_int_equal(h.taken, 0);
}

static void an_allocator_that_does_not_align_is_refused(void **state) {
  (void)state;
  heap h = {.left = 1024, .off = 16};
  tsr_buffer_pool *pool = pool_of(&h, false);
  tsr_buffer *buffer = NULL;
  assert_fails(tsr_buffer_create(pool, 100, &buffer), BAD_ARGUMENT,
               "the pool's allocator gave 128 bytes at an address 16 bytes after a multiple of 64, "
               "wanted such a multiple");
  assert_null(buffer);
  assert_int_equal(h.returned, 1);
  assert_int_equal(h.taken, 0);
  tsr_buffer_pool_release(pool);
}

static void bad_sizes_are_refused(void **state) {
  (void)state;
  tsr_buffer *buffer = NULL;
  tsr_buffer_pool *pool = NULL;
  assert_fails(tsr_buffer_create(NULL, -1, &buffer), TOO_LARGE,
               "buffer of -1 bytes, wanted 0 to 2^62");
  assert_fails(tsr_buffer_wrap(NULL, 4, false, NULL, NULL, &buffer), BAD_ARGUMENT,
               "4 bytes of borrowed memory at no address");
  const struct {
    tsr_buffer_pool_options options;
    const char *message;
  } cases[] = {
      {{.size = 1}, "tsr_buffer_pool_options has size 1, wanted "},
      {{.size = sizeof(tsr_buffer_pool_options), .most_idle = -2},
       "pool that keeps -2 bytes, wanted 0 or more"},
      {{.size = sizeof(tsr_buffer_pool_options), .most_idle = 9, .keep_none = true},
       "keep_none and most_idle 9, wanted one of them"},
      {{.size = sizeof(tsr_buffer_pool_options), .allocate = take},
       "the allocator has no function `release`, wanted both or neither"},
      {{.size = sizeof(tsr_buffer_pool_options), .release = put_back},
       "the allocator has no function `allocate`, wanted both or neither"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    assert_fails_with(tsr_buffer_pool_create(&cases[i].options, &pool), BAD_ARGUMENT,
                      cases[i].message);
  assert_null(pool);
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
  tsr_status status = tsr_buffer_pool_create(NULL, &pool);
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
      TEST(a_pool_takes_memory_from_the_callers_allocator_only), TEST(a_pool_may_keep_nothing),
      TEST(an_allocator_without_memory_is_asked_again_when_some_was_idle),
      TEST(an_allocator_that_does_not_align_is_refused), TEST(bad_sizes_are_refused),
      TEST(threads_may_share_a_pool), TEST(every_allocation_may_fail))
