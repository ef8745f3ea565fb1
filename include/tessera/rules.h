// Rules: ordered patterns that give tensors their specs by name.
//
// A rule is a regular expression and a spec. The expression is searched in a tensor's path, not
// anchored, as Python's re.search does. The first rule that matches wins. All patterns are compiled
// when the rules are made; an error names file, line and column.
//
//   # one rule a line; the last " -> " separates pattern and spec; comments follow a blank
//   include common.rules
//   embed_tokens\.weight$            ->  tp, fsdp
//   (q|o)_proj\.weight$              ->  tp, fsdp        # any notation of tessera/spec.h
//   norm\.weight$                    ->  _
//   "quoted -> as in JSON # text"     ->  ()
//   together attention over tp               # up to `end`: all are cut over tp, or none
//   (q|k|v)_proj\.weight$           ->  tp, _
//   o_proj\.weight$                 ->  _, tp
//   end
//   qkv_proj  ->  tp/parts(q:{heads*head_dim}/{head_dim}, k:{kv_heads*head_dim}/{head_dim})
//
// A spec may compute with *facts*: integers from the caller or from the model's config.json, as in
// {heads*head_dim}. Operators are + - * / (a remainder is an error), parentheses, min(a, b),
// max(a, b) and ceil_div(a, b). The sizes of mesh axes are facts too.
#ifndef TESSERA_RULES_H
#define TESSERA_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
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
  // The tensors of a group are cut over an axis together or not at all: if one tensor of a layer
  // cannot be cut over it, none of its group is. NULL = no group.
  const char *together;  // the group's name, a word
  const char *over;      // the axis; given with `together`
  const char *written;   // the spec before its {expressions} were computed; NULL = it has none
} tsr_rule;

// A named integer for {expressions} in specs.
typedef struct tsr_fact {
  const char *name;
  int64_t value;
} tsr_fact;

// How rules are read.
typedef struct tsr_rules_options {
  size_t size;  // sizeof(tsr_rules_options)
  const tsr_fact *facts;
  int64_t fact_count;
  // Axes to keep; all others are dropped from specs, so one file works for fsdp, tp and fsdp+tp.
  // NULL = all. Only kept axes need their facts.
  const char *const *keep_axes;
  int keep_axis_count;
  // New names for axes: pairs of old and new ("tp", "model"). `keep_axes` uses the old names.
  const char *const *rename_axes;
  int rename_axis_count;  // of pairs
  // The mesh of the tensors. Its axis sizes are facts, under the names that the rules use. With it,
  // a parts(...) cut of one part that equals an even cut becomes an even cut. NULL = not known yet.
  const tsr_mesh *mesh;
} tsr_rules_options;
#define TSR_RULES_OPTIONS TSR_SIZED(tsr_rules_options)

typedef struct tsr_rules tsr_rules;  // immutable, shared by any threads

TSR_API TSR_MUST_USE TSR_NONNULL_AT(3) tsr_status
    tsr_rules_create(const tsr_rule *rules, int64_t count, tsr_rules **out_rules);
// Text as above; messages use `name`, NULL = "rules". `include` lines are an error here.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_rules_parse(const char *text, const char *name, const tsr_rules_options *options,
                    tsr_rules **out_rules);
// A file of that form, or of JSON if it ends in .json. `include` is relative to the file.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_rules_read(const char *path, const tsr_rules_options *options, tsr_rules **out_rules);
TSR_API TSR_NONNULL void tsr_rules_print(const tsr_rules *rules, tsr_text *out);  // the text form

// ---- presets ----

// Rules that ship with the library, by the names of Hugging Face: "family:variant" as in
// "llama:fsdp+tp". Variants are the axes to use, joined by '+': fsdp, tp and, for experts, ep.
// Without a variant ("llama") they are the axes of the options' mesh; a mesh with none of them, or
// with one that the family has no rules for, is an error. So is a variant together with
// `keep_axes`.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_rules_preset(const char *name, const tsr_rules_options *options, tsr_rules **out_rules);

// ---- use ----

TSR_API TSR_NONNULL tsr_rules *tsr_rules_retain(const tsr_rules *rules);
TSR_API void tsr_rules_release(const tsr_rules *rules);  // NULL is fine
// The first reason why a fallback spec was used (`spec else spec`, a fact is missing); "" = none.
TSR_API TSR_NONNULL const char *tsr_rules_warnings(const tsr_rules *rules);
TSR_API TSR_NONNULL int64_t tsr_rules_count(const tsr_rules *rules);
TSR_API TSR_NONNULL const tsr_rule *tsr_rules_at(const tsr_rules *rules, int64_t index);

TSR_END_DECLS

#endif
