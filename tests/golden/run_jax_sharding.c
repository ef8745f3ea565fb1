// JAX's PartitionSpec, NamedSharding and Mesh, and Shardy's reshards.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "golden/golden.h"
#include "json/json.h"
#include "layout/layout_internal.h"
#include "mesh/mesh_internal.h"
#include "spec/sharding_internal.h"
#include "spec/spec_internal.h"
#include "tessera/compat/hlo.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"

// ---- arguments ----

static tsr_status read_refs(const golden_case *c, const char *what, const tsr_axis_ref **out,
                            int *out_count) {
  golden_names names;
  if (golden_is_null(golden_get(c, what))) return NULL;
  TSR_TRY(golden_read_names(c, golden_get(c, what), what, &names));
  tsr_axis_ref *refs = tsr_arena_zeros(c->arena, (size_t)names.count + 1, sizeof *refs);
  if (!refs) return tsr_fail(NO_MEMORY, "%s", what);
  for (int i = 0; i < names.count; i++) refs[i] = (tsr_axis_ref){names.items[i], 1, 0};
  *out = refs;
  *out_count = names.count;
  return NULL;
}

// The entries under `what`, with the sets "unreduced" and "reduced" of the case.
static tsr_status read_spec(const golden_case *c, const char *what, tsr_spec **out) {
  tsr_spec *entries = NULL;
  TSR_TRY(tsr_spec_from_json(golden_get(c, what), &entries));
  tsr_spec_desc desc = *tsr_spec_desc_of(entries);
  tsr_status status = read_refs(c, "unreduced", &desc.unreduced, &desc.unreduced_count);
  if (!status) status = read_refs(c, "reduced", &desc.reduced, &desc.reduced_count);
  if (!status) status = tsr_spec_create(&desc, out);
  tsr_spec_release(entries);
  return status;
}

static tsr_status bind(const golden_case *c, const char *mesh_key, const char *spec_key,
                       tsr_sharding **out) {
  tsr_spec *spec = NULL;
  tsr_mesh *mesh = NULL;
  tsr_status status = read_spec(c, spec_key, &spec);
  if (!status) status = golden_read_mesh(c, golden_get(c, mesh_key), &mesh);
  if (!status) status = tsr_sharding_bind(mesh, spec, true, out);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  return status;
}

static tsr_status lay_out(const golden_case *c, tsr_layout **out) {
  tsr_sharding *sharding = NULL;
  tsr_shape shape;
  TSR_TRY(golden_shape(c, "shape", &shape));
  TSR_TRY(bind(c, "mesh", "spec", &sharding));
  tsr_status status = tsr_layout_create(sharding, &shape, TSR_POLICY_ERROR, out);
  tsr_sharding_release(sharding);
  return status;
}

// ---- answers ----

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void write_sorted(tsr_json_writer *out, const char *key, const char **names, int count) {
  if (count) qsort(names, (size_t)count, sizeof *names, compare_names);
  tsr_json_write_key(out, key);
  tsr_json_begin_inline_array(out);
  for (int i = 0; i < count; i++) tsr_json_write_string(out, names[i]);
  tsr_json_end_array(out);
}

static tsr_status write_set(const golden_case *c, tsr_json_writer *out, const char *key,
                            const tsr_axis_ref *refs, int count) {
  const char **names = tsr_arena_zeros(c->arena, (size_t)count + 1, sizeof *names);
  if (!names) return tsr_fail(NO_MEMORY, "%s", key);
  for (int i = 0; i < count; i++) names[i] = refs[i].name;
  write_sorted(out, key, names, count);
  return NULL;
}

static void write_spec(tsr_json_writer *out, const tsr_spec *spec) {
  // The sets are written beside the entries, not with them.
  tsr_spec_desc desc = *tsr_spec_desc_of(spec);
  tsr_spec *entries = NULL;
  desc.unreduced_count = desc.reduced_count = 0;
  tsr_status status = tsr_spec_create(&desc, &entries);
  tsr_json_write_key(out, "spec");
  if (status)
    tsr_json_write_string(out, tsr_status_text(status));
  else
    tsr_spec_to_json(entries, out);
  tsr_status_free(status);
  tsr_spec_release(entries);
}

static void write_replicated_axes(tsr_json_writer *out, const tsr_sharding *sharding) {
  const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
  const uint32_t replicated = tsr_sharding_replicated_axes(sharding);
  const char *names[TSR_MAX_AXES];
  int count = 0;
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++)
    if (replicated & 1u << i) names[count++] = tsr_mesh_axis_at(mesh, i)->name;
  write_sorted(out, "replicated_axes", names, count);
}

