// Chunks: t5x's LocalChunker. The slice of a tensor that the devices of one process hold together:
// what a process reads from a data set, or writes to a checkpoint.
//
// The devices of a process must fill a box of the mesh. Along each axis the box is one of several
// equal *chunks*, and the tensor is cut into as many. One chunker answers for every process, also
// of a simulated topology.
//
//   tsr_chunker *chunker = NULL;
//   TSR_TRY(tsr_chunker_create(mesh, &chunker));
//   tsr_chunk chunk;
//   TSR_TRY(tsr_chunker_local_chunk(chunker, process, TSR_SHAPE(64, 512), spec, NULL, &chunk));
//   if (chunk.replica_id == 0) ... write rows chunk.slice[0].lo to chunk.slice[0].hi
//
// Without options the results are t5x's, including its doubtful ones: docs/compatibility.md.
#ifndef TESSERA_COMPAT_T5X_CHUNKS_H
#define TESSERA_COMPAT_T5X_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/layout.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

typedef struct tsr_chunker tsr_chunker;  // immutable, safe to share between threads

// Visits every device once. A process whose devices form no box is reported when it is queried.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_chunker_create(const tsr_mesh *mesh,
                                                               tsr_chunker **out_chunker);
TSR_API void tsr_chunker_release(const tsr_chunker *chunker);  // NULL is fine

typedef struct tsr_chunk_options {
  size_t size;      // sizeof(tsr_chunk_options)
  bool tuple_axes;  // allow several axes to cut a dimension; t5x: tuple_axis_unsupported
  // Sizes need not divide: chunks follow TSR_POLICY_UNEVEN and tile the tensor. In t5x a tail that
  // does not divide is in no chunk.
  bool uneven;
  // Fail where t5x ignores an error: more axes than dimensions, an axis on two dimensions and,
  // unless `uneven`, a size that the axes do not divide.
  bool strict;
} tsr_chunk_options;
#define TSR_CHUNK_OPTIONS TSR_SIZED(tsr_chunk_options)

// LocalChunkInfo.
typedef struct tsr_chunk {
  int rank;
  tsr_range slice[TSR_MAX_RANK];
  bool cut[TSR_MAX_RANK];  // an axis cuts the dimension; t5x gives an open slice if not
  int64_t replica_id;
} tsr_chunk;

// get_local_chunk_info. Pairs dimensions with entries of the spec and ignores surplus ones. Fails
// with not_expressible for stages, sizes, blocks, parts and sub-axes; with chunk_not_contiguous if
// the process's share of a dimension is not one range; with process_not_in_mesh if the process has
// no device there; and with local_devices_not_a_subcube if its devices form no box. NULL options =
// all off.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3, 4, 6) tsr_status
    tsr_chunker_local_chunk(const tsr_chunker *chunker, int64_t process, const tsr_shape *shape,
                            const tsr_spec *spec, const tsr_chunk_options *options,
                            tsr_chunk *out_chunk);

// num_chunks and chunk_ids, one per mesh axis: the number of chunks of the axis, and the process's
// own. All queries about a process fail with process_not_in_mesh if it has no device there, and
// with local_devices_not_a_subcube if its devices form no box.
typedef struct tsr_process_chunks {
  int64_t num_chunks[TSR_MAX_AXES];
  int64_t chunk_ids[TSR_MAX_AXES];
} tsr_process_chunks;
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_chunker_chunks(const tsr_chunker *chunker,
                                                               int64_t process,
                                                               tsr_process_chunks *out_chunks);

// get_shard_id: the number of the process's chunk along these axes, the first most significant.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 5) tsr_status
    tsr_chunker_shard_id(const tsr_chunker *chunker, int64_t process, const char *const *axes,
                         int axis_count, int64_t *out_id);
// get_replica_id: the same along the other mesh axes, in mesh order; unknown names are ignored. Of
// the processes with the same chunk, 0 is the writer.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 5) tsr_status
    tsr_chunker_replica_id(const tsr_chunker *chunker, int64_t process, const char *const *axes,
                           int axis_count, int64_t *out_id);

TSR_END_DECLS

#endif
