// Arrays, for engines and runtimes: from buffers and parts that are already there, and in bulk.
//
// A runtime that has its devices' memory makes an array of it, and reads an array's parts without a
// copy:
//
//   TSR_TRY(tsr_array_from_buffers(comm, layout, TSR_F32, buffers, &array));
//   for (int64_t i = 0; i < tsr_array_local_count(array); i++)
//     launch(tsr_array_data(array, i));
//
// What "collective" and "local" mean is said in tessera/array.h.
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

// Contents that the caller is about to write (tsr_array_write); until then they may be anything.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_empty(tsr_comm *comm,
                                                            const tsr_layout *layout,
                                                            tsr_dtype dtype, tsr_array **out_array);

// The tensor that a process's devices hold together: the smallest box around their pieces, which
// they must fill; all three fail with not_filled, naming a hole, where they do not. The range of
// each dimension; then, in the caller's memory, jax's host_local_array_to_global_array and its
// inverse. No communication. `host` may be NULL where the devices hold no element.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2) tsr_status
    tsr_array_host_local(const tsr_comm *comm, const tsr_layout *layout, tsr_range *out_ranges);
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 6) tsr_status
    tsr_array_from_host_local(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                              const void *host, const tsr_host_options *options,
                              tsr_array **out_array);
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1) tsr_status
    tsr_array_to_host_local(const tsr_array *array, void *host, int64_t host_bytes,
                            const tsr_host_options *options);

// jax.make_array_from_single_device_arrays: a buffer for each local device of the layout, in order
// of device number, of at least the bytes its shard takes. Retains them; replicas that are given
// the same buffer share it.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 5) tsr_status
    tsr_array_from_buffers(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                           tsr_buffer *const *buffers, tsr_array **out_array);

// ---- looking ----

TSR_API TSR_NONNULL tsr_comm *tsr_array_comm(const tsr_array *array);
// Which local part a device holds; -1 when it holds none here.
TSR_API TSR_NONNULL int64_t tsr_array_local_find(const tsr_array *array, int64_t device);
// The data of a local part.
TSR_API TSR_NONNULL const void *tsr_array_data(const tsr_array *array, int64_t index);
// Bytes of memory that its parts really take here, what is shared counted once.
TSR_API TSR_NONNULL int64_t tsr_array_memory(const tsr_array *array);

// ---- resharding ----

// Collective. tsr_array_reshard for many arrays of one comm, in as few rounds of messages as
// `max_memory` allows; one that is listed twice cannot be donated. `out_arrays` has a place for
// each. With a `count` of 0 nothing is done, the lists may be NULL, and the call is not collective.
// On failure no array is made, but those of earlier rounds are already donated.
TSR_API TSR_MUST_USE tsr_status tsr_array_reshard_all(tsr_array *const *arrays,
                                                      const tsr_layout *const *layouts,
                                                      int64_t count,
                                                      const tsr_reshard_options *options,
                                                      tsr_array **out_arrays);

TSR_END_DECLS

#endif
