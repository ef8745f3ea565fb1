// Shards are dealt to files in the order of the tensors; a file that would grow too large is
// followed by another. Only then are headers made, since names of files tell how many there are.
#include "format/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/name_index.h"
#include "base/text_internal.h"
#include "file/safetensors.h"
#include "format/dealing.h"
#include "format/format.h"
#include "format/manifest.h"
#include "format/numpy.h"
#include "json/json.h"
#include "plan/plan_internal.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/plan.h"
#include "tessera/tree.h"
#include "view/select.h"

static bool is_cut(tsr_checkpoint_format format) {
  return format == TSR_FORMAT_RANKS || format == TSR_FORMAT_TESSERA;
}

// ---- tensors and their layouts ----

static tsr_status make_plan(const tsr_views *views, const tsr_plan *plan, tsr_plan **out_plan) {
  tsr_tree *tree = NULL;
  TSR_TRY(tsr_views_tree(views, &tree));
  tsr_status status = tsr_plan_for_tree(plan, tree, out_plan);
  tsr_tree_release(tree);
  return tsr_note(status, "the plan of the destination");
}

static tsr_status add_tensors(tsr_dealing *deal) {
  tsr_target *target = deal->target;
  tsr_sharding *whole = NULL;
  tsr_status status = tsr_sharding_whole(&whole);
  if (!status && is_cut(target->format))
    status = make_plan(deal->views, deal->options->plan, &target->plan);
  for (int64_t i = 0; i < deal->views->count && !status; i++) {
    const tsr_view *view = deal->views->items[i];
    tsr_layout *layout = NULL;
    int64_t tensor = -1, copies = 1;
    status = target->plan ? tsr_plan_layout(target->plan, i, &layout)
                          : tsr_layout_create(whole, &view->shape, TSR_POLICY_ERROR, &layout);
    if (!status && target->format == TSR_FORMAT_RANKS) copies = tsr_layout_replica_count(layout);
    if (!status)
      status = tsr_store_add_tensor(target->store, view->dtype, layout, (int)copies, &tensor);
    tsr_layout_release(layout);
  }
  tsr_sharding_release(whole);
  return status;
}

// ---- dealing ----

static tsr_status add_bin(tsr_dealing *deal, int64_t rank, int part) {
  void *bins = tsr_grow(deal->bins, deal->count, &deal->capacity, sizeof *deal->bins);
  if (!bins) return tsr_fail(NO_MEMORY, "a list of files");
  deal->bins = bins;
  deal->bins[deal->count++] = (tsr_bin){.rank = rank, .part = part};
  return NULL;
}

static tsr_status add_slot(tsr_dealing *deal, const tsr_dealt_shard *s) {
  tsr_bin *last = &deal->bins[deal->count - 1];
  const int64_t bytes = tsr_store_part_bytes(deal->target->store, s->tensor, s->shard);
  const bool single = tsr_target_single_name(deal->options->format) != NULL;
  const bool full =
      bytes > deal->options->max_file_size - last->bytes || deal->options->format == TSR_FORMAT_NPY;
  if (!single && last->count > 0 && full) {
    TSR_TRY(add_bin(deal, last->rank, last->part + 1));
    last = &deal->bins[deal->count - 1];
  }
  void *slots = tsr_grow(last->slots, last->count, &last->capacity, sizeof *last->slots);
  if (!slots) return tsr_fail(NO_MEMORY, "a list of tensors");
  last->slots = slots;
  last->slots[last->count++] = *s;
  last->bytes += bytes;
  return NULL;
}

static tsr_status deal_whole(tsr_dealing *deal) {
  if (deal->target->format == TSR_FORMAT_NPY && !deal->views->count) return NULL;
  TSR_TRY(add_bin(deal, -1, 0));
  for (int64_t i = 0; i < deal->views->count; i++)
    TSR_TRY(add_slot(deal, &(tsr_dealt_shard){.tensor = i}));
  return NULL;
}

