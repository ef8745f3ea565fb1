// Chunks: which part of a tensor the devices of one process hold together, as t5x's LocalChunker
// says. What a process of many reads from a data set, or writes to a checkpoint.
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

typedef struct tsr_chunker tsr_chunker;  // immutable, shared by any threads

// Looks at every device once. A process whose devices form no box is found out when it is asked
// for.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_chunker_create(const tsr_mesh *mesh,
                                                               tsr_chunker **out_chunker);
TSR_API void tsr_chunker_release(const tsr_chunker *chunker);  // NULL is fine

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
// sizes, blocks, parts and sub-axes, with chunk_not_contiguous where the process's part of a
// dimension cut by several axes is no single range, with process_not_in_mesh when the process has
// no device there, and with local_devices_not_a_subcube when its devices form no box. NULL options
// = all off.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3, 4, 6) tsr_status
    tsr_chunker_local_chunk(const tsr_chunker *chunker, int64_t process, const tsr_shape *shape,
                            const tsr_spec *spec, const tsr_chunk_options *options,
                            tsr_chunk *out_chunk);

TSR_END_DECLS

#endif
