#include "base/text_internal.h"
#include "mesh/machines.h"
#include "support/test.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/engine/topology.h"

// What create_device_mesh makes of a machine: the ids after the way they were found.
static void describe(const tsr_topology *topology, const int64_t *shape, int rank,
                     const tsr_jax_mesh_options *options, tsr_text *out) {
  static const char *const paths[] = {"list", "table", "torus"};
  tsr_device_array array = {0};
  tsr_mesh_reason reason;
  assert_ok(tsr_jax_create_device_mesh(topology, shape, rank, options, &array, &reason));
  tsr_text_add(out, paths[reason.path]);
  for (int64_t i = 0; i < array.count; i++) tsr_text_addf(out, " %lld", (long long)array.ids[i]);
  tsr_device_array_deinit(&array);
}

static void assert_order(const char *machine, const int64_t *shape, int rank,
                         const tsr_jax_mesh_options *options, const char *wanted) {
  tsr_topology *topology = parsed_topology(machine);
  tsr_text text = TSR_TEXT_EMPTY;
  describe(topology, shape, rank, options, &text);
  assert_string_equal(tsr_text_string(&text), wanted);
  tsr_text_deinit(&text);
  tsr_topology_release(topology);
}

static const struct {
  const char *machine;
  int64_t shape[3];
  int rank;
  const char *wanted;
} orders[] = {
    {"tpu-v2:2x2", {8}, 1, "table 0 1 2 3 6 7 4 5"},
    {"tpu-v3:2x2", {2, 4}, 2, "table 0 1 2 3 6 7 4 5"},
    {"tpu-v3:2x4", {2, 8}, 2, "table 0 1 2 3 6 7 4 5 8 9 10 11 14 15 12 13"},
    {"tpu-v3:2x4", {8, 2}, 2, "table 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"},
    {"tpu-v3:2x2:order=reversed", {8}, 1, "table 7 6 5 4 1 0 3 2"},
    {"tpu-v4-lite:2x2", {4}, 1, "table 0 1 3 2"},
    {"tpu-8i:2x2", {2, 2}, 2, "table 0 1 3 2"},
    {"tpu-v5e:2x2", {4}, 1, "table 0 1 3 2"},
    {"tpu-v5e:2x2:order=reversed", {4}, 1, "table 0 1 3 2"},
    {"tpu-v6e:4x2", {8}, 1, "table 0 1 2 3 7 6 5 4"},
    {"tpu-v5e:8x1", {8}, 1, "table 0 1 2 3 7 6 5 4"},
    {"tpu-v5-lite:2x2x2", {8}, 1, "table 0 4 2 6 1 5 3 7"},
    {"tpu-v5e:4x4", {16}, 1, "table 0 1 2 3 7 6 5 9 10 11 15 14 13 12 8 4"},
    {"tpu-v5e:4x4", {1, 16}, 2, "table 0 1 2 3 7 6 5 9 10 11 15 14 13 12 8 4"},
    {"tpu-v5e:4x4", {4, 4}, 2, "torus 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"},
    // Bounds count from zero, so a slice off the origin is not recognised.
    {"tpu-v5e:2x2:origin=2x0", {4}, 1, "torus 0 2 1 3"},
    {"tpu-v5p:2x2x2", {8}, 1, "table 0 1 3 2 6 7 5 4"},
    {"tpu-v5:2x2x2", {2, 4}, 2, "table 0 1 3 2 6 7 5 4"},
    {"tpu-v5p:2x2x1", {4}, 1, "torus 0 2 1 3"},
    {"tpu-7x:2x2x1", {8}, 1, "table 0 1 2 3 6 7 4 5"},
    {"tpu-7:2x2x2", {2, 8}, 2, "table 0 1 2 3 6 7 4 5 8 9 10 11 14 15 12 13"},
    {"tpu-7x:4x1x1", {8}, 1, "torus 0 1 2 3 4 5 6 7"},
    {"gpu:2x2:order=reversed", {2, 2}, 2, "list 0 1 2 3"},
    {"cpu:4:order=reversed", {2, 2}, 2, "list 3 2 1 0"},
};

static void kinds_have_their_orders(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(orders); i++)
    assert_order(orders[i].machine, orders[i].shape, orders[i].rank, NULL, orders[i].wanted);
}

// A fixed order of eight v5e devices is a ring on 4x2 only.
static void checked_orders_are_rings(void **state) {
  (void)state;
  static const struct {
    const char *machine, *wanted;
  } cases[] = {
      {"tpu-v5e:4x2", "table 0 1 2 3 7 6 5 4"},   {"tpu-v5e:8x1", "torus 0 1 2 3 4 5 6 7"},
      {"tpu-v5e:2x2x2", "torus 0 4 2 6 1 5 3 7"}, {"tpu-v3:2x2", "table 0 1 2 3 6 7 4 5"},
      {"tpu-v3:4x1", "table 0 1 2 3 4 5 6 7"},    {"tpu-v5p:2x2x2", "table 0 1 3 2 6 7 5 4"},
  };
  const tsr_jax_mesh_options options = {.size = sizeof options, .check_fixed_orders = true};
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    assert_order(cases[i].machine, (const int64_t[]){8}, 1, &options, cases[i].wanted);
}

static void fixed_orders_ignore_contiguous_submeshes_unless_told(void **state) {
  (void)state;
  tsr_topology *board = parsed_topology("tpu-v3:2x2");
  tsr_jax_mesh_options options = {.size = sizeof options, .contiguous_submeshes = true};
  tsr_text text = TSR_TEXT_EMPTY;
  describe(board, (const int64_t[]){8}, 1, &options, &text);
  assert_string_equal(tsr_text_string(&text), "table 0 1 2 3 6 7 4 5");
  tsr_text_deinit(&text);
  options.refuse_ignored_flags = true;
  tsr_device_array array = {0};
  assert_fails(tsr_jax_create_device_mesh(board, (const int64_t[]){8}, 1, &options, &array, NULL),
               CONTIGUOUS_TOPOLOGY_UNSUPPORTED,
               "no contiguous submeshes on 8 devices of kind \"TPU v3\", whose order is fixed");
  tsr_topology_release(board);
}

// Some runtimes report no coordinates; orders that sort by them then see every device at the
// origin.
static void devices_without_coordinates_stand_at_the_origin(void **state) {
  (void)state;
  tsr_device devices[8];
  for (int i = 0; i < 8; i++)
    devices[i] = (tsr_device){.id = 7 - i, .slice = TSR_NO_SLICE, .core = TSR_NO_CORE};
  const tsr_topology_desc desc = {.size = sizeof desc,
                                  .platform = TSR_PLATFORM_TPU,
                                  .kind = "TPU v5 lite",
                                  .device_count = 8,
                                  .devices = devices};
  tsr_topology *topology = NULL;
  assert_ok(tsr_topology_create(&desc, &topology));
  tsr_text text = TSR_TEXT_EMPTY;
  describe(topology, (const int64_t[]){8}, 1, NULL, &text);
  assert_string_equal(tsr_text_string(&text), "table 7 6 5 4 0 1 2 3");
  tsr_text_deinit(&text);
  tsr_topology_release(topology);
}

SUITE(jax_kinds, TEST(kinds_have_their_orders), TEST(checked_orders_are_rings),
      TEST(fixed_orders_ignore_contiguous_submeshes_unless_told),
      TEST(devices_without_coordinates_stand_at_the_origin))
