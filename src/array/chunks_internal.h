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

// num_chunks and chunk_ids, one per mesh axis: the number of chunks of the axis, and the process's
// own. All queries about a process fail with process_not_in_mesh if it has no device there, and
// with local_devices_not_a_subcube if its devices form no box.
typedef struct tsr_process_chunks {
  int64_t num_chunks[TSR_MAX_AXES];
  int64_t chunk_ids[TSR_MAX_AXES];
} tsr_process_chunks;
TSR_MUST_USE tsr_status tsr_chunker_chunks(const tsr_chunker *chunker, int64_t process,
                                           tsr_process_chunks *out_chunks);

// get_shard_id: the number of the process's chunk along these axes, the first most significant.
TSR_MUST_USE tsr_status tsr_chunker_shard_id(const tsr_chunker *chunker, int64_t process,
                                             const char *const *axes, int axis_count,
                                             int64_t *out_id);
// get_replica_id: the same along the other mesh axes, in mesh order; unknown names are ignored. Of
// the processes with the same chunk, 0 is the writer.
TSR_MUST_USE tsr_status tsr_chunker_replica_id(const tsr_chunker *chunker, int64_t process,
                                               const char *const *axes, int axis_count,
                                               int64_t *out_id);

#endif
