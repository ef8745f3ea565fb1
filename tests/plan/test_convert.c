#include "advice/roles.h"
#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "plan/plan.h"
#include "plan/random_models.h"
#include "support/models.h"
#include "tessera/compat/eformer_plan.h"

// ---- successors ----

static const struct {
  const char *before, *after, *successors;  // of each old axis, then the unclaimed ones
} meshes[] = {
    {"dp=2,tp=4", "tp=8,dp=4", "dp>dp tp>tp |"},
    {"dp=2,tp=4", "data=4,model=2", "dp>data tp>model |"},
    {"dp=8,tp=4", "dp=2,fsdp=4,tp=4", "dp>dp tp>tp | fsdp"},
    // Of several of one role the one of the same size.
    {"model=4", "tp=2,mp=4", "model>mp | tp"},
    // Names that say nothing go by size.
    {"x=8,y=2", "a=2,b=8", "x>b y>a |"},
    {"x=8", "dp=4,tp=4", "x>- | dp tp"},
    // By size only where the names do not speak against it.
    {"tp=4", "dp=4", "tp>- | dp"},
    // Two may share an heir of their family.
    {"dp=2,fsdp=4,tp=2", "data=8,model=2", "dp>data fsdp>data tp>model |"},
    {"sp=4,tp=2", "tp=8", "sp>tp tp>tp |"},
    // Axes of one member find only their namesakes.
    {"ep=1,tp=2", "expert=2,tp=2", "ep>- tp>tp | expert"},
};

static void axes_pass_on_their_roles(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(meshes); i++) {
    tsr_mesh *before = make_mesh(meshes[i].before), *after = make_mesh(meshes[i].after);
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_axis_successors successors;
    tsr_axis_successors_find(before, after, &successors);
    for (int a = 0; a < tsr_mesh_axis_count(before); a++)
      tsr_text_addf(&text, "%s>%s ", tsr_mesh_axis_at(before, a)->name,
                    successors.of[a] < 0 ? "-" : tsr_mesh_axis_at(after, successors.of[a])->name);
    tsr_text_add(&text, "|");
    for (int a = 0; a < tsr_mesh_axis_count(after); a++)
      if (successors.unclaimed >> a & 1)
        tsr_text_addf(&text, " %s", tsr_mesh_axis_at(after, a)->name);
    assert_string_equal(tsr_text_string(&text), meshes[i].successors);
    tsr_text_deinit(&text);
    tsr_mesh_release(after);
    tsr_mesh_release(before);
  }
}

// ---- specs ----

// A plan of one tensor.
static tsr_plan *plan_one(const char *mesh_text, const tsr_shape *shape, const char *spec_text,
                          tsr_policy policy) {
  tsr_tree *tree = make_tree(
      &(tsr_tensor){.path = "w", .dtype = TSR_F32, .rank = shape->rank, .dims = shape->dims}, 1);
  tsr_mesh *mesh = make_mesh(mesh_text);
  tsr_spec *spec = make_spec(spec_text);
  tsr_plan_builder builder;
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_builder_init(&builder, tree, mesh));
  assert_ok(tsr_plan_builder_set(&builder, 0, spec, spec, policy));
  assert_ok(tsr_plan_builder_end(&builder, NULL, &plan));
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
  return plan;
}

