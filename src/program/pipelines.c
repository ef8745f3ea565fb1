// Passes made of others: lists, some of whose parts depend on options.
#include "program/pipelines.h"

#include "base/text_internal.h"
#include "factor/factor_passes.h"
#include "propagate/sharding_passes.h"
#include "simplify/passes.h"

#define PASS(...)
#define PASS_OPTION(id, ...) OPTION_##id,
enum pipeline_option {
#include "program/pipelines.def"
};
#undef PASS
#undef PASS_OPTION

// ---- lists ----

static const char import_list[] =
    "symbol-dce,sdy-lift-inlined-meshes,sdy-remove-size-one-axes,"
    "sdy-propagate-sharding-from-func-to-call,sdy-constant-or-scalar-splitter,symbol-dce,"
    "sdy-manual-axes-cleanup,sdy-add-data-flow-edges";
// Constraints and groups come last, once each call has a body of its own.
static const char settle_list[] = ",sdy-apply-sharding-constraints,sdy-sharding-group-import";
static const char copy_calls_list[] =
    ",sdy-flatten-call-graph,symbol-dce,sdy-import-func-calls,symbol-dce";
static const char propagate_list[] =
    ",sdy-pre-order-funcs,sdy-user-priority-propagate{keep-sharding-rules}";
static const char shared_calls_list[] =
    ",sdy-propagate-to-func-results,sdy-sink-func-data-flow-edges";
static const char copied_calls_list[] =
    ",sdy-export-named-computations,sdy-propagate-to-func-results";
static const char finish_list[] =
    ",sdy-unflatten-call-graph,symbol-dce,sdy-insert-func-call-reshards,"
    "sdy-constant-or-scalar-merger,sdy-sink-data-flow-edges,sdy-remove-sharding-groups,"
    "sdy-sharding-constraint-to-reshard,sdy-update-non-divisible-input-output-shardings,"
    "sdy-remove-sub-axes-in-input-output-shardings,sdy-close-shardings,dce,sdy-drop-sharding-rules";

static tsr_status run_text(tsr_ir *ir, tsr_text *list) {
  tsr_status status = tsr_text_check(list);
  if (!status) status = tsr_all_passes_run(ir, tsr_text_string(list), NULL);
  tsr_text_deinit(list);
  return status;
}

static tsr_status import_pipeline(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  tsr_text list = TSR_TEXT_EMPTY;
  (void)changes;
  tsr_text_add(&list, import_list);
  if (tsr_pass_flag(options, OPTION_DEDUP)) tsr_text_add(&list, settle_list);
  return run_text(ir, &list);
}

static tsr_status propagation_pipeline(tsr_ir *ir, const tsr_pass_options *options,
                                       int64_t *changes) {
  const bool dedup = tsr_pass_flag(options, OPTION_DEDUP);
  tsr_text list = TSR_TEXT_EMPTY;
  (void)changes;
  tsr_text_add(&list, import_list);
  if (!dedup) tsr_text_add(&list, copy_calls_list);
  tsr_text_add(&list, settle_list);
  if (dedup) tsr_text_add(&list, ",sdy-add-func-data-flow-edges");
  tsr_text_add(&list, propagate_list);
  tsr_text_add(&list, dedup ? shared_calls_list : copied_calls_list);
  tsr_text_add(&list, finish_list);
  return run_text(ir, &list);
}

// ---- all tables ----

#define OPTION(id) (1u << OPTION_##id)
static const tsr_pass pipelines[] = {
#define PASS(name, function, options, summary) {name, function, options, summary},
#define PASS_OPTION(...)
#include "program/pipelines.def"
#undef PASS
#undef PASS_OPTION
};
static const tsr_pass_option pipeline_options[] = {
#define PASS(...)
#define PASS_OPTION(id, name, kind, words, summary) {name, TSR_PASS_##kind, words, summary},
#include "program/pipelines.def"
#undef PASS
#undef PASS_OPTION
};

tsr_status tsr_all_passes_run(tsr_ir *ir, const char *list, tsr_pass_report *out_report) {
  const tsr_pass_table tables[] = {
      tsr_simplify_passes(),
      tsr_factor_passes(),
      tsr_sharding_passes(),
      {pipelines, sizeof pipelines / sizeof *pipelines, pipeline_options,
       sizeof pipeline_options / sizeof *pipeline_options},
  };
  return tsr_pass_list_run(ir, tables, sizeof tables / sizeof *tables, list, out_report);
}
