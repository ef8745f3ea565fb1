// Opening: one view of every way to store a model, and words for what does not agree.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "checkpoint/models.h"
#include "element/shape_internal.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint.h"

#define TREE                                           \
  "{\"a.w\": {\"dtype\": \"u32\", \"shape\": [8, 6]}," \
  " \"b\": {\"dtype\": \"u32\", \"shape\": [5]},"      \
  " \"s\": {\"dtype\": \"u32\", \"shape\": []},"       \
  " \"qkv\": {\"dtype\": \"u32\", \"shape\": [16, 3]}}"
// 4 heads of q and 2 of k and of v, 2 rows each; k and v have fewer heads than there are ranks.
#define RULES "a -> tp, dp\nb -> tp\nqkv -> tp/parts(q:8/2, k:4/2*2, v:4/2*2), _\n"

#define PLAIN_RULES "a -> tp, dp\nb -> tp\n"

// Every element of every tensor, box by box.
static void check_tensors(const tsr_checkpoint *checkpoint) {
  const tsr_tree *tree = tsr_checkpoint_tree(checkpoint);
  for (int64_t i = 0; i < tsr_tree_count(tree); i++) {
    const tsr_tensor *t = tsr_tree_at(tree, i);
    const int64_t elements = tsr_tensor_elements(t);
    uint32_t *words = calloc((size_t)elements + 1, sizeof *words);
    assert_ok(tsr_checkpoint_read(checkpoint, i, NULL, words, 4 * elements));
    for (int64_t e = 0; e < elements; e++) assert_int_equal(words[e], test_word(t->path, e));
    free(words);
  }
}

static void write_rank(const test_folder *folder, const tsr_plan *plan, int64_t rank,
                       const char *name) {
  test_tensor tensors[8];
  int count = 0;
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) {
    tsr_layout *layout = NULL;
    assert_ok(tsr_plan_layout(plan, i, &layout));
    const char *path = tsr_tree_at(tsr_plan_tree(plan), i)->path;
    tensors[count++] = test_tensor_slice(path, layout, rank);
    tsr_layout_release(layout);
  }
  test_write_safetensors(test_folder_path(folder, name), tensors, count);
}

static tsr_status open_ranks(const test_folder *folder, const tsr_plan *plan,
                             tsr_checkpoint **out_checkpoint) {
  const tsr_checkpoint_options options = {.size = sizeof options, .plan = plan};
  return tsr_checkpoint_open(folder->path, &options, out_checkpoint);
}

// ---- facts ----

static void a_file_is_read_whole_and_in_boxes(void **state) {
  (void)state;
  test_folder folder;
  tsr_checkpoint *checkpoint = NULL;
  test_folder_make(&folder);
  const char *path = test_folder_path(&folder, "x.safetensors");
  test_tensor tensors[] = {test_tensor_whole("a", TSR_SHAPE(8, 6)),
                           test_tensor_whole("empty", TSR_SHAPE(0, 6)),
                           test_tensor_whole("s", TSR_SCALAR)};
  test_write_safetensors(path, tensors, 3);
  assert_ok(tsr_checkpoint_open(path, NULL, &checkpoint));
  assert_int_equal(tsr_checkpoint_format_of(checkpoint), TSR_FORMAT_FILE);
  assert_string_equal(tsr_checkpoint_path(checkpoint), path);
  assert_null(tsr_checkpoint_plan(checkpoint));
  assert_int_equal(tsr_checkpoint_file_count(checkpoint), 1);
  assert_string_equal(tsr_checkpoint_file_at(checkpoint, 0), path);
  assert_string_equal(tsr_checkpoint_warnings(checkpoint), "");
  check_tensors(checkpoint);
  uint32_t words[4];
  assert_ok(tsr_checkpoint_read(checkpoint, 0, (tsr_range[]){{2, 4}, {3, 5}}, words, sizeof words));
  for (int i = 0; i < 4; i++)
    assert_int_equal(words[i], test_word("a", (2 + i / 2) * 6 + 3 + i % 2));
  tsr_stored stored;
  assert_true(tsr_checkpoint_find(checkpoint, 0, 0, 0, &stored));
  assert_int_equal(stored.bytes, 8 * 6 * 4);
  assert_string_equal(stored.path, tsr_checkpoint_file_at(checkpoint, stored.file));
  assert_int_equal(tsr_checkpoint_file_bytes(checkpoint, 0), stored.offset + stored.bytes + 4);
  assert_fails(
      tsr_checkpoint_read(checkpoint, 0, (tsr_range[]){{0, 9}, {0, 6}}, words, sizeof words),
      BAD_ARGUMENT, "a: range 0:9 of dimension 0, whose size is 8");
  assert_fails_with(tsr_checkpoint_read(checkpoint, 3, NULL, words, sizeof words),
                    INDEX_OUT_OF_RANGE, "tensor 3");
  assert_fails(
      tsr_checkpoint_read(checkpoint, 0, (tsr_range[]){{2, 4}, {3, 5}}, words, sizeof words - 1),
      BAD_ARGUMENT, "tensor \"a\": the buffer has 15 bytes, wanted at least 16");
  assert_fails(tsr_checkpoint_read(checkpoint, 0, NULL, NULL, 192), BAD_ARGUMENT,
               "tensor \"a\": no buffer was given, wanted one of at least 192 bytes");
  assert_ok(tsr_checkpoint_read(checkpoint, 1, NULL, NULL, 0));
  tsr_checkpoint *shared = tsr_checkpoint_retain(checkpoint);
  tsr_checkpoint_release(checkpoint);
  tsr_checkpoint_release(shared);
  test_folder_remove(&folder);
}

