// t5x's partitioning in C: where devices are in the machine, meshes with a model-parallel submesh
// or over several slices, which chunk is whose, and a partitioner that moves a train state.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tessera/compat/jax_mesh.h>
#include <tessera/compat/t5x.h>
#include <tessera/engine/topology.h>
#include <tessera/tessera.h>

static void print_place(const char *what, const tsr_hardware_mesh *place) {
  printf("%s", what);
  for (int i = 0; i < place->count; i++) printf(" %" PRId64, place->dims[i]);
}

// get_coords and bounds_from_last_device.
static void print_machine(const tsr_topology *pod) {
  const int64_t last = tsr_topology_device_count(pod) - 1;
  tsr_hardware_mesh coords, bounds;
  if (!tsr_t5x_get_coords(pod, last, &coords)) return;
  if (!tsr_t5x_bounds_from_last_device(pod, last, &bounds)) return;
  print_place("the last device is at", &coords);
  print_place(", the machine has", &bounds);
  printf("\n");
}

static tsr_status print_mesh(const char *what, const tsr_topology *machine,
                             const tsr_t5x_mesh_options *options) {
  TSR_OWN(mesh, mesh);
  TSR_OWN(text, text);
  TSR_TRY(tsr_t5x_default_mesh(machine, options, &mesh));
  tsr_mesh_print(mesh, &text);
  const char *all = tsr_text_string(&text);
  printf("%-14s %.*s\n", what, (int)strcspn(all, " "), all);  // without the order of its devices
  return NULL;
}

// get_mesh, with its options; and create_hybrid_device_mesh over two slices, as default_mesh does.
static tsr_status print_meshes(const tsr_topology *pod) {
  const tsr_hardware_mesh submesh = {4, {2, 2, 1, 1}};
  const int64_t ici[] = {1, 4, 8}, dcn[] = {2, 1, 1};
  tsr_t5x_mesh_options options = TSR_T5X_MESH_OPTIONS;
  options.model_parallel_submesh = &submesh;
  options.no_host_tiling = true;
  options.local_process = 0;
  TSR_TRY(print_mesh("2 x 2 submesh", pod, &options));
  TSR_OWN(topology, slices);
  TSR_TRY(tsr_topology_parse("tpu-v4:2x4x4:slices=2", &slices));
  tsr_t5x_mesh_options hybrid = TSR_T5X_MESH_OPTIONS;
  hybrid.ici_mesh_shape = ici;
  hybrid.dcn_mesh_shape = dcn;
  hybrid.ici_rank = hybrid.dcn_rank = 3;
  return print_mesh("two slices", slices, &hybrid);
}

// create_hybrid_device_mesh itself, over the devices that are given (get_mesh's input_devices): two
// hosts with two devices each.
static tsr_status print_hybrid(void) {
  tsr_device devices[4] = {0};
  for (int i = 0; i < 4; i++)
    devices[i] =
        (tsr_device){.id = i, .process = i / 2, .slice = TSR_NO_SLICE, .core = TSR_NO_CORE};
  tsr_topology_desc desc = TSR_TOPOLOGY_DESC;
  desc.platform = TSR_PLATFORM_GPU;
  desc.kind = "gpu";
  desc.device_count = 4;
  desc.devices = devices;
  tsr_jax_mesh_options options = TSR_JAX_MESH_OPTIONS;
  options.process_is_granule = true;
  tsr_device_array array = {0};
  TSR_OWN(topology, hosts);
  TSR_TRY(tsr_topology_create(&desc, &hosts));
  TSR_TRY(tsr_jax_create_hybrid_device_mesh(hosts, (const int64_t[]){1, 2}, (const int64_t[]){2, 1},
                                            2, &options, &array));
  printf("hybrid: %" PRId64 " x %" PRId64 ", devices", array.dims[0], array.dims[1]);
  for (int64_t i = 0; i < array.count; i++) printf(" %" PRId64, array.ids[i]);
  printf("\n");
  tsr_device_array_deinit(&array);
  return NULL;
}

// LocalChunker: num_chunks, chunk_ids, get_shard_id, get_replica_id.
static tsr_status print_chunks(const tsr_mesh *mesh, int64_t process) {
  static const char *const data[] = {"data"};
  tsr_process_chunks chunks;
  int64_t shard = 0, replica = 0;
  TSR_OWN(chunker, chunker);
  TSR_TRY(tsr_chunker_create(mesh, &chunker));
  TSR_TRY(tsr_chunker_chunks(chunker, process, &chunks));
  TSR_TRY(tsr_chunker_shard_id(chunker, process, data, 1, &shard));
  TSR_TRY(tsr_chunker_replica_id(chunker, process, data, 1, &replica));
  printf("process %" PRId64 ": chunk %" PRId64 " of %" PRId64 " of data, shard %" PRId64
         ", replica %" PRId64 "\n",
         process, chunks.chunk_ids[0], chunks.num_chunks[0], shard, replica);
  return NULL;
}

