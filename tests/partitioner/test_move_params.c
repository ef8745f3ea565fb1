// Train states moved to devices.
#include <string.h>

#include "array/array_internal.h"
#include "element/shape_internal.h"
#include "partitioner/partitioner_internal.h"
#include "partitioner/partitioners.h"
#include "support/ranks.h"
#include "support/test.h"
#include "tessera/compat/t5x_partitioner.h"
#include "tessera/engine.h"

enum { ROWS = 8, COLUMNS = 16, ELEMENTS = ROWS * COLUMNS };

// A parameter, the moment its optimizer keeps, and the number of the step, all in host memory.
typedef struct train_state {
  float kernel[ELEMENTS], moment[ELEMENTS];
  int32_t step;
  tsr_array_tree *tensors;
  tsr_plan *axes;
} train_state;

static const char *const kernel_path = "target/mlp/wi";
static const char *const moment_path = "state/param_states/mlp/wi/m";

static tsr_plan *plan_axes(const tsr_partitioner *partitioner) {
  static const int64_t dims[] = {ROWS, COLUMNS};
  static const char *const names[] = {"embed", "mlp"};
  const tsr_tensor tensors[] = {{kernel_path, TSR_F32, 2, dims, names},
                                {moment_path, TSR_F32, 2, dims, NULL},
                                {"state/step", TSR_I32, 0, NULL, NULL}};
  tsr_tree *tree = NULL;
  tsr_plan *plan = NULL;
  assert_ok(tsr_tree_create(tensors, 3, &tree));
  assert_ok(tsr_partitioner_mesh_axes(partitioner, tree, &plan));
  tsr_tree_release(tree);
  return plan;
}

static tsr_leaf host_leaf(const char *path, tsr_dtype dtype, const tsr_shape *shape,
                          const void *data) {
  return (tsr_leaf){
      .tensor = tsr_tensor_of(path, dtype, shape), .kind = TSR_LEAF_HOST, .data = data};
}

static void make_state(const tsr_partitioner *partitioner, train_state *state) {
  for (int i = 0; i < ELEMENTS; i++) {
    state->kernel[i] = (float)i;
    state->moment[i] = (float)-i;
  }
  state->step = 7;
  const tsr_leaf leaves[] = {
      host_leaf(kernel_path, TSR_F32, TSR_SHAPE(ROWS, COLUMNS), state->kernel),
      host_leaf(moment_path, TSR_F32, TSR_SHAPE(ROWS, COLUMNS), state->moment),
      host_leaf("state/step", TSR_I32, TSR_SCALAR, &state->step)};
  assert_ok(tsr_array_tree_create(leaves, 3, &state->tensors));
  state->axes = plan_axes(partitioner);
}

static void drop_state(train_state *state) {
  tsr_array_tree_release(state->tensors);
  tsr_plan_release(state->axes);
}

static tsr_partitioner *of_four(const char *topology) {
  const tsr_partitioner_options options = partitioner_options(4);
  return partitioner_of(topology, &options);
}

static tsr_comm *make_comm(int64_t devices) {
  const tsr_comm_options options = {.size = sizeof options, .workers = 1};
  tsr_comm *comm = NULL;
  assert_ok(tsr_comm_create(devices, &options, &comm));
  return comm;
}

static void assert_lies(const tsr_array_tree *tree, const char *path, const char *spec,
                        const float *values) {
  const tsr_leaf *leaf = tsr_array_tree_find(tree, path);
  tsr_text text = TSR_TEXT_EMPTY;
  float gathered[ELEMENTS];
  assert_int_equal(leaf->kind, TSR_LEAF_ARRAY);
  assert_ok(
      tsr_spec_print(tsr_sharding_spec(tsr_array_sharding(leaf->array)), TSR_FORM_SHORT, &text));
  assert_string_equal(tsr_text_string(&text), spec);
  assert_ok(tsr_array_gather(leaf->array, gathered, sizeof gathered, NULL));
  assert_memory_equal(gathered, values, sizeof gathered);
  tsr_text_deinit(&text);
}

static void a_state_is_put_as_its_axes_say(void **unused) {
  (void)unused;
  tsr_partitioner *partitioner = of_four("gpu:2x4");
  train_state state;
  tsr_array_tree *moved = NULL;
  int32_t step = 0;
  make_state(partitioner, &state);
  const tsr_move_options options = {.size = sizeof options, .comm = make_comm(8)};
  assert_ok(tsr_partitioner_move_params(partitioner, state.tensors, state.axes, &options, &moved));
  assert_lies(moved, kernel_path, "_, model", state.kernel);
  assert_lies(moved, moment_path, "_, model", state.moment);
  assert_ok(
      tsr_array_gather(tsr_array_tree_find(moved, "state/step")->array, &step, sizeof step, NULL));
  assert_int_equal(step, 7);
  tsr_array_tree_release(moved);
  drop_state(&state);
  tsr_comm_release(options.comm);
  tsr_partitioner_release(partitioner);
}

