// The destination of a transform: its files, and where in them each shard goes.
#ifndef TESSERA_FORMAT_TARGET_H
#define TESSERA_FORMAT_TARGET_H

#include "store/store.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/plan.h"
#include "view/view.h"

struct tsr_format_ops;

// One file of the destination.
typedef struct tsr_target_file {
  char *name;            // owned
  int64_t position;      // on the mesh, of files with slices; -1 = tensors are whole
  char *header;          // owned: the first bytes of the file; NULL = written at the end
  int64_t header_bytes;  // of the header
  int64_t size;          // of the whole file
  int64_t *begins;       // owned: offset of each shard of its bin
} tsr_target_file;

typedef struct tsr_target {
  const struct tsr_format_ops *format;
  tsr_plan *plan;    // owned: for exactly the tensors written; NULL if they are whole
  tsr_store *store;  // owned; tensor i is view i. Its paths are set by tsr_target_open
  int file_count;
  tsr_target_file *files;  // owned
  void *state;             // owned: whatever else the format keeps
  int64_t state_bytes;
  const char *index_name;  // of the file written last; NULL = none
  tsr_text index;
  int64_t index_bytes;  // known before the index is, if that needs digests
} tsr_target;

typedef struct tsr_target_options {
  tsr_checkpoint_format format;
  const tsr_plan *plan;
  int64_t max_file_size;
  int64_t metadata_count;
  const tsr_metadata *metadata;
} tsr_target_options;

TSR_MUST_USE tsr_status tsr_target_create(const tsr_views *views, const tsr_target_options *options,
                                          tsr_target **out_target);
// Fails if written bytes are lost. NULL is fine.
TSR_MUST_USE tsr_status tsr_target_close(tsr_target *target);
// Opens the files below `folder` for writing.
TSR_MUST_USE tsr_status tsr_target_open(tsr_target *target, const char *folder);
// Bytes of all files and of the index.
int64_t tsr_target_bytes(const tsr_target *target);
// What identifies the destination: names and hashes of everything laid out so far.
void tsr_target_describe(const tsr_target *target, tsr_text *out);

// The digests of all blocks, at the end: tensor i has those from blocks[first_block[i]] on.
typedef struct tsr_target_end {
  const tsr_views *views;
  const tsr_hash128 *blocks;
  const int64_t *first_block;
  bool sync;
} tsr_target_end;

// ---- dealing shards to files, for the rows of formats ----

typedef struct tsr_dealt_shard {
  int64_t tensor;
  int32_t shard, copy;
} tsr_dealt_shard;

// The shards of one file.
typedef struct tsr_bin {
  int64_t rank;  // -1 = a file of whole tensors
  int number;    // among the files of the rank
  int64_t bytes;
  tsr_dealt_shard *shards;  // owned
  int64_t count, capacity;
} tsr_bin;

typedef struct tsr_dealing {
  const tsr_views *views;
  const tsr_target_options *options;
  tsr_target *target;
  tsr_bin *bins;  // owned
  int64_t count, capacity;
} tsr_dealing;

// The name of the file of a whole tensor.
const char *tsr_dealing_file_of(const tsr_dealing *deal, int64_t tensor);
// `lay_out` of formats with safetensors files.
TSR_MUST_USE tsr_status tsr_dealing_lay_out_safetensors(const tsr_dealing *deal, const tsr_bin *bin,
                                                        tsr_target_file *file);
// Ends the index with a newline; `name` is that of its file.
TSR_MUST_USE tsr_status tsr_target_set_index(tsr_target *target, const char *name);

#endif
