// compat/jax.h
#ifndef TSR_COMPAT_JAX_H
#define TSR_COMPAT_JAX_H

#include "tessera/compat/hlo.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/scope.h"

#endif
