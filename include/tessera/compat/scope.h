// Scopes: values of the current thread between enter and leave: the current mesh (tsr_mesh_enter),
// logical rules (tsr_logical_enter) and semantic axes (tsr_axes_enter). Scopes nest, and the
// innermost wins. Leaving one leaves all inside it, so that an early return leaves no stale value.
#ifndef TESSERA_COMPAT_SCOPE_H
#define TESSERA_COMPAT_SCOPE_H

#include "tessera/api.h"

TSR_BEGIN_DECLS

// A place on this thread's stack of scopes; 0 is the bottom.
typedef int tsr_scope;

// Leaves `scope` and every scope entered after it on this thread. Leaving twice is harmless.
TSR_API void tsr_scope_leave(tsr_scope scope);

TSR_END_DECLS

#endif
