// A source that carries hashes and is damaged: every reader reports it, and writes nothing.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checkpoint/models.h"
#include "store/checkpoint.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/engine/kernels.h"
#include "view/source_hashes.h"

#define TREE                                                   \
  "{\"a.w\": {\"dtype\": \"u32\", \"shape\": [1200, 1001]},"   \
  " \"b.w\": {\"dtype\": \"u32\", \"shape\": [1200, 1001]},"   \
  " \"large\": {\"dtype\": \"u32\", \"shape\": [2560, 1024]}," \
  " \"none\": {\"dtype\": \"u32\", \"shape\": [0, 4]},"        \
  " \"s\": {\"dtype\": \"u32\", \"shape\": []}}"

typedef struct fixture {
  test_folder folder;
  char cut[96], out[96];
  tsr_plan *plan, *other;
} fixture;

static void make_fixture(fixture *f) {
  char in[96];
  test_tensor tensors[] = {test_tensor_whole("a.w", TSR_SHAPE(1200, 1001)),
                           test_tensor_whole("b.w", TSR_SHAPE(1200, 1001)),
                           test_tensor_whole("large", TSR_SHAPE(2560, 1024)),
                           test_tensor_whole("none", TSR_SHAPE(0, 4)),
                           test_tensor_whole("s", TSR_SCALAR)};
  test_folder_make(&f->folder);
  strcpy(in, test_folder_path(&f->folder, "in.safetensors"));
  strcpy(f->cut, test_folder_path(&f->folder, "cut"));
  strcpy(f->out, test_folder_path(&f->folder, "out"));
  test_write_safetensors(in, tensors, 5);
  f->plan = test_plan(TREE, "x=4", "w -> _, x\nlarge -> x\n");
  f->other = test_plan(TREE, "x=2", "w -> x\n");
  const tsr_transform_options options = {.size = sizeof options, .plan = f->plan, .no_sync = true};
  assert_ok(test_transform(in, f->cut, &options));
}

static void free_fixture(fixture *f) {
  tsr_plan_release(f->plan);
  tsr_plan_release(f->other);
  test_folder_remove(&f->folder);
}

// Flips a bit of an element, counted in the tensor; once more, and it is as it was.
static void flip(const fixture *f, const char *tensor, int64_t shard, int64_t element) {
  tsr_checkpoint *model = NULL;
  tsr_stored stored;
  assert_ok(tsr_checkpoint_open(f->cut, NULL, &model));
  const int64_t at = tsr_tree_find(tsr_checkpoint_tree(model), tensor);
  assert_true(at >= 0 && tsr_checkpoint_find(model, at, shard, 0, &stored));
  FILE *file = fopen(tsr_checkpoint_file_at(model, stored.file), "r+b");
  assert_non_null(file);
  assert_int_equal(fseek(file, (long)(stored.offset + 4 * element), SEEK_SET), 0);
  const int byte = fgetc(file);
  assert_int_not_equal(byte, EOF);
  assert_int_equal(fseek(file, -1, SEEK_CUR), 0);
  assert_int_not_equal(fputc(byte ^ 8, file), EOF);
  assert_int_equal(fclose(file), 0);
  tsr_checkpoint_release(model);
}

static bool is_there(const fixture *f, const char *name) {
  return !access(test_folder_path(&f->folder, name), F_OK);
}

// The result, the report, or the failure.
static tsr_status run(const fixture *f, const tsr_transform_options *options,
                      tsr_transform_report *out_report) {
  tsr_checkpoint *source = NULL;
  tsr_transform *job = NULL;
  TSR_TRY(tsr_checkpoint_open(f->cut, NULL, &source));
  tsr_status status = tsr_transform_create(source, f->out, options, &job);
  if (!status) status = tsr_transform_run(job);
  if (!status) *out_report = *tsr_transform_report_of(job);
  tsr_transform_destroy(job);
  tsr_checkpoint_release(source);
  return status;
}