// Arrays on devices are donated, as in t5x, unless they are to be kept.
static void moving_arrays_donates_them(void **unused) {
  (void)unused;
  for (int keep = 0; keep < 2; keep++) {
    tsr_partitioner *partitioner = of_four("gpu:2x4");
    train_state state;
    tsr_array_tree *moved = NULL, *whole = NULL;
    tsr_plan *uncut = NULL;
    const tsr_spec *const specs[3] = {NULL};
    make_state(partitioner, &state);
    const tsr_move_options options = {
        .size = sizeof options, .comm = make_comm(8), .keep = keep != 0};
    assert_ok(
        tsr_partitioner_move_params(partitioner, state.tensors, state.axes, &options, &moved));
    assert_ok(tsr_plan_from_specs(tsr_plan_tree(state.axes), tsr_partitioner_mesh(partitioner),
                                  specs, &uncut));
    assert_ok(tsr_partitioner_move_params(partitioner, moved, uncut, &options, &whole));
    assert_int_equal(tsr_array_is_deleted(tsr_array_tree_find(moved, kernel_path)->array), !keep);
    assert_lies(whole, kernel_path, "()", state.kernel);
    tsr_array_tree_release(whole);
    tsr_array_tree_release(moved);
    tsr_plan_release(uncut);
    drop_state(&state);
    tsr_comm_release(options.comm);
    tsr_partitioner_release(partitioner);
  }
}

static void params_stay_in_host_memory_when_told_so(void **unused) {
  (void)unused;
  tsr_partitioner *partitioner = of_four("gpu:2x4");
  train_state state;
  tsr_array_tree *moved = NULL;
  make_state(partitioner, &state);
  const tsr_move_options options = {.size = sizeof options, .comm = make_comm(8)};
  tsr_partitioner_set_params_on_devices(partitioner, false);
  assert_ok(tsr_partitioner_move_params(partitioner, state.tensors, state.axes, &options, &moved));
  assert_int_equal(tsr_array_tree_find(moved, kernel_path)->kind, TSR_LEAF_HOST);
  assert_ptr_equal(tsr_array_tree_find(moved, kernel_path)->data, state.kernel);
  tsr_array_tree_release(moved);
  drop_state(&state);
  tsr_comm_release(options.comm);
  tsr_partitioner_release(partitioner);
}

// ---- one process of several ----

// Ranks that are asked about, but never talked to.
static tsr_status no_exchange(tsr_comm *comm, const tsr_exchange *parts, int64_t part_count) {
  (void)comm, (void)parts, (void)part_count;
  return tsr_fail(COMM_FAILED, "nobody is there");
}
static tsr_status no_reduction(tsr_comm *comm, const tsr_reduce_job *job) {
  (void)comm, (void)job;
  return tsr_fail(COMM_FAILED, "nobody is there");
}
// All ranks say what this one says.
static tsr_status echo(tsr_comm *comm, const void *mine, size_t bytes, void *out_all) {
  for (int rank = 0; bytes && rank < tsr_comm_rank_count(comm); rank++)
    memcpy((char *)out_all + (size_t)rank * bytes, mine, bytes);
  return NULL;
}
static const tsr_engine lonely = {.size = sizeof lonely,
                                  .name = "lonely",
                                  .exchange = no_exchange,
                                  .reduce = no_reduction,
                                  .share = echo};

// Rank `rank` of four with two devices each.
static tsr_comm *make_rank(int rank) {
  static const int64_t firsts[] = {0, 2, 4, 6, 8};
  const tsr_comm_options options = {.size = sizeof options, .workers = 1};
  const tsr_engine_desc desc = {.size = sizeof desc,
                                .engine = &lonely,
                                .rank = rank,
                                .rank_count = 4,
                                .first_devices = firsts};
  tsr_comm *comm = NULL;
  assert_ok(tsr_comm_create_with_engine(&desc, &options, &comm));
  return comm;
}

