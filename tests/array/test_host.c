// Whole tensors in host memory: into shards and back, strided, borrowed, the part of a process.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array_internal.h"
#include "array/arrays.h"
#include "tessera/engine/array.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"

static const tsr_dtype DTYPES[] = {TSR_I2,  TSR_F4E2M1FN, TSR_F6E2M3FN, TSR_BOOL,
                                   TSR_F16, TSR_F32,      TSR_I64,      TSR_C128};

static tsr_shape random_shape(test_random *random) {
  tsr_shape shape = {.rank = (int)test_random_range(random, 1, 3)};
  for (int d = 0; d < shape.rank; d++)
    shape.dims[d] = test_random_range(random, test_random_range(random, 0, 9) ? 1 : 0, 11);
  return shape;
}

static void shards_hold_what_the_layout_says_and_gather_gives_it_back(void **state) {
  (void)state;
  test_random random = {11};
  tsr_comm *comm = test_comm(8, 2);
  for (int turn = 0; turn < 300; turn++) {
    const tsr_shape shape = random_shape(&random);
    const tsr_dtype dtype = DTYPES[test_random_range(&random, 0, COUNT_OF(DTYPES) - 1)];
    tsr_layout *layout = test_random_layout(&random, &shape);
    void *host = test_tensor(&shape, dtype, (uint64_t)turn);
    const size_t bytes = (size_t)test_tensor_bytes(&shape, dtype);
    void *back = calloc(1, bytes + 1);
    tsr_array *array = NULL;
    assert_ok(tsr_array_shard(comm, layout, dtype, host, NULL, &array));
    assert_ok(test_array_check(array, (uint64_t)turn));
    assert_ok(tsr_array_check_replicas(array));
    assert_ok(tsr_array_gather(array, back, (int64_t)bytes, NULL));
    assert_memory_equal(back, host, bytes);
    tsr_array_release(array);
    tsr_layout_release(layout);
    free(host);
    free(back);
  }
  tsr_comm_release(comm);
}

// The element at the low corner of a strided tensor, and its strides: dimensions in another order,
// some of them backwards.
static char *lay_strided(test_random *random, const tsr_shape *shape, const char *dense, int bits,
                         int64_t *strides, char **out_first) {
  const int order = (int)test_random_range(random, 0, 1);
  int64_t stride = 1, first = 0, count = 1;
  for (int i = 0; i < shape->rank; i++) {
    const int d = order ? i : shape->rank - 1 - i;
    strides[d] = stride;
    stride *= shape->dims[d] + 1;  // a gap
    if (test_random_range(random, 0, 1)) {
      first += strides[d] * (shape->dims[d] ? shape->dims[d] - 1 : 0);
      strides[d] = -strides[d];
    }
    count *= shape->dims[d];
  }
  char *block = calloc(1, (size_t)(stride * bits / 8) + 16);
  for (int64_t i = 0; i < count; i++) {
    int64_t place = first, rest = i;
    for (int d = shape->rank - 1; d >= 0; d--) {
      place += rest % shape->dims[d] * strides[d];
      rest /= shape->dims[d];
    }
    const tsr_copy copy = {.from = i, .to = place, .length = 1};
    tsr_copy_run(&copy, bits, dense, block);
  }
  *out_first = block + first * bits / 8;
  return block;
}

static void strided_tensors_are_read_and_written(void **state) {
  (void)state;
  test_random random = {12};
  tsr_comm *comm = test_comm(8, 2);
  for (int turn = 0; turn < 150; turn++) {
    const tsr_shape shape = random_shape(&random);
    const tsr_dtype dtype = DTYPES[test_random_range(&random, 3, COUNT_OF(DTYPES) - 1)];
    const int bits = tsr_dtype_info_of(dtype)->bits;
    tsr_layout *layout = test_random_layout(&random, &shape);
    char *host = test_tensor(&shape, dtype, 5), *first = NULL;
    int64_t strides[TSR_MAX_RANK];
    char *block = lay_strided(&random, &shape, host, bits, strides, &first);
    tsr_host_options options = TSR_HOST_OPTIONS;
    tsr_array *array = NULL, *again = NULL;
    options.strides = strides;
    options.borrow = turn % 2;
    assert_ok(tsr_array_shard(comm, layout, dtype, first, &options, &array));
    assert_ok(test_array_check(array, 5));
    if (!options.borrow) {
      int64_t reach = 1;
      for (int d = 0; d < shape.rank; d++) reach *= shape.dims[d] + 1;
      memset(block, 0, (size_t)(reach * bits / 8));
      assert_ok(tsr_array_gather(array, first, (reach * bits + 7) / 8, &options));
      assert_ok(tsr_array_shard(comm, layout, dtype, first, &options, &again));
      assert_ok(test_array_check(again, 5));
    }
    tsr_array_release(array);
    tsr_array_release(again);
    tsr_layout_release(layout);
    free(host);
    free(block);
  }
  tsr_comm_release(comm);
}