static const struct {
  tsr_checkpoint_format format;
  bool other;  // by the other plan
  const char *map;
  int jobs;
  int64_t max_memory;
} jobs[] = {
    {.format = TSR_FORMAT_FILE},
    {.format = TSR_FORMAT_FILE, .jobs = 1, .max_memory = 40 << 20},
    {.format = TSR_FORMAT_FOLDER},
    {.format = TSR_FORMAT_NPZ},
    {.format = TSR_FORMAT_NPY},
    {.format = TSR_FORMAT_TESSERA, .other = true},
    {.format = TSR_FORMAT_RANKS, .other = true},
    {.format = TSR_FORMAT_FILE, .map = "new.{x} = {x:.*}\n"},
    {.format = TSR_FORMAT_FILE, .map = "ab = concat(0, a.w, b.w)\n"},
    {.format = TSR_FORMAT_FILE, .map = "only\nx = large\ns = s\n"},
};

static const struct {
  const char *tensor;
  int64_t shard, element;
  const char *message;
} damages[] = {
    {"large", 0, 0, "data-00001-of-00004.safetensors and other files hold of it has the hash "},
    {"large", 3, 655359, "but the manifest says "},
    {"large", 1, 77, "the source is damaged, or was changed"},
    {"s", 0, 0, "holds of it has the hash "},
};

static tsr_transform_options options_of(const fixture *f, size_t i, tsr_mapping **out_mapping) {
  tsr_transform_options options = {.size = sizeof options,
                                   .format = jobs[i].format,
                                   .plan = jobs[i].other ? f->other : NULL,
                                   .existing = TSR_EXISTING_REPLACE,
                                   .jobs = jobs[i].jobs,
                                   .max_memory = jobs[i].max_memory,
                                   .no_sync = true};
  *out_mapping = NULL;
  if (!jobs[i].map) return options;
  tsr_checkpoint *model = NULL;
  tsr_map *map = NULL;
  assert_ok(tsr_checkpoint_open(f->cut, NULL, &model));
  assert_ok(tsr_map_parse(jobs[i].map, "t.map", &map));
  assert_ok(tsr_map_apply(map, tsr_checkpoint_tree(model), NULL, out_mapping));
  options.map = *out_mapping;
  tsr_map_release(map);
  tsr_checkpoint_release(model);
  return options;
}

static void one_flipped_bit_fails_every_job(void **state) {
  (void)state;
  fixture f;
  make_fixture(&f);
  for (size_t i = 0; i < COUNT_OF(jobs); i++) {
    tsr_mapping *mapping = NULL;
    tsr_transform_report report;
    tsr_transform_options options = options_of(&f, i, &mapping);
    for (size_t d = 0; d < COUNT_OF(damages); d++) {
      flip(&f, damages[d].tensor, damages[d].shard, damages[d].element);
      assert_fails_with(run(&f, &options, &report), SOURCE_DAMAGED, damages[d].message);
      assert_false(is_there(&f, "out"));
      assert_false(is_there(&f, "out.partial"));
      assert_false(is_there(&f, "out.journal"));
      flip(&f, damages[d].tensor, damages[d].shard, damages[d].element);
    }
    assert_ok(run(&f, &options, &report));
    assert_int_equal(report.checked, jobs[i].map && jobs[i].map[0] == 'o' ? 2 : 4);
    assert_int_equal(report.unchecked, 0);
    assert_false(report.resumed);
    test_folder out;
    snprintf(out.path, sizeof out.path, "%.*s", (int)sizeof out.path - 1, f.out);
    test_folder_remove(&out);
    tsr_mapping_release(mapping);
  }
  free_fixture(&f);
}

static void a_source_may_be_trusted(void **state) {
  (void)state;
  fixture f;
  tsr_transform_report report;
  make_fixture(&f);
  flip(&f, "large", 0, 0);
  const tsr_transform_options options = {
      .size = sizeof options, .format = TSR_FORMAT_FILE, .trust_source = true, .no_sync = true};
  assert_ok(run(&f, &options, &report));
  assert_int_equal(report.checked, 0);
  free_fixture(&f);
}

