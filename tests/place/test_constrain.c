// Constraints by specs, on arrays and trees: correction, what is left alone, and what is reported.
#include <string.h>

#include "array/array_internal.h"
#include "place/arrays.h"
#include "place/place_internal.h"
#include "tessera/compat/constrain.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/scope.h"
#include "tessera/engine/sharding.h"

// ---- one array ----

// Constrains an unplaced array; "" as the result = it stays where it is.
static const struct {
  const char *mesh, *spec;
  tsr_shape shape;
  const char *result, *report;
} cases[] = {
    {"dp=2,tp=4", "dp, tp", {2, {8, 8}}, "dp, tp", "placed: dp, tp\n"},
    {"dp=2,tp=4", "dp", {2, {8, 8}}, "dp, _", "placed: dp, _\n"},
    {"dp=2,tp=4", "tp+dp", {1, {8}}, "tp+dp", "placed: tp+dp\n"},
    {"dp=2,tp=4",
     "dp, tp",
     {2, {8, 6}},
     "dp, _",
     "placed: dp, _\ndimension 1: size 6 is not divisible by tp=4, so it is not cut\n"},
    {"dp=2,tp=4",
     "dp+x",
     {1, {8}},
     "()",
     "placed: ()\ndimension 0: axis \"x\" is not in the mesh, so it is not cut\n"
     "nothing left to cut, so the empty spec\n"},
    {"dp=2,tp=4", "_", {1, {7}}, "()", "placed: ()\n"},
    {"dp=2,tp=4", "()", {1, {8}}, "", "left alone: the spec is empty\n"},
    {NULL, "dp", {1, {8}}, "", "left alone: there is no mesh\n"},
    {"dp=2,tp=4", "dp", {1, {0}}, "dp", "placed: dp\n"},
    {"dp=2 on 3,1", "dp", {1, {4}}, "dp", "placed: dp\n"},
};

static tsr_mesh *read_mesh(const char *text) {
  const char *on = strstr(text, " on ");
  if (!on) return make_mesh(text);
  const tsr_axis axis = {.name = "dp", .size = 2};
  const tsr_mesh_desc desc = {.size = sizeof desc,
                              .axis_count = 1,
                              .axes = &axis,
                              .devices = (const int64_t[]){3, 1},
                              .device_count = 2};
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_create(&desc, &mesh));
  return mesh;
}

static void arrays_go_where_the_corrected_spec_says(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(8);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_array *array = make_unplaced(comm, &cases[i].shape), *result = NULL;
    tsr_mesh *mesh = cases[i].mesh ? read_mesh(cases[i].mesh) : NULL;
    tsr_spec *spec = make_spec(cases[i].spec);
    tsr_place_report report = TSR_PLACE_REPORT;
    assert_ok(tsr_array_constrain(array, spec, mesh, NULL, &result, &report));
    if (*cases[i].result) {
      assert_lies(result, cases[i].result);
      assert_int_equal(tsr_array_local_count(result), tsr_mesh_device_count(mesh));
    } else {
      assert_ptr_equal(result, array);
    }
    assert_true(tsr_spec_equal(report.wanted, spec));
    assert_report(&report, cases[i].report);
    tsr_array_release(result);
    tsr_array_release(array);
    tsr_spec_release(spec);
    tsr_mesh_release(mesh);
  }
  tsr_comm_release(comm);
}

static void what_lies_so_already_is_the_same_array(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(8);
  tsr_mesh *mesh = make_mesh("dp=2,tp=4");
  tsr_array *array = make_placed(comm, mesh, "dp, tp", TSR_SHAPE(8, 8)), *result = NULL;
  tsr_spec *same = make_spec("dp, tp"), *other = make_spec("tp, dp"), *gone = make_spec("x");
  tsr_scope scope;
  tsr_place_report report = TSR_PLACE_REPORT;
  assert_ok(tsr_mesh_enter(mesh, &scope));  // instead of an argument
  assert_ok(tsr_array_constrain(array, same, NULL, NULL, &result, &report));
  assert_ptr_equal(result, array);
  assert_report(&report, "already in this layout: dp, tp\n");
  tsr_array_release(result);
  assert_ok(tsr_array_constrain(array, other, NULL, NULL, &result, NULL));
  assert_lies(result, "tp, dp");
  tsr_array_release(result);
  assert_ok(tsr_array_constrain(array, gone, NULL, NULL, &result, NULL));
  assert_lies(result, "()");  // replicated
  tsr_array_release(result);
  tsr_scope_leave(scope);
  tsr_spec_release(same);
  tsr_spec_release(other);
  tsr_spec_release(gone);
  tsr_array_release(array);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
}

