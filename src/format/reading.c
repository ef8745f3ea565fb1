// Folders as readers see them; tensors stored whole; and slices of tensors that a plan cuts. A file
// holds the slices of one mesh position, each under the plain name of its tensor. Every slice is
// checked against the plan, and every shard must be there.
#include "format/reading.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/io.h"
#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/plan.h"
#include "tessera/tree.h"

// ---- folders ----

tsr_status tsr_reading_each_name(const char *folder, tsr_folder_name_fn *fn, void *context) {
  DIR *listing = opendir(folder);
  tsr_status status = NULL;
  bool stop = false;
  if (!listing) return tsr_fail(IO, "%s: %s", folder, strerror(errno));
  for (const char *name = ""; name && !stop && !status;) {
    status = tsr_io_next_name(listing, folder, &name);
    if (!status && name) status = fn(context, folder, name, &stop);
  }
  closedir(listing);
  return status;
}

// ---- numbered paths ----

tsr_status tsr_numbered_paths_add(tsr_numbered_paths *list, int64_t number, const char *path) {
  void *items = tsr_grow(list->items, list->count, &list->capacity, sizeof *list->items);
  if (items) list->items = items;
  char *copy = items ? strdup(path) : NULL;
  if (!copy) return tsr_fail(NO_MEMORY, "a list of files");
  list->items[list->count++] = (tsr_numbered_path){.number = number, .path = copy};
  return NULL;
}

static int by_number_and_path(const void *left, const void *right) {
  const tsr_numbered_path *a = left, *b = right;
  if (a->number != b->number) return a->number < b->number ? -1 : 1;
  return strcmp(a->path, b->path);
}

void tsr_numbered_paths_sort(tsr_numbered_paths *list) {
  if (list->count) qsort(list->items, (size_t)list->count, sizeof *list->items, by_number_and_path);
}

void tsr_numbered_paths_deinit(tsr_numbered_paths *list) {
  for (int64_t i = 0; i < list->count; i++) free(list->items[i].path);
  free(list->items);
}

// ---- single files ----

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
    return tsr_fail(IO, "%s: the file disappeared after its header was read: %s", path,
                    strerror(errno));
  return tsr_store_add_file(checkpoint->store, path, info.st_size, out_file);
}

// ---- tensors stored whole ----

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

// ---- tensors cut by a plan ----

tsr_status tsr_reading_add_planned(tsr_checkpoint *checkpoint, bool replicas) {
  const tsr_plan *plan = checkpoint->plan;
  checkpoint->tree = tsr_tree_retain(tsr_plan_tree(plan));
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) {
    tsr_layout *layout = NULL;
    int64_t tensor = -1;
    tsr_status status = tsr_plan_layout(plan, i, &layout);
    if (!status)
      status =
          tsr_store_add_tensor(checkpoint->store, tsr_tree_at(checkpoint->tree, i)->dtype, layout,
                               replicas ? (int)tsr_layout_replica_count(layout) : 1, &tensor);
    tsr_layout_release(layout);
    if (status) return status;
  }
  return NULL;
}

static tsr_status check_slice(const tsr_checkpoint *checkpoint, int64_t tensor, int64_t shard,
                              const tsr_model_tensor *found) {
  const tsr_stored_tensor *stored = &checkpoint->store->tensors[tensor];
  tsr_shape wanted, given;
  if (found->tensor.dtype != stored->dtype)
    return tsr_fail(BROKEN_FILE, "tensor \"%s\" is %s, but the plan says %s", found->tensor.path,
                    tsr_dtype_name(found->tensor.dtype, TSR_NAMES_OWN),
                    tsr_dtype_name(stored->dtype, TSR_NAMES_OWN));
  tsr_layout_buffer_shape(stored->layout, shard, &wanted);
  TSR_TRY(tsr_shape_init(&given, found->tensor.dims, found->tensor.rank));
  if (tsr_shape_equal(&wanted, &given)) return NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_shape_print(&given, &text);
  tsr_text_add(&text, ", but by the plan its slice is ");
  tsr_shape_print(&wanted, &text);
  tsr_status status = tsr_fail(BROKEN_FILE, "tensor \"%s\" has shape %s", found->tensor.path,
                               tsr_text_string(&text));
  tsr_text_deinit(&text);
  return status;
}