// A large transpose is read by columns, and a slice in part: neither is a hash's order.
static void what_is_read_otherwise_is_counted(void **state) {
  (void)state;
  fixture f;
  tsr_checkpoint *model = NULL;
  tsr_map *map = NULL;
  tsr_mapping *mapping = NULL;
  tsr_transform_report report;
  make_fixture(&f);
  assert_ok(tsr_checkpoint_open(f.cut, NULL, &model));
  assert_ok(tsr_map_parse("large = transpose(large)\na.w = slice(a.w, 0, 0:7)\n", "t.map", &map));
  assert_ok(tsr_map_apply(map, tsr_checkpoint_tree(model), NULL, &mapping));
  const tsr_transform_options options = {
      .size = sizeof options, .format = TSR_FORMAT_FILE, .map = mapping, .no_sync = true};
  assert_ok(run(&f, &options, &report));
  assert_int_equal(report.checked, 2);  // b.w and s
  assert_int_equal(report.unchecked, 2);
  tsr_mapping_release(mapping);
  tsr_map_release(map);
  tsr_checkpoint_release(model);
  free_fixture(&f);
}

// ---- casts ----

// Rows of 1024 floats, none of them larger than 5120.
static void write_floats(const char *path, int rows) {
  char header[128];
  FILE *file = fopen(path, "wb");
  const int bytes = rows * 4096;
  const uint64_t length = (uint64_t)snprintf(
      header, sizeof header,
      "{\"f\":{\"dtype\":\"F32\",\"shape\":[%d,1024],\"data_offsets\":[0,%d]}}", rows, bytes);
  assert_non_null(file);
  assert_int_equal(fwrite(&length, sizeof length, 1, file), 1);
  assert_int_equal(fwrite(header, 1, length, file), length);
  for (int i = 0; i < rows * 1024; i++) {
    const float value = (float)i / 1024;
    assert_int_equal(fwrite(&value, sizeof value, 1, file), 1);
  }
  assert_int_equal(fclose(file), 0);
}

// Flips the last bit of a byte of a shard of the only tensor.
static void flip_bit(const char *path, int64_t shard, int64_t at) {
  tsr_checkpoint *model = NULL;
  tsr_stored stored;
  assert_ok(tsr_checkpoint_open(path, NULL, &model));
  assert_true(tsr_checkpoint_find(model, 0, shard, 0, &stored));
  FILE *file = fopen(tsr_checkpoint_file_at(model, stored.file), "r+b");
  assert_non_null(file);
  assert_int_equal(fseek(file, (long)(stored.offset + at), SEEK_SET), 0);
  const int byte = fgetc(file);
  assert_int_equal(fseek(file, -1, SEEK_CUR), 0);
  assert_int_not_equal(fputc(byte ^ 1, file), EOF);
  assert_int_equal(fclose(file), 0);
  tsr_checkpoint_release(model);
}

// A folder with a file of floats and the same cut, as `mesh` says, in a folder of ours.
typedef struct cut_floats {
  test_folder folder;
  char cut[96], out[96];
} cut_floats;

static void cut_floats_make(cut_floats *f, int rows, const char *mesh) {
  char tree[80], in[96];
  snprintf(tree, sizeof tree, "{\"f\": {\"dtype\": \"f32\", \"shape\": [%d, 1024]}}", rows);
  test_folder_make(&f->folder);
  strcpy(in, test_folder_path(&f->folder, "in.safetensors"));
  strcpy(f->cut, test_folder_path(&f->folder, "cut"));
  strcpy(f->out, test_folder_path(&f->folder, "out.safetensors"));
  write_floats(in, rows);
  tsr_plan *plan = test_plan(tree, mesh, "f -> x\n");
  const tsr_transform_options options = {.size = sizeof options, .plan = plan, .no_sync = true};
  assert_ok(test_transform(in, f->cut, &options));
  tsr_plan_release(plan);
}