static const struct {
  const char *before, *spec, *shape, *after, *row;
} cases[] = {
    // The same axes, larger or smaller.
    {"dp=2,tp=4", "dp, tp", "(8, 16)", "dp=4,tp=4", "dp, tp: converted 0 2 dp; converted 1 4 tp"},
    {"dp=2,tp=4", "dp, tp", "(8, 16)", "dp=2,fsdp=2,tp=2",
     "dp, tp+fsdp: converted 0 2 dp; converted 1 4 tp"},
    {"dp=2,tp=4", "_, tp", "(8, 16)", "dp=2,fsdp=2,tp=2", "_, tp+fsdp: converted 1 4 tp"},
    {"dp=2,tp=4", "()", "(8, 16)", "dp=2,fsdp=2,tp=2", "(): converted -1 1 -"},
    {"dp=2,tp=4", "_, _", "(8, 16)", "dp=2,fsdp=2,tp=2", "_, _: converted -1 1 -"},
    // Groups.
    {"dp=2,tp=4", "dp+tp", "(8, 16)", "dp=2,fsdp=2,tp=2", "dp+tp+fsdp: converted 0 8 dp"},
    // Other names, other sizes.
    {"data=3,model=2", "_, data", "(7, 256)", "dp=4,fsdp=4,tp=4", "_, dp: converted 1 3 dp"},
    {"dp=2,tp=4", "dp, _", "(64, 5)", "data=3,model=2",
     "_, _: indivisible 0 3 data; converted 0 2 -"},
    {"dp=2,fsdp=2,tp=2", "fsdp, dp", "(32, 768)", "a=1",
     "_, _: axis_missing 0 0 fsdp; axis_missing 1 0 dp; converted 0 2 -; converted 1 2 -"},
    // As near as it gets: 4 of 6, not 16; nothing of 2, as 6 is further.
    {"d=6", "d, _", "(64, 32)", "dp=4,fsdp=4,tp=4", "dp, _: axis_missing 0 0 d; converted 0 6 dp"},
    {"dp=2,tp=2", "dp, _", "(24, 24)", "d=6", "_, _: axis_missing 0 0 dp; converted 0 2 -"},
    {"x=8", "x", "(64)", "dp=4,tp=4", "dp: axis_missing 0 0 x; converted 0 8 dp"},
    // Who lacks most is helped first.
    {"x=4,y=16", "x, y", "(64, 64)", "a=8,b=2,c=2",
     "c, a+b: axis_missing 0 0 x; axis_missing 1 0 y; converted 0 4 c; converted 1 16 a"},
    // A shared heir serves once.
    {"dp=2,fsdp=4", "fsdp, dp", "(64, 64)", "data=8",
     "data, _: duplicate_axis 1 0 data; converted 0 4 data; converted 1 2 -"},
    {"dp=2,fsdp=4", "dp+fsdp, _", "(64, 64)", "data=8",
     "data, _: duplicate_axis 0 0 data; converted 0 8 data"},
    // An axis of one member cut nothing, so nothing is cut.
    {"dp=1,tp=8", "dp, _", "(512, 16)", "dp=2,tp=2", "_, _: converted -1 1 -"},
    // Where sizes are the same only names change, whatever the spec holds.
    {"x=4,y=2", "x:(2)2;y, x:(1)2@1", "(64, 64)", "a=4,b=2",
     "a:(2)2;b, a:(1)2@1: converted 0 4 a; converted 1 2 a"},
    {"x=4,y=2", "_ | unreduced=max(y) reduced=x", "(64)", "a=4,b=2",
     "_ | unreduced=max(b) reduced=a: converted -1 1 -"},
    // Parts go with their axis as long as they fit.
    {"tp=4", "tp/parts(q:32/4, k:16/4), _", "(48, 8)", "tp=2",
     "tp/parts(q:32/4, k:16/4), _: converted 0 4 tp"},
    {"tp=4", "tp/parts(q:32/4, k:16/4), _", "(48, 8)", "tp=8",
     "_, _: cut_misfit 0 4 -; converted 0 4 -"},
    {"tp=4", "tp/cyclic(2), _", "(48, 8)", "model=8", "model/cyclic(2), _: converted 0 4 model"},
    {"tp=2", "tp/sizes(5,3), _", "(8, 8)", "tp=4", "_, _: cut_misfit 0 2 -; converted 0 2 -"},
    {"tp=2", "tp/sizes(5,3), _", "(8, 8)", "model=2", "model/sizes(5,3), _: converted 0 2 model"},
};

static void specs_keep_roles_and_factors(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_shape shape;
    tsr_plan *plan = NULL;
    assert_ok(tsr_shape_parse(cases[i].shape, &shape));
    tsr_plan *before = plan_one(cases[i].before, &shape, cases[i].spec, TSR_POLICY_ERROR);
    tsr_mesh *after = make_mesh(cases[i].after);
    assert_ok(tsr_plan_convert(before, after, "preserve_balance", &plan));
    assert_rows(plan, cases[i].row);
    tsr_plan_release(plan);
    tsr_mesh_release(after);
    tsr_plan_release(before);
  }
}

