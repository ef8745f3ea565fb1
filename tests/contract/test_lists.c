// Lists that are NULL although they have elements, and numbers of elements below 0, are refused.
#include "contract/world.h"
#include "store/checkpoint_internal.h"
#include "tessera/compat/eformer_plan.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/t5x_chunks.h"
#include "tessera/engine/array.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/plan.h"
#include "tessera/engine/pool.h"

typedef tsr_status list_fn(world *w, int n);

#define OUT(place) world_out(w, place)
#define SIZED(place, type) world_sized_out(w, place, sizeof(type))
// What a function with options makes of those whose fields these are.
#define WITH(type, ...) (&(const type){.size = sizeof(type), __VA_ARGS__})

static tsr_status nothing(void *context, int64_t index, int worker) {
  return (void)context, (void)index, (void)worker, NULL;
}

static tsr_status spec_of_dim(world *w, const tsr_spec_dim *dim) {
  return tsr_spec_create(WITH(tsr_spec_desc, .dim_count = 1, .dims = dim), OUT(0));
}

static tsr_status spec_of_stage(world *w, const tsr_stage *stage) {
  return spec_of_dim(w, &(tsr_spec_dim){.stage_count = 1, .stages = stage});
}

static tsr_status transform(world *w, const tsr_transform_options *options) {
  return tsr_transform_create(w->checkpoint, test_folder_path(&w->folder, "t"), options, OUT(0));
}

static tsr_status save(world *w, const tsr_save_options *options) {
  return tsr_save_create(w->arrays, test_folder_path(&w->folder, "s"), w->comm, options, OUT(0));
}

static tsr_status load(world *w, const tsr_load_options *options) {
  return tsr_load_create(w->checkpoint, w->plan, w->comm, options, OUT(0));
}

static const tsr_axis_ref x_axis[] = {{.name = "x"}};

// ---- name, the call with a list of n elements that is not there ----