static void a_folder_is_read_through_its_index(void **state) {
  (void)state;
  test_folder folder;
  tsr_checkpoint *checkpoint = NULL;
  test_folder_make(&folder);
  test_tensor first[] = {test_tensor_whole("a", TSR_SHAPE(4, 2))};
  test_tensor second[] = {test_tensor_whole("b", TSR_SHAPE(7))};
  test_write_safetensors(test_folder_path(&folder, "m-1.safetensors"), first, 1);
  test_write_safetensors(test_folder_path(&folder, "m-2.safetensors"), second, 1);
  test_write_text(test_folder_path(&folder, "model.safetensors.index.json"),
                  "{\"metadata\": {\"total_size\": 1},"
                  " \"weight_map\": {\"a\": \"m-1.safetensors\", \"b\": \"m-2.safetensors\"}}");
  assert_ok(tsr_checkpoint_open(folder.path, NULL, &checkpoint));
  assert_int_equal(tsr_checkpoint_format_of(checkpoint), TSR_FORMAT_FOLDER);
  assert_int_equal(tsr_checkpoint_file_count(checkpoint), 2);
  assert_non_null(strstr(tsr_checkpoint_warnings(checkpoint), "total_size"));
  check_tensors(checkpoint);
  tsr_checkpoint_release(checkpoint);
  test_folder_remove(&folder);
}

static void ranks_files_are_joined_by_the_plan(void **state) {
  (void)state;
  static const char *const names[] = {"model-rank-%d-part-0.safetensors", "rank_%d.safetensors",
                                      "tp_rank%02d/model.safetensors"};
  tsr_plan *plan = test_plan(TREE, "dp=2,tp=4", RULES);
  for (size_t n = 0; n < COUNT_OF(names); n++) {
    test_folder folder;
    tsr_checkpoint *checkpoint = NULL;
    test_folder_make(&folder);
    for (int rank = 0; rank < 8; rank++) {
      char name[64], sub[64];
      snprintf(name, sizeof name, names[n], rank);
      snprintf(sub, sizeof sub, "tp_rank%02d", rank);
      if (n == 2) assert_int_equal(mkdir(test_folder_path(&folder, sub), 0777), 0);
      write_rank(&folder, plan, rank, name);
    }
    assert_ok(open_ranks(&folder, plan, &checkpoint));
    assert_int_equal(tsr_checkpoint_format_of(checkpoint), TSR_FORMAT_RANKS);
    assert_int_equal(tsr_checkpoint_file_count(checkpoint), 8);
    assert_int_equal(tsr_checkpoint_copies(checkpoint, 2), 8);
    assert_ptr_equal(tsr_checkpoint_plan(checkpoint), plan);
    assert_string_equal(tsr_checkpoint_warnings(checkpoint), "");
    check_tensors(checkpoint);
    tsr_checkpoint_release(checkpoint);
    test_folder_remove(&folder);
  }
  tsr_plan_release(plan);
}

