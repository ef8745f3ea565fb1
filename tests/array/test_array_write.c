// All shards of an array written at once: replicas keep sharing, what is not the array's own stays.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "array/array_internal.h"
#include "array/arrays.h"
#include "support/ranks.h"
#include "tessera/engine/array.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"
#include "tessera/own.h"

// Adds `by` to every element of a matrix of i32, and counts the calls.
typedef struct adding {
  _Atomic int calls;
  int32_t by;
  int64_t refused;  // the device whose part fails; -1 = none
} adding;

static tsr_status add(void *context, const tsr_local_shard *part, void *data) {
  adding *a = context;
  int32_t *values = data;
  atomic_fetch_add(&a->calls, 1);
  if (part->device == a->refused) return tsr_fail(NOT_FOUND, "no such row");
  for (int64_t i = 0; i < part->shape.dims[0]; i++)
    for (int64_t k = 0; k < part->shape.dims[1]; k++)
      values[i * part->strides[0] + k * part->strides[1]] += a->by;
  return NULL;
}

// Whether element i of a 4 x 6 matrix is i + `by` on every device here.
static tsr_status check_values(const tsr_array *array, int32_t by) {
  for (int64_t p = 0; p < tsr_array_local_count(array); p++) {
    tsr_local_shard part = TSR_LOCAL_SHARD;
    TSR_TRY(tsr_array_local_at(array, p, &part));
    const int32_t *values = part.data;
    for (int64_t i = part.ranges[0].lo; i < part.ranges[0].hi; i++)
      for (int64_t k = part.ranges[1].lo; k < part.ranges[1].hi; k++) {
        const int32_t found = values[(i - part.ranges[0].lo) * part.strides[0] +
                                     (k - part.ranges[1].lo) * part.strides[1]];
        if (found != 6 * i + k + by)
          return tsr_fail(BROKEN_PLAN, "device %lld has %d at (%lld, %lld)", (long long)part.device,
                          found, (long long)i, (long long)k);
      }
  }
  return NULL;
}

static const int32_t *count_up(void) {
  static _Thread_local int32_t host[24];
  for (int i = 0; i < 24; i++) host[i] = i;
  return host;
}

static tsr_array *make(tsr_comm *comm, const char *spec, tsr_policy policy) {
  tsr_layout *layout = test_layout_of("x=2,y=4", spec, "4,6", policy);
  tsr_array *array = NULL;
  assert_ok(tsr_array_shard(comm, layout, TSR_I32, count_up(), NULL, &array));
  tsr_layout_release(layout);
  return array;
}

static void every_distinct_shard_is_written_once_and_memory_stays(void **state) {
  (void)state;
  static const struct {
    const char *spec;
    tsr_policy policy;
    int shards;
  } cases[] = {{"()", TSR_POLICY_ERROR, 1},
               {"x, _", TSR_POLICY_ERROR, 2},
               {"_, y", TSR_POLICY_PAD, 4},
               {"y, x", TSR_POLICY_ERROR, 8}};
  tsr_comm *comm = test_comm(8, 2);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_array *array = make(comm, cases[i].spec, cases[i].policy);
    const int64_t before = tsr_array_memory(array);
    const void *data = tsr_array_data(array, 0);
    adding a = {.by = 100, .refused = -1};
    assert_ok(tsr_array_write_all(array, add, &a));
    assert_int_equal(a.calls, cases[i].shards);
    assert_int_equal(tsr_array_memory(array), before);
    assert_ptr_equal(tsr_array_data(array, 0), data);  // in place
    assert_ok(check_values(array, 100));
    assert_ok(tsr_array_check_replicas(array));
    tsr_array_release(array);
  }
  tsr_comm_release(comm);
}

static void another_array_with_the_same_memory_keeps_its_values(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(8, 2);
  tsr_array *whole = make(comm, "()", TSR_POLICY_ERROR), *same = NULL;
  assert_ok(tsr_array_reshard(whole, tsr_array_layout(whole), NULL, &same));
  assert_ptr_equal(tsr_array_data(same, 0), tsr_array_data(whole, 0));
  adding a = {.by = 7, .refused = -1};
  assert_ok(tsr_array_write_all(same, add, &a));
  assert_int_equal(a.calls, 1);
  assert_ok(check_values(same, 7));
  assert_ok(check_values(whole, 0));
  assert_int_equal(tsr_array_memory(same), 96);
  assert_int_equal(tsr_array_memory(whole), 96);
  for (int64_t i = 1; i < 8; i++)
    assert_ptr_equal(tsr_array_data(same, i), tsr_array_data(same, 0));
  tsr_array_release(whole);
  tsr_array_release(same);
  tsr_comm_release(comm);
}

