// Every sized struct that the library fills, for callers with older and newer headers.
#include <stdio.h>
#include <string.h>

#include "place/place_internal.h"
#include "advice/advice_internal.h"
#include "sized_structs/scene.h"
#include "tessera/checkpoint/load.h"
#include "tessera/compat/constrain.h"
#include "tessera/compat/eformer_plan.h"
#include "tessera/engine/copy_plan.h"
#include "transfer/transfer_internal.h"

#define CALL(name) static tsr_status name(scene *s, void *out)

CALL(fill_analysis) { return tsr_plan_analyze(s->plan, NULL, 0, out); }
CALL(fill_part) { return tsr_array_local_at(s->array, 1, out); }
CALL(fill_certificate) { return tsr_copy_plan_certify(s->copies, TSR_F32, out); }
CALL(fill_diff) { return tsr_plan_diff_create(s->plan, s->plan, out); }
CALL(fill_relabelling) { return tsr_relabel(s->copies, TSR_F32, out); }
CALL(fill_row) { return tsr_plan_at(s->plan, 0, out); }

CALL(fill_place_report) {
  tsr_array *placed = NULL;
  TSR_TRY(tsr_array_constrain(s->array, s->spec, s->mesh, NULL, &placed, out));
  tsr_array_release(placed);
  return NULL;
}

CALL(fill_fit) {
  tsr_fit_options options = TSR_FIT_OPTIONS;
  tsr_plan *plan = NULL;
  options.limit = 256;
  TSR_TRY(tsr_plan_fit(s->tree, s->mesh, &options, &plan, out));
  tsr_plan_release(plan);
  return NULL;
}

CALL(fill_load) {
  float shard[8 * 16];
  return tsr_checkpoint_read_shard(s->checkpoint, 0, s->rows, 1, NULL, shard, sizeof shard, out);
}

CALL(fill_program) { return tsr_program_describe(s->program, out); }
CALL(fill_function) { return tsr_program_function_at(s->program, 0, out); }
CALL(fill_executable) { return tsr_executable_describe(s->executable, out); }
CALL(fill_executable_value) { return tsr_executable_argument(s->executable, 0, out); }
CALL(fill_value) { return tsr_program_argument(s->program, 0, 0, out); }

CALL(fill_propagation) { return tsr_propagation_describe(s->propagation, out); }
CALL(fill_fallback) { return tsr_partitioned_fallback_at(s->gathering, 0, out); }
CALL(fill_partitioned) { return tsr_partitioned_describe(s->partitioned, out); }
CALL(fill_partitioned_value) { return tsr_partitioned_argument(s->partitioned, 0, out); }
CALL(fill_preflight) { return tsr_preflight_describe(s->preflight, out); }
CALL(fill_reshard) { return tsr_preflight_reshard_at(s->preflight, 0, out); }
CALL(fill_sharded_value) { return tsr_propagation_find(s->propagation, "%0", out); }

static void deinit_analysis(void *out) { tsr_analysis_deinit(out); }
static void deinit_place_report(void *out) { tsr_place_report_deinit(out); }
static void deinit_relabelling(void *out) { tsr_relabelling_deinit(out); }
static void deinit_diff(void *out) { tsr_plan_diff_deinit(out); }

typedef tsr_status call_fn(scene *s, void *out);
typedef void deinit_fn(void *out);

// Bytes that no field has, up to the field after them: they are whatever they are.
typedef struct gap {
  size_t from, to;
} gap;
#define GAP(type, before, after) \
  { offsetof(type, before) + sizeof(((type *)0)->before), offsetof(type, after) }
#define LAST_GAP(type, before) \
  { offsetof(type, before) + sizeof(((type *)0)->before), sizeof(type) }
static const gap part_gaps[] = {GAP(tsr_local_shard, is_box, ranges),
                                GAP(tsr_local_shard, shape.rank, shape.dims),
                                GAP(tsr_local_shard, buffer_shape.rank, buffer_shape.dims),
                                LAST_GAP(tsr_local_shard, borrowed),
                                {0}};
