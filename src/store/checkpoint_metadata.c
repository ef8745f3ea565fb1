// Metadata of a checkpoint: the union of the metadata of its files. The first value of a key
// counts.
#include <string.h>

#include "base/text_internal.h"
#include "file/safetensors.h"
#include "json/json.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/checkpoint/open.h"

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
