// Arrays in NumPy's files: headers as numpy.save of NumPy 2.4 writes them, and what is no header.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "element/shape_internal.h"
#include "file/npy_internal.h"
#include "support/test.h"
#include "tessera/dtype.h"
#include "tessera/shape.h"

// A header of version 1.0 with this dictionary.
static size_t make_header(const char *dictionary, char *out) {
  const size_t length = strlen(dictionary);
  memcpy(out, "\x93NUMPY\1\0", 8);
  out[8] = (char)(length & 0xff);
  out[9] = (char)(length >> 8);
  memcpy(out + 10, dictionary, length);
  return 10 + length;
}

static tsr_status parse(const char *dictionary, tsr_npy *out_npy) {
  char bytes[1024];
  const size_t length = make_header(dictionary, bytes);
  return tsr_npy_parse(bytes, length, out_npy);
}

static const struct {
  const char *descr;
  tsr_dtype dtype;
  int width;
  bool swapped;  // on a machine of little endians
} types[] = {
    {"|b1", TSR_BOOL, 1, false},       {"|i1", TSR_I8, 1, false},
    {"|u1", TSR_U8, 1, false},         {"<i2", TSR_I16, 2, false},
    {">i4", TSR_I32, 4, true},         {"<i8", TSR_I64, 8, false},
    {"<u2", TSR_U16, 2, false},        {"<u4", TSR_U32, 4, false},
    {">u8", TSR_U64, 8, true},         {"<f2", TSR_F16, 2, false},
    {"<f4", TSR_F32, 4, false},        {">f8", TSR_F64, 8, true},
    {"<c8", TSR_C64, 8, false},        {">c16", TSR_C128, 16, true},
    {"<f1", TSR_F8E5M2, 1, false},     {"<V2", TSR_DTYPE_NONE, 2, false},
    {"|V2", TSR_DTYPE_NONE, 2, false}, {"<V1", TSR_DTYPE_NONE, 1, false},
};

static void descr_tells_type_and_byte_order(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(types); i++) {
    char text[128];
    snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (2, 3), }\n",
             types[i].descr);
    tsr_npy npy;
    assert_ok(parse(text, &npy));
    assert_int_equal(npy.dtype, types[i].dtype);
    assert_int_equal(npy.width, types[i].width);
    assert_int_equal(npy.swapped, types[i].swapped);
    assert_int_equal(npy.begin, 10 + (int64_t)strlen(text));
    assert_int_equal(npy.end - npy.begin, 6 * types[i].width);
  }
}

static void keys_come_in_any_order(void **state) {
  (void)state;
  tsr_npy npy;
  assert_ok(parse(" {\"shape\": (7L,), 'fortran_order':True,'descr' : \"<f4\"}", &npy));
  assert_int_equal(npy.shape.rank, 1);
  assert_int_equal(npy.shape.dims[0], 7);
  assert_true(npy.fortran);
  assert_ok(parse("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", &npy));
  assert_int_equal(npy.shape.rank, 0);
  assert_int_equal(npy.end - npy.begin, 4);
  assert_ok(parse("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 5,), }", &npy));
  assert_int_equal(npy.end, npy.begin);
}

