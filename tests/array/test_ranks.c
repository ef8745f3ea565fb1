// Arrays over several processes.
#include <stdlib.h>
#include <string.h>

#include "array/array_internal.h"
#include "array/arrays.h"
#include "support/ranks.h"
#include "tessera/engine/array.h"

typedef struct job {
  tsr_layout *from, *to;
  tsr_dtype dtype;
  void *host;
  size_t bytes;
} job;

static tsr_status check_equal(const void *a, const void *b, size_t bytes) {
  return memcmp(a, b, bytes) == 0 ? NULL : tsr_fail(BROKEN_PLAN, "the tensor came back changed");
}

static tsr_status gather_all(tsr_array *array, const job *j, int root) {
  const int rank = tsr_comm_rank(tsr_array_comm(array));
  tsr_host_options options = {.size = sizeof options};  // zero: all ranks get the tensor
  if (root >= 0) {
    options.to_root = true;
    options.root = root;
  }
  const bool mine = root < 0 || root == rank;
  void *back = mine ? calloc(1, j->bytes + 1) : NULL;
  tsr_status status = tsr_array_gather(array, back, mine ? (int64_t)j->bytes : 0, &options);
  if (!status && mine) status = check_equal(back, j->host, j->bytes);
  free(back);
  return status;
}

static tsr_status move_around(void *context, tsr_comm *comm) {
  const job *j = context;
  tsr_array *array = NULL, *moved = NULL;
  const tsr_reshard_options options = {.size = sizeof options, .donate = true};
  tsr_status status = tsr_array_shard(comm, j->from, j->dtype, j->host, NULL, &array);
  if (!status) status = test_array_check(array, 3);
  if (!status) status = gather_all(array, j, -1);
  if (!status) status = tsr_array_reshard(array, j->to, &options, &moved);
  if (!status) status = test_array_check(moved, 3);
  if (!status) status = tsr_array_check_replicas(moved);
  if (!status) status = gather_all(moved, j, tsr_comm_rank_count(comm) - 1);
  tsr_array_release(array);
  tsr_array_release(moved);
  return status;
}

static void any_layout_becomes_any_other_between_processes(void **state) {
  (void)state;
  static const struct {
    int ranks;
    int64_t first[5];
  } fleets[] = {{2, {0, 4, 8}}, {3, {0, 1, 6, 8}}, {4, {0, 2, 4, 6, 8}}};
  static const tsr_dtype dtypes[] = {TSR_I4, TSR_F32, TSR_F6E2M3FN, TSR_C64};
  test_random random = {31};
  for (int turn = 0; turn < 60; turn++) {
    tsr_shape shape = {.rank = (int)test_random_range(&random, 1, 3)};
    for (int d = 0; d < shape.rank; d++) shape.dims[d] = test_random_range(&random, 1, 9);
    job j = {.from = test_random_layout(&random, &shape),
             .to = test_random_layout(&random, &shape),
             .dtype = dtypes[turn % 4]};
    j.host = test_tensor(&shape, j.dtype, 3);
    j.bytes = (size_t)test_tensor_bytes(&shape, j.dtype);
    const size_t fleet = (size_t)turn % COUNT_OF(fleets);
    assert_ok(test_ranks_run(fleets[fleet].ranks, fleets[fleet].first, move_around, &j));
    tsr_layout_release(j.from);
    tsr_layout_release(j.to);
    free(j.host);
  }
}

// ---- partial results ----

static tsr_status reduce_between(void *context, tsr_comm *comm) {
  const job *j = context;
  tsr_array *array = NULL, *moved = NULL, *back = NULL;
  tsr_status status = tsr_array_shard(comm, j->from, j->dtype, j->host, NULL, &array);
  if (!status) status = tsr_array_reshard(array, j->to, NULL, &moved);
  if (!status) status = test_array_check(moved, 3);
  if (!status) status = tsr_array_reshard(moved, j->from, NULL, &back);
  if (!status) status = gather_all(back, j, -1);
  tsr_array_release(back);
  back = NULL;
  const tsr_reshard_options options = {.size = sizeof options, .method = TSR_RESHARD_SEQUENCE};
  if (!status) status = tsr_array_reshard(array, j->to, &options, &back);
  if (!status) status = test_array_check(back, 3);
  tsr_array_release(array);
  tsr_array_release(moved);
  tsr_array_release(back);
  return status;
}

