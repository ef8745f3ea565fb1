// Load: the tensors of a checkpoint as sharded arrays.
//
// A rank reads only the bytes its devices hold, in file order and large calls, straight into the
// buffers of the arrays. A byte that several ranks need is read by one of them and sent to the
// others. Layout and dtype may differ from the file: rows of eight ranks load as columns of four,
// cast on the way.
//
//   TSR_OWN(array_tree, parameters);  // tessera/own.h; its arrays go with it unless retained
//   TSR_TRY(tsr_checkpoint_load_path("llama", mesh, "mlp -> _, tp\n.* -> ()\n", comm, NULL,
//                                    &parameters));
//   const tsr_leaf *head = tsr_array_tree_find(parameters, "lm_head.weight");  // NULL if none
//
// or, with a plan:
//
//   TSR_OWN(checkpoint, model);
//   TSR_TRY(tsr_checkpoint_open_all(comm, "llama", NULL, &model));
//   TSR_TRY(tsr_checkpoint_load(model, plan, comm, NULL, &parameters));
//
// tsr_load_create gives the cost before anything is read. tessera/checkpoint/save.h saves arrays.
//
// "Collective" is meant as in tessera/comm.h: a failure on one rank fails on all and names the
// rank. Ranks compare tensors, layouts and reading order, and all options but the progress
// functions.
#ifndef TSR_CHECKPOINT_LOAD_H
#define TSR_CHECKPOINT_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/comm.h"
#include "tessera/dtype.h"
#include "tessera/engine/pool.h"
#include "tessera/layout.h"
#include "tessera/mesh.h"
#include "tessera/place.h"
#include "tessera/plan.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// All zero but `size` means the defaults, and so does NULL in place of the options.
typedef struct tsr_load_options {
  size_t size;  // sizeof(tsr_load_options)
  // The tensors to load and their dtypes, as in tsr_transform_options.
  const tsr_mapping *map;
  tsr_dtype dtype;
  const char *const *include, *const *exclude;
  int64_t include_count, exclude_count;
  const tsr_cast_rule *casts;
  int64_t cast_count;
  bool no_companions, allow_overflow;
  // Load only the tensors in the plan, all of which must exist: the parameters of a train state,
  // say. Otherwise a tensor that the plan lacks is an error.
  bool planned_only;
  tsr_replicas replicas;  // default: trust, the first that is present
  // Each rank reads all that its devices hold and nothing is sent: for files local to each rank.
  bool alone;
  // A shard that several ranks hold is read by all of them, a piece each, if pieces have at least
  // this many bytes; otherwise by one rank. 0 = 1 MiB.
  int64_t least_piece;
  int64_t max_memory;  // bytes of buffers, without the arrays and the comm; 0 = 8 MiB a worker
  tsr_progress_fn *progress;  // bytes read by this rank; NULL = none. False cancels on all ranks
  void *progress_context;
  double progress_interval;  // least seconds between two reports; 0 = 0.1
} tsr_load_options;
#define TSR_LOAD_OPTIONS TSR_SIZED(tsr_load_options)

// The cost of a load, on this rank unless a field says otherwise. Bytes read are of elements as
// stored; of tensors made by a map, as the map makes them.
typedef struct tsr_load_certificate {
  int64_t tensors;
  int64_t array_bytes;                 // of the arrays' buffers
  int64_t bytes_read;                  // from files
  int64_t bytes_sent, bytes_received;  // between this rank and others
  int64_t needed;                      // bytes_read if `alone`: all that the devices hold, once
  int64_t total_read;                  // by all ranks
  int64_t most_read;                   // by the rank that reads most
  int64_t rounds;                      // of reading and sending
  int64_t peak_memory;                 // of buffers, without the arrays
} tsr_load_certificate;

// What a load did on this rank.
typedef struct tsr_load_report {
  size_t size;            // sizeof(tsr_load_report)
  int64_t bytes_wanted;   // from files: the certificate's bytes_read
  int64_t bytes_read;     // with the gaps between short runs, which are read and dropped
  int64_t calls;          // read system calls, for tensors not made by a map
  int64_t files;          // read by these calls
  int64_t lost_elements;  // too large for a cast (allow_overflow)
} tsr_load_report;
#define TSR_LOAD_REPORT TSR_SIZED(tsr_load_report)

// Collective. Opens a checkpoint on every rank, or on none. Path and options may differ: each rank
// may have its own files.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 4) tsr_status
    tsr_checkpoint_open_all(tsr_comm *comm, const char *path, const tsr_checkpoint_options *options,
                            tsr_checkpoint **out_checkpoint);

// One owner, used by one thread at a time.
typedef struct tsr_load tsr_load;

// Collective. Decides which rank reads what. The plan has a row for each tensor, by name and shape,
// and a mesh of the comm's devices; it is not kept. Patterns of the options must live during this
// call only; a map is retained. Fails with plan_required (no plan, or one without a mesh),
// not_found (a tensor the plan lacks), shapes_differ, comm_mismatch (ranks differ) or does_not_fit
// (memory).
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3, 5) tsr_status
    tsr_load_create(const tsr_checkpoint *checkpoint, const tsr_plan *plan, tsr_comm *comm,
                    const tsr_load_options *options, tsr_load **out_load);
TSR_API void tsr_load_destroy(tsr_load *load);  // NULL is fine
TSR_API TSR_NONNULL const tsr_load_certificate *tsr_load_certificate_of(const tsr_load *load);
// Collective. Gives the caller an array for each tensor, under its name, in the order of the
// checkpoint or the map. Another call gives new arrays.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_load_run(tsr_load *load, tsr_array_tree **out_tree);
TSR_API TSR_NONNULL const tsr_load_report *tsr_load_report_of(
    const tsr_load *load);  // of the last run

// Collective. Create, run and destroy in one call; NULL options = defaults.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3, 5) tsr_status
    tsr_checkpoint_load(const tsr_checkpoint *checkpoint, const tsr_plan *plan, tsr_comm *comm,
                        const tsr_load_options *options, tsr_array_tree **out_tree);

// Collective. The common case: opens the checkpoint at `path`, makes a plan by rules as text
// (tsr_plan_from_text) on the mesh, and loads the tensors. NULL options = defaults.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 3, 4, 6) tsr_status
    tsr_checkpoint_load_path(const char *path, const tsr_mesh *mesh, const char *rules,
                             tsr_comm *comm, const tsr_load_options *options,
                             tsr_array_tree **out_tree);

// For programs with their own arrays: reads one shard of any layout of a tensor into the caller's
// memory, as tsr_layout_buffer_shape of tessera/engine/layout.h says, padding zero. Fails with
// bad_argument unless `out_bytes` hold that buffer in the stored dtype, packed. `tensor` is an
// index of tsr_checkpoint_tree. `pool` and `out_report` may be NULL. Not collective.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_checkpoint_read_shard(const tsr_checkpoint *checkpoint, int64_t tensor,
                              const tsr_layout *layout, int64_t shard, tsr_pool *pool, void *out,
                              int64_t out_bytes, tsr_load_report *out_report);

TSR_END_DECLS

#endif
