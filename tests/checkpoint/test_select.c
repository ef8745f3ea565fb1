// Which tensors a transform writes, as what types, and what it takes along.
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/models.h"
#include "job/transform_internal.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/transform.h"

typedef struct fixture {
  test_folder folder;
  char in[96], out[96];
} fixture;

// A folder with two tensors of words, one of floats, and small files beside them.
static void make_fixture(fixture *f) {
  test_folder_make(&f->folder);
  snprintf(f->in, sizeof f->in, "%s/in", f->folder.path);
  snprintf(f->out, sizeof f->out, "%s/out", f->folder.path);
  assert_int_equal(mkdir(f->in, 0777), 0);
  test_tensor tensors[] = {test_tensor_whole("layers.0.w", TSR_SHAPE(8, 4)),
                           test_tensor_whole("layers.1.w", TSR_SHAPE(8, 4))};
  test_write_safetensors(test_folder_path(&f->folder, "in/model.safetensors"), tensors, 2);
  test_write_text(test_folder_path(&f->folder, "in/config.json"), "{\"heads\": 8}\n");
  test_write_text(test_folder_path(&f->folder, "in/tokenizer.model"), "");
  test_write_text(test_folder_path(&f->folder, "in/pytorch_model.bin"), "weights");
  test_write_text(test_folder_path(&f->folder, "in/.hidden"), "hidden");
}

static tsr_status run(const fixture *f, const tsr_transform_options *options) {
  tsr_checkpoint *source = NULL;
  tsr_transform *job = NULL;
  TSR_TRY(tsr_checkpoint_open(f->in, NULL, &source));
  tsr_status status = tsr_transform_create(source, f->out, options, &job);
  if (!status) status = tsr_transform_run(job);
  tsr_transform_destroy(job);
  tsr_checkpoint_release(source);
  return status;
}

static bool is_there(const fixture *f, const char *name) {
  return !access(test_folder_path(&f->folder, name), F_OK);
}

static void small_files_are_copied_along(void **state) {
  (void)state;
  fixture f;
  char text[32] = "";
  make_fixture(&f);
  tsr_transform_options options = {.size = sizeof options, .jobs = 1};
  assert_ok(run(&f, &options));
  FILE *file = fopen(test_folder_path(&f.folder, "out/config.json"), "r");
  assert_non_null(file);
  assert_non_null(fgets(text, sizeof text, file));
  fclose(file);
  assert_string_equal(text, "{\"heads\": 8}\n");
  assert_true(is_there(&f, "out/tokenizer.model"));
  assert_false(is_there(&f, "out/pytorch_model.bin"));
  assert_false(is_there(&f, "out/.hidden"));
  options.no_extras = true;
  options.existing = TSR_EXISTING_REPLACE;
  assert_ok(run(&f, &options));
  assert_false(is_there(&f, "out/config.json"));
  // By the name of a file in it, the folder is the same.
  options.no_extras = false;
  test_write_text(test_folder_path(&f.folder, "in/model.safetensors.index.json"),
                  "{\"weight_map\": {\"layers.0.w\": \"model.safetensors\","
                  " \"layers.1.w\": \"model.safetensors\"}}");
  strcat(f.in, "/model.safetensors.index.json");
  assert_ok(run(&f, &options));
  assert_true(is_there(&f, "out/config.json"));
  test_folder_remove(&f.folder);
}

static void the_certificate_counts_small_files(void **state) {
  (void)state;
  fixture f;
  tsr_checkpoint *source = NULL;
  tsr_transform *job = NULL;
  make_fixture(&f);
  assert_ok(tsr_checkpoint_open(f.in, NULL, &source));
  assert_ok(tsr_transform_create(source, f.out, NULL, &job));
  const tsr_transform_certificate *c = tsr_transform_certificate_of(job);
  assert_int_equal(c->extras, 2);
  assert_int_equal(c->extra_bytes, 13);
  assert_string_equal(tsr_transform_extra_at(job, 0), "config.json");
  assert_string_equal(tsr_transform_extra_at(job, 1), "tokenizer.model");
  tsr_transform_destroy(job);
  tsr_checkpoint_release(source);
  test_folder_remove(&f.folder);
}

