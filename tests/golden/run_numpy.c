// NumPy, ml_dtypes and safetensors: arrays and headers byte for byte, as hexadecimal text.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text_internal.h"
#include "element/dtype_internal.h"
#include "file/npy_internal.h"
#include "file/safetensors.h"
#include "golden/golden.h"
#include "json/json.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/engine/kernels.h"

// ---- bytes as text ----

typedef struct bytes {
  unsigned char *data;  // in the case's arena
  size_t length;
} bytes;

static int digit_of(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

static tsr_status read_bytes(const golden_case *c, const char *what, bytes *out) {
  const char *text = NULL;
  size_t length = 0;
  TSR_TRY(tsr_json_get_string(golden_get(c, what), what, &text, &length));
  out->length = length / 2;
  out->data = tsr_arena_alloc(c->arena, out->length + 1);
  if (!out->data) return tsr_fail(NO_MEMORY, "bytes");
  for (size_t i = 0; i < out->length; i++)
    out->data[i] = (unsigned char)(16 * digit_of(text[2 * i]) + digit_of(text[2 * i + 1]));
  return NULL;
}

static void write_bytes(tsr_json_writer *out, const void *data, size_t length) {
  tsr_text text = TSR_TEXT_EMPTY;
  for (size_t i = 0; i < length; i++)
    tsr_text_addf(&text, "%02x", ((const unsigned char *)data)[i]);
  tsr_json_write_string(out, tsr_text_string(&text));
  tsr_text_deinit(&text);
}

static tsr_status read_dtype(const golden_case *c, const tsr_json *value, tsr_dtype *out) {
  const char *name = NULL;
  TSR_TRY(golden_read_string(c, value, "dtype", &name));
  return tsr_dtype_parse(name, out);
}

// ---- handlers ----

static tsr_status convert(const golden_case *c, const golden_answer *answer) {
  tsr_dtype from, to;
  bytes source;
  int64_t count = 0, length = 0;
  TSR_TRY(read_dtype(c, golden_get(c, "from"), &from));
  TSR_TRY(read_dtype(c, golden_get(c, "to"), &to));
  TSR_TRY(read_bytes(c, "source", &source));
  TSR_TRY(golden_int(c, "count", &count));
  TSR_TRY(tsr_dtype_bytes(to, count, &length));
  void *target = tsr_arena_zeros(c->arena, (size_t)length + 1, 1);
  if (!target) return tsr_fail(NO_MEMORY, "elements");
  TSR_TRY(tsr_convert(from, source.data, to, target, count));
  write_bytes(answer->out, target, (size_t)length);
  return NULL;
}

static tsr_status npy_save(const golden_case *c, const golden_answer *answer) {
  tsr_dtype dtype;
  tsr_shape shape;
  bool fortran = false;
  char *header = NULL;
  size_t length = 0;
  TSR_TRY(read_dtype(c, golden_get(c, "dtype"), &dtype));
  TSR_TRY(golden_shape(c, "shape", &shape));
  TSR_TRY(golden_bool(c, "fortran", &fortran));
  TSR_TRY(tsr_npy_header(dtype, &shape, fortran, &header, &length));
  write_bytes(answer->out, header, length);
  free(header);
  return NULL;
}

static void write_array(tsr_json_writer *out, const tsr_npy *npy, const void *elements) {
  const char *name = npy->dtype ? tsr_dtype_name(npy->dtype, TSR_NAMES_NUMPY) : NULL;
  tsr_json_write_key(out, "dtype");
  tsr_json_write_string(out, name);
  tsr_json_write_key(out, "shape");
  tsr_json_write_ints(out, npy->shape.dims, (size_t)npy->shape.rank);
  tsr_json_write_key(out, "fortran");
  tsr_json_write_bool(out, npy->fortran);
  tsr_json_write_key(out, "elements");
  write_bytes(out, elements, (size_t)(npy->end - npy->begin));
}

// The case's bytes as a file, whose name is written to `path`.
static tsr_status make_file(const golden_case *c, char *path) {
  bytes file;
  TSR_TRY(read_bytes(c, "file", &file));
  strcpy(path, "/tmp/tessera-golden-XXXXXX");
  const int fd = mkstemp(path);
  const bool written = fd >= 0 && write(fd, file.data, file.length) == (ssize_t)file.length;
  if (fd >= 0) close(fd);
  return written ? NULL : tsr_fail(IO, "%s", path);
}

static tsr_status load_npy(const char *path, const golden_case *c, tsr_json_writer *out) {
  tsr_npy npy;
  TSR_TRY(tsr_npy_open(path, &npy));
  const int64_t length = npy.end - npy.begin;
  void *elements = tsr_arena_alloc(c->arena, (size_t)length + 1);
  if (!elements) return tsr_fail(NO_MEMORY, "elements");
  TSR_TRY(tsr_npy_read(path, &npy, 0, length / npy.width, elements, length));
  tsr_json_begin_object(out);
  write_array(out, &npy, elements);
  tsr_json_end_object(out);
  return NULL;
}

static tsr_status npy_load(const golden_case *c, const golden_answer *answer) {
  char path[64];
  TSR_TRY(make_file(c, path));
  tsr_status status = load_npy(path, c, answer->out);
  unlink(path);
  return status;
}

static tsr_status write_arrays(const tsr_npz *npz, const golden_case *c, tsr_json_writer *out) {
  for (int64_t i = 0; i < tsr_npz_count(npz); i++) {
    const tsr_npy *npy = tsr_npz_array(npz, i);
    void *elements = tsr_arena_alloc(c->arena, (size_t)(npy->end - npy->begin) + 1);
    if (!elements) return tsr_fail(NO_MEMORY, "elements");
    TSR_TRY(tsr_npz_read(npz, i, elements, npy->end - npy->begin));
    tsr_json_write_key(out, tsr_npz_name(npz, i));
    tsr_json_begin_object(out);
    write_array(out, npy, elements);
    tsr_json_end_object(out);
  }
  return NULL;
}

static tsr_status npz_load(const golden_case *c, const golden_answer *answer) {
  char path[64];
  TSR_TRY(make_file(c, path));
  tsr_npz *npz = NULL;
  tsr_status status = tsr_npz_open(path, &npz);
  tsr_json_begin_object(answer->out);
  if (!status) status = write_arrays(npz, c, answer->out);
  tsr_json_end_object(answer->out);
  tsr_npz_destroy(npz);
  unlink(path);
  return status;
}

// ---- safetensors ----

static tsr_status read_tensor(const golden_case *c, const tsr_json *value, tsr_tensor *out) {
  golden_ints dims;
  TSR_TRY(golden_read_string(c, tsr_json_find(value, "name"), "name", &out->path));
  TSR_TRY(read_dtype(c, tsr_json_find(value, "dtype"), &out->dtype));
  TSR_TRY(golden_read_ints(c, tsr_json_find(value, "shape"), "shape", &dims));
  out->rank = dims.count;
  out->dims = dims.items;
  return NULL;
}

static tsr_status safetensors_save(const golden_case *c, const golden_answer *answer) {
  const tsr_json *list = golden_get(c, "tensors");
  int64_t count = 0;
  tsr_tensor *tensors = tsr_arena_zeros(c->arena, tsr_json_count(list) + 1, sizeof *tensors);
  if (!tensors) return tsr_fail(NO_MEMORY, "tensors");
  for (const tsr_json *at = tsr_json_first(list); at; at = tsr_json_next(at))
    TSR_TRY(read_tensor(c, at, &tensors[count++]));
  tsr_metadata metadata = {NULL, NULL};
  const bool has_metadata = !golden_is_null(golden_get(c, "key"));
  if (has_metadata) {
    TSR_TRY(golden_read_string(c, golden_get(c, "key"), "key", &metadata.key));
    TSR_TRY(golden_read_string(c, golden_get(c, "value"), "value", &metadata.value));
  }
  tsr_safetensors_file file;
  TSR_TRY(tsr_safetensors_plan(tensors, count, &metadata, has_metadata, &file));
  write_bytes(answer->out, file.header, (size_t)file.length);
  tsr_safetensors_file_deinit(&file);
  return NULL;
}

const golden_function golden_numpy_functions[] = {
    {"convert", convert, {NULL}},
    {"npy_load", npy_load, {NULL}},
    {"npy_save", npy_save, {NULL}},
    {"npz_load", npz_load, {NULL}},
    {"safetensors_save", safetensors_save, {NULL}},
    {NULL, NULL, {NULL}},
};
