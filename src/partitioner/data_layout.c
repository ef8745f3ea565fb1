// The rows of a batch that each process reads.
//
// A process reads the rows of its devices along the data axes. Processes that differ only along
// other axes read the same rows: they are a replica set, and one of them is the first.
#include "array/chunks_internal.h"
#include "base/sized.h"
#include "mesh/mesh_internal.h"
#include "partitioner/partitioner.h"
#include "partitioner/partitioner_internal.h"
#include "tessera/engine/mesh.h"
#include "tessera/layout.h"
#include "tessera/shape.h"
#include "topology/topology_internal.h"

tsr_status tsr_partitioner_data_mesh_size(const tsr_partitioner *partitioner, int64_t *out_size) {
  TSR_TRY(tsr_partitioner_need_mesh(partitioner));
  return tsr_mesh_axes_size(partitioner->mesh, partitioner->data_axes, partitioner->data_axis_count,
                            out_size);
}

tsr_status tsr_partitioner_data_shards(const tsr_partitioner *partitioner, int64_t process,
                                       int64_t *out_shards) {
  tsr_process_chunks chunks;
  int64_t shards = 1, size = 0;
  TSR_TRY(tsr_partitioner_data_mesh_size(partitioner, &size));  // fails if an axis is missing
  TSR_TRY(tsr_chunker_chunks(partitioner->chunker, process, &chunks));
  for (int i = 0; i < partitioner->data_axis_count; i++)
    shards *= chunks.num_chunks[tsr_mesh_axis_find(partitioner->mesh, partitioner->data_axes[i])];
  *out_shards = shards;
  return NULL;
}

tsr_status tsr_partitioner_data_shard_id(const tsr_partitioner *partitioner, int64_t process,
                                         int64_t *out_id) {
  TSR_TRY(tsr_partitioner_need_mesh(partitioner));
  return tsr_chunker_shard_id(partitioner->chunker, process, partitioner->data_axes,
                              partitioner->data_axis_count, out_id);
}

static tsr_status check_host(const tsr_partitioner *partitioner, int64_t host) {
  if (!partitioner->mesh) return NULL;
  const int64_t count = tsr_topology_process_count(tsr_mesh_topology(partitioner->mesh));
  if (host < 0 || host >= count)
    return tsr_fail(INDEX_OUT_OF_RANGE, "host_index %lld, wanted 0 to %lld", (long long)host,
                    (long long)(count - 1));
  return NULL;
}

// The process to answer for: `host_index`, if given.
static tsr_status choose_host(const tsr_partitioner *partitioner,
                              const tsr_data_layout_options *given, int64_t *host) {
  tsr_data_layout_options options;
  TSR_TRY(tsr_sized_read(tsr_data_layout_options, given, &options));
  if (!options.host_index) return NULL;
  if (!options.serve_host_index)
    return tsr_fail(HOST_INDEX_UNSUPPORTED, "host_index %lld needs serve_host_index",
                    (long long)*options.host_index);
  *host = *options.host_index;
  return check_host(partitioner, *host);
}

static tsr_status fit_batch(const tsr_partitioner *partitioner, int64_t process,
                            tsr_data_layout *layout) {
  int64_t size = 0;
  TSR_TRY(tsr_partitioner_data_mesh_size(partitioner, &size));
  if (!layout->batch_size) layout->batch_size = size;
  if (layout->batch_size % size)
    return tsr_fail(BATCH_NOT_DIVISIBLE_BY_DATA_MESH,
                    "a batch of %lld is not divisible by the data mesh of %lld devices",
                    (long long)layout->batch_size, (long long)size);
  TSR_TRY(tsr_partitioner_data_shards(partitioner, process, &layout->num_shards));
  if (layout->batch_size % layout->num_shards)
    return tsr_fail(BATCH_NOT_DIVISIBLE_BY_DATA_SHARDS,
                    "a batch of %lld is not divisible by the %lld data shards of process %lld",
                    (long long)layout->batch_size, (long long)layout->num_shards,
                    (long long)process);
  return NULL;
}

tsr_status tsr_partitioner_data_layout(const tsr_partitioner *partitioner, int64_t process,
                                       int64_t batch_size, const tsr_data_layout_options *options,
                                       tsr_data_layout *out_layout) {
  tsr_data_layout layout = {.batch_size = batch_size, .num_shards = 1};
  int64_t host = process;
  int64_t replica = 0;
  TSR_TRY(choose_host(partitioner, options, &host));
  if (batch_size < 0)
    return tsr_fail(BAD_ARGUMENT, "a batch of %lld, wanted 0 or more", (long long)batch_size);
  if (!partitioner->data_axis_count) {
    layout.is_first_host_in_replica_set = host == 0;
    *out_layout = layout;
    return NULL;
  }
  TSR_TRY(fit_batch(partitioner, host, &layout));
  TSR_TRY(tsr_partitioner_data_shard_id(partitioner, host, &layout.shard_id));
  TSR_TRY(tsr_chunker_replica_id(partitioner->chunker, host, partitioner->data_axes,
                                 partitioner->data_axis_count, &replica));
  layout.is_first_host_in_replica_set = replica == 0;
  *out_layout = layout;
  return NULL;
}

tsr_range tsr_data_layout_rows(const tsr_data_layout *layout) {
  const int64_t rows = layout->batch_size / layout->num_shards;
  return (tsr_range){layout->shard_id * rows, (layout->shard_id + 1) * rows};
}

tsr_status tsr_partitioner_local_chunk(const tsr_partitioner *partitioner, int64_t process,
                                       const tsr_shape *shape, const tsr_spec *spec,
                                       const tsr_chunk_options *options, tsr_chunk *out_chunk) {
  TSR_TRY(tsr_partitioner_need_mesh(partitioner));
  return tsr_chunker_local_chunk(partitioner->chunker, process, shape, spec, options, out_chunk);
}
