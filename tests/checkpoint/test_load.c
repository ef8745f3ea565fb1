// Loads in one process: from every format into layouts of all kinds, and only what is needed.
#include <stdio.h>
#include <unistd.h>

#include "checkpoint/loads.h"
#include "element/shape_internal.h"
#include "load/load.h"
#include "tessera/array.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/comm.h"
#include "tessera/engine/array.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/layout.h"
#include "tessera/place.h"

typedef struct fixture {
  test_folder folder;
  char in[96], out[96];
  tsr_checkpoint *whole;
  tsr_comm *comm;  // 8 devices
} fixture;

static void make_fixture(fixture *f) {
  const tsr_comm_options options = {.size = sizeof options, .workers = 2};
  test_folder_make(&f->folder);
  snprintf(f->in, sizeof f->in, "%s/in.safetensors", f->folder.path);
  snprintf(f->out, sizeof f->out, "%s/out", f->folder.path);
  test_load_write(f->in);
  assert_ok(tsr_checkpoint_open(f->in, NULL, &f->whole));
  assert_ok(tsr_comm_create(8, &options, &f->comm));
}

static void free_fixture(fixture *f) {
  tsr_comm_release(f->comm);
  tsr_checkpoint_release(f->whole);
  test_folder_remove(&f->folder);
}

static int64_t model_bytes(const tsr_checkpoint *checkpoint) {
  int64_t bytes = 0;
  for (int64_t i = 0; i < tsr_tree_count(tsr_checkpoint_tree(checkpoint)); i++) {
    const tsr_tensor *t = tsr_tree_at(tsr_checkpoint_tree(checkpoint), i);
    bytes += tsr_tensor_elements(t) * tsr_dtype_info_of(t->dtype)->bits / 8;
  }
  return bytes;
}

// ---- equal to whole tensors cut in memory ----

static void check_load(const fixture *f, const char *path, const tsr_plan *plan,
                       const tsr_load_options *options) {
  tsr_checkpoint *checkpoint = NULL;
  tsr_array_tree *tree = NULL;
  assert_ok(tsr_checkpoint_open(path, NULL, &checkpoint));
  assert_ok(tsr_checkpoint_load(checkpoint, plan, f->comm, options, &tree));
  assert_int_equal(tsr_array_tree_count(tree), 8);
  assert_ok(test_load_check(tree, f->whole));
  tsr_array_tree_release(tree);
  tsr_checkpoint_release(checkpoint);
}

static void every_format_is_loaded_into_random_layouts(void **state) {
  (void)state;
  static const tsr_checkpoint_format formats[] = {TSR_FORMAT_FILE, TSR_FORMAT_FOLDER,
                                                  TSR_FORMAT_RANKS, TSR_FORMAT_TESSERA};
  fixture f;
  test_random random = {20};
  make_fixture(&f);
  for (unsigned round = 0; round < 60; round++) {
    const tsr_checkpoint_format format = formats[round % COUNT_OF(formats)];
    const bool cut = format == TSR_FORMAT_RANKS || format == TSR_FORMAT_TESSERA;
    tsr_plan *stored = test_load_plan(&random, true);
    tsr_plan *plan = test_load_plan(&random, false);
    snprintf(f.out, sizeof f.out, "%s/out.%u", f.folder.path, round);
    test_load_store(f.in, f.out, format, cut ? stored : NULL);
    tsr_load_options options = {.size = sizeof options, .alone = round % 3 == 0};
    check_load(&f, f.out, plan, &options);
    options.dtype = round % 2 ? TSR_F32 : TSR_F8E4M3FN;
    check_load(&f, f.out, plan, &options);
    options.dtype = TSR_F4E2M1FN;
    options.allow_overflow = true;
    check_load(&f, f.out, plan, &options);
    tsr_plan_release(plan);
    tsr_plan_release(stored);
  }
  free_fixture(&f);
}

// ---- only what is needed, once ----

enum { NARROW_BYTES = 22 * 8 / 2 + 6 * 7 / 2 };  // of the tensors of 4-bit elements

