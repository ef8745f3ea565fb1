// Options, and what follows from them.
#include "mesh/mesh_internal.h"
#include "partitioner/partitioner_internal.h"
#include "partitioner/partitioners.h"
#include "rules/logical_internal.h"
#include "support/test.h"
#include "tessera/compat/t5x_chunks.h"
#include "tessera/compat/t5x_mesh.h"
#include "tessera/compat/t5x_partitioner.h"
#include "tessera/compat/t5x_rules.h"

static void assert_spec(const tsr_spec *spec, const char *expected) {
  tsr_text text = TSR_TEXT_EMPTY;
  assert_ok(tsr_spec_print(spec, TSR_FORM_SHORT, &text));
  assert_string_equal(tsr_text_string(&text), expected);
  tsr_text_deinit(&text);
}

static void assert_mesh(const tsr_partitioner *partitioner, const char *expected) {
  tsr_mesh *mesh = NULL, *axes = NULL, *wanted = NULL;
  assert_ok(tsr_mesh_abstract(tsr_partitioner_mesh(partitioner), &axes));
  assert_ok(tsr_mesh_parse(expected, NULL, &mesh));
  assert_ok(tsr_mesh_abstract(mesh, &wanted));
  assert_true(tsr_mesh_equal(axes, wanted));
  tsr_mesh_release(wanted);
  tsr_mesh_release(mesh);
  tsr_mesh_release(axes);
}

static const int64_t ici[] = {1, 4, 4}, dcn[] = {2, 1, 1};

static tsr_partitioner_options slices_options(void) {
  tsr_partitioner_options options = partitioner_options(1);
  options.ici_mesh_shape = ici;
  options.dcn_mesh_shape = dcn;
  options.ici_rank = options.dcn_rank = 3;
  return options;
}

static void the_mesh_is_t5xs_default(void **state) {
  (void)state;
  const tsr_hardware_mesh submesh = {4, {2, 2, 1, 1}};
  tsr_partitioner_options by_number = partitioner_options(4), by_submesh = partitioner_options(0);
  const tsr_partitioner_options by_slices = slices_options();
  by_submesh.model_parallel_submesh = &submesh;
  tsr_partitioner *a = partitioner_of("tpu-v4:4x4x2", &by_number);
  tsr_partitioner *b = partitioner_of("tpu-v4:4x4x2", &by_submesh);
  tsr_partitioner *c = partitioner_of("tpu-v4:2x2x4:slices=2", &by_slices);
  assert_mesh(a, "data=8,model=4");
  assert_mesh(b, "data=8,model=4");
  assert_mesh(c, "replica=2,data=4,model=4");
  assert_string_equal(tsr_partitioner_warnings(a), "");
  assert_string_equal(tsr_partitioner_warnings(c), "");
  tsr_partitioner_release(a);
  tsr_partitioner_release(b);
  tsr_partitioner_release(c);
}

