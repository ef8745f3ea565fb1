// The cost of a plan: memory per device, replicas, and the bytes gathered in a step. Tensors of one
// kind are counted once; device_bytes.c gives the bytes per device.
#include <stdlib.h>

#include "advice/memory_fit.h"
#include "advice/plan_auto_internal.h"
#include "base/room.h"
#include "base/sized.h"
#include "element/shape_internal.h"
#include "json/json_fields.h"
#include "layout/layout.h"
#include "layout/layout_internal.h"
#include "mesh/mesh.h"
#include "mesh/mesh_cost.h"
#include "plan/plan_internal.h"
#include "spec/spec_internal.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/mesh.h"

typedef struct analysis_job {
  const tsr_plan *plan;
  tsr_analysis *out;
  uint32_t gathered;  // fsdp-like axes, as bits
  tsr_axis_cost costs[TSR_MAX_AXES];
} analysis_job;

// ---- fsdp-like axes ----

static uint32_t usual_axes(const tsr_mesh *mesh) {
  static const char *const names[] = {"fsdp", "zero", "dp", "data"};
  uint32_t axes = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const int axis = tsr_mesh_axis_find(mesh, names[i]);
    if (axis >= 0) axes |= UINT32_C(1) << axis;
  }
  return axes;
}

static tsr_status find_gathered(analysis_job *job, const char *const *names, int count) {
  const tsr_mesh *mesh = job->plan->mesh;
  if (!names) job->gathered = usual_axes(mesh);
  for (int i = 0; names && i < count; i++) {
    int axis = 0;
    TSR_TRY(tsr_mesh_need_axis(mesh, names[i], &axis));
    job->gathered |= UINT32_C(1) << axis;
  }
  for (int axis = 0; axis < tsr_mesh_axis_count(mesh) && tsr_mesh_topology(mesh); axis++)
    if (job->gathered >> axis & 1) TSR_TRY(tsr_mesh_axis_cost(mesh, axis, &job->costs[axis]));
  return NULL;
}

// ---- tensors ----

// In how many shards each axis cuts the tensor; 1 = it does not.
static void count_shards(const tsr_layout *layout, int64_t shards[TSR_MAX_AXES]) {
  const tsr_sharding *sharding = tsr_layout_sharding(layout);
  for (int i = 0; i < TSR_MAX_AXES; i++) shards[i] = 1;
  for (int d = 0; d < tsr_layout_rank(layout); d++) {
    const tsr_sharding_dim *dim = tsr_sharding_dim_at(sharding, d);
    for (int s = 0; s < dim->stage_count; s++)
      for (int i = 0; i < dim->stages[s].axis_count; i++)
        shards[dim->stages[s].axes[i].axis] *= dim->stages[s].axes[i].size;
  }
}

// The length of a dimension's largest shard once the fsdp-like axes are gathered.
static int64_t gathered_length(const analysis_job *job, const tsr_layout *layout, int dim) {
  const tsr_sharding_dim *own = tsr_sharding_dim_at(tsr_layout_sharding(layout), dim);
  const tsr_cut cut = tsr_layout_cut(layout, dim);
  int64_t shards = 1;
  bool even = true;
  for (int s = 0; s < own->stage_count; s++) {
    even = even && own->stages[s].kind == TSR_STAGE_EVEN;
    for (int i = 0; i < own->stages[s].axis_count; i++)
      if (job->gathered >> own->stages[s].axes[i].axis & 1) shards *= own->stages[s].axes[i].size;
  }
  const int64_t left = own->shards / shards;
  if (even) return cut.size / left + (cut.size % left != 0);
  const int64_t longest = tsr_cut_longest(&cut);
  return longest > cut.size / shards ? cut.size : longest * shards;
}

static int64_t gathered_bytes(const analysis_job *job, const tsr_layout *layout, tsr_dtype dtype) {
  int64_t elements = 1;
  for (int d = 0; d < tsr_layout_rank(layout); d++) elements *= gathered_length(job, layout, d);
  return tsr_elements_bytes(dtype, elements);
}

// Shards are gathered axis by axis, without padding.
static void add_gather(analysis_job *job, const int64_t *shards, int64_t shard, int64_t whole,
                       int64_t count) {
  tsr_axis_cost costs[TSR_MAX_AXES];
  int64_t sizes[TSR_MAX_AXES], held = shard;
  int used = 0;
  for (int axis = 0; axis < job->out->axis_count; axis++) {
    if (!(job->gathered >> axis & 1) || shards[axis] == 1) continue;
    const int64_t joined = held > whole / shards[axis] ? whole : held * shards[axis];
    job->out->axes[axis].gathered_bytes += count * (joined - held);
    job->out->gathered_bytes += count * (joined - held);
    held = joined;
    costs[used] = job->costs[axis];
    sizes[used++] = shards[axis];
  }
  if (used && tsr_mesh_topology(job->plan->mesh))
    job->out->gather_seconds +=
        (double)count *
        tsr_collective_over(TSR_COLLECTIVE_ALL_GATHER, costs, sizes, used, (double)shard);
}

