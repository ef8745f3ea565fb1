// What casts may not do: part quantised values from their scales, and lose what does not fit.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/models.h"
#include "load/load.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/save.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/comm.h"
#include "tessera/engine/kernels.h"
#include "tessera/place.h"
#include "view/overflow.h"

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
     "tensor \"a.weight\" holds quantised values of type f8e4m3fn, which need their scales in "
     "\"a.weight_scale_inv\": a cast to bf16 would make numbers without scales"},
    {FP8, NULL, TSR_F32, "tensor \"a.weight\" holds quantised values"},
    {FP8, "weight$", TSR_BF16, "tensor \"a.weight\" holds quantised values"},
    {FP8, "scale", TSR_BF16,
     "tensor \"a.weight_scale_inv\" holds scales or zero points of \"a.weight\": a cast from f32 "
     "to bf16 would round them"},
    {FP8, "norm|kv", TSR_BF16, ""},  // what has no scale is what it is
    {FP8, "scale", TSR_F64, ""},
    {FP8, "a", TSR_F8E4M3FN, "tensor \"a.weight_scale_inv\""},
    {GPTQ, NULL, TSR_BF16, "tensor \"a.scales\" holds scales or zero points of \"a.qweight\""},
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

// ---- numbers that do not fit ----

static const struct {
  double value;
  tsr_dtype from, to;
  bool lost;
} numbers[] = {
    {65504, TSR_F32, TSR_F16, false},
    {65519.9, TSR_F32, TSR_F16, false},  // rounded to the largest
    {65520, TSR_F32, TSR_F16, true},
    {-65520, TSR_F32, TSR_F16, true},
    {HUGE_VAL, TSR_F32, TSR_F16, false},  // it was infinite before
    {NAN, TSR_F32, TSR_F16, false},
    {1e38, TSR_BF16, TSR_F16, true},
    {3.38e38, TSR_F32, TSR_BF16, false},
    {3.4e38, TSR_F32, TSR_BF16, true},
    {1e300, TSR_F64, TSR_F32, true},
    {1e38, TSR_F64, TSR_F32, false},
    {65504, TSR_F16, TSR_BF16, false},
    {448, TSR_F32, TSR_F8E4M3FN, false},
    {500, TSR_F32, TSR_F8E4M3FN, true},
    {240, TSR_F32, TSR_F8E4M3FNUZ, false},
    {300, TSR_F32, TSR_F8E4M3FNUZ, true},
    {57344, TSR_F32, TSR_F8E5M2, false},
    {70000, TSR_F32, TSR_F8E5M2, true},
    {16, TSR_F32, TSR_F8E3M4, true},
    {1, TSR_F32, TSR_F8E8M0FNU, false},
    {-1, TSR_F32, TSR_F8E8M0FNU, true},
    {6, TSR_F32, TSR_F4E2M1FN, false},
    {6.9, TSR_F32, TSR_F4E2M1FN, false},
    {7, TSR_F32, TSR_F4E2M1FN, true},
    {HUGE_VAL, TSR_F32, TSR_F4E2M1FN, true},
    {NAN, TSR_F32, TSR_F4E2M1FN, true},
    {8, TSR_F16, TSR_F6E2M3FN, true},
    {28, TSR_F16, TSR_F6E3M2FN, false},
    {32, TSR_F16, TSR_F6E3M2FN, true},
    {1e300, TSR_F64, TSR_C64, true},
    {-1e38, TSR_F64, TSR_C64, false},
    {HUGE_VAL, TSR_F64, TSR_C64, false},
    {1e300, TSR_F64, TSR_C128, false},
    {300, TSR_F32, TSR_U8, false},  // not a float any more: others look at that
};

// Alone, and among many others, wherever chunks begin and end.
static void what_does_not_fit_is_counted(void **state) {
  (void)state;
  enum { COUNT = 20000 };
  static const int64_t places[] = {0, 1, 8191, 8192, 16384, COUNT - 1};
  double *wide = calloc(COUNT, sizeof *wide);
  char *source = calloc(COUNT, sizeof *wide), *cast = calloc(2 * COUNT, sizeof *wide);
  char *expected = calloc(2 * COUNT, sizeof *wide);
  assert_true(wide && source && cast && expected);
  for (size_t i = 0; i < COUNT_OF(numbers); i++)
    for (size_t p = 0; p < COUNT_OF(places); p++) {
      tsr_overflow overflow = {0};
      for (int64_t e = 0; e < COUNT; e++) wide[e] = 1;
      wide[places[p]] = numbers[i].value;
      assert_ok(tsr_convert(TSR_F64, wide, numbers[i].from, source, COUNT));
      assert_ok(tsr_convert(numbers[i].from, source, numbers[i].to, expected, COUNT));
      assert_ok(
          tsr_convert_checked(numbers[i].from, source, numbers[i].to, cast, COUNT, &overflow));
      assert_memory_equal(cast, expected,
                          COUNT / 8 * (size_t)tsr_dtype_info_of(numbers[i].to)->bits);
      if (overflow.count != numbers[i].lost)
        fail_msg("%g to %s: %lld", numbers[i].value, tsr_dtype_name(numbers[i].to, TSR_NAMES_OWN),
                 (long long)overflow.count);
      if (numbers[i].lost) assert_int_equal(overflow.first, places[p]);
    }
  free(wide);
  free(source);
  free(cast);
  free(expected);
}

