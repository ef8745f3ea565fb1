// Rules as commands get them: from --rules or a preset, with facts and renamed axes. Options
// without effect are refused; axes and sizes that the rules do not fit are reported.
#include "cli/sources.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "spec/spec_internal.h"

// Everything that rules are read with.
typedef struct chosen_rules {
  const char *file;  // NULL = a preset
  tsr_text preset, reason;
  cli_facts facts;
  char buffer[1024];  // names given by --axes
  const char *pairs[2 * TSR_MAX_AXES];
  tsr_rules_options options;
} chosen_rules;

// ---- axes ----

// "tp=model,fsdp=data" as pairs of old and new names.
static tsr_status read_renames(const char *text, chosen_rules *source) {
  const char *items[TSR_MAX_AXES];
  int count = 0;
  TSR_TRY(cli_names("--axes", text, TSR_MAX_AXES, source->buffer, sizeof source->buffer, items,
                    &count));
  for (int i = 0; i < count; i++) {
    char *equals = strchr((char *)(uintptr_t)items[i], '=');
    if (!equals)
      return tsr_fail(BAD_ARGUMENT, "--axes \"%s\" has no new name, wanted old=new", items[i]);
    *equals = '\0';
    for (int j = 0; j < i; j++)
      if (!strcmp(source->pairs[2 * j], items[i]))
        return tsr_fail(BAD_ARGUMENT, "--axes renames \"%s\" twice, to \"%s\" and \"%s\"", items[i],
                        source->pairs[2 * j + 1], equals + 1);
    source->pairs[2 * i] = items[i];
    source->pairs[2 * i + 1] = equals + 1;
  }
  source->options.rename_axes = source->pairs;
  source->options.rename_axis_count = count;
  return NULL;
}

// The names of all axes in rules; the caller frees the block.
static tsr_status list_axes(const tsr_rules *rules, const char ***out_names, int *out_count) {
  const int64_t count = tsr_rules_count(rules);
  const tsr_spec **specs = malloc(sizeof *specs * ((size_t)count + 1));
  if (!specs) return tsr_fail(NO_MEMORY, "%lld specs", (long long)count);
  for (int i = 0; i < count; i++) specs[i] = tsr_rules_at(rules, i)->spec;
  tsr_status status = tsr_spec_axis_names(specs, count, out_names, out_count);
  free(specs);
  return status;
}

static bool is_among(const char *name, const char *const *names, int count) {
  for (int i = 0; i < count; i++)
    if (!strcmp(names[i], name)) return true;
  return false;
}

static void add_names(const char *const *names, int count, tsr_text *out) {
  for (int i = 0; i < count; i++) tsr_text_addf(out, "%s%s", i ? ", " : "", names[i]);
}

static tsr_status no_axis_of_file(const char *old, const char *new, const char *const *names,
                                  int count) {
  tsr_text known = TSR_TEXT_EMPTY;
  add_names(names, count, &known);
  tsr_status status = tsr_text_check(&known);
  if (!status)
    status = tsr_fail(BAD_ARGUMENT,
                      "--axes %s=%s has no effect: no rule names axis \"%s\"; with --axes they "
                      "name %s",
                      old, new, old, count ? tsr_text_string(&known) : "none");
  tsr_text_deinit(&known);
  return status;
}

// The library refuses axes that a preset does not know. Axes that its variant lacks may be renamed.
static tsr_status check_axis_of_preset(const char *preset, const char *old, const char *new) {
  tsr_text variant = TSR_TEXT_EMPTY, name = TSR_TEXT_EMPTY;
  tsr_text_addf(&variant, "%.*s:%s", (int)strcspn(preset, ":"), preset, old);
  tsr_status status = tsr_text_check(&variant);
  if (!status) status = tsr_preset_name(tsr_text_string(&variant), NULL, &name);
  tsr_text_deinit(&variant);
  tsr_text_deinit(&name);
  return status ? tsr_note(status, "--axes %s=%s", old, new) : NULL;
}

// If no rule has the new name, none had the old one.
static tsr_status check_renames(const chosen_rules *source, const tsr_rules *rules) {
  const char **names = NULL;
  int count = 0;
  tsr_status status = list_axes(rules, &names, &count);
  for (int i = 0; i < source->options.rename_axis_count && !status; i++) {
    const char *old = source->pairs[2 * i], *new = source->pairs[2 * i + 1];
    if (is_among(new, names, count)) continue;
    status = source->file ? no_axis_of_file(old, new, names, count)
                          : check_axis_of_preset(tsr_text_string(&source->preset), old, new);
  }
  free(names);
  return status;
}

