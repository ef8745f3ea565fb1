// Partitioner: the front door of t5x. One object that knows the mesh for a machine, the rules for
// logical axes, and which part of the data each process reads.
//
//   tsr_partitioner *partitioner = NULL;
//   tsr_partitioner_options options = TSR_PARTITIONER_OPTIONS;
//   options.num_partitions = 4;
//   TSR_TRY(tsr_partitioner_create(pod, &options, &partitioner));
//   tsr_data_layout layout;
//   TSR_TRY(tsr_partitioner_data_layout(partitioner, process, 256, NULL, &layout));
//   tsr_plan *plan = NULL;
//   TSR_TRY(tsr_partitioner_mesh_axes(partitioner, state, &plan));
//
// Two forms: the one of PjitPartitioner, whose rules map logical axes, and the base form, which
// knows none. Functions that t5x answers for the process it runs in take that process as an
// argument, so that one program can answer for a whole fleet, real or pretended. Where t5x's answer
// is doubtful, docs/compatibility.md says what is done.
#ifndef TESSERA_COMPAT_T5X_PARTITIONER_H
#define TESSERA_COMPAT_T5X_PARTITIONER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/save.h"
#include "tessera/comm.h"
#include "tessera/compat/t5x_chunks.h"
#include "tessera/compat/t5x_mesh.h"
#include "tessera/layout.h"
#include "tessera/logical.h"
#include "tessera/mesh.h"
#include "tessera/place.h"
#include "tessera/plan.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/topology.h"
#include "tessera/tree.h"

TSR_BEGIN_DECLS

// Shared by any threads. Immutable but for params_on_devices, a flag that any of them may change.
typedef struct tsr_partitioner tsr_partitioner;

typedef struct tsr_partitioner_options {
  size_t size;                                      // sizeof(tsr_partitioner_options)
  int64_t num_partitions;                           // 0 = not given
  const tsr_hardware_mesh *model_parallel_submesh;  // NULL or no sizes = not given
  const int64_t *ici_mesh_shape, *dcn_mesh_shape;   // both: a mesh of replica, data and model
  int ici_rank, dcn_rank;
  const char *backend;                          // the platform the devices must be of; NULL = any
  bool params_on_host;                          // params_on_devices = false
  bool base;                                    // the base form: no logical axes
  const tsr_logical_rules *logical_axis_rules;  // NULL = t5x's standard ones
} tsr_partitioner_options;
#define TSR_PARTITIONER_OPTIONS TSR_SIZED(tsr_partitioner_options)

// Fails with no_partition_count when neither a number nor a submesh is given, and as
// tsr_t5x_default_mesh where there is no mesh. With both mesh shapes every rule for "batch" becomes
// replica+data. NULL topology: a partitioner without a mesh, which knows its rules and data axis.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(3) tsr_status
    tsr_partitioner_create(const tsr_topology *topology, const tsr_partitioner_options *options,
                           tsr_partitioner **out_partitioner);
TSR_API void tsr_partitioner_release(const tsr_partitioner *partitioner);  // NULL is fine

// Both borrowed. No mesh without a topology, no rules in the base form: NULL.
TSR_API TSR_NONNULL const tsr_mesh *tsr_partitioner_mesh(const tsr_partitioner *partitioner);
TSR_API TSR_NONNULL const tsr_logical_rules *tsr_partitioner_logical_axis_rules(
    const tsr_partitioner *partitioner);
// Whether parameters are moved to the devices (the default unless params_on_host), or stay in host
// memory. The one thing that can be changed: every holder sees it, at once and from any thread.
TSR_API TSR_NONNULL void tsr_partitioner_set_params_on_devices(tsr_partitioner *partitioner,
                                                               bool on_devices);

// ---- data ----

// The spec of a batch: one entry, the data axes. They are `data`, or replica+data with both mesh
// shapes; with rules, what "batch" is mapped to, which may be nothing.
TSR_API TSR_NONNULL const tsr_spec *tsr_partitioner_data_partition_spec(
    const tsr_partitioner *partitioner);

typedef struct tsr_data_layout {
  int64_t batch_size;  // of all processes together; 0 = any, where there is no data axis
  int64_t shard_id, num_shards;
  bool is_first_host_in_replica_set;
} tsr_data_layout;

