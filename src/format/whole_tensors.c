// Tensors that are stored whole: the tree of a checkpoint, and one place for each tensor.
#include <stdlib.h>

#include "format/reading.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/tree.h"

tsr_status tsr_reading_refuse_plan(const tsr_checkpoint *checkpoint,
                                   const tsr_checkpoint_options *options) {
  if (!options->plan) return NULL;
  return tsr_fail(BAD_ARGUMENT, "%s: a plan was given, but tensors are stored whole here",
                  checkpoint->path);
}

static tsr_status make_tree(const tsr_model_tensor *found, int64_t count,
                            const tsr_tree **out_tree) {
  tsr_tensor *tensors = calloc((size_t)count + 1, sizeof *tensors);
  tsr_tree *tree = NULL;
  if (!tensors) return tsr_fail(NO_MEMORY, "a list of %lld tensors", (long long)count);
  for (int64_t i = 0; i < count; i++) tensors[i] = found[i].tensor;
  tsr_status status = tsr_tree_create(tensors, count, &tree);
  free(tensors);
  *out_tree = tree;
  return status;
}

static tsr_status add_tensor(tsr_store *store, const tsr_sharding *whole,
                             const tsr_model_tensor *found) {
  const tsr_shape shape = tsr_tensor_shape(&found->tensor);
  tsr_layout *layout = NULL;
  int64_t tensor = -1;
  TSR_TRY(tsr_layout_create(whole, &shape, TSR_POLICY_ERROR, &layout));
  tsr_status status = tsr_store_add_tensor(store, found->tensor.dtype, layout, 1, &tensor);
  tsr_layout_release(layout);
  if (!status)
    *tsr_store_place(store, tensor, 0, 0) =
        (tsr_shard_place){.file = found->file, .offset = found->begin};
  return status;
}

tsr_status tsr_reading_add_whole(tsr_checkpoint *checkpoint, const tsr_model_tensor *tensors,
                                 int64_t count) {
  tsr_sharding *whole = NULL;
  TSR_TRY(make_tree(tensors, count, &checkpoint->tree));
  tsr_status status = tsr_sharding_whole(&whole);
  for (int64_t i = 0; i < count && !status; i++)
    status = add_tensor(checkpoint->store, whole, &tensors[i]);
  tsr_sharding_release(whole);
  return status;
}
