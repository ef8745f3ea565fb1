// Rules, between the files of this room.
#ifndef TESSERA_RULES_RULES_H
#define TESSERA_RULES_RULES_H

#include "base/arena.h"
#include "json/json.h"
#include "tessera/rules.h"

// Rules under construction: readers add them, and the last step compiles them.
typedef struct tsr_rules_builder {
  tsr_arena arena;
  tsr_rule *items;  // specs are retained
  int count;
  int64_t capacity;
  const char *warning;          // the first; NULL = none
  const char *together, *over;  // of the rules that follow, in the arena; NULL = no group
  tsr_rules_options kept;       // the options they are read with, in the arena, without the mesh
} tsr_rules_builder;

#define TSR_RULES_BUILDER_EMPTY \
  { .arena = TSR_ARENA_EMPTY }

// Copies the texts and retains the spec. The group is the builder's.
TSR_MUST_USE tsr_status tsr_rules_builder_add(tsr_rules_builder *builder, const tsr_rule *rule,
                                              size_t pattern_length);
// Begins a group; NULL ends it. An axis that is not kept makes no group.
TSR_MUST_USE tsr_status tsr_rules_builder_together(tsr_rules_builder *builder, const char *name,
                                                   const char *over,
                                                   const tsr_rules_options *options);
// Keeps the first reason why a fallback spec was used, and frees it.
TSR_MUST_USE tsr_status tsr_rules_builder_warn(tsr_rules_builder *builder, tsr_status reason);
// Compiles the rules if `status` is NULL, and frees the builder in any case.
TSR_MUST_USE tsr_status tsr_rules_builder_finish(tsr_rules_builder *builder, tsr_status status,
                                                 tsr_rules **out_rules);

// Copies the options, so that the rules can be computed again for another mesh.
TSR_MUST_USE tsr_status tsr_rules_builder_keep(tsr_rules_builder *builder,
                                               const tsr_rules_options *options);
const tsr_rules_options *tsr_rules_kept(const tsr_rules *rules);  // all zero = nothing
bool tsr_rules_have_expressions(const tsr_rules *rules);          // whether a spec has expressions
// The same rules for another mesh: specs with expressions are computed for its sizes, and axes
// renamed by pairs of old and new names.
TSR_MUST_USE tsr_status tsr_rules_for_mesh(const tsr_rules *rules, const tsr_mesh *mesh,
                                           const char *const *renames, int rename_count,
                                           tsr_rules **out_rules);
// The kept options as JSON: {"facts": {"heads": 32}, "keep_axes": ["tp"], "rename_axes": [["tp",
// "model"]]}.
void tsr_rules_kept_to_json(const tsr_rules *rules, tsr_json_writer *writer);

// Reads text or JSON into a builder. `name` is the rules' file, also in messages.
TSR_MUST_USE tsr_status tsr_rules_add_text(tsr_rules_builder *builder, const char *text,
                                           const char *name, const tsr_rules_options *options);
TSR_MUST_USE tsr_status tsr_rules_add_json(tsr_rules_builder *builder, const tsr_json *value,
                                           const char *name, const tsr_rules_options *options);

// The spec of a rule's text: {expressions} computed, axes dropped and renamed. If facts are
// missing, the spec after `else`, and the builder gets a warning.
TSR_MUST_USE tsr_status tsr_rule_spec_parse(tsr_rules_builder *builder, const char *text,
                                            const tsr_rules_options *options, tsr_spec **out_spec);
// Whether a spec's text has expressions.
bool tsr_rule_spec_is_computed(const char *text);
// The mesh's name for an axis of the rules; NULL = not kept.
const char *tsr_rule_axis_kept(const tsr_rules_options *options, const char *axis);
// Drops and renames the axes of a spec.
TSR_MUST_USE tsr_status tsr_rule_spec_adapt(const tsr_spec *spec, const tsr_rules_options *options,
                                            tsr_spec **out_spec);

// The mesh's name for an axis of the rules, kept or not.
const char *tsr_renamed_axis(const tsr_rules_options *options, const char *axis);

// Replaces each {expression} outside double quotes by its value. If a fact is missing,
// `*out_missing` is the error to raise if the numbers matter, and every expression becomes 1.
TSR_MUST_USE tsr_status tsr_facts_expand(const char *text, const tsr_rules_options *options,
                                         tsr_text *out, tsr_status *out_missing);

// The value of an expression, without braces; and a check of its syntax only.
TSR_MUST_USE tsr_status tsr_facts_evaluate(const char *text, const tsr_rules_options *options,
                                           int64_t *out_value);
TSR_MUST_USE tsr_status tsr_facts_check(const char *text);

// The nested config of the language model in a multimodal model; NULL = none.
const tsr_json *tsr_config_nested(const tsr_json *config, const char **out_key);

// Checks and copies options, also shorter structs of older callers; NULL = none.
TSR_MUST_USE tsr_status tsr_rules_options_copy(const tsr_rules_options *options,
                                               tsr_rules_options *out_options);

#endif
