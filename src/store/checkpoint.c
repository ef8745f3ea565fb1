// The handle of an open checkpoint: its tensors, its files, and reading boxes. Formats fill it.
// Its metadata is the union of the metadata of its files; the first value of a key counts.
#include "store/checkpoint.h"

#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "base/text_internal.h"
#include "file/safetensors.h"
#include "json/json.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/sharding.h"
#include "tessera/plan.h"
#include "tessera/spec.h"
#include "tessera/tree.h"

// ---- life ----

static void destroy(tsr_checkpoint *checkpoint) {
  tsr_status_free(tsr_store_close(checkpoint->store));  // nothing was written
  tsr_tree_release(checkpoint->tree);
  tsr_plan_release(checkpoint->plan);
  tsr_arena_deinit(&checkpoint->arena);
  tsr_text_deinit(&checkpoint->warnings);
  tsr_metadata_list_deinit(&checkpoint->metadata);
  tsr_name_index_deinit(&checkpoint->metadata_names);
  tsr_name_index_deinit(&checkpoint->metadata_warned);
  free(checkpoint->hashes);
  free(checkpoint);
}

tsr_status tsr_checkpoint_create(const char *path, tsr_checkpoint **out_checkpoint) {
  tsr_checkpoint *checkpoint = calloc(1, sizeof *checkpoint);
  if (!checkpoint) return tsr_fail(NO_MEMORY, "a checkpoint");
  atomic_init(&checkpoint->refs, 1);
  checkpoint->path = tsr_arena_copy(&checkpoint->arena, path, strlen(path));
  tsr_status status = checkpoint->path ? tsr_store_create(&checkpoint->store)
                                       : tsr_fail(NO_MEMORY, "the path of a checkpoint");
  if (status)
    destroy(checkpoint);
  else
    *out_checkpoint = checkpoint;
  return status;
}

tsr_status tsr_checkpoint_report(tsr_checkpoint *checkpoint, tsr_fault_kind kind, const char *file,
                                 const char *tensor, tsr_status failure) {
  if (!failure || !checkpoint->report) return failure;
  checkpoint->fault_count++;
  return checkpoint->report(checkpoint->report_context, kind, file, tensor, failure);
}

tsr_checkpoint *tsr_checkpoint_retain(const tsr_checkpoint *checkpoint) {
  tsr_checkpoint *shared = (tsr_checkpoint *)(uintptr_t)checkpoint;
  atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
  return shared;
}

void tsr_checkpoint_release(const tsr_checkpoint *checkpoint) {
  tsr_checkpoint *shared = (tsr_checkpoint *)(uintptr_t)checkpoint;
  if (shared && atomic_fetch_sub_explicit(&shared->refs, 1, memory_order_acq_rel) == 1)
    destroy(shared);
}

tsr_status tsr_sharding_whole(tsr_sharding **out_sharding) {
  tsr_mesh *mesh = NULL;
  tsr_spec *spec = NULL;
  tsr_status status = tsr_mesh_create(&(tsr_mesh_desc){.size = sizeof(tsr_mesh_desc)}, &mesh);
  if (!status) status = tsr_spec_parse("()", TSR_FORM_SHORT, &spec);
  if (!status) status = tsr_sharding_bind(mesh, spec, false, out_sharding);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  return status;
}

// ---- metadata ----

tsr_status tsr_checkpoint_add_metadata(tsr_checkpoint *checkpoint, const tsr_metadata *item) {
  tsr_metadata_list *list = &checkpoint->metadata;
  int64_t existing = tsr_name_index_find(&checkpoint->metadata_names, item->key), known = -1;
  if (existing < 0) {
    TSR_TRY(tsr_metadata_list_add(list, &checkpoint->arena, item->key, strlen(item->key),
                                  item->value, strlen(item->value)));
    return tsr_name_index_add(&checkpoint->metadata_names, list->items[list->count - 1].key,
                              list->count - 1, &existing);
  }
  if (!strcmp(list->items[existing].value, item->value)) return NULL;
  const char *key = list->items[existing].key;
  TSR_TRY(tsr_name_index_add(&checkpoint->metadata_warned, key, existing, &known));
  if (known < 0)
    tsr_text_addf(&checkpoint->warnings,
                  "metadata \"%s\" is not the same in all files: that of the first is kept\n", key);
  return tsr_text_check(&checkpoint->warnings);
}

