// Specs in any notation, recognised by how they begin.
#ifndef TESSERA_CLI_NOTATION_H
#define TESSERA_CLI_NOTATION_H

#include "tessera/engine/sharding.h"
#include "tessera/layout.h"
#include "tessera/spec.h"
#include "tessera/text.h"

#define CLI_NOTATIONS "short|jax|shardy|xla|dtensor|torch"

// Reads a spec in notation `form` (NULL = recognised). XLA and DTensor texts name no axes and need
// the mesh; DTensor texts also need the rank and, for flat specs, the shape. A DTensor text may
// state them; then those given must be equal.
tsr_status cli_read_spec(const char *text, const char *form, const tsr_mesh *mesh, int rank,
                         const tsr_shape *shape, tsr_spec **out_spec);
// Reads a spec and makes the layout of a tensor.
tsr_status cli_read_layout(const char *text, const char *form, const tsr_mesh *mesh,
                           const tsr_shape *shape, tsr_policy policy, tsr_layout **out_layout);
// Fills in the mesh and shape that a DTensor text states, if they are missing. The caller releases
// the mesh.
tsr_status cli_find_context(const char *text, const char *form, const tsr_topology *topology,
                            tsr_mesh **mesh, tsr_shape *shape, bool *has_shape);
// Writes a spec in a notation that names axes: short, jax or shardy.
tsr_status cli_print_spec(const tsr_spec *spec, const char *form, tsr_text *out);
// Writes a sharding in notation `form`.
tsr_status cli_write_spec(const tsr_sharding *sharding, const char *form, int rank,
                          const tsr_shape *shape, tsr_text *out);

#endif
