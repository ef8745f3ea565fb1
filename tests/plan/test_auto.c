#include <stdio.h>

#include "advice/plan_auto_internal.h"
#include "plan/random_models.h"
#include "support/models.h"
#include "tessera/compat/eformer_plan.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/scope.h"
#include "tessera/engine/sharding.h"

// Names separated by spaces, as options have them.
typedef struct name_list {
  char text[64];
  const char *names[8];
  int count;
} name_list;

static void split_names(const char *text, name_list *out) {
  out->count = 0;
  size_t at = 0;
  for (; text[at]; at++) {
    assert_true(at + 1 < sizeof out->text);
    out->text[at] = text[at] == ' ' ? '\0' : text[at];
    if (at == 0 || text[at - 1] == ' ') out->names[out->count++] = &out->text[at];
  }
  out->text[at] = '\0';
}

static const struct {
  const char *mesh, *shape, *names;
  int64_t min_size;
  bool reverse, stack;
  const char *spec;
} cases[] = {
    // Dimensions by size, each takes the first axis that divides; axes by size.
    {"data=3,model=2", "(7, 50257, 1024)", "", 0, false, false, "_, _, model"},
    {"dp=2,tp=2,sp=4", "(8, 48)", "", 0, true, false, "sp, dp"},
    {"dp=2,tp=4", "(64, 4, 8)", "", 0, false, false, "tp, _, dp"},
    // Ties go to the lower index, of dimensions and of axes.
    {"dp=2,tp=4", "(4, 4, 8, 8)", "", 0, false, false, "_, _, tp, dp"},
    {"dp=2,fsdp=2,tp=2", "(5, 100, 100, 16)", "", 0, false, false, "_, dp, fsdp, tp"},
    // Given names keep their order, groups count as one, and what is given twice counts once.
    {"dp=2,tp=4", "(8, 16)", "dp tp", 0, false, false, "tp, dp"},
    {"dp=2,tp=4", "(8, 16)", "dp+tp", 0, false, false, "_, dp+tp"},
    {"dp=2,tp=4", "(8, 16)", "dp dp", 0, false, false, "_, dp"},
    // An axis is used once, whatever the names offer.
    {"dp=2,tp=4", "(8, 16)", "dp+tp dp", 0, false, false, "_, dp+tp"},
    {"dp=2,tp=4", "(8, 12)", "dp+tp dp tp", 0, false, false, "tp, dp"},
    // Too small: no entries at all. 0 means the number of devices, below 0 nothing is too small.
    {"dp=2,tp=4", "(2, 2)", "", 0, false, false, "()"},
    {"dp=2,tp=4", "(2, 2)", "", 1, false, false, "dp, _"},
    {"dp=2,tp=4", "(0, 8)", "", -1, false, false, "dp, tp"},
    {"dp=2,tp=4", "(7, 5)", "", 0, false, false, "_, _"},
    {"a=1", "()", "", 1, false, false, "()"},
    // Axes of one member are handed out.
    {"dp=1,tp=8", "(8, 16)", "", 0, false, false, "dp, tp"},
    // What is left over may join.
    {"dp=2,tp=4", "(1024)", "", 0, false, false, "tp"},
    {"dp=2,tp=4", "(1024)", "", 0, false, true, "tp+dp"},
    {"dp=2,tp=4,sp=3", "(4, 48)", "", 0, false, true, "dp, tp+sp"},
    {"dp=2,tp=4,sp=3", "(12, 48)", "", 0, false, true, "sp, tp+dp"},
};

static void dimensions_take_axes_by_size(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    name_list names;
    tsr_shape shape;
    tsr_spec *spec = NULL;
    tsr_mesh *mesh = make_mesh(cases[i].mesh);
    split_names(cases[i].names, &names);
    assert_ok(tsr_shape_parse(cases[i].shape, &shape));
    const tsr_auto_options options = {.size = sizeof options,
                                      .names = names.names,
                                      .name_count = names.count,
                                      .min_size = cases[i].min_size,
                                      .reverse = cases[i].reverse,
                                      .stack_leftovers = cases[i].stack};
    assert_ok(tsr_auto_spec(&shape, mesh, &options, &spec));
    assert_spec(spec, cases[i].spec);
    tsr_spec_release(spec);
    tsr_mesh_release(mesh);
  }
}

static const struct {
  const char *name;
  tsr_cause cause;
  const char *message;
} bad_names[] = {
    {"dpp", TSR_CAUSE_UNKNOWN_MESH_AXIS,
     "axis \"dpp\" is not in mesh {dp=2, tp=4}; did you mean \"dp\"?"},
    {"dp+dp", TSR_CAUSE_DUPLICATE_MESH_AXIS, "name \"dp+dp\" has axis \"dp\" twice"},
    {"", TSR_CAUSE_BAD_ARGUMENT, "name \"\" is neither an axis nor axes joined by '+'"},
    {"?", TSR_CAUSE_BAD_ARGUMENT, "name \"?\" is neither an axis nor axes joined by '+'"},
    {"tp/cyclic(2)", TSR_CAUSE_BAD_ARGUMENT,
     "name \"tp/cyclic(2)\" is neither an axis nor axes joined by '+'"},
    {"tp:(1)2", TSR_CAUSE_BAD_ARGUMENT, "name \"tp:(1)2\" has a sub-axis, wanted whole axes"},
};

