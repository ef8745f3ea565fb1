// Compiled by tests/headers/nonnull, once for each CASE: NULL where it is refused, but for CASE 0.
#include "tessera/engine.h"
#include "tessera/tessera.h"

tsr_status use(tsr_comm *comm, const tsr_mesh *mesh, const tsr_layout *layout, tsr_array *array,
               void *bytes);
tsr_status use(tsr_comm *comm, const tsr_mesh *mesh, const tsr_layout *layout, tsr_array *array,
               void *bytes) {
  (void)comm, (void)mesh, (void)layout, (void)array, (void)bytes;
#if CASE == 0
  tsr_mesh *made = NULL;
  TSR_TRY(tsr_mesh_parse("data=2", NULL, &made));  // no topology
  tsr_mesh_release(made);
  tsr_mesh_release(NULL);
  tsr_text_deinit(NULL);
  tsr_status_free(NULL);
  tsr_log_set(NULL, NULL);  // to stderr
  tsr_tree *tree = NULL;
  TSR_TRY(tsr_tree_create(NULL, 0, &tree));  // no tensors
  tsr_plan *plan = NULL;
  TSR_TRY(tsr_plan_from_preset("model", NULL, NULL, &plan));  // no mesh, the model's own preset
  TSR_TRY(tsr_plan_fit(tree, mesh, NULL, &plan, NULL));       // no options, no report
  tsr_array *empty = NULL;
  TSR_TRY(tsr_array_shard(comm, layout, TSR_F32, NULL, NULL, &empty));  // no element is here
  TSR_TRY(tsr_array_gather(array, NULL, 0, NULL));                      // another rank gets it
  TSR_TRY(tsr_array_reshard_all(NULL, NULL, 0, NULL, NULL));            // no arrays
  TSR_TRY(tsr_convert(TSR_F32, NULL, TSR_BF16, NULL, 0));               // no elements
  return tsr_note(NULL, "nothing");
#elif CASE == 1  // an output
  return tsr_mesh_parse("data=2", NULL, NULL);
#elif CASE == 2  // a text
  tsr_layout *made = NULL;
  return tsr_layout_from_text(mesh, NULL, TSR_SHAPE(8), &made);
#elif CASE == 3  // a handle that is looked at
  return tsr_mesh_axis_count(NULL) ? NULL : NULL;
#elif CASE == 4  // a handle among arguments that may be NULL
  tsr_array *made = NULL;
  return tsr_array_shard(comm, NULL, TSR_F32, bytes, NULL, &made);
#elif CASE == 5  // a callback
  return tsr_array_write_all(array, NULL, NULL);
#elif CASE == 6  // a struct
  tsr_mesh *made = NULL;
  return tsr_mesh_create(NULL, &made);
#elif CASE == 7  // of the engines' tier
  tsr_sharding *made = NULL;
  return tsr_sharding_bind(mesh, NULL, false, &made);
#elif CASE == 8  // the last of many
  return tsr_array_put(comm, mesh, "x", TSR_SHAPE(8), TSR_F32, bytes, NULL);
#elif CASE == 9  // retaining
  return tsr_comm_retain(NULL) ? NULL : NULL;
#endif
}
