// Which part of a tensor the devices of a process hold together.
#include <stdio.h>

#include "array/chunks_internal.h"
#include "layout/layout_internal.h"
#include "support/test.h"
#include "tessera/compat/t5x_chunks.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/engine/topology.h"
#include "tessera/tessera.h"

typedef struct fleet {
  tsr_topology *topology;
  tsr_mesh *mesh;
  tsr_chunker *chunker;
} fleet;

static fleet open_fleet(const char *topology, const char *mesh) {
  fleet made = {0};
  if (topology) assert_ok(tsr_topology_open(topology, &made.topology));
  assert_ok(tsr_mesh_parse(mesh, made.topology, &made.mesh));
  assert_ok(tsr_chunker_create(made.mesh, &made.chunker));
  return made;
}

static void close_fleet(fleet *made) {
  tsr_chunker_release(made->chunker);
  tsr_mesh_release(made->mesh);
  tsr_topology_release(made->topology);
}

static tsr_status chunk_of(const fleet *of, int64_t process, const char *shape, const char *spec,
                           const tsr_chunk_options *options, tsr_chunk *out_chunk) {
  tsr_shape dims;
  tsr_spec *entries = NULL;
  assert_ok(tsr_shape_parse(shape, &dims));
  assert_ok(tsr_spec_parse(spec, TSR_FORM_ANY, &entries));
  tsr_status status =
      tsr_chunker_local_chunk(of->chunker, process, &dims, entries, options, out_chunk);
  tsr_spec_release(entries);
  return status;
}

// "0:4, :" and the replica.
static void print_chunk(const tsr_chunk *chunk, char *out, size_t size) {
  size_t used = 0;
  out[0] = '\0';
  for (int d = 0; d < chunk->rank; d++)
    used += (size_t)snprintf(out + used, size - used, "%s%s%lld:%lld", d ? ", " : "",
                             chunk->cut[d] ? "" : "all ", (long long)chunk->slice[d].lo,
                             (long long)chunk->slice[d].hi);
  snprintf(out + used, size - used, " replica %lld", (long long)chunk->replica_id);
}

static const tsr_chunk_options tuples = {.size = sizeof tuples, .tuple_axes = true};
static const tsr_chunk_options uneven = {.size = sizeof uneven, .tuple_axes = true, .uneven = true};
static const tsr_chunk_options strict = {.size = sizeof strict, .tuple_axes = true, .strict = true};
static const tsr_chunk_options both = {
    .size = sizeof both, .tuple_axes = true, .uneven = true, .strict = true};

// ---- chunk counts and numbers ----

static void chunks_are_counted_along_each_axis(void **state) {
  (void)state;
  fleet of = open_fleet("gpu:4x4", "data=8,model=2");
  assert_int_equal(tsr_chunker_process_count(of.chunker), 4);
  assert_ptr_equal(tsr_chunker_mesh(of.chunker), of.mesh);
  for (int p = 0; p < 4; p++) {
    tsr_process_chunks chunks;
    assert_int_equal(tsr_chunker_process_at(of.chunker, p), p);
    assert_ok(tsr_chunker_chunks(of.chunker, p, &chunks));
    assert_int_equal(chunks.num_chunks[0], 4);
    assert_int_equal(chunks.num_chunks[1], 1);
    assert_int_equal(chunks.chunk_ids[0], p);
    assert_int_equal(chunks.chunk_ids[1], 0);
  }
  close_fleet(&of);
}

static void without_a_machine_all_devices_are_of_process_0(void **state) {
  (void)state;
  fleet of = open_fleet(NULL, "a=4611686018427387904 abstract");
  tsr_chunk chunk;
  char text[128];
  assert_int_equal(tsr_chunker_process_count(of.chunker), 1);
  assert_ok(chunk_of(&of, 0, "12,5", "a, _", NULL, &chunk));
  print_chunk(&chunk, text, sizeof text);
  assert_string_equal(text, "0:12, all 0:5 replica 0");
  assert_ok(chunk_of(&of, 0, "12", "a", &uneven, &chunk));
  assert_int_equal(chunk.slice[0].hi, 12);
  close_fleet(&of);
}