// A rank's files hold its slice of every tensor; ours hold each shard once, by its first replica.
static tsr_status deal_rank(tsr_dealing *deal, int64_t rank) {
  const bool once = deal->target->format == TSR_FORMAT_TESSERA;
  TSR_TRY(add_bin(deal, rank, 0));
  for (int64_t i = 0; i < deal->views->count; i++) {
    const tsr_layout *layout = deal->target->store->tensors[i].layout;
    if (once && tsr_layout_replica_id(layout, rank) > 0) continue;
    TSR_TRY(
        add_slot(deal, &(tsr_dealt_shard){.tensor = i,
                                          .shard = (int32_t)tsr_layout_shard(layout, rank),
                                          .copy = (int32_t)tsr_layout_replica_id(layout, rank)}));
  }
  return NULL;
}

static tsr_status deal_out(tsr_dealing *deal) {
  if (!is_cut(deal->target->format)) return deal_whole(deal);
  const int64_t ranks = tsr_mesh_device_count(tsr_plan_mesh(deal->options->plan));
  for (int64_t rank = 0; rank < ranks; rank++) {
    TSR_TRY(deal_rank(deal, rank));
    // A device that owns nothing has no file of ours.
    if (deal->target->format == TSR_FORMAT_TESSERA && !deal->bins[deal->count - 1].count)
      deal->count--;
  }
  // Metadata is kept in the files: a checkpoint without tensors has one all the same.
  return deal->count ? NULL : add_bin(deal, 0, 0);
}

// ---- files ----

const char *tsr_target_single_name(tsr_checkpoint_format format) {
  return format == TSR_FORMAT_FILE  ? "model.safetensors"
         : format == TSR_FORMAT_NPZ ? "model.npz"
                                    : NULL;
}

static void name_file(const tsr_dealing *deal, int64_t index, char *out, size_t size) {
  const tsr_bin *b = &deal->bins[index];
  const char *single = tsr_target_single_name(deal->target->format);
  if (single)
    snprintf(out, size, "%s", single);
  else if (deal->target->format == TSR_FORMAT_NPY)
    tsr_npy_file_name(deal->views->items[index]->name, out);  // one each
  else if (deal->target->format == TSR_FORMAT_TESSERA)
    snprintf(out, size, "data-%05lld-of-%05lld.safetensors", (long long)index + 1,
             (long long)deal->count);
  else if (b->rank >= 0)
    snprintf(out, size, "model-rank-%lld-part-%d.safetensors", (long long)b->rank, b->part);
  else if (deal->count == 1)
    snprintf(out, size, "model.safetensors");
  else
    snprintf(out, size, "model-%05lld-of-%05lld.safetensors", (long long)index + 1,
             (long long)deal->count);
}

static void describe(const tsr_dealing *deal, const tsr_dealt_shard *s, tsr_shape *shape,
                     tsr_tensor *out_tensor) {
  const tsr_view *view = deal->views->items[s->tensor];
  tsr_layout_buffer_shape(deal->target->store->tensors[s->tensor].layout, s->shard, shape);
  *out_tensor = tsr_tensor_of(view->name, view->dtype, shape);
}

static tsr_status plan_file(const tsr_dealing *deal, const tsr_bin *b,
                            tsr_safetensors_file *out_file) {
  if (deal->target->format == TSR_FORMAT_NPZ) return tsr_target_plan_archive(deal, b, out_file);
  if (deal->target->format == TSR_FORMAT_NPY) return tsr_target_plan_array(deal, b, out_file);
  tsr_tensor *tensors = calloc((size_t)b->count + 1, sizeof *tensors);
  tsr_shape *shapes = calloc((size_t)b->count + 1, sizeof *shapes);
  tsr_status status = NULL;
  if (!tensors || !shapes)
    status = tsr_fail(NO_MEMORY, "a file of %lld tensors", (long long)b->count);
  for (int64_t i = 0; i < b->count && !status; i++)
    describe(deal, &b->slots[i], &shapes[i], &tensors[i]);
  if (!status)
    status = tsr_safetensors_plan(tensors, b->count, deal->options->metadata,
                                  deal->options->metadata_count, out_file);
  free(tensors);
  free(shapes);
  return status;
}

