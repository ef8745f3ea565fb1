#include <math.h>

#include "element/dtype_internal.h"
#include "element/shape_internal.h"
#include "plan/random_models.h"
#include "support/models.h"
#include "tessera/engine/mesh.h"

// ---- against trying everything ----

// All ways to give a tensor's dimensions axes, as bytes and cost, without any cleverness.
typedef struct tries {
  int count;
  int64_t bytes[1024];
  double cost[1024];
} tries;

static double gather_cost(const tsr_mesh *mesh, uint32_t used, int64_t bytes, int64_t split) {
  const char *names[TSR_MAX_AXES];
  int count = 0;
  double seconds = 0;
  if (!tsr_mesh_topology(mesh)) return (double)(bytes * (split - 1));
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++)
    if (used >> i & 1) names[count++] = tsr_mesh_axis_at(mesh, i)->name;
  if (!count) return 0;
  assert_ok(
      tsr_mesh_collective_cost(mesh, TSR_COLLECTIVE_ALL_GATHER, names, count, bytes, &seconds));
  return seconds;
}

static void add_try(const tsr_mesh *mesh, const tsr_tensor *tensor, uint32_t used, int64_t split,
                    double copies, tries *out) {
  int64_t bytes = 0;
  assert_ok(tsr_dtype_bytes(tensor->dtype, tsr_tensor_elements(tensor) / split, &bytes));
  assert_true(out->count < 1024);
  out->bytes[out->count] = bytes + (int64_t)ceil((double)bytes * copies);
  out->cost[out->count++] = gather_cost(mesh, used, bytes, split);
}

static void try_axis(const tsr_mesh *mesh, const tsr_tensor *tensor, int axis, int64_t *dims,
                     uint32_t used, int64_t split, double copies, tries *out) {
  if (axis == tsr_mesh_axis_count(mesh)) {
    add_try(mesh, tensor, used, split, copies, out);
    return;
  }
  const int64_t size = tsr_mesh_axis_at(mesh, axis)->size;
  try_axis(mesh, tensor, axis + 1, dims, used, split, copies, out);
  for (int d = 0; size > 1 && d < tensor->rank; d++) {
    if (!dims[d] || dims[d] % size != 0) continue;
    dims[d] /= size;
    try_axis(mesh, tensor, axis + 1, dims, used | UINT32_C(1) << axis, split * size, copies, out);
    dims[d] *= size;
  }
}

static double least_cost(const tries *all, int64_t count, int64_t room) {
  if (room < 0) return INFINITY;
  if (!count) return 0;
  double best = INFINITY;
  for (int i = 0; i < all->count; i++) {
    const double cost = all->cost[i] + least_cost(all + 1, count - 1, room - all->bytes[i]);
    if (cost < best) best = cost;
  }
  return best;
}

static int64_t sum_smallest(const tries *all, int64_t count) {
  int64_t sum = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t least = INT64_MAX;
    for (int j = 0; j < all[i].count; j++)
      if (all[i].bytes[j] < least) least = all[i].bytes[j];
    sum += least;
  }
  return sum;
}

static int64_t bytes_with_copies(const tsr_plan *plan, double copies) {
  int64_t sum = 0;
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) {
    tsr_plan_row row = TSR_PLAN_ROW;
    assert_ok(tsr_plan_at(plan, i, &row));
    sum += row.bytes_per_device + (int64_t)ceil((double)row.bytes_per_device * copies);
  }
  return sum;
}

static void compare_with_tries(const tsr_tree *tree, const tsr_mesh *mesh, int64_t limit,
                               double copies) {
  static tries all[4];
  const tsr_fit_options options = {
      .size = sizeof options, .limit = limit, .gradient_copies = copies};
  const int64_t count = tsr_tree_count(tree);
  tsr_plan *plan = NULL;
  tsr_fit_report report = TSR_FIT_REPORT;
  for (int64_t i = 0; i < count; i++) {
    const tsr_tensor *tensor = tsr_tree_at(tree, i);
    tsr_shape shape = tsr_tensor_shape(tensor);
    all[i].count = 0;
    try_axis(mesh, tensor, 0, shape.dims, 0, 1, copies, &all[i]);
  }
  tsr_status status = tsr_plan_fit(tree, mesh, &options, &plan, &report);
  const int64_t smallest = sum_smallest(all, count);
  if (smallest > limit) {
    assert_fails_with(status, DOES_NOT_FIT, "");
    return;
  }
  assert_ok(status);
  const double best = least_cost(all, count, limit);
  assert_true(report.optimal);
  assert_int_equal(report.smallest, smallest);
  assert_true(fabs(report.cost - best) <= 2e-6 * best);
  assert_int_equal(report.bytes_per_device, bytes_with_copies(plan, copies));
  assert_true(report.bytes_per_device <= limit);
  assert_plan_fits(plan);
  tsr_plan_release(plan);
}

