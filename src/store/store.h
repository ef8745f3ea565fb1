// Where the shards of tensors lie in files: what a checkpoint is, once its format is understood.
//
// A tensor has a layout, and each of its shards lies in one piece, as the layout's buffer,
// somewhere in a file. Formats that keep a file for each rank hold several copies of a shard. A
// store is read by boxes of whole tensors, and written by them; either touches only the bytes of
// the box, and boxes that do not overlap may be read and written by several threads at once.
#ifndef TESSERA_STORE_STORE_H
#define TESSERA_STORE_STORE_H

#include "base/arena.h"
#include "store/files.h"
#include "store/packed_members.h"
#include "tessera/layout.h"
#include "transfer/box_copies.h"

typedef struct tsr_stored_part {
  int32_t file;  // -1 = this copy is not there; -2 = it is, but was told to be wrong
  int64_t offset;
} tsr_stored_part;

// What differs where a whole tensor is not stored as its layout's buffer: NumPy's files have other
// orders, and may be packed.
typedef struct tsr_foreign {
  bool swapped;  // the other byte order
  const tsr_layout
      *transposed;  // owned: with the dimensions reversed, as they are stored; NULL = not
  int64_t packed;   // in the store's set; -1 = plain bytes of the file
} tsr_foreign;

typedef struct tsr_stored_tensor {
  tsr_dtype dtype;
  int32_t copies;            // of each shard; absent ones counted
  const tsr_layout *layout;  // owned
  int64_t first_part;        // of shard 0; then all copies of shard 1, and so on
  tsr_foreign *foreign;      // owned; NULL = nothing differs
} tsr_stored_tensor;

typedef struct tsr_store {
  tsr_arena arena;  // paths
  int file_count, file_capacity;
  const char **paths;   // owned
  int64_t *file_sizes;  // owned
  int64_t count, capacity;
  tsr_stored_tensor *tensors;  // owned
  int64_t part_count, part_capacity;
  tsr_stored_part *parts;        // owned
  tsr_files *files;              // once opened
  tsr_packed_set *packed;        // owned; NULL = nothing is packed
  pthread_mutex_t shared_bytes;  // held while elements smaller than a byte are written
} tsr_store;

TSR_MUST_USE tsr_status tsr_store_create(tsr_store **out_store);
// Closes the files too; says so when what was written turns out to be lost. NULL is fine.
TSR_MUST_USE tsr_status tsr_store_close(tsr_store *store);

// Adding: files by path and size, then tensors, whose parts are all absent at first.
TSR_MUST_USE tsr_status tsr_store_add_file(tsr_store *store, const char *path, int64_t size,
                                           int *out_file);
TSR_MUST_USE tsr_status tsr_store_add_tensor(tsr_store *store, tsr_dtype dtype,
                                             const tsr_layout *layout, int copies,
                                             int64_t *out_tensor);
// Takes over `transposed`, also when it fails.
TSR_MUST_USE tsr_status tsr_store_set_foreign(tsr_store *store, int64_t tensor,
                                              const tsr_foreign *foreign);
tsr_stored_part *tsr_store_part(const tsr_store *store, int64_t tensor, int64_t shard, int copy);
// The copy of a shard that is read: the first that is there, or with `copy` >= 0 that one.
const tsr_stored_part *tsr_store_part_to_read(const tsr_store *store, int64_t tensor, int64_t shard,
                                              int copy);
int64_t tsr_store_part_bytes(const tsr_store *store, int64_t tensor, int64_t shard);
// After the last file is added and before the first byte is read or written.
TSR_MUST_USE tsr_status tsr_store_open(tsr_store *store, bool writable);
// Says so when what was written turns out to be lost. The store is kept, for asking only.
TSR_MUST_USE tsr_status tsr_store_close_files(tsr_store *store);

// Reads a box of a tensor into `out`, dense and row-major. `index` is that of the tensor's layout.
// Of several copies the first that is there is read, or with `copy` >= 0 that one.
TSR_MUST_USE tsr_status tsr_store_read(tsr_store *store, int64_t tensor, const tsr_box_index *index,
                                       const tsr_range *box, int copy, void *out);
// The same for `count` elements of the row-major tensor from `first` on, for any `first`.
TSR_MUST_USE tsr_status tsr_store_read_range(tsr_store *store, int64_t tensor,
                                             const tsr_box_index *index, int64_t first,
                                             int64_t count, int copy, void *out);
// What foreign.c does for tensors that are stored otherwise, and what it does that by: a box of the
// tensor as it is stored, with the index of that layout.
TSR_MUST_USE tsr_status tsr_foreign_read(tsr_store *store, int64_t tensor,
                                         const tsr_box_index *index, const tsr_range *box,
                                         void *out);
TSR_MUST_USE tsr_status tsr_foreign_read_range(tsr_store *store, int64_t tensor,
                                               const tsr_box_index *index, int64_t first,
                                               int64_t count, void *out);
// Bytes of memory that takes besides `out`.
int64_t tsr_foreign_memory(const tsr_store *store, int64_t tensor, int64_t count);
TSR_MUST_USE tsr_status tsr_store_read_raw(tsr_store *store, int64_t tensor,
                                           const tsr_box_index *index, const tsr_range *box,
                                           void *out);
// Writes it, to every shard that holds elements of it and to every copy that is there.
TSR_MUST_USE tsr_status tsr_store_write(tsr_store *store, int64_t tensor,
                                        const tsr_box_index *index, const tsr_range *box,
                                        const void *bytes);
TSR_MUST_USE tsr_status tsr_store_write_range(tsr_store *store, int64_t tensor,
                                              const tsr_box_index *index, int64_t first,
                                              int64_t count, const void *bytes);

// Holds every other stored copy of these elements against `bytes`, what tsr_store_read_range gave
// for them: copies of whole shards, and elements that several shards hold. Fails with
// copies_differ, naming both files, and the element by its place in the tensor.
TSR_MUST_USE tsr_status tsr_store_check_range(tsr_store *store, int64_t tensor,
                                              const tsr_box_index *index, int64_t first,
                                              int64_t count, const void *bytes);
// Bytes that this reads of a tensor; 0 = nothing of it is stored twice.
int64_t tsr_store_copied_bytes(const tsr_store *store, int64_t tensor);

#endif
