// What readers of all formats share: paths in a folder, and tensors that are stored whole.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "format/reading.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/tree.h"

// ---- files ----

tsr_status tsr_reading_join(const char *folder, const char *name, size_t length,
                            char out[PATH_MAX]) {
  if (snprintf(out, PATH_MAX, "%s/%.*s", folder, (int)length, name) < PATH_MAX) return NULL;
  return tsr_fail(TOO_LARGE, "%s: the path of a file in it is longer than %d bytes", folder,
                  PATH_MAX);
}

tsr_status tsr_reading_find_file(const char *folder, const char *name, char path[PATH_MAX],
                                 bool *out_found) {
  struct stat info;
  *out_found = false;
  if (snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX) return NULL;
  return tsr_io_look(path, out_found, &info);
}

bool tsr_reading_is_inside(const char *name, size_t length) {
  return length && !memchr(name, '/', length) && !memchr(name, '\0', length) && name[0] != '.';
}

tsr_status tsr_reading_add_file(tsr_checkpoint *checkpoint, const char *path, int *out_file) {
  struct stat info;
  if (stat(path, &info))
    return tsr_fail(IO, "%s: it has gone since it was read: %s", path, strerror(errno));
  return tsr_store_add_file(checkpoint->store, path, info.st_size, out_file);
}

// ---- tensors ----

tsr_status tsr_reading_refuse_plan(const tsr_checkpoint *checkpoint,
                                   const tsr_checkpoint_options *options) {
  if (!options->plan) return NULL;
  return tsr_fail(BAD_ARGUMENT,
                  "%s: tensors are stored whole here, so that no plan tells how they are cut",
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
