// Safetensors stored whole: one file, or a folder as Hugging Face's libraries write it, with one
// file or several and an index. Both rows share the reader. folder_check.c has the check of the
// folder.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "file/safetensors.h"
#include "format/folder_check.h"
#include "format/format.h"
#include "format/reading.h"
#include "json/json.h"
#include "tessera/checkpoint/open.h"

static const char single_name[] = "model.safetensors";
static const char index_name[] = "model.safetensors.index.json";

// ---- reading ----

static tsr_status detect_folder(const tsr_format_probe *probe, bool *out_found) {
  *out_found = probe->folder || tsr_ends_with(probe->path, ".json");
  return NULL;
}

static tsr_status detect_file(const tsr_format_probe *probe, bool *out_found) {
  *out_found = !probe->folder && !tsr_ends_with(probe->path, ".json");
  return NULL;
}

static tsr_status take(tsr_checkpoint *checkpoint, const tsr_model *model) {
  for (int i = 0; i < tsr_model_file_count(model); i++) {
    int file = -1;
    TSR_TRY(tsr_reading_add_file(checkpoint, tsr_model_file(model, i), &file));
  }
  TSR_TRY(tsr_reading_add_whole(checkpoint, tsr_model_tensor_at(model, 0), tsr_model_count(model)));
  return tsr_checkpoint_take_metadata(checkpoint, model);
}

static tsr_status read_folder(tsr_checkpoint *checkpoint, const tsr_checkpoint_options *options) {
  tsr_model *model = NULL;
  TSR_TRY(tsr_reading_refuse_plan(checkpoint, options));
  TSR_TRY(tsr_model_open(checkpoint->path, &model));
  tsr_status status = take(checkpoint, model);
  tsr_model_destroy(model);
  return status;
}

// ---- the destination ----

static void name_file(const tsr_dealing *deal, int64_t index, char *out, size_t size) {
  if (deal->count == 1)
    snprintf(out, size, "%s", single_name);
  else
    snprintf(out, size, "model-%05lld-of-%05lld.safetensors", (long long)index + 1,
             (long long)deal->count);
}

void tsr_folder_write_index(const tsr_folder_entry *entries, int64_t count, int64_t bytes,
                            tsr_text *out) {
  tsr_json_writer json;
  tsr_json_begin_document(&json, out);
  tsr_json_add_object(&json, "metadata");
  tsr_json_add_int(&json, "total_size", bytes);
  tsr_json_end_object(&json);
  tsr_json_add_object(&json, "weight_map");
  for (int64_t i = 0; i < count; i++)
    tsr_json_add_string(&json, entries[i].tensor, entries[i].file);
  tsr_json_end_object(&json);
  tsr_json_end_object(&json);
}

int tsr_folder_by_tensor(const void *left, const void *right) {
  const tsr_folder_entry *a = left, *b = right;
  return strcmp(a->tensor, b->tensor);
}

static tsr_status make_index(const tsr_dealing *deal) {
  const int64_t count = deal->views->count;
  int64_t bytes = 0;
  if (deal->count == 1) return NULL;
  tsr_folder_entry *entries = malloc(sizeof *entries * (size_t)(count + 1));
  if (!entries) return tsr_fail(NO_MEMORY, "the index of a folder");
  for (int64_t i = 0; i < count; i++)
    entries[i] = (tsr_folder_entry){deal->views->items[i]->name, tsr_dealing_file_of(deal, i)};
  for (int64_t i = 0; i < deal->count; i++) bytes += deal->bins[i].bytes;
  qsort(entries, (size_t)count, sizeof *entries, tsr_folder_by_tensor);
  tsr_folder_write_index(entries, count, bytes, &deal->target->index);
  free(entries);
  return tsr_target_set_index(deal->target, index_name);
}

// ---- rows ----

static tsr_status check_file(tsr_fsck *fsck) {
  tsr_model *model = NULL;
  TSR_TRY(tsr_fsck_read_header(fsck, "", &model));
  if (model) fsck->tensors = tsr_model_count(model);
  tsr_model_destroy(model);
  return NULL;
}

static const char *const patterns[] = {"*.safetensors", "*.safetensors.index.json", NULL};

const tsr_format_ops tsr_format_file = {.name = "file",
                                        .single_name = single_name,
                                        .ending = ".safetensors",
                                        .patterns = patterns,
                                        .stage = TSR_DETECT_REST,
                                        .detect = detect_file,
                                        .read = read_folder,
                                        .lay_out = tsr_dealing_lay_out_safetensors,
                                        .check = check_file};

const tsr_format_ops tsr_format_folder = {.name = "folder",
                                          .index_name = index_name,
                                          .ending = ".safetensors",
                                          .patterns = patterns,
                                          .stage = TSR_DETECT_REST,
                                          .detect = detect_folder,
                                          .read = read_folder,
                                          .name_file = name_file,
                                          .lay_out = tsr_dealing_lay_out_safetensors,
                                          .make_index = make_index,
                                          .check = tsr_folder_check};
