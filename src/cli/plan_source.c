#include "cli/plan_source.h"

#include <string.h>

#include "cli/fact_source.h"

void cli_warn(const char *path, const char *lines) {
  while (*lines) {
    const int length = (int)strcspn(lines, "\n");
    cli_say("warning: %s: %.*s\n", path, length, lines);
    lines += length + (lines[length] != '\0');
  }
}

static bool is_json(const char *path) {
  const size_t length = strlen(path);
  return length >= 5 && !strcmp(path + length - 5, ".json");
}

tsr_status cli_open_tree(const char *path, tsr_tree **out_tree) {
  tsr_checkpoint *checkpoint = NULL;
  if (is_json(path)) {
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

// ---- rules ----

// "tp=model,fsdp=data" as pairs of old and new names.
static tsr_status read_renames(const char *text, char *buffer, size_t size, const char **out_pairs,
                               int *out_count) {
  const char *items[TSR_MAX_AXES];
  TSR_TRY(cli_names("--axes", text, TSR_MAX_AXES, buffer, size, items, out_count));
  for (int i = 0; i < *out_count; i++) {
    char *equals = strchr((char *)(uintptr_t)items[i], '=');
    if (!equals)
      return tsr_fail(BAD_ARGUMENT, "--axes \"%s\" has no new name, wanted old=new", items[i]);
    *equals = '\0';
    out_pairs[2 * i] = items[i];
    out_pairs[2 * i + 1] = equals + 1;
  }
  return NULL;
}

tsr_status cli_open_rules(const cli_args *args, const char *model, const tsr_mesh *mesh,
                          tsr_rules **out_rules) {
  const char *file = cli_value(args, "rules"), *preset = cli_value(args, "preset");
  if (file && preset) return tsr_fail(BAD_ARGUMENT, "--rules and --preset exclude each other");
  if (!file && !preset) return NULL;
  cli_facts facts = {0};
  char buffer[1024];
  const char *pairs[2 * TSR_MAX_AXES];
  tsr_rules_options options = {.size = sizeof options, .mesh = mesh};
  tsr_status status = cli_collect_facts(args, model, &facts);
  if (!status && cli_has(args, "axes"))
    status = read_renames(cli_value(args, "axes"), buffer, sizeof buffer, pairs,
                          &options.rename_axis_count);
  options.facts = facts.items;
  options.fact_count = facts.count;
  options.rename_axes = pairs;
  if (!status)
    status = file ? tsr_rules_read(file, &options, out_rules)
                  : tsr_rules_preset(preset, &options, out_rules);
  if (!status) cli_warn(file ? file : preset, tsr_rules_warnings(*out_rules));
  cli_facts_deinit(&facts);
  return status;
}

// ---- ways to decide ----

static tsr_status plan_by_rules(const cli_args *args, const char *model, const tsr_tree *tree,
                                const tsr_mesh *mesh, tsr_plan **out_plan) {
  tsr_match_options options = {.size = sizeof options,
                               .allow_unmatched = cli_has(args, "allow-unmatched"),
                               .companions = !cli_has(args, "no-companions")};
  TSR_TRY(cli_int(args, "min-size", 0, &options.min_size));
  if (cli_has(args, "policy"))
    TSR_TRY(tsr_policy_parse(cli_value(args, "policy"), &options.policy));
  tsr_rules *rules = NULL;
  TSR_TRY(cli_open_rules(args, model, mesh, &rules));
  tsr_status status = tsr_plan_match(tree, mesh, rules, &options, out_plan);
  tsr_rules_release(rules);
  return status;
}

static tsr_status plan_by_logical(const cli_args *args, const char *model, const tsr_tree *tree,
                                  const tsr_mesh *mesh, tsr_plan **out_plan) {
  (void)model;
  tsr_logical_rules *rules = NULL;
  TSR_TRY(tsr_logical_rules_read(cli_value(args, "logical"), &rules));
  tsr_status status = tsr_plan_logical(tree, mesh, rules, out_plan);
  tsr_logical_rules_release(rules);
  return status;
}

static tsr_status plan_auto(const cli_args *args, const char *model, const tsr_tree *tree,
                            const tsr_mesh *mesh, tsr_plan **out_plan) {
  (void)model;
  tsr_auto_options options = {.size = sizeof options};
  TSR_TRY(cli_int(args, "min-size", 0, &options.min_size));
  return tsr_plan_auto(tree, mesh, &options, out_plan);
}

static tsr_status plan_fit(const cli_args *args, const char *model, const tsr_tree *tree,
                           const tsr_mesh *mesh, tsr_plan **out_plan) {
  (void)model;
  tsr_fit_options options = {.size = sizeof options};
  int64_t copies = 0;
  TSR_TRY(cli_bytes(args, "fit", &options.limit));
  TSR_TRY(cli_int(args, "copies", 0, &copies));
  options.optimiser_copies = (double)copies;
  tsr_fit_report report;
  TSR_TRY(tsr_plan_fit(tree, mesh, &options, out_plan, &report));
  char used[32], smallest[32];
  cli_format_bytes(report.bytes_per_device, used, sizeof used);
  cli_format_bytes(report.smallest, smallest, sizeof smallest);
  cli_say("%s on a device with all copies, %s would be the least possible; %s\n", used, smallest,
          report.optimal ? "no plan that fits costs less" : "a cheaper plan may exist");
  return NULL;
}

// Rules see to companions themselves; other ways have decided on each tensor alone.
static tsr_status follow(const cli_args *args, tsr_plan **inout_plan) {
  tsr_plan *apart = *inout_plan;
  if (cli_has(args, "rules") || cli_has(args, "preset") || cli_has(args, "no-companions"))
    return NULL;
  tsr_status status = tsr_plan_companions(apart, inout_plan);
  if (!status && tsr_plan_bytes_per_device(*inout_plan) > tsr_plan_bytes_per_device(apart)) {
    char more[32];
    cli_format_bytes(tsr_plan_bytes_per_device(*inout_plan) - tsr_plan_bytes_per_device(apart),
                     more, sizeof more);
    fprintf(stderr, "%s more, as scales and states are cut with what they go with\n", more);
  }
  tsr_plan_release(apart);
  if (status) *inout_plan = NULL;
  return status;
}

tsr_status cli_make_plan(const cli_args *args, const char *model, const tsr_tree *tree,
                         const tsr_mesh *mesh, tsr_plan **out_plan) {
  static const struct {
    const char *option;
    tsr_status (*run)(const cli_args *, const char *, const tsr_tree *, const tsr_mesh *,
                      tsr_plan **);
  } ways[] = {{"rules", plan_by_rules},
              {"preset", plan_by_rules},
              {"logical", plan_by_logical},
              {"auto", plan_auto},
              {"fit", plan_fit}};
  const size_t count = sizeof ways / sizeof *ways;
  size_t chosen = count;
  for (size_t i = 0; i < count; i++) {
    if (!cli_has(args, ways[i].option)) continue;
    if (chosen < count)
      return tsr_fail(BAD_ARGUMENT, "--%s and --%s exclude each other", ways[chosen].option,
                      ways[i].option);
    chosen = i;
  }
  if (chosen == count)
    return tsr_fail(BAD_ARGUMENT,
                    "how shall the tensors be cut? give --preset, --rules, --logical, "
                    "--auto or --fit");
  TSR_TRY(ways[chosen].run(args, model, tree, mesh, out_plan));
  return follow(args, out_plan);
}