static void every_byte_is_read_once(void **state) {
  (void)state;
  fixture f;
  test_random random = {21};
  make_fixture(&f);
  for (int round = 0; round < 40; round++) {
    tsr_plan *plan = test_load_plan(&random, false);
    tsr_load *load = NULL;
    tsr_array_tree *tree = NULL;
    assert_ok(tsr_load_create(f.whole, plan, f.comm, NULL, &load));
    const tsr_load_certificate *c = tsr_load_certificate_of(load);
    const tsr_load_report *report = tsr_load_report_of(load);
    assert_int_equal(c->tensors, 8);
    assert_int_equal(c->total_read, model_bytes(f.whole));
    assert_int_equal(c->most_read, c->bytes_read);
    assert_int_equal(c->bytes_sent + c->bytes_received, 0);
    assert_true(c->array_bytes >= c->total_read && c->needed >= c->bytes_read);
    // Twice, since a load may be run again.
    for (int again = 0; again < 2; again++) {
      assert_ok(tsr_load_run(load, &tree));
      assert_ok(test_load_check(tree, f.whole));
      // Elements narrower than a byte may share one with those of another device.
      assert_in_range(report->bytes_wanted, c->total_read, c->total_read + NARROW_BYTES);
      assert_int_equal(report->bytes_read, report->bytes_wanted);
      assert_int_equal(report->files, 1);
      tsr_array_tree_release(tree);
    }
    tsr_load_destroy(load);
    tsr_plan_release(plan);
  }
  free_fixture(&f);
}

// What lies side by side in the file is read in one call, whatever tensors and devices it is for.
static void neighbours_are_read_together(void **state) {
  (void)state;
  fixture f;
  tsr_load *load = NULL;
  tsr_array_tree *tree = NULL;
  make_fixture(&f);
  tsr_plan *plan = test_plan(TEST_LOAD_TREE, "x=2,y=4", "^a -> x, y\n^b -> y\n^qkv -> y\n");
  assert_ok(tsr_load_create(f.whole, plan, f.comm, NULL, &load));
  assert_ok(tsr_load_run(load, &tree));
  const tsr_load_report *report = tsr_load_report_of(load);
  assert_int_equal(report->bytes_wanted, model_bytes(f.whole));
  assert_int_equal(report->bytes_read, model_bytes(f.whole));
  assert_int_equal(report->calls, 1);
  tsr_array_tree_release(tree);
  tsr_load_destroy(load);
  tsr_plan_release(plan);
  free_fixture(&f);
}

static void one_shard_reads_its_bytes_only(void **state) {
  (void)state;
  fixture f;
  tsr_layout *layout = NULL;
  tsr_load_report report = TSR_LOAD_REPORT;
  float rows[16][12], all[64][48];
  make_fixture(&f);
  tsr_plan *plan = test_plan(TEST_LOAD_TREE, "x=4,y=4", "^a -> x, y\n");
  const int64_t tensor = tsr_tree_find(tsr_checkpoint_tree(f.whole), "a.w");
  assert_ok(tsr_plan_layout(plan, 0, &layout));
  assert_ok(tsr_checkpoint_read(f.whole, tensor, NULL, all, sizeof all));
  for (int64_t shard = 0; shard < 16; shard++) {
    assert_ok(tsr_checkpoint_read_shard(f.whole, tensor, layout, shard, NULL, rows, sizeof rows,
                                        &report));
    for (int r = 0; r < 16; r++)
      assert_memory_equal(rows[r], &all[shard / 4 * 16 + r][shard % 4 * 12], sizeof rows[r]);
    assert_int_equal(report.bytes_wanted, sizeof rows);
    // Rows of 48 bytes lie 192 apart: what is between them is read too, but not before or after.
    assert_int_equal(report.bytes_read, 15 * 192 + 48);
    assert_int_equal(report.calls, 1);
    assert_int_equal(report.files, 1);
  }
  assert_fails(tsr_checkpoint_read_shard(f.whole, 99, layout, 0, NULL, rows, sizeof rows, NULL),
               INDEX_OUT_OF_RANGE, "tensor 99 of a checkpoint with 8");
  assert_fails(
      tsr_checkpoint_read_shard(f.whole, tensor ? 0 : 1, layout, 0, NULL, rows, sizeof rows, NULL),
      SHAPES_DIFFER, "the tensor has shape (3, 5, 7), the layout has (64, 48)");
  assert_fails_with(
      tsr_checkpoint_read_shard(f.whole, tensor, layout, 16, NULL, rows, sizeof rows, NULL),
      INDEX_OUT_OF_RANGE, "shard 16");
  assert_fails(
      tsr_checkpoint_read_shard(f.whole, tensor, layout, 3, NULL, rows, sizeof rows - 1, NULL),
      BAD_ARGUMENT, "tensor \"a.w\", shard 3: the buffer has 767 bytes, wanted at least 768");
  tsr_layout_release(layout);
  tsr_plan_release(plan);
  free_fixture(&f);
}

