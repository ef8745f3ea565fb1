// Saves: arrays in any layout, on one rank or several, become the very files that a transform
// writes; and a save that fails leaves what was there before, and nothing else.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "checkpoint/loads.h"
#include "plan/tree_internal.h"
#include "spec/sharding_internal.h"
#include "store/checkpoint_internal.h"
#include "support/ranks.h"
#include "tessera/array.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/checkpoint/save.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/place.h"

enum { MOST_RANKS = 8 };

typedef struct job {
  char in[128], out[128];
  const tsr_plan *lies;  // how the arrays are laid out
  tsr_save_options options;
  int odd_rank;  // that is given something else; -1 = none
  tsr_save_certificate certificates[MOST_RANKS];
  char messages[MOST_RANKS][512];
} job;

typedef struct world {
  int ranks;
  int64_t first[MOST_RANKS + 1];
} world;
static const world worlds[] = {{1, {0, 8}},
                               {2, {0, 4, 8}},
                               {4, {0, 2, 4, 6, 8}},
                               {3, {0, 0, 3, 8}},  // the first without a device
                               {8, {0, 1, 2, 3, 4, 5, 6, 7, 8}}};

static tsr_status save_tree(job *j, const tsr_array_tree *tree, tsr_comm *comm) {
  tsr_save *save = NULL;
  tsr_save_options options = j->options;
  if (tsr_comm_rank(comm) == j->odd_rank) options.dtype = TSR_F16;
  TSR_TRY(tsr_save_create(tree, j->out, comm, &options, &save));
  j->certificates[tsr_comm_rank(comm)] = *tsr_save_certificate_of(save);
  tsr_status status = tsr_save_run(save);
  tsr_status again = tsr_save_run(save);
  if (!again || !strstr(tsr_status_text(again), "a save runs once"))
    status = status ? status : tsr_fail(BROKEN_PLAN, "it ran twice");
  tsr_status_free(again);
  tsr_save_destroy(save);
  return status;
}

static tsr_status save_on_rank(void *context, tsr_comm *comm) {
  job *j = context;
  const int rank = tsr_comm_rank(comm);
  tsr_checkpoint *model = NULL;
  tsr_array_tree *tree = NULL;
  tsr_status status = tsr_checkpoint_open_all(comm, j->in, NULL, &model);
  if (!status) status = tsr_checkpoint_load(model, j->lies, comm, NULL, &tree);
  if (!status) status = save_tree(j, tree, comm);
  snprintf(j->messages[rank], sizeof j->messages[rank], "%s", tsr_status_text(status));
  tsr_array_tree_release(tree);
  tsr_checkpoint_release(model);
  return status;
}

static tsr_status run_job(job *j, const world *w) {
  return test_ranks_run(w->ranks, w->first, save_on_rank, j);
}

typedef struct fixture {
  test_folder folder;
  char in[96], out[96], wanted[96];
} fixture;

static void make_fixture(fixture *f, const char *tree_json) {
  test_folder_make_in_memory(&f->folder);
  snprintf(f->in, sizeof f->in, "%s/in.safetensors", f->folder.path);
  snprintf(f->out, sizeof f->out, "%s/out", f->folder.path);
  snprintf(f->wanted, sizeof f->wanted, "%s/wanted", f->folder.path);
  test_load_write_tree(f->in, tree_json);
}

static job make_job(const fixture *f, const tsr_plan *lies) {
  job j = {.lies = lies,
           .odd_rank = -1,
           .options = {.size = sizeof j.options,
                       .format = TSR_FORMAT_FILE,
                       .max_file_size = 4000,
                       .existing = TSR_EXISTING_REPLACE,
                       .no_sync = true}};
  snprintf(j.in, sizeof j.in, "%s", f->in);
  snprintf(j.out, sizeof j.out, "%s", f->out);
  return j;
}

static void check_nothing_beside(const fixture *f) {
  char path[128];
  snprintf(path, sizeof path, "%s.partial", f->out);
  assert_int_equal(access(path, F_OK), -1);
  snprintf(path, sizeof path, "%s.journal", f->out);
  assert_int_equal(access(path, F_OK), -1);
}

static bool same_files(const char *one, const char *other) {
  char command[256];
  snprintf(command, sizeof command, "diff -r '%s' '%s'", one, other);
  return system(command) == 0;  // NOLINT: a test's own paths
}

// ---- the same files ----

