// Every allocation fails once, in everything a plan does.
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/spec.h"
#include "transfer/carry.h"
#include "transfer/transfer_internal.h"

typedef struct two_layouts {
  tsr_layout *from, *to;
} two_layouts;

static tsr_status walk(const tsr_copy_plan *plan, int64_t position, bool into) {
  tsr_copies copies;
  TSR_TRY(into ? tsr_copies_init_into(&copies, plan, position)
               : tsr_copies_init_out_of(&copies, plan, position));
  for (tsr_copy copy; tsr_copies_next(&copies, &copy);) assert_true(copy.length > 0);
  tsr_copies_deinit(&copies);
  return NULL;
}

static tsr_status relabel(const tsr_copy_plan *plan) {
  tsr_relabelling found = TSR_RELABELLING;
  tsr_layout *relabelled = NULL;
  TSR_TRY(tsr_relabel(plan, TSR_F32, &found));
  tsr_status status = tsr_layout_with_devices(tsr_copy_plan_to(plan), found.devices, &relabelled);
  tsr_layout_release(relabelled);
  tsr_relabelling_deinit(&found);
  return status;
}

static tsr_status do_everything(void *context) {
  const two_layouts *with = context;
  tsr_copy_plan *plan = NULL;
  tsr_certificate certificate = TSR_CERTIFICATE;
  TSR_TRY(tsr_copy_plan_create(with->from, with->to, NULL, &plan));
  tsr_status status = walk(plan, 1, true);
  if (!status) status = walk(plan, 1, false);
  if (!status) status = tsr_copy_plan_certify(plan, TSR_F32, &certificate);
  if (!status) status = tsr_copy_plan_check(plan);
  if (!status) status = relabel(plan);
  tsr_copy_plan_release(plan);
  return status;
}

static void grids_run_out_of_memory_cleanly(void **state) {
  (void)state;
  test_random random = {2};
  for (int i = 0; i < 6; i++) {
    test_layout a, b;
    two_layouts with = {NULL, NULL};
    do {
      test_layout_make(&random, false, &a);
      if (tsr_mesh_device_count(a.mesh) <= 8 && tsr_mesh_device_count(a.mesh) > 1) break;
      test_layout_free(&a);
    } while (true);
    test_layout_make_other(&random, false, &a, &b);
    assert_ok(tsr_layout_create(a.sharding, &a.shape, TSR_POLICY_UNEVEN, &with.from));
    assert_ok(tsr_layout_create(b.sharding, &b.shape, TSR_POLICY_UNEVEN, &with.to));
    test_allocation_sweep(do_everything, &with);
    tsr_layout_release(with.from);
    tsr_layout_release(with.to);
    test_layout_free(&a);
    test_layout_free(&b);
  }
}

// A layout on a machine, as text.
static tsr_layout *placed(const char *machine, const char *mesh_text, const char *spec_text) {
  tsr_topology *topology = NULL;
  tsr_mesh *mesh = NULL;
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_layout *layout = NULL;
  assert_ok(tsr_topology_parse(machine, &topology));
  assert_ok(tsr_mesh_parse(mesh_text, topology, &mesh));
  assert_ok(tsr_spec_parse(spec_text, TSR_FORM_ANY, &spec));
  assert_ok(tsr_sharding_bind(mesh, spec, false, &sharding));
  assert_ok(tsr_layout_create(sharding, TSR_SHAPE(8), TSR_POLICY_UNEVEN, &layout));
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  tsr_topology_release(topology);
  return layout;
}

static void replicas_on_slices_run_out_of_memory_cleanly(void **state) {
  (void)state;
  const char *machine = "tpu-v5e:2x2:slices=2:hosts=2x1x1";
  two_layouts with = {placed(machine, "r=4,x=2", "x"), placed(machine, "x=8", "x")};
  test_allocation_sweep(do_everything, &with);
  tsr_layout_release(with.from);
  tsr_layout_release(with.to);
}

static void parts_with_copies_run_out_of_memory_cleanly(void **state) {
  (void)state;
  two_layouts with = {
      test_layout_of("x=4", "x/parts(q:8, k:4*2)", "12", TSR_POLICY_ERROR),
      test_layout_of("x=4 devices=[1,0,3,5]", "x/cyclic(1)", "12", TSR_POLICY_ERROR)};
  test_allocation_sweep(do_everything, &with);
  tsr_layout_release(with.from);
  tsr_layout_release(with.to);
}

static void listed_boxes_run_out_of_memory_cleanly(void **state) {
  (void)state;
  const tsr_range boxes[] = {{0, 3}, {3, 8}, {3, 8}}, flat[] = {{0, 2}, {2, 5}, {5, 8}, {2, 5}};
  const int64_t counts[] = {1, 1, 1};
  two_layouts with = {NULL, NULL};
  assert_ok(tsr_layout_from_boxes(NULL, TSR_SHAPE(8), 3, counts, boxes, &with.from));
  assert_ok(tsr_layout_from_flat(NULL, TSR_SHAPE(8), 4, flat, &with.to));
  test_allocation_sweep(do_everything, &with);
  const two_layouts back = {with.to, with.from};
  test_allocation_sweep(do_everything, (void *)&back);
  tsr_layout_release(with.from);
  tsr_layout_release(with.to);
}

SUITE(memory, TEST(grids_run_out_of_memory_cleanly),
      TEST(replicas_on_slices_run_out_of_memory_cleanly),
      TEST(parts_with_copies_run_out_of_memory_cleanly),
      TEST(listed_boxes_run_out_of_memory_cleanly))