typedef struct tsr_data_layout_options {
  size_t size;                // sizeof(tsr_data_layout_options)
  const int64_t *host_index;  // the process to answer for instead; NULL = not given
  bool serve_host_index;      // t5x documents it and refuses it: host_index_unsupported
} tsr_data_layout_options;
#define TSR_DATA_LAYOUT_OPTIONS TSR_SIZED(tsr_data_layout_options)

// get_data_layout. A batch of 0 is as large as the data mesh; others must be its multiples. Without
// a data axis every process reads the whole batch, and process 0 is the first host. `options` may
// be NULL.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 5) tsr_status
    tsr_partitioner_data_layout(const tsr_partitioner *partitioner, int64_t process,
                                int64_t batch_size, const tsr_data_layout_options *options,
                                tsr_data_layout *out_layout);
// The rows of the global batch in the shard.
TSR_API TSR_NONNULL tsr_range tsr_data_layout_rows(const tsr_data_layout *layout);

// get_local_chunk_info: tsr_chunker_local_chunk on the partitioner's mesh.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3, 4, 6) tsr_status
    tsr_partitioner_local_chunk(const tsr_partitioner *partitioner, int64_t process,
                                const tsr_shape *shape, const tsr_spec *spec,
                                const tsr_chunk_options *options, tsr_chunk *out_chunk);

// ---- state ----

// get_logical_axes: the train state with its AxisNames, the tensors' `logical`. Optimizer state
// without names has those of its parameter, if their shapes are equal: the one whose path, whole or
// without its first part, is the end of its own path or stands before its last part
// ("target/mlp/wi" in "state/param_states/mlp/wi/m"). In the base form no tensor has names.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_partitioner_logical_axes(
    const tsr_partitioner *partitioner, const tsr_tree *state, tsr_tree **out_state);
// get_mesh_axes: those names mapped by the rules. What t5x gives are the rows' wanted specs; the
// final ones fit the mesh. A failure has the cause param_axes_failed and names the parameter.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_partitioner_mesh_axes(
    const tsr_partitioner *partitioner, const tsr_tree *state, tsr_plan **out_plan);

// ---- moving ----

typedef struct tsr_move_options {
  size_t size;      // sizeof(tsr_move_options)
  tsr_comm *comm;   // over the devices of the mesh
  bool keep;        // arrays of the old state are not donated; t5x always does
  bool host_local;  // tensors in host memory are this process's parts, as in t5x with several
} tsr_move_options;
#define TSR_MOVE_OPTIONS TSR_SIZED(tsr_move_options)

// Collective over the comm of the options (tessera/comm.h); ranks compare the state's tensors, the
// plan, the options and params_on_devices. move_params_to_devices: every tensor of a train state
// put as the plan of tsr_partitioner_mesh_axes says. Tensors in host memory are cut, arrays moved
// and donated. While params_on_devices is false nothing is moved: the state itself, held once more,
// whose tensors stay in host memory, where they were.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 3, 5) tsr_status
    tsr_partitioner_move_params(const tsr_partitioner *partitioner, const tsr_array_tree *state,
                                const tsr_plan *axes, const tsr_move_options *options,
                                tsr_array_tree **out_state);

// ---- checkpoints ----

// Collective. restore: the tensors of a train state (parameters, what the optimizer keeps, the
// step) from a checkpoint in any format, each on its devices as the plan of
// tsr_partitioner_mesh_axes says. It must have all of them, under the state's paths (or the
// options' map makes those), and of the state's shapes; others it has are not read. Types are those
// stored, unless the options cast them. They go straight to the devices, whatever params_on_devices
// says. NULL options = defaults; `planned_only` is taken for granted.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 3, 4, 6) tsr_status
    tsr_partitioner_restore(const tsr_partitioner *partitioner, const tsr_checkpoint *checkpoint,
                            const tsr_plan *axes, tsr_comm *comm, const tsr_load_options *options,
                            tsr_array_tree **out_state);
// Collective. save: a train state as a checkpoint (tsr_checkpoint_save), whole or not at all. In
// formats that cut tensors they are cut as `axes` says, whether they lie so or are in host memory,
// unless the options have a plan of their own. NULL options = defaults.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 3, 4, 5) tsr_status
    tsr_partitioner_save(const tsr_partitioner *partitioner, const tsr_array_tree *state,
                         const tsr_plan *axes, const char *path, tsr_comm *comm,
                         const tsr_save_options *options);

TSR_END_DECLS

#endif
