// Which part of a batch each process reads.
#include <stdlib.h>

#include "partitioner/partitioner_internal.h"
#include "partitioner/partitioners.h"
#include "support/test.h"
#include "tessera/compat/t5x_chunks.h"
#include "tessera/compat/t5x_partitioner.h"
#include "tessera/engine/topology.h"

static const struct {
  const char *topology, *rules;
  int64_t partitions;
  int64_t process;
  int64_t batch;
  tsr_data_layout layout;
} layouts[] = {
    // clang-format off
    {"cpu:4x2",      NULL,              2, 1, 64,  {64, 1, 4, true}},
    {"cpu:4x2",      NULL,              2, 3, 0,   {4, 3, 4, true}},
    {"gpu:4x2",      NULL,              4, 0, 64,  {64, 0, 2, true}},
    {"gpu:4x2",      NULL,              4, 1, 64,  {64, 0, 2, false}},
    {"gpu:4x2",      NULL,              4, 3, 64,  {64, 1, 2, false}},
    {"tpu-v4:4x4x1", NULL,              4, 2, 256, {256, 1, 2, true}},
    {"gpu:4x2",      "batch -> model\n", 4, 1, 64, {64, 1, 2, true}},
    {"gpu:4x2",      "batch -> model\n", 4, 2, 64, {64, 0, 2, false}},
    {"gpu:4x2",      "batch -> data+model\n", 4, 2, 64, {64, 2, 4, true}},
    // Without a data axis every process reads everything.
    {"gpu:4x2",      "embed -> model\n", 4, 0, 7,  {7, 0, 1, true}},
    {"gpu:4x2",      "embed -> model\n", 4, 2, 7,  {7, 0, 1, false}},
    {"gpu:4x2",      "embed -> model\n", 4, 2, 0,  {0, 0, 1, false}},
    // clang-format on
};

static tsr_partitioner *with_rules(const char *topology, int64_t partitions, const char *rules) {
  tsr_partitioner_options options = partitioner_options(partitions);
  tsr_logical_rules *parsed = NULL;
  if (rules) assert_ok(tsr_logical_rules_parse(rules, "test", &parsed));
  options.logical_axis_rules = parsed;
  tsr_partitioner *partitioner = partitioner_of(topology, &options);
  tsr_logical_rules_release(parsed);
  return partitioner;
}

static void assert_layout(const tsr_data_layout *layout, const tsr_data_layout *expected) {
  assert_int_equal(layout->batch_size, expected->batch_size);
  assert_int_equal(layout->shard_id, expected->shard_id);
  assert_int_equal(layout->num_shards, expected->num_shards);
  assert_int_equal(layout->is_first_host_in_replica_set, expected->is_first_host_in_replica_set);
}

static void a_process_reads_what_its_devices_need(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(layouts); i++) {
    tsr_partitioner *partitioner =
        with_rules(layouts[i].topology, layouts[i].partitions, layouts[i].rules);
    tsr_data_layout layout;
    assert_ok(tsr_partitioner_data_layout(partitioner, layouts[i].process, layouts[i].batch, NULL,
                                          &layout));
    assert_layout(&layout, &layouts[i].layout);
    tsr_partitioner_release(partitioner);
  }
}

static void sizes_and_shards_can_be_asked_for_alone(void **state) {
  (void)state;
  tsr_partitioner *partitioner = with_rules("gpu:4x2", 4, NULL);
  int64_t size = 0, shards = 0, id = -1;
  assert_ok(tsr_partitioner_data_mesh_size(partitioner, &size));
  assert_ok(tsr_partitioner_data_shards(partitioner, 3, &shards));
  assert_ok(tsr_partitioner_data_shard_id(partitioner, 3, &id));
  assert_int_equal(size, 2);
  assert_int_equal(shards, 2);
  assert_int_equal(id, 1);
  tsr_partitioner_release(partitioner);
  partitioner = with_rules("gpu:4x2", 4, "embed -> model\n");
  assert_ok(tsr_partitioner_data_mesh_size(partitioner, &size));
  assert_ok(tsr_partitioner_data_shards(partitioner, 3, &shards));
  assert_int_equal(size, 1);
  assert_int_equal(shards, 1);
  tsr_partitioner_release(partitioner);
}

