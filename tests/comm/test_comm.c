// Comms: what they are asked about themselves, and what they refuse to be.
#include "tessera/comm.h"

#include <math.h>

#include "base/pool_internal.h"
#include "comm/comm_internal.h"
#include "support/test.h"
#include "tessera/engine.h"

static void all_devices_of_the_threads_engine_are_here(void **state) {
  (void)state;
  tsr_comm *comm;
  assert_ok(tsr_comm_create(5, &(tsr_comm_options){.size = sizeof(tsr_comm_options), .workers = 2},
                            &comm));
  assert_string_equal(tsr_comm_engine_name(comm), "threads");
  assert_int_equal(tsr_comm_device_count(comm), 5);
  assert_int_equal(tsr_comm_local_count(comm), 5);
  assert_int_equal(tsr_comm_rank(comm), 0);
  assert_int_equal(tsr_comm_rank_count(comm), 1);
  assert_int_equal(tsr_comm_first_device(comm, 0), 0);
  assert_int_equal(tsr_comm_first_device(comm, 1), 5);
  assert_int_equal(tsr_comm_rank_of(comm, 4), 0);
  assert_int_equal(tsr_comm_rank_of(comm, 5), -1);
  assert_int_equal(tsr_comm_local_index(comm, 3), 3);
  assert_int_equal(tsr_comm_local_index(comm, -1), -1);
  assert_int_equal(tsr_pool_workers(tsr_comm_pool(comm)), 2);
  assert_true(tsr_comm_timeout(comm) == 300);
  assert_int_equal(tsr_comm_in_flight(comm), 64 << 20);
  assert_ptr_equal(tsr_comm_retain(comm), comm);
  tsr_comm_release(comm);
  tsr_comm_release(comm);
  tsr_comm_release(NULL);
}

static void replicas_share_one_result(void **state) {
  (void)state;
  tsr_comm *comm;
  assert_ok(tsr_comm_create(4, NULL, &comm));
  const float in[4][3] = {{1, 2, 3}, {10, 20, 30}, {100, 200, 300}, {1000, 2000, 3000}};
  const tsr_groups groups = {2, 2, (int64_t[]){0, 2, 1, 3}};
  float low[3], high[3];
  assert_ok(tsr_comm_all_reduce(comm, &groups, TSR_F32, TSR_REDUCE_SUM, 3,
                                (const void *[]){in[0], in[1], in[2], in[3]},
                                (void *[]){low, high, low, high}));
  assert_true(low[0] == 101 && low[2] == 303 && high[0] == 1010 && high[2] == 3030);
  tsr_comm_release(comm);
}

static void options_are_checked(void **state) {
  (void)state;
  tsr_comm *comm = NULL;
  assert_fails(tsr_comm_create(0, NULL, &comm), BAD_ARGUMENT,
               "a comm of 0 devices, wanted 1 to 2147483647");
  tsr_comm_options options = {.size = 3};
  assert_fails_with(tsr_comm_create(2, &options, &comm), BAD_ARGUMENT,
                    "tsr_comm_options has size 3, wanted ");
  options = (tsr_comm_options){.size = sizeof options, .workers = -1};
  assert_fails_with(tsr_comm_create(2, &options, &comm), BAD_ARGUMENT, "pool of -1 workers");
  options = (tsr_comm_options){.size = sizeof options, .timeout = (double)NAN};
  assert_fails(tsr_comm_create(2, &options, &comm), BAD_ARGUMENT, "the timeout is not a number");
  assert_null(comm);
}

// ---- buffers that may and may not be one ----

// Places of buffers in a block of floats; -1 for none. Each device takes 2 floats.
static const struct {
  int in[4], out[4];
  const char *failure;
} overlaps[] = {
    {{0, 2, 4, 6}, {8, 10, 12, 14}, ""},
    {{0, 0, 0, 0}, {8, 10, 8, 10}, ""},  // inputs and results shared
    {{0, 2, 4, 6}, {0, 2, 4, 6}, ""},    // in place
    {{0, 2, 4, 6}, {4, 2, 0, 6}, ""},    // in place of another member
    {{0, 2, 4, 6}, {2, 8, 10, 12}, "`in` of device 1 overlaps `out` of device 0"},
    {{0, 2, 4, 6}, {8, 8, 10, 12}, "`out` of device 0 overlaps `out` of device 1"},
    {{0, 2, 4, 6}, {9, 10, 12, 14}, "`out` of device 0 overlaps `out` of device 1"},
    {{0, 2, 4, 6}, {1, 10, 12, 14}, "`in` of device 0 overlaps `out` of device 0"},
    {{0, 0, 4, 6}, {0, 8, 10, 12}, "`in` of device 1 overlaps `out` of device 0"},
    {{0, 2, 4, -1}, {8, 10, 12, 14}, "device 3 has no `in`"},
    {{0, 2, 4, 6}, {8, 10, -1, 14}, "device 2 has no `out`"},
};

static void buffers_overlap_only_where_they_may(void **state) {
  (void)state;
  tsr_comm *comm;
  assert_ok(tsr_comm_create(4, NULL, &comm));
  const tsr_groups groups = {2, 2, (int64_t[]){0, 2, 1, 3}};
  float block[32] = {0};
  for (size_t i = 0; i < COUNT_OF(overlaps); i++) {
    const void *in[4];
    void *out[4];
    for (int d = 0; d < 4; d++) {
      in[d] = overlaps[i].in[d] < 0 ? NULL : block + overlaps[i].in[d];
      out[d] = overlaps[i].out[d] < 0 ? NULL : block + overlaps[i].out[d];
    }
    tsr_status status = tsr_comm_all_reduce(comm, &groups, TSR_F32, TSR_REDUCE_SUM, 2, in, out);
    assert_string_equal(tsr_status_text(status), overlaps[i].failure);
    tsr_status_free(status);
  }
  tsr_comm_release(comm);
}

