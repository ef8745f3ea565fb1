// NULL: options that are defaults, memory where there is nothing to hold, handles that are let go.
#include <stdlib.h>
#include <string.h>

#include "base/progress_internal.h"
#include "contract/world.h"
#include "place/place_internal.h"
#include "advice/advice_internal.h"
#include "plan/plan_internal.h"
#include "plan/tree_internal.h"
#include "rules/rules_internal.h"
#include "sequence/sequence_internal.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/save.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/compat/constrain.h"
#include "tessera/compat/eformer_axes.h"
#include "tessera/compat/eformer_plan.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/placer.h"
#include "tessera/compat/t5x_chunks.h"
#include "tessera/compat/t5x_mesh.h"
#include "tessera/compat/t5x_partitioner.h"
#include "tessera/engine/array.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/pool.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"
#include "transfer/transfer_internal.h"

static void options_may_be_null(void **state) {
  world *w = *state;
  tsr_partitioner *partitioner = NULL;
  assert_fails_with(tsr_partitioner_create(w->topology, NULL, &partitioner), NO_PARTITION_COUNT,
                    "neither num_partitions nor model_parallel_submesh is given");
  tsr_array_tree *moved = NULL;
  assert_fails_with(tsr_partitioner_move_params(w->partitioner, w->arrays, w->plan, NULL, &moved),
                    BAD_ARGUMENT, "needs a comm");
  assert_null(partitioner);
  assert_null(moved);
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_t5x_default_mesh(w->topology, NULL, &mesh));
  tsr_mesh_release(mesh);
  tsr_plan *fitted = NULL, *automatic = NULL;
  assert_ok(tsr_plan_fit(w->tree, w->mesh, NULL, &fitted, NULL));
  assert_ok(tsr_plan_auto(w->tree, w->mesh, NULL, &automatic));
  assert_true(tsr_plan_equal(fitted, automatic));
  tsr_plan_release(fitted);
  tsr_plan_release(automatic);
}

static void host_memory_is_asked_for_only_where_elements_are(void **state) {
  world *w = *state;
  tsr_array *array = NULL;
  assert_fails(tsr_array_shard(w->comm, w->layout, TSR_F32, NULL, NULL, &array), BAD_ARGUMENT,
               "host memory is NULL, but device 0 holds 16 elements");
  assert_fails(tsr_array_from_host_local(w->comm, w->layout, TSR_F32, NULL, NULL, &array),
               BAD_ARGUMENT, "host memory is NULL, but device 0 holds 16 elements");
  assert_fails(tsr_array_to_host_local(w->array, NULL, 0, NULL), BAD_ARGUMENT,
               "no buffer was given, wanted one of at least 512 bytes");
  assert_null(array);

  tsr_layout *empty = NULL;
  assert_ok(tsr_layout_create(w->sharding, TSR_SHAPE(0, 16), TSR_POLICY_ERROR, &empty));
  assert_ok(tsr_array_shard(w->comm, empty, TSR_F32, NULL, NULL, &array));
  assert_ok(tsr_array_to_host_local(array, NULL, 0, NULL));
  tsr_array_release(array);
  tsr_layout_release(empty);
}

