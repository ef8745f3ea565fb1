// Store: where the shards of tensors are in files, whatever the format.
//
// A tensor has a layout. Each of its shards is contiguous in a file, as the buffer of the layout.
// Formats with a file for each rank hold several copies of a shard. A store is read and written by
// boxes of whole tensors. Only the bytes of the box are touched, so several threads may work on
// boxes that do not overlap.
#ifndef TESSERA_STORE_STORE_H
#define TESSERA_STORE_STORE_H

#include "base/arena.h"
#include "store/files.h"
#include "store/packed_members.h"
#include "tessera/layout.h"
#include "transfer/box_copies.h"

typedef struct tsr_shard_place {
  int32_t file;  // -1 = this copy is absent; -2 = present but reported damaged
  int64_t offset;
} tsr_shard_place;

// A whole tensor stored in another way than the buffer of its layout, as NumPy's files may be.
typedef struct tsr_foreign {
  bool swapped;                  // the other byte order
  const tsr_layout *transposed;  // owned: the layout with dimensions reversed; NULL = row-major
  int64_t packed;                // item of the store's packed set; -1 = plain bytes
} tsr_foreign;

typedef struct tsr_stored_tensor {
  tsr_dtype dtype;
  int32_t copies;            // of each shard, absent ones included
  const tsr_layout *layout;  // owned
  int64_t first_place;       // of shard 0; then all copies of shard 1, and so on
  tsr_foreign *foreign;      // owned; NULL = stored as the buffer of its layout
} tsr_stored_tensor;

typedef struct tsr_store {
  tsr_arena arena;  // paths
  int file_count;
  int64_t path_capacity, size_capacity;
  const char **paths;   // owned
  int64_t *file_sizes;  // owned
  int64_t count, capacity;
  tsr_stored_tensor *tensors;  // owned
  int64_t place_count, place_capacity;
  tsr_shard_place *places;       // owned
  tsr_files *files;              // once opened
  tsr_packed_set *packed;        // owned; NULL = no tensor is packed
  pthread_mutex_t shared_bytes;  // held while elements smaller than a byte are written
} tsr_store;

TSR_MUST_USE tsr_status tsr_store_create(tsr_store **out_store);
// Closes the files too; fails if written bytes are lost. NULL is fine.
TSR_MUST_USE tsr_status tsr_store_close(tsr_store *store);

// Adds a file, or a tensor whose shards are all absent at first.
TSR_MUST_USE tsr_status tsr_store_add_file(tsr_store *store, const char *path, int64_t size,
                                           int *out_file);
TSR_MUST_USE tsr_status tsr_store_add_tensor(tsr_store *store, tsr_dtype dtype,
                                             const tsr_layout *layout, int copies,
                                             int64_t *out_tensor);
// Takes over `transposed`, also on failure.
TSR_MUST_USE tsr_status tsr_store_set_foreign(tsr_store *store, int64_t tensor,
                                              const tsr_foreign *foreign);
tsr_shard_place *tsr_store_place(const tsr_store *store, int64_t tensor, int64_t shard, int copy);
// The copy of a shard to read: number `copy`, or the first present one if `copy` is negative.
const tsr_shard_place *tsr_store_place_to_read(const tsr_store *store, int64_t tensor,
                                               int64_t shard, int copy);
int64_t tsr_store_shard_bytes(const tsr_store *store, int64_t tensor, int64_t shard);
// Call it after the last file is added and before the first byte is read or written.
TSR_MUST_USE tsr_status tsr_store_open(tsr_store *store, bool writable);
// Fails if written bytes are lost. The tables of the store stay.
TSR_MUST_USE tsr_status tsr_store_close_files(tsr_store *store);

// Reads a box of a tensor into `out`, dense and row-major. `index` is the box index of the tensor's
// layout. `copy` is as in tsr_store_place_to_read.
TSR_MUST_USE tsr_status tsr_store_read(tsr_store *store, int64_t tensor, const tsr_box_index *index,
                                       const tsr_range *box, int copy, void *out);
// The same for `count` elements of the row-major tensor from `first` on, for any `first`.
TSR_MUST_USE tsr_status tsr_store_read_range(tsr_store *store, int64_t tensor,
                                             const tsr_box_index *index, int64_t first,
                                             int64_t count, int copy, void *out);
// The same for foreign tensors (foreign.c). tsr_store_read_raw reads a box of stored bytes.
TSR_MUST_USE tsr_status tsr_foreign_read(tsr_store *store, int64_t tensor,
                                         const tsr_box_index *index, const tsr_range *box,
                                         void *out);
TSR_MUST_USE tsr_status tsr_foreign_read_range(tsr_store *store, int64_t tensor,
                                               const tsr_box_index *index, int64_t first,
                                               int64_t count, void *out);
// Bytes of memory that reading a tensor takes besides `out`.
int64_t tsr_foreign_memory(const tsr_store *store, int64_t tensor, int64_t count);
TSR_MUST_USE tsr_status tsr_store_read_raw(tsr_store *store, int64_t tensor,
                                           const tsr_box_index *index, const tsr_range *box,
                                           void *out);
// Writes a box to every shard that holds elements of it, in every copy that is present.
TSR_MUST_USE tsr_status tsr_store_write(tsr_store *store, int64_t tensor,
                                        const tsr_box_index *index, const tsr_range *box,
                                        const void *bytes);
TSR_MUST_USE tsr_status tsr_store_write_range(tsr_store *store, int64_t tensor,
                                              const tsr_box_index *index, int64_t first,
                                              int64_t count, const void *bytes);

// Compares every other stored copy of these elements with `bytes`, the result of
// tsr_store_read_range. Fails with copies_differ and names both files and the element.
TSR_MUST_USE tsr_status tsr_store_check_range(tsr_store *store, int64_t tensor,
                                              const tsr_box_index *index, int64_t first,
                                              int64_t count, const void *bytes);
// Bytes that tsr_store_check_range reads of a tensor; 0 = nothing of it is stored twice.
int64_t tsr_store_copied_bytes(const tsr_store *store, int64_t tensor);

#endif
