// Shard and gather functions of a tree, made from specs and from plans.
#include <stdlib.h>

#include "element/shape_internal.h"
#include "layout/layout_internal.h"
#include "place/arrays.h"
#include "place/place_internal.h"
#include "tessera/compat/constrain.h"
#include "tessera/compat/placer.h"
#include "tessera/engine/plan.h"

static const char *const paths[] = {"w", "b", "h", "s", "x"};

// One spec, as text, for each leaf of make_array_tree; NULL = none given.
static tsr_placer *make_placer(const tsr_mesh *mesh, tsr_comm *comm, const char *const *texts) {
  tsr_spec *specs[5];
  tsr_placer *placer = NULL;
  const tsr_place_options options = {.size = sizeof options, .comm = comm};
  for (int i = 0; i < 5; i++) specs[i] = texts[i] ? make_spec(texts[i]) : NULL;
  assert_ok(
      tsr_placer_from_specs(paths, (const tsr_spec *const *)specs, 5, mesh, &options, &placer));
  for (int i = 0; i < 5; i++) tsr_spec_release(specs[i]);
  return placer;
}

static void trees_go_there_and_back(void **state) {
  (void)state;
  static const char *const texts[] = {"dp, tp", "tp", "_, dp+tp", NULL, "tp"};
  tsr_comm *comm = make_comm(8);
  tsr_mesh *mesh = make_mesh("dp=2,tp=4");
  tsr_placer *placer = make_placer(mesh, comm, texts), *same = tsr_placer_retain(placer);
  tsr_array_tree *tree = make_array_tree(comm), *placed = NULL, *back = NULL;
  assert_ok(tsr_placer_shard(placer, tree, &placed, NULL));
  assert_lies(tsr_array_tree_find(placed, "w")->array, "dp, tp");
  assert_lies(tsr_array_tree_find(placed, "b")->array, "tp");
  assert_lies(tsr_array_tree_find(placed, "h")->array, "_, dp+tp");
  assert_lies(tsr_array_tree_find(placed, "s")->array, "()");  // replicated, not left alone
  assert_int_equal(tsr_array_tree_find(placed, "x")->kind, TSR_LEAF_SHAPE);
  assert_ok(tsr_placer_gather(placer, placed, &back));
  for (int i = 0; i < 4; i++) {
    const tsr_leaf *leaf = tsr_array_tree_find(back, paths[i]);
    assert_int_equal(leaf->kind, TSR_LEAF_HOST);
    assert_true(pattern_holds(leaf->data, tsr_tensor_bytes(&leaf->tensor)));
  }
  tsr_array_tree_release(back);
  tsr_array_tree_release(placed);
  tsr_array_tree_release(tree);
  tsr_placer_release(same);
  tsr_placer_release(placer);
  tsr_placer_release(NULL);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
}

static void sizes_are_corrected_when_they_are_known(void **state) {
  (void)state;
  static const char *const texts[] = {"dp, tp", "tp", "_", "dp", "tp"};
  tsr_comm *comm = make_comm(9);
  tsr_mesh *mesh = make_mesh("dp=3,tp=3");
  tsr_placer *placer = make_placer(mesh, comm, texts);
  tsr_array_tree *tree = make_array_tree(comm), *placed = NULL;
  tsr_place_report reports[5] = {TSR_PLACE_REPORT};
  assert_ok(tsr_placer_shard(placer, tree, &placed, reports));
  assert_report(&reports[1],
                "placed: ()\ndimension 0: size 16 is not divisible by tp=3, so it is not cut\n"
                "nothing left to cut, so the empty spec\n");
  for (int i = 0; i < 5; i++) tsr_place_report_deinit(&reports[i]);
  tsr_array_tree_release(placed);
  tsr_array_tree_release(tree);
  tsr_placer_release(placer);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
}

