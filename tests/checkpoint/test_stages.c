// Pipeline stages: folders with a checkpoint each, seen as one.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "checkpoint/models.h"
#include "element/shape_internal.h"
#include "format/fsck_report.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint.h"

#define FIRST                                                 \
  "{\"embed\": {\"dtype\": \"u32\", \"shape\": [8, 4]},"      \
  " \"layers.0.w\": {\"dtype\": \"u32\", \"shape\": [6, 4]}," \
  " \"layers.1.w\": {\"dtype\": \"u32\", \"shape\": [6, 4]}}"
#define JOIN                                                        \
  "embed = stage0.embed\n"                                          \
  "layers.{n+2*stage}.{rest} = stage{stage}.layers.{n}.{rest:.*}\n" \
  "head = stage1.head\n"

static char *path_in(const char *folder, const char *name, char out[PATH_MAX]) {
  assert_true(snprintf(out, PATH_MAX, "%s/%s", folder, name) < PATH_MAX);
  return out;
}

static void make_folder(const test_folder *folder, const char *name) {
  char path[PATH_MAX];
  assert_int_equal(mkdir(path_in(folder->path, name, path), 0777), 0);
}

static void write_stage(const test_folder *folder, const char *name, test_tensor *tensors,
                        int count) {
  char path[PATH_MAX];
  make_folder(folder, name);
  strcat(path_in(folder->path, name, path), "/model.safetensors");
  test_write_safetensors(path, tensors, count);
}

// Stage 0 cut for two ranks, stage 1 whole: contents by the names in the stage.
static void write_stages(const test_folder *folder) {
  char path[PATH_MAX];
  tsr_checkpoint *first = NULL;
  tsr_transform *job = NULL;
  tsr_plan *plan = test_plan(FIRST, "tp=2", "layers -> tp, _\nembed -> _, tp\n");
  const tsr_transform_options options = {
      .size = sizeof options, .format = TSR_FORMAT_RANKS, .plan = plan, .no_sync = true};
  test_tensor whole[] = {test_tensor_whole("embed", TSR_SHAPE(8, 4)),
                         test_tensor_whole("layers.0.w", TSR_SHAPE(6, 4)),
                         test_tensor_whole("layers.1.w", TSR_SHAPE(6, 4))};
  test_tensor second[] = {test_tensor_whole("layers.0.w", TSR_SHAPE(6, 4)),
                          test_tensor_whole("layers.1.w", TSR_SHAPE(6, 4)),
                          test_tensor_whole("head", TSR_SHAPE(4, 8))};
  write_stage(folder, "whole", whole, 3);
  assert_ok(tsr_checkpoint_open(path_in(folder->path, "whole", path), NULL, &first));
  assert_ok(tsr_transform_create(first, path_in(folder->path, "stage0", path), &options, &job));
  assert_ok(tsr_transform_run(job));
  tsr_transform_destroy(job);
  tsr_checkpoint_release(first);
  tsr_plan_release(plan);
  write_stage(folder, "pp_1", second, 3);
}

static void check_tensor(const tsr_checkpoint *model, const char *name, const char *content) {
  const int64_t tensor = tsr_tree_find(tsr_checkpoint_tree(model), name);
  assert_true(tensor >= 0);
  const int64_t elements = tsr_tensor_elements(tsr_tree_at(tsr_checkpoint_tree(model), tensor));
  uint32_t *words = calloc((size_t)elements, sizeof *words);
  assert_ok(tsr_checkpoint_read(model, tensor, NULL, words, 4 * elements));
  for (int64_t i = 0; i < elements; i++) assert_int_equal(words[i], test_word(content, i));
  free(words);
}

// ---- facts ----

