// Transforms: every way to store a model into every other, whole or not at all.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash_internal.h"
#include "base/text_internal.h"
#include "checkpoint/models.h"
#include "element/shape_internal.h"
#include "job/transform_internal.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/engine/kernels.h"

#define TREE                                                 \
  "{\"a.w\": {\"dtype\": \"u32\", \"shape\": [1200, 1001]}," \
  " \"b\": {\"dtype\": \"u32\", \"shape\": [5]},"            \
  " \"s\": {\"dtype\": \"u32\", \"shape\": []},"             \
  " \"none\": {\"dtype\": \"u32\", \"shape\": [0, 4]},"      \
  " \"qkv\": {\"dtype\": \"u32\", \"shape\": [16, 3]}}"
#define ROWS "a -> tp, _\nb -> tp\n"
#define COLUMNS "a -> dp, tp\nqkv -> tp/parts(q:8/2, k:4/2*2, v:4/2*2), _\n"

static void write_model(const test_folder *folder) {
  test_tensor tensors[] = {test_tensor_whole("a.w", TSR_SHAPE(1200, 1001)),
                           test_tensor_whole("b", TSR_SHAPE(5)), test_tensor_whole("s", TSR_SCALAR),
                           test_tensor_whole("none", TSR_SHAPE(0, 4)),
                           test_tensor_whole("qkv", TSR_SHAPE(16, 3))};
  test_write_safetensors(test_folder_path(folder, "in.safetensors"), tensors, 5);
}

static void check_contents(const char *path, const tsr_plan *plan, tsr_checkpoint_format format) {
  const tsr_checkpoint_options options = {.size = sizeof options, .plan = plan};
  tsr_checkpoint *checkpoint = NULL;
  assert_ok(tsr_checkpoint_open(path, &options, &checkpoint));
  assert_int_equal(tsr_checkpoint_format_of(checkpoint), format);
  const tsr_tree *tree = tsr_checkpoint_tree(checkpoint);
  assert_int_equal(tsr_tree_count(tree), 5);
  for (int64_t i = 0; i < tsr_tree_count(tree); i++) {
    const tsr_tensor *t = tsr_tree_at(tree, i);
    uint32_t *words = calloc((size_t)tsr_tensor_elements(t) + 1, sizeof *words);
    assert_ok(tsr_checkpoint_read(checkpoint, i, NULL, words, 4 * tsr_tensor_elements(t)));
    for (int64_t e = 0; e < tsr_tensor_elements(t); e++)
      assert_int_equal(words[e], test_word(t->path, e));
    free(words);
  }
  tsr_checkpoint_release(checkpoint);
}

// The manifest's hashes are those of the tensors as they were at first.
static void check_hashes(const char *path, const char *first_path) {
  tsr_checkpoint *checkpoint = NULL, *first = NULL;
  assert_ok(tsr_checkpoint_open(path, NULL, &checkpoint));
  assert_ok(tsr_checkpoint_open(first_path, NULL, &first));
  for (int64_t i = 0; i < tsr_tree_count(tsr_checkpoint_tree(first)); i++) {
    tsr_hash128 known, hash;
    const char *name = tsr_tree_at(tsr_checkpoint_tree(first), i)->path;
    const int64_t tensor = tsr_tree_find(tsr_checkpoint_tree(checkpoint), name);
    assert_false(tsr_checkpoint_known_hash(first, i, &known));
    assert_true(tsr_checkpoint_known_hash(checkpoint, tensor, &known));
    assert_ok(tsr_checkpoint_hash(first, i, NULL, &hash));
    assert_true(tsr_hash128_equal(known, hash));
  }
  tsr_checkpoint_release(checkpoint);
  tsr_checkpoint_release(first);
}

static tsr_status transform(const char *from, const tsr_plan *from_plan, const char *to,
                            const tsr_transform_options *options) {
  const tsr_checkpoint_options opening = {.size = sizeof opening, .plan = from_plan};
  tsr_checkpoint *source = NULL;
  tsr_transform *job = NULL;
  TSR_TRY(tsr_checkpoint_open(from, &opening, &source));
  tsr_status status = tsr_transform_create(source, to, options, &job);
  if (!status) status = tsr_transform_run(job);
  tsr_transform_destroy(job);
  tsr_checkpoint_release(source);
  return status;
}