static void certificates_agree(const job *j, int ranks) {
  int64_t written = 0, sent = 0, received = 0, most = 0;
  for (int r = 0; r < ranks; r++) {
    const tsr_save_certificate *c = &j->certificates[r];
    written += c->bytes_written;
    sent += c->bytes_sent;
    received += c->bytes_received;
    if (c->bytes_written > most) most = c->bytes_written;
    assert_int_equal(c->total_written, j->certificates[0].total_written);
    assert_int_equal(c->most_written, j->certificates[0].most_written);
    assert_int_equal(c->rounds, j->certificates[0].rounds);
  }
  assert_int_equal(written, j->certificates[0].total_written);
  assert_int_equal(most, j->certificates[0].most_written);
  assert_int_equal(sent, received);
}

static void saves_write_what_a_transform_writes(void **state) {
  (void)state;
  static const tsr_checkpoint_format formats[] = {TSR_FORMAT_FILE, TSR_FORMAT_FOLDER,
                                                  TSR_FORMAT_RANKS, TSR_FORMAT_TESSERA};
  fixture f;
  test_random random = {50};
  make_fixture(&f, TEST_LOAD_TREE);
  for (unsigned round = 0; round < 80; round++) {
    const tsr_checkpoint_format format = formats[round % COUNT_OF(formats)];
    const bool cut = format == TSR_FORMAT_RANKS || format == TSR_FORMAT_TESSERA;
    const world *w = &worlds[round / 4 % COUNT_OF(worlds)];
    // Every third time as the arrays lie.
    const bool as_they_lie = cut && round % 3 == 0;
    tsr_plan *lies = test_load_plan(&random, as_they_lie), *stored = test_load_plan(&random, true);
    job j = make_job(&f, lies);
    j.options.format = format;
    j.options.plan = cut && !as_they_lie ? stored : NULL;
    assert_ok(run_job(&j, w));
    certificates_agree(&j, w->ranks);
    check_nothing_beside(&f);
    // Of a plan made from arrays the reasons are others: what is stored is compared by verify.
    if (as_they_lie) {
      tsr_checkpoint *saved = NULL;
      assert_ok(tsr_checkpoint_open(f.out, NULL, &saved));
      for (int64_t i = 0; i < tsr_plan_count(lies); i++) {
        const char *name = tsr_tree_at(tsr_plan_tree(lies), i)->path;
        const int64_t tensor = tsr_tree_find(tsr_checkpoint_tree(saved), name);
        tsr_layout *layout = NULL;
        assert_ok(tsr_plan_layout(lies, i, &layout));
        assert_true(tsr_sharding_equal(tsr_layout_sharding(layout),
                                       tsr_layout_sharding(tsr_checkpoint_layout(saved, tensor))));
        tsr_layout_release(layout);
      }
      tsr_checkpoint_release(saved);
      test_load_store(f.out, f.wanted, TSR_FORMAT_FILE, NULL);
      assert_true(same_files(f.in, f.wanted));
    } else {
      test_load_store(f.in, f.wanted, format, j.options.plan);
      assert_true(same_files(f.out, f.wanted));
    }
    tsr_plan_release(stored);
    tsr_plan_release(lies);
  }
  test_folder_remove(&f.folder);
}

// Types that NumPy knows, or that its files note.
#define NUMPY_TREE                                       \
  "{\"a.w\": {\"dtype\": \"f32\", \"shape\": [64, 48]}," \
  " \"b\": {\"dtype\": \"bf16\", \"shape\": [37]},"      \
  " \"c\": {\"dtype\": \"i64\", \"shape\": [3, 5, 7]},"  \
  " \"none\": {\"dtype\": \"f32\", \"shape\": [0, 4]},"  \
  " \"s\": {\"dtype\": \"f32\", \"shape\": []}}"

static void numpy_files_are_saved_with_their_checksums(void **state) {
  (void)state;
  fixture f;
  make_fixture(&f, NUMPY_TREE);
  tsr_plan *lies = test_plan(NUMPY_TREE, "x=2,y=4", "^a -> y, x\n^b -> y\n^c -> _, x\n");
  for (size_t i = 0; i < 2 * COUNT_OF(worlds); i++) {
    job j = make_job(&f, lies);
    j.options.format = i % 2 ? TSR_FORMAT_NPZ : TSR_FORMAT_NPY;
    assert_ok(run_job(&j, &worlds[i / 2]));
    test_load_store(f.in, f.wanted, j.options.format, NULL);
    assert_true(same_files(f.out, f.wanted));
  }
  tsr_plan_release(lies);
  test_folder_remove(&f.folder);
}

