// Batches: every copy once, in rounds that all ranks see alike.
#include <stdlib.h>
#include <string.h>

#include "tessera/engine/copy_plan.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "transfer/carry.h"
#include "transfer/transfer_internal.h"

enum { ITEMS = 3 };

typedef struct some_plans {
  test_image from[ITEMS], to[ITEMS];
  tsr_copy_batch_item items[ITEMS];
} some_plans;

static const tsr_dtype dtypes[] = {TSR_F32, TSR_I8, TSR_I4, TSR_BF16, TSR_C64};

static tsr_layout *layout_of(const test_layout *made, tsr_policy policy) {
  tsr_layout *layout = NULL;
  assert_ok(tsr_layout_create(made->sharding, &made->shape, policy, &layout));
  return layout;
}

static void make_plans(test_random *random, some_plans *plans) {
  for (int i = 0; i < ITEMS; i++) {
    test_layout a, b;
    test_layout_make(random, false, &a);
    test_layout_make_other(random, false, &a, &b);
    test_image_init(&plans->from[i], layout_of(&a, TSR_POLICY_UNEVEN));
    test_image_init(&plans->to[i], layout_of(&b, i ? TSR_POLICY_UNEVEN : TSR_POLICY_PAD));
    const tsr_copy_plan_options options = {.size = sizeof options, .tensor = i};
    tsr_copy_plan *plan = NULL;
    assert_ok(tsr_copy_plan_create(plans->from[i].layout, plans->to[i].layout, &options, &plan));
    plans->items[i] =
        (tsr_copy_batch_item){plan, dtypes[test_random_range(random, 0, COUNT_OF(dtypes) - 1)]};
    test_layout_free(&a);
    test_layout_free(&b);
  }
}

static void free_plans(some_plans *plans) {
  for (int i = 0; i < ITEMS; i++) {
    tsr_copy_plan_release(plans->items[i].plan);
    test_image_deinit(&plans->from[i]);
    test_image_deinit(&plans->to[i]);
  }
}

static bool ascends(const tsr_copy *a, const tsr_copy *b) {
  if (a->target != b->target) return a->target < b->target;
  if (a->source != b->source) return a->source < b->source;
  return a->to < b->to;
}

// Runs the copies into the devices of [first, end) and counts what each gets in a round.
static void run_batch(const some_plans *plans, const tsr_copy_batch_options *options,
                      int64_t **out[ITEMS]) {
  tsr_copy_batch *batch = NULL;
  assert_ok(tsr_copy_batch_create(plans->items, ITEMS, options, &batch));
  for (int64_t round = 0; round < tsr_copy_batch_round_count(batch); round++) {
    int64_t bits[4 * MAX_DEVICES] = {0};
    assert_ok(tsr_copy_batch_open(batch, round));
    for (int i = 0; i < ITEMS; i++) {
      int64_t count = 0;
      const tsr_copy *copies = tsr_copy_batch_copies(batch, i, &count);
      const int width = tsr_dtype_info_of(plans->items[i].dtype)->bits;
      for (int64_t c = 0; c < count; c++) {
        const tsr_copy *copy = &copies[c];
        if (c > 0) assert_true(ascends(copy - 1, copy));
        const bool mine =
            copy->target >= options->first_device && copy->target < options->end_device;
        assert_true(mine ||
                    (copy->source >= options->first_device && copy->source < options->end_device));
        if (!mine) continue;
        bits[copy->target] += tsr_copy_elements(copy) * width;
        const int64_t from = tsr_layout_device_find(plans->from[i].layout, copy->source);
        const int64_t to = tsr_layout_device_find(plans->to[i].layout, copy->target);
        tsr_copy_run(copy, 64, plans->from[i].elements[from], out[i][to]);
      }
    }
    for (int d = 0; d < MAX_DEVICES && options->max_bytes; d++)
      assert_true(bits[d] / 8 - 7 <= options->max_bytes);
  }
  tsr_copy_batch_destroy(batch);
}

static void rounds_of_all_ranks_make_the_whole(void **state) {
  (void)state;
  static const int64_t bounds[] = {0, 1, 7, 16, 100, INT64_MAX};
  test_random random = {9};
  for (int i = 0; i < 120; i++) {
    some_plans plans;
    int64_t **out[ITEMS];
    make_plans(&random, &plans);
    for (int k = 0; k < ITEMS; k++) {
      const int64_t positions = tsr_layout_device_count(plans.to[k].layout);
      out[k] = malloc(sizeof *out[k] * (size_t)positions);
      assert_non_null(out[k]);
      for (int64_t p = 0; p < positions; p++) {
        const size_t bytes = sizeof(int64_t) * (size_t)plans.to[k].counts[p];
        out[k][p] = malloc(bytes + 1);
        assert_non_null(out[k][p]);
        memset(out[k][p], 0xff, bytes);
      }
    }
    const int64_t step = test_random_range(&random, 1, MAX_DEVICES);
    for (int64_t first = 0; first < MAX_DEVICES; first += step) {
      const tsr_copy_batch_options options = {.size = sizeof options,
                                              .first_device = first,
                                              .end_device = first + step,
                                              .max_bytes = bounds[(size_t)i % COUNT_OF(bounds)]};
      run_batch(&plans, &options, out);
    }
    for (int k = 0; k < ITEMS; k++) {
      for (int64_t p = 0; p < tsr_layout_device_count(plans.to[k].layout); p++) {
        const size_t bytes = sizeof(int64_t) * (size_t)plans.to[k].counts[p];
        assert_memory_equal(out[k][p], plans.to[k].elements[p], bytes);
        free(out[k][p]);
      }
      free(out[k]);
    }
    free_plans(&plans);
  }
}

