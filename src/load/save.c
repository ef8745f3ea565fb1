// A save is decided first, by every rank in the same way, and compared.
#include "load/save.h"

#include <stdlib.h>

#include "base/pool_internal.h"
#include "base/room.h"
#include "base/sized.h"
#include "format/format.h"
#include "job/job_limits.h"
#include "layout/layout_internal.h"
#include "load/load.h"
#include "plan/plan.h"
#include "spec/spec_internal.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/save.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/place.h"
#include "view/select.h"

// ---- leaves ----

static tsr_status check_array(const tsr_array *array, const tsr_comm *comm) {
  TSR_TRY(tsr_array_check_alive(array));
  if (array->comm != comm) return tsr_fail(BAD_ARGUMENT, "the array is on another comm");
  if (tsr_layout_term_count(array->layout) > 1)
    return tsr_fail(UNSUPPORTED, "the array is a partial result; reduce it first");
  return NULL;
}

static tsr_status check_leaf(const tsr_leaf *leaf, const tsr_comm *comm) {
  if (leaf->kind == TSR_LEAF_SHAPE)
    return tsr_fail(UNSUPPORTED_LEAF, "it is a shape without data, wanted an array or a tensor");
  return leaf->kind == TSR_LEAF_ARRAY ? check_array(leaf->array, comm) : NULL;
}

static tsr_status make_views(tsr_save *save, tsr_views *views) {
  const int64_t count = tsr_array_tree_count(save->tree);
  views->items = calloc((size_t)count + 1, sizeof *views->items);
  if (!views->items) return tsr_fail(NO_MEMORY, "views of %lld arrays", (long long)count);
  for (int64_t i = 0; i < count; i++) {
    const tsr_leaf *leaf = tsr_array_tree_at(save->tree, i);
    TSR_TRY_NOTE(check_leaf(leaf, save->comm), "tensor \"%s\"", leaf->tensor.path);
    TSR_TRY(tsr_view_of_leaf(save->tree, i, &save->stage, &views->items[i]));
    views->count++;
  }
  return NULL;
}

// ---- the plan of the arrays' own layouts ----

const tsr_array *tsr_save_array_of(const tsr_save *save, const tsr_view *view) {
  return tsr_array_tree_at(save->tree, view->origin)->array;
}

// The mesh of all arrays.
static tsr_status find_mesh(const tsr_save *save, const tsr_views *views,
                            const tsr_mesh **out_mesh) {
  const char *first = NULL;
  *out_mesh = NULL;
  for (int64_t i = 0; i < views->count; i++) {
    const char *name = views->items[i]->name;
    const tsr_array *array = tsr_save_array_of(save, views->items[i]);
    if (!array) continue;
    const tsr_sharding *sharding = tsr_layout_sharding(array->layout);
    if (!sharding)
      return tsr_fail(
          PLAN_REQUIRED,
          "array \"%s\" has a layout without a spec: give a plan, or a format that stores "
          "tensors whole",
          name);
    const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
    if (*out_mesh && !tsr_mesh_equal(mesh, *out_mesh))
      return tsr_fail(PLAN_REQUIRED,
                      "arrays \"%s\" and \"%s\" are on different meshes: give a plan, or a format "
                      "that stores tensors whole",
                      first, name);
    if (!*out_mesh) first = name;
    *out_mesh = mesh;
  }
  if (*out_mesh) return NULL;
  return tsr_fail(PLAN_REQUIRED,
                  "no leaf is an array with a mesh: give a plan with a mesh, or a format that "
                  "stores tensors whole");
}

static tsr_status set_rows(const tsr_save *save, const tsr_views *views,
                           tsr_plan_builder *builder) {
  tsr_spec *uncut = NULL;
  tsr_status status = tsr_spec_of(NULL, 0, &uncut);
  for (int64_t i = 0; i < views->count && !status; i++) {
    const tsr_plan_note user = {.why = TSR_WHY_USER, .dim = -1, .rule = -1};
    const tsr_array *array = tsr_save_array_of(save, views->items[i]);
    const tsr_spec *spec = array ? tsr_sharding_spec(tsr_layout_sharding(array->layout)) : uncut;
    const tsr_policy policy = array ? tsr_layout_policy(array->layout) : TSR_POLICY_ERROR;
    status = tsr_plan_builder_note(builder, i, &user);
    if (!status) status = tsr_plan_builder_set(builder, i, spec, spec, policy);
  }
  tsr_spec_release(uncut);
  return status;
}

static tsr_status plan_of_arrays(const tsr_save *save, const tsr_views *views,
                                 tsr_plan **out_plan) {
  const tsr_mesh *mesh = NULL;
  tsr_tree *tree = NULL;
  tsr_plan_builder builder;
  TSR_TRY(find_mesh(save, views, &mesh));
  TSR_TRY(tsr_views_tree(views, &tree));
  tsr_status status = tsr_plan_builder_init(&builder, tree, mesh);
  if (!status) status = tsr_plan_builder_end(&builder, set_rows(save, views, &builder), out_plan);
  tsr_tree_release(tree);
  return status;
}

// ---- deciding ----

tsr_transform_options tsr_save_transform(const tsr_save_options *o) {
  return (tsr_transform_options){
      .size = sizeof(tsr_transform_options),
      .format = o->format == TSR_FORMAT_ANY ? tsr_format_default(true) : o->format,
      .plan = o->plan,
      .dtype = o->dtype,
      .include = o->include,
      .exclude = o->exclude,
      .include_count = o->include_count,
      .exclude_count = o->exclude_count,
      .casts = o->casts,
      .cast_count = o->cast_count,
      .no_companions = o->no_companions,
      .allow_overflow = o->allow_overflow,
      .max_memory = o->max_memory,
      .max_file_size = o->max_file_size,
      .existing = o->existing,
      .no_sync = o->no_sync,
      .progress = o->progress,
      .progress_context = o->progress_context,
      .progress_interval = o->progress_interval};
}

