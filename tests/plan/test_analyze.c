#include <math.h>

#include "advice/plan_auto_internal.h"
#include "element/dtype_internal.h"
#include "json/json.h"
#include "plan/plan.h"
#include "plan/random_models.h"
#include "support/models.h"
#include "tessera/compat/eformer_plan.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/mesh.h"

static tsr_analysis analyze(const tsr_plan *plan) {
  tsr_analysis analysis = TSR_ANALYSIS;
  assert_ok(tsr_plan_analyze(plan, NULL, 0, &analysis));
  return analysis;
}

static void every_field_is_filled(void **state) {
  (void)state;
  static const char *const specs[] = {"_, tp", "fsdp, tp", NULL, "fsdp, tp", "fsdp", NULL};
  tsr_tree *tree = make_small_tree();
  tsr_plan *plan = make_plan(tree, "fsdp=2,tp=4", specs);
  tsr_analysis got = analyze(plan);
  assert_int_equal(got.tensors, 6);
  assert_int_equal(got.elements, 1600 + 2 * 1024 + 2 * 16 + 1);
  assert_int_equal(got.bytes, 6400 + 2 * 4096 + 2 * 64 + 8);
  assert_int_equal(got.sharded_tensors, 4);
  assert_int_equal(got.sharded_elements, 1600 + 2 * 1024 + 16);
  assert_int_equal(got.sharded_bytes, 6400 + 2 * 4096 + 64);
  const int64_t device = 1600 + 2 * 512 + 64 + 32 + 8;
  assert_int_equal(got.device_min, device);
  assert_int_equal(got.device_max, device);
  assert_true(got.device_mean == (double)device);
  assert_true(got.balance == 1);
  assert_true(got.wasted_bytes == (double)(8 * device - got.bytes));
  assert_true(got.replication == (double)(8 * device) / (double)got.bytes);
  // Over fsdp only: each layer's other half, and half of one norm.
  assert_int_equal(got.gathered_bytes, 2 * 512 + 32);
  assert_true(got.gather_seconds == 0);
  assert_int_equal(got.axis_count, 2);
  assert_string_equal(got.axes[0].axis, "fsdp");
  assert_int_equal(got.axes[0].tensors, 3);
  assert_int_equal(got.axes[0].bytes, 2 * 4096 + 64);
  assert_int_equal(got.axes[0].gathered_bytes, 2 * 512 + 32);
  assert_int_equal(got.axes[1].tensors, 3);
  assert_int_equal(got.axes[1].gathered_bytes, 0);
  assert_int_equal(got.spec_count, 4);
  assert_spec(got.specs[0].spec, "fsdp, tp");
  assert_int_equal(got.specs[0].tensors, 2);
  assert_int_equal(got.specs[0].bytes, 8192);
  assert_spec(got.specs[1].spec, "_, tp");
  assert_spec(got.specs[2].spec, "()");
  assert_int_equal(got.specs[2].elements, 17);
  assert_spec(got.specs[3].spec, "fsdp");
  tsr_analysis_deinit(&got);
  tsr_plan_release(plan);
  tsr_tree_release(tree);
}

// A plan with sizes that do not divide.
static tsr_plan *make_uneven(const tsr_tree *tree, const char *mesh_text, const char *const *specs,
                             tsr_policy policy) {
  tsr_mesh *mesh = make_mesh(mesh_text);
  tsr_plan_builder builder;
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_builder_init(&builder, tree, mesh));
  for (int64_t i = 0; i < tsr_tree_count(tree); i++) {
    tsr_spec *spec = make_spec(specs[i]);
    assert_ok(tsr_plan_builder_set(&builder, i, spec, spec, policy));
    tsr_spec_release(spec);
  }
  assert_ok(tsr_plan_builder_end(&builder, NULL, &plan));
  tsr_mesh_release(mesh);
  return plan;
}

static void uneven_shards_are_counted_device_by_device(void **state) {
  (void)state;
  static const char *const specs[] = {"x, y", "x"};
  const tsr_tensor tensors[] = {TENSOR("a", 5, 3), TENSOR("b", 8)};
  tsr_tree *tree = make_tree(tensors, 2);
  tsr_plan *plan = make_uneven(tree, "x=4,y=2", specs, TSR_POLICY_UNEVEN);
  tsr_analysis got = analyze(plan);
  // Rows 2, 2, 1, 0 and columns 2, 1 of a; two elements of b everywhere.
  assert_int_equal(got.device_max, 4 * (2 * 2 + 2));
  assert_int_equal(got.device_min, 4 * (0 + 2));
  assert_true(got.device_mean == 4 * (15.0 / 8 + 2));
  assert_true(got.balance == got.device_mean / 24);
  assert_true(got.wasted_bytes == 4 * 8);
  tsr_analysis_deinit(&got);
  tsr_plan_release(plan);
  plan = make_uneven(tree, "x=4,y=2", specs, TSR_POLICY_PAD);
  got = analyze(plan);
  // Padding is held, and wasted.
  assert_int_equal(got.device_min, 24);
  assert_true(got.balance == 1);
  assert_true(got.wasted_bytes == 8 * 24 - 4 * (15 + 8));
  tsr_analysis_deinit(&got);
  tsr_plan_release(plan);
  tsr_tree_release(tree);
}

