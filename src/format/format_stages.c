// Pipeline stages: a folder of folders stage0, stage1, ... (or pp0, pp-0, stage_0). Each is a
// checkpoint of its own, in any format and cut over its own mesh. Every stage numbers its layers
// from 0, so names would clash: tensor `w` of stage 1 is named stage1.w here, and a map renames it.
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text_internal.h"
#include "format/format.h"
#include "format/reading.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/tree.h"

typedef struct pipeline_stages {
  tsr_numbered_paths paths;
  tsr_checkpoint **models;  // owned: one for each path; NULL until opened
  int64_t tensors;          // of all stages
} pipeline_stages;

// ---- names ----

// The number of a name: "stage" or "pp", at most one of "-_=", and digits; -1 for other names.
static int64_t stage_of_name(const char *name) {
  const size_t word = !strncmp(name, "stage", 5) ? 5 : !strncmp(name, "pp", 2) ? 2 : 0;
  const char *digits = name + word;
  if (!word) return -1;
  if (*digits && strchr("-_=", *digits)) digits++;
  const size_t length = strspn(digits, "0123456789");
  if (length == 0 || length > 9 || digits[length] != '\0') return -1;
  return strtoll(digits, NULL, 10);
}

// An I/O error is a failure: a stage must not be overlooked.
static tsr_status find_stage(const char *folder, const char *name, char out_path[PATH_MAX],
                             bool *out_stage) {
  struct stat info;
  *out_stage = false;
  if (stage_of_name(name) < 0) return NULL;
  TSR_TRY(tsr_reading_join(folder, name, strlen(name), out_path));
  if (stat(out_path, &info))
    return errno == ENOENT ? NULL
                           : tsr_fail(IO, "%s: cannot look at it: %s", out_path, strerror(errno));
  *out_stage = S_ISDIR(info.st_mode);
  return NULL;
}

static tsr_status stop_at_stage(void *context, const char *folder, const char *name,
                                bool *out_stop) {
  char path[PATH_MAX];
  TSR_TRY(find_stage(folder, name, path, out_stop));
  *(bool *)context = *out_stop;
  return NULL;
}

static tsr_status detect(const tsr_format_probe *probe, bool *out_found) {
  return probe->folder ? tsr_reading_each_name(probe->path, stop_at_stage, out_found) : NULL;
}

// ---- finding and opening ----

static tsr_status add_stage(void *context, const char *folder, const char *name, bool *out_stop) {
  char path[PATH_MAX];
  bool found = false;
  (void)out_stop;
  TSR_TRY(find_stage(folder, name, path, &found));
  return found ? tsr_numbered_paths_add(context, stage_of_name(name), path) : NULL;
}

static tsr_status list_stages(const char *folder, pipeline_stages *all) {
  TSR_TRY(tsr_reading_each_name(folder, add_stage, &all->paths));
  if (!all->paths.count) return tsr_fail(BROKEN_FILE, "%s: there is no folder stage0", folder);
  tsr_numbered_paths_sort(&all->paths);
  all->models = calloc((size_t)all->paths.count, sizeof *all->models);
  return all->models ? NULL : tsr_fail(NO_MEMORY, "a list of stages");
}

// Refuses nested stages, which would be opened recursively.
static tsr_status check_depth(const pipeline_stages *all) {
  for (int64_t i = 0; i < all->paths.count; i++) {
    tsr_checkpoint_format format = TSR_FORMAT_ANY;
    TSR_TRY(tsr_format_detect(all->paths.items[i].path, &format));
    if (tsr_format_row(format)->nested)
      return tsr_fail(BROKEN_FILE, "%s: a stage cannot have stages itself",
                      all->paths.items[i].path);
  }
  return NULL;
}

static void free_stages(pipeline_stages *all) {
  for (int64_t i = 0; i < all->paths.count && all->models; i++)
    tsr_checkpoint_release(all->models[i]);
  free(all->models);
  tsr_numbered_paths_deinit(&all->paths);
}

