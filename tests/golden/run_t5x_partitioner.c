// t5x's PjitPartitioner: its rules, and the data layout of every process.
#include "golden/golden.h"
#include "json/json.h"
#include "partitioner/partitioner_internal.h"
#include "rules/logical_internal.h"
#include "spec/spec_internal.h"
#include "tessera/compat/t5x_mesh.h"
#include "tessera/compat/t5x_partitioner.h"
#include "topology/topology_internal.h"

// The arguments of the constructor, and what they point to.
typedef struct arguments {
  tsr_partitioner_options options;
  tsr_hardware_mesh submesh;
  tsr_logical_rules *rules;
} arguments;

static tsr_status read_mesh_shape(const golden_case *c, const tsr_json *object, const char *what,
                                  const int64_t **out_sizes, int *out_rank) {
  const tsr_json *value = tsr_json_find(object, what);
  golden_ints sizes;
  if (golden_is_null(value)) return NULL;
  TSR_TRY(golden_read_ints(c, value, what, &sizes));
  *out_sizes = sizes.items;
  *out_rank = sizes.count;
  return NULL;
}

// Release the rules also after a failure.
static tsr_status read_arguments(const golden_case *c, const tsr_json *object, arguments *out) {
  *out = (arguments){.options = {.size = sizeof out->options}};
  const tsr_json *partitions = tsr_json_find(object, "num_partitions");
  const tsr_json *rules = tsr_json_find(object, "logical_axis_rules");
  if (!golden_is_null(partitions))
    TSR_TRY(tsr_json_get_int(partitions, "num_partitions", &out->options.num_partitions));
  if (!golden_is_null(tsr_json_find(object, "model_parallel_submesh"))) {
    TSR_TRY(golden_read_submesh(c, object, &out->submesh));
    out->options.model_parallel_submesh = &out->submesh;
  }
  TSR_TRY(read_mesh_shape(c, object, "ici_mesh_shape", &out->options.ici_mesh_shape,
                          &out->options.ici_rank));
  TSR_TRY(read_mesh_shape(c, object, "dcn_mesh_shape", &out->options.dcn_mesh_shape,
                          &out->options.dcn_rank));
  if (!golden_is_null(rules)) TSR_TRY(tsr_logical_rules_from_json(rules, &out->rules));
  out->options.logical_axis_rules = out->rules;
  return NULL;
}

static tsr_status make_partitioner(const golden_case *c, const tsr_json *object,
                                   const tsr_topology *topology, tsr_partitioner **out) {
  arguments given;
  tsr_status status = read_arguments(c, object, &given);
  if (!status) status = tsr_partitioner_create(topology, &given.options, out);
  tsr_logical_rules_release(given.rules);
  return status;
}

// ---- partitioner_rules ----

static void write_entry(tsr_json_writer *out, const tsr_spec_dim *dim) {
  if (!dim->stage_count) {
    tsr_json_write_null(out);
    return;
  }
  const tsr_stage *stage = &dim->stages[0];
  if (stage->axis_count > 1) tsr_json_begin_inline_array(out);
  for (int i = 0; i < stage->axis_count; i++) tsr_json_write_string(out, stage->axes[i].name);
  if (stage->axis_count > 1) tsr_json_end_array(out);
}

tsr_status golden_partitioner_rules(const golden_case *c, const golden_answer *answer) {
  tsr_partitioner *partitioner = NULL;
  TSR_TRY(make_partitioner(c, c->input, NULL, &partitioner));
  tsr_json_begin_object(answer->out);
  tsr_json_write_key(answer->out, "logical_axis_rules");
  tsr_logical_rules_to_json(tsr_partitioner_logical_axis_rules(partitioner), answer->out);
  tsr_json_write_key(answer->out, "data_axis");
  write_entry(answer->out,
              &tsr_spec_desc_of(tsr_partitioner_data_partition_spec(partitioner))->dims[0]);
  tsr_json_end_object(answer->out);
  tsr_partitioner_release(partitioner);
  return NULL;
}

