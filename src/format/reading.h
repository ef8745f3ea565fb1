// Steps that the readers of several formats share.
#ifndef TESSERA_FORMAT_READING_H
#define TESSERA_FORMAT_READING_H

#include <limits.h>

#include "file/safetensors.h"
#include "store/checkpoint.h"

// ---- folders and files ----

// Calls `fn` for every name in a folder, in any order, until `*out_stop` or a failure.
typedef tsr_status tsr_folder_name_fn(void *context, const char *folder, const char *name,
                                      bool *out_stop);
TSR_MUST_USE tsr_status tsr_reading_each_name(const char *folder, tsr_folder_name_fn *fn,
                                              void *context);

// Paths with numbers, such as the files of ranks.
typedef struct tsr_numbered_path {
  int64_t number;
  char *path;  // owned
} tsr_numbered_path;
typedef struct tsr_numbered_paths {
  tsr_numbered_path *items;  // owned
  int64_t count, capacity;
} tsr_numbered_paths;
TSR_MUST_USE tsr_status tsr_numbered_paths_add(tsr_numbered_paths *list, int64_t number,
                                               const char *path);
void tsr_numbered_paths_sort(tsr_numbered_paths *list);  // by number, then by path
void tsr_numbered_paths_deinit(tsr_numbered_paths *list);

// The path of a file in a folder; fails with too_large.
TSR_MUST_USE tsr_status tsr_reading_join(const char *folder, const char *name, size_t length,
                                         char out[PATH_MAX]);
// Whether a folder has a file with this name, and its path. A path that is too long has none.
TSR_MUST_USE tsr_status tsr_reading_find_file(const char *folder, const char *name,
                                              char path[PATH_MAX], bool *out_found);
// Whether the name of a file in an index stays in the folder of the index.
bool tsr_reading_is_inside(const char *name, size_t length);
// Adds a file with its present size to the store.
TSR_MUST_USE tsr_status tsr_reading_add_file(tsr_checkpoint *checkpoint, const char *path,
                                             int *out_file);

// ---- tensors stored whole ----

// Fails if a plan was given: whole tensors need none.
TSR_MUST_USE tsr_status tsr_reading_refuse_plan(const tsr_checkpoint *checkpoint,
                                                const tsr_checkpoint_options *options);
// Makes the tree of these tensors and adds each to the store. `end` is not read.
TSR_MUST_USE tsr_status tsr_reading_add_whole(tsr_checkpoint *checkpoint,
                                              const tsr_model_tensor *tensors, int64_t count);

// ---- tensors cut by a plan ----

// Adds the tensors of the checkpoint's plan, with one copy of each shard or with all replicas.
TSR_MUST_USE tsr_status tsr_reading_add_planned(tsr_checkpoint *checkpoint, bool replicas);
// Adds the slices of a safetensors file, which belong to one mesh position.
TSR_MUST_USE tsr_status tsr_reading_add_slices(tsr_checkpoint *checkpoint, const char *path,
                                               int64_t position);
// Reports shards that no file holds.
TSR_MUST_USE tsr_status tsr_reading_check_complete(tsr_checkpoint *checkpoint);

#endif
