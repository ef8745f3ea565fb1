// What other rooms and the tests use of tessera/compat/t5x_chunks.h beside what is public.
#ifndef TESSERA_ARRAY_CHUNKS_INTERNAL_H
#define TESSERA_ARRAY_CHUNKS_INTERNAL_H

#include <stdint.h>

#include "tessera/api.h"
#include "tessera/compat/t5x_chunks.h"
#include "tessera/mesh.h"
#include "tessera/status.h"

tsr_chunker *tsr_chunker_retain(const tsr_chunker *chunker);
const tsr_mesh *tsr_chunker_mesh(const tsr_chunker *chunker);  // borrowed
// The processes with a device in the mesh, ascending.
int64_t tsr_chunker_process_count(const tsr_chunker *chunker);
int64_t tsr_chunker_process_at(const tsr_chunker *chunker, int64_t index);

// num_chunks and chunk_ids, one per mesh axis: in how many chunks a process sees the axis, and
// which of them is its own. All functions that ask about a process fail with process_not_in_mesh
// when it has no device there, and with local_devices_not_a_subcube when its devices form no box.
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
// get_replica_id: the same along the mesh axes that are not among these, in the mesh's order; names
// the mesh lacks change nothing. Of the processes with the same chunk, 0 is its writer.
TSR_MUST_USE tsr_status tsr_chunker_replica_id(const tsr_chunker *chunker, int64_t process,
                                               const char *const *axes, int axis_count,
                                               int64_t *out_id);

#endif
