// What casts may not do: part quantised values from their scales, and lose what does not fit.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "checkpoint/models.h"
#include "tessera/load.h"
#include "tessera/save.h"

typedef struct fixture {
  test_folder folder;
  char in[96], out[96];
} fixture;

// A file with a header as it is, and zeros.
static void write_zeros(const char *path, const char *header, size_t bytes) {
  FILE *file = fopen(path, "wb");
  const uint64_t length = strlen(header);
  assert_non_null(file);
  assert_int_equal(fwrite(&length, sizeof length, 1, file), 1);
  assert_true(fputs(header, file) >= 0);
  for (size_t i = 0; i < bytes; i++) assert_int_not_equal(fputc(0, file), EOF);
  assert_int_equal(fclose(file), 0);
}

static void make_fixture(fixture *f) {
  test_folder_make(&f->folder);
  snprintf(f->in, sizeof f->in, "%s/in.safetensors", f->folder.path);
  snprintf(f->out, sizeof f->out, "%s/out.safetensors", f->folder.path);
}

// ---- quantised weights ----

#define T(name, dtype, shape, from, to)                                                        \
  "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" from "," to \
  "]"                                                                                          \
  "}"
#define FP8                                                                                \
  "{" T("a.weight", "F8_E4M3", "4,4", "0", "16") "," T(                                    \
      "a.weight_scale_inv", "F32", "1,1", "16",                                            \
      "20") "," T("norm.weight", "F32", "2", "20", "28") "," T("kv", "F8_E4M3", "4", "28", \
                                                               "32") "}"
#define GPTQ                                                                                     \
  "{" T("a.qweight", "I32", "1,4", "0", "16") "," T("a.scales", "F16", "1,4", "16", "24") "," T( \
      "norm.weight", "F32", "2", "24", "32") "}"

static const struct {
  const char *header, *pattern;  // NULL = all
  tsr_dtype dtype;
  const char *failure;  // "" = it is done
} cases[] = {
    {FP8, NULL, TSR_BF16,
     "tensor \"a.weight\" holds quantised values of type f8e4m3fn, which mean nothing without "
     "\"a.weight_scale_inv\": a cast to bf16 would part them"},
    {FP8, NULL, TSR_F32, "tensor \"a.weight\" holds quantised values"},
    {FP8, "weight$", TSR_BF16, "tensor \"a.weight\" holds quantised values"},
    {FP8, "scale", TSR_BF16,
     "tensor \"a.weight_scale_inv\" holds what the values of \"a.weight\" are counted in: a cast "
     "from f32 to bf16 would round it"},
    {FP8, "norm|kv", TSR_BF16, ""},  // what has no scale is what it is
    {FP8, "scale", TSR_F64, ""},
    {FP8, "a", TSR_F8E4M3FN, "tensor \"a.weight_scale_inv\""},
    {GPTQ, NULL, TSR_BF16, "tensor \"a.scales\" holds what the values of \"a.qweight\" are"},
    {GPTQ, NULL, TSR_F32, ""},
    {GPTQ, "norm", TSR_BF16, ""},
};

static tsr_transform_options options_of(size_t i, tsr_cast_rule *rule) {
  tsr_transform_options options = {.size = sizeof options,
                                   .format = TSR_FORMAT_FILE,
                                   .existing = TSR_EXISTING_REPLACE,
                                   .no_sync = true,
                                   .jobs = 1};
  *rule = (tsr_cast_rule){cases[i].pattern, cases[i].dtype};
  if (!rule->pattern) options.dtype = cases[i].dtype;
  options.casts = rule;
  options.cast_count = rule->pattern != NULL;
  return options;
}

static void quantised_values_and_their_scales_are_not_cast(void **state) {
  (void)state;
  fixture f;
  make_fixture(&f);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_cast_rule rule;
    tsr_transform_options options = options_of(i, &rule);
    write_zeros(f.in, cases[i].header, 32);
    if (*cases[i].failure)
      assert_fails_with(test_transform(f.in, f.out, &options), QUANTISED, cases[i].failure);
    else
      assert_ok(test_transform(f.in, f.out, &options));
    options.no_companions = true;
    assert_ok(test_transform(f.in, f.out, &options));
  }
  test_folder_remove(&f.folder);
}