#define FLOATS                                                                                  \
  "{" T("a", "F32", "4", "0", "16") "," T("b", "F32", "1,3", "16", "28") "," T("c", "F32", "1", \
                                                                               "28", "32") "}"

static void write_floats(const fixture *f) {
  static const float values[8] = {1, 70000, 2, -1e6F, 1e5F, 0, 0, 3};
  write_zeros(f->in, FLOATS, 0);
  FILE *file = fopen(f->in, "ab");
  assert_int_equal(fwrite(values, sizeof values, 1, file), 1);
  assert_int_equal(fclose(file), 0);
}

static void a_transform_refuses_what_does_not_fit(void **state) {
  (void)state;
  fixture f;
  tsr_checkpoint *model = NULL;
  tsr_transform *job = NULL;
  make_fixture(&f);
  write_floats(&f);
  tsr_transform_options options = {.size = sizeof options,
                                   .format = TSR_FORMAT_FILE,
                                   .dtype = TSR_F16,
                                   .jobs = 1,
                                   .no_sync = true};
  assert_fails_with(test_transform(f.in, f.out, &options), CAST_OVERFLOW,
                    "tensor \"a\": element 1 is 70000, which does not fit into f16, whose largest "
                    "number is 65504");
  assert_int_equal(access(f.out, F_OK), -1);
  options.allow_overflow = true;
  assert_ok(tsr_checkpoint_open(f.in, NULL, &model));
  assert_ok(tsr_transform_create(model, f.out, &options, &job));
  assert_int_equal(tsr_transform_report_of(job)->lost_elements, 0);
  assert_ok(tsr_transform_run(job));
  const tsr_transform_report *report = tsr_transform_report_of(job);
  assert_int_equal(report->lost_elements, 3);
  assert_int_equal(report->loss_count, 2);
  assert_string_equal(report->losses[0].tensor, "a");
  assert_int_equal(report->losses[0].elements, 2);
  assert_string_equal(report->losses[1].tensor, "b");
  tsr_transform_destroy(job);
  tsr_checkpoint_release(model);
  test_folder_remove(&f.folder);
}

// Straight from the file, and by way of a map, which reads boxes.
static void a_load_refuses_what_does_not_fit(void **state) {
  (void)state;
  static const char tree[] =
      "{\"a\": {\"dtype\": \"f16\", \"shape\": [4]}, \"b\": {\"dtype\": \"f16\", \"shape\": [1, "
      "3]},"
      " \"c\": {\"dtype\": \"f16\", \"shape\": [1]}}";
  static const char turned[] =
      "{\"a\": {\"dtype\": \"f16\", \"shape\": [4]}, \"b\": {\"dtype\": \"f16\", \"shape\": [3, "
      "1]},"
      " \"c\": {\"dtype\": \"f16\", \"shape\": [1]}}";
  fixture f;
  tsr_comm *comm = NULL;
  tsr_checkpoint *model = NULL;
  tsr_map *map = NULL;
  tsr_mapping *mapping = NULL;
  make_fixture(&f);
  write_floats(&f);
  assert_ok(tsr_comm_create(1, NULL, &comm));
  assert_ok(tsr_checkpoint_open(f.in, NULL, &model));
  assert_ok(tsr_map_parse("b = transpose(b)\n", "t.map", &map));
  assert_ok(tsr_map_apply(map, tsr_checkpoint_tree(model), NULL, &mapping));
  for (int mapped = 0; mapped < 2; mapped++) {
    tsr_plan *plan = test_plan(mapped ? turned : tree, "x=1", "");
    tsr_load *load = NULL;
    tsr_array_tree *arrays = NULL;
    tsr_load_options options = {
        .size = sizeof options, .dtype = TSR_F16, .map = mapped ? mapping : NULL};
    assert_fails_with(tsr_checkpoint_load(model, plan, comm, &options, &arrays), CAST_OVERFLOW,
                      "does not fit into f16, whose largest number is 65504");
    options.allow_overflow = true;
    assert_ok(tsr_load_create(model, plan, comm, &options, &load));
    for (int again = 0; again < 2; again++) {
      assert_ok(tsr_load_run(load, &arrays));
      assert_int_equal(tsr_load_report_of(load)->lost_elements, 3);
      tsr_array_tree_release(arrays);
    }
    tsr_load_destroy(load);
    tsr_plan_release(plan);
  }
  tsr_mapping_release(mapping);
  tsr_map_release(map);
  tsr_checkpoint_release(model);
  tsr_comm_release(comm);
  test_folder_remove(&f.folder);
}

