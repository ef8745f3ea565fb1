// Transform: a checkpoint rewritten, cut in another way, in another format, with other types.
//
// One streaming copy serves split, merge, shard, gather and reshard. Tensors go through memory in
// windows of a few megabytes, so that a model of any size takes the memory it is allowed and no
// more; each byte is read once and written once. What will happen is known before the first byte is
// written: tsr_transform_certificate_of.
//
//   tsr_transform_options options = TSR_TRANSFORM_OPTIONS;
//   options.dtype = TSR_BF16;
//   tsr_transform *job = NULL;
//   TSR_TRY(tsr_transform_create(source, "out", &options, &job));
//   tsr_status status = tsr_transform_run(job);
//   tsr_transform_destroy(job);
//
// The result is there whole or not at all. Until it is, it grows in `out.partial`, beside a journal
// `out.journal` from which a job that was killed can go on (TSR_EXISTING_RESUME).
#ifndef TSR_CHECKPOINT_TRANSFORM_H
#define TSR_CHECKPOINT_TRANSFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/dtype.h"
#include "tessera/plan.h"
#include "tessera/status.h"
#include "tessera/tree.h"

TSR_BEGIN_DECLS

// What to do about a destination that is there already.
typedef enum tsr_existing {
  TSR_EXISTING_REFUSE,  // also when an unfinished job left something behind
  // In one step, at the end; what an unfinished job left is thrown away. Only checkpoints are
  // replaced: a file or folder that is none, or a folder that holds anything else besides, is
  // refused with already_there. Of a link, the link is replaced, not what it names.
  TSR_EXISTING_REPLACE,
  TSR_EXISTING_RESUME  // go on with the unfinished job, if it is this one
} tsr_existing;

typedef struct tsr_transform_options {
  size_t size;  // sizeof(tsr_transform_options)
  // Of the destination: TESSERA with a plan, FOLDER without, unless it is said. NPZ makes an
  // archive of stored arrays, as numpy.savez does, with its data aligned; NPY a folder of arrays
  // and an index. Types that NumPy does not know and the source's metadata are noted in either (but
  // not in an archive without arrays). Elements smaller than a byte are refused there, and in
  // archives names that lead out of a folder.
  tsr_checkpoint_format format;
  const tsr_plan *plan;  // how tensors are cut there; by name. NULL = stored whole
  // What the destination's tensors are made of; all that follows is about them. NULL = they are
  // the source's.
  const tsr_mapping *map;
  tsr_dtype dtype;  // that floats are cast to; TSR_DTYPE_NONE = as they are
  // Which tensors are written: those that match any of the patterns to include (none given: all),
  // and none of those to exclude. Patterns are searched for as those of rules are; one that matches
  // no tensor is refused.
  const char *const *include, *const *exclude;
  int64_t include_count, exclude_count;
  const tsr_cast_rule *casts;  // the first that matches decides, otherwise `dtype`
  int64_t cast_count;
  // Optimiser states and the scales of quantised weights are tensors like any others. Otherwise a
  // map that takes a tensor and leaves behind what goes with it (docs/companions.md) is refused
  // with companions_apart, and with quantised a cast of quantised values, or one that rounds their
  // scales.
  bool no_companions;
  // A number that is too large for the type it is cast to becomes infinite, NaN, or the largest
  // there is (tsr_convert of tessera/engine/kernels.h), and is counted in the report. Otherwise it
  // fails the job with cast_overflow; with this, that job can be resumed.
  bool allow_overflow;
  int64_t max_memory;     // bytes that the process may take; 0 = 1 GiB
  int64_t max_file_size;  // of formats with several files, unless one tensor is larger; 0 = 5 GB
  int jobs;               // workers; 0 = one for each CPU
  tsr_existing existing;
  tsr_replicas replicas;  // of the source; default: compare
  // Do not compare what is read with the hashes that a folder of tessera's carries. Otherwise each
  // tensor that is read in order, block by block, is: as it lies, renamed, cast, joined along its
  // first dimension in most sizes; one that differs fails the job with source_damaged. Those that
  // are read in other pieces or in parts, as transposed ones, or ones cast to a wider type with
  // memory for less than a block, are counted in the report.
  bool trust_source;
  bool no_extras;             // leave config.json and other small files of the folder behind
  bool no_sync;               // do not wait for the disk: faster, and lost if the machine stops
  tsr_progress_fn *progress;  // bytes written; NULL = none. False cancels the job
  void *progress_context;
  double progress_interval;  // seconds between two reports at least; 0 = 0.1
} tsr_transform_options;
#define TSR_TRANSFORM_OPTIONS TSR_SIZED(tsr_transform_options)

typedef struct tsr_transform_certificate {
  int64_t tensors, windows;
  int64_t source_files, files;
  // Of tensors. Gaps of less than 4 kB that are read along and dropped are not counted; only maps
  // that rearrange tensors have them.
  int64_t bytes_read;
  int64_t bytes_written;              // of the files as a whole, with the index: exact
  int64_t least_read, least_written;  // lower bounds
  int64_t extras, extra_bytes;        // small files of the folder that are copied along
  int64_t table_memory;               // of names, layouts, headers, hashes: grows with the tensors
  int64_t peak_memory;                // tables and buffers, beside a few megabytes of the program
  int64_t bytes_free;                 // on the disk of the destination; -1 = not known
  int workers;
} tsr_transform_certificate;

// The tensors that a transform with these options writes, of the types they will have: what its
// plan is for.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_transform_tree(const tsr_checkpoint *source, const tsr_transform_options *options,
                       tsr_tree **out_tree);

// One owner, used by one thread at a time.
typedef struct tsr_transform tsr_transform;

// Decides everything and writes nothing. Fails with does_not_fit when the memory is too little,
// with disk_full when the disk is, with already_there when the destination is and may not be
// replaced, with bad_argument when one of source and destination lies in the other, or a file of
// the source in what is removed, with unsupported when the destination is a mount point: nothing
// can take its place.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 4) tsr_status
    tsr_transform_create(const tsr_checkpoint *source, const char *path,
                         const tsr_transform_options *options, tsr_transform **out_transform);
TSR_API void tsr_transform_destroy(tsr_transform *transform);  // NULL is fine
TSR_API TSR_NONNULL const tsr_transform_certificate *tsr_transform_certificate_of(
    const tsr_transform *transform);
// Does it. Once; a job that failed or was cancelled is resumed by a new transform.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_transform_run(tsr_transform *transform);

// A tensor with numbers that were too large for a cast (allow_overflow).
typedef struct tsr_cast_loss {
  const char *tensor;
  int64_t elements;
} tsr_cast_loss;

// What is worth saying about a job that is done.
typedef struct tsr_transform_report {
  bool resumed;                 // part of it was written by a job before: losses are of the rest
  int64_t lost_elements;        // of all tensors
  int64_t loss_count;           // tensors with losses
  const tsr_cast_loss *losses;  // of these, those with the most first; as long as the transform
  // Tensors of the source that were read: compared with the hashes it carries, and those that could
  // not be. Both are 0 where it carries none, or is trusted.
  int64_t checked, unchecked;
} tsr_transform_report;
// All zero before it has run.
TSR_API TSR_NONNULL const tsr_transform_report *tsr_transform_report_of(
    const tsr_transform *transform);

TSR_END_DECLS

#endif