// Adds one slice; `out_kind` is the kind of a failure.
static tsr_status take_slice(tsr_checkpoint *checkpoint, int64_t position, int file,
                             const tsr_model_tensor *found, tsr_fault_kind *out_kind) {
  const int64_t tensor = tsr_tree_find(checkpoint->tree, found->tensor.path);
  *out_kind = TSR_FAULT_NOT_IN_PLAN;
  if (tensor < 0)
    return tsr_fail(BROKEN_FILE, "tensor \"%s\" is not in the plan", found->tensor.path);
  const tsr_layout *layout = checkpoint->store->tensors[tensor].layout;
  const int64_t shard = tsr_layout_shard(layout, position);
  const int64_t replica = tsr_layout_replica_id(layout, position);
  const int copy = replica < checkpoint->store->tensors[tensor].copies ? (int)replica : 0;
  tsr_shard_place *place = tsr_store_place(checkpoint->store, tensor, shard, copy);
  *out_kind = TSR_FAULT_TWICE;
  if (place->file >= 0)
    return tsr_fail(BROKEN_FILE, "tensor \"%s\" is in %s too", found->tensor.path,
                    checkpoint->store->paths[place->file]);
  *out_kind = TSR_FAULT_SLICE;
  place->file = -2;
  TSR_TRY(check_slice(checkpoint, tensor, shard, found));
  *place = (tsr_shard_place){.file = file, .offset = found->begin};
  return NULL;
}

tsr_status tsr_reading_add_slices(tsr_checkpoint *checkpoint, const char *path, int64_t position) {
  tsr_model *model = NULL;
  int file = -1;
  tsr_status status = tsr_safetensors_open(path, &model);
  if (status) return tsr_checkpoint_report(checkpoint, TSR_FAULT_HEADER, path, NULL, status);
  status = tsr_reading_add_file(checkpoint, path, &file);
  for (int64_t i = 0; i < tsr_model_count(model) && !status; i++) {
    const tsr_model_tensor *found = tsr_model_tensor_at(model, i);
    tsr_fault_kind kind = TSR_FAULT_SLICE;
    status = tsr_note(take_slice(checkpoint, position, file, found, &kind), "%s", path);
    status = tsr_checkpoint_report(checkpoint, kind, path, found->tensor.path, status);
  }
  if (!status) status = tsr_checkpoint_take_metadata(checkpoint, model);
  tsr_model_destroy(model);
  return status;
}

// Whether all copies of a shard are absent; adds the absent ones to `absent`.
static bool is_lost(const tsr_checkpoint *checkpoint, int64_t tensor, int64_t shard,
                    int64_t *absent) {
  const int copies = checkpoint->store->tensors[tensor].copies;
  int there = 0;
  for (int copy = 0; copy < copies; copy++)
    there += tsr_store_place(checkpoint->store, tensor, shard, copy)->file != -1;
  *absent += copies - there;
  return there == 0;
}

static tsr_status check_tensor(tsr_checkpoint *checkpoint, int64_t tensor, int64_t *absent) {
  const char *name = tsr_tree_at(checkpoint->tree, tensor)->path;
  const int64_t shards = tsr_layout_shard_count(checkpoint->store->tensors[tensor].layout);
  int64_t first = -1, lost = 0;
  for (int64_t shard = 0; shard < shards; shard++)
    if (is_lost(checkpoint, tensor, shard, absent) && ++lost == 1) first = shard;
  if (!lost) return NULL;
  tsr_status status =
      lost == 1
          ? tsr_fail(BROKEN_FILE, "%s: no file has shard %lld of tensor \"%s\"", checkpoint->path,
                     (long long)first, name)
          : tsr_fail(BROKEN_FILE,
                     "%s: no file has %lld of the %lld shards of tensor \"%s\", the first "
                     "being %lld",
                     checkpoint->path, (long long)lost, (long long)shards, name, (long long)first);
  return tsr_checkpoint_report(checkpoint, TSR_FAULT_LOST, NULL, name, status);
}

// Every shard needs one copy. Others may be absent: engines leave out what a rank does not need.
tsr_status tsr_reading_check_complete(tsr_checkpoint *checkpoint) {
  int64_t absent = 0;
  for (int64_t i = 0; i < checkpoint->store->count; i++)
    TSR_TRY(check_tensor(checkpoint, i, &absent));
  if (absent)
    tsr_text_addf(&checkpoint->warnings,
                  "%lld copies of shards are absent; other copies are used\n", (long long)absent);
  return NULL;
}