static const struct {
  const char *mesh, *spec;
  int64_t first, second;
} gathers[] = {
    // Outermost first: the slow links carry the small pieces.
    {"data=2,fsdp=4,tp=2", "data+fsdp, tp", 80 * 4, 3 * 160 * 4},
    {"data=2,fsdp=4,tp=2", "fsdp, data", 160 * 4, 3 * 320 * 4},
    {"data=2,fsdp=4,tp=2", "fsdp:(2)2, _", 0, 640 * 4},
    // 40 rows on 16 are thirteen times 3, one and none: what is padding never travels.
    {"data=16,fsdp=1", "data, _", (40 - 3) * 32 * 4, 0},
};

static void gathering_is_counted_by_axis(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(gathers); i++) {
    tsr_tree *tree = make_tree(&(tsr_tensor)TENSOR("w", 40, 32), 1);
    tsr_plan *plan = make_uneven(tree, gathers[i].mesh, &gathers[i].spec, TSR_POLICY_UNEVEN);
    tsr_analysis got = analyze(plan);
    assert_int_equal(got.axes[0].gathered_bytes, gathers[i].first);
    assert_int_equal(got.axes[1].gathered_bytes, gathers[i].second);
    assert_int_equal(got.gathered_bytes, gathers[i].first + gathers[i].second);
    tsr_analysis_deinit(&got);
    tsr_plan_release(plan);
    tsr_tree_release(tree);
  }
}

static void seconds_are_those_of_the_links(void **state) {
  (void)state;
  tsr_tree *tree = make_tree(&(tsr_tensor)TENSOR("w", 64, 64), 1);
  tsr_topology *topology = NULL;
  tsr_mesh *mesh = NULL;
  tsr_plan *plan = NULL;
  tsr_analysis got = TSR_ANALYSIS;
  double seconds = 0;
  static const char *const names[] = {"a", "b"};
  assert_ok(tsr_topology_parse("gpu:2x4", &topology));
  assert_ok(tsr_mesh_parse("a=2,b=4", topology, &mesh));
  assert_ok(tsr_plan_auto(tree, mesh, NULL, &plan));
  assert_ok(tsr_plan_analyze(plan, names, 2, &got));
  assert_ok(tsr_mesh_collective_cost(mesh, TSR_COLLECTIVE_ALL_GATHER, names, 2, 64 * 64 * 4 / 8,
                                     &seconds));
  assert_true(seconds > 0 && fabs(got.gather_seconds - seconds) < 1e-12 * seconds);
  tsr_analysis_deinit(&got);
  assert_fails_with(tsr_plan_analyze(plan, (const char *[]){"c"}, 1, &got), UNKNOWN_MESH_AXIS,
                    "axis \"c\" is not in mesh {a=2, b=4}");
  tsr_plan_release(plan);
  tsr_mesh_release(mesh);
  tsr_topology_release(topology);
  tsr_tree_release(tree);
}

// The sums must be those of the real shards, whatever the plan.
static void sums_are_those_of_the_shards(void **state) {
  (void)state;
  test_random random = {17};
  for (int i = 0; i < 200; i++) {
    tsr_mesh *mesh = random_mesh(&random);
    tsr_tree *tree = random_tree(&random, test_random_range(&random, 0, 6));
    tsr_plan *plan = NULL;
    const tsr_auto_options options = {
        .size = sizeof options, .min_size = 1, .stack_leftovers = true};
    assert_ok(tsr_plan_auto(tree, mesh, &options, &plan));
    tsr_analysis got = analyze(plan);
    double total = 0;
    int64_t bytes = 0;
    for (int64_t row = 0; row < tsr_plan_count(plan); row++) {
      tsr_layout *layout = NULL;
      assert_ok(tsr_plan_layout(plan, row, &layout));
      for (int64_t p = 0; p < tsr_mesh_device_count(mesh); p++) {
        assert_ok(tsr_dtype_bytes(tsr_tree_at(tree, row)->dtype,
                                  tsr_layout_shard_elements(layout, tsr_layout_shard(layout, p)),
                                  &bytes));
        total += (double)bytes;
      }
      tsr_layout_release(layout);
    }
    assert_true(got.device_mean == total / (double)tsr_mesh_device_count(mesh));
    assert_true(got.wasted_bytes == total - (double)tsr_tree_bytes(tree));
    assert_int_equal(got.device_max, tsr_plan_bytes_per_device(plan));
    tsr_analysis_deinit(&got);
    tsr_plan_release(plan);
    tsr_tree_release(tree);
    tsr_mesh_release(mesh);
  }
}

