// Relabelling: as good as trying all permutations.
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/layout.h"
#include "transfer/assign.h"
#include "transfer/carry.h"
#include "transfer/relabel.h"
#include "transfer/transfer_internal.h"

// ---- assignments ----

enum { MOST = 7 };

// The best that can be saved by placing members from `at` on, by trying everything.
static int64_t try_all(const int64_t (*weights)[MOST], int rows, int columns, int at, bool *taken) {
  if (at == rows) return 0;
  int64_t best = try_all(weights, rows, columns, at + 1, taken);
  for (int c = 0; c < columns; c++) {
    if (taken[c] || weights[at][c] == 0) continue;
    taken[c] = true;
    const int64_t found = weights[at][c] + try_all(weights, rows, columns, at + 1, taken);
    taken[c] = false;
    if (found > best) best = found;
  }
  return best;
}

static void assignments_are_the_best_there_are(void **state) {
  (void)state;
  test_random random = {3};
  for (int i = 0; i < 3000; i++) {
    // Classes of some members each, and the members one by one.
    int64_t weights[MOST][MOST] = {{0}}, supply[MOST], room[MOST], saved = 0, bound = 0;
    int lefts = 0, rights = 0, rows = 0, columns = 0, left_of[MOST], right_of[MOST];
    while (rows < MOST && test_random_range(&random, 0, 5)) {
      supply[lefts] = test_random_range(&random, 0, 1 + (MOST - rows) / 3);
      for (int64_t k = 0; k < supply[lefts]; k++) left_of[rows++] = lefts;
      if (++lefts == MOST) break;
    }
    while (columns < MOST && test_random_range(&random, 0, 5)) {
      room[rights] = test_random_range(&random, 0, 1 + (MOST - columns) / 3);
      for (int64_t k = 0; k < room[rights]; k++) right_of[columns++] = rights;
      if (++rights == MOST) break;
    }
    tsr_assign_edge edges[MOST * MOST];
    int64_t count = 0;
    const int64_t range = i % 2 ? 4 : 1000;
    for (int l = 0; l < lefts; l++)
      for (int r = 0; r < rights; r++)
        if (test_random_range(&random, 0, 2))
          edges[count++] = (tsr_assign_edge){l, r, test_random_range(&random, 1, range), 99};
    for (int64_t e = 0; e < count; e++)
      for (int a = 0; a < rows; a++)
        for (int b = 0; b < columns; b++)
          if (left_of[a] == edges[e].left && right_of[b] == edges[e].right)
            weights[a][b] = edges[e].weight;
    const tsr_assign_problem problem = {.left_count = lefts,
                                        .right_count = rights,
                                        .edge_count = count,
                                        .supply = supply,
                                        .room = room,
                                        .edges = edges,
                                        .steps = INT64_MAX};
    bool taken[MOST] = {false};
    assert_ok(tsr_assign_solve(&problem, &saved, &bound));
    assert_int_equal(saved, try_all((const int64_t(*)[MOST])weights, rows, columns, 0, taken));
    assert_int_equal(saved, bound);
    for (int64_t e = 0; e < count; e++) {
      supply[edges[e].left] -= edges[e].flow;
      room[edges[e].right] -= edges[e].flow;
      assert_true(edges[e].flow >= 0);
    }
    for (int l = 0; l < lefts; l++) assert_true(supply[l] >= 0);
    for (int r = 0; r < rights; r++) assert_true(room[r] >= 0);
  }
}

static void without_time_the_heaviest_go_first(void **state) {
  (void)state;
  // Best would be 9 + 9; the heaviest edge first gives 10 + 1.
  tsr_assign_edge edges[] = {{0, 0, 10, 0}, {0, 1, 9, 0}, {1, 0, 9, 0}, {1, 1, 1, 0}};
  const int64_t ones[] = {1, 1};
  tsr_assign_problem problem = {.left_count = 2,
                                .right_count = 2,
                                .edge_count = 4,
                                .supply = ones,
                                .room = ones,
                                .edges = edges,
                                .steps = 0};
  int64_t saved = 0, bound = 0;
  assert_ok(tsr_assign_solve(&problem, &saved, &bound));
  assert_int_equal(saved, 11);
  assert_int_equal(bound, 19);
  problem.steps = 1000;
  assert_ok(tsr_assign_solve(&problem, &saved, &bound));
  assert_int_equal(saved, 18);
  assert_int_equal(bound, 18);
}

// ---- layouts ----

static int64_t shared(const test_image *a, int64_t p, const test_image *b, int64_t q) {
  int64_t count = 0;
  for (int64_t i = 0; i < a->counts[p]; i++)
    for (int64_t j = 0; j < b->counts[q]; j++)
      if (a->elements[p][i] >= 0 && a->elements[p][i] == b->elements[q][j]) {
        count++;
        break;
      }
  return count;
}