static void only_what_is_asked_for_is_written(void **state) {
  (void)state;
  static const char *const layers[] = {"layers\\.", "w$"}, *const first[] = {"\\.0\\."};
  fixture f;
  tsr_checkpoint *result = NULL;
  make_fixture(&f);
  const tsr_transform_options options = {.size = sizeof options,
                                         .include = layers,
                                         .include_count = 2,
                                         .exclude = first,
                                         .exclude_count = 1};
  assert_ok(run(&f, &options));
  assert_ok(tsr_checkpoint_open(f.out, NULL, &result));
  assert_int_equal(tsr_tree_count(tsr_checkpoint_tree(result)), 1);
  assert_string_equal(tsr_tree_at(tsr_checkpoint_tree(result), 0)->path, "layers.1.w");
  tsr_checkpoint_release(result);
  test_folder_remove(&f.folder);
}

static void a_pattern_that_does_nothing_is_refused(void **state) {
  (void)state;
  static const char *const all[] = {"."}, *const none[] = {"layer\\.7"}, *const broken[] = {"("};
  static const tsr_cast_rule cast = {"embed", TSR_BF16};
  fixture f;
  make_fixture(&f);
  tsr_transform_options options = {.size = sizeof options, .include = none, .include_count = 1};
  assert_fails_with(run(&f, &options), NOT_FOUND,
                    "include: the pattern \"layer\\.7\" matches none of 2 tensors");
  options = (tsr_transform_options){.size = sizeof options, .exclude = all, .exclude_count = 1};
  assert_fails_with(run(&f, &options), NOT_FOUND, "no tensor is left");
  options.exclude = none;
  assert_fails_with(run(&f, &options), NOT_FOUND, "exclude: the pattern");
  options = (tsr_transform_options){.size = sizeof options, .casts = &cast, .cast_count = 1};
  assert_fails_with(run(&f, &options), NOT_FOUND, "cast: the pattern \"embed\" matches none");
  options = (tsr_transform_options){.size = sizeof options, .include = broken, .include_count = 1};
  assert_fails_with(run(&f, &options), BAD_REGEX, "include");
  assert_false(is_there(&f, "out"));
  assert_false(is_there(&f, "out.partial"));
  test_folder_remove(&f.folder);
}

// ---- types ----

static void write_floats(const char *path) {
  static const char header[] =
      "{\"a.norm\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
      "\"a.w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]},"
      "\"step\":{\"dtype\":\"I32\",\"shape\":[],\"data_offsets\":[16,20]}}";
  const uint64_t length = sizeof header - 1;
  const float floats[] = {1, 2, 3, 4};
  const int32_t step = 7;
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fwrite(&length, sizeof length, 1, file);
  fwrite(header, 1, length, file);
  fwrite(floats, sizeof floats, 1, file);
  fwrite(&step, sizeof step, 1, file);
  fclose(file);
}

static void the_first_cast_that_matches_decides(void **state) {
  (void)state;
  static const tsr_cast_rule casts[] = {{"norm|step", TSR_F32}, {"a\\.", TSR_F16}};
  const tsr_transform_options options = {
      .size = sizeof options, .casts = casts, .cast_count = 2, .dtype = TSR_BF16};
  const tsr_transform_options all = {.size = sizeof all, .dtype = TSR_BF16};
  test_folder folder;
  tsr_checkpoint *source = NULL;
  tsr_tree *tree = NULL;
  test_folder_make(&folder);
  write_floats(test_folder_path(&folder, "in.safetensors"));
  assert_ok(tsr_checkpoint_open(test_folder_path(&folder, "in.safetensors"), NULL, &source));
  assert_ok(tsr_transform_tree(source, &options, &tree));
  assert_int_equal(tsr_tree_at(tree, tsr_tree_find(tree, "a.norm"))->dtype, TSR_F32);
  assert_int_equal(tsr_tree_at(tree, tsr_tree_find(tree, "a.w"))->dtype, TSR_F16);
  assert_int_equal(tsr_tree_at(tree, tsr_tree_find(tree, "step"))->dtype, TSR_I32);
  tsr_tree_release(tree);
  assert_ok(tsr_transform_tree(source, &all, &tree));
  assert_int_equal(tsr_tree_at(tree, tsr_tree_find(tree, "a.w"))->dtype, TSR_BF16);
  tsr_tree_release(tree);
  assert_ok(tsr_transform_tree(source, NULL, &tree));
  assert_int_equal(tsr_tree_at(tree, tsr_tree_find(tree, "a.w"))->dtype, TSR_F32);
  tsr_tree_release(tree);
  tsr_checkpoint_release(source);
  test_folder_remove(&folder);
}