static void a_large_buffer_overlaps_all_it_holds(void **state) {
  (void)state;
  tsr_comm *comm;
  assert_ok(tsr_comm_create(4, NULL, &comm));
  // What device 0 gathers is 4 floats long and reaches over what lies in it.
  const tsr_groups groups = {1, 4, (int64_t[]){0, 1, 2, 3}};
  float block[32];
  assert_fails(tsr_comm_all_gather(comm, &groups, TSR_F32, 1, 1,
                                   (const void *[]){block, block + 1, block + 10, block + 3},
                                   (void *[]){block + 8, block + 8, block + 8, block + 8}),
               BAD_ARGUMENT, "`out` of device 0 overlaps `in` of device 2");
  assert_fails(tsr_comm_all_reduce(comm, &groups, TSR_F32, TSR_REDUCE_SUM, 1, NULL, NULL),
               BAD_ARGUMENT, "no list of `in` buffers");
  tsr_comm_release(comm);
}

static void replicas_receive_a_copy_once(void **state) {
  (void)state;
  // Devices 1 and 2 are replicas that share a buffer; 3 has one of its own.
  tsr_comm *comm;
  assert_ok(tsr_comm_create(4, NULL, &comm));
  const char source[] = "abcdef";
  char shared[7] = "......", own[7] = "......";
  tsr_copy copies[3];
  for (int i = 0; i < 3; i++)
    copies[i] = (tsr_copy){.source = 0, .target = 3 - i, .from = 1, .to = 2, .length = 3};
  const tsr_exchange part = {.copies = copies,
                             .copy_count = 3,
                             .bits = 8,
                             .in = (const void *[]){source, NULL, NULL, NULL},
                             .out = (void *[]){NULL, shared, shared, own}};
  assert_ok(tsr_comm_exchange(comm, &part, 1));
  assert_string_equal(shared, "..bcd.");
  assert_string_equal(own, "..bcd.");
  tsr_comm_release(comm);
}

static void a_wrong_copy_is_named(void **state) {
  (void)state;
  tsr_comm *comm;
  assert_ok(tsr_comm_create(2, NULL, &comm));
  tsr_copy copy = {.source = 0, .target = 2, .length = 1};
  tsr_exchange part = {.copies = &copy,
                       .copy_count = 1,
                       .bits = 8,
                       .in = (const void *[]){NULL, "x"},
                       .out = (void *[]){NULL, NULL}};
#define FAILS(message) assert_fails(tsr_comm_exchange(comm, &part, 1), BAD_ARGUMENT, message)
  FAILS("array 0: copy 0: from device 0 to device 2, wanted 0 to 1");
  copy.target = 1;
  FAILS("array 0: copy 0: device 0 has no `in`");
  copy.source = 1;
  FAILS("array 0: copy 0: device 1 has no `out`");
  copy.loop_count = 33;
  FAILS("array 0: copy 0: 33 loops, wanted 0 to 32");
  part.in = NULL;
  FAILS("array 0: no list of `in` buffers");
  part.copy_count = -1;
  FAILS("array 0: -1 copies, wanted 0 or more");
#undef FAILS
  assert_fails(tsr_comm_exchange(comm, NULL, 2), BAD_ARGUMENT,
               "no list of arrays was given, wanted one of 2");
  tsr_comm_release(comm);
}

// ---- memory ----

static tsr_status use_comm(void *context) {
  (void)context;
  const tsr_comm_options options = {.size = sizeof options, .workers = 1};
  tsr_comm *comm;
  TSR_TRY(tsr_comm_create(3, &options, &comm));
  const tsr_groups groups = {1, 3, (int64_t[]){2, 0, 1}};
  const int32_t in[3][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  int32_t out[3][9];
  const void *const ins[] = {in[0], in[1], in[2]};
  void *const outs[] = {out[0], out[1], out[2]};
  tsr_status status = tsr_comm_all_gather(comm, &groups, TSR_I32, 1, 3, ins, outs);
  if (!status) status = tsr_comm_all_reduce(comm, &groups, TSR_I32, TSR_REDUCE_MAX, 3, ins, outs);
  if (!status) status = tsr_comm_all_to_all(comm, &groups, TSR_I32, TSR_SHAPE(3), 0, 0, ins, outs);
  if (!status) status = tsr_comm_broadcast(comm, &groups, 1, TSR_I32, 3, ins, outs);
  if (!status) status = tsr_comm_permute(comm, &(tsr_pair){0, 1}, 1, TSR_I32, 3, ins, outs);
  tsr_comm_fit fit;
  if (!status) status = tsr_comm_measure_between(comm, 0, 1, 64, &fit);
  tsr_comm_release(comm);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  test_allocation_sweep(use_comm, NULL);
}

SUITE(comm, TEST(all_devices_of_the_threads_engine_are_here), TEST(replicas_share_one_result),
      TEST(options_are_checked), TEST(buffers_overlap_only_where_they_may),
      TEST(a_large_buffer_overlaps_all_it_holds), TEST(replicas_receive_a_copy_once),
      TEST(a_wrong_copy_is_named), TEST(every_allocation_may_fail))
