#include <stdio.h>
#include <stdlib.h>

#include "base/text_internal.h"
#include "plan/plan.h"
#include "advice/advice_internal.h"
#include "plan/plan_internal.h"
#include "support/models.h"
#include "support/test.h"
#include "tessera/engine/layout.h"
#include "transfer/tally.h"

static void assert_diff(const tsr_plan *before, const tsr_plan *after, const char *expected) {
  tsr_plan_diff diff = TSR_PLAN_DIFF;
  tsr_text text = TSR_TEXT_EMPTY;
  assert_ok(tsr_plan_diff_create(before, after, &diff));
  tsr_plan_diff_print(&diff, before, after, &text);
  assert_string_equal(tsr_text_string(&text), expected);
  assert_int_equal(diff.changed + diff.added + diff.removed, diff.count);
  tsr_text_deinit(&text);
  tsr_plan_diff_deinit(&diff);
}

static void changes_are_told_with_what_moves(void **state) {
  (void)state;
  const char *const from[] = {"tp", "tp, _", "_", "tp, _", "_", NULL};
  const char *const to[] = {"_, tp", "_, tp", "_", "_, tp", "tp", NULL};
  tsr_tree *tree = make_small_tree();
  tsr_plan *before = make_plan(tree, "tp=4", from), *after = make_plan(tree, "tp=4", to);
  // A quarter of each quarter stays; a norm that is cut loses nothing and needs nothing.
  assert_diff(before, after,
              "embed.weight: tp, _ -> _, tp; 4800 bytes move\n"
              "layers.*.mlp.up.weight (2 tensors): tp, _ -> _, tp; 6144 bytes move\n"
              "layers.1.norm.weight: () -> tp; 0 bytes move\n"
              "2 the same, 4 changed, 0 added, 0 removed; 10944 bytes move\n"
              "bytes per device: 3784 before, 3736 after\n");
  assert_diff(before, before,
              "6 the same, 0 changed, 0 added, 0 removed; 0 bytes move\n"
              "bytes per device: 3784 before, 3784 after\n");
  tsr_plan_release(before);
  tsr_plan_release(after);
  tsr_tree_release(tree);
}

static void spelling_is_no_change(void **state) {
  (void)state;
  const tsr_tensor tensor = TENSOR("w", 8, 8);
  const char *const specs[] = {"x+y", "x;y, _", "z"};
  tsr_tree *tree = make_tree(&tensor, 1);
  tsr_plan *before = make_plan(tree, "x=2,y=2", &specs[0]);
  tsr_plan *nested = make_plan(tree, "x=2,y=2", &specs[1]);
  tsr_plan *renamed = make_plan(tree, "z=4", &specs[2]);
  const tsr_plan *const after[] = {nested, renamed};
  for (int i = 0; i < 2; i++)
    assert_diff(before, after[i],
                "1 the same, 0 changed, 0 added, 0 removed; 0 bytes move\n"
                "bytes per device: 64 before, 64 after\n");
  tsr_plan_release(before);
  tsr_plan_release(nested);
  tsr_plan_release(renamed);
  tsr_tree_release(tree);
}

static const struct {
  const char *mesh_before, *before, *mesh_after, *after;
  int64_t moved;  // elements of a tensor of 8 x 6
} moves[] = {
    {"x=2", "x", "x=2 devices=[1,0]", "x", 48},
    {"x=2", "x", "x=4", "x", 6 * 2 + 2 * 12},  // device 0 has its rows, device 1 others
    {"x=4", "x", "x=2", "x", 2 * 24 - 12},
    {"x=2", "x", "x=2 devices=[7,8]", "x", 48},
    {"x=2", "x", "x=2", "()", 48},
    {"x=2", "()", "x=2", "_, x", 0},
    {"x=2", "x", "x=2", "x/cyclic(1)", 24},
    {"x=2", "x/cyclic(1)", "x=2", "x/cyclic(2)", 24},
    {"x=2 abstract", "x", "x=2", "_, x", 24},
    {"x=2", "x", "x=2 abstract", "_, x", 24},
    {"x=2", "x/sizes(6,2)", "x=2", "x", 12},
};

static void devices_are_told_by_id(void **state) {
  (void)state;
  const tsr_tensor tensor = TENSOR("w", 8, 6);
  tsr_tree *tree = make_tree(&tensor, 1);
  for (size_t i = 0; i < COUNT_OF(moves); i++) {
    tsr_plan *before = make_plan(tree, moves[i].mesh_before, &moves[i].before);
    tsr_plan *after = make_plan(tree, moves[i].mesh_after, &moves[i].after);
    tsr_plan_diff diff = TSR_PLAN_DIFF;
    assert_ok(tsr_plan_diff_create(before, after, &diff));
    if (diff.moved_bytes != 4 * moves[i].moved) print_error("case %zu\n", i);
    assert_int_equal(diff.moved_bytes, 4 * moves[i].moved);
    tsr_plan_diff_deinit(&diff);
    tsr_plan_release(before);
    tsr_plan_release(after);
  }
  tsr_tree_release(tree);
}