static bool is_there(const test_folder *folder, const char *name) {
  return !access(test_folder_path(folder, name), F_OK);
}

static void a_model_goes_through_every_format_and_comes_back(void **state) {
  (void)state;
  test_folder folder;
  tsr_plan *rows = test_plan(TREE, "dp=1,tp=4", ROWS);
  tsr_plan *columns = test_plan(TREE, "dp=2,tp=4", COLUMNS);
  test_folder_make(&folder);
  write_model(&folder);
  char in[96], a[96], b[96], c[96], d[96];
  strcpy(in, test_folder_path(&folder, "in.safetensors"));
  strcpy(a, test_folder_path(&folder, "a"));
  strcpy(b, test_folder_path(&folder, "b/"));
  strcpy(c, test_folder_path(&folder, "c"));
  strcpy(d, test_folder_path(&folder, "d.safetensors"));
  tsr_transform_options options = {
      .size = sizeof options, .format = TSR_FORMAT_RANKS, .plan = rows, .jobs = 3};
  assert_ok(transform(in, NULL, a, &options));
  check_contents(a, rows, TSR_FORMAT_RANKS);
  check_contents(a, NULL, TSR_FORMAT_RANKS);  // by the plan that lies beside the files
  options.plan = columns;
  options.format = TSR_FORMAT_ANY;
  options.no_sync = true;
  options.max_file_size = 1000000;
  options.max_memory = 40 << 20;
  assert_ok(transform(a, NULL, b, &options));
  check_contents(b, NULL, TSR_FORMAT_TESSERA);
  check_hashes(b, in);
  options.plan = NULL;
  options.max_file_size = 100;
  assert_ok(transform(b, NULL, c, &options));
  check_contents(c, NULL, TSR_FORMAT_FOLDER);
  assert_true(is_there(&folder, "c/model-00001-of-00003.safetensors"));
  assert_true(is_there(&folder, "c/model.safetensors.index.json"));
  options.format = TSR_FORMAT_FILE;
  assert_ok(transform(c, NULL, d, &options));
  check_contents(d, NULL, TSR_FORMAT_FILE);
  assert_false(is_there(&folder, "d.safetensors.partial"));
  assert_false(is_there(&folder, "d.safetensors.journal"));
  tsr_plan_release(rows);
  tsr_plan_release(columns);
  test_folder_remove(&folder);
}

// It is kept in the files, and without tensors no device has a reason to write one.
static void metadata_outlives_a_model_without_tensors(void **state) {
  (void)state;
  static const char bytes[] = " \0\0\0\0\0\0\0{\"__metadata__\":{\"format\":\"pt\"}}";
  static const tsr_checkpoint_format cut[] = {TSR_FORMAT_TESSERA, TSR_FORMAT_RANKS};
  for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
    char in[96], there[96], back[96];
    char found[sizeof bytes];
    test_folder folder;
    test_folder_make(&folder);
    strcpy(in, test_folder_path(&folder, "in.safetensors"));
    strcpy(there, test_folder_path(&folder, "there"));
    strcpy(back, test_folder_path(&folder, "back.safetensors"));
    FILE *file = fopen(in, "wb");
    assert_int_equal(fwrite(bytes, 1, sizeof bytes - 1, file), sizeof bytes - 1);
    assert_int_equal(fclose(file), 0);
    tsr_plan *plan = test_plan("{}", "dp=2", ". -> dp\n");
    tsr_transform_options options = {.size = sizeof options, .format = cut[i], .plan = plan};
    assert_ok(transform(in, NULL, there, &options));
    options.plan = NULL;
    options.format = TSR_FORMAT_FILE;
    assert_ok(transform(there, NULL, back, &options));
    file = fopen(back, "rb");
    assert_int_equal(fread(found, 1, sizeof found, file), sizeof bytes - 1);
    assert_int_equal(fclose(file), 0);
    assert_memory_equal(found, bytes, sizeof bytes - 1);
    tsr_plan_release(plan);
    test_folder_remove(&folder);
  }
}

