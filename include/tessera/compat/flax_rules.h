// compat/flax_rules.h
#ifndef TSR_COMPAT_FLAX_RULES_H
#define TSR_COMPAT_FLAX_RULES_H

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

TSR_API TSR_MUST_USE tsr_status tsr_logical_rules_create(const tsr_logical_rule *rules,
                                                         int64_t count,
                                                         tsr_logical_rules **out_rules);
// A file of that form, or of JSON if it ends in .json.
TSR_API tsr_logical_rules *tsr_logical_rules_retain(const tsr_logical_rules *rules);

// flax.core.spmd's composite_rules: both lists as one; a name with two meanings is an error. NULL
// is the empty list. If one is empty the other is given as it is; else each name is kept once, with
// its last meaning in `a`, in the order of first appearance.
TSR_API TSR_MUST_USE tsr_status tsr_logical_compose(const tsr_logical_rules *a,
                                                    const tsr_logical_rules *b,
                                                    tsr_logical_rules **out_rules);

// flax's Partitioned.add_axis: puts `name` (NULL = None) before position `index`, with Nones up to
// it; a negative index counts from the end, and stops at the start. remove_axis takes it away
// again, and fails with axis_name_mismatch if another stands there.
TSR_API TSR_MUST_USE tsr_status tsr_logical_add_axis(const tsr_logical_names *names, int64_t index,
                                                     const char *name,
                                                     tsr_logical_names *out_names);
TSR_API TSR_MUST_USE tsr_status tsr_logical_remove_axis(const tsr_logical_names *names,
                                                        int64_t index, const char *name,
                                                        tsr_logical_names *out_names);

// What with_logical_constraint does about names that no rule served.
typedef enum tsr_fallback {
  TSR_FALLBACK_UNSHARDED,     // AXIS_IS_UNSHARDED: not cut
  TSR_FALLBACK_RAISE,         // RAISE_ERROR
  TSR_FALLBACK_NO_CONSTRAINT  // NO_CONSTRAINT: leave the value alone
} tsr_fallback;
// The sharding that with_logical_constraint asks for; NULL where the value is left alone: without
// rules, names or mesh (NULL = the current one), or by the fallback. Only Auto axes may be used.
TSR_API TSR_MUST_USE tsr_status tsr_logical_constrain(const tsr_logical_names *names,
                                                      const tsr_logical_rules *rules,
                                                      const tsr_mesh *mesh, tsr_fallback fallback,
                                                      tsr_sharding **out_sharding);

// ---- mapping, as flax.core.spmd does ----

// from_sharding_rules: the last rule for a name wins, other entries stay as they are, and nothing
// is checked.
TSR_API TSR_MUST_USE tsr_status tsr_logical_from_sharding_rules(const tsr_logical_names *names,
                                                                const tsr_logical_rules *rules,
                                                                tsr_logical_names *out_names);
// get_pspec: the rules in scope composed with `rules` (may be NULL), then the mapping above.
TSR_API TSR_MUST_USE tsr_status tsr_logical_get_pspec(const tsr_logical_names *names,
                                                      const tsr_logical_rules *rules,
                                                      tsr_spec **out_spec);

typedef enum tsr_shard_action {
  TSR_SHARD_NOTHING,   // no names: the value is left alone
  TSR_SHARD_RESHARD,   // all axes of the mesh are Explicit
  TSR_SHARD_CONSTRAIN  // all are Auto
} tsr_shard_action;
// What shard_value does, and the sharding it asks for (NULL for nothing). NULL mesh = the current
// one, without which it fails. A mesh that is neither all Explicit nor all Auto is an error that
// says what its axes are.
TSR_API TSR_MUST_USE tsr_status tsr_logical_shard_value(const tsr_logical_names *names,
                                                        const tsr_logical_rules *rules,
                                                        const tsr_mesh *mesh,
                                                        tsr_shard_action *out_action,
                                                        tsr_sharding **out_sharding);

// ---- the rules in scope ----

// logical_axis_rules (leave with tsr_scope_leave), set_ and get_logical_axis_rules. Inner rules
// replace outer ones, NULL hides them; a set inside a scope is undone at its exit.
TSR_API TSR_MUST_USE tsr_status tsr_logical_enter(const tsr_logical_rules *rules,
                                                  tsr_scope *out_scope);
TSR_API const tsr_logical_rules *tsr_logical_current(void);  // borrowed; NULL = none

TSR_END_DECLS

#endif