#define LISTS(X)                                                                                  \
  X(mesh_create, tsr_mesh_create(WITH(tsr_mesh_desc, .axis_count = n), OUT(0)))                   \
  X(mesh_groups, tsr_mesh_groups(w->mesh, NULL, n, OUT(0)))                                       \
  X(mesh_axes_size, tsr_mesh_axes_size(w->mesh, NULL, n, OUT(0)))                                 \
  X(mesh_axes_index, tsr_mesh_axes_index(w->mesh, 0, NULL, n, OUT(0)))                            \
  X(chunker_shard_id, tsr_chunker_shard_id(w->chunker, 0, NULL, n, OUT(0)))                       \
  X(chunker_replica_id, tsr_chunker_replica_id(w->chunker, 0, NULL, n, OUT(0)))                   \
  X(mesh_flatten, tsr_mesh_flatten(w->mesh, NULL, n, "x", OUT(0)))                                \
  X(mesh_transpose, tsr_mesh_transpose(w->mesh, NULL, n, OUT(0)))                                 \
  X(mesh_with_types, tsr_mesh_with_types(w->mesh, NULL, n, OUT(0)))                               \
  X(mesh_collective_cost,                                                                         \
    tsr_mesh_collective_cost(w->mesh, TSR_COLLECTIVE_PERMUTE, NULL, n, 1, OUT(0)))                \
  X(mesh_search, tsr_mesh_search(w->topology, NULL, n, &(tsr_axis_traffic){{0}}, OUT(0), OUT(1))) \
  X(jax_make_mesh, tsr_jax_make_mesh(w->topology, NULL, n, false, OUT(0)))                        \
  X(jax_device_mesh, tsr_jax_create_device_mesh(w->topology, NULL, n, NULL, OUT(0), NULL))        \
  X(jax_hybrid,                                                                                   \
    tsr_jax_create_hybrid_device_mesh(w->topology, NULL, &(int64_t){1}, n, NULL, OUT(0)))         \
  X(jax_hybrid_dcn,                                                                               \
    tsr_jax_create_hybrid_device_mesh(w->topology, &(int64_t){1}, NULL, n, NULL, OUT(0)))         \
  X(mesh_from_array,                                                                              \
    tsr_mesh_from_array(w->topology, &(tsr_device_array){.rank = n, .dims = {1}}, NULL, OUT(0)))  \
  X(spec_dims, tsr_spec_create(WITH(tsr_spec_desc, .dim_count = n), OUT(0)))                      \
  X(spec_unreduced, tsr_spec_create(WITH(tsr_spec_desc, .unreduced_count = n), OUT(0)))           \
  X(spec_reduced, tsr_spec_create(WITH(tsr_spec_desc, .reduced_count = n), OUT(0)))               \
  X(spec_replicated, tsr_spec_create(WITH(tsr_spec_desc, .replicated_count = n), OUT(0)))         \
  X(spec_stages, spec_of_dim(w, &(tsr_spec_dim){.stage_count = n}))                               \
  X(spec_axes, spec_of_stage(w, &(tsr_stage){.axis_count = n}))                                   \
  X(spec_sizes,                                                                                   \
    spec_of_stage(w, &(tsr_stage){TSR_STAGE_SIZES, 1, x_axis, .count = n, .sizes = NULL}))        \
  X(spec_parts,                                                                                   \
    spec_of_stage(w, &(tsr_stage){TSR_STAGE_PARTS, 1, x_axis, .count = n, .parts = NULL}))        \
  X(tree_create, tsr_tree_create(NULL, n, OUT(0)))                                                \
  X(tree_dims,                                                                                    \
    tsr_tree_create(&(tsr_tensor){.path = "x", .dtype = TSR_F32, .rank = n}, 1, OUT(0)))          \
  X(array_tree_create, tsr_array_tree_create(NULL, n, OUT(0)))                                    \
  X(array_reshard_all, tsr_array_reshard_all(NULL, NULL, n, NULL, OUT(0)))                        \
  X(array_reshard_all_layouts, tsr_array_reshard_all(&w->array, NULL, n, NULL, OUT(0)))           \
  X(rules_create, tsr_rules_create(NULL, n, OUT(0)))                                              \
  X(rules_facts,                                                                                  \
    tsr_rules_parse("x -> ()", NULL, WITH(tsr_rules_options, .fact_count = n), OUT(0)))           \
  X(rules_rename,                                                                                 \
    tsr_rules_parse("x -> ()", NULL, WITH(tsr_rules_options, .rename_axis_count = n), OUT(0)))    \
  X(plan_auto, tsr_plan_auto(w->tree, w->mesh, WITH(tsr_auto_options, .name_count = n), OUT(0)))  \
  X(plan_fit,                                                                                     \
    tsr_plan_fit(w->tree, w->mesh, WITH(tsr_fit_options, .limit = 1 << 20, .name_count = n),      \
                 OUT(0), NULL))                                                                   \
  X(plan_check, tsr_plan_check(w->plan, WITH(tsr_check_options, .fact_count = n), OUT(0)))        \
  X(transform_include, transform(w, WITH(tsr_transform_options, .include_count = n)))             \
  X(transform_exclude, transform(w, WITH(tsr_transform_options, .exclude_count = n)))             \
  X(transform_casts, transform(w, WITH(tsr_transform_options, .cast_count = n)))                  \
  X(save_include, save(w, WITH(tsr_save_options, .include_count = n)))                            \
  X(save_exclude, save(w, WITH(tsr_save_options, .exclude_count = n)))                            \
  X(save_casts, save(w, WITH(tsr_save_options, .cast_count = n)))                                 \
  X(save_metadata, save(w, WITH(tsr_save_options, .metadata_count = n)))                          \
  X(load_include, load(w, WITH(tsr_load_options, .include_count = n)))                            \
  X(load_exclude, load(w, WITH(tsr_load_options, .exclude_count = n)))                            \
  X(load_casts, load(w, WITH(tsr_load_options, .cast_count = n)))

// ---- the call with a number below 0 ----

#define NUMBERS(X)                                                                            \
  X(comm_create, tsr_comm_create(n, NULL, OUT(0)))                                            \
  X(pool_run, tsr_pool_run(NULL, n, nothing, NULL))                                           \
  X(array_tree_gather, tsr_array_tree_gather(w->arrays, n - 1, OUT(0)))                       \
  X(plan_analyze,                                                                             \
    tsr_plan_analyze(w->plan, (const char *const[]){"data"}, n, SIZED(0, tsr_analysis)))      \
  X(transform_jobs, transform(w, WITH(tsr_transform_options, .jobs = n)))                     \
  X(verify_jobs, tsr_checkpoint_verify(w->checkpoint, w->checkpoint,                          \
                                       WITH(tsr_verify_options, .jobs = n), OUT(0)))          \
  X(verify_tolerance,                                                                         \
    tsr_checkpoint_verify(w->checkpoint, w->checkpoint,                                       \
                          WITH(tsr_verify_options, .tolerant = true, .absolute = n), OUT(0))) \
  X(fsck_jobs,                                                                                \
    tsr_fsck_run(tsr_checkpoint_path(w->checkpoint), WITH(tsr_fsck_options, .jobs = n), OUT(0)))

