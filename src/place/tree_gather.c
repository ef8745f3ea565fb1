// Gathers the arrays of a tree into host memory, on one rank or all.
#include <stdlib.h>

#include "base/buffer_internal.h"
#include "element/shape_internal.h"
#include "place/place.h"
#include "tessera/engine/array.h"
#include "tessera/engine/buffer.h"

// A tensor with memory of its own, for the caller to release, on ranks that gather; else a shape.
static tsr_status make_leaf(const tsr_leaf *leaf, int root, tsr_leaf *out_leaf) {
  const bool here = root < 0 || tsr_comm_rank(tsr_array_comm(leaf->array)) == root;
  const int64_t bytes = tsr_tensor_bytes(&leaf->tensor);
  tsr_buffer *buffer = NULL;
  *out_leaf = (tsr_leaf){.tensor = leaf->tensor, .kind = TSR_LEAF_SHAPE};
  if (!here) return NULL;
  TSR_TRY(tsr_buffer_create(NULL, bytes, &buffer));
  out_leaf->kind = TSR_LEAF_HOST;
  out_leaf->buffer = buffer;
  out_leaf->data = tsr_buffer_data(buffer);
  return NULL;
}

static tsr_status make_leaves(const tsr_array_tree *tree, int root, tsr_leaf *leaves) {
  for (int64_t i = 0; i < tsr_array_tree_count(tree); i++) {
    const tsr_leaf *leaf = tsr_array_tree_at(tree, i);
    if (leaf->kind == TSR_LEAF_ARRAY)
      TSR_TRY_NOTE(make_leaf(leaf, root, &leaves[i]), "leaf \"%s\"", leaf->tensor.path);
    else
      leaves[i] = *leaf;
  }
  return NULL;
}

static tsr_status gather_all(const tsr_array_tree *tree, int root, const tsr_leaf *leaves) {
  tsr_host_options options = TSR_HOST_OPTIONS;
  options.to_root = root >= 0;
  options.root = root;
  for (int64_t i = 0; i < tsr_array_tree_count(tree); i++) {
    const tsr_leaf *leaf = tsr_array_tree_at(tree, i);
    void *data = leaves[i].buffer ? tsr_buffer_data(leaves[i].buffer) : NULL;
    const int64_t bytes = leaves[i].buffer ? tsr_buffer_bytes(leaves[i].buffer) : 0;
    if (leaf->kind == TSR_LEAF_ARRAY)
      TSR_TRY_NOTE(tsr_array_gather(leaf->array, data, bytes, &options), "leaf \"%s\"",
                   leaf->tensor.path);
  }
  return NULL;
}

static tsr_status agree(const char *call, const tsr_array_tree *tree, int root, tsr_status found) {
  tsr_compared_leaves compared = tsr_compared_leaves_of(tree);
  tsr_comm *comm = tsr_array_tree_comm(tree, NULL);
  if (!comm) return found;
  tsr_call c = tsr_call_begin(comm, call);
  if (root < 0)
    tsr_call_describe(&c, "%s of %lld leaves to all ranks", call, (long long)compared.count);
  else
    tsr_call_describe(&c, "%s of %lld leaves to rank %d", call, (long long)compared.count, root);
  c.items = tsr_compared_leaves_items(&compared);
  return tsr_call_agree(&c, found);
}

tsr_status tsr_gather_tree_as(const char *call, const tsr_array_tree *tree, int root,
                              tsr_status found, tsr_array_tree **out_tree) {
  const int64_t count = tsr_array_tree_count(tree);
  tsr_leaf *leaves = calloc((size_t)count + 1, sizeof *leaves);
  if (!found && !leaves) found = tsr_fail(NO_MEMORY, "tree of %lld arrays", (long long)count);
  if (!found) found = make_leaves(tree, root, leaves);
  tsr_status status = agree(call, tree, root, found);
  if (leaves && !status) status = gather_all(tree, root, leaves);
  if (!status) status = tsr_array_tree_create(leaves, count, out_tree);
  // The new tree retains the buffers made here.
  for (int64_t i = 0; leaves && i < count; i++)
    if (tsr_array_tree_at(tree, i)->kind == TSR_LEAF_ARRAY) tsr_buffer_release(leaves[i].buffer);
  free(leaves);
  return status;
}

tsr_status tsr_array_tree_gather(const tsr_array_tree *tree, int root, tsr_array_tree **out_tree) {
  const tsr_status found =
      root < -1 ? tsr_fail(BAD_ARGUMENT, "gather to rank %d, wanted -1 or more", root) : NULL;
  return tsr_gather_tree_as("tree_gather", tree, root, found, out_tree);
}