static void tensors_are_chosen_and_cast_on_the_way(void **state) {
  (void)state;
  fixture f;
  make_fixture(&f, TEST_LOAD_TREE);
  tsr_plan *lies = test_plan(TEST_LOAD_TREE, "x=2,y=4", "^a -> _, x+y\n^qkv -> y, x\n");
  for (size_t i = 0; i < COUNT_OF(worlds); i++) {
    job j = make_job(&f, lies);
    j.options.dtype = TSR_BF16;
    j.options.casts = &(tsr_cast_rule){"^q", TSR_F32};
    j.options.cast_count = 1;
    j.options.exclude = (const char *const[]){"^[fg]$"};
    j.options.exclude_count = 1;
    j.options.metadata = &(tsr_metadata){"step", "1000"};
    j.options.metadata_count = 1;
    assert_ok(run_job(&j, &worlds[i]));
    tsr_checkpoint *saved = NULL, *in = NULL;
    tsr_transform *again = NULL;
    const tsr_metadata *metadata = NULL;
    tsr_transform_options options = {.size = sizeof options,
                                     .format = TSR_FORMAT_FILE,
                                     .dtype = TSR_BF16,
                                     .casts = j.options.casts,
                                     .cast_count = 1,
                                     .exclude = j.options.exclude,
                                     .exclude_count = 1,
                                     .existing = TSR_EXISTING_REPLACE};
    assert_ok(tsr_checkpoint_open(f.in, NULL, &in));
    assert_ok(tsr_transform_create(in, f.wanted, &options, &again));
    assert_ok(tsr_transform_run(again));
    tsr_transform_destroy(again);
    tsr_checkpoint_release(in);
    assert_ok(tsr_checkpoint_open(f.out, NULL, &saved));
    assert_ok(tsr_checkpoint_open(f.wanted, NULL, &in));
    assert_int_equal(tsr_checkpoint_metadata(saved, &metadata), 1);
    assert_string_equal(metadata[0].value, "1000");
    assert_true(tsr_tree_equal(tsr_checkpoint_tree(saved), tsr_checkpoint_tree(in)));
    for (int64_t t = 0; t < tsr_tree_count(tsr_checkpoint_tree(in)); t++) {
      tsr_hash128 a, b;
      assert_ok(tsr_checkpoint_hash(saved, t, NULL, &a));
      assert_ok(tsr_checkpoint_hash(in, t, NULL, &b));
      assert_true(a.low == b.low && a.high == b.high);
    }
    tsr_checkpoint_release(in);
    tsr_checkpoint_release(saved);
  }
  tsr_plan_release(lies);
  test_folder_remove(&f.folder);
}

// ---- large tensors, and who writes them ----

#define LARGE_TREE                                         \
  "{\"w\": {\"dtype\": \"f32\", \"shape\": [4096, 1024]}," \
  " \"f\": {\"dtype\": \"f4e2m1fn\", \"shape\": [5000, 3600]}}"

static void large_tensors_are_dealt_out_by_windows(void **state) {
  (void)state;
  static const struct {
    const char *rules;
    bool moves;
  } cases[] = {{"w -> x, _\nf -> x, _\n", false},
               {"w -> _, x\nf -> _, x\n", true},
               {"w -> ()\nf -> ()\n", false}};
  fixture f;
  make_fixture(&f, LARGE_TREE);
  tsr_plan *stored = test_plan(LARGE_TREE, "x=8", "w -> _, x\nf -> x, _\n");
  test_load_store(f.in, f.wanted, TSR_FORMAT_TESSERA, stored);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_plan *lies = test_plan(LARGE_TREE, "x=8", cases[i].rules);
    job j = make_job(&f, lies);
    j.options.format = TSR_FORMAT_TESSERA;
    j.options.plan = stored;
    j.options.max_memory = 48 << 20;
    assert_ok(run_job(&j, &worlds[2]));
    certificates_agree(&j, 4);
    assert_true(same_files(f.out, f.wanted));
    int64_t sent = 0;
    for (int r = 0; r < 4; r++) sent += j.certificates[r].bytes_sent;
    // The narrow tensor is written by one rank, whoever holds it.
    assert_int_equal(sent > INT64_C(9) << 20, cases[i].moves);
    if (i == 2) assert_int_equal(sent + j.certificates[0].rounds, 0);
    // Three blocks of one, three of the other by one rank: nobody has more than half of all.
    assert_in_range(j.certificates[0].most_written, 4 << 20, 9000000 + (4 << 20));
    tsr_plan_release(lies);
  }
  tsr_plan_release(stored);
  test_folder_remove(&f.folder);
}

