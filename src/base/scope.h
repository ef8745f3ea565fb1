// The stack behind tessera/compat/scope.h. Values are shared handles; the scope holds one
// reference.
#ifndef TESSERA_BASE_SCOPE_H
#define TESSERA_BASE_SCOPE_H

#include "tessera/api.h"
#include "tessera/compat/scope.h"
#include "tessera/status.h"

// The kind of value in a scope; each kind has its own innermost value.
typedef enum tsr_scope_kind {
  TSR_SCOPE_MESH,
  TSR_SCOPE_RULES,
  TSR_SCOPE_AXES,
  TSR_SCOPE_KIND_COUNT
} tsr_scope_kind;

// Enters a scope that owns one reference to `value` and calls `release` when it is left. A NULL
// value hides outer ones and is not released. On failure the caller still owns `value`, as with
// tsr_scope_set.
TSR_MUST_USE tsr_status tsr_scope_enter(tsr_scope_kind kind, void *value, void (*release)(void *),
                                        tsr_scope *out_scope);
// The innermost value of `kind` on this thread, borrowed; NULL if there is none.
void *tsr_scope_current(tsr_scope_kind kind);
// Replaces the innermost value of `kind` until its scope is left. Without such a scope the value
// lasts until the thread ends.
TSR_MUST_USE tsr_status tsr_scope_set(tsr_scope_kind kind, void *value, void (*release)(void *));
// The number of scopes of this thread. Leaving that number leaves all scopes entered since.
tsr_scope tsr_scope_mark(void);

#endif