static void tensors_come_and_go(void **state) {
  (void)state;
  tsr_tensor old[] = {TENSOR("l.0.a", 4), TENSOR("l.1.a", 4), TENSOR("b", 4), TENSOR("c", 4)};
  tsr_tensor new[] = {TENSOR("b", 8), TENSOR("c", 4), TENSOR("d", 4)};
  new[1].dtype = TSR_BF16;
  const char *const specs[] = {"x", "x", "x", "x"};
  tsr_tree *old_tree = make_tree(old, 4), *new_tree = make_tree(new, 3);
  tsr_plan *before = make_plan(old_tree, "x=2", specs), *after = make_plan(new_tree, "x=2", specs);
  assert_diff(before, after,
              "b: x -> x; 32 bytes move\n"
              "c: x -> x; 8 bytes move\n"
              "d: added, x\n"
              "l.*.a (2 tensors): removed\n"
              "0 the same, 2 changed, 1 added, 2 removed; 40 bytes move\n"
              "bytes per device: 32 before, 28 after\n");
  tsr_plan *nowhere = make_plan(old_tree, NULL, specs);
  assert_diff(before, nowhere,
              "4 the same, 0 changed, 0 added, 0 removed; 0 bytes move\n"
              "bytes per device: 32 before, 64 after\n");
  tsr_plan_release(nowhere);
  nowhere = make_plan(new_tree, NULL, specs);
  tsr_plan_diff diff = TSR_PLAN_DIFF;
  assert_ok(tsr_plan_diff_create(before, nowhere, &diff));
  assert_int_equal(diff.moved_bytes, 0);
  tsr_plan_diff_deinit(&diff);
  tsr_plan_release(nowhere);
  tsr_plan_release(before);
  tsr_plan_release(after);
  tsr_tree_release(old_tree);
  tsr_tree_release(new_tree);
}

// Specs that do not fit cut nothing, so that all devices hold everything.
static void misfits_cut_nothing(void **state) {
  (void)state;
  const tsr_tensor tensor = TENSOR("w", 6);
  tsr_tree *tree = make_tree(&tensor, 1);
  tsr_mesh *mesh = make_mesh("x=4");
  tsr_rules *rules = make_rules("w -> x\n");
  const tsr_match_options raw = {.size = sizeof raw, .no_correction = true};
  tsr_plan *before = NULL, *after = NULL;
  assert_ok(tsr_plan_match(tree, mesh, rules, &raw, &before));
  assert_ok(tsr_plan_match(tree, mesh, rules, NULL, &after));
  assert_diff(before, after,
              "1 the same, 0 changed, 0 added, 0 removed; 0 bytes move\n"
              "bytes per device: 24 before, 24 after\n");
  tsr_plan_release(before);
  tsr_plan_release(after);
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
}

// More distinct shapes and specs than the tables begin with.
static void tables_grow(void **state) {
  (void)state;
  enum { COUNT = 200 };
  static char paths[COUNT][16], specs[COUNT][24];
  static int64_t dims[COUNT];
  static tsr_tensor tensors[COUNT];
  const char *texts[COUNT];
  for (int i = 0; i < COUNT; i++) {
    snprintf(paths[i], sizeof paths[i], "t%d", i);
    snprintf(specs[i], sizeof specs[i], "x/cyclic(%d)", i + 1);
    dims[i] = 2 * (i + 1);
    tensors[i] = (tsr_tensor){paths[i], TSR_F32, 1, &dims[i], NULL};
    texts[i] = specs[i];
  }
  tsr_tree *tree = make_tree(tensors, COUNT);
  tsr_plan *plan = make_plan(tree, "x=2", texts);
  assert_int_equal(tsr_plan_spec_count(plan), COUNT);
  for (int i = 0; i < COUNT; i++) {
    tsr_plan_row row = TSR_PLAN_ROW;
    assert_ok(tsr_plan_at(plan, i, &row));
    assert_int_equal(row.bytes_per_device, 4 * (i + 1));
  }
  tsr_plan_release(plan);
  tsr_tree_release(tree);
}

static void too_many_devices_are_refused(void **state) {
  (void)state;
  const tsr_tensor tensor = TENSOR("w", 8, 6);
  const char *const from = "x", *const to = "_, x";
  tsr_tree *tree = make_tree(&tensor, 1);
  tsr_plan *before = make_plan(tree, "x=2,y=1099511627776 abstract", &from);
  tsr_plan *after = make_plan(tree, "x=2,y=1099511627776 abstract", &to);
  tsr_plan_diff diff = TSR_PLAN_DIFF;
  assert_fails(tsr_plan_diff_create(before, after, &diff), TOO_LARGE,
               "tensor \"w\": a mesh of 2199023255552 devices is too large to compare, wanted at "
               "most 16777216");
  tsr_plan_release(before);
  tsr_plan_release(after);
  tsr_tree_release(tree);
}

// ---- against marking every element ----

