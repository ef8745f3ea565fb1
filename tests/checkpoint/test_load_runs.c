// Short runs: many of them, and with gaps between them.
#include <stdio.h>

#include "checkpoint/loads.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/open.h"
#include "tessera/comm.h"
#include "tessera/place.h"

#define TALL_TREE "{\"w\": {\"dtype\": \"f32\", \"shape\": [6000, 64]}}"
#define WIDE_TREE "{\"w\": {\"dtype\": \"f32\", \"shape\": [300, 512]}}"

typedef struct fixture {
  test_folder folder;
  char in[96], out[96];
  tsr_comm *comm;  // 8 devices
} fixture;

static void make_fixture(fixture *f, const char *tree_json) {
  const tsr_comm_options options = {.size = sizeof options, .workers = 2};
  test_folder_make(&f->folder);
  snprintf(f->in, sizeof f->in, "%s/in.safetensors", f->folder.path);
  snprintf(f->out, sizeof f->out, "%s/out", f->folder.path);
  test_load_write_tree(f->in, tree_json);
  assert_ok(tsr_comm_create(8, &options, &f->comm));
}

static void free_fixture(fixture *f) {
  tsr_comm_release(f->comm);
  test_folder_remove(&f->folder);
}

// More runs than are gathered at once: those of all devices side by side are read together still,
// and what lies between the runs of one is not read again for the next.
static void many_short_runs_are_read_once(void **state) {
  (void)state;
  static const char *const rules[] = {"w -> _, x\n", "w -> _, x/cyclic(1)\n"};
  static const char *const stored[] = {"", "w -> _, x\n", "w -> x, _\n"};
  fixture f;
  make_fixture(&f, TALL_TREE);
  for (size_t i = 0; i < COUNT_OF(rules) * COUNT_OF(stored); i++) {
    tsr_plan *plan = test_plan(TALL_TREE, "x=8", rules[i % 2]);
    tsr_plan *cut = test_plan(TALL_TREE, "x=2", stored[i / 2]);
    tsr_load *load = NULL;
    tsr_array_tree *tree = NULL;
    tsr_checkpoint *source = NULL;
    test_load_store(f.in, f.out, TSR_FORMAT_TESSERA, cut);
    assert_ok(tsr_checkpoint_open(f.out, NULL, &source));
    assert_ok(tsr_load_create(source, plan, f.comm, NULL, &load));
    assert_ok(tsr_load_run(load, &tree));
    assert_ok(test_load_check(tree, source));
    const tsr_load_report *report = tsr_load_report_of(load);
    assert_int_equal(report->bytes_wanted, 6000 * 64 * 4);
    assert_int_equal(report->bytes_read, 6000 * 64 * 4);
    assert_in_range(report->calls, 1, 200);
    tsr_array_tree_release(tree);
    tsr_load_destroy(load);
    tsr_checkpoint_release(source);
    tsr_plan_release(cut);
    tsr_plan_release(plan);
  }
  free_fixture(&f);
}

// Half of every row of 2 KiB: what lies between is read along, in a few calls.
static void close_runs_are_read_in_one_go(void **state) {
  (void)state;
  static float half[300][256], all[300][512];
  fixture f;
  tsr_layout *layout = NULL;
  tsr_load_report report = TSR_LOAD_REPORT;
  tsr_checkpoint *wide = NULL;
  make_fixture(&f, WIDE_TREE);
  tsr_plan *plan = test_plan(WIDE_TREE, "x=2", "w -> _, x\n");
  assert_ok(tsr_checkpoint_open(f.in, NULL, &wide));
  assert_ok(tsr_plan_layout(plan, 0, &layout));
  assert_ok(tsr_checkpoint_read(wide, 0, NULL, all, sizeof all));
  assert_ok(tsr_checkpoint_read_shard(wide, 0, layout, 1, NULL, half, sizeof half, &report));
  for (int r = 0; r < 300; r++) assert_memory_equal(half[r], all[r] + 256, sizeof half[r]);
  assert_int_equal(report.bytes_wanted, sizeof half);
  assert_int_equal(report.bytes_read, 299 * 2048 + 1024);
  assert_int_equal(report.calls, 1);
  tsr_layout_release(layout);
  tsr_checkpoint_release(wide);
  tsr_plan_release(plan);
  free_fixture(&f);
}

SUITE(load_runs, TEST(many_short_runs_are_read_once), TEST(close_runs_are_read_in_one_go))
