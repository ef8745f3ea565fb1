// JAX's answers in its own words: meshes as jax.make_mesh and mesh_utils build them, the current
// mesh, and the shardings of XLA's programs.
#ifndef TESSERA_COMPAT_JAX_H
#define TESSERA_COMPAT_JAX_H

#include "tessera/compat/hlo.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/scope.h"

#endif