#define CALL(name, call) \
  static tsr_status call_##name(world *w, int n) { return (void)w, call; }
LISTS(CALL)
NUMBERS(CALL)
#undef CALL

typedef struct list_row {
  const char *name;
  list_fn *call;
} list_row;
#define ROW(name, call) {#name, call_##name},
static const list_row lists[] = {LISTS(ROW)};
static const list_row numbers[] = {NUMBERS(ROW)};
#undef ROW

// How many of the calls take n.
static int taken(world *w, const list_row *rows, size_t count, int n) {
  int failures = 0;
  for (size_t r = 0; r < count; r++)
    failures += world_judge(w, rows[r].name, n, rows[r].call(w, n));
  return failures;
}

static void lists_that_are_not_there_are_refused(void **state) {
  world *w = *state;
  const int failures = taken(w, lists, COUNT_OF(lists), 1) + taken(w, lists, COUNT_OF(lists), 2) +
                       taken(w, lists, COUNT_OF(lists), -1);
  if (failures) fail_msg("%d calls do not keep the contract", failures);
  tsr_mesh *mesh = NULL;
  assert_fails(tsr_mesh_create(WITH(tsr_mesh_desc, .axis_count = 2), &mesh), BAD_ARGUMENT,
               "no list of axes was given, wanted one of 2");
  assert_fails(tsr_mesh_create(WITH(tsr_mesh_desc, .axis_count = -2), &mesh), BAD_ARGUMENT,
               "-2 axes, wanted 0 or more");
}

static void numbers_below_0_are_refused(void **state) {
  world *w = *state;
  const int failures = taken(w, numbers, COUNT_OF(numbers), -1);
  if (failures) fail_msg("%d calls do not keep the contract", failures);
}

static void places_for_as_many_as_there_are_are_asked_for(void **state) {
  world *w = *state;
  tsr_layout *layout = NULL;
  tsr_plan *plan = NULL;
  tsr_array *array = NULL;
  assert_fails(tsr_layout_box(w->layout, 0, NULL), BAD_ARGUMENT,
               "no list of ranges was given, wanted one of 2");
  assert_fails_with(tsr_layout_index_map(w->layout, NULL), BAD_ARGUMENT, "no list of ranges");
  assert_fails_with(tsr_array_host_local(w->comm, w->layout, NULL), BAD_ARGUMENT, "no list of");
  assert_fails_with(tsr_layout_from_boxes(NULL, TSR_SHAPE(8, 16), 1, &(int64_t){1}, NULL, &layout),
                    BAD_ARGUMENT, "no list of ranges");
  assert_fails(tsr_array_from_buffers(w->comm, w->layout, TSR_F32, NULL, &array), BAD_ARGUMENT,
               "no list of buffers was given, wanted one of 8");
  assert_fails(tsr_plan_from_specs(w->tree, w->mesh, NULL, &plan), BAD_ARGUMENT,
               "no list of specs was given, wanted one of 2");
}

// Names and patterns in a list are looked at too.
static void elements_that_are_null_are_refused(void **state) {
  world *w = *state;
  static const char *const none[] = {NULL};
  static const tsr_cast_rule cast = {.dtype = TSR_BF16};
  static const tsr_metadata item = {.key = "format"};
  static const tsr_fact fact = {.value = 1};
  assert_fails(tsr_mesh_groups(w->mesh, none, 1, OUT(0)), BAD_ARGUMENT, "an axis without a name");
  assert_fails_with(save(w, WITH(tsr_save_options, .include = none, .include_count = 1)),
                    BAD_ARGUMENT, "number 0 of the patterns to include is NULL");
  assert_fails_with(load(w, WITH(tsr_load_options, .casts = &cast, .cast_count = 1)), BAD_ARGUMENT,
                    "cast 0 has no pattern");
  assert_fails_with(save(w, WITH(tsr_save_options, .metadata = &item, .metadata_count = 1)),
                    BAD_ARGUMENT, "item 0 of the metadata has no key or no value");
  assert_fails(tsr_rules_parse("x -> ()", NULL,
                               WITH(tsr_rules_options, .facts = &fact, .fact_count = 1), OUT(0)),
               BAD_ARGUMENT, "fact 0 has no name");
}

int suite_lists(void);
int suite_lists(void) {
  const struct CMUnitTest tests[] = {TEST(lists_that_are_not_there_are_refused),
                                     TEST(numbers_below_0_are_refused),
                                     TEST(places_for_as_many_as_there_are_are_asked_for),
                                     TEST(elements_that_are_null_are_refused)};
  return cmocka_run_group_tests_name("lists", tests, world_set_up, world_tear_down);
}
