// The header of a .npy file: magic, version, length, and a Python dictionary with type, order and
// shape:
//
//   \x93NUMPY 1 0 <length> {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n
//
// Only NumPy's own output is accepted, and nothing is evaluated.
#include "file/npy_header.h"

#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "file/npy_internal.h"
#include "tessera/dtype.h"
#include "tessera/shape.h"
#include "tessera/text.h"

enum { PREFIX_BYTES = 8, ALIGNMENT = 64, GROWTH_DIGITS = 21 };

static const char magic[] = "\x93NUMPY";

// ---- types ----

// NumPy's letters; '<f1' is what it writes for ml_dtypes' float8_e5m2.
static const struct {
  char kind;
  int width;
  tsr_dtype dtype;
} kinds[] = {
    {'b', 1, TSR_BOOL}, {'i', 1, TSR_I8},     {'i', 2, TSR_I16},   {'i', 4, TSR_I32},
    {'i', 8, TSR_I64},  {'u', 1, TSR_U8},     {'u', 2, TSR_U16},   {'u', 4, TSR_U32},
    {'u', 8, TSR_U64},  {'f', 1, TSR_F8E5M2}, {'f', 2, TSR_F16},   {'f', 4, TSR_F32},
    {'f', 8, TSR_F64},  {'c', 8, TSR_C64},    {'c', 16, TSR_C128},
};

static bool host_is_big(void) {
  const uint16_t one = 1;
  unsigned char first;
  memcpy(&first, &one, 1);
  return first == 0;
}

static tsr_status unknown_type(const char *descr) {
  return tsr_fail(UNSUPPORTED, "descr '%s' is not a type of numbers, wanted one such as '<f4'",
                  descr);
}

// "<f4": byte order, kind, bytes.
static tsr_status read_descr(const char *descr, tsr_npy *npy) {
  const char order = descr[0], kind = order ? descr[1] : '\0';
  if (!order || !strchr("<>|", order)) return unknown_type(descr);
  int width = 0;
  const char *digits = kind ? descr + 2 : descr + 1;
  for (; *digits >= '0' && *digits <= '9' && width < 100; digits++)
    width = 10 * width + *digits - '0';
  if (*digits || width < 1 || (order == '|' && width > 1 && kind != 'V'))
    return unknown_type(descr);
  npy->dtype = TSR_DTYPE_NONE;
  npy->width = width;
  npy->swapped = width > 1 && kind != 'V' && (order == '>') != host_is_big();
  if (kind == 'V' && (width == 1 || width == 2)) return NULL;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i].kind == kind && kinds[i].width == width) npy->dtype = kinds[i].dtype;
  return npy->dtype ? NULL : unknown_type(descr);
}

// NumPy's name for a type, or its substitute for one of ml_dtypes.
static const char *descr_of(tsr_dtype dtype, char out[16]) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  const char order = info->bits == 8 ? '|' : host_is_big() ? '>' : '<';
  snprintf(out, 16, "<V%d", info->bits / 8);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i].dtype == dtype) snprintf(out, 16, "%c%c%d", order, kinds[i].kind, kinds[i].width);
  if (dtype == TSR_F8E5M2) out[0] = '<';
  return out;
}

// ---- the dictionary ----

typedef struct text_piece {
  char bytes[32];
} text_piece;

// A string without escapes, in either kind of quotes.
static tsr_status read_string(tsr_cursor *cursor, text_piece *out) {
  const char quote = tsr_cursor_peek(cursor);
  if (quote != '\'' && quote != '"') return tsr_cursor_expected(cursor, "a string");
  const char *start = cursor->at + 1, *end = start;
  while (*end && *end != quote && *end != '\\') end++;
  if (*end != quote || end - start >= (long)sizeof out->bytes)
    return tsr_cursor_expected(cursor, "a short string without escapes");
  memcpy(out->bytes, start, (size_t)(end - start));
  out->bytes[end - start] = '\0';
  cursor->at = end + 1;
  return NULL;
}

static tsr_status read_bool(tsr_cursor *cursor, bool *out) {
  *out = tsr_cursor_take_word(cursor, "True");
  return *out || tsr_cursor_take_word(cursor, "False")
             ? NULL
             : tsr_cursor_expected(cursor, "True or False");
}

