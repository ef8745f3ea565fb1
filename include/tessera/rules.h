// Rules: ordered patterns that give tensors their specs by name.
//
// A rule is a regular expression, searched (not anchored) in a tensor's path as Python's re.search
// does, and a spec. The first rule that matches wins. All patterns are compiled when the rules are
// made, so that a broken one is found at once, with its file, line and column.
//
//   # one rule a line, the last " -> " parts pattern from spec; comments begin after blanks
//   include common.rules
//   embed_tokens\.weight$            ->  tp, fsdp
//   (q|o)_proj\.weight$              ->  tp, fsdp        # any notation of tessera/spec.h
//   norm\.weight$                    ->  _
//   "quoted -> as in JSON # text"     ->  ()
//   together attention over tp               # up to `end`: cut over tp all of them, or none
//   (q|k|v)_proj\.weight$           ->  tp, _
//   o_proj\.weight$                 ->  _, tp
//   end
//   qkv_proj\.weight$  ->  tp/parts(q:{heads*head_dim}/{head_dim},
//   k:{kv_heads*head_dim}/{head_dim})
//
// A spec may compute with *facts*, whole numbers that the caller or the model's config.json gives:
// {heads*head_dim} stands for their product. There are + - * / (which must leave no remainder),
// parentheses, min(a, b), max(a, b) and ceil_div(a, b). The sizes of the mesh's axes are facts too.
#ifndef TESSERA_RULES_H
#define TESSERA_RULES_H

#include "tessera/json.h"
#include "tessera/mesh.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"

TSR_BEGIN_DECLS

typedef struct tsr_rule {
  const char *pattern;
  const tsr_spec *spec;
  const char *file;  // where it was written; "" = by a call
  int64_t line;      // counted from 1; 0 = by a call
  // Rules of one group cut their tensors over an axis together or not at all: where one tensor of a
  // layer cannot be cut over it, the others of its group are not either. NULL = no group.
  const char *together;  // the group's name, a word
  const char *over;      // the axis; given with `together`
  const char *written;   // the spec before its {expressions} were computed; NULL = it has none
} tsr_rule;

// A named whole number for {expressions} in specs.
typedef struct tsr_fact {
  const char *name;
  int64_t value;
} tsr_fact;

// How rules are read.
typedef struct tsr_rules_options {
  size_t size;  // sizeof(tsr_rules_options)
  const tsr_fact *facts;
  int64_t fact_count;
  // Axes to keep; all others are dropped from specs, so that one file serves fsdp, tp and fsdp+tp.
  // NULL = all. Facts are asked for only by what is kept.
  const char *const *keep_axes;
  int keep_axis_count;
  // New names for axes: pairs of old and new ("tp", "model"). What is kept goes by the old names.
  const char *const *rename_axes;
  int rename_axis_count;  // of pairs
  // Where the rules will be used: its axes' sizes are facts under the names that rules have for
  // them. With it, a cut into one part without copies that is as good as an even cut becomes one.
  // NULL = not known yet.
  const tsr_mesh *mesh;
} tsr_rules_options;
#define TSR_RULES_OPTIONS TSR_SIZED(tsr_rules_options)

typedef struct tsr_rules tsr_rules;  // immutable, shared by any threads

TSR_API TSR_MUST_USE tsr_status tsr_rules_create(const tsr_rule *rules, int64_t count,
                                                 tsr_rules **out_rules);
// Text as above; `name` stands in messages. `include` lines are refused here.
TSR_API TSR_MUST_USE tsr_status tsr_rules_parse(const char *text, const char *name,
                                                const tsr_rules_options *options,
                                                tsr_rules **out_rules);
// A file of that form, or of JSON if it ends in .json. `include` is relative to the file.
TSR_API TSR_MUST_USE tsr_status tsr_rules_read(const char *path, const tsr_rules_options *options,
                                               tsr_rules **out_rules);
// [["regex", spec], ...]; a third member {"file": ..., "line": ...} says where a rule was written.
TSR_API TSR_MUST_USE tsr_status tsr_rules_from_json(const tsr_json *value, tsr_rules **out_rules);
TSR_API void tsr_rules_to_json(const tsr_rules *rules, tsr_json_writer *writer);
TSR_API void tsr_rules_print(const tsr_rules *rules, tsr_text *out);  // the text form