static const gap fit_gaps[] = {LAST_GAP(tsr_fit_report, optimal), {0}};
static const gap row_gaps[] = {GAP(tsr_plan_row, policy, bytes_per_device), {0}};
static const gap program_gaps[] = {
    GAP(tsr_program_info, form, name), LAST_GAP(tsr_program_info, calling_convention), {0}};
static const gap function_gaps[] = {GAP(tsr_program_function, declared, argument_count), {0}};
static const gap value_gaps[] = {GAP(tsr_program_value, dtype, shape),
                                 GAP(tsr_program_value, shape.rank, shape.dims),
                                 LAST_GAP(tsr_program_value, donated),
                                 {0}};
static const gap executable_value_gaps[] = {GAP(tsr_executable_value, dtype, shape),
                                            GAP(tsr_executable_value, shape.rank, shape.dims),
                                            GAP(tsr_executable_value, donated, aliased),
                                            {0}};
static const gap partitioned_value_gaps[] = {
    GAP(tsr_partitioned_value, dtype, spec), GAP(tsr_partitioned_value, donated, aliased), {0}};
static const gap sharded_value_gaps[] = {LAST_GAP(tsr_sharded_value, given), {0}};
static const gap reshard_gaps[] = {GAP(tsr_preflight_reshard, times_known, bytes), {0}};
static const gap no_gaps[] = {{0}};

static const struct {
  const char *name;
  size_t size;
  call_fn *call;
  deinit_fn *deinit;  // NULL = it owns nothing
  const gap *gaps;
} rows[] = {
// clang-format off
#define ROW(type, call, deinit, gaps) \
  {#type, sizeof(type), call, deinit, gaps}
    ROW(tsr_analysis, fill_analysis, deinit_analysis, no_gaps),
    ROW(tsr_local_shard, fill_part, NULL, part_gaps),
    ROW(tsr_certificate, fill_certificate, NULL, no_gaps),
    ROW(tsr_executable_info, fill_executable, NULL, no_gaps),
    ROW(tsr_executable_value, fill_executable_value, NULL, executable_value_gaps),
    ROW(tsr_fit_report, fill_fit, NULL, fit_gaps),
    ROW(tsr_load_report, fill_load, NULL, no_gaps),
    ROW(tsr_partition_fallback, fill_fallback, NULL, no_gaps),
    ROW(tsr_partitioned_info, fill_partitioned, NULL, no_gaps),
    ROW(tsr_partitioned_value, fill_partitioned_value, NULL, partitioned_value_gaps),
    ROW(tsr_place_report, fill_place_report, deinit_place_report, no_gaps),
    ROW(tsr_plan_diff, fill_diff, deinit_diff, no_gaps),
    ROW(tsr_plan_row, fill_row, NULL, row_gaps),
    ROW(tsr_preflight_info, fill_preflight, NULL, no_gaps),
    ROW(tsr_preflight_reshard, fill_reshard, NULL, reshard_gaps),
    ROW(tsr_program_function, fill_function, NULL, function_gaps),
    ROW(tsr_program_info, fill_program, NULL, program_gaps),
    ROW(tsr_program_value, fill_value, NULL, value_gaps),
    ROW(tsr_propagation_info, fill_propagation, NULL, no_gaps),
    ROW(tsr_sharded_value, fill_sharded_value, NULL, sharded_value_gaps),
    ROW(tsr_relabelling, fill_relabelling, deinit_relabelling, no_gaps),
    // clang-format on
};

static bool is_gap(size_t row, size_t byte) {
  for (const gap *g = rows[row].gaps; g->to; g++)
    if (byte >= g->from && byte < g->to) return true;
  return false;
}

// Fills a struct of `size` bytes and compares it with `whole`.
static void assert_filled(scene *s, size_t row, size_t size, const char *whole) {
  const fenced f = fence(size);
  memset(f.at, 0, size);
  memcpy(f.at, &size, sizeof size);
  assert_ok(rows[row].call(s, f.at));
  size_t said = 0;
  memcpy(&said, f.at, sizeof said);
  assert_int_equal(said, size);
  // Lists are of each struct its own.
  if (!rows[row].deinit && size < rows[row].size)
    for (size_t i = sizeof size; i < size; i++)
      if (!is_gap(row, i)) assert_int_equal(((char *)f.at)[i], whole[i]);
  for (size_t i = rows[row].size; i < size; i++) assert_int_equal(((char *)f.at)[i], 0);
  if (rows[row].deinit) rows[row].deinit(f.at);
  unfence(f);
}

// What owns something has had it from the first: an older caller's struct is not shorter.
static void look_at_row(scene *s, size_t row) {
  const size_t size = rows[row].size;
  const fenced f = fence(size);
  memset(f.at, 0, size);
  memcpy(f.at, &size, sizeof size);
  assert_ok(rows[row].call(s, f.at));
  for (size_t less = rows[row].deinit ? size : sizeof size; less <= size; less += 8)
    assert_filled(s, row, less, f.at);
  assert_filled(s, row, size + 8, f.at);
  assert_filled(s, row, size + 256, f.at);
  if (rows[row].deinit) rows[row].deinit(f.at);
  unfence(f);
}

static void look_at_no_size(scene *s, size_t row) {
  static const size_t sizes[] = {0, 1, 7, SIZE_MAX};
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    char message[96];
    const fenced f = fence(rows[row].size);
    memcpy(f.at, &sizes[i], sizeof sizes[i]);
    snprintf(message, sizeof message, "%s has size %zu, wanted %zu: initialise it with TSR_",
             rows[row].name, sizes[i], rows[row].size);
    test_assert_fails_with(rows[row].call(s, f.at), TSR_CAUSE_BAD_ARGUMENT, message, __FILE__,
                           __LINE__);
    unfence(f);
  }
}

