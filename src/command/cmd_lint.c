// `tessera lint`: rules that never match, are shadowed by others, or lose axes.
#include "base/text_internal.h"
#include "command/command.h"
#include "json/json.h"
#include "advice/advice_internal.h"

static void write_rule(const char *key, const tsr_rules *rules, int64_t rule, tsr_json_writer *w) {
  if (rule < 0) {
    tsr_json_add_null(w, key);
    return;
  }
  const tsr_rule *found = tsr_rules_at(rules, rule);
  tsr_json_add_object(w, key);
  tsr_json_add_string(w, "pattern", found->pattern);
  tsr_json_add_string(w, "file", found->file);
  tsr_json_add_int(w, "line", found->line);
  tsr_json_end_object(w);
}

static void write_lints(const tsr_lints *lints, const tsr_rules *rules, const tsr_tree *tree,
                        tsr_text *out) {
  tsr_json_writer w;
  tsr_json_writer_init(&w, out, 2);
  tsr_json_begin_array(&w);
  for (int64_t i = 0; i < lints->count; i++) {
    const tsr_lint *item = &lints->items[i];
    tsr_json_begin_object(&w);
    tsr_json_add_string(&w, "kind", tsr_lint_word(item->kind));
    write_rule("rule", rules, item->rule, &w);
    write_rule("other_rule", rules, item->other_rule, &w);
    tsr_json_add_string(&w, "tensor", item->row < 0 ? NULL : tsr_tree_at(tree, item->row)->path);
    tsr_json_add_int(&w, "tensors", item->tensors);
    tsr_json_add_int(&w, "bytes", item->bytes);
    tsr_json_end_object(&w);
  }
  tsr_json_end_array(&w);
  tsr_text_add_char(out, '\n');
}

static tsr_status lint(cli_args *args, const tsr_mesh *mesh, const tsr_tree *tree) {
  tsr_rules *rules = NULL;
  tsr_lints lints = {0};
  uint64_t unused = UINT64_MAX;
  if (!mesh && !cli_has(args, "rules") && !cli_has(args, "preset"))
    return tsr_fail(
        BAD_ARGUMENT,
        "no rules are given; give --rules or --preset, or --tp N (or --fsdp, --ep, --dp, "
        "--mesh) for the preset of the model");
  if (!mesh && cli_has(args, "topology"))
    return tsr_fail(BAD_ARGUMENT, "--topology has no effect without a mesh");
  TSR_TRY(cli_open_rules(args, args->positional[0], tree, mesh, &unused, &rules));
  tsr_status status = cli_check_facts(args, unused);
  if (!status) status = tsr_rules_lint(rules, tree, mesh, &lints);
  if (!status && cli_has(args, "json"))
    write_lints(&lints, rules, tree, &args->out);
  else if (!status)
    tsr_lints_print(&lints, rules, tree, &args->out);
  if (lints.count) args->exit_code = EXIT_CHECK_FAILED;
  tsr_lints_deinit(&lints);
  tsr_rules_release(rules);
  return status;
}

static tsr_status run_lint(cli_args *args) {
  tsr_mesh *mesh = NULL;
  tsr_tree *tree = NULL;
  tsr_status status = cli_has_mesh(args) ? cli_open_mesh(args, &mesh) : NULL;
  if (!status) status = cli_open_tree(args->positional[0], &tree);
  if (!status) status = lint(args, mesh, tree);
  tsr_tree_release(tree);
  tsr_mesh_release(mesh);
  return status;
}

// clang-format off
static const cli_option lint_options[] = {
    CLI_OPTION_RULES, CLI_OPTION_PRESET, CLI_OPTION_ANY_MODEL_TYPE,
    CLI_OPTIONS_MESH, CLI_OPTION_RENAME, CLI_OPTION_FACT, CLI_OPTION_JSON,
    {0},
};
// clang-format on

const cli_command cli_cmd_lint = {
    .name = "lint",
    .summary = "find rules that never match, are shadowed, or lose axes",
    .usage = "MODEL [--rules FILE|--preset FAMILY[:AXES]] [--tp N|--mesh MESH ...] [options]",
    .options = lint_options,
    .description = "Exit code 1 if something is reported.\n",
    .examples = "tessera lint Llama-3-8B --rules my.rules --mesh fsdp=8,tp=4\n",
    .run = run_lint,
};
