// Headers of files to be written, laid out like the reference library's.
#include <stdlib.h>
#include <string.h>

#include "base/name_index.h"
#include "base/text_internal.h"
#include "base/utf8.h"
#include "element/shape_internal.h"
#include "file/file_metadata.h"
#include "file/safetensors.h"
#include "json/json.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/dtype.h"
#include "tessera/shape.h"
#include "tessera/text.h"

enum { LARGEST_HEADER = 100000000 };

// The reference library's order of types, last first.
static const tsr_dtype order[] = {
    TSR_BOOL,   TSR_F4E2M1FN, TSR_F6E2M3FN,  TSR_F6E3M2FN,   TSR_U8,         TSR_I8,
    TSR_F8E5M2, TSR_F8E4M3FN, TSR_F8E8M0FNU, TSR_F8E4M3FNUZ, TSR_F8E5M2FNUZ, TSR_I16,
    TSR_U16,    TSR_F16,      TSR_BF16,      TSR_I32,        TSR_U32,        TSR_F32,
    TSR_C64,    TSR_F64,      TSR_I64,       TSR_U64,
};

static int place_of(tsr_dtype dtype) {
  for (size_t i = 0; i < sizeof order / sizeof *order; i++)
    if (order[i] == dtype) return (int)i;
  return -1;
}

typedef struct planned_tensor {
  const tsr_tensor *tensor;
  int64_t index;  // in the caller's list
  int64_t bytes;
} planned_tensor;

static int by_type_and_name(const void *left, const void *right) {
  const planned_tensor *a = left, *b = right;
  const int types = place_of(b->tensor->dtype) - place_of(a->tensor->dtype);
  return types ? types : strcmp(a->tensor->path, b->tensor->path);
}

// ---- checks ----

static tsr_status check_text(const char *text, const char *what) {
  const size_t length = strlen(text);
  for (size_t at = 0; at < length;) {
    const size_t wide = tsr_utf8_length(text + at, length - at);
    if (!wide) return tsr_fail(BAD_ARGUMENT, "%s \"%s\" is not UTF-8 at byte %zu", what, text, at);
    at += wide;
  }
  return NULL;
}

static tsr_status measure(planned_tensor *e) {
  const tsr_tensor *t = e->tensor;
  tsr_shape shape;
  int64_t elements = 0;
  TSR_TRY(check_text(t->path, "the name"));
  if (!strcmp(t->path, "__metadata__"))
    return tsr_fail(BAD_ARGUMENT,
                    "a tensor cannot be called \"__metadata__\" in a safetensors file");
  if (place_of(t->dtype) < 0)
    return tsr_fail(UNSUPPORTED, "tensor \"%s\" is %s, which safetensors files cannot store",
                    t->path,
                    tsr_dtype_info_of(t->dtype) ? tsr_dtype_info_of(t->dtype)->name : "of no type");
  TSR_TRY_NOTE(tsr_shape_init(&shape, t->dims, t->rank), "tensor \"%s\"", t->path);
  TSR_TRY_NOTE(tsr_shape_count(&shape, &elements), "tensor \"%s\"", t->path);
  TSR_TRY_NOTE(tsr_shape_bytes(&shape, t->dtype, &e->bytes), "tensor \"%s\"", t->path);
  const int bits = tsr_dtype_info_of(t->dtype)->bits;
  if (bits < 8 && elements * bits % 8)
    return tsr_fail(UNSUPPORTED,
                    "tensor \"%s\" has %lld elements of %d bits, which do not fill whole bytes",
                    t->path, (long long)elements, bits);
  return NULL;
}

static tsr_status check_names(const planned_tensor *entries, int64_t count) {
  tsr_name_index names = TSR_NAME_INDEX_EMPTY;
  tsr_status status = NULL;
  for (int64_t i = 0; i < count && !status; i++) {
    int64_t existing = -1;
    status = tsr_name_index_add(&names, entries[i].tensor->path, i, &existing);
    if (!status && existing >= 0)
      status = tsr_fail(BAD_ARGUMENT, "two tensors are called \"%s\"", entries[i].tensor->path);
  }
  tsr_name_index_deinit(&names);
  return status;
}

// ---- the header ----

