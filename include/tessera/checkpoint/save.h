// Save: sharded arrays as a checkpoint in any format; the inverse of tessera/checkpoint/load.h.
//
// Each element is written once, by a rank that holds it, in windows of a few megabytes. Ranks share
// the writing of replicated tensors. Windows that span several ranks are gathered on their writer
// first. All ranks must see the same folder.
//
//   TSR_TRY(tsr_checkpoint_save(state, "step-1000", comm, NULL));
//
// The result appears whole or not at all, as with tessera/checkpoint/transform.h: it is written to
// `step-1000.partial`, with `step-1000.journal`, and renamed when all of it is on the disk. A save
// that fails or is cancelled removes its files and leaves an existing destination as it was. A
// killed save leaves the two files; the next save with TSR_EXISTING_REPLACE removes them.
//
// "Collective" is meant as in tessera/comm.h: a failure on one rank fails on all and names the
// rank. Ranks compare leaves, layouts, path and plan, and all options but the progress functions.
#ifndef TSR_CHECKPOINT_SAVE_H
#define TSR_CHECKPOINT_SAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/comm.h"
#include "tessera/dtype.h"
#include "tessera/place.h"
#include "tessera/plan.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

typedef struct tsr_save_options {
  size_t size;                   // sizeof(tsr_save_options)
  tsr_checkpoint_format format;  // all but STAGES; ANY = TESSERA
  // Layout on disk for RANKS and TESSERA, by tensor name, on any mesh. NULL = the layout of the
  // arrays, which must all have specs on one mesh (plan_required).
  const tsr_plan *plan;
  // The tensors to save and their dtypes, as in tsr_transform_options.
  tsr_dtype dtype;
  const char *const *include, *const *exclude;
  int64_t include_count, exclude_count;
  const tsr_cast_rule *casts;
  int64_t cast_count;
  bool no_companions, allow_overflow;
  const tsr_metadata *metadata;  // for every safetensors file; copied
  int64_t metadata_count;
  int64_t max_memory;         // bytes of this process, without the arrays and the comm; 0 = 1 GiB
  int64_t max_file_size;      // bytes, unless one tensor is larger; 0 = 5 GB
  tsr_existing existing;      // not RESUME: the arrays of a killed job are gone
  bool no_sync;               // do not wait for the disk: faster, but a crash may lose the result
  tsr_progress_fn *progress;  // bytes written by this rank; NULL = none. False cancels on all ranks
  void *progress_context;
  double progress_interval;  // least seconds between two reports; 0 = 0.1
} tsr_save_options;
#define TSR_SAVE_OPTIONS TSR_SIZED(tsr_save_options)

// The cost of a save, on this rank unless a field says otherwise. Bytes of elements are as stored,
// each element counted once although RANKS stores replicas.
typedef struct tsr_save_certificate {
  int64_t tensors, files;
  int64_t file_bytes;                  // sizes of all files and the index: exact
  int64_t bytes_written;               // of elements, by this rank
  int64_t total_written;               // by all ranks
  int64_t most_written;                // by the rank that writes most
  int64_t bytes_sent, bytes_received;  // between this rank and others, in the arrays' dtypes
  int64_t rounds;                      // of sending
  int64_t peak_memory;                 // of tables and buffers, without the arrays
  int64_t bytes_free;                  // on the disk of the destination; -1 = unknown
} tsr_save_certificate;

// One owner, used by one thread at a time.
typedef struct tsr_save tsr_save;

// Collective. Decides which rank writes what, and writes nothing. Leaves of the tree are arrays on
// the comm, or host tensors that are equal on every rank. The tree is retained; its arrays must not
// be changed or donated before the run. Fails with unsupported_leaf (a shape without data),
// comm_mismatch (ranks differ), and as tsr_transform_create does.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 3, 5) tsr_status
    tsr_save_create(const tsr_array_tree *tree, const char *path, tsr_comm *comm,
                    const tsr_save_options *options, tsr_save **out_save);
TSR_API void tsr_save_destroy(tsr_save *save);  // NULL is fine
TSR_API TSR_NONNULL const tsr_save_certificate *tsr_save_certificate_of(const tsr_save *save);
// Collective. Runs once.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_save_run(tsr_save *save);

// Collective. Create, run and destroy in one call; NULL options = defaults.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 3) tsr_status
    tsr_checkpoint_save(const tsr_array_tree *tree, const char *path, tsr_comm *comm,
                        const tsr_save_options *options);

TSR_END_DECLS

#endif
