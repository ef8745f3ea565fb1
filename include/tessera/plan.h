// Plan: a spec for every tensor of a model on a mesh, each with its reason.
//
//   TSR_OWN(plan, plan);  // tessera/own.h
//   TSR_TRY(tsr_plan_from_text("model.safetensors", mesh, "lm_head -> tp, _\n.* -> ()\n", &plan));
//   const tsr_spec *spec = tsr_plan_find_spec(plan, "lm_head.weight");  // NULL if there is none
//
// A plan is immutable; what changes one makes another. Specs and names are kept once in pools, so
// that 100,000 rows take a few megabytes.
#ifndef TESSERA_PLAN_H
#define TESSERA_PLAN_H

#include "tessera/layout.h"
#include "tessera/logical.h"
#include "tessera/mesh.h"
#include "tessera/rules.h"
#include "tessera/tree.h"

TSR_BEGIN_DECLS

#define TSR_PLAN_SCHEMA 1  // docs/plan-schema.md

// Why a row has its spec: id, the word in JSON, what it says.
#define TSR_REASONS(X)                                                                            \
  X(RULE, "rule", "matched a rule")                                                               \
  X(SCALAR, "scalar", "scalars are not cut")                                                      \
  X(SMALL, "small", "smaller than the minimum size")                                              \
  X(CUT_TO_RANK, "cut_to_rank", "the spec was longer than the rank")                              \
  X(NO_RULE, "no_rule", "no rule matched")                                                        \
  X(DEFAULT, "default", "the default spec")                                                       \
  X(LOGICAL, "logical", "mapped from a logical axis")                                             \
  X(LOGICAL_BLOCKED, "logical_blocked", "a logical axis lost its mesh axis to another dimension") \
  X(NO_LOGICAL, "no_logical", "no logical axes are known")                                        \
  X(AXIS_MISSING, "axis_missing", "an axis is not in the mesh")                                   \
  X(SUB_AXIS_MISFIT, "sub_axis_misfit", "a sub-axis does not divide its axis")                    \
  X(INDIVISIBLE, "indivisible", "a size does not divide")                                         \
  X(CUT_MISFIT, "cut_misfit", "sizes or parts do not fit")                                        \
  X(UNCONSTRAINED, "unconstrained", "unconstrained means not cut here")                           \
  X(DUPLICATE_AXIS, "duplicate_axis", "an axis was used twice")                                   \
  X(AUTO, "auto", "chosen automatically")                                                         \
  X(MEMORY, "memory", "cut to fit the memory")                                                    \
  X(FITS, "fits", "fits the memory as it is")                                                     \
  X(CONVERTED, "converted", "converted from another mesh")                                        \
  X(COMPANION, "companion", "goes with another tensor")                                           \
  X(INDEXED, "indexed", "not cut with it: an index counts groups over the whole weight")          \
  X(WHOLE, "whole", "kept whole: no cut can be followed")                                         \
  X(TOGETHER, "together", "not cut, as its group cannot be cut together")                         \
  X(USER, "user", "set by the user")
#define TSR_ENUMERATOR_(id, word, text) TSR_WHY_##id,
typedef enum tsr_why { TSR_REASONS(TSR_ENUMERATOR_) TSR_WHY_COUNT } tsr_why;
#undef TSR_ENUMERATOR_
TSR_API const char *tsr_why_word(tsr_why why);  // "no_rule"
TSR_API const char *tsr_why_text(tsr_why why);  // "no rule matched"

// One reason: what happened, to which dimension, by which rule, and a number and an axis that
// belong to it. What they mean: docs/plan-schema.md.
typedef struct tsr_plan_note {
  tsr_why why;
  int dim;       // -1 = the spec as a whole
  int64_t rule;  // -1 = none
  int64_t argument;
  const char *axis;  // NULL = none
} tsr_plan_note;

