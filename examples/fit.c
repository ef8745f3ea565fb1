// A plan without rules: the cheapest way to cut a model so that weights, gradients and optimiser
// fit the memory of a device, and what that means for the machine.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/compat/eformer_plan.h>
#include <tessera/tessera.h>

static const tsr_tensor tensors[] = {
    {.path = "embed.weight", .dtype = TSR_BF16, .rank = 2, .dims = (int64_t[]){32000, 4096}},
    {.path = "layers.0.mlp.weight", .dtype = TSR_BF16, .rank = 2, .dims = (int64_t[]){11008, 4096}},
    {.path = "layers.1.mlp.weight", .dtype = TSR_BF16, .rank = 2, .dims = (int64_t[]){11008, 4096}},
    {.path = "norm.weight", .dtype = TSR_BF16, .rank = 1, .dims = (int64_t[]){4096}}};

static tsr_status fit(const tsr_tree *tree, const tsr_mesh *mesh, int64_t limit) {
  tsr_fit_options options = TSR_FIT_OPTIONS;
  options.limit = limit;
  options.gradient_copies = 1;
  options.optimiser_copies = 4;
  TSR_OWN(plan, plan);
  TSR_OWN(analysis, analysis);
  analysis = TSR_ANALYSIS;
  tsr_fit_report report = TSR_FIT_REPORT;
  TSR_TRY(tsr_plan_fit(tree, mesh, &options, &plan, &report));
  TSR_TRY(tsr_plan_analyze(plan, NULL, 0, &analysis));
  printf("at most %" PRId64 " MB: %" PRId64 " MB a device, %" PRId64 " of %" PRId64
         " tensors cut, %" PRId64 " MB gathered in a step%s\n",
         limit / 1000000, report.bytes_per_device / 1000000, analysis.sharded_tensors,
         analysis.tensors, analysis.gathered_bytes / 1000000, report.optimal ? ", optimal" : "");
  return NULL;
}

static tsr_status run(void) {
  TSR_OWN(topology, machine);
  TSR_OWN(tree, tree);
  TSR_OWN(mesh, mesh);
  TSR_TRY(tsr_tree_create(tensors, 4, &tree));
  TSR_TRY(tsr_topology_parse("gpu:1x8:h100", &machine));
  TSR_TRY(tsr_mesh_parse("fsdp=8", machine, &mesh));
  TSR_TRY(fit(tree, mesh, 2000000000));
  TSR_TRY(fit(tree, mesh, 400000000));
  tsr_status status = fit(tree, mesh, 100000000);  // too little: the message says what is needed
  printf("%s\n", tsr_status_text(status));
  tsr_status_free(status);
  return NULL;
}

int main(void) { return tsr_status_exit(run()); }
