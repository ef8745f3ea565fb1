// Plans as commands get them: from a plan file, from a checkpoint that is cut, or made for a model
// by rules, a preset, logical axes, --auto or --fit. Each way warns of axes and devices that a plan
// leaves unused.
#include "cli/sources.h"

#include <string.h>
#include <sys/stat.h>

#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "layout/layout_internal.h"
#include "plan/plan_internal.h"
#include "plan/tree_internal.h"
#include "tessera/compat/eformer_plan.h"

void cli_warn(const char *path, const char *lines) {
  while (*lines) {
    const int length = (int)strcspn(lines, "\n");
    cli_say("warning: %s: %.*s\n", path, length, lines);
    lines += length + (lines[length] != '\0');
  }
}

static tsr_status open_program_tree(const char *path, tsr_tree **out_tree) {
  tsr_program *program = NULL;
  TSR_TRY(cli_open_program(path, false, &program));
  tsr_status status = tsr_program_tree(program, out_tree);
  tsr_program_release(program);
  return tsr_note(status, "%s", path);
}

tsr_status cli_open_tree(const char *path, tsr_tree **out_tree) {
  tsr_checkpoint *checkpoint = NULL;
  if (cli_is_program(path)) return open_program_tree(path, out_tree);
  if (tsr_ends_with(path, ".json")) {
    TSR_TRY(tsr_tree_open(path, out_tree));
    cli_warn(path, tsr_tree_warnings(*out_tree));
    return NULL;
  }
  TSR_TRY(tsr_checkpoint_open(path, NULL, &checkpoint));
  cli_warn(path, tsr_checkpoint_warnings(checkpoint));
  *out_tree = tsr_tree_retain(tsr_checkpoint_tree(checkpoint));
  tsr_checkpoint_release(checkpoint);
  return NULL;
}

tsr_status cli_open_plan(const char *path, tsr_plan **out_plan) {
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_json_read_file(strcmp(path, "-") ? path : "/dev/stdin", &doc));
  tsr_status status = tsr_plan_from_json(tsr_json_root(doc), out_plan);
  tsr_json_destroy(doc);
  return tsr_note(status, "%s", path);
}

// ---- ways to decide ----

// A model to plan.
typedef struct plan_request {
  const cli_args *args;
  const char *model;  // its path; config.json is beside it
  const tsr_tree *tree;
  const tsr_mesh *mesh;
  uint64_t *unused;  // facts of --fact that nothing uses
} plan_request;

static tsr_status plan_by_rules(const plan_request *request, tsr_plan **out_plan) {
  const cli_args *args = request->args;
  tsr_match_options options = {.size = sizeof options,
                               .allow_unmatched = cli_has(args, "allow-unmatched"),
                               .companions = !cli_has(args, "no-companions")};
  TSR_TRY(cli_int(args, "min-size", 0, &options.min_size));
  if (cli_has(args, "policy"))
    TSR_TRY(tsr_policy_parse(cli_value(args, "policy"), &options.policy));
  tsr_rules *rules = NULL;
  TSR_TRY(
      cli_open_rules(args, request->model, request->tree, request->mesh, request->unused, &rules));
  tsr_status status = cli_check_rule_axes(rules, request->mesh);
  if (!status) status = tsr_plan_match(request->tree, request->mesh, rules, &options, out_plan);
  tsr_rules_release(rules);
  return status;
}

// Logical rules cut only tensors whose dimensions have names.
static tsr_status check_logical_names(const plan_request *request) {
  const int64_t count = tsr_tree_count(request->tree);
  int64_t unnamed = 0;
  for (int64_t i = 0; i < count; i++) unnamed += !tsr_tree_at(request->tree, i)->logical;
  if (count && unnamed == count)
    return tsr_fail(BAD_ARGUMENT,
                    "--logical has no effect: no tensor of %s has names for its dimensions; a JSON "
                    "list of tensors has them as \"logical\": [\"vocab\", \"embed\"]",
                    request->model);
  if (unnamed)
    cli_say(
        "warning: %s: %lld of %lld tensors have no names for their dimensions and are not cut\n",
        request->model, (long long)unnamed, (long long)count);
  return NULL;
}

static tsr_status plan_by_logical(const plan_request *request, tsr_plan **out_plan) {
  tsr_logical_rules *rules = NULL;
  TSR_TRY(tsr_logical_rules_read(cli_value(request->args, "logical"), &rules));
  tsr_status status = check_logical_names(request);
  if (!status) status = tsr_plan_logical(request->tree, request->mesh, rules, out_plan);
  tsr_logical_rules_release(rules);
  return status;
}

static tsr_status plan_auto(const plan_request *request, tsr_plan **out_plan) {
  tsr_auto_options options = {.size = sizeof options};
  TSR_TRY(cli_int(request->args, "min-size", 0, &options.min_size));
  return tsr_plan_auto(request->tree, request->mesh, &options, out_plan);
}

