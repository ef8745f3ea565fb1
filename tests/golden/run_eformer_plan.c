// eformer's questions about whole plans: what they mean, and what they become on another mesh.
#include "advice/plan_auto_internal.h"
#include "golden/golden.h"
#include "json/json.h"
#include "mesh/mesh_internal.h"
#include "spec/spec_internal.h"
#include "tessera/compat/eformer_plan.h"
#include "tessera/engine/plan.h"
#include "tessera/engine/sharding.h"

// ---- analysis ----

static void write_int(tsr_json_writer *out, const char *key, int64_t value) {
  tsr_json_write_key(out, key);
  tsr_json_write_int(out, value);
}

// eformer leaves the last three empty.
static void write_strategy(tsr_json_writer *out, const tsr_analysis *analysis) {
  tsr_json_begin_object(out);
  write_int(out, "total_parameters", analysis->elements);
  write_int(out, "sharded_parameters", analysis->sharded_elements);
  tsr_json_write_key(out, "memory_per_device");
  tsr_json_begin_object(out);
  write_int(out, "min", analysis->device_min);
  write_int(out, "max", analysis->device_max);
  tsr_json_end_object(out);
  tsr_json_write_key(out, "balance_score");
  tsr_json_write_double(out, analysis->balance);
  tsr_json_write_key(out, "partition_stats");
  tsr_analysis_to_json(analysis, out);
  tsr_json_end_object(out);
}

static void write_memory(tsr_json_writer *out, const tsr_analysis *analysis) {
  tsr_json_begin_object(out);
  write_int(out, "total_size", analysis->bytes);
  write_int(out, "size_per_device", analysis->device_max);
  tsr_json_end_object(out);
}

static tsr_status analyze(const golden_case *c, tsr_json_writer *out,
                          void (*write)(tsr_json_writer *out, const tsr_analysis *analysis)) {
  golden_plan of = {0};
  tsr_analysis analysis = TSR_ANALYSIS;
  tsr_status status = golden_read_plan(c, &of);
  if (!status) status = tsr_plan_analyze(of.plan, NULL, 0, &analysis);
  if (!status) write(out, &analysis);
  tsr_analysis_deinit(&analysis);
  golden_release_plan(&of);
  return status;
}

tsr_status golden_analyze_sharding_strategy(const golden_case *c, const golden_answer *answer) {
  return analyze(c, answer->out, write_strategy);
}

tsr_status golden_estimate_memory_usage(const golden_case *c, const golden_answer *answer) {
  return analyze(c, answer->out, write_memory);
}

// ---- conversion ----

// eformer knows one shape, which stands for all.
static tsr_status read_old_tree(const golden_case *c, const tsr_json *specs, tsr_tree **out) {
  const tsr_json *array = golden_get(c, "array");
  const size_t count = tsr_json_count(specs);
  const char *dtype = NULL;
  golden_ints dims;
  tsr_tensor *tensors = tsr_arena_zeros(c->arena, count + 1, sizeof *tensors);
  if (!tensors) return tsr_fail(NO_MEMORY, "tensors");
  TSR_TRY(golden_read_ints(c, tsr_json_find(array, "shape"), "shape", &dims));
  TSR_TRY(golden_read_string(c, tsr_json_find(array, "dtype"), "dtype", &dtype));
  for (size_t i = 0; i < count; i++) {
    const tsr_json *name = tsr_json_at(tsr_json_at(specs, i), 0);
    TSR_TRY(golden_read_string(c, name, "old_specs", &tensors[i].path));
    TSR_TRY(tsr_dtype_parse(dtype, &tensors[i].dtype));
    tensors[i].rank = dims.count;
    tensors[i].dims = dims.items;
  }
  return tsr_tree_create(tensors, (int64_t)count, out);
}

// Every old spec must be one of the old mesh: a plan would drop what is not.
static tsr_status read_old_spec(const tsr_json *value, const tsr_mesh *mesh,
                                const tsr_spec **out_spec) {
  tsr_sharding *sharding = NULL;
  tsr_spec *spec = NULL;
  TSR_TRY(tsr_spec_from_json(value, &spec));
  *out_spec = spec;
  TSR_TRY(tsr_sharding_bind(mesh, spec, false, &sharding));
  tsr_sharding_release(sharding);
  return NULL;
}

static tsr_status read_old_plan(const golden_case *c, golden_plan *of) {
  const tsr_json *specs = golden_get(c, "old_specs");
  const size_t count = tsr_json_count(specs);
  TSR_TRY(read_old_tree(c, specs, &of->tree));
  of->specs = tsr_arena_zeros(c->arena, count + 1, sizeof *of->specs);
  if (!of->specs) return tsr_fail(NO_MEMORY, "specs");
  TSR_TRY(tsr_mesh_from_json(tsr_json_find(c->json, "mesh"), NULL, &of->mesh));
  for (size_t i = 0; i < count; i++)
    TSR_TRY(read_old_spec(tsr_json_at(tsr_json_at(specs, i), 1), of->mesh, &of->specs[i]));
  return tsr_plan_from_specs(of->tree, of->mesh, of->specs, &of->plan);
}

static tsr_status convert(const golden_case *c, golden_plan *of, tsr_plan **out) {
  const char *strategy = NULL;
  tsr_mesh *mesh = NULL;
  TSR_TRY(read_old_plan(c, of));
  if (golden_get(c, "strategy"))
    TSR_TRY(golden_read_string(c, golden_get(c, "strategy"), "strategy", &strategy));
  TSR_TRY(tsr_mesh_from_json(golden_get(c, "new_mesh"), NULL, &mesh));
  tsr_status status = tsr_plan_convert(of->plan, mesh, strategy, out);
  tsr_mesh_release(mesh);
  return status;
}

tsr_status golden_convert_sharding_strategy(const golden_case *c, const golden_answer *answer) {
  golden_plan of = {0};
  tsr_plan *plan = NULL;
  tsr_status status = convert(c, &of, &plan);
  if (!status) golden_write_plan(answer->out, plan);
  tsr_plan_release(plan);
  golden_release_plan(&of);
  return status;
}