static void a_rank_may_lack_what_another_has(void **state) {
  (void)state;
  tsr_plan *plan = test_plan(
      "{\"e0\": {\"dtype\": \"u32\", \"shape\": [2]},"
      " \"e1\": {\"dtype\": \"u32\", \"shape\": [3]}}",
      "ep=2", "");
  test_folder folder;
  tsr_checkpoint *checkpoint = NULL;
  tsr_stored stored;
  test_folder_make(&folder);
  test_tensor first[] = {test_tensor_whole("e0", TSR_SHAPE(2))};
  test_tensor second[] = {test_tensor_whole("e1", TSR_SHAPE(3))};
  test_write_safetensors(test_folder_path(&folder, "rank-0.safetensors"), first, 1);
  test_write_safetensors(test_folder_path(&folder, "rank-1.safetensors"), second, 1);
  assert_ok(open_ranks(&folder, plan, &checkpoint));
  check_tensors(checkpoint);
  assert_false(tsr_checkpoint_find(checkpoint, 0, 0, 1, &stored));
  assert_string_equal(tsr_checkpoint_warnings(checkpoint),
                      "2 copies of shards are absent; other copies are used\n");
  tsr_checkpoint_release(checkpoint);
  test_folder_remove(&folder);
  tsr_plan_release(plan);
}

static void rename_in(const test_folder *folder, const char *from, const char *to) {
  assert_int_equal(rename(test_folder_path(folder, from), test_folder_path(folder, to)), 0);
}

static void disagreement_with_the_plan_is_named(void **state) {
  (void)state;
  tsr_plan *plan = test_plan(TREE, "dp=1,tp=2", PLAIN_RULES), *other = NULL;
  test_folder folder;
  tsr_checkpoint *checkpoint = NULL;
  test_folder_make(&folder);
  write_rank(&folder, plan, 0, "rank-0.safetensors");
  assert_fails_with(open_ranks(&folder, plan, &checkpoint), BROKEN_FILE,
                    "there is no file for rank 1; the plan's mesh has 2 devices");
  write_rank(&folder, plan, 1, "rank-1.safetensors");
  assert_fails_with(open_ranks(&folder, NULL, &checkpoint), PLAN_REQUIRED, "slices for each rank");
  other = test_plan(TREE, "dp=1,tp=1", PLAIN_RULES);
  assert_fails_with(open_ranks(&folder, other, &checkpoint), BROKEN_FILE,
                    "there is a file for rank 1, but the plan's mesh has 1 devices");
  tsr_plan_release(other);
  other = test_plan(TREE, "dp=2,tp=1", PLAIN_RULES);
  assert_fails_with(open_ranks(&folder, other, &checkpoint), BROKEN_FILE,
                    "tensor \"a.w\" has shape (4, 6), but by the plan its slice is (8, 3)");
  tsr_plan_release(other);
  other = test_plan("{\"b\": {\"dtype\": \"u32\", \"shape\": [5]}}", "tp=2", PLAIN_RULES);
  assert_fails_with(open_ranks(&folder, other, &checkpoint), BROKEN_FILE,
                    "tensor \"a.w\" is not in the plan");
  tsr_plan_release(other);
  other = test_plan("{\"a.w\": {\"dtype\": \"f32\", \"shape\": [8, 6]}}", "dp=1,tp=2", PLAIN_RULES);
  assert_fails_with(open_ranks(&folder, other, &checkpoint), BROKEN_FILE,
                    "tensor \"a.w\" is u32, but the plan says f32");
  tsr_plan_release(other);
  rename_in(&folder, "rank-1.safetensors", "rank-2.safetensors");
  assert_fails_with(open_ranks(&folder, plan, &checkpoint), BROKEN_FILE, "file for rank 2");
  rename_in(&folder, "rank-2.safetensors", "rank-1.safetensors");
  write_rank(&folder, plan, 0, "rank-0-b.safetensors");
  assert_fails_with(open_ranks(&folder, plan, &checkpoint), BROKEN_FILE,
                    "rank-0.safetensors: tensor \"a.w\" is in ");
  tsr_plan_release(plan);
  test_folder_remove(&folder);
}

