// What other rooms and the tests use of tessera/compat/t5x_partitioner.h beside what is public.
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

tsr_partitioner *tsr_partitioner_retain(const tsr_partitioner *partitioner);

// What was odd about the options, a line for each: t5x only logs it, or says nothing. "" = nothing.
const char *tsr_partitioner_warnings(const tsr_partitioner *partitioner);
// As tsr_partitioner_set_params_on_devices set it last.
bool tsr_partitioner_params_on_devices(const tsr_partitioner *partitioner);

// The number of devices along the data axes, 1 without any.
TSR_MUST_USE tsr_status tsr_partitioner_data_mesh_size(const tsr_partitioner *partitioner,
                                                       int64_t *out_size);
// In how many shards the processes read the data, and which of them is the process's.
TSR_MUST_USE tsr_status tsr_partitioner_data_shards(const tsr_partitioner *partitioner,
                                                    int64_t process, int64_t *out_shards);
TSR_MUST_USE tsr_status tsr_partitioner_data_shard_id(const tsr_partitioner *partitioner,
                                                      int64_t process, int64_t *out_id);

// host_local_array_to_global_array for a tree, without communication: tensors in host memory are
// this process's parts of global arrays. A dimension that is cut along an axis is as many times
// larger as the axis has more places than this process's box of the mesh. One spec per leaf, NULL =
// the empty one; `specs` may be NULL. Other leaves stay as they are.
TSR_MUST_USE tsr_status tsr_array_tree_from_host_local(const tsr_array_tree *tree,
                                                       const tsr_mesh *mesh,
                                                       const tsr_spec *const *specs, tsr_comm *comm,
                                                       tsr_array_tree **out_tree);

#endif
