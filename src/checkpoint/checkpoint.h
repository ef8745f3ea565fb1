// What the files of this room share about checkpoints.
#ifndef TESSERA_CHECKPOINT_CHECKPOINT_H
#define TESSERA_CHECKPOINT_CHECKPOINT_H

#include <stdatomic.h>

#include "base/name_index.h"
#include "checkpoint/store.h"
#include "file/metadata.h"
#include "file/safetensors.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/sharding.h"
#include "tessera/plan.h"
#include "tessera/tree.h"

// Hears what is wrong with a checkpoint and where; `file` and `tensor` may be NULL. Takes the
// failure over and gives NULL, so that reading goes on, or gives one, so that it ends.
typedef tsr_status tsr_complaint_fn(void *context, tsr_fault_kind kind, const char *file,
                                    const char *tensor, tsr_status failure);

struct tsr_checkpoint {
  atomic_int refs;
  tsr_checkpoint_format format;
  char *path;            // owned
  const tsr_tree *tree;  // owned
  const tsr_plan *plan;  // owned; NULL if nothing is cut
  tsr_store *store;      // owned; its tensors are the tree's
  tsr_hash128 *hashes;   // owned: of each tensor, as the manifest has them; NULL without one
  tsr_arena arena;       // metadata, and texts of readers
  tsr_metadata_list metadata;
  tsr_name_index metadata_names, metadata_told;  // all keys; those that were warned of
  tsr_text warnings;
  tsr_complaint_fn *complain;  // NULL = what is wrong ends the reading
  void *complain_context;
  int64_t complaints;  // that were heard
};

// As tsr_checkpoint_open, but tells all that is wrong and goes on where it can. A checkpoint about
// which something was told cannot be read.
TSR_MUST_USE tsr_status tsr_checkpoint_open_telling(const char *path,
                                                    const tsr_checkpoint_options *options,
                                                    tsr_complaint_fn *complain, void *context,
                                                    tsr_checkpoint **out_checkpoint);
// What readers do with a failure after which they can go on; NULL stays NULL.
TSR_MUST_USE tsr_status tsr_checkpoint_complain(tsr_checkpoint *checkpoint, tsr_fault_kind kind,
                                                const char *file, const char *tensor,
                                                tsr_status failure);

// Readers of one format each: fill tree, plan and store of a checkpoint whose path is set.
typedef tsr_status tsr_checkpoint_reader(tsr_checkpoint *checkpoint,
                                         const tsr_checkpoint_options *options);
TSR_MUST_USE tsr_status tsr_checkpoint_read_plain(tsr_checkpoint *checkpoint,
                                                  const tsr_checkpoint_options *options);
TSR_MUST_USE tsr_status tsr_checkpoint_read_ranks(tsr_checkpoint *checkpoint,
                                                  const tsr_checkpoint_options *options);
TSR_MUST_USE tsr_status tsr_checkpoint_read_manifest(tsr_checkpoint *checkpoint,
                                                     const tsr_checkpoint_options *options);
TSR_MUST_USE tsr_status tsr_checkpoint_read_numpy(tsr_checkpoint *checkpoint,
                                                  const tsr_checkpoint_options *options);
TSR_MUST_USE tsr_status tsr_checkpoint_read_stages(tsr_checkpoint *checkpoint,
                                                   const tsr_checkpoint_options *options);
// Which format a folder has: that of a manifest, of files for each rank, of folders for pipeline
// stages, of NumPy's arrays, or else the one that Hugging Face's libraries write.
TSR_MUST_USE tsr_status tsr_checkpoint_folder_format(const char *path,
                                                     tsr_checkpoint_format *out_format);
TSR_MUST_USE tsr_status tsr_checkpoint_has_ranks(const char *folder, bool *out_found);
TSR_MUST_USE tsr_status tsr_checkpoint_has_manifest(const char *folder, bool *out_found);
TSR_MUST_USE tsr_status tsr_checkpoint_has_stages(const char *folder, bool *out_found);

// Calls `fn` for the path of each stage, by number; stops at its first failure.
typedef tsr_status tsr_stage_fn(void *context, const char *path);
TSR_MUST_USE tsr_status tsr_checkpoint_each_stage(const char *folder, tsr_stage_fn *fn,
                                                  void *context);

// The file in a folder of ranks that says how tensors are cut, if it is there.
#define TSR_RANKS_PLAN "tessera-plan.json"

// What readers of slices share: the tensors of a plan (in one copy each, or with all replicas), the
// slices in a file that belong to a mesh position, and a check that no shard is missing.
TSR_MUST_USE tsr_status tsr_checkpoint_take_plan(tsr_checkpoint *checkpoint, const tsr_plan *plan,
                                                 bool replicas);
TSR_MUST_USE tsr_status tsr_checkpoint_take_slices(tsr_checkpoint *checkpoint, const char *path,
                                                   int64_t position);
TSR_MUST_USE tsr_status tsr_checkpoint_check_whole(tsr_checkpoint *checkpoint);

// A tensor that is stored whole at a place of a file; `whole` is tsr_sharding_whole's.
TSR_MUST_USE tsr_status tsr_checkpoint_add_whole(tsr_checkpoint *checkpoint,
                                                 const tsr_sharding *whole, tsr_dtype dtype,
                                                 const tsr_shape *shape, int file, int64_t offset,
                                                 int64_t *out_tensor);

// Of metadata with the same key, the first stays; where another differs, a warning tells.
TSR_MUST_USE tsr_status tsr_checkpoint_add_metadata(tsr_checkpoint *checkpoint,
                                                    const tsr_metadata *item);
// Takes over what a file's header says besides its tensors.
TSR_MUST_USE tsr_status tsr_checkpoint_take_metadata(tsr_checkpoint *checkpoint,
                                                     const tsr_model *model);

// Fails with bad_argument unless the format is one of the list.
TSR_MUST_USE tsr_status tsr_checkpoint_check_format(tsr_checkpoint_format format);
// Fails with index_out_of_range unless the checkpoint has this tensor.
TSR_MUST_USE tsr_status tsr_checkpoint_check_tensor(const tsr_checkpoint *checkpoint,
                                                    int64_t tensor);

// The sharding of tensors that are stored whole: one device, no cut.
TSR_MUST_USE tsr_status tsr_sharding_whole(tsr_sharding **out_sharding);

#endif
