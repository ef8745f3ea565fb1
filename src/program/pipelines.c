// Passes made of others: lists, some of whose parts depend on options.
#include "program/pipelines.h"

#include "base/text_internal.h"
#include "collective/collective_passes.h"
#include "combine/combine_passes.h"
#include "factor/factor_passes.h"
#include "localize/localize_passes.h"
#include "program/program_internal.h"
#include "program/single_ops.h"
#include "gspmd/gspmd_passes.h"
#include "propagate/propagate.h"
#include "propagate/sharding_passes.h"
#include "propagate/stage_dump.h"
#include "resolve/resolve_passes.h"
#include "reshard/reshard_passes.h"
#include "simplify/passes.h"
#include "spmd/spmd_passes.h"
#include "syntax/syntax.h"

#define PASS(...)
#define PASS_OPTION(id, ...) OPTION_##id,
enum pipeline_option {
#include "program/pipelines.def"
};
#undef PASS
#undef PASS_OPTION

// ---- lists ----

// Programs in XLA's older form are read first; others are left as they are.
static const char import_list[] =
    "import-gspmd,symbol-dce,sdy-lift-inlined-meshes,sdy-remove-size-one-axes,"
    "sdy-propagate-sharding-from-func-to-call,sdy-constant-or-scalar-splitter,symbol-dce,"
    "sdy-manual-axes-cleanup,sdy-add-data-flow-edges";
// Constraints and groups come last, once each call has a body of its own.
static const char settle_list[] = ",sdy-apply-sharding-constraints,sdy-sharding-group-import";
static const char copy_calls_list[] =
    ",sdy-flatten-call-graph,symbol-dce,sdy-import-func-calls,symbol-dce";
static const char shared_calls_list[] =
    "sdy-propagate-to-func-results,sdy-sink-func-data-flow-edges";
static const char copied_calls_list[] =
    "sdy-export-named-computations,sdy-propagate-to-func-results";
static const char calls_list[] =
    ",sdy-unflatten-call-graph,symbol-dce,sdy-insert-func-call-reshards,"
    "sdy-export-pipeline";

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

tsr_status tsr_propagation_prepare(tsr_ir *ir, bool shared) {
  tsr_text list = TSR_TEXT_EMPTY;
  tsr_text_add(&list, import_list);
  if (!shared) tsr_text_add(&list, copy_calls_list);
  tsr_text_add(&list, settle_list);
  if (shared) tsr_text_add(&list, ",sdy-add-func-data-flow-edges");
  tsr_text_add(&list, ",sdy-pre-order-funcs");
  return run_text(ir, &list);
}

static tsr_status finish_propagation(tsr_ir *ir, bool shared, bool leaves) {
  tsr_text list = TSR_TEXT_EMPTY;
  tsr_text_add(&list, shared ? shared_calls_list : copied_calls_list);
  tsr_text_addf(&list, "%s{inline-meshes=false%s}", calls_list, leaves ? ",leave-calls" : "");
  return run_text(ir, &list);
}

tsr_status tsr_propagation_finish(tsr_ir *ir, bool shared) {
  return finish_propagation(ir, shared, false);
}

static tsr_status propagation_pipeline(tsr_ir *ir, const tsr_pass_options *options,
                                       int64_t *changes) {
  const bool shared = tsr_pass_flag(options, OPTION_DEDUP);
  TSR_TRY(tsr_propagation_prepare(ir, shared));
  const tsr_flow_how how = TSR_FLOW_PIPELINE;
  TSR_TRY(tsr_propagate(ir, &how, changes));
  return finish_propagation(ir, shared, tsr_pass_flag(options, OPTION_LEAVE_CALLS));
}

// ---- export ----

static bool is_on(const tsr_pass_options *options, int option) {
  return tsr_pass_number(options, option, 1) != 0;
}

// Appends a list to another one if it is wanted.
static void add_list(tsr_text *list, bool wanted, const char *passes) {
  if (wanted) tsr_text_addf(list, "%s%s", list->length ? "," : "", passes);
}

// Runs the passes of a stage, whose list this empties, and writes the program where that is asked
// for.
static tsr_status end_stage(tsr_ir *ir, const tsr_pass_options *options, tsr_text *list, int index,
                            const char *name) {
  const char *folder = options->values[OPTION_DUMP].text;
  TSR_TRY(run_text(ir, list));
  *list = (tsr_text)TSR_TEXT_EMPTY;
  return folder && *folder ? tsr_stage_dump(ir, folder, index, name) : NULL;
}

static tsr_status per_instruction_partitioning(tsr_ir *ir, const tsr_pass_options *options,
                                               int64_t *changes) {
  const tsr_single_how how = {.filter = options->values[OPTION_SINGLE].text,
                              .halos = is_on(options, OPTION_HALOS),
                              .replicas = tsr_pass_number(options, OPTION_REPLICAS, 1),
                              .partitions = tsr_pass_number(options, OPTION_PARTITIONS, 1)};
  return tsr_single_ops_partition(ir, &how, changes);
}

static void add_instructions(tsr_text *list, const tsr_pass_options *options) {
  const char *filter = options->values[OPTION_FILTER].text;
  tsr_text_addf(list,
                "sdy-per-instruction-partitioning{filter=\"%s\",replica-count=%lld,"
                "partition-count=%lld}",
                filter ? filter : "", (long long)tsr_pass_number(options, OPTION_REPLICAS, 1),
                (long long)tsr_pass_number(options, OPTION_PARTITIONS, 1));
}