// ---- leaves ----

static tsr_status save_leaves(const tsr_leaf *leaves, int64_t count, tsr_comm *comm,
                              const char *path, const tsr_save_options *options) {
  tsr_array_tree *tree = NULL;
  TSR_TRY(tsr_array_tree_create(leaves, count, &tree));
  tsr_status status = tsr_checkpoint_save(tree, path, comm, options);
  tsr_array_tree_release(tree);
  return status;
}

static tsr_array *make_array(tsr_comm *comm, const char *mesh_text, const char *spec_text,
                             const tsr_shape *shape, tsr_policy policy, const void *data) {
  tsr_mesh *mesh = NULL;
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_layout *layout = NULL;
  tsr_array *array = NULL;
  assert_ok(tsr_mesh_parse(mesh_text, NULL, &mesh));
  assert_ok(tsr_spec_parse(spec_text, TSR_FORM_ANY, &spec));
  assert_ok(tsr_sharding_bind(mesh, spec, false, &sharding));
  assert_ok(tsr_layout_create(sharding, shape, policy, &layout));
  assert_ok(tsr_array_shard(comm, layout, TSR_I32, data, NULL, &array));
  tsr_layout_release(layout);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  return array;
}

static const int32_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

static void check_numbers(const char *path, const char *name, int count) {
  tsr_checkpoint *saved = NULL;
  int32_t found[10] = {0};
  assert_ok(tsr_checkpoint_open(path, NULL, &saved));
  const int64_t tensor = tsr_tree_find(tsr_checkpoint_tree(saved), name);
  assert_ok(tsr_checkpoint_read(saved, tensor, NULL, found, sizeof found));
  assert_memory_equal(found, numbers, sizeof *found * (size_t)count);
  tsr_checkpoint_release(saved);
}

// Padded and uneven arrays as they lie, beside a step in host memory.
static void tensors_in_host_memory_go_along(void **state) {
  (void)state;
  static const tsr_policy policies[] = {TSR_POLICY_UNEVEN, TSR_POLICY_PAD};
  test_folder folder;
  tsr_comm *comm = NULL;
  const int32_t step = 0;
  test_folder_make(&folder);
  assert_ok(tsr_comm_create(4, NULL, &comm));
  for (size_t i = 0; i < COUNT_OF(policies); i++) {
    tsr_array *array = make_array(comm, "x=4", "x", TSR_SHAPE(10), policies[i], numbers);
    const tsr_leaf leaves[] = {
        {.tensor.path = "params/w", .kind = TSR_LEAF_ARRAY, .array = array},
        {.tensor.path = "step", .kind = TSR_LEAF_HOST, .tensor.dtype = TSR_I32, .data = &step}};
    const tsr_save_options options = {.size = sizeof options, .existing = TSR_EXISTING_REPLACE};
    const char *path = test_folder_path(&folder, "out");
    assert_ok(save_leaves(leaves, 2, comm, path, &options));
    check_numbers(path, "params/w", 10);
    check_numbers(path, "step", 1);
    tsr_checkpoint *saved = NULL;
    tsr_hash128 hash;
    assert_ok(tsr_checkpoint_open(path, NULL, &saved));
    assert_int_equal(tsr_checkpoint_format_of(saved), TSR_FORMAT_TESSERA);
    assert_true(tsr_checkpoint_known_hash(saved, 0, &hash));
    tsr_checkpoint_release(saved);
    tsr_array_release(array);
  }
  tsr_comm_release(comm);
  test_folder_remove(&folder);
}

