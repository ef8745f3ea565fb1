// Train states saved and restored by a partitioner: parameters, what the optimizer keeps, the step.
#include "array/array_internal.h"
#include "partitioner/partitioners.h"
#include "support/folder.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/save.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/compat/t5x_partitioner.h"
#include "tessera/engine/sharding.h"

enum { ROWS = 8, COLUMNS = 16, ELEMENTS = ROWS * COLUMNS };

static const char *const kernel_path = "target/mlp/wi";
static const char *const moment_path = "state/param_states/mlp/wi/m";

typedef struct fixture {
  test_folder folder;
  tsr_partitioner *partitioner;
  tsr_comm *comm;
  tsr_plan *axes;
  float kernel[ELEMENTS], moment[ELEMENTS];
  int32_t step;
  tsr_array_tree *state;  // in host memory
} fixture;

static tsr_plan *plan_axes(const tsr_partitioner *partitioner, const char *kernel, int64_t rows,
                           int64_t count) {
  const int64_t dims[] = {rows, COLUMNS};
  static const char *const names[] = {"embed", "mlp"};
  const tsr_tensor tensors[] = {{kernel, TSR_F32, 2, dims, names},
                                {moment_path, TSR_F32, 2, dims, NULL},
                                {"state/step", TSR_I32, 0, NULL, NULL}};
  tsr_tree *tree = NULL;
  tsr_plan *plan = NULL;
  assert_ok(tsr_tree_create(tensors, count, &tree));
  assert_ok(tsr_partitioner_mesh_axes(partitioner, tree, &plan));
  tsr_tree_release(tree);
  return plan;
}

static void make_fixture(fixture *f) {
  const tsr_partitioner_options options = partitioner_options(4);
  const tsr_comm_options one = {.size = sizeof one, .workers = 1};
  test_folder_make(&f->folder);
  f->partitioner = partitioner_of("cpu:8", &options);
  assert_ok(tsr_comm_create(8, &one, &f->comm));
  f->axes = plan_axes(f->partitioner, kernel_path, ROWS, 3);
  for (int i = 0; i < ELEMENTS; i++) {
    f->kernel[i] = (float)i;
    f->moment[i] = (float)-i;
  }
  f->step = 7;
  const tsr_shape *matrix = TSR_SHAPE(ROWS, COLUMNS);
  const tsr_leaf leaves[] = {{.tensor = tsr_tensor_of(kernel_path, TSR_F32, matrix),
                              .kind = TSR_LEAF_HOST,
                              .data = f->kernel},
                             {.tensor = tsr_tensor_of(moment_path, TSR_F32, matrix),
                              .kind = TSR_LEAF_HOST,
                              .data = f->moment},
                             {.tensor.path = "state/step",
                              .kind = TSR_LEAF_HOST,
                              .tensor.dtype = TSR_I32,
                              .data = &f->step}};
  assert_ok(tsr_array_tree_create(leaves, 3, &f->state));
}

static void free_fixture(fixture *f) {
  tsr_array_tree_release(f->state);
  tsr_plan_release(f->axes);
  tsr_comm_release(f->comm);
  tsr_partitioner_release(f->partitioner);
  test_folder_remove(&f->folder);
}

static void check_array(const tsr_array_tree *state, const char *path, const void *wanted,
                        size_t bytes) {
  char gathered[sizeof(float) * ELEMENTS];
  const tsr_leaf *leaf = tsr_array_tree_find(state, path);
  assert_non_null(leaf);
  assert_ok(tsr_array_gather(leaf->array, gathered, sizeof gathered, NULL));
  assert_memory_equal(gathered, wanted, bytes);
}

static void check_restored(const fixture *f, const char *path) {
  tsr_checkpoint *saved = NULL;
  tsr_array_tree *state = NULL;
  assert_ok(tsr_checkpoint_open(path, NULL, &saved));
  assert_ok(tsr_partitioner_restore(f->partitioner, saved, f->axes, f->comm, NULL, &state));
  assert_int_equal(tsr_array_tree_count(state), 3);
  check_array(state, kernel_path, f->kernel, sizeof f->kernel);
  check_array(state, moment_path, f->moment, sizeof f->moment);
  check_array(state, "state/step", &f->step, sizeof f->step);
  const tsr_sharding *lies = tsr_array_sharding(tsr_array_tree_find(state, moment_path)->array);
  assert_true(tsr_spec_equal(tsr_sharding_spec(lies), tsr_plan_find_spec(f->axes, moment_path)));
  tsr_array_tree_release(state);
  tsr_checkpoint_release(saved);
}

