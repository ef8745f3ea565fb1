// Propagation within one op.
#include "factor/spread.h"

#include <string.h>

#include "base/text_internal.h"
#include "factor_cases.h"

#define MESH "<[\"a\"=2, \"b\"=2, \"c\"=2, \"d\"=2, \"x\"=4, \"h\"=8, \"p\"=3, \"q\"=3, \"r\"=3]>"
#define SAME "<([i], [i])->([i]) {i=64}>"
#define MATRICES "<([i, j], [j, k])->([i, k]) {i=8, j=4, k=16} reduction={j}>"

typedef struct spread_case {
  const char *rule, *before;
  const char *basic, *aggressive;  // after each strategy; NULL = as before
} spread_case;

static void spread_scene(factor_scene *scene, const tsr_spread_how *how,
                         tsr_spread_result *result) {
  assert_ok(
      tsr_spread_op(how, scene->rule, scene->shardings, &scene->arena, &scene->arena, result));
  for (int i = 0; i < result->change_count; i++)
    scene->shardings[result->changes[i].tensor] = result->changes[i].sharding;
}

static void check_spread(const spread_case *c, const tsr_spread_how *how, const char *expected) {
  factor_scene scene;
  tsr_spread_result result;
  tsr_text text = TSR_TEXT_EMPTY;
  factor_scene_begin(&scene, MESH, c->rule, c->before);
  spread_scene(&scene, how, &result);
  print_shardings(scene.ir, scene.shardings, scene.count, &text);
  assert_string_equal(tsr_text_string(&text), expected ? expected : c->before);
  if (!expected) assert_int_equal(result.change_count, 0);
  // What has been done once is done.
  spread_scene(&scene, how, &result);
  assert_int_equal(result.change_count, 0);
  tsr_text_deinit(&text);
  factor_scene_end(&scene);
}

static void check_spreads(const spread_case *cases, size_t count, tsr_spread_how how) {
  how.direction = TSR_SDY_DIRECTION_BOTH;
  for (size_t i = 0; i < count; i++) {
    how.strategy = TSR_SPREAD_BASIC;
    check_spread(&cases[i], &how, cases[i].basic);
    how.strategy = TSR_SPREAD_AGGRESSIVE;
    check_spread(&cases[i], &how, cases[i].aggressive);
  }
}

static const spread_case agreement_cases[] = {
    {SAME, "[{\"a\", ?}] | [{?}] | [{?}]", "[{\"a\", ?}] | [{\"a\", ?}] | [{\"a\", ?}]",
     "[{\"a\", ?}] | [{\"a\", ?}] | [{\"a\", ?}]"},
    {SAME, "[{\"a\", ?}] | - | [{\"a\", \"b\", ?}]",
     "[{\"a\", \"b\", ?}] | [{\"a\", \"b\", ?}] | [{\"a\", \"b\", ?}]",
     "[{\"a\", \"b\", ?}] | [{\"a\", \"b\", ?}] | [{\"a\", \"b\", ?}]"},
    {SAME, "[{\"a\", \"b\", ?}] | [{\"a\", \"c\", ?}] | [{?}]",
     "[{\"a\", \"b\", ?}] | [{\"a\", \"c\", ?}] | [{\"a\", ?}]",
     "[{\"a\", \"b\", ?}] | [{\"a\", \"c\", ?}] | [{\"a\", ?}]"},
    {SAME, "[{\"a\", ?}] | [{\"b\", ?}] | [{?}]", NULL, NULL},
    {SAME, "[{\"h\":(1)4, ?}] | [{\"h\":(1)2, ?}] | [{?}]",
     "[{\"h\":(1)4, ?}] | [{\"h\":(1)4, ?}] | [{\"h\":(1)4, ?}]",
     "[{\"h\":(1)4, ?}] | [{\"h\":(1)4, ?}] | [{\"h\":(1)4, ?}]"},
    {SAME, "[{\"h\":(1)4, ?}] | [{\"h\":(1)2, \"a\", ?}] | [{?}]",
     "[{\"h\":(1)4, ?}] | [{\"h\":(1)2, \"a\", ?}] | [{\"h\":(1)2, ?}]",
     "[{\"h\":(1)4, ?}] | [{\"h\":(1)2, \"a\", ?}] | [{\"h\":(1)2, ?}]"},
    {SAME, "[{\"h\":(1)4, ?}] | [{\"h\":(2)4, ?}] | [{?}]", NULL, NULL},
    {SAME, "- | - | -", NULL, NULL},
    {SAME, "[{?}], replicated={\"a\"} | - | -", NULL, NULL},
    {SAME, "[{\"a\"}p1] | [{?}p2] | [{\"b\"}p0]", NULL, NULL},
    {SAME, "[{\"a\"}p1] | [{?}p2] | -", "[{\"a\"}p1] | [{\"a\", ?}] | [{\"a\", ?}]",
     "[{\"a\"}p1] | [{\"a\", ?}] | [{\"a\", ?}]"},
};

