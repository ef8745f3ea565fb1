// The numbers that rules and maps compute with: those of --fact, then those of config.json.
#ifndef TESSERA_CLI_FACT_SOURCE_H
#define TESSERA_CLI_FACT_SOURCE_H

#include "cli/cli.h"
#include "json/json.h"
#include "rules/rules_internal.h"

enum { CLI_MAX_FACTS = 64 };

typedef struct cli_facts {
  char buffer[1024];       // names given by --fact
  int count, given_count;  // those of --fact come first
  tsr_fact items[CLI_MAX_FACTS];
  tsr_facts config;  // those of config.json
} cli_facts;

// The config.json beside a model: in its folder, or in the folder of its file. NULL = none is
// there.
tsr_status cli_open_config(const char *model, tsr_json_doc **out_doc);

// Its facts. None, and `*out_facts` as it was, where there is no such file.
tsr_status cli_read_config(const char *model, tsr_facts *out_facts);

// The facts that --fact gives, and those of the model's config.json that it does not. `model` may
// be NULL. To be freed also after a failure.
tsr_status cli_collect_facts(const cli_args *args, const char *model, cli_facts *facts);
void cli_facts_deinit(cli_facts *facts);

// All facts but one; their number.
int cli_facts_without(const cli_facts *facts, int index, tsr_fact *out_items);

// Fails for a fact of --fact that nothing asks for: bit i of `unasked` is that of the i-th.
tsr_status cli_check_facts(const cli_args *args, uint64_t unasked);

#endif
