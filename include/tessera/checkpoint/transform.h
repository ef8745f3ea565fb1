// Transform: rewrite a checkpoint with another layout, format or element type.
//
// One streaming copy serves split, merge, shard, gather and reshard. Tensors pass through memory in
// windows of a few megabytes, so the memory limit holds for a model of any size. Each byte is read
// once and written once. tsr_transform_certificate_of gives the cost before anything is written.
//
//   tsr_transform_options options = TSR_TRANSFORM_OPTIONS;
//   options.dtype = TSR_BF16;
//   tsr_transform *job = NULL;
//   TSR_TRY(tsr_transform_create(source, "out", &options, &job));
//   tsr_status status = tsr_transform_run(job);
//   tsr_transform_destroy(job);
//
// The result appears whole or not at all. Until then it is written to `out.partial`, with a journal
// in `out.journal` from which a killed job can be resumed (TSR_EXISTING_RESUME).
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

// What to do when the destination exists.
typedef enum tsr_existing {
  TSR_EXISTING_REFUSE,  // fail; also when the files of an unfinished job exist
  // Replace it in one step, at the end, and discard the files of an unfinished job. Only
  // checkpoints are replaced: any other file, or a folder that holds other files too, fails with
  // already_there. A symbolic link is replaced itself, not its target.
  TSR_EXISTING_REPLACE,
  TSR_EXISTING_RESUME  // continue the unfinished job, if it is the same one
} tsr_existing;

typedef struct tsr_transform_options {
  size_t size;  // sizeof(tsr_transform_options)
  // Of the destination; ANY = TESSERA with a plan, FOLDER without. NPZ makes an archive of stored,
  // aligned arrays, as numpy.savez does; NPY a folder of arrays and an index. Both record the
  // dtypes that NumPy lacks and the metadata of the source (an archive only if it holds an array).
  // Both refuse elements smaller than a byte; an archive refuses names that lead out of a folder.
  tsr_checkpoint_format format;
  const tsr_plan *plan;  // layout of the destination, by tensor name; NULL = stored whole
  // Makes the tensors of the destination; the fields below apply to its result. NULL = the tensors
  // of the source.
  const tsr_mapping *map;
  tsr_dtype dtype;  // floats are cast to it; TSR_DTYPE_NONE = no cast
  // The tensors written: those that match a pattern to include (all if there is none) and no
  // pattern to exclude. Patterns are searched for as in rules; one that matches no tensor is an
  // error.
  const char *const *include, *const *exclude;
  int64_t include_count, exclude_count;
  const tsr_cast_rule *casts;  // the first that matches decides; `dtype` if none does
  int64_t cast_count;
  // Treat optimiser states and scales of quantised weights as independent tensors. Otherwise a map
  // that takes a tensor without its companions (docs/companions.md) fails with companions_apart,
  // and a cast of quantised values, or one that rounds their scales, with quantised.
  bool no_companions;
  // A number too large for its new dtype becomes infinite, NaN or the largest finite number
  // (tsr_convert of tessera/engine/kernels.h) and is counted in the report. Otherwise it fails the
  // job with cast_overflow; that job can be resumed with this option.
  bool allow_overflow;
  int64_t max_memory;     // bytes of the whole process; 0 = 1 GiB
  int64_t max_file_size;  // bytes, unless one tensor is larger; 0 = 5 GB
  int jobs;               // workers; 0 = one for each CPU
  tsr_existing existing;
  tsr_replicas replicas;  // of the source; default: compare
  // Do not compare what is read with the hashes in a Tessera folder. Otherwise every tensor that is
  // read whole and in order is compared: unchanged, renamed, cast, mostly also concatenated along
  // the first dimension. A difference fails the job with source_damaged. Tensors read in another
  // order (transposes) or incompletely are counted in the report as unchecked.
  bool trust_source;
  bool no_extras;             // do not copy config.json and other small files of the folder
  bool no_sync;               // do not wait for the disk: faster, but a crash may lose the result
  tsr_progress_fn *progress;  // bytes written; NULL = none. False cancels the job
  void *progress_context;
  double progress_interval;  // least seconds between two reports; 0 = 0.1
} tsr_transform_options;
#define TSR_TRANSFORM_OPTIONS TSR_SIZED(tsr_transform_options)

typedef struct tsr_transform_certificate {
  int64_t tensors, windows;
  int64_t source_files, files;
  // Of tensors, replicas that are compared included. Not counted: gaps below 4 kB that a map which
  // rearranges tensors reads and drops.
  int64_t bytes_read;
  int64_t bytes_written;              // sizes of all files and the index: exact
  int64_t least_read, least_written;  // lower bounds: each element once; each stored shard once
  int64_t extras, extra_bytes;        // small files of the folder that are copied
  int64_t table_memory;               // names, layouts, headers, hashes: grows with the tensors
  int64_t peak_memory;                // tables and buffers, without a few megabytes of the program
  int64_t bytes_free;                 // on the disk of the destination; -1 = unknown
  int workers;
} tsr_transform_certificate;

// The tensors that a transform with these options writes, with their new dtypes: the tree to make
// its plan for.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_transform_tree(const tsr_checkpoint *source, const tsr_transform_options *options,
                       tsr_tree **out_tree);

// One owner, used by one thread at a time.
typedef struct tsr_transform tsr_transform;

// Decides everything and writes nothing. Fails with does_not_fit (memory), disk_full, already_there
// (the destination exists and may not be replaced), bad_argument (source and destination overlap),
// or unsupported (the destination is a mount point, which cannot be replaced).
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 4) tsr_status
    tsr_transform_create(const tsr_checkpoint *source, const char *path,
                         const tsr_transform_options *options, tsr_transform **out_transform);
TSR_API void tsr_transform_destroy(tsr_transform *transform);  // NULL is fine
TSR_API TSR_NONNULL const tsr_transform_certificate *tsr_transform_certificate_of(
    const tsr_transform *transform);
// Runs once. A new transform resumes a job that failed or was cancelled.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_transform_run(tsr_transform *transform);

// A tensor with numbers too large for their cast (allow_overflow).
typedef struct tsr_cast_loss {
  const char *tensor;
  int64_t elements;
} tsr_cast_loss;

typedef struct tsr_transform_report {
  bool resumed;                 // an earlier job wrote some of it; its losses are not counted
  int64_t lost_elements;        // of all tensors
  int64_t loss_count;           // tensors with losses
  const tsr_cast_loss *losses;  // most losses first; lives as long as the transform
  // Tensors that were read and compared with the hashes of the source, and those that could not be.
  // Both 0 if the source has no hashes or is trusted.
  int64_t checked, unchecked;
} tsr_transform_report;
// All zero before the run.
TSR_API TSR_NONNULL const tsr_transform_report *tsr_transform_report_of(
    const tsr_transform *transform);

TSR_END_DECLS

#endif
