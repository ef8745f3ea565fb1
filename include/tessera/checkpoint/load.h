// Load: the tensors of a checkpoint as arrays, each device's piece in its place.
//
// Only the bytes that the devices here hold are read: in the order of the files, in large calls,
// straight into the arrays' buffers. Over several ranks each byte is read once, by one of the ranks
// that need it, which sends it to the others. Formats, layouts and types need not be those of the
// file: what is stored as rows for eight ranks is loaded as columns for four, cast on the way.
//
//   TSR_OWN(array_tree, parameters);  // tessera/own.h; its arrays go with it unless retained
//   TSR_TRY(tsr_checkpoint_load_path("llama", mesh, "mlp -> _, tp\n.* -> ()\n", comm, NULL,
//                                    &parameters));
//   const tsr_leaf *head = tsr_array_tree_find(parameters, "lm_head.weight");  // NULL if none
//
// or, with a plan made in another way:
//
//   TSR_OWN(checkpoint, model);
//   TSR_TRY(tsr_checkpoint_open_all(comm, "llama", NULL, &model));
//   TSR_TRY(tsr_checkpoint_load(model, plan, comm, NULL, &parameters));
//
// What it takes is known before the first byte is read: tsr_load_create and its certificate. Arrays
// are saved again by tessera/checkpoint/save.h.
//
// "Collective" is meant as in tessera/comm.h: what fails on one rank, a file that only it cannot
// read included, fails on all, and says which rank it was. Ranks compare the tensors with their
// layouts in the order they are read, and the options but for the progress functions.
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

// All zero but for the size are the defaults, and so is NULL in place of the options.
typedef struct tsr_load_options {
  size_t size;  // sizeof(tsr_load_options)
  // Which tensors are loaded, and as what: as in tsr_transform_options.
  const tsr_mapping *map;
  tsr_dtype dtype;
  const char *const *include, *const *exclude;
  int64_t include_count, exclude_count;
  const tsr_cast_rule *casts;
  int64_t cast_count;
  bool no_companions, allow_overflow;
  // Only tensors that the plan has are loaded, and all of these must be there: the parameters of a
  // whole train state, say. Otherwise a tensor that the plan lacks is refused.
  bool planned_only;
  tsr_replicas replicas;  // default: trust, the first that is present
  // Every rank reads all that its devices hold by itself, and nothing is sent: for files that lie
  // near each rank.
  bool alone;
  // A shard that several ranks hold is read by all of them, a part each, where parts have at least
  // this many bytes; else by one. 0 = 1 MiB.
  int64_t least_part;
  int64_t max_memory;  // bytes of buffers beside the arrays and the comm's; 0 = 8 MiB a worker
  tsr_progress_fn *progress;  // bytes read here; NULL = none. False cancels the load, on all ranks
  void *progress_context;
  double progress_interval;  // seconds between two reports at least; 0 = 0.1
} tsr_load_options;
#define TSR_LOAD_OPTIONS TSR_SIZED(tsr_load_options)

// What a load does, on this rank unless it says otherwise. Bytes read are those of the elements as
// they are stored, or, for tensors made of others by a map, as that makes them.
typedef struct tsr_load_certificate {
  int64_t tensors;
  int64_t array_bytes;                 // of the arrays' buffers here
  int64_t bytes_read;                  // from files
  int64_t bytes_sent, bytes_received;  // between this rank and others
  int64_t needed;       // what is read where no rank helps: all that the devices here hold, once
  int64_t total_read;   // by all ranks
  int64_t most_read;    // by the rank that reads the most
  int64_t rounds;       // of reading and sending
  int64_t peak_memory;  // of buffers beside the arrays
} tsr_load_certificate;

// What a load did here.
typedef struct tsr_load_report {
  size_t size;            // sizeof(tsr_load_report)
  int64_t bytes_wanted;   // from files: the certificate's bytes_read
  int64_t bytes_read;     // with what lies between short runs, which is read and thrown away
  int64_t calls;          // of the system that read, for tensors that no map makes
  int64_t files;          // that were read from, by these
  int64_t lost_elements;  // too large for a cast (allow_overflow)
} tsr_load_report;
#define TSR_LOAD_REPORT TSR_SIZED(tsr_load_report)

// Collective. Opens a checkpoint on every rank, or on none; path and options may differ, since each
// rank may have files of its own.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 4) tsr_status
    tsr_checkpoint_open_all(tsr_comm *comm, const char *path, const tsr_checkpoint_options *options,
                            tsr_checkpoint **out_checkpoint);

// One owner, used by one thread at a time.
typedef struct tsr_load tsr_load;

// Collective. Decides who reads what. The plan has a row for each tensor, by name, of its shape,
// and a mesh whose devices are the comm's; it is not kept, but patterns of the options must live as
// long as this call, and a map is held. Fails with plan_required where the plan is NULL or has no
// mesh, with not_found for a tensor that the plan lacks, with shapes_differ, with comm_mismatch
// where ranks are about to load different things, with does_not_fit when the memory is too little.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3, 5) tsr_status
    tsr_load_create(const tsr_checkpoint *checkpoint, const tsr_plan *plan, tsr_comm *comm,
                    const tsr_load_options *options, tsr_load **out_load);
TSR_API void tsr_load_destroy(tsr_load *load);  // NULL is fine
TSR_API TSR_NONNULL const tsr_load_certificate *tsr_load_certificate_of(const tsr_load *load);
// Collective. Does it: an array for each tensor, in the plan's layout, under the tensor's name, in
// the order of the checkpoint (or the map); for the caller to release. May be called again, for
// arrays of their own.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_load_run(tsr_load *load, tsr_array_tree **out_tree);
TSR_API TSR_NONNULL const tsr_load_report *tsr_load_report_of(
    const tsr_load *load);  // of the last run

// Collective. All of it in one call; NULL options = defaults.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3, 5) tsr_status
    tsr_checkpoint_load(const tsr_checkpoint *checkpoint, const tsr_plan *plan, tsr_comm *comm,
                        const tsr_load_options *options, tsr_array_tree **out_tree);

// Collective. The common case: opens the checkpoint at `path`, cuts its tensors by rules as text
// (tessera/rules.h, as tsr_plan_from_text has them) on the mesh, and loads them. NULL options =
// defaults.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 3, 4, 6) tsr_status
    tsr_checkpoint_load_path(const char *path, const tsr_mesh *mesh, const char *rules,
                             tsr_comm *comm, const tsr_load_options *options,
                             tsr_array_tree **out_tree);

// For those who have arrays of their own: one shard of any layout of a tensor, as its buffer lies
// (tsr_layout_buffer_shape of tessera/engine/layout.h), padding zero, into the caller's memory: the
// `out_bytes` at `out` hold all elements of that buffer in the stored type, packed, else it fails
// with bad_argument.
// `tensor` is an index of tsr_checkpoint_tree. `pool` may be NULL; no rank but this one takes part.
// `out_report` may be NULL.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_checkpoint_read_shard(const tsr_checkpoint *checkpoint, int64_t tensor,
                              const tsr_layout *layout, int64_t shard, tsr_pool *pool, void *out,
                              int64_t out_bytes, tsr_load_report *out_report);

TSR_END_DECLS

#endif
