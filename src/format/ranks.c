// Files for each rank, as tensor-parallel engines write and read them: a rank's slice of a tensor
// stands in its files under the tensor's plain name. Nothing in them says how tensors were cut: the
// plan does, and every slice is held against it.
//
// Files tell their rank by name, "rank" and a number: model-rank-3-part-0.safetensors (vLLM and
// SGLang), rank_3.safetensors, or any safetensors file in a folder rank-3.
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/io.h"
#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "file/model.h"
#include "file/safetensors.h"
#include "format/format.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/layout.h"
#include "tessera/plan.h"
#include "tessera/tree.h"

typedef struct rank_file {
  int64_t rank;
  char *path;  // owned
} rank_file;

typedef struct rank_files {
  rank_file *items;  // owned
  int64_t count, capacity;
} rank_files;

// ---- names ----

// The number after "rank" in a name, past one '-', '_' or '='; -1 if there is none.
static int64_t rank_of_name(const char *name) {
  const char *word = strstr(name, "rank");
  if (!word) return -1;
  const char *digits = word + 4;
  if (*digits == '-' || *digits == '_' || *digits == '=') digits++;
  if (!isdigit((unsigned char)*digits)) return -1;
  errno = 0;
  const long long rank = strtoll(digits, NULL, 10);
  return errno || rank > INT32_MAX ? -1 : rank;
}

// In doubt it is one: opening it tells why not.
static bool is_folder(const char *path) {
  struct stat info;
  return stat(path, &info) ? errno != ENOENT : S_ISDIR(info.st_mode);
}

tsr_status tsr_checkpoint_has_ranks(const char *folder, bool *out_found) {
  DIR *listing = opendir(folder);
  tsr_status status = NULL;
  if (!listing) return tsr_fail(IO, "%s: %s", folder, strerror(errno));
  *out_found = false;
  for (const char *name = "."; name && !status && !*out_found;) {
    char path[PATH_MAX];
    status = tsr_io_next_name(listing, folder, &name);
    if (status || !name || rank_of_name(name) < 0) continue;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    *out_found = tsr_ends_with(name, ".safetensors") || is_folder(path);
  }
  closedir(listing);
  return status;
}

// ---- finding the files ----

static tsr_status add_file(rank_files *files, int64_t rank, const char *path) {
  void *items = tsr_grow(files->items, files->count, &files->capacity, sizeof *files->items);
  if (!items) return tsr_fail(NO_MEMORY, "a list of files");
  files->items = items;
  rank_file *file = &files->items[files->count];
  *file = (rank_file){.rank = rank};
  file->path = strdup(path);
  if (!file->path) return tsr_fail(NO_MEMORY, "a list of files");
  files->count++;
  return NULL;
}

// Files of a folder: all that are safetensors when `rank` is known, else those that name one; and
// those in folders that do.
static tsr_status list_files(const char *folder, int64_t rank, rank_files *files) {
  DIR *listing = opendir(folder);
  tsr_status status = NULL;
  if (!listing) return tsr_fail(IO, "%s: %s", folder, strerror(errno));
  for (const char *name = "."; name && !status;) {
    char path[PATH_MAX];
    status = tsr_io_next_name(listing, folder, &name);
    if (status || !name) break;
    const int64_t named = rank_of_name(name);
    if (name[0] == '.' || (rank < 0 && named < 0)) continue;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= PATH_MAX)
      status = tsr_fail(TOO_LARGE, "%s: the path is longer than %d bytes", folder, PATH_MAX);
    else if (tsr_ends_with(name, ".safetensors"))
      status = add_file(files, rank < 0 ? named : rank, path);
    else if (rank < 0 && is_folder(path))
      status = list_files(path, named, files);
  }
  closedir(listing);
  return status;
}

static int by_rank_and_path(const void *left, const void *right) {
  const rank_file *a = left, *b = right;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  return strcmp(a->path, b->path);
}

// Ranks `from` to `to`, the last not included, have no file; a mesh may have millions.
static tsr_status ranks_missing(tsr_checkpoint *checkpoint, int64_t from, int64_t to,
                                int64_t count) {
  if (from >= to) return NULL;
  tsr_status status =
      to - from == 1
          ? tsr_fail(BROKEN_FILE,
                     "%s: there is no file for rank %lld; the plan's mesh has %lld devices",
                     checkpoint->path, (long long)from, (long long)count)
          : tsr_fail(
                BROKEN_FILE,
                "%s: there are no files for ranks %lld to %lld; the plan's mesh has %lld devices",
                checkpoint->path, (long long)from, (long long)to - 1, (long long)count);
  return tsr_checkpoint_complain(checkpoint, TSR_FAULT_FILE_MISSING, NULL, NULL, status);
}

// Ranks are 0 .. count-1, each with a file.
static tsr_status check_ranks(tsr_checkpoint *checkpoint, const rank_files *files, int64_t count) {
  int64_t next = 0;
  for (int64_t i = 0; i < files->count; i++) {
    const char *path = files->items[i].path;
    const int64_t rank = files->items[i].rank;
    if (rank < count) {
      TSR_TRY(ranks_missing(checkpoint, next, rank, count));
      next = rank + 1;
    } else {
      TSR_TRY(tsr_checkpoint_complain(
          checkpoint, TSR_FAULT_FILE_SURPLUS, path, NULL,
          tsr_fail(BROKEN_FILE,
                   "%s: there is a file for rank %lld, but the plan's mesh has %lld devices", path,
                   (long long)rank, (long long)count)));
    }
  }
  return ranks_missing(checkpoint, next, count, count);
}

// ---- slices ----

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

