// Tensors handed over by DLPack.
#include "tessera/dlpack.h"

#include <stdlib.h>
#include <string.h>

#include "array/arrays.h"
#include "array/dlpack_structs.h"
#include "base/buffer_internal.h"
#include "element/shape_internal.h"
#include "tessera/engine/array.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"

static void a_part_goes_out_without_a_copy_and_outlives_its_array(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(2, 1);
  tsr_layout *layout = test_layout_of("x=2", "x", "4,3", TSR_POLICY_ERROR);
  void *host = test_tensor(TSR_SHAPE(4, 3), TSR_BF16, 1);
  tsr_array *array = NULL;
  DLManagedTensorVersioned *tensor = NULL;
  DLManagedTensor *plain = NULL;
  assert_ok(tsr_array_shard(comm, layout, TSR_BF16, host, NULL, &array));
  assert_ok(tsr_array_to_dlpack(array, 1, &tensor));
  assert_int_equal(tensor->version.major, 1);
  assert_int_equal(tensor->flags, 0);
  assert_ptr_equal(tensor->dl_tensor.data, tsr_array_data(array, 1));
  assert_int_equal(tensor->dl_tensor.device.device_type, kDLCPU);
  assert_int_equal(tensor->dl_tensor.ndim, 2);
  assert_int_equal(tensor->dl_tensor.dtype.code, kDLBfloat);
  assert_int_equal(tensor->dl_tensor.dtype.bits, 16);
  assert_int_equal(tensor->dl_tensor.dtype.lanes, 1);
  assert_int_equal(tensor->dl_tensor.shape[0], 2);
  assert_int_equal(tensor->dl_tensor.strides[0], 3);
  assert_int_equal(tensor->dl_tensor.strides[1], 1);
  // Now two hold the buffer.
  assert_ok(tsr_array_to_dlpack_unversioned(array, 1, &plain));
  assert_ptr_equal(plain->dl_tensor.data, tensor->dl_tensor.data);
  DLManagedTensorVersioned *shared = NULL;
  assert_ok(tsr_array_to_dlpack(array, 1, &shared));
  assert_int_equal(shared->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
  shared->deleter(shared);
  plain->deleter(plain);
  tsr_array_release(array);
  assert_memory_equal(tensor->dl_tensor.data, (char *)host + 12, 12);
  tensor->deleter(tensor);
  assert_int_equal(tsr_buffer_pool_in_use(tsr_comm_buffers(comm)), 0);
  tsr_layout_release(layout);
  tsr_comm_release(comm);
  free(host);
}

static void padded_parts_go_out_strided(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(2, 1);
  tsr_layout *layout = test_layout_of("x=2", "_, x", "2,5", TSR_POLICY_PAD);
  tsr_array *array = NULL;
  DLManagedTensorVersioned *tensor = NULL;
  assert_ok(tsr_array_zeros(comm, layout, TSR_F32, &array));
  assert_ok(tsr_array_to_dlpack(array, 1, &tensor));
  assert_int_equal(tensor->dl_tensor.shape[1], 2);
  assert_int_equal(tensor->dl_tensor.strides[0], 3);
  tensor->deleter(tensor);
  assert_fails(tsr_array_to_dlpack(array, 2, &tensor), INDEX_OUT_OF_RANGE,
               "local shard 2 of an array that has 2");
  tsr_array_release(array);
  tsr_layout_release(layout);
  tsr_comm_release(comm);
}

// ---- in ----

typedef struct given {
  DLManagedTensorVersioned versioned;
  DLManagedTensor plain;
  int64_t shape[3], strides[3];
  int deleted;
} given;

static void delete_versioned(DLManagedTensorVersioned *self) {
  ++((given *)self->manager_ctx)->deleted;
}
static void delete_plain(DLManagedTensor *self) { ++((given *)self->manager_ctx)->deleted; }

static void give(given *g, void *data, DLDataType type, int rank, const int64_t *shape,
                 const int64_t *strides) {
  *g = (given){0};
  if (rank) memcpy(g->shape, shape, sizeof *shape * (size_t)rank);
  if (strides) memcpy(g->strides, strides, sizeof *strides * (size_t)rank);
  const DLTensor tensor = {.data = data,
                           .device = {kDLCPU, 0},
                           .ndim = rank,
                           .dtype = type,
                           .shape = g->shape,
                           .strides = strides ? g->strides : NULL};
  g->versioned = (DLManagedTensorVersioned){
      .version = {1, 0}, .manager_ctx = g, .deleter = delete_versioned, .dl_tensor = tensor};
  g->plain = (DLManagedTensor){.dl_tensor = tensor, .manager_ctx = g, .deleter = delete_plain};
}

static const DLDataType F32 = {kDLFloat, 32, 1};

static void a_whole_tensor_comes_in_borrowed_or_copied(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(4, 1);
  tsr_layout *rows = test_layout_of("x=4", "x", "4,3", TSR_POLICY_ERROR);
  char *host = test_tensor(TSR_SHAPE(4, 3), TSR_F32, 7);
  const int64_t shape[] = {4, 3};
  for (int way = 0; way < 4; way++) {
    const bool borrow = way & 1;
    given g;
    tsr_array *array = NULL;
    give(&g, host - 8, F32, 2, shape, NULL);
    g.versioned.dl_tensor.byte_offset = g.plain.dl_tensor.byte_offset = 8;
    if (way & 2)
      assert_ok(tsr_array_from_dlpack(comm, rows, &g.versioned, borrow, &array));
    else
      assert_ok(tsr_array_from_dlpack_unversioned(comm, rows, &g.plain, borrow, &array));
    assert_ok(test_array_check(array, 7));
    assert_int_equal(g.deleted, !borrow);
    assert_int_equal(tsr_array_data(array, 0) == (void *)host, borrow);
    tsr_array_release(array);
    assert_int_equal(g.deleted, 1);
  }
  tsr_layout_release(rows);
  tsr_comm_release(comm);
  free(host);
}

static void strides_are_honoured(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(2, 1);
  tsr_layout *layout = test_layout_of("x=2", "x", "2,3", TSR_POLICY_ERROR);
  float columns[6] = {0, 10, 1, 11, 2, 12}, back[6];
  const float wanted[6] = {0, 1, 2, 10, 11, 12};
  given g;
  tsr_array *array = NULL;
  give(&g, columns, F32, 2, (int64_t[]){2, 3}, (int64_t[]){1, 2});
  assert_ok(tsr_array_from_dlpack(comm, layout, &g.versioned, true, &array));
  assert_int_equal(g.deleted, 1);
  assert_ok(tsr_array_gather(array, back, sizeof back, NULL));
  assert_memory_equal(back, wanted, sizeof wanted);
  tsr_array_release(array);
  tsr_layout_release(layout);
  tsr_comm_release(comm);
}

static void every_element_type_goes_out_and_comes_in_again(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(1, 1);
  tsr_layout *layout = test_layout_of("x=1", "x", "8", TSR_POLICY_ERROR);
  for (int t = TSR_DTYPE_NONE + 1; t < TSR_DTYPE_COUNT; t++) {
    tsr_array *array = NULL, *again = NULL;
    DLManagedTensorVersioned *tensor = NULL;
    assert_ok(tsr_array_zeros(comm, layout, (tsr_dtype)t, &array));
    assert_ok(tsr_array_to_dlpack(array, 0, &tensor));
    tsr_array_release(array);
    assert_ok(tsr_array_from_dlpack(comm, layout, tensor, true, &again));
    assert_int_equal(tsr_array_dtype(again), t);
    tsr_array_release(again);
  }
  tsr_layout_release(layout);
  tsr_comm_release(comm);
}

static void what_we_cannot_take_is_refused_and_stays_with_the_caller(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(1, 1);
  tsr_layout *layout = test_layout_of("x=1", "x", "4", TSR_POLICY_ERROR);
  float values[4] = {0};
  given g;
  tsr_array *array = NULL;
  give(&g, values, F32, 1, (int64_t[]){4}, NULL);
  g.versioned.version.major = 2;
  assert_fails(tsr_array_from_dlpack(comm, layout, &g.versioned, true, &array), UNSUPPORTED,
               "a tensor of DLPack 2.0, wanted 1.x");
  g.versioned.version.major = 1;
  g.versioned.flags = DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;
  assert_fails(tsr_array_from_dlpack(comm, layout, &g.versioned, true, &array), UNSUPPORTED,
               "a DLPack tensor of elements narrower than a byte that are not packed");
  g.versioned.flags = 0;
  g.versioned.dl_tensor.device.device_type = kDLCUDA;
  assert_fails(tsr_array_from_dlpack(comm, layout, &g.versioned, true, &array), UNSUPPORTED,
               "a DLPack tensor on a device of type 2, wanted 1 (CPU)");
  g.versioned.dl_tensor.device.device_type = kDLCPU;
  g.versioned.dl_tensor.dtype.lanes = 4;
  assert_fails(tsr_array_from_dlpack(comm, layout, &g.versioned, true, &array), UNSUPPORTED,
               "DLPack's type of code 2 with 32 bits and 4 lanes");
  g.versioned.dl_tensor.dtype = (DLDataType){kDLOpaqueHandle, 64, 1};
  assert_fails(tsr_array_from_dlpack(comm, layout, &g.versioned, true, &array), UNSUPPORTED,
               "DLPack's type of code 3 with 64 bits and 1 lanes");
  g.versioned.dl_tensor.dtype = F32;
  g.shape[0] = 5;
  assert_fails(tsr_array_from_dlpack(comm, layout, &g.versioned, true, &array), SHAPES_DIFFER,
               "the DLPack tensor has shape (5,), the layout has (4,)");
  g.shape[0] = -1;
  assert_fails_with(tsr_array_from_dlpack(comm, layout, &g.versioned, true, &array), BAD_ARGUMENT,
                    "-1");
  assert_int_equal(g.deleted, 0);
  tsr_layout_release(layout);
  tsr_comm_release(comm);
}

SUITE(dlpack, TEST(a_part_goes_out_without_a_copy_and_outlives_its_array),
      TEST(padded_parts_go_out_strided), TEST(a_whole_tensor_comes_in_borrowed_or_copied),
      TEST(strides_are_honoured), TEST(every_element_type_goes_out_and_comes_in_again),
      TEST(what_we_cannot_take_is_refused_and_stays_with_the_caller))
