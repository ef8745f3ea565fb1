// Where the tensors of a job come from: a checkpoint, or arrays in memory (load/save.c).
#ifndef TESSERA_JOB_JOB_SOURCE_H
#define TESSERA_JOB_JOB_SOURCE_H

#include "tessera/checkpoint/metadata.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/transform.h"
#include "view/source_hashes.h"
#include "view/view.h"

// Size and time of a file, which change if it is written to.
typedef struct tsr_stamp {
  int64_t size, seconds;
  long nanoseconds;
} tsr_stamp;

typedef struct tsr_job_source {
  const char *job;                   // "transform" or "save", for messages
  bool resumable;                    // a later process finds the same tensors
  bool small_windows;                // of one block
  int jobs;                          // workers; 0 = one for each CPU
  const tsr_checkpoint *checkpoint;  // shared, for as long as the views; NULL for arrays
  tsr_views views;                   // owned
  int64_t table_memory;              // bytes of tables behind the views
  const tsr_metadata *metadata;      // borrowed, for every file
  int64_t metadata_count;
  tsr_stamp *stamps;          // owned: of each file; NULL for arrays
  tsr_source_hashes *hashes;  // owned: of what is read; NULL = it is not compared
} tsr_job_source;

// The tensors of a checkpoint that the options take. The options have passed
// tsr_transform_check_options. Fails with source_changed if the size of a file is not the one seen
// when the checkpoint was opened. Deinit also after a failure.
TSR_MUST_USE tsr_status tsr_job_source_init(tsr_job_source *source,
                                            const tsr_checkpoint *checkpoint,
                                            const tsr_transform_options *options);
void tsr_job_source_deinit(tsr_job_source *source);
// The number of files; and their stamps as text, which identify the source.
int tsr_job_source_files(const tsr_job_source *source);
void tsr_job_source_print(const tsr_job_source *source, tsr_text *out);
// Fails with source_changed if a file has changed since.
TSR_MUST_USE tsr_status tsr_job_source_check(const tsr_job_source *source);
// The stored tensor that a view is made of without change of order, and whose blocks are hashed as
// they are read; -1 = there is none.
int64_t tsr_job_source_hashed(const tsr_job_source *source, const tsr_view *view);

#endif
