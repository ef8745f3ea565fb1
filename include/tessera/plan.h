// Plan: a spec for every tensor of a model on a mesh, each with its reason.
//
//   TSR_OWN(plan, plan);  // released at the end of the block: tessera/own.h
//   TSR_TRY(tsr_plan_from_text("model.safetensors", mesh, "lm_head -> tp, _\n.* -> ()\n", &plan));
//   const tsr_spec *spec = tsr_plan_find_spec(plan, "lm_head.weight");  // NULL if there is none
//
// Without rules, tsr_plan_auto goes by shapes, and tsr_plan_fit by a memory limit:
//
//   tsr_fit_options options = TSR_FIT_OPTIONS;
//   options.limit = INT64_C(16) << 30;
//   TSR_TRY(tsr_plan_fit(tree, mesh, &options, &plan, NULL));
//
// A plan is immutable. Specs and names are stored once, so 100,000 rows take a few megabytes.
#ifndef TESSERA_PLAN_H
#define TESSERA_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/layout.h"
#include "tessera/logical.h"
#include "tessera/mesh.h"
#include "tessera/rules.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"
#include "tessera/tree.h"

TSR_BEGIN_DECLS

#define TSR_PLAN_SCHEMA 1  // docs/plan-schema.md

// Why a row has its spec: id, the word in JSON, the text.
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
  X(WHOLE, "whole", "kept whole: it cannot be cut")                                               \
  X(TOGETHER, "together", "not cut, as its group cannot be cut together")                         \
  X(USER, "user", "set by the user")
#define TSR_ENUMERATOR_(id, word, text) TSR_WHY_##id,
typedef enum tsr_why { TSR_REASONS(TSR_ENUMERATOR_) TSR_WHY_COUNT } tsr_why;
#undef TSR_ENUMERATOR_

// One reason, with its dimension, rule, number and axis. docs/plan-schema.md says what they mean.
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
  const tsr_spec *wanted, *final;  // before and after correction for the mesh
  tsr_policy policy;               // for sizes that do not divide
  int64_t bytes_per_device;        // of the largest shard; all bytes if the spec does not fit
  int64_t note_count;
  const tsr_plan_note *notes;
} tsr_plan_row;
#define TSR_PLAN_ROW TSR_SIZED(tsr_plan_row)

typedef struct tsr_plan tsr_plan;  // immutable, shared by any threads

TSR_API TSR_NONNULL tsr_plan *tsr_plan_retain(const tsr_plan *plan);
TSR_API void tsr_plan_release(const tsr_plan *plan);  // NULL is fine
TSR_API TSR_NONNULL const tsr_tree *tsr_plan_tree(const tsr_plan *plan);
TSR_API TSR_NONNULL const tsr_mesh *tsr_plan_mesh(const tsr_plan *plan);  // NULL = made without one
TSR_API TSR_NONNULL int64_t tsr_plan_count(const tsr_plan *plan);
// The row of a tensor by its index in the tree, or by its path: fails with not_found, naming the
// nearest path.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_plan_at(const tsr_plan *plan, int64_t index,
                                                        tsr_plan_row *out_row);
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_plan_find(const tsr_plan *plan, const char *path,
                                                          tsr_plan_row *out_row);
// The sum of the largest shards: an upper bound for the fullest device, exact where shards are
// equal.
TSR_API TSR_NONNULL int64_t tsr_plan_bytes_per_device(const tsr_plan *plan);
// get_partition_spec: the spec of a tensor by its path; NULL = no such tensor.
TSR_API TSR_NONNULL const tsr_spec *tsr_plan_find_spec(const tsr_plan *plan, const char *path);
// The layout of a row's tensor on the mesh. Fails if the final spec does not fit or there is no
// mesh.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_plan_layout(const tsr_plan *plan, int64_t index,
                                                            tsr_layout **out_layout);