// [id, [[start, stop], ...], replica id]
static void write_device(tsr_json_writer *out, int64_t id, const tsr_range *ranges, int rank,
                         int64_t replica) {
  tsr_json_begin_inline_array(out);
  tsr_json_write_int(out, id);
  tsr_json_begin_inline_array(out);
  for (int i = 0; i < rank; i++)
    tsr_json_write_ints(out, (int64_t[]){ranges[i].lo, ranges[i].hi}, 2);
  tsr_json_end_array(out);
  tsr_json_write_int(out, replica);
  tsr_json_end_array(out);
}

// What every device holds: the index map and JAX's replica ids.
typedef struct holdings {
  int rank;
  tsr_range *ranges;  // rank per position
  int64_t *replicas;
} holdings;

static tsr_status find_holdings(const golden_case *c, const tsr_layout *layout, holdings *out) {
  const size_t devices = (size_t)tsr_layout_device_count(layout);
  out->rank = tsr_layout_shape(layout).rank;
  out->ranges = tsr_arena_zeros(c->arena, devices * (size_t)out->rank + 1, sizeof *out->ranges);
  out->replicas = tsr_arena_zeros(c->arena, devices, sizeof *out->replicas);
  if (!out->ranges || !out->replicas) return tsr_fail(NO_MEMORY, "index map");
  TSR_TRY(tsr_layout_index_map(layout, out->ranges));
  return tsr_layout_jax_replica_ids(layout, out->replicas);
}

static void write_holding(tsr_json_writer *out, const tsr_mesh *mesh, const holdings *held,
                          int64_t position) {
  write_device(out, tsr_mesh_device_at(mesh, position), held->ranges + position * held->rank,
               held->rank, held->replicas[position]);
}

// XLA's text of the sharding.
static tsr_status write_hlo(tsr_json_writer *out, const tsr_sharding *sharding, int rank) {
  tsr_tiling *tiling = NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  TSR_TRY(tsr_tiling_from_sharding(sharding, rank, &tiling));
  tsr_tiling_print(tiling, &text);
  tsr_json_write_key(out, "hlo");
  tsr_json_write_string(out, tsr_text_string(&text));
  tsr_text_deinit(&text);
  tsr_tiling_release(tiling);
  return NULL;
}

static void print_sdy_dim(const tsr_sharding *sharding, int dim, tsr_text *out) {
  const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
  const tsr_sharding_dim *cut = tsr_sharding_dim_at(sharding, dim);
  const char *between = "";
  tsr_text_add(out, "{");
  for (int s = 0; s < cut->stage_count; s++)
    for (int a = 0; a < cut->stages[s].axis_count; a++) {
      tsr_text_addf(out, "%s'%s'", between,
                    tsr_mesh_axis_at(mesh, cut->stages[s].axes[a].axis)->name);
      between = ", ";
    }
  if (cut->open) tsr_text_addf(out, "%s?", between);
  tsr_text_add(out, "}");
}

// The debug text of the dimension list that JAX hands to Shardy.
static void write_sdy(tsr_json_writer *out, const tsr_sharding *sharding, int rank) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add(&text, "SdyArray([");
  for (int i = 0; i < rank; i++) {
    if (i) tsr_text_add(&text, ", ");
    print_sdy_dim(sharding, i, &text);
  }
  tsr_text_add(&text, "])");
  tsr_json_write_key(out, "sdy");
  tsr_json_write_string(out, tsr_text_string(&text));
  tsr_text_deinit(&text);
}

// ---- functions ----

static tsr_status write_sharding(const golden_case *c, const tsr_layout *layout,
                                 tsr_json_writer *out) {
  const tsr_sharding *sharding = tsr_layout_sharding(layout);
  const tsr_mesh *mesh = tsr_layout_mesh(layout);
  holdings held;
  tsr_shape shard;
  TSR_TRY(find_holdings(c, layout, &held));
  tsr_layout_shard_shape(layout, 0, &shard);
  tsr_json_begin_object(out);
  write_spec(out, tsr_sharding_spec(sharding));
  tsr_json_write_key(out, "shard_shape");
  tsr_json_write_ints(out, shard.dims, (size_t)shard.rank);
  tsr_json_write_key(out, "is_fully_replicated");
  tsr_json_write_bool(out, tsr_sharding_is_fully_replicated(sharding));
  write_replicated_axes(out, sharding);
  tsr_json_write_key(out, "devices");
  tsr_json_begin_array(out);
  for (int64_t i = 0; i < tsr_layout_device_count(layout); i++) write_holding(out, mesh, &held, i);
  tsr_json_end_array(out);
  write_sdy(out, sharding, held.rank);
  TSR_TRY(write_hlo(out, sharding, held.rank));
  tsr_json_end_object(out);
  return NULL;
}

