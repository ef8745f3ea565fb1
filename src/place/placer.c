// Shard and gather functions of a tree: a spec and a policy per path, checked against the mesh on
// creation. A placer is one block: the rows, then the bytes of their paths.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/name_index.h"
#include "base/suggest.h"
#include "mesh/mesh_internal.h"
#include "place/place.h"
#include "place/place_internal.h"
#include "plan/plan.h"
#include "spec/spec_internal.h"
#include "tessera/engine/array.h"

typedef struct placer_row {
  const char *path;
  const tsr_spec *spec;  // held
  tsr_policy policy;
} placer_row;

struct tsr_placer {
  atomic_int references;
  const tsr_mesh *mesh;  // held
  tsr_place_config how;  // holds the comm
  tsr_name_index paths;
  int64_t count;
  placer_row rows[];
};

// ---- making ----

// Fails at an axis that the mesh lacks or that occurs twice. Neighbours often share a spec, which
// is then checked once.
static tsr_status check_specs(const tsr_placer *placer) {
  for (int64_t i = 0; i < placer->count; i++) {
    const placer_row *at = &placer->rows[i];
    tsr_sharding *sharding = NULL;
    if (i && at->spec == at[-1].spec) continue;
    TSR_TRY_NOTE(tsr_sharding_bind(placer->mesh, at->spec, false, &sharding), "path \"%s\"",
                 at->path);
    tsr_sharding_release(sharding);
  }
  return NULL;
}

static tsr_status index_paths(tsr_placer *placer) {
  for (int64_t i = 0; i < placer->count; i++) {
    int64_t existing = -1;
    TSR_TRY(tsr_name_index_add(&placer->paths, placer->rows[i].path, i, &existing));
    if (existing >= 0)
      return tsr_fail(DUPLICATE_PATH, "path \"%s\" is given twice", placer->rows[i].path);
  }
  return NULL;
}

// Copies the rows; `mesh` may be NULL for the current one.
static tsr_status create(const placer_row *rows, int64_t count, const tsr_mesh *mesh,
                         const tsr_place_config *how, tsr_placer **out_placer) {
  size_t text = 0;
  if (!mesh) TSR_TRY(tsr_mesh_require(&mesh));
  for (int64_t i = 0; i < count; i++) text += strlen(rows[i].path) + 1;
  const size_t row_bytes = sizeof *rows * (size_t)count;
  tsr_placer *placer = malloc(sizeof *placer + row_bytes + text);
  if (!placer) return tsr_fail(NO_MEMORY, "placer of %lld paths", (long long)count);
  *placer = (tsr_placer){.mesh = tsr_mesh_retain(mesh), .how = *how, .count = count};
  atomic_init(&placer->references, 1);
  if (how->comm) tsr_comm_retain(how->comm);
  char *at = (char *)placer->rows + row_bytes;
  for (int64_t i = 0; i < count; i++) {
    const size_t bytes = strlen(rows[i].path) + 1;
    placer->rows[i] = (placer_row){memcpy(at, rows[i].path, bytes), tsr_spec_retain(rows[i].spec),
                                   rows[i].policy};
    at += bytes;
  }
  tsr_status status = index_paths(placer);
  if (!status) status = check_specs(placer);
  if (status)
    tsr_placer_release(placer);
  else
    *out_placer = placer;
  return status;
}

static tsr_status read_rows(const char *const *paths, const tsr_spec *const *specs, int64_t count,
                            const tsr_spec *empty, tsr_policy policy, placer_row *rows) {
  for (int64_t i = 0; i < count; i++) {
    if (!paths[i]) return tsr_fail(BAD_ARGUMENT, "spec %lld has no path", (long long)i);
    rows[i] = (placer_row){paths[i], specs[i] ? specs[i] : empty, policy};
  }
  return NULL;
}

tsr_status tsr_placer_from_specs(const char *const *paths, const tsr_spec *const *specs,
                                 int64_t count, const tsr_mesh *mesh,
                                 const tsr_place_options *options, tsr_placer **out_placer) {
  tsr_place_config how;
  tsr_spec *empty = NULL;
  TSR_TRY(tsr_place_config_init(&how, "placer_shard", options));
  if (count < 0 || count > INT32_MAX)
    return tsr_fail(TOO_LARGE, "a placer of %lld paths, wanted 0 to %d", (long long)count,
                    INT32_MAX);
  TSR_TRY(tsr_spec_of(NULL, 0, &empty));
  placer_row *rows = calloc((size_t)count + 1, sizeof *rows);
  tsr_status status = rows ? NULL : tsr_fail(NO_MEMORY, "placer of %lld paths", (long long)count);
  if (!status) status = read_rows(paths, specs, count, empty, how.policy, rows);
  if (!status) status = create(rows, count, mesh, &how, out_placer);
  free(rows);
  tsr_spec_release(empty);
  return status;
}

