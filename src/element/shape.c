// Shapes: values of fixed size that can be copied, compared and kept on the stack.
#include "tessera/shape.h"

#include <string.h>

#include "base/cursor.h"
#include "base/room.h"
#include "base/text_internal.h"
#include "element/dtype_internal.h"
#include "element/shape_internal.h"

static const int64_t MOST_ELEMENTS = INT64_C(1) << 62;

static tsr_status check_rank(int rank) {
  if (rank >= 0 && rank <= TSR_MAX_RANK) return NULL;
  return tsr_fail(TOO_LARGE, "rank %d, wanted 0 to %d", rank, TSR_MAX_RANK);
}

tsr_status tsr_shape_check(const tsr_shape *shape) {
  TSR_TRY(check_rank(shape->rank));
  int64_t product = 1;
  for (int i = 0; i < shape->rank; i++) {
    const int64_t size = shape->dims[i];
    if (size < 0)
      return tsr_fail(BAD_ARGUMENT, "dimension %d has size %lld, wanted 0 or more", i,
                      (long long)size);
    if (size && (__builtin_mul_overflow(product, size, &product) || product > MOST_ELEMENTS))
      return tsr_fail(OVERFLOW, "more than 2^62 elements in the first %d dimensions", i + 1);
  }
  return NULL;
}

tsr_status tsr_shape_init(tsr_shape *shape, const int64_t *dims, int rank) {
  TSR_TRY(check_rank(rank));
  TSR_TRY(tsr_list_check(dims, rank, "sizes"));
  tsr_shape made = {.rank = rank};
  if (rank) memcpy(made.dims, dims, sizeof *dims * (size_t)rank);
  TSR_TRY(tsr_shape_check(&made));
  *shape = made;
  return NULL;
}

bool tsr_shape_equal(const tsr_shape *a, const tsr_shape *b) {
  return a->rank == b->rank && !memcmp(a->dims, b->dims, sizeof *a->dims * (size_t)a->rank);
}

tsr_status tsr_shapes_check(const char *what, const tsr_shape *a, const char *other,
                            const tsr_shape *b) {
  if (tsr_shape_equal(a, b)) return NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_addf(&text, "%s has shape ", what);
  tsr_shape_print(a, &text);
  tsr_text_addf(&text, ", %s ", other);
  tsr_shape_print(b, &text);
  return tsr_fail_text(TSR_CAUSE_SHAPES_DIFFER, &text);
}

void tsr_shape_strides(const tsr_shape *shape, int64_t *out_strides) {
  int64_t stride = 1;
  for (int d = shape->rank - 1; d >= 0; d--) {
    out_strides[d] = stride;
    stride *= shape->dims[d];
  }
}

tsr_status tsr_shape_count(const tsr_shape *shape, int64_t *out_elements) {
  TSR_TRY(tsr_shape_check(shape));
  int64_t count = 1;
  for (int i = 0; i < shape->rank; i++) count *= shape->dims[i];
  *out_elements = count;
  return NULL;
}

tsr_status tsr_shape_bytes(const tsr_shape *shape, tsr_dtype dtype, int64_t *out_bytes) {
  int64_t count;
  TSR_TRY(tsr_shape_count(shape, &count));
  return tsr_dtype_bytes(dtype, count, out_bytes);
}

// Reads the sizes between brackets, or to the end of the text. All separators must equal the first:
// "8x16,4" is probably a typo.
static tsr_status read_sizes(tsr_cursor *cursor, char closing, tsr_shape *shape) {
  if (closing && tsr_cursor_peek(cursor) == closing) return NULL;
  char separator = '\0';
  do {
    // "(8,)": one size in Python's syntax.
    if (closing && separator == ',' && tsr_cursor_peek(cursor) == closing) return NULL;
    TSR_TRY(check_rank(shape->rank + 1));
    TSR_TRY(tsr_cursor_int(cursor, &shape->dims[shape->rank]));
    shape->rank++;
    if (!separator) separator = tsr_cursor_peek(cursor) == 'x' ? 'x' : ',';
  } while (tsr_cursor_take(cursor, separator));
  return NULL;
}

static tsr_status read_shape(tsr_cursor *cursor, tsr_shape *shape) {
  const char closing = tsr_cursor_take(cursor, '(')   ? ')'
                       : tsr_cursor_take(cursor, '[') ? ']'
                                                      : '\0';
  TSR_TRY(read_sizes(cursor, closing, shape));
  if (closing) TSR_TRY(tsr_cursor_expect(cursor, closing));
  TSR_TRY(tsr_cursor_end(cursor));
  return tsr_shape_check(shape);
}

tsr_status tsr_shape_parse(const char *text, tsr_shape *out_shape) {
  tsr_cursor cursor = TSR_CURSOR("shape", text);
  tsr_shape shape = {0};
  const tsr_status status = read_shape(&cursor, &shape);
  if (!status) *out_shape = shape;
  return tsr_cursor_note(&cursor, status);
}

void tsr_shape_print(const tsr_shape *shape, tsr_text *out) {
  tsr_text_add_char(out, '(');
  for (int i = 0; i < shape->rank; i++) {
    if (i) tsr_text_add(out, ", ");
    tsr_text_add_int(out, shape->dims[i]);
  }
  tsr_text_add(out, shape->rank == 1 ? ",)" : ")");
}

// ---- tensors ----

tsr_shape tsr_tensor_shape(const tsr_tensor *tensor) {
  tsr_shape shape = {.rank = tensor->rank};
  if (shape.rank) memcpy(shape.dims, tensor->dims, sizeof *shape.dims * (size_t)shape.rank);
  return shape;
}

int64_t tsr_tensor_elements(const tsr_tensor *tensor) {
  int64_t count = 1;
  for (int d = 0; d < tensor->rank; d++) count *= tensor->dims[d];
  return count;
}

int64_t tsr_tensor_bytes(const tsr_tensor *tensor) {
  int64_t bytes = 0;
  tsr_status status = tsr_dtype_bytes(tensor->dtype, tsr_tensor_elements(tensor), &bytes);
  tsr_status_free(status);  // the tensor was checked before
  return bytes;
}