static void structs_are_filled_as_far_as_callers_know_them(void **state) {
  (void)state;
  scene s;
  scene_make(&s);
  for (size_t i = 0; i < COUNT_OF(rows); i++) look_at_row(&s, i);
  scene_free(&s);
}

static void structs_that_nobody_initialised_are_refused(void **state) {
  (void)state;
  scene s;
  scene_make(&s);
  for (size_t i = 0; i < COUNT_OF(rows); i++) look_at_no_size(&s, i);
  scene_free(&s);
}

// Reports of a tree lie as far apart as the first of them says.
static void lists_of_reports_have_the_callers_step(void **state) {
  (void)state;
  enum { LEAVES = 3, STEP = sizeof(tsr_place_report) + 64 };
  scene s;
  scene_make(&s);
  const tsr_leaf leaves[LEAVES] = {{.tensor.path = "a", .kind = TSR_LEAF_ARRAY, .array = s.array},
                                   {.tensor.path = "b", .kind = TSR_LEAF_ARRAY, .array = s.array},
                                   {.tensor.path = "c", .kind = TSR_LEAF_ARRAY, .array = s.array}};
  tsr_array_tree *tree = NULL, *placed = NULL;
  assert_ok(tsr_array_tree_create(leaves, LEAVES, &tree));
  const fenced f = fence((size_t)LEAVES * STEP);
  memset(f.at, 0, (size_t)LEAVES * STEP);
  assert_fails_with(tsr_array_tree_constrain(tree, s.spec, s.mesh, NULL, &placed, f.at),
                    BAD_ARGUMENT, "tsr_place_report has size 0");
  memcpy(f.at, &(size_t){STEP}, sizeof(size_t));
  assert_ok(tsr_array_tree_constrain(tree, s.spec, s.mesh, NULL, &placed, f.at));
  for (int i = 0; i < LEAVES; i++) {
    tsr_place_report *report = (tsr_place_report *)(void *)((char *)f.at + (size_t)i * STEP);
    assert_int_equal(report->size, STEP);
    assert_int_equal(report->outcome, TSR_OUTCOME_SAME);
    assert_non_null(report->spec);
    tsr_place_report_deinit(report);
  }
  unfence(f);
  tsr_array_tree_release(placed);
  tsr_array_tree_release(tree);
  scene_free(&s);
}

SUITE(sized_filled, TEST(structs_are_filled_as_far_as_callers_know_them),
      TEST(structs_that_nobody_initialised_are_refused),
      TEST(lists_of_reports_have_the_callers_step))