tsr_status tsr_placer_create(const tsr_plan *plan, const tsr_place_options *options,
                             tsr_placer **out_placer) {
  const int64_t count = tsr_plan_count(plan);
  tsr_place_config how;
  TSR_TRY(tsr_place_config_init(&how, "placer_shard", options));
  placer_row *rows = calloc((size_t)count + 1, sizeof *rows);
  if (!rows) return tsr_fail(NO_MEMORY, "placer of %lld paths", (long long)count);
  for (int64_t i = 0; i < count; i++) {
    tsr_plan_row planned;
    tsr_plan_row_read(plan, i, &planned);
    rows[i] = (placer_row){planned.tensor->path, planned.final, planned.policy};
  }
  tsr_status status = create(rows, count, tsr_plan_mesh(plan), &how, out_placer);
  free(rows);
  return status;
}

tsr_placer *tsr_placer_retain(const tsr_placer *placer) {
  tsr_placer *mine = (tsr_placer *)placer;
  atomic_fetch_add_explicit(&mine->references, 1, memory_order_relaxed);
  return mine;
}

void tsr_placer_release(const tsr_placer *placer) {
  tsr_placer *mine = (tsr_placer *)placer;
  if (!mine || atomic_fetch_sub_explicit(&mine->references, 1, memory_order_acq_rel) != 1) return;
  for (int64_t i = 0; i < mine->count; i++) tsr_spec_release(mine->rows[i].spec);
  tsr_name_index_deinit(&mine->paths);
  tsr_mesh_release(mine->mesh);
  tsr_comm_release(mine->how.comm);
  free(mine);
}

// ---- paths ----

static tsr_status find_row(const tsr_placer *placer, const char *path, const placer_row **out_row) {
  const int64_t index = tsr_name_index_find(&placer->paths, path);
  if (index < 0) {
    tsr_suggestion near = tsr_suggestion_for(path);
    for (int64_t i = 0; i < placer->count; i++) tsr_suggestion_offer(&near, placer->rows[i].path);
    return tsr_fail(TREE_MISMATCH, "there is no spec for it" TSR_DID_YOU_MEAN, TSR_SUGGESTED(near));
  }
  *out_row = &placer->rows[index];
  return NULL;
}

// ---- sharding ----

static tsr_status decide_by_path(const void *question, int64_t index, const tsr_leaf *leaf,
                                 const tsr_place_config *how, tsr_placement_decision *decision) {
  const tsr_placer *placer = question;
  tsr_place_config of_row = *how;
  const tsr_shape shape = tsr_tensor_shape(&leaf->tensor);
  const placer_row *found = NULL;
  (void)index;
  TSR_TRY(find_row(placer, leaf->tensor.path, &found));
  of_row.policy = found->policy;
  return tsr_decide_spec(found->spec, placer->mesh, &shape, &of_row, decision);
}

// The comm for tensors in host memory: the placer's, or that of an array among the leaves.
static tsr_status find_comm(const tsr_placer *placer, const tsr_array_tree *tree,
                            tsr_comm **out_comm) {
  const tsr_leaf *on_host = NULL;
  *out_comm = placer->how.comm;
  for (int64_t i = 0; !*out_comm && i < tsr_array_tree_count(tree); i++) {
    const tsr_leaf *leaf = tsr_array_tree_at(tree, i);
    if (leaf->kind == TSR_LEAF_ARRAY) *out_comm = tsr_array_comm(leaf->array);
    if (leaf->kind == TSR_LEAF_HOST && !on_host) on_host = leaf;
  }
  if (*out_comm || !on_host) return NULL;
  return tsr_fail(BAD_ARGUMENT,
                  "leaf \"%s\" is in host memory, and the placer was made without a comm",
                  on_host->tensor.path);
}

tsr_status tsr_placer_shard_as(const char *call, const tsr_placer *placer,
                               const tsr_array_tree *tree, tsr_array_tree **out_tree,
                               tsr_place_report *out_reports) {
  tsr_place_config how = placer->how;
  how.call = call;
  TSR_TRY(find_comm(placer, tree, &how.comm));  // without one, this rank is alone
  return tsr_place_tree(tree, NULL, decide_by_path, placer, &how, out_tree, out_reports);
}

tsr_status tsr_placer_shard(const tsr_placer *placer, const tsr_array_tree *tree,
                            tsr_array_tree **out_tree, tsr_place_report *out_reports) {
  return tsr_placer_shard_as("placer_shard", placer, tree, out_tree, out_reports);
}

// ---- gathering ----

static tsr_status check_paths(const tsr_placer *placer, const tsr_array_tree *tree) {
  for (int64_t i = 0; i < tsr_array_tree_count(tree); i++) {
    const char *path = tsr_array_tree_at(tree, i)->tensor.path;
    const placer_row *found = NULL;
    TSR_TRY_NOTE(find_row(placer, path, &found), "leaf \"%s\"", path);
  }
  return NULL;
}

tsr_status tsr_placer_gather(const tsr_placer *placer, const tsr_array_tree *tree,
                             tsr_array_tree **out_tree) {
  return tsr_gather_tree_as("placer_gather", tree, -1, check_paths(placer, tree), out_tree);
}