static void ranks_that_are_not_there_are_refused(void **state) {
  (void)state;
  static const int roots[] = {-1, 1, 5};
  tsr_comm *comm = test_comm(1, 1);
  tsr_layout *layout = test_layout_of("x=1", "_", "4", TSR_POLICY_ERROR);
  tsr_array *array = NULL;
  assert_ok(tsr_array_zeros(comm, layout, TSR_F32, &array));
  for (size_t i = 0; i < COUNT_OF(roots); i++) {
    tsr_host_options options = TSR_HOST_OPTIONS;
    char message[64];
    options.to_root = true;
    options.root = roots[i];
    snprintf(message, sizeof message, "gather to rank %d of 1", roots[i]);
    assert_fails(tsr_array_gather(array, NULL, 0, &options), BAD_ARGUMENT, message);
  }
  tsr_array_release(array);
  tsr_layout_release(layout);
  tsr_comm_release(comm);
}

// A tensor of 3 x 5 whose first element lies somewhere in a block.
static void rooms_that_are_too_small_are_refused(void **state) {
  (void)state;
  static const struct {
    tsr_dtype dtype;
    int64_t strides[2];  // 0, 0: none are given
    int64_t first;       // byte of the block where the first element lies
    int64_t needed;
  } cases[] = {
      {TSR_F32, {0, 0}, 0, 60},    {TSR_F32, {8, 1}, 0, 84},
      {TSR_F32, {1, 3}, 0, 60},    {TSR_F32, {-5, 1}, 40, 60},
      {TSR_F32, {-8, -1}, 80, 84}, {TSR_F32, {0, 1}, 0, 20},
      {TSR_F32, {5, 0}, 0, 44},    {TSR_F32, {INT64_C(1) << 50, 1}, 0, (INT64_C(8) << 50) + 20},
      {TSR_I4, {0, 0}, 0, 8},      {TSR_I4, {-5, 1}, 5, 8},
      {TSR_I4, {-1, -3}, 7, 8},
  };
  tsr_comm *comm = test_comm(4, 1);
  tsr_layout *layout = test_layout_of("x=4", "_, _", "3,5", TSR_POLICY_ERROR);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    char block[96], message[96];
    tsr_host_options options = TSR_HOST_OPTIONS;
    tsr_array *array = NULL;
    const int64_t *strides = cases[i].strides, needed = cases[i].needed;
    if (strides[0] || strides[1]) options.strides = strides;
    memset(block, 9, sizeof block);
    assert_ok(tsr_array_zeros(comm, layout, cases[i].dtype, &array));
    snprintf(message, sizeof message, "the buffer has %lld bytes, wanted at least %lld",
             (long long)needed - 1, (long long)needed);
    char *const first = block + cases[i].first;
    assert_fails(tsr_array_gather(array, first, needed - 1, &options), BAD_ARGUMENT, message);
    assert_fails(tsr_array_to_host_local(array, first, needed - 1, &options), BAD_ARGUMENT,
                 message);
    assert_fails_with(tsr_array_gather(array, NULL, needed, &options), BAD_ARGUMENT,
                      "no buffer was given");
    assert_fails_with(tsr_array_gather(array, first, -1, &options), BAD_ARGUMENT, "has -1 bytes");
    for (size_t b = 0; b < sizeof block; b++) assert_int_equal(block[b], 9);
    if (needed <= (int64_t)sizeof block) {
      assert_ok(tsr_array_gather(array, first, needed, &options));
      for (size_t b = (size_t)needed; b < sizeof block; b++) assert_int_equal(block[b], 9);
      assert_ok(tsr_array_to_host_local(array, first, needed, &options));
    }
    tsr_array_release(array);
  }
  tsr_layout_release(layout);
  tsr_comm_release(comm);
}

static void an_empty_tensor_needs_no_room(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(2, 1);
  tsr_layout *layout = test_layout_of("x=2", "_, _", "3,0", TSR_POLICY_ERROR);
  tsr_array *array = NULL;
  assert_ok(tsr_array_zeros(comm, layout, TSR_F32, &array));
  assert_ok(tsr_array_gather(array, NULL, 0, NULL));
  assert_ok(tsr_array_to_host_local(array, NULL, 0, NULL));
  tsr_array_release(array);
  tsr_layout_release(layout);
  tsr_comm_release(comm);
}