// Of (8, 16) cut by data=2 and model=4, a rank of two devices has (4, 8).
static void the_parts_of_a_process_become_global_arrays(void **unused) {
  (void)unused;
  tsr_partitioner *partitioner = of_four("gpu:4x2");
  float part[4 * 8];
  for (int i = 0; i < 4 * 8; i++) part[i] = (float)i;
  const tsr_leaf leaves[] = {host_leaf("w", TSR_F32, TSR_SHAPE(4, 8), part),
                             host_leaf("b", TSR_F32, TSR_SHAPE(8), part),
                             {.tensor.path = "s", .kind = TSR_LEAF_SHAPE, .tensor.dtype = TSR_F32}};
  tsr_array_tree *local = NULL, *global = NULL;
  tsr_spec *spec = NULL;
  assert_ok(tsr_array_tree_create(leaves, 3, &local));
  assert_ok(tsr_spec_parse("data, model", TSR_FORM_ANY, &spec));
  const tsr_spec *const specs[] = {spec, NULL, NULL};
  for (int rank = 0; rank < 4; rank++) {
    tsr_comm *comm = make_rank(rank);
    tsr_local_shard held = TSR_LOCAL_SHARD;
    assert_ok(tsr_array_tree_from_host_local(local, tsr_partitioner_mesh(partitioner), specs, comm,
                                             &global));
    const tsr_array *w = tsr_array_tree_find(global, "w")->array;
    const tsr_shape whole = tsr_array_shape(w),
                    b = tsr_tensor_shape(&tsr_array_tree_find(global, "b")->tensor);
    assert_true(tsr_shape_equal(&whole, TSR_SHAPE(8, 16)));
    assert_true(tsr_shape_equal(&b, TSR_SHAPE(8)));
    assert_int_equal(tsr_array_tree_find(global, "s")->kind, TSR_LEAF_SHAPE);
    assert_int_equal(tsr_array_local_count(w), 2);
    assert_ok(tsr_array_local_at(w, 1, &held));
    assert_int_equal(held.ranges[0].lo, rank / 2 * 4);
    assert_int_equal(held.ranges[1].lo, rank % 2 * 8 + 4);
    assert_true(((const float *)held.data)[0] == part[4]);
    tsr_array_tree_release(global);
    tsr_comm_release(comm);
  }
  tsr_spec_release(spec);
  tsr_array_tree_release(local);
  tsr_partitioner_release(partitioner);
}

static void a_state_may_be_given_in_parts(void **unused) {
  (void)unused;
  tsr_partitioner *partitioner = of_four("gpu:4x2");
  train_state state;
  tsr_array_tree *parts = NULL, *moved = NULL;
  make_state(partitioner, &state);
  const tsr_move_options options = {
      .size = sizeof options, .comm = make_rank(1), .host_local = true};
  const tsr_leaf leaf = host_leaf(kernel_path, TSR_F32, TSR_SHAPE(ROWS, 8), state.kernel);
  assert_ok(tsr_array_tree_create(&leaf, 1, &parts));
  assert_ok(tsr_partitioner_move_params(partitioner, parts, state.axes, &options, &moved));
  const tsr_shape whole = tsr_tensor_shape(&tsr_array_tree_find(moved, kernel_path)->tensor);
  assert_true(tsr_shape_equal(&whole, TSR_SHAPE(ROWS, COLUMNS)));
  tsr_array_tree_release(moved);
  tsr_array_tree_release(parts);
  drop_state(&state);
  tsr_comm_release(options.comm);
  tsr_partitioner_release(partitioner);
}

// ---- mistakes ----

static const struct {
  const char *spec;
  tsr_cause cause;
  const char *message;
} refusals[] = {
    // clang-format off
    {"modle",          TSR_CAUSE_UNKNOWN_MESH_AXIS, "leaf \"w\": dimension 0: axis \"modle\""},
    {"data;model",     TSR_CAUSE_NOT_EXPRESSIBLE,   "leaf \"w\": dimension 0: the global size follows from"},
    {"data:(1)2",      TSR_CAUSE_NOT_EXPRESSIBLE,   "leaf \"w\": dimension 0: the global size follows from"},
    {"_, data",        TSR_CAUSE_RANK_TOO_SMALL,    "leaf \"w\": "},
    // clang-format on
};

static void parts_that_tell_no_whole_are_refused(void **unused) {
  (void)unused;
  tsr_partitioner *partitioner = of_four("gpu:4x2");
  const float part[8] = {0};
  const tsr_leaf leaf = host_leaf("w", TSR_F32, TSR_SHAPE(8), part);
  tsr_array_tree *local = NULL, *global = NULL;
  tsr_mesh *elsewhere = NULL;
  tsr_comm *comm = make_rank(0), *last = make_rank(3);
  assert_ok(tsr_array_tree_create(&leaf, 1, &local));
  for (size_t i = 0; i < COUNT_OF(refusals); i++) {
    tsr_spec *spec = NULL;
    assert_ok(tsr_spec_parse(refusals[i].spec, TSR_FORM_ANY, &spec));
    test_assert_fails_with(
        tsr_array_tree_from_host_local(local, tsr_partitioner_mesh(partitioner),
                                       (const tsr_spec *const[]){spec}, comm, &global),
        refusals[i].cause, refusals[i].message, __FILE__, __LINE__);
    tsr_spec_release(spec);
  }
  assert_ok(tsr_mesh_parse("data=3 devices=[0,1,4]", NULL, &elsewhere));
  assert_fails(tsr_array_tree_from_host_local(local, elsewhere, NULL, last, &global),
               PROCESS_NOT_IN_MESH, "rank 3 has no device in the mesh");
  assert_fails(tsr_array_tree_from_host_local(local, elsewhere, NULL, comm, &global),
               LOCAL_DEVICES_NOT_A_SUBCUBE,
               "rank 0 has 2 places of axis \"data\", which do not divide its 3");
  tsr_mesh_release(elsewhere);
  tsr_array_tree_release(local);
  tsr_comm_release(last);
  tsr_comm_release(comm);
  tsr_partitioner_release(partitioner);
}

