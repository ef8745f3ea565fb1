// The collectives of tessera/checkpoint/load.h, tessera/checkpoint/save.h and the partitioner's
// checkpoints with an argument swapped.
#include <stdlib.h>
#include <string.h>

#include "conformance/swaps.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/save.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/compat/t5x_partitioner.h"
#include "tessera/engine/collectives.h"

// ---- what they share ----

static void name_path(const scene *s, const char *name, char out[128]) {
  snprintf(out, 128, "%s/%s", s->folder, name);
}

static tsr_status check_tensor(const scene *s, const tsr_checkpoint *saved, const char *name,
                               int32_t *room) {
  const int64_t tensor = tsr_tree_find(tsr_checkpoint_tree(saved), name);
  if (tensor < 0) return tsr_fail(NOT_FOUND, "tensor \"%s\" was not saved", name);
  const int64_t bytes = (int64_t)sizeof *room * 4 * s->n * s->n;
  TSR_TRY(tsr_checkpoint_read(saved, tensor, NULL, room, bytes));
  if (!memcmp(room, s->tensors[name[0] == 'b'], (size_t)bytes)) return NULL;
  return tsr_fail(REPLICAS_DIFFER, "tensor \"%s\" was saved wrong", name);
}

// What was saved is there. Nobody goes on while others read.
static tsr_status check_saved(const scene *s, const char *path) {
  int32_t *room = calloc((size_t)(4 * s->n * s->n), sizeof *room);
  tsr_checkpoint *saved = NULL;
  tsr_status status = tsr_checkpoint_open(path, NULL, &saved);
  if (!status) status = check_tensor(s, saved, "a", room);
  if (!status) status = check_tensor(s, saved, "b", room);
  if (!status) status = check_tensor(s, saved, "h", room);
  tsr_checkpoint_release(saved);
  free(room);
  TSR_TRY(tsr_comm_barrier(s->comm));
  return status;
}

// ---- saves ----

#define TREES "order path dtype leaves kind"
static const tree_kind trees[] = {PLAIN, REORDERED, RENAMED, RETYPED, SHORTER, HOSTED};

// Options and the path, of which number `swapped` is another one.
typedef struct saving {
  tsr_plan *plan;
  tsr_metadata metadata;
  const char *pattern;
  tsr_cast_rule cast;
  tsr_save_options options;
  char path[128];
} saving;
#define SAVING \
  "path plan format dtype include exclude casts metadata max_memory max_file_size no_sync "

static tsr_status make_saving(const scene *s, int swapped, const char *name, saving *out) {
  *out = (saving){.metadata = {"key", swapped == 8 ? "other" : "value"},
                  .pattern = swapped == 5 ? "." : "h",
                  .cast = {".", TSR_BF16}};
  out->options =
      (tsr_save_options){.size = swapped == 15 ? 0 : sizeof out->options,
                         .format = swapped == 3 ? TSR_FORMAT_RANKS : TSR_FORMAT_TESSERA,
                         .dtype = swapped == 4 ? TSR_BF16 : TSR_DTYPE_NONE,
                         .include = &out->pattern,
                         .include_count = swapped == 5,
                         .exclude = &out->pattern,
                         .exclude_count = swapped == 6,
                         .casts = &out->cast,
                         .cast_count = swapped == 7,
                         .metadata = &out->metadata,
                         .metadata_count = 1,
                         .max_memory = swapped == 13 ? -1 : (INT64_C(64) + (swapped == 9)) << 20,
                         .max_file_size = swapped == 10 ? 1 << 20 : 0,
                         .existing = swapped == 12   ? TSR_EXISTING_REFUSE
                                     : swapped == 14 ? TSR_EXISTING_RESUME
                                                     : TSR_EXISTING_REPLACE,
                         .no_sync = swapped != 11};
  name_path(s, swapped == 1 ? "elsewhere" : name, out->path);
  TSR_TRY(swap_plan(s, s->mesh, swapped == 2 ? ". -> data" : ". -> model, data", 4, &out->plan));
  out->options.plan = out->plan;
  return NULL;
}

static tsr_status save_as(scene *s, int swapped, const char *name, bool decide_only) {
  saving with = {0};
  tsr_array_tree *tree = NULL;
  tsr_save *save = NULL;
  tsr_status status = swap_tree(s, trees[swapped < 6 ? swapped : 0], &tree);
  if (!status) status = make_saving(s, swapped - 5, name, &with);
  if (!status && decide_only)
    status = tsr_save_create(tree, with.path, s->comm, &with.options, &save);
  if (!status && !decide_only) {
    status = tsr_checkpoint_save(tree, with.path, s->comm, &with.options);
    if (!status) status = check_saved(s, with.path);
  }
  tsr_save_destroy(save);
  tsr_plan_release(with.plan);
  tsr_array_tree_release(tree);
  return status;
}

