#include "advice/plan_auto_internal.h"
#include "base/text_internal.h"
#include "plan/random_models.h"
#include "support/models.h"

static const struct {
  const char *mesh, *shape, *methods;
} suggestions[] = {
    {"fsdp=2,sp=2,tp=2", "()", "tp fsdp"},
    {"fsdp=2,sp=2,tp=2", "(2048,)", "tp fsdp"},
    {"fsdp=2,sp=2,tp=2", "(64, 128)", "fsdp+sp tp"},
    {"fsdp=2,sp=2,tp=2", "(1, 3)", "sp tp fsdp"},
    {"dp=2,fsdp=4,ep=1,tp=2,sp=1", "(8, 8)", "fsdp+sp dp tp"},
    {"dp=2,fsdp=4,ep=1,tp=2,sp=1", "(8,)", "dp tp fsdp"},
    {"dp=2,sp=4", "(8, 8)", "dp sp"},
    {"x=2", "(8, 8)", ""},
};

static void methods_follow_the_axes_there_are(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(suggestions); i++) {
    tsr_mesh *mesh = make_mesh(suggestions[i].mesh);
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_shape shape;
    tsr_methods methods;
    assert_ok(tsr_shape_parse(suggestions[i].shape, &shape));
    tsr_helper_methods(&shape, mesh, &methods);
    for (int j = 0; j < methods.count; j++)
      tsr_text_addf(&text, "%s%s", j ? " " : "", methods.items[j]);
    assert_string_equal(tsr_text_string(&text), suggestions[i].methods);
    tsr_text_deinit(&text);
    tsr_mesh_release(mesh);
  }
}

static const struct {
  const char *mesh, *shape;
  int64_t min_size;
  const char *spec;
} helped[] = {
    {"fsdp=2,sp=2,tp=2", "()", 1024, "()"},
    {"fsdp=2,sp=2,tp=2", "(8)", 1024, "_"},
    {"fsdp=2,sp=2,tp=2", "(2048)", 1024, "tp"},
    {"fsdp=2,sp=2,tp=2", "(4096, 4096)", 1024, "fsdp, sp"},
    {"dp=2,tp=4", "(4096, 4096)", 4, "dp, tp"},
    {"dp=2,tp=4", "(64, 128)", 1024, "_, _"},
    {"dp=2,fsdp=4,ep=1,tp=2,sp=1", "(2, 4, 2048)", 1024, "_, _, dp"},
    // eformer gives fsdp, sp here, which no mesh can place.
    {"fsdp=2,sp=2,tp=2", "(3, 5)", 1, "_, _"},
    {"fsdp=4,sp=2,tp=2", "(6, 4)", 1, "tp, _"},
    {"fsdp=2,sp=2", "(8, 3)", 1, "fsdp+sp, _"},
    // Narrow, but large enough to be tried: both on the first dimension, at the second attempt.
    {"fsdp=2,sp=2", "(4096, 1)", 1, "fsdp+sp, _"},
    {"fsdp=2,sp=2,tp=2", "(4096, 1)", 1, "tp, _"},
};

static void helped_specs_fit(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(helped); i++) {
    tsr_mesh *mesh = make_mesh(helped[i].mesh);
    tsr_shape shape;
    tsr_spec *spec = NULL;
    assert_ok(tsr_shape_parse(helped[i].shape, &shape));
    assert_ok(tsr_helper_spec(&shape, mesh, helped[i].min_size, &spec));
    assert_spec(spec, helped[i].spec);
    tsr_spec_release(spec);
    tsr_mesh_release(mesh);
  }
}

static void specs_of_helpers_always_fit(void **state) {
  (void)state;
  test_random random = {3};
  for (int i = 0; i < 3000; i++) {
    tsr_mesh *mesh = random_mesh(&random);
    const tsr_shape shape = random_shape(&random);
    tsr_spec *helper = NULL, *memory = NULL;
    int64_t bytes = 0;
    assert_ok(tsr_helper_spec(&shape, mesh, test_random_range(&random, 0, 64), &helper));
    assert_spec_fits(helper, mesh, &shape);
    assert_ok(tsr_memory_rule_spec(&shape, TSR_F32, mesh, test_random_range(&random, 1, 5000), NULL,
                                   0, &memory, &bytes));
    assert_spec_fits(memory, mesh, &shape);
    tsr_spec_release(memory);
    tsr_spec_release(helper);
    tsr_mesh_release(mesh);
  }
}

