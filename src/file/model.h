// The struct of a model, for the readers that fill it.
#ifndef TESSERA_FILE_MODEL_H
#define TESSERA_FILE_MODEL_H

#include "base/arena.h"
#include "base/name_index.h"
#include "file/file_metadata.h"
#include "file/safetensors.h"
#include "json/json.h"
#include "tessera/text.h"

struct tsr_model {
  tsr_arena arena;  // names, dims, paths and metadata
  int64_t count, capacity;
  tsr_model_tensor *tensors;
  tsr_name_index names;
  int file_count;
  int64_t file_capacity;
  const char **files;
  tsr_metadata_list metadata;
  int64_t bytes;
  tsr_text warnings;
};

tsr_status tsr_model_create(tsr_model **out_model);
// Returns the model to the caller, or destroys it after a failure.
tsr_status tsr_model_give(tsr_status status, tsr_model *model, tsr_model **out_model);
// Adds a file; the tensors added after it belong to it.
tsr_status tsr_model_add_file(tsr_model *model, const char *path);
// Copies name and dims. A name that exists already is an error.
tsr_status tsr_model_add(tsr_model *model, const char *name, size_t name_length,
                         const tsr_model_tensor *tensor);
// Fails for a dangling symbolic link, which the system reports like a missing file.
tsr_status tsr_model_check_link(const char *path);
// Reads the header of the file at `path` into the model.
tsr_status tsr_model_read_file(tsr_model *model, const char *path);

// For readers of model.safetensors.index.json: its map of tensors, and the file of one of them, not
// terminated.
tsr_status tsr_index_map(const tsr_json_doc *doc, const tsr_json **out_map);
tsr_status tsr_index_file(const tsr_json *member, const char **out_file, size_t *out_length);

#endif