// The processes of a machine need not be numbered from 0 on, nor without gaps.
static void processes_may_have_gaps(void **state) {
  (void)state;
  const tsr_device devices[] = {{.id = 0, .process = 2000000000, .slice = -1, .core = -1},
                                {.id = 1, .process = 2000000000, .slice = -1, .core = -1},
                                {.id = 2, .process = 7, .slice = -1, .core = -1},
                                {.id = 3, .process = 7, .slice = -1, .core = -1}};
  fleet of = {0};
  assert_ok(tsr_topology_create(&(tsr_topology_desc){.size = sizeof(tsr_topology_desc),
                                                     .platform = TSR_PLATFORM_CPU,
                                                     .kind = "cpu",
                                                     .device_count = 4,
                                                     .devices = devices},
                                &of.topology));
  assert_ok(tsr_mesh_parse("data=4", of.topology, &of.mesh));
  assert_ok(tsr_chunker_create(of.mesh, &of.chunker));
  const char *const data = "data";
  int64_t id = -1;
  assert_int_equal(tsr_chunker_process_count(of.chunker), 2);
  assert_int_equal(tsr_chunker_process_at(of.chunker, 0), 7);
  assert_ok(tsr_chunker_shard_id(of.chunker, 7, &data, 1, &id));
  assert_int_equal(id, 1);
  assert_ok(tsr_chunker_shard_id(of.chunker, 2000000000, &data, 1, &id));
  assert_int_equal(id, 0);
  close_fleet(&of);
}

static void shard_and_replica_ids_take_axes_in_order(void **state) {
  (void)state;
  fleet of = open_fleet("gpu:8x1", "replica=2,data=2,model=2");
  const char *const forth[] = {"replica", "data"}, *const back[] = {"data", "replica"};
  int64_t id = -1;
  assert_ok(tsr_chunker_shard_id(of.chunker, 5, forth, 2, &id));  // at 1, 0, 1
  assert_int_equal(id, 2);
  assert_ok(tsr_chunker_shard_id(of.chunker, 5, back, 2, &id));
  assert_int_equal(id, 1);
  assert_ok(tsr_chunker_shard_id(of.chunker, 5, NULL, 0, &id));
  assert_int_equal(id, 0);
  assert_ok(tsr_chunker_replica_id(of.chunker, 5, forth, 2, &id));
  assert_int_equal(id, 1);
  assert_ok(tsr_chunker_replica_id(of.chunker, 5, (const char *const[]){"nowhere"}, 1, &id));
  assert_int_equal(id, 5);
  assert_fails_with(tsr_chunker_shard_id(of.chunker, 5, (const char *const[]){"dta"}, 1, &id),
                    UNKNOWN_MESH_AXIS, "did you mean \"data\"?");
  close_fleet(&of);
}

static void shard_ids_beyond_63_bits_are_refused(void **state) {
  (void)state;
  fleet of = open_fleet("cpu:64x1", "data=64");
  const char *axes[11];
  int64_t id = -1;
  for (size_t i = 0; i < COUNT_OF(axes); i++) axes[i] = "data";
  assert_ok(tsr_chunker_shard_id(of.chunker, 63, axes, 10, &id));
  assert_int_equal(id, ((int64_t)1 << 60) - 1);
  assert_fails_with(tsr_chunker_shard_id(of.chunker, 63, axes, 11, &id), OVERFLOW, "63 bits");
  close_fleet(&of);
}

static void a_process_without_devices_has_its_own_cause(void **state) {
  (void)state;
  fleet of = open_fleet("gpu:4x2", "data=4");
  tsr_process_chunks chunks;
  tsr_chunk chunk;
  int64_t id = 0;
  const char *message =
      "process 3 has no device in mesh {data=4}, whose devices belong to processes 0 to 1";
  assert_fails(tsr_chunker_chunks(of.chunker, 3, &chunks), PROCESS_NOT_IN_MESH, message);
  assert_fails(tsr_chunker_shard_id(of.chunker, 3, NULL, 0, &id), PROCESS_NOT_IN_MESH, message);
  assert_fails(tsr_chunker_replica_id(of.chunker, 3, NULL, 0, &id), PROCESS_NOT_IN_MESH, message);
  assert_fails(chunk_of(&of, 3, "8", "data", NULL, &chunk), PROCESS_NOT_IN_MESH, message);
  close_fleet(&of);
}

static void devices_that_form_no_box_are_told(void **state) {
  (void)state;
  fleet of = open_fleet("gpu:2x2", "a=2,b=2 devices=[0,2,3,1]");
  tsr_process_chunks chunks;
  assert_fails(tsr_chunker_chunks(of.chunker, 0, &chunks), LOCAL_DEVICES_NOT_A_SUBCUBE,
               "process 0 drives 2 devices, but the smallest box around them holds 4");
  close_fleet(&of);
}

// ---- slices ----

