// From rules to bytes on devices: the parameters of a small layer are cut by rules, an activation
// is constrained by what its dimensions mean, and everything comes back to host memory.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tessera/tessera.h>
#include <tessera/compat/constrain.h>
#include <tessera/compat/eformer_axes.h>
#include <tessera/compat/placer.h>

static float up[64 * 16], down[16 * 64], norm[16];

static const char rules_text[] =
    "up$    ->  fsdp, tp\n"
    "down$  ->  tp, fsdp\n"
    "norm$  ->  _\n";

static tsr_leaf host_leaf(const char *path, const tsr_shape *shape, const float *data) {
  return (tsr_leaf){
      .tensor = tsr_tensor_of(path, TSR_F32, shape), .kind = TSR_LEAF_HOST, .data = data};
}

static tsr_status make_parameters(tsr_array_tree **out_tree) {
  for (int i = 0; i < 64 * 16; i++) up[i] = down[i] = (float)i;
  for (int i = 0; i < 16; i++) norm[i] = 1;
  const tsr_leaf leaves[] = {host_leaf("mlp/up", TSR_SHAPE(64, 16), up),
                             host_leaf("mlp/down", TSR_SHAPE(16, 64), down),
                             host_leaf("norm", TSR_SHAPE(16), norm)};
  return tsr_array_tree_create(leaves, 3, out_tree);
}

static bool is_down(const void *data) {
  const float *values = data;
  for (int i = 0; i < 16 * 64; i++)
    if (values[i] != down[i]) return false;
  return true;
}

// make_shard_and_gather_fns: rules, the plan they come to, and the functions that carry it out.
static tsr_status make_placer(const tsr_array_tree *parameters, const tsr_mesh *mesh,
                              tsr_comm *comm, tsr_placer **out_placer) {
  tsr_place_options options = TSR_PLACE_OPTIONS;
  options.comm = comm;
  tsr_tree *shapes = NULL;
  tsr_rules *rules = NULL;
  tsr_plan *plan = NULL;
  tsr_status status = tsr_array_tree_shapes(parameters, &shapes);
  if (!status) status = tsr_rules_parse(rules_text, "layer.rules", NULL, &rules);
  if (!status) status = tsr_plan_match(shapes, mesh, rules, NULL, &plan);
  if (!status) status = tsr_placer_create(plan, &options, out_placer);
  tsr_plan_release(plan);
  tsr_rules_release(rules);
  tsr_tree_release(shapes);
  return status;
}

static void print_arrays(const tsr_array_tree *tree) {
  for (int64_t i = 0; i < tsr_array_tree_count(tree); i++) {
    const tsr_leaf *leaf = tsr_array_tree_at(tree, i);
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_array_print(leaf->array, &text);
    printf("%-8s  %s\n", leaf->tensor.path, tsr_text_string(&text));
    tsr_text_deinit(&text);
  }
}

// An activation (batch 4, length 6, embed 16) on the mesh, cut by what its dimensions mean. A
// length of 6 does not divide by sp=4, which is told.
static tsr_status constrain_activation(const tsr_mesh *mesh, tsr_comm *comm) {
  static const float zeros[4 * 6 * 16];
  const tsr_leaf leaf = host_leaf("activation", TSR_SHAPE(4, 6, 16), zeros);
  tsr_axes_request request = TSR_AXES_REQUEST;
  request.dynamic = tsr_dynamic_axes_find("HiddenStateSharding");
  tsr_place_options options = TSR_PLACE_OPTIONS;
  options.comm = comm;
  tsr_placer *whole = NULL;
  tsr_array *array = NULL, *cut = NULL;
  tsr_axes *axes = NULL;
  tsr_place_report report = TSR_PLACE_REPORT;
  tsr_status status =
      tsr_placer_from_specs((const char *const[]){"activation"}, (const tsr_spec *const[]){NULL}, 1,
                            mesh, &options, &whole);
  if (!status) status = tsr_placer_shard_leaf(whole, &leaf, &array, NULL);
  if (!status) status = tsr_axes_create(NULL, 0, &axes);
  if (!status)
    status = tsr_array_constrain_axes(array, axes, NULL, &request, mesh, true, NULL, &cut, &report);
  if (!status) {
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_place_report_print(&report, &text);
    printf("\nactivation %s", tsr_text_string(&text));
    tsr_text_deinit(&text);
    tsr_place_report_deinit(&report);
  }
  tsr_axes_release(axes);
  tsr_array_release(cut);
  tsr_array_release(array);
  tsr_placer_release(whole);
  return status;
}

static tsr_status run(const tsr_mesh *mesh, tsr_comm *comm) {
  tsr_array_tree *parameters = NULL, *placed = NULL, *back = NULL;
  tsr_placer *placer = NULL;
  tsr_status status = make_parameters(&parameters);
  if (!status) status = make_placer(parameters, mesh, comm, &placer);
  if (!status) status = tsr_placer_shard(placer, parameters, &placed, NULL);
  if (!status) print_arrays(placed);
  if (!status) status = constrain_activation(mesh, comm);
  if (!status) status = tsr_placer_gather(placer, placed, &back);
  if (!status)
    printf("\ngathered %s\n",
           is_down(tsr_array_tree_find(back, "mlp/down")->data) ? "as it was" : "wrongly");
  tsr_array_tree_release(back);
  tsr_array_tree_release(placed);
  tsr_placer_release(placer);
  tsr_array_tree_release(parameters);
  return status;
}

int main(void) {
  tsr_mesh *mesh = NULL;
  tsr_comm *comm = NULL;
  tsr_status status = tsr_mesh_parse("dp=1,fsdp=2,tp=4,sp=4", NULL, &mesh);
  if (!status) status = tsr_comm_create(tsr_mesh_device_count(mesh), NULL, &comm);
  if (!status) status = run(mesh, comm);
  if (status) fprintf(stderr, "%s\n", tsr_status_text(status));
  tsr_comm_release(comm);
  tsr_mesh_release(mesh);
  const int code = status ? 1 : 0;
  tsr_status_free(status);
  return code;
}
