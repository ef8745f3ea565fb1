// Metadata of a checkpoint: the union of the metadata of its files. NumPy's formats have no place
// for it: folders of arrays keep it in their index, archives in a record before the directory.
#include "store/checkpoint_metadata.h"

#include <string.h>

#include "base/text_internal.h"
#include "file/safetensors.h"
#include "json/json.h"
#include "json/json_read.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/checkpoint/open.h"

static const char schema[] = "tessera-npz/1";
// The beginning of our own records, of any version.
static const char beginning[] = "{\"schema\":\"tessera-npz/";

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

// ---- the record of an archive ----

static tsr_status read_record(tsr_checkpoint *checkpoint, const tsr_json_doc *doc) {
  static const char *const keys[] = {"schema", "metadata", NULL};
  const tsr_json *root = tsr_json_root(doc);
  TSR_TRY(tsr_json_check_schema(root, schema));
  TSR_TRY(tsr_json_check_keys(root, keys));
  return tsr_checkpoint_read_metadata(checkpoint, doc, tsr_json_find(root, "metadata"));
}

tsr_status tsr_checkpoint_read_record(tsr_checkpoint *checkpoint, const char *text, size_t length) {
  const size_t least = sizeof beginning - 1;
  tsr_json_doc *doc = NULL;
  if (length < least || memcmp(text, beginning, least) != 0) return NULL;  // not ours
  tsr_status status = tsr_json_parse(text, length, &doc);
  if (!status) status = read_record(checkpoint, doc);
  tsr_json_destroy(doc);
  return tsr_note(status, "the record before the directory");
}

tsr_status tsr_metadata_write_record(const tsr_metadata *items, int64_t count, tsr_text *out) {
  tsr_json_writer json;
  if (!count) return NULL;
  tsr_json_writer_init(&json, out, 0);
  tsr_json_begin_inline_object(&json);
  tsr_json_write_key(&json, "schema");
  tsr_json_write_string(&json, schema);
  tsr_json_write_key(&json, "metadata");
  TSR_TRY(tsr_metadata_write(items, count, &json));
  tsr_json_end_object(&json);
  return tsr_text_check(out);
}
