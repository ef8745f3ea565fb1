// DLPack in and out. Both forms carry the same tensor in different envelopes: the work is done on
// the tensor, and two small functions at each end handle the envelope.
#include "tessera/dlpack.h"

#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "array/array_internal.h"
#include "array/dlpack_structs.h"
#include "base/buffer_internal.h"
#include "element/shape_internal.h"
#include "tessera/engine/buffer.h"

// ---- element types ----

static const struct {
  tsr_dtype dtype;
  DLDataTypeCode code;
} special[] = {
    {TSR_BF16, kDLBfloat},
    {TSR_F8E3M4, kDLFloat8_e3m4},
    {TSR_F8E4M3, kDLFloat8_e4m3},
    {TSR_F8E4M3B11FNUZ, kDLFloat8_e4m3b11fnuz},
    {TSR_F8E4M3FN, kDLFloat8_e4m3fn},
    {TSR_F8E4M3FNUZ, kDLFloat8_e4m3fnuz},
    {TSR_F8E5M2, kDLFloat8_e5m2},
    {TSR_F8E5M2FNUZ, kDLFloat8_e5m2fnuz},
    {TSR_F8E8M0FNU, kDLFloat8_e8m0fnu},
    {TSR_F6E2M3FN, kDLFloat6_e2m3fn},
    {TSR_F6E3M2FN, kDLFloat6_e3m2fn},
    {TSR_F4E2M1FN, kDLFloat4_e2m1fn},
};
enum { SPECIAL = sizeof special / sizeof *special };

static DLDataTypeCode code_of(tsr_dtype dtype) {
  for (int i = 0; i < SPECIAL; i++)
    if (special[i].dtype == dtype) return special[i].code;
  switch (tsr_dtype_info_of(dtype)->kind) {
    case TSR_CLASS_BOOL:
      return kDLBool;
    case TSR_CLASS_SIGNED:
      return kDLInt;
    case TSR_CLASS_UNSIGNED:
      return kDLUInt;
    case TSR_CLASS_COMPLEX:
      return kDLComplex;
    default:
      return kDLFloat;
  }
}

static tsr_status find_dtype(DLDataType type, tsr_dtype *out_dtype) {
  for (int t = TSR_DTYPE_NONE + 1; t < TSR_DTYPE_COUNT && type.lanes == 1; t++)
    if (code_of((tsr_dtype)t) == type.code && tsr_dtype_info_of((tsr_dtype)t)->bits == type.bits) {
      *out_dtype = (tsr_dtype)t;
      return NULL;
    }
  return tsr_fail(UNSUPPORTED, "DLPack's type of code %d with %d bits and %d lanes", type.code,
                  type.bits, type.lanes);
}

// ---- out ----

// An exported tensor: its envelope, sizes and strides, and the buffer.
typedef struct exported {
  union {
    DLManagedTensorVersioned versioned;
    DLManagedTensor plain;
  } envelope;
  tsr_buffer *buffer;
  int64_t shape[TSR_MAX_RANK], strides[TSR_MAX_RANK];
} exported;

static void delete_exported(exported *e) {
  if (!e) return;
  tsr_buffer_release(e->buffer);
  free(e);
}

static void delete_versioned(DLManagedTensorVersioned *self) { delete_exported(self->manager_ctx); }
static void delete_plain(DLManagedTensor *self) { delete_exported(self->manager_ctx); }

// The tensor without its envelope. `*out_read_only`: the buffer is shared.
static tsr_status export_shard(const tsr_array *array, int64_t index, exported **out_exported,
                               DLTensor *out_tensor, bool *out_read_only) {
  tsr_local_shard local = TSR_LOCAL_SHARD;
  int64_t offset = 0;
  TSR_TRY(tsr_array_local_at(array, index, &local));
  exported *e = calloc(1, sizeof *e);
  if (!e) return tsr_fail(NO_MEMORY, "exported tensor");
  tsr_buffer *buffer = tsr_array_buffer(array, index, &offset);
  // The array's reference is one holder; with any other, writing is not safe.
  *out_read_only = !tsr_buffer_is_writable(buffer);
  e->buffer = tsr_buffer_retain(buffer);
  memcpy(e->shape, local.shape.dims, sizeof e->shape);
  memcpy(e->strides, local.strides, sizeof e->strides);
  *out_tensor = (DLTensor){
      .data = (void *)(uintptr_t)local.data,
      .device = {kDLCPU, 0},
      .ndim = local.shape.rank,
      .dtype = {(uint8_t)code_of(array->dtype), (uint8_t)array->bits, 1},
      .shape = e->shape,
      .strides = e->strides,
  };
  *out_exported = e;
  return NULL;
}

