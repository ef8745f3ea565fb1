// Loads over several ranks: each byte is read by one of them, all get what they hold, and what
// fails on one fails on all.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "checkpoint/loads.h"
#include "support/ranks.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/collectives.h"
#include "tessera/place.h"

enum { MOST_RANKS = 8, NARROW_BYTES = 22 * 8 / 2 + 6 * 7 / 2 };

typedef struct job {
  char paths[MOST_RANKS][128];  // that each rank opens
  const tsr_plan *plans[MOST_RANKS];
  tsr_load_options options;
  char cut[128];  // a file that is truncated after it was opened; "" = none
  tsr_load_certificate certificates[MOST_RANKS];
  tsr_load_report reports[MOST_RANKS];
  char messages[MOST_RANKS][512];
} job;

static tsr_status run_load(job *j, tsr_load *load, const tsr_checkpoint *checkpoint, int rank) {
  tsr_array_tree *tree = NULL;
  j->certificates[rank] = *tsr_load_certificate_of(load);
  TSR_TRY(tsr_load_run(load, &tree));
  j->reports[rank] = *tsr_load_report_of(load);
  tsr_status status = test_load_check(tree, checkpoint);
  tsr_array_tree_release(tree);
  return status;
}

static tsr_status load_on_rank(void *context, tsr_comm *comm) {
  job *j = context;
  const int rank = tsr_comm_rank(comm);
  tsr_checkpoint *checkpoint = NULL;
  tsr_load *load = NULL;
  tsr_status status = tsr_checkpoint_open_all(comm, j->paths[rank], NULL, &checkpoint);
  if (!status) status = tsr_load_create(checkpoint, j->plans[rank], comm, &j->options, &load);
  if (!status && rank == 0 && *j->cut && truncate(j->cut, 900))
    status = tsr_fail(IO, "the file was not cut");
  if (!status) status = tsr_comm_barrier(comm);
  if (!status) status = run_load(j, load, checkpoint, rank);
  snprintf(j->messages[rank], sizeof j->messages[rank], "%s", tsr_status_text(status));
  tsr_load_destroy(load);
  tsr_checkpoint_release(checkpoint);
  return status;
}

typedef struct world {
  int ranks;
  int64_t first[MOST_RANKS + 1];
} world;
static const world worlds[] = {{2, {0, 4, 8}},
                               {4, {0, 2, 4, 6, 8}},
                               {3, {0, 3, 3, 8}},  // one without a device
                               {8, {0, 1, 2, 3, 4, 5, 6, 7, 8}}};

static void set_job(job *j, const char *path, const tsr_plan *plan) {
  for (int r = 0; r < MOST_RANKS; r++) {
    snprintf(j->paths[r], sizeof j->paths[r], "%s", path);
    j->plans[r] = plan;
  }
}

// ---- right, and once ----

static void check_counts(const job *j, int ranks, int64_t model_bytes) {
  int64_t read = 0, wanted = 0, sent = 0, received = 0, most = 0;
  for (int r = 0; r < ranks; r++) {
    const tsr_load_certificate *c = &j->certificates[r];
    read += c->bytes_read;
    sent += c->bytes_sent;
    received += c->bytes_received;
    wanted += j->reports[r].bytes_wanted;
    if (c->bytes_read > most) most = c->bytes_read;
    assert_int_equal(c->total_read, model_bytes);
    assert_true(c->needed >= c->bytes_read);
    assert_in_range(j->reports[r].bytes_wanted, c->bytes_read, c->bytes_read + NARROW_BYTES);
    assert_true(c->most_read == j->certificates[0].most_read);
  }
  assert_int_equal(sent, received);
  assert_in_range(read, model_bytes, model_bytes + NARROW_BYTES);
  assert_in_range(wanted, model_bytes, model_bytes + NARROW_BYTES);
  // Parts need not come out even.
  assert_in_range(most, 0, j->certificates[0].most_read + 400);
}

static void ranks_read_each_byte_once(void **state) {
  (void)state;
  static const tsr_checkpoint_format formats[] = {TSR_FORMAT_FILE, TSR_FORMAT_RANKS,
                                                  TSR_FORMAT_TESSERA};
  test_folder folder;
  test_random random = {30};
  char in[96], out[96];
  test_folder_make(&folder);
  snprintf(in, sizeof in, "%s/in.safetensors", folder.path);
  test_load_write(in);
  for (unsigned round = 0; round < 48; round++) {
    const tsr_checkpoint_format format = formats[round % COUNT_OF(formats)];
    const world *w = &worlds[round % COUNT_OF(worlds)];
    tsr_plan *stored = test_load_plan(&random, true), *plan = test_load_plan(&random, false);
    job j = {.options = {.size = sizeof j.options, .least_piece = round % 2 ? 24 : 0}};
    snprintf(out, sizeof out, "%s/out.%u", folder.path, round);
    test_load_store(in, out, format, format == TSR_FORMAT_FILE ? NULL : stored);
    set_job(&j, out, plan);
    assert_ok(test_ranks_run(w->ranks, w->first, load_on_rank, &j));
    check_counts(&j, w->ranks,
                 64 * 48 * 4 + 37 * 2 + 3 * 5 * 7 * 8 + NARROW_BYTES + 16 * 6 * 2 + 4);
    j.options.dtype = TSR_BF16;
    assert_ok(test_ranks_run(w->ranks, w->first, load_on_rank, &j));
    tsr_plan_release(plan);
    tsr_plan_release(stored);
  }
  test_folder_remove(&folder);
}