static void strides_that_lead_too_far_are_refused(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(1, 1);
  tsr_layout *layout = test_layout_of("x=1", "_, _", "4,4", TSR_POLICY_ERROR);
  tsr_host_options options = TSR_HOST_OPTIONS;
  tsr_array *array = NULL;
  float host[16] = {0};
  options.strides = (int64_t[]){INT64_MAX / 2, 1};
  assert_fails(tsr_array_shard(comm, layout, TSR_F32, host, &options, &array), OVERFLOW,
               "stride 4611686018427387903 of dimension 0 of size 4 overflows");
  options.strides = (int64_t[]){INT64_MIN, 1};
  assert_fails(tsr_array_shard(comm, layout, TSR_F32, host, &options, &array), OVERFLOW,
               "stride -9223372036854775808 of dimension 0 of size 4 overflows");
  options = (tsr_host_options){.size = 3};
  assert_fails_with(tsr_array_shard(comm, layout, TSR_F32, host, &options, &array), BAD_ARGUMENT,
                    "tsr_host_options has size 3, wanted");
  tsr_layout_release(layout);
  tsr_comm_release(comm);
}

static void count_release(void *context, void *data) {
  (void)data;
  ++*(int *)context;
}

static void cuts_of_the_first_dimension_stay_in_the_callers_memory(void **state) {
  (void)state;
  static const struct {
    const char *mesh, *spec, *shape;
    tsr_dtype dtype;
    tsr_policy policy;
    int borrowed;  // parts
  } cases[] = {
      {"x=4", "x", "8,3", TSR_F32, TSR_POLICY_ERROR, 4},
      {"x=2,y=2", "x", "8,3", TSR_F32, TSR_POLICY_ERROR, 4},
      {"x=2,y=2", "y+x", "8,3", TSR_F32, TSR_POLICY_ERROR, 4},
      {"x=4", "_, x", "8,4", TSR_F32, TSR_POLICY_ERROR, 0},
      {"x=4", "_, x", "1,8", TSR_F32, TSR_POLICY_ERROR, 4},
      {"x=2", "()", "8", TSR_F32, TSR_POLICY_ERROR, 2},
      {"x=4", "x", "7", TSR_F32, TSR_POLICY_PAD, 3},
      {"x=4", "x", "7", TSR_F32, TSR_POLICY_UNEVEN, 4},
      {"x=4", "x", "8", TSR_I4, TSR_POLICY_ERROR, 4},
      {"x=4", "x", "12", TSR_I4, TSR_POLICY_ERROR, 0},
      {"x=2", "x/cyclic(1)", "8", TSR_F32, TSR_POLICY_ERROR, 0},
  };
  tsr_comm *comm = test_comm(4, 1);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_layout *layout =
        test_layout_of(cases[i].mesh, cases[i].spec, cases[i].shape, cases[i].policy);
    const tsr_shape shape = tsr_layout_shape(layout);
    char *host = test_tensor(&shape, cases[i].dtype, 3);
    const size_t bytes = (size_t)test_tensor_bytes(&shape, cases[i].dtype);
    int released = 0, borrowed = 0;
    tsr_host_options options = TSR_HOST_OPTIONS;
    tsr_array *array = NULL;
    options.borrow = true;
    options.release = count_release;
    options.release_context = &released;
    assert_ok(tsr_array_shard(comm, layout, cases[i].dtype, host, &options, &array));
    assert_int_equal(released, cases[i].borrowed == 0);
    for (int64_t k = 0; k < tsr_array_local_count(array); k++) {
      tsr_local_shard part = TSR_LOCAL_SHARD;
      assert_ok(tsr_array_local_at(array, k, &part));
      borrowed += part.borrowed;
      const char *data = part.data;
      if (part.bytes) assert_int_equal(part.borrowed, data >= host && data < host + bytes);
    }
    assert_int_equal(borrowed, cases[i].borrowed);
    assert_ok(test_array_check(array, 3));
    // What is borrowed is not written to.
    void *data = NULL;
    assert_ok(tsr_array_write(array, 0, &data));
    memset(data, 0xFF, 1);
    tsr_array *again = NULL;
    assert_ok(tsr_array_shard(comm, layout, cases[i].dtype, host, NULL, &again));
    assert_ok(test_array_check(again, 3));
    tsr_array_release(again);
    tsr_array_release(array);
    assert_int_equal(released, 1);
    tsr_layout_release(layout);
    free(host);
  }
  tsr_comm_release(comm);
}

static void memory_that_is_not_aligned_is_copied(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(2, 1);
  tsr_layout *layout = test_layout_of("x=2", "x", "4", TSR_POLICY_ERROR);
  char block[40];
  tsr_host_options options = TSR_HOST_OPTIONS;
  tsr_array *array = NULL;
  tsr_local_shard part = TSR_LOCAL_SHARD;
  options.borrow = true;
  char *odd = (char *)(((uintptr_t)block + 7) / 8 * 8 + 1);
  memset(block, 1, sizeof block);
  assert_ok(tsr_array_shard(comm, layout, TSR_F64, odd, &options, &array));
  assert_ok(tsr_array_local_at(array, 0, &part));
  assert_false(part.borrowed);
  tsr_array_release(array);
  tsr_layout_release(layout);
  tsr_comm_release(comm);
}