static void batches_that_do_not_divide_are_refused(void **state) {
  (void)state;
  tsr_partitioner *partitioner = with_rules("gpu:4x2", 2, NULL);
  tsr_data_layout layout;
  assert_fails(tsr_partitioner_data_layout(partitioner, 0, 6, NULL, &layout),
               BATCH_NOT_DIVISIBLE_BY_DATA_MESH,
               "a batch of 6 is not divisible by the data mesh of 4 devices");
  assert_fails(tsr_partitioner_data_layout(partitioner, 0, -8, NULL, &layout), BAD_ARGUMENT,
               "a batch of -8, wanted 0 or more");
  assert_fails_with(tsr_partitioner_data_layout(partitioner, 4, 8, NULL, &layout),
                    PROCESS_NOT_IN_MESH, "process 4 has no device");
  tsr_partitioner_release(partitioner);
}

// Hosts of 2 devices along an axis of 5: a host sees two chunks, which do not divide the batch.
static void batches_must_divide_by_the_shards_too(void **state) {
  (void)state;
  tsr_device devices[5];
  for (int i = 0; i < 5; i++)
    devices[i] = (tsr_device){
        .id = i, .process = i / 2, .slice = 0, .core = 0, .has_coords = true, .coords = {i, 0, 0}};
  tsr_topology *topology = NULL;
  assert_ok(tsr_topology_create(&(tsr_topology_desc){.size = sizeof(tsr_topology_desc),
                                                     .platform = TSR_PLATFORM_TPU,
                                                     .kind = "TPU v4",
                                                     .device_count = 5,
                                                     .devices = devices},
                                &topology));
  tsr_partitioner_options options = partitioner_options(1);
  const int64_t sizes[] = {1, 5, 1}, ones[] = {1, 1, 1};
  options.ici_mesh_shape = sizes;
  options.dcn_mesh_shape = ones;
  options.ici_rank = options.dcn_rank = 3;
  tsr_partitioner *partitioner = NULL;
  tsr_data_layout layout;
  assert_ok(tsr_partitioner_create(topology, &options, &partitioner));
  assert_fails(tsr_partitioner_data_layout(partitioner, 0, 5, NULL, &layout),
               BATCH_NOT_DIVISIBLE_BY_DATA_SHARDS,
               "a batch of 5 is not divisible by the 2 data shards of process 0");
  assert_ok(tsr_partitioner_data_layout(partitioner, 0, 10, NULL, &layout));
  tsr_partitioner_release(partitioner);
  tsr_topology_release(topology);
}

static void data_axes_that_the_mesh_lacks_are_refused(void **state) {
  (void)state;
  tsr_partitioner *partitioner = with_rules("gpu:4x2", 2, "batch -> modle\n");
  int64_t number = 0;
  const char *near = "did you mean \"model\"?";
  assert_fails_with(tsr_partitioner_data_mesh_size(partitioner, &number), UNKNOWN_MESH_AXIS, near);
  assert_fails_with(tsr_partitioner_data_shards(partitioner, 0, &number), UNKNOWN_MESH_AXIS, near);
  assert_fails_with(tsr_partitioner_data_shard_id(partitioner, 0, &number), UNKNOWN_MESH_AXIS,
                    near);
  tsr_partitioner_release(partitioner);
}

static void host_index_is_served_by_option(void **state) {
  (void)state;
  tsr_partitioner *partitioner = with_rules("gpu:4x2", 4, NULL);
  const int64_t third = 3, fifth = 5, below = -1, far = INT64_C(1) << 32;
  tsr_data_layout_options options = {.size = sizeof options, .host_index = &third};
  tsr_data_layout layout;
  assert_fails(tsr_partitioner_data_layout(partitioner, 0, 64, &options, &layout),
               HOST_INDEX_UNSUPPORTED, "host_index 3 needs serve_host_index");
  options.host_index = &far;
  assert_fails(tsr_partitioner_data_layout(partitioner, 0, 64, &options, &layout),
               HOST_INDEX_UNSUPPORTED, "host_index 4294967296 needs serve_host_index");
  options.host_index = &third;
  options.serve_host_index = true;
  assert_ok(tsr_partitioner_data_layout(partitioner, 0, 64, &options, &layout));
  assert_layout(&layout, &(tsr_data_layout){64, 1, 2, false});
  options.host_index = &fifth;
  assert_fails(tsr_partitioner_data_layout(partitioner, 0, 64, &options, &layout),
               INDEX_OUT_OF_RANGE, "host_index 5, wanted 0 to 3");
  options.host_index = &below;
  assert_fails(tsr_partitioner_data_layout(partitioner, 0, 64, &options, &layout),
               INDEX_OUT_OF_RANGE, "host_index -1, wanted 0 to 3");
  options.host_index = NULL;
  assert_ok(tsr_partitioner_data_layout(partitioner, 0, 64, &options, &layout));
  options.size = 0;
  assert_fails_with(tsr_partitioner_data_layout(partitioner, 0, 64, &options, &layout),
                    BAD_ARGUMENT, "tsr_data_layout_options has size 0");
  tsr_partitioner_release(partitioner);
}

