// compat/scope.h
#ifndef TSR_COMPAT_SCOPE_H
#define TSR_COMPAT_SCOPE_H

#include "tessera/api.h"

TSR_BEGIN_DECLS

// What a scope holds, one kind per entry; each kind has its own innermost value.
#define TSR_SCOPE_KINDS(X) X(MESH) X(RULES) X(AXES) X(AXES_DEFAULT)
#define TSR_ENUMERATOR_(id) TSR_SCOPE_##id,
typedef enum tsr_scope_kind {
  TSR_SCOPE_KINDS(TSR_ENUMERATOR_) TSR_SCOPE_KIND_COUNT
} tsr_scope_kind;
#undef TSR_ENUMERATOR_

// A place on this thread's stack of scopes; 0 is the bottom.
typedef int tsr_scope;

// Leaves `scope` and every scope entered after it on this thread. Leaving twice is harmless.
TSR_API void tsr_scope_leave(tsr_scope scope);

TSR_END_DECLS

#endif