static void write_entry(tsr_json_writer *json, const planned_tensor *e, int64_t begin) {
  tsr_json_add_object(json, e->tensor->path);
  tsr_json_add_string(json, "dtype", tsr_dtype_name(e->tensor->dtype, TSR_NAMES_SAFETENSORS));
  tsr_json_add_ints(json, "shape", e->tensor->dims, (size_t)e->tensor->rank);
  tsr_json_add_ints(json, "data_offsets", (int64_t[]){begin, begin + e->bytes}, 2);
  tsr_json_end_object(json);
}

// Here `begins` count from the end of the header.
static tsr_status write_header(const planned_tensor *entries, int64_t count,
                               const tsr_metadata *metadata, int64_t metadata_count, tsr_text *out,
                               int64_t *begins, int64_t *out_data) {
  tsr_json_writer json;
  int64_t data = 0;
  tsr_json_writer_init(&json, out, 0);
  tsr_json_begin_object(&json);
  if (metadata_count > 0) {
    tsr_json_write_key(&json, "__metadata__");
    TSR_TRY(tsr_metadata_write(metadata, metadata_count, &json));
  }
  for (int64_t i = 0; i < count; i++) {
    write_entry(&json, &entries[i], data);
    begins[entries[i].index] = data;
    if (__builtin_add_overflow(data, entries[i].bytes, &data))
      return tsr_fail(OVERFLOW, "a file of more than 2^63 bytes");
  }
  tsr_json_end_object(&json);
  TSR_TRY(tsr_text_check(out));
  tsr_text_add_bytes(out, "       ", (8 - out->length % 8) % 8);
  *out_data = data;
  return tsr_text_check(out);
}

static tsr_status make_file(const tsr_text *json, int64_t count, int64_t data,
                            tsr_safetensors_file *file) {
  const size_t length = json->length;
  if (length > LARGEST_HEADER)
    return tsr_fail(TOO_LARGE, "a header of %zu bytes; readers take at most %d", length,
                    LARGEST_HEADER);
  file->header = malloc(length + 8);
  if (!file->header) return tsr_fail(NO_MEMORY, "a header of %zu bytes", length);
  for (int i = 0; i < 8; i++) file->header[i] = (char)(length >> (8 * i) & 255);
  memcpy(file->header + 8, tsr_text_string(json), length);
  file->length = (int64_t)length + 8;
  for (int64_t i = 0; i < count; i++) file->begins[i] += file->length;
  if (__builtin_add_overflow(data, file->length, &file->size))
    return tsr_fail(OVERFLOW, "a file of more than 2^63 bytes");
  return NULL;
}

static tsr_status plan(planned_tensor *entries, int64_t count, const tsr_metadata *metadata,
                       int64_t metadata_count, tsr_safetensors_file *file) {
  tsr_text json = TSR_TEXT_EMPTY;
  int64_t data = 0;
  for (int64_t i = 0; i < count; i++) TSR_TRY(measure(&entries[i]));
  for (int64_t i = 0; i < metadata_count; i++) {
    TSR_TRY(check_text(metadata[i].key, "the metadata key"));
    TSR_TRY(check_text(metadata[i].value, "the metadata value"));
  }
  TSR_TRY(check_names(entries, count));
  qsort(entries, (size_t)count, sizeof *entries, by_type_and_name);
  tsr_status status =
      write_header(entries, count, metadata, metadata_count, &json, file->begins, &data);
  if (!status) status = make_file(&json, count, data, file);
  tsr_text_deinit(&json);
  return status;
}

tsr_status tsr_safetensors_plan(const tsr_tensor *tensors, int64_t count,
                                const tsr_metadata *metadata, int64_t metadata_count,
                                tsr_safetensors_file *out_file) {
  tsr_safetensors_file file = {.begins = calloc((size_t)count + 1, sizeof *file.begins)};
  planned_tensor *entries = calloc((size_t)count + 1, sizeof *entries);
  for (int64_t i = 0; entries && i < count; i++) entries[i] = (planned_tensor){&tensors[i], i, 0};
  tsr_status status = file.begins && entries
                          ? plan(entries, count, metadata, metadata_count, &file)
                          : tsr_fail(NO_MEMORY, "a file of %lld tensors", (long long)count);
  free(entries);
  if (status)
    tsr_safetensors_file_deinit(&file);
  else
    *out_file = file;
  return status;
}

void tsr_safetensors_file_deinit(tsr_safetensors_file *file) {
  if (!file) return;
  free(file->header);
  free(file->begins);
  *file = (tsr_safetensors_file){0};
}