static int64_t best_of_all(const test_image *from, const test_image *to) {
  int64_t weights[MOST][MOST] = {{0}};
  bool taken[MOST] = {false};
  const int devices = (int)tsr_layout_device_count(to->layout);
  for (int p = 0; p < devices; p++)
    for (int q = 0; q < devices; q++) {
      const int64_t held =
          tsr_layout_device_find(from->layout, tsr_layout_device_at(to->layout, q));
      if (held >= 0) weights[p][q] = shared(to, p, from, held);
    }
  return try_all((const int64_t(*)[MOST])weights, devices, devices, 0, taken);
}

static int64_t moved(const tsr_layout *from, const tsr_layout *to) {
  tsr_copy_plan *plan = NULL;
  tsr_certificate certificate = TSR_CERTIFICATE;
  assert_ok(tsr_copy_plan_create(from, to, NULL, &plan));
  assert_ok(tsr_copy_plan_certify(plan, TSR_I8, &certificate));
  tsr_copy_plan_release(plan);
  return certificate.bytes_moved;
}

static void judge_relabelling(const test_image *from, const test_image *to) {
  tsr_copy_plan *plan = NULL;
  tsr_relabelling found = TSR_RELABELLING;
  tsr_layout *relabelled = NULL;
  assert_ok(tsr_copy_plan_create(from->layout, to->layout, NULL, &plan));
  assert_ok(tsr_relabel(plan, TSR_I8, &found));
  assert_int_equal(found.bytes_before, moved(from->layout, to->layout));
  assert_int_equal(found.bytes_after, found.bytes_bound);
  assert_ok(tsr_layout_with_devices(to->layout, found.devices, &relabelled));
  assert_int_equal(found.bytes_after, moved(from->layout, relabelled));
  int64_t needed = 0;
  for (int64_t p = 0; p < found.device_count; p++)
    needed += tsr_layout_shard_elements(to->layout, tsr_layout_shard(to->layout, p));
  if (found.device_count <= MOST)
    assert_int_equal(needed - found.bytes_after, best_of_all(from, to));
  if (found.bytes_after == found.bytes_before)  // then nobody moves
    for (int64_t p = 0; p < found.device_count; p++)
      assert_int_equal(found.devices[p], tsr_layout_device_at(to->layout, p));
  tsr_layout_release(relabelled);
  tsr_relabelling_deinit(&found);
  tsr_copy_plan_release(plan);
}

static void relabelling_is_as_good_as_any_permutation(void **state) {
  (void)state;
  test_random random = {5};
  for (int i = 0; i < 600; i++) {
    test_layout a, b;
    test_image from, to;
    tsr_layout *made = NULL;
    test_layout_make(&random, false, &a);
    if (i % 3 && tsr_mesh_device_count(a.mesh) > MOST) {
      test_layout_free(&a);
      continue;
    }
    test_layout_make_other(&random, false, &a, &b);
    assert_ok(tsr_layout_create(a.sharding, &a.shape, TSR_POLICY_UNEVEN, &made));
    test_image_init(&from, made);
    assert_ok(tsr_layout_create(b.sharding, &b.shape, TSR_POLICY_PAD, &made));
    test_image_init(&to, made);
    judge_relabelling(&from, &to);
    test_image_deinit(&from);
    test_image_deinit(&to);
    test_layout_free(&a);
    test_layout_free(&b);
  }
}

static void boxes_and_flat_ranges_are_relabelled_too(void **state) {
  (void)state;
  const tsr_range flat[] = {{8, 12}, {0, 4}, {4, 8}};
  const tsr_range boxes[] = {{4, 8}, {8, 12}, {0, 3}, {3, 4}};
  const int64_t counts[] = {1, 1, 2};
  test_image from, to;
  tsr_layout *made = NULL;
  assert_ok(tsr_layout_from_flat(NULL, TSR_SHAPE(12), 3, flat, &made));
  test_image_init(&from, made);
  assert_ok(tsr_layout_from_boxes(NULL, TSR_SHAPE(12), 3, counts, boxes, &made));
  test_image_init(&to, made);
  judge_relabelling(&from, &to);
  judge_relabelling(&to, &from);
  tsr_copy_plan *plan = NULL;
  tsr_relabelling found = TSR_RELABELLING;
  assert_ok(tsr_copy_plan_create(from.layout, to.layout, NULL, &plan));
  assert_ok(tsr_relabel(plan, TSR_F32, &found));
  assert_int_equal(found.bytes_before, 48);
  assert_int_equal(found.bytes_after, 0);
  assert_int_equal(found.devices[0], 2);
  assert_int_equal(found.devices[1], 0);
  assert_int_equal(found.devices[2], 1);
  tsr_relabelling_deinit(&found);
  assert_fails(tsr_relabel(plan, TSR_DTYPE_NONE, &found), BAD_ARGUMENT,
               "element type 0 does not exist");
  tsr_copy_plan_release(plan);
  test_image_deinit(&from);
  test_image_deinit(&to);
}