static void chunks_are_those_of_the_mesh(void **state) {
  (void)state;
  tsr_partitioner *partitioner = with_rules("gpu:4x2", 4, NULL);
  tsr_spec *spec = NULL;
  tsr_chunk chunk;
  assert_ok(tsr_spec_parse("data, model", TSR_FORM_ANY, &spec));
  assert_ok(tsr_partitioner_local_chunk(partitioner, 3, TSR_SHAPE(8, 16), spec, NULL, &chunk));
  assert_int_equal(chunk.slice[0].lo, 4);
  assert_int_equal(chunk.slice[1].lo, 8);
  tsr_spec_release(spec);
  tsr_partitioner_release(partitioner);
}

// ---- properties ----

// The first hosts' rows tile the batch.
static void assert_covered(const tsr_partitioner *partitioner, int processes, int64_t batch) {
  int64_t *read = calloc((size_t)batch, sizeof *read);
  assert_non_null(read);
  for (int64_t process = 0; process < processes; process++) {
    tsr_data_layout layout;
    assert_ok(tsr_partitioner_data_layout(partitioner, process, batch, NULL, &layout));
    const tsr_range rows = tsr_data_layout_rows(&layout);
    assert_true(rows.lo >= 0 && rows.hi <= batch);
    if (!layout.is_first_host_in_replica_set) continue;
    for (int64_t row = rows.lo; row < rows.hi; row++) read[row]++;
  }
  for (int64_t row = 0; row < batch; row++) assert_int_equal(read[row], 1);
  free(read);
}

static void the_hosts_of_a_fleet_cover_the_batch(void **state) {
  (void)state;
  static const struct {
    const char *topology;
    int processes;
  } fleets[] = {{"cpu:6x4", 6},    {"gpu:4x8", 4},       {"gpu:8x2", 8},
                {"tpu-v3:4x4", 4}, {"tpu-v4:4x4x4", 16}, {"tpu-v3:8x8:order=shuffled", 16}};
  static const char *const rules[] = {NULL, "batch -> model\n", "batch -> _\n"};
  int covered = 0;
  for (size_t f = 0; f < COUNT_OF(fleets); f++)
    for (int64_t partitions = 1; partitions <= 16; partitions *= 2)
      for (size_t r = 0; r < COUNT_OF(rules); r++) {
        tsr_partitioner_options options = partitioner_options(partitions);
        tsr_partitioner *partitioner = NULL;
        int64_t size = 0;
        tsr_status status = make_partitioner(fleets[f].topology, &options, &partitioner);
        tsr_partitioner_release(partitioner);
        if (status) {
          tsr_status_free(status);  // no mesh for this number
          continue;
        }
        partitioner = with_rules(fleets[f].topology, partitions, rules[r]);
        assert_ok(tsr_partitioner_data_mesh_size(partitioner, &size));
        assert_covered(partitioner, fleets[f].processes, 3 * size);
        tsr_partitioner_release(partitioner);
        covered++;
      }
  assert_true(covered > 60);
}

SUITE(data_layout, TEST(a_process_reads_what_its_devices_need),
      TEST(sizes_and_shards_can_be_asked_for_alone), TEST(batches_that_do_not_divide_are_refused),
      TEST(batches_must_divide_by_the_shards_too), TEST(data_axes_that_the_mesh_lacks_are_refused),
      TEST(host_index_is_served_by_option), TEST(chunks_are_those_of_the_mesh),
      TEST(the_hosts_of_a_fleet_cover_the_batch))