static void the_certificate_tells_before(void **state) {
  (void)state;
  test_folder folder;
  tsr_checkpoint *source = NULL;
  tsr_transform *job = NULL;
  tsr_plan *plan = test_plan(TREE, "dp=2,tp=4", COLUMNS);
  test_folder_make(&folder);
  write_model(&folder);
  assert_ok(tsr_checkpoint_open(test_folder_path(&folder, "in.safetensors"), NULL, &source));
  const tsr_transform_options options = {
      .size = sizeof options, .format = TSR_FORMAT_RANKS, .plan = plan, .jobs = 1};
  const char *out = test_folder_path(&folder, "out");
  assert_ok(tsr_transform_create(source, out, &options, &job));
  const tsr_transform_certificate *c = tsr_transform_certificate_of(job);
  assert_int_equal(c->tensors, 5);
  assert_int_equal(c->source_files, 1);
  assert_int_equal(c->files, 8);
  assert_int_equal(c->windows, 4);  // an empty tensor has none
  assert_int_equal(c->bytes_read, (1200 * 1001 + 5 + 1 + 16 * 3) * 4);
  // a.w once; b, s on all eight; of qkv each rank has 2 heads of q and one each of k and v.
  const int64_t least = (1200 * 1001 + 8 * 5 + 8 + 8 * (2 + 2 + 2) * 3) * 4;
  assert_int_equal(c->least_written, least);
  assert_true(c->bytes_written > c->least_written);
  int64_t files = 0;
  for (int i = 0; i < c->files; i++) files += tsr_transform_file_bytes(job, i);
  assert_in_range(c->bytes_written - files, 500, 5000);  // the plan beside them
  assert_string_equal(tsr_transform_file_at(job, 7), "model-rank-7-part-0.safetensors");
  assert_false(is_there(&folder, "out.partial"));
  tsr_transform_destroy(job);
  tsr_checkpoint_release(source);
  tsr_plan_release(plan);
  test_folder_remove(&folder);
}

static int64_t bytes_in(const char *path) {
  int64_t bytes = 0;
  struct stat info;
  DIR *listing = opendir(path);
  if (!listing) return !stat(path, &info) ? info.st_size : -1;
  for (const struct dirent *entry = NULL; (entry = readdir(listing));) {
    char file[512];
    snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
    if (!stat(file, &info) && S_ISREG(info.st_mode)) bytes += info.st_size;
  }
  closedir(listing);
  return bytes;
}

static void the_certificate_knows_what_will_be_written_to_the_byte(void **state) {
  (void)state;
  static const struct {
    tsr_checkpoint_format format;
    const char *index;
  } cases[] = {{TSR_FORMAT_FILE, NULL},
               {TSR_FORMAT_FOLDER, "model.safetensors.index.json"},
               {TSR_FORMAT_RANKS, "tessera-plan.json"},
               {TSR_FORMAT_TESSERA, "manifest.json"}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    test_folder folder;
    tsr_checkpoint *source = NULL;
    tsr_transform *job = NULL;
    int64_t index_bytes = -1;
    tsr_plan *plan = test_plan(TREE, "dp=2,tp=4", COLUMNS);
    test_folder_make(&folder);
    write_model(&folder);
    assert_ok(tsr_checkpoint_open(test_folder_path(&folder, "in.safetensors"), NULL, &source));
    const tsr_transform_options options = {.size = sizeof options,
                                           .format = cases[i].format,
                                           .plan = i < 2 ? NULL : plan,
                                           .max_file_size = 100,
                                           .no_sync = true};
    const char *out = test_folder_path(&folder, "out");
    assert_ok(tsr_transform_create(source, out, &options, &job));
    const char *index = tsr_transform_index(job, &index_bytes);
    assert_true((index_bytes > 0) == (cases[i].index != NULL));
    if (cases[i].index) assert_string_equal(index, cases[i].index);
    assert_ok(tsr_transform_run(job));
    assert_int_equal(tsr_transform_certificate_of(job)->bytes_written, bytes_in(out));
    tsr_transform_destroy(job);
    tsr_checkpoint_release(source);
    tsr_plan_release(plan);
    test_folder_remove(&folder);
  }
}

