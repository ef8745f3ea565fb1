// Trees over several ranks: everybody calls the same, each holds its devices, one may gather.
#include "place/arrays.h"
#include "place/place_internal.h"
#include "support/ranks.h"
#include "tessera/compat/constrain.h"
#include "tessera/engine/layout.h"

static const int64_t first_devices[] = {0, 3, 4, 8};  // of three ranks

typedef struct ingredients {
  const tsr_mesh *mesh;
  const tsr_spec *by_rows, *by_columns;
  const void *memory;  // of a matrix (8, 16) with the pattern
} ingredients;

static tsr_status check_gathered(const tsr_array_tree *tree, bool here) {
  const tsr_leaf *leaf = tsr_array_tree_at(tree, 0);
  if (!here) return leaf->kind == TSR_LEAF_SHAPE ? NULL : tsr_fail(BAD_ARGUMENT, "not a shape");
  if (leaf->kind == TSR_LEAF_HOST && pattern_holds(leaf->data, 512)) return NULL;
  return tsr_fail(BAD_ARGUMENT, "the gathered tensor is wrong");
}

static tsr_status gather_twice(const tsr_array_tree *tree, const tsr_comm *comm) {
  tsr_array_tree *back = NULL, *one = NULL;
  tsr_status status = tsr_array_tree_gather(tree, -1, &back);
  if (!status) status = check_gathered(back, true);
  if (!status) status = tsr_array_tree_gather(tree, 1, &one);
  if (!status) status = check_gathered(one, tsr_comm_rank(comm) == 1);
  tsr_array_tree_release(back);
  tsr_array_tree_release(one);
  return status;
}

static tsr_status place_and_gather(void *context, tsr_comm *comm) {
  const ingredients *with = context;
  const tsr_place_options options = {.size = sizeof options, .comm = comm};
  const tsr_leaf leaf = {.tensor = tsr_tensor_of("w", TSR_F32, TSR_SHAPE(8, 16)),
                         .kind = TSR_LEAF_HOST,
                         .data = with->memory};
  tsr_array_tree *tree = NULL, *rows = NULL, *columns = NULL;
  tsr_status status = tsr_array_tree_create(&leaf, 1, &tree);
  if (!status)
    status = tsr_array_tree_constrain(tree, with->by_rows, with->mesh, &options, &rows, NULL);
  if (!status)
    status = tsr_array_tree_constrain(rows, with->by_columns, with->mesh, NULL, &columns, NULL);
  if (!status) status = pattern_check(tsr_array_tree_at(columns, 0)->array);
  if (!status) status = gather_twice(columns, comm);
  tsr_array_tree_release(columns);
  tsr_array_tree_release(rows);
  tsr_array_tree_release(tree);
  return status;
}

static void trees_are_placed_over_ranks(void **state) {
  (void)state;
  unsigned char memory[512];
  tsr_mesh *mesh = make_mesh("dp=2,tp=4");
  tsr_spec *rows = make_spec("tp+dp"), *columns = make_spec("dp, tp");
  ingredients with = {mesh, rows, columns, memory};
  pattern_fill(memory, sizeof memory);
  assert_ok(test_ranks_run(3, first_devices, place_and_gather, &with));
  tsr_spec_release(rows);
  tsr_spec_release(columns);
  tsr_mesh_release(mesh);
}

// One rank gives a spec that is refused: all fail, and none waits for ever.
static tsr_status disagree(void *context, tsr_comm *comm) {
  const ingredients *with = context;
  const bool odd = tsr_comm_rank(comm) == 2;
  tsr_array *array = NULL, *result = NULL;
  TSR_TRY(pattern_unplaced(comm, TSR_F32, TSR_SHAPE(8, 16), &array));
  tsr_status status = tsr_array_constrain(array, odd ? with->by_columns : with->by_rows, with->mesh,
                                          NULL, &result, NULL);
  tsr_array_release(result);
  tsr_array_release(array);
  if (!status) return tsr_fail(BAD_ARGUMENT, "rank %d did not fail", tsr_comm_rank(comm));
  tsr_status_free(status);
  return NULL;
}

static void what_one_rank_is_refused_all_are(void **state) {
  (void)state;
  tsr_mesh *mesh = make_mesh("dp=2,tp=4");
  tsr_spec *fine = make_spec("dp, tp"), *twice = make_spec("dp, dp");
  ingredients with = {mesh, fine, twice, NULL};
  assert_ok(test_ranks_run(3, first_devices, disagree, &with));
  tsr_spec_release(fine);
  tsr_spec_release(twice);
  tsr_mesh_release(mesh);
}

// ---- other trees on one rank ----

// Two leaves that move with donation. They have one array, but on the odd rank one each.
static tsr_status tie_some(void *context, tsr_comm *comm) {
  const ingredients *with = context;
  const bool odd = tsr_comm_rank(comm) == 2;
  const tsr_reshard_options donate = {.size = sizeof donate, .donate = true};
  const tsr_place_options options = {.size = sizeof options, .reshard = &donate};
  tsr_array *one = NULL, *other = NULL;
  tsr_array_tree *tree = NULL, *moved = NULL;
  tsr_status status = pattern_unplaced(comm, TSR_F32, TSR_SHAPE(8, 16), &one);
  if (!status) status = pattern_unplaced(comm, TSR_F32, TSR_SHAPE(8, 16), &other);
  const tsr_leaf leaves[] = {
      {.tensor.path = "a", .kind = TSR_LEAF_ARRAY, .array = one},
      {.tensor.path = "b", .kind = TSR_LEAF_ARRAY, .array = odd ? other : one}};
  if (!status) status = tsr_array_tree_create(leaves, 2, &tree);
  if (!status)
    status = tsr_array_tree_constrain(tree, with->by_rows, with->mesh, &options, &moved, NULL);
  tsr_array_tree_release(moved);
  tsr_array_tree_release(tree);
  tsr_array_release(one);
  tsr_array_release(other);
  return status;
}