static const struct {
  const char *dictionary;
  tsr_cause cause;
  const char *message;
} refused[] = {
    {"", TSR_CAUSE_SYNTAX, "header: column 1 (byte 10): expected \"{\", found the end"},
    {"{'descr': '<f4', 'fortran_order': False}", TSR_CAUSE_BROKEN_FILE, "key 'shape' is missing"},
    {"{'descr': '<f4', 'descr': '<f4'}", TSR_CAUSE_BROKEN_FILE,
     "header: column 18 (byte 27): key 'descr' occurs twice"},
    {"{'order': 1}", TSR_CAUSE_BROKEN_FILE,
     "key 'order' is not one of descr, fortran_order, shape"},
    {"{'descr' '<f4'}", TSR_CAUSE_SYNTAX,
     "header: column 10 (byte 19): expected \":\", found \"'\""},
    {"{descr: '<f4'}", TSR_CAUSE_SYNTAX,
     "header: column 2 (byte 11): expected a string, found \"descr\""},
    {"{'des\\x63r': '<f4'}", TSR_CAUSE_SYNTAX,
     "header: column 2 (byte 11): expected a short string without escapes, found \"'\""},
    {"{'descr", TSR_CAUSE_SYNTAX,
     "header: column 2 (byte 11): expected a short string without escapes, found \"'\""},
    {"{'descr': '<f4' 'shape': (1,)}", TSR_CAUSE_SYNTAX,
     "header: column 17 (byte 26): expected \"}\", found \"'\""},
    {"{'descr': '<f4'} x", TSR_CAUSE_SYNTAX,
     "header: column 18 (byte 27): expected the end, found \"x\""},
    {"{'fortran_order': 1}", TSR_CAUSE_SYNTAX,
     "header: column 19 (byte 28): expected True or False, found \"1\""},
    {"{'shape': [1]}", TSR_CAUSE_SYNTAX,
     "header: column 11 (byte 20): expected \"(\", found \"[\""},
    {"{'shape': (1)}", TSR_CAUSE_SYNTAX,
     "header: column 13 (byte 22): expected \",\" after the only size of a tuple, found \")\""},
    {"{'shape': (1 2)}", TSR_CAUSE_SYNTAX,
     "header: column 14 (byte 23): expected \",\" after the only size of a tuple, found \"2\""},
    {"{'shape': (1, 2 3)}", TSR_CAUSE_SYNTAX,
     "header: column 17 (byte 26): expected \")\", found \"3\""},
    {"{'shape': (x,)}", TSR_CAUSE_SYNTAX,
     "header: column 12 (byte 21): expected an integer, found \"x\""},
    {"{'shape': (99999999999999999999,)}", TSR_CAUSE_SYNTAX, "an integer of 64 bits"},
    {"{'shape': (-1,)}", TSR_CAUSE_BAD_ARGUMENT,
     "header: column 11 (byte 20): dimension 0 has size -1, wanted 0 or more"},
    {"{'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}",
     TSR_CAUSE_TOO_LARGE, "more than 32 dimensions"},
    {"{'descr': [('a', '<f4')]}", TSR_CAUSE_UNSUPPORTED,
     "header: column 11 (byte 20): elements with several fields are not supported"},
    {"{'descr': '<U5'}", TSR_CAUSE_UNSUPPORTED,
     "descr '<U5' is not a type of numbers, wanted one such as '<f4'"},
    {"{'descr': '|O'}", TSR_CAUSE_UNSUPPORTED, "descr '|O' is not a type"},
    {"{'descr': '<f16'}", TSR_CAUSE_UNSUPPORTED, "descr '<f16' is not a type"},
    {"{'descr': '=f4'}", TSR_CAUSE_UNSUPPORTED, "descr '=f4' is not a type"},
    {"{'descr': '|f4'}", TSR_CAUSE_UNSUPPORTED, "descr '|f4' is not a type"},
    {"{'descr': '<V3'}", TSR_CAUSE_UNSUPPORTED, "descr '<V3' is not a type"},
    {"{'descr': '<M8[ns]'}", TSR_CAUSE_UNSUPPORTED, "descr '<M8[ns]' is not a type"},
    {"{'descr': ''}", TSR_CAUSE_UNSUPPORTED, "descr '' is not a type"},
    {"{'descr': '<'}", TSR_CAUSE_UNSUPPORTED, "descr '<' is not a type"},
    {"{'descr': '<c16', 'fortran_order': False, 'shape': (4611686018427387904,)}",
     TSR_CAUSE_OVERFLOW, "take more than 2^63-1 bytes"},
};

static void damaged_headers_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(refused); i++) {
    tsr_npy npy;
    test_assert_fails_with(parse(refused[i].dictionary, &npy), refused[i].cause, refused[i].message,
                           __FILE__, __LINE__);
  }
}