// Layouts that no plan can say: boxes, and ranges of the row-major tensor.
static void shards_of_boxes_and_flat_ranges_are_read(void **state) {
  (void)state;
  fixture f;
  tsr_layout *flat = NULL, *boxes = NULL;
  int64_t all[105], some[105];
  make_fixture(&f);
  const int64_t tensor = tsr_tree_find(tsr_checkpoint_tree(f.whole), "c");
  const tsr_range ranges[] = {{0, 13}, {13, 99}, {99, 105}};
  const tsr_range box[] = {{0, 3}, {0, 2}, {0, 7}, {0, 3}, {2, 5}, {0, 4}, {0, 3}, {2, 5}, {4, 7}};
  assert_ok(tsr_layout_from_flat(NULL, TSR_SHAPE(3, 5, 7), 3, ranges, &flat));
  assert_ok(tsr_layout_from_boxes(NULL, TSR_SHAPE(3, 5, 7), 2, (int64_t[]){1, 2}, box, &boxes));
  assert_ok(tsr_checkpoint_read(f.whole, tensor, NULL, all, sizeof all));
  for (int64_t shard = 0; shard < 3; shard++) {
    const tsr_range r = ranges[shard];
    assert_ok(
        tsr_checkpoint_read_shard(f.whole, tensor, flat, shard, NULL, some, sizeof some, NULL));
    assert_memory_equal(some, all + r.lo, (size_t)(r.hi - r.lo) * sizeof *all);
  }
  assert_ok(tsr_checkpoint_read_shard(f.whole, tensor, boxes, 1, NULL, some, sizeof some, NULL));
  for (int64_t i = 0; i < 36; i++)
    assert_int_equal(some[i], all[i / 12 * 35 + (2 + i / 4 % 3) * 7 + i % 4]);
  for (int64_t i = 0; i < 27; i++)
    assert_int_equal(some[36 + i], all[i / 9 * 35 + (2 + i / 3 % 3) * 7 + 4 + i % 3]);
  tsr_layout_release(flat);
  tsr_layout_release(boxes);
  free_fixture(&f);
}

// ---- through maps ----

static const char *const maps[] = {
    "renamed.w = a.w\n",
    "t = transpose(a.w)\n",
    "w = concat(0, a.w, a.w)\nt = concat(1, qkv, qkv)\n",
    "w = reshape(a.w, 32, 96)\nt = stack(0, f, f)\n",
    "w = pad(a.w, 0, 70, 1)\nt = slice(f, 1, 2:6)\n",
    "only\nw, t = split(a.w, 0, 40, 24)\n",
};

