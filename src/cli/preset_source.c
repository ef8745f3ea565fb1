// A preset that does not fit cuts tensors wrongly or not at all, without an error. So the
// model_type in config.json outranks --preset. If the two differ, the names of the tensors decide,
// because a mapped model still has its old config.json.
#include "cli/sources.h"

#include <string.h>

#include "base/text_internal.h"

typedef struct preset_choice {
  const cli_args *args;
  const char *model;
  const tsr_tree *tree;
  bool has_config;
  const char *family;  // of config.json; NULL = it has no preset
  tsr_text type;       // of config.json, as model_type "llama"; "" = none
} preset_choice;

static tsr_status read_config(preset_choice *c) {
  tsr_json_doc *doc = NULL;
  TSR_TRY(cli_open_config(c->model, &doc));
  c->has_config = doc != NULL;
  if (!doc) return NULL;
  tsr_status status = tsr_preset_from_config(tsr_json_root(doc), &c->family, &c->type);
  tsr_json_destroy(doc);
  return tsr_note(status, "the config.json of %s", c->model);
}

static bool same_rules(const char *a, const char *b) {
  return tsr_preset_text(a) == tsr_preset_text(b);
}

// ---- by names ----

// Counts the tensors that no rule of a family matches. Its fsdp variant needs no facts.
static tsr_status count_unmatched(const char *family, const tsr_tree *tree, int64_t *out_count) {
  char name[64];
  tsr_rules *rules = NULL;
  int64_t count = 0;
  snprintf(name, sizeof name, "%s:fsdp", family);
  TSR_TRY(tsr_rules_preset(name, NULL, &rules));
  tsr_status status = NULL;
  for (int64_t i = 0; i < tsr_tree_count(tree) && !status; i++) {
    int64_t rule = -1;
    status = tsr_rules_match(rules, tsr_tree_at(tree, i)->path, &rule);
    count += rule < 0;
  }
  tsr_rules_release(rules);
  *out_count = count;
  return status;
}

// The families whose rules match every tensor, separated by commas, and the first of them.
static tsr_status find_matching(const tsr_tree *tree, tsr_text *out_names, const char **out_first,
                                int *out_count) {
  *out_count = 0;
  for (int i = 0; tsr_preset_family_at(i); i++) {
    const char *family = tsr_preset_family_at(i);
    int64_t unmatched = 0;
    bool listed = false;
    for (int j = 0; j < i; j++) listed |= same_rules(tsr_preset_family_at(j), family);
    if (listed) continue;
    TSR_TRY(count_unmatched(family, tree, &unmatched));
    if (unmatched) continue;
    if (!(*out_count)++) *out_first = family;
    tsr_text_addf(out_names, "%s%s", *out_count > 1 ? ", " : "", family);
  }
  return tsr_text_check(out_names);
}

// ---- without --preset ----

static void add_types(const char *family, tsr_text *out) {
  const char *type = NULL, *of = NULL;
  bool first = true;
  for (int i = 0; (type = tsr_preset_model_type_at(i, &of)); i++) {
    if (family && !same_rules(of, family)) continue;
    tsr_text_addf(out, "%s%s", first ? "" : ", ", type);
    first = false;
  }
}

static tsr_status no_preset(const preset_choice *c, const char *matching) {
  const char *type = tsr_text_string(&c->type);
  tsr_text known = TSR_TEXT_EMPTY;
  if (c->has_config) {
    tsr_text_add(&known, "; presets are for model_type ");
    add_types(NULL, &known);
  }
  tsr_status status = tsr_text_check(&known);
  if (!status)
    status = tsr_fail(UNKNOWN_PRESET, "%s: %s%s, so no preset is chosen%s%s%s%s", c->model,
                      !c->has_config ? "there is no config.json"
                      : *type        ? "no preset is for "
                                     : "config.json has no model_type",
                      c->has_config ? type : "", tsr_text_string(&known), *matching ? "; " : "",
                      matching, *matching ? " have rules for all its tensors" : "");
  tsr_text_deinit(&known);
  return status;
}