static void reasons_are_given_in_words(void **state) {
  (void)state;
  static const char *const specs[] = {"_, tp", "tp, fsdp", NULL, "fsdp, _", NULL, NULL};
  tsr_tree *tree = make_small_tree();
  tsr_plan *before = make_plan(tree, "fsdp=2,tp=4", specs), *plan = NULL;
  tsr_mesh *after = make_mesh("fsdp=3,tp=2");
  assert_ok(tsr_plan_convert(before, after, NULL, &plan));
  assert_reasons(plan, 0, "dimension 1: cut in 4 on the other mesh");
  assert_reasons(plan, 2, "not cut on the other mesh");
  assert_reasons(plan, 3,
                 "dimension 0: size 64 is not divisible by fsdp=3, so it is not cut; "
                 "dimension 0: cut in 2 on the other mesh, but not here");
  tsr_plan_release(plan);
  tsr_mesh_release(after);
  tsr_plan_release(before);
  tsr_tree_release(tree);
}

static void uneven_sizes_stay_uneven(void **state) {
  (void)state;
  tsr_plan *before = plan_one("tp=4", TSR_SHAPE(17), "tp", TSR_POLICY_PAD), *plan = NULL;
  tsr_mesh *after = make_mesh("tp=3");
  tsr_plan_row row = TSR_PLAN_ROW;
  assert_ok(tsr_plan_convert(before, after, NULL, &plan));
  assert_specs(plan, "tp");
  assert_ok(tsr_plan_at(plan, 0, &row));
  assert_int_equal(row.policy, TSR_POLICY_PAD);
  assert_int_equal(row.bytes_per_device, 4 * 6);
  tsr_plan_release(plan);
  tsr_mesh_release(after);
  tsr_plan_release(before);
}

static const struct {
  const char *before, *spec, *after, *strategy;
  tsr_cause cause;
  const char *message;
} refusals[] = {
    {"x=2", "x", "x=2", "other", TSR_CAUSE_UNKNOWN_STRATEGY,
     "strategy \"other\" is unknown, wanted \"preserve_balance\""},
    {"x=2", "y", "x=2", NULL, TSR_CAUSE_UNKNOWN_MESH_AXIS,
     "tensor \"w\": dimension 0: axis \"y\" is not in mesh {x=2}"},
    {"x=2", "x, _", "x=4", NULL, TSR_CAUSE_RANK_TOO_SMALL,
     "tensor \"w\": a spec of 2 entries for rank 1"},
    {"x=2", "_ | unreduced=x", "y=4", NULL, TSR_CAUSE_UNSUPPORTED,
     "tensor \"w\": partial results over axis \"x\" have no place on another mesh"},
};

static void what_cannot_be_converted_is_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(refusals); i++) {
    tsr_plan *before =
        plan_one(refusals[i].before, TSR_SHAPE(8), refusals[i].spec, TSR_POLICY_ERROR);
    tsr_plan *plan = NULL;
    tsr_mesh *after = make_mesh(refusals[i].after);
    tsr_status status = tsr_plan_convert(before, after, refusals[i].strategy, &plan);
    assert_string_equal(tsr_status_text(status), refusals[i].message);
    assert_int_equal(tsr_status_cause(status), refusals[i].cause);
    tsr_status_free(status);
    tsr_mesh_release(after);
    tsr_plan_release(before);
  }
  tsr_tree *tree = make_small_tree();
  tsr_mesh *mesh = make_mesh("x=2");
  tsr_plan *before = make_plan(tree, NULL, (const char *[6]){NULL}), *plan = NULL;
  assert_fails(tsr_plan_convert(before, mesh, NULL, &plan), NO_MESH_ACTIVE,
               "the plan was made without a mesh");
  tsr_plan_release(before);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
}