static tsr_status check_numbers(const pipeline_stages *all, const char *folder) {
  for (int64_t i = 0; i < all->paths.count; i++) {
    const tsr_numbered_path *s = &all->paths.items[i];
    if (s->number < i)
      return tsr_fail(BROKEN_FILE, "%s and %s are both stage %lld", all->paths.items[i - 1].path,
                      s->path, (long long)s->number);
    if (s->number > i)
      return tsr_fail(BROKEN_FILE, "%s: there is no stage %lld, but a stage %lld", folder,
                      (long long)i, (long long)s->number);
  }
  return NULL;
}

static tsr_status open_stages(pipeline_stages *all) {
  for (int64_t i = 0; i < all->paths.count; i++) {
    TSR_TRY_NOTE(tsr_checkpoint_open(all->paths.items[i].path, NULL, &all->models[i]), "stage %lld",
                 (long long)i);
    all->tensors += tsr_tree_count(all->models[i]->tree);
  }
  return NULL;
}

// ---- joining the stages ----

static tsr_status name_tensors(tsr_arena *names, const pipeline_stages *all,
                               tsr_tensor *out_tensors) {
  for (int64_t i = 0; i < all->paths.count; i++) {
    const tsr_tree *tree = all->models[i]->tree;
    for (int64_t k = 0; k < tsr_tree_count(tree); k++) {
      const tsr_tensor *t = tsr_tree_at(tree, k);
      const size_t size = strlen(t->path) + 32;
      char *name = tsr_arena_alloc(names, size);
      if (!name) return tsr_fail(NO_MEMORY, "names of %lld tensors", (long long)all->tensors);
      snprintf(name, size, "stage%lld.%s", (long long)i, t->path);
      *out_tensors = *t;
      out_tensors++->path = name;
    }
  }
  return NULL;
}

static tsr_status make_tree(tsr_checkpoint *checkpoint, const pipeline_stages *all) {
  tsr_arena names = {0};
  tsr_tree *tree = NULL;
  tsr_tensor *tensors = calloc((size_t)all->tensors + 1, sizeof *tensors);
  tsr_status status = tensors
                          ? name_tensors(&names, all, tensors)
                          : tsr_fail(NO_MEMORY, "a list of %lld tensors", (long long)all->tensors);
  if (!status) status = tsr_tree_create(tensors, all->tensors, &tree);
  checkpoint->tree = tree;
  free(tensors);
  tsr_arena_deinit(&names);
  return status;
}

// Shares the foreign layout of NumPy's arrays. A stage is a folder, so no array is packed.
static tsr_status take_foreign(tsr_store *store, int64_t tensor, const tsr_foreign *foreign) {
  assert(foreign->packed < 0);
  if (foreign->transposed) tsr_layout_retain(foreign->transposed);
  return tsr_store_set_foreign(store, tensor, foreign);
}

static tsr_status take_store(tsr_store *store, const tsr_store *other) {
  const int first_file = store->file_count;
  for (int i = 0; i < other->file_count; i++) {
    int file = -1;
    TSR_TRY(tsr_store_add_file(store, other->paths[i], other->file_sizes[i], &file));
  }
  for (int64_t i = 0; i < other->count; i++) {
    const tsr_stored_tensor *t = &other->tensors[i];
    const int64_t places = tsr_layout_shard_count(t->layout) * t->copies;
    int64_t tensor = -1;
    TSR_TRY(tsr_store_add_tensor(store, t->dtype, t->layout, t->copies, &tensor));
    if (t->foreign) TSR_TRY(take_foreign(store, tensor, t->foreign));
    for (int64_t k = 0; k < places; k++) {
      tsr_shard_place place = other->places[t->first_place + k];
      if (place.file >= 0) place.file += first_file;
      store->places[store->tensors[tensor].first_place + k] = place;
    }
  }
  return NULL;
}

// Hashes do not depend on names, so they stay valid. All stages must have them.
static tsr_status take_hashes(tsr_checkpoint *checkpoint, const pipeline_stages *all) {
  for (int64_t i = 0; i < all->paths.count; i++)
    if (!all->models[i]->hashes) return NULL;
  tsr_hash128 *next = malloc(sizeof *next * (size_t)(all->tensors + 1));
  if (!next) return tsr_fail(NO_MEMORY, "hashes of %lld tensors", (long long)all->tensors);
  checkpoint->hashes = next;
  for (int64_t i = 0; i < all->paths.count; i++) {
    const tsr_checkpoint *model = all->models[i];
    const int64_t count = tsr_tree_count(model->tree);
    if (count > 0) memcpy(next, model->hashes, sizeof *next * (size_t)count);
    next += count;
  }
  return NULL;
}

