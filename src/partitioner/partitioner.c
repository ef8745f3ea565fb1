// Making a partitioner: options are checked as in t5x, and mesh, rules and data axes are computed
// once.
#include "partitioner/partitioner.h"

#include <stdlib.h>

#include "base/sized.h"
#include "base/text_internal.h"
#include "partitioner/partitioner_internal.h"
#include "rules/logical_internal.h"
#include "spec/spec_internal.h"
#include "tessera/compat/t5x_mesh.h"
#include "tessera/compat/t5x_rules.h"
#include "tessera/engine/topology.h"
#include "tessera/topology.h"
#include "topology/topology_internal.h"

static bool has_submesh(const tsr_partitioner_options *options) {
  return options->model_parallel_submesh && options->model_parallel_submesh->count;
}

static bool has_slices(const tsr_partitioner_options *options) {
  return options->ici_mesh_shape && options->dcn_mesh_shape;
}

// ---- options ----

static void add_submesh(const tsr_hardware_mesh *submesh, tsr_text *out) {
  for (int i = 0; i < submesh->count && i < 4; i++)
    tsr_text_addf(out, "%s%lld", i ? ", " : "", (long long)submesh->dims[i]);
}

static void warn_about_submesh(const tsr_partitioner_options *options, tsr_text *out) {
  const tsr_hardware_mesh *submesh = options->model_parallel_submesh;
  if (submesh && submesh->count != 4) {
    tsr_text_add(out, "model_parallel_submesh (");
    add_submesh(submesh, out);
    tsr_text_addf(out, ") has %d sizes, wanted 4: x, y, z and core\n", submesh->count);
  }
  if (options->num_partitions && has_submesh(options)) {
    tsr_text_addf(out, "num_partitions (%lld) is ignored for model_parallel_submesh (",
                  (long long)options->num_partitions);
    add_submesh(submesh, out);
    tsr_text_add(out, ")\n");
  }
}

static void warn_about_ignored(const tsr_mesh *mesh, const tsr_partitioner_options *options,
                               tsr_text *out) {
  const char *const ici = "ici_mesh_shape", *const dcn = "dcn_mesh_shape";
  const bool has_ici = options->ici_mesh_shape, has_dcn = options->dcn_mesh_shape;
  if (has_ici != has_dcn)
    tsr_text_addf(out, "%s is ignored without %s\n", has_ici ? ici : dcn, has_ici ? dcn : ici);
  if (!mesh || has_slices(options) || has_submesh(options)) return;
  const int64_t model = tsr_mesh_axis_at(mesh, tsr_mesh_axis_find(mesh, "model"))->size;
  if (model != options->num_partitions)  // on CPUs
    tsr_text_addf(out, "num_partitions (%lld) is ignored: axis model is a host's %lld CPUs\n",
                  (long long)options->num_partitions, (long long)model);
}

static tsr_status check_options(const tsr_topology *topology,
                                const tsr_partitioner_options *options) {
  if (!options->num_partitions && !has_submesh(options))
    return tsr_fail(
        NO_PARTITION_COUNT,
        "neither num_partitions nor model_parallel_submesh is given; one of them is needed");
  if (!topology || !options->backend) return NULL;
  tsr_platform backend = TSR_PLATFORM_CPU;
  TSR_TRY_NOTE(tsr_platform_parse(options->backend, &backend), "backend");
  if (backend != tsr_topology_platform(topology))
    return tsr_fail(UNKNOWN_PLATFORM, "backend \"%s\" has no devices: the machine's are \"%s\"",
                    options->backend, tsr_platform_name(tsr_topology_platform(topology)));
  return NULL;
}

// ---- mesh, rules and data axes ----

static tsr_status make_mesh(tsr_partitioner *partitioner, const tsr_topology *topology,
                            const tsr_partitioner_options *options) {
  if (!topology) return NULL;
  const tsr_t5x_mesh_options mesh = {.size = sizeof mesh,
                                     .num_partitions = options->num_partitions,
                                     .model_parallel_submesh = options->model_parallel_submesh,
                                     .ici_mesh_shape = options->ici_mesh_shape,
                                     .dcn_mesh_shape = options->dcn_mesh_shape,
                                     .ici_rank = options->ici_rank,
                                     .dcn_rank = options->dcn_rank};
  TSR_TRY(tsr_t5x_default_mesh(topology, &mesh, &partitioner->mesh));
  return tsr_chunker_create(partitioner->mesh, &partitioner->chunker);
}