static void rules_for_batch_give_the_data_axis(void **state) {
  (void)state;
  static const struct {
    const char *rules;
    bool slices, base;
    const char *spec;
  } cases[] = {
      {NULL, false, false, "data"},
      {NULL, true, false, "replica+data"},
      {NULL, false, true, "data"},
      {NULL, true, true, "replica+data"},
      {"batch -> model\n", false, false, "model"},
      {"batch -> model\n", true, false, "replica+data"},
      {"batch -> _\n", false, false, "_"},
      {"batch -> _\n", true, false, "replica+data"},
      {"batch -> ()\n", false, false, "_"},
      {"embed -> data\n", true, false, "_"},
      {"batch -> (data)\n", false, false, "data"},
      {"batch -> data+model\nbatch -> model\n", false, false, "data+model"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_partitioner_options options = cases[i].slices ? slices_options() : partitioner_options(1);
    tsr_logical_rules *rules = NULL;
    if (cases[i].rules) assert_ok(tsr_logical_rules_parse(cases[i].rules, "test", &rules));
    options.logical_axis_rules = rules;
    options.base = cases[i].base;
    tsr_partitioner *partitioner = partitioner_of(NULL, &options);
    assert_spec(tsr_partitioner_data_partition_spec(partitioner), cases[i].spec);
    assert_true((tsr_partitioner_logical_axis_rules(partitioner) == NULL) == cases[i].base);
    assert_null(tsr_partitioner_mesh(partitioner));
    tsr_partitioner_release(partitioner);
    tsr_logical_rules_release(rules);
  }
}

static void given_rules_are_kept_as_they_are(void **state) {
  (void)state;
  tsr_logical_rules *rules = NULL, *standard = NULL;
  assert_ok(tsr_logical_rules_parse("batch -> data\nembed -> model\n", "test", &rules));
  assert_ok(tsr_logical_standard(1, 1, NULL, false, &standard));
  tsr_partitioner_options options = partitioner_options(1);
  tsr_partitioner *by_standard = partitioner_of(NULL, &options);
  options.logical_axis_rules = rules;
  tsr_partitioner *by_given = partitioner_of(NULL, &options);
  assert_true(tsr_logical_rules_equal(tsr_partitioner_logical_axis_rules(by_standard), standard));
  assert_true(tsr_logical_rules_equal(tsr_partitioner_logical_axis_rules(by_given), rules));
  tsr_partitioner_release(by_given);
  tsr_partitioner_release(by_standard);
  tsr_logical_rules_release(standard);
  tsr_logical_rules_release(rules);
}

// ---- mistakes ----

static void partitions_or_a_submesh_are_needed(void **state) {
  (void)state;
  const char *message =
      "neither num_partitions nor model_parallel_submesh is given; one of them is needed";
  const tsr_hardware_mesh nothing = {0, {0}}, something = {2, {1, 2}};
  tsr_partitioner_options options = partitioner_options(0);
  tsr_partitioner *partitioner = NULL;
  assert_fails(make_partitioner(NULL, &options, &partitioner), NO_PARTITION_COUNT, message);
  options.model_parallel_submesh = &nothing;
  assert_fails(make_partitioner("cpu:2x4", &options, &partitioner), NO_PARTITION_COUNT, message);
  options.model_parallel_submesh = &something;
  assert_ok(make_partitioner("cpu:2x4", &options, &partitioner));
  tsr_partitioner_release(partitioner);
}

static void options_without_a_size_are_refused(void **state) {
  (void)state;
  tsr_partitioner *partitioner = NULL;
  assert_fails_with(
      make_partitioner(NULL, &(tsr_partitioner_options){.num_partitions = 1}, &partitioner),
      BAD_ARGUMENT, "tsr_partitioner_options has size 0");
}

static void the_backend_must_be_the_machines(void **state) {
  (void)state;
  tsr_partitioner_options options = partitioner_options(1);
  tsr_partitioner *partitioner = NULL;
  options.backend = "cpu";
  assert_ok(make_partitioner("cpu:8", &options, &partitioner));
  tsr_partitioner_release(partitioner);
  options.backend = "gpu";
  assert_fails(make_partitioner("cpu:8", &options, &partitioner), UNKNOWN_PLATFORM,
               "backend \"gpu\" has no devices: the machine's are \"cpu\"");
  options.backend = "abacus";
  assert_fails_with(make_partitioner("cpu:8", &options, &partitioner), UNKNOWN_PLATFORM,
                    "backend: ");
}

static void what_is_wrong_with_the_mesh_is_told(void **state) {
  (void)state;
  const tsr_partitioner_options options = partitioner_options(3);
  tsr_partitioner *partitioner = NULL;
  assert_fails_with(make_partitioner("tpu-v4:2x2x1", &options, &partitioner), NO_DEFAULT_MESH,
                    "no default mesh for 3 partitions");
}

static void what_needs_a_mesh_fails_without_one(void **state) {
  (void)state;
  const tsr_partitioner_options options = partitioner_options(1);
  tsr_partitioner *partitioner = partitioner_of(NULL, &options);
  const char *message = "the partitioner was made without a machine, so it has no mesh";
  int64_t number = 0;
  tsr_data_layout layout;
  tsr_chunk chunk;
  assert_fails(tsr_partitioner_data_mesh_size(partitioner, &number), NO_MESH_ACTIVE, message);
  assert_fails(tsr_partitioner_data_shards(partitioner, 0, &number), NO_MESH_ACTIVE, message);
  assert_fails(tsr_partitioner_data_shard_id(partitioner, 0, &number), NO_MESH_ACTIVE, message);
  assert_fails(tsr_partitioner_data_layout(partitioner, 0, 8, NULL, &layout), NO_MESH_ACTIVE,
               message);
  assert_fails(
      tsr_partitioner_local_chunk(partitioner, 0, TSR_SHAPE(8),
                                  tsr_partitioner_data_partition_spec(partitioner), NULL, &chunk),
      NO_MESH_ACTIVE, message);
  tsr_partitioner_release(partitioner);
}

// ---- warnings ----

static void what_t5x_only_logs_can_be_read(void **state) {
  (void)state;
  const tsr_hardware_mesh two = {2, {1, 2}}, four = {4, {1, 1, 1, 1}};
  const struct {
    const char *topology;
    int64_t partitions;
    const tsr_hardware_mesh *submesh;
    const int64_t *ici, *dcn;
    const char *warnings;
  } cases[] = {
      // clang-format off
      {"cpu:2x4",      0, &two,  NULL, NULL, "model_parallel_submesh (1, 2) has 2 sizes, wanted 4: x, y, z and core\n"},
      {"tpu-v4:2x2x1", 2, &four, NULL, NULL, "num_partitions (2) is ignored for model_parallel_submesh (1, 1, 1, 1)\n"},
      {"cpu:2x4",      2, &two,  NULL, NULL, "model_parallel_submesh (1, 2) has 2 sizes, wanted 4: x, y, z and core\n"
                                             "num_partitions (2) is ignored for model_parallel_submesh (1, 2)\n"},
      {"cpu:2x4",      2, NULL,  NULL, NULL, "num_partitions (2) is ignored: axis model is a host's 4 CPUs\n"},
      {"cpu:2x4",      4, NULL,  NULL, NULL, ""},
      {"tpu-v4:2x2x1", 1, NULL,  ici,  NULL, "ici_mesh_shape is ignored without dcn_mesh_shape\n"},
      {"tpu-v4:2x2x1", 1, NULL,  NULL, dcn,  "dcn_mesh_shape is ignored without ici_mesh_shape\n"},
      {NULL,           1, NULL,  NULL, dcn,  "dcn_mesh_shape is ignored without ici_mesh_shape\n"},
      // clang-format on
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_partitioner_options options = partitioner_options(cases[i].partitions);
    options.model_parallel_submesh = cases[i].submesh;
    options.ici_mesh_shape = cases[i].ici;
    options.dcn_mesh_shape = cases[i].dcn;
    options.ici_rank = options.dcn_rank = 3;
    tsr_partitioner *partitioner = partitioner_of(cases[i].topology, &options);
    assert_string_equal(tsr_partitioner_warnings(partitioner), cases[i].warnings);
    tsr_partitioner_release(partitioner);
  }
}

static void params_on_devices_can_be_set(void **state) {
  (void)state;
  tsr_partitioner_options options = partitioner_options(1);
  tsr_partitioner *partitioner = partitioner_of("cpu:4", &options);
  assert_true(tsr_partitioner_params_on_devices(partitioner));
  tsr_partitioner_set_params_on_devices(partitioner, false);
  assert_false(tsr_partitioner_params_on_devices(partitioner));
  tsr_partitioner_set_params_on_devices(partitioner, true);
  assert_true(tsr_partitioner_params_on_devices(partitioner));
  tsr_partitioner_release(partitioner);
  tsr_partitioner_release(NULL);
  options.params_on_host = true;
  partitioner = partitioner_of("cpu:4", &options);
  assert_false(tsr_partitioner_params_on_devices(partitioner));
  tsr_partitioner_release(partitioner);
}

static tsr_status create(void *context) {
  const tsr_hardware_mesh submesh = {2, {1, 2}};
  tsr_partitioner_options options = partitioner_options(2);
  tsr_partitioner *partitioner = NULL;
  options.model_parallel_submesh = &submesh;
  options.ici_mesh_shape = ici;
  options.dcn_mesh_shape = context;
  options.ici_rank = options.dcn_rank = 3;
  TSR_TRY(make_partitioner(context ? "tpu-v4:2x2x4:slices=2" : "cpu:2x4", &options, &partitioner));
  tsr_partitioner_release(partitioner);
  return NULL;
}

static void creation_survives_every_failing_allocation(void **state) {
  (void)state;
  test_allocation_sweep(create, NULL);
  test_allocation_sweep(create, (void *)(uintptr_t)dcn);
}

SUITE(partitioner, TEST(the_mesh_is_t5xs_default), TEST(rules_for_batch_give_the_data_axis),
      TEST(given_rules_are_kept_as_they_are), TEST(partitions_or_a_submesh_are_needed),
      TEST(options_without_a_size_are_refused), TEST(the_backend_must_be_the_machines),
      TEST(what_is_wrong_with_the_mesh_is_told), TEST(what_needs_a_mesh_fails_without_one),
      TEST(what_t5x_only_logs_can_be_read), TEST(params_on_devices_can_be_set),
      TEST(creation_survives_every_failing_allocation))