// ---- stopping and going on ----

static bool stop_after_some(void *context, const tsr_progress_report *report) {
  return report->finished || report->done < *(const int64_t *)context;
}

static void a_cancelled_job_is_resumed(void **state) {
  (void)state;
  test_folder folder;
  int64_t some = 1;
  test_folder_make(&folder);
  test_tensor tensors[12];
  char names[12][16];
  for (int i = 0; i < 12; i++) {
    snprintf(names[i], sizeof names[i], "t%d", i);
    tensors[i] = test_tensor_whole(names[i], TSR_SHAPE(100, 100));
  }
  test_write_safetensors(test_folder_path(&folder, "in.safetensors"), tensors, 12);
  char in[96], out[96];
  strcpy(in, test_folder_path(&folder, "in.safetensors"));
  strcpy(out, test_folder_path(&folder, "out"));
  tsr_transform_options options = {.size = sizeof options,
                                   .jobs = 1,
                                   .progress = stop_after_some,
                                   .progress_context = &some,
                                   .progress_interval = 1e-9};
  assert_fails_with(transform(in, NULL, out, &options), CANCELLED, "cancelled");
  assert_false(is_there(&folder, "out"));
  assert_true(is_there(&folder, "out.partial"));
  options.progress = NULL;
  assert_fails_with(transform(in, NULL, out, &options), ALREADY_THERE, "unfinished job");
  options.existing = TSR_EXISTING_RESUME;
  options.dtype = TSR_F16;  // changes nothing: these are no floats
  assert_ok(transform(in, NULL, out, &options));
  assert_false(is_there(&folder, "out.partial"));
  assert_false(is_there(&folder, "out.journal"));
  tsr_checkpoint *result = NULL;
  assert_ok(tsr_checkpoint_open(out, NULL, &result));
  for (int64_t i = 0; i < 12; i++) {
    uint32_t words[10000];
    const char *name = tsr_tree_at(tsr_checkpoint_tree(result), i)->path;
    assert_ok(tsr_checkpoint_read(result, i, NULL, words, sizeof words));
    for (int64_t e = 0; e < 10000; e++) assert_int_equal(words[e], test_word(name, e));
  }
  tsr_checkpoint_release(result);
  test_folder_remove(&folder);
}

// A job that was too large for the machine goes on with less memory, or other workers.
static void a_job_is_resumed_with_other_memory(void **state) {
  (void)state;
  test_folder folder;
  int64_t some = 1;
  test_folder_make(&folder);
  test_tensor tensors[] = {test_tensor_whole("large", TSR_SHAPE(5, 1 << 19))};
  test_write_safetensors(test_folder_path(&folder, "in.safetensors"), tensors, 1);
  char in[96], out[96];
  strcpy(in, test_folder_path(&folder, "in.safetensors"));
  strcpy(out, test_folder_path(&folder, "out"));
  tsr_transform_options options = {.size = sizeof options,
                                   .format = TSR_FORMAT_FILE,
                                   .jobs = 1,
                                   .max_memory = 35 << 20,
                                   .no_sync = true,
                                   .progress = stop_after_some,
                                   .progress_context = &some,
                                   .progress_interval = 1e-9};
  assert_fails_with(transform(in, NULL, out, &options), CANCELLED, "cancelled");
  options.existing = TSR_EXISTING_RESUME;
  options.max_memory = 0;
  options.jobs = 2;
  options.progress = NULL;
  assert_ok(transform(in, NULL, out, &options));
  tsr_checkpoint *result = NULL;
  uint32_t *words = calloc(5 << 19, sizeof *words);
  assert_ok(tsr_checkpoint_open(out, NULL, &result));
  assert_ok(tsr_checkpoint_read(result, 0, NULL, words, (5 << 19) * 4));
  for (int64_t e = 0; e < 5 << 19; e++)
    if (words[e] != test_word("large", e)) fail_msg("element %lld", (long long)e);
  free(words);
  tsr_checkpoint_release(result);
  test_folder_remove(&folder);
}

