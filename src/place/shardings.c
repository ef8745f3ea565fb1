// Shardings and specs of the leaves of a tree, as eformer extracts them. Only comparisons with
// eformer need them (tests/golden).
#include <stdlib.h>
#include <string.h>

#include "array/array_internal.h"
#include "mesh/mesh_internal.h"
#include "place/place_internal.h"
#include "spec/spec_internal.h"

void tsr_array_tree_shardings(const tsr_array_tree *tree, const tsr_sharding **out_shardings) {
  for (int64_t i = 0; i < tsr_array_tree_count(tree); i++) {
    const tsr_leaf *leaf = tsr_array_tree_at(tree, i);
    out_shardings[i] = leaf->kind == TSR_LEAF_ARRAY ? tsr_array_sharding(leaf->array) : NULL;
  }
}

// ---- shardings, those of shapes too ----

static tsr_status extract(const tsr_leaf *leaf, const tsr_mesh *mesh, tsr_sharding **out_sharding) {
  const tsr_sharding *own = leaf->kind == TSR_LEAF_ARRAY ? tsr_array_sharding(leaf->array) : NULL;
  *out_sharding = own ? tsr_sharding_retain(own) : NULL;
  return leaf->spec ? tsr_sharding_bind(mesh, leaf->spec, false, out_sharding) : NULL;
}

tsr_status tsr_array_tree_extract_shardings(const tsr_array_tree *tree, const tsr_mesh *mesh,
                                            tsr_sharding **out_shardings) {
  const int64_t count = tsr_array_tree_count(tree);
  if (!mesh) TSR_TRY(tsr_mesh_require(&mesh));
  tsr_sharding **found = calloc((size_t)count + 1, sizeof *found);
  tsr_status status = found ? NULL : tsr_fail(NO_MEMORY, "shardings of a tree");
  for (int64_t i = 0; !status && i < count; i++) {
    const tsr_leaf *leaf = tsr_array_tree_at(tree, i);
    status = tsr_note(extract(leaf, mesh, &found[i]), "leaf \"%s\"", leaf->tensor.path);
  }
  if (!status) memcpy(out_shardings, found, (size_t)count * sizeof *found);
  for (int64_t i = 0; found && status && i < count; i++) tsr_sharding_release(found[i]);
  free(found);
  return status;
}

// ---- specs ----

static tsr_status spec_of(const tsr_leaf *leaf, tsr_spec **out_spec) {
  const tsr_sharding *sharding =
      leaf->kind == TSR_LEAF_ARRAY ? tsr_array_sharding(leaf->array) : NULL;
  *out_spec = NULL;
  if (sharding) {
    *out_spec = tsr_spec_retain(tsr_sharding_spec(sharding));
    return NULL;
  }
  if (leaf->kind == TSR_LEAF_ARRAY)
    return tsr_fail(LEAF_HAS_NO_SPEC, "the array has no spec: it was not placed by one");
  if (leaf->kind == TSR_LEAF_HOST && !leaf->tensor.rank) return tsr_spec_of(NULL, 0, out_spec);
  return tsr_fail(UNSUPPORTED_LEAF, "%s, wanted an array or a scalar",
                  leaf->kind == TSR_LEAF_HOST ? "a tensor in host memory" : "a shape without data");
}

tsr_status tsr_array_tree_specs(const tsr_array_tree *tree, tsr_spec **out_specs) {
  const int64_t count = tsr_array_tree_count(tree);
  tsr_spec **found = calloc((size_t)count + 1, sizeof *found);
  tsr_status status = found ? NULL : tsr_fail(NO_MEMORY, "specs of a tree");
  for (int64_t i = 0; !status && i < count; i++) {
    const tsr_leaf *leaf = tsr_array_tree_at(tree, i);
    status = tsr_note(spec_of(leaf, &found[i]), "leaf \"%s\"", leaf->tensor.path);
  }
  if (!status) memcpy(out_specs, found, (size_t)count * sizeof *found);
  for (int64_t i = 0; found && status && i < count; i++) tsr_spec_release(found[i]);
  free(found);
  return status;
}