static void what_is_cast_is_checked_before(void **state) {
  (void)state;
  cut_floats f;
  cut_floats_make(&f, 1500, "x=3");
  flip_bit(f.cut, 2, 400);  // which the cast rounds away
  tsr_transform_options options = {
      .size = sizeof options, .format = TSR_FORMAT_FILE, .dtype = TSR_BF16, .no_sync = true};
  assert_fails_with(test_transform(f.cut, f.out, &options), SOURCE_DAMAGED, "tensor \"f\"");
  options.dtype = TSR_F64;
  options.max_memory = 40 << 20;
  options.jobs = 1;
  assert_fails_with(test_transform(f.cut, f.out, &options), SOURCE_DAMAGED, "tensor \"f\"");
  test_folder_remove(&f.folder);
}

// Where a cast makes more blocks than it reads, windows are whole blocks of what is read, also with
// little memory and several workers.
static void what_is_widened_is_checked_with_little_memory(void **state) {
  (void)state;
  cut_floats f;
  cut_floats_make(&f, 5120, "x=2");
  flip_bit(f.cut, 1, 4 * 1024 * 2559);
  for (int megabytes = 34; megabytes <= 66; megabytes += 4) {
    const tsr_transform_options options = {.size = sizeof options,
                                           .format = TSR_FORMAT_FILE,
                                           .dtype = TSR_F64,
                                           .max_memory = (int64_t)megabytes << 20,
                                           .jobs = 1 + megabytes / 4 % 3,
                                           .no_sync = true};
    assert_fails_with(test_transform(f.cut, f.out, &options), SOURCE_DAMAGED, "tensor \"f\"");
  }
  test_folder_remove(&f.folder);
}

// ---- resumed jobs ----

// Lets a job write its first window, and a little more.
static bool stop_after_some(void *context, const tsr_progress_report *report) {
  return report->done <= *(const int64_t *)context;
}

static void a_resumed_job_remembers_what_it_read(void **state) {
  (void)state;
  fixture f;
  tsr_transform_report report;
  int64_t some = 1;
  make_fixture(&f);
  for (int damaged = 0; damaged < 2; damaged++) {
    // In the first block of the first tensor: it is read by the job that is stopped.
    if (damaged) flip(&f, "large", 0, 5);
    tsr_transform_options options = {.size = sizeof options,
                                     .format = TSR_FORMAT_FILE,
                                     .include = (const char *const[]){"large"},
                                     .include_count = 1,
                                     .jobs = 1,
                                     .max_memory = 24 << 20,  // a block at a time
                                     .no_sync = true,
                                     .progress = stop_after_some,
                                     .progress_context = &some,
                                     .progress_interval = 1e-9};
    assert_fails_with(run(&f, &options, &report), CANCELLED, "cancelled");
    assert_true(is_there(&f, "out.journal"));
    options.existing = TSR_EXISTING_RESUME;
    options.progress = NULL;
    if (damaged) {
      assert_fails_with(run(&f, &options, &report), SOURCE_DAMAGED, "the source is damaged");
      assert_false(is_there(&f, "out.journal"));
    } else {
      assert_ok(run(&f, &options, &report));
      assert_true(report.resumed);
      assert_int_equal(report.checked, 1);
      assert_int_equal(report.unchecked, 0);
      assert_int_equal(unlink(f.out), 0);
    }
  }
  free_fixture(&f);
}

// ---- the table ----

