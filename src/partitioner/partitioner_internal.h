// Partitioners, for other rooms and tests. The rest is in tessera/compat/t5x_partitioner.h.
#ifndef TESSERA_PARTITIONER_PARTITIONER_INTERNAL_H
#define TESSERA_PARTITIONER_PARTITIONER_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/comm.h"
#include "tessera/compat/t5x_partitioner.h"
#include "tessera/mesh.h"
#include "tessera/place.h"
#include "tessera/spec.h"
#include "tessera/status.h"

// Warnings about the options, a line each, which t5x only logs or omits; "" = none.
const char *tsr_partitioner_warnings(const tsr_partitioner *partitioner);

// The number of devices along the data axes, 1 without any.
TSR_MUST_USE tsr_status tsr_partitioner_data_mesh_size(const tsr_partitioner *partitioner,
                                                       int64_t *out_size);
// The number of data shards, and the one that a process reads.
TSR_MUST_USE tsr_status tsr_partitioner_data_shards(const tsr_partitioner *partitioner,
                                                    int64_t process, int64_t *out_shards);
TSR_MUST_USE tsr_status tsr_partitioner_data_shard_id(const tsr_partitioner *partitioner,
                                                      int64_t process, int64_t *out_id);

// host_local_array_to_global_array for a tree, without communication: tensors in host memory are
// this process's boxes of global arrays. A dimension that is cut along an axis grows by the number
// of such boxes along the axis. One spec per leaf, NULL = the empty one; `specs` may be NULL. Other
// leaves stay as they are.
TSR_MUST_USE tsr_status tsr_array_tree_from_host_local(const tsr_array_tree *tree,
                                                       const tsr_mesh *mesh,
                                                       const tsr_spec *const *specs, tsr_comm *comm,
                                                       tsr_array_tree **out_tree);

#endif