static void a_plan_without_a_mesh_is_refused(void **state) {
  (void)state;
  tsr_tree *tree = make_tree(&(tsr_tensor)TENSOR("w", 8), 1);
  tsr_plan *plan = make_plan(tree, NULL, (const char *[]){"x"});
  tsr_analysis got = TSR_ANALYSIS;
  assert_fails(tsr_plan_analyze(plan, NULL, 0, &got), NO_MESH_ACTIVE,
               "the plan was made without a mesh");
  tsr_plan_release(plan);
  tsr_tree_release(tree);
}

static void specs_that_do_not_fit_are_refused(void **state) {
  (void)state;
  tsr_tree *tree = make_tree(&(tsr_tensor)TENSOR("w", 9), 1);
  tsr_plan *plan = make_uneven(tree, "x=2", (const char *[]){"x"}, TSR_POLICY_ERROR);
  tsr_analysis got = TSR_ANALYSIS;
  assert_fails_with(tsr_plan_analyze(plan, NULL, 0, &got), INDIVISIBLE, "tensor \"w\": ");
  tsr_plan_release(plan);
  tsr_tree_release(tree);
}

static void an_analysis_is_written_as_json(void **state) {
  (void)state;
  tsr_tree *tree = make_tree(&(tsr_tensor)TENSOR("w", 8), 1);
  tsr_plan *plan = make_plan(tree, "fsdp=2", (const char *[]){"fsdp"});
  tsr_analysis got = analyze(plan);
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer writer;
  tsr_json_writer_init(&writer, &text, 0);
  tsr_analysis_to_json(&got, &writer);
  assert_string_equal(
      tsr_text_string(&text),
      "{\"tensors\":1,\"elements\":8,\"bytes\":32,\"sharded_tensors\":1,"
      "\"sharded_elements\":8,\"sharded_bytes\":32,\"device_min\":16,\"device_max\":16,"
      "\"device_mean\":16.0,\"balance\":1.0,\"replication\":1.0,\"wasted_bytes\":0.0,"
      "\"gathered_bytes\":16,\"gather_seconds\":0.0,\"axes\":[{\"axis\":\"fsdp\","
      "\"tensors\":1,\"bytes\":32,\"gathered_bytes\":16}],\"specs\":[{\"spec\":[\"fsdp\"],"
      "\"tensors\":1,\"elements\":8,\"bytes\":32}]}");
  tsr_text_deinit(&text);
  tsr_analysis_deinit(&got);
  tsr_plan_release(plan);
  tsr_tree_release(tree);
}

static void nothing_is_balanced(void **state) {
  (void)state;
  tsr_tree *tree = make_tree(NULL, 0);
  tsr_plan *plan = make_plan(tree, "x=2", NULL);
  tsr_analysis got = analyze(plan);
  assert_true(got.balance == 1 && got.replication == 1 && got.wasted_bytes == 0);
  assert_int_equal(got.device_max, 0);
  tsr_analysis_deinit(&got);
  tsr_plan_release(plan);
  tsr_tree_release(tree);
}

static tsr_status analyze_once(void *context) {
  tsr_analysis analysis = TSR_ANALYSIS;
  TSR_TRY(tsr_plan_analyze(context, NULL, 0, &analysis));
  tsr_analysis_deinit(&analysis);
  return NULL;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  static const char *const specs[] = {"_, tp", "fsdp, tp", NULL, "fsdp, tp", "fsdp", NULL};
  tsr_tree *tree = make_small_tree();
  tsr_plan *plan = make_plan(tree, "fsdp=2,tp=4", specs);
  test_allocation_sweep(analyze_once, plan);
  tsr_plan_release(plan);
  tsr_tree_release(tree);
}

SUITE(analyze, TEST(every_field_is_filled), TEST(uneven_shards_are_counted_device_by_device),
      TEST(gathering_is_counted_by_axis), TEST(seconds_are_those_of_the_links),
      TEST(sums_are_those_of_the_shards), TEST(a_plan_without_a_mesh_is_refused),
      TEST(specs_that_do_not_fit_are_refused), TEST(an_analysis_is_written_as_json),
      TEST(nothing_is_balanced), TEST(running_out_of_memory_is_reported))
