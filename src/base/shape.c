// Shapes are values of fixed size, so that they can be copied, compared and kept on the stack.
#include "tessera/shape.h"

#include <ctype.h>
#include <string.h>

static const int64_t MOST_ELEMENTS = INT64_C(1) << 62;

static tsr_status check_rank(int rank) {
  if (rank >= 0 && rank <= TSR_MAX_RANK) return NULL;
  return tsr_fail(TOO_LARGE, "rank %d, wanted 0 to %d", rank, TSR_MAX_RANK);
}

static tsr_status too_many_elements(const tsr_shape *shape) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_shape_print(shape, &text);
  tsr_status status = tsr_text_check(&text);
  if (!status)
    status = tsr_fail(OVERFLOW, "shape %s has more than 2^62 elements", tsr_text_string(&text));
  tsr_text_deinit(&text);
  return status;
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
      return too_many_elements(shape);
  }
  return NULL;
}

tsr_status tsr_shape_init(tsr_shape *shape, const int64_t *dims, int rank) {
  TSR_TRY(check_rank(rank));
  tsr_shape made = {.rank = rank};
  if (rank) memcpy(made.dims, dims, sizeof *dims * (size_t)rank);
  TSR_TRY(tsr_shape_check(&made));
  *shape = made;
  return NULL;
}

bool tsr_shape_equal(const tsr_shape *a, const tsr_shape *b) {
  return a->rank == b->rank && !memcmp(a->dims, b->dims, sizeof *a->dims * (size_t)a->rank);
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

// Reading. One cursor walks the text; `separator` is '\0' until the first one is seen, after which
// all must be the same: "8x16,4" is more likely a slip than a shape.
typedef struct reader {
  const char *text, *at;
  char separator, closing;
} reader;

static void skip_spaces(reader *r) {
  while (isspace((unsigned char)*r->at)) r->at++;
}

static tsr_status unexpected(const reader *r, const char *wanted) {
  const long column = (long)(r->at - r->text) + 1;
  if (!*r->at) return tsr_fail(SYNTAX, "shape \"%s\" ends where %s was wanted", r->text, wanted);
  return tsr_fail(SYNTAX, "shape \"%s\" has '%c' in column %ld, wanted %s", r->text, *r->at, column,
                  wanted);
}

static tsr_status read_size(reader *r, int64_t *out_size) {
  if (*r->at < '0' || *r->at > '9') return unexpected(r, "a size");
  int64_t size = 0;
  for (; *r->at >= '0' && *r->at <= '9'; r->at++)
    if (__builtin_mul_overflow(size, 10, &size) ||
        __builtin_add_overflow(size, *r->at - '0', &size))
      return tsr_fail(OVERFLOW, "shape \"%s\" has a size above 2^63-1", r->text);
  skip_spaces(r);
  *out_size = size;
  return NULL;
}

// Steps over a separator; false at the end of the list.
static bool read_separator(reader *r) {
  const char c = *r->at;
  if ((c != ',' && c != 'x') || (r->separator && c != r->separator)) return false;
  r->separator = c;
  r->at++;
  skip_spaces(r);
  return true;
}

static bool at_end(const reader *r) { return *r->at == r->closing; }

static tsr_status read_sizes(reader *r, tsr_shape *shape) {
  if (r->closing && at_end(r)) return NULL;
  do {
    // "(8,)": Python's way to write one size in parentheses.
    if (r->closing && r->separator == ',' && at_end(r)) return NULL;
    TSR_TRY(check_rank(shape->rank + 1));
    TSR_TRY(read_size(r, &shape->dims[shape->rank]));
    shape->rank++;
  } while (read_separator(r));
  if (!at_end(r)) return unexpected(r, r->closing ? "a comma or the closing bracket" : "a comma");
  return NULL;
}

tsr_status tsr_shape_parse(const char *text, tsr_shape *out_shape) {
  reader r = {.text = text, .at = text};
  skip_spaces(&r);
  if (*r.at == '(' || *r.at == '[') {
    r.closing = *r.at++ == '(' ? ')' : ']';
    skip_spaces(&r);
  }
  tsr_shape shape = {0};
  TSR_TRY(read_sizes(&r, &shape));
  if (r.closing) r.at++;
  skip_spaces(&r);
  if (*r.at) return unexpected(&r, "the end");
  TSR_TRY(tsr_shape_check(&shape));
  *out_shape = shape;
  return NULL;
}

void tsr_shape_print(const tsr_shape *shape, tsr_text *out) {
  tsr_text_add_char(out, '(');
  for (int i = 0; i < shape->rank; i++) {
    if (i) tsr_text_add(out, ", ");
    tsr_text_add_int(out, shape->dims[i]);
  }
  tsr_text_add(out, shape->rank == 1 ? ",)" : ")");
}
