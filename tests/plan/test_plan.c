
#include "plan/plan.h"
#include "plan/plan_internal.h"
#include "plan/tree_internal.h"
#include "support/models.h"
#include "support/test.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/plan.h"

static const char *const specs[] = {"tp, fsdp", "tp, fsdp", "fsdp", "tp, fsdp", "fsdp", NULL};

static void given_specs_are_corrected_with_reasons(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  tsr_plan *plan = make_plan(tree, "fsdp=2,tp=8", specs);
  assert_row(plan, 0, "tp, fsdp -> _, fsdp 3200; user -1 -1 0 -; indivisible 0 -1 8 tp");
  assert_row(plan, 1, "tp, fsdp -> tp, fsdp 256; user -1 -1 0 -");
  assert_row(plan, 2, "fsdp -> fsdp 32; user -1 -1 0 -");
  assert_row(plan, 5, "() -> () 8; user -1 -1 0 -");
  assert_int_equal(tsr_plan_bytes_per_device(plan), 3200 + 2 * 256 + 2 * 32 + 8);
  assert_int_equal(tsr_plan_final(plan, 1), plan->rows[3].wanted);
  assert_int_equal(tsr_plan_spec_count(plan), 4);
  assert_ptr_equal(tsr_plan_tree(plan), tree);
  tsr_plan_release(plan);
  tsr_tree_release(tree);
}

static const struct {
  const char *spec, *row;
} corrections[] = {
    {"tp, _, _", "tp, _, _ -> tp, _ 1024; user -1 -1 0 -; cut_to_rank -1 -1 3 -"},
    {"x, fsdp", "x, fsdp -> _, fsdp 2048; user -1 -1 0 -; axis_missing 0 -1 0 x"},
    {"?, tp", "?, tp -> _, tp 1024; user -1 -1 0 -; unconstrained 0 -1 0 -"},
    {"tp, tp", "tp, tp -> tp, _ 1024; user -1 -1 0 -; duplicate_axis 1 -1 0 tp"},
    {"fsdp, fsdp+tp", "fsdp, fsdp+tp -> fsdp, tp 512; user -1 -1 0 -; duplicate_axis 1 -1 0 fsdp"},
    {"tp/sizes(16,16,16,15)",
     "tp/sizes(16,16,16,15) -> () 4096; user -1 -1 0 -; cut_misfit 0 -1 4 -"},
    {"tp/sizes(40,8,8,8)", "tp/sizes(40,8,8,8) -> tp/sizes(40,8,8,8), _ 2560; user -1 -1 0 -"},
    {"tp, tp/sizes(4,4,4,4)",
     "tp, tp/sizes(4,4,4,4) -> tp, _ 1024; user -1 -1 0 -; duplicate_axis 1 -1 0 tp"},
    {"tp/cyclic(5), fsdp",
     "tp/cyclic(5), fsdp -> _, fsdp 2048; user -1 -1 0 -; cut_misfit 0 -1 4 -"},
    {"tp/cyclic(5)", "tp/cyclic(5) -> () 4096; user -1 -1 0 -; cut_misfit 0 -1 4 -"},
    {"fsdp;tp/cyclic(3)", "fsdp;tp/cyclic(3) -> () 4096; user -1 -1 0 -; cut_misfit 0 -1 8 -"},
    {"tp:(1)3", "tp:(1)3 -> () 4096; user -1 -1 0 -; sub_axis_misfit 0 -1 4 tp"},
};

static void every_change_is_a_note(void **state) {
  (void)state;
  const tsr_tensor tensor = TENSOR("w", 64, 16);
  tsr_tree *tree = make_tree(&tensor, 1);
  for (size_t i = 0; i < COUNT_OF(corrections); i++) {
    tsr_plan *plan = make_plan(tree, "fsdp=2,tp=4", &corrections[i].spec);
    assert_row(plan, 0, corrections[i].row);
    tsr_plan_release(plan);
  }
  tsr_tree_release(tree);
}

static void without_a_mesh_specs_stay(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  tsr_plan *plan = make_plan(tree, NULL, specs);
  assert_row(plan, 0, "tp, fsdp -> tp, fsdp 6400; user -1 -1 0 -");
  tsr_layout *layout = NULL;
  assert_fails(tsr_plan_layout(plan, 0, &layout), NO_MESH_ACTIVE,
               "the plan was made without a mesh");
  tsr_plan_release(plan);
  tsr_tree_release(tree);
}

static void other_policies_keep_sizes_that_do_not_divide(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  tsr_mesh *mesh = make_mesh("tp=8");
  tsr_spec *spec = make_spec("tp");
  tsr_plan_builder builder;
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_builder_init(&builder, tree, mesh));
  for (int i = 0; i < 6; i++)
    assert_ok(tsr_plan_builder_correct(&builder, i, spec, TSR_POLICY_UNEVEN));
  assert_ok(tsr_plan_builder_end(&builder, NULL, &plan));
  assert_row(plan, 0, "tp -> tp, _ 832");
  tsr_layout *layout = NULL;
  assert_ok(tsr_plan_layout(plan, 0, &layout));
  assert_int_equal(tsr_layout_shard_elements(layout, 7), 9 * 16);
  tsr_layout_release(layout);
  tsr_plan_release(plan);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
}

