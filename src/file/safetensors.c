// The header of a safetensors file: eight bytes of length, then JSON, then the tensors' bytes.
//
// Bytes are read and written at the offsets of a header, so nothing is trusted: sizes are checked
// for overflow, shapes must agree with offsets, and the offsets must tile the data area exactly.
// Positions in messages count from the start of the file.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compare.h"
#include "element/dtype_internal.h"
#include "element/shape_internal.h"
#include "file/model.h"
#include "file/safetensors.h"
#include "json/json.h"
#include "json/json_read.h"
#include "tessera/dtype.h"
#include "tessera/shape.h"

enum { LENGTH_BYTES = 8, LONGEST_HEADER = 100000000 };

// The header being read, for messages and bounds.
typedef struct header {
  tsr_json_doc *doc;
  int64_t data_start, file_size;
  tsr_model *model;
} header;

static int64_t byte_of(const header *h, const tsr_json *value) {
  return (int64_t)tsr_json_position(h->doc, value);
}

// ---- one tensor ----

// A name of another ecosystem gets a hint to safetensors' own.
static tsr_status unknown_dtype(const char *name, size_t length) {
  char word[32];
  snprintf(word, sizeof word, "%.*s", (int)length, name);
  const tsr_dtype meant = length < sizeof word ? tsr_dtype_find(word) : TSR_DTYPE_NONE;
  const char *known = tsr_dtype_name(meant, TSR_NAMES_SAFETENSORS);
  if (known)
    return tsr_fail(UNKNOWN_DTYPE, "dtype \"%s\" is not one of safetensors', which calls it \"%s\"",
                    word, known);
  return tsr_fail(UNKNOWN_DTYPE, "dtype \"%.*s\" is not one of safetensors'", (int)length, name);
}

static tsr_status read_dtype(const tsr_json *value, tsr_dtype *out_dtype) {
  const char *name = NULL;
  size_t length = 0;
  TSR_TRY(tsr_json_get_string(value, "dtype", &name, &length));
  const tsr_dtype dtype = tsr_dtype_find_in(TSR_NAMES_SAFETENSORS, name, length);
  if (dtype == TSR_DTYPE_NONE) return unknown_dtype(name, length);
  *out_dtype = dtype;
  return NULL;
}

static tsr_status read_shape(const tsr_json *value, tsr_shape *out_shape) {
  if (!value || tsr_json_kind_of(value) != TSR_JSON_ARRAY)
    return tsr_json_wrong_kind(value, "shape", "an array");
  if (tsr_json_count(value) > TSR_MAX_RANK)
    return tsr_fail(TOO_LARGE, "shape: %zu dimensions, at most %d are supported",
                    tsr_json_count(value), TSR_MAX_RANK);
  out_shape->rank = 0;
  for (const tsr_json *item = tsr_json_first(value); item; item = tsr_json_next(item))
    TSR_TRY(tsr_json_get_int(item, "shape", &out_shape->dims[out_shape->rank++]));
  return tsr_shape_check(out_shape);
}

static tsr_status read_offsets(const header *h, const tsr_json *value, int64_t *out_begin,
                               int64_t *out_end) {
  if (!value || tsr_json_kind_of(value) != TSR_JSON_ARRAY || tsr_json_count(value) != 2)
    return tsr_json_wrong_kind(value, "data_offsets", "two integers");
  int64_t begin = 0, end = 0;
  TSR_TRY(tsr_json_get_int(tsr_json_at(value, 0), "data_offsets", &begin));
  TSR_TRY(tsr_json_get_int(tsr_json_at(value, 1), "data_offsets", &end));
  const int64_t room = h->file_size - h->data_start;
  if (end < begin)
    return tsr_fail(BROKEN_FILE, "data_offsets [%lld, %lld] end before they begin",
                    (long long)begin, (long long)end);
  if (begin < 0 || end > room)
    return tsr_fail(BROKEN_FILE,
                    "data_offsets [%lld, %lld] do not lie within the %lld bytes of data",
                    (long long)begin, (long long)end, (long long)room);
  *out_begin = h->data_start + begin;
  *out_end = h->data_start + end;
  return NULL;
}