static void mark(const tsr_layout *layout, int64_t position, bool *held) {
  const tsr_shape shape = tsr_layout_shape(layout);
  tsr_pieces pieces;
  assert_ok(tsr_pieces_init(&pieces, layout, tsr_layout_shard(layout, position)));
  for (tsr_piece piece; tsr_pieces_next(&pieces, &piece);)
    for (int64_t i = piece.ranges[0].lo; i < piece.ranges[0].hi; i++)
      for (int64_t j = piece.ranges[1].lo; j < piece.ranges[1].hi; j++)
        held[i * shape.dims[1] + j] = true;
  tsr_pieces_deinit(&pieces);
}

static int64_t count_by_marking(const tsr_layout *from, const tsr_layout *to) {
  const tsr_mesh *old = tsr_layout_mesh(from), *new = tsr_layout_mesh(to);
  const tsr_shape shape = tsr_layout_shape(to);
  const size_t elements = (size_t)(shape.dims[0] * shape.dims[1]);
  int64_t moved = 0;
  for (int64_t p = 0; p < tsr_mesh_device_count(new); p++) {
    bool *had = calloc(elements + 1, 1), *has = calloc(elements + 1, 1);
    const int64_t at = tsr_mesh_device_find(old, tsr_mesh_device_at(new, p));
    assert_true(had && has);
    if (at >= 0) mark(from, at, had);
    mark(to, p, has);
    for (size_t i = 0; i < elements; i++) moved += has[i] && !had[i];
    free(had);
    free(has);
  }
  return moved;
}

static tsr_layout *random_layout(test_random *random, const tsr_tensor *tensor) {
  static const char *const meshes[] = {"x=2,y=3", "y=4,x=2", "x=3,y=2 devices=[5,3,1,0,2,4]",
                                       "x=6,y=1", "x=2,y=2 devices=[9,1,0,4]"};
  static const char *const entries[] = {
      "_", "x", "y", "x+y", "y;x", "x/cyclic(2)", "y/cyclic(1)", "x/cyclic(1);y/cyclic(3)"};
  for (;;) {
    char text[80];
    tsr_layout *layout = NULL;
    snprintf(text, sizeof text, "%s, %s", entries[test_random_range(random, 0, 7)],
             entries[test_random_range(random, 0, 7)]);
    tsr_mesh *mesh = make_mesh(meshes[test_random_range(random, 0, 4)]);
    tsr_spec *spec = make_spec(text);
    const tsr_policy policy = test_random_range(random, 0, 1) ? TSR_POLICY_UNEVEN : TSR_POLICY_PAD;
    tsr_status status = tsr_tensor_layout(tensor, mesh, spec, policy, &layout);
    tsr_status_free(status);  // an axis in both dimensions
    tsr_spec_release(spec);
    tsr_mesh_release(mesh);
    if (layout) return layout;
  }
}

static void moves_are_exact(void **state) {
  (void)state;
  test_random random = {11};
  for (int i = 0; i < 2000; i++) {
    const int64_t dims[] = {test_random_range(&random, 0, 13), test_random_range(&random, 1, 13)};
    const tsr_tensor tensor = {"w", TSR_F32, 2, dims, NULL};
    tsr_layout *from = random_layout(&random, &tensor), *to = random_layout(&random, &tensor);
    int64_t moved = 0;
    assert_ok(tsr_lacking_elements(from, to, &moved));
    assert_int_equal(moved, count_by_marking(from, to));
    tsr_layout_release(from);
    tsr_layout_release(to);
  }
}

// ---- memory ----

typedef struct two_plans {
  tsr_plan *before, *after;
} two_plans;

static tsr_status diff_and_print(void *context) {
  const two_plans *with = context;
  tsr_plan_diff diff = TSR_PLAN_DIFF;
  tsr_text text = TSR_TEXT_EMPTY;
  TSR_TRY(tsr_plan_diff_create(with->before, with->after, &diff));
  tsr_plan_diff_print(&diff, with->before, with->after, &text);
  tsr_status status = tsr_text_check(&text);
  tsr_text_deinit(&text);
  tsr_plan_diff_deinit(&diff);
  return status;
}

static void memory_may_run_out(void **state) {
  (void)state;
  const tsr_tensor old[] = {TENSOR("a", 8, 8), TENSOR("b", 8, 8)};
  const tsr_tensor new[] = {TENSOR("a", 8, 8), TENSOR("c", 8, 8)};
  const char *const from[] = {"x/cyclic(1)", "x"}, *const to[] = {"x", "x"};
  tsr_tree *old_tree = make_tree(old, 2), *new_tree = make_tree(new, 2);
  two_plans with = {make_plan(old_tree, "x=2", from), make_plan(new_tree, "x=4", to)};
  test_allocation_sweep(diff_and_print, &with);
  tsr_plan_release(with.before);
  tsr_plan_release(with.after);
  tsr_tree_release(old_tree);
  tsr_tree_release(new_tree);
}

SUITE(diff, TEST(changes_are_told_with_what_moves), TEST(spelling_is_no_change),
      TEST(devices_are_told_by_id), TEST(tensors_come_and_go), TEST(misfits_cut_nothing),
      TEST(tables_grow), TEST(too_many_devices_are_refused), TEST(moves_are_exact),
      TEST(memory_may_run_out))