static void specs_are_checked_when_it_is_made(void **state) {
  (void)state;
  tsr_mesh *mesh = make_mesh("dp=2,tp=4");
  tsr_spec *ghost = make_spec("ghost"), *twice = make_spec("dp, dp"), *fine = make_spec("dp");
  const tsr_spec *specs[] = {fine, ghost};
  const char *const twice_named[] = {"a", "a"}, *const unnamed[] = {"a", NULL};
  tsr_placer *placer = NULL;
  assert_fails_with(tsr_placer_from_specs(paths, specs, 2, mesh, NULL, &placer), UNKNOWN_MESH_AXIS,
                    "path \"b\": ");
  specs[1] = twice;
  assert_fails_with(tsr_placer_from_specs(paths, specs, 2, mesh, NULL, &placer),
                    DUPLICATE_MESH_AXIS, "path \"b\": ");
  specs[1] = fine;
  assert_fails_with(tsr_placer_from_specs(paths, specs, 2, NULL, NULL, &placer), NO_MESH_ACTIVE,
                    "mesh");
  assert_fails(tsr_placer_from_specs(twice_named, specs, 2, mesh, NULL, &placer), DUPLICATE_PATH,
               "path \"a\" is given twice");
  assert_fails(tsr_placer_from_specs(unnamed, specs, 2, mesh, NULL, &placer), BAD_ARGUMENT,
               "spec 1 has no path");
  assert_fails(tsr_placer_from_specs(paths, specs, -1, mesh, NULL, &placer), TOO_LARGE,
               "a placer of -1 paths, wanted 0 to 2147483647");
  tsr_spec_release(ghost);
  tsr_spec_release(twice);
  tsr_spec_release(fine);
  tsr_mesh_release(mesh);
}

static void every_leaf_needs_a_spec_and_a_comm(void **state) {
  (void)state;
  static const char *const texts[] = {"dp", "tp", NULL, NULL, NULL};
  tsr_comm *comm = make_comm(8);
  tsr_mesh *mesh = make_mesh("dp=2,tp=4");
  tsr_placer *without = make_placer(mesh, NULL, texts);
  tsr_array_tree *tree = make_array_tree(comm), *placed = NULL, *back = NULL, *only = NULL;
  // The comm of an array does for what is in host memory.
  assert_ok(tsr_placer_shard(without, tree, &placed, NULL));
  assert_lies(tsr_array_tree_find(placed, "h")->array, "()");
  assert_ok(tsr_array_tree_create(tsr_array_tree_find(tree, "h"), 1, &only));
  assert_fails(tsr_placer_shard(without, only, &back, NULL), BAD_ARGUMENT,
               "leaf \"h\" is in host memory, and the placer was made without a comm");
  tsr_array_tree_release(only);
  tsr_leaf stranger = *tsr_array_tree_find(tree, "w");
  stranger.tensor.path = "stranger";
  assert_ok(tsr_array_tree_create(&stranger, 1, &only));
  assert_fails(tsr_placer_shard(without, only, &back, NULL), TREE_MISMATCH,
               "leaf \"stranger\": there is no spec for it");
  assert_fails(tsr_placer_gather(without, only, &back), TREE_MISMATCH,
               "leaf \"stranger\": there is no spec for it");
  tsr_array_tree_release(only);
  tsr_array_tree_release(placed);
  tsr_array_tree_release(tree);
  tsr_placer_release(without);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
}

// ---- plans ----

static void plans_are_carried_out(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(8);
  tsr_mesh *mesh = make_mesh("dp=2,tp=4");
  tsr_array_tree *tree = make_array_tree(comm), *placed = NULL;
  tsr_tree *shapes = NULL;
  tsr_rules *rules = make_rules("^[wh]$ -> dp, tp\n^b$ -> ghost\n. -> _\n");
  tsr_plan *plan = NULL;
  tsr_placer *placer = NULL;
  assert_ok(tsr_array_tree_shapes(tree, &shapes));
  assert_ok(tsr_plan_match(shapes, mesh, rules, NULL, &plan));
  assert_ok(tsr_placer_create(plan, NULL, &placer));
  assert_ok(tsr_placer_shard(placer, tree, &placed, NULL));
  assert_lies(tsr_array_tree_find(placed, "w")->array, "dp, tp");
  assert_lies(tsr_array_tree_find(placed, "h")->array, "dp, tp");
  assert_lies(tsr_array_tree_find(placed, "b")->array, "()");  // the plan had corrected it
  tsr_array_tree_release(placed);
  tsr_placer_release(placer);
  tsr_plan_release(plan);
  // A policy of the plan holds.
  const tsr_match_options options = {.size = sizeof options, .policy = TSR_POLICY_PAD};
  tsr_mesh *three = make_mesh("dp=1,tp=3");
  assert_ok(tsr_plan_match(shapes, three, rules, &options, &plan));
  assert_ok(tsr_placer_create(plan, NULL, &placer));
  assert_ok(tsr_placer_shard(placer, tree, &placed, NULL));
  assert_lies(tsr_array_tree_find(placed, "w")->array, "dp, tp");
  assert_int_equal(tsr_layout_policy(tsr_array_layout(tsr_array_tree_find(placed, "w")->array)),
                   TSR_POLICY_PAD);
  tsr_array_tree_release(placed);
  tsr_placer_release(placer);
  tsr_plan_release(plan);
  tsr_mesh_release(three);
  tsr_rules_release(rules);
  tsr_tree_release(shapes);
  tsr_array_tree_release(tree);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
}