static void stages_are_one_checkpoint(void **state) {
  (void)state;
  test_folder folder;
  tsr_checkpoint *model = NULL;
  tsr_hash128 hash;
  test_folder_make(&folder);
  write_stages(&folder);
  assert_ok(tsr_checkpoint_open(folder.path, NULL, &model));
  assert_int_equal(tsr_checkpoint_format_of(model), TSR_FORMAT_STAGES);
  assert_null(tsr_checkpoint_plan(model));
  assert_int_equal(tsr_tree_count(tsr_checkpoint_tree(model)), 6);
  assert_int_equal(tsr_checkpoint_file_count(model), 3);
  check_tensor(model, "stage0.embed", "embed");
  check_tensor(model, "stage0.layers.1.w", "layers.1.w");
  check_tensor(model, "stage1.layers.0.w", "layers.0.w");
  check_tensor(model, "stage1.head", "head");
  assert_false(tsr_checkpoint_known_hash(model, 0, &hash));
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

// The layers of both stages in one numbering, in another layout.
static void a_map_makes_them_one_model(void **state) {
  (void)state;
  char path[PATH_MAX];
  test_folder folder;
  tsr_checkpoint *stages = NULL, *model = NULL;
  tsr_map *map = NULL;
  tsr_mapping *mapping = NULL;
  tsr_transform *job = NULL;
  test_folder_make(&folder);
  write_stages(&folder);
  assert_ok(tsr_checkpoint_open(folder.path, NULL, &stages));
  assert_ok(tsr_map_parse(JOIN, "join", &map));
  assert_ok(tsr_map_apply(map, tsr_checkpoint_tree(stages), NULL, &mapping));
  const tsr_transform_options options = {.size = sizeof options, .map = mapping, .no_sync = true};
  test_folder elsewhere;
  test_folder_make(&elsewhere);
  assert_ok(tsr_transform_create(stages, path_in(elsewhere.path, "model", path), &options, &job));
  assert_ok(tsr_transform_run(job));
  assert_ok(tsr_checkpoint_open(path, NULL, &model));
  assert_int_equal(tsr_tree_count(tsr_checkpoint_tree(model)), 6);
  check_tensor(model, "embed", "embed");
  check_tensor(model, "layers.1.w", "layers.1.w");
  check_tensor(model, "layers.2.w", "layers.0.w");
  check_tensor(model, "layers.3.w", "layers.1.w");
  check_tensor(model, "head", "head");
  tsr_checkpoint_release(model);
  tsr_transform_destroy(job);
  tsr_mapping_release(mapping);
  tsr_map_release(map);
  tsr_checkpoint_release(stages);
  test_folder_remove(&elsewhere);
  test_folder_remove(&folder);
}

// Stages in our own format know the hashes of their tensors, and so do all together.
static void hashes_of_stages_are_kept(void **state) {
  (void)state;
  static const char *const names[] = {"stage0", "stage1"};
  test_folder folder;
  tsr_checkpoint *model = NULL;
  test_folder_make(&folder);
  tsr_plan *plan = test_plan(FIRST, "tp=2", "layers -> tp, _\n");
  const tsr_transform_options options = {.size = sizeof options, .plan = plan, .no_sync = true};
  for (int i = 0; i < 2; i++) {
    char path[PATH_MAX];
    tsr_checkpoint *whole = NULL;
    tsr_transform *job = NULL;
    test_tensor tensors[] = {test_tensor_whole("embed", TSR_SHAPE(8, 4)),
                             test_tensor_whole("layers.0.w", TSR_SHAPE(6, 4)),
                             test_tensor_whole("layers.1.w", TSR_SHAPE(6, 4))};
    test_write_safetensors(path_in(folder.path, "whole.safetensors", path), tensors, 3);
    assert_ok(tsr_checkpoint_open(path, NULL, &whole));
    assert_ok(tsr_transform_create(whole, path_in(folder.path, names[i], path), &options, &job));
    assert_ok(tsr_transform_run(job));
    tsr_transform_destroy(job);
    tsr_checkpoint_release(whole);
  }
  assert_ok(tsr_checkpoint_open(folder.path, NULL, &model));
  for (int64_t i = 0; i < 6; i++) {
    tsr_hash128 known, found;
    assert_true(tsr_checkpoint_known_hash(model, i, &known));
    assert_ok(tsr_checkpoint_hash(model, i, NULL, &found));
    assert_memory_equal(&known, &found, sizeof known);
  }
  tsr_checkpoint_release(model);
  tsr_plan_release(plan);
  test_folder_remove(&folder);
}

static void what_is_wrong_with_stages_is_said(void **state) {
  (void)state;
  test_folder folder;
  tsr_checkpoint *model = NULL;
  const tsr_checkpoint_options asked = {.size = sizeof asked, .format = TSR_FORMAT_STAGES};
  test_folder_make(&folder);
  assert_fails_with(tsr_checkpoint_open(folder.path, &asked, &model), BROKEN_FILE,
                    "there is no folder stage0");
  make_folder(&folder, "stages");  // neither of these is one
  make_folder(&folder, "stage-1x");
  make_folder(&folder, "stage1234567890");
  assert_fails_with(tsr_checkpoint_open(folder.path, &asked, &model), BROKEN_FILE,
                    "there is no folder stage0");
  test_tensor one[] = {test_tensor_whole("a", TSR_SHAPE(2))};
  test_tensor other[] = {test_tensor_whole("a", TSR_SHAPE(2))};
  test_tensor inner[] = {test_tensor_whole("a", TSR_SHAPE(2))};
  write_stage(&folder, "stage1", one, 1);
  assert_fails_with(tsr_checkpoint_open(folder.path, NULL, &model), BROKEN_FILE,
                    "there is no stage 0, but a stage 1");
  make_folder(&folder, "stage0");
  assert_fails_with(tsr_checkpoint_open(folder.path, NULL, &model), NOT_FOUND, "stage 0");
  write_stage(&folder, "stage0/pp0", inner, 1);
  assert_fails_with(tsr_checkpoint_open(folder.path, NULL, &model), BROKEN_FILE,
                    "a stage cannot have stages itself");
  write_stage(&folder, "pp=1", other, 1);
  assert_fails_with(tsr_checkpoint_open(folder.path, NULL, &model), BROKEN_FILE,
                    "are both stage 1");
  test_folder_remove(&folder);
}

static void a_plan_for_all_stages_is_refused_and_none_are_written(void **state) {
  (void)state;
  char path[PATH_MAX];
  test_folder folder;
  tsr_checkpoint *model = NULL;
  tsr_transform *job = NULL;
  test_folder_make(&folder);
  write_stages(&folder);
  tsr_plan *plan = test_plan(FIRST, "tp=2", "layers -> tp, _\n");
  const tsr_checkpoint_options given = {.size = sizeof given, .plan = plan};
  assert_fails_with(tsr_checkpoint_open(folder.path, &given, &model), BAD_ARGUMENT,
                    "each stage has its own");
  assert_ok(tsr_checkpoint_open(folder.path, NULL, &model));
  const tsr_transform_options options = {.size = sizeof options, .format = TSR_FORMAT_STAGES};
  assert_fails_with(tsr_transform_create(model, path_in(folder.path, "x", path), &options, &job),
                    BAD_ARGUMENT, "written one by one");
  tsr_checkpoint_release(model);
  tsr_plan_release(plan);
  test_folder_remove(&folder);
}

// Every fault of every stage, under the name of its folder.
static void faults_of_all_stages_are_told(void **state) {
  (void)state;
  char path[PATH_MAX];
  test_folder folder;
  tsr_fsck *report = NULL;
  const tsr_fsck_options deep = {.size = sizeof deep, .deep = true};
  test_folder_make(&folder);
  write_stages(&folder);
  assert_ok(tsr_fsck_run(folder.path, &deep, &report));
  assert_int_equal(tsr_fsck_count(report), 0);
  assert_int_equal(tsr_fsck_files(report), 3);
  assert_int_equal(tsr_fsck_tensors(report), 6);
  tsr_fsck_destroy(report);
  test_write_text(path_in(folder.path, "pp_1/model.safetensors", path), "no header");
  assert_int_equal(remove(path_in(folder.path, "stage0/model-rank-1-part-0.safetensors", path)), 0);
  assert_ok(tsr_fsck_run(folder.path, &deep, &report));
  assert_true(tsr_fsck_total(report, TSR_SEVERITY_ERROR) > 1);
  assert_string_equal(tsr_fsck_at(report, 0)->file, "stage0");
  assert_int_equal(tsr_fsck_at(report, 0)->kind, TSR_FAULT_FILE_MISSING);
  const tsr_fault *last = tsr_fsck_at(report, tsr_fsck_count(report) - 1);
  assert_string_equal(last->file, "pp_1/model.safetensors");
  assert_int_equal(last->kind, TSR_FAULT_HEADER);
  tsr_fsck_destroy(report);
  test_folder_remove(&folder);
}

static void stages_that_do_not_belong_together_are_told(void **state) {
  (void)state;
  test_folder folder;
  tsr_fsck *report = NULL;
  test_folder_make(&folder);
  test_tensor one[] = {test_tensor_whole("a", TSR_SHAPE(2))};
  test_tensor other[] = {test_tensor_whole("a", TSR_SHAPE(2))};
  write_stage(&folder, "stage1", one, 1);
  assert_ok(tsr_fsck_run(folder.path, NULL, &report));
  assert_int_equal(tsr_fsck_count(report), 1);
  assert_non_null(strstr(tsr_fsck_at(report, 0)->message, "there is no stage 0"));
  tsr_fsck_destroy(report);
  make_folder(&folder, "stage0");
  write_stage(&folder, "stage0/stage0", other, 1);
  assert_ok(tsr_fsck_run(folder.path, NULL, &report));
  assert_int_equal(tsr_fsck_count(report), 1);
  assert_non_null(strstr(tsr_fsck_at(report, 0)->message, "a stage cannot have stages itself"));
  tsr_fsck_destroy(report);
  test_folder_remove(&folder);
}

static tsr_status open_and_release(void *context) {
  tsr_checkpoint *model = NULL;
  TSR_TRY(tsr_checkpoint_open(context, NULL, &model));
  tsr_checkpoint_release(model);
  return NULL;
}

static tsr_status check_and_destroy(void *context) {
  tsr_fsck *report = NULL;
  TSR_TRY(tsr_fsck_run(context, NULL, &report));
  tsr_fsck_destroy(report);
  return NULL;
}

static void memory_may_run_out(void **state) {
  (void)state;
  char path[PATH_MAX];
  test_folder folder;
  test_folder_make(&folder);
  write_stages(&folder);
  test_allocation_sweep(open_and_release, folder.path);
  test_tensor surplus[] = {test_tensor_whole("a", TSR_SHAPE(2))};
  test_write_safetensors(path_in(folder.path, "pp_1/more.safetensors", path), surplus, 1);
  test_allocation_sweep(check_and_destroy, folder.path);
  test_folder_remove(&folder);
}

SUITE(stages, TEST(stages_are_one_checkpoint), TEST(a_map_makes_them_one_model),
      TEST(hashes_of_stages_are_kept), TEST(what_is_wrong_with_stages_is_said),
      TEST(a_plan_for_all_stages_is_refused_and_none_are_written),
      TEST(faults_of_all_stages_are_told), TEST(stages_that_do_not_belong_together_are_told),
      TEST(memory_may_run_out))
