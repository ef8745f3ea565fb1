// flax's logical axes, beyond the rule files and linen's mapping of tessera/logical.h: rules made
// and combined by calls, the shardings of with_logical_constraint and shard_value, the mapping of
// flax.core.spmd, and the rules in scope.
//
//   const tsr_logical_rule list[] = {{.name = "batch", .entry = TSR_LOGICAL_NAME("data")}};
//   tsr_logical_rules *rules = NULL;
//   TSR_TRY(tsr_logical_rules_create(list, 1, &rules));
//   tsr_scope scope;
//   TSR_TRY(tsr_logical_enter(rules, &scope));  // with logical_axis_rules(rules):
//   ...
//   tsr_scope_leave(scope);
//
// Arrays are placed by logical names with tessera/compat/constrain.h.
#ifndef TESSERA_COMPAT_FLAX_RULES_H
#define TESSERA_COMPAT_FLAX_RULES_H

#include <stdint.h>

#include "tessera/api.h"
#include "tessera/compat/scope.h"
#include "tessera/engine/sharding.h"
#include "tessera/logical.h"
#include "tessera/mesh.h"
#include "tessera/spec.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// ---- rules ----

// One rule: a logical name and what it becomes.
typedef struct tsr_logical_rule {
  const char *name;
  tsr_logical_entry entry;
  const char *file;  // where it was written; "" or NULL = by a call
  int64_t line;      // counted from 1; 0 = by a call
} tsr_logical_rule;

TSR_API TSR_MUST_USE TSR_NONNULL_AT(3) tsr_status
    tsr_logical_rules_create(const tsr_logical_rule *rules, int64_t count,
                             tsr_logical_rules **out_rules);

// flax.core.spmd's composite_rules: both lists as one; a name with two meanings is an error. NULL
// is the empty list. If one is empty, the result is the other. Else each name occurs once, with its
// last meaning in `a`, in the order of first appearance.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(3) tsr_status
    tsr_logical_compose(const tsr_logical_rules *a, const tsr_logical_rules *b,
                        tsr_logical_rules **out_rules);

// ---- names of one tensor ----

// flax's Partitioned.add_axis: inserts `name` (NULL = None) before position `index`, padded with
// Nones; a negative index counts from the end, and stops at the start. remove_axis removes it, and
// fails with axis_name_mismatch if another name is there.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_logical_add_axis(const tsr_logical_names *names, int64_t index, const char *name,
                         tsr_logical_names *out_names);
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_logical_remove_axis(const tsr_logical_names *names, int64_t index, const char *name,
                            tsr_logical_names *out_names);

// ---- mapping, as linen does ----

// What with_logical_constraint does with names that have no rule.
typedef enum tsr_fallback {
  TSR_FALLBACK_UNSHARDED,     // AXIS_IS_UNSHARDED: not cut
  TSR_FALLBACK_RAISE,         // RAISE_ERROR
  TSR_FALLBACK_NO_CONSTRAINT  // NO_CONSTRAINT: no sharding
} tsr_fallback;
// The sharding of with_logical_constraint. NULL = no constraint: without names, rules or mesh (NULL
// rules and mesh = the current ones), or by the fallback. Only Auto axes may be used.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(5) tsr_status
    tsr_logical_constrain(const tsr_logical_names *names, const tsr_logical_rules *rules,
                          const tsr_mesh *mesh, tsr_fallback fallback, tsr_sharding **out_sharding);

// ---- mapping, as flax.core.spmd does ----

// from_sharding_rules: the last rule for a name wins, other entries are kept, nothing is checked.
// NULL rules = none.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_logical_from_sharding_rules(const tsr_logical_names *names, const tsr_logical_rules *rules,
                                    tsr_logical_names *out_names);
// get_pspec: the rules in scope composed with `rules` (may be NULL), then the mapping above.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_logical_get_pspec(const tsr_logical_names *names, const tsr_logical_rules *rules,
                          tsr_spec **out_spec);

typedef enum tsr_shard_action {
  TSR_SHARD_NOTHING,   // no names
  TSR_SHARD_RESHARD,   // all axes of the mesh are Explicit
  TSR_SHARD_CONSTRAIN  // all are Auto
} tsr_shard_action;
// What shard_value does, and its sharding (NULL for nothing). NULL names = nothing; rules as in
// tsr_logical_get_pspec. NULL mesh = the current one, which must exist. A mesh must be all Explicit
// or all Auto.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(4, 5) tsr_status
    tsr_logical_shard_value(const tsr_logical_names *names, const tsr_logical_rules *rules,
                            const tsr_mesh *mesh, tsr_shard_action *out_action,
                            tsr_sharding **out_sharding);

// ---- the rules in scope ----

// logical_axis_rules; leave with tsr_scope_leave. Inner rules replace outer ones; NULL = none.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(2) tsr_status
    tsr_logical_enter(const tsr_logical_rules *rules, tsr_scope *out_scope);
// get_logical_axis_rules: borrowed; NULL = none.
TSR_API const tsr_logical_rules *tsr_logical_current(void);

TSR_END_DECLS

#endif