static void leaves_are_tied_on_all_ranks_or_on_none(void **state) {
  (void)state;
  tsr_mesh *mesh = make_mesh("dp=2,tp=4");
  tsr_spec *rows = make_spec("tp+dp");
  ingredients with = {mesh, rows, NULL, NULL};
  assert_fails(test_ranks_run(3, first_devices, tie_some, &with), COMM_MISMATCH,
               "rank 0: ranks differ in step 2: ranks 0, 1 call tree_constrain, where 2 of 2 "
               "arrays that move are those of several leaves; rank 2 calls tree_constrain, where "
               "0 of 2 arrays that move are those of several leaves");
  tsr_spec_release(rows);
  tsr_mesh_release(mesh);
}

// One leaf moves with donation. Two more stay, with one array, but on the odd rank one each.
static tsr_status tie_what_stays(void *context, tsr_comm *comm) {
  const ingredients *with = context;
  const bool odd = tsr_comm_rank(comm) == 2;
  const tsr_reshard_options donate = {.size = sizeof donate, .donate = true};
  const tsr_place_options options = {.size = sizeof options, .reshard = &donate};
  tsr_array *moves = NULL, *one = NULL, *other = NULL;
  tsr_array_tree *tree = NULL, *moved = NULL;
  tsr_status status = pattern_unplaced(comm, TSR_F32, TSR_SHAPE(8, 16), &moves);
  if (!status) status = tsr_array_constrain(moves, with->by_rows, with->mesh, NULL, &one, NULL);
  if (!status) status = tsr_array_constrain(moves, with->by_rows, with->mesh, NULL, &other, NULL);
  const tsr_leaf leaves[] = {
      {.tensor.path = "a", .kind = TSR_LEAF_ARRAY, .array = moves},
      {.tensor.path = "b", .kind = TSR_LEAF_ARRAY, .array = one},
      {.tensor.path = "c", .kind = TSR_LEAF_ARRAY, .array = odd ? other : one}};
  if (!status) status = tsr_array_tree_create(leaves, 3, &tree);
  if (!status)
    status = tsr_array_tree_constrain(tree, with->by_rows, with->mesh, &options, &moved, NULL);
  tsr_array_tree_release(moved);
  tsr_array_tree_release(tree);
  tsr_array_release(moves);
  tsr_array_release(one);
  tsr_array_release(other);
  return status;
}

static void leaves_that_stay_may_be_tied_on_some_ranks(void **state) {
  (void)state;
  tsr_mesh *mesh = make_mesh("dp=2,tp=4");
  tsr_spec *rows = make_spec("tp+dp");
  ingredients with = {mesh, rows, NULL, NULL};
  assert_ok(test_ranks_run(3, first_devices, tie_what_stays, &with));
  tsr_spec_release(rows);
  tsr_mesh_release(mesh);
}

// Boxes that every rank but the first makes again; the first gives those the array has.
static tsr_status place_in_equal_boxes(void *context, tsr_comm *comm) {
  const tsr_range boxes[] = {{0, 5}, {5, 16}};
  tsr_array *array = NULL;
  tsr_array_tree *tree = NULL, *placed = NULL;
  tsr_layout *lies = NULL, *again = NULL;
  tsr_place_report report = TSR_PLACE_REPORT;
  (void)context;
  tsr_status status =
      tsr_layout_from_boxes(NULL, TSR_SHAPE(16), 2, (int64_t[]){1, 1}, boxes, &lies);
  if (!status)
    status = tsr_layout_from_boxes(NULL, TSR_SHAPE(16), 2, (int64_t[]){1, 1}, boxes, &again);
  if (!status) status = tsr_array_zeros(comm, lies, TSR_U8, &array);
  const tsr_layout *wanted = tsr_comm_rank(comm) ? again : lies;
  const tsr_leaf leaf = {.tensor.path = "w", .kind = TSR_LEAF_ARRAY, .array = array};
  if (!status) status = tsr_array_tree_create(&leaf, 1, &tree);
  if (!status) status = tsr_array_tree_place(tree, &wanted, NULL, &placed, &report);
  if (!status && report.outcome != TSR_OUTCOME_SAME)
    status = tsr_fail(BAD_ARGUMENT, "it does not lie so: %s", tsr_outcome_word(report.outcome));
  if (placed) tsr_place_report_deinit(&report);
  tsr_array_tree_release(placed);
  tsr_array_tree_release(tree);
  tsr_array_release(array);
  tsr_layout_release(lies);
  tsr_layout_release(again);
  return status;
}

static void equal_boxes_are_one_layout(void **state) {
  (void)state;
  assert_ok(test_ranks_run(2, (int64_t[]){0, 1, 2}, place_in_equal_boxes, NULL));
}

SUITE(place_ranks, TEST(leaves_are_tied_on_all_ranks_or_on_none),
      TEST(leaves_that_stay_may_be_tied_on_some_ranks), TEST(equal_boxes_are_one_layout),
      TEST(trees_are_placed_over_ranks), TEST(what_one_rank_is_refused_all_are))
