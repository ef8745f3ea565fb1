// Copy plans: carried out on real buffers, they turn any layout into any other.
#include <stdlib.h>
#include <string.h>

#include "transfer/carry.h"

static void random_grids_turn_into_one_another(void **state) {
  (void)state;
  test_random random = {1};
  for (int i = 0; i < 400; i++) {
    test_layout a, b;
    const bool plain = i % 4 == 0;
    test_layout_make(&random, plain, &a);
    test_layout_make_other(&random, plain, &a, &b);
    tsr_layout *from = NULL, *to = NULL;
    const tsr_policy policy = i % 3 ? TSR_POLICY_UNEVEN : TSR_POLICY_PAD;
    assert_ok(tsr_layout_create(a.sharding, &a.shape, policy, &from));
    assert_ok(tsr_layout_create(b.sharding, &b.shape, TSR_POLICY_UNEVEN, &to));
    test_carry_out(from, to, i, 32);
    test_carry_out(to, from, i, 32);
    tsr_layout_release(from);
    tsr_layout_release(to);
    test_layout_free(&a);
    test_layout_free(&b);
  }
}

SUITE(copy_plan, TEST(random_grids_turn_into_one_another))
