// What other rooms use of tessera/checkpoint.h beside what is public.
#ifndef TESSERA_CHECKPOINT_CHECKPOINT_INTERNAL_H
#define TESSERA_CHECKPOINT_CHECKPOINT_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/status.h"

// How tensors are stored: id, the word users write.
TSR_MUST_USE tsr_status tsr_checkpoint_format_parse(const char *name,
                                                    tsr_checkpoint_format *out_format);

const char *tsr_checkpoint_path(const tsr_checkpoint *checkpoint);
// The whole tensors, in the order of the files, or of the plan. Those of pipeline stages are called
// stage0.x, stage1.x and so on, since stages number their layers anew: a map makes them one model.
int64_t tsr_checkpoint_file_count(const tsr_checkpoint *checkpoint);
const char *tsr_checkpoint_file_at(const tsr_checkpoint *checkpoint, int64_t file);
int64_t tsr_checkpoint_file_bytes(const tsr_checkpoint *checkpoint, int64_t file);

// Where one stored copy of a shard lies: bytes [offset, offset + bytes) of a file. Formats with
// files for each rank have as many copies as the layout has replicas (of which some may be absent:
// false), others have one. False also where the bytes there are not the shard's, because they are
// packed or in another order.
int64_t tsr_checkpoint_copies(const tsr_checkpoint *checkpoint, int64_t tensor);

// The hash that was stored with it; false for formats that store none. Whether it still holds is
// for tsr_checkpoint_hash to say.
bool tsr_checkpoint_known_hash(const tsr_checkpoint *checkpoint, int64_t tensor,
                               tsr_hash128 *out_hash);

#endif