static tsr_status check_fields(const tsr_json *value) {
  if (tsr_json_kind_of(value) != TSR_JSON_OBJECT)
    return tsr_json_wrong_kind(value, "its entry", "an object");
  for (const tsr_json *m = tsr_json_first(value); m; m = tsr_json_next(m)) {
    size_t length = 0;
    const char *key = tsr_json_key(m, &length);
    if (!tsr_json_key_is(m, "dtype") && !tsr_json_key_is(m, "shape") &&
        !tsr_json_key_is(m, "data_offsets"))
      return tsr_fail(BROKEN_FILE, "field \"%.*s\" is not one of dtype, shape, data_offsets",
                      (int)length, key);
  }
  return NULL;
}

// The bytes of a tensor; of types smaller than a byte, the last byte must be full.
static tsr_status stored_bytes(const tsr_shape *shape, tsr_dtype dtype, int64_t *out_bytes) {
  int64_t count = 0;
  TSR_TRY(tsr_shape_count(shape, &count));
  const int bits = tsr_dtype_info_of(dtype)->bits;
  if (bits < 8 && count % 8 != 0 && (count % 8) * bits % 8 != 0)
    return tsr_fail(BROKEN_FILE, "%lld elements of %d bits do not fill whole bytes",
                    (long long)count, bits);
  return tsr_dtype_bytes(dtype, count, out_bytes);
}

static tsr_status read_tensor(const header *h, const tsr_json *member) {
  TSR_TRY(check_fields(member));
  tsr_shape shape;
  tsr_model_tensor tensor = {0};
  TSR_TRY(read_dtype(tsr_json_find(member, "dtype"), &tensor.tensor.dtype));
  TSR_TRY(read_shape(tsr_json_find(member, "shape"), &shape));
  TSR_TRY(read_offsets(h, tsr_json_find(member, "data_offsets"), &tensor.begin, &tensor.end));
  int64_t bytes = 0;
  TSR_TRY(stored_bytes(&shape, tensor.tensor.dtype, &bytes));
  if (bytes != tensor.end - tensor.begin)
    return tsr_fail(BROKEN_FILE, "its type and shape take %lld bytes, its data_offsets %lld",
                    (long long)bytes, (long long)(tensor.end - tensor.begin));
  tensor.tensor.rank = shape.rank;
  tensor.tensor.dims = shape.dims;
  size_t length = 0;
  const char *name = tsr_json_key(member, &length);
  return tsr_model_add(h->model, name, length, &tensor);
}

static tsr_status read_metadata(const header *h, const tsr_json *value) {
  tsr_model *model = h->model;
  return tsr_metadata_list_read(&model->metadata, &model->arena, h->doc, value, &model->warnings);
}

// ---- the whole header ----

static int compare_places(const void *a, const void *b) {
  const tsr_model_tensor *x = *(const tsr_model_tensor *const *)a;
  const tsr_model_tensor *y = *(const tsr_model_tensor *const *)b;
  const int order = tsr_compare(x->begin, y->begin);
  return order ? order : tsr_compare(x->end, y->end);
}

static tsr_status check_neighbours(const header *h, const tsr_model_tensor *const *sorted,
                                   int64_t count) {
  int64_t at = h->data_start;
  const char *before = NULL;
  for (int64_t i = 0; i < count; i++) {
    if (sorted[i]->begin > at)
      return tsr_fail(BROKEN_FILE, "bytes %lld to %lld belong to no tensor (before \"%s\")",
                      (long long)at, (long long)sorted[i]->begin, sorted[i]->tensor.path);
    if (sorted[i]->begin < at)
      return tsr_fail(BROKEN_FILE, "tensors \"%s\" and \"%s\" overlap at byte %lld", before,
                      sorted[i]->tensor.path, (long long)sorted[i]->begin);
    at = sorted[i]->end;
    before = sorted[i]->tensor.path;
  }
  if (at != h->file_size)
    return tsr_fail(BROKEN_FILE, "bytes %lld to %lld at the end of the file belong to no tensor",
                    (long long)at, (long long)h->file_size);
  return NULL;
}