static const struct {
  const char *topology, *mesh;
  int process;
  const char *shape, *spec;
  const tsr_chunk_options *options;
  const char *chunk;
} slices[] = {
    // clang-format off
    {"gpu:4x4", "data=8,model=2",  1, "64,512", "data, _",       NULL,    "16:32, all 0:512 replica 0"},
    {"gpu:4x2", "data=2,model=4",  3, "64,512", "data, model",   NULL,    "32:64, 256:512 replica 0"},
    {"gpu:4x2", "data=2,model=4",  3, "64,512", "data, _",       NULL,    "32:64, all 0:512 replica 1"},
    {"gpu:4x2", "data=2,model=4",  2, "",       "()",            NULL,    " replica 2"},
    // As in t5x: a tail belongs to nobody, and lists are taken side by side.
    {"gpu:2x1", "data=2",          1, "7",      "data",          NULL,    "3:6 replica 0"},
    {"gpu:2x1", "data=2",          1, "8,8",    "data",          NULL,    "4:8, all 0:8 replica 0"},
    {"gpu:2x1", "data=2",          1, "8",      "_, data",       NULL,    "all 0:8 replica 1"},
    {"gpu:2x1", "data=2",          1, "8,8",    "data, data",    NULL,    "4:8, 4:8 replica 0"},
    {"gpu:2x1", "data=2",          1, "8",      "_, nowhere",    NULL,    "all 0:8 replica 1"},
    {"gpu:2x1", "data=2",          1, "8",      "?",             NULL,    "all 0:8 replica 1"},
    {"gpu:2x1", "data=2",          1, "0",      "data",          NULL,    "0:0 replica 0"},
    // Better by option.
    {"gpu:2x1", "data=2",          1, "7",      "data",          &uneven, "4:7 replica 0"},
    {"gpu:2x4", "data=8",          0, "9",      "data",          &uneven, "0:8 replica 0"},
    {"gpu:2x4", "data=8",          1, "9",      "data",          &uneven, "8:9 replica 0"},
    {"gpu:4x1", "data=4",          3, "5",      "data",          &uneven, "5:5 replica 0"},
    {"gpu:4x1", "data=4",          3, "8",      "data",          &strict, "6:8 replica 0"},
    {"gpu:8x1", "replica=2,data=2,model=2", 5, "64", "replica+data", &tuples, "32:48 replica 1"},
    {"gpu:8x1", "replica=2,data=2,model=2", 5, "64", "data+replica", &tuples, "16:32 replica 1"},
    {"gpu:8x1", "replica=2,data=2,model=2", 7, "7",  "replica+data", &uneven, "6:7 replica 1"},
    {"gpu:2x4", "replica=2,data=4", 1, "64",    "replica+data",  &both,   "32:64 replica 0"},
    {"gpu:2x4", "replica=2,data=4", 1, "64",    "P(('replica', None))", &both, "32:64 replica 0"},
    // clang-format on
};

static void slices_are_those_of_the_box(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(slices); i++) {
    fleet of = open_fleet(slices[i].topology, slices[i].mesh);
    tsr_chunk chunk;
    char text[256];
    assert_ok(chunk_of(&of, slices[i].process, slices[i].shape[0] ? slices[i].shape : "()",
                       slices[i].spec, slices[i].options, &chunk));
    print_chunk(&chunk, text, sizeof text);
    assert_string_equal(text, slices[i].chunk);
    close_fleet(&of);
  }
}

static const struct {
  const char *shape, *spec;
  const tsr_chunk_options *options;
  tsr_cause cause;
  const char *message;
} refusals[] = {
    // clang-format off
    {"8,8",  "data+model, _", NULL,    TSR_CAUSE_TUPLE_AXIS_UNSUPPORTED, "dimension 0: 2 axes cut one dimension, which needs tuple_axes"},
    {"8,8",  "_, modle",      NULL,    TSR_CAUSE_UNKNOWN_MESH_AXIS,      "dimension 1: axis \"modle\" is not in mesh {data=4, model=4}; did you mean \"model\"?"},
    {"8,8",  "data+data, _",  &tuples, TSR_CAUSE_DUPLICATE_MESH_AXIS,    "dimension 0: axis \"data\" is given twice"},
    {"8,8",  "data, data",    &strict, TSR_CAUSE_DUPLICATE_MESH_AXIS,    "dimension 1: axis \"data\" cuts two dimensions"},
    {"8",    "data, _",       &both,   TSR_CAUSE_RANK_TOO_SMALL,         "a spec of 2 entries for a tensor of rank 1"},
    {"9",    "data",          &strict, TSR_CAUSE_INDIVISIBLE,            "dimension 0: size 9 is not divisible by the 4 devices that cut it"},
    {"16",   "data+model",    &uneven, TSR_CAUSE_CHUNK_NOT_CONTIGUOUS,   "dimension 0: the process's slice is not one range: it holds 2 of the 4 coordinates of axis \"model\", and several of an axis before it"},
    {"16",   "data;model",    &uneven, TSR_CAUSE_NOT_EXPRESSIBLE,        "dimension 0: chunks support only even cuts by whole axes"},
    {"16",   "data/cyclic(2)", &uneven, TSR_CAUSE_NOT_EXPRESSIBLE,       "dimension 0: chunks support only even cuts by whole axes"},
    {"16",   "data:(1)2",     &uneven, TSR_CAUSE_NOT_EXPRESSIBLE,        "dimension 0: a sub-axis of \"data\": chunks support whole axes only"},
    // clang-format on
};