static void check_map(const fixture *f, const char *text, test_random *random) {
  tsr_map *map = NULL;
  tsr_mapping *mapping = NULL;
  tsr_transform *job = NULL;
  tsr_checkpoint *mapped = NULL;
  tsr_array_tree *tree = NULL;
  tsr_tree *made = NULL;
  char out[128];
  assert_ok(tsr_map_parse(text, "test.map", &map));
  assert_ok(tsr_map_apply(map, tsr_checkpoint_tree(f->whole), NULL, &mapping));
  // The oracle is the same map carried out on disk.
  snprintf(out, sizeof out, "%s/mapped.safetensors", f->folder.path);
  const tsr_transform_options writing = {.size = sizeof writing,
                                         .format = TSR_FORMAT_FILE,
                                         .map = mapping,
                                         .existing = TSR_EXISTING_REPLACE,
                                         .no_sync = true,
                                         .jobs = 1};
  assert_ok(tsr_transform_create(f->whole, out, &writing, &job));
  assert_ok(tsr_transform_run(job));
  assert_ok(tsr_checkpoint_open(out, NULL, &mapped));
  const tsr_load_options options = {.size = sizeof options,
                                    .map = mapping,
                                    .dtype = test_random_range(random, 0, 1) ? TSR_F16 : 0,
                                    .max_memory = 16 << 20};
  assert_ok(tsr_load_tree(f->whole, &options, &made));
  tsr_mesh *mesh = NULL;
  tsr_rules *rules = NULL;
  tsr_plan *plan = NULL;
  const tsr_match_options matching = {.size = sizeof matching,
                                      .no_correction = true,
                                      .allow_unmatched = true,
                                      .policy = TSR_POLICY_PAD};
  assert_ok(tsr_mesh_parse("x=2,y=4", NULL, &mesh));
  assert_ok(tsr_rules_parse("w -> y, x\nt -> x, y/cyclic(1)\n", "test", NULL, &rules));
  assert_ok(tsr_plan_match(made, mesh, rules, &matching, &plan));
  assert_ok(tsr_checkpoint_load(f->whole, plan, f->comm, &options, &tree));
  assert_ok(test_load_check(tree, mapped));
  tsr_array_tree_release(tree);
  tsr_plan_release(plan);
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
  tsr_tree_release(made);
  tsr_checkpoint_release(mapped);
  tsr_transform_destroy(job);
  tsr_mapping_release(mapping);
  tsr_map_release(map);
}

static void tensors_are_made_by_maps_on_the_way(void **state) {
  (void)state;
  fixture f;
  test_random random = {22};
  make_fixture(&f);
  for (size_t i = 0; i < COUNT_OF(maps); i++)
    for (int again = 0; again < 2; again++) check_map(&f, maps[i], &random);
  free_fixture(&f);
}

// ---- tensors of many windows ----

#define LARGE                                                  \
  "{\"big\": {\"dtype\": \"f32\", \"shape\": [3, 200, 1001]}," \
  " \"flat\": {\"dtype\": \"bf16\", \"shape\": [300001]},"     \
  " \"narrow\": {\"dtype\": \"f4e2m1fn\", \"shape\": [600, 1024]}}"

typedef struct counted {
  int64_t done, total;
  bool finished;
} counted;

static bool count(void *context, const tsr_progress_report *report) {
  *(counted *)context = (counted){report->done, report->total, report->finished};
  return true;
}

static void check_large(const fixture *f, const char *rules, tsr_load_options *options) {
  tsr_load *load = NULL;
  tsr_array_tree *tree = NULL;
  counted progress = {0};
  tsr_plan *plan = test_plan(LARGE, "x=2,y=4", rules);
  options->progress = count;
  options->progress_context = &progress;
  options->max_memory = 4 << 20;
  assert_ok(tsr_load_create(f->whole, plan, f->comm, options, &load));
  const tsr_load_certificate *c = tsr_load_certificate_of(load);
  assert_in_range(c->peak_memory, 1 << 20, options->max_memory);
  assert_int_equal(c->total_read, model_bytes(f->whole));
  assert_ok(tsr_load_run(load, &tree));
  assert_ok(test_load_check(tree, f->whole));
  assert_in_range(tsr_load_report_of(load)->bytes_wanted, c->bytes_read,
                  c->bytes_read + 600 * 1024 / 2);
  assert_true(progress.finished && progress.total == c->bytes_read);
  assert_int_equal(progress.done, c->bytes_read);
  tsr_array_tree_release(tree);
  tsr_load_destroy(load);
  tsr_plan_release(plan);
}

