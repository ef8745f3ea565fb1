// Digests by which ranks compare the leaves of a tree: order, paths, kinds, dtypes, shapes, layouts
// and decisions.
#include "base/hash_internal.h"
#include "base/text_internal.h"
#include "place/place.h"
#include "place/place_internal.h"
#include "spec/spec.h"
#include "tessera/engine/array.h"

static tsr_hash128 digest_spec(const tsr_spec *spec) {
  return spec ? tsr_spec_digest(spec) : TSR_HASH128_EMPTY;
}

static tsr_hash128 digest_leaf(void *context, int64_t item) {
  tsr_compared_leaves *compared = context;
  const tsr_leaf *leaf = &compared->leaves[item];
  const tsr_placement_decision *decision = compared->decisions ? &compared->decisions[item] : NULL;
  const tsr_layout *target = decision ? decision->layout : NULL;
  const tsr_hash128 digests[] = {
      tsr_hash128_add_text(TSR_HASH128_EMPTY, leaf->tensor.path),
      leaf->kind == TSR_LEAF_ARRAY
          ? tsr_layout_digest(leaf->array->layout)
          : tsr_hash128_add(digest_spec(leaf->spec), leaf->tensor.dims,
                            sizeof *leaf->tensor.dims * (size_t)leaf->tensor.rank),
      target ? tsr_layout_digest(target) : TSR_HASH128_EMPTY,
      digest_spec(decision ? decision->report.wanted : NULL),
      {(uint64_t)leaf->kind << 32 | (uint64_t)leaf->tensor.dtype,
       decision ? (uint64_t)decision->report.outcome : 0}};
  return tsr_hash128_add(TSR_HASH128_EMPTY, digests, sizeof digests);
}

static void print_shape(const tsr_tensor *tensor, tsr_text *out) {
  const tsr_shape shape = tsr_tensor_shape(tensor);
  tsr_shape_print(&shape, out);
}

static void describe_leaf(void *context, int64_t item, tsr_text *out) {
  const tsr_compared_leaves *compared = context;
  const tsr_leaf *leaf = &compared->leaves[item];
  const tsr_placement_decision *decision = compared->decisions ? &compared->decisions[item] : NULL;
  const tsr_tensor *tensor = &leaf->tensor;
  if (tensor->path[0]) tsr_text_addf(out, "leaf %lld \"%s\": ", (long long)item, tensor->path);
  tsr_text_addf(out, "%s ", tsr_dtype_info_of(tensor->dtype)->name);
  if (leaf->kind == TSR_LEAF_ARRAY)
    tsr_layout_describe(leaf->array->layout, out);
  else
    print_shape(tensor, out);
  if (leaf->kind == TSR_LEAF_HOST) tsr_text_add(out, " in host memory");
  if (leaf->kind == TSR_LEAF_SHAPE) tsr_text_add(out, " without data");
  if (!decision) return;
  tsr_text_add(out, decision->layout ? " to " : ", ");
  if (decision->layout)
    tsr_layout_describe(decision->layout, out);
  else
    tsr_text_add(out, tsr_outcome_text(decision->report.outcome));
}

tsr_compared_leaves tsr_compared_leaves_of(const tsr_array_tree *tree) {
  const int64_t count = tsr_array_tree_count(tree);
  return (tsr_compared_leaves){.count = count, .leaves = count ? tsr_array_tree_at(tree, 0) : NULL};
}

tsr_call_items tsr_compared_leaves_items(tsr_compared_leaves *compared) {
  return (tsr_call_items){compared->count, compared, digest_leaf, describe_leaf};
}

tsr_comm *tsr_array_tree_comm(const tsr_array_tree *tree, tsr_comm *other) {
  for (int64_t i = 0; i < tsr_array_tree_count(tree); i++) {
    const tsr_leaf *leaf = tsr_array_tree_at(tree, i);
    if (leaf->kind == TSR_LEAF_ARRAY) return tsr_array_comm(leaf->array);
  }
  return other;
}