static void a_shard_that_no_rank_has_is_named(void **state) {
  (void)state;
  tsr_plan *plan = test_plan(
      "{\"a\": {\"dtype\": \"u32\", \"shape\": [4]},"
      " \"b\": {\"dtype\": \"u32\", \"shape\": [4]}}",
      "tp=2", "a -> tp\n");
  test_folder folder;
  tsr_checkpoint *checkpoint = NULL;
  test_folder_make(&folder);
  test_tensor first[] = {test_tensor_whole("b", TSR_SHAPE(4))};
  write_rank(&folder, plan, 0, "rank-0.safetensors");
  test_write_safetensors(test_folder_path(&folder, "rank-1.safetensors"), first, 1);
  assert_fails_with(open_ranks(&folder, plan, &checkpoint), BROKEN_FILE,
                    "no file has shard 1 of tensor \"a\"");
  tsr_plan_release(plan);
  test_folder_remove(&folder);
}

static void formats_have_names(void **state) {
  (void)state;
  tsr_checkpoint_format format = TSR_FORMAT_ANY;
  for (int i = 0; i < TSR_FORMAT_COUNT; i++) {
    const char *name = tsr_checkpoint_format_name((tsr_checkpoint_format)i);
    assert_ok(tsr_checkpoint_format_parse(name, &format));
    assert_int_equal(format, i);
  }
  assert_null(tsr_checkpoint_format_name(TSR_FORMAT_COUNT));
  assert_fails_with(
      tsr_checkpoint_format_parse("zip", &format), BAD_ARGUMENT,
      "format \"zip\" is unknown; known formats are any, file, folder, ranks, tessera");
}

static void what_is_not_there_is_said(void **state) {
  (void)state;
  tsr_checkpoint *checkpoint = NULL;
  assert_fails(tsr_checkpoint_open("/nowhere", NULL, &checkpoint), NOT_FOUND,
               "/nowhere: there is no such file or folder");
  tsr_plan *plan = test_plan("{}", "x=1", "");
  test_folder folder;
  test_folder_make(&folder);
  const char *path = test_folder_path(&folder, "x.safetensors");
  test_tensor tensors[] = {test_tensor_whole("a", TSR_SHAPE(1))};
  test_write_safetensors(path, tensors, 1);
  const tsr_checkpoint_options options = {.size = sizeof options, .plan = plan};
  assert_fails_with(tsr_checkpoint_open(path, &options, &checkpoint), BAD_ARGUMENT,
                    "tensors are stored whole here");
  tsr_plan_release(plan);
  test_folder_remove(&folder);
}

// ---- memory ----

typedef struct opening {
  const test_folder *folder;
  const tsr_plan *plan;
} opening;

static tsr_status open_and_read(void *context) {
  const opening *o = context;
  tsr_checkpoint *checkpoint = NULL;
  uint32_t words[64];
  TSR_TRY(open_ranks(o->folder, o->plan, &checkpoint));
  tsr_status status = tsr_checkpoint_read(checkpoint, 0, NULL, words, sizeof words);
  tsr_checkpoint_release(checkpoint);
  return status;
}

static void opening_survives_failing_allocations(void **state) {
  (void)state;
  test_folder folder;
  test_folder_make(&folder);
  tsr_plan *plan = test_plan(TREE, "dp=1,tp=2", RULES);
  write_rank(&folder, plan, 0, "rank-0.safetensors");
  write_rank(&folder, plan, 1, "rank-1.safetensors");
  test_allocation_sweep(open_and_read, &(opening){&folder, plan});
  tsr_plan_release(plan);
  plan = NULL;
  test_folder_remove(&folder);
  test_folder_make(&folder);
  test_tensor tensors[] = {test_tensor_whole("a", TSR_SHAPE(4, 2))};
  test_write_safetensors(test_folder_path(&folder, "model.safetensors"), tensors, 1);
  test_allocation_sweep(open_and_read, &(opening){&folder, NULL});
  test_folder_remove(&folder);
}

SUITE(open, TEST(a_file_is_read_whole_and_in_boxes), TEST(a_folder_is_read_through_its_index),
      TEST(ranks_files_are_joined_by_the_plan), TEST(a_rank_may_lack_what_another_has),
      TEST(disagreement_with_the_plan_is_named), TEST(a_shard_that_no_rank_has_is_named),
      TEST(formats_have_names), TEST(what_is_not_there_is_said),
      TEST(opening_survives_failing_allocations))