static void damaged_beginnings_are_refused(void **state) {
  (void)state;
  char bytes[128] = {0};
  const size_t length =
      make_header("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", bytes);
  tsr_npy npy;
  for (size_t cut = 0; cut < length; cut++)
    assert_fails_with(tsr_npy_parse(bytes, cut, &npy), BROKEN_FILE, "byte");
  bytes[6] = 4;
  assert_fails(tsr_npy_parse(bytes, length, &npy), UNSUPPORTED,
               "version 4.0 at byte 6, wanted 1.0, 2.0 or 3.0");
  bytes[6] = 1;
  bytes[12] = 0;
  assert_fails(tsr_npy_parse(bytes, length, &npy), BROKEN_FILE, "byte 12 is zero");
  bytes[3] = 'x';
  assert_fails(tsr_npy_parse(bytes, length, &npy), BROKEN_FILE,
               "byte 3 is not that of a .npy file");
  const char endless[] = "\x93NUMPY\2\0\xff\xff\xff\xff{}";
  assert_fails(tsr_npy_parse(endless, sizeof endless - 1, &npy), BROKEN_FILE,
               "the header's length at byte 8 is 4294967295, at most 10000 are allowed");
}

static void later_versions_have_longer_lengths(void **state) {
  (void)state;
  const char text[] = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }\n";
  for (char version = 2; version <= 3; version++) {
    char bytes[128];
    memcpy(bytes, "\x93NUMPY", 6);
    memcpy(bytes + 6, (char[]){version, 0, (char)(sizeof text - 1), 0, 0, 0}, 6);
    memcpy(bytes + 12, text, sizeof text - 1);
    tsr_npy npy;
    assert_ok(tsr_npy_parse(bytes, 12 + sizeof text - 1, &npy));
    assert_int_equal(npy.begin, 12 + sizeof text - 1);
    assert_int_equal(npy.dtype, TSR_F64);
  }
}

static const struct {
  tsr_dtype dtype;
  tsr_shape shape;
  bool fortran;
  const char *dictionary;  // without its padding
  size_t length;
} written[] = {
    {TSR_F32,
     {2, {2, 3}},
     false,
     "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
     128},
    {TSR_F32, {0, {0}}, false, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 128},
    {TSR_BOOL, {1, {0}}, false, "{'descr': '|b1', 'fortran_order': False, 'shape': (0,), }", 128},
    {TSR_F64, {2, {2, 3}}, true, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", 128},
    {TSR_F64,
     {2, {3, 1}},
     true,
     "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 1), }",
     128},
    {TSR_F64,
     {2, {2, 0}},
     true,
     "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 0), }",
     128},
    {TSR_BF16, {1, {5}}, false, "{'descr': '<V2', 'fortran_order': False, 'shape': (5,), }", 128},
    {TSR_F8E5M2, {1, {5}}, false, "{'descr': '<f1', 'fortran_order': False, 'shape': (5,), }", 128},
    {TSR_F8E4M3FN,
     {1, {5}},
     false,
     "{'descr': '<V1', 'fortran_order': False, 'shape': (5,), }",
     128},
    {TSR_C128, {1, {5}}, false, "{'descr': '<c16', 'fortran_order': False, 'shape': (5,), }", 128},
    {TSR_U8,
     {12, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1234567890123}},
     false,
     "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
     "1234567890123), }",
     192},
};

static void headers_are_numpys_own(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(written); i++) {
    char *bytes = NULL;
    size_t length = 0;
    assert_ok(
        tsr_npy_header(written[i].dtype, &written[i].shape, written[i].fortran, &bytes, &length));
    assert_int_equal(length, written[i].length);
    char wanted[256];
    memset(wanted, ' ', sizeof wanted);
    make_header(written[i].dictionary, wanted);
    wanted[8] = (char)(unsigned char)(length - 10);
    wanted[length - 1] = '\n';
    assert_memory_equal(bytes, wanted, length);
    tsr_npy npy;
    assert_ok(tsr_npy_parse(bytes, length, &npy));
    assert_true(tsr_shape_equal(&npy.shape, &written[i].shape));
    free(bytes);
  }
}

