// The tables of a store grow by one file, tensor or shard at a time. The places of all copies of
// all shards of a tensor follow each other, so that finding one is arithmetic.
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "layout/layout_internal.h"
#include "tessera/engine/layout.h"

tsr_status tsr_store_create(tsr_store **out_store) {
  tsr_store *store = calloc(1, sizeof *store);
  if (!store || pthread_mutex_init(&store->shared_bytes, NULL)) {
    free(store);
    return tsr_fail(NO_MEMORY, "a store");
  }
  *out_store = store;
  return NULL;
}

tsr_status tsr_store_close_files(tsr_store *store) {
  tsr_files *files = store->files;
  store->files = NULL;
  return tsr_files_close(files);
}

tsr_status tsr_store_close(tsr_store *store) {
  if (!store) return NULL;
  tsr_status status = tsr_store_close_files(store);
  for (int64_t i = 0; i < store->count; i++) {
    tsr_layout_release(store->tensors[i].layout);
    if (store->tensors[i].foreign) tsr_layout_release(store->tensors[i].foreign->transposed);
    free(store->tensors[i].foreign);
  }
  tsr_packed_set_destroy(store->packed);
  pthread_mutex_destroy(&store->shared_bytes);
  free(store->paths);
  free(store->file_sizes);
  free(store->tensors);
  free(store->places);
  tsr_arena_deinit(&store->arena);
  free(store);
  return status;
}

// ---- adding ----

tsr_status tsr_store_add_file(tsr_store *store, const char *path, int64_t size, int *out_file) {
  const char **paths =
      tsr_grow(store->paths, store->file_count, &store->path_capacity, sizeof *paths);
  if (paths) store->paths = paths;
  int64_t *sizes =
      tsr_grow(store->file_sizes, store->file_count, &store->size_capacity, sizeof *sizes);
  if (sizes) store->file_sizes = sizes;
  const char *copy = tsr_arena_copy(&store->arena, path, strlen(path));
  if (!paths || !sizes || !copy) return tsr_fail(NO_MEMORY, "a list of files");
  store->paths[store->file_count] = copy;
  store->file_sizes[store->file_count] = size;
  *out_file = store->file_count++;
  return NULL;
}

static tsr_status add_places(tsr_store *store, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    tsr_shard_place *places =
        tsr_grow(store->places, store->place_count, &store->place_capacity, sizeof *places);
    if (!places) return tsr_fail(NO_MEMORY, "places of %lld shards", (long long)count);
    store->places = places;
    places[store->place_count++] = (tsr_shard_place){.file = -1};
  }
  return NULL;
}

tsr_status tsr_store_add_tensor(tsr_store *store, tsr_dtype dtype, const tsr_layout *layout,
                                int copies, int64_t *out_tensor) {
  void *tensors = tsr_grow(store->tensors, store->count, &store->capacity, sizeof *store->tensors);
  int64_t places = 0;
  if (!tensors) return tsr_fail(NO_MEMORY, "a list of tensors");
  store->tensors = tensors;
  if (__builtin_mul_overflow(tsr_layout_shard_count(layout), copies, &places) || places > 1 << 30)
    return tsr_fail(TOO_LARGE, "a tensor of %lld shards in %d copies",
                    (long long)tsr_layout_shard_count(layout), copies);
  const int64_t first = store->place_count;
  TSR_TRY(add_places(store, places));
  store->tensors[store->count] = (tsr_stored_tensor){
      .dtype = dtype, .copies = copies, .layout = tsr_layout_retain(layout), .first_place = first};
  *out_tensor = store->count++;
  return NULL;
}

tsr_status tsr_store_set_foreign(tsr_store *store, int64_t tensor, const tsr_foreign *foreign) {
  tsr_foreign *copy = malloc(sizeof *copy);
  if (!copy) {
    tsr_layout_release(foreign->transposed);
    return tsr_fail(NO_MEMORY, "a list of tensors");
  }
  *copy = *foreign;
  store->tensors[tensor].foreign = copy;
  return NULL;
}

tsr_shard_place *tsr_store_place(const tsr_store *store, int64_t tensor, int64_t shard, int copy) {
  const tsr_stored_tensor *t = &store->tensors[tensor];
  return &store->places[t->first_place + shard * t->copies + copy];
}

const tsr_shard_place *tsr_store_place_to_read(const tsr_store *store, int64_t tensor,
                                               int64_t shard, int copy) {
  const int copies = store->tensors[tensor].copies;
  if (copy >= 0) return tsr_store_place(store, tensor, shard, copy);
  const tsr_shard_place *place = NULL;
  for (int c = 0; c < copies; c++) {
    place = tsr_store_place(store, tensor, shard, c);
    if (place->file >= 0) break;
  }
  return place;
}

int64_t tsr_store_shard_bytes(const tsr_store *store, int64_t tensor, int64_t shard) {
  const tsr_stored_tensor *t = &store->tensors[tensor];
  const int64_t bits = tsr_dtype_info_of(t->dtype)->bits;
  return (tsr_layout_buffer_elements(t->layout, shard) * bits + 7) / 8;
}

int64_t tsr_store_copied_bytes(const tsr_store *store, int64_t tensor) {
  const tsr_stored_tensor *t = &store->tensors[tensor];
  const tsr_shape shape = tsr_layout_shape(t->layout);
  int64_t stored = 0, elements = 1;
  for (int d = 0; d < shape.rank; d++) elements *= shape.dims[d];
  for (int64_t shard = 0; shard < tsr_layout_shard_count(t->layout); shard++)
    for (int copy = 0; copy < t->copies; copy++)
      if (tsr_store_place(store, tensor, shard, copy)->file >= 0)
        stored += tsr_layout_shard_elements(t->layout, shard);
  return ((stored - elements) * tsr_dtype_info_of(t->dtype)->bits + 7) / 8;
}

tsr_status tsr_store_open(tsr_store *store, bool writable) {
  return tsr_files_create(store->paths, store->file_count, writable, &store->files);
}
