#include "cli/plan_source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

tsr_status cli_open_tree(const char *path, tsr_tree **out_tree) {
  TSR_TRY(tsr_tree_open(path, out_tree));
  const char *line = tsr_tree_warnings(*out_tree);
  while (*line) {
    const int length = (int)strcspn(line, "\n");
    fprintf(stderr, "warning: %s: %.*s\n", path, length, line);
    line += length + (line[length] != '\0');
  }
  return NULL;
}

tsr_status cli_open_plan(const char *path, tsr_plan **out_plan) {
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_json_read_file(strcmp(path, "-") ? path : "/dev/stdin", &doc));
  tsr_status status = tsr_plan_from_json(tsr_json_root(doc), out_plan);
  tsr_json_destroy(doc);
  return tsr_note(status, "%s", path);
}

// ---- facts ----

enum { MOST_FACTS = 64 };

typedef struct fact_list {
  char buffer[1024];  // names given by --fact
  int count;
  tsr_fact items[MOST_FACTS];
  tsr_facts config;  // those of config.json
} fact_list;

// "heads=32,kv_heads=8" stands before what config.json says, so that it wins.
static tsr_status add_given_facts(const char *text, fact_list *facts) {
  const char *items[MOST_FACTS];
  int count = 0;
  TSR_TRY(
      cli_names("--fact", text, MOST_FACTS, facts->buffer, sizeof facts->buffer, items, &count));
  for (int i = 0; i < count; i++) {
    char *equals = strchr((char *)(uintptr_t)items[i], '=');
    if (!equals)
      return tsr_fail(BAD_ARGUMENT, "--fact \"%s\" has no value, wanted name=number", items[i]);
    *equals = '\0';
    int one = 0;
    tsr_fact *fact = &facts->items[facts->count++];
    fact->name = items[i];
    TSR_TRY(cli_ints(items[i], equals + 1, 1, &fact->value, &one));
  }
  return NULL;
}

static bool has_fact(const fact_list *facts, const char *name) {
  for (int i = 0; i < facts->count; i++)
    if (!strcmp(facts->items[i].name, name)) return true;
  return false;
}

// The config.json beside a model: in its folder, or in the folder of its file.
static tsr_status read_config(const char *model, fact_list *facts) {
  struct stat info;
  char path[4096];
  const bool folder = !stat(model, &info) && S_ISDIR(info.st_mode);
  const char *slash = strrchr(model, '/');
  const int length = folder ? (int)strlen(model) : slash ? (int)(slash - model) : 0;
  const int needed =
      snprintf(path, sizeof path, "%.*s%sconfig.json", length, model, length || slash ? "/" : "");
  if (needed >= (int)sizeof path || access(path, F_OK)) return NULL;
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_json_read_file(path, &doc));
  tsr_status status = tsr_facts_from_config(tsr_json_root(doc), &facts->config);
  tsr_json_destroy(doc);
  return tsr_note(status, "%s", path);
}

static tsr_status collect_facts(const cli_args *args, const char *model, fact_list *facts) {
  if (cli_has(args, "fact")) TSR_TRY(add_given_facts(cli_value(args, "fact"), facts));
  if (model) TSR_TRY(read_config(model, facts));
  for (int i = 0; i < facts->config.count && facts->count < MOST_FACTS; i++)
    if (!has_fact(facts, facts->config.items[i].name))
      facts->items[facts->count++] = facts->config.items[i];
  return NULL;
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
  fact_list facts = {0};
  char buffer[1024];
  const char *pairs[2 * TSR_MAX_AXES];
  tsr_rules_options options = {.size = sizeof options, .mesh = mesh};
  tsr_status status = collect_facts(args, model, &facts);
  if (!status && cli_has(args, "axes"))
    status = read_renames(cli_value(args, "axes"), buffer, sizeof buffer, pairs,
                          &options.rename_axis_count);
  options.facts = facts.items;
  options.fact_count = facts.count;
  options.rename_axes = pairs;
  if (!status)
    status = file ? tsr_rules_read(file, &options, out_rules)
                  : tsr_rules_preset(preset, &options, out_rules);
  tsr_facts_deinit(&facts.config);
  return status;
}