// eformer's mini-language: "attention|mlp->data,hidden->model.None". Rules apart by ',',
// alternatives by '|', dimensions by '.', axes of a group joined by '+', nothing is `None`, `_` or
// empty. Blanks around them do not count; brackets and classes keep separators inside; a backslash
// makes one plain. Each alternative becomes a rule of its own.
TSR_API TSR_MUST_USE tsr_status tsr_rules_from_pattern(const char *pattern, tsr_rules **out_rules);
// The same with axes read as eformer reads them: `None`, `_` and "a+b" are names of axes.
TSR_API TSR_MUST_USE tsr_status tsr_rules_from_pattern_literal(const char *pattern,
                                                               tsr_rules **out_rules);

// ---- presets ----

// Rules that ship with the library, by the names of Hugging Face: "family:variant" as in
// "llama:fsdp+tp". Variants are the axes to use, joined by '+': fsdp, tp and, for experts, ep.
// Without a variant ("llama") they are those that the options' mesh has; a mesh with none of them,
// or with one that the family has no rules for, is an error. `keep_axes` of the options must not be
// given as well.
TSR_API TSR_MUST_USE tsr_status tsr_rules_preset(const char *name, const tsr_rules_options *options,
                                                 tsr_rules **out_rules);
// The name with its variant, as tsr_rules_preset takes it: "llama" on fsdp=2,tp=4 is
// "llama:fsdp+tp". The same names are errors.
TSR_API TSR_MUST_USE tsr_status tsr_preset_name(const char *name, const tsr_rules_options *options,
                                                tsr_text *out_name);
// The families, further names (mistral for llama) after them; NULL after the last.
TSR_API const char *tsr_preset_family_at(int64_t index);
TSR_API const char *tsr_preset_text(const char *family);  // NULL if there is none

// The values of `model_type` that presets are for, each with its family; NULL after the last.
TSR_API const char *tsr_preset_model_type_at(int64_t index, const char **out_family);
// The family for a model, by its config.json: by its model_type, else by that of the model it wraps
// (in text_config, llm_config or language_config); the first of `architectures` stands for a
// model_type that is missing. NULL if no preset is for it. `out_reason`, unless it is NULL, gets
// what was found, as `model_type "llama"`; nothing if the config names no type. A config that is no
// object is an error.
TSR_API TSR_MUST_USE tsr_status tsr_preset_from_config(const tsr_json *config,
                                                       const char **out_family,
                                                       tsr_text *out_reason);

// ---- facts ----

// The facts that presets ask for, each with the keys of config.json it comes from.
typedef struct tsr_preset_fact {
  const char *name;
  const char *const *keys;  // in the order they are tried; ends with NULL
} tsr_preset_fact;
TSR_API const tsr_preset_fact *tsr_preset_facts(int64_t *out_count);

typedef struct tsr_facts {
  int64_t count;
  tsr_fact *items;  // owned; names are those of tsr_preset_facts
} tsr_facts;
// What a config.json tells, with what follows from it: head_dim from hidden and heads, kv_heads
// from heads. Of a model with several parts, the one in text_config, llm_config or
// language_config is read.
TSR_API TSR_MUST_USE tsr_status tsr_facts_from_config(const tsr_json *config, tsr_facts *out_facts);
TSR_API void tsr_facts_deinit(tsr_facts *facts);

// ---- use ----

TSR_API tsr_rules *tsr_rules_retain(const tsr_rules *rules);
TSR_API void tsr_rules_release(const tsr_rules *rules);  // NULL is fine
// What rules fell back on for want of a fact (`spec else spec`), one line each; "" = nothing.
TSR_API const char *tsr_rules_warnings(const tsr_rules *rules);
// The facts that rules were read with, whether they asked for them or not. Plans keep them.
TSR_API const tsr_fact *tsr_rules_facts(const tsr_rules *rules, int64_t *out_count);
TSR_API int64_t tsr_rules_count(const tsr_rules *rules);
TSR_API const tsr_rule *tsr_rules_at(const tsr_rules *rules, int64_t index);

// The first rule that matches `path`, or -1. Rules are safe to share between threads. A pattern
// that takes too long on a path is an error that names both, not a hang.
TSR_API TSR_MUST_USE tsr_status tsr_rules_match(const tsr_rules *rules, const char *path,
                                                int64_t *out_rule);
// Whether rule `index` alone matches `path`.
TSR_API TSR_MUST_USE tsr_status tsr_rules_match_one(const tsr_rules *rules, int64_t index,
                                                    const char *path, bool *out_matches);

TSR_END_DECLS

#endif
