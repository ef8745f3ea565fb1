// The numbers that rules and maps compute with, from --fact and config.json.
#ifndef TESSERA_CLI_FACT_SOURCE_H
#define TESSERA_CLI_FACT_SOURCE_H

#include "cli/cli.h"
#include "json/json.h"
#include "rules/rules_internal.h"
#include "tessera/rules.h"

enum { CLI_MAX_FACTS = 64 };

typedef struct cli_facts {
  char buffer[1024];       // names given by --fact
  int count, given_count;  // those of --fact come first
  tsr_fact items[CLI_MAX_FACTS];
  tsr_facts config;  // those of config.json
} cli_facts;

// The config.json in the folder of a model, or beside its file. NULL = there is none.
tsr_status cli_open_config(const char *model, tsr_json_doc **out_doc);

// Its facts. Without such a file, `*out_facts` is unchanged.
tsr_status cli_read_config(const char *model, tsr_facts *out_facts);

// The facts of --fact, and those of the model's config.json that --fact lacks. `model` may be NULL.
// The caller must deinit `facts` also after a failure.
tsr_status cli_collect_facts(const cli_args *args, const char *model, cli_facts *facts);
void cli_facts_deinit(cli_facts *facts);

// Copies all facts except one; returns their number.
int cli_facts_without(const cli_facts *facts, int index, tsr_fact *out_items);

// Fails if a fact of --fact is unused: bit i of `unused` is that of fact i.
tsr_status cli_check_facts(const cli_args *args, uint64_t unused);

#endif