// ---- there and back is the identity ----

enum { MOST_LEAVES = 6, MOST_BYTES = 16 * 16 * 16 * 8 };

static tsr_mesh *random_mesh(test_random *random) {
  static const char *const names[] = {"dp", "fsdp", "tp"};
  const int count = (int)test_random_range(random, 1, 3);
  tsr_axis axes[3];
  tsr_mesh *mesh = NULL;
  for (int i = 0; i < count; i++)
    axes[i] = (tsr_axis){.name = names[i], .size = test_random_range(random, 1, 3)};
  const tsr_mesh_desc desc = {.size = sizeof desc, .axis_count = count, .axes = axes};
  assert_ok(tsr_mesh_create(&desc, &mesh));
  return mesh;
}

static tsr_spec *random_spec(test_random *random) {
  static const char *const texts[] = {"dp",      "_, dp",        "dp+fsdp, tp", "tp, dp",
                                      "fsdp;tp", "tp/cyclic(2)", "()",          "ghost",
                                      "_",       "tp, _, dp"};
  return make_spec(texts[test_random_range(random, 0, COUNT_OF(texts) - 1)]);
}

static tsr_leaf random_leaf(test_random *random, tsr_comm *comm, const char *path, tsr_shape *shape,
                            void *memory) {
  static const tsr_dtype dtypes[] = {TSR_F32, TSR_BF16, TSR_I8, TSR_F64};
  const tsr_dtype dtype = dtypes[test_random_next(random) % 4];
  int64_t bytes = 0;
  shape->rank = (int)test_random_range(random, 0, 3);
  for (int d = 0; d < shape->rank; d++) shape->dims[d] = test_random_range(random, 0, 16);
  assert_ok(tsr_shape_bytes(shape, dtype, &bytes));
  tsr_leaf leaf = {.tensor = tsr_tensor_of(path, dtype, shape), .kind = TSR_LEAF_HOST};
  if (test_random_next(random) % 2) {
    leaf.kind = TSR_LEAF_ARRAY;
    assert_ok(pattern_unplaced(comm, dtype, shape, &leaf.array));
  } else {
    pattern_fill(memory, bytes);
    leaf.data = memory;
  }
  return leaf;
}

static tsr_array_tree *random_tree(test_random *random, tsr_comm *comm, const char *const *names,
                                   int count, void *memory) {
  tsr_leaf leaves[MOST_LEAVES] = {0};
  tsr_shape shapes[MOST_LEAVES];
  tsr_array_tree *tree = NULL;
  for (int i = 0; i < count; i++)
    leaves[i] = random_leaf(random, comm, names[i], &shapes[i], (char *)memory + i * MOST_BYTES);
  assert_ok(tsr_array_tree_create(leaves, count, &tree));
  for (int i = 0; i < count; i++) tsr_array_release(leaves[i].array);
  return tree;
}

static void assert_pattern_tree(const tsr_array_tree *tree) {
  for (int64_t i = 0; i < tsr_array_tree_count(tree); i++) {
    const tsr_leaf *leaf = tsr_array_tree_at(tree, i);
    assert_int_equal(leaf->kind, TSR_LEAF_HOST);
    assert_true(pattern_holds(leaf->data, tsr_tensor_bytes(&leaf->tensor)));
  }
}

static tsr_placer *random_placer(test_random *random, const tsr_array_tree *tree,
                                 const tsr_mesh *mesh, tsr_comm *comm) {
  const int64_t count = tsr_array_tree_count(tree);
  const tsr_spec *specs[MOST_LEAVES];
  tsr_tree *shapes = NULL;
  tsr_plan *plan = NULL;
  tsr_placer *placer = NULL;
  const tsr_place_options options = {.size = sizeof options, .comm = comm};
  for (int64_t i = 0; i < count; i++) specs[i] = random_spec(random);
  assert_ok(tsr_array_tree_shapes(tree, &shapes));
  assert_ok(tsr_plan_from_specs(shapes, mesh, specs, &plan));
  assert_ok(tsr_placer_create(plan, &options, &placer));
  for (int64_t i = 0; i < count; i++) tsr_spec_release(specs[i]);
  tsr_plan_release(plan);
  tsr_tree_release(shapes);
  return placer;
}