static void large_tensors_are_read_by_windows(void **state) {
  (void)state;
  static const char *const rules[] = {"big -> _, y, x\nflat -> y+x\nnarrow -> y\n",
                                      "big -> x, _, y/cyclic(3)\nflat -> y/cyclic(1000)\n",
                                      "big -> y, _, x\nflat -> x\nnarrow -> _, y+x\n"};
  fixture f;
  make_fixture(&f);
  tsr_checkpoint_release(f.whole);
  test_load_write_tree(f.in, LARGE);
  assert_ok(tsr_checkpoint_open(f.in, NULL, &f.whole));
  for (size_t i = 0; i < COUNT_OF(rules); i++) {
    tsr_load_options options = {.size = sizeof options};
    check_large(&f, rules[i], &options);
    options = (tsr_load_options){.size = sizeof options, .dtype = TSR_F16};
    check_large(&f, rules[i], &options);
  }
  test_random random = {23};
  check_map(&f, "only\nt = transpose(big, 2, 0, 1)\nw = reshape(flat, 1, 300001)\n", &random);
  free_fixture(&f);
}

// ---- what is refused ----

static bool cancel(void *context, const tsr_progress_report *report) {
  (void)context;
  assert_string_equal(report->job, "load");
  return false;
}

static void bad_loads_are_refused(void **state) {
  (void)state;
  fixture f;
  tsr_load *load = NULL;
  tsr_array_tree *tree = NULL;
  make_fixture(&f);
  tsr_plan *plan = test_plan(TEST_LOAD_TREE, "x=8", "^a -> x\n");
  tsr_plan *wide = test_plan(TEST_LOAD_TREE, "x=9", "^b -> x\n");
  tsr_plan *other = test_plan("{\"a.w\": {\"dtype\": \"f32\", \"shape\": [64, 48]}}", "x=8", "");
  tsr_plan *sums = test_plan(TEST_LOAD_TREE, "x=8", "^a -> _, _ | unreduced=x\n");
  tsr_load_options options = {.size = sizeof options};
  assert_fails(tsr_load_create(f.whole, NULL, f.comm, NULL, &load), PLAN_REQUIRED,
               "a load needs a plan with a mesh");
  assert_fails_with(tsr_load_create(f.whole, wide, f.comm, NULL, &load), UNKNOWN_DEVICE,
                    "device 8 of the plan is not one of the comm's 8");
  assert_fails_with(tsr_load_create(f.whole, other, f.comm, NULL, &load), NOT_FOUND, "\"c\"");
  assert_fails_with(tsr_load_create(f.whole, sums, f.comm, NULL, &load), UNSUPPORTED,
                    "a checkpoint is not loaded into partial results");
  options.max_memory = 1 << 20;
  assert_fails_with(tsr_load_create(f.whole, plan, f.comm, &options, &load), DOES_NOT_FIT,
                    "1048576 bytes of memory are too little: at least ");
  options.max_memory = -1;
  assert_fails(tsr_load_create(f.whole, plan, f.comm, &options, &load), BAD_ARGUMENT,
               "max_memory is -1 bytes, wanted 0 or more");
  options = (tsr_load_options){
      .size = sizeof options, .include = (const char *const[]){"nothing"}, .include_count = 1};
  assert_fails_with(tsr_load_create(f.whole, plan, f.comm, &options, &load), NOT_FOUND,
                    "the pattern \"nothing\" matches none of 8 tensors");
  options =
      (tsr_load_options){.size = sizeof options, .progress = cancel, .progress_interval = 1e-9};
  assert_fails_with(tsr_checkpoint_load(f.whole, plan, f.comm, &options, &tree), CANCELLED,
                    "the load was cancelled");
  // The file is gone after it was opened.
  assert_int_equal(truncate(f.in, 900), 0);
  assert_fails_with(tsr_checkpoint_load(f.whole, plan, f.comm, NULL, &tree), BROKEN_FILE,
                    "in.safetensors");
  tsr_plan_release(plan);
  tsr_plan_release(wide);
  tsr_plan_release(other);
  tsr_plan_release(sums);
  free_fixture(&f);
}