static void no_plan_that_fits_is_cheaper(void **state) {
  (void)state;
  test_random random = {2024};
  for (int i = 0; i < 300; i++) {
    tsr_mesh *mesh = random_mesh(&random);
    tsr_tree *tree = random_tree(&random, test_random_range(&random, 1, 3));
    const double copies = (double)test_random_range(&random, 0, 5) / 2;
    const int64_t limit = 1 + test_random_range(&random, 0, 4 * tsr_tree_bytes(tree));
    compare_with_tries(tree, mesh, limit, copies);
    compare_with_tries(tree, mesh, 1 + limit / 16, copies);
    tsr_tree_release(tree);
    tsr_mesh_release(mesh);
  }
}

// Two hosts of four GPUs: tp stays inside a host, dp goes over the network.
static void no_plan_that_fits_is_faster(void **state) {
  (void)state;
  test_random random = {99};
  static const char *const meshes[] = {"dp=2,tp=4", "dp=4,tp=2", "dp=2,sp=2,tp=2", "tp=4,dp=2"};
  for (int i = 0; i < 120; i++) {
    tsr_topology *topology = NULL;
    tsr_mesh *mesh = NULL;
    assert_ok(tsr_topology_parse(i % 2 ? "gpu:2x4" : "tpu-v4:2x2x2", &topology));
    assert_ok(tsr_mesh_parse(meshes[i % 4], topology, &mesh));
    tsr_tree *tree = random_tree(&random, test_random_range(&random, 1, 3));
    const int64_t limit = 1 + test_random_range(&random, 0, 2 * tsr_tree_bytes(tree));
    compare_with_tries(tree, mesh, limit, 0.5);
    tsr_tree_release(tree);
    tsr_mesh_release(mesh);
    tsr_topology_release(topology);
  }
}

// ---- what plans look like ----

static const struct {
  const char *mesh, *topology, *names;
  int64_t limit;
  double copies;
  const char *specs;
} cases[] = {
    // 14,728 bytes in all: what fits stays whole.
    {"fsdp=4,tp=4", NULL, NULL, 14728, 0, "() | () | () | () | () | ()"},
    // No more is gathered than needed.
    {"fsdp=4,tp=4", NULL, NULL, 14000, 0, "fsdp, _ | () | () | () | () | ()"},
    // The layers of a pattern are cut alike.
    {"fsdp=4,tp=4", NULL, NULL, 8600, 0, "() | fsdp, _ | () | fsdp, _ | () | ()"},
    // Several axes to a dimension.
    {"fsdp=4,tp=4", NULL, NULL, 2500, 0, "_, fsdp+tp | fsdp, _ | fsdp | fsdp, _ | fsdp | ()"},
    // Gradients and optimiser count.
    {"fsdp=4,tp=4", NULL, NULL, 14728, 3, "fsdp, _ | fsdp, _ | fsdp+tp | fsdp, _ | fsdp+tp | ()"},
    // Only the axes that are named, those named first rather.
    {"fsdp=4,tp=4", NULL, "tp", 14000, 0, "tp, _ | () | () | () | () | ()"},
    // The network is slow, the links inside a host are not.
    {"dp=4,tp=4", "gpu:4x4", NULL, 6000, 0, "tp, _ | tp, _ | () | tp, _ | () | ()"},
    // No limit: automatic.
    {"fsdp=4,tp=4", NULL, NULL, 0, 0, "fsdp, tp | fsdp, tp | fsdp | fsdp, tp | fsdp | ()"},
};