static void axes_spread_as_far_as_tensors_agree(void **state) {
  (void)state;
  check_spreads(agreement_cases, COUNT_OF(agreement_cases), (tsr_spread_how){0});
}

static const spread_case limit_cases[] = {
    // A closed dim keeps what it has; the basic strategy gives no more to others.
    {SAME, "[{\"a\", ?}] | [{}] | [{?}]", NULL, "[{\"a\", ?}] | [{}] | [{\"a\", ?}]"},
    {SAME, "[{\"h\":(1)4, ?}] | [{\"h\":(1)2}] | [{?}]",
     "[{\"h\":(1)4, ?}] | [{\"h\":(1)2}] | [{\"h\":(1)2, ?}]",
     "[{\"h\":(1)4, ?}] | [{\"h\":(1)2}] | [{\"h\":(1)4, ?}]"},
    {SAME, "[{\"a\", \"b\", ?}] | [{?}], replicated={\"b\"} | [{?}]",
     "[{\"a\", \"b\", ?}] | [{\"a\", ?}], replicated={\"b\"} | [{\"a\", ?}]",
     "[{\"a\", \"b\", ?}] | [{\"a\", ?}], replicated={\"b\"} | [{\"a\", \"b\", ?}]"},
    {SAME, "[{\"a\", \"b\", ?}] | [{?}], unreduced={\"a\"} | [{?}]", NULL,
     "[{\"a\", \"b\", ?}] | [{?}], unreduced={\"a\"} | [{\"a\", \"b\", ?}]"},
    // An axis of another dim, or a part of it.
    {"<([i, j])->([i, j]) {i=8, j=8}>", "[{\"a\", ?}, {?}] | [{?}, {\"a\", ?}]", NULL, NULL},
    {"<([i, j])->([i, j]) {i=8, j=8}>", "[{\"h\", ?}, {?}] | [{?}, {\"h\":(2)2, ?}]",
     "[{\"h\", ?}, {?}] | [{\"h\":(1)2, ?}, {\"h\":(2)2, ?}]",
     "[{\"h\", ?}, {?}] | [{\"h\":(1)2, ?}, {\"h\":(2)2, ?}]"},
    // Between factors the larger tensor wins, if anyone may.
    {MATRICES, "[{\"a\", ?}, {?}] | [{?}, {\"a\", ?}] | [{?}, {?}]", NULL,
     "[{\"a\", ?}, {?}] | [{?}, {\"a\", ?}] | [{?}, {\"a\", ?}]"},
    {MATRICES, "[{\"a\", ?}, {\"b\", ?}] | [{?}, {?}] | [{?}, {?}]",
     "[{\"a\", ?}, {\"b\", ?}] | [{\"b\", ?}, {?}] | [{\"a\", ?}, {?}]",
     "[{\"a\", ?}, {\"b\", ?}] | [{\"b\", ?}, {?}] | [{\"a\", ?}, {?}]"},
    {"<([i])->([i]) {i=64} blocked_propagation={i}>", "[{\"a\", ?}] | [{?}]", NULL, NULL},
};