// Offsets must tile the data area: no holes, no overlaps, nothing after the last.
static tsr_status check_tiling(const header *h, int64_t first) {
  const int64_t count = h->model->count - first;
  const tsr_model_tensor **sorted = malloc((size_t)(count ? count : 1) * sizeof *sorted);
  if (!sorted) return tsr_fail(NO_MEMORY, "header of %lld tensors", (long long)count);
  bool ordered = true;
  for (int64_t i = 0; i < count; i++) {
    sorted[i] = &h->model->tensors[first + i];
    if (i && sorted[i]->begin < sorted[i - 1]->end) ordered = false;
  }
  if (!ordered) qsort(sorted, (size_t)count, sizeof *sorted, compare_places);
  tsr_status status = check_neighbours(h, sorted, count);
  free(sorted);
  return status;
}

static tsr_status read_members(const header *h) {
  const tsr_json *root = tsr_json_root(h->doc);
  if (tsr_json_kind_of(root) != TSR_JSON_OBJECT)
    return tsr_fail(JSON_KIND, "the header is %s, wanted an object",
                    tsr_json_kind_name(tsr_json_kind_of(root)));
  const int64_t first = h->model->count;
  for (const tsr_json *m = tsr_json_first(root); m; m = tsr_json_next(m)) {
    size_t length = 0;
    const char *key = tsr_json_key(m, &length);
    if (tsr_json_key_is(m, "__metadata__")) {
      TSR_TRY_NOTE(read_metadata(h, m), "__metadata__ at byte %lld", (long long)byte_of(h, m));
      continue;
    }
    if (memchr(key, '\0', length))
      return tsr_fail(BROKEN_FILE, "a tensor's name at byte %lld contains a zero byte",
                      (long long)byte_of(h, m));
    TSR_TRY_NOTE(read_tensor(h, m), "tensor \"%.*s\" at byte %lld", (int)length, key,
                 (long long)byte_of(h, m));
  }
  return check_tiling(h, first);
}

static uint64_t little_endian(const unsigned char *bytes) {
  uint64_t value = 0;
  for (int i = LENGTH_BYTES - 1; i >= 0; i--) value = value << 8 | bytes[i];
  return value;
}

// The kind of another file that is often mistaken for safetensors; NULL = unknown.
static const char *other_kind(const unsigned char *prefix) {
  static const struct {
    const char *bytes, *kind;
  } kinds[] = {
      {"PK\x03\x04", "a zip archive, as PyTorch and NumPy write them"},
      {"\x80\x02", "a pickle of older PyTorch"},
      {"\x93NUMPY", "a NumPy array"},
      {"version ", "a git lfs pointer; `git lfs pull` fetches the file itself"},
      {"GGUF", "a GGUF file"},
      {"<", "a page of HTML or XML"},
      {"{", "JSON without the eight bytes of its length"},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!memcmp(prefix, kinds[i].bytes, strlen(kinds[i].bytes))) return kinds[i].kind;
  return NULL;
}

static tsr_status check_length(const unsigned char *prefix, int64_t file_size) {
  const uint64_t length = little_endian(prefix);
  const char *kind = length > LONGEST_HEADER ? other_kind(prefix) : NULL;
  if (kind) return tsr_fail(BROKEN_FILE, "this is not a safetensors file but %s", kind);
  if (length > LONGEST_HEADER)
    return tsr_fail(BROKEN_FILE, "the header's length is %llu bytes, at most %d are allowed",
                    (unsigned long long)length, LONGEST_HEADER);
  if ((int64_t)length > file_size - LENGTH_BYTES)
    return tsr_fail(BROKEN_FILE, "the header's length is %llu bytes, but the file has %lld in all",
                    (unsigned long long)length, (long long)file_size);
  return NULL;
}