// move_params_to_devices, which asks params_on_devices; get_logical_axes and get_mesh_axes say how.
static tsr_status move(tsr_partitioner *partitioner, tsr_comm *comm) {
  static const float weights[16 * 8];
  static const char *const logical[] = {"embed", "mlp"};  // AxisNames
  tsr_leaf leaf = {.tensor = tsr_tensor_of("target/mlp/wi", TSR_F32, TSR_SHAPE(16, 8)),
                   .kind = TSR_LEAF_HOST,
                   .data = weights};
  leaf.tensor.logical = logical;
  TSR_OWN(array_tree, state);
  TSR_OWN(array_tree, moved);
  TSR_OWN(tree, shapes);
  TSR_OWN(tree, with_names);
  TSR_OWN(plan, axes);
  TSR_OWN(text, text);
  TSR_TRY(tsr_array_tree_create(&leaf, 1, &state));
  TSR_TRY(tsr_array_tree_shapes(state, &shapes));
  TSR_TRY(tsr_partitioner_logical_axes(partitioner, shapes, &with_names));
  TSR_TRY(tsr_partitioner_mesh_axes(partitioner, with_names, &axes));
  tsr_move_options options = TSR_MOVE_OPTIONS;
  options.comm = comm;
  options.host_local = false;  // every process has the whole tensors
  tsr_partitioner_set_params_on_devices(partitioner, true);
  TSR_TRY(tsr_partitioner_move_params(partitioner, state, axes, &options, &moved));
  tsr_array_tree_print(moved, &text);
  printf("%s: %s", tsr_partitioner_params_on_devices(partitioner) ? "moved" : "kept",
         tsr_text_string(&text));
  return NULL;
}

// logical_to_mesh_axes of the standard rules.
static tsr_status print_rule(const tsr_logical_rules *rules, const char *name) {
  TSR_OWN(spec, spec);
  TSR_OWN(text, text);
  const tsr_logical_names names = {1, &TSR_LOGICAL_NAME(name), NULL};
  TSR_TRY(tsr_logical_to_mesh_axes(&names, rules, &spec, NULL));
  TSR_TRY(tsr_spec_print(spec, TSR_FORM_JAX, &text));
  printf("the rules map %s to %s\n", name, tsr_text_string(&text));
  return NULL;
}

static tsr_status use_partitioner(const tsr_topology *hosts) {
  tsr_partitioner_options options = TSR_PARTITIONER_OPTIONS;
  options.num_partitions = 2;
  options.backend = "gpu";
  options.params_on_host = true;
  tsr_chunk chunk;
  TSR_OWN(logical_rules, rules);
  TSR_TRY(tsr_logical_standard(1, 2, NULL, false, &rules));  // parameters cut in two dimensions
  options.logical_axis_rules = rules;
  TSR_OWN(partitioner, partitioner);
  TSR_OWN(comm, comm);
  TSR_OWN(text, text);
  TSR_TRY(tsr_partitioner_create(hosts, &options, &partitioner));
  const tsr_mesh *mesh = tsr_partitioner_mesh(partitioner);
  TSR_TRY(tsr_comm_create(tsr_mesh_device_count(mesh), NULL, &comm));
  const tsr_spec *batch = tsr_partitioner_data_partition_spec(partitioner);
  TSR_TRY(tsr_spec_print(batch, TSR_FORM_JAX, &text));
  TSR_TRY(tsr_partitioner_local_chunk(partitioner, 1, TSR_SHAPE(64), batch, NULL, &chunk));
  printf("batches are %s; of 64 rows process 1 has %" PRId64 " to %" PRId64 "\n",
         tsr_text_string(&text), chunk.slice[0].lo, chunk.slice[0].hi);
  TSR_TRY(print_chunks(mesh, 1));
  TSR_TRY(print_rule(tsr_partitioner_logical_axis_rules(partitioner), "mlp"));
  return move(partitioner, comm);
}

// BasePartitioner has no rules. host_index is served where that is asked for.
static tsr_status use_base(const tsr_topology *hosts) {
  const int64_t host_index = 1;
  tsr_partitioner_options options = TSR_PARTITIONER_OPTIONS;
  options.num_partitions = 2;
  options.base = true;
  tsr_data_layout_options of_host = TSR_DATA_LAYOUT_OPTIONS;
  of_host.host_index = &host_index;
  of_host.serve_host_index = true;
  tsr_data_layout layout;
  TSR_OWN(partitioner, partitioner);
  TSR_TRY(tsr_partitioner_create(hosts, &options, &partitioner));
  TSR_TRY(tsr_partitioner_data_layout(partitioner, 0, 0, &of_host, &layout));
  printf("host 1 reads shard %" PRId64 " of %" PRId64 ", batch_size %" PRId64 "\n", layout.shard_id,
         layout.num_shards, layout.batch_size);
  return NULL;
}

// t5x's with_sharding_constraint does nothing on CPUs and outside a mesh.
static tsr_status print_constraint(const tsr_topology *pod) {
  tsr_scope scope;
  TSR_OWN(mesh, mesh);
  TSR_TRY(tsr_mesh_parse("data=-1", pod, &mesh));
  const bool outside = tsr_t5x_constraint_applies(pod);
  TSR_TRY(tsr_mesh_enter(mesh, &scope));
  printf("constraints apply outside a mesh: %s, inside: %s\n", outside ? "yes" : "no",
         tsr_t5x_constraint_applies(pod) ? "yes" : "no");
  tsr_scope_leave(scope);
  return NULL;
}

static tsr_status run(void) {
  TSR_OWN(topology, pod);
  TSR_OWN(topology, hosts);
  TSR_TRY(tsr_topology_parse("tpu-v4:4x4x2", &pod));
  TSR_TRY(tsr_topology_parse("gpu:2x4", &hosts));
  print_machine(pod);
  TSR_TRY(print_meshes(pod));
  TSR_TRY(print_hybrid());
  TSR_TRY(print_constraint(pod));
  TSR_TRY(use_partitioner(hosts));
  return use_base(hosts);
}

int main(void) { return tsr_status_exit(run()); }