static void what_moving_needs_is_asked_for(void **unused) {
  (void)unused;
  const tsr_partitioner_options without = partitioner_options(4);
  tsr_partitioner *partitioner = of_four("gpu:4x2"), *nowhere = partitioner_of(NULL, &without);
  train_state state;
  tsr_array_tree *other = NULL, *moved = NULL;
  make_state(partitioner, &state);
  tsr_move_options options = {.size = sizeof options};
  assert_fails(
      tsr_partitioner_move_params(partitioner, state.tensors, state.axes, &options, &moved),
      BAD_ARGUMENT, "moving a state needs a comm");
  options.comm = make_rank(0);
  assert_fails_with(
      tsr_partitioner_move_params(nowhere, state.tensors, state.axes, &options, &moved),
      NO_MESH_ACTIVE, "no mesh");
  const tsr_leaf leaf = host_leaf("other", TSR_F32, TSR_SHAPE(4), state.kernel);
  assert_ok(tsr_array_tree_create(&leaf, 1, &other));
  options.host_local = true;
  assert_fails(tsr_partitioner_move_params(partitioner, other, state.axes, &options, &moved),
               TREE_MISMATCH, "the plan has no tensor \"other\"");
  options.size = 0;
  assert_fails_with(
      tsr_partitioner_move_params(partitioner, state.tensors, state.axes, &options, &moved),
      BAD_ARGUMENT, "tsr_move_options has size 0");
  tsr_array_tree_release(other);
  drop_state(&state);
  tsr_comm_release(options.comm);
  tsr_partitioner_release(nowhere);
  tsr_partitioner_release(partitioner);
}

// The comm is known from the options alone, and one rank's have no size: all hear of it.
static tsr_status move_without_size(void *context, tsr_comm *comm) {
  const train_state *state = context;
  tsr_move_options options = {.size = sizeof options, .comm = comm};
  tsr_array_tree *moved = NULL;
  if (tsr_comm_rank(comm) == 1) options.size = 0;
  tsr_partitioner *partitioner = of_four("gpu:4x2");
  tsr_status status =
      tsr_partitioner_move_params(partitioner, state->tensors, state->axes, &options, &moved);
  tsr_partitioner_release(partitioner);
  return status;
}

static void a_size_that_one_rank_forgot_fails_on_all(void **unused) {
  (void)unused;
  tsr_partitioner *partitioner = of_four("gpu:4x2");
  train_state state;
  make_state(partitioner, &state);
  assert_fails_with(test_ranks_run(2, (int64_t[]){0, 4, 8}, move_without_size, &state),
                    BAD_ARGUMENT, "tsr_move_options has size 0");
  drop_state(&state);
  tsr_partitioner_release(partitioner);
}

// ---- memory ----

typedef struct sweep {
  const tsr_partitioner *partitioner;
  const train_state *state;
  tsr_move_options options;
} sweep;

static tsr_status move(void *context) {
  const sweep *given = context;
  tsr_array_tree *moved = NULL;
  TSR_TRY(tsr_partitioner_move_params(given->partitioner, given->state->tensors, given->state->axes,
                                      &given->options, &moved));
  tsr_array_tree_release(moved);
  return NULL;
}

// With one rank a process's parts are the whole.
static void moving_survives_every_failing_allocation(void **unused) {
  (void)unused;
  tsr_partitioner *partitioner = of_four("gpu:4x2");
  train_state state;
  make_state(partitioner, &state);
  sweep given = {partitioner, &state, {.size = sizeof given.options, .comm = make_comm(8)}};
  test_allocation_sweep(move, &given);
  given.options.host_local = true;
  test_allocation_sweep(move, &given);
  drop_state(&state);
  tsr_comm_release(given.options.comm);
  tsr_partitioner_release(partitioner);
}

SUITE(move_params, TEST(a_state_is_put_as_its_axes_say), TEST(moving_arrays_donates_them),
      TEST(params_stay_in_host_memory_when_told_so),
      TEST(the_parts_of_a_process_become_global_arrays), TEST(a_state_may_be_given_in_parts),
      TEST(parts_that_tell_no_whole_are_refused), TEST(what_moving_needs_is_asked_for),
      TEST(a_size_that_one_rank_forgot_fails_on_all),
      TEST(moving_survives_every_failing_allocation))
