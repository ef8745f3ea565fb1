// DLPack tensors as single buffers; tessera/dlpack.h has whole arrays.
#ifndef TESSERA_ARRAY_DLPACK_INTERNAL_H
#define TESSERA_ARRAY_DLPACK_INTERNAL_H

#include "tessera/api.h"
#include "tessera/buffer.h"
#include "tessera/dlpack.h"  // the structs' tags
#include "tessera/dtype.h"
#include "tessera/shape.h"
#include "tessera/status.h"

// A row-major tensor as the buffer of one shard, for tsr_array_from_buffers. On success the buffer
// owns the tensor.
TSR_MUST_USE tsr_status tsr_buffer_from_dlpack(struct DLManagedTensorVersioned *tensor,
                                               tsr_dtype *out_dtype, tsr_shape *out_shape,
                                               tsr_buffer **out_buffer);
TSR_MUST_USE tsr_status tsr_buffer_from_dlpack_unversioned(struct DLManagedTensor *tensor,
                                                           tsr_dtype *out_dtype,
                                                           tsr_shape *out_shape,
                                                           tsr_buffer **out_buffer);

#endif