static tsr_status read_header(tsr_model *model, const char *json, size_t length,
                              int64_t file_size) {
  if (!length)
    return tsr_fail(BROKEN_FILE, "the header's length is 0 bytes, but the shortest header is {}");
  if (json[0] != '{')
    return tsr_fail(BROKEN_FILE, "the header begins with byte 0x%02x at byte %d, wanted '{' (0x7b)",
                    (unsigned char)json[0], LENGTH_BYTES);
  header h = {.data_start = LENGTH_BYTES + (int64_t)length, .file_size = file_size, .model = model};
  TSR_TRY_NOTE(tsr_json_parse_at(json, length, LENGTH_BYTES, &h.doc), "header");
  tsr_status status = read_members(&h);
  tsr_json_destroy(h.doc);
  return status;
}

tsr_status tsr_safetensors_parse(const char *bytes, size_t length, int64_t file_size,
                                 tsr_model **out_model) {
  if (length < LENGTH_BYTES || file_size < LENGTH_BYTES)
    return tsr_fail(BROKEN_FILE, "%zu bytes are too few for a header", length);
  const uint64_t header_length = little_endian((const unsigned char *)bytes);
  TSR_TRY(check_length((const unsigned char *)bytes, file_size));
  if (header_length > length - LENGTH_BYTES)
    return tsr_fail(BROKEN_FILE, "%zu bytes given, but the header has %llu", length,
                    (unsigned long long)header_length);
  tsr_model *model = NULL;
  TSR_TRY(tsr_model_create(&model));
  tsr_status status = tsr_model_add_file(model, "memory");
  if (!status) status = read_header(model, bytes + LENGTH_BYTES, (size_t)header_length, file_size);
  return tsr_model_give(status, model, out_model);
}

// ---- files ----

// Reads exactly `length` bytes at `offset`.
static tsr_status read_at(int fd, char *out, size_t length, int64_t offset) {
  for (size_t done = 0; done < length;) {
    const ssize_t n = pread(fd, out + done, length - done, (off_t)(offset + (int64_t)done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return tsr_fail(IO, "%s", strerror(errno));
    if (n == 0)
      return tsr_fail(BROKEN_FILE, "the file ends at byte %lld",
                      (long long)offset + (long long)done);
    done += (size_t)n;
  }
  return NULL;
}

static tsr_status read_open_file(tsr_model *model, int fd) {
  struct stat info;
  if (fstat(fd, &info)) return tsr_fail(IO, "%s", strerror(errno));
  if (!S_ISREG(info.st_mode)) return tsr_fail(IO, "not a regular file");
  if (info.st_size < LENGTH_BYTES)
    return tsr_fail(BROKEN_FILE, "%lld bytes are too few for a header", (long long)info.st_size);
  unsigned char prefix[LENGTH_BYTES];
  TSR_TRY(read_at(fd, (char *)prefix, sizeof prefix, 0));
  const uint64_t length = little_endian(prefix);
  TSR_TRY(check_length(prefix, info.st_size));
  char *json = malloc(length ? (size_t)length : 1);
  if (!json) return tsr_fail(NO_MEMORY, "header of %llu bytes", (unsigned long long)length);
  tsr_status status = read_at(fd, json, (size_t)length, LENGTH_BYTES);
  if (!status) status = read_header(model, json, (size_t)length, info.st_size);
  free(json);
  return status;
}

tsr_status tsr_model_check_link(const char *path) {
  struct stat link, target;
  if (lstat(path, &link) || !S_ISLNK(link.st_mode) || !stat(path, &target)) return NULL;
  return tsr_fail(IO, "%s: the link points to nothing", path);
}

tsr_status tsr_model_read_file(tsr_model *model, const char *path) {
  TSR_TRY(tsr_model_check_link(path));
  TSR_TRY(tsr_model_add_file(model, path));
  int fd = -1;
  do {
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // does not wait for a pipe
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return tsr_fail(IO, "%s: %s", path, strerror(errno));
  tsr_status status = read_open_file(model, fd);
  close(fd);
  return tsr_note(status, "%s", path);
}

tsr_status tsr_safetensors_open(const char *path, tsr_model **out_model) {
  tsr_model *model = NULL;
  TSR_TRY(tsr_model_create(&model));
  return tsr_model_give(tsr_model_read_file(model, path), model, out_model);
}