// What two ranks exchange, as each of them lists it.
static void list_between(const some_plans *plans, int64_t split, int64_t bound, bool lower,
                         test_copies *list) {
  const tsr_copy_batch_options options = {.size = sizeof options,
                                          .first_device = lower ? 0 : split,
                                          .end_device = lower ? split : MAX_DEVICES,
                                          .max_bytes = bound};
  tsr_copy_batch *batch = NULL;
  assert_ok(tsr_copy_batch_create(plans->items, ITEMS, &options, &batch));
  for (int64_t round = 0; round < tsr_copy_batch_round_count(batch); round++) {
    assert_ok(tsr_copy_batch_open(batch, round));
    for (int i = 0; i < ITEMS; i++) {
      int64_t count = 0;
      const tsr_copy *copies = tsr_copy_batch_copies(batch, i, &count);
      for (int64_t c = 0; c < count; c++)
        if ((copies[c].source < split) != (copies[c].target < split))
          test_copies_add(list, &copies[c]);
    }
  }
  tsr_copy_batch_destroy(batch);
}

static void sender_and_receiver_list_the_same(void **state) {
  (void)state;
  test_random random = {13};
  for (int i = 0; i < 60; i++) {
    some_plans plans;
    test_copies lower = {NULL, 0, 0}, upper = {NULL, 0, 0};
    make_plans(&random, &plans);
    const int64_t split = test_random_range(&random, 1, 8);
    list_between(&plans, split, i % 2 ? 24 : 0, true, &lower);
    list_between(&plans, split, i % 2 ? 24 : 0, false, &upper);
    test_copies_assert_same(&lower, &upper);
    test_copies_free(&lower);
    test_copies_free(&upper);
    free_plans(&plans);
  }
}

static void all_devices_are_one_rank_by_default(void **state) {
  (void)state;
  test_random random = {17};
  some_plans plans;
  make_plans(&random, &plans);
  tsr_copy_batch *batch = NULL;
  assert_ok(tsr_copy_batch_create(plans.items, ITEMS, NULL, &batch));
  assert_int_equal(tsr_copy_batch_round_count(batch), 1);
  int64_t count = -1;
  assert_null(tsr_copy_batch_copies(batch, 0, &count));  // nothing is open yet
  assert_int_equal(count, 0);
  assert_ok(tsr_copy_batch_open(batch, 0));
  for (int i = 0; i < ITEMS; i++) {
    test_copies wanted = {NULL, 0, 0}, found = {NULL, 0, 0};
    test_copies_into(plans.items[i].plan, &wanted);
    const tsr_copy *copies = tsr_copy_batch_copies(batch, i, &count);
    for (int64_t c = 0; c < count; c++) test_copies_add(&found, &copies[c]);
    test_copies_assert_same(&wanted, &found);
    test_copies_free(&wanted);
    test_copies_free(&found);
  }
  assert_fails(tsr_copy_batch_open(batch, 1), INDEX_OUT_OF_RANGE, "round 1 of a batch that has 1");
  tsr_copy_batch_destroy(batch);
  tsr_copy_batch_destroy(NULL);
  free_plans(&plans);
}

static void wrong_options_are_refused(void **state) {
  (void)state;
  test_random random = {19};
  some_plans plans;
  tsr_copy_batch *batch = NULL;
  make_plans(&random, &plans);
  const struct {
    tsr_copy_batch_options options;
    const char *message;
  } cases[] = {
      {{.size = 1}, "tsr_copy_batch_options has size 1"},
      {{.size = sizeof cases->options, .first_device = 3, .end_device = 2}, "devices from 3 to 2"},
      {{.size = sizeof cases->options, .first_device = -1}, "devices from -1 to 0"},
      {{.size = sizeof cases->options, .max_bytes = -5}, "rounds of -5 bytes"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    assert_fails_with(tsr_copy_batch_create(plans.items, ITEMS, &cases[i].options, &batch),
                      BAD_ARGUMENT, cases[i].message);
  assert_fails(tsr_copy_batch_create(plans.items, -1, NULL, &batch), BAD_ARGUMENT,
               "-1 items of a batch");
  plans.items[1].dtype = TSR_DTYPE_NONE;
  assert_fails(tsr_copy_batch_create(plans.items, ITEMS, NULL, &batch), BAD_ARGUMENT,
               "item 1: element type 0 does not exist");
  free_plans(&plans);
  tsr_layout *large = test_layout_of("x=2", "x", "8589934592", TSR_POLICY_ERROR);
  tsr_copy_plan *plan = NULL;
  assert_ok(tsr_copy_plan_create(large, large, NULL, &plan));
  const tsr_copy_batch_item item = {plan, TSR_I8};
  const tsr_copy_batch_options tiny = {.size = sizeof tiny, .max_bytes = 16};
  assert_fails(tsr_copy_batch_create(&item, 1, &tiny, &batch), BAD_ARGUMENT,
               "rounds of 16 bytes would be more than 1048576");
  tsr_copy_plan_release(plan);
  tsr_layout_release(large);
}

SUITE(batch, TEST(rounds_of_all_ranks_make_the_whole), TEST(sender_and_receiver_list_the_same),
      TEST(all_devices_are_one_rank_by_default), TEST(wrong_options_are_refused))
