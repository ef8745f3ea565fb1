// From rules to bytes on devices: the parameters of a small layer are cut by rules, an activation
// is constrained by what its dimensions mean, and everything comes back to host memory.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tessera/compat/constrain.h>
#include <tessera/compat/eformer_axes.h>
#include <tessera/compat/placer.h>
#include <tessera/tessera.h>

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
  TSR_OWN(tree, shapes);
  TSR_OWN(rules, rules);
  TSR_OWN(plan, plan);
  TSR_TRY(tsr_array_tree_shapes(parameters, &shapes));
  TSR_TRY(tsr_rules_parse(rules_text, "layer.rules", NULL, &rules));
  TSR_TRY(tsr_plan_match(shapes, mesh, rules, NULL, &plan));
  return tsr_placer_create(plan, &options, out_placer);
}

// An activation (batch 4, length 6, embed 16) on the mesh, cut by what its dimensions mean. A
// length of 6 does not divide by sp=4, which the report says.
static tsr_status constrain_activation(const tsr_mesh *mesh, tsr_comm *comm) {
  static const float zeros[4 * 6 * 16];
  tsr_axes_request request = TSR_AXES_REQUEST;
  request.dynamic = tsr_dynamic_axes_find("HiddenStateSharding");
  TSR_OWN(array, array);
  TSR_OWN(array, cut);
  TSR_OWN(axes, axes);
  TSR_OWN(place_report, report);
  TSR_OWN(text, text);
  report = TSR_PLACE_REPORT;
  TSR_TRY(tsr_array_put(comm, mesh, "()", TSR_SHAPE(4, 6, 16), TSR_F32, zeros, &array));
  TSR_TRY(tsr_axes_create(NULL, 0, &axes));
  TSR_TRY(tsr_array_constrain_axes(array, axes, NULL, &request, mesh, true, NULL, &cut, &report));
  tsr_place_report_print(&report, &text);
  printf("\nactivation %s", tsr_text_string(&text));
  return NULL;
}

static tsr_status run(void) {
  TSR_OWN(mesh, mesh);
  TSR_OWN(comm, comm);
  TSR_OWN(array_tree, parameters);
  TSR_OWN(array_tree, placed);
  TSR_OWN(array_tree, back);
  TSR_OWN(placer, placer);
  TSR_OWN(text, text);
  TSR_TRY(tsr_mesh_parse("dp=1,fsdp=2,tp=4,sp=4", NULL, &mesh));
  TSR_TRY(tsr_comm_create(tsr_mesh_device_count(mesh), NULL, &comm));
  TSR_TRY(make_parameters(&parameters));
  TSR_TRY(make_placer(parameters, mesh, comm, &placer));
  TSR_TRY(tsr_placer_shard(placer, parameters, &placed, NULL));
  tsr_array_tree_print(placed, &text);
  printf("%s", tsr_text_string(&text));
  TSR_TRY(constrain_activation(mesh, comm));
  TSR_TRY(tsr_placer_gather(placer, placed, &back));
  printf("\ngathered %s\n",
         is_down(tsr_array_tree_find(back, "mlp/down")->data) ? "as it was" : "wrongly");
  return NULL;
}

int main(void) { return tsr_status_exit(run()); }