static void borrowed_memory_is_not_written(void **state) {
  (void)state;
  int32_t host[24];
  tsr_comm *comm = test_comm(8, 1);
  tsr_layout *layout = test_layout_of("x=2,y=4", "x, _", "4,6", TSR_POLICY_ERROR);
  tsr_array *array = NULL;
  tsr_host_options options = TSR_HOST_OPTIONS;
  options.borrow = true;
  memcpy(host, count_up(), sizeof host);
  assert_ok(tsr_array_shard(comm, layout, TSR_I32, host, &options, &array));
  assert_ptr_equal(tsr_array_data(array, 0), host);
  adding a = {.by = 1, .refused = -1};
  assert_ok(tsr_array_write_all(array, add, &a));
  assert_int_equal(a.calls, 2);
  assert_memory_equal(host, count_up(), sizeof host);
  assert_ok(check_values(array, 1));
  assert_int_equal(tsr_array_memory(array), 96);
  tsr_array_release(array);
  tsr_layout_release(layout);
  tsr_comm_release(comm);
}

// Writing shard by shard gives every device memory of its own, which writing all takes back.
static void replicas_that_went_apart_come_together(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(8, 2);
  tsr_array *array = make(comm, "()", TSR_POLICY_ERROR);
  for (int64_t i = 0; i < 8; i++) {
    void *data = NULL;
    assert_ok(tsr_array_write(array, i, &data));
    if (i) memset(data, 0x55, 96);
  }
  assert_int_equal(tsr_array_memory(array), 8 * 96);
  adding a = {.by = 3, .refused = -1};
  assert_ok(tsr_array_write_all(array, add, &a));
  assert_int_equal(a.calls, 1);
  assert_int_equal(tsr_array_memory(array), 96);
  assert_ok(check_values(array, 3));
  tsr_array_release(array);
  tsr_comm_release(comm);
}

static void a_failure_names_the_device_and_leaves_replicas_equal(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(8, 1);
  tsr_array *array = make(comm, "x, _", TSR_POLICY_ERROR), *donated = NULL;
  adding a = {.by = 3, .refused = 4};
  assert_fails(tsr_array_write_all(array, add, &a), NOT_FOUND, "device 4: no such row");
  assert_ok(tsr_array_check_replicas(array));
  assert_int_equal(tsr_array_memory(array), 96);
  const tsr_reshard_options donate = {.size = sizeof donate, .donate = true};
  assert_ok(tsr_array_reshard(array, tsr_array_layout(array), &donate, &donated));
  assert_fails_with(tsr_array_write_all(array, add, &a), ARRAY_DELETED, "donated");
  tsr_array_release(donated);
  tsr_array_release(array);
  tsr_comm_release(comm);
}

// ---- several ranks ----

static tsr_status write_between(void *context, tsr_comm *comm) {
  const char *spec = context;
  TSR_OWN(mesh, mesh);
  TSR_OWN(array, array);
  adding a = {.by = 50, .refused = -1};
  TSR_TRY(tsr_mesh_parse("x=2,y=4", NULL, &mesh));
  TSR_TRY(tsr_array_put(comm, mesh, spec, TSR_SHAPE(4, 6), TSR_I32, count_up(), &array));
  const int64_t before = tsr_array_memory(array);
  TSR_TRY(tsr_array_write_all(array, add, &a));
  TSR_TRY(check_values(array, 50));
  if (tsr_array_memory(array) != before)
    return tsr_fail(BROKEN_PLAN, "%lld bytes, before %lld", (long long)tsr_array_memory(array),
                    (long long)before);
  return tsr_array_check_replicas(array);
}

static void each_rank_writes_its_own(void **state) {
  (void)state;
  static const char *const specs[] = {"()", "x, _", "_, x", "y, x"};
  count_up();
  for (size_t i = 0; i < COUNT_OF(specs); i++)
    assert_ok(
        test_ranks_run(3, (int64_t[]){0, 3, 4, 8}, write_between, (void *)(uintptr_t)specs[i]));
}

// ---- memory ----

static tsr_status write_shared(void *context) {
  tsr_array *whole = context;
  TSR_OWN(array, same);
  adding a = {.by = 1, .refused = -1};
  tsr_buffer_pool_trim(tsr_comm_buffers(tsr_array_comm(whole)), 0);
  TSR_TRY(tsr_array_reshard(whole, tsr_array_layout(whole), NULL, &same));
  tsr_status status = tsr_array_write_all(same, add, &a);
  // Whatever failed, both are whole.
  assert_ok(check_values(whole, 0));
  assert_ok(check_values(same, status ? 0 : 1));
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(8, 1);
  tsr_array *whole = make(comm, "x, _", TSR_POLICY_ERROR);
  test_allocation_sweep(write_shared, whole);
  tsr_array_release(whole);
  tsr_comm_release(comm);
}

SUITE(array_write, TEST(every_distinct_shard_is_written_once_and_memory_stays),
      TEST(another_array_with_the_same_memory_keeps_its_values),
      TEST(borrowed_memory_is_not_written), TEST(replicas_that_went_apart_come_together),
      TEST(a_failure_names_the_device_and_leaves_replicas_equal), TEST(each_rank_writes_its_own),
      TEST(every_allocation_may_fail))
