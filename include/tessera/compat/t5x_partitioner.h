// Partitioner: the front door of t5x. One object that knows the mesh for a topology, the rules for
// logical axes, and the rows of a batch that each process reads.
//
//   tsr_partitioner *partitioner = NULL;
//   tsr_partitioner_options options = TSR_PARTITIONER_OPTIONS;
//   options.num_partitions = 4;
//   TSR_TRY(tsr_partitioner_create(pod, &options, &partitioner));
//   tsr_data_layout layout;
//   TSR_TRY(tsr_partitioner_data_layout(partitioner, process, 256, NULL, &layout));
//   tsr_plan *plan = NULL;
//   TSR_TRY(tsr_partitioner_mesh_axes(partitioner, state, &plan));
//   tsr_partitioned *step = NULL;
//   TSR_TRY(tsr_partitioner_partition(partitioner, program, NULL, &step));
//
// There are two forms: that of PjitPartitioner, whose rules map logical axes, and the base form,
// which has no rules. t5x answers for the process it runs in; here the process is an argument, so
// one program can answer for a whole fleet. docs/compatibility.md lists the differences from t5x.
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
#include "tessera/program/partitioned.h"
#include "tessera/program/program.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/topology.h"
#include "tessera/tree.h"

TSR_BEGIN_DECLS

// Shared by any threads. Immutable, except the flag params_on_devices, which any of them may
// change.
typedef struct tsr_partitioner tsr_partitioner;

typedef struct tsr_partitioner_options {
  size_t size;                                      // sizeof(tsr_partitioner_options)
  int64_t num_partitions;                           // 0 = not given
  const tsr_hardware_mesh *model_parallel_submesh;  // NULL or no sizes = not given
  const int64_t *ici_mesh_shape, *dcn_mesh_shape;   // both: a mesh of replica, data and model
  int ici_rank, dcn_rank;
  const char *backend;                          // required platform of the devices; NULL = any
  bool params_on_host;                          // params_on_devices = false
  bool base;                                    // the base form: no logical axes
  const tsr_logical_rules *logical_axis_rules;  // NULL = t5x's standard ones
} tsr_partitioner_options;
#define TSR_PARTITIONER_OPTIONS TSR_SIZED(tsr_partitioner_options)

// Fails with no_partition_count if neither a number nor a submesh is given, and as
// tsr_t5x_default_mesh if there is no such mesh. With both mesh shapes every rule for "batch"
// becomes replica+data. NULL topology: a partitioner without a mesh, with rules and data axes only.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(3) tsr_status
    tsr_partitioner_create(const tsr_topology *topology, const tsr_partitioner_options *options,
                           tsr_partitioner **out_partitioner);
TSR_API void tsr_partitioner_release(const tsr_partitioner *partitioner);  // NULL is fine

// Borrowed. The mesh is NULL without a topology, the rules are NULL in the base form.
TSR_API TSR_NONNULL const tsr_mesh *tsr_partitioner_mesh(const tsr_partitioner *partitioner);
TSR_API TSR_NONNULL const tsr_logical_rules *tsr_partitioner_logical_axis_rules(
    const tsr_partitioner *partitioner);
// Whether parameters are moved to the devices (the default unless params_on_host) or stay in host
// memory. All holders see the change at once, from any thread.
TSR_API TSR_NONNULL bool tsr_partitioner_params_on_devices(const tsr_partitioner *partitioner);
TSR_API TSR_NONNULL void tsr_partitioner_set_params_on_devices(tsr_partitioner *partitioner,
                                                               bool on_devices);

// ---- data ----

// The spec of a batch: one entry with the data axes. They are `data`, or replica+data with both
// mesh shapes; with rules, the axes that "batch" maps to, possibly none.
TSR_API TSR_NONNULL const tsr_spec *tsr_partitioner_data_partition_spec(
    const tsr_partitioner *partitioner);

typedef struct tsr_data_layout {
  int64_t batch_size;  // of all processes together; 0 = any, if there is no data axis
  int64_t shard_id, num_shards;
  bool is_first_host_in_replica_set;
} tsr_data_layout;

typedef struct tsr_data_layout_options {
  size_t size;                // sizeof(tsr_data_layout_options)
  const int64_t *host_index;  // the process to answer for instead; NULL = not given
  bool serve_host_index;      // t5x documents host_index but fails with host_index_unsupported
} tsr_data_layout_options;
#define TSR_DATA_LAYOUT_OPTIONS TSR_SIZED(tsr_data_layout_options)

