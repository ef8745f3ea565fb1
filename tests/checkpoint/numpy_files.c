#include "checkpoint/numpy_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "tessera/shape.h"
#include "tessera/text.h"

int64_t test_array_elements(const test_array *array) {
  int64_t count = 1;
  for (int d = 0; d < array->shape.rank; d++) count *= array->shape.dims[d];
  return count;
}

unsigned char test_array_byte(const test_array *array, int64_t element, int byte) {
  uint64_t seed = (uint64_t)element * 31 + (uint64_t)byte;
  for (const char *c = array->name; *c; c++) seed = seed * 131 + (unsigned char)*c;
  const uint64_t mixed = seed * UINT64_C(0x9e3779b97f4a7c15);
  // Half of them are the same, so that there is something to pack.
  return mixed >> 63 ? (unsigned char)(mixed >> 40) : 7;
}

static void add_header(tsr_text *out, const test_array *array) {
  tsr_text header = TSR_TEXT_EMPTY;
  tsr_text_addf(&header, "{'descr': '%s', 'fortran_order': %s, 'shape': ", array->descr,
                array->fortran ? "True" : "False");
  tsr_shape_print(&array->shape, &header);
  tsr_text_add(&header, ", }");
  while ((header.length + 11) % 64) tsr_text_add_char(&header, ' ');
  tsr_text_add_char(&header, '\n');
  tsr_text_add_bytes(out, "\x93NUMPY\1\0", 8);
  tsr_text_add_char(out, (char)(header.length & 255));
  tsr_text_add_char(out, (char)(header.length >> 8));
  tsr_text_add_bytes(out, header.data, header.length);
  tsr_text_deinit(&header);
}

// The row-major number of the element that is stored at `place`.
static int64_t element_at(const test_array *array, int64_t place) {
  int64_t element = 0, strides[TSR_MAX_RANK];
  if (!array->fortran) return place;
  tsr_shape_strides(&array->shape, strides);
  for (int d = 0; d < array->shape.rank; d++) {
    element += place % array->shape.dims[d] * strides[d];
    place /= array->shape.dims[d];
  }
  return element;
}

static void add_array(tsr_text *out, const test_array *array) {
  add_header(out, array);
  for (int64_t i = 0; i < test_array_elements(array); i++)
    for (int b = 0; b < array->width; b++) {
      const int turned = b / array->part * array->part + array->part - 1 - b % array->part;
      const int64_t element = element_at(array, i);
      tsr_text_add_char(out, (char)test_array_byte(array, element, array->big ? turned : b));
    }
  assert_ok(tsr_text_check(out));
}

static void put(const char *path, const tsr_text *text) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text->data, 1, text->length, file), text->length);
  assert_int_equal(fclose(file), 0);
}

void test_write_npy(const char *path, const test_array *array) {
  tsr_text text = TSR_TEXT_EMPTY;
  add_array(&text, array);
  put(path, &text);
  tsr_text_deinit(&text);
}

// ---- archives ----

static void add_number(tsr_text *out, uint64_t value, int width) {
  for (int i = 0; i < width; i++, value >>= 8) tsr_text_add_char(out, (char)(value & 255));
}

static void add_packed(tsr_text *out, const tsr_text *plain, bool deflated) {
  if (!deflated) {
    tsr_text_add_bytes(out, plain->data, plain->length);
    return;
  }
  z_stream z = {0};
  assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  const uLong most = deflateBound(&z, plain->length);
  unsigned char *packed = malloc(most);
  assert_non_null(packed);
  z.next_in = (unsigned char *)plain->data;
  z.avail_in = (uInt)plain->length;
  z.next_out = packed;
  z.avail_out = (uInt)most;
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  tsr_text_add_bytes(out, (const char *)packed, z.total_out);
  deflateEnd(&z);
  free(packed);
}

static void add_facts(tsr_text *out, const test_array *array, bool deflated, const tsr_text *plain,
                      size_t packed) {
  add_number(out, 20, 2);
  add_number(out, 1 << 11, 2);
  add_number(out, deflated ? 8 : 0, 2);
  add_number(out, 0, 4);  // when
  add_number(out, (uint64_t)crc32(0, (const unsigned char *)plain->data, (uInt)plain->length), 4);
  add_number(out, packed, 4);
  add_number(out, plain->length, 4);
  add_number(out, strlen(array->name) + 4, 2);
  add_number(out, 0, 2);
}

static void add_member(tsr_text *out, tsr_text *directory, const test_array *array, bool deflated) {
  tsr_text plain = TSR_TEXT_EMPTY, packed = TSR_TEXT_EMPTY;
  const size_t at = out->length;
  add_array(&plain, array);
  add_packed(&packed, &plain, deflated);
  add_number(out, 0x04034b50, 4);
  add_facts(out, array, deflated, &plain, packed.length);
  tsr_text_addf(out, "%s.npy", array->name);
  tsr_text_add_bytes(out, packed.data, packed.length);
  add_number(directory, 0x02014b50, 4);
  add_number(directory, 20, 2);
  add_facts(directory, array, deflated, &plain, packed.length);
  add_number(directory, 0, 10);
  add_number(directory, at, 4);
  tsr_text_addf(directory, "%s.npy", array->name);
  tsr_text_deinit(&plain);
  tsr_text_deinit(&packed);
}

void test_write_npz(const char *path, const test_array *arrays, int count, bool deflated) {
  tsr_text out = TSR_TEXT_EMPTY, directory = TSR_TEXT_EMPTY;
  for (int i = 0; i < count; i++) add_member(&out, &directory, &arrays[i], deflated);
  const size_t begin = out.length;
  tsr_text_add_bytes(&out, directory.data, directory.length);
  add_number(&out, 0x06054b50, 4);
  add_number(&out, 0, 4);
  add_number(&out, (uint64_t)count, 2);
  add_number(&out, (uint64_t)count, 2);
  add_number(&out, directory.length, 4);
  add_number(&out, begin, 4);
  add_number(&out, 0, 2);
  assert_ok(tsr_text_check(&out));
  put(path, &out);
  tsr_text_deinit(&out);
  tsr_text_deinit(&directory);
}