static void certify(tsr_save *save) {
  const tsr_transform_certificate *from = &save->t->certificate;
  tsr_save_certificate *c = &save->certificate;
  c->tensors = from->tensors;
  c->files = from->files;
  c->file_bytes = from->bytes_written;
  c->peak_memory = from->peak_memory;
  c->bytes_free = from->bytes_free;
}

static tsr_status decide_views(tsr_save *save, const char *path, const tsr_save_options *options,
                               tsr_transform_options *how, tsr_views *views) {
  tsr_plan *own = NULL;
  TSR_TRY(make_views(save, views));
  TSR_TRY(tsr_views_select(views, NULL, &TSR_SELECTION_OF(how)));
  if (tsr_format_row(how->format)->needs_plan && !how->plan)
    TSR_TRY(plan_of_arrays(save, views, &own));
  if (own) how->plan = own;
  tsr_job_source source = {
      .job = "save",
      .jobs = how->jobs,
      .small_windows = save->stage.used,  // then one rank more often holds all of one
      .views = *views,
      .table_memory = tsr_budget_views(views, NULL),
      .metadata = options->metadata,
      .metadata_count = options->metadata_count};
  *views = (tsr_views){0};
  tsr_status status = tsr_transform_of(&source, path, how, &save->t);
  tsr_plan_release(own);
  return status;
}

static tsr_status decide(tsr_save *save, const char *path, const tsr_save_options *options,
                         int jobs) {
  tsr_transform_options how = tsr_save_transform(options);
  tsr_views views = {0};
  how.jobs = jobs;
  TSR_TRY(tsr_transform_check_options(&how));
  if (options->metadata_count < 0)
    return tsr_fail(BAD_ARGUMENT, "%lld items of metadata, wanted 0 or more",
                    (long long)options->metadata_count);
  if (options->existing == TSR_EXISTING_RESUME)
    return tsr_fail(BAD_ARGUMENT, "a save is not resumed; TSR_EXISTING_REPLACE starts over");
  tsr_status status = decide_views(save, path, options, &how, &views);
  tsr_views_deinit(&views);
  if (!status) status = tsr_save_choose_writers(save);
  if (!status) certify(save);
  return status;
}

// Checks what ranks compare. Options that fail are not used.
static tsr_status read_options(const tsr_save_options *given, tsr_save_options *out) {
  tsr_save_options read;
  TSR_TRY(tsr_sized_read(tsr_save_options, given, &read));
  const tsr_transform_options how = tsr_save_transform(&read);
  TSR_TRY(tsr_selection_check_lists(&TSR_SELECTION_OF(&how)));
  TSR_TRY(tsr_list_check(read.metadata, read.metadata_count, "items of metadata"));
  for (int64_t i = 0; i < read.metadata_count; i++)
    if (!read.metadata[i].key || !read.metadata[i].value)
      return tsr_fail(BAD_ARGUMENT, "item %lld of the metadata has no key or no value",
                      (long long)i);
  *out = read;
  return NULL;
}

// ---- ranks ----

// Windows depend on the number of workers: all ranks use the least of any rank.
static tsr_status agree_on_jobs(tsr_comm *comm, int *out_jobs) {
  const int ranks = tsr_comm_rank_count(comm), mine = tsr_pool_workers(tsr_comm_pool(comm));
  int *all = calloc((size_t)ranks, sizeof *all);
  tsr_status status =
      tsr_load_agree(comm, "save", all ? NULL : tsr_fail(NO_MEMORY, "%d ranks", ranks));
  if (!status && all) status = tsr_comm_share(comm, &mine, sizeof mine, all);
  *out_jobs = mine;
  for (int r = 0; r < ranks && !status && all; r++)
    if (all[r] < *out_jobs) *out_jobs = all[r];
  free(all);
  return status;
}

tsr_status tsr_save_create(const tsr_array_tree *tree, const char *path, tsr_comm *comm,
                           const tsr_save_options *options, tsr_save **out_save) {
  tsr_save_options read = TSR_SAVE_OPTIONS;
  int jobs = 1;
  TSR_TRY(agree_on_jobs(comm, &jobs));
  tsr_save *save = calloc(1, sizeof *save);
  if (!save) return tsr_load_agree(comm, "save", tsr_fail(NO_MEMORY, "a save"));
  save->comm = tsr_comm_retain(comm);
  save->tree = tsr_array_tree_retain(tree);
  save->root = tsr_comm_rank_of(comm, 0);
  save->stage.used = tsr_comm_rank_count(comm) > 1;
  tsr_status status = read_options(options, &read);
  if (!status) status = decide(save, path, &read, jobs);
  status = tsr_save_compare(save, path, &read, status);
  if (status)
    tsr_save_destroy(save);
  else
    *out_save = save;
  return status;
}

void tsr_save_destroy(tsr_save *save) {
  if (!save) return;
  tsr_transform_destroy(save->t);
  for (int i = 0; i < save->stage.count; i++) free(save->stage.items[i].data);
  free(save->stage.items);
  free(save->writers);
  free(save->far);
  free(save->first_far);
  free(save->near);
  tsr_array_tree_release(save->tree);
  tsr_comm_release(save->comm);
  free(save);
}

const tsr_save_certificate *tsr_save_certificate_of(const tsr_save *save) {
  return &save->certificate;
}