static void a_failed_call_releases_nothing_and_a_copy_releases_at_once(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(1, 1);
  tsr_layout *bad = test_layout_of("x=2", "x", "4", TSR_POLICY_ERROR);
  tsr_layout *good = test_layout_of("x=1", "x", "4", TSR_POLICY_ERROR);
  float host[4] = {0};
  int released = 0;
  tsr_host_options options = TSR_HOST_OPTIONS;
  tsr_array *array = NULL;
  options.release = count_release;
  options.release_context = &released;
  options.borrow = true;
  assert_fails_with(tsr_array_shard(comm, bad, TSR_F32, host, &options, &array), UNKNOWN_DEVICE,
                    "device 1");
  assert_int_equal(released, 0);
  options.borrow = false;
  assert_ok(tsr_array_shard(comm, good, TSR_F32, host, &options, &array));
  assert_int_equal(released, 1);
  tsr_array_release(array);
  assert_int_equal(released, 1);
  tsr_layout_release(bad);
  tsr_layout_release(good);
  tsr_comm_release(comm);
}

static void one_process_holds_the_whole_tensor(void **state) {
  (void)state;
  test_random random = {13};
  tsr_comm *comm = test_comm(8, 1);
  for (int turn = 0; turn < 50; turn++) {
    tsr_shape shape = random_shape(&random);
    tsr_layout *layout = test_random_layout(&random, &shape);
    void *host = test_tensor(&shape, TSR_F32, 1), *back = test_tensor(&shape, TSR_F32, 2);
    tsr_range hull[TSR_MAX_RANK];
    tsr_array *array = NULL;
    int64_t count = 0;
    assert_ok(tsr_shape_count(&shape, &count));
    assert_ok(tsr_array_host_local(comm, layout, hull));
    for (int d = 0; d < shape.rank && count; d++) {
      assert_int_equal(hull[d].lo, 0);
      assert_int_equal(hull[d].hi, shape.dims[d]);
    }
    assert_ok(tsr_array_from_host_local(comm, layout, TSR_F32, host, NULL, &array));
    assert_ok(test_array_check(array, 1));
    assert_ok(tsr_array_to_host_local(array, back, count * 4, NULL));
    assert_memory_equal(back, host, (size_t)count * 4);
    tsr_array_release(array);
    tsr_layout_release(layout);
    free(host);
    free(back);
  }
  tsr_comm_release(comm);
}

typedef struct work {
  tsr_comm *comm;
  const tsr_layout *layout;
  const void *host;
} work;

static tsr_status there_and_back(void *context) {
  const work *w = context;
  tsr_host_options options = TSR_HOST_OPTIONS;
  tsr_array *array = NULL, *local = NULL;
  char back[64];
  int released = 0;
  options.borrow = true;
  options.release = count_release;
  options.release_context = &released;
  tsr_buffer_pool_trim(tsr_comm_buffers(w->comm), 0);
  tsr_status status = tsr_array_shard(w->comm, w->layout, TSR_F32, w->host, &options, &array);
  if ((released == 0) == !array) status = tsr_note(status, "released without need");
  if (!status) status = tsr_array_gather(array, back, sizeof back, NULL);
  if (!status)
    status = tsr_array_from_host_local(w->comm, w->layout, TSR_F32, w->host, NULL, &local);
  if (!status) status = tsr_array_to_host_local(local, back, sizeof back, NULL);
  tsr_array_release(array);
  tsr_array_release(local);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  float host[15] = {0};
  work w = {test_comm(4, 1), test_layout_of("x=2,y=2", "x, y/cyclic(1)", "3,5", TSR_POLICY_PAD),
            host};
  test_allocation_sweep(there_and_back, &w);
  tsr_layout_release(w.layout);
  tsr_comm_release(w.comm);
}

SUITE(host, TEST(shards_hold_what_the_layout_says_and_gather_gives_it_back),
      TEST(strided_tensors_are_read_and_written), TEST(ranks_that_are_not_there_are_refused),
      TEST(rooms_that_are_too_small_are_refused), TEST(an_empty_tensor_needs_no_room),
      TEST(strides_that_lead_too_far_are_refused),
      TEST(cuts_of_the_first_dimension_stay_in_the_callers_memory),
      TEST(memory_that_is_not_aligned_is_copied),
      TEST(a_failed_call_releases_nothing_and_a_copy_releases_at_once),
      TEST(one_process_holds_the_whole_tensor), TEST(every_allocation_may_fail))