// ---- apart ----

static void source_and_destination_lie_apart(void **state) {
  (void)state;
  const tsr_transform_options replace = {.size = sizeof replace, .existing = TSR_EXISTING_REPLACE};
  fixture f;
  make_fixture(&f);
  strcpy(f.out, f.in);
  assert_fails_with(run(&f, &replace), BAD_ARGUMENT, "are the same");
  strcat(f.out, "/../in/deeper");
  assert_fails_with(run(&f, &replace), BAD_ARGUMENT, "is inside the source");
  strcpy(f.out, f.folder.path);
  assert_fails_with(run(&f, &replace), BAD_ARGUMENT, "the source ");
  assert_int_equal(symlink(f.in, test_folder_path(&f.folder, "link")), 0);
  strcpy(f.out, test_folder_path(&f.folder, "link/deeper"));
  assert_fails_with(run(&f, &replace), BAD_ARGUMENT, "is inside the source");
  strcpy(f.out, test_folder_path(&f.folder, "in2"));  // begins alike, and is another
  assert_ok(run(&f, &replace));
  // Files lie where links lead.
  assert_int_equal(mkdir(test_folder_path(&f.folder, "links"), 0777), 0);
  assert_int_equal(
      symlink("../in2/model.safetensors", test_folder_path(&f.folder, "links/model.safetensors")),
      0);
  strcpy(f.in, test_folder_path(&f.folder, "links"));
  assert_fails_with(run(&f, &replace), BAD_ARGUMENT, "which is in the destination");
  assert_true(is_there(&f, "in2/model.safetensors"));
  // Nor may they lie where the result grows, which is removed first.
  assert_int_equal(rename(f.out, test_folder_path(&f.folder, "x.partial")), 0);
  strcpy(f.in, test_folder_path(&f.folder, "x.partial"));
  strcpy(f.out, test_folder_path(&f.folder, "x"));
  const tsr_transform_options resume = {.size = sizeof resume, .existing = TSR_EXISTING_RESUME};
  assert_fails_with(run(&f, &replace), BAD_ARGUMENT, "needs; choose another destination");
  assert_fails_with(run(&f, &resume), BAD_ARGUMENT, "needs; choose another destination");
  assert_true(is_there(&f, "x.partial/model.safetensors"));
  // A file may have neighbours.
  strcpy(f.in, test_folder_path(&f.folder, "in/model.safetensors"));
  strcpy(f.out, test_folder_path(&f.folder, "in/other"));
  assert_ok(run(&f, &replace));
  test_folder_remove(&f.folder);
}

static tsr_status select_some(void *context) {
  static const char *const layers[] = {"layers"};
  static const tsr_cast_rule cast = {"w", TSR_BF16};
  const tsr_transform_options options = {.size = sizeof options,
                                         .include = layers,
                                         .include_count = 1,
                                         .casts = &cast,
                                         .cast_count = 1,
                                         .jobs = 1,
                                         .no_sync = true,
                                         .existing = TSR_EXISTING_REPLACE};
  return run(context, &options);
}

static void selections_survive_failing_allocations(void **state) {
  (void)state;
  fixture f;
  make_fixture(&f);
  test_allocation_sweep(select_some, &f);
  test_folder_remove(&f.folder);
}

SUITE(select, TEST(small_files_are_copied_along), TEST(the_certificate_counts_small_files),
      TEST(only_what_is_asked_for_is_written), TEST(a_pattern_that_does_nothing_is_refused),
      TEST(the_first_cast_that_matches_decides), TEST(source_and_destination_lie_apart),
      TEST(selections_survive_failing_allocations))