static tsr_status save_create(scene *s, int swapped) {
  return save_as(s, swapped, "created", true);
}

static tsr_status save(scene *s, int swapped) { return save_as(s, swapped, "model", false); }

// Two saves that all ranks have made; one runs the other.
static tsr_status save_run(scene *s, int swapped) {
  saving with = {0}, other = {0};
  tsr_array_tree *tree = NULL;
  tsr_save *saves[2] = {NULL, NULL};
  tsr_status status = swap_tree(s, PLAIN, &tree);
  if (!status) status = make_saving(s, 0, "first", &with);
  if (!status) status = make_saving(s, 0, "second", &other);
  if (!status) status = tsr_save_create(tree, with.path, s->comm, &with.options, &saves[0]);
  if (!status) status = tsr_save_create(tree, other.path, s->comm, &other.options, &saves[1]);
  if (!status) status = tsr_save_run(saves[swapped]);
  if (!status) status = check_saved(s, with.path);
  tsr_save_destroy(saves[0]);
  tsr_save_destroy(saves[1]);
  tsr_plan_release(with.plan);
  tsr_plan_release(other.plan);
  tsr_array_tree_release(tree);
  return status;
}

static tsr_status save_state(scene *s, int swapped) {
  saving with = {0};
  tsr_partitioner *partitioner = NULL;
  tsr_array_tree *tree = NULL;
  tsr_plan *axes = NULL;
  tsr_status status = swap_tree(s, swapped == 1 ? REORDERED : PLAIN, &tree);
  if (!status) status = swap_partitioner(s, false, swapped == 4, &partitioner);
  if (!status) status = make_saving(s, swapped == 3, "state", &with);
  if (!status)
    status = swap_plan(s, s->mesh, swapped == 2 ? ". -> data" : ". -> model, data", 4, &axes);
  with.options.plan = NULL;
  if (swapped == 5) with.options.size = 0;
  if (!status)
    status = tsr_partitioner_save(partitioner, tree, axes, with.path, s->comm, &with.options);
  if (!status) status = check_saved(s, with.path);
  tsr_plan_release(axes);
  tsr_plan_release(with.plan);
  tsr_partitioner_release(partitioner);
  tsr_array_tree_release(tree);
  return status;
}

// ---- loads, of what was saved ----

static tsr_status open_all(scene *s, int swapped) {
  char path[128];
  tsr_checkpoint *opened = NULL;
  name_path(s, swapped == 1 ? "nowhere" : "model", path);
  const tsr_checkpoint_options options = {.size = swapped == 2 ? 0 : sizeof options};
  tsr_status status = tsr_checkpoint_open_all(s->comm, path, &options, &opened);
  tsr_checkpoint_release(opened);
  return status;
}

typedef struct loading {
  tsr_checkpoint *model;
  tsr_plan *plan;
  tsr_map *map;
  tsr_mapping *mapping;
  const char *pattern;
  tsr_cast_rule cast;
  tsr_load_options options;
} loading;
#define LOADING                                                                        \
  "plan mesh map dtype include exclude casts planned_only replicas alone least_piece " \
  "max_memory ! plan max_memory options.size"

static tsr_status make_loading(const scene *s, int swapped, loading *out) {
  char path[128];
  *out = (loading){.pattern = swapped == 5 ? "." : "h", .cast = {".", TSR_BF16}};
  name_path(s, "model", path);
  TSR_TRY(tsr_checkpoint_open(path, NULL, &out->model));
  TSR_TRY(swap_plan(s, swapped == 2 ? s->turned : s->mesh,
                    swapped == 1 ? ". -> data" : ". -> _, data+model", 3, &out->plan));
  if (swapped == 3) {
    TSR_TRY(tsr_map_parse("a = b\nb = a\nh = h\n", "map", &out->map));
    TSR_TRY(tsr_map_apply(out->map, tsr_checkpoint_tree(out->model), NULL, &out->mapping));
  }
  out->options =
      (tsr_load_options){.size = swapped == 15 ? 0 : sizeof out->options,
                         .map = out->mapping,
                         .dtype = swapped == 4 ? TSR_BF16 : TSR_DTYPE_NONE,
                         .include = &out->pattern,
                         .include_count = swapped == 5,
                         .exclude = &out->pattern,
                         .exclude_count = swapped == 6,
                         .casts = &out->cast,
                         .cast_count = swapped == 7,
                         .planned_only = swapped == 8,
                         .replicas = swapped == 9 ? TSR_REPLICAS_COMPARE : TSR_REPLICAS_DEFAULT,
                         .alone = swapped == 10,
                         .least_piece = swapped == 11 ? 16 : 64,
                         .max_memory = swapped == 12   ? INT64_C(64) << 20
                                       : swapped == 14 ? -1
                                                       : 0};
  return NULL;
}