// On its own mesh a plan stays as it is, on any other its specs fit, and what was whole stays
// whole.
static void converted_plans_always_fit(void **state) {
  (void)state;
  test_random random = {23};
  for (int i = 0; i < 400; i++) {
    tsr_mesh *mesh = random_mesh(&random), *other = random_mesh(&random);
    tsr_tree *tree = random_tree(&random, test_random_range(&random, 0, 5));
    const tsr_auto_options options = {
        .size = sizeof options, .min_size = 1, .stack_leftovers = true};
    tsr_plan *plan = NULL, *same = NULL, *moved = NULL;
    assert_ok(tsr_plan_auto(tree, mesh, &options, &plan));
    assert_ok(tsr_plan_convert(plan, mesh, NULL, &same));
    assert_ok(tsr_plan_convert(plan, other, NULL, &moved));
    assert_plan_fits(moved);
    for (int64_t row = 0; row < tsr_plan_count(plan); row++) {
      tsr_plan_row before = TSR_PLAN_ROW, kept = TSR_PLAN_ROW, after = TSR_PLAN_ROW;
      assert_ok(tsr_plan_at(plan, row, &before));
      assert_ok(tsr_plan_at(same, row, &kept));
      assert_ok(tsr_plan_at(moved, row, &after));
      assert_true(tsr_spec_equal(before.final, kept.final));
      if (before.bytes_per_device == tsr_tensor_bytes(before.tensor))
        assert_int_equal(after.bytes_per_device, before.bytes_per_device);
    }
    tsr_plan_release(moved);
    tsr_plan_release(same);
    tsr_plan_release(plan);
    tsr_tree_release(tree);
    tsr_mesh_release(other);
    tsr_mesh_release(mesh);
  }
}

// ---- rules that compute their cuts ----

static const char by_heads[] =
    "embed -> tp, _\n"
    "together attention over tp\n"
    "[kv]_proj\\.weight$ -> tp/parts({kv_heads*head_dim}/{head_dim}*{ceil_div(tp, kv_heads)}), _\n"
    "q_proj\\.weight$ -> tp/parts({heads*head_dim}/{head_dim}), _\n"
    "sinks -> tp\n"
    "end\n";

static tsr_plan *plan_by_heads(const char *mesh_text, int64_t min_size) {
  static const tsr_fact facts[] = {{"heads", 32}, {"kv_heads", 8}, {"head_dim", 4}};
  tsr_tensor tensors[] = {
      TENSOR("embed.weight", 64, 8),           TENSOR("layers.0.q_proj.weight", 128, 8),
      TENSOR("layers.0.k_proj.weight", 32, 8), TENSOR("layers.0.v_proj.qweight", 1, 32),
      TENSOR("layers.0.v_proj.scales", 1, 32), TENSOR("layers.0.sinks", 32)};
  tensors[3].dtype = TSR_I32;
  const tsr_match_options options = {
      .size = sizeof options, .companions = true, .min_size = min_size};
  tsr_mesh *mesh = make_mesh(mesh_text);
  const tsr_rules_options read = {
      .size = sizeof read, .facts = facts, .fact_count = COUNT_OF(facts), .mesh = mesh};
  tsr_tree *tree = make_tree(tensors, COUNT_OF(tensors));
  tsr_rules *rules = NULL;
  tsr_plan *plan = NULL;
  assert_ok(tsr_rules_parse(by_heads, "my.rules", &read, &rules));
  assert_ok(tsr_plan_match(tree, mesh, rules, &options, &plan));
  tsr_rules_release(rules);
  tsr_tree_release(tree);
  tsr_mesh_release(mesh);
  return plan;
}

static void rules_compute_their_cuts_for_the_new_mesh(void **state) {
  (void)state;
  static const struct {
    const char *before, *after, *specs;
  } moves[] = {
      // Eight heads of keys on 16 ranks: two hold copies of one, packed weights and scales too.
      {"tp=8", "tp=16",
       "tp, _ | tp, _ | tp/parts(32/4*2), _ | _, tp/parts(32/4*2) | _, tp/parts(32/4*2) | tp"},
      {"tp=8", "model=2", "model, _ | model, _ | model, _ | _, model | _, model | model"},
      // 32 heads are not divisible by 3: then all of them stay whole.
      {"tp=8", "tp=3", "_, _ | () | () | _, _ | _, _ | ()"},
      // What was whole for want of heads may be cut again.
      {"tp=3", "tp=4", "() | tp, _ | tp, _ | _, tp | _, tp | tp"},
      {"tp=8", "dp=8", "dp, _ | () | () | _, _ | _, _ | ()"},
      // An axis of size 1 may grow, for the tensors without heads too.
      {"tp=1", "tp=8", "tp, _ | tp, _ | tp, _ | _, tp | _, tp | tp"},
  };
  for (size_t i = 0; i < COUNT_OF(moves); i++) {
    tsr_plan *before = plan_by_heads(moves[i].before, 0), *plan = NULL, *back = NULL;
    tsr_mesh *mesh = make_mesh(moves[i].after);
    assert_ok(tsr_plan_convert(before, mesh, NULL, &plan));
    assert_specs(plan, moves[i].specs);
    assert_plan_fits(plan);
    // Once more: the new plan knows as much as the old one.
    assert_ok(tsr_plan_convert(plan, tsr_plan_mesh(before), NULL, &back));
    if (i < 2) {
      assert_true(tsr_spec_equal(tsr_plan_find_spec(back, "layers.0.k_proj.weight"),
                                 tsr_plan_find_spec(before, "layers.0.k_proj.weight")));
    }
    tsr_plan_release(back);
    tsr_plan_release(plan);
    tsr_mesh_release(mesh);
    tsr_plan_release(before);
  }
}

