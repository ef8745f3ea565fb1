// The rule of tessera/api.h on integers, for the compiler to hold: ids, positions, indices and
// counts are int64_t; dimensions, mesh axes, and ranks and workers of a comm are int. Nothing here
// is run.
#include "array/array_internal.h"
#include "array/chunks_internal.h"
#include "base/buffer_internal.h"
#include "layout/layout_internal.h"
#include "map/map_internal.h"
#include "mesh/mesh_internal.h"
#include "plan/plan_internal.h"
#include "plan/tree_internal.h"
#include "rules/logical_internal.h"
#include "rules/rules_internal.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/save.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/t5x_chunks.h"
#include "tessera/compat/t5x_partitioner.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"
#include "tessera/engine/topology.h"
#include "tessera/tessera.h"
#include "transfer/transfer_internal.h"

#define IS(type, expression) \
  _Static_assert(_Generic((expression), type : 1, default : 0), #expression " is no " #type)
#define FIELD(type, record, field) IS(type, ((record *)0)->field)

extern const tsr_topology *topology;
extern const tsr_mesh *mesh;
extern const tsr_layout *layout;
extern const tsr_array *array;
extern const tsr_chunker *chunker;
extern const tsr_comm *comm;
extern const tsr_rules *rules;
extern const tsr_logical_rules *logical;
extern const tsr_map *map;
extern const tsr_plan *plan;
extern const tsr_tree *tree;
extern const tsr_checkpoint *checkpoint;
extern const tsr_sequence *sequence;
extern const tsr_buffer *buffer;

// ---- ids of devices and processes ----

FIELD(int64_t, tsr_device, id);
FIELD(int64_t, tsr_device, process);
FIELD(int64_t, tsr_device, slice);
FIELD(int64_t, tsr_device, coords[0]);
FIELD(int64_t, tsr_groups, members[0]);
FIELD(int64_t, tsr_pair, source);
FIELD(int64_t, tsr_mesh_desc, devices[0]);
FIELD(int64_t, tsr_device_array, ids[0]);
FIELD(int64_t, tsr_relabelling, devices[0]);
FIELD(int64_t, tsr_local_shard, device);
FIELD(int64_t, tsr_data_layout_options, host_index[0]);
IS(int64_t, tsr_mesh_device_at(mesh, 0));
IS(int64_t, *tsr_mesh_device_list(mesh));
IS(int64_t, tsr_mesh_process(mesh, 0));
IS(int64_t, tsr_layout_device_at(layout, 0));
IS(int64_t, tsr_array_device(array, 0));
IS(int64_t, tsr_chunker_process_at(chunker, 0));

// ---- counts and indices ----

FIELD(int64_t, tsr_topology_desc, device_count);
FIELD(int64_t, tsr_rule, line);
FIELD(int64_t, tsr_rules_options, fact_count);
FIELD(int64_t, tsr_facts, count);
FIELD(int64_t, tsr_logical_reason, rule);
FIELD(int64_t, tsr_plan_row, note_count);
FIELD(int64_t, tsr_plan_note, rule);
FIELD(int64_t, tsr_tree_filter, include_count);
FIELD(int64_t, tsr_load_options, cast_count);
FIELD(int64_t, tsr_save_options, metadata_count);
FIELD(int64_t, tsr_stored, file);
FIELD(int64_t, tsr_stage, count);
FIELD(int64_t, tsr_changes, count);
IS(int64_t, tsr_topology_device_count(topology));
IS(int64_t, tsr_topology_device_find(topology, 0));
IS(int64_t, tsr_mesh_process_count(mesh));
IS(int64_t, tsr_chunker_process_count(chunker));
IS(int64_t, tsr_rules_count(rules));
IS(int64_t, tsr_logical_rules_count(logical));
IS(int64_t, tsr_map_count(map));
IS(int64_t, tsr_plan_spec_count(plan));
IS(int64_t, tsr_plan_final(plan, 0));
IS(int64_t, tsr_tree_count(tree));
IS(int64_t, tsr_checkpoint_file_count(checkpoint));
IS(int64_t, tsr_checkpoint_copies(checkpoint, 0));
IS(int64_t, tsr_sequence_step_count(sequence));
IS(int64_t, tsr_buffer_holders(buffer));

// ---- what is int ----

FIELD(int, tsr_tensor, rank);
FIELD(int, tsr_mesh_desc, axis_count);
FIELD(int, tsr_plan_note, dim);
FIELD(int, tsr_comm_options, workers);
IS(int, tsr_mesh_axis_count(mesh));
IS(int, tsr_mesh_axis_find(mesh, "x"));
IS(int, tsr_layout_rank(layout));
IS(int, tsr_comm_rank(comm));
IS(int, tsr_comm_rank_count(comm));