static tsr_status plan_fit(const plan_request *request, tsr_plan **out_plan) {
  tsr_fit_options options = {.size = sizeof options};
  int64_t copies = 0;
  TSR_TRY(cli_bytes(request->args, "fit", &options.limit));
  TSR_TRY(cli_int(request->args, "copies", 0, &copies));
  options.optimiser_copies = (double)copies;
  tsr_fit_report report = TSR_FIT_REPORT;
  TSR_TRY(tsr_plan_fit(request->tree, request->mesh, &options, out_plan, &report));
  cli_say("%s per device with all copies, lower bound %s; %s\n",
          tsr_format_bytes(report.bytes_per_device).text, tsr_format_bytes(report.smallest).text,
          report.optimal ? "no plan that fits costs less" : "a cheaper plan may exist");
  return NULL;
}

// Matching rules includes companions; the other ways cut each tensor alone.
static tsr_status cut_companions(const cli_args *args, tsr_plan **inout_plan) {
  tsr_plan *separate = *inout_plan;
  if (cli_has(args, "no-companions")) return NULL;
  tsr_status status = tsr_plan_companions(separate, inout_plan);
  if (!status && tsr_plan_bytes_per_device(*inout_plan) > tsr_plan_bytes_per_device(separate))
    fprintf(stderr, "%s more, because scales and states are cut like their weights\n",
            tsr_format_bytes(tsr_plan_bytes_per_device(*inout_plan) -
                             tsr_plan_bytes_per_device(separate))
                .text);
  tsr_plan_release(separate);
  if (status) *inout_plan = NULL;
  return status;
}

// ---- the choice between them ----

enum { BY_RULES = 1, BY_LOGICAL = 2, BY_AUTO = 4, BY_FIT = 8 };

typedef struct plan_way {
  const char *option;
  int kind;
  tsr_status (*run)(const plan_request *request, tsr_plan **out_plan);
} plan_way;

// The last is the default: the preset for the model.
static const plan_way ways[] = {{"rules", BY_RULES, plan_by_rules},
                                {"preset", BY_RULES, plan_by_rules},
                                {"logical", BY_LOGICAL, plan_by_logical},
                                {"auto", BY_AUTO, plan_auto},
                                {"fit", BY_FIT, plan_fit},
                                {NULL, BY_RULES, plan_by_rules}};

// Options that have an effect in some ways only.
static const struct {
  const char *option;
  int kinds;
  const char *with;
} partial_options[] = {
    {"copies", BY_FIT, "--fit"},
    {"axes", BY_RULES, "--preset and --rules"},
    {"policy", BY_RULES, "--preset and --rules"},
    {"allow-unmatched", BY_RULES, "--preset and --rules"},
    {"min-size", BY_RULES | BY_AUTO, "--preset, --rules and --auto"},
};

static tsr_status choose_way(const cli_args *args, const plan_way **out_way) {
  const plan_way *at = ways;
  TSR_TRY(cli_check_one_of(
      args, (const char *const[]){"rules", "preset", "logical", "auto", "fit", NULL}));
  while (at->option && !cli_has(args, at->option)) at++;
  *out_way = at;
  return NULL;
}

static tsr_status check_partial_options(const cli_args *args, const plan_way *chosen) {
  for (size_t i = 0; i < sizeof partial_options / sizeof *partial_options; i++)
    if (cli_has(args, partial_options[i].option) && !(partial_options[i].kinds & chosen->kind))
      return tsr_fail(BAD_ARGUMENT, "--%s has no effect with %s%s, only with %s",
                      partial_options[i].option, chosen->option ? "--" : "",
                      chosen->option ? chosen->option : "the preset for the model",
                      partial_options[i].with);
  if (cli_has(args, "any-model-type") && !cli_has(args, "preset"))
    return tsr_fail(BAD_ARGUMENT, "--any-model-type has no effect without --preset");
  return NULL;
}

static tsr_status warn_if_whole(const plan_request *request, const tsr_plan *plan) {
  const int64_t devices = tsr_mesh_device_count(request->mesh);
  if (devices < 2 || !tsr_plan_count(plan)) return NULL;
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) {
    tsr_plan_row row = TSR_PLAN_ROW;
    TSR_TRY(tsr_plan_at(plan, i, &row));
    if (row.bytes_per_device < tsr_tensor_bytes(row.tensor)) return NULL;
  }
  cli_say("warning: %s: no tensor is cut, so each of %lld devices holds the whole model\n",
          request->model, (long long)devices);
  return NULL;
}

// An axis that cuts no tensor makes replicas. Rules are checked for this before, and --fit makes
// replicas on purpose.
static tsr_status warn_of_idle_axes(const plan_request *request, const tsr_plan *plan) {
  tsr_analysis sums = TSR_ANALYSIS;
  TSR_TRY(tsr_plan_analyze(plan, NULL, 0, &sums));
  for (int i = 0; i < sums.axis_count && sums.sharded_tensors; i++) {
    const tsr_axis *axis = tsr_mesh_axis_at(request->mesh, i);
    if (axis->size > 1 && strcmp(axis->name, "dp") != 0 && !sums.axes[i].tensors)
      cli_say(
          "warning: %s: no tensor is cut over axis \"%s\" of the mesh, so each shard has %lld "
          "replicas\n",
          request->model, axis->name, (long long)axis->size);
  }
  tsr_analysis_deinit(&sums);
  return NULL;
}

