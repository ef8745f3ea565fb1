// What is read of a source, compared with the hashes that it carries.
//
// A hash is of a whole tensor, made of those of its blocks. Blocks are hashed as they are read, in
// any order, by any thread and for any purpose. When the last block of a tensor has been seen, its
// hash is known, and one that differs fails that read. So a damaged source is noticed in the pass
// that reads it. Tensors that are read in other pieces, as transposes of large ones are, or only
// partly, are not checked: they are counted.
#ifndef TESSERA_VIEW_SOURCE_HASHES_H
#define TESSERA_VIEW_SOURCE_HASHES_H

#include <stdbool.h>

#include "tessera/api.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/status.h"

typedef struct tsr_source_hashes tsr_source_hashes;

// NULL for a source that carries none. The source must outlive it.
TSR_MUST_USE tsr_status tsr_source_hashes_create(const tsr_checkpoint *source,
                                                 tsr_source_hashes **out_hashes);
void tsr_source_hashes_destroy(tsr_source_hashes *hashes);  // NULL is fine
// Bytes that it takes, and that its lines in a journal take until they are written.
int64_t tsr_source_hashes_memory(const tsr_checkpoint *source);

// Elements of a tensor in its row-major order as they were read, bits after the last one zero.
// Fails with source_damaged. From any thread.
TSR_MUST_USE tsr_status tsr_source_hashes_add(tsr_source_hashes *hashes, int64_t tensor,
                                              int64_t first, int64_t count, const void *bytes);
tsr_dtype tsr_source_hashes_dtype(const tsr_source_hashes *hashes, int64_t tensor);
// The hash of a block of a tensor, if it has been seen.
bool tsr_source_hashes_block(const tsr_source_hashes *hashes, int64_t tensor, int64_t block,
                             tsr_hash128 *out_hash);

// Blocks that were seen since this was last asked, one by one: for a journal. False = no more.
bool tsr_source_hashes_next(tsr_source_hashes *hashes, int64_t *out_block, tsr_hash128 *out_hash);
// A block that a job before this one has seen. What is no block of the source is ignored.
TSR_MUST_USE tsr_status tsr_source_hashes_restore(tsr_source_hashes *hashes, int64_t block,
                                                  tsr_hash128 hash);
// Forgets all.
void tsr_source_hashes_clear(tsr_source_hashes *hashes);

// Tensors that were read: whole and in order, hence compared; and in another way.
typedef struct tsr_source_checked {
  int64_t checked, unchecked;
} tsr_source_checked;
tsr_source_checked tsr_source_hashes_count(const tsr_source_hashes *hashes);

#endif