// Also under other names, and of those that are not written.
static void maps_and_selections_do_not_hide_them(void **state) {
  (void)state;
  fixture f;
  tsr_checkpoint *model = NULL;
  tsr_map *map = NULL;
  tsr_mapping *mapping = NULL;
  static const char *const scales[] = {"scale"};
  make_fixture(&f);
  write_zeros(f.in, FP8, 32);
  assert_ok(tsr_checkpoint_open(f.in, NULL, &model));
  assert_ok(tsr_map_parse("k{x} = a.weight{x:.*}\n", "t.map", &map));
  assert_ok(tsr_map_apply(map, tsr_checkpoint_tree(model), NULL, &mapping));
  tsr_transform_options options = {
      .size = sizeof options, .format = TSR_FORMAT_FILE, .dtype = TSR_BF16, .map = mapping};
  assert_fails_with(test_transform(f.in, f.out, &options), QUANTISED,
                    "tensor \"a.weight\" holds quantised values");
  options.map = NULL;
  options.exclude = scales;
  options.exclude_count = 1;
  assert_fails_with(test_transform(f.in, f.out, &options), QUANTISED,
                    "tensor \"a.weight\" holds quantised values");
  tsr_mapping_release(mapping);
  tsr_map_release(map);
  tsr_checkpoint_release(model);
  test_folder_remove(&f.folder);
}

static void a_map_that_parts_them_is_refused(void **state) {
  (void)state;
  fixture f;
  tsr_checkpoint *model = NULL;
  tsr_map *map = NULL;
  tsr_mapping *mapping = NULL;
  tsr_tree *tree = NULL;
  make_fixture(&f);
  write_zeros(f.in, FP8, 32);
  assert_ok(tsr_checkpoint_open(f.in, NULL, &model));
  assert_ok(tsr_map_parse("a.kernel = transpose(a.weight)\n", "t.map", &map));
  assert_ok(tsr_map_apply(map, tsr_checkpoint_tree(model), NULL, &mapping));
  tsr_transform_options options = {
      .size = sizeof options, .format = TSR_FORMAT_FILE, .map = mapping};
  assert_fails_with(test_transform(f.in, f.out, &options), COMPANIONS_APART,
                    "t.map:1: tensor \"a.weight\" becomes \"a.kernel\", but "
                    "\"a.weight_scale_inv\", which goes with it, stays as it is");
  tsr_load_options loading = {.size = sizeof loading, .map = mapping};
  assert_fails_with(tsr_load_tree(model, &loading, &tree), COMPANIONS_APART, "stays as it is");
  loading.no_companions = true;
  assert_ok(tsr_load_tree(model, &loading, &tree));
  tsr_tree_release(tree);
  options.no_companions = true;
  assert_ok(test_transform(f.in, f.out, &options));
  tsr_mapping_release(mapping);
  tsr_map_release(map);
  tsr_checkpoint_release(model);
  test_folder_remove(&f.folder);
}

static tsr_status cast_some(void *context) {
  const fixture *f = context;
  tsr_cast_rule rule;
  const tsr_transform_options options = options_of(4, &rule);
  return test_transform(f->in, f->out, &options);
}

static void casts_survive_failing_allocations(void **state) {
  (void)state;
  fixture f;
  make_fixture(&f);
  write_zeros(f.in, FP8, 32);
  test_allocation_sweep(cast_some, &f);
  test_folder_remove(&f.folder);
}

SUITE(casts, TEST(quantised_values_and_their_scales_are_not_cast),
      TEST(maps_and_selections_do_not_hide_them), TEST(a_map_that_parts_them_is_refused),
      TEST(casts_survive_failing_allocations))
