// Views: stored tensors, cast ones, and hashes that do not know how a tensor is stored.
#include "view/view.h"

#include <stdio.h>

#include "base/hash_internal.h"
#include "checkpoint/models.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/pool.h"
#include "view/tensor_hash.h"

// A tensor of 1500 x 1000 words: two blocks.
static void write_whole(const test_folder *folder) {
  test_tensor tensors[] = {test_tensor_whole("w", TSR_SHAPE(1500, 1000)),
                           test_tensor_whole("e", TSR_SHAPE(0, 3))};
  test_write_safetensors(test_folder_path(folder, "model.safetensors"), tensors, 2);
}

static tsr_checkpoint *open_sharded(const test_folder *folder, const char *rules) {
  tsr_checkpoint *checkpoint = NULL;
  tsr_plan *plan = test_plan(
      "{\"w\": {\"dtype\": \"u32\", \"shape\": [1500, 1000]},"
      " \"e\": {\"dtype\": \"u32\", \"shape\": [0, 3]}}",
      "x=3,y=2", rules);
  for (int rank = 0; rank < 6; rank++) {
    test_tensor tensors[2];
    char name[32];
    for (int i = 0; i < 2; i++) {
      tsr_layout *layout = NULL;
      assert_ok(tsr_plan_layout(plan, i, &layout));
      tensors[i] = test_tensor_slice(tsr_tree_at(tsr_plan_tree(plan), i)->path, layout, rank);
      tsr_layout_release(layout);
    }
    snprintf(name, sizeof name, "rank-%d.safetensors", rank);
    test_write_safetensors(test_folder_path(folder, name), tensors, 2);
  }
  const tsr_checkpoint_options options = {.size = sizeof options, .plan = plan};
  assert_ok(tsr_checkpoint_open(folder->path, &options, &checkpoint));
  tsr_plan_release(plan);
  return checkpoint;
}

static tsr_hash128 hash_of(const tsr_checkpoint *checkpoint, int64_t tensor, tsr_pool *pool) {
  tsr_hash128 hash = {0, 0};
  assert_ok(tsr_checkpoint_hash(checkpoint, tensor, pool, &hash));
  return hash;
}

static void hashes_do_not_know_how_a_tensor_is_stored(void **state) {
  (void)state;
  static const char *const rules[] = {"w -> x, y\n", "w -> y+x, _\n", "w -> _, x/cyclic(7)\n", ""};
  test_folder whole;
  tsr_checkpoint *model = NULL;
  tsr_pool *pool = NULL;
  assert_ok(tsr_pool_create(3, &pool));
  test_folder_make(&whole);
  write_whole(&whole);
  assert_ok(tsr_checkpoint_open(whole.path, NULL, &model));
  const tsr_hash128 w = hash_of(model, 0, NULL), e = hash_of(model, 1, pool);
  assert_false(tsr_hash128_equal(w, e));
  for (size_t i = 0; i < COUNT_OF(rules); i++) {
    test_folder folder;
    test_folder_make(&folder);
    tsr_checkpoint *sharded = open_sharded(&folder, rules[i]);
    assert_true(tsr_hash128_equal(hash_of(sharded, 0, pool), w));
    assert_true(tsr_hash128_equal(hash_of(sharded, 1, pool), e));
    tsr_checkpoint_release(sharded);
    test_folder_remove(&folder);
  }
  tsr_checkpoint_release(model);
  test_folder_remove(&whole);
  tsr_pool_destroy(pool);
}

// From Python's xxhash: xxh3_128 over b"u32\0", rank and sizes as 64-bit numbers, and the xxh3_128
// of the 16 bytes, low half first. Whoever stores hashes relies on it.
static void the_hash_is_that_of_its_definition(void **state) {
  (void)state;
  test_folder folder;
  tsr_checkpoint *model = NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  test_folder_make(&folder);
  test_tensor tensors[] = {test_tensor_whole("s", TSR_SHAPE(2, 2))};
  test_write_safetensors(test_folder_path(&folder, "model.safetensors"), tensors, 1);
  assert_ok(tsr_checkpoint_open(folder.path, NULL, &model));
  tsr_hash128_print(hash_of(model, 0, NULL), &text);
  assert_string_equal(tsr_text_string(&text), "e1df51985681f8b878a1757cc3e63022");
  tsr_text_deinit(&text);
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

static void casts_convert_what_is_read(void **state) {
  (void)state;
  test_folder folder;
  tsr_checkpoint *model = NULL;
  tsr_view *view = NULL, *cast = NULL;
  test_folder_make(&folder);
  write_whole(&folder);
  assert_ok(tsr_checkpoint_open(folder.path, NULL, &model));
  assert_ok(tsr_view_stored(model, 0, TSR_REPLICAS_TRUST, &view));
  const int64_t memory = tsr_view_memory(view, 100);
  assert_ok(tsr_view_cast(view, TSR_U8, false, &cast));
  assert_int_equal(cast->dtype, TSR_U8);
  assert_int_equal(tsr_view_memory(cast, 100), memory + 400);
  assert_int_equal(cast->bytes_read, 1500 * 1000 * 4);
  unsigned char bytes[5];
  assert_ok(tsr_view_read(cast, 1999, 5, bytes));
  for (int i = 0; i < 5; i++) assert_int_equal(bytes[i], test_word("w", 1999 + i) & 255);
  tsr_view *same = NULL;
  assert_ok(tsr_view_cast(cast, TSR_U8, false, &same));
  assert_ptr_equal(same, cast);
  tsr_view_destroy(cast);
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

static tsr_status hash_all(void *context) {
  tsr_views views;
  tsr_hash128 hash;
  TSR_TRY(tsr_views_of(context, TSR_REPLICAS_COMPARE, &views));
  tsr_view *cast = NULL;
  tsr_status status = tsr_view_cast(views.items[0], TSR_U8, false, &cast);
  views.items[0] = cast;
  for (int64_t i = 0; i < views.count && !status; i++)
    status = tsr_view_hash(views.items[i], NULL, NULL, &hash);
  tsr_views_deinit(&views);
  return status;
}

static void views_survive_failing_allocations(void **state) {
  (void)state;
  test_folder folder;
  tsr_checkpoint *model = NULL;
  test_folder_make(&folder);
  write_whole(&folder);
  assert_ok(tsr_checkpoint_open(folder.path, NULL, &model));
  test_allocation_sweep(hash_all, model);
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

SUITE(view, TEST(hashes_do_not_know_how_a_tensor_is_stored),
      TEST(the_hash_is_that_of_its_definition), TEST(casts_convert_what_is_read),
      TEST(views_survive_failing_allocations))