static void options_change_what_correction_does(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(8);
  tsr_mesh *mesh = make_mesh("dp=2,tp=4");
  tsr_array *array = make_unplaced(comm, TSR_SHAPE(6)), *result = NULL;
  tsr_spec *group = make_spec("dp+tp"), *one = make_spec("tp");
  const tsr_correct_options members = {.size = sizeof members, .keep_group_members = true};
  const tsr_correct_options strict = {.size = sizeof strict, .strict = true};
  tsr_place_options options = {.size = sizeof options, .correct = &members};
  assert_ok(tsr_array_constrain(array, group, mesh, &options, &result, NULL));
  assert_lies(result, "dp");
  tsr_array_release(result);
  options.correct = &strict;
  assert_fails_with(tsr_array_constrain(array, one, mesh, &options, &result, NULL), INDIVISIBLE,
                    "6");
  options = (tsr_place_options){.size = sizeof options, .policy = TSR_POLICY_UNEVEN};
  assert_ok(tsr_array_constrain(array, one, mesh, &options, &result, NULL));
  assert_lies(result, "tp");  // 2, 2, 2 and none
  tsr_array_release(result);
  tsr_place_report report = TSR_PLACE_REPORT;
  options.policy = TSR_POLICY_TRIM;
  assert_ok(tsr_array_constrain(array, one, mesh, &options, &result, &report));
  assert_report(&report, "placed: tp:(1)2\n");
  tsr_array_release(result);
  tsr_spec_release(group);
  tsr_spec_release(one);
  tsr_array_release(array);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
}

static void refusals_say_why(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(8);
  const tsr_axis axes[] = {{.name = "dp", .size = 2},
                           {.name = "tp", .size = 4, .type = TSR_AXIS_EXPLICIT}};
  const tsr_mesh_desc desc = {.size = sizeof desc, .axis_count = 2, .axes = axes};
  tsr_mesh *mesh = NULL;
  tsr_array *array = make_unplaced(comm, TSR_SHAPE(8, 8)), *result = NULL;
  tsr_spec *twice = make_spec("dp, dp"), *explicit = make_spec("tp"), *fine = make_spec("dp");
  assert_ok(tsr_mesh_create(&desc, &mesh));
  assert_fails_with(tsr_array_constrain(array, twice, mesh, NULL, &result, NULL),
                    DUPLICATE_MESH_AXIS, "dp");
  assert_fails(tsr_array_constrain(array, explicit, mesh, NULL, &result, NULL),
               CONSTRAINT_NEEDS_AUTO_AXIS,
               "dimension 0 is constrained to axis \"tp\", which is explicit, wanted auto");
  assert_ok(tsr_array_constrain(array, fine, mesh, NULL, &result, NULL));
  tsr_array_release(result);
  tsr_mesh *large = make_mesh("dp=16");
  tsr_status status = tsr_array_constrain(array, fine, large, NULL, &result, NULL);
  assert_non_null(strstr(tsr_status_text(status), "device"));
  tsr_status_free(status);
  tsr_mesh_release(large);
  tsr_place_options options = {0};
  assert_fails_with(tsr_array_constrain(array, fine, mesh, &options, &result, NULL), BAD_ARGUMENT,
                    "tsr_place_options has size 0, wanted ");
  const tsr_correct_options correct = {0};
  options = (tsr_place_options){.size = sizeof options, .correct = &correct};
  assert_fails_with(tsr_array_constrain(array, fine, mesh, &options, &result, NULL), BAD_ARGUMENT,
                    "tsr_correct_options has size 0, wanted ");
  const tsr_reshard_options reshard = {0};
  options = (tsr_place_options){.size = sizeof options, .reshard = &reshard};
  assert_fails_with(tsr_array_constrain(array, fine, mesh, &options, &result, NULL), BAD_ARGUMENT,
                    "tsr_reshard_options has size 0, wanted ");
  tsr_spec_release(twice);
  tsr_spec_release(explicit);
  tsr_spec_release(fine);
  tsr_array_release(array);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
}