tsr_status cli_make_plan(const cli_args *args, const char *model, const tsr_tree *tree,
                         const tsr_mesh *mesh, uint64_t *inout_unused, tsr_plan **out_plan) {
  const plan_request request = {args, model, tree, mesh, inout_unused};
  const plan_way *chosen = NULL;
  tsr_plan *plan = NULL;
  TSR_TRY(choose_way(args, &chosen));
  TSR_TRY(check_partial_options(args, chosen));
  TSR_TRY(chosen->run(&request, &plan));
  tsr_status status = chosen->kind == BY_RULES ? NULL : cut_companions(args, &plan);
  if (!status && chosen->kind & (BY_LOGICAL | BY_AUTO)) status = warn_of_idle_axes(&request, plan);
  if (!status) status = warn_if_whole(&request, plan);
  if (status)
    tsr_plan_release(plan);
  else
    *out_plan = plan;
  return status;
}

// ---- plans and models ----

// A program has a mesh of its own.
static tsr_status open_mesh(const cli_args *args, const char *path, tsr_mesh **out_mesh) {
  tsr_program *program = NULL;
  if (cli_has_mesh(args) || !cli_is_program(path)) return cli_open_mesh(args, out_mesh);
  TSR_TRY(cli_open_program(path, false, &program));
  tsr_status status = cli_program_mesh(program, path, out_mesh);
  tsr_program_release(program);
  return status;
}

tsr_status cli_plan_model(const cli_args *args, const char *path, tsr_plan **out_plan) {
  uint64_t unused = UINT64_MAX;
  tsr_mesh *mesh = NULL;
  tsr_tree *tree = NULL;
  tsr_plan *plan = NULL;
  tsr_status status = open_mesh(args, path, &mesh);
  if (!status) status = cli_open_tree(path, &tree);
  if (!status) status = cli_make_plan(args, path, tree, mesh, &unused, &plan);
  if (!status) status = cli_check_facts(args, unused);
  if (!status) *out_plan = tsr_plan_retain(plan);
  tsr_plan_release(plan);
  tsr_tree_release(tree);
  tsr_mesh_release(mesh);
  return status;
}

tsr_status cli_refuse_deciding(const cli_args *args, const char *why) {
  static const cli_option deciding[] = {CLI_OPTIONS_DECIDE, {0}};
  for (const cli_option *at = deciding; at->name; at++)
    if (cli_has(args, at->name) && strcmp(at->name, "fact") != 0)
      return tsr_fail(BAD_ARGUMENT, "--%s has no effect: %s", at->name, why);
  return NULL;
}

// The plan that a checkpoint was cut by.
static tsr_status plan_of_checkpoint(const char *path, tsr_plan **out_plan) {
  tsr_checkpoint *checkpoint = NULL;
  TSR_TRY(tsr_checkpoint_open(path, NULL, &checkpoint));
  cli_warn(path, tsr_checkpoint_warnings(checkpoint));
  const tsr_plan *plan = tsr_checkpoint_plan(checkpoint);
  tsr_status status =
      plan ? NULL
           : tsr_fail(
                 BAD_ARGUMENT,
                 "%s is whole and has no plan; give --tp N (or --fsdp, --ep, --dp) or --mesh MESH "
                 "to plan it",
                 path);
  if (plan) *out_plan = tsr_plan_retain(plan);
  tsr_checkpoint_release(checkpoint);
  return status;
}

// A plan file is also a list of tensors, but it has cuts already, for its own mesh.
static tsr_status refuse_plan(const char *path) {
  tsr_plan *plan = NULL;
  if (!tsr_ends_with(path, ".json")) return NULL;
  tsr_status_free(cli_open_plan(path, &plan));
  const bool is_plan = plan != NULL;
  tsr_plan_release(plan);
  if (!is_plan) return NULL;
  return tsr_fail(BAD_ARGUMENT,
                  "%s is a plan for its own mesh; `tessera convert` converts it to another", path);
}

tsr_status cli_plan_of(const cli_args *args, const char *path, tsr_plan **out_plan) {
  if (cli_has_mesh(args)) {
    TSR_TRY(refuse_plan(path));
    return cli_plan_model(args, path, out_plan);
  }
  TSR_TRY(
      cli_refuse_deciding(args, "without --tp, --fsdp, --ep, --dp or --mesh nothing is planned"));
  TSR_TRY(cli_check_facts(args, UINT64_MAX));
  struct stat info;
  const bool file = tsr_ends_with(path, ".json") || !strcmp(path, "-") || stat(path, &info);
  return file ? cli_open_plan(path, out_plan) : plan_of_checkpoint(path, out_plan);
}