// From host memory and from the devices, in formats that cut tensors and that do not.
static void a_state_is_saved_and_restored(void **state) {
  (void)state;
  static const tsr_checkpoint_format formats[] = {TSR_FORMAT_ANY, TSR_FORMAT_FILE, TSR_FORMAT_RANKS,
                                                  TSR_FORMAT_FOLDER, TSR_FORMAT_NPZ};
  fixture f;
  tsr_array_tree *moved = NULL;
  make_fixture(&f);
  const tsr_move_options move = {.size = sizeof move, .comm = f.comm, .keep = true};
  assert_ok(tsr_partitioner_move_params(f.partitioner, f.state, f.axes, &move, &moved));
  const char *path = test_folder_path(&f.folder, "step-7");
  assert_ok(tsr_partitioner_save(f.partitioner, f.state, f.axes, path, f.comm, NULL));
  check_restored(&f, path);
  for (size_t i = 0; i < COUNT_OF(formats); i++) {
    const tsr_save_options options = {
        .size = sizeof options, .format = formats[i], .existing = TSR_EXISTING_REPLACE};
    assert_ok(tsr_partitioner_save(f.partitioner, moved, f.axes, path, f.comm, &options));
    check_restored(&f, path);
  }
  tsr_array_tree_release(moved);
  free_fixture(&f);
}

static void a_part_of_a_state_is_restored(void **state) {
  (void)state;
  fixture f;
  tsr_checkpoint *saved = NULL;
  tsr_array_tree *parameters = NULL;
  make_fixture(&f);
  tsr_plan *axes = plan_axes(f.partitioner, kernel_path, ROWS, 1);
  const char *path = test_folder_path(&f.folder, "step-7");
  assert_ok(tsr_partitioner_save(f.partitioner, f.state, f.axes, path, f.comm, NULL));
  assert_ok(tsr_checkpoint_open(path, NULL, &saved));
  assert_ok(tsr_partitioner_restore(f.partitioner, saved, axes, f.comm, NULL, &parameters));
  assert_int_equal(tsr_array_tree_count(parameters), 1);
  check_array(parameters, kernel_path, f.kernel, sizeof f.kernel);
  tsr_array_tree_release(parameters);
  tsr_checkpoint_release(saved);
  tsr_plan_release(axes);
  free_fixture(&f);
}

static void states_that_are_not_there_are_refused(void **state) {
  (void)state;
  fixture f;
  tsr_checkpoint *saved = NULL;
  tsr_array_tree *restored = NULL;
  make_fixture(&f);
  tsr_plan *misspelt = plan_axes(f.partitioner, "target/mlp/wj", ROWS, 3);
  tsr_plan *larger = plan_axes(f.partitioner, kernel_path, 2 * ROWS, 3);
  const tsr_partitioner_options options = partitioner_options(4);
  tsr_partitioner *nowhere = partitioner_of(NULL, &options);
  const char *path = test_folder_path(&f.folder, "step-7");
  assert_ok(tsr_partitioner_save(f.partitioner, f.state, f.axes, path, f.comm, NULL));
  assert_fails_with(tsr_partitioner_save(f.partitioner, f.state, f.axes, path, f.comm, NULL),
                    ALREADY_THERE, "step-7");
  assert_ok(tsr_checkpoint_open(path, NULL, &saved));
  assert_fails_with(
      tsr_partitioner_restore(f.partitioner, saved, misspelt, f.comm, NULL, &restored), NOT_FOUND,
      "the checkpoint has no tensor \"target/mlp/wj\" (is it \"target/mlp/wi\"?)");
  assert_fails_with(tsr_partitioner_restore(f.partitioner, saved, larger, f.comm, NULL, &restored),
                    SHAPES_DIFFER, kernel_path);
  assert_fails_with(tsr_partitioner_restore(nowhere, saved, f.axes, f.comm, NULL, &restored),
                    NO_MESH_ACTIVE, "mesh");
  assert_fails_with(tsr_partitioner_save(nowhere, f.state, f.axes, path, f.comm, NULL),
                    NO_MESH_ACTIVE, "mesh");
  tsr_partitioner_release(nowhere);
  tsr_checkpoint_release(saved);
  tsr_plan_release(larger);
  tsr_plan_release(misspelt);
  free_fixture(&f);
}

SUITE(checkpoints, TEST(a_state_is_saved_and_restored), TEST(a_part_of_a_state_is_restored),
      TEST(states_that_are_not_there_are_refused))