static void what_numpy_cannot_say_is_not_written(void **state) {
  (void)state;
  char *bytes = NULL;
  size_t length = 0;
  assert_fails(tsr_npy_header(TSR_I4, TSR_SHAPE(2), false, &bytes, &length), UNSUPPORTED,
               "elements of i4 share bytes, which .npy files cannot store");
  assert_fails(tsr_npy_header(TSR_DTYPE_NONE, TSR_SHAPE(2), false, &bytes, &length), BAD_ARGUMENT,
               "element type 0 does not exist");
  assert_fails_with(tsr_npy_header(TSR_F32, TSR_SHAPE(-2), false, &bytes, &length), BAD_ARGUMENT,
                    "-2");
  assert_null(bytes);
}

static void forgotten_types_are_told(void **state) {
  (void)state;
  tsr_npy npy;
  assert_ok(parse("{'descr': '<V2', 'fortran_order': False, 'shape': (3,), }", &npy));
  assert_fails(tsr_npy_set_dtype(&npy, TSR_F8E4M3FN), BAD_ARGUMENT,
               "elements of 16 bits cannot be f8e4m3fn, which has 8");
  assert_fails(tsr_npy_set_dtype(&npy, TSR_DTYPE_COUNT), BAD_ARGUMENT,
               "element type 31 does not exist");
  assert_ok(tsr_npy_set_dtype(&npy, TSR_BF16));
  assert_int_equal(npy.dtype, TSR_BF16);
  assert_fails(tsr_npy_set_dtype(&npy, TSR_F16), BAD_ARGUMENT,
               "the file records its elements as bf16");
}

static void strides_follow_the_order_of_the_data(void **state) {
  (void)state;
  tsr_npy npy = {.shape = {3, {2, 3, 5}}};
  int64_t strides[TSR_MAX_RANK];
  tsr_npy_strides(&npy, strides);
  assert_memory_equal(strides, ((int64_t[]){15, 5, 1}), 3 * sizeof *strides);
  npy.fortran = true;
  tsr_npy_strides(&npy, strides);
  assert_memory_equal(strides, ((int64_t[]){1, 2, 6}), 3 * sizeof *strides);
}

// ---- files ----

static char path[64];

static int make_file(void **state) {
  (void)state;
  strcpy(path, "/tmp/tessera-npy-XXXXXX");
  const int fd = mkstemp(path);
  return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
  (void)state;
  return unlink(path);
}

static void put(const char *dictionary, const void *data, size_t data_length) {
  char bytes[512];
  const size_t length = make_header(dictionary, bytes);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fwrite(data, 1, data_length, file), data_length);
  fclose(file);
}

static void files_are_read_as_written(void **state) {
  (void)state;
  const float values[] = {1, 2, 3, 4, 5, 6};
  assert_ok(tsr_npy_write(path, TSR_F32, TSR_SHAPE(2, 3), false, values));
  tsr_npy npy;
  assert_ok(tsr_npy_open(path, &npy));
  assert_true(tsr_shape_equal(&npy.shape, TSR_SHAPE(2, 3)));
  assert_int_equal(npy.begin, 128);
  float found[6] = {0};
  assert_ok(tsr_npy_read(path, &npy, 0, 6, found, sizeof found));
  assert_memory_equal(found, values, sizeof values);
  assert_ok(tsr_npy_read(path, &npy, 4, 2, found, sizeof found));
  assert_true(found[0] == 5 && found[1] == 6);
  assert_ok(tsr_npy_read(path, &npy, 6, 0, found, sizeof found));
  assert_fails_with(tsr_npy_read(path, &npy, 5, 2, found, sizeof found), BAD_ARGUMENT,
                    "2 elements from number 5 on, but there are 6");
  assert_fails_with(tsr_npy_read(path, &npy, 0, 6, found, 23), BAD_ARGUMENT,
                    "the buffer has 23 bytes, wanted at least 24");
  assert_fails_with(tsr_npy_write(path, TSR_I4, TSR_SHAPE(2, 3), false, values), UNSUPPORTED,
                    "elements of i4 share bytes");
  assert_fails_with(tsr_npy_write("/nowhere/x.npy", TSR_F32, TSR_SHAPE(6), false, values),
                    NOT_FOUND, "/nowhere/x.npy");
  assert_fails_with(tsr_npy_open("/nowhere/x.npy", &npy), NOT_FOUND, "/nowhere/x.npy");
}

