// Questions to an open checkpoint that are not public.
#ifndef TESSERA_STORE_CHECKPOINT_INTERNAL_H
#define TESSERA_STORE_CHECKPOINT_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/status.h"

// The format of a name; fails with bad_argument and lists the known names.
TSR_MUST_USE tsr_status tsr_checkpoint_format_parse(const char *name,
                                                    tsr_checkpoint_format *out_format);

const char *tsr_checkpoint_path(const tsr_checkpoint *checkpoint);
// The files that hold tensors: their paths and sizes.
int64_t tsr_checkpoint_file_count(const tsr_checkpoint *checkpoint);
const char *tsr_checkpoint_file_at(const tsr_checkpoint *checkpoint, int64_t file);
int64_t tsr_checkpoint_file_bytes(const tsr_checkpoint *checkpoint, int64_t file);

// The largest number of stored copies of a shard: the replicas of the layout in formats with files
// for each rank, 1 in others. tsr_checkpoint_find finds them.
int64_t tsr_checkpoint_copies(const tsr_checkpoint *checkpoint, int64_t tensor);

// The hash stored with a tensor, which may be out of date; false for formats that store none.
bool tsr_checkpoint_known_hash(const tsr_checkpoint *checkpoint, int64_t tensor,
                               tsr_hash128 *out_hash);

#endif