static void free_loading(loading *with) {
  tsr_mapping_release(with->mapping);
  tsr_map_release(with->map);
  tsr_plan_release(with->plan);
  tsr_checkpoint_release(with->model);
}

static tsr_status load_create(scene *s, int swapped) {
  loading with = {0};
  tsr_load *load = NULL;
  tsr_status status = make_loading(s, swapped, &with);
  if (!status)
    status = tsr_load_create(with.model, swapped == 13 ? NULL : with.plan, s->comm, &with.options,
                             &load);
  tsr_load_destroy(load);
  free_loading(&with);
  return status;
}

static tsr_status load_run(scene *s, int swapped) {
  loading with = {0}, other = {0};
  tsr_load *loads[2] = {NULL, NULL};
  tsr_array_tree *made = NULL;
  tsr_status status = make_loading(s, 0, &with);
  if (!status) status = make_loading(s, 1, &other);
  if (!status) status = tsr_load_create(with.model, with.plan, s->comm, &with.options, &loads[0]);
  if (!status)
    status = tsr_load_create(other.model, other.plan, s->comm, &other.options, &loads[1]);
  if (!status) status = tsr_load_run(loads[swapped], &made);
  tsr_load_destroy(loads[0]);
  tsr_load_destroy(loads[1]);
  free_loading(&with);
  free_loading(&other);
  return swap_check_tree(s, made, status);
}

static tsr_status load(scene *s, int swapped) {
  loading with = {0};
  tsr_array_tree *made = NULL;
  tsr_status status = make_loading(s, swapped, &with);
  if (!status)
    status = tsr_checkpoint_load(with.model, swapped == 13 ? NULL : with.plan, s->comm,
                                 &with.options, &made);
  free_loading(&with);
  return swap_check_tree(s, made, status);
}

static tsr_status load_path(scene *s, int swapped) {
  const tsr_load_options options = {.size = sizeof options,
                                    .dtype = swapped == 3 ? TSR_BF16 : TSR_DTYPE_NONE};
  char path[128];
  tsr_array_tree *made = NULL;
  name_path(s, swapped == 4 ? "nowhere" : "model", path);
  tsr_status status = tsr_checkpoint_load_path(path, swapped == 2 ? s->turned : s->mesh,
                                               swapped == 1   ? ". -> data"
                                               : swapped == 5 ? "a -> data"
                                                              : ". -> _, data+model",
                                               s->comm, &options, &made);
  return swap_check_tree(s, made, status);
}

static tsr_status restore(scene *s, int swapped) {
  loading with = {0};
  tsr_partitioner *partitioner = NULL;
  tsr_array_tree *made = NULL;
  tsr_status status = make_loading(s, swapped == 3 ? 10 : swapped, &with);
  if (!status) status = swap_partitioner(s, false, swapped == 4, &partitioner);
  if (swapped == 5) with.options.size = 0;
  if (!status)
    status =
        tsr_partitioner_restore(partitioner, with.model, with.plan, s->comm, &with.options, &made);
  tsr_partitioner_release(partitioner);
  free_loading(&with);
  return swap_check_tree(s, made, status);
}

const collective file_collectives[] = {
    {"tsr_save_create", TREES " " SAVING "existing ! max_memory existing options.size",
     save_create},
    {"tsr_save_run", "save", save_run},
    {"tsr_checkpoint_save", TREES " " SAVING "! existing max_memory existing options.size", save},
    {"tsr_partitioner_save", "order axes path ! partitioner options.size", save_state},
    {"tsr_checkpoint_open_all", "! path options.size", open_all},
    {"tsr_load_create", LOADING, load_create},
    {"tsr_load_run", "load", load_run},
    {"tsr_checkpoint_load", LOADING, load},
    {"tsr_partitioner_restore", "axes mesh alone ! partitioner options.size", restore},
    {"tsr_checkpoint_load_path", "rules mesh dtype ! path rules", load_path},
    {0}};