static void bad_saves_are_refused(void **state) {
  (void)state;
  test_folder folder;
  tsr_comm *comm = NULL, *other = NULL;
  test_folder_make(&folder);
  assert_ok(tsr_comm_create(4, NULL, &comm));
  assert_ok(tsr_comm_create(4, NULL, &other));
  tsr_array *array = make_array(comm, "x=4", "x", TSR_SHAPE(8), TSR_POLICY_ERROR, numbers);
  tsr_array *turned = make_array(comm, "y=2,z=2", "z", TSR_SHAPE(8), TSR_POLICY_ERROR, numbers);
  tsr_array *sum =
      make_array(comm, "x=4", "_ | unreduced=x", TSR_SHAPE(8), TSR_POLICY_ERROR, numbers);
  const char *path = test_folder_path(&folder, "out");
  const tsr_leaf leaves[] = {{.tensor.path = "a", .kind = TSR_LEAF_ARRAY, .array = array},
                             {.tensor.path = "b", .kind = TSR_LEAF_ARRAY, .array = turned}};
  const tsr_leaf shape = {.tensor.path = "s", .kind = TSR_LEAF_SHAPE, .tensor.dtype = TSR_I32};
  const tsr_leaf host = {
      .tensor.path = "h", .kind = TSR_LEAF_HOST, .tensor.dtype = TSR_I32, .data = numbers};
  const tsr_leaf partial = {.tensor.path = "p", .kind = TSR_LEAF_ARRAY, .array = sum};
  tsr_save_options options = {.size = sizeof options};
  assert_fails_with(save_leaves(&shape, 1, comm, path, NULL), UNSUPPORTED_LEAF,
                    "tensor \"s\": it is a shape without data");
  assert_fails_with(save_leaves(&partial, 1, comm, path, NULL), UNSUPPORTED,
                    "tensor \"p\": the array is a partial result");
  assert_fails_with(save_leaves(leaves, 1, other, path, NULL), BAD_ARGUMENT, "another comm");
  assert_fails_with(save_leaves(leaves, 2, comm, path, NULL), PLAN_REQUIRED,
                    "arrays \"a\" and \"b\" are on different meshes");
  assert_fails_with(save_leaves(&host, 1, comm, path, NULL), PLAN_REQUIRED,
                    "no leaf is an array with a mesh");
  options.existing = TSR_EXISTING_RESUME;
  assert_fails_with(save_leaves(leaves, 1, comm, path, &options), BAD_ARGUMENT, "not resumed");
  options = (tsr_save_options){.size = sizeof options, .max_memory = -1};
  assert_fails_with(save_leaves(leaves, 1, comm, path, &options), BAD_ARGUMENT, "-1 bytes");
  options = (tsr_save_options){.size = sizeof options, .format = TSR_FORMAT_STAGES};
  assert_fails_with(save_leaves(leaves, 1, comm, path, &options), BAD_ARGUMENT, "stages");
  options = (tsr_save_options){.size = sizeof options, .max_memory = 1 << 20};
  assert_fails_with(save_leaves(leaves, 1, comm, path, &options), DOES_NOT_FIT, "too little");
  assert_int_equal(access(path, F_OK), -1);
  // Whole tensors need no plan.
  options = (tsr_save_options){.size = sizeof options, .format = TSR_FORMAT_FOLDER};
  assert_ok(save_leaves(leaves, 2, comm, path, &options));
  check_numbers(path, "b", 8);
  assert_fails_with(save_leaves(leaves, 2, comm, path, &options), ALREADY_THERE, "already");
  tsr_array_release(sum);
  tsr_array_release(turned);
  tsr_array_release(array);
  tsr_comm_release(other);
  tsr_comm_release(comm);
  test_folder_remove(&folder);
}

static void layouts_that_no_spec_says_need_a_plan(void **state) {
  (void)state;
  test_folder folder;
  tsr_comm *comm = NULL;
  tsr_layout *layout = NULL;
  tsr_array *array = NULL;
  tsr_mesh *mesh = NULL;
  test_folder_make(&folder);
  assert_ok(tsr_comm_create(2, NULL, &comm));
  assert_ok(tsr_mesh_parse("x=2", NULL, &mesh));
  const tsr_range ranges[] = {{0, 3}, {3, 10}};
  assert_ok(tsr_layout_from_flat(mesh, TSR_SHAPE(2, 5), 2, ranges, &layout));
  assert_ok(tsr_array_shard(comm, layout, TSR_I32, numbers, NULL, &array));
  const tsr_leaf leaf = {.tensor.path = "flat", .kind = TSR_LEAF_ARRAY, .array = array};
  const tsr_save_options file = {.size = sizeof file, .format = TSR_FORMAT_FILE};
  const char *path = test_folder_path(&folder, "out.safetensors");
  assert_fails_with(save_leaves(&leaf, 1, comm, path, NULL), PLAN_REQUIRED,
                    "array \"flat\" has a layout without a spec");
  assert_ok(save_leaves(&leaf, 1, comm, path, &file));
  check_numbers(path, "flat", 10);
  tsr_array_release(array);
  tsr_layout_release(layout);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
  test_folder_remove(&folder);
}

