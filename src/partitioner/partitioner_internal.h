// What other rooms use of tessera/partitioner.h beside what is public.
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

// Fails with no_partition_count when neither a number nor a submesh is given, and as
// tsr_t5x_default_mesh where there is no mesh. With both mesh shapes every rule for "batch" becomes
// replica+data. NULL topology: a partitioner without a mesh, which knows its rules and data axis.
tsr_partitioner *tsr_partitioner_retain(const tsr_partitioner *partitioner);

// What was odd about the options, a line for each: t5x only logs it, or says nothing. "" = nothing.
const char *tsr_partitioner_warnings(const tsr_partitioner *partitioner);
// Whether parameters are moved to the devices, or stay in host memory. The one thing that can be
// changed: every holder sees it, at once and from any thread.
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