static tsr_status add_file(tsr_dealing *deal, int64_t index) {
  tsr_target *target = deal->target;
  const tsr_bin *b = &deal->bins[index];
  char name[TSR_NPY_FILE_NAME];
  tsr_target_file *file = &target->files[target->file_count];
  name_file(deal, index, name, sizeof name);
  TSR_TRY_NOTE(plan_file(deal, b, &file->plan), "%s", name);
  file->name = strdup(name);
  file->position = b->rank;
  target->file_count++;
  if (!file->name) return tsr_fail(NO_MEMORY, "the name of a file");
  for (int64_t i = 0; i < b->count; i++)
    *tsr_store_part(target->store, b->slots[i].tensor, b->slots[i].shard, b->slots[i].copy) =
        (tsr_stored_part){.file = (int32_t)index, .offset = file->plan.begins[i]};
  return NULL;
}

static tsr_status add_files(tsr_dealing *deal) {
  deal->target->files = calloc((size_t)deal->count + 1, sizeof *deal->target->files);
  if (!deal->target->files) return tsr_fail(NO_MEMORY, "a list of files");
  for (int64_t i = 0; i < deal->count; i++) TSR_TRY(add_file(deal, i));
  return NULL;
}

// ---- the index ----

static int by_name(const void *left, const void *right) {
  const tsr_view *a = *(tsr_view *const *)left, *b = *(tsr_view *const *)right;
  return strcmp(a->name, b->name);
}

// As Hugging Face's libraries write it: sorted, indented by 2.
static void write_index(const tsr_dealing *deal, tsr_view **sorted, const int64_t *places,
                        tsr_text *out) {
  tsr_json_writer json;
  int64_t total = 0;
  for (int64_t i = 0; i < deal->count; i++) total += deal->bins[i].bytes;
  tsr_json_writer_init(&json, out, 2);
  tsr_json_begin_object(&json);
  tsr_json_write_key(&json, "metadata");
  tsr_json_begin_object(&json);
  tsr_json_write_key(&json, "total_size");
  tsr_json_write_int(&json, total);
  tsr_json_end_object(&json);
  tsr_json_write_key(&json, "weight_map");
  tsr_json_begin_object(&json);
  for (int64_t i = 0; i < deal->views->count; i++) {
    tsr_json_write_key(&json, sorted[i]->name);
    const tsr_stored_part *part = tsr_store_part(deal->target->store, places[i], 0, 0);
    tsr_json_write_string(&json, deal->target->files[part->file].name);
  }
  tsr_json_end_object(&json);
  tsr_json_end_object(&json);
  tsr_text_add_char(out, '\n');
}

// Ranks' files do not say how tensors were cut; the plan beside them does.
static tsr_status add_plan(tsr_target *target) {
  tsr_json_writer json;
  tsr_json_writer_init(&json, &target->index, 2);
  tsr_plan_to_json(target->plan, &json);
  tsr_text_add_char(&target->index, '\n');
  target->index_name = TSR_RANKS_PLAN;
  return tsr_text_check(&target->index);
}

tsr_status tsr_target_add_hashes(tsr_target *target, const tsr_views *views,
                                 const tsr_hash128 *hashes) {
  if (target->format != TSR_FORMAT_TESSERA) return NULL;
  tsr_manifest_write(target, views, hashes, &target->index);
  return tsr_text_check(&target->index);
}

// Hashes have one length: that of the manifest is known without them.
static tsr_status measure_manifest(const tsr_dealing *deal) {
  tsr_target *target = deal->target;
  tsr_text text = TSR_TEXT_EMPTY;
  target->index_name = TSR_MANIFEST;
  tsr_manifest_write(target, deal->views, NULL, &text);
  tsr_status status = tsr_text_check(&text);
  target->index_bytes = (int64_t)text.length;
  tsr_text_deinit(&text);
  return status;
}

