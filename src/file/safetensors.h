// Headers of safetensors files and Hugging Face folders, read strictly, and headers for writing.
//
// Only headers are read, so a model of any size is listed in milliseconds. Errors name the tensor
// and the byte.
#ifndef TESSERA_FILE_SAFETENSORS_H
#define TESSERA_FILE_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/shape.h"
#include "tessera/status.h"

// A tensor of a file and its byte range. Names and dims live as long as the header.
typedef struct tsr_model_tensor {
  tsr_tensor tensor;   // its path is the name in the file; without logical axes
  int64_t begin, end;  // bytes, counted from the start of the file
  int file;            // index into the model's files (0 for a single file)
} tsr_model_tensor;

// The tensors of one file or of a whole folder, in the order of the header(s).
typedef struct tsr_model tsr_model;

// One file: 8-byte length (at most 100 MB and within the file), a JSON object without duplicate
// keys and with known types, shapes that agree with offsets, offsets that tile the data area
// without holes or overlaps and end at the end of the file.
TSR_MUST_USE tsr_status tsr_safetensors_open(const char *path, tsr_model **out_model);
// The same for a header in memory; `file_size` is the size of the whole file.
TSR_MUST_USE tsr_status tsr_safetensors_parse(const char *bytes, size_t length, int64_t file_size,
                                              tsr_model **out_model);
// A folder with model.safetensors or model.safetensors.index.json, the index itself, or one file.
// Missing and surplus tensors, missing files and names outside the folder are errors; a wrong
// total_size is a warning, since many published models have one.
TSR_MUST_USE tsr_status tsr_model_open(const char *path, tsr_model **out_model);
void tsr_model_destroy(tsr_model *model);  // NULL is fine

int64_t tsr_model_count(const tsr_model *model);
const tsr_model_tensor *tsr_model_tensor_at(const tsr_model *model, int64_t index);
int64_t tsr_model_find(const tsr_model *model, const char *name);  // -1 if there is none
int tsr_model_file_count(const tsr_model *model);
const char *tsr_model_file(const tsr_model *model, int file);  // its path
int64_t tsr_model_bytes(const tsr_model *model);               // of all tensors
// The __metadata__ of the files, in order; gives their number.
int64_t tsr_model_metadata(const tsr_model *model, const tsr_metadata **out_items);
// Warnings, one line each; "" = none.
const char *tsr_model_warnings(const tsr_model *model);

// The layout of a file to be written: its header, and the offset of each tensor. Header and tensors
// may be written in any order.
typedef struct tsr_safetensors_file {
  char *header;     // owned: the length, the JSON and its padding; the file begins with it
  int64_t length;   // of the header
  int64_t size;     // of the whole file
  int64_t *begins;  // owned: for each tensor, the offset of its first byte in the file
} tsr_safetensors_file;

// Plans a file of these tensors, byte for byte as the reference library writes it: widest types
// first, then by name, without holes; metadata sorted by key, since the library has no order for
// it. Fails for types that the format lacks, repeated names or names that are no UTF-8, tensors
// that do not end with a byte, and headers over 100 MB.
TSR_MUST_USE tsr_status tsr_safetensors_plan(const tsr_tensor *tensors, int64_t count,
                                             const tsr_metadata *metadata, int64_t metadata_count,
                                             tsr_safetensors_file *out_file);
void tsr_safetensors_file_deinit(tsr_safetensors_file *file);

#endif
