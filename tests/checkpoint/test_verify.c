// Verify: what differs is found and named; how tensors are stored does not matter.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash_internal.h"
#include "base/text_internal.h"
#include "checkpoint/models.h"
#include "inspect/inspect_internal.h"
#include "inspect/verify_internal.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/engine/kernels.h"
#include "tessera/tree.h"

#define TREE                                               \
  "{\"a\": {\"dtype\": \"u32\", \"shape\": [1200, 1001]}," \
  " \"b\": {\"dtype\": \"u32\", \"shape\": [5]},"          \
  " \"e\": {\"dtype\": \"u32\", \"shape\": [0, 3]},"       \
  " \"qkv\": {\"dtype\": \"u32\", \"shape\": [16, 3]}}"
// 4 heads of q and 2 of k and of v, 2 rows each; k and v have fewer heads than there are ranks.
#define RULES "a -> tp, _\nqkv -> tp/parts(q:8/2, k:4/2*2, v:4/2*2), _\n"

static void write_model(const test_folder *folder) {
  test_tensor tensors[] = {
      test_tensor_whole("a", TSR_SHAPE(1200, 1001)), test_tensor_whole("b", TSR_SHAPE(5)),
      test_tensor_whole("e", TSR_SHAPE(0, 3)), test_tensor_whole("qkv", TSR_SHAPE(16, 3))};
  test_write_safetensors(test_folder_path(folder, "in.safetensors"), tensors, 4);
}

static tsr_status write_as(const test_folder *folder, const char *from, const char *to,
                           const tsr_transform_options *options) {
  tsr_checkpoint *source = NULL;
  tsr_transform *job = NULL;
  TSR_TRY(tsr_checkpoint_open(test_folder_path(folder, from), NULL, &source));
  tsr_status status = tsr_transform_create(source, test_folder_path(folder, to), options, &job);
  if (!status) status = tsr_transform_run(job);
  tsr_transform_destroy(job);
  tsr_checkpoint_release(source);
  return status;
}

// The model in a file, as ranks' files, as our own folder and as a Hugging Face one.
static void write_all(const test_folder *folder) {
  tsr_plan *plan = test_plan(TREE, "dp=2,tp=4", RULES);
  write_model(folder);
  tsr_transform_options options = {
      .size = sizeof options, .format = TSR_FORMAT_RANKS, .plan = plan, .no_sync = true};
  assert_ok(write_as(folder, "in.safetensors", "ranks", &options));
  options.format = TSR_FORMAT_TESSERA;
  assert_ok(write_as(folder, "in.safetensors", "own", &options));
  const tsr_transform_options whole = {.size = sizeof whole, .max_file_size = 100, .no_sync = true};
  assert_ok(write_as(folder, "in.safetensors", "hf", &whole));
  tsr_plan_release(plan);
}

static tsr_status verify(const test_folder *folder, const char *first, const char *second,
                         const tsr_verify_options *options, tsr_verification **out) {
  tsr_checkpoint *a = NULL, *b = NULL;
  tsr_status status = tsr_checkpoint_open(test_folder_path(folder, first), NULL, &a);
  if (!status) status = tsr_checkpoint_open(test_folder_path(folder, second), NULL, &b);
  if (!status) status = tsr_checkpoint_verify(a, b, options, out);
  tsr_checkpoint_release(a);
  tsr_checkpoint_release(b);
  return status;
}

// All lines of what is different.
static void check_differences(const test_folder *folder, const char *first, const char *second,
                              const tsr_verify_options *options, const char *wanted) {
  tsr_verification *result = NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  assert_ok(verify(folder, first, second, options, &result));
  for (int64_t i = 0; i < tsr_verification_count(result); i++) {
    if (tsr_verification_at(result, i)->verdict == TSR_VERDICT_SAME) continue;
    tsr_verification_print_row(result, i, &text);
    tsr_text_add_char(&text, '\n');
  }
  assert_string_equal(tsr_text_string(&text), wanted);
  assert_int_equal(tsr_verification_equal(result), !*wanted);
  tsr_text_deinit(&text);
  tsr_verification_destroy(result);
}

