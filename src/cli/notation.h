// Any notation a user may write a sharding in, told apart by how it begins.
#ifndef TESSERA_CLI_NOTATION_H
#define TESSERA_CLI_NOTATION_H

#include "tessera/engine/sharding.h"
#include "tessera/tessera.h"

#define CLI_NOTATIONS "short|jax|shardy|xla|dtensor|torch"

// Reads `text` in notation `form` (NULL = told by how it begins) as a spec. XLA and DTensor texts
// name no axes: they need the mesh, and DTensor's the rank and, for flat specs, the shape. Some of
// DTensor's have these themselves; then those given must be the same.
tsr_status cli_read_spec(const char *text, const char *form, const tsr_mesh *mesh, int rank,
                         const tsr_shape *shape, tsr_spec **out_spec);
// The layout of a tensor by a spec that is read so.
tsr_status cli_read_layout(const char *text, const char *form, const tsr_mesh *mesh,
                           const tsr_shape *shape, tsr_policy policy, tsr_layout **out_layout);
// The mesh and the shape that a DTensor text has, where they are missing; the caller releases the
// mesh.
tsr_status cli_find_context(const char *text, const char *form, const tsr_topology *topology,
                            tsr_mesh **mesh, tsr_shape *shape, bool *has_shape);
// Writes a spec in a notation that names axes: short, jax or shardy.
tsr_status cli_print_spec(const tsr_spec *spec, const char *form, tsr_text *out);
// Writes a sharding in notation `form`.
tsr_status cli_write_spec(const tsr_sharding *sharding, const char *form, int rank,
                          const tsr_shape *shape, tsr_text *out);

#endif