// get_data_layout. A batch of 0 means the size of the data mesh; others must be multiples of it.
// Without a data axis every process reads the whole batch, and process 0 is the first host.
// `options` may be NULL.
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

// get_logical_axes: the train state with its AxisNames in the tensors' `logical`. Optimizer state
// without names takes those of its parameter, if their shapes are equal. The parameter is the one
// whose path, whole or without its first component, ends the state's path or comes before its last
// component ("target/mlp/wi" in "state/param_states/mlp/wi/m"). In the base form no tensor has
// names.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_partitioner_logical_axes(
    const tsr_partitioner *partitioner, const tsr_tree *state, tsr_tree **out_state);
// get_mesh_axes: those names mapped by the rules. The wanted specs are t5x's; the final ones fit
// the mesh. A failure has the cause param_axes_failed and names the parameter.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_partitioner_mesh_axes(
    const tsr_partitioner *partitioner, const tsr_tree *state, tsr_plan **out_plan);

// ---- moving ----

typedef struct tsr_move_options {
  size_t size;      // sizeof(tsr_move_options)
  tsr_comm *comm;   // over the devices of the mesh
  bool keep;        // do not donate arrays of the old state, as t5x does
  bool host_local;  // tensors in host memory are this process's boxes of global arrays
} tsr_move_options;
#define TSR_MOVE_OPTIONS TSR_SIZED(tsr_move_options)

// Collective over the comm of the options (tessera/comm.h); ranks compare the state's tensors, the
// plan, the options and params_on_devices. move_params_to_devices: distributes every tensor of a
// train state by the plan of tsr_partitioner_mesh_axes. Tensors in host memory are cut, arrays are
// moved and donated. While params_on_devices is false nothing moves: the result is the same state,
// retained.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 3, 5) tsr_status
    tsr_partitioner_move_params(const tsr_partitioner *partitioner, const tsr_array_tree *state,
                                const tsr_plan *axes, const tsr_move_options *options,
                                tsr_array_tree **out_state);

// ---- programs ----

// partition: tsr_program_partition on the partitioner's mesh, for a train step. The fields of the
// options are t5x's arguments: in_axis_resources and out_axis_resources are `specs` (with `logical`
// names of logical axes, which the partitioner's rules map) or the plan of
// tsr_partitioner_mesh_axes, static_argnums `statics`, donate_argnums `donated`. NULL options: all
// is propagated from what the program says.
//
// lower, compile and call are tsr_partitioned_lower, tsr_partitioned_compile and tsr_compiled_call.
// As PjittedFnWithContext does, partitioning, compiling and calling enter the partitioner's mesh
// and rules on this thread, and leave them as they were. The train state is moved, saved and
// restored by the plan of tsr_partitioned_state_plan.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 4) tsr_status
    tsr_partitioner_partition(const tsr_partitioner *partitioner, const tsr_program *program,
                              const tsr_partition_options *options,
                              tsr_partitioned **out_partitioned);

// ---- checkpoints ----

// Collective. restore: loads the tensors of a train state (parameters, optimizer state, the step)
// from a checkpoint in any format onto the devices, by the plan of tsr_partitioner_mesh_axes. The
// checkpoint must have all of them, with the state's paths (or the options' map makes those) and
// shapes; other tensors are not read. Dtypes are those stored, unless the options cast them.
// params_on_devices has no effect. NULL options = defaults; `planned_only` is implied.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 3, 4, 6) tsr_status
    tsr_partitioner_restore(const tsr_partitioner *partitioner, const tsr_checkpoint *checkpoint,
                            const tsr_plan *axes, tsr_comm *comm, const tsr_load_options *options,
                            tsr_array_tree **out_state);
// Collective. save: writes a train state as a checkpoint (tsr_checkpoint_save), atomically. Formats
// that store shards cut tensors by `axes`, whatever their layout now, unless the options have a
// plan. NULL options = defaults.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 3, 4, 5) tsr_status
    tsr_partitioner_save(const tsr_partitioner *partitioner, const tsr_array_tree *state,
                         const tsr_plan *axes, const char *path, tsr_comm *comm,
                         const tsr_save_options *options);

TSR_END_DECLS

#endif