static void null_can_be_let_go(void **state) {
  (void)state;
  tsr_array_release(NULL);
  tsr_array_tree_release(NULL);
  tsr_axes_release(NULL);
  tsr_axis_registry_destroy(NULL);
  tsr_buffer_pool_release(NULL);
  tsr_buffer_release(NULL);
  tsr_changes_deinit(NULL);
  tsr_checkpoint_release(NULL);
  tsr_chunker_release(NULL);
  tsr_comm_release(NULL);
  tsr_copies_deinit(NULL);
  tsr_copy_plan_release(NULL);
  tsr_analysis_deinit(NULL);
  tsr_device_array_deinit(NULL);
  tsr_facts_deinit(NULL);
  tsr_findings_deinit(NULL);
  tsr_fsck_destroy(NULL);
  tsr_groups_deinit(NULL);
  tsr_layout_release(NULL);
  tsr_lints_deinit(NULL);
  tsr_load_destroy(NULL);
  tsr_logical_names_deinit(NULL);
  tsr_logical_rules_release(NULL);
  tsr_map_release(NULL);
  tsr_mapping_release(NULL);
  tsr_mesh_release(NULL);
  tsr_partitioner_release(NULL);
  tsr_pieces_deinit(NULL);
  tsr_place_report_deinit(NULL);
  tsr_placer_release(NULL);
  tsr_plan_diff_deinit(NULL);
  tsr_plan_release(NULL);
  tsr_pool_destroy(NULL);
  tsr_progress_finish(NULL);
  tsr_relabelling_deinit(NULL);
  tsr_rules_release(NULL);
  tsr_save_destroy(NULL);
  tsr_sequence_release(NULL);
  tsr_sharding_release(NULL);
  tsr_spec_release(NULL);
  tsr_status_free(NULL);
  tsr_text_deinit(NULL);
  tsr_topology_release(NULL);
  tsr_transform_destroy(NULL);
  tsr_tree_groups_deinit(NULL);
  tsr_tree_release(NULL);
  tsr_verification_destroy(NULL);
}

// Outputs of several parts are written when all parts are there.
static void failures_write_no_part_of_an_output(void **state) {
  world *w = *state;
  const tsr_sharding *before = w->sharding;
  tsr_spec *specs[2] = {w->spec, w->other_spec};
  assert_fails_with(tsr_array_tree_specs(w->arrays, specs), UNSUPPORTED_LEAF, "leaf \"b\"");
  assert_ptr_equal(specs[0], w->spec);
  assert_ptr_equal(specs[1], w->other_spec);

  tsr_spec *strange = NULL;
  assert_ok(tsr_spec_parse("nowhere", TSR_FORM_ANY, &strange));
  const tsr_leaf leaves[] = {{.tensor.path = "a", .kind = TSR_LEAF_ARRAY, .array = w->array},
                             {.tensor = tsr_tensor_of("c", TSR_F32, TSR_SHAPE(4)),
                              .kind = TSR_LEAF_SHAPE,
                              .spec = strange}};
  tsr_array_tree *tree = NULL;
  assert_ok(tsr_array_tree_create(leaves, 2, &tree));
  tsr_sharding *shardings[2] = {w->sharding, w->sharding};
  assert_fails_with(tsr_array_tree_extract_shardings(tree, w->mesh, shardings), UNKNOWN_MESH_AXIS,
                    "leaf \"c\"");
  assert_ptr_equal(shardings[0], before);
  assert_ptr_equal(shardings[1], before);
  tsr_array_tree_release(tree);

  const tsr_match_options as_written = {.size = sizeof as_written, .no_correction = true};
  const tsr_tensor tensor = {.path = "a", .dtype = TSR_F32, .rank = 2, .dims = (int64_t[]){7, 5}};
  const tsr_match_options *options = &as_written;
  tsr_tree *odd = NULL;
  tsr_plan *plan = NULL;
  int64_t bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = -i;
  assert_ok(tsr_tree_create(&tensor, 1, &odd));
  assert_ok(tsr_plan_match(odd, w->mesh, w->rules, options, &plan));
  tsr_status status = tsr_plan_device_bytes(plan, bytes);
  for (int i = 0; status && i < 8; i++) assert_int_equal(bytes[i], -i);
  tsr_status_free(status);
  tsr_plan_release(plan);
  tsr_tree_release(odd);
  tsr_spec_release(strange);
}

int suite_nothing(void);
int suite_nothing(void) {
  const struct CMUnitTest tests[] = {
      TEST(options_may_be_null), TEST(host_memory_is_asked_for_only_where_elements_are),
      TEST(null_can_be_let_go), TEST(failures_write_no_part_of_an_output)};
  return cmocka_run_group_tests_name("nothing", tests, world_set_up, world_tear_down);
}
