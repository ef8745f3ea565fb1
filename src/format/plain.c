// Models whose tensors are stored whole: one file, or a Hugging Face folder.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "file/safetensors.h"
#include "format/format.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/tree.h"

static tsr_status add_files(tsr_checkpoint *checkpoint, const tsr_model *model) {
  for (int i = 0; i < tsr_model_file_count(model); i++) {
    const char *path = tsr_model_file(model, i);
    struct stat info;
    int file = -1;
    if (stat(path, &info))
      return tsr_fail(IO, "%s: it has gone since it was read: %s", path, strerror(errno));
    TSR_TRY(tsr_store_add_file(checkpoint->store, path, info.st_size, &file));
  }
  return NULL;
}

tsr_status tsr_checkpoint_add_whole(tsr_checkpoint *checkpoint, const tsr_sharding *whole,
                                    tsr_dtype dtype, const tsr_shape *shape, int file,
                                    int64_t offset, int64_t *out_tensor) {
  tsr_layout *layout = NULL;
  TSR_TRY(tsr_layout_create(whole, shape, TSR_POLICY_ERROR, &layout));
  tsr_status status = tsr_store_add_tensor(checkpoint->store, dtype, layout, 1, out_tensor);
  tsr_layout_release(layout);
  if (!status)
    *tsr_store_part(checkpoint->store, *out_tensor, 0, 0) =
        (tsr_stored_part){.file = file, .offset = offset};
  return status;
}

static tsr_status add_tensor(tsr_checkpoint *checkpoint, const tsr_sharding *whole,
                             const tsr_model_tensor *found) {
  const tsr_shape shape = tsr_tensor_shape(&found->tensor);
  int64_t tensor = -1;
  return tsr_checkpoint_add_whole(checkpoint, whole, found->tensor.dtype, &shape, found->file,
                                  found->begin, &tensor);
}

static tsr_status make_tree(const tsr_model *model, const tsr_tree **out_tree) {
  const int64_t count = tsr_model_count(model);
  tsr_tensor *tensors = calloc((size_t)count + 1, sizeof *tensors);
  tsr_tree *tree = NULL;
  if (!tensors) return tsr_fail(NO_MEMORY, "a list of %lld tensors", (long long)count);
  for (int64_t i = 0; i < count; i++) tensors[i] = tsr_model_tensor_at(model, i)->tensor;
  tsr_status status = tsr_tree_create(tensors, count, &tree);
  free(tensors);
  *out_tree = tree;
  return status;
}

static tsr_status add_tensors(tsr_checkpoint *checkpoint, const tsr_model *model) {
  tsr_sharding *whole = NULL;
  tsr_status status = tsr_sharding_whole(&whole);
  for (int64_t i = 0; i < tsr_model_count(model) && !status; i++)
    status = add_tensor(checkpoint, whole, tsr_model_tensor_at(model, i));
  tsr_sharding_release(whole);
  return status;
}

static tsr_status take(tsr_checkpoint *checkpoint, const tsr_model *model) {
  TSR_TRY(make_tree(model, &checkpoint->tree));
  TSR_TRY(add_files(checkpoint, model));
  TSR_TRY(add_tensors(checkpoint, model));
  return tsr_checkpoint_take_metadata(checkpoint, model);
}

tsr_status tsr_checkpoint_read_plain(tsr_checkpoint *checkpoint,
                                     const tsr_checkpoint_options *options) {
  tsr_model *model = NULL;
  if (options->plan)
    return tsr_fail(BAD_ARGUMENT,
                    "%s: tensors are stored whole here, so that no plan tells how they are cut",
                    checkpoint->path);
  TSR_TRY(tsr_model_open(checkpoint->path, &model));
  tsr_status status = take(checkpoint, model);
  tsr_model_destroy(model);
  return status;
}
