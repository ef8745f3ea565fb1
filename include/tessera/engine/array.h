// Arrays for engines and runtimes: made from existing buffers, read without copies, and in bulk.
//
//   TSR_TRY(tsr_array_from_buffers(comm, layout, TSR_F32, buffers, &array));
//   for (int64_t i = 0; i < tsr_array_local_count(array); i++)
//     launch(tsr_array_data(array, i));
//
// "Collective" and "local" mean what tessera/array.h says.
#ifndef TESSERA_ENGINE_ARRAY_H
#define TESSERA_ENGINE_ARRAY_H

#include <stdint.h>

#include "tessera/api.h"
#include "tessera/array.h"
#include "tessera/buffer.h"
#include "tessera/comm.h"
#include "tessera/dtype.h"
#include "tessera/layout.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// ---- making ----

// Uninitialized elements, for a caller that writes all of them (tsr_array_write).
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_empty(tsr_comm *comm,
                                                            const tsr_layout *layout,
                                                            tsr_dtype dtype, tsr_array **out_array);

// The box that the devices of this process hold together: its range in each dimension; then JAX's
// host_local_array_to_global_array and its inverse on host memory. All three fail with not_filled,
// naming a hole, if the devices do not fill the box. No communication. `host` may be NULL where the
// devices hold no element.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2) tsr_status
    tsr_array_host_local(const tsr_comm *comm, const tsr_layout *layout, tsr_range *out_ranges);
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 6) tsr_status
    tsr_array_from_host_local(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                              const void *host, const tsr_host_options *options,
                              tsr_array **out_array);
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1) tsr_status
    tsr_array_to_host_local(const tsr_array *array, void *host, int64_t host_bytes,
                            const tsr_host_options *options);

// jax.make_array_from_single_device_arrays: one buffer for each local device of the layout, in
// order of device number, at least as large as its shard. Retains them. Replicas may share a
// buffer.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 5) tsr_status
    tsr_array_from_buffers(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                           tsr_buffer *const *buffers, tsr_array **out_array);

// ---- reading ----

TSR_API TSR_NONNULL tsr_comm *tsr_array_comm(const tsr_array *array);
// Index of a device's local shard; -1 if it has none.
TSR_API TSR_NONNULL int64_t tsr_array_local_find(const tsr_array *array, int64_t device);
// The data of a local shard.
TSR_API TSR_NONNULL const void *tsr_array_data(const tsr_array *array, int64_t index);
// Bytes that the local shards take; shared memory counts once.
TSR_API TSR_NONNULL int64_t tsr_array_memory(const tsr_array *array);

// ---- resharding ----

// Collective. tsr_array_reshard for many arrays of one comm, in as few rounds of messages as
// `max_memory` allows. An array listed twice cannot be donated. With a `count` of 0 the lists may
// be NULL and the call is not collective. On failure no array is made, but sources of earlier
// rounds are already donated.
TSR_API TSR_MUST_USE tsr_status tsr_array_reshard_all(tsr_array *const *arrays,
                                                      const tsr_layout *const *layouts,
                                                      int64_t count,
                                                      const tsr_reshard_options *options,
                                                      tsr_array **out_arrays);

TSR_END_DECLS

#endif