static void a_journal_of_another_job_is_refused(void **state) {
  (void)state;
  test_folder folder;
  test_folder_make(&folder);
  write_model(&folder);
  char in[96], out[96];
  strcpy(in, test_folder_path(&folder, "in.safetensors"));
  strcpy(out, test_folder_path(&folder, "out"));
  test_write_text(test_folder_path(&folder, "out.journal"),
                  "tessera-journal 1 00000000000000000000000000000000\n");
  tsr_transform_options options = {.size = sizeof options, .existing = TSR_EXISTING_RESUME};
  assert_fails_with(transform(in, NULL, out, &options), JOURNAL_MISMATCH, "another job");
  options.existing = TSR_EXISTING_REPLACE;
  assert_ok(transform(in, NULL, out, &options));
  options.existing = TSR_EXISTING_REFUSE;
  assert_fails_with(transform(in, NULL, out, &options), ALREADY_THERE, "already exists");
  options.existing = TSR_EXISTING_REPLACE;
  assert_ok(transform(in, NULL, out, &options));
  check_contents(out, NULL, TSR_FORMAT_FOLDER);
  assert_false(is_there(&folder, "out.partial"));
  test_folder_remove(&folder);
}

static void what_does_not_fit_is_said_before(void **state) {
  (void)state;
  test_folder folder;
  test_folder_make(&folder);
  write_model(&folder);
  char in[96], out[96];
  strcpy(in, test_folder_path(&folder, "in.safetensors"));
  strcpy(out, test_folder_path(&folder, "out"));
  tsr_transform_options options = {.size = sizeof options, .max_memory = 1 << 20};
  assert_fails_with(transform(in, NULL, out, &options), DOES_NOT_FIT, "1048576 bytes of memory");
  options = (tsr_transform_options){.size = sizeof options, .format = TSR_FORMAT_RANKS};
  assert_fails_with(transform(in, NULL, out, &options), PLAN_REQUIRED,
                    "format \"ranks\" needs a plan with a mesh");
  tsr_plan *plan = test_plan("{\"b\": {\"dtype\": \"u32\", \"shape\": [6]}}", "x=1", "");
  options.plan = plan;
  assert_fails_with(transform(in, NULL, out, &options), NOT_FOUND,
                    "the plan of the destination: tensor \"a.w\" is not in the plan");
  options.format = TSR_FORMAT_FILE;
  assert_fails_with(transform(in, NULL, out, &options), BAD_ARGUMENT, "stores tensors whole");
  tsr_plan_release(plan);
  plan = test_plan("{\"a.w\": {\"dtype\": \"u32\", \"shape\": [6]}}", "x=1", "");
  options.plan = plan;
  options.format = TSR_FORMAT_RANKS;
  assert_fails_with(transform(in, NULL, out, &options), SHAPES_DIFFER,
                    "(1200, 1001), but in the plan (6,)");
  tsr_plan_release(plan);
  assert_fails_with(transform(in, NULL, "", NULL), BAD_ARGUMENT, "no name");
  assert_false(is_there(&folder, "out.partial"));
  test_folder_remove(&folder);
}

// ---- memory ----

static tsr_status gather_small(void *context) {
  const test_folder *folder = context;
  char in[96], out[96];
  snprintf(in, sizeof in, "%s/in.safetensors", folder->path);
  snprintf(out, sizeof out, "%s/out", folder->path);
  const tsr_transform_options options = {.size = sizeof options,
                                         .jobs = 1,
                                         .no_sync = true,
                                         .max_file_size = 100,
                                         .existing = TSR_EXISTING_REPLACE};
  return transform(in, NULL, out, &options);
}

static void transforms_survive_failing_allocations(void **state) {
  (void)state;
  test_folder folder;
  test_folder_make(&folder);
  test_tensor tensors[] = {test_tensor_whole("a", TSR_SHAPE(12, 10)),
                           test_tensor_whole("b", TSR_SHAPE(50))};
  test_write_safetensors(test_folder_path(&folder, "in.safetensors"), tensors, 2);
  test_allocation_sweep(gather_small, &folder);
  test_folder_remove(&folder);
}

// ---- manifests ----

