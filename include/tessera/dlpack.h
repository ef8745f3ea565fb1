// DLPack: tensors passed between libraries without a copy.
//
// This header declares only DLPack's two struct tags. Their members come from the official
// dlpack.h, version 0.2 or later, which may be included before or after. Both the versioned form
// (DLPack 1.0 and later) and the older unversioned one are supported.
#ifndef TESSERA_DLPACK_H
#define TESSERA_DLPACK_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/array.h"
#include "tessera/comm.h"
#include "tessera/layout.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

struct DLManagedTensorVersioned;  // no typedef: the official header has none in C
struct DLManagedTensor;

// ---- out ----

// One local shard of an array, without a copy; strided if the buffer is padded. The memory lives
// until the receiver calls the deleter, even if the array is released. A shared buffer is marked
// read-only; the unversioned form has no such mark, so do not write through it.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_to_dlpack(
    const tsr_array *array, int64_t index, struct DLManagedTensorVersioned **out_tensor);
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_to_dlpack_unversioned(
    const tsr_array *array, int64_t index, struct DLManagedTensor **out_tensor);

// ---- in ----

// A whole tensor, sharded as by tsr_array_shard, strides included. With `borrow`, shards that are
// contiguous in it are used in place. On success the library owns the tensor and calls its deleter
// when the last such shard is released, or at once. Fails for tensors that are not in CPU memory,
// and for another major version, an unknown dtype or another shape than the layout's.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status
tsr_array_from_dlpack(tsr_comm *comm, const tsr_layout *layout,
                      struct DLManagedTensorVersioned *tensor, bool borrow, tsr_array **out_array);
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_from_dlpack_unversioned(
    tsr_comm *comm, const tsr_layout *layout, struct DLManagedTensor *tensor, bool borrow,
    tsr_array **out_array);

TSR_END_DECLS

#endif