typedef struct tsr_plan_row {
  size_t size;  // sizeof(tsr_plan_row)
  const tsr_tensor *tensor;
  const tsr_spec *wanted, *final;  // what was asked for, and what fits
  tsr_policy policy;               // for sizes that do not divide
  int64_t bytes_per_device;        // of the largest shard; the whole where the spec does not fit
  int64_t note_count;
  const tsr_plan_note *notes;
} tsr_plan_row;
#define TSR_PLAN_ROW TSR_SIZED(tsr_plan_row)

typedef struct tsr_plan tsr_plan;  // immutable, shared by any threads

TSR_API tsr_plan *tsr_plan_retain(const tsr_plan *plan);
TSR_API void tsr_plan_release(const tsr_plan *plan);  // NULL is fine
TSR_API const tsr_tree *tsr_plan_tree(const tsr_plan *plan);
TSR_API const tsr_mesh *tsr_plan_mesh(const tsr_plan *plan);    // NULL = made without one
TSR_API const tsr_rules *tsr_plan_rules(const tsr_plan *plan);  // that it was made by; or NULL
TSR_API const tsr_logical_rules *tsr_plan_logical_rules(const tsr_plan *plan);  // the same
TSR_API int64_t tsr_plan_count(const tsr_plan *plan);
// The row of a tensor by its index in the tree, or by its path: fails with not_found, naming the
// nearest path.
TSR_API TSR_MUST_USE tsr_status tsr_plan_at(const tsr_plan *plan, int64_t index,
                                            tsr_plan_row *out_row);
TSR_API TSR_MUST_USE tsr_status tsr_plan_find(const tsr_plan *plan, const char *path,
                                              tsr_plan_row *out_row);
// The sum of the largest shards: what the fullest device holds, exactly so where shards are equal.
TSR_API int64_t tsr_plan_bytes_per_device(const tsr_plan *plan);
// The bytes that each mesh position holds, padding included: tsr_mesh_device_count places.
TSR_API TSR_MUST_USE tsr_status tsr_plan_device_bytes(const tsr_plan *plan, int64_t *out_bytes);
// get_partition_spec: the spec of a tensor by its path; NULL if there is none of this name.
TSR_API const tsr_spec *tsr_plan_find_spec(const tsr_plan *plan, const char *path);
// The distinct specs of the plan, and the number of a row's wanted and final one among them.
TSR_API int64_t tsr_plan_spec_count(const tsr_plan *plan);
TSR_API const tsr_spec *tsr_plan_spec_at(const tsr_plan *plan, int64_t spec);
TSR_API int64_t tsr_plan_wanted(const tsr_plan *plan, int64_t index);
TSR_API int64_t tsr_plan_final(const tsr_plan *plan, int64_t index);
// The layout of a row's tensor on the mesh. Fails where the final spec does not fit, and without a
// mesh.
TSR_API TSR_MUST_USE tsr_status tsr_plan_layout(const tsr_plan *plan, int64_t index,
                                                tsr_layout **out_layout);
// The same mesh, tensors, specs, policies and notes, made by the same rules.
TSR_API bool tsr_plan_equal(const tsr_plan *a, const tsr_plan *b);
// A note as text: `rule 3 (llama.rules:12) "q_proj" -> tp, fsdp`, or `dimension 1: size 10 is not
// divisible by tp=4, so it is not cut`.
TSR_API void tsr_plan_note_print(const tsr_plan *plan, int64_t index, const tsr_plan_note *note,
                                 tsr_text *out);
// Tensors as tsr_tree_group_by_pattern groups them, as far as they also agree in specs and policy.
TSR_API TSR_MUST_USE tsr_status tsr_plan_group(const tsr_plan *plan, tsr_tree_groups *out_groups);

// docs/plan-schema.md. Reading what was written gives an equal plan, and writing that the same
// bytes. The mesh's topology is part of it.
TSR_API void tsr_plan_to_json(const tsr_plan *plan, tsr_json_writer *writer);
TSR_API TSR_MUST_USE tsr_status tsr_plan_from_json(const tsr_json *value, tsr_plan **out_plan);
TSR_API bool tsr_plan_is_json(const tsr_json *value);  // by its "schema"
TSR_API TSR_MUST_USE tsr_status tsr_plan_open(const char *path, tsr_plan **out_plan);

