// Chunks for other rooms and tests. The rest is in tessera/compat/t5x_chunks.h.
#ifndef TESSERA_ARRAY_CHUNKS_INTERNAL_H
#define TESSERA_ARRAY_CHUNKS_INTERNAL_H

#include <stdint.h>

#include "tessera/api.h"
#include "tessera/compat/t5x_chunks.h"
#include "tessera/mesh.h"
#include "tessera/status.h"

const tsr_mesh *tsr_chunker_mesh(const tsr_chunker *chunker);  // borrowed
// The processes with a device in the mesh, ascending.
int64_t tsr_chunker_process_count(const tsr_chunker *chunker);
int64_t tsr_chunker_process_at(const tsr_chunker *chunker, int64_t index);

#endif
