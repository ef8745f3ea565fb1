// DLPack: tensors handed from one library to another without copying them.
//
// Only DLPack's two struct tags are declared here. Their members come from the official dlpack.h,
// which may be included before or after this header, in any version from 0.2 on; code that passes
// tensors on needs neither. Both forms are served: versioned (DLPack 1.0 and later) and the older
// one without a version.
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

// One local part of an array, without a copy: the shape of its elements, strided where the buffer
// is padded. Whoever gets it calls its deleter; the memory lives until then, whatever becomes of
// the array. It is marked read-only while others hold the buffer; the older form cannot say so, and
// nothing must be written through it then.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_to_dlpack(
    const tsr_array *array, int64_t index, struct DLManagedTensorVersioned **out_tensor);
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_to_dlpack_unversioned(
    const tsr_array *array, int64_t index, struct DLManagedTensor **out_tensor);

// ---- in ----

// A whole tensor, cut as tsr_array_shard does; shards that are contiguous in it stay there if
// `borrow`. Its strides are honoured. On success the tensor belongs to the library, which calls its
// deleter when the last part that stays there is gone, or at once. Refuses tensors that are not in
// the processor's memory, of another major version, of element types we lack, of another shape than
// the layout's.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status
tsr_array_from_dlpack(tsr_comm *comm, const tsr_layout *layout,
                      struct DLManagedTensorVersioned *tensor, bool borrow, tsr_array **out_array);
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_from_dlpack_unversioned(
    tsr_comm *comm, const tsr_layout *layout, struct DLManagedTensor *tensor, bool borrow,
    tsr_array **out_array);

TSR_END_DECLS

#endif