// Processes of 2x2 devices each, so that no order of the axes makes their parts contiguous.
static void what_cannot_be_served_is_refused(void **state) {
  (void)state;
  fleet of =
      open_fleet("gpu:4x4", "data=4,model=4 devices=[0,1,4,5,2,3,6,7,8,9,12,13,10,11,14,15]");
  for (size_t i = 0; i < COUNT_OF(refusals); i++) {
    tsr_chunk chunk;
    test_assert_fails(
        chunk_of(&of, 1, refusals[i].shape, refusals[i].spec, refusals[i].options, &chunk),
        refusals[i].cause, refusals[i].message, __FILE__, __LINE__);
  }
  tsr_chunk chunk;
  assert_fails_with(chunk_of(&of, 1, "8", "data", &(tsr_chunk_options){.uneven = true}, &chunk),
                    BAD_ARGUMENT, "tsr_chunk_options has size 0");
  close_fleet(&of);
}

// ---- properties ----

// A machine of hosts and a mesh over it whose axes split hosts and devices at random.
static fleet random_fleet(test_random *random) {
  static const char *const meshes[] = {"a=%lld,b=%lld", "b=%lld,a=%lld"};
  const int64_t hosts = test_random_range(random, 1, 8), each = test_random_range(random, 1, 6);
  char topology[32], mesh[64];
  snprintf(topology, sizeof topology, "gpu:%lldx%lld", (long long)hosts, (long long)each);
  int64_t a = test_random_range(random, 1, hosts * each);
  while (hosts * each % a) a--;
  snprintf(mesh, sizeof mesh, meshes[test_random_range(random, 0, 1)], (long long)a,
           (long long)(hosts * each / a));
  return open_fleet(topology, mesh);
}

static bool has_boxes(const fleet *of) {
  for (int i = 0; i < tsr_chunker_process_count(of->chunker); i++) {
    tsr_process_chunks chunks;
    tsr_status status =
        tsr_chunker_chunks(of->chunker, tsr_chunker_process_at(of->chunker, i), &chunks);
    if (!status) continue;
    assert_int_equal(tsr_status_cause(status), TSR_CAUSE_LOCAL_DEVICES_NOT_A_SUBCUBE);
    tsr_status_free(status);
    return false;
  }
  return true;
}

// What the devices of a process hold by the layout, which knows nothing of chunks.
static void assert_is_hull(const fleet *of, int64_t process, const tsr_shape *shape,
                           const tsr_spec *spec, const tsr_chunk *chunk) {
  tsr_sharding *sharding = NULL;
  tsr_layout *layout = NULL;
  tsr_range hull[TSR_MAX_RANK];
  bool fills = false;
  assert_ok(tsr_sharding_bind(of->mesh, spec, false, &sharding));
  assert_ok(tsr_layout_create(sharding, shape, TSR_POLICY_UNEVEN, &layout));
  assert_ok(tsr_layout_process_hull(layout, process, hull, &fills));
  assert_true(fills);
  for (int d = 0; d < shape->rank; d++) {
    const tsr_range *slice = &chunk->slice[d];
    const bool empty = slice->lo == slice->hi;
    assert_int_equal(slice->hi - slice->lo, hull[d].hi - hull[d].lo);
    if (!empty) assert_int_equal(slice->lo, hull[d].lo);
  }
  tsr_layout_release(layout);
  tsr_sharding_release(sharding);
}