static void wrong_names_are_refused(void **state) {
  (void)state;
  tsr_mesh *mesh = make_mesh("dp=2,tp=4");
  tsr_spec *spec = NULL;
  for (size_t i = 0; i < COUNT_OF(bad_names); i++) {
    const tsr_auto_options options = {
        .size = sizeof options, .names = &bad_names[i].name, .name_count = 1};
    tsr_status status = tsr_auto_spec(TSR_SHAPE(8, 8), mesh, &options, &spec);
    assert_int_equal(tsr_status_cause(status), bad_names[i].cause);
    assert_string_equal(tsr_status_text(status), bad_names[i].message);
    tsr_status_free(status);
    assert_null(spec);
  }
  tsr_mesh_release(mesh);
}

static void too_many_names_are_refused(void **state) {
  (void)state;
  static const char *const axes[] = {"a", "b", "c", "d", "e"};
  char text[70][16];
  const char *names[70];
  int count = 0;
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 5; j++)
      for (int k = 0; k < 5 && count < 70; k++) {
        if (i == j || j == k || i == k) continue;
        snprintf(text[count], sizeof text[count], "%s+%s+%s", axes[i], axes[j], axes[k]);
        names[count] = text[count];
        count++;
      }
  for (int i = 0; i < 5; i++) names[count++] = axes[i];
  tsr_mesh *mesh = make_mesh("a=2,b=2,c=2,d=2,e=2");
  tsr_spec *spec = NULL;
  const tsr_auto_options options = {.size = sizeof options, .names = names, .name_count = count};
  assert_fails(tsr_auto_spec(TSR_SHAPE(8, 8), mesh, &options, &spec), TOO_LARGE,
               "more than 64 names of axes");
  tsr_mesh_release(mesh);
}

static void the_current_mesh_is_used(void **state) {
  (void)state;
  tsr_mesh *mesh = make_mesh("x=4");
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_scope scope;
  assert_fails_with(tsr_auto_spec(TSR_SHAPE(8), NULL, NULL, &spec), NO_MESH_ACTIVE, "");
  assert_ok(tsr_mesh_enter(mesh, &scope));
  assert_ok(tsr_auto_sharding(TSR_SHAPE(8), NULL, NULL, &sharding));
  assert_ptr_equal(tsr_sharding_mesh(sharding), mesh);
  assert_int_equal(tsr_sharding_dim_at(sharding, 0)->shards, 4);
  tsr_scope_leave(scope);
  tsr_sharding_release(sharding);
  tsr_mesh_release(mesh);
}

static void automatic_specs_always_fit(void **state) {
  (void)state;
  static const char *const names[] = {"fsdp+tp", "tp", "fsdp"};
  test_random random = {42};
  for (int i = 0; i < 3000; i++) {
    tsr_mesh *mesh = random_mesh(&random);
    const tsr_shape shape = random_shape(&random);
    const bool has_names = tsr_mesh_axis_find(mesh, "tp") >= 0 &&
                           tsr_mesh_axis_find(mesh, "fsdp") >= 0 &&
                           test_random_range(&random, 0, 1);
    const tsr_auto_options options = {.size = sizeof options,
                                      .names = names,
                                      .name_count = has_names ? 3 : 0,
                                      .min_size = test_random_range(&random, -1, 20),
                                      .reverse = test_random_range(&random, 0, 1),
                                      .stack_leftovers = test_random_range(&random, 0, 1)};
    tsr_spec *spec = NULL;
    assert_ok(tsr_auto_spec(&shape, mesh, &options, &spec));
    assert_spec_fits(spec, mesh, &shape);
    tsr_spec_release(spec);
    tsr_mesh_release(mesh);
  }
}

static void plans_say_why(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  tsr_mesh *mesh = make_mesh("fsdp=4,tp=8");
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_auto(tree, mesh, NULL, &plan));
  assert_rows(plan,
              "fsdp, tp: auto -1 0 -\n"
              "tp, fsdp: auto -1 0 -\n"
              "(): small -1 32 -\n"
              "tp, fsdp: auto -1 0 -\n"
              "(): small -1 32 -\n"
              "(): scalar -1 0 -");
  assert_plan_fits(plan);
  tsr_plan_release(plan);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
}

// ---- tensor by tensor against a limit ----

