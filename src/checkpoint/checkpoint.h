// What the files of this room share about checkpoints.
#ifndef TESSERA_CHECKPOINT_CHECKPOINT_H
#define TESSERA_CHECKPOINT_CHECKPOINT_H

#include <stdatomic.h>

#include "checkpoint/store.h"
#include "tessera/checkpoint.h"

struct tsr_checkpoint {
  atomic_int refs;
  tsr_checkpoint_format format;
  char *path;            // owned
  const tsr_tree *tree;  // owned
  const tsr_plan *plan;  // owned; NULL if nothing is cut
  tsr_store *store;      // owned; its tensors are the tree's
  tsr_arena arena;       // metadata
  int metadata_count, metadata_capacity;
  tsr_metadata *metadata;  // owned
  tsr_text warnings;
};

// Readers of one format each: fill tree, plan and store of a checkpoint whose path is set.
typedef tsr_status tsr_checkpoint_reader(tsr_checkpoint *checkpoint,
                                         const tsr_checkpoint_options *options);
TSR_MUST_USE tsr_status tsr_checkpoint_read_plain(tsr_checkpoint *checkpoint,
                                                  const tsr_checkpoint_options *options);
TSR_MUST_USE tsr_status tsr_checkpoint_read_ranks(tsr_checkpoint *checkpoint,
                                                  const tsr_checkpoint_options *options);
// Whether a folder has files for each rank.
bool tsr_checkpoint_has_ranks(const char *folder);

// Takes over what a file's header says besides its tensors.
TSR_MUST_USE tsr_status tsr_checkpoint_take_metadata(tsr_checkpoint *checkpoint,
                                                     const tsr_model *model);

// The sharding of tensors that are stored whole: one device, no cut.
TSR_MUST_USE tsr_status tsr_sharding_whole(tsr_sharding **out_sharding);

#endif