static void memory_is_cut_where_it_costs_least(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const char *const *names = &cases[i].names;
    const tsr_fit_options options = {.size = sizeof options,
                                     .limit = cases[i].limit,
                                     .gradient_copies = cases[i].copies / 3,
                                     .optimiser_copies = cases[i].copies - cases[i].copies / 3,
                                     .names = names,
                                     .name_count = cases[i].names ? 1 : 0};
    tsr_topology *topology = NULL;
    tsr_mesh *mesh = NULL;
    tsr_plan *plan = NULL;
    if (cases[i].topology) assert_ok(tsr_topology_parse(cases[i].topology, &topology));
    assert_ok(tsr_mesh_parse(cases[i].mesh, topology, &mesh));
    assert_ok(tsr_plan_fit(tree, mesh, &options, &plan, NULL));
    assert_specs(plan, cases[i].specs);
    tsr_plan_release(plan);
    tsr_mesh_release(mesh);
    tsr_topology_release(topology);
  }
  tsr_tree_release(tree);
}

static void what_does_not_fit_is_said(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree();
  tsr_mesh *mesh = make_mesh("fsdp=4,tp=4");
  const tsr_fit_options options = {.size = sizeof options, .limit = 900, .gradient_copies = 1};
  tsr_plan *plan = NULL;
  tsr_fit_report report = {.size = sizeof report, .smallest = -7};
  assert_fails(
      tsr_plan_fit(tree, mesh, &options, &plan, &report), DOES_NOT_FIT,
      "the model takes at least 1856 bytes per device on mesh {fsdp=4, tp=4}, and the limit "
      "is 900; \"layers.*.mlp.up.weight\" takes 1024 of them");
  assert_null(plan);
  assert_int_equal(report.smallest, -7);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
}

static void a_plan_to_begin_with_is_kept(void **state) {
  (void)state;
  static const char *const specs[] = {"_, tp",   "tp, _", NULL, "tp/parts(a:32/4, b:32/4), _",
                                      "tp:(1)2", NULL};
  tsr_tree *tree = make_small_tree();
  tsr_plan *start = make_plan(tree, "fsdp=4,tp=4", specs), *plan = NULL;
  tsr_fit_options options = {.size = sizeof options, .limit = 2500, .start = start};
  tsr_fit_report report = TSR_FIT_REPORT;
  assert_ok(tsr_plan_fit(tree, tsr_plan_mesh(start), &options, &plan, &report));
  assert_rows(plan,
              "fsdp, tp: user -1 0 -; memory 0 4 fsdp\n"
              "tp, _: user -1 0 -; fits -1 2500 -\n"
              "fsdp+tp: user -1 0 -; memory 0 16 fsdp\n"
              "tp/parts(a:32/4, b:32/4), _: user -1 0 -; fits -1 2500 -\n"
              "tp:(1)2: user -1 0 -; fits -1 2500 -\n"
              "(): user -1 0 -; fits -1 2500 -");
  assert_reasons(plan, 0, "set by the user; dimension 0: cut in 4 to fit the memory");
  assert_reasons(plan, 1, "set by the user; fits the memory as it is");
  assert_int_equal(report.bytes_per_device, tsr_plan_bytes_per_device(plan));
  // Only what was added is gathered.
  assert_true(report.cost == 3 * 400 + 15 * 4);
  tsr_plan_release(plan);
  options.limit = 0;
  assert_ok(tsr_plan_fit(tree, tsr_plan_mesh(start), &options, &plan, &report));
  assert_ptr_equal(plan, start);
  tsr_plan_release(plan);
  tsr_plan_release(start);
  tsr_tree_release(tree);
}

