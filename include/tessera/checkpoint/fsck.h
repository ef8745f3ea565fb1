// Fsck: all faults of a checkpoint on disk, not only the first.
//
// The index is compared with the headers, and headers with the sizes of their files. With `deep`,
// elements are compared with stored hashes, and replicas with each other.
//
//   tsr_fsck *report = NULL;
//   TSR_TRY(tsr_fsck_run("Llama-3-8B", NULL, &report));
//   for (int64_t i = 0; i < tsr_fsck_count(report); i++) puts(tsr_fsck_at(report, i)->message);
//   tsr_fsck_destroy(report);
#ifndef TSR_CHECKPOINT_FSCK_H
#define TSR_CHECKPOINT_FSCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/plan.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// Kinds of faults: id, the word programs read.
#define TSR_FAULTS(X)                                                                     \
  X(UNREADABLE, "unreadable")     /* a file cannot be read at all */                      \
  X(HEADER, "header")             /* its header is invalid */                             \
  X(TRUNCATED, "truncated")       /* it ends before its tensors */                        \
  X(BAD_INDEX, "bad_index")       /* the index is invalid */                              \
  X(NO_INDEX, "no_index")         /* several files of a model, but no index */            \
  X(OUTSIDE, "outside")           /* a name or a link leads out of the folder */          \
  X(FILE_MISSING, "file_missing") /* the index names a file that is not there */          \
  X(FILE_SURPLUS, "file_surplus") /* a file that the index does not name */               \
  X(NOT_IN_FILE, "not_in_file")   /* the index says a file holds a tensor; it does not */ \
  X(NOT_IN_INDEX, "not_in_index") /* a file holds a tensor that is not in the index */    \
  X(TWICE, "twice")               /* a tensor is in two files */                          \
  X(TOTAL_SIZE, "total_size")     /* total_size of the index is wrong */                  \
  X(TIED, "tied")                 /* absent because config.json ties it to another */     \
  X(LEFT_OVER, "left_over")       /* file of an unfinished job */                         \
  X(NO_PLAN, "no_plan")           /* format "ranks" without a plan */                     \
  X(BAD_MANIFEST, "bad_manifest") /* the manifest or plan is invalid */                   \
  X(SIZE, "size")                 /* a file has another size than in the manifest */      \
  X(SLICE, "slice")               /* dtype or shape of a slice is not that of the plan */ \
  X(NOT_IN_PLAN, "not_in_plan")   /* a file holds a tensor that the plan lacks */         \
  X(LOST, "lost")                 /* no file holds a shard of a tensor */                 \
  X(DISAGREES, "disagrees")       /* files disagree in another way */                     \
  X(HASH, "hash")                 /* elements do not match the stored hash */             \
  X(COPIES, "copies")             /* replicas of one shard differ */
#define TSR_ENUMERATOR_(id, word) TSR_FAULT_##id,
typedef enum tsr_fault_kind { TSR_FAULTS(TSR_ENUMERATOR_) TSR_FAULT_COUNT } tsr_fault_kind;
#undef TSR_ENUMERATOR_
TSR_API const char *tsr_fault_name(tsr_fault_kind kind);  // "file_missing"

typedef enum tsr_severity {
  TSR_SEVERITY_ERROR,    // loading it fails, or gives wrong weights
  TSR_SEVERITY_WARNING,  // most loaders ignore it
  TSR_SEVERITY_NOTE,     // worth knowing
  TSR_SEVERITY_COUNT
} tsr_severity;

typedef struct tsr_fault {
  tsr_fault_kind kind;
  tsr_severity severity;
  bool repairable;      // by rewriting the index
  const char *file;     // relative to the folder; "" = the folder itself
  const char *tensor;   // NULL = none in particular
  const char *message;  // complete: names file and tensor
} tsr_fault;

typedef struct tsr_fsck_options {
  size_t size;           // sizeof(tsr_fsck_options)
  const tsr_plan *plan;  // for format "ranks", if none is beside the files
  // Also read all elements, compare them with stored hashes, and compare replicas. Skipped if there
  // are other errors.
  bool deep;
  // Rewrite model.safetensors.index.json from the headers, atomically, if that repairs a fault and
  // every file is readable; the old index is kept as model.safetensors.index.json.bak.
  bool repair;
  int64_t max_memory;         // of `deep`; 0 = 1 GiB
  int jobs;                   // workers; 0 = one for each CPU
  tsr_progress_fn *progress;  // of `deep`, in bytes. False cancels: TSR_CAUSE_CANCELLED
  void *progress_context;
} tsr_fsck_options;
#define TSR_FSCK_OPTIONS TSR_SIZED(tsr_fsck_options)

// One owner. Immutable after tsr_fsck_run, so any thread may read it.
typedef struct tsr_fsck tsr_fsck;

// Checks a file or folder of any format; the index, manifest or plan of a folder stands for the
// folder. Fails only if the path does not exist, memory is out, or max_memory is too little for
// `deep`.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_fsck_run(const char *path, const tsr_fsck_options *options, tsr_fsck **out_fsck);
TSR_API void tsr_fsck_destroy(tsr_fsck *fsck);  // NULL is fine
TSR_API TSR_NONNULL int64_t tsr_fsck_count(const tsr_fsck *fsck);
TSR_API TSR_NONNULL const tsr_fault *tsr_fsck_at(const tsr_fsck *fsck, int64_t index);
TSR_API TSR_NONNULL bool tsr_fsck_repaired(const tsr_fsck *fsck);  // the index was rewritten

TSR_END_DECLS

#endif