static tsr_status no_common_axis(const char *const *names, int count, const tsr_mesh *mesh) {
  tsr_text known = TSR_TEXT_EMPTY, given = TSR_TEXT_EMPTY;
  add_names(names, count, &known);
  tsr_mesh_print(mesh, &given);
  tsr_status status = tsr_text_check(&known);
  if (!status) status = tsr_text_check(&given);
  if (!status)
    status = tsr_fail(
        BAD_ARGUMENT,
        "no axis of the rules is in the mesh: they name %s, and the mesh is %s, so each "
        "of %lld devices would hold the whole model; rename axes, such as by --axes "
        "%s=%s",
        tsr_text_string(&known), tsr_text_string(&given), (long long)tsr_mesh_device_count(mesh),
        names[0], tsr_mesh_axis_count(mesh) ? tsr_mesh_axis_at(mesh, 0)->name : "...");
  tsr_text_deinit(&known);
  tsr_text_deinit(&given);
  return status;
}

static void warn_of_replicas(const char *const *names, int count, const tsr_mesh *mesh) {
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++) {
    const tsr_axis *axis = tsr_mesh_axis_at(mesh, i);
    if (axis->size > 1 && strcmp(axis->name, "dp") != 0 && !is_among(axis->name, names, count))
      cli_say(
          "warning: no rule names axis \"%s\" of the mesh: it cuts nothing, so each shard has %lld "
          "replicas\n",
          axis->name, (long long)axis->size);
  }
}

tsr_status cli_check_rule_axes(const tsr_rules *rules, const tsr_mesh *mesh) {
  const char **names = NULL;
  int count = 0, common = 0;
  TSR_TRY(list_axes(rules, &names, &count));
  for (int i = 0; i < count; i++) common += tsr_mesh_axis_find(mesh, names[i]) >= 0;
  tsr_status status = count && !common ? no_common_axis(names, count, mesh) : NULL;
  if (!status) warn_of_replicas(names, count, mesh);
  free(names);
  return status;
}

// ---- reading ----

static tsr_status prepare(const cli_args *args, const char *model, const tsr_tree *tree,
                          const tsr_mesh *mesh, chosen_rules *source) {
  source->file = cli_value(args, "rules");
  source->options = (tsr_rules_options){.size = sizeof source->options, .mesh = mesh};
  TSR_TRY(cli_check_one_of(args, (const char *const[]){"rules", "preset", NULL}));
  TSR_TRY(cli_collect_facts(args, model, &source->facts));
  source->options.facts = source->facts.items;
  source->options.fact_count = source->facts.count;
  if (cli_has(args, "axes")) TSR_TRY(read_renames(cli_value(args, "axes"), source));
  if (source->file) return NULL;
  return cli_choose_preset(args, model, tree, &source->options, &source->preset, &source->reason);
}

static tsr_status read_rules(const chosen_rules *source, const tsr_rules_options *options,
                             tsr_rules **out_rules) {
  return source->file ? tsr_rules_read(source->file, options, out_rules)
                      : tsr_rules_preset(tsr_text_string(&source->preset), options, out_rules);
}

// Whether rules use a fact: without it they cannot be read, or only with a fallback.
static bool use_fact(const chosen_rules *source, const tsr_rules *rules, int fact) {
  tsr_fact others[CLI_MAX_FACTS];
  tsr_rules_options options = source->options;
  tsr_rules *without = NULL;
  options.fact_count = cli_facts_without(&source->facts, fact, others);
  options.facts = others;
  tsr_status status = read_rules(source, &options, &without);
  const bool used = status || strcmp(tsr_rules_warnings(rules), tsr_rules_warnings(without)) != 0;
  tsr_status_free(status);
  tsr_rules_release(without);
  return used;
}

// ---- sizes ----

enum { MOST_NUMBERS = CLI_MAX_FACTS + 2 * TSR_MAX_AXES + 3 };

// The facts, and the sizes of axes by their names in the mesh and in the rules.
static int list_numbers(const chosen_rules *source, tsr_fact out[MOST_NUMBERS]) {
  static const char *const absent[] = {"tp", "fsdp", "ep"};
  const tsr_rules_options *options = &source->options;
  int count = 0;
  for (int i = 0; i < source->facts.count; i++) out[count++] = source->facts.items[i];
  for (int i = 0; i < options->rename_axis_count; i++) {
    const int axis = tsr_mesh_axis_find(options->mesh, source->pairs[2 * i + 1]);
    if (axis >= 0)
      out[count++] = (tsr_fact){source->pairs[2 * i], tsr_mesh_axis_at(options->mesh, axis)->size};
  }
  for (int i = 0; i < tsr_mesh_axis_count(options->mesh); i++)
    out[count++] = (tsr_fact){tsr_mesh_axis_at(options->mesh, i)->name,
                              tsr_mesh_axis_at(options->mesh, i)->size};
  for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
    out[count++] = (tsr_fact){absent[i], 1};
  return count;
}

// Packed elements have sizes of their own.
static bool is_plain(const tsr_tensor *tensor) {
  const tsr_dtype_info *info = tsr_dtype_info_of(tensor->dtype);
  return info && info->kind == TSR_CLASS_FLOAT;
}

