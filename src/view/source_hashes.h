// Compares what a job reads with the hashes stored in its source, without a second pass.
//
// The hash of a tensor is made of the hashes of its blocks. Blocks are hashed as they are read, in
// any order and by any thread. The read of the last block completes the hash, and fails if it
// differs. Tensors that are not read in whole blocks (transposes) or not completely are counted.
#ifndef TESSERA_VIEW_SOURCE_HASHES_H
#define TESSERA_VIEW_SOURCE_HASHES_H

#include <stdbool.h>

#include "tessera/api.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/status.h"

typedef struct tsr_source_hashes tsr_source_hashes;

// Gives NULL for a source without hashes. The source must outlive it.
TSR_MUST_USE tsr_status tsr_source_hashes_create(const tsr_checkpoint *source,
                                                 tsr_source_hashes **out_hashes);
void tsr_source_hashes_destroy(tsr_source_hashes *hashes);  // NULL is fine
// Bytes that it takes, with its lines in a journal until they are written.
int64_t tsr_source_hashes_memory(const tsr_checkpoint *source);

// Adds elements in row-major order, bits after the last one zero. Fails with source_damaged. From
// any thread.
TSR_MUST_USE tsr_status tsr_source_hashes_add(tsr_source_hashes *hashes, int64_t tensor,
                                              int64_t first, int64_t count, const void *bytes);
tsr_dtype tsr_source_hashes_dtype(const tsr_source_hashes *hashes, int64_t tensor);
// The hash of a block, if it was read.
bool tsr_source_hashes_block(const tsr_source_hashes *hashes, int64_t tensor, int64_t block,
                             tsr_hash128 *out_hash);

// Takes one of the blocks that were read and not taken yet, for a journal. False = no more.
bool tsr_source_hashes_next(tsr_source_hashes *hashes, int64_t *out_block, tsr_hash128 *out_hash);
// A block that an earlier job has read. Block numbers out of range are ignored.
TSR_MUST_USE tsr_status tsr_source_hashes_restore(tsr_source_hashes *hashes, int64_t block,
                                                  tsr_hash128 hash);
// Back to the start.
void tsr_source_hashes_clear(tsr_source_hashes *hashes);

// Tensors that were read: those that were compared, and those that could not be.
typedef struct tsr_source_checked {
  int64_t checked, unchecked;
} tsr_source_checked;
tsr_source_checked tsr_source_hashes_count(const tsr_source_hashes *hashes);

#endif