// Reads and writes a plan file (docs/plan-schema.md), as `tessera plan -j` does, with the mesh's
// topology. An existing file is replaced atomically. Reading a written plan gives an equal one, and
// writing that the same bytes.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_plan_open(const char *path, tsr_plan **out_plan);
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_plan_save(const tsr_plan *plan, const char *path);

// ---- making plans ----

typedef struct tsr_match_options {
  size_t size;                   // sizeof(tsr_match_options)
  int64_t min_size;              // tensors with fewer elements are not cut; 0 = no minimum
  bool eformer_min_size;         // min_size = the environment's MIN_SHARDING_SIZE, or 16384
  bool raw;                      // strict = false: match by name alone, also scalars
  bool allow_unmatched;          // tensors without a rule are not cut, instead of an error
  const tsr_spec *default_spec;  // for tensors without a rule; NULL = none
  bool companions;               // cut companions as their tensors: docs/companions.md
  bool no_correction;            // keep specs as in the rules, whatever the mesh
  bool keep_group_members;       // correction drops single axes of a group, not the whole group
  tsr_policy policy;             // for sizes that do not divide; ERROR = correct by dropping
} tsr_match_options;
#define TSR_MATCH_OPTIONS TSR_SIZED(tsr_match_options)

// match_partition_rules, then correction for the mesh (NULL: none). A tensor without a rule is an
// error that names the first few and the nearest rules. NULL options = all zero.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3, 5) tsr_status
    tsr_plan_match(const tsr_tree *tree, const tsr_mesh *mesh, const tsr_rules *rules,
                   const tsr_match_options *options, tsr_plan **out_plan);
// The common case: rules as text (tessera/rules.h) for a model that tsr_tree_open accepts, on the
// mesh (NULL: none, as above). The rules can use the facts of the model's config.json, if it has
// one, and the sizes of the mesh's axes. Companions are cut as their tensors, as in the command.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3, 4) tsr_status
    tsr_plan_from_text(const char *model_path, const tsr_mesh *mesh, const char *rules,
                       tsr_plan **out_plan);
// The same by a preset of tessera/rules.h ("llama", "llama:fsdp+tp"); NULL = the preset for the
// model_type in the model's config.json. Fails with unknown_preset if there is none.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_plan_from_preset(const char *model_path, const tsr_mesh *mesh, const char *preset,
                         tsr_plan **out_plan);
// By logical axes: each tensor's names are mapped as in linen (tessera/logical.h; NULL rules: those
// in scope), then corrected for the mesh (NULL: none). A tensor without logical axes is not cut.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_plan_logical(const tsr_tree *tree, const tsr_mesh *mesh, const tsr_logical_rules *rules,
                     tsr_plan **out_plan);

// ---- looking at plans ----

// Why a tensor has its spec: its notes, the rules tried before, and later rules that match too.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_plan_explain(const tsr_plan *plan, int64_t index,
                                                             tsr_text *out);

// validate_sharding_config: every problem in one pass. Id, whether an error, the word in JSON, the
// text.
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

typedef struct tsr_finding {
  tsr_finding_kind kind;
  bool error;        // otherwise a warning
  int64_t row;       // -1 = the plan as a whole
  int dim;           // -1 = none
  const char *axis;  // NULL = none; lives as long as the plan
  // By kind: size and number of shards; entries and rank; elements and the least worth cutting;
  // bytes on the fullest device, and the mean or the limit; size of a piece and of a head; the
  // first row of the block that is cut.
  int64_t found, wanted;
} tsr_finding;
typedef struct tsr_findings {
  int64_t count, errors, warnings;
  tsr_finding *items;  // owned; by row, then by dimension; the plan's own last
} tsr_findings;
typedef struct tsr_check_options {
  size_t size;              // sizeof(tsr_check_options)
  int64_t small_elements;   // cut tensors with fewer are a warning; 0 = 1024
  int64_t memory_limit;     // bytes per device; 0 = the topology's, if known
  double balance_limit;     // warn if mean / max of the devices' bytes is below; 0 = 0.5
  bool empty_entries_cut;   // as in eformer, a spec of entries without an axis counts as cut
  bool corrected_is_error;  // problems that correction solved are errors too
  // The model's facts, for the size of its heads; none = those of the plan's rules.
  const tsr_fact *facts;
  int64_t fact_count;
} tsr_check_options;
#define TSR_CHECK_OPTIONS TSR_SIZED(tsr_check_options)
// Checks the wanted specs. Problems that correction solved are warnings. NULL options = all zero.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_plan_check(const tsr_plan *plan, const tsr_check_options *options,
                   tsr_findings *out_findings);