tsr_status tsr_array_to_dlpack(const tsr_array *array, int64_t index,
                               DLManagedTensorVersioned **out_tensor) {
  exported *e = NULL;
  DLTensor tensor;
  bool read_only = false;
  TSR_TRY(export_shard(array, index, &e, &tensor, &read_only));
  e->envelope.versioned = (DLManagedTensorVersioned){
      .version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION},
      .manager_ctx = e,
      .deleter = delete_versioned,
      .flags = read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0,
      .dl_tensor = tensor,
  };
  *out_tensor = &e->envelope.versioned;
  return NULL;
}

tsr_status tsr_array_to_dlpack_unversioned(const tsr_array *array, int64_t index,
                                           DLManagedTensor **out_tensor) {
  exported *e = NULL;
  DLTensor tensor;
  bool read_only = false;
  TSR_TRY(export_shard(array, index, &e, &tensor, &read_only));
  e->envelope.plain =
      (DLManagedTensor){.dl_tensor = tensor, .manager_ctx = e, .deleter = delete_plain};
  *out_tensor = &e->envelope.plain;
  return NULL;
}

// ---- in ----

static tsr_status check_version(const DLManagedTensorVersioned *tensor) {
  if (tensor->version.major != DLPACK_MAJOR_VERSION)
    return tsr_fail(UNSUPPORTED, "a tensor of DLPack %u.%u, wanted %d.x", tensor->version.major,
                    tensor->version.minor, DLPACK_MAJOR_VERSION);
  if (tensor->flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED)
    return tsr_fail(UNSUPPORTED,
                    "a DLPack tensor of elements narrower than a byte that are not packed");
  return NULL;
}

static void release_versioned(void *context, void *data) {
  DLManagedTensorVersioned *tensor = context;
  (void)data;
  if (tensor->deleter) tensor->deleter(tensor);
}

static void release_plain(void *context, void *data) {
  DLManagedTensor *tensor = context;
  (void)data;
  if (tensor->deleter) tensor->deleter(tensor);
}

static tsr_status shard_tensor(tsr_comm *comm, const tsr_layout *layout, const DLTensor *tensor,
                               bool borrow, tsr_release_fn *release, void *context,
                               tsr_array **out_array) {
  const tsr_shape wanted = tsr_layout_shape(layout);
  tsr_shape shape;
  tsr_dtype dtype;
  if (tensor->device.device_type != kDLCPU)
    return tsr_fail(UNSUPPORTED, "a DLPack tensor on a device of type %d, wanted %d (CPU)",
                    (int)tensor->device.device_type, (int)kDLCPU);
  TSR_TRY(find_dtype(tensor->dtype, &dtype));
  TSR_TRY(tsr_shape_init(&shape, tensor->shape, tensor->ndim));
  TSR_TRY(tsr_shapes_check("the DLPack tensor", &shape, "the layout has", &wanted));
  tsr_host_options options = TSR_HOST_OPTIONS;
  options.strides = tensor->strides;
  options.borrow = borrow;
  options.release = release;
  options.release_context = context;
  return tsr_array_shard(comm, layout, dtype, (char *)tensor->data + tensor->byte_offset, &options,
                         out_array);
}

tsr_status tsr_array_from_dlpack(tsr_comm *comm, const tsr_layout *layout,
                                 DLManagedTensorVersioned *tensor, bool borrow,
                                 tsr_array **out_array) {
  TSR_TRY(check_version(tensor));
  return shard_tensor(comm, layout, &tensor->dl_tensor, borrow, release_versioned, tensor,
                      out_array);
}

tsr_status tsr_array_from_dlpack_unversioned(tsr_comm *comm, const tsr_layout *layout,
                                             DLManagedTensor *tensor, bool borrow,
                                             tsr_array **out_array) {
  return shard_tensor(comm, layout, &tensor->dl_tensor, borrow, release_plain, tensor, out_array);
}
