// The logical axes of a train state, and the specs they map to.
//
// A model names the axes of its parameters. Optimizer state has the parameter's path within its own
// and, if it has the same shape, the same names. So an index has the paths of named tensors, whole
// and without their first component ("target/"). Each nameless tensor looks up the ends of its
// path, with and without its last component.
#include <stdlib.h>
#include <string.h>

#include "base/name_index.h"
#include "base/text_internal.h"
#include "partitioner/partitioner.h"
#include "tessera/plan.h"
#include "tessera/shape.h"
#include "tessera/tree.h"

static bool is_separator(char c) { return c == '/' || c == '.'; }

// Bytes of the first component of a path and its separator; 0 when it has one component.
static size_t first_component(const char *path) {
  for (const char *at = path; *at; at++)
    if (is_separator(*at) && at[1]) return (size_t)(at - path) + 1;
  return 0;
}

typedef struct parameter_index {
  const tsr_tree *tree;
  tsr_name_index index;
  bool *ambiguous;  // by tensor: another parameter differs only in the first component
} parameter_index;

static tsr_status index_whole(parameter_index *known) {
  for (int64_t i = 0; i < tsr_tree_count(known->tree); i++) {
    const tsr_tensor *tensor = tsr_tree_at(known->tree, i);
    int64_t existing = -1;
    if (tensor->logical) TSR_TRY(tsr_name_index_add(&known->index, tensor->path, i, &existing));
  }
  return NULL;
}

static tsr_status index_rests(parameter_index *known) {
  for (int64_t i = 0; i < tsr_tree_count(known->tree); i++) {
    const tsr_tensor *tensor = tsr_tree_at(known->tree, i);
    const size_t skipped = tensor->logical ? first_component(tensor->path) : 0;
    int64_t existing = -1;
    if (skipped) TSR_TRY(tsr_name_index_add(&known->index, tensor->path + skipped, i, &existing));
    if (existing >= 0) known->ambiguous[existing] = true;
  }
  return NULL;
}

// The parameter whose path is the end of `path`; the longest wins.
static const tsr_tensor *find_parameter(const parameter_index *known, const char *path) {
  for (const char *at = path; *at; at++) {
    if (at != path && !is_separator(at[-1])) continue;
    const int64_t found = tsr_name_index_find(&known->index, at);
    if (found < 0) continue;
    const tsr_tensor *parameter = tsr_tree_at(known->tree, found);
    if (!known->ambiguous[found] || !strcmp(parameter->path, at)) return parameter;
  }
  return NULL;
}

static bool same_shape(const tsr_tensor *a, const tsr_tensor *b) {
  return a->rank == b->rank && !memcmp(a->dims, b->dims, sizeof *a->dims * (size_t)a->rank);
}

// Gives a nameless tensor the names of its parameter. `path` is a copy of its path, modified here.
static void derive_names(const parameter_index *known, char *path, tsr_tensor *tensor) {
  for (int cuts = 0; cuts < 2; cuts++) {
    const tsr_tensor *parameter = find_parameter(known, path);
    if (parameter && same_shape(parameter, tensor)) {
      tensor->logical = parameter->logical;
      return;
    }
    char *end = path + strlen(path);
    while (end > path && !is_separator(*end)) end--;
    *end = '\0';
  }
}

static tsr_status derive_all(const parameter_index *known, tsr_tensor *tensors) {
  tsr_text path = TSR_TEXT_EMPTY;
  tsr_status status = NULL;
  for (int64_t i = 0; i < tsr_tree_count(known->tree) && !status; i++) {
    if (tensors[i].logical) continue;
    tsr_text_clear(&path);
    tsr_text_add(&path, tensors[i].path);
    status = tsr_text_check(&path);
    if (!status && path.length) derive_names(known, path.data, &tensors[i]);
  }
  tsr_text_deinit(&path);
  return status;
}

static tsr_status derive_from_parameters(const tsr_tree *tree, tsr_tensor *tensors) {
  parameter_index known = {.tree = tree, .index = TSR_NAME_INDEX_EMPTY};
  known.ambiguous = calloc((size_t)tsr_tree_count(tree) + 1, sizeof *known.ambiguous);
  tsr_status status = known.ambiguous ? NULL : tsr_fail(NO_MEMORY, "parameters of a state");
  if (!status) status = index_whole(&known);
  if (!status) status = index_rests(&known);
  if (!status) status = derive_all(&known, tensors);
  tsr_name_index_deinit(&known.index);
  free(known.ambiguous);
  return status;
}

tsr_status tsr_partitioner_logical_axes(const tsr_partitioner *partitioner, const tsr_tree *state,
                                        tsr_tree **out_state) {
  const int64_t count = tsr_tree_count(state);
  tsr_tensor *tensors = malloc(sizeof *tensors * ((size_t)count + 1));
  if (!tensors) return tsr_fail(NO_MEMORY, "%lld tensors", (long long)count);
  for (int64_t i = 0; i < count; i++) {
    tensors[i] = *tsr_tree_at(state, i);
    if (!partitioner->rules) tensors[i].logical = NULL;
  }
  tsr_status status = partitioner->rules ? derive_from_parameters(state, tensors) : NULL;
  if (!status) status = tsr_tree_create(tensors, count, out_state);
  free(tensors);
  return status;
}

tsr_status tsr_partitioner_mesh_axes(const tsr_partitioner *partitioner, const tsr_tree *state,
                                     tsr_plan **out_plan) {
  if (!partitioner->rules)
    return tsr_fail(UNSUPPORTED, "the base form of a partitioner has no logical axes");
  tsr_tree *named = NULL;
  TSR_TRY(tsr_partitioner_logical_axes(partitioner, state, &named));
  const tsr_status status =
      tsr_plan_logical(named, partitioner->mesh, partitioner->rules, out_plan);
  tsr_tree_release(named);
  return status;
}