static void blocks_come_in_any_order_and_once(void **state) {
  (void)state;
  fixture f;
  tsr_checkpoint *model = NULL;
  tsr_source_hashes *hashes = NULL, *again = NULL;
  make_fixture(&f);
  assert_ok(tsr_checkpoint_open(f.cut, NULL, &model));
  assert_ok(tsr_source_hashes_create(model, &hashes));
  assert_ok(tsr_source_hashes_create(model, &again));
  const int64_t large = tsr_tree_find(tsr_checkpoint_tree(model), "large"), block = 1 << 20;
  uint32_t *words = calloc(2560 * 1024, sizeof *words);
  tsr_hash128 hash;
  int64_t index = -1;
  int count = 0;
  assert_non_null(words);
  assert_ok(tsr_checkpoint_read(model, large, NULL, words, 2560 * 1024 * 4));
  assert_false(tsr_source_hashes_block(hashes, large, 0, &hash));
  assert_ok(tsr_source_hashes_add(hashes, large, 5, block, words + 5));  // no whole block
  assert_false(tsr_source_hashes_next(hashes, &index, &hash));
  assert_int_equal(tsr_source_hashes_count(hashes).unchecked, 1);
  assert_ok(tsr_source_hashes_add(hashes, large, 7, 2560 * 1024 - 7, words + 7));  // 1 and 2
  assert_true(tsr_source_hashes_block(hashes, large, 2, &hash));
  assert_ok(tsr_source_hashes_add(hashes, large, 0, block, words));
  assert_ok(tsr_source_hashes_add(hashes, large, 0, block, words));  // seen already
  assert_int_equal(tsr_source_hashes_count(hashes).checked, 1);
  assert_int_equal(tsr_source_hashes_count(hashes).unchecked, 0);
  while (tsr_source_hashes_next(hashes, &index, &hash)) {
    assert_ok(tsr_source_hashes_restore(again, index, hash));
    assert_ok(tsr_source_hashes_restore(again, index, hash));
    count++;
  }
  assert_int_equal(count, 3);
  assert_int_equal(tsr_source_hashes_count(again).checked, 1);
  assert_ok(tsr_source_hashes_restore(again, -1, hash));
  assert_ok(tsr_source_hashes_restore(again, INT64_MAX, hash));
  // What a job before has seen must be the same when it is read again.
  assert_false(tsr_source_hashes_block(again, large, 0, &hash));
  assert_ok(tsr_source_hashes_add(again, large, 0, block, words));
  assert_true(tsr_source_hashes_block(again, large, 0, &hash));
  words[block] ^= 1;
  assert_fails_with(tsr_source_hashes_add(again, large, block, block, words + block),
                    SOURCE_DAMAGED, "from element 1048576 on it is not what the job");
  words[block] ^= 1;
  tsr_source_hashes_clear(again);
  assert_int_equal(tsr_source_hashes_count(again).checked, 0);
  words[0] ^= 1;
  assert_ok(tsr_source_hashes_add(again, large, 0, 2 * block, words));
  assert_fails_with(tsr_source_hashes_add(again, large, 2 * block, block / 2, words + 2 * block),
                    SOURCE_DAMAGED, "the source is damaged");
  free(words);
  tsr_source_hashes_destroy(hashes);
  tsr_source_hashes_destroy(again);
  tsr_checkpoint_release(model);
  free_fixture(&f);
}

static tsr_status make_hashes(void *context) {
  tsr_source_hashes *hashes = NULL;
  TSR_TRY(tsr_source_hashes_create(context, &hashes));
  tsr_source_hashes_destroy(hashes);
  return NULL;
}

static void tables_survive_failing_allocations(void **state) {
  (void)state;
  fixture f;
  tsr_checkpoint *model = NULL;
  make_fixture(&f);
  assert_ok(tsr_checkpoint_open(f.cut, NULL, &model));
  test_allocation_sweep(make_hashes, model);
  tsr_checkpoint_release(model);
  free_fixture(&f);
}

SUITE(damage, TEST(one_flipped_bit_fails_every_job), TEST(a_source_may_be_trusted),
      TEST(what_is_read_otherwise_is_counted), TEST(what_is_cast_is_checked_before),
      TEST(what_is_widened_is_checked_with_little_memory),
      TEST(a_resumed_job_remembers_what_it_read), TEST(blocks_come_in_any_order_and_once),
      TEST(tables_survive_failing_allocations))
