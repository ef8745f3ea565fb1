// The handle of an open checkpoint, which formats fill and everything above reads.
#ifndef TESSERA_STORE_CHECKPOINT_H
#define TESSERA_STORE_CHECKPOINT_H

#include <stdatomic.h>

#include "base/name_index.h"
#include "file/file_metadata.h"
#include "file/safetensors.h"
#include "store/store.h"
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

// A checkpoint of nothing yet, with one reference.
TSR_MUST_USE tsr_status tsr_checkpoint_create(const char *path, tsr_checkpoint **out_checkpoint);
// What readers do with a failure after which they can go on; NULL stays NULL.
TSR_MUST_USE tsr_status tsr_checkpoint_complain(tsr_checkpoint *checkpoint, tsr_fault_kind kind,
                                                const char *file, const char *tensor,
                                                tsr_status failure);

// Of metadata with the same key, the first stays; where another differs, a warning tells.
TSR_MUST_USE tsr_status tsr_checkpoint_add_metadata(tsr_checkpoint *checkpoint,
                                                    const tsr_metadata *item);
// Takes over what a file's header says besides its tensors.
TSR_MUST_USE tsr_status tsr_checkpoint_take_metadata(tsr_checkpoint *checkpoint,
                                                     const tsr_model *model);

// Fails with index_out_of_range unless the checkpoint has this tensor.
TSR_MUST_USE tsr_status tsr_checkpoint_check_tensor(const tsr_checkpoint *checkpoint,
                                                    int64_t tensor);

// The sharding of tensors that are stored whole: one device, no cut.
TSR_MUST_USE tsr_status tsr_sharding_whole(tsr_sharding **out_sharding);

#endif