static void options_are_checked(void **state) {
  (void)state;
  tsr_tree *tree = make_small_tree(), *other = NULL;
  tsr_mesh *mesh = make_mesh("x=2"), *other_mesh = make_mesh("y=2");
  tsr_plan *plan = NULL, *start = NULL;
  tsr_fit_options options = {.size = sizeof options, .limit = -1};
  assert_fails(tsr_plan_fit(tree, mesh, &options, &plan, NULL), BAD_ARGUMENT,
               "limit of -1 bytes, wanted 0 or more");
  options = (tsr_fit_options){.size = sizeof options, .limit = 1, .optimiser_copies = NAN};
  assert_fails_with(tsr_plan_fit(tree, mesh, &options, &plan, NULL), BAD_ARGUMENT,
                    "0 gradient and ");
  assert_ok(tsr_plan_auto(tree, mesh, NULL, &start));
  options = (tsr_fit_options){.size = sizeof options, .limit = 1, .start = start};
  assert_fails(tsr_plan_fit(tree, other_mesh, &options, &plan, NULL), BAD_ARGUMENT,
               "the start plan is for another mesh");
  other = make_tree(&(tsr_tensor)TENSOR("w", 4), 1);
  assert_fails(tsr_plan_fit(other, mesh, &options, &plan, NULL), TREE_MISMATCH,
               "the start plan is for another model");
  options = (tsr_fit_options){
      .size = sizeof options, .limit = 1, .names = (const char *[]){"x", "x+x"}, .name_count = 2};
  assert_fails_with(tsr_plan_fit(tree, mesh, &options, &plan, NULL), DUPLICATE_MESH_AXIS, "");
  tsr_plan_release(start);
  tsr_mesh_release(other_mesh);
  tsr_mesh_release(mesh);
  tsr_tree_release(other);
  tsr_tree_release(tree);
}

static void copies_may_not_overflow(void **state) {
  (void)state;
  tsr_mesh *mesh = make_mesh("x=2");
  tsr_tree *tree = make_tree(&(tsr_tensor)TENSOR("w", INT64_C(1) << 60), 1);
  tsr_plan *plan = NULL;
  const tsr_fit_options options = {
      .size = sizeof options, .limit = INT64_MAX, .gradient_copies = 1};
  assert_fails(tsr_plan_fit(tree, mesh, &options, &plan, NULL), OVERFLOW,
               "4611686018427387904 bytes and 1 copies of them are more than 2^62 bytes");
  tsr_tree_release(tree);
  tsr_mesh_release(mesh);
}

// Sixteen axes of one size are seventeen ways, not 65536; of many sizes there are too many.
static void equal_axes_are_one_kind(void **state) {
  (void)state;
  tsr_tree *tree = make_tree(&(tsr_tensor)TENSOR("w", 1 << 10, 1 << 10), 1);
  tsr_mesh *mesh = make_mesh("a=2,b=2,c=2,d=2,e=2,f=2,g=2,h=2,i=2,j=2,k=2,l=2,m=2,n=2,o=2,p=2");
  tsr_plan *plan = NULL;
  const tsr_fit_options options = {.size = sizeof options, .limit = 64};
  assert_ok(tsr_plan_fit(tree, mesh, &options, &plan, NULL));
  assert_specs(plan, "a+b+c+d+e+f+g+h+i+j, k+l+m+n+o+p");
  tsr_plan_release(plan);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
}

// ---- memory ----

typedef struct model {
  tsr_tree *tree;
  tsr_plan *start;
} model;

static tsr_status fit_twice(void *context) {
  const model *with = context;
  tsr_fit_options options = {.size = sizeof options, .limit = 2600};
  const tsr_mesh *mesh = tsr_plan_mesh(with->start);
  tsr_plan *plan = NULL;
  TSR_TRY(tsr_plan_fit(with->tree, mesh, &options, &plan, NULL));
  tsr_plan_release(plan);
  options.start = with->start;
  TSR_TRY(tsr_plan_fit(with->tree, mesh, &options, &plan, NULL));
  tsr_plan_release(plan);
  return NULL;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  static const char *const specs[] = {"_, tp", "tp, _", NULL, "tp, _", NULL, NULL};
  model with = {.tree = make_small_tree()};
  with.start = make_plan(with.tree, "fsdp=4,tp=4", specs);
  test_allocation_sweep(fit_twice, &with);
  tsr_plan_release(with.start);
  tsr_tree_release(with.tree);
}

SUITE(fit, TEST(no_plan_that_fits_is_cheaper), TEST(no_plan_that_fits_is_faster),
      TEST(memory_is_cut_where_it_costs_least), TEST(what_does_not_fit_is_said),
      TEST(a_plan_to_begin_with_is_kept), TEST(options_are_checked), TEST(copies_may_not_overflow),
      TEST(equal_axes_are_one_kind), TEST(running_out_of_memory_is_reported))