static void terms_are_relabelled_among_themselves(void **state) {
  (void)state;
  const char *spec = "P('x', unreduced={'u'})";
  tsr_layout *from = test_layout_of("u=2:explicit,x=4:explicit", spec, "8", TSR_POLICY_ERROR);
  tsr_layout *to = test_layout_of("u=2:explicit,x=4:explicit devices=[7,6,5,4,3,2,1,0]", spec, "8",
                                  TSR_POLICY_ERROR);
  tsr_copy_plan *plan = NULL;
  tsr_relabelling found = TSR_RELABELLING;
  assert_ok(tsr_copy_plan_create(from, to, NULL, &plan));
  assert_ok(tsr_relabel(plan, TSR_I8, &found));
  assert_int_equal(found.bytes_before, 16);
  assert_int_equal(found.bytes_after, 0);
  for (int64_t p = 0; p < 8; p++) assert_int_equal(found.devices[p], p);
  tsr_relabelling_deinit(&found);
  tsr_copy_plan_release(plan);
  tsr_layout_release(from);
  tsr_layout_release(to);
}

static void large_meshes_are_relabelled(void **state) {
  (void)state;
  // Reversed devices; a relabelling brings each home, alone and with replicas.
  static const char *const specs[] = {"x+y", "x", "y;x"};
  int64_t ids[20000];
  for (int64_t i = 0; i < 20000; i++) ids[i] = 19999 - i;
  for (size_t i = 0; i < COUNT_OF(specs); i++) {
    tsr_layout *from = test_layout_of("x=200,y=100", specs[i], "100000", TSR_POLICY_ERROR);
    tsr_layout *to = NULL;
    tsr_copy_plan *plan = NULL;
    tsr_relabelling found = TSR_RELABELLING;
    assert_ok(tsr_layout_with_devices(from, ids, &to));
    assert_ok(tsr_copy_plan_create(from, to, NULL, &plan));
    assert_ok(tsr_relabel(plan, TSR_I8, &found));
    assert_int_equal(found.bytes_after, 0);
    assert_true(found.bytes_before > 0);
    tsr_relabelling_deinit(&found);
    tsr_copy_plan_release(plan);
    tsr_layout_release(from);
    tsr_layout_release(to);
  }
}

static void more_overlaps_than_can_be_kept_still_help(void **state) {
  (void)state;
  // Every one of the 48 overlaps every other, and its own place was given to another.
  int64_t ids[48];
  for (int64_t i = 0; i < 48; i++) ids[i] = i * 5 % 48;
  tsr_layout *from = test_layout_of("x=48", "x/cyclic(1)", "4700", TSR_POLICY_UNEVEN);
  tsr_layout *plain = test_layout_of("x=48", "x/cyclic(49)", "4700", TSR_POLICY_UNEVEN), *to = NULL;
  tsr_copy_plan *plan = NULL;
  tsr_relabelling best = TSR_RELABELLING, found = TSR_RELABELLING;
  assert_ok(tsr_layout_with_devices(plain, ids, &to));
  assert_ok(tsr_copy_plan_create(from, to, NULL, &plan));
  assert_ok(tsr_relabel(plan, TSR_I8, &best));
  assert_ok(tsr_relabel_within(plan, TSR_I8, 64, &found));
  assert_int_equal(best.bytes_after, best.bytes_bound);
  assert_true(found.bytes_bound <= best.bytes_bound && best.bytes_after <= found.bytes_after);
  assert_true(found.bytes_after <= found.bytes_before);
  assert_true(best.bytes_after < best.bytes_before);
  tsr_relabelling_deinit(&best);
  tsr_relabelling_deinit(&found);
  tsr_copy_plan_release(plan);
  tsr_layout_release(from);
  tsr_layout_release(plain);
  tsr_layout_release(to);
}

SUITE(relabel, TEST(assignments_are_the_best_there_are), TEST(without_time_the_heaviest_go_first),
      TEST(relabelling_is_as_good_as_any_permutation),
      TEST(boxes_and_flat_ranges_are_relabelled_too), TEST(terms_are_relabelled_among_themselves),
      TEST(large_meshes_are_relabelled), TEST(more_overlaps_than_can_be_kept_still_help))