static void add_cut(analysis_job *job, const tsr_plan_kind *kind, const tsr_layout *layout) {
  const tsr_tensor *tensor = tsr_tree_at(job->plan->tree, kind->row);
  const int64_t bytes = tsr_tensor_bytes(tensor);
  int64_t shards[TSR_MAX_AXES];
  if (tsr_layout_shard_count(layout) == 1) return;
  job->out->sharded_tensors += kind->count;
  job->out->sharded_elements += kind->count * tsr_tensor_elements(tensor);
  job->out->sharded_bytes += kind->count * bytes;
  count_shards(layout, shards);
  for (int axis = 0; axis < job->out->axis_count; axis++) {
    if (shards[axis] == 1) continue;
    job->out->axes[axis].tensors += kind->count;
    job->out->axes[axis].bytes += kind->count * bytes;
  }
  add_gather(job, shards, job->plan->rows[kind->row].bytes_per_device,
             gathered_bytes(job, layout, tensor->dtype), kind->count);
}

static tsr_status add_kind(analysis_job *job, const tsr_plan_kind *kind) {
  const tsr_tensor *tensor = tsr_tree_at(job->plan->tree, kind->row);
  tsr_spec_stats *spec = &job->out->specs[tsr_plan_final(job->plan, kind->row)];
  tsr_layout *layout = NULL;
  TSR_TRY_NOTE(tsr_plan_layout(job->plan, kind->row, &layout), "tensor \"%s\"", tensor->path);
  spec->tensors += kind->count;
  spec->elements += kind->count * tsr_tensor_elements(tensor);
  spec->bytes += kind->count * tsr_tensor_bytes(tensor);
  job->out->elements += kind->count * tsr_tensor_elements(tensor);
  add_cut(job, kind, layout);
  tsr_layout_release(layout);
  return NULL;
}

static tsr_status add_kinds(analysis_job *job) {
  tsr_plan_kinds kinds;
  TSR_TRY(tsr_plan_kinds_init(&kinds, job->plan));
  tsr_status status = NULL;
  for (int64_t i = 0; !status && i < kinds.count; i++) status = add_kind(job, &kinds.items[i]);
  tsr_plan_kinds_deinit(&kinds);
  return status;
}

// ---- devices ----

static tsr_status add_devices(const tsr_plan *plan, tsr_analysis *out) {
  tsr_device_load load;
  TSR_TRY(tsr_plan_device_load(plan, &load));
  out->device_min = load.min;
  out->device_max = load.max;
  out->device_mean = load.total / (double)tsr_mesh_device_count(plan->mesh);
  out->balance = load.max ? out->device_mean / (double)load.max : 1;
  out->replication = out->bytes ? load.total / (double)out->bytes : 1;
  out->wasted_bytes = load.total - (double)out->bytes;
  return NULL;
}

// ---- all of it ----

// Specs of equal bytes stay in the order of the plan's pool.
typedef struct ranked_spec {
  tsr_spec_stats stats;
  int64_t index;
} ranked_spec;