static void big_endians_are_turned_round(void **state) {
  (void)state;
  tsr_npy npy;
  put("{'descr': '>i4', 'fortran_order': False, 'shape': (2,), }", "\0\0\1\2\xff\xff\xff\xfe", 8);
  int32_t integers[2] = {0};
  assert_ok(tsr_npy_open(path, &npy));
  assert_ok(tsr_npy_read(path, &npy, 0, 2, integers, sizeof integers));
  assert_true(integers[0] == 258 && integers[1] == -2);
  put("{'descr': '>c8', 'fortran_order': False, 'shape': (), }", "\x3f\x80\0\0\xc0\0\0\0", 8);
  float complex_parts[2] = {0};
  assert_ok(tsr_npy_open(path, &npy));
  assert_ok(tsr_npy_read(path, &npy, 0, 1, complex_parts, sizeof complex_parts));
  assert_true(complex_parts[0] == 1 && complex_parts[1] == -2);
}

static void sizes_of_files_must_agree(void **state) {
  (void)state;
  tsr_npy npy;
  put("{'descr': '<i2', 'fortran_order': False, 'shape': (2,)}", "abc", 3);
  assert_fails_with(tsr_npy_open(path, &npy), BROKEN_FILE,
                    "the file ends at byte 68, its array at byte 69");
  put("{'descr': '<i2', 'fortran_order': False, 'shape': (2,)}", "abcde", 5);
  assert_fails_with(tsr_npy_open(path, &npy), BROKEN_FILE,
                    "bytes 69 to 70 at the end belong to no array");
  put("{'descr': '<i2'}", "", 0);
  assert_fails_with(tsr_npy_open(path, &npy), BROKEN_FILE, path);
}

static tsr_status write_some(void *context) {
  (void)context;
  return tsr_npy_write(path, TSR_U8, TSR_SHAPE(3), false, "abc");
}

static void a_failed_write_leaves_the_file_as_it_was(void **state) {
  (void)state;
  assert_ok(tsr_npy_write(path, TSR_U8, TSR_SHAPE(2), false, "xy"));
  test_allocation_sweep(write_some, NULL);
  char found[3] = {0};
  tsr_npy npy;
  assert_ok(tsr_npy_open(path, &npy));
  assert_ok(tsr_npy_read(path, &npy, 0, 3, found, sizeof found));
  assert_memory_equal(found, "abc", 3);
}

#define WITH_FILE(function) cmocka_unit_test_setup_teardown(function, make_file, remove_file)

SUITE(npy, TEST(descr_tells_type_and_byte_order), TEST(keys_come_in_any_order),
      TEST(damaged_headers_are_refused), TEST(damaged_beginnings_are_refused),
      TEST(later_versions_have_longer_lengths), TEST(headers_are_numpys_own),
      TEST(what_numpy_cannot_say_is_not_written), TEST(forgotten_types_are_told),
      TEST(strides_follow_the_order_of_the_data), WITH_FILE(files_are_read_as_written),
      WITH_FILE(big_endians_are_turned_round), WITH_FILE(sizes_of_files_must_agree),
      WITH_FILE(a_failed_write_leaves_the_file_as_it_was))
