// DLPack: tensors handed from one library to another without copying them.
//
// The structs are DLPack's, declared after its public specification (dmlc.github.io/dlpack), so
// that no other header is needed; where the official one is included first, its own are used. Both
// forms are served: versioned (DLPack 1.0 and later) and the older one without a version.
#ifndef TESSERA_DLPACK_H
#define TESSERA_DLPACK_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/array.h"

TSR_BEGIN_DECLS

#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 1

typedef struct {
  uint32_t major, minor;
} DLPackVersion;

// Memory that the processor can reach is kDLCPU; other kinds are for accelerators.
#ifdef __cplusplus
typedef enum : int32_t {
#else
typedef enum {
#endif
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLOpenCL = 4,
  kDLVulkan = 7,
  kDLMetal = 8,
  kDLVPI = 9,
  kDLROCM = 10,
  kDLROCMHost = 11,
  kDLExtDev = 12,
  kDLCUDAManaged = 13,
  kDLOneAPI = 14,
  kDLWebGPU = 15,
  kDLHexagon = 16,
  kDLMAIA = 17,
  kDLTrn = 18
} DLDeviceType;

typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;

typedef enum {
  kDLInt = 0U,
  kDLUInt = 1U,
  kDLFloat = 2U,
  kDLOpaqueHandle = 3U,
  kDLBfloat = 4U,
  kDLComplex = 5U,
  kDLBool = 6U,
  kDLFloat8_e3m4 = 7U,
  kDLFloat8_e4m3 = 8U,
  kDLFloat8_e4m3b11fnuz = 9U,
  kDLFloat8_e4m3fn = 10U,
  kDLFloat8_e4m3fnuz = 11U,
  kDLFloat8_e5m2 = 12U,
  kDLFloat8_e5m2fnuz = 13U,
  kDLFloat8_e8m0fnu = 14U,
  kDLFloat6_e2m3fn = 15U,
  kDLFloat6_e3m2fn = 16U,
  kDLFloat4_e2m1fn = 17U
} DLDataTypeCode;

typedef struct {
  uint8_t code;    // a DLDataTypeCode
  uint8_t bits;    // of one element
  uint16_t lanes;  // elements side by side that count as one; 1 here
} DLDataType;

typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides;      // in elements; NULL = row-major (before version 1.2)
  uint64_t byte_offset;  // of the first element, from `data`
} DLTensor;

typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensor *self);  // by whoever was handed the tensor; may be NULL
} DLManagedTensor;

#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL)
#define DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED (1UL << 2UL)

typedef struct DLManagedTensorVersioned {
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;

#endif

// ---- out ----

// One local part of an array, without a copy: the shape of its elements, strided where the buffer
// is padded. Whoever gets it calls its deleter; the memory lives until then, whatever becomes of
// the array. It is marked read-only while others hold the buffer; the older form cannot say so, and
// nothing must be written through it then.
TSR_API TSR_MUST_USE tsr_status tsr_array_to_dlpack(const tsr_array *array, int64_t index,
                                                    DLManagedTensorVersioned **out_tensor);
TSR_API TSR_MUST_USE tsr_status tsr_array_to_dlpack_unversioned(const tsr_array *array,
                                                                int64_t index,
                                                                DLManagedTensor **out_tensor);

// ---- in ----

// A whole tensor, cut as tsr_array_shard does; shards that are contiguous in it stay there if
// `borrow`. Its strides are honoured. On success the tensor belongs to the library, which calls its
// deleter when the last part that stays there is gone, or at once. Refuses tensors that are not in
// the processor's memory, of another major version, of element types we lack, of another shape than
// the layout's.
TSR_API TSR_MUST_USE tsr_status tsr_array_from_dlpack(tsr_comm *comm, const tsr_layout *layout,
                                                      DLManagedTensorVersioned *tensor, bool borrow,
                                                      tsr_array **out_array);
TSR_API TSR_MUST_USE tsr_status tsr_array_from_dlpack_unversioned(tsr_comm *comm,
                                                                  const tsr_layout *layout,
                                                                  DLManagedTensor *tensor,
                                                                  bool borrow,
                                                                  tsr_array **out_array);
// One shard: a row-major tensor as a buffer, for tsr_array_from_buffers. On success it belongs to
// the buffer.
TSR_API TSR_MUST_USE tsr_status tsr_buffer_from_dlpack(DLManagedTensorVersioned *tensor,
                                                       tsr_dtype *out_dtype, tsr_shape *out_shape,
                                                       tsr_buffer **out_buffer);
TSR_API TSR_MUST_USE tsr_status tsr_buffer_from_dlpack_unversioned(DLManagedTensor *tensor,
                                                                   tsr_dtype *out_dtype,
                                                                   tsr_shape *out_shape,
                                                                   tsr_buffer **out_buffer);

TSR_END_DECLS

#endif
