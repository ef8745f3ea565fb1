// Save: arrays on devices as a checkpoint on disk, in any format; the way back from
// tessera/checkpoint/load.h.
//
// Each element is written once, by a rank that holds it, in windows of a few megabytes: what all
// ranks hold is shared out among them, and what is cut across ranks but stored in one piece is
// brought together in large stretches first. All ranks must see the same folder.
//
//   TSR_TRY(tsr_checkpoint_save(state, "step-1000", comm, NULL));
//
// The result is there whole or not at all, as with tessera/checkpoint/transform.h: it grows in
// `step-1000.partial`, beside `step-1000.journal`, and takes its place in one step when all of it
// is on the disk. A save that fails or is cancelled removes what it wrote, and what was there
// before stays. One whose processes were killed leaves the two beside; the next save with
// TSR_EXISTING_REPLACE takes them away.
//
// "Collective" is meant as in tessera/comm.h: what fails on one rank, a disk that only it finds
// full included, fails on all, and says which rank it was. Ranks compare the leaves of the tree
// with their layouts, the path, the plan, and the options but for the progress functions.
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
  // How tensors are cut in formats that cut them, RANKS and TESSERA; by name, on any mesh. NULL =
  // as the arrays lie, which must then all lie by specs on one mesh (plan_required).
  const tsr_plan *plan;
  // Which tensors are saved, and as what: as in tsr_transform_options.
  tsr_dtype dtype;
  const char *const *include, *const *exclude;
  int64_t include_count, exclude_count;
  const tsr_cast_rule *casts;
  int64_t cast_count;
  bool no_companions, allow_overflow;
  const tsr_metadata *metadata;  // for every safetensors file; copied
  int64_t metadata_count;
  int64_t max_memory;     // bytes of this process beside the arrays and the comm's; 0 = 1 GiB
  int64_t max_file_size;  // of formats with several files, unless one tensor is larger; 0 = 5 GB
  tsr_existing existing;  // RESUME is refused: the arrays of a job that was killed are gone
  bool no_sync;           // do not wait for the disk: faster, and lost if the machine stops
  tsr_progress_fn *progress;  // bytes written here; NULL = none. False cancels the save, on all
  void *progress_context;
  double progress_interval;  // seconds between two reports at least; 0 = 0.1
} tsr_save_options;
#define TSR_SAVE_OPTIONS TSR_SIZED(tsr_save_options)

// What a save does, on this rank unless it says otherwise. Bytes of elements are as they are
// stored, each counted once, though RANKS stores what several ranks hold several times.
typedef struct tsr_save_certificate {
  int64_t tensors, files;
  int64_t file_bytes;                  // of all files as a whole, with the index: exact
  int64_t bytes_written;               // of elements, by this rank
  int64_t total_written;               // by all ranks
  int64_t most_written;                // by the rank that writes the most
  int64_t bytes_sent, bytes_received;  // between this rank and others, as the arrays have them
  int64_t rounds;                      // of sending
  int64_t peak_memory;                 // of tables and buffers beside the arrays
  int64_t bytes_free;                  // on the disk of the destination; -1 = not known
} tsr_save_certificate;

// One owner, used by one thread at a time.
typedef struct tsr_save tsr_save;

// Collective. Decides who writes what, and writes nothing. Leaves of the tree are arrays on the
// comm, or tensors in host memory, which are the same on every rank. It holds on to the tree; until
// it has run, its arrays must not be written to or donated. Fails with unsupported_leaf for a shape
// without data, with comm_mismatch where ranks are about to save different things, and otherwise as
// tsr_transform_create.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 3, 5) tsr_status
    tsr_save_create(const tsr_array_tree *tree, const char *path, tsr_comm *comm,
                    const tsr_save_options *options, tsr_save **out_save);
TSR_API void tsr_save_destroy(tsr_save *save);  // NULL is fine
TSR_API TSR_NONNULL const tsr_save_certificate *tsr_save_certificate_of(const tsr_save *save);
// Collective. Does it. Once.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_save_run(tsr_save *save);

// Collective. All of it in one call; NULL options = defaults.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 3) tsr_status
    tsr_checkpoint_save(const tsr_array_tree *tree, const char *path, tsr_comm *comm,
                        const tsr_save_options *options);

TSR_END_DECLS

#endif