// ---- making plans ----

typedef struct tsr_match_options {
  size_t size;                   // sizeof(tsr_match_options)
  int64_t min_size;              // tensors with fewer elements are not cut; 0 = all may be
  bool eformer_min_size;         // min_size is the environment's MIN_SHARDING_SIZE, else 16384
  bool raw;                      // strict = false: the rule's spec by name alone, also for scalars
  bool allow_unmatched;          // tensors without a rule are not cut, instead of refused
  const tsr_spec *default_spec;  // for tensors without a rule; NULL = none
  bool companions;               // as tsr_plan_companions has them; packed weights take their rules
  bool no_correction;            // keep specs as the rules say, whatever the mesh
  bool keep_group_members;       // correction drops single members of a group, not all of it
  tsr_policy policy;             // for sizes that do not divide; ERROR = correct by dropping
} tsr_match_options;
#define TSR_MATCH_OPTIONS TSR_SIZED(tsr_match_options)

// match_partition_rules, then correction for the mesh (NULL: none). A tensor without a rule is an
// error that names the first few and the nearest rules. NULL options = all zero.
TSR_API TSR_MUST_USE tsr_status tsr_plan_match(const tsr_tree *tree, const tsr_mesh *mesh,
                                               const tsr_rules *rules,
                                               const tsr_match_options *options,
                                               tsr_plan **out_plan);
// The common case: rules as text (tessera/rules.h) over the tensors of a model, which is whatever
// tsr_tree_open takes, on the mesh (NULL: none, as above). The rules know the facts of the model's
// config.json, where there is one beside it, and the sizes of the mesh's axes; companions are cut
// with what they go with, as the command does it.
TSR_API TSR_MUST_USE tsr_status tsr_plan_from_text(const char *model_path, const tsr_mesh *mesh,
                                                   const char *rules, tsr_plan **out_plan);
// The same by a preset of tessera/rules.h ("llama", "llama:fsdp+tp"); NULL = the one for the
// model_type of the model's config.json. Fails with unknown_preset where that names none.
TSR_API TSR_MUST_USE tsr_status tsr_plan_from_preset(const char *model_path, const tsr_mesh *mesh,
                                                     const char *preset, tsr_plan **out_plan);
// The same by logical axes: each tensor's names through linen's mapping (NULL rules: those in
// scope). A tensor without logical axes is not cut.
TSR_API TSR_MUST_USE tsr_status tsr_plan_logical(const tsr_tree *tree, const tsr_mesh *mesh,
                                                 const tsr_logical_rules *rules,
                                                 tsr_plan **out_plan);

// One given spec per tensor, corrected for the mesh (NULL: as they are). NULL = not cut.
TSR_API TSR_MUST_USE tsr_status tsr_plan_from_specs(const tsr_tree *tree, const tsr_mesh *mesh,
                                                    const tsr_spec *const *specs,
                                                    tsr_plan **out_plan);

// The same specs, with their reasons, for the tensors of another tree, told by path: those of a
// model that was cast, or of a part of one. Fails with not_found for a tensor that the plan lacks,
// and with shapes_differ.
TSR_API TSR_MUST_USE tsr_status tsr_plan_for_tree(const tsr_plan *plan, const tsr_tree *tree,
                                                  tsr_plan **out_plan);

// The same plan, but with tensors that go with another one cut as that one is, whatever they were
// before. What an optimiser keeps for a parameter (exp_avg, mu, master weights, ...) takes its row,
// single numbers are not cut. Scales and zero points of quantised weights take the weight's cut,
// counted in blocks; a cut through a block is refused (bad_cut). Forms that no cut can follow stay
// whole. All are told by their names: docs/companions.md. The plan must have a mesh.
TSR_API TSR_MUST_USE tsr_status tsr_plan_companions(const tsr_plan *plan, tsr_plan **out_plan);

// ---- looking at plans ----

// Why a tensor has its spec: its notes, and the rules that were tried before and would have matched
// after.
TSR_API TSR_MUST_USE tsr_status tsr_plan_explain(const tsr_plan *plan, int64_t index,
                                                 tsr_text *out);

