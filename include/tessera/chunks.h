// Chunks: which part of a tensor the devices of one process hold together, as t5x's LocalChunker
// tells it. What a process of many reads from a data set, or writes to a checkpoint.
//
// The devices of a process must fill a box of the mesh. Along each axis the box is then one of
// several equal *chunks*; the tensor is cut in as many. One chunker answers for every process, so
// the fleet may be a pretended one (any topology).
//
//   tsr_chunker *chunker = NULL;
//   TSR_TRY(tsr_chunker_create(mesh, &chunker));
//   tsr_chunk chunk;
//   TSR_TRY(tsr_chunker_local_chunk(chunker, process, TSR_SHAPE(64, 512), spec, NULL, &chunk));
//   if (chunk.replica_id == 0) ... write rows chunk.slice[0].lo to chunk.slice[0].hi
//
// Without options the answers are t5x's, also where they are doubtful: docs/compatibility.md.
#ifndef TESSERA_CHUNKS_H
#define TESSERA_CHUNKS_H

#include "tessera/layout.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

typedef struct tsr_chunker tsr_chunker;  // immutable, shared by any threads

// Looks at every device once. A process whose devices form no box is found out when it is asked
// for.
TSR_API TSR_MUST_USE tsr_status tsr_chunker_create(const tsr_mesh *mesh, tsr_chunker **out_chunker);
TSR_API tsr_chunker *tsr_chunker_retain(const tsr_chunker *chunker);
TSR_API void tsr_chunker_release(const tsr_chunker *chunker);          // NULL is fine
TSR_API const tsr_mesh *tsr_chunker_mesh(const tsr_chunker *chunker);  // borrowed
// The processes with a device in the mesh, ascending.
TSR_API int64_t tsr_chunker_process_count(const tsr_chunker *chunker);
TSR_API int64_t tsr_chunker_process_at(const tsr_chunker *chunker, int64_t index);

// num_chunks and chunk_ids, one per mesh axis: in how many chunks a process sees the axis, and
// which of them is its own. All functions that ask about a process fail with process_not_in_mesh
// when it has no device there, and with local_devices_not_a_subcube when its devices form no box.
typedef struct tsr_process_chunks {
  int64_t num_chunks[TSR_MAX_AXES];
  int64_t chunk_ids[TSR_MAX_AXES];
} tsr_process_chunks;
TSR_API TSR_MUST_USE tsr_status tsr_chunker_chunks(const tsr_chunker *chunker, int64_t process,
                                                   tsr_process_chunks *out_chunks);

// get_shard_id: the number of the process's chunk along these axes, the first most significant.
TSR_API TSR_MUST_USE tsr_status tsr_chunker_shard_id(const tsr_chunker *chunker, int64_t process,
                                                     const char *const *axes, int axis_count,
                                                     int64_t *out_id);
// get_replica_id: the same along the mesh axes that are not among these, in the mesh's order; names
// the mesh lacks change nothing. Of the processes with the same chunk, 0 is its writer.
TSR_API TSR_MUST_USE tsr_status tsr_chunker_replica_id(const tsr_chunker *chunker, int64_t process,
                                                       const char *const *axes, int axis_count,
                                                       int64_t *out_id);

typedef struct tsr_chunk_options {
  size_t size;      // sizeof(tsr_chunk_options)
  bool tuple_axes;  // dimensions may be cut by several axes; t5x: tuple_axis_unsupported
  // Sizes need not divide: what the devices really hold under TSR_POLICY_UNEVEN, so that the chunks
  // of all processes tile the tensor. In t5x a tail that does not divide belongs to nobody.
  bool uneven;
  // Refuse what t5x passes over in silence: more axes than dimensions, an axis on two of them, and,
  // unless `uneven`, a size that the axes do not divide.
  bool strict;
} tsr_chunk_options;
#define TSR_CHUNK_OPTIONS TSR_SIZED(tsr_chunk_options)

// LocalChunkInfo.
typedef struct tsr_chunk {
  int rank;
  tsr_range slice[TSR_MAX_RANK];
  bool cut[TSR_MAX_RANK];  // whether an axis was asked for; t5x gives an open slice where not
  int64_t replica_id;
} tsr_chunk;

// get_local_chunk_info. Dimensions and entries of the spec are taken side by side, and what either
// has more is left alone. Only plain axes are understood: fails with not_expressible for stages,
// sizes, blocks, parts and sub-axes (tsr_layout_process_hull knows them), and with
// chunk_not_contiguous where the process's part of a dimension cut by several axes is no single
// range. NULL options = all off.
TSR_API TSR_MUST_USE tsr_status tsr_chunker_local_chunk(const tsr_chunker *chunker, int64_t process,
                                                        const tsr_shape *shape,
                                                        const tsr_spec *spec,
                                                        const tsr_chunk_options *options,
                                                        tsr_chunk *out_chunk);

TSR_END_DECLS

#endif
