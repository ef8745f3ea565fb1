// The destination of a transform: which files there will be, and where in them each shard goes.
#ifndef TESSERA_FORMAT_TARGET_H
#define TESSERA_FORMAT_TARGET_H

#include "file/safetensors.h"
#include "file/zip_plan.h"
#include "store/store.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/plan.h"
#include "view/view.h"

// A file to be: its name below the destination, and its header.
typedef struct tsr_target_file {
  char *name;                 // owned
  int64_t position;           // on the mesh, of files with slices; -1 = tensors are whole
  tsr_safetensors_file plan;  // owned
} tsr_target_file;

typedef struct tsr_target {
  tsr_checkpoint_format format;
  tsr_plan *plan;    // owned: for the very tensors that are written; NULL if they are whole
  tsr_store *store;  // owned; tensor i is view i. Its paths are set by tsr_target_open
  int file_count;
  tsr_target_file *files;  // owned
  tsr_zip_plan zip;        // of an archive: what stands between its arrays
  const char *index_name;  // of the file that is written last, beside the tensors'; NULL = none
  tsr_text index;
  int64_t index_bytes;  // that it has, or will have once hashes are known
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
// Says so when what was written turns out to be lost. NULL is fine.
TSR_MUST_USE tsr_status tsr_target_close(tsr_target *target);
// Tensors' hashes are known at the end only: the index of a format that keeps them is made then, of
// the length that was foreseen.
TSR_MUST_USE tsr_status tsr_target_add_hashes(tsr_target *target, const tsr_views *views,
                                              const tsr_hash128 *hashes);
// What its format wants to know of each block of a tensor (hash.h), for the end.
typedef enum tsr_block_digest { TSR_DIGEST_NONE, TSR_DIGEST_HASH, TSR_DIGEST_CRC } tsr_block_digest;
tsr_block_digest tsr_target_digest(const tsr_target *target);
// Writes what an archive's checksums are needed for, from that of each tensor. Others need nothing.
TSR_MUST_USE tsr_status tsr_target_end_archive(tsr_target *target, const uint32_t *crcs, bool sync);
// The file that is the whole result; NULL = a folder is.
const char *tsr_target_single_name(tsr_checkpoint_format format);
// Opens the files below `folder` for writing.
TSR_MUST_USE tsr_status tsr_target_open(tsr_target *target, const char *folder);
// Bytes of all files and of the index.
int64_t tsr_target_bytes(const tsr_target *target);

#endif