static void partial_results_are_reduced_between_processes(void **state) {
  (void)state;
  static const char *const pairs[][2] = {{"x, _ | unreduced=y", "_, x"},
                                         {"_, _ | unreduced=x", "y, _"},
                                         {"y, _ | unreduced=max(x)", "_, _"},
                                         {"_, _ | unreduced=x+y", "x, y"}};
  for (size_t i = 0; i < COUNT_OF(pairs); i++) {
    job j = {.from = test_layout_of("x=2,y=2,z=2", pairs[i][0], "4,6", TSR_POLICY_UNEVEN),
             .to = test_layout_of("x=2,y=2,z=2", pairs[i][1], "4,6", TSR_POLICY_UNEVEN),
             .dtype = TSR_I32,
             .host = test_tensor(TSR_SHAPE(4, 6), TSR_I32, 3),
             .bytes = 96};
    assert_ok(test_ranks_run(3, (int64_t[]){0, 3, 4, 8}, reduce_between, &j));
    tsr_layout_release(j.from);
    tsr_layout_release(j.to);
    free(j.host);
  }
}

// ---- the part of a process ----

// Rank 0 has rows 0 to 3, rank 1 rows 4 to 7, of 8 x 3.
static tsr_status host_local(void *context, tsr_comm *comm) {
  const job *j = context;
  const int64_t first = tsr_comm_rank(comm) * 4;
  tsr_range hull[2];
  float mine[12], back[12];
  tsr_array *array = NULL;
  memcpy(mine, (const float *)j->host + first * 3, sizeof mine);
  TSR_TRY(tsr_array_host_local(comm, j->from, hull));
  if (hull[0].lo != first || hull[0].hi != first + 4 || hull[1].lo != 0 || hull[1].hi != 3)
    return tsr_fail(BROKEN_PLAN, "the hull is another");
  TSR_TRY(tsr_array_from_host_local(comm, j->from, TSR_F32, mine, NULL, &array));
  tsr_status status = test_array_check(array, 3);
  if (!status && tsr_array_is_fully_addressable(array))
    status = tsr_fail(BROKEN_PLAN, "half of the array is elsewhere");
  if (!status) status = tsr_array_to_host_local(array, back, sizeof back, NULL);
  if (!status) status = check_equal(back, mine, sizeof mine);
  if (!status) status = gather_all(array, j, 0);
  tsr_array_release(array);
  return status;
}

static void each_process_gives_its_part_of_the_tensor(void **state) {
  (void)state;
  static const char *const specs[] = {"x+y", "x", "x/parts(a:8/4*2)"};
  for (size_t i = 0; i < 2; i++) {
    job j = {.from = test_layout_of("x=2,y=2", specs[i], "8,3", TSR_POLICY_ERROR),
             .host = test_tensor(TSR_SHAPE(8, 3), TSR_F32, 3),
             .bytes = 96};
    assert_ok(test_ranks_run(2, (int64_t[]){0, 2, 4}, host_local, &j));
    tsr_layout_release(j.from);
    free(j.host);
  }
}

static tsr_status with_hole(void *context, tsr_comm *comm) {
  const job *j = context;
  tsr_range hull[2];
  return tsr_array_host_local(comm, j->from, hull);
}

static void a_hole_in_the_part_of_a_process_is_named(void **state) {
  (void)state;
  // Rank 0 has devices 0 and 1 of the mesh [[0, 2], [3, 1]]: two opposite corners.
  job j = {.from = test_layout_of("x=2,y=2 devices=[0,2,3,1]", "x, y", "8,4", TSR_POLICY_ERROR)};
  assert_fails(
      test_ranks_run(2, (int64_t[]){0, 2, 4}, with_hole, &j), NOT_FILLED,
      "rank 0: the devices of rank 0 do not fill the box [0:8, 0:4] around what they hold: "
      "element (0, 2) is on none of them");
  tsr_layout_release(j.from);
}

// ---- overlapping shards, seen by one process ----

static tsr_status gather_heads(void *context, tsr_comm *comm) {
  const job *j = context;
  uint8_t mine[4], back[4];
  tsr_range hull[1];
  tsr_array *array = NULL;
  TSR_TRY(tsr_array_shard(comm, j->from, TSR_U8, j->host, NULL, &array));
  tsr_status status = tsr_array_host_local(comm, j->from, hull);
  if (!status) memcpy(mine, (const uint8_t *)j->host + hull[0].lo, 4);
  if (!status && hull[0].hi - hull[0].lo != 4) status = tsr_fail(BROKEN_PLAN, "another hull");
  if (!status) status = tsr_array_to_host_local(array, back, sizeof back, NULL);
  if (!status) status = check_equal(back, mine, 4);
  tsr_array_release(array);
  return status;
}