// Adds `change` to a byte of a file, counted from its end.
static void damage(const test_folder *folder, const char *name, long from_end, int change) {
  FILE *file = fopen(test_folder_path(folder, name), "r+b");
  assert_non_null(file);
  assert_int_equal(fseek(file, -from_end, SEEK_END), 0);
  const int byte = fgetc(file);
  assert_int_equal(fseek(file, -from_end, SEEK_END), 0);
  fputc(byte ^ change, file);
  assert_int_equal(fclose(file), 0);
}

static void rename_in(const test_folder *folder, const char *from, const char *to) {
  assert_int_equal(rename(test_folder_path(folder, from), test_folder_path(folder, to)), 0);
}

// A file of one tensor.
static void write_one(const test_folder *folder, const char *name, const char *dtype,
                      const char *shape, const void *bytes, size_t length) {
  char header[256];
  const int count = snprintf(header, sizeof header,
                             "{\"x\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[0,%zu]}}",
                             dtype, shape, length);
  const uint64_t size = (uint64_t)count;
  FILE *file = fopen(test_folder_path(folder, name), "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(&size, sizeof size, 1, file), 1);
  assert_int_equal(fwrite(header, 1, (size_t)count, file), count);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

// ---- facts ----

static void formats_and_layouts_do_not_matter(void **state) {
  (void)state;
  static const char *const names[] = {"in.safetensors", "ranks", "own", "hf"};
  test_folder folder;
  test_folder_make(&folder);
  write_all(&folder);
  const tsr_verify_options options = {
      .size = sizeof options, .hashes = true, .jobs = 3, .max_memory = 64 << 20};
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    tsr_verification *result = NULL;
    assert_ok(verify(&folder, names[i], names[(i + 1) % 4], &options, &result));
    assert_true(tsr_verification_equal(result));
    assert_int_equal(tsr_verification_count(result), 4);
    assert_int_equal(tsr_verification_total(result, TSR_VERDICT_SAME), 4);
    const tsr_verify_row *row = tsr_verification_at(result, 0);
    assert_true(row->hashed[0] && row->hashed[1]);
    assert_true(tsr_hash128_equal(row->hashes[0], row->hashes[1]));
    tsr_verification_destroy(result);
  }
  check_differences(&folder, "ranks", "own", NULL, "");
  test_folder_remove(&folder);
}

static void a_flipped_byte_is_found_and_named(void **state) {
  (void)state;
  test_folder folder;
  char wanted[160];
  test_folder_make(&folder);
  write_model(&folder);
  rename_in(&folder, "in.safetensors", "a.safetensors");
  write_model(&folder);
  // qkv is last: 48 words of it.
  damage(&folder, "in.safetensors", 4 * 10, 1);
  snprintf(wanted, sizeof wanted,
           "\"qkv\": the values differ: 1 of 48 elements, first at (12, 2): %u and %u\n",
           test_word("qkv", 38), test_word("qkv", 38) ^ 1);
  check_differences(&folder, "a.safetensors", "in.safetensors", NULL, wanted);
  // In the second block of a large tensor.
  damage(&folder, "in.safetensors", 4 * (48 + 5 + 1), 0x80);
  tsr_verification *result = NULL;
  const tsr_verify_options two = {.size = sizeof two, .hashes = true, .jobs = 2};
  assert_ok(verify(&folder, "in.safetensors", "a.safetensors", &two, &result));
  const tsr_verify_row *row = tsr_verification_at(result, 0);
  assert_int_equal(row->verdict, TSR_VERDICT_VALUES);
  assert_int_equal(row->differing, 1);
  assert_int_equal(row->first, 1200 * 1001 - 1);
  assert_false(tsr_hash128_equal(row->hashes[0], row->hashes[1]));
  assert_true(row->absolute == 128 && row->relative > 0);
  tsr_verification_destroy(result);
  test_folder_remove(&folder);
}

static void check_hash(const test_folder *folder, const char *name, tsr_hash128 wanted) {
  tsr_checkpoint *model = NULL;
  tsr_hash128 hash;
  assert_ok(tsr_checkpoint_open(test_folder_path(folder, name), NULL, &model));
  assert_ok(tsr_checkpoint_hash(model, 0, NULL, &hash));
  assert_true(tsr_hash128_equal(hash, wanted));
  tsr_checkpoint_release(model);
}

// Blocks are read in pieces: what differs is counted over all of them, and each side has its hash.
static void pieces_of_a_block_are_put_together(void **state) {
  (void)state;
  test_folder folder;
  tsr_verification *result = NULL;
  test_folder_make(&folder);
  write_model(&folder);
  rename_in(&folder, "in.safetensors", "a.safetensors");
  write_model(&folder);
  const int64_t elements = 1200 * 1001, places[] = {300000, 300001, 900000, elements - 7};
  for (size_t i = 0; i < COUNT_OF(places); i++)
    damage(&folder, "in.safetensors", 4 * (48 + 5 + elements - places[i]), 1 << i);
  const tsr_verify_options options = {
      .size = sizeof options, .hashes = true, .stats = true, .jobs = 1};
  assert_ok(verify(&folder, "a.safetensors", "in.safetensors", &options, &result));
  const tsr_verify_row *row = tsr_verification_at(result, 0);
  assert_int_equal(row->differing, 4);
  assert_int_equal(row->first, 300000);
  assert_float_equal(row->absolute, 8, 0);
  assert_int_equal(row->stats[0].count, elements);
  assert_int_equal(row->stats[1].count, elements);
  check_hash(&folder, "a.safetensors", row->hashes[0]);
  check_hash(&folder, "in.safetensors", row->hashes[1]);
  tsr_verification_destroy(result);
  test_folder_remove(&folder);
}

// A map from the model to one with `b` doubled, applied to whichever side has the model.
static tsr_status verify_mapped(const test_folder *folder, const char *first, const char *second,
                                int mapped, bool trust, tsr_verification **out) {
  const char *names[2] = {first, second};
  tsr_checkpoint *sides[2] = {NULL, NULL};
  tsr_map *map = NULL;
  tsr_mapping *mapping = NULL;
  for (int w = 0; w < 2; w++)
    assert_ok(tsr_checkpoint_open(test_folder_path(folder, names[w]), NULL, &sides[w]));
  assert_ok(tsr_map_parse("b = concat(0, b, b)", "test", &map));
  assert_ok(tsr_map_apply(map, tsr_checkpoint_tree(sides[mapped == 1]), NULL, &mapping));
  const tsr_verify_options options = {.size = sizeof options,
                                      .map = mapping,
                                      .mapped = mapped,
                                      .hashes = true,
                                      .trust_hashes = trust};
  tsr_status status = tsr_checkpoint_verify(sides[0], sides[1], &options, out);
  tsr_mapping_release(mapping);
  tsr_map_release(map);
  for (int w = 0; w < 2; w++) tsr_checkpoint_release(sides[w]);
  return status;
}

static void a_map_may_be_of_either_side(void **state) {
  (void)state;
  test_folder folder;
  tsr_verification *result = NULL;
  test_folder_make(&folder);
  write_all(&folder);
  tsr_checkpoint *own = NULL;
  tsr_map *map = NULL;
  tsr_mapping *mapping = NULL;
  tsr_transform_options options = {.size = sizeof options, .no_sync = true};
  assert_ok(tsr_checkpoint_open(test_folder_path(&folder, "own"), NULL, &own));
  assert_ok(tsr_map_parse("b = concat(0, b, b)", "test", &map));
  assert_ok(tsr_map_apply(map, tsr_checkpoint_tree(own), NULL, &mapping));
  options.map = mapping;
  assert_ok(write_as(&folder, "own", "doubled", &options));
  for (int mapped = 0; mapped < 2; mapped++) {
    const char *first = mapped ? "doubled" : "own", *second = mapped ? "own" : "doubled";
    for (int trust = 0; trust < 2; trust++) {
      assert_ok(verify_mapped(&folder, first, second, mapped, trust, &result));
      assert_true(tsr_verification_equal(result));
      assert_int_equal(tsr_verification_count(result), 4);
      tsr_verification_destroy(result);
    }
    assert_ok(verify_mapped(&folder, "own", "own", mapped, false, &result));
    assert_int_equal(tsr_verification_total(result, TSR_VERDICT_SHAPES), 1);
    tsr_verification_destroy(result);
  }
  assert_fails(verify_mapped(&folder, "own", "own", 2, false, &result), BAD_ARGUMENT,
               "the map is for checkpoint 2, wanted 0 or 1");
  tsr_mapping_release(mapping);
  tsr_map_release(map);
  tsr_checkpoint_release(own);
  test_folder_remove(&folder);
}

static void a_swapped_shard_is_found(void **state) {
  (void)state;
  test_folder folder;
  char wanted[160];
  test_folder_make(&folder);
  write_all(&folder);
  // Ranks of both copies, so that these agree.
  for (int copy = 0; copy < 2; copy++) {
    char one[64], two[64];
    snprintf(one, sizeof one, "ranks/model-rank-%d-part-0.safetensors", 4 * copy);
    snprintf(two, sizeof two, "ranks/model-rank-%d-part-0.safetensors", 4 * copy + 3);
    rename_in(&folder, one, "kept");
    rename_in(&folder, two, one);
    rename_in(&folder, "kept", two);
  }
  tsr_verification *result = NULL;
  const tsr_verify_options trusting = {.size = sizeof trusting, .replicas = TSR_REPLICAS_TRUST};
  assert_ok(verify(&folder, "in.safetensors", "ranks", &trusting, &result));
  const tsr_verify_row *row = tsr_verification_at(result, 0);
  assert_int_equal(row->verdict, TSR_VERDICT_VALUES);
  assert_int_equal(row->differing, 2 * 300 * 1001);
  assert_int_equal(row->first, 0);
  tsr_verification_destroy(result);
  // The copies within qkv no longer agree, which is found first.
  snprintf(wanted, sizeof wanted, "store element");
  assert_ok(verify(&folder, "in.safetensors", "ranks", NULL, &result));
  row = tsr_verification_at(result, 3);
  assert_int_equal(row->verdict, TSR_VERDICT_COPIES);
  assert_non_null(strstr(row->message, wanted));
  tsr_verification_destroy(result);
  test_folder_remove(&folder);
}

// All shards of a constant tensor are equal; a merger that drops equal ones leaves one of them.
static void a_dropped_equal_shard_is_found(void **state) {
  (void)state;
  test_folder folder;
  const float ones[64] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  test_folder_make(&folder);
  write_one(&folder, "a.safetensors", "F32", "8,2", ones, 64);
  write_one(&folder, "b.safetensors", "F32", "1,2", ones, 8);
  check_differences(&folder, "a.safetensors", "b.safetensors", NULL,
                    "\"x\": the shapes differ: f32(8, 2) and f32(1, 2)\n");
  tsr_plan *plan =
      test_plan("{\"x\": {\"dtype\": \"f32\", \"shape\": [8, 2]}}", "tp=8", "x -> tp, _\n");
  const tsr_transform_options options = {
      .size = sizeof options, .format = TSR_FORMAT_RANKS, .plan = plan, .no_sync = true};
  assert_ok(write_as(&folder, "a.safetensors", "ranks", &options));
  check_differences(&folder, "a.safetensors", "ranks", NULL, "");
  assert_int_equal(unlink(test_folder_path(&folder, "ranks/model-rank-5-part-0.safetensors")), 0);
  tsr_verification *result = NULL;
  assert_fails_with(verify(&folder, "a.safetensors", "ranks", NULL, &result), BROKEN_FILE, "5");
  tsr_plan_release(plan);
  test_folder_remove(&folder);
}

static void names_types_and_shapes_are_compared_first(void **state) {
  (void)state;
  test_folder folder;
  const float numbers[4] = {1, 2, 3, 4};
  test_folder_make(&folder);
  test_tensor tensors[] = {test_tensor_whole("y", TSR_SHAPE(2))};
  test_write_safetensors(test_folder_path(&folder, "y.safetensors"), tensors, 1);
  write_one(&folder, "x.safetensors", "F32", "4", numbers, 16);
  write_one(&folder, "i.safetensors", "I32", "4", numbers, 16);
  write_one(&folder, "c.safetensors", "C64", "2", numbers, 16);
  check_differences(&folder, "x.safetensors", "y.safetensors", NULL,
                    "\"x\": only in the first\n\"y\": only in the second\n");
  check_differences(&folder, "x.safetensors", "i.safetensors", NULL,
                    "\"x\": the element types differ: f32(4,) and i32(4,)\n");
  const tsr_verify_options all = {
      .size = sizeof all, .tolerant = true, .hashes = true, .stats = true};
  check_differences(&folder, "x.safetensors", "c.safetensors", &all,
                    "\"x\": the shapes differ: f32(4,) and c64(2,)\n");
  check_differences(&folder, "x.safetensors", "y.safetensors", &all,
                    "\"x\": only in the first\n\"y\": only in the second\n");
  assert_string_equal(tsr_verdict_name(TSR_VERDICT_COPIES), "copies_differ");
  test_folder_remove(&folder);
}

static void casts_are_equal_within_a_tolerance(void **state) {
  (void)state;
  test_folder folder;
  const float numbers[8] = {1.001F, -2.5F, NAN, INFINITY, 0, 1e10F, -0.0F, 3};
  float other[8];
  test_folder_make(&folder);
  write_one(&folder, "a.safetensors", "F32", "2,4", numbers, sizeof numbers);
  const tsr_transform_options cast = {.size = sizeof cast, .dtype = TSR_BF16, .no_sync = true};
  assert_ok(write_as(&folder, "a.safetensors", "bf16", &cast));
  check_differences(&folder, "a.safetensors", "bf16", NULL,
                    "\"x\": the element types differ: f32(2, 4) and bf16(2, 4)\n");
  tsr_verify_options options = {.size = sizeof options, .tolerant = true, .relative = 0.004};
  check_differences(&folder, "a.safetensors", "bf16", &options, "");
  options.relative = 1e-5;
  check_differences(&folder, "a.safetensors", "bf16", &options,
                    "\"x\": the values differ: 2 of 8 elements, first at (0, 0): 1.001 and 1.0\n");
  // Zeros of both signs and NaNs are equal here, but not bit for bit.
  memcpy(other, numbers, sizeof other);
  other[4] = -0.0F;
  other[7] = 3.5F;
  write_one(&folder, "b.safetensors", "F32", "2,4", other, sizeof other);
  check_differences(&folder, "a.safetensors", "b.safetensors", NULL,
                    "\"x\": the values differ: 2 of 8 elements, first at (1, 0): 0.0 and -0.0\n");
  options.absolute = 0.5;
  options.hashes = options.stats = true;
  check_differences(&folder, "a.safetensors", "b.safetensors", &options, "");
  options.relative = 0.004;
  check_differences(&folder, "a.safetensors", "bf16", &options, "");
  options.absolute = 0.25;
  check_differences(&folder, "a.safetensors", "b.safetensors", &options,
                    "\"x\": the values differ: 1 of 8 elements, first at (1, 3): 3.0 and 3.5\n");
  other[3] = -INFINITY;
  write_one(&folder, "b.safetensors", "F32", "2,4", other, sizeof other);
  options.absolute = 1e9;
  check_differences(&folder, "a.safetensors", "b.safetensors", &options,
                    "\"x\": the values differ: 1 of 8 elements, first at (0, 3): inf and -inf\n");
  test_folder_remove(&folder);
}

static void narrow_and_complex_elements_are_compared_too(void **state) {
  (void)state;
  test_folder folder;
  const unsigned char codes[4] = {0x21, 0x43, 0x65, 0x07}, others[4] = {0x21, 0x43, 0x75, 0x07};
  const float a[4] = {1, 2, 3, -4}, b[4] = {1, 2, 3, -5};
  test_folder_make(&folder);
  write_one(&folder, "a4.safetensors", "F4", "8", codes, 4);
  write_one(&folder, "b4.safetensors", "F4", "8", others, 4);
  check_differences(&folder, "a4.safetensors", "b4.safetensors", NULL,
                    "\"x\": the values differ: 1 of 8 elements, first at (5,): 4.0 and 6.0\n");
  write_one(&folder, "ac.safetensors", "C64", "2", a, 16);
  write_one(&folder, "bc.safetensors", "C64", "2", b, 16);
  check_differences(
      &folder, "ac.safetensors", "bc.safetensors", NULL,
      "\"x\": the values differ: 1 of 2 elements, first at (1,): 3.0-4.0j and 3.0-5.0j\n");
  const tsr_verify_options options = {.size = sizeof options, .tolerant = true, .absolute = 1};
  check_differences(&folder, "ac.safetensors", "bc.safetensors", &options, "");
  test_folder_remove(&folder);
}

static void statistics_are_of_the_finite_numbers(void **state) {
  (void)state;
  test_folder folder;
  tsr_checkpoint *model = NULL;
  tsr_verification *result = NULL;
  tsr_tensor_stats stats;
  const double numbers[6] = {3, NAN, -4, INFINITY, -INFINITY, 0}, nans[1] = {NAN};
  test_folder_make(&folder);
  write_one(&folder, "a.safetensors", "F64", "6", numbers, sizeof numbers);
  assert_ok(tsr_checkpoint_open(test_folder_path(&folder, "a.safetensors"), NULL, &model));
  assert_ok(tsr_checkpoint_stats(model, 0, NULL, &stats));
  tsr_checkpoint_release(model);
  assert_int_equal(stats.count, 6);
  assert_int_equal(stats.nans, 1);
  assert_int_equal(stats.infinities, 2);
  assert_true(stats.min == -4 && stats.max == 3 && stats.norm == 5);
  assert_true(fabs(stats.mean + 1.0 / 3) < 1e-15);
  write_one(&folder, "n.safetensors", "F64", "1", nans, sizeof nans);
  const tsr_verify_options options = {.size = sizeof options, .stats = true};
  assert_ok(verify(&folder, "a.safetensors", "a.safetensors", &options, &result));
  assert_true(tsr_verification_at(result, 0)->stats[1].norm == 5);
  tsr_verification_destroy(result);
  assert_ok(verify(&folder, "n.safetensors", "n.safetensors", &options, &result));
  assert_true(isnan(tsr_verification_at(result, 0)->stats[0].min));
  tsr_verification_destroy(result);
  test_folder_remove(&folder);
}

static void stored_hashes_are_believed_only_when_told(void **state) {
  (void)state;
  test_folder folder;
  tsr_verification *result = NULL;
  const tsr_verify_options trusting = {.size = sizeof trusting, .trust_hashes = true};
  test_folder_make(&folder);
  write_all(&folder);
  assert_ok(verify(&folder, "own", "own", &trusting, &result));
  assert_true(tsr_verification_equal(result));
  assert_int_equal(tsr_verification_bytes_read(result), 0);
  tsr_verification_destroy(result);
  // One side only: the other is read and hashed.
  assert_ok(verify(&folder, "own", "in.safetensors", &trusting, &result));
  assert_true(tsr_verification_equal(result));
  assert_int_equal(tsr_verification_bytes_read(result), (1200 * 1001 + 5 + 48) * 4);
  tsr_verification_destroy(result);
  damage(&folder, "in.safetensors", 4 * (48 + 2), 3);
  char wanted[160];
  snprintf(wanted, sizeof wanted,
           "\"b\": the values differ: 1 of 5 elements, first at (3,): %u and %u\n",
           test_word("b", 3), test_word("b", 3) ^ 3);
  check_differences(&folder, "own", "in.safetensors", &trusting, wanted);
  // Damage that came later is only found by reading.
  rename_in(&folder, "in.safetensors", "x");
  write_model(&folder);
  damage(&folder, "own/data-00001-of-00004.safetensors", 1, 1);
  check_differences(&folder, "own", "in.safetensors", &trusting, "");
  const tsr_verify_options one_copy = {.size = sizeof one_copy, .replicas = TSR_REPLICAS_TRUST};
  assert_ok(verify(&folder, "own", "in.safetensors", &one_copy, &result));
  assert_int_equal(tsr_verification_total(result, TSR_VERDICT_VALUES), 1);
  tsr_verification_destroy(result);
  test_folder_remove(&folder);
}

// ---- copies ----

// A survey that keeps nothing compares the replicas of all tensors.
static tsr_status survey_replicas(const tsr_checkpoint *model, const tsr_verify_options *options) {
  static const int64_t tensors[] = {0, 1, 2, 3};
  tsr_survey_row rows[COUNT_OF(tensors)];
  tsr_verify_options compare = options ? *options : TSR_VERIFY_OPTIONS;
  const int64_t count = tsr_tree_count(tsr_checkpoint_tree(model));
  assert_in_range(count, 1, COUNT_OF(tensors));
  compare.replicas = TSR_REPLICAS_COMPARE;
  compare.stats = compare.hashes = false;
  return tsr_checkpoint_survey(model, tensors, count, &compare, rows);
}

static tsr_status check_replicas(const test_folder *folder, const tsr_verify_options *options) {
  tsr_checkpoint *model = NULL;
  TSR_TRY(tsr_checkpoint_open(test_folder_path(folder, "ranks"), NULL, &model));
  tsr_status status = survey_replicas(model, options);
  tsr_checkpoint_release(model);
  return status;
}

static void copies_that_differ_are_named(void **state) {
  (void)state;
  // Where rank 5's last tensor, qkv, ends: its v rows; the same as those of ranks 0, 1 and 4.
  static const char name[] = "ranks/model-rank-5-part-0.safetensors";
  test_folder folder;
  char wanted[300];
  test_folder_make(&folder);
  write_all(&folder);
  assert_ok(check_replicas(&folder, NULL));
  damage(&folder, name, 4 * 3, 1);
  snprintf(wanted, sizeof wanted,
           "tensor \"qkv\": %s/ranks/model-rank-0-part-0.safetensors and %s/%s store element "
           "(13, 0) with different values",
           folder.path, folder.path, name);
  assert_fails(check_replicas(&folder, NULL), COPIES_DIFFER, wanted);
  const tsr_transform_options options = {.size = sizeof options, .no_sync = true};
  assert_fails(write_as(&folder, "ranks", "out", &options), COPIES_DIFFER, wanted);
  const tsr_transform_options trusting = {.size = sizeof trusting,
                                          .no_sync = true,
                                          .replicas = TSR_REPLICAS_TRUST,
                                          .existing = TSR_EXISTING_REPLACE};
  assert_ok(write_as(&folder, "ranks", "out", &trusting));
  check_differences(&folder, "out", "in.safetensors", NULL, "");
  test_folder_remove(&folder);
}

static void the_certificate_counts_copies_that_are_compared(void **state) {
  (void)state;
  test_folder folder;
  tsr_checkpoint *model = NULL;
  test_folder_make(&folder);
  write_all(&folder);
  assert_ok(tsr_checkpoint_open(test_folder_path(&folder, "ranks"), NULL, &model));
  for (int trusting = 0; trusting < 2; trusting++) {
    const tsr_transform_options options = {
        .size = sizeof options, .replicas = trusting ? TSR_REPLICAS_TRUST : TSR_REPLICAS_DEFAULT};
    tsr_transform *job = NULL;
    assert_ok(tsr_transform_create(model, test_folder_path(&folder, "out"), &options, &job));
    const tsr_transform_certificate *c = tsr_transform_certificate_of(job);
    const int64_t once = (1200 * 1001 + 5 + 48) * 4;
    // a on two ranks each, b on all eight, qkv: 6 rows of 3 on each.
    const int64_t all = (2 * 1200 * 1001 + 8 * 5 + 8 * 6 * 3) * 4;
    assert_int_equal(c->least_read, once);
    assert_int_equal(c->bytes_read, trusting ? once : all);
    tsr_transform_destroy(job);
  }
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

static void copies_of_narrow_elements_are_compared(void **state) {
  (void)state;
  test_folder folder;
  const unsigned char codes[4] = {0x21, 0x43, 0x65, 0x07};
  test_folder_make(&folder);
  write_one(&folder, "a.safetensors", "F4", "4,2", codes, 4);
  tsr_plan *plan = test_plan("{\"x\": {\"dtype\": \"f4e2m1fn\", \"shape\": [4, 2]}}", "dp=2,tp=2",
                             "x -> tp, _\n");
  const tsr_transform_options options = {
      .size = sizeof options, .format = TSR_FORMAT_RANKS, .plan = plan, .no_sync = true};
  assert_ok(write_as(&folder, "a.safetensors", "ranks", &options));
  assert_ok(check_replicas(&folder, NULL));
  damage(&folder, "ranks/model-rank-3-part-0.safetensors", 1, 0x10);
  assert_fails_with(check_replicas(&folder, NULL), COPIES_DIFFER, "element (3, 1)");
  tsr_plan_release(plan);
  test_folder_remove(&folder);
}

// ---- limits ----

static bool stop(void *context, const tsr_progress_report *report) {
  (void)context;
  return report->finished;
}

static void jobs_can_be_cancelled_and_know_their_memory(void **state) {
  (void)state;
  test_folder folder;
  tsr_verification *result = NULL;
  tsr_verify_options options = {
      .size = sizeof options, .jobs = 1, .progress = stop, .progress_interval = 1e-9};
  test_folder_make(&folder);
  write_all(&folder);
  assert_fails(verify(&folder, "own", "hf", &options, &result), CANCELLED, "cancelled");
  assert_fails(check_replicas(&folder, &options), CANCELLED, "cancelled");
  options.progress = NULL;
  options.max_memory = 1 << 20;
  assert_fails_with(verify(&folder, "own", "hf", &options, &result), DOES_NOT_FIT, "at least");
  assert_fails_with(check_replicas(&folder, &options), DOES_NOT_FIT, "at least");
  test_folder_remove(&folder);
}

typedef struct sweep {
  tsr_checkpoint *a, *b;
  tsr_verify_options options;
} sweep;

static tsr_status verify_all(void *context) {
  const sweep *s = context;
  tsr_verification *result = NULL;
  TSR_TRY(tsr_checkpoint_verify(s->a, s->b, &s->options, &result));
  tsr_text text = TSR_TEXT_EMPTY;
  for (int64_t i = 0; i < tsr_verification_count(result); i++)
    tsr_verification_print_row(result, i, &text);
  tsr_verification_destroy(result);
  tsr_status status = tsr_text_check(&text);
  tsr_text_deinit(&text);
  return status;
}

static tsr_status check_all(void *context) {
  const sweep *s = context;
  return survey_replicas(s->a, &s->options);
}

static void comparisons_survive_failing_allocations(void **state) {
  (void)state;
  test_folder folder;
  const float a[4] = {1, 2, 3, 4}, b[4] = {1, 2, 3, 5};
  sweep s = {.options = {.size = sizeof s.options, .jobs = 1, .hashes = true, .stats = true}};
  test_folder_make(&folder);
  write_one(&folder, "a.safetensors", "F32", "2,2", a, 16);
  write_one(&folder, "b.safetensors", "F32", "2,2", b, 16);
  tsr_plan *plan =
      test_plan("{\"x\": {\"dtype\": \"f32\", \"shape\": [2, 2]}}", "dp=2,tp=2", "x -> tp, _\n");
  const tsr_transform_options options = {
      .size = sizeof options, .format = TSR_FORMAT_RANKS, .plan = plan, .no_sync = true};
  assert_ok(write_as(&folder, "a.safetensors", "ranks", &options));
  assert_ok(tsr_checkpoint_open(test_folder_path(&folder, "ranks"), NULL, &s.a));
  assert_ok(tsr_checkpoint_open(test_folder_path(&folder, "b.safetensors"), NULL, &s.b));
  test_allocation_sweep(verify_all, &s);
  test_allocation_sweep(check_all, &s);
  tsr_checkpoint_release(s.a);
  tsr_checkpoint_release(s.b);
  tsr_plan_release(plan);
  test_folder_remove(&folder);
}

SUITE(verify, TEST(formats_and_layouts_do_not_matter), TEST(a_flipped_byte_is_found_and_named),
      TEST(pieces_of_a_block_are_put_together), TEST(a_map_may_be_of_either_side),
      TEST(a_swapped_shard_is_found), TEST(a_dropped_equal_shard_is_found),
      TEST(names_types_and_shapes_are_compared_first), TEST(casts_are_equal_within_a_tolerance),
      TEST(narrow_and_complex_elements_are_compared_too),
      TEST(statistics_are_of_the_finite_numbers), TEST(stored_hashes_are_believed_only_when_told),
      TEST(copies_that_differ_are_named), TEST(the_certificate_counts_copies_that_are_compared),
      TEST(copies_of_narrow_elements_are_compared),
      TEST(jobs_can_be_cancelled_and_know_their_memory),
      TEST(comparisons_survive_failing_allocations))