// The preset of the model_type. If its rules miss tensors, or there is no type, the only preset
// whose rules match all.
static tsr_status choose_for_model(preset_choice *c, tsr_text *out_family, tsr_text *out_reason) {
  const bool unknown = !c->family && c->type.length;
  const char *first = NULL;
  tsr_text matching = TSR_TEXT_EMPTY;
  int64_t unmatched = 0;
  int count = 0;
  tsr_status status = c->family ? count_unmatched(c->family, c->tree, &unmatched) : NULL;
  if (!status && (!c->family || unmatched))
    status = find_matching(c->tree, &matching, &first, &count);
  if (!status && !unknown && count == 1) {
    tsr_text_add(out_family, first);
    tsr_text_add(out_reason, "the only one with rules for all tensors");
    if (c->family)
      tsr_text_addf(out_reason, ", though config.json has %s", tsr_text_string(&c->type));
  } else if (!status && c->family) {
    tsr_text_add(out_family, c->family);
    tsr_text_addf(out_reason, "config.json has %s", tsr_text_string(&c->type));
  } else if (!status) {
    status = no_preset(c, tsr_text_string(&matching));
  }
  tsr_text_deinit(&matching);
  return status;
}

// ---- with --preset ----

static tsr_status refuse(preset_choice *c, const char *family) {
  tsr_text types = TSR_TEXT_EMPTY;
  add_types(family, &types);
  tsr_status status = tsr_text_check(&types);
  if (!status)
    status =
        tsr_fail(BAD_ARGUMENT,
                 "--preset %s is for %s%s, but config.json has %s, which needs preset %s; leave "
                 "--preset out, or add --any-model-type to use it anyway",
                 family, types.length ? "model_type " : "mapped models", tsr_text_string(&types),
                 tsr_text_string(&c->type), c->family);
  tsr_text_deinit(&types);
  return status;
}

static tsr_status check_given(preset_choice *c, const char *family, tsr_text *out_reason) {
  int64_t own = 0, given = 0;
  if (!tsr_preset_text(family) || cli_has(c->args, "any-model-type")) return NULL;
  if (!c->family && c->type.length)
    cli_say(
        "warning: --preset %s: no preset is known to fit %s; check the result of `tessera plan`\n",
        family, tsr_text_string(&c->type));
  if (!c->family || same_rules(family, c->family)) return NULL;
  TSR_TRY(count_unmatched(c->family, c->tree, &own));
  TSR_TRY(count_unmatched(family, c->tree, &given));
  if (given >= own) return refuse(c, family);
  tsr_text_addf(out_reason, "the tensors have its names, though config.json has %s",
                tsr_text_string(&c->type));
  return NULL;
}

static tsr_status take_given(preset_choice *c, const char *name, tsr_text *out_family,
                             tsr_text *out_reason) {
  char family[64];
  const size_t length = strcspn(name, ":");
  tsr_text_add(out_family, name);
  if (length >= sizeof family) return NULL;  // the library refuses this name
  snprintf(family, sizeof family, "%.*s", (int)length, name);
  TSR_TRY(check_given(c, family, out_reason));
  if (!name[length] && !out_reason->length) tsr_text_add(out_reason, "by the axes of the mesh");
  return NULL;
}

tsr_status cli_choose_preset(const cli_args *args, const char *model, const tsr_tree *tree,
                             const tsr_rules_options *options, tsr_text *out_name,
                             tsr_text *out_reason) {
  const char *given = cli_value(args, "preset");
  preset_choice c = {.args = args, .model = model, .tree = tree, .type = TSR_TEXT_EMPTY};
  tsr_text name = TSR_TEXT_EMPTY;
  tsr_status status = read_config(&c);
  if (!status)
    status =
        given ? take_given(&c, given, &name, out_reason) : choose_for_model(&c, &name, out_reason);
  if (!status) status = tsr_text_check(&name);
  if (!status) status = tsr_preset_name(tsr_text_string(&name), options, out_name);
  tsr_text_deinit(&name);
  tsr_text_deinit(&c.type);
  return status;
}