// ---- trees ----

static void every_leaf_of_a_tree_is_placed_or_explained(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(8);
  tsr_mesh *mesh = make_mesh("dp=2,tp=4");
  tsr_array_tree *tree = make_array_tree(comm), *placed = NULL;
  tsr_spec *spec = make_spec("dp, tp");
  tsr_place_report reports[5] = {TSR_PLACE_REPORT};
  assert_ok(tsr_array_tree_constrain(tree, spec, mesh, NULL, &placed, reports));
  assert_lies(tsr_array_tree_find(placed, "w")->array, "dp, tp");
  assert_lies(tsr_array_tree_find(placed, "b")->array, "dp");
  assert_report(&reports[0], "placed: dp, tp\n");
  assert_report(&reports[1],
                "placed: dp\nthe spec has 2 entries, the tensor 1 dimensions, so the rest is "
                "dropped\n");
  assert_report(&reports[2], "left alone: it is in host memory, and no comm was given for it\n");
  assert_report(&reports[4], "left alone: it is a shape without data\n");
  tsr_place_report_deinit(&reports[3]);
  tsr_array_tree_release(placed);
  // With a comm, what is in host memory is placed too.
  const tsr_place_options options = {.size = sizeof options, .comm = comm};
  assert_ok(tsr_array_tree_constrain(tree, spec, mesh, &options, &placed, NULL));
  assert_lies(tsr_array_tree_find(placed, "h")->array, "dp, tp");
  assert_lies(tsr_array_tree_find(placed, "s")->array, "()");
  assert_int_equal(tsr_array_tree_find(placed, "x")->kind, TSR_LEAF_SHAPE);
  // Once more: everything lies so, and is the same.
  tsr_array_tree *again = NULL;
  assert_ok(tsr_array_tree_constrain(placed, spec, mesh, &options, &again, NULL));
  for (int64_t i = 0; i < 4; i++)
    assert_ptr_equal(tsr_array_tree_at(again, i)->array, tsr_array_tree_at(placed, i)->array);
  tsr_array_tree_release(again);
  tsr_array_tree_release(placed);
  tsr_array_tree_release(tree);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
}

// A tree with one leaf that cannot be placed stays whole.
static void a_refusal_names_the_leaf(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(8);
  tsr_mesh *mesh = make_mesh("dp=2,tp=4");
  tsr_array_tree *tree = make_array_tree(comm), *placed = NULL;
  tsr_spec *twice = make_spec("dp, dp"), *empty = make_spec("()");
  assert_fails_with(tsr_array_tree_constrain(tree, twice, mesh, NULL, &placed, NULL),
                    DUPLICATE_MESH_AXIS, "leaf \"w\": ");
  assert_null(placed);
  assert_ok(tsr_array_tree_constrain(tree, empty, mesh, NULL, &placed, NULL));
  assert_ptr_equal(tsr_array_tree_at(placed, 0)->array, tsr_array_tree_at(tree, 0)->array);
  tsr_array_tree_release(placed);
  tsr_spec_release(twice);
  tsr_spec_release(empty);
  tsr_array_tree_release(tree);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
}

