// The conformance suite on the engine of one process, with several numbers of devices and workers.
#include "conformance/conformance.h"
#include "support/ranks.h"
#include "support/test.h"

static const struct {
  int64_t devices;
  int workers;
} cases[] = {{8, 1}, {8, 2}, {8, 5}, {8, 8}, {1, 2}, {2, 2}, {3, 5}, {5, 2}, {7, 8}};

static void threads_conform(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const tsr_comm_options options = {.size = sizeof options, .workers = cases[i].workers};
    tsr_comm *comm;
    assert_ok(tsr_comm_create(cases[i].devices, &options, &comm));
    const int failures = conformance_run(comm, stderr);
    tsr_comm_release(comm);
    if (failures)
      fail_msg("%d failures with %lld devices and %d workers", failures,
               (long long)cases[i].devices, cases[i].workers);
  }
}

static tsr_status run_swaps(void *context, tsr_comm *comm) {
  (void)context;
  const int failures = swaps_run(comm, stderr);
  return failures ? tsr_fail(BAD_ARGUMENT, "%d failures", failures) : NULL;
}

static void other_arguments_on_one_rank_fail_on_all(void **state) {
  (void)state;
  assert_ok(test_ranks_run(2, (int64_t[]){0, 2, 4}, run_swaps, NULL));
  assert_ok(test_ranks_run(3, (int64_t[]){0, 2, 4, 6}, run_swaps, NULL));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(threads_conform),
                                     cmocka_unit_test(other_arguments_on_one_rank_fail_on_all)};
  return cmocka_run_group_tests_name("conformance", tests, NULL, NULL);
}
