// The conformance suite on the engine of one process, with several numbers of devices and workers.
#include "conformance/conformance.h"
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(threads_conform)};
  return cmocka_run_group_tests_name("conformance", tests, NULL, NULL);
}
