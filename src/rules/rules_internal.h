// Rules, for other rooms: JSON, matching, presets and the facts of models, beyond tessera/rules.h.
#ifndef TESSERA_RULES_RULES_INTERNAL_H
#define TESSERA_RULES_RULES_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "json/json.h"
#include "tessera/api.h"
#include "tessera/rules.h"
#include "tessera/shape.h"
#include "tessera/status.h"
#include "tessera/text.h"

// [["regex", spec], ...]; a third member {"file": ..., "line": ...} says where a rule was written.
// `options` are those of tsr_rules_kept_to_json; NULL = none.
TSR_MUST_USE tsr_status tsr_rules_from_json(const tsr_json *rules, const tsr_json *options,
                                            tsr_rules **out_rules);
void tsr_rules_to_json(const tsr_rules *rules, tsr_json_writer *writer);

// tsr_rules_from_pattern (tessera/compat/eformer_axes.h) exactly as in eformer: `None`, `_` and
// "a+b" are names of axes.
TSR_MUST_USE tsr_status tsr_rules_from_pattern_literal(const char *pattern, tsr_rules **out_rules);

// ---- presets ----

// The name with its variant: "llama" on fsdp=2,tp=4 is "llama:fsdp+tp". Fails like
// tsr_rules_preset.
TSR_MUST_USE tsr_status tsr_preset_name(const char *name, const tsr_rules_options *options,
                                        tsr_text *out_name);
// The families, then their other names (mistral for llama); NULL after the last.
const char *tsr_preset_family_at(int64_t index);
const char *tsr_preset_text(const char *family);  // NULL if there is none

// The values of `model_type` in presets, each with its family; NULL after the last.
const char *tsr_preset_model_type_at(int64_t index, const char **out_family);
// The family of a model by its config.json: by its model_type, else by that of the nested config
// (text_config, llm_config or language_config); the first of `architectures` replaces a missing
// model_type. NULL = no preset. `out_reason` (may be NULL) gets what was found, as `model_type
// "llama"`, or nothing.
TSR_MUST_USE tsr_status tsr_preset_from_config(const tsr_json *config, const char **out_family,
                                               tsr_text *out_reason);

// The facts of presets, each with its keys in config.json.
typedef struct tsr_preset_fact {
  const char *name;
  const char *const *keys;  // in the order they are tried; ends with NULL
} tsr_preset_fact;
const tsr_preset_fact *tsr_preset_facts(int64_t *out_count);

typedef struct tsr_facts {
  int64_t count;
  tsr_fact *items;  // owned; names are those of tsr_preset_facts
} tsr_facts;
// The facts in a config.json, and those that follow: head_dim from hidden and heads, kv_heads from
// heads. A nested config (text_config, llm_config, language_config) comes first.
TSR_MUST_USE tsr_status tsr_facts_from_config(const tsr_json *config, tsr_facts *out_facts);
void tsr_facts_deinit(tsr_facts *facts);

// ---- use ----

// The facts given with the rules, used or not. Plans keep them.
const tsr_fact *tsr_rules_facts(const tsr_rules *rules, int64_t *out_count);

// The first rule that matches `path`, or -1. Safe to call from several threads. A pattern that
// takes too long is an error that names pattern and path.
TSR_MUST_USE tsr_status tsr_rules_match(const tsr_rules *rules, const char *path,
                                        int64_t *out_rule);
// Whether rule `index` alone matches `path`.
TSR_MUST_USE tsr_status tsr_rules_match_one(const tsr_rules *rules, int64_t index, const char *path,
                                            bool *out_matches);

// ---- one tensor ----

typedef enum tsr_decision_kind {
  TSR_DECIDED_BY_RULE,      // the rule's spec as it is
  TSR_DECIDED_CUT_TO_RANK,  // the rule's spec, which was longer than the rank
  TSR_DECIDED_SCALAR,       // no dimension to cut: the empty spec, whatever the rules say
  TSR_DECIDED_SMALL,        // fewer elements than the minimum: the empty spec
  TSR_DECIDED_NO_RULE       // no rule matches
} tsr_decision_kind;

typedef struct tsr_rule_decision {
  tsr_decision_kind kind;
  int64_t rule;    // -1 = none matched, or a scalar
  tsr_spec *spec;  // one reference, the caller's; NULL if no rule matched
} tsr_rule_decision;

// NULL shape: a leaf that is no array. `raw` (strict = false): by name alone. `min_size` counts
// elements.
TSR_MUST_USE tsr_status tsr_rules_decide(const tsr_rules *rules, const char *path,
                                         const tsr_shape *shape, int64_t min_size, bool raw,
                                         tsr_rule_decision *out_decision);
// The rule whose pattern has the longest text in common with a path; -1 if none has much.
int64_t tsr_rules_nearest(const tsr_rules *rules, const char *path);
// The error NO_RULE for a path, with the nearest rule.
TSR_MUST_USE tsr_status tsr_rules_no_rule(const tsr_rules *rules, const char *path);
// MIN_SHARDING_SIZE of the environment, else 16384.
TSR_MUST_USE tsr_status tsr_min_sharding_size(int64_t *out_size);

#endif