static void shards_that_hold_the_same_heads_are_gathered_in_turn(void **state) {
  (void)state;
  job j = {.from = test_layout_of("x=4", "x/parts(k:8/4*2)", "8", TSR_POLICY_ERROR),
           .host = test_tensor(TSR_SHAPE(8), TSR_U8, 3),
           .bytes = 8};
  assert_ok(test_ranks_run(2, (int64_t[]){0, 2, 4}, gather_heads, &j));
  tsr_layout_release(j.from);
  free(j.host);
}

// ---- replicas ----

static tsr_status spoil_one(void *context, tsr_comm *comm) {
  const job *j = context;
  tsr_array *array = NULL;
  void *data = NULL;
  TSR_TRY(tsr_array_shard(comm, j->from, TSR_U8, j->host, NULL, &array));
  tsr_status status = tsr_array_check_replicas(array);
  if (!status && tsr_comm_rank(comm) == 1)
    for (int64_t i = 0; i < tsr_array_local_count(array) && !status; i++) {
      status = tsr_array_write(array, i, &data);
      if (!status) *(uint8_t *)data ^= 1;
    }
  if (!status) status = tsr_array_check_replicas(array);
  tsr_array_release(array);
  return status;
}

static void replicas_of_other_processes_are_compared(void **state) {
  (void)state;
  job j = {.from = test_layout_of("x=2,y=2", "y", "8", TSR_POLICY_ERROR),
           .host = test_tensor(TSR_SHAPE(8), TSR_U8, 3)};
  assert_fails(test_ranks_run(2, (int64_t[]){0, 2, 4}, spoil_one, &j), REPLICAS_DIFFER,
               "rank 0: devices 0 and 2 hold shard 0, but differ in it");
  tsr_layout_release(j.from);
  free(j.host);
}

// ---- mistakes ----

static tsr_status gather_nowhere(void *context, tsr_comm *comm) {
  const job *j = context;
  tsr_host_options options = TSR_HOST_OPTIONS;
  tsr_array *array = NULL;
  options.to_root = true;
  options.root = 1;
  TSR_TRY(tsr_array_zeros(comm, j->from, TSR_U8, &array));
  tsr_status status = tsr_array_gather(array, NULL, 0, &options);
  tsr_array_release(array);
  return status;
}

// Rank 1 lacks a byte of the 8.
static tsr_status gather_to_too_little(void *context, tsr_comm *comm) {
  const job *j = context;
  uint8_t back[8] = {9, 9, 9, 9, 9, 9, 9, 9};
  tsr_array *array = NULL;
  TSR_TRY(tsr_array_zeros(comm, j->from, TSR_U8, &array));
  tsr_status status = tsr_array_gather(array, back, tsr_comm_rank(comm) == 1 ? 7 : 8, NULL);
  for (int i = 0; i < 8; i++)
    if (back[i] != 9) status = tsr_note(status, "byte %d was written", i);
  tsr_array_release(array);
  return status;
}

static void a_mistake_of_one_process_is_told_to_all(void **state) {
  (void)state;
  job j = {.from = test_layout_of("x=2,y=2", "y", "8", TSR_POLICY_ERROR)};
  assert_fails_with(test_ranks_run(2, (int64_t[]){0, 2, 4}, gather_nowhere, &j), BAD_ARGUMENT,
                    "rank 1: no buffer was given, wanted one of at least 8 bytes");
  assert_fails(test_ranks_run(2, (int64_t[]){0, 2, 4}, gather_to_too_little, &j), BAD_ARGUMENT,
               "rank 0: step 1, gather to all ranks: rank 1: the buffer has 7 bytes, wanted at "
               "least 8");
  tsr_layout_release(j.from);
}

SUITE(ranks, TEST(any_layout_becomes_any_other_between_processes),
      TEST(partial_results_are_reduced_between_processes),
      TEST(each_process_gives_its_part_of_the_tensor),
      TEST(a_hole_in_the_part_of_a_process_is_named),
      TEST(shards_that_hold_the_same_heads_are_gathered_in_turn),
      TEST(replicas_of_other_processes_are_compared), TEST(a_mistake_of_one_process_is_told_to_all))
