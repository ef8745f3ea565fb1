// Facts of a model: --fact first, then config.json. A fact of --fact that nothing uses is refused.
#include "cli/sources.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/suggest.h"

static bool has_fact(const cli_facts *facts, const char *name) {
  for (int i = 0; i < facts->count; i++)
    if (!strcmp(facts->items[i].name, name)) return true;
  return false;
}

// The facts of presets are counts; facts of other rules may be any number.
static bool is_count(const char *name) {
  int64_t count = 0;
  const tsr_preset_fact *table = tsr_preset_facts(&count);
  for (int64_t i = 0; i < count; i++)
    if (!strcmp(table[i].name, name)) return true;
  return false;
}

static tsr_status add_given_fact(const char *name, const char *number, cli_facts *facts) {
  tsr_fact fact = {.name = name};
  int one = 0;
  if (!*name)
    return tsr_fail(BAD_ARGUMENT, "--fact \"=%s\" has no name, wanted name=number", number);
  if (has_fact(facts, name))
    return tsr_fail(BAD_ARGUMENT, "--fact gives \"%s\" twice, wanted one number for it", name);
  TSR_TRY(cli_ints(name, number, 1, &fact.value, &one));
  if (fact.value < 1 && is_count(name))
    return tsr_fail(BAD_ARGUMENT, "--fact %s is %lld, wanted 1 or more", name,
                    (long long)fact.value);
  facts->items[facts->count++] = fact;
  facts->given_count++;
  return NULL;
}

// Puts "heads=32,kv_heads=8" before the facts of config.json, so that they win.
static tsr_status add_given_facts(const char *text, cli_facts *facts) {
  const char *items[CLI_MAX_FACTS];
  int count = 0;
  TSR_TRY(
      cli_names("--fact", text, CLI_MAX_FACTS, facts->buffer, sizeof facts->buffer, items, &count));
  for (int i = 0; i < count; i++) {
    char *equals = strchr((char *)(uintptr_t)items[i], '=');
    if (!equals)
      return tsr_fail(BAD_ARGUMENT, "--fact \"%s\" has no value, wanted name=number", items[i]);
    *equals = '\0';
    TSR_TRY(add_given_fact(items[i], equals + 1, facts));
  }
  return NULL;
}

tsr_status cli_open_config(const char *model, tsr_json_doc **out_doc) {
  struct stat info;
  char path[4096];
  const bool folder = !stat(model, &info) && S_ISDIR(info.st_mode);
  const char *slash = strrchr(model, '/');
  const int length = folder ? (int)strlen(model) : slash ? (int)(slash - model) : 0;
  const int needed =
      snprintf(path, sizeof path, "%.*s%sconfig.json", length, model, length || slash ? "/" : "");
  *out_doc = NULL;
  if (needed >= (int)sizeof path || access(path, F_OK)) return NULL;
  return tsr_json_read_file(path, out_doc);
}

tsr_status cli_read_config(const char *model, tsr_facts *out_facts) {
  tsr_json_doc *doc = NULL;
  TSR_TRY(cli_open_config(model, &doc));
  if (!doc) return NULL;
  tsr_status status = tsr_facts_from_config(tsr_json_root(doc), out_facts);
  tsr_json_destroy(doc);
  return tsr_note(status, "the config.json of %s", model);
}

tsr_status cli_collect_facts(const cli_args *args, const char *model, cli_facts *facts) {
  if (cli_has(args, "fact")) TSR_TRY(add_given_facts(cli_value(args, "fact"), facts));
  if (model) TSR_TRY(cli_read_config(model, &facts->config));
  for (int i = 0; i < facts->config.count && facts->count < CLI_MAX_FACTS; i++)
    if (!has_fact(facts, facts->config.items[i].name))
      facts->items[facts->count++] = facts->config.items[i];
  return NULL;
}

void cli_facts_deinit(cli_facts *facts) { tsr_facts_deinit(&facts->config); }

int cli_facts_without(const cli_facts *facts, int index, tsr_fact *out_items) {
  int count = 0;
  for (int i = 0; i < facts->count; i++)
    if (i != index) out_items[count++] = facts->items[i];
  return count;
}

static tsr_status unused_fact(const char *name) {
  int64_t count = 0;
  const tsr_preset_fact *table = tsr_preset_facts(&count);
  tsr_suggestion near = tsr_suggestion_for(name);
  for (int64_t i = 0; i < count && !is_count(name); i++) tsr_suggestion_offer(&near, table[i].name);
  return tsr_fail(BAD_ARGUMENT, "--fact %s has no effect: no rule or map uses it" TSR_DID_YOU_MEAN,
                  name, TSR_SUGGESTED(near));
}

tsr_status cli_check_facts(const cli_args *args, uint64_t unused) {
  cli_facts facts = {0};
  if (!cli_has(args, "fact")) return NULL;
  TSR_TRY(add_given_facts(cli_value(args, "fact"), &facts));
  for (int i = 0; i < facts.count; i++)
    if (unused >> i & 1) return unused_fact(facts.items[i].name);
  return NULL;
}