// A tensor that all ranks hold is read by all of them, a part each.
static void ranks_share_out_what_all_hold(void **state) {
  (void)state;
  test_folder folder;
  char in[96];
  test_folder_make(&folder);
  snprintf(in, sizeof in, "%s/in.safetensors", folder.path);
  test_load_write(in);
  tsr_plan *plan = test_plan(TEST_LOAD_TREE, "x=8", "");
  job j = {.options = {.size = sizeof j.options,
                       .least_piece = 8,
                       .include = (const char *const[]){"^a"},
                       .include_count = 1}};
  set_job(&j, in, plan);
  assert_ok(test_ranks_run(4, worlds[1].first, load_on_rank, &j));
  for (int r = 0; r < 4; r++) {
    assert_int_equal(j.certificates[r].bytes_read, 64 * 48 * 4 / 4);
    assert_int_equal(j.certificates[r].bytes_sent, 64 * 48 * 4 / 4 * 3);
    assert_int_equal(j.certificates[r].bytes_received, 64 * 48 * 4 / 4 * 3);
    assert_int_equal(j.certificates[r].needed, 64 * 48 * 4);
    assert_int_equal(j.reports[r].bytes_read, 64 * 48 * 4 / 4);
    assert_int_equal(j.reports[r].calls, 1);
  }
  // Where parts would be small, one rank reads it; alone, all do.
  j.options.least_piece = 1 << 20;
  assert_ok(test_ranks_run(4, worlds[1].first, load_on_rank, &j));
  assert_int_equal(j.certificates[0].bytes_read, 64 * 48 * 4);
  assert_int_equal(j.certificates[1].bytes_read, 0);
  j.options.alone = true;
  assert_ok(test_ranks_run(4, worlds[1].first, load_on_rank, &j));
  for (int r = 0; r < 4; r++) {
    assert_int_equal(j.reports[r].bytes_read, 64 * 48 * 4);
    assert_int_equal(j.certificates[r].bytes_received, 0);
  }
  tsr_plan_release(plan);
  test_folder_remove(&folder);
}

// ---- failures ----

static void a_failure_of_one_rank_is_told_on_all(void **state) {
  (void)state;
  test_folder folder;
  char in[96], other[96];
  test_folder_make(&folder);
  snprintf(in, sizeof in, "%s/in.safetensors", folder.path);
  snprintf(other, sizeof other, "%s/other.safetensors", folder.path);
  test_load_write(in);
  tsr_plan *plan = test_plan(TEST_LOAD_TREE, "x=8", "^a -> x\n");
  tsr_plan *columns = test_plan(TEST_LOAD_TREE, "x=8", "^a -> _, x\n");
  job j = {.options = {.size = sizeof j.options, .least_piece = 8}};
  // One rank finds no file.
  set_job(&j, in, plan);
  snprintf(j.paths[1], sizeof j.paths[1], "%s", other);
  assert_fails_with(test_ranks_run(4, worlds[1].first, load_on_rank, &j), NOT_FOUND, "rank 1");
  for (int r = 0; r < 4; r++) {
    assert_non_null(strstr(j.messages[r], "rank 1"));
    assert_non_null(strstr(j.messages[r], "other.safetensors: there is no such file"));
  }
  // One rank's file is cut after it was opened.
  test_load_write(other);
  snprintf(j.cut, sizeof j.cut, "%s", other);
  assert_fails_with(test_ranks_run(4, worlds[1].first, load_on_rank, &j), BROKEN_FILE, "rank 1");
  for (int r = 0; r < 4; r++) {
    assert_non_null(strstr(j.messages[r], "rank 1"));
    assert_non_null(strstr(j.messages[r], "other.safetensors"));
  }
  // One rank has another plan.
  set_job(&j, in, plan);
  j.cut[0] = '\0';
  j.plans[2] = columns;
  assert_fails_with(
      test_ranks_run(4, worlds[1].first, load_on_rank, &j), COMM_MISMATCH,
      "rank 2 asks for tensor 1 \"a.w\": f32 of 12288 bytes, (64, 48) over {x=8} as _, x");
  // One rank has no plan.
  j.plans[2] = NULL;
  assert_fails_with(test_ranks_run(4, worlds[1].first, load_on_rank, &j), PLAN_REQUIRED,
                    "rank 2: a load needs a plan");
  tsr_plan_release(plan);
  tsr_plan_release(columns);
  test_folder_remove(&folder);
}

SUITE(load_ranks, TEST(ranks_read_each_byte_once), TEST(ranks_share_out_what_all_hold),
      TEST(a_failure_of_one_rank_is_told_on_all))