// Every index lies in the chunks of replica 0 once.
static void assert_tiles(const fleet *of, const tsr_shape *shape, const tsr_spec *spec) {
  int64_t held[64] = {0};
  for (int i = 0; i < tsr_chunker_process_count(of->chunker); i++) {
    const int64_t process = tsr_chunker_process_at(of->chunker, i);
    tsr_chunk chunk;
    assert_ok(tsr_chunker_local_chunk(of->chunker, process, shape, spec, &uneven, &chunk));
    assert_is_hull(of, process, shape, spec, &chunk);
    for (int64_t x = chunk.slice[0].lo; x < chunk.slice[0].hi; x++) held[x] += !chunk.replica_id;
  }
  for (int64_t x = 0; x < shape->dims[0]; x++) assert_int_equal(held[x], 1);
}

static void uneven_chunks_are_what_the_devices_hold_and_tile_the_tensor(void **state) {
  (void)state;
  static const char *const specs[] = {"a", "b", "a+b", "b+a", "_"};
  test_random random = {7};
  int told = 0;
  for (int round = 0; round < 400; round++) {
    fleet of = random_fleet(&random);
    const tsr_shape shape = {1, {test_random_range(&random, 0, 63)}};
    tsr_spec *spec = NULL;
    tsr_chunk chunk;
    assert_ok(tsr_spec_parse(specs[test_random_range(&random, 0, 4)], TSR_FORM_ANY, &spec));
    if (has_boxes(&of)) {
      tsr_status status = tsr_chunker_local_chunk(of.chunker, 0, &shape, spec, &uneven, &chunk);
      if (!status) {
        assert_tiles(&of, &shape, spec);
        told++;
      } else {
        assert_fails_with(status, CHUNK_NOT_CONTIGUOUS, "not one range");
      }
    }
    tsr_spec_release(spec);
    close_fleet(&of);
  }
  assert_true(told > 100);
}

// Each process has its own pair of shard and replica number, and all pairs are there.
static void shards_times_replicas_enumerate_the_processes(void **state) {
  (void)state;
  static const char *const axes[] = {"a", "b"};
  test_random random = {11};
  for (int round = 0; round < 200; round++) {
    fleet of = random_fleet(&random);
    const int64_t count = tsr_chunker_process_count(of.chunker);
    const int from = (int)test_random_range(&random, 0, 1);
    const int taken = (int)test_random_range(&random, 0, 2 - from);
    bool seen[8] = {false};
    for (int p = 0; p < count && has_boxes(&of); p++) {
      tsr_process_chunks chunks;
      int64_t shard = -1, replica = -1, replicas = 1;
      assert_ok(tsr_chunker_chunks(of.chunker, p, &chunks));
      assert_ok(tsr_chunker_shard_id(of.chunker, p, axes + from, taken, &shard));
      assert_ok(tsr_chunker_replica_id(of.chunker, p, axes + from, taken, &replica));
      for (int i = 0; i < 2; i++) {
        const bool used = i >= from && i < from + taken;
        if (!used) replicas *= chunks.num_chunks[tsr_mesh_axis_find(of.mesh, axes[i])];
      }
      assert_in_range(shard * replicas + replica, 0, count - 1);
      assert_false(seen[shard * replicas + replica]);
      seen[shard * replicas + replica] = true;
    }
    close_fleet(&of);
  }
}

// ---- memory ----

static tsr_status create_chunker(void *context) {
  tsr_chunker *chunker = NULL;
  TSR_TRY(tsr_chunker_create(context, &chunker));
  tsr_chunker_release(chunker);
  tsr_chunker_release(NULL);
  return NULL;
}

static void creation_survives_every_failing_allocation(void **state) {
  (void)state;
  fleet of = open_fleet("gpu:4x4", "data=8,model=2");
  test_allocation_sweep(create_chunker, of.mesh);
  close_fleet(&of);
}

SUITE(chunks, TEST(chunks_are_counted_along_each_axis),
      TEST(without_a_machine_all_devices_are_of_process_0), TEST(processes_may_have_gaps),
      TEST(shard_and_replica_ids_take_axes_in_order), TEST(shard_ids_beyond_63_bits_are_refused),
      TEST(a_process_without_devices_has_its_own_cause), TEST(devices_that_form_no_box_are_told),
      TEST(slices_are_those_of_the_box), TEST(what_cannot_be_served_is_refused),
      TEST(uneven_chunks_are_what_the_devices_hold_and_tile_the_tensor),
      TEST(shards_times_replicas_enumerate_the_processes),
      TEST(creation_survives_every_failing_allocation))
