// Plans from the path of a model and rules as text or a preset. The rules can use the facts in the
// config.json beside the model.
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_internal.h"
#include "json/json.h"
#include "plan/plan.h"
#include "rules/rules_internal.h"

// ---- config.json ----

// In the folder, or beside the file.
static tsr_status find_config(const char *model_path, tsr_text *out_path) {
  struct stat info;
  const bool folder = !stat(model_path, &info) && S_ISDIR(info.st_mode);
  const char *slash = strrchr(model_path, '/');
  if (folder)
    tsr_text_addf(out_path, "%s/", model_path);
  else if (slash)
    tsr_text_add_bytes(out_path, model_path, (size_t)(slash - model_path) + 1);
  tsr_text_add(out_path, "config.json");
  return tsr_text_check(out_path);
}

// NULL = there is none.
static tsr_status open_config(const char *model_path, tsr_json_doc **out_doc) {
  tsr_text path = TSR_TEXT_EMPTY;
  tsr_status status = model_path ? find_config(model_path, &path) : NULL;
  if (!status && path.length && !access(path.data, F_OK))
    status = tsr_json_read_file(path.data, out_doc);
  tsr_text_deinit(&path);
  return status;
}

// ---- rules ----

typedef struct rules_request {
  const char *model_path, *text;  // `text`: the rules; NULL = a preset
  const char *preset;             // NULL = by config.json
  const tsr_mesh *mesh;
} rules_request;

static tsr_status choose_preset(const rules_request *of, const tsr_json_doc *config,
                                const char **out_preset) {
  tsr_text type = TSR_TEXT_EMPTY;
  if (!config)
    return tsr_fail(UNKNOWN_PRESET,
                    "%s has no config.json to choose a preset by; name a preset such as \"llama\"",
                    of->model_path);
  tsr_status status = tsr_preset_from_config(tsr_json_root(config), out_preset, &type);
  if (!status && !*out_preset)
    status = tsr_fail(UNKNOWN_PRESET, "the config.json of %s: no preset is for %s", of->model_path,
                      type.length ? type.data : "a model without model_type");
  tsr_text_deinit(&type);
  return status;
}

static tsr_status read_rules(const rules_request *of, const tsr_json_doc *config,
                             const tsr_rules_options *options, tsr_rules **out_rules) {
  const char *preset = of->preset;
  if (of->text) return tsr_rules_parse(of->text, "rules", options, out_rules);
  if (!preset) TSR_TRY(choose_preset(of, config, &preset));
  return tsr_rules_preset(preset, options, out_rules);
}

static tsr_status open_rules(const rules_request *of, tsr_rules **out_rules) {
  tsr_rules_options options = {.size = sizeof options, .mesh = of->mesh};
  tsr_json_doc *config = NULL;
  tsr_facts facts = {0};
  TSR_TRY(open_config(of->model_path, &config));
  tsr_status status = config ? tsr_facts_from_config(tsr_json_root(config), &facts) : NULL;
  status = tsr_note(status, "the config.json of %s", of->model_path ? of->model_path : "");
  options.facts = facts.items;
  options.fact_count = facts.count;
  if (!status) status = read_rules(of, config, &options, out_rules);
  tsr_facts_deinit(&facts);
  tsr_json_destroy(config);
  return status;
}

// ---- plans ----

static tsr_status plan_tree(const tsr_tree *tree, const rules_request *of, tsr_plan **out_plan) {
  const tsr_match_options options = {.size = sizeof options, .companions = true};
  tsr_rules *rules = NULL;
  TSR_TRY(open_rules(of, &rules));
  tsr_status status = tsr_plan_match(tree, of->mesh, rules, &options, out_plan);
  tsr_rules_release(rules);
  return status;
}

static tsr_status plan_model(const rules_request *of, tsr_plan **out_plan) {
  tsr_tree *tree = NULL;
  TSR_TRY(tsr_tree_open(of->model_path, &tree));
  tsr_status status = plan_tree(tree, of, out_plan);
  tsr_tree_release(tree);
  return status;
}

tsr_status tsr_plan_tree_by_text(const tsr_tree *tree, const char *model_path, const tsr_mesh *mesh,
                                 const char *rules, tsr_plan **out_plan) {
  return plan_tree(tree, &(rules_request){model_path, rules, NULL, mesh}, out_plan);
}

tsr_status tsr_plan_from_text(const char *model_path, const tsr_mesh *mesh, const char *rules,
                              tsr_plan **out_plan) {
  return plan_model(&(rules_request){model_path, rules, NULL, mesh}, out_plan);
}

tsr_status tsr_plan_from_preset(const char *model_path, const tsr_mesh *mesh, const char *preset,
                                tsr_plan **out_plan) {
  return plan_model(&(rules_request){model_path, NULL, preset, mesh}, out_plan);
}