// Reshards, and collectives in their place where these are asked for. Rules of labels alone are
// tried, as Shardy does it: neither are reshards shared nor computations inlined.
static tsr_status partition(tsr_ir *ir, const tsr_pass_options *options) {
  const bool collectives = tsr_pass_flag(options, OPTION_COLLECTIVES);
  const bool single = tsr_pass_flag(options, OPTION_INSTRUCTION);
  tsr_text list = TSR_TEXT_EMPTY;
  int stage = 1;
  add_list(&list, true, "sdy-verify-unreduced-axes");
  add_list(&list, collectives || single, "sdy-insert-explicit-reshards{enable-full-version}");
  add_list(&list, !collectives && !single, "sdy-insert-explicit-reshards");
  if (single) {
    TSR_TRY(end_stage(ir, options, &list, stage++, "before_per_instruction_partitioning"));
    add_instructions(&list, options);
    TSR_TRY(end_stage(ir, options, &list, stage++, "after_per_instruction_partitioning"));
  } else if (collectives) {
    TSR_TRY(end_stage(ir, options, &list, stage++, "after_explicit_reshards"));
    add_list(&list, true, "canonicalize{enable-patterns=sdy-reshard},sdy-reshard-to-collectives");
  }
  add_list(&list, true, "canonicalize{enable-patterns=sdy-collective}");
  add_list(&list, collectives && tsr_pass_flag(options, OPTION_MATMUL),
           "sdy-remove-all-gather-reduce-scatter-for-cmv1");
  return end_stage(ir, options, &list, stage,
                   collectives ? "after_partitioner_with_global_shapes"
                               : "after_minimal_partitioner_with_global_shapes");
}

static tsr_status export_pipeline(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  const bool avoid = tsr_pass_flag(options, OPTION_AVOID);
  const bool origins = tsr_pass_flag(options, OPTION_ORIGINS);
  const bool edges = tsr_pass_flag(options, OPTION_EDGES);
  tsr_text list = TSR_TEXT_EMPTY;
  (void)changes;
  add_list(&list, true, "sdy-constant-or-scalar-merger");
  tsr_text_addf(&list,
                ",sdy-sink-data-flow-edges{sink-debug-sharding-origins=%s,"
                "sink-debug-propagation-edge-sharding=%s}",
                origins ? "true" : "false", edges ? "true" : "false");
  add_list(&list, !avoid, "sdy-remove-sharding-groups,sdy-sharding-constraint-to-reshard");
  const bool leaves = tsr_pass_flag(options, OPTION_LEAVE_CALLS);
  add_list(&list, is_on(options, OPTION_EVEN),
           leaves ? "sdy-update-non-divisible-input-output-shardings{leave-calls}"
                  : "sdy-update-non-divisible-input-output-shardings");
  add_list(&list, is_on(options, OPTION_EVEN), "sdy-remove-sub-axes-in-input-output-shardings");
  add_list(&list, true, "sdy-close-shardings");
  TSR_TRY(end_stage(ir, options, &list, 0, "after_propagation"));
  if (!avoid) TSR_TRY(partition(ir, options));
  add_list(&list, origins || edges, "sdy-remove-propagation-debug-info");
  add_list(&list, !tsr_pass_flag(options, OPTION_KEEP_RULES), "sdy-drop-sharding-rules");
  add_list(&list, !avoid && is_on(options, OPTION_INLINE), "sdy-inline-meshes");
  return list.length || list.failed ? run_text(ir, &list) : NULL;
}

// ---- partitioning ----

static const char partition_list[] =
    "import-gspmd,sdy-lift-inlined-meshes,spread-single-device,composites,if-to-case,chlo-rules,"
    "note-uneven,sdy-propagation-pipeline{leave-calls},one-mesh,even-shards,"
    "partition-rules,sdy-insert-explicit-reshards{enable-full-version},reduction-kinds,"
    "sdy-resolve-single-device-sharding{exact},"
    "gather-uneven,sdy-resolve-permutation-factors{leave-exchanges},note-fallbacks,"
    "sdy-drop-sharding-rules,inline{sharded},canonicalize{enable-patterns=sdy-reshard},pad-uneven,"
    "canonicalize{enable-patterns=sdy-reshard},"
    "sdy-reshard-to-collectives,canonicalize";
// What makes collectives fewer and smaller: in the program of all devices, where shardings say
// which devices hold the same values, and in that of one.
static const char combine_whole_list[] =
    "inline{sharded},share-collectives,partial-sums,sink-moves,loop-collectives,gather-operands";
static const char combine_device_list[] =
    "share-collectives,exchange-parts,broadcast-slices,cse,merge-reduces";

static tsr_status partition_pipeline(tsr_ir *ir, const tsr_pass_options *options,
                                     int64_t *changes) {
  const bool combine = is_on(options, OPTION_COMBINE);
  tsr_text list = TSR_TEXT_EMPTY;
  (void)changes;
  add_list(&list, true, partition_list);
  add_list(&list, combine, combine_whole_list);
  add_list(&list, true, "sdy-convert-global-to-local{exchange},drop-local-shardings,cse");
  add_list(&list, combine, combine_device_list);
  add_list(&list, true, "dce");
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
      tsr_resolve_passes(),
      tsr_localize_passes(),
      tsr_combine_passes(),
      tsr_spmd_passes(),
      tsr_reshard_passes(),
      tsr_collective_passes(),
      tsr_gspmd_passes(),
      {pipelines, sizeof pipelines / sizeof *pipelines, pipeline_options,
       sizeof pipeline_options / sizeof *pipeline_options},
  };
  return tsr_pass_list_run(ir, tables, sizeof tables / sizeof *tables, list, out_report);
}