static void closed_dims_and_used_axes_limit_it(void **state) {
  (void)state;
  check_spreads(limit_cases, COUNT_OF(limit_cases), (tsr_spread_how){0});
}

static const spread_case split_cases[] = {
    {"<([ij])->([i, j]) {i=2, j=4}>", "[{\"x\", \"a\", ?}] | [{?}, {?}]",
     "[{\"x\", \"a\", ?}] | [{\"x\":(1)2, ?}, {\"x\":(2)2, \"a\", ?}]",
     "[{\"x\", \"a\", ?}] | [{\"x\":(1)2, ?}, {\"x\":(2)2, \"a\", ?}]"},
    {"<([i, j])->([ij]) {i=2, j=4}>", "[{\"x\":(1)2, ?}, {\"x\":(2)2, ?}] | [{?}]",
     "[{\"x\":(1)2, ?}, {\"x\":(2)2, ?}] | [{\"x\", ?}]",
     "[{\"x\":(1)2, ?}, {\"x\":(2)2, ?}] | [{\"x\", ?}]"},
    // A factor that is not full hides those behind it.
    {"<([i, j])->([ij]) {i=4, j=4}>", "[{\"a\", ?}, {\"b\", ?}] | [{?}]",
     "[{\"a\", ?}, {\"b\", ?}] | [{\"a\", ?}]", "[{\"a\", ?}, {\"b\", ?}] | [{\"a\", ?}]"},
    {"<([i, j])->([ij]) {i=6, j=19}>", "[{\"p\", \"q\", ?}, {\"r\", ?}] | [{?}]",
     "[{\"p\", \"q\", ?}, {\"r\", ?}] | [{\"p\", ?}]",
     "[{\"p\", \"q\", ?}, {\"r\", ?}] | [{\"p\", ?}]"},
    {"<([i, j])->([ij]) {i=2, j=4}>", "[{\"h\", ?}, {?}] | [{?}]",
     "[{\"h\", ?}, {?}] | [{\"h\":(1)2, ?}]", "[{\"h\", ?}, {?}] | [{\"h\":(1)2, ?}]"},
    // Axes without a common divisor belong to no factor.
    {"<([ij])->([i, j]) {i=2, j=6}>", "[{\"p\", ?}] | [{?}, {?}]", NULL, NULL},
    {"<([ij])->([i, j]) {i=4, j=6}>", "[{\"a\", \"p\", ?}] | [{?}, {?}]",
     "[{\"a\", \"p\", ?}] | [{\"a\", ?}, {?}]", "[{\"a\", \"p\", ?}] | [{\"a\", ?}, {?}]"},
    {"<([i])->([i]) {i=5}>", "[{\"a\", ?}] | [{?}]", "[{\"a\", ?}] | [{\"a\", ?}]",
     "[{\"a\", ?}] | [{\"a\", ?}]"},
    {"<([i])->([i]) {i=0}>", "[{\"a\", ?}] | [{?}]", "[{\"a\", ?}] | [{\"a\", ?}]",
     "[{\"a\", ?}] | [{\"a\", ?}]"},
};

static void axes_are_split_and_joined_at_factors(void **state) {
  (void)state;
  check_spreads(split_cases, COUNT_OF(split_cases), (tsr_spread_how){0});
}

static const spread_case conservative_cases[] = {
    {"<([ij])->([i, j]) {i=2, j=4}>", "[{\"x\", \"a\", ?}] | [{?}, {?}]", NULL, NULL},
    {SAME, "[{\"a\", \"h\":(1)2, ?}] | [{?}] | [{?}]",
     "[{\"a\", \"h\":(1)2, ?}] | [{\"a\", ?}] | [{\"a\", ?}]",
     "[{\"a\", \"h\":(1)2, ?}] | [{\"a\", ?}] | [{\"a\", ?}]"},
};

