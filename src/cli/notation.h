// Any notation a user may write a sharding in, told apart by how it begins.
#ifndef TESSERA_CLI_NOTATION_H
#define TESSERA_CLI_NOTATION_H

#include "tessera/tessera.h"

#define CLI_NOTATIONS "short|jax|shardy|xla|dtensor"

// Reads `text` in notation `form` (NULL = told by how it begins) as a spec. XLA and DTensor texts
// name no axes: they need the mesh, and DTensor's the rank and, for flat specs, the shape.
tsr_status cli_read_spec(const char *text, const char *form, const tsr_mesh *mesh, int rank,
                         const tsr_shape *shape, tsr_spec **out_spec);
// Writes a spec in a notation that names axes: short, jax or shardy.
tsr_status cli_print_spec(const tsr_spec *spec, const char *form, tsr_text *out);
// Writes a sharding in notation `form`.
tsr_status cli_write_spec(const tsr_sharding *sharding, const char *form, int rank,
                          const tsr_shape *shape, tsr_text *out);

#endif
