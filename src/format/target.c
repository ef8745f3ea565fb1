// Shards are dealt to files in the order of the tensors; a file that would grow too large is
// followed by another. Headers come last, since names of files contain the number of files. The
// row of the format decides what differs.
#include "format/target.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash_internal.h"
#include "base/text_internal.h"
#include "file/safetensors.h"
#include "format/format.h"
#include "plan/plan_internal.h"
#include "store/checkpoint.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/plan.h"
#include "view/select.h"
#include "view/tensor_hash.h"

// ---- tensors and their layouts ----

static tsr_status add_tensors(tsr_dealing *deal) {
  tsr_target *target = deal->target;
  tsr_sharding *whole = NULL;
  tsr_status status = tsr_sharding_whole(&whole);
  if (!status && target->format->needs_plan)
    status = tsr_note(tsr_views_plan(deal->views, deal->options->plan, &target->plan),
                      "the plan of the destination");
  for (int64_t i = 0; i < deal->views->count && !status; i++) {
    const tsr_view *view = deal->views->items[i];
    tsr_layout *layout = NULL;
    int64_t tensor = -1, copies = 1;
    status = target->plan ? tsr_plan_layout(target->plan, i, &layout)
                          : tsr_layout_create(whole, &view->shape, TSR_POLICY_ERROR, &layout);
    if (!status && target->format->stores_replicas) copies = tsr_layout_replica_count(layout);
    if (!status)
      status = tsr_store_add_tensor(target->store, view->dtype, layout, (int)copies, &tensor);
    tsr_layout_release(layout);
  }
  tsr_sharding_release(whole);
  return status;
}

// ---- dealing ----

static tsr_status add_bin(tsr_dealing *deal, int64_t rank, int number) {
  void *bins = tsr_grow(deal->bins, deal->count, &deal->capacity, sizeof *deal->bins);
  if (!bins) return tsr_fail(NO_MEMORY, "a list of files");
  deal->bins = bins;
  deal->bins[deal->count++] = (tsr_bin){.rank = rank, .number = number};
  return NULL;
}

static bool is_full(const tsr_dealing *deal, const tsr_bin *bin, int64_t bytes) {
  const tsr_format_ops *format = deal->target->format;
  if (format->single_name || !bin->count) return false;
  return format->file_per_tensor || bytes > deal->options->max_file_size - bin->bytes;
}

static tsr_status add_shard(tsr_dealing *deal, const tsr_dealt_shard *s) {
  tsr_bin *last = &deal->bins[deal->count - 1];
  const int64_t bytes = tsr_store_shard_bytes(deal->target->store, s->tensor, s->shard);
  if (is_full(deal, last, bytes)) {
    TSR_TRY(add_bin(deal, last->rank, last->number + 1));
    last = &deal->bins[deal->count - 1];
  }
  void *shards = tsr_grow(last->shards, last->count, &last->capacity, sizeof *last->shards);
  if (!shards) return tsr_fail(NO_MEMORY, "a list of tensors");
  last->shards = shards;
  last->shards[last->count++] = *s;
  last->bytes += bytes;
  return NULL;
}

static tsr_status deal_whole(tsr_dealing *deal) {
  if (deal->target->format->file_per_tensor && !deal->views->count) return NULL;
  TSR_TRY(add_bin(deal, -1, 0));
  for (int64_t i = 0; i < deal->views->count; i++)
    TSR_TRY(add_shard(deal, &(tsr_dealt_shard){.tensor = i}));
  return NULL;
}

// The shards of a rank: all of them, or those whose first replica it is.
static tsr_status deal_rank(tsr_dealing *deal, int64_t rank) {
  TSR_TRY(add_bin(deal, rank, 0));
  for (int64_t i = 0; i < deal->views->count; i++) {
    const tsr_layout *layout = deal->target->store->tensors[i].layout;
    const int64_t replica = tsr_layout_replica_id(layout, rank);
    if (replica > 0 && !deal->target->format->stores_replicas) continue;
    TSR_TRY(add_shard(deal, &(tsr_dealt_shard){.tensor = i,
                                               .shard = (int32_t)tsr_layout_shard(layout, rank),
                                               .copy = (int32_t)replica}));
  }
  return NULL;
}

static tsr_status deal_out(tsr_dealing *deal) {
  const tsr_format_ops *format = deal->target->format;
  if (!format->needs_plan) return deal_whole(deal);
  const int64_t ranks = tsr_mesh_device_count(tsr_plan_mesh(deal->options->plan));
  for (int64_t rank = 0; rank < ranks; rank++) {
    TSR_TRY(deal_rank(deal, rank));
    // A device that owns nothing needs no file, unless every rank looks for its own.
    if (!format->stores_replicas && !deal->bins[deal->count - 1].count) deal->count--;
  }
  // Metadata is kept in the files: a checkpoint without tensors has one all the same.
  return deal->count ? NULL : add_bin(deal, 0, 0);
}

// ---- files ----

static void describe_shard(const tsr_dealing *deal, const tsr_dealt_shard *s, tsr_shape *shape,
                           tsr_tensor *out_tensor) {
  const tsr_view *view = deal->views->items[s->tensor];
  tsr_layout_buffer_shape(deal->target->store->tensors[s->tensor].layout, s->shard, shape);
  *out_tensor = tsr_tensor_of(view->name, view->dtype, shape);
}