static void conservative_propagation_splits_no_axes(void **state) {
  (void)state;
  check_spreads(conservative_cases, COUNT_OF(conservative_cases),
                (tsr_spread_how){.conservative = true});
}

static const spread_case pointwise_cases[] = {
    {SAME, "[{\"a\", ?}] | [{?}] | [{}]", NULL, NULL},
    {SAME, "[{\"a\", \"b\", ?}] | [{?}] | [{\"a\"}]",
     "[{\"a\", \"b\", ?}] | [{\"a\", ?}] | [{\"a\"}]",
     "[{\"a\", \"b\", ?}] | [{\"a\", ?}] | [{\"a\"}]"},
    // The factor that is sharded more goes first.
    {"<([i, j], [i, j])->([i, j]) {i=8, j=8}>",
     "[{\"a\", ?}, {?}] | [{?}, {\"x\", \"a\", ?}] | [{?}, {?}]",
     "[{\"a\", ?}, {\"x\", ?}] | [{?}, {\"x\", \"a\", ?}] | [{?}, {\"x\", ?}]",
     "[{\"a\", ?}, {\"x\", ?}] | [{?}, {\"x\", \"a\", ?}] | [{?}, {\"x\", \"a\", ?}]"},
};

static void axes_do_not_go_sideways_past_a_closed_result_of_a_pointwise_op(void **state) {
  (void)state;
  check_spreads(pointwise_cases, COUNT_OF(pointwise_cases), (tsr_spread_how){.pointwise = true});
}

// One factor each for all directions, from operand to result and back.
static void directions_are_those_of_factors(void **state) {
  (void)state;
  static const uint8_t directions[] = {TSR_SDY_DIRECTION_NONE, TSR_SDY_DIRECTION_FORWARD,
                                       TSR_SDY_DIRECTION_BACKWARD, TSR_SDY_DIRECTION_BOTH};
  static const spread_case cases[] = {
      {"<([i, j, k, l], [i, j, k, l])->([i, j, k, l]) {i=8, j=8, k=8, l=8}>",
       "[{\"a\", ?}, {\"b\", ?}, {\"c\", ?}, {\"d\", ?}] | [{?}, {?}, {?}, {?}] | [{?}, {?}, {?}, "
       "{?}]",
       "[{\"a\", ?}, {\"b\", ?}, {\"c\", ?}, {\"d\", ?}] | [{?}, {\"b\", ?}, {?}, {\"d\", ?}] | "
       "[{?}, {\"b\", ?}, {?}, {\"d\", ?}]",
       NULL},
      {"<([i, j, k, l])->([i, j, k, l]) {i=8, j=8, k=8, l=8}>",
       "[{?}, {?}, {?}, {?}] | [{\"a\", ?}, {\"b\", ?}, {\"c\", ?}, {\"d\", ?}]",
       "[{?}, {?}, {\"c\", ?}, {\"d\", ?}] | [{\"a\", ?}, {\"b\", ?}, {\"c\", ?}, {\"d\", ?}]",
       NULL},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_spread_how how = {.directions = directions};
    check_spread(&cases[i], &how, cases[i].basic);
    how.strategy = TSR_SPREAD_AGGRESSIVE;
    check_spread(&cases[i], &how, cases[i].basic);
  }
}