// Tied weights: one array under two names.
static void an_array_may_have_two_names(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(4);
  tsr_mesh *mesh = make_mesh("dp=2,tp=2");
  tsr_array *array = make_placed(comm, mesh, "dp", TSR_SHAPE(8, 4));
  const tsr_leaf leaves[] = {{.tensor.path = "embed", .kind = TSR_LEAF_ARRAY, .array = array},
                             {.tensor.path = "head", .kind = TSR_LEAF_ARRAY, .array = array}};
  tsr_array *rows = make_placed(comm, mesh, "dp", TSR_SHAPE(8, 4));
  tsr_array *columns = make_placed(comm, mesh, "_, tp", TSR_SHAPE(8, 4));
  const tsr_layout *layouts[] = {tsr_array_layout(rows), tsr_array_layout(columns)};
  tsr_array_tree *tree = NULL, *placed = NULL;
  tsr_place_report reports[2] = {TSR_PLACE_REPORT};
  assert_ok(tsr_array_tree_create(leaves, 2, &tree));
  assert_ok(tsr_array_tree_place(tree, layouts, NULL, &placed, reports));
  assert_ptr_equal(tsr_array_tree_at(placed, 0)->array, array);
  assert_lies(tsr_array_tree_at(placed, 1)->array, "_, tp");
  assert_report(&reports[0], "already in this layout: dp\n");
  assert_report(&reports[1], "placed: _, tp\n");
  tsr_array_tree_release(placed);
  layouts[0] = NULL;
  assert_ok(tsr_array_tree_place(tree, layouts, NULL, &placed, reports));
  assert_report(&reports[0], "left alone: no layout was given\n");
  tsr_place_report_deinit(&reports[1]);
  tsr_array_tree_release(placed);
  tsr_array *unplaced = make_unplaced(comm, TSR_SHAPE(8, 4));
  layouts[0] = tsr_array_layout(unplaced);  // boxes, which no spec says
  assert_ok(tsr_array_tree_place(tree, layouts, NULL, &placed, reports));
  assert_ok(pattern_check(tsr_array_tree_at(placed, 0)->array));
  assert_report(&reports[0], "placed\n");
  tsr_place_report_deinit(&reports[1]);
  tsr_array_tree_release(placed);
  tsr_array_release(unplaced);
  tsr_array_tree_release(tree);
  tsr_array_release(rows);
  tsr_array_release(columns);
  tsr_array_release(array);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
}

// A donated array is gone, unless another leaf has it too.
static void tied_arrays_outlive_a_donation(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(4);
  tsr_mesh *mesh = make_mesh("dp=2,tp=2");
  tsr_array *tied = make_placed(comm, mesh, "dp", TSR_SHAPE(8, 4));
  tsr_array *alone = make_placed(comm, mesh, "dp", TSR_SHAPE(8, 4));
  const tsr_leaf leaves[] = {{.tensor.path = "embed", .kind = TSR_LEAF_ARRAY, .array = tied},
                             {.tensor.path = "head", .kind = TSR_LEAF_ARRAY, .array = tied},
                             {.tensor.path = "again", .kind = TSR_LEAF_ARRAY, .array = tied},
                             {.tensor.path = "w", .kind = TSR_LEAF_ARRAY, .array = alone}};
  tsr_array *columns = make_placed(comm, mesh, "_, tp", TSR_SHAPE(8, 4));
  const tsr_layout *layouts[] = {tsr_array_layout(tied), tsr_array_layout(columns),
                                 tsr_array_layout(columns), tsr_array_layout(columns)};
  // Little memory: a round for each.
  const tsr_reshard_options donate = {.size = sizeof donate, .donate = true, .max_memory = 1};
  const tsr_place_options options = {.size = sizeof options, .reshard = &donate};
  tsr_array_tree *tree = NULL, *placed = NULL;
  assert_ok(tsr_array_tree_create(leaves, 4, &tree));
  assert_ok(tsr_array_tree_place(tree, layouts, &options, &placed, NULL));
  assert_lies(tsr_array_tree_at(placed, 0)->array, "dp");
  for (int64_t i = 1; i < 4; i++) assert_lies(tsr_array_tree_at(placed, i)->array, "_, tp");
  assert_false(tsr_array_is_deleted(tied));
  assert_true(tsr_array_is_deleted(alone));
  tsr_array_tree_release(placed);
  tsr_array_tree_release(tree);
  tsr_array_release(columns);
  tsr_array_release(alone);
  tsr_array_release(tied);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
}

// ---- automatic ----

