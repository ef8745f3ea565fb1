// NumPy's arrays are tensors stored whole. An array in the other byte order, in Fortran order or
// deflated is a foreign tensor of the store (store/foreign.c). NumPy's headers do not record the
// dtypes of ml_dtypes; the dtype then comes from our own record, the caller or a default.
#include "format/numpy_arrays.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/text_internal.h"
#include "format/reading.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"

// The dtype recorded beside the array, the fallback of the caller, or bf16 for two bytes: it is by
// far the most common dtype that NumPy does not know.
static tsr_status recall_dtype(tsr_numpy_arrays *list, const char *name, tsr_dtype noted,
                               tsr_npy *npy) {
  const int bits = 8 * npy->width;
  const tsr_dtype given = list->options->fallback_dtype;
  if (npy->dtype) return NULL;
  if (noted) return tsr_npy_set_dtype(npy, noted);
  if (given && tsr_dtype_info_of(given)->bits == bits) return tsr_npy_set_dtype(npy, given);
  if (npy->width != 2)
    return tsr_fail(NO_DTYPE, "array \"%s\" has elements of %d bits and records no dtype", name,
                    bits);
  tsr_text_addf(&list->checkpoint->warnings,
                "array \"%s\" has elements of 16 bits and records no dtype: read as bf16\n", name);
  return tsr_npy_set_dtype(npy, TSR_BF16);
}

tsr_status tsr_numpy_arrays_add(tsr_numpy_arrays *list, const char *name, size_t name_length,
                                tsr_dtype noted, const tsr_numpy_array *found) {
  tsr_numpy_array *items = tsr_grow(list->items, list->count, &list->capacity, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "a list of arrays");
  list->items = items;
  tsr_numpy_array *item = &items[list->count];
  *item = *found;
  item->name = tsr_arena_copy(&list->checkpoint->arena, name, name_length);
  if (!item->name) return tsr_fail(NO_MEMORY, "the name of an array");
  TSR_TRY(recall_dtype(list, item->name, noted, &item->npy));
  list->count++;
  return NULL;
}

static tsr_status add_packed(tsr_store *store, const tsr_zip_member *member, int64_t *out_item) {
  const tsr_packed stream = tsr_zip_packed(member);
  if (!store->packed) TSR_TRY(tsr_packed_set_create(&store->packed));
  return tsr_packed_set_add(store->packed, &stream, out_item);
}

static tsr_status add_foreign(tsr_store *store, const tsr_sharding *whole, int64_t tensor,
                              const tsr_numpy_array *item) {
  const tsr_npy *npy = &item->npy;
  tsr_foreign foreign = {.swapped = npy->swapped, .packed = -1};
  tsr_layout *transposed = NULL;
  if (item->member && item->member->deflated)
    TSR_TRY(add_packed(store, item->member, &foreign.packed));
  if (npy->fortran && npy->shape.rank > 1) {
    tsr_shape reversed = {.rank = npy->shape.rank};
    for (int d = 0; d < reversed.rank; d++)
      reversed.dims[d] = npy->shape.dims[reversed.rank - 1 - d];
    TSR_TRY(tsr_layout_create(whole, &reversed, TSR_POLICY_ERROR, &transposed));
    foreign.transposed = transposed;
  }
  if (!foreign.swapped && !foreign.transposed && foreign.packed < 0) return NULL;
  return tsr_store_set_foreign(store, tensor, &foreign);
}

static tsr_status add_all_foreign(const tsr_numpy_arrays *list) {
  tsr_sharding *whole = NULL;
  tsr_status status = tsr_sharding_whole(&whole);
  for (int64_t i = 0; i < list->count && !status; i++)
    status = add_foreign(list->checkpoint->store, whole, i, &list->items[i]);
  tsr_sharding_release(whole);
  return status;
}

tsr_status tsr_numpy_arrays_finish(const tsr_numpy_arrays *list) {
  tsr_model_tensor *tensors = calloc((size_t)list->count + 1, sizeof *tensors);
  if (!tensors) return tsr_fail(NO_MEMORY, "a list of %lld tensors", (long long)list->count);
  for (int64_t i = 0; i < list->count; i++) {
    const tsr_numpy_array *item = &list->items[i];
    tensors[i] =
        (tsr_model_tensor){.tensor = tsr_tensor_of(item->name, item->npy.dtype, &item->npy.shape),
                           .begin = item->npy.begin,
                           .file = item->file};
  }
  tsr_status status = tsr_reading_add_whole(list->checkpoint, tensors, list->count);
  free(tensors);
  return status ? status : add_all_foreign(list);
}