static tsr_status add_items(tsr_checkpoint *checkpoint, const tsr_metadata *items, int64_t count) {
  for (int64_t i = 0; i < count; i++) TSR_TRY(tsr_checkpoint_add_metadata(checkpoint, &items[i]));
  return NULL;
}

tsr_status tsr_checkpoint_take_metadata(tsr_checkpoint *checkpoint, const tsr_model *model) {
  const tsr_metadata *items = NULL;
  const int64_t count = tsr_model_metadata(model, &items);
  tsr_text_add(&checkpoint->warnings, tsr_model_warnings(model));
  return add_items(checkpoint, items, count);
}

tsr_status tsr_checkpoint_read_metadata(tsr_checkpoint *checkpoint, const tsr_json_doc *doc,
                                        const tsr_json *value) {
  tsr_metadata_list list = {0};
  if (!value) return NULL;
  tsr_status status =
      tsr_metadata_list_read(&list, &checkpoint->arena, doc, value, &checkpoint->warnings);
  status = tsr_note(status, "metadata at byte %zu", tsr_json_position(doc, value));
  if (!status) status = add_items(checkpoint, list.items, list.count);
  tsr_metadata_list_deinit(&list);
  return status;
}

// ---- accessors ----

tsr_checkpoint_format tsr_checkpoint_format_of(const tsr_checkpoint *checkpoint) {
  return checkpoint->format;
}

const char *tsr_checkpoint_path(const tsr_checkpoint *checkpoint) { return checkpoint->path; }

const tsr_tree *tsr_checkpoint_tree(const tsr_checkpoint *checkpoint) { return checkpoint->tree; }

const tsr_plan *tsr_checkpoint_plan(const tsr_checkpoint *checkpoint) { return checkpoint->plan; }

static bool has_tensor(const tsr_checkpoint *checkpoint, int64_t tensor) {
  return tensor >= 0 && tensor < tsr_tree_count(checkpoint->tree);
}

static bool has_file(const tsr_checkpoint *checkpoint, int64_t file) {
  return file >= 0 && file < tsr_checkpoint_file_count(checkpoint);
}

const tsr_layout *tsr_checkpoint_layout(const tsr_checkpoint *checkpoint, int64_t tensor) {
  return has_tensor(checkpoint, tensor) ? checkpoint->store->tensors[tensor].layout : NULL;
}

int64_t tsr_checkpoint_file_count(const tsr_checkpoint *checkpoint) {
  return checkpoint->store->file_count;
}

const char *tsr_checkpoint_file_at(const tsr_checkpoint *checkpoint, int64_t file) {
  return has_file(checkpoint, file) ? checkpoint->store->paths[file] : NULL;
}

int64_t tsr_checkpoint_file_bytes(const tsr_checkpoint *checkpoint, int64_t file) {
  return has_file(checkpoint, file) ? checkpoint->store->file_sizes[file] : 0;
}

int64_t tsr_checkpoint_metadata(const tsr_checkpoint *checkpoint, const tsr_metadata **out_items) {
  *out_items = checkpoint->metadata.items;
  return checkpoint->metadata.count;
}

const char *tsr_checkpoint_warnings(const tsr_checkpoint *checkpoint) {
  return tsr_text_string(&checkpoint->warnings);
}

int64_t tsr_checkpoint_copies(const tsr_checkpoint *checkpoint, int64_t tensor) {
  return has_tensor(checkpoint, tensor) ? checkpoint->store->tensors[tensor].copies : 0;
}

