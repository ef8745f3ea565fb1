// Where arrays have their memory from: a pool of the caller's, with an allocator that counts, that
// fails, or that several comms share.
#include <pthread.h>
#include <stdlib.h>

#include "array/array_internal.h"
#include "array/arrays.h"
#include "base/buffer_internal.h"
#include "tessera/engine/array.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"

typedef struct heap {
  pthread_mutex_t mutex;
  int64_t taken, most;  // bytes
  int calls;
  int until_failure;  // calls until the one that fails; negative = none
} heap;

#define HEAP ((heap){.mutex = PTHREAD_MUTEX_INITIALIZER, .until_failure = -1})

static void *take(void *context, int64_t bytes, int64_t alignment) {
  heap *h = context;
  pthread_mutex_lock(&h->mutex);
  h->calls++;
  const bool fails = h->until_failure >= 0 && h->until_failure-- == 0;
  if (!fails) h->taken += bytes;
  if (h->taken > h->most) h->most = h->taken;
  pthread_mutex_unlock(&h->mutex);
  return fails ? NULL : aligned_alloc((size_t)alignment, (size_t)bytes);
}

static void put_back(void *context, void *block, int64_t bytes) {
  heap *h = context;
  pthread_mutex_lock(&h->mutex);
  h->taken -= bytes;
  pthread_mutex_unlock(&h->mutex);
  free(block);
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

static tsr_comm *comm_with(tsr_buffer_pool *pool, int64_t devices) {
  const tsr_comm_options options = {.size = sizeof options, .workers = 1, .buffers = pool};
  tsr_comm *comm = NULL;
  assert_ok(tsr_comm_create(devices, &options, &comm));
  assert_ptr_equal(tsr_comm_buffers(comm), pool);
  return comm;
}

// ---- all that arrays do ----

typedef struct work {
  tsr_comm *comm;
  const tsr_layout *from, *to;
  const void *host;
  tsr_reshard_method method;
} work;

static tsr_status do_all(const work *w, tsr_array *arrays[3]) {
  const tsr_reshard_options options = {.size = sizeof options, .method = w->method};
  float back[64];
  void *data = NULL;
  TSR_TRY(tsr_array_shard(w->comm, w->from, TSR_F32, w->host, NULL, &arrays[0]));
  TSR_TRY(tsr_array_reshard(arrays[0], w->to, &options, &arrays[1]));
  TSR_TRY(tsr_array_zeros(w->comm, w->to, TSR_F32, &arrays[2]));
  TSR_TRY(tsr_array_write(arrays[2], 1, &data));
  return tsr_array_gather(arrays[1], back, sizeof back, NULL);
}

static tsr_status do_work(const work *w) {
  tsr_array *arrays[3] = {NULL};
  tsr_status status = do_all(w, arrays);
  for (int i = 0; i < 3; i++) tsr_array_release(arrays[i]);
  return status;
}

static const char *const specs[][2] = {
    {"x, _", "_, y"}, {"_, _", "x, y"}, {"x, _ | unreduced=y", "_, x"}};

static void begin(work *w, size_t number, tsr_buffer_pool *pool, const void *host) {
  *w = (work){.comm = comm_with(pool, 4),
              .from = test_layout_of("x=2,y=2", specs[number / 2][0], "8,8", TSR_POLICY_ERROR),
              .to = test_layout_of("x=2,y=2", specs[number / 2][1], "8,8", TSR_POLICY_ERROR),
              .host = host,
              .method = number % 2 ? TSR_RESHARD_SEQUENCE : TSR_RESHARD_DIRECT};
}

static void end(work *w) {
  tsr_layout_release(w->from);
  tsr_layout_release(w->to);
  tsr_comm_release(w->comm);
}

static void every_byte_of_an_array_is_of_the_callers_allocator(void **state) {
  (void)state;
  float host[64] = {0};
  for (size_t i = 0; i < 2 * COUNT_OF(specs); i++) {
    heap h = HEAP;
    tsr_buffer_pool *pool = pool_of(&h, false);
    work w;
    begin(&w, i, pool, host);
    tsr_array *arrays[3] = {NULL};
    assert_ok(do_all(&w, arrays));
    int64_t bytes = 0;
    for (int a = 0; a < 3; a++) bytes += tsr_array_memory(arrays[a]);
    assert_true(h.most >= bytes - tsr_array_memory(arrays[1]));
    assert_int_equal(h.taken, tsr_buffer_pool_in_use(pool) + tsr_buffer_pool_idle(pool));
    for (int a = 0; a < 3; a++)
      for (int64_t k = 0; k < tsr_array_local_count(arrays[a]); k++) {
        int64_t offset = -1;
        assert_false(tsr_buffer_is_borrowed(tsr_array_buffer(arrays[a], k, &offset)));
      }
    for (int a = 0; a < 3; a++) tsr_array_release(arrays[a]);
    assert_int_equal(tsr_buffer_pool_in_use(pool), 0);
    end(&w);
    tsr_buffer_pool_release(pool);
    assert_int_equal(h.taken, 0);
  }
}

static void an_allocator_may_fail_at_any_call(void **state) {
  (void)state;
  float host[64] = {0};
  for (size_t i = 0; i < 2 * COUNT_OF(specs); i++) {
    heap h = HEAP;
    tsr_buffer_pool *pool = pool_of(&h, true);
    work w;
    begin(&w, i, pool, host);
    assert_ok(do_work(&w));
    const int calls = h.calls;
    assert_true(calls >= 4);
    for (int nth = 0; nth < calls; nth++) {
      h.until_failure = nth;
      assert_fails_with(do_work(&w), NO_MEMORY, "buffer of ");
      assert_int_equal(h.taken, 0);
      assert_int_equal(tsr_buffer_pool_in_use(pool), 0);
    }
    h.until_failure = -1;
    assert_ok(do_work(&w));
    end(&w);
    tsr_buffer_pool_release(pool);
    assert_int_equal(h.taken, 0);
  }
}

static void comms_share_a_pool(void **state) {
  (void)state;
  heap h = HEAP;
  tsr_buffer_pool *pool = pool_of(&h, false);
  tsr_comm *first = comm_with(pool, 4), *second = comm_with(pool, 2);
  tsr_layout *four = test_layout_of("x=4", "x", "64", TSR_POLICY_ERROR);
  tsr_layout *two = test_layout_of("x=2", "x", "32", TSR_POLICY_ERROR);
  tsr_array *a = NULL, *b = NULL;
  tsr_buffer_pool_release(pool);  // the comms hold it
  assert_ok(tsr_array_zeros(first, four, TSR_F32, &a));
  assert_int_equal(tsr_buffer_pool_in_use(pool), 256);
  tsr_array_release(a);
  assert_ok(tsr_array_zeros(second, two, TSR_F32, &b));
  assert_int_equal(h.calls, 4);  // what the one let go serves the other
  assert_int_equal(tsr_buffer_pool_idle(pool), 128);
  tsr_comm_release(first);
  tsr_comm_release(second);
  tsr_array_release(b);
  assert_int_equal(h.taken, 0);
  tsr_layout_release(four);
  tsr_layout_release(two);
}

SUITE(memory, TEST(every_byte_of_an_array_is_of_the_callers_allocator),
      TEST(an_allocator_may_fail_at_any_call), TEST(comms_share_a_pool))
