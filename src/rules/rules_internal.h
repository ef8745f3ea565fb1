// Rules, for other rooms: JSON, matching, presets by model and the facts of models. The rest is in
// tessera/rules.h.
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

// tsr_rules_from_pattern (tessera/compat/eformer_axes.h), with axes read as eformer reads them:
// `None`,
// `_` and "a+b" are names of axes.
TSR_MUST_USE tsr_status tsr_rules_from_pattern_literal(const char *pattern, tsr_rules **out_rules);

// ---- presets ----

// The name with its variant, as tsr_rules_preset takes it: "llama" on fsdp=2,tp=4 is
// "llama:fsdp+tp". The same names are errors.
TSR_MUST_USE tsr_status tsr_preset_name(const char *name, const tsr_rules_options *options,
                                        tsr_text *out_name);
// The families, further names (mistral for llama) after them; NULL after the last.
const char *tsr_preset_family_at(int64_t index);
const char *tsr_preset_text(const char *family);  // NULL if there is none

// The values of `model_type` that presets are for, each with its family; NULL after the last.
const char *tsr_preset_model_type_at(int64_t index, const char **out_family);
// The family for a model, by its config.json: by its model_type, else by that of the model it wraps
// (in text_config, llm_config or language_config); the first of `architectures` stands for a
// model_type that is missing. NULL if no preset is for it. `out_reason`, unless it is NULL, gets
// what was found, as `model_type "llama"`; nothing if the config names no type. A config that is no
// object is an error.
TSR_MUST_USE tsr_status tsr_preset_from_config(const tsr_json *config, const char **out_family,
                                               tsr_text *out_reason);

// The facts that presets ask for, each with the keys of config.json it comes from.
typedef struct tsr_preset_fact {
  const char *name;
  const char *const *keys;  // in the order they are tried; ends with NULL
} tsr_preset_fact;
const tsr_preset_fact *tsr_preset_facts(int64_t *out_count);

typedef struct tsr_facts {
  int64_t count;
  tsr_fact *items;  // owned; names are those of tsr_preset_facts
} tsr_facts;
// What a config.json tells, with what follows from it: head_dim from hidden and heads, kv_heads
// from heads. Of a model with several parts, the one in text_config, llm_config or
// language_config is read.
TSR_MUST_USE tsr_status tsr_facts_from_config(const tsr_json *config, tsr_facts *out_facts);
void tsr_facts_deinit(tsr_facts *facts);

// ---- use ----

// The facts that rules were read with, whether they asked for them or not. Plans keep them.
const tsr_fact *tsr_rules_facts(const tsr_rules *rules, int64_t *out_count);

// The first rule that matches `path`, or -1. Rules are safe to share between threads. A pattern
// that takes too long on a path is an error that names both, not a hang.
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
  int64_t rule;    // -1 = none was asked or none matched
  tsr_spec *spec;  // one reference, the caller's; NULL if no rule matched
} tsr_rule_decision;

// NULL shape: a leaf that is no array. `raw` (strict = false): the rule's spec by name alone.
// Elements are counted, not bytes.
TSR_MUST_USE tsr_status tsr_rules_decide(const tsr_rules *rules, const char *path,
                                         const tsr_shape *shape, int64_t min_size, bool raw,
                                         tsr_rule_decision *out_decision);
// The rule whose pattern has most in common with a path that none matches; -1 if none has much.
int64_t tsr_rules_nearest(const tsr_rules *rules, const char *path);
// The failure for such a path: NO_RULE, which names it and the nearest rule.
TSR_MUST_USE tsr_status tsr_rules_no_rule(const tsr_rules *rules, const char *path);
// MIN_SHARDING_SIZE of the environment, else 16384.
TSR_MUST_USE tsr_status tsr_min_sharding_size(int64_t *out_size);

#endif
