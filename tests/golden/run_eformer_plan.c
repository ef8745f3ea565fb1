// eformer's questions about whole plans: what they mean, and what they become on another mesh.
#include "golden/golden.h"

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
  tsr_analysis analysis = {0};
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
