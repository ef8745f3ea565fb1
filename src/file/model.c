// A model is three growing lists over one arena of texts.
#include "file/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "file/safetensors.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/text.h"

tsr_status tsr_model_create(tsr_model **out_model) {
  tsr_model *model = calloc(1, sizeof *model);
  if (!model) return tsr_fail(NO_MEMORY, "model");
  *out_model = model;
  return NULL;
}

tsr_status tsr_model_give(tsr_status status, tsr_model *model, tsr_model **out_model) {
  if (status)
    tsr_model_destroy(model);
  else
    *out_model = model;
  return status;
}

void tsr_model_destroy(tsr_model *model) {
  if (!model) return;
  tsr_arena_deinit(&model->arena);
  tsr_name_index_deinit(&model->names);
  tsr_text_deinit(&model->warnings);
  free(model->tensors);
  free(model->files);
  tsr_metadata_list_deinit(&model->metadata);
  free(model);
}

tsr_status tsr_model_add_file(tsr_model *model, const char *path) {
  const char **files =
      tsr_grow(model->files, model->file_count, &model->file_capacity, sizeof *files);
  if (!files) return tsr_fail(NO_MEMORY, "model");
  model->files = files;
  const char *copy = tsr_arena_copy(&model->arena, path, strlen(path));
  if (!copy) return tsr_fail(NO_MEMORY, "model");
  files[model->file_count++] = copy;
  return NULL;
}

tsr_status tsr_model_add(tsr_model *model, const char *name, size_t name_length,
                         const tsr_model_tensor *tensor) {
  tsr_model_tensor *tensors =
      tsr_grow(model->tensors, model->count, &model->capacity, sizeof *tensors);
  if (!tensors) return tsr_fail(NO_MEMORY, "model of %lld tensors", (long long)model->count);
  model->tensors = tensors;
  tsr_model_tensor copy = *tensor;
  int64_t *dims = tsr_arena_alloc(&model->arena, sizeof *dims * (size_t)tensor->tensor.rank);
  copy.tensor.path = tsr_arena_copy(&model->arena, name, name_length);
  if (!dims || !copy.tensor.path)
    return tsr_fail(NO_MEMORY, "model of %lld tensors", (long long)model->count);
  if (tensor->tensor.rank)
    memcpy(dims, tensor->tensor.dims, sizeof *dims * (size_t)tensor->tensor.rank);
  copy.tensor.dims = dims;
  copy.file = model->file_count - 1;
  int64_t existing = -1;
  TSR_TRY(tsr_name_index_add(&model->names, copy.tensor.path, model->count, &existing));
  if (existing >= 0)
    return tsr_fail(JSON_DUPLICATE_KEY, "tensor \"%s\" is in two files, %s and %s",
                    copy.tensor.path, model->files[tensors[existing].file],
                    model->files[copy.file]);
  tensors[model->count++] = copy;
  model->bytes += tensor->end - tensor->begin;
  return NULL;
}

int64_t tsr_model_count(const tsr_model *model) { return model->count; }

const tsr_model_tensor *tsr_model_tensor_at(const tsr_model *model, int64_t index) {
  return index >= 0 && index < tsr_model_count(model) ? &model->tensors[index] : NULL;
}

int64_t tsr_model_find(const tsr_model *model, const char *name) {
  return tsr_name_index_find(&model->names, name);
}

int tsr_model_file_count(const tsr_model *model) { return model->file_count; }

const char *tsr_model_file(const tsr_model *model, int file) {
  return file >= 0 && file < tsr_model_file_count(model) ? model->files[file] : NULL;
}

int64_t tsr_model_bytes(const tsr_model *model) { return model->bytes; }

int64_t tsr_model_metadata(const tsr_model *model, const tsr_metadata **out_items) {
  *out_items = model->metadata.items;
  return model->metadata.count;
}

const char *tsr_model_warnings(const tsr_model *model) { return tsr_text_string(&model->warnings); }