// ---- data_layout ----

// In C a batch of 0 is one that was not given, Python's None.
static void write_layout(const tsr_data_layout *layout, bool batch_given, tsr_json_writer *out) {
  tsr_json_begin_inline_array(out);
  if (layout->batch_size || batch_given)
    tsr_json_write_int(out, layout->batch_size);
  else
    tsr_json_write_null(out);
  tsr_json_write_int(out, layout->shard_id);
  tsr_json_write_int(out, layout->num_shards);
  tsr_json_write_bool(out, layout->is_first_host_in_replica_set);
  tsr_json_end_array(out);
}

static tsr_status write_layouts(const golden_case *c, const tsr_partitioner *partitioner,
                                const tsr_topology *topology, tsr_json_writer *out) {
  const bool batch_given = !golden_is_null(golden_get(c, "batch_size"));
  int64_t batch = 0, index = 0;
  tsr_data_layout_options options = {.size = sizeof options};
  int64_t host = 0;
  if (batch_given) TSR_TRY(golden_int(c, "batch_size", &batch));
  if (!golden_is_null(golden_get(c, "host_index"))) {
    TSR_TRY(golden_int(c, "host_index", &index));
    host = index;
    options.host_index = &host;
  }
  tsr_json_write_key(out, "processes");
  tsr_json_begin_object(out);
  for (int64_t process = 0; process < tsr_topology_process_count(topology); process++) {
    tsr_data_layout layout;
    TSR_TRY(tsr_partitioner_data_layout(partitioner, process, batch, &options, &layout));
    golden_write_process_key(out, process);
    write_layout(&layout, batch_given, out);
  }
  tsr_json_end_object(out);
  return NULL;
}

static void write_mesh_shape(tsr_json_writer *out, const tsr_mesh *mesh) {
  tsr_json_write_key(out, "mesh_shape");
  tsr_json_begin_object(out);
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++) {
    tsr_json_write_key(out, tsr_mesh_axis_at(mesh, i)->name);
    tsr_json_write_int(out, tsr_mesh_axis_at(mesh, i)->size);
  }
  tsr_json_end_object(out);
}

// As process 0 sees it.
static tsr_status write_data_sizes(const tsr_partitioner *partitioner, tsr_json_writer *out) {
  int64_t size = 0, shards = 0;
  TSR_TRY(tsr_partitioner_data_mesh_size(partitioner, &size));
  TSR_TRY(tsr_partitioner_data_shards(partitioner, 0, &shards));
  tsr_json_write_key(out, "data_mesh_size");
  tsr_json_write_int(out, size);
  tsr_json_write_key(out, "data_shards");
  tsr_json_write_int(out, shards);
  return NULL;
}

static tsr_status write_data(const golden_case *c, const tsr_partitioner *partitioner,
                             const tsr_topology *topology, tsr_json_writer *out) {
  const tsr_spec *spec = tsr_partitioner_data_partition_spec(partitioner);
  tsr_json_begin_object(out);
  TSR_TRY(write_layouts(c, partitioner, topology, out));
  tsr_json_write_key(out, "data_partition_spec");
  tsr_spec_to_json(spec, out);
  write_mesh_shape(out, tsr_partitioner_mesh(partitioner));
  if (tsr_spec_desc_of(spec)->dims[0].stage_count) TSR_TRY(write_data_sizes(partitioner, out));
  tsr_json_end_object(out);
  return NULL;
}

tsr_status golden_data_layout(const golden_case *c, const golden_answer *answer) {
  tsr_topology *topology = NULL;
  tsr_partitioner *partitioner = NULL;
  TSR_TRY(golden_machine(c, "fleet", &topology));
  tsr_status status = make_partitioner(c, golden_get(c, "partitioner"), topology, &partitioner);
  if (!status) status = write_data(c, partitioner, topology, answer->out);
  tsr_partitioner_release(partitioner);
  tsr_topology_release(topology);
  return status;
}