static void axes_of_size_1_are_no_dead_end(void **state) {
  (void)state;
  tsr_plan *before = plan_by_heads("tp=4", 0), *one = NULL, *back = NULL;
  tsr_mesh *mesh = make_mesh("tp=1");
  assert_ok(tsr_plan_convert(before, mesh, NULL, &one));
  assert_int_equal(tsr_plan_bytes_per_device(one), tsr_tree_bytes(tsr_plan_tree(one)));
  assert_ok(tsr_plan_convert(one, tsr_plan_mesh(before), NULL, &back));
  assert_specs(back, "tp, _ | tp, _ | tp, _ | _, tp | _, tp | tp");
  tsr_plan_release(back);
  tsr_plan_release(one);
  tsr_mesh_release(mesh);
  tsr_plan_release(before);
}

static void computed_cuts_say_what_they_were(void **state) {
  (void)state;
  tsr_plan *before = plan_by_heads("tp=8", 0), *plan = NULL;
  tsr_mesh *mesh = make_mesh("tp=16");
  assert_ok(tsr_plan_convert(before, mesh, NULL, &plan));
  assert_reasons(
      plan, 2,
      "rule 1 (my.rules:3) \"[kv]_proj\\.weight$\" -> tp/parts(32/4*2), _; dimension 0: cut in 8 "
      "on the other mesh");
  tsr_plan_release(plan);
  tsr_plan_release(before);
  before = plan_by_heads("tp=8", 100000);  // all are too small, and stay so
  assert_ok(tsr_plan_convert(before, mesh, NULL, &plan));
  assert_int_equal(tsr_plan_bytes_per_device(plan), tsr_tree_bytes(tsr_plan_tree(plan)));
  assert_reasons(plan, 1, "not cut on the other mesh");
  tsr_plan_release(plan);
  tsr_mesh_release(mesh);
  tsr_plan_release(before);
}

static tsr_status convert_once(void *context) {
  tsr_plan *plan = NULL, *before = context;
  tsr_mesh *mesh = NULL;
  TSR_TRY(tsr_mesh_parse("data=2,model=8", NULL, &mesh));
  tsr_status status = tsr_plan_convert(before, mesh, NULL, &plan);
  tsr_plan_release(plan);
  tsr_mesh_release(mesh);
  return status;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  static const char *const specs[] = {"_, tp", "tp, fsdp", NULL, "tp/parts(a:32/4, b:32/4), _",
                                      "fsdp",  NULL};
  tsr_tree *tree = make_small_tree();
  tsr_plan *plan = make_plan(tree, "fsdp=2,tp=4", specs);
  test_allocation_sweep(convert_once, plan);
  tsr_plan_release(plan);
  tsr_tree_release(tree);
  plan = plan_by_heads("tp=4", 0);
  test_allocation_sweep(convert_once, plan);
  tsr_plan_release(plan);
}

SUITE(convert, TEST(rules_compute_their_cuts_for_the_new_mesh),
      TEST(axes_of_size_1_are_no_dead_end), TEST(computed_cuts_say_what_they_were),
      TEST(axes_pass_on_their_roles), TEST(specs_keep_roles_and_factors),
      TEST(reasons_are_given_in_words), TEST(uneven_sizes_stay_uneven),
      TEST(what_cannot_be_converted_is_refused), TEST(converted_plans_always_fit),
      TEST(running_out_of_memory_is_reported))