static const struct {
  const char *mesh, *names;
  int64_t limit;
  const char *specs;
} limits[] = {
    // eformer's answers: below the limit whole, at the limit and above cut by the automatic spec.
    {"dp=2,tp=4", NULL, 16383, "dp, tp | () | ()"},
    {"dp=2,tp=4", NULL, 16384, "dp, tp | () | ()"},
    {"dp=2,tp=4", NULL, 16385, "() | () | ()"},
    {"dp=2,tp=4", "", 16384, "tp, dp | () | ()"},
    {"dp=2,tp=4", "tp", 5000, "tp, _ | () | ()"},
    // No limit: the automatic spec for all.
    {"dp=2,tp=4", NULL, 0, "tp, dp | tp | ()"},
    // Where eformer's spec stays above the limit, more axes join, no more than needed.
    {"a=4,b=4,c=4", NULL, 512, "a+b+c, _ | () | ()"},
    {"a=8,b=8", NULL, 16, ""},
};

static void tensors_fit_one_by_one(void **state) {
  (void)state;
  const tsr_tensor tensors[] = {
      TENSOR("a", 64, 64), TENSOR("b.c", 8), {.path = "s", .dtype = TSR_I32}};
  tsr_tree *tree = make_tree(tensors, COUNT_OF(tensors));
  for (size_t i = 0; i < COUNT_OF(limits); i++) {
    name_list names;
    tsr_mesh *mesh = make_mesh(limits[i].mesh);
    tsr_plan *plan = NULL;
    if (limits[i].names) split_names(limits[i].names, &names);
    tsr_status status =
        tsr_plan_fit_each(tree, mesh, limits[i].limit, limits[i].names ? names.names : NULL,
                          limits[i].names ? names.count : 0, &plan);
    if (*limits[i].specs) {
      assert_ok(status);
      assert_specs(plan, limits[i].specs);
      assert_plan_fits(plan);
    } else {
      assert_fails(status, DOES_NOT_FIT,
                   "tensor \"a\" takes at least 256 bytes per device, and the limit is 16");
    }
    tsr_plan_release(plan);
    tsr_mesh_release(mesh);
  }
  tsr_tree_release(tree);
}

static void every_tensor_is_within_the_limit(void **state) {
  (void)state;
  test_random random = {7};
  int fits = 0;
  for (int i = 0; i < 500; i++) {
    tsr_mesh *mesh = random_mesh(&random);
    tsr_tree *tree = random_tree(&random, test_random_range(&random, 0, 5));
    const int64_t limit = INT64_C(1) << test_random_range(&random, 4, 20);
    tsr_plan *plan = NULL;
    tsr_status status = tsr_plan_fit_each(tree, mesh, limit, NULL, 0, &plan);
    if (status) assert_int_equal(tsr_status_cause(status), TSR_CAUSE_DOES_NOT_FIT);
    tsr_status_free(status);
    for (int64_t row = 0; plan && row < tsr_plan_count(plan); row++, fits++) {
      tsr_plan_row got = TSR_PLAN_ROW;
      assert_ok(tsr_plan_at(plan, row, &got));
      assert_true(got.bytes_per_device <= limit);
    }
    if (plan) assert_plan_fits(plan);
    tsr_plan_release(plan);
    tsr_tree_release(tree);
    tsr_mesh_release(mesh);
  }
  assert_true(fits > 300);
}

static void limits_are_not_negative(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  tsr_mesh *mesh = make_mesh("x=2");
  tsr_plan *plan = NULL;
  assert_fails(tsr_plan_fit_each(tree, mesh, -1, NULL, 0, &plan), BAD_ARGUMENT,
               "limit of -1 bytes, wanted 0 or more");
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
}

// ---- memory ----

typedef struct model {
  tsr_tree *tree;
  tsr_mesh *mesh;
} model;

static tsr_status plan_everything(void *context) {
  const model *with = context;
  static const char *const names[] = {"fsdp+tp", "tp"};
  const tsr_auto_options options = {.size = sizeof options, .names = names, .name_count = 2};
  tsr_sharding *sharding = NULL;
  tsr_plan *plan = NULL;
  TSR_TRY(tsr_auto_sharding(TSR_SHAPE(8, 32), with->mesh, &options, &sharding));
  tsr_sharding_release(sharding);
  TSR_TRY(tsr_plan_auto(with->tree, with->mesh, NULL, &plan));
  tsr_plan_release(plan);
  plan = NULL;
  TSR_TRY(tsr_plan_fit_each(with->tree, with->mesh, 300, NULL, 0, &plan));
  tsr_plan_release(plan);
  return NULL;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  model with = {make_small_tree(), make_mesh("fsdp=4,tp=8")};
  test_allocation_sweep(plan_everything, &with);
  tsr_mesh_release(with.mesh);
  tsr_tree_release(with.tree);
}

SUITE(auto, TEST(dimensions_take_axes_by_size), TEST(wrong_names_are_refused),
      TEST(too_many_names_are_refused), TEST(the_current_mesh_is_used),
      TEST(automatic_specs_always_fit), TEST(plans_say_why), TEST(tensors_fit_one_by_one),
      TEST(every_tensor_is_within_the_limit), TEST(limits_are_not_negative),
      TEST(running_out_of_memory_is_reported))