// `out_kind` is what a failure is.
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
  tsr_stored_part *part = tsr_store_part(checkpoint->store, tensor, shard, copy);
  *out_kind = TSR_FAULT_TWICE;
  if (part->file >= 0)
    return tsr_fail(BROKEN_FILE, "tensor \"%s\" is in %s too", found->tensor.path,
                    checkpoint->store->paths[part->file]);
  *out_kind = TSR_FAULT_SLICE;
  part->file = -2;
  TSR_TRY(check_slice(checkpoint, tensor, shard, found));
  *part = (tsr_stored_part){.file = file, .offset = found->begin};
  return NULL;
}

tsr_status tsr_checkpoint_take_slices(tsr_checkpoint *checkpoint, const char *path,
                                      int64_t position) {
  tsr_model *model = NULL;
  struct stat info;
  int file = -1;
  tsr_status status = tsr_safetensors_open(path, &model);
  if (status) return tsr_checkpoint_complain(checkpoint, TSR_FAULT_HEADER, path, NULL, status);
  status = stat(path, &info)
               ? tsr_fail(IO, "%s: it has gone since it was read: %s", path, strerror(errno))
               : tsr_store_add_file(checkpoint->store, path, info.st_size, &file);
  for (int64_t i = 0; i < tsr_model_count(model) && !status; i++) {
    const tsr_model_tensor *found = tsr_model_tensor_at(model, i);
    tsr_fault_kind kind = TSR_FAULT_SLICE;
    status = tsr_note(take_slice(checkpoint, position, file, found, &kind), "%s", path);
    status = tsr_checkpoint_complain(checkpoint, kind, path, found->tensor.path, status);
  }
  if (!status) status = tsr_checkpoint_take_metadata(checkpoint, model);
  tsr_model_destroy(model);
  return status;
}

// Whether no copy of a shard is there; `absent` counts those that are not.
static bool is_lost(const tsr_checkpoint *checkpoint, int64_t tensor, int64_t shard,
                    int64_t *absent) {
  const int copies = checkpoint->store->tensors[tensor].copies;
  int there = 0;
  for (int copy = 0; copy < copies; copy++)
    there += tsr_store_part(checkpoint->store, tensor, shard, copy)->file != -1;
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
  return tsr_checkpoint_complain(checkpoint, TSR_FAULT_LOST, NULL, name, status);
}

// Every shard is there at least once. Copies may be absent: engines leave out what a rank does not
// need.
tsr_status tsr_checkpoint_check_whole(tsr_checkpoint *checkpoint) {
  int64_t absent = 0;
  for (int64_t i = 0; i < checkpoint->store->count; i++)
    TSR_TRY(check_tensor(checkpoint, i, &absent));
  if (absent)
    tsr_text_addf(&checkpoint->warnings, "%lld copies of shards are absent; others are there\n",
                  (long long)absent);
  return NULL;
}

// ---- the reader ----

tsr_status tsr_checkpoint_take_plan(tsr_checkpoint *checkpoint, const tsr_plan *plan,
                                    bool replicas) {
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

static tsr_status take_files(tsr_checkpoint *checkpoint, const rank_files *files) {
  const int64_t count = tsr_mesh_device_count(tsr_plan_mesh(checkpoint->plan));
  TSR_TRY(check_ranks(checkpoint, files, count));
  for (int64_t i = 0; i < files->count && files->items[i].rank < count; i++)
    TSR_TRY(tsr_checkpoint_take_slices(checkpoint, files->items[i].path, files->items[i].rank));
  return tsr_checkpoint_check_whole(checkpoint);
}

// The plan that was given, or the one that lies beside the files; `path` is where that is.
static tsr_status find_plan(tsr_checkpoint *checkpoint, const tsr_plan *given, const char *path) {
  struct stat info;
  bool beside = false;
  tsr_plan *plan = NULL;
  if (!given) TSR_TRY(tsr_io_look(path, &beside, &info));
  if (beside) {
    TSR_TRY(tsr_model_check_link(path));
    TSR_TRY(tsr_plan_open(path, &plan));
  }
  checkpoint->plan = given ? tsr_plan_retain(given) : plan;
  if (checkpoint->plan && tsr_plan_mesh(checkpoint->plan)) return NULL;
  if (beside) return tsr_fail(BAD_PLAN, "%s: a plan without a mesh tells of no ranks", path);
  return tsr_fail(PLAN_REQUIRED,
                  "%s: these are slices for each rank; how they were cut is for a plan with a mesh "
                  "to say",
                  checkpoint->path);
}

static tsr_status take_plan(tsr_checkpoint *checkpoint, const tsr_plan *given) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s/%s", checkpoint->path, TSR_RANKS_PLAN) >= PATH_MAX)
    return tsr_fail(TOO_LARGE, "%s: the path is longer than %d bytes", checkpoint->path, PATH_MAX);
  TSR_TRY(find_plan(checkpoint, given, path));
  return tsr_note(tsr_checkpoint_take_plan(checkpoint, checkpoint->plan, true), "%s",
                  given ? checkpoint->path : path);
}

tsr_status tsr_checkpoint_read_ranks(tsr_checkpoint *checkpoint,
                                     const tsr_checkpoint_options *options) {
  rank_files files = {0};
  TSR_TRY(take_plan(checkpoint, options->plan));
  tsr_status status = list_files(checkpoint->path, -1, &files);
  if (!status && files.count > 0)
    qsort(files.items, (size_t)files.count, sizeof *files.items, by_rank_and_path);
  if (!status) status = take_files(checkpoint, &files);
  for (int64_t i = 0; i < files.count; i++) free(files.items[i].path);
  free(files.items);
  return status;
}
