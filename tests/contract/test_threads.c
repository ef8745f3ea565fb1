// What array.h allows from several threads at once: everything that only reads an array, on a comm
// of one rank. ThreadSanitizer judges (`make tsan`); elsewhere only the answers are compared.
#include <pthread.h>
#include <string.h>

#include "array/array_internal.h"
#include "contract/world.h"
#include "tessera/engine/array.h"

enum { THREADS = 4, ROUNDS = 8 };

static tsr_status compare(const world *w, const float *host) {
  for (int i = 0; i < 128; i++)
    if (host[i] != w->host[i])
      return tsr_fail(BAD_ARGUMENT, "element %d is %g", i, (double)host[i]);
  return NULL;
}

static tsr_status read_once(const world *w) {
  float host[128];
  tsr_array *again = tsr_array_retain(w->array), *moved = NULL;
  tsr_local_shard part = TSR_LOCAL_SHARD;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_status status = NULL;
  for (int64_t i = 0; i < tsr_array_local_count(again) && !status; i++)
    status = tsr_array_local_at(again, i, &part);
  if (!status) status = tsr_array_to_host_local(again, host, sizeof host, NULL);
  if (!status) status = compare(w, host);
  memset(host, 0, sizeof host);
  if (!status) status = tsr_array_gather(again, host, sizeof host, NULL);
  if (!status) status = compare(w, host);
  if (!status) status = tsr_array_check_replicas(again);
  if (!status) status = tsr_array_reshard(again, w->other, NULL, &moved);
  tsr_array_print(again, &text);
  tsr_text_deinit(&text);
  tsr_array_release(moved);
  tsr_array_release(again);
  return status;
}

static void *read_often(void *context) {
  const world *w = context;
  tsr_status status = NULL;
  for (int i = 0; i < ROUNDS && !status; i++) status = read_once(w);
  return status;
}

static void one_array_is_read_by_several_threads(void **state) {
  world *w = *state;
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, read_often, w), 0);
  for (int i = 0; i < THREADS; i++) {
    void *status = NULL;
    pthread_join(threads[i], &status);
    assert_ok(status);
  }
}

int suite_threads(void);
int suite_threads(void) {
  const struct CMUnitTest tests[] = {TEST(one_array_is_read_by_several_threads)};
  return cmocka_run_group_tests_name("threads", tests, world_set_up, world_tear_down);
}
