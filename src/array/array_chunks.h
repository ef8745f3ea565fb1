// Shared by the two files about chunks.
#ifndef TESSERA_ARRAY_ARRAY_CHUNKS_H
#define TESSERA_ARRAY_ARRAY_CHUNKS_H

#include "array/chunks_internal.h"
#include "tessera/api.h"
#include "tessera/compat/t5x_chunks.h"
#include "tessera/mesh.h"
#include "tessera/status.h"

// The box of the mesh that a process fills: its low corner and sizes, one per axis.
typedef struct tsr_process_box {
  int64_t low[TSR_MAX_AXES], sizes[TSR_MAX_AXES];
} tsr_process_box;
TSR_MUST_USE tsr_status tsr_chunker_box(const tsr_chunker *chunker, int64_t process,
                                        tsr_process_box *out_box);

// get_replica_id; `used` says which mesh axes cut.
int64_t tsr_chunks_replica_id(const tsr_chunker *chunker, const tsr_process_chunks *chunks,
                              const bool *used);

#endif