bool tsr_checkpoint_find(const tsr_checkpoint *checkpoint, int64_t tensor, int64_t shard,
                         int64_t copy, tsr_stored *out_stored) {
  if (!has_tensor(checkpoint, tensor) || copy < 0 ||
      copy >= checkpoint->store->tensors[tensor].copies || shard < 0 ||
      shard >= tsr_layout_shard_count(checkpoint->store->tensors[tensor].layout))
    return false;
  const tsr_shard_place *place = tsr_store_place(checkpoint->store, tensor, shard, (int)copy);
  if (place->file < 0 || checkpoint->store->tensors[tensor].foreign) return false;
  *out_stored = (tsr_stored){.file = place->file,
                             .path = checkpoint->store->paths[place->file],
                             .offset = place->offset,
                             .bytes = tsr_store_shard_bytes(checkpoint->store, tensor, shard)};
  return true;
}

bool tsr_checkpoint_known_hash(const tsr_checkpoint *checkpoint, int64_t tensor,
                               tsr_hash128 *out_hash) {
  if (!checkpoint->hashes || !has_tensor(checkpoint, tensor)) return false;
  *out_hash = checkpoint->hashes[tensor];
  return true;
}

// ---- reading ----

static tsr_status check_room(const tsr_tensor *t, const tsr_range *box, const void *out,
                             int64_t out_bytes) {
  tsr_shape shape = {.rank = t->rank};
  int64_t needed = 0;
  for (int d = 0; d < t->rank; d++) shape.dims[d] = box[d].hi - box[d].lo;
  TSR_TRY(tsr_shape_bytes(&shape, t->dtype, &needed));
  return tsr_note(tsr_room_check(out, out_bytes, needed), "tensor \"%s\"", t->path);
}

static tsr_status check_box(const tsr_checkpoint *checkpoint, int64_t tensor,
                            const tsr_range *box) {
  const tsr_tensor *t = tsr_tree_at(checkpoint->tree, tensor);
  for (int d = 0; d < t->rank; d++)
    if (box[d].lo < 0 || box[d].lo > box[d].hi || box[d].hi > t->dims[d])
      return tsr_fail(BAD_ARGUMENT, "%s: range %lld:%lld of dimension %d, whose size is %lld",
                      t->path, (long long)box[d].lo, (long long)box[d].hi, d,
                      (long long)t->dims[d]);
  return NULL;
}

tsr_status tsr_checkpoint_check_tensor(const tsr_checkpoint *checkpoint, int64_t tensor) {
  if (has_tensor(checkpoint, tensor)) return NULL;
  return tsr_fail(INDEX_OUT_OF_RANGE, "tensor %lld of a checkpoint with %lld", (long long)tensor,
                  (long long)tsr_tree_count(checkpoint->tree));
}

tsr_status tsr_checkpoint_read(const tsr_checkpoint *checkpoint, int64_t tensor,
                               const tsr_range *box, void *out, int64_t out_bytes) {
  tsr_range whole[TSR_MAX_RANK];
  tsr_box_index *index = NULL;
  TSR_TRY(tsr_checkpoint_check_tensor(checkpoint, tensor));
  const tsr_tensor *t = tsr_tree_at(checkpoint->tree, tensor);
  for (int d = 0; d < t->rank; d++) whole[d] = (tsr_range){0, t->dims[d]};
  if (!box) box = whole;
  TSR_TRY(check_box(checkpoint, tensor, box));
  TSR_TRY(check_room(t, box, out, out_bytes));
  TSR_TRY(tsr_box_index_create(tsr_checkpoint_layout(checkpoint, tensor), &index));
  tsr_status status = tsr_store_read(checkpoint->store, tensor, index, box, -1, out);
  tsr_box_index_destroy(index);
  return tsr_note(status, "tensor \"%s\"", t->path);
}