static tsr_status take_stages(tsr_checkpoint *checkpoint, pipeline_stages *all) {
  TSR_TRY(list_stages(checkpoint->path, all));
  TSR_TRY(check_numbers(all, checkpoint->path));
  TSR_TRY(check_depth(all));
  TSR_TRY(open_stages(all));
  TSR_TRY(make_tree(checkpoint, all));
  for (int64_t i = 0; i < all->paths.count; i++) {
    const tsr_checkpoint *model = all->models[i];
    TSR_TRY(tsr_note(take_store(checkpoint->store, model->store), "%s", model->path));
    for (int64_t k = 0; k < model->metadata.count; k++)
      TSR_TRY(tsr_checkpoint_add_metadata(checkpoint, &model->metadata.items[k]));
    if (model->warnings.length)
      tsr_text_addf(&checkpoint->warnings, "stage %lld: %s", (long long)i,
                    tsr_text_string(&model->warnings));
  }
  return take_hashes(checkpoint, all);
}

static tsr_status read_stages(tsr_checkpoint *checkpoint, const tsr_checkpoint_options *options) {
  pipeline_stages all = {0};
  if (options->plan)
    return tsr_fail(BAD_ARGUMENT,
                    "%s: a plan was given, but each stage has its own, a tessera-plan.json beside "
                    "its files",
                    checkpoint->path);
  tsr_status status = take_stages(checkpoint, &all);
  free_stages(&all);
  return status;
}

// ---- checking: each stage as if alone, then all together ----

// Copies a fault of a stage, with its file relative to the folder of all stages.
static tsr_status take_fault(tsr_fsck *fsck, const char *stage, const tsr_fault *fault) {
  char file[PATH_MAX];
  const char *slash = fault->file[0] ? "/" : "";
  if (snprintf(file, sizeof file, "%s%s%s", stage, slash, fault->file) >= PATH_MAX)
    return tsr_fail(TOO_LARGE, "%s: the path is longer than %d bytes", fault->file, PATH_MAX);
  tsr_fault place = *fault;
  place.file = file;
  return tsr_fsck_add(fsck, &place, "%s", fault->message);
}

static tsr_status check_one(tsr_fsck *fsck, const char *path) {
  tsr_fsck *stage = NULL;
  const tsr_fsck_options options = {.size = sizeof options, .repair = fsck->options.repair};
  tsr_status status = fsck->check_nested(path, &options, &stage);
  if (status) return status;
  for (int64_t i = 0; i < stage->count && !status; i++)
    status = take_fault(fsck, strrchr(path, '/') + 1, &stage->faults[i]);
  fsck->stage_files += tsr_fsck_files(stage);
  fsck->tensors += stage->tensors;
  if (stage->repaired) fsck->repaired = true;
  tsr_fsck_destroy(stage);
  return status;
}

static tsr_status check_each(tsr_fsck *fsck) {
  pipeline_stages all = {0};
  tsr_status status = list_stages(fsck->path, &all);
  if (!status) status = check_depth(&all);
  for (int64_t i = 0; i < all.paths.count && !status; i++)
    status = check_one(fsck, all.paths.items[i].path);
  free_stages(&all);
  return status;
}

static tsr_status check(tsr_fsck *fsck) {
  const tsr_fault place = {.kind = TSR_FAULT_DISAGREES};
  const int64_t errors = fsck->totals[TSR_SEVERITY_ERROR];
  tsr_status status = check_each(fsck);
  if (status) return tsr_fsck_add_failure(fsck, &place, status);
  if (fsck->totals[TSR_SEVERITY_ERROR] > errors) return NULL;
  return tsr_fsck_open_whole(fsck, TSR_FAULT_DISAGREES);
}

static const char *const patterns[] = {NULL};

const tsr_format_ops tsr_format_stages = {
    .name = "stages",
    .ending = ".safetensors",
    .patterns = patterns,
    .nested = true,
    .fallback_dtype = true,
    .stage = TSR_DETECT_BY_NAME,
    .detect = detect,
    .read = read_stages,
    .cannot_write =
        "pipeline stages are written one by one, each with a map that numbers its layers",
    .check = check};
