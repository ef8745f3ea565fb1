// Fsck: everything that is wrong with a checkpoint on disk, not only the first thing.
//
// The index is held against the headers, these against the sizes of their files, and with `deep`
// the elements against the hashes that were stored with them and copies against each other.
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

// What can be wrong: id, the word programs read.
#define TSR_FAULTS(X)                                                                     \
  X(UNREADABLE, "unreadable")     /* a file cannot be read at all */                      \
  X(HEADER, "header")             /* its header is no legal one */                        \
  X(TRUNCATED, "truncated")       /* it ends before its tensors do */                     \
  X(BAD_INDEX, "bad_index")       /* the index cannot be understood */                    \
  X(NO_INDEX, "no_index")         /* there are files of a model, but no index */          \
  X(OUTSIDE, "outside")           /* a name or a link leads out of the folder */          \
  X(FILE_MISSING, "file_missing") /* the index names a file that is not there */          \
  X(FILE_SURPLUS, "file_surplus") /* a file that the index does not name */               \
  X(NOT_IN_FILE, "not_in_file")   /* the index says a file holds a tensor; it does not */ \
  X(NOT_IN_INDEX, "not_in_index") /* a file holds a tensor that is not in the index */    \
  X(TWICE, "twice")               /* a tensor stands in two files */                      \
  X(TOTAL_SIZE, "total_size")     /* the index has the sum of bytes wrong */              \
  X(TIED, "tied")                 /* absent, as the config says that it is tied */        \
  X(LEFT_OVER, "left_over")       /* of a job that was not finished */                    \
  X(NO_PLAN, "no_plan")           /* nothing says how ranks' tensors are cut */           \
  X(BAD_MANIFEST, "bad_manifest") /* manifest or plan cannot be understood */             \
  X(SIZE, "size")                 /* a file has not the bytes that the manifest says */   \
  X(SLICE, "slice")               /* a slice is not of the type or shape of the plan */   \
  X(NOT_IN_PLAN, "not_in_plan")   /* a file holds a tensor that the plan lacks */         \
  X(LOST, "lost")                 /* no file holds a part of a tensor */                  \
  X(DISAGREES, "disagrees")       /* files do not agree with each other otherwise */      \
  X(HASH, "hash")                 /* elements are not those that were hashed */           \
  X(COPIES, "copies")             /* stored copies of one shard differ */
#define TSR_ENUMERATOR_(id, word) TSR_FAULT_##id,
typedef enum tsr_fault_kind { TSR_FAULTS(TSR_ENUMERATOR_) TSR_FAULT_COUNT } tsr_fault_kind;
#undef TSR_ENUMERATOR_
TSR_API const char *tsr_fault_name(tsr_fault_kind kind);  // "file_missing"

typedef enum tsr_severity {
  TSR_SEVERITY_ERROR,    // loading it fails, or gives wrong weights
  TSR_SEVERITY_WARNING,  // most loaders do not mind
  TSR_SEVERITY_NOTE,     // worth knowing
  TSR_SEVERITY_COUNT
} tsr_severity;

typedef struct tsr_fault {
  tsr_fault_kind kind;
  tsr_severity severity;
  bool repairable;      // by rewriting the index
  const char *file;     // relative to the folder; "" = the folder itself
  const char *tensor;   // NULL = none in particular
  const char *message;  // whole: names file and tensor
} tsr_fault;

typedef struct tsr_fsck_options {
  size_t size;           // sizeof(tsr_fsck_options)
  const tsr_plan *plan;  // of ranks' files, where none lies beside them
  // Read all elements: whether they can be read, are those that were hashed, and copies are equal.
  // Only where nothing else is wrong.
  bool deep;
  // Rewrite model.safetensors.index.json from the headers, in one step, if that mends something and
  // every file can be read; the old one is kept as model.safetensors.index.json.bak.
  bool repair;
  int64_t max_memory;         // of `deep`; 0 = 1 GiB
  int jobs;                   // workers; 0 = one for each CPU
  tsr_progress_fn *progress;  // of `deep`: bytes read. False cancels: TSR_CAUSE_CANCELLED
  void *progress_context;
} tsr_fsck_options;
#define TSR_FSCK_OPTIONS TSR_SIZED(tsr_fsck_options)

// One owner. Not changed after tsr_fsck_run: any threads may look at it.
typedef struct tsr_fsck tsr_fsck;

// Checks a file or folder of any format; the index, manifest or plan of a folder stands for it.
// Fails only when nothing can be said: the path is not there, or memory is out, or what is allowed
// is too little for `deep`.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_fsck_run(const char *path, const tsr_fsck_options *options, tsr_fsck **out_fsck);
TSR_API void tsr_fsck_destroy(tsr_fsck *fsck);  // NULL is fine
TSR_API TSR_NONNULL int64_t tsr_fsck_count(const tsr_fsck *fsck);
TSR_API TSR_NONNULL const tsr_fault *tsr_fsck_at(const tsr_fsck *fsck, int64_t index);
TSR_API TSR_NONNULL bool tsr_fsck_repaired(const tsr_fsck *fsck);  // the index was rewritten

TSR_END_DECLS

#endif