// A manifest with one thing changed is refused, with the reason.
static const struct {
  const char *from, *to, *message;
} damages[] = {
    {"tessera-checkpoint/1", "tessera-checkpoint/9", "is not supported, wanted"},
    {"\"bytes\": ", "\"bytes\": 9", "the manifest says"},
    {"\"position\": 1", "\"position\": 5", "position 5, expected 0 to 1"},
    {"data-00001-of-00002", "../ata-00001-of-00002", "is not one in the manifest's folder"},
    {"data-00002-of-00002", "data-00003-of-00002", "data-00003-of-00002.safetensors"},
    {"\"position\": 1", "\"position\": 0", "is in "},
    {"\"hashes\": [\n  \"", "\"hashes\": [\n  \"00", "32 digits"},
    {"\"hashes\": [", "\"hashes\": [\"00\",", "hashes: there are 2"},
    {"\"plan\"", "\"plam\"", "plam"},
    {"\"files\": [", "\"files\": [7, ", "files"},
    {"\"shape\": [8, 6]", "\"shape\": [8, 8]", "bytes_per_device is 96"},
    {"{", "[", "manifest.json"},
};

static void write_damaged(const char *path, const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  tsr_text damaged = TSR_TEXT_EMPTY;
  assert_non_null(at);
  tsr_text_add_bytes(&damaged, text, (size_t)(at - text));
  tsr_text_add(&damaged, to);
  tsr_text_add(&damaged, at + strlen(from));
  test_write_text(path, tsr_text_string(&damaged));
  tsr_text_deinit(&damaged);
}

static void a_damaged_manifest_is_refused(void **state) {
  (void)state;
  test_folder folder;
  tsr_checkpoint *checkpoint = NULL;
  tsr_plan *plan = test_plan("{\"a\": {\"dtype\": \"u32\", \"shape\": [8, 6]}}", "x=2", "a -> x\n");
  static char text[10000];
  char in[96], out[96], manifest[128];
  test_folder_make(&folder);
  strcpy(in, test_folder_path(&folder, "in.safetensors"));
  strcpy(out, test_folder_path(&folder, "out"));
  strcpy(manifest, test_folder_path(&folder, "out/manifest.json"));
  test_tensor tensors[] = {test_tensor_whole("a", TSR_SHAPE(8, 6))};
  test_write_safetensors(in, tensors, 1);
  const tsr_transform_options options = {.size = sizeof options, .plan = plan};
  assert_ok(transform(in, NULL, out, &options));
  FILE *file = fopen(manifest, "rb");
  assert_non_null(file);
  assert_true(fread(text, 1, sizeof text - 1, file) > 0);
  fclose(file);
  for (size_t i = 0; i < COUNT_OF(damages); i++) {
    write_damaged(manifest, text, damages[i].from, damages[i].to);
    tsr_status status = tsr_checkpoint_open(out, NULL, &checkpoint);
    if (!status || !strstr(tsr_status_text(status), damages[i].message))
      fail_msg("%s: %s", damages[i].to, tsr_status_text(status));
    tsr_status_free(status);
  }
  test_write_text(manifest, text);
  const tsr_checkpoint_options unwanted = {.size = sizeof unwanted, .plan = plan};
  assert_fails_with(tsr_checkpoint_open(out, &unwanted, &checkpoint), BAD_ARGUMENT,
                    "a plan was given, but the manifest has its own");
  assert_ok(tsr_checkpoint_open(out, NULL, &checkpoint));
  tsr_checkpoint_release(checkpoint);
  tsr_plan_release(plan);
  test_folder_remove(&folder);
}

SUITE(transform, TEST(a_damaged_manifest_is_refused),
      TEST(a_model_goes_through_every_format_and_comes_back), TEST(the_certificate_tells_before),
      TEST(metadata_outlives_a_model_without_tensors),
      TEST(the_certificate_knows_what_will_be_written_to_the_byte),
      TEST(a_cancelled_job_is_resumed), TEST(a_job_is_resumed_with_other_memory),
      TEST(a_journal_of_another_job_is_refused), TEST(what_does_not_fit_is_said_before),
      TEST(transforms_survive_failing_allocations))
