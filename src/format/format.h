// What the formats share: detecting, opening, and the helpers of their readers.
#ifndef TESSERA_FORMAT_FORMAT_H
#define TESSERA_FORMAT_FORMAT_H

#include "store/checkpoint.h"
#include "tessera/checkpoint/open.h"

// As tsr_checkpoint_open, but tells all that is wrong and goes on where it can. A checkpoint about
// which something was told cannot be read.
TSR_MUST_USE tsr_status tsr_checkpoint_open_telling(const char *path,
                                                    const tsr_checkpoint_options *options,
                                                    tsr_complaint_fn *complain, void *context,
                                                    tsr_checkpoint **out_checkpoint);
// Fails with bad_argument unless the format is one of the list.
TSR_MUST_USE tsr_status tsr_checkpoint_check_format(tsr_checkpoint_format format);
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

#endif