// A line per finding, `error: a.w: dimension 0: size 6 is not divisible by tp=4`; tensors that
// differ only in numbers share one.
TSR_API TSR_NONNULL void tsr_findings_print(const tsr_findings *findings, const tsr_plan *plan,
                                            tsr_text *out);
TSR_API void tsr_findings_deinit(tsr_findings *findings);

// ---- from shapes ----

typedef struct tsr_auto_options {
  size_t size;  // sizeof(tsr_auto_options)
  // Axes to use, in this order; "a+b" is a group, used as one. None given = the mesh's, largest
  // first.
  const char *const *names;
  int name_count;
  int64_t min_size;      // tensors with fewer elements are not cut; 0 = the number of devices
  bool reverse;          // the smallest dimension chooses first
  bool stack_leftovers;  // ours: unused axes also cut dimensions that they still divide
} tsr_auto_options;
#define TSR_AUTO_OPTIONS TSR_SIZED(tsr_auto_options)
// auto_namedsharding for every tensor: its dimensions, largest first, each take the first name that
// divides them and whose axes are unused. Tensors that are too small are not cut. NULL mesh = the
// current one of this thread (tsr_mesh_enter of tessera/compat/jax_mesh.h).
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_plan_auto(const tsr_tree *tree, const tsr_mesh *mesh, const tsr_auto_options *options,
                  tsr_plan **out_plan);

// ---- to fit the memory ----

// A cut tensor is gathered once per step over the axes that were added to fit. The cost is the time
// of the all-gather on the mesh's topology or, without one, the bytes received.
typedef struct tsr_fit_options {
  size_t size;                               // sizeof(tsr_fit_options)
  int64_t limit;                             // bytes per device for all tensors; 0 = none
  double gradient_copies, optimiser_copies;  // of each tensor, in its own type; 0 = none
  const char *const *names;  // axes to use, preferred ones first; none = all of the mesh
  int name_count;
  const tsr_plan *start;  // cuts to keep, of the same tree and mesh; NULL = none
} tsr_fit_options;
#define TSR_FIT_OPTIONS TSR_SIZED(tsr_fit_options)

typedef struct tsr_fit_report {
  size_t size;               // sizeof(tsr_fit_report)
  int64_t bytes_per_device;  // with gradients and optimiser
  int64_t smallest;          // the least bytes of any plan
  double cost;               // seconds, or bytes without a topology
  double lower_bound;        // no plan that fits costs less
  bool optimal;              // proved, up to a millionth of the cost
} tsr_fit_report;
#define TSR_FIT_REPORT TSR_SIZED(tsr_fit_report)

// optimize_sharding_for_memory: the plan that fits `limit` bytes on every device, gradients and
// optimiser included, at the least cost. Tensors of one layer pattern are cut alike, and sizes
// always divide. Fails with does_not_fit, naming the smallest possible size. Without a limit:
// tsr_plan_auto. Branch and bound finds the least cost; for models too varied for that, the plan is
// from a greedy search and `lower_bound` bounds its cost. NULL mesh = the current one, as above.
// `out_report` may be NULL.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_plan_fit(const tsr_tree *tree, const tsr_mesh *mesh, const tsr_fit_options *options,
                 tsr_plan **out_plan, tsr_fit_report *out_report);

TSR_END_DECLS

#endif