static int compare_specs(const void *a, const void *b) {
  const ranked_spec *x = a, *y = b;
  if (x->stats.bytes != y->stats.bytes) return x->stats.bytes > y->stats.bytes ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

// The pool also has specs that no row ended with.
static tsr_status sort_specs(tsr_analysis *out) {
  ranked_spec *ranked = malloc(sizeof *ranked * ((size_t)out->spec_count + 1));
  int kept = 0;
  if (!ranked) return tsr_fail(NO_MEMORY, "analysis of %lld specs", (long long)out->spec_count);
  for (int64_t i = 0; i < out->spec_count; i++)
    if (out->specs[i].tensors) ranked[kept++] = (ranked_spec){out->specs[i], i};
  qsort(ranked, (size_t)kept, sizeof *ranked, compare_specs);
  for (int i = 0; i < kept; i++) out->specs[i] = ranked[i].stats;
  out->spec_count = kept;
  free(ranked);
  return NULL;
}

static tsr_status make_lists(const tsr_plan *plan, tsr_analysis *out) {
  out->plan = tsr_plan_retain(plan);
  out->axis_count = tsr_mesh_axis_count(plan->mesh);
  out->spec_count = tsr_plan_spec_count(plan);
  out->axes = calloc((size_t)out->axis_count + 1, sizeof *out->axes);
  out->specs = calloc((size_t)out->spec_count + 1, sizeof *out->specs);
  if (!out->axes || !out->specs)
    return tsr_fail(NO_MEMORY, "analysis of %lld specs", (long long)out->spec_count);
  for (int i = 0; i < out->axis_count; i++)
    out->axes[i].axis = tsr_mesh_axis_at(plan->mesh, i)->name;
  for (int64_t i = 0; i < out->spec_count; i++) out->specs[i].spec = tsr_plan_spec_at(plan, i);
  return NULL;
}

static tsr_status analyze(analysis_job *job, const char *const *fsdp_axes, int fsdp_axis_count) {
  TSR_TRY(make_lists(job->plan, job->out));
  TSR_TRY(find_gathered(job, fsdp_axes, fsdp_axis_count));
  job->out->tensors = tsr_plan_count(job->plan);
  job->out->bytes = tsr_tree_bytes(job->plan->tree);
  TSR_TRY(add_kinds(job));
  TSR_TRY(sort_specs(job->out));
  return add_devices(job->plan, job->out);
}

tsr_status tsr_plan_analyze(const tsr_plan *plan, const char *const *fsdp_axes, int fsdp_axis_count,
                            tsr_analysis *out_analysis) {
  tsr_analysis analysis = {0};
  analysis_job job = {.plan = plan, .out = &analysis};
  TSR_TRY(tsr_sized_check(tsr_analysis, out_analysis));
  if (fsdp_axis_count < 0)
    return tsr_fail(BAD_ARGUMENT, "%d fsdp_axes, wanted 0 or more", fsdp_axis_count);
  if (fsdp_axes) TSR_TRY(tsr_list_check(fsdp_axes, fsdp_axis_count, "fsdp axes"));
  if (!plan->mesh) return tsr_fail(NO_MESH_ACTIVE, "the plan was made without a mesh");
  tsr_status status = analyze(&job, fsdp_axes, fsdp_axis_count);
  if (status)
    tsr_analysis_deinit(&analysis);
  else
    tsr_sized_fill(tsr_analysis, &analysis, out_analysis);
  return status;
}

void tsr_analysis_deinit(tsr_analysis *analysis) {
  if (!analysis) return;
  free(analysis->axes);
  free(analysis->specs);
  tsr_plan_release(analysis->plan);
  tsr_sized_fill(tsr_analysis, &(tsr_analysis){0}, analysis);
}

// ---- as JSON ----

static void write_axes(tsr_json_writer *writer, const tsr_analysis *analysis) {
  static const tsr_json_field fields[] =
      TSR_JSON_FIELDS(tsr_axis_stats, axis, tensors, bytes, gathered_bytes);
  tsr_json_add_array(writer, "axes");
  for (int i = 0; i < analysis->axis_count; i++) {
    tsr_json_begin_inline_object(writer);
    tsr_json_add_fields(writer, fields, &analysis->axes[i]);
    tsr_json_end_object(writer);
  }
  tsr_json_end_array(writer);
}

static void write_specs(tsr_json_writer *writer, const tsr_analysis *analysis) {
  static const tsr_json_field fields[] = TSR_JSON_FIELDS(tsr_spec_stats, tensors, elements, bytes);
  tsr_json_add_array(writer, "specs");
  for (int64_t i = 0; i < analysis->spec_count; i++) {
    tsr_json_begin_inline_object(writer);
    tsr_json_write_key(writer, "spec");
    tsr_spec_to_json(analysis->specs[i].spec, writer);
    tsr_json_add_fields(writer, fields, &analysis->specs[i]);
    tsr_json_end_object(writer);
  }
  tsr_json_end_array(writer);
}

void tsr_analysis_to_json(const tsr_analysis *analysis, tsr_json_writer *writer) {
  static const tsr_json_field fields[] =
      TSR_JSON_FIELDS(tsr_analysis, tensors, elements, bytes, sharded_tensors, sharded_elements,
                      sharded_bytes, device_min, device_max, device_mean, balance, replication,
                      wasted_bytes, gathered_bytes, gather_seconds);
  tsr_json_begin_object(writer);
  tsr_json_add_fields(writer, fields, analysis);
  write_axes(writer, analysis);
  write_specs(writer, analysis);
  tsr_json_end_object(writer);
}
