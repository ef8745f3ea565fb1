#include "store/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/io.h"
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
  free(store->parts);
  tsr_arena_deinit(&store->arena);
  free(store);
  return status;
}

// ---- adding ----

tsr_status tsr_store_add_file(tsr_store *store, const char *path, int64_t size, int *out_file) {
  if (store->file_count == store->file_capacity) {
    const int capacity = store->file_capacity ? 2 * store->file_capacity : 16;
    const char **paths = realloc(store->paths, sizeof *paths * (size_t)capacity);
    if (paths) store->paths = paths;
    int64_t *sizes = paths ? realloc(store->file_sizes, sizeof *sizes * (size_t)capacity) : NULL;
    if (!sizes) return tsr_fail(NO_MEMORY, "a list of %d files", capacity);
    store->file_sizes = sizes;
    store->file_capacity = capacity;
  }
  const char *copy = tsr_arena_copy(&store->arena, path, strlen(path));
  if (!copy) return tsr_fail(NO_MEMORY, "the path of a file");
  store->paths[store->file_count] = copy;
  store->file_sizes[store->file_count] = size;
  *out_file = store->file_count++;
  return NULL;
}

static tsr_status add_parts(tsr_store *store, int64_t count) {
  while (store->part_capacity - store->part_count < count) {
    const int64_t capacity = store->part_capacity ? 2 * store->part_capacity : 64;
    tsr_stored_part *parts = realloc(store->parts, sizeof *parts * (size_t)capacity);
    if (!parts) return tsr_fail(NO_MEMORY, "a list of %lld parts", (long long)capacity);
    store->parts = parts;
    store->part_capacity = capacity;
  }
  for (int64_t i = 0; i < count; i++)
    store->parts[store->part_count++] = (tsr_stored_part){.file = -1};
  return NULL;
}

tsr_status tsr_store_add_tensor(tsr_store *store, tsr_dtype dtype, const tsr_layout *layout,
                                int copies, int64_t *out_tensor) {
  void *tensors = tsr_grow(store->tensors, store->count, &store->capacity, sizeof *store->tensors);
  int64_t parts = 0;
  if (!tensors) return tsr_fail(NO_MEMORY, "a list of tensors");
  store->tensors = tensors;
  if (__builtin_mul_overflow(tsr_layout_shard_count(layout), copies, &parts) || parts > 1 << 30)
    return tsr_fail(TOO_LARGE, "a tensor of %lld shards in %d copies",
                    (long long)tsr_layout_shard_count(layout), copies);
  const int64_t first = store->part_count;
  TSR_TRY(add_parts(store, parts));
  store->tensors[store->count] = (tsr_stored_tensor){
      .dtype = dtype, .copies = copies, .layout = tsr_layout_retain(layout), .first_part = first};
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

tsr_stored_part *tsr_store_part(const tsr_store *store, int64_t tensor, int64_t shard, int copy) {
  const tsr_stored_tensor *t = &store->tensors[tensor];
  return &store->parts[t->first_part + shard * t->copies + copy];
}

const tsr_stored_part *tsr_store_part_to_read(const tsr_store *store, int64_t tensor, int64_t shard,
                                              int copy) {
  const int copies = store->tensors[tensor].copies;
  if (copy >= 0) return tsr_store_part(store, tensor, shard, copy);
  const tsr_stored_part *part = NULL;
  for (int c = 0; c < copies; c++) {
    part = tsr_store_part(store, tensor, shard, c);
    if (part->file >= 0) break;
  }
  return part;
}

int64_t tsr_store_part_bytes(const tsr_store *store, int64_t tensor, int64_t shard) {
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
      if (tsr_store_part(store, tensor, shard, copy)->file >= 0)
        stored += tsr_layout_shard_elements(t->layout, shard);
  return ((stored - elements) * tsr_dtype_info_of(t->dtype)->bits + 7) / 8;
}

tsr_status tsr_store_open(tsr_store *store, bool writable) {
  return tsr_files_create(store->paths, store->file_count, writable, &store->files);
}