static void copies_that_differ_are_found_when_asked(void **state) {
  (void)state;
  fixture f;
  char path[160];
  tsr_checkpoint *ranks = NULL;
  tsr_array_tree *tree = NULL;
  make_fixture(&f);
  tsr_plan *plan = test_plan(TEST_LOAD_TREE, "x=2", "^a -> x\n");
  test_load_store(f.in, f.out, TSR_FORMAT_RANKS, plan);
  tsr_load_options options = {.size = sizeof options, .replicas = TSR_REPLICAS_COMPARE};
  check_load(&f, f.out, plan, &options);
  snprintf(path, sizeof path, "%s/model-rank-1-part-0.safetensors", f.out);
  FILE *file = fopen(path, "r+b");
  assert_non_null(file);
  assert_int_equal(fseek(file, -1, SEEK_END), 0);
  const int last = fgetc(file);
  assert_int_equal(fseek(file, -1, SEEK_END), 0);
  assert_true(fputc(last ^ 1, file) >= 0);
  assert_int_equal(fclose(file), 0);
  check_load(&f, f.out, plan, NULL);
  assert_ok(tsr_checkpoint_open(f.out, NULL, &ranks));
  assert_fails_with(tsr_checkpoint_load(ranks, plan, f.comm, &options, &tree), COPIES_DIFFER,
                    "model-rank-1-part-0.safetensors");
  tsr_checkpoint_release(ranks);
  tsr_plan_release(plan);
  free_fixture(&f);
}

// ---- the tensors of a plan ----

static void only_what_the_plan_has_is_loaded_when_asked(void **state) {
  (void)state;
  fixture f;
  tsr_array_tree *tree = NULL;
  const tsr_load_options options = {.size = sizeof options, .planned_only = true};
  make_fixture(&f);
  tsr_plan *some =
      test_plan("{\"qkv\": {\"dtype\": \"f16\", \"shape\": [16, 6]}}", "x=8", "qkv -> x\n");
  tsr_plan *other =
      test_plan("{\"qvk\": {\"dtype\": \"f16\", \"shape\": [16, 6]}}", "x=8", "qvk -> x\n");
  assert_fails_with(tsr_checkpoint_load(f.whole, some, f.comm, NULL, &tree), NOT_FOUND, "the plan");
  assert_ok(tsr_checkpoint_load(f.whole, some, f.comm, &options, &tree));
  assert_int_equal(tsr_array_tree_count(tree), 1);
  assert_ok(test_load_check(tree, f.whole));
  tsr_array_tree_release(tree);
  assert_fails_with(tsr_checkpoint_load(f.whole, other, f.comm, &options, &tree), NOT_FOUND,
                    "the checkpoint has no tensor \"qvk\" (is it \"qkv\"?)");
  assert_fails_with(tsr_checkpoint_load(f.whole, NULL, f.comm, &options, &tree), PLAN_REQUIRED,
                    "needs a plan");
  tsr_plan_release(other);
  tsr_plan_release(some);
  free_fixture(&f);
}

// ---- memory ----

typedef struct sweep {
  const fixture *f;
  const tsr_plan *plan;
  const tsr_mapping *mapping;
} sweep;

static tsr_status load_all(void *context) {
  const sweep *s = context;
  tsr_array_tree *tree = NULL;
  const tsr_load_options options = {.size = sizeof options, .map = s->mapping, .dtype = TSR_BF16};
  TSR_TRY(tsr_checkpoint_load(s->f->whole, s->plan, s->f->comm, &options, &tree));
  tsr_array_tree_release(tree);
  return NULL;
}

static tsr_status read_one(void *context) {
  const sweep *s = context;
  static char out[1 << 14];
  tsr_layout *layout = NULL;
  TSR_TRY(tsr_plan_layout(s->plan, 0, &layout));
  tsr_status status =
      tsr_checkpoint_read_shard(s->f->whole, tsr_tree_find(tsr_checkpoint_tree(s->f->whole), "a.w"),
                                layout, 1, NULL, out, sizeof out, NULL);
  tsr_layout_release(layout);
  return status;
}

static void loads_survive_failing_allocations(void **state) {
  (void)state;
  fixture f;
  const tsr_comm_options one = {.size = sizeof one, .workers = 1};
  make_fixture(&f);
  tsr_comm_release(f.comm);
  assert_ok(tsr_comm_create(8, &one, &f.comm));
  tsr_plan *plan = test_plan(TEST_LOAD_TREE, "x=2,y=4",
                             "^a -> y, x/cyclic(1)\n^f -> x\n"
                             "^qkv -> y/parts(q:8/2, k:4/2*2, v:4/2*2), x\n");
  test_allocation_sweep(load_all, &(sweep){&f, plan, NULL});
  tsr_map *map = NULL;
  tsr_mapping *mapping = NULL;
  assert_ok(tsr_map_parse("only\nqkv = transpose(reshape(qkv, 6, 16))\nf = f\n", "test", &map));
  assert_ok(tsr_map_apply(map, tsr_checkpoint_tree(f.whole), NULL, &mapping));
  test_allocation_sweep(load_all, &(sweep){&f, plan, mapping});
  tsr_mapping_release(mapping);
  tsr_map_release(map);
  test_allocation_sweep(read_one, &(sweep){&f, plan, NULL});
  tsr_plan_release(plan);
  free_fixture(&f);
}

