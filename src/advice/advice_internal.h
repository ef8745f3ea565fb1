// Plans and rules judged, for the command and the tests: differences and lints.
#ifndef TESSERA_ADVICE_ADVICE_INTERNAL_H
#define TESSERA_ADVICE_ADVICE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/mesh.h"
#include "tessera/plan.h"
#include "tessera/rules.h"
#include "tessera/status.h"
#include "tessera/text.h"
#include "tessera/tree.h"

// ---- differences ----

// The changes from one plan to another of the same model, matched by path.
typedef enum tsr_diff_kind { TSR_DIFF_CHANGED, TSR_DIFF_ADDED, TSR_DIFF_REMOVED } tsr_diff_kind;
typedef struct tsr_plan_change {
  tsr_diff_kind kind;
  int64_t before, after;  // rows; -1 = none
  int64_t moved_bytes;    // that devices must receive, over all of them
} tsr_plan_change;
typedef struct tsr_plan_diff {
  size_t size;             // sizeof(tsr_plan_diff)
  int64_t count;           // of changes; equal rows are not listed
  tsr_plan_change *items;  // owned; in the order of the second plan, removed rows last
  int64_t same, changed, added, removed;
  int64_t moved_bytes;  // stops at 2^63 - 1
  int64_t bytes_per_device_before, bytes_per_device_after;
} tsr_plan_diff;
#define TSR_PLAN_DIFF TSR_SIZED(tsr_plan_diff)
// A tensor is the same if every device holds the same elements before and after. Otherwise the
// moved bytes are exact: the elements of a device's new shard that its old one lacks. Devices are
// matched by id, and meshes may differ. A tensor of another dtype or shape moves as a whole. If a
// plan lacks a mesh, specs are compared and nothing moves.
TSR_MUST_USE tsr_status tsr_plan_diff_create(const tsr_plan *before, const tsr_plan *after,
                                             tsr_plan_diff *out_diff);
// A line per change, `layers.*.w (32 tensors): tp, _ -> _, tp; 4096 bytes move`; tensors that
// differ only in numbers share one. The sums follow.
void tsr_plan_diff_print(const tsr_plan_diff *diff, const tsr_plan *before, const tsr_plan *after,
                         tsr_text *out);
void tsr_plan_diff_deinit(tsr_plan_diff *diff);

// ---- lints ----

// Remarks on rules, given a model and perhaps a mesh. Id, the word in JSON, the text.
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
const char *tsr_lint_word(tsr_lint_kind kind);  // "never_matches"
const char *tsr_lint_text(tsr_lint_kind kind);  // "matches no tensor"

typedef struct tsr_lint {
  tsr_lint_kind kind;
  int64_t rule;        // -1 = none
  int64_t other_rule;  // the earlier rule that shadows it or that it repeats; -1 = none
  int64_t row;         // an example tensor; -1 = none
  int dim;             // of it; -1 = none
  const char *axis;    // NULL = none; lives as long as the rules
  int64_t tensors;     // how many it affects
  int64_t bytes;       // of them
} tsr_lint;
typedef struct tsr_lints {
  int64_t count;
  tsr_lint *items;  // owned; by kind, most bytes first
} tsr_lints;
// NULL mesh = axes are not checked. Scalars need no rule.
TSR_MUST_USE tsr_status tsr_rules_lint(const tsr_rules *rules, const tsr_tree *tree,
                                       const tsr_mesh *mesh, tsr_lints *out_lints);
// A line for each: `llama.rules:12: "q_porj" matches no tensor`.
void tsr_lints_print(const tsr_lints *lints, const tsr_rules *rules, const tsr_tree *tree,
                     tsr_text *out);
void tsr_lints_deinit(tsr_lints *lints);

#endif