// The second row begins within a byte, whose first half is of the first.
static void elements_of_half_a_byte_are_counted_once(void **state) {
  (void)state;
  fixture f;
  tsr_comm *comm = NULL;
  tsr_checkpoint *model = NULL;
  tsr_load *load = NULL;
  tsr_array_tree *arrays = NULL;
  const tsr_load_options options = {
      .size = sizeof options, .dtype = TSR_F8E8M0FNU, .allow_overflow = true};
  make_fixture(&f);
  write_zeros(f.in, "{" T("w", "F4", "2,3", "0", "3") "}", 3);
  tsr_plan *plan =
      test_plan("{\"w\": {\"dtype\": \"f8e8m0fnu\", \"shape\": [2, 3]}}", "x=2", "w -> x\n");
  assert_ok(tsr_comm_create(2, NULL, &comm));
  assert_ok(tsr_checkpoint_open(f.in, NULL, &model));
  assert_ok(tsr_load_create(model, plan, comm, &options, &load));
  assert_ok(tsr_load_run(load, &arrays));
  assert_int_equal(tsr_load_report_of(load)->lost_elements, 6);  // it has no zero
  tsr_array_tree_release(arrays);
  tsr_load_destroy(load);
  tsr_checkpoint_release(model);
  tsr_comm_release(comm);
  tsr_plan_release(plan);
  test_folder_remove(&f.folder);
}

static void a_save_refuses_what_does_not_fit(void **state) {
  (void)state;
  static const float values[2] = {1, 70000};
  static const uint8_t codes[4];
  fixture f;
  tsr_comm *comm = NULL;
  tsr_array_tree *tree = NULL;
  const tsr_leaf leaves[] = {
      {.tensor = tsr_tensor_of("w", TSR_F32, TSR_SHAPE(2)), .kind = TSR_LEAF_HOST, .data = values},
      {.tensor = tsr_tensor_of("q.weight", TSR_F8E4M3FN, TSR_SHAPE(2, 2)),
       .kind = TSR_LEAF_HOST,
       .data = codes},
      {.tensor.path = "q.weight_scale",
       .kind = TSR_LEAF_HOST,
       .tensor.dtype = TSR_F32,
       .data = values}};
  make_fixture(&f);
  assert_ok(tsr_comm_create(1, NULL, &comm));
  assert_ok(tsr_array_tree_create(leaves, 3, &tree));
  static const tsr_cast_rule rule = {"^w", TSR_F16};
  tsr_save_options options = {.size = sizeof options,
                              .format = TSR_FORMAT_FILE,
                              .casts = &rule,
                              .cast_count = 1,
                              .no_sync = true};
  assert_fails_with(tsr_checkpoint_save(tree, f.out, comm, &options), CAST_OVERFLOW,
                    "element 1 is 70000");
  options.allow_overflow = true;
  assert_ok(tsr_checkpoint_save(tree, f.out, comm, &options));
  options.dtype = TSR_BF16;
  options.existing = TSR_EXISTING_REPLACE;
  assert_fails_with(tsr_checkpoint_save(tree, f.out, comm, &options), QUANTISED,
                    "tensor \"q.weight\" holds quantised values");
  options.no_companions = true;
  assert_ok(tsr_checkpoint_save(tree, f.out, comm, &options));
  tsr_array_tree_release(tree);
  tsr_comm_release(comm);
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

SUITE(casts, TEST(what_does_not_fit_is_counted), TEST(a_transform_refuses_what_does_not_fit),
      TEST(a_load_refuses_what_does_not_fit), TEST(elements_of_half_a_byte_are_counted_once),
      TEST(a_save_refuses_what_does_not_fit), TEST(quantised_values_and_their_scales_are_not_cast),
      TEST(maps_and_selections_do_not_hide_them), TEST(a_map_that_parts_them_is_refused),
      TEST(casts_survive_failing_allocations))