static tsr_status make_folder_index(tsr_dealing *deal) {
  const int64_t count = deal->views->count;
  deal->target->index_name = "model.safetensors.index.json";
  tsr_view **sorted = malloc(sizeof *sorted * (size_t)(count + 1));
  int64_t *places = malloc(sizeof *places * (size_t)(count + 1));
  tsr_name_index names = TSR_NAME_INDEX_EMPTY;
  tsr_status status = sorted && places ? NULL : tsr_fail(NO_MEMORY, "the index of a folder");
  for (int64_t i = 0; i < count && !status; i++) {
    int64_t existing = -1;
    sorted[i] = deal->views->items[i];
    status = tsr_name_index_add(&names, sorted[i]->name, i, &existing);
  }
  if (!status) {
    qsort(sorted, (size_t)count, sizeof *sorted, by_name);
    for (int64_t i = 0; i < count; i++) places[i] = tsr_name_index_find(&names, sorted[i]->name);
    write_index(deal, sorted, places, &deal->target->index);
    status = tsr_text_check(&deal->target->index);
  }
  tsr_name_index_deinit(&names);
  free(sorted);
  free(places);
  return status;
}

static tsr_status make_index(tsr_dealing *deal) {
  const tsr_checkpoint_format format = deal->target->format;
  if (format == TSR_FORMAT_TESSERA) return measure_manifest(deal);
  if (format == TSR_FORMAT_RANKS) TSR_TRY(add_plan(deal->target));
  if (format == TSR_FORMAT_NPY) TSR_TRY(tsr_target_index_arrays(deal));
  if (format == TSR_FORMAT_FOLDER && deal->count > 1) TSR_TRY(make_folder_index(deal));
  deal->target->index_bytes = (int64_t)deal->target->index.length;
  return NULL;
}

// ---- the target ----

tsr_status tsr_target_create(const tsr_views *views, const tsr_target_options *options,
                             tsr_target **out_target) {
  tsr_target *target = calloc(1, sizeof *target);
  if (!target) return tsr_fail(NO_MEMORY, "a destination");
  tsr_dealing deal = {.views = views, .options = options, .target = target};
  target->format = options->format;
  tsr_status status = tsr_store_create(&target->store);
  if (!status) status = add_tensors(&deal);
  if (!status) status = deal_out(&deal);
  if (!status) status = add_files(&deal);
  if (!status) status = make_index(&deal);
  for (int64_t i = 0; i < deal.count; i++) free(deal.bins[i].slots);
  free(deal.bins);
  if (status)
    tsr_status_free(tsr_target_close(target));
  else
    *out_target = target;
  return status;
}

tsr_status tsr_target_close(tsr_target *target) {
  if (!target) return NULL;
  tsr_status status = tsr_store_close(target->store);
  for (int i = 0; i < target->file_count; i++) {
    free(target->files[i].name);
    tsr_safetensors_file_deinit(&target->files[i].plan);
  }
  free(target->files);
  tsr_plan_release(target->plan);
  tsr_zip_plan_deinit(&target->zip);
  tsr_text_deinit(&target->index);
  free(target);
  return status;
}

tsr_status tsr_target_open(tsr_target *target, const char *folder) {
  tsr_text path = TSR_TEXT_EMPTY;
  tsr_status status = NULL;
  for (int i = 0; i < target->file_count && !status; i++) {
    int file = -1;
    tsr_text_clear(&path);
    tsr_text_addf(&path, "%s/%s", folder, target->files[i].name);
    status = tsr_text_check(&path);
    if (!status)
      status = tsr_store_add_file(target->store, tsr_text_string(&path), target->files[i].plan.size,
                                  &file);
  }
  tsr_text_deinit(&path);
  return status ? status : tsr_store_open(target->store, true);
}

int64_t tsr_target_bytes(const tsr_target *target) {
  int64_t bytes = target->index_bytes;
  for (int i = 0; i < target->file_count; i++) bytes += target->files[i].plan.size;
  return bytes;
}
