// Comms: what they are asked about themselves, and what they refuse to be.
#include "tessera/comm.h"

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
  const tsr_groups groups = {2, 2, (int32_t[]){0, 2, 1, 3}};
  float low[3], high[3];
  assert_ok(tsr_comm_all_reduce(comm, &groups, TSR_F32, TSR_SUM, 3,
                                (const void *[]){in[0], in[1], in[2], in[3]},
                                (void *[]){low, high, low, high}));
  assert_true(low[0] == 101 && low[2] == 303 && high[0] == 1010 && high[2] == 3030);
  tsr_comm_release(comm);
}

SUITE(comm, TEST(all_devices_of_the_threads_engine_are_here), TEST(replicas_share_one_result))
