// Links of all speeds, and little memory: compared with all ways there are.
#include <math.h>

#include "base/text_internal.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"
#include "tessera/engine/topology.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "transfer/oracle.h"
#include "transfer/simulate.h"

static double between(test_random *random, double low, double high) {
  const double share = (double)test_random_range(random, 0, 1000) / 1000;
  return low * pow(high / low, share);
}

// Devices of several processes and slices, in an order of their own, with links of any speed.
static tsr_topology *random_topology(test_random *random, int count) {
  tsr_device devices[16];
  tsr_link links[TSR_LEVEL_COUNT];
  const int per_process = 1 << test_random_range(random, 0, 3);
  for (int i = 0; i < count; i++)
    devices[i] = (tsr_device){
        .id = i, .process = i / per_process, .slice = TSR_NO_SLICE, .core = TSR_NO_CORE};
  for (int level = 0; level < TSR_LEVEL_COUNT; level++)
    links[level] = (tsr_link){between(random, 1e-8, 1e-4), between(random, 1e-12, 1e-8)};
  tsr_topology *topology = NULL;
  assert_ok(tsr_topology_create(&(tsr_topology_desc){.size = sizeof(tsr_topology_desc),
                                                     .platform = TSR_PLATFORM_GPU,
                                                     .kind = "made up",
                                                     .device_count = count,
                                                     .devices = devices,
                                                     .links = links},
                                &topology));
  return topology;
}

typedef struct trial {
  const tsr_mesh *mesh;
  const oracle *all;
  tsr_shape shape;
  tsr_sequence_options options;
} trial;

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)); }

static void try_pair(const trial *t, int from, int to, int64_t *impossible) {
  tsr_sharding *a = oracle_sharding(t->all, from), *b = oracle_sharding(t->all, to);
  const double cost = oracle_cost(t->all, from, to);
  tsr_sequence *sequence = NULL;
  tsr_status status = tsr_sequence_create(a, b, &t->shape, TSR_F32, &t->options, &sequence);
  if (cost >= HUGE_VAL) {
    assert_int_equal(tsr_status_cause(status), TSR_CAUSE_DOES_NOT_FIT);
    tsr_status_free(status);
    ++*impossible;
  } else {
    assert_ok(status);
    const tsr_sequence_certificate certificate = *tsr_sequence_certificate_of(sequence);
    const double ours =
        tsr_mesh_topology(t->mesh) ? certificate.seconds : (double)certificate.bytes_moved;
    if (!near(ours, cost)) {
      tsr_text text = TSR_TEXT_EMPTY;
      assert_ok(tsr_spec_print(tsr_sharding_spec(a), TSR_FORM_SHORT, &text));
      tsr_text_add(&text, " to:\n");
      assert_ok(tsr_sequence_print(sequence, &text));
      fail_msg("from %soptimum %.9g, found %.9g", tsr_text_string(&text), cost, ours);
    }
    assert_true(!t->options.memory_cap || certificate.peak_bytes <= t->options.memory_cap);
    assert_true(test_sequence_right(sequence));
  }
  tsr_sequence_release(sequence);
  tsr_sharding_release(a);
  tsr_sharding_release(b);
}

static void try_mesh(test_random *random, const char *text, const tsr_shape *shape, bool links,
                     int64_t memory_cap, int64_t *impossible) {
  tsr_mesh *abstract = NULL, *mesh = NULL;
  tsr_topology *topology = NULL;
  assert_ok(tsr_mesh_parse(text, NULL, &abstract));
  if (links) topology = random_topology(random, (int)tsr_mesh_device_count(abstract));
  assert_ok(tsr_mesh_parse(text, topology, &mesh));
  oracle *all = oracle_create(&(oracle_desc){.mesh = mesh,
                                             .shape = *shape,
                                             .unreduced = test_random_range(random, 0, 1),
                                             .element_bytes = 4,
                                             .memory_cap = memory_cap});
  const trial t = {
      mesh, all, *shape, {.size = sizeof(tsr_sequence_options), .memory_cap = memory_cap}};
  for (int i = 0; i < 60; i++) {
    const int from = (int)test_random_range(random, 0, oracle_count(all) - 1);
    const int to = (int)test_random_range(random, 0, oracle_count(all) - 1);
    if (from != to) try_pair(&t, from, to, impossible);
  }
  oracle_destroy(all);
  tsr_mesh_release(mesh);
  tsr_mesh_release(abstract);
  tsr_topology_release(topology);
}

static void sequences_are_the_fastest_on_any_links(void **state) {
  (void)state;
  test_random random = {11};
  int64_t impossible = 0;
  for (int round = 0; round < 6; round++) {
    try_mesh(&random, "x=2,y=2", TSR_SHAPE(64, 64), true, 0, &impossible);
    try_mesh(&random, "x=2,y=3", TSR_SHAPE(24, 12), true, 0, &impossible);
    try_mesh(&random, "x=2,y=2,z=2", TSR_SHAPE(16, 8), true, 0, &impossible);
    try_mesh(&random, "x=3,y=2,z=2", TSR_SHAPE(12, 24), true, 0, &impossible);
  }
  assert_int_equal(impossible, 0);
}

static void sequences_keep_to_any_memory_cap(void **state) {
  (void)state;
  test_random random = {13};
  int64_t impossible = 0;
  for (int round = 0; round < 6; round++) {
    const int64_t cap = test_random_range(&random, 16, 2 * 64 * 4);
    try_mesh(&random, "x=2,y=2", TSR_SHAPE(8, 8), round % 2, cap, &impossible);
    try_mesh(&random, "x=2,y=2,z=2", TSR_SHAPE(8, 8), round % 2, cap, &impossible);
    try_mesh(&random, "x=2,y=4", TSR_SHAPE(8, 4, 2), false, cap, &impossible);
  }
  assert_true(impossible > 0);
}

SUITE(sequence_links, TEST(sequences_are_the_fastest_on_any_links),
      TEST(sequences_keep_to_any_memory_cap))