static tsr_status sharding(const golden_case *c, const golden_answer *answer) {
  tsr_layout *layout = NULL;
  TSR_TRY(lay_out(c, &layout));
  tsr_status status = write_sharding(c, layout, answer->out);
  tsr_layout_release(layout);
  return status;
}

static tsr_status partition_spec(const golden_case *c, const golden_answer *answer) {
  tsr_spec *spec = NULL;
  TSR_TRY(read_spec(c, "entries", &spec));
  const tsr_spec_desc *desc = tsr_spec_desc_of(spec);
  tsr_status status = NULL;
  tsr_json_begin_object(answer->out);
  write_spec(answer->out, spec);
  if (golden_get(c, "unreduced"))
    status = write_set(c, answer->out, "unreduced", desc->unreduced, desc->unreduced_count);
  if (!status && golden_get(c, "reduced"))
    status = write_set(c, answer->out, "reduced", desc->reduced, desc->reduced_count);
  if (!status) tsr_json_end_object(answer->out);
  tsr_spec_release(spec);
  return status;
}

static tsr_status equivalent(const golden_case *c, const golden_answer *answer) {
  int64_t rank = 0;
  tsr_sharding *a = NULL, *b = NULL;
  bool same = false;
  TSR_TRY(golden_int(c, "ndim", &rank));
  tsr_status status = bind(c, "mesh1", "spec1", &a);
  if (!status) status = bind(c, "mesh2", "spec2", &b);
  if (!status) status = tsr_sharding_equivalent(a, b, (int)rank, &same);
  if (!status) {
    tsr_json_begin_object(answer->out);
    tsr_json_write_key(answer->out, "equivalent");
    tsr_json_write_bool(answer->out, same);
    tsr_json_write_key(answer->out, "equal");
    tsr_json_write_bool(answer->out, tsr_sharding_equal(a, b));
    tsr_json_end_object(answer->out);
  }
  tsr_sharding_release(a);
  tsr_sharding_release(b);
  return status;
}

// The shards of a process, by device id.
static void write_shards(tsr_json_writer *out, const tsr_mesh *mesh, const holdings *held,
                         int64_t process) {
  tsr_json_write_key(out, "shards");
  tsr_json_begin_array(out);
  for (int64_t id = 0; id < tsr_mesh_device_count(mesh); id++) {
    const int64_t position = tsr_mesh_device_find(mesh, id);
    if (position >= 0 && tsr_mesh_process(mesh, position) == process)
      write_holding(out, mesh, held, position);
  }
  tsr_json_end_array(out);
}

static tsr_status write_process(tsr_json_writer *out, const tsr_layout *layout,
                                const holdings *held, int64_t process) {
  char key[24];
  snprintf(key, sizeof key, "%lld", (long long)process);
  tsr_json_write_key(out, key);
  tsr_json_begin_object(out);
  write_shards(out, tsr_layout_mesh(layout), held, process);
  tsr_json_write_key(out, "num_addressable_indices");
  tsr_json_begin_inline_array(out);
  for (int i = 0; i < held->rank; i++) {
    int64_t elements = 0;
    TSR_TRY(tsr_layout_addressable(layout, process, i, &elements));
    tsr_json_write_int(out, elements);
  }
  tsr_json_end_array(out);
  tsr_json_end_object(out);
  return NULL;
}

static void write_or_null(tsr_json_writer *out, bool known, int64_t value) {
  if (known)
    tsr_json_write_int(out, value);
  else
    tsr_json_write_null(out);
}

// Per dimension: in how many ways processes hold it, and its size worked back from process 0's.
static tsr_status write_process_shards(tsr_json_writer *out, const tsr_layout *layout, int rank) {
  int64_t ways[TSR_MAX_RANK], local[TSR_MAX_RANK];
  for (int i = 0; i < rank; i++) {
    TSR_TRY(tsr_layout_process_shards(layout, i, &ways[i]));
    TSR_TRY(tsr_layout_addressable(layout, 0, i, &local[i]));
  }
  tsr_json_write_key(out, "distinct_process_shards");
  tsr_json_begin_inline_array(out);
  for (int i = 0; i < rank; i++) write_or_null(out, ways[i] > 0, ways[i]);
  tsr_json_end_array(out);
  tsr_json_write_key(out, "global_shape_from_process0");
  tsr_json_begin_inline_array(out);
  for (int i = 0; i < rank; i++) write_or_null(out, ways[i] > 0, ways[i] * local[i]);
  tsr_json_end_array(out);
  return NULL;
}