// (), (3,), (3, 4) or (3, 4,); Python 2 wrote 3L.
static tsr_status read_shape(tsr_cursor *cursor, tsr_shape *out) {
  TSR_TRY(tsr_cursor_expect(cursor, '('));
  out->rank = 0;
  while (!tsr_cursor_take(cursor, ')')) {
    if (out->rank == TSR_MAX_RANK)
      return tsr_fail(TOO_LARGE, "more than %d dimensions", TSR_MAX_RANK);
    TSR_TRY(tsr_cursor_int(cursor, &out->dims[out->rank++]));
    if (*cursor->at == 'L') cursor->at++;
    if (tsr_cursor_take(cursor, ',')) continue;
    if (out->rank == 1) return tsr_cursor_expected(cursor, "\",\" after the only size of a tuple");
    TSR_TRY(tsr_cursor_expect(cursor, ')'));
    break;
  }
  return tsr_shape_check(out);
}

typedef enum npy_key { DESCR, FORTRAN, SHAPE, KEY_COUNT } npy_key;
static const char *const keys[KEY_COUNT] = {"descr", "fortran_order", "shape"};

static tsr_status read_value(tsr_cursor *cursor, npy_key which, tsr_npy *npy) {
  text_piece text;
  switch (which) {
    case DESCR:
      if (tsr_cursor_peek(cursor) == '[' || tsr_cursor_peek(cursor) == '(')
        return tsr_fail(UNSUPPORTED, "elements with several fields are not supported");
      TSR_TRY(read_string(cursor, &text));
      return read_descr(text.bytes, npy);
    case FORTRAN:
      return read_bool(cursor, &npy->fortran);
    default:
      return read_shape(cursor, &npy->shape);
  }
}

static tsr_status read_item(tsr_cursor *cursor, bool seen[KEY_COUNT], tsr_npy *npy) {
  text_piece name;
  tsr_cursor_peek(cursor);
  const tsr_cursor start = *cursor;
  TSR_TRY(read_string(cursor, &name));
  int which = 0;
  while (which < KEY_COUNT && strcmp(keys[which], name.bytes) != 0) which++;
  if (which == KEY_COUNT)
    return tsr_cursor_fail(&start, BROKEN_FILE,
                           "key '%s' is not one of descr, fortran_order, shape", name.bytes);
  if (seen[which]) return tsr_cursor_fail(&start, BROKEN_FILE, "key '%s' occurs twice", name.bytes);
  seen[which] = true;
  TSR_TRY(tsr_cursor_expect(cursor, ':'));
  tsr_cursor_peek(cursor);
  const tsr_cursor value = *cursor;
  return tsr_cursor_place_missing(&value, read_value(cursor, (npy_key)which, npy));
}

static tsr_status read_dictionary(const char *text, size_t start, tsr_npy *npy) {
  tsr_cursor cursor = {.name = "header", .start = text, .at = text, .offset = start};
  bool seen[KEY_COUNT] = {false};
  TSR_TRY(tsr_cursor_expect(&cursor, '{'));
  while (!tsr_cursor_take(&cursor, '}')) {
    TSR_TRY(read_item(&cursor, seen, npy));
    if (tsr_cursor_take(&cursor, ',')) continue;
    TSR_TRY(tsr_cursor_expect(&cursor, '}'));
    break;
  }
  TSR_TRY(tsr_cursor_end(&cursor));
  for (int i = 0; i < KEY_COUNT; i++)
    if (!seen[i]) return tsr_fail(BROKEN_FILE, "header: key '%s' is missing", keys[i]);
  return NULL;
}

// ---- the whole header ----

// The start and end of the dictionary, from the first 12 bytes of a file (10 suffice for version
// 1).
static tsr_status read_prefix(const char *bytes, size_t length, size_t *out_start,
                              size_t *out_end) {
  for (size_t i = 0; i < sizeof magic - 1; i++)
    if (i >= length || bytes[i] != magic[i])
      return tsr_fail(BROKEN_FILE, "byte %zu is not that of a .npy file", i);
  if (length < PREFIX_BYTES) return tsr_fail(BROKEN_FILE, "the file ends at byte %zu", length);
  const int major = (unsigned char)bytes[6], minor = (unsigned char)bytes[7];
  if (major < 1 || major > 3 || minor)
    return tsr_fail(UNSUPPORTED, "version %d.%d at byte 6, wanted 1.0, 2.0 or 3.0", major, minor);
  const size_t length_bytes = major == 1 ? 2 : 4, start = PREFIX_BYTES + length_bytes;
  if (length < start) return tsr_fail(BROKEN_FILE, "the file ends at byte %zu", length);
  uint32_t text_length = 0;
  for (size_t i = length_bytes; i-- > 0;)
    text_length = text_length << 8 | (unsigned char)bytes[PREFIX_BYTES + i];
  if (text_length > TSR_NPY_LONGEST)
    return tsr_fail(BROKEN_FILE, "the header's length at byte 8 is %lu, at most %d are allowed",
                    (unsigned long)text_length, TSR_NPY_LONGEST);
  *out_start = start;
  *out_end = start + text_length;
  return NULL;
}