static tsr_status make_rules(tsr_partitioner *partitioner, const tsr_partitioner_options *options) {
  tsr_logical_rules *rules = tsr_logical_rules_retain(options->logical_axis_rules);
  if (!rules) TSR_TRY(tsr_logical_standard(1, 1, NULL, false, &rules));
  if (!has_slices(options)) {
    partitioner->rules = rules;
    return NULL;
  }
  const tsr_status status = tsr_logical_for_slices(rules, &partitioner->rules);
  tsr_logical_rules_release(rules);
  return status;
}

static tsr_status make_data_spec(tsr_partitioner *partitioner,
                                 const tsr_partitioner_options *options) {
  if (options->base) {
    const char *const axes = has_slices(options) ? "replica+data" : "data";
    return tsr_spec_of(&axes, 1, &partitioner->data_spec);
  }
  TSR_TRY(make_rules(partitioner, options));
  const tsr_logical_entry batch = TSR_LOGICAL_NAME("batch");
  return tsr_logical_to_mesh_axes(&(tsr_logical_names){1, &batch, NULL}, partitioner->rules,
                                  &partitioner->data_spec, NULL);
}

// The axes of the data spec's entry as a list, without None.
static tsr_status list_data_axes(tsr_partitioner *partitioner) {
  const tsr_spec_dim *dim = &tsr_spec_desc_of(partitioner->data_spec)->dims[0];
  if (!dim->stage_count) return NULL;
  const tsr_stage *stage = &dim->stages[0];
  partitioner->data_axes = calloc((size_t)stage->axis_count, sizeof *partitioner->data_axes);
  if (!partitioner->data_axes) return tsr_fail(NO_MEMORY, "%d data axes", stage->axis_count);
  for (int i = 0; i < stage->axis_count; i++)
    if (stage->axes[i].name[0])
      partitioner->data_axes[partitioner->data_axis_count++] = stage->axes[i].name;
  return NULL;
}

static tsr_status fill(tsr_partitioner *partitioner, const tsr_topology *topology,
                       const tsr_partitioner_options *options) {
  TSR_TRY(make_data_spec(partitioner, options));
  TSR_TRY(list_data_axes(partitioner));
  TSR_TRY(make_mesh(partitioner, topology, options));
  warn_about_submesh(options, &partitioner->warnings);
  warn_about_ignored(partitioner->mesh, options, &partitioner->warnings);
  return tsr_text_check(&partitioner->warnings);
}

tsr_status tsr_partitioner_create(const tsr_topology *topology,
                                  const tsr_partitioner_options *given,
                                  tsr_partitioner **out_partitioner) {
  tsr_partitioner_options options;
  TSR_TRY(tsr_sized_read(tsr_partitioner_options, given, &options));
  TSR_TRY(check_options(topology, &options));
  tsr_partitioner *partitioner = calloc(1, sizeof *partitioner);
  if (!partitioner) return tsr_fail(NO_MEMORY, "a partitioner");
  atomic_init(&partitioner->params_on_devices, !options.params_on_host);
  const tsr_status status = fill(partitioner, topology, &options);
  if (status)
    tsr_partitioner_release(partitioner);
  else
    *out_partitioner = partitioner;
  return status;
}

// ---- reading ----

void tsr_partitioner_release(const tsr_partitioner *partitioner) {
  tsr_partitioner *own = (tsr_partitioner *)(uintptr_t)partitioner;
  if (!own) return;
  tsr_chunker_release(own->chunker);
  tsr_mesh_release(own->mesh);
  tsr_logical_rules_release(own->rules);
  tsr_spec_release(own->data_spec);
  free(own->data_axes);
  tsr_text_deinit(&own->warnings);
  free(own);
}

tsr_status tsr_partitioner_need_mesh(const tsr_partitioner *partitioner) {
  if (partitioner->mesh) return NULL;
  return tsr_fail(NO_MESH_ACTIVE, "the partitioner was made without a machine, so it has no mesh");
}

const tsr_mesh *tsr_partitioner_mesh(const tsr_partitioner *partitioner) {
  return partitioner->mesh;
}

const tsr_logical_rules *tsr_partitioner_logical_axis_rules(const tsr_partitioner *partitioner) {
  return partitioner->rules;
}

const char *tsr_partitioner_warnings(const tsr_partitioner *partitioner) {
  return tsr_text_string(&partitioner->warnings);
}

bool tsr_partitioner_params_on_devices(const tsr_partitioner *partitioner) {
  return atomic_load(&partitioner->params_on_devices);
}

void tsr_partitioner_set_params_on_devices(tsr_partitioner *partitioner, bool on_devices) {
  atomic_store(&partitioner->params_on_devices, on_devices);
}

const tsr_spec *tsr_partitioner_data_partition_spec(const tsr_partitioner *partitioner) {
  return partitioner->data_spec;
}