// validate_sharding_config: every problem in one pass. Id, level, the word in JSON, what it says.
#define TSR_FINDINGS(X)                                                               \
  X(UNKNOWN_AXIS, true, "unknown_axis", "names an axis the mesh lacks")               \
  X(DUPLICATE_AXIS, true, "duplicate_axis", "uses an axis twice")                     \
  X(INDIVISIBLE, true, "indivisible", "has a size that does not divide")              \
  X(TOO_LONG, true, "too_long", "has more entries than the tensor has dimensions")    \
  X(BAD_CUT, true, "bad_cut", "has sizes, parts or a sub-axis that do not fit")       \
  X(SPLIT_HEADS, false, "split_heads", "cuts through the heads of an attention")      \
  X(APART, false, "apart", "is not cut over an axis that cuts the rest of its block") \
  X(SMALL, false, "small", "cuts a tensor too small to be worth it")                  \
  X(IMBALANCE, false, "imbalance", "leaves devices unevenly filled")                  \
  X(OVER_LIMIT, true, "over_limit", "needs more memory than a device has")
#define TSR_ENUMERATOR_(id, error, word, text) TSR_FINDING_##id,
typedef enum tsr_finding_kind { TSR_FINDINGS(TSR_ENUMERATOR_) TSR_FINDING_COUNT } tsr_finding_kind;
#undef TSR_ENUMERATOR_
TSR_API const char *tsr_finding_word(tsr_finding_kind kind);  // "unknown_axis"
TSR_API const char *tsr_finding_text(tsr_finding_kind kind);  // "names an axis the mesh lacks"

typedef struct tsr_finding {
  tsr_finding_kind kind;
  bool error;        // otherwise a warning
  int64_t row;       // -1 = the plan as a whole
  int dim;           // -1 = none
  const char *axis;  // NULL = none; lives as long as the plan
  // Size and number of shards; entries and rank; elements and the least that are worth it; bytes on
  // the fullest device and on the mean one, or the limit; the size of a piece and of a head; the
  // first row of the block that is cut.
  int64_t found, wanted;
} tsr_finding;
typedef struct tsr_findings {
  int64_t count, errors, warnings;
  tsr_finding *items;  // owned; by row, then by dimension; the plan's own last
} tsr_findings;
typedef struct tsr_check_options {
  size_t size;             // sizeof(tsr_check_options)
  int64_t small_elements;  // cut tensors with fewer are a warning; 0 = 1024
  int64_t memory_limit;    // bytes per device; 0 = what the topology says, if anything
  double balance_limit;    // mean / max of the devices' bytes below this is a warning; 0 = 0.5
  bool entries_count;      // as for eformer, a spec of entries without an axis counts as cut
  bool corrected_count;    // what correction has solved is an error still
  // The model's facts, for the size of its heads; those the plan's rules were read with if none.
  const tsr_fact *facts;
  int64_t fact_count;
} tsr_check_options;
#define TSR_CHECK_OPTIONS TSR_SIZED(tsr_check_options)
// Looks at the wanted specs, so that what correction hid is found too; what it solved is a warning.
// NULL options = all zero.
TSR_API TSR_MUST_USE tsr_status tsr_plan_check(const tsr_plan *plan,
                                               const tsr_check_options *options,
                                               tsr_findings *out_findings);
// A line for each, `error: a.w: dimension 0: size 6 is not divisible by tp=4`; tensors that differ
// only in numbers share one.
TSR_API void tsr_findings_print(const tsr_findings *findings, const tsr_plan *plan, tsr_text *out);
TSR_API void tsr_findings_deinit(tsr_findings *findings);