tsr_status tsr_npy_parse(const char *bytes, size_t length, tsr_npy *out_npy) {
  size_t start = 0, end = 0;
  TSR_TRY(read_prefix(bytes, length, &start, &end));
  if (end > length)
    return tsr_fail(BROKEN_FILE, "the header ends at byte %zu, but there are %zu bytes", end,
                    length);
  char text[TSR_NPY_LONGEST + 1];
  memcpy(text, bytes + start, end - start);
  text[end - start] = '\0';
  const size_t nul = strlen(text);
  if (nul < end - start) return tsr_fail(BROKEN_FILE, "byte %zu is zero", start + nul);
  tsr_npy npy = {0};
  TSR_TRY(read_dictionary(text, start, &npy));
  int64_t count = 0, size = 0;
  TSR_TRY(tsr_shape_count(&npy.shape, &count));
  npy.begin = (int64_t)end;
  if (__builtin_mul_overflow(count, (int64_t)npy.width, &size) ||
      __builtin_add_overflow(size, npy.begin, &npy.end))
    return tsr_fail(OVERFLOW, "%lld elements of %d bytes take more than 2^63-1 bytes",
                    (long long)count, npy.width);
  *out_npy = npy;
  return NULL;
}

tsr_status tsr_npy_set_dtype(tsr_npy *npy, tsr_dtype dtype) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  if (!info) return tsr_fail(BAD_ARGUMENT, "element type %d does not exist", (int)dtype);
  if (npy->dtype)
    return tsr_fail(BAD_ARGUMENT, "the file records its elements as %s",
                    tsr_dtype_info_of(npy->dtype)->name);
  if (info->bits != 8 * npy->width)
    return tsr_fail(BAD_ARGUMENT, "elements of %d bits cannot be %s, which has %d", 8 * npy->width,
                    info->name, info->bits);
  npy->dtype = dtype;
  return NULL;
}

void tsr_npy_strides(const tsr_npy *npy, int64_t out_strides[TSR_MAX_RANK]) {
  const int rank = npy->shape.rank;
  int64_t stride = 1;
  for (int i = 0; i < rank; i++) {
    const int d = npy->fortran ? i : rank - 1 - i;
    out_strides[d] = stride;
    stride *= npy->shape.dims[d];
  }
}

// ---- writing ----

tsr_status tsr_npy_header(tsr_dtype dtype, const tsr_shape *shape, bool fortran, char **out_bytes,
                          size_t *out_length) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  if (!info) return tsr_fail(BAD_ARGUMENT, "element type %d does not exist", (int)dtype);
  if (info->bits < 8)
    return tsr_fail(UNSUPPORTED, "elements of %s share bytes, which .npy files cannot store",
                    info->name);
  TSR_TRY(tsr_shape_check(shape));
  // As numpy.save: an array that is dense both ways counts as C order.
  int long_dims = 0;
  bool empty = false;
  for (int i = 0; i < shape->rank; i++) {
    long_dims += shape->dims[i] > 1;
    empty |= shape->dims[i] == 0;
  }
  fortran = fortran && long_dims > 1 && !empty;
  char descr[16];
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add_bytes(&text, "\x93NUMPY\1\0\0\0", 10);
  tsr_text_addf(&text, "{'descr': '%s', 'fortran_order': %s, 'shape': ", descr_of(dtype, descr),
                fortran ? "True" : "False");
  tsr_shape_print(shape, &text);
  tsr_text_add(&text, ", }");
  // NumPy reserves space for the size along which an array may grow.
  if (shape->rank) {
    char digits[24];
    const int used = snprintf(digits, sizeof digits, "%lld",
                              (long long)shape->dims[fortran ? shape->rank - 1 : 0]);
    tsr_text_addf(&text, "%*s", GROWTH_DIGITS - used, "");
  }
  // At least one byte of padding, then a newline.
  do tsr_text_add_char(&text, ' ');
  while (!text.failed && text.length % ALIGNMENT != ALIGNMENT - 1);
  tsr_text_add_char(&text, '\n');
  const size_t length = text.length;
  TSR_TRY(tsr_text_take(&text, out_bytes));
  (*out_bytes)[8] = (char)((length - 10) & 0xff);
  (*out_bytes)[9] = (char)((length - 10) >> 8);
  *out_length = length;
  return NULL;
}