static tsr_status write_processes(const golden_case *c, const tsr_layout *layout,
                                  tsr_json_writer *out) {
  const tsr_mesh *mesh = tsr_layout_mesh(layout);
  holdings held;
  TSR_TRY(find_holdings(c, layout, &held));
  tsr_json_begin_object(out);
  tsr_json_write_key(out, "processes");
  tsr_json_begin_object(out);
  for (int64_t p = 0; p < tsr_mesh_process_count(mesh); p++)
    TSR_TRY(write_process(out, layout, &held, p));
  tsr_json_end_object(out);
  TSR_TRY(write_process_shards(out, layout, held.rank));
  tsr_json_end_object(out);
  return NULL;
}

static tsr_status processes(const golden_case *c, const golden_answer *answer) {
  tsr_layout *layout = NULL;
  TSR_TRY(lay_out(c, &layout));
  tsr_status status = write_processes(c, layout, answer->out);
  tsr_layout_release(layout);
  return status;
}

static tsr_status mesh(const golden_case *c, const golden_answer *answer) {
  tsr_mesh *made = NULL;
  TSR_TRY(golden_read_mesh(c, c->input, &made));
  tsr_json_begin_object(answer->out);
  golden_write_axis_types(answer->out, made, true);
  tsr_json_write_key(answer->out, "size");
  tsr_json_write_int(answer->out, tsr_mesh_device_count(made));
  tsr_json_end_object(answer->out);
  tsr_mesh_release(made);
  return NULL;
}

// ---- Shardy ----

static tsr_status make_greedy(const golden_case *c, tsr_sequence **out) {
  const tsr_sequence_options options = {.size = sizeof options, .method = TSR_SEQUENCE_SHARDY};
  tsr_sharding *from = NULL, *to = NULL;
  tsr_shape shape;
  TSR_TRY(golden_shape(c, "shape", &shape));
  tsr_status status = bind(c, "mesh", "from", &from);
  if (!status) status = bind(c, "mesh", "to", &to);
  if (!status) status = tsr_sequence_create(from, to, &shape, TSR_F32, &options, out);
  tsr_sharding_release(from);
  tsr_sharding_release(to);
  return status;
}

// "[{"x"}, {}]" of a sharding's Shardy form.
static tsr_status write_dims(tsr_json_writer *out, const tsr_sharding *sharding) {
  tsr_sharding *normal = NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  TSR_TRY(tsr_sharding_normalise(sharding, &normal));
  tsr_status status = tsr_spec_print(tsr_sharding_spec(normal), TSR_FORM_SHARDY, &text);
  const char *start = strchr(tsr_text_string(&text), '['),
             *end = strrchr(tsr_text_string(&text), ']');
  if (!status && start && end) tsr_json_write_bytes(out, start, (size_t)(end + 1 - start));
  tsr_text_deinit(&text);
  tsr_sharding_release(normal);
  return status;
}

// Shardy slices and gathers all dimensions in one op, which are steps one after the other here.
static bool is_followed_up(const tsr_sequence *sequence, int step) {
  if (step + 1 == tsr_sequence_step_count(sequence)) return false;
  const tsr_step_kind kind = tsr_sequence_step_at(sequence, step)->kind;
  return (kind == TSR_STEP_SLICE || kind == TSR_STEP_ALL_GATHER) &&
         tsr_sequence_step_at(sequence, step + 1)->kind == kind;
}

static tsr_status reshard_to_collectives(const golden_case *c, const golden_answer *answer) {
  tsr_sequence *sequence = NULL;
  TSR_TRY(make_greedy(c, &sequence));
  tsr_status status = NULL;
  tsr_json_begin_array(answer->out);
  for (int i = 0; !status && i < tsr_sequence_step_count(sequence); i++) {
    const tsr_sequence_step *step = tsr_sequence_step_at(sequence, i);
    if (is_followed_up(sequence, i)) continue;
    tsr_json_begin_inline_array(answer->out);
    tsr_json_write_string(answer->out, tsr_step_kind_name(step->kind));
    status = write_dims(answer->out, step->sharding);
    tsr_json_end_array(answer->out);
  }
  tsr_json_end_array(answer->out);
  tsr_sequence_release(sequence);
  return status;
}

const golden_function golden_jax_sharding_functions[] = {
    {"device_put", golden_device_put, {NULL}},
    {"equivalent", equivalent, {NULL}},
    {"mesh", mesh, {NULL}},
    {"partition_spec", partition_spec, {NULL}},
    {"processes", processes, {NULL}},
    {"reshard_to_collectives", reshard_to_collectives, {NULL}},
    {"sharding", sharding, {NULL}},
    {NULL, NULL, {NULL}},
};