// From host memory or one device to a plan, from there to another one on another mesh, and back.
static void sharding_then_gathering_is_the_identity(void **state) {
  (void)state;
  static const char *const names[MOST_LEAVES] = {"a", "b", "c", "d", "e", "f"};
  test_random random = {7};
  void *memory = malloc(MOST_LEAVES * MOST_BYTES);
  assert_non_null(memory);
  tsr_comm *comm = make_comm(27);
  for (int turn = 0; turn < 300; turn++) {
    const int count = (int)test_random_range(&random, 0, MOST_LEAVES);
    tsr_array_tree *tree = random_tree(&random, comm, names, count, memory);
    tsr_array_tree *first = NULL, *second = NULL, *back = NULL;
    tsr_mesh *mesh = random_mesh(&random), *other = random_mesh(&random);
    tsr_placer *there = random_placer(&random, tree, mesh, comm);
    tsr_placer *further = random_placer(&random, tree, other, comm);
    assert_ok(tsr_placer_shard(there, tree, &first, NULL));
    assert_ok(tsr_placer_shard(further, first, &second, NULL));
    for (int i = 0; i < count; i++) assert_ok(pattern_check(tsr_array_tree_at(second, i)->array));
    assert_ok(tsr_placer_gather(further, second, &back));
    assert_pattern_tree(back);
    tsr_array_tree_release(back);
    tsr_array_tree_release(second);
    tsr_array_tree_release(first);
    tsr_placer_release(there);
    tsr_placer_release(further);
    tsr_mesh_release(mesh);
    tsr_mesh_release(other);
    tsr_array_tree_release(tree);
  }
  tsr_comm_release(comm);
  free(memory);
}

// ---- without memory ----

typedef struct ingredients {
  tsr_comm *comm;
  tsr_plan *plan;
  tsr_array_tree *tree;
} ingredients;

static tsr_status make_and_use(void *context) {
  const ingredients *with = context;
  const tsr_place_options options = {.size = sizeof options, .comm = with->comm};
  tsr_placer *placer = NULL;
  tsr_array_tree *placed = NULL, *back = NULL;
  TSR_TRY(tsr_placer_create(with->plan, &options, &placer));
  tsr_status status = tsr_placer_shard(placer, with->tree, &placed, NULL);
  if (!status) status = tsr_placer_gather(placer, placed, &back);
  tsr_array_tree_release(back);
  tsr_array_tree_release(placed);
  tsr_placer_release(placer);
  return status;
}

static tsr_status make_from_specs(void *context) {
  tsr_placer *placer = NULL;
  TSR_TRY(tsr_placer_from_specs(paths, (const tsr_spec *const[]){NULL, NULL}, 2, context, NULL,
                                &placer));
  tsr_placer_release(placer);
  return NULL;
}

static void memory_may_run_out(void **state) {
  (void)state;
  ingredients with = {make_comm(8), NULL, NULL};
  tsr_mesh *mesh = make_mesh("dp=2,tp=4");
  tsr_rules *rules = make_rules("^[wh]$ -> dp, tp\n. -> tp\n");
  tsr_tree *shapes = NULL;
  with.tree = make_array_tree(with.comm);
  assert_ok(tsr_array_tree_shapes(with.tree, &shapes));
  assert_ok(tsr_plan_match(shapes, mesh, rules, NULL, &with.plan));
  test_allocation_sweep(make_and_use, &with);
  test_allocation_sweep(make_from_specs, mesh);
  tsr_plan_release(with.plan);
  tsr_tree_release(shapes);
  tsr_rules_release(rules);
  tsr_array_tree_release(with.tree);
  tsr_mesh_release(mesh);
  tsr_comm_release(with.comm);
}

SUITE(placer, TEST(trees_go_there_and_back), TEST(sizes_are_corrected_when_they_are_known),
      TEST(specs_are_checked_when_it_is_made), TEST(every_leaf_needs_a_spec_and_a_comm),
      TEST(plans_are_carried_out), TEST(sharding_then_gathering_is_the_identity),
      TEST(memory_may_run_out))