static void automatic_specs_place_what_is_large_enough(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(8);
  tsr_mesh *mesh = make_mesh("dp=2,tp=4");
  tsr_array *large = make_unplaced(comm, TSR_SHAPE(8, 16)),
            *small = make_unplaced(comm, TSR_SHAPE(7));
  tsr_array *result = NULL;
  tsr_place_report report = TSR_PLACE_REPORT;
  assert_ok(tsr_array_auto_shard(large, mesh, NULL, NULL, &result, &report));
  assert_lies(result, "dp, tp");
  tsr_place_report_deinit(&report);
  tsr_array_release(result);
  const tsr_auto_options reverse = {.size = sizeof reverse, .reverse = true};
  assert_ok(tsr_array_auto_shard(large, mesh, &reverse, NULL, &result, NULL));
  assert_lies(result, "tp, dp");
  tsr_array_release(result);
  assert_ok(tsr_array_auto_shard(small, mesh, NULL, NULL, &result, &report));
  assert_ptr_equal(result, small);
  assert_report(&report, "left alone: too small to be cut\n");
  tsr_array_release(result);
  assert_fails_with(tsr_array_auto_shard(large, NULL, NULL, NULL, &result, NULL), NO_MESH_ACTIVE,
                    "mesh");
  tsr_array_release(large);
  tsr_array_release(small);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
}

// ---- words ----

static void outcomes_have_words(void **state) {
  (void)state;
  assert_string_equal(tsr_outcome_word(TSR_OUTCOME_NO_MESH), "no_mesh");
  assert_string_equal(tsr_outcome_text(TSR_OUTCOME_NO_MESH), "left alone: there is no mesh");
}

// ---- without memory ----

typedef struct ingredients {
  tsr_comm *comm;
  tsr_mesh *mesh;
  tsr_spec *spec;
  tsr_array_tree *tree;
} ingredients;

static tsr_status constrain_tree(void *context) {
  const ingredients *with = context;
  const tsr_place_options options = {.size = sizeof options, .comm = with->comm};
  tsr_array_tree *placed = NULL;
  tsr_place_report reports[5] = {TSR_PLACE_REPORT};
  TSR_TRY(tsr_array_tree_constrain(with->tree, with->spec, with->mesh, &options, &placed, reports));
  for (int i = 0; i < 5; i++) tsr_place_report_deinit(&reports[i]);
  tsr_array_tree_release(placed);
  return NULL;
}

// Both leaves have the array, so that it survives for the next turn.
static tsr_status donate_tied(void *context) {
  const ingredients *with = context;
  const tsr_reshard_options donate = {.size = sizeof donate, .donate = true};
  const tsr_place_options options = {.size = sizeof options, .reshard = &donate};
  tsr_leaf leaves[] = {*tsr_array_tree_at(with->tree, 0), *tsr_array_tree_at(with->tree, 0)};
  tsr_array_tree *tree = NULL, *placed = NULL;
  leaves[1].tensor.path = "again";
  TSR_TRY(tsr_array_tree_create(leaves, 2, &tree));
  tsr_status status =
      tsr_array_tree_constrain(tree, with->spec, with->mesh, &options, &placed, NULL);
  tsr_array_tree_release(placed);
  tsr_array_tree_release(tree);
  return status;
}

static tsr_status constrain_one(void *context) {
  const ingredients *with = context;
  tsr_array *result = NULL, *other = NULL;
  tsr_array *array = tsr_array_tree_at(with->tree, 0)->array;
  TSR_TRY(tsr_array_constrain(array, with->spec, with->mesh, NULL, &result, NULL));
  tsr_status status = tsr_array_auto_shard(array, with->mesh, NULL, NULL, &other, NULL);
  tsr_array_release(result);
  tsr_array_release(other);
  return status;
}

static void memory_may_run_out(void **state) {
  (void)state;
  ingredients with = {make_comm(8), make_mesh("dp=2,tp=4"), make_spec("dp, x, tp"), NULL};
  with.tree = make_array_tree(with.comm);
  test_allocation_sweep(constrain_tree, &with);
  test_allocation_sweep(donate_tied, &with);
  test_allocation_sweep(constrain_one, &with);
  tsr_array_tree_release(with.tree);
  tsr_spec_release(with.spec);
  tsr_mesh_release(with.mesh);
  tsr_comm_release(with.comm);
}

SUITE(constrain, TEST(arrays_go_where_the_corrected_spec_says),
      TEST(what_lies_so_already_is_the_same_array), TEST(options_change_what_correction_does),
      TEST(refusals_say_why), TEST(every_leaf_of_a_tree_is_placed_or_explained),
      TEST(a_refusal_names_the_leaf), TEST(an_array_may_have_two_names),
      TEST(tied_arrays_outlive_a_donation), TEST(automatic_specs_place_what_is_large_enough),
      TEST(outcomes_have_words), TEST(memory_may_run_out))