// ---- in one call ----

static const char rules_of_all[] = "a\\.w -> dp, tp\nqkv -> tp, _\n.* -> ()\n";

static void a_path_and_rules_are_enough(void **state) {
  (void)state;
  fixture f;
  make_fixture(&f);
  tsr_mesh *mesh = NULL;
  tsr_array_tree *tree = NULL;
  assert_ok(tsr_mesh_parse("dp=2,tp=4", NULL, &mesh));
  assert_ok(tsr_checkpoint_load_path(f.in, mesh, rules_of_all, f.comm, NULL, &tree));
  assert_int_equal(tsr_array_tree_count(tree), 8);
  assert_ok(test_load_check(tree, f.whole));
  assert_int_equal(tsr_array_memory(tsr_array_tree_find(tree, "a.w")->array), 64 * 48 * 4);
  tsr_array_tree_release(tree);
  tree = NULL;
  const char *const only[] = {"^a", "^b$"};
  const tsr_load_options options = {
      .size = sizeof options, .dtype = TSR_BF16, .include = only, .include_count = 2};
  assert_ok(tsr_checkpoint_load_path(f.in, mesh, rules_of_all, f.comm, &options, &tree));
  assert_int_equal(tsr_array_tree_count(tree), 2);
  assert_int_equal(tsr_array_dtype(tsr_array_tree_find(tree, "a.w")->array), TSR_BF16);
  tsr_array_tree_release(tree);
  tree = NULL;
  assert_fails_with(tsr_checkpoint_load_path(f.out, mesh, rules_of_all, f.comm, NULL, &tree),
                    NOT_FOUND, "out");
  assert_fails_with(tsr_checkpoint_load_path(f.in, mesh, "a -> tp\n", f.comm, NULL, &tree), NO_RULE,
                    "\"b\"");
  assert_fails_with(tsr_checkpoint_load_path(f.in, mesh, "a -> (\n", f.comm, NULL, &tree), SYNTAX,
                    "rules:1:7: expected \")\", found the end");
  assert_null(tree);
  tsr_mesh_release(mesh);
  free_fixture(&f);
}

static tsr_status load_by_path(void *context) {
  const fixture *f = context;
  tsr_mesh *mesh = NULL;
  tsr_array_tree *tree = NULL;
  tsr_buffer_pool_trim(tsr_comm_buffers(f->comm), 0);
  TSR_TRY(tsr_mesh_parse("dp=2,tp=4", NULL, &mesh));
  tsr_status status = tsr_checkpoint_load_path(f->in, mesh, rules_of_all, f->comm, NULL, &tree);
  tsr_array_tree_release(tree);
  tsr_mesh_release(mesh);
  return status;
}

static void loading_by_path_survives_failing_allocations(void **state) {
  (void)state;
  fixture f;
  make_fixture(&f);
  test_allocation_sweep(load_by_path, &f);
  free_fixture(&f);
}

SUITE(load, TEST(every_format_is_loaded_into_random_layouts), TEST(every_byte_is_read_once),
      TEST(neighbours_are_read_together), TEST(one_shard_reads_its_bytes_only),

      TEST(shards_of_boxes_and_flat_ranges_are_read), TEST(tensors_are_made_by_maps_on_the_way),
      TEST(large_tensors_are_read_by_windows), TEST(bad_loads_are_refused),
      TEST(copies_that_differ_are_found_when_asked),
      TEST(only_what_the_plan_has_is_loaded_when_asked), TEST(loads_survive_failing_allocations),
      TEST(a_path_and_rules_are_enough), TEST(loading_by_path_survives_failing_allocations))
