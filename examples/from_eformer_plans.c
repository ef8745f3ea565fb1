// eformer's automatic specs in C: a model without rules is cut by its sizes, the plan is checked,
// counted, and moved to a mesh of twice as many devices.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/compat/eformer_plan.h>
#include <tessera/tessera.h>

static const tsr_tensor tensors[] = {
    {.path = "embed", .dtype = TSR_F32, .rank = 2, .dims = (int64_t[]){1024, 64}},
    {.path = "mlp", .dtype = TSR_F32, .rank = 2, .dims = (int64_t[]){64, 256}},
    {.path = "norm", .dtype = TSR_F32, .rank = 1, .dims = (int64_t[]){64}}};

static tsr_status print_spec(const char *what, const tsr_spec *spec) {
  TSR_OWN(text, out);
  TSR_TRY(tsr_spec_print(spec, TSR_FORM_JAX, &out));
  printf("%-8s %s\n", what, tsr_text_string(&out));
  return NULL;
}

static tsr_status print_plan(const char *title, const tsr_plan *plan) {
  printf("%s\n", title);
  for (int64_t i = 0; i < tsr_plan_count(plan); i++)
    TSR_TRY(print_spec(tensors[i].path, tsr_plan_find_spec(plan, tensors[i].path)));
  return NULL;
}

// auto_partition_spec of one shape: names, reverse and min_sharding_size are options.
static tsr_status one_shape(const tsr_mesh *mesh) {
  tsr_auto_options options = TSR_AUTO_OPTIONS;
  options.names = (const char *const[]){"tp", "dp"};
  options.name_count = 2;
  options.reverse = true;
  options.min_size = 128;
  TSR_OWN(spec, spec);
  TSR_TRY(tsr_auto_spec(TSR_SHAPE(64, 256), mesh, &options, &spec));
  return print_spec("reversed", spec);
}

// validate_sharding_config.
static tsr_status check(const tsr_plan *plan) {
  tsr_findings findings = {0};
  TSR_TRY(tsr_plan_check(plan, NULL, &findings));
  printf("%" PRId64 " errors, %" PRId64 " warnings\n", findings.errors, findings.warnings);
  tsr_findings_deinit(&findings);
  return NULL;
}

// analyze_sharding_strategy, with all of its five figures.
static tsr_status analyze(const tsr_plan *plan) {
  TSR_OWN(analysis, analysis);
  analysis = TSR_ANALYSIS;
  TSR_TRY(tsr_plan_analyze(plan, NULL, 0, &analysis));
  printf("total_parameters %" PRId64 ", sharded_parameters %" PRId64 ", memory_per_device %" PRId64
         " bytes, balance_score %.2f, partition_stats of %" PRId64 " specs\n",
         analysis.elements, analysis.sharded_elements, analysis.device_max, analysis.balance,
         analysis.spec_count);
  return NULL;
}

// optimize_sharding_for_memory, over the named axes only.
static tsr_status fit(const tsr_tree *tree, const tsr_mesh *mesh) {
  tsr_fit_options options = TSR_FIT_OPTIONS;
  options.limit = 100000;
  options.names = (const char *const[]){"tp"};
  options.name_count = 1;
  TSR_OWN(plan, plan);
  TSR_TRY(tsr_plan_fit(tree, mesh, &options, &plan, NULL));
  return print_plan("at most 100 kB on a device, over tp alone", plan);
}

static tsr_status run(void) {
  TSR_OWN(tree, tree);
  TSR_OWN(mesh, mesh);
  TSR_OWN(mesh, larger);
  TSR_OWN(plan, plan);
  TSR_OWN(plan, converted);
  TSR_TRY(tsr_tree_create(tensors, 3, &tree));
  TSR_TRY(tsr_mesh_parse("dp=2,tp=4", NULL, &mesh));
  TSR_TRY(tsr_mesh_parse("dp=4,tp=4", NULL, &larger));
  TSR_TRY(tsr_plan_auto(tree, mesh, NULL, &plan));
  TSR_TRY(print_plan("on 8 devices", plan));
  TSR_TRY(one_shape(mesh));
  TSR_TRY(check(plan));
  TSR_TRY(analyze(plan));
  TSR_TRY(fit(tree, mesh));
  TSR_TRY(tsr_plan_convert(plan, larger, "preserve_balance", &converted));
  return print_plan("on 16 devices", converted);
}

int main(void) { return tsr_status_exit(run()); }
