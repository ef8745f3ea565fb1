// The handle of an open checkpoint. Formats fill it, all rooms above read it.
#ifndef TESSERA_STORE_CHECKPOINT_H
#define TESSERA_STORE_CHECKPOINT_H

#include <stdatomic.h>

#include "base/name_index.h"
#include "file/file_metadata.h"
#include "file/safetensors.h"
#include "json/json.h"
#include "store/store.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/sharding.h"
#include "tessera/plan.h"
#include "tessera/tree.h"

// Receives a fault of a checkpoint; `file` and `tensor` may be NULL. Takes over the failure.
// Returns NULL to continue reading, or a failure to stop.
typedef tsr_status tsr_fault_fn(void *context, tsr_fault_kind kind, const char *file,
                                const char *tensor, tsr_status failure);

struct tsr_checkpoint {
  atomic_int refs;
  tsr_checkpoint_format format;
  const char *path;      // in the arena
  const tsr_tree *tree;  // owned
  const tsr_plan *plan;  // owned; NULL if nothing is cut
  tsr_store *store;      // owned; its tensors are the tree's
  tsr_hash128 *hashes;   // owned: stored hash of each tensor; NULL = the format stores none
  tsr_arena arena;       // metadata, and texts of readers
  tsr_metadata_list metadata;
  tsr_name_index metadata_names, metadata_warned;  // all keys; keys with a warning
  tsr_text warnings;
  tsr_fault_fn *report;  // NULL = the first fault is the failure of opening
  void *report_context;
  int64_t fault_count;  // faults reported
};

// An empty checkpoint with one reference.
TSR_MUST_USE tsr_status tsr_checkpoint_create(const char *path, tsr_checkpoint **out_checkpoint);
// Reports a failure after which the reader can continue; NULL stays NULL.
TSR_MUST_USE tsr_status tsr_checkpoint_report(tsr_checkpoint *checkpoint, tsr_fault_kind kind,
                                              const char *file, const char *tensor,
                                              tsr_status failure);

// Keeps the first value of a key. A different second value is a warning.
TSR_MUST_USE tsr_status tsr_checkpoint_add_metadata(tsr_checkpoint *checkpoint,
                                                    const tsr_metadata *item);
// Adds metadata that formats keep as a JSON object, a value of `doc`; NULL adds nothing.
TSR_MUST_USE tsr_status tsr_checkpoint_read_metadata(tsr_checkpoint *checkpoint,
                                                     const tsr_json_doc *doc,
                                                     const tsr_json *value);
// Adds the metadata and warnings of a file's header.
TSR_MUST_USE tsr_status tsr_checkpoint_take_metadata(tsr_checkpoint *checkpoint,
                                                     const tsr_model *model);

// Fails with index_out_of_range unless the checkpoint has this tensor.
TSR_MUST_USE tsr_status tsr_checkpoint_check_tensor(const tsr_checkpoint *checkpoint,
                                                    int64_t tensor);

// The sharding of tensors that are stored whole: one device, no cut.
TSR_MUST_USE tsr_status tsr_sharding_whole(tsr_sharding **out_sharding);

#endif