// The sum of the parts of a dimension; 0 = it has none.
static int64_t sum_parts(const tsr_spec_desc *desc, int dim) {
  int64_t sum = 0;
  if (desc->dims[dim].stage_count != 1 || desc->dims[dim].stages[0].kind != TSR_STAGE_PARTS)
    return 0;
  const tsr_stage *stage = &desc->dims[dim].stages[0];
  for (int64_t i = 0; i < stage->count; i++) sum += stage->parts[i].size;
  return sum;
}

static bool is_cut(const tsr_spec_desc *desc, int dim, const tsr_mesh *mesh) {
  const tsr_spec_dim *at = &desc->dims[dim];
  for (int i = 0; at->stage_count && i < at->stages[0].axis_count; i++) {
    const int axis = tsr_mesh_axis_find(mesh, at->stages[0].axes[i].name);
    if (axis >= 0 && tsr_mesh_axis_at(mesh, axis)->size > 1) return true;
  }
  return false;
}

// Warns if a rule computes another size than the tensor has; false = it does not. If `used` still
// has parts, the plan reports that they do not fit.
static bool warn_of_size(const tsr_tensor *tensor, const tsr_mesh *mesh, const tsr_rule *used,
                         const tsr_rule *computed) {
  const tsr_spec_desc *desc = tsr_spec_desc_of(computed->spec),
                      *even = tsr_spec_desc_of(used->spec);
  for (int d = 0; d < desc->dim_count && d < tensor->rank; d++) {
    const int64_t sum = sum_parts(desc, d);
    if (!sum || sum == tensor->dims[d] || sum_parts(even, d) || !is_cut(even, d, mesh)) continue;
    cli_say(
        "warning: %s has size %lld in dimension %d, but by the model's facts %lld (%s), so cuts "
        "may "
        "go through heads; --fact gives other numbers\n",
        tensor->path, (long long)tensor->dims[d], d, (long long)sum, computed->written);
    return true;
  }
  return false;
}

// Rules replace parts by an even cut if both are the same for the size that they compute. A tensor
// of another size is then cut evenly too, perhaps through heads. The first such tensor is named.
static void warn_of_sizes(const chosen_rules *source, const tsr_rules *rules,
                          const tsr_tree *tree) {
  tsr_fact numbers[MOST_NUMBERS];
  tsr_rules_options options = source->options;
  tsr_rules *computed = NULL;
  if (!options.mesh || !tree) return;
  options.fact_count = list_numbers(source, numbers);
  options.facts = numbers;
  options.mesh = NULL;
  tsr_status status = read_rules(source, &options, &computed);
  bool found = false;
  for (int64_t i = 0; i < tsr_tree_count(tree) && !status && !found; i++) {
    const tsr_tensor *tensor = tsr_tree_at(tree, i);
    int64_t rule = -1;
    status = tsr_rules_match(computed, tensor->path, &rule);
    if (!status && rule >= 0 && tsr_rules_at(computed, rule)->written && is_plain(tensor))
      found = warn_of_size(tensor, source->options.mesh, tsr_rules_at(rules, rule),
                           tsr_rules_at(computed, rule));
  }
  tsr_status_free(status);  // rules that cannot be read this way are not checked
  tsr_rules_release(computed);
}

static void say_choice(const chosen_rules *source) {
  tsr_text mesh = TSR_TEXT_EMPTY;
  const int dp = source->options.mesh ? tsr_mesh_axis_find(source->options.mesh, "dp") : -1;
  if (!source->reason.length || !source->options.mesh) return;
  tsr_mesh_print(source->options.mesh, &mesh);
  cli_say("preset %s: %s; mesh %s%s\n", tsr_text_string(&source->preset),
          tsr_text_string(&source->reason), tsr_text_string(&mesh),
          dp >= 0 && tsr_mesh_axis_at(source->options.mesh, dp)->size > 1
              ? ", where dp makes replicas"
              : "");
  tsr_text_deinit(&mesh);
}

tsr_status cli_open_rules(const cli_args *args, const char *model, const tsr_tree *tree,
                          const tsr_mesh *mesh, uint64_t *inout_unused, tsr_rules **out_rules) {
  chosen_rules source = {.preset = TSR_TEXT_EMPTY, .reason = TSR_TEXT_EMPTY};
  tsr_rules *rules = NULL;
  tsr_status status = prepare(args, model, tree, mesh, &source);
  if (!status) status = read_rules(&source, &source.options, &rules);
  if (!status) status = check_renames(&source, rules);
  for (int i = 0; i < source.facts.given_count && !status; i++)
    if (use_fact(&source, rules, i)) *inout_unused &= ~(UINT64_C(1) << i);
  if (!status) {
    say_choice(&source);
    cli_warn(source.file ? source.file : tsr_text_string(&source.preset),
             tsr_rules_warnings(rules));
    warn_of_sizes(&source, rules, tree);
    *out_rules = tsr_rules_retain(rules);
  }
  tsr_rules_release(rules);
  tsr_text_deinit(&source.preset);
  tsr_text_deinit(&source.reason);
  cli_facts_deinit(&source.facts);
  return status;
}
