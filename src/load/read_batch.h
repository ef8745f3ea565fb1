// Batches: runs of stored elements to be read, from any files to any buffers.
//
// Runs are gathered, sorted by file and offset, and read in the fewest calls (store/runs.h):
// neighbours in a file are read together even for different tensors or devices. Elements that are
// cast, or do not fill whole bytes, pass through a scratch buffer.
#ifndef TESSERA_LOAD_READ_BATCH_H
#define TESSERA_LOAD_READ_BATCH_H

#include <stdbool.h>

#include "store/runs.h"
#include "tessera/dtype.h"

enum { TSR_MOST_READS = 4096 };  // gathered at once

// `length` elements from number `from` of a stored buffer, which begins at `offset` of a file, to
// number `to` of a buffer in memory.
typedef struct tsr_batch_run {
  int file;
  int64_t offset;
  tsr_dtype stored, dtype;
  int64_t from, to, length;
  char *data;
  const char *name;  // of the tensor; outlives the batch
} tsr_batch_run;

typedef struct tsr_batch {
  tsr_runs runs;
  int64_t bytes_wanted;  // so far
  int64_t scratch_bytes, scratch_used;
  char *scratch;  // owned; NULL until needed
  int count, conversion_count;
  bool allow_overflow;                       // of casts: count, do not fail
  int64_t overflows;                         // so far
  struct tsr_batch_read *reads;              // owned
  struct tsr_batch_conversion *conversions;  // owned; NULL until needed
} tsr_batch;

// Bytes of a batch without its scratch buffer.
int64_t tsr_batch_memory(void);
// Call after setting `runs.files` and `scratch_bytes` (at least 1024). Deinit also after a failure.
TSR_MUST_USE tsr_status tsr_batch_init(tsr_batch *batch);
// Reads what was gathered unless there is room for `runs` more.
TSR_MUST_USE tsr_status tsr_batch_make_room(tsr_batch *batch, int64_t runs);
// May read what was gathered, to make room.
TSR_MUST_USE tsr_status tsr_batch_add(tsr_batch *batch, const tsr_batch_run *run);
// Reads all that was gathered; buffers are filled afterwards only.
TSR_MUST_USE tsr_status tsr_batch_drain(tsr_batch *batch);
void tsr_batch_deinit(tsr_batch *batch);

#endif
