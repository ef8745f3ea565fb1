// What other rooms and the tests use of tessera/compat/scope.h beside what is public.
#ifndef TESSERA_BASE_SCOPE_INTERNAL_H
#define TESSERA_BASE_SCOPE_INTERNAL_H

#include "tessera/api.h"
#include "tessera/compat/scope.h"

// How many scopes this thread is in; leaving that number leaves every scope entered since.
tsr_scope tsr_scope_mark(void);

#endif