tsr_status tsr_dealing_lay_out_safetensors(const tsr_dealing *deal, const tsr_bin *bin,
                                           tsr_target_file *file) {
  tsr_tensor *tensors = calloc((size_t)bin->count + 1, sizeof *tensors);
  tsr_shape *shapes = calloc((size_t)bin->count + 1, sizeof *shapes);
  tsr_safetensors_file made = {0};
  tsr_status status = NULL;
  if (!tensors || !shapes)
    status = tsr_fail(NO_MEMORY, "a file of %lld tensors", (long long)bin->count);
  for (int64_t i = 0; i < bin->count && !status; i++)
    describe_shard(deal, &bin->shards[i], &shapes[i], &tensors[i]);
  if (!status)
    status = tsr_safetensors_plan(tensors, bin->count, deal->options->metadata,
                                  deal->options->metadata_count, &made);
  free(tensors);
  free(shapes);
  if (status) return status;
  file->header = made.header;
  file->header_bytes = made.length;
  file->size = made.size;
  file->begins = made.begins;
  return NULL;
}

static tsr_status add_file(tsr_dealing *deal, int64_t index) {
  tsr_target *target = deal->target;
  const tsr_bin *bin = &deal->bins[index];
  char name[NAME_MAX + 1];
  tsr_target_file *file = &target->files[target->file_count++];
  if (target->format->single_name)
    snprintf(name, sizeof name, "%s", target->format->single_name);
  else
    target->format->name_file(deal, index, name, sizeof name);
  file->position = bin->rank;
  file->name = strdup(name);
  if (!file->name) return tsr_fail(NO_MEMORY, "the name of a file");
  TSR_TRY_NOTE(target->format->lay_out(deal, bin, file), "%s", name);
  for (int64_t i = 0; i < bin->count; i++)
    *tsr_store_place(target->store, bin->shards[i].tensor, bin->shards[i].shard,
                     bin->shards[i].copy) =
        (tsr_shard_place){.file = (int32_t)index, .offset = file->begins[i]};
  return NULL;
}

static tsr_status add_files(tsr_dealing *deal) {
  deal->target->files = calloc((size_t)deal->count + 1, sizeof *deal->target->files);
  if (!deal->target->files) return tsr_fail(NO_MEMORY, "a list of files");
  for (int64_t i = 0; i < deal->count; i++) TSR_TRY(add_file(deal, i));
  return NULL;
}

const char *tsr_dealing_file_of(const tsr_dealing *deal, int64_t tensor) {
  const tsr_shard_place *place = tsr_store_place(deal->target->store, tensor, 0, 0);
  return deal->target->files[place->file].name;
}

tsr_status tsr_target_set_index(tsr_target *target, const char *name) {
  tsr_text_add_char(&target->index, '\n');
  target->index_name = name;
  target->index_bytes = (int64_t)target->index.length;
  return tsr_text_check(&target->index);
}

// ---- the target ----

static tsr_status make(tsr_dealing *deal) {
  const tsr_format_ops *format = deal->target->format;
  TSR_TRY(tsr_store_create(&deal->target->store));
  TSR_TRY(add_tensors(deal));
  TSR_TRY(deal_out(deal));
  TSR_TRY(add_files(deal));
  return format->make_index ? format->make_index(deal) : NULL;
}

tsr_status tsr_target_create(const tsr_views *views, const tsr_target_options *options,
                             tsr_target **out_target) {
  tsr_target *target = calloc(1, sizeof *target);
  if (!target) return tsr_fail(NO_MEMORY, "a destination");
  tsr_dealing deal = {.views = views, .options = options, .target = target};
  target->format = tsr_format_row(options->format);
  tsr_status status = make(&deal);
  for (int64_t i = 0; i < deal.count; i++) free(deal.bins[i].shards);
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
    free(target->files[i].header);
    free(target->files[i].begins);
  }
  free(target->files);
  if (target->format->destroy_state) target->format->destroy_state(target->state);
  tsr_plan_release(target->plan);
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
      status =
          tsr_store_add_file(target->store, tsr_text_string(&path), target->files[i].size, &file);
  }
  tsr_text_deinit(&path);
  return status ? status : tsr_store_open(target->store, true);
}

int64_t tsr_target_bytes(const tsr_target *target) {
  int64_t bytes = target->index_bytes;
  for (int i = 0; i < target->file_count; i++) bytes += target->files[i].size;
  return bytes;
}

void tsr_target_describe(const tsr_target *target, tsr_text *out) {
  const tsr_hash128 empty = tsr_block_hash(NULL, 0);
  for (int i = 0; i < target->file_count; i++) {
    const tsr_target_file *file = &target->files[i];
    tsr_text_addf(out, "%s ", file->name);
    tsr_hash128_print(tsr_block_hash(file->header, file->header_bytes), out);
    tsr_text_add_char(out, '\n');
  }
  if (target->format->describe_state) {
    target->format->describe_state(target, out);
    return;
  }
  // Two hashes of nothing: journals of earlier versions identify their jobs by them.
  tsr_hash128_print(empty, out);
  tsr_hash128_print(empty, out);
}