static void rows_and_notes_come_in_any_order(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  tsr_mesh *mesh = make_mesh("tp=2");
  tsr_spec *cut = make_spec("tp"), *uncut = make_spec("()");
  tsr_plan_builder builder;
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_builder_init(&builder, tree, mesh));
  char axis[] = "tp";
  for (int i = 5; i >= 0; i--) {
    const tsr_plan_note note = {TSR_WHY_AUTO, 0, -1, i, axis};
    assert_ok(tsr_plan_builder_note(&builder, i, &note));
    assert_ok(tsr_plan_builder_set(&builder, i, cut, i == 5 ? uncut : cut, TSR_POLICY_ERROR));
  }
  const tsr_plan_note last = {TSR_WHY_MEMORY, -1, -1, 0, NULL};
  assert_ok(tsr_plan_builder_note(&builder, 2, &last));
  assert_ok(tsr_plan_builder_end(&builder, NULL, &plan));
  axis[0] = 'x';
  assert_row(plan, 2, "tp -> tp 32; auto 0 -1 2 tp; memory -1 -1 0 -");
  assert_row(plan, 5, "tp -> () 8; auto 0 -1 5 tp");
  tsr_plan_release(plan);
  tsr_spec_release(cut);
  tsr_spec_release(uncut);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
}

static void a_spec_that_does_not_fit_cuts_nothing(void **state) {
  (void)state;
  const tsr_tensor tensor = TENSOR("w", 6);
  tsr_tree *tree = make_tree(&tensor, 1);
  tsr_mesh *mesh = make_mesh("tp=4");
  tsr_spec *spec = make_spec("tp");
  tsr_plan_builder builder;
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_builder_init(&builder, tree, mesh));
  assert_ok(tsr_plan_builder_set(&builder, 0, spec, spec, TSR_POLICY_ERROR));
  assert_ok(tsr_plan_builder_end(&builder, NULL, &plan));
  assert_row(plan, 0, "tp -> tp 24");
  tsr_layout *layout = NULL;
  assert_fails_with(tsr_plan_layout(plan, 0, &layout), INDIVISIBLE, "tensor \"w\": ");
  tsr_plan_release(plan);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
}

static void groups_agree_in_specs(void **state) {
  (void)state;
  const char *const other[] = {"tp, fsdp", "tp, fsdp", "fsdp", "tp", "fsdp", NULL};
  static const int64_t expected[] = {4, 5};
  tsr_tree *tree = make_small_tree();
  const char *const *const choices[] = {specs, other};
  for (int i = 0; i < 2; i++) {
    tsr_plan *plan = make_plan(tree, "fsdp=2,tp=8", choices[i]);
    tsr_tree_groups groups;
    assert_ok(tsr_plan_group(plan, &groups));
    assert_int_equal(groups.count, expected[i]);
    tsr_tree_groups_deinit(&groups);
    tsr_plan_release(plan);
  }
  tsr_tree_release(tree);
}

static void equality_looks_at_specs_and_mesh(void **state) {
  (void)state;
  const char *const other[] = {"tp, fsdp", "tp, fsdp", "fsdp", "tp", "fsdp", NULL};
  tsr_tree *tree = make_small_tree();
  tsr_plan *plan = make_plan(tree, "fsdp=2,tp=8", specs);
  tsr_plan *same = make_plan(tree, "fsdp=2,tp=8", specs);
  tsr_plan *changed = make_plan(tree, "fsdp=2,tp=8", other);
  tsr_plan *elsewhere = make_plan(tree, "fsdp=2,tp=4", specs);
  tsr_plan *nowhere = make_plan(tree, NULL, specs);
  assert_true(tsr_plan_equal(plan, same));
  assert_false(tsr_plan_equal(plan, changed));
  assert_false(tsr_plan_equal(plan, elsewhere));
  assert_false(tsr_plan_equal(plan, nowhere));
  tsr_plan_release(plan);
  tsr_plan_release(same);
  tsr_plan_release(changed);
  tsr_plan_release(elsewhere);
  tsr_plan_release(nowhere);
  tsr_tree_release(tree);
}

typedef struct ingredients {
  tsr_tree *tree;
  tsr_mesh *mesh;
  const tsr_spec *specs[6];
} ingredients;

static tsr_status plan_and_release(void *context) {
  const ingredients *with = context;
  tsr_plan *plan = NULL;
  TSR_TRY(tsr_plan_from_specs(with->tree, with->mesh, with->specs, &plan));
  tsr_plan_release(plan);
  return NULL;
}

static tsr_status group_and_release(void *context) {
  tsr_tree_groups groups;
  TSR_TRY(tsr_plan_group(context, &groups));
  tsr_tree_groups_deinit(&groups);
  return NULL;
}

static void memory_may_run_out(void **state) {
  (void)state;
  tsr_spec *plain = make_spec("tp, fsdp"), *twice = make_spec("tp, tp");
  ingredients with = {
      make_small_tree(), make_mesh("fsdp=2,tp=8"), {plain, twice, plain, plain, NULL, NULL}};
  test_allocation_sweep(plan_and_release, &with);
  tsr_plan *plan = make_plan(with.tree, "fsdp=2,tp=8", specs);
  test_allocation_sweep(group_and_release, plan);
  tsr_plan_release(plan);
  tsr_spec_release(plain);
  tsr_spec_release(twice);
  tsr_mesh_release(with.mesh);
  tsr_tree_release(with.tree);
}

SUITE(plan, TEST(given_specs_are_corrected_with_reasons), TEST(every_change_is_a_note),
      TEST(without_a_mesh_specs_stay), TEST(other_policies_keep_sizes_that_do_not_divide),
      TEST(rows_and_notes_come_in_any_order), TEST(a_spec_that_does_not_fit_cuts_nothing),
      TEST(groups_agree_in_specs), TEST(equality_looks_at_specs_and_mesh), TEST(memory_may_run_out))