static void the_first_rule_of_a_shape_wins(void **state) {
  (void)state;
  tsr_spec *tp = make_spec("tp"), *dp = make_spec("dp, _");
  const tsr_shape_rule rules[] = {
      {2, (const int64_t[]){TSR_ANY_SIZE, 64}, tp},
      {2, (const int64_t[]){64, TSR_ANY_SIZE}, dp},
  };
  tsr_spec *found = NULL;
  assert_ok(tsr_shape_rules_match(rules, 2, TSR_SHAPE(64, 64), &found));
  assert_ptr_equal(found, tp);
  tsr_spec_release(found);
  assert_ok(tsr_shape_rules_match(rules, 2, TSR_SHAPE(64, 3), &found));
  assert_ptr_equal(found, dp);
  tsr_spec_release(found);
  assert_ok(tsr_shape_rules_match(rules, 2, TSR_SHAPE(64), &found));
  assert_int_equal(tsr_spec_desc_of(found)->dim_count, 0);
  tsr_spec_release(found);
  tsr_spec_release(dp);
  tsr_spec_release(tp);
}

static const struct {
  const char *mesh, *shape, *name;
  int64_t limit;
  const char *spec;
  int64_t bytes;
} constrained[] = {
    {"x=8", "(768)", NULL, 1000, "x", 384},
    {"x=8", "(768)", NULL, 3072, "()", 3072},
    {"dp=2,tp=2,sp=4", "(6, 32, 64)", NULL, 20000, "_, _, sp", 12288},
    {"dp=2,tp=2,sp=4", "(6, 32, 64)", NULL, 10000, "_, dp, sp", 6144},
    {"dp=2,tp=2,sp=4", "(6, 32, 64)", "tp", 10000, "_, _, tp", 24576},
    // It may end above the limit, and says so.
    {"dp=2,tp=2,sp=4", "(6, 32, 64)", NULL, 10, "tp, dp, sp", 3072},
    {"x=8", "(7)", NULL, 10, "_", 28},
};

static void memory_is_cut_until_it_fits(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(constrained); i++) {
    tsr_mesh *mesh = make_mesh(constrained[i].mesh);
    tsr_shape shape;
    tsr_spec *spec = NULL;
    int64_t bytes = 0;
    assert_ok(tsr_shape_parse(constrained[i].shape, &shape));
    assert_ok(tsr_memory_rule_spec(&shape, TSR_F32, mesh, constrained[i].limit,
                                   &constrained[i].name, constrained[i].name ? 1 : 0, &spec,
                                   &bytes));
    assert_spec(spec, constrained[i].spec);
    assert_int_equal(bytes, constrained[i].bytes);
    tsr_spec_release(spec);
    tsr_mesh_release(mesh);
  }
}

static tsr_status ask_helpers(void *context) {
  const tsr_mesh *mesh = context;
  const char *name = "fsdp";
  tsr_spec *spec = NULL;
  TSR_TRY(tsr_helper_spec(TSR_SHAPE(8, 8), mesh, 1, &spec));
  tsr_spec_release(spec);
  TSR_TRY(tsr_memory_rule_spec(TSR_SHAPE(8, 8), TSR_F32, mesh, 16, &name, 1, &spec, NULL));
  tsr_spec_release(spec);
  TSR_TRY(tsr_shape_rules_match(NULL, 0, TSR_SHAPE(8, 8), &spec));
  tsr_spec_release(spec);
  return NULL;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  tsr_mesh *mesh = make_mesh("fsdp=2,sp=2");
  test_allocation_sweep(ask_helpers, mesh);
  tsr_mesh_release(mesh);
}

SUITE(helper, TEST(methods_follow_the_axes_there_are), TEST(helped_specs_fit),
      TEST(specs_of_helpers_always_fit), TEST(the_first_rule_of_a_shape_wins),
      TEST(memory_is_cut_until_it_fits), TEST(running_out_of_memory_is_reported))