static void gains_name_the_tensor_that_had_the_axes(void **state) {
  (void)state;
  const tsr_spread_how how = {.strategy = TSR_SPREAD_AGGRESSIVE,
                              .direction = TSR_SDY_DIRECTION_BOTH};
  factor_scene scene;
  tsr_spread_result result;
  factor_scene_begin(&scene, MESH, MATRICES,
                     "[{\"a\", ?}, {?}] | [{\"b\", ?}, {\"c\", ?}] | [{?}, {?}]");
  spread_scene(&scene, &how, &result);
  static const tsr_spread_gain expected[] = {
      {.tensor = 0, .factor = 1, .source = 1},
      {.tensor = 2, .factor = 0, .source = 0},
      {.tensor = 2, .factor = 2, .source = 1},
  };
  assert_int_equal(result.gain_count, COUNT_OF(expected));
  for (size_t i = 0; i < COUNT_OF(expected); i++) {
    assert_int_equal(result.gains[i].tensor, expected[i].tensor);
    assert_int_equal(result.gains[i].factor, expected[i].factor);
    assert_int_equal(result.gains[i].source, expected[i].source);
    assert_int_equal(result.gains[i].axes.count, 1);
  }
  assert_int_equal(result.change_count, 2);
  factor_scene_end(&scene);
}

// The mesh of a sharding replaced by one with other devices, or by one device.
static void check_no_common_mesh(const char *mesh) {
  const tsr_spread_how how = {.direction = TSR_SDY_DIRECTION_BOTH};
  factor_scene scene, other;
  tsr_spread_result result;
  factor_scene_begin(&scene, "<[\"a\"=2]>", "<([i])->([i]) {i=8}>", "[{\"a\", ?}] | [{?}]");
  factor_scene_begin(&other, mesh, "<([i])->([i]) {i=8}>", "- | [{?}]");
  scene.shardings[1] = other.shardings[1];
  spread_scene(&scene, &how, &result);
  assert_int_equal(result.change_count, 0);
  factor_scene_end(&other);
  factor_scene_end(&scene);
}

static void different_meshes_do_not_mix(void **state) {
  (void)state;
  check_no_common_mesh("<[\"a\"=2], device_ids=[1, 0]>");
  check_no_common_mesh("<[\"a\"=4]>");
  check_no_common_mesh("<[], device_ids=[3]>");
}

enum { MANY = 1000 };

static void any_number_of_factors_works(void **state) {
  (void)state;
  const tsr_spread_how how = {.strategy = TSR_SPREAD_AGGRESSIVE,
                              .direction = TSR_SDY_DIRECTION_BOTH};
  factor_scene scene;
  tsr_spread_result result;
  int64_t dims[MANY];
  factor_scene_begin(&scene, "<[\"a\"=2]>", "<([i])->([i]) {i=8}>", "[{\"a\", ?}] | [{?}]");
  for (int i = 0; i < MANY; i++) dims[i] = 2;
  const tsr_type *type = tsr_type_shaped(scene.ir, TSR_F32, MANY, dims);
  assert_ok(tsr_rule_identity(&scene.arena, type, 1, 1, &scene.rule));
  tsr_tensor_sharding *sharding =
      tsr_sharding_empty(&scene.arena, scene.shardings[0]->mesh_ref, scene.mesh, MANY, false);
  tsr_dim_sharding *last = (tsr_dim_sharding *)(uintptr_t)&sharding->dims[MANY - 1];
  last->axes = scene.shardings[0]->dims[0].axes;
  scene.shardings[0] = sharding;
  scene.shardings[1] = NULL;
  spread_scene(&scene, &how, &result);
  assert_int_equal(result.change_count, 1);
  assert_true(tsr_tensor_sharding_equal(result.changes[0].sharding, sharding));
  factor_scene_end(&scene);
}

SUITE(spread, TEST(axes_spread_as_far_as_tensors_agree), TEST(closed_dims_and_used_axes_limit_it),
      TEST(axes_are_split_and_joined_at_factors), TEST(conservative_propagation_splits_no_axes),
      TEST(axes_do_not_go_sideways_past_a_closed_result_of_a_pointwise_op),
      TEST(directions_are_those_of_factors), TEST(gains_name_the_tensor_that_had_the_axes),
      TEST(different_meshes_do_not_mix), TEST(any_number_of_factors_works))