// ---- failures of some ranks ----

static bool stop(void *context, const tsr_progress_report *report) {
  (void)context;
  return report->done == 0 || report->finished;
}

static void what_fails_on_one_rank_leaves_nothing(void **state) {
  (void)state;
  fixture f;
  make_fixture(&f, TEST_LOAD_TREE);
  tsr_plan *lies = test_plan(TEST_LOAD_TREE, "x=2,y=4", "^a -> _, x+y\n");
  for (size_t i = 0; i < COUNT_OF(worlds); i++) {
    const world *w = &worlds[i];
    job j = make_job(&f, lies);
    test_tensor old = test_tensor_whole("old", TSR_SHAPE(7, 3));
    char *before = NULL, *after = NULL;
    size_t length = 0, kept = 0;
    test_write_safetensors(f.out, &old, 1);
    assert_ok(tsr_file_read(f.out, &before, &length));
    if (w->ranks > 1) {
      j.odd_rank = w->ranks - 1;
      assert_fails_with(run_job(&j, w), COMM_MISMATCH, "save of 8 tensors");
      j.odd_rank = -1;
    }
    j.options.progress = stop;
    j.options.progress_interval = 1e-9;
    assert_fails_with(run_job(&j, w), CANCELLED, "cancelled");
    for (int r = 0; r < w->ranks; r++) assert_non_null(strstr(j.messages[r], "cancelled"));
    check_nothing_beside(&f);
    assert_ok(tsr_file_read(f.out, &after, &kept));
    assert_int_equal(kept, length);
    assert_memory_equal(after, before, length);
    free(before);
    free(after);
    j.options.progress = NULL;
    snprintf(j.out, sizeof j.out, "%s/nowhere/out", f.folder.path);
    assert_fails_with(run_job(&j, w), NOT_FOUND, "nowhere");
    for (int r = 0; r < w->ranks; r++) assert_non_null(strstr(j.messages[r], "nowhere"));
  }
  tsr_plan_release(lies);
  test_folder_remove(&f.folder);
}

// ---- memory ----

typedef struct sweep {
  const tsr_array_tree *tree;
  tsr_comm *comm;
  const char *path;
  tsr_save_options options;
} sweep;

static tsr_status save_all(void *context) {
  const sweep *s = context;
  return tsr_checkpoint_save(s->tree, s->path, s->comm, &s->options);
}

static void saves_survive_failing_allocations(void **state) {
  (void)state;
  static const tsr_checkpoint_format formats[] = {TSR_FORMAT_FOLDER, TSR_FORMAT_TESSERA,
                                                  TSR_FORMAT_NPZ};
  const tsr_comm_options one = {.size = sizeof one, .workers = 1};
  fixture f;
  tsr_comm *comm = NULL;
  tsr_checkpoint *in = NULL;
  tsr_array_tree *tree = NULL;
  make_fixture(&f, NUMPY_TREE);
  tsr_plan *lies = test_plan(NUMPY_TREE, "x=2,y=4", "^a -> y, x\n");
  assert_ok(tsr_comm_create(8, &one, &comm));
  assert_ok(tsr_checkpoint_open(f.in, NULL, &in));
  assert_ok(tsr_checkpoint_load(in, lies, comm, NULL, &tree));
  for (size_t i = 0; i < COUNT_OF(formats); i++) {
    sweep s = {tree,
               comm,
               f.out,
               {.size = sizeof s.options,
                .format = formats[i],
                .dtype = TSR_BF16,
                .existing = TSR_EXISTING_REPLACE,
                .no_sync = true}};
    test_allocation_sweep(save_all, &s);
    check_nothing_beside(&f);
  }
  tsr_array_tree_release(tree);
  tsr_checkpoint_release(in);
  tsr_comm_release(comm);
  tsr_plan_release(lies);
  test_folder_remove(&f.folder);
}

SUITE(save, TEST(saves_write_what_a_transform_writes),
      TEST(numpy_files_are_saved_with_their_checksums),
      TEST(tensors_are_chosen_and_cast_on_the_way), TEST(large_tensors_are_dealt_out_by_windows),
      TEST(tensors_in_host_memory_go_along), TEST(bad_saves_are_refused),
      TEST(layouts_that_no_spec_says_need_a_plan), TEST(what_fails_on_one_rank_leaves_nothing),
      TEST(saves_survive_failing_allocations))
