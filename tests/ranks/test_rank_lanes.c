// Which classes of lanes are on which rank, and who gives what to whom.
#include <stdlib.h>

#include "ranks/rank_lanes.h"
#include "support/ranks.h"
#include "support/test.h"
#include "tessera/engine/collectives.h"

enum { LANES = 6 };

// Ranks have lanes 0 and 1, 2 to 4, and 5, by the devices 5 to 0.
static const int64_t firsts[] = {0, 1, 4, 6};
static const int64_t devices[LANES] = {5, 4, 3, 2, 1, 0};

typedef struct world {
  tsr_arena arena;
  tsr_class_table table;
  const tsr_lane_classes *classes;  // of keys 7 8 7 8 9 9
} world;

static void open_world(world *w) {
  static const int64_t keys[LANES] = {7, 8, 7, 8, 9, 9};
  *w = (world){.arena = TSR_ARENA_EMPTY};
  w->table.arena = &w->arena;
  assert_ok(tsr_classes_of_keys(&w->table, LANES, keys, &w->classes));
}

#define CHECK(condition) \
  if (!(condition)) return tsr_fail(CHECK_FAILED, "line %d: not so: %s", __LINE__, #condition)

static tsr_status check_places(const world *w, tsr_rank_lanes *lanes) {
  const int rank = tsr_comm_rank(lanes->comm);
  const tsr_class_places *p = NULL, *again = NULL;
  TSR_TRY(tsr_rank_places(lanes, w->classes, &p));
  TSR_TRY(tsr_rank_places(lanes, w->classes, &again));
  CHECK(p == again);
  // Rank 0 has device 0, lane 5; rank 1 devices 1 to 3, lanes 4, 3, 2; rank 2 lanes 1 and 0.
  static const int here[3][3] = {{-1, -1, 0}, {0, 1, 2}, {0, 1, -1}};
  static const int count[3] = {1, 3, 2};
  CHECK(p->here_count == count[rank]);
  for (int c = 0; c < 3; c++) CHECK(p->here[c] == here[rank][c]);
  CHECK(tsr_lane_is_here(lanes, 5) == (rank == 0));
  // Class 0 is on ranks 1 (lane 2) and 2 (lane 0), class 2 on ranks 0 (lane 5) and 1 (lane 4).
  CHECK(p->starts[1] == 2 && p->holders[0] == 2 && p->holders[1] == 0);
  CHECK(tsr_rank_supplier(lanes, p, 0, 1) == 2);
  CHECK(tsr_rank_supplier(lanes, p, 2, 2) == 0);
  CHECK(tsr_rank_supplier(lanes, p, 0, 0) == 2);  // has none: the first of two
  CHECK(tsr_rank_supplier(lanes, p, 4, 2) == 5);  // rank 2 has none: 2 mod 2
  return NULL;
}

static tsr_status check_rank(void *context, tsr_comm *comm) {
  tsr_rank_lanes *lanes = NULL;
  const tsr_class_places *one = NULL;
  TSR_TRY(tsr_rank_lanes_create(comm, LANES, devices, &lanes));
  tsr_status status = check_places(context, lanes);
  if (!status) status = tsr_rank_places(lanes, NULL, &one);
  if (!status && (one->here_count != 1 || one->starts[1] != 3))
    status = tsr_fail(CHECK_FAILED, "one class of all lanes is on every rank");
  tsr_rank_lanes_destroy(lanes);
  return status;
}

static void classes_have_places(void **state) {
  world w;
  (void)state;
  open_world(&w);
  assert_ok(test_ranks_run(3, firsts, check_rank, &w));
  tsr_arena_deinit(&w.arena);
}

static tsr_status open_wrong(void *context, tsr_comm *comm) {
  tsr_rank_lanes *lanes = NULL;
  const int64_t *wrong = context;
  const tsr_status status = tsr_rank_lanes_create(comm, wrong ? LANES : 8, wrong, &lanes);
  tsr_rank_lanes_destroy(lanes);
  return status;
}

static void devices_must_fit_the_comm(void **state) {
  int64_t wrong[LANES] = {0, 1, 2, 3, 4, 6};
  (void)state;
  assert_fails_with(test_ranks_run(3, firsts, open_wrong, NULL), TOO_FEW_DEVICES,
                    "the program is for 8 devices, and the comm has 6");
  assert_fails_with(test_ranks_run(3, firsts, open_wrong, wrong), UNKNOWN_DEVICE,
                    "device 6 of the program's mesh, the comm has 0 to 5");
}

SUITE(rank_lanes, TEST(classes_have_places), TEST(devices_must_fit_the_comm))
