// engine/array.h
#ifndef TSR_ENGINE_ARRAY_H
#define TSR_ENGINE_ARRAY_H

#include <stdint.h>

#include "tessera/api.h"
#include "tessera/array.h"
#include "tessera/buffer.h"
#include "tessera/comm.h"
#include "tessera/dtype.h"
#include "tessera/layout.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// Zeros; or contents that the caller is about to write.
TSR_API TSR_MUST_USE tsr_status tsr_array_empty(tsr_comm *comm, const tsr_layout *layout,
                                                tsr_dtype dtype, tsr_array **out_array);

// The tensor that a process's devices hold together: the smallest box around their pieces, which
// they must fill; fails with not_filled, naming a hole, where they do not.
// jax's host_local_array_to_global_array and its inverse; no communication. `host` may be NULL
// where they hold no element.
TSR_API TSR_MUST_USE tsr_status tsr_array_host_local(const tsr_comm *comm, const tsr_layout *layout,
                                                     tsr_range *out_ranges);
TSR_API TSR_MUST_USE tsr_status tsr_array_from_host_local(tsr_comm *comm, const tsr_layout *layout,
                                                          tsr_dtype dtype, const void *host,
                                                          const tsr_host_options *options,
                                                          tsr_array **out_array);
TSR_API TSR_MUST_USE tsr_status tsr_array_to_host_local(const tsr_array *array, void *host,
                                                        int64_t host_bytes,
                                                        const tsr_host_options *options);
// jax.make_array_from_single_device_arrays: a buffer for each local device of the layout, in order
// of device number, of at least the bytes its shard takes. Retains them; replicas that are given
// the same buffer share it.
TSR_API TSR_MUST_USE tsr_status tsr_array_from_buffers(tsr_comm *comm, const tsr_layout *layout,
                                                       tsr_dtype dtype, tsr_buffer *const *buffers,
                                                       tsr_array **out_array);

TSR_API tsr_comm *tsr_array_comm(const tsr_array *array);
// Which local part a device holds; -1 when it holds none here.
TSR_API int64_t tsr_array_local_find(const tsr_array *array, int64_t device);
TSR_API const void *tsr_array_data(const tsr_array *array, int64_t index);
// Bytes of memory that its parts really take here, what is shared counted once.
TSR_API int64_t tsr_array_memory(const tsr_array *array);

// Collective, unless `count` is 0: that is nothing to do, and no comm to say so. Many arrays of one
// comm, in as few rounds of messages as `most_memory` allows; one that is listed twice cannot be
// donated. On failure no array is made, but those of earlier rounds
// are already donated.
TSR_API TSR_MUST_USE tsr_status tsr_array_reshard_all(tsr_array *const *arrays,
                                                      const tsr_layout *const *layouts,
                                                      int64_t count,
                                                      const tsr_reshard_options *options,
                                                      tsr_array **out_arrays);

TSR_END_DECLS

#endif