// What changes from one plan to another of the same model, tensor by tensor (told by path).
typedef enum tsr_diff_kind { TSR_DIFF_CHANGED, TSR_DIFF_ADDED, TSR_DIFF_REMOVED } tsr_diff_kind;
typedef struct tsr_plan_change {
  tsr_diff_kind kind;
  int64_t before, after;  // rows; -1 = none
  int64_t moved_bytes;    // that devices must receive, over all of them
} tsr_plan_change;
typedef struct tsr_plan_diff {
  size_t size;             // sizeof(tsr_plan_diff)
  int64_t count;           // of changes; rows that are the same are not listed
  tsr_plan_change *items;  // owned; in the order of the second plan, what is removed last
  int64_t same, changed, added, removed;
  int64_t moved_bytes;  // stops at 2^63 - 1
  int64_t bytes_per_device_before, bytes_per_device_after;
} tsr_plan_diff;
#define TSR_PLAN_DIFF TSR_SIZED(tsr_plan_diff)
// A tensor is the same if every device holds the same of it before and after. Otherwise what moves
// is counted exactly: the elements of a device's new shard that its old one lacks. Devices are told
// by id, and meshes may differ. A tensor of another type or shape moves as a whole. Without a mesh
// on both sides specs are compared, and nothing moves.
TSR_API TSR_MUST_USE tsr_status tsr_plan_diff_create(const tsr_plan *before, const tsr_plan *after,
                                                     tsr_plan_diff *out_diff);
// A line for each, `layers.*.w (32 tensors): tp, _ -> _, tp; 4096 bytes move`; tensors that differ
// only in numbers share one. Then the sums.
TSR_API void tsr_plan_diff_print(const tsr_plan_diff *diff, const tsr_plan *before,
                                 const tsr_plan *after, tsr_text *out);
TSR_API void tsr_plan_diff_deinit(tsr_plan_diff *diff);

// What is odd about rules, given a model, and a mesh if there is one. Id, the word in JSON, what it
// says.
#define TSR_LINTS(X)                                                            \
  X(UNMATCHED, "unmatched", "tensor has no rule")                               \
  X(NEAR_MISS, "near_miss", "matches no tensor, but nearly one without a rule") \
  X(AXIS_UNKNOWN, "axis_unknown", "names an axis the mesh lacks")               \
  X(AXIS_TWICE, "axis_twice", "uses an axis twice")                             \
  X(AXIS_DROPPED, "axis_dropped", "cannot cut some tensors as it says")         \
  X(TOO_LONG, "too_long", "is longer than the rank of some tensors")            \
  X(SHADOWED, "shadowed", "matches only tensors that earlier rules take")       \
  X(DUPLICATE, "duplicate", "repeats the pattern of an earlier rule")           \
  X(NEVER_MATCHES, "never_matches", "matches no tensor")
#define TSR_ENUMERATOR_(id, word, text) TSR_LINT_##id,
typedef enum tsr_lint_kind { TSR_LINTS(TSR_ENUMERATOR_) TSR_LINT_COUNT } tsr_lint_kind;
#undef TSR_ENUMERATOR_
TSR_API const char *tsr_lint_word(tsr_lint_kind kind);  // "never_matches"
TSR_API const char *tsr_lint_text(tsr_lint_kind kind);  // "matches no tensor"

typedef struct tsr_lint {
  tsr_lint_kind kind;
  int64_t rule;        // -1 = none
  int64_t other_rule;  // the earlier rule that shadows or is repeated; -1 = none
  int64_t row;         // an example tensor; -1 = none
  int dim;             // of it; -1 = none
  const char *axis;    // NULL = none; lives as long as the rules
  int64_t tensors;     // how many are concerned
  int64_t bytes;       // of them
} tsr_lint;
typedef struct tsr_lints {
  int64_t count;
  tsr_lint *items;  // owned; by kind, most bytes first
} tsr_lints;
// NULL mesh = axes are not looked at. Scalars need no rule.
TSR_API TSR_MUST_USE tsr_status tsr_rules_lint(const tsr_rules *rules, const tsr_tree *tree,
                                               const tsr_mesh *mesh, tsr_lints *out_lints);
// A line for each: `llama.rules:12: "q_porj" matches no tensor`.
TSR_API void tsr_lints_print(const tsr_lints *lints, const tsr_rules *rules, const tsr_tree *tree,
                             tsr_text *out);
TSR_API void tsr_lints_deinit(tsr_lints *lints);

TSR_END_DECLS

#endif
