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
//   qkv_proj  ->  tp/parts(q:{heads*head_dim}/{head_dim}, k:{kv_heads*head_dim}/{head_dim})
//
// A spec may compute with *facts*, whole numbers that the caller or the model's config.json gives:
// {heads*head_dim} stands for their product. There are + - * / (which must leave no remainder),
// parentheses, min(a, b), max(a, b) and ceil_div(a, b). The sizes of the mesh's axes are facts too.
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

TSR_API TSR_MUST_USE TSR_NONNULL_AT(3) tsr_status
    tsr_rules_create(const tsr_rule *rules, int64_t count, tsr_rules **out_rules);
// Text as above; `name` stands in messages, NULL = "rules". `include` lines are refused here.
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
// Without a variant ("llama") they are those that the options' mesh has; a mesh with none of them,
// or with one that the family has no rules for, is an error. `keep_axes` of the options must not be
// given as well.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_rules_preset(const char *name, const tsr_rules_options *options, tsr_rules **out_rules);

// ---- use ----

TSR_API TSR_NONNULL tsr_rules *tsr_rules_retain(const tsr_rules *rules);
TSR_API void tsr_rules_release(const tsr_rules *rules);  // NULL is fine
// What rules fell back on for want of a fact (`spec else spec`), one line each; "" = nothing.
TSR_API TSR_NONNULL const char *tsr_rules_warnings(const tsr_rules *rules);
TSR_API TSR_NONNULL int64_t tsr_rules_count(const tsr_rules *rules);
TSR_API TSR_NONNULL const tsr_rule *tsr_rules_at(const tsr_rules *rules, int64_t index);

TSR_END_DECLS

#endif
