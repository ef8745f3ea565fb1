// Archives of arrays: ours, NumPy's, and damaged ones.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "element/shape_internal.h"
#include "file/npy_internal.h"
#include "file/npz.h"
#include "file/replace.h"
#include "file/zip.h"
#include "support/test.h"
#include "tessera/shape.h"
#include "tessera/text.h"

// numpy.savez_compressed(a=numpy.arange(6, dtype='>i2').reshape(2, 3)) of NumPy 2.4.
static const unsigned char compressed[] = {
    0x50, 0x4b, 0x03, 0x04, 0x2d, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x90,
    0xbc, 0xdd, 0xc2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x05, 0x00, 0x14, 0x00,
    0x61, 0x2e, 0x6e, 0x70, 0x79, 0x01, 0x00, 0x10, 0x00, 0x8c, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x52, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x9b, 0xec, 0x17, 0xea, 0x1b,
    0x10, 0xc9, 0xc8, 0x50, 0xc6, 0x50, 0xad, 0x9e, 0x92, 0x5a, 0x9c, 0x5c, 0xa4, 0x6e, 0xa5,
    0xa0, 0x6e, 0x97, 0x69, 0xa4, 0xae, 0xa3, 0xa0, 0x9e, 0x96, 0x5f, 0x54, 0x52, 0x94, 0x98,
    0x17, 0x9f, 0x5f, 0x94, 0x92, 0x0a, 0x12, 0x77, 0x4b, 0xcc, 0x29, 0x4e, 0x05, 0x8a, 0x17,
    0x67, 0x24, 0x16, 0xa4, 0x02, 0xf9, 0x1a, 0x46, 0x3a, 0x0a, 0xc6, 0x9a, 0x3a, 0x0a, 0xb5,
    0x0a, 0x64, 0x03, 0x2e, 0x06, 0x06, 0x06, 0x46, 0x06, 0x26, 0x06, 0x66, 0x06, 0x16, 0x06,
    0x56, 0x00, 0x50, 0x4b, 0x01, 0x02, 0x2d, 0x03, 0x2d, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00,
    0x00, 0x21, 0x00, 0x90, 0xbc, 0xdd, 0xc2, 0x52, 0x00, 0x00, 0x00, 0x8c, 0x00, 0x00, 0x00,
    0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x00,
    0x00, 0x00, 0x00, 0x61, 0x2e, 0x6e, 0x70, 0x79, 0x50, 0x4b, 0x05, 0x06, 0x00, 0x00, 0x00,
    0x00, 0x01, 0x00, 0x01, 0x00, 0x33, 0x00, 0x00, 0x00, 0x89, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static char path[64];

static int make_file(void **state) {
  (void)state;
  strcpy(path, "/tmp/tessera-npz-XXXXXX");
  const int fd = mkstemp(path);
  return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
  (void)state;
  return unlink(path);
}

static void put(const void *bytes, size_t length) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  fclose(file);
}

// The file as it is now; the caller frees it.
static unsigned char *take(size_t *out_length) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  unsigned char *bytes = malloc(1 << 16);
  assert_non_null(bytes);
  *out_length = fread(bytes, 1, 1 << 16, file);
  fclose(file);
  return bytes;
}

static const float values[] = {1, 2, 3, 4, 5, 6};
static const uint16_t halves[] = {0x3f80, 0x4000};

static tsr_status write_two(bool always_64) {
  const tsr_shape shape = {2, {2, 3}}, none = {2, {0, 7}}, two = {1, {2}};
  const tsr_npz_item items[] = {
      {tsr_tensor_of("x", TSR_F32, &shape), true, values},
      {tsr_tensor_of("n\xc3\xa9", TSR_BF16, &two), false, halves},
      {tsr_tensor_of("", TSR_I8, &none), false, NULL},
  };
  return tsr_npz_write(path, items, COUNT_OF(items), always_64);
}

static void archives_are_read_as_written(void **state) {
  (void)state;
  for (int always_64 = 0; always_64 < 2; always_64++) {
    assert_ok(write_two(always_64));
    tsr_npz *npz = NULL;
    assert_ok(tsr_npz_open(path, &npz));
    assert_int_equal(tsr_npz_count(npz), 3);
    assert_string_equal(tsr_npz_name(npz, 0), "x");
    assert_string_equal(tsr_npz_name(npz, 1), "n\xc3\xa9");
    assert_string_equal(tsr_npz_name(npz, 2), "");
    const tsr_npy *x = tsr_npz_array(npz, 0);
    assert_true(x->fortran && x->dtype == TSR_F32 && tsr_shape_equal(&x->shape, TSR_SHAPE(2, 3)));
    float found[6] = {0};
    assert_ok(tsr_npz_read(npz, 0, found, sizeof found));
    assert_memory_equal(found, values, sizeof values);
    assert_fails_with(tsr_npz_read(npz, 0, found, 23), BAD_ARGUMENT,
                      "member \"x.npy\": the buffer has 23 bytes, wanted at least 24");
    uint16_t found_halves[2] = {0};
    assert_ok(tsr_npz_read(npz, 1, found_halves, sizeof found_halves));
    assert_memory_equal(found_halves, halves, sizeof halves);
    assert_ok(tsr_npz_read(npz, 2, NULL, 0));
    // What NumPy forgets is noted; elements are aligned.
    assert_int_equal(tsr_npz_array(npz, 1)->dtype, TSR_BF16);
    for (int i = 0; i < 3; i++) {
      assert_int_equal(tsr_npz_array(npz, i)->begin % 64, 0);
      assert_ok(tsr_npz_check(npz, i));
    }
    // Stored arrays can be read from where they lie.
    assert_true(tsr_npz_is_stored(npz, 0));
    size_t length = 0;
    unsigned char *bytes = take(&length);
    assert_memory_equal(bytes + x->begin, values, (size_t)(x->end - x->begin));
    free(bytes);
    tsr_npz_destroy(npz);
  }
  tsr_npz_destroy(NULL);
}

static void deflated_arrays_are_unpacked(void **state) {
  (void)state;
  put(compressed, sizeof compressed);
  tsr_npz *npz = NULL;
  assert_ok(tsr_npz_open(path, &npz));
  assert_int_equal(tsr_npz_count(npz), 1);
  assert_false(tsr_npz_is_stored(npz, 0));
  int16_t found[6] = {0};
  assert_ok(tsr_npz_read(npz, 0, found, sizeof found));
  assert_memory_equal(found, ((int16_t[]){0, 1, 2, 3, 4, 5}), sizeof found);
  tsr_npz_destroy(npz);
}

static void an_archive_may_be_empty(void **state) {
  (void)state;
  assert_ok(tsr_npz_write(path, NULL, 0, false));
  tsr_npz *npz = NULL;
  assert_ok(tsr_npz_open(path, &npz));
  assert_int_equal(tsr_npz_count(npz), 0);
  tsr_npz_destroy(npz);
}

// Opens and reads everything; the first failure.
static tsr_status read_all(void) {
  tsr_npz *npz = NULL;
  TSR_TRY(tsr_npz_open(path, &npz));
  tsr_status status = NULL;
  for (int64_t i = 0; i < tsr_npz_count(npz) && !status; i++) {
    const tsr_npy *npy = tsr_npz_array(npz, i);
    unsigned char *out = malloc((size_t)(npy->end - npy->begin) + 1);
    status = out ? tsr_npz_read(npz, i, out, npy->end - npy->begin) : tsr_fail(NO_MEMORY, "array");
    free(out);
  }
  tsr_npz_destroy(npz);
  return status;
}

// A place of the archive, counted from where `mark` stands for the first time, gets another byte.
static const struct {
  const char *mark;
  int offset;
  unsigned char byte;
  tsr_cause cause;
  const char *message;
} damages[] = {
    {"PK\1\2", 0, 'x', TSR_CAUSE_BROKEN_FILE, "no entry of the directory at byte"},
    {"PK\1\2", 8, 1, TSR_CAUSE_UNSUPPORTED, "member \"x.npy\": it is encrypted"},
    {"PK\1\2", 10, 9, TSR_CAUSE_UNSUPPORTED, "it is packed by method 9"},
    {"PK\1\2", 16, 0x55, TSR_CAUSE_BROKEN_FILE, "its checksum is"},
    {"PK\1\2", 20, 1, TSR_CAUSE_BROKEN_FILE, "it is stored, but 152 bytes take 1"},
    {"PK\1\2", 28, 255, TSR_CAUSE_BROKEN_FILE, "runs out of the directory"},
    {"PK\1\2", 28, 4, TSR_CAUSE_BROKEN_FILE, "does not agree with the directory"},
    {"PK\1\2", 43, 200, TSR_CAUSE_BROKEN_FILE, "run into the directory"},
    {"PK\1\2", 42, 7, TSR_CAUSE_BROKEN_FILE, "no header of a member at byte 7"},
    {"PK\1\2", 46, 'z', TSR_CAUSE_BROKEN_FILE, "has another name"},
    {"PK\1\2", 48, 'z', TSR_CAUSE_BROKEN_FILE, "has another name"},
    {"PK\3\4", 0, 'x', TSR_CAUSE_BROKEN_FILE, "no header of a member at byte 0"},
    {"PK\3\4", 26, 9, TSR_CAUSE_BROKEN_FILE, "does not agree with the directory"},
    {"PK\5\6", 0, 'x', TSR_CAUSE_BROKEN_FILE, "there is no end record of a zip archive"},
    {"PK\5\6", 20, 1, TSR_CAUSE_BROKEN_FILE, "there is no end record of a zip archive"},
    {"PK\5\6", 10, 200, TSR_CAUSE_BROKEN_FILE, "cannot have"},
    {"PK\5\6", 10, 2, TSR_CAUSE_BROKEN_FILE, "the directory has bytes after its last entry"},
    {"PK\5\6", 16, 1, TSR_CAUSE_BROKEN_FILE, "does not end at byte"},
    {"NUMPY", 0, 'n', TSR_CAUSE_BROKEN_FILE, "its checksum is"},
};

static unsigned char *find(unsigned char *bytes, size_t length, const char *mark) {
  unsigned char *at = memmem(bytes, length, mark, strlen(mark));
  assert_non_null(at);
  return at;
}

static void damaged_archives_are_refused(void **state) {
  (void)state;
  assert_ok(write_two(false));
  size_t length = 0;
  unsigned char *bytes = take(&length);
  for (size_t i = 0; i < COUNT_OF(damages); i++) {
    unsigned char *at = find(bytes, length, damages[i].mark) + damages[i].offset;
    const unsigned char before = *at;
    *at = damages[i].byte;
    put(bytes, length);
    test_assert_fails_with(read_all(), damages[i].cause, damages[i].message, __FILE__, __LINE__);
    *at = before;
  }
  free(bytes);
}

static void damaged_long_numbers_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *mark;
    int offset;
    unsigned char byte;
    const char *message;
  } cases[] = {
      {"PK\6\7", 0, 'x', "no zip64 locator at byte"},
      {"PK\6\7", 15, 1, "the zip64 end record is after its locator"},
      {"PK\6\6", 0, 'x', "no zip64 end record at byte"},
      {"PK\6\6", 40, 0, "does not end at byte"},
      {"PK\6\6", 55, 255, "does not end at byte"},
      {"PK\1\2", 46 + 5, 2, "its zip64 field is missing"},
      {"PK\1\2", 46 + 7, 8, "its zip64 field is too short"},
      {"PK\1\2", 46 + 9 + 7, 255, "it is stored, but"},
      {"PK\1\2", 46 + 9 + 23, 255, "run into the directory"},
  };
  assert_ok(write_two(true));
  size_t length = 0;
  unsigned char *bytes = take(&length);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    unsigned char *at = find(bytes, length, cases[i].mark) + cases[i].offset;
    const unsigned char before = *at;
    *at = cases[i].byte;
    put(bytes, length);
    assert_fails_with(read_all(), BROKEN_FILE, cases[i].message);
    *at = before;
  }
  free(bytes);
}

// Every byte of a compressed archive, changed in turn, is noticed or harmless; none is believed.
static void damage_anywhere_is_survived(void **state) {
  (void)state;
  unsigned char bytes[sizeof compressed];
  int refused = 0;
  for (size_t i = 0; i < sizeof bytes; i++) {
    memcpy(bytes, compressed, sizeof bytes);
    bytes[i] ^= 0x41;
    put(bytes, sizeof bytes);
    tsr_status status = read_all();
    refused += status != NULL;
    tsr_status_free(status);
  }
  // Dates, versions and the like may be anything.
  assert_true(refused > (int)sizeof bytes / 2);
  for (size_t length = 0; length < sizeof bytes; length++) {
    put(compressed, length);
    assert_fails_with(read_all(), BROKEN_FILE, path);
  }
}

static void members_that_overlap_are_refused(void **state) {
  (void)state;
  assert_ok(write_two(false));
  size_t length = 0;
  unsigned char *bytes = take(&length);
  // The first member is said to be so long that the second starts within it.
  unsigned char *entry = find(bytes, length, "PK\1\2");
  entry[20] = entry[24] = 0xff;
  put(bytes, length);
  assert_fails_with(read_all(), BROKEN_FILE,
                    "members \"x.npy\" and \"n\xc3\xa9.npy\" overlap at byte 216");
  free(bytes);
}

// Writes an archive with one member, whatever it is.
static void put_member(const char *name, const void *head, int64_t head_length, int64_t rest) {
  static const char zeros[64];
  tsr_zip_plan plan = {0};
  tsr_replacement file;
  int64_t begin = 0;
  assert_ok(tsr_replacement_begin(&file, path));
  tsr_status status = tsr_zip_plan_add(&plan, name, NULL, head, head_length, rest, &begin);
  if (!status) status = tsr_zip_plan_end(&plan, NULL, 0);
  if (!status) status = tsr_replacement_write(&file, zeros, rest, begin);
  if (!status) tsr_zip_plan_set_crc(&plan, 0, tsr_zip_crc(0, zeros, rest));
  if (!status) status = tsr_zip_plan_write(&plan, file.fd, path);
  assert_ok(tsr_replacement_end(&file, status));
  tsr_zip_plan_deinit(&plan);
}

static void members_are_whole_arrays(void **state) {
  (void)state;
  char *header = NULL;
  size_t length = 0;
  assert_ok(tsr_npy_header(TSR_F32, TSR_SHAPE(2, 3), false, &header, &length));
  put_member("a.npy", header, (int64_t)length, 24);
  assert_ok(read_all());
  put_member("a.npy", header, (int64_t)length, 20);
  assert_fails_with(read_all(), BROKEN_FILE, "member \"a.npy\": its array ends at byte 152 of 148");
  put_member("a.npy", header, (int64_t)length, 25);
  assert_fails_with(read_all(), BROKEN_FILE, "its array ends at byte 152 of 153");
  put_member("a.txt", header, (int64_t)length, 24);
  assert_fails_with(read_all(), UNSUPPORTED, "member \"a.txt\": its name does not end with .npy");
  put_member("b.npy", "NUMPY", 5, 24);
  assert_fails_with(read_all(), BROKEN_FILE, "byte 0 is not that of a .npy file");
  free(header);
}

static void names_are_checked_when_written(void **state) {
  (void)state;
  const tsr_shape shape = {1, {2}};
  const tsr_npz_item twice[] = {{tsr_tensor_of("a", TSR_BF16, &shape), false, halves},
                                {tsr_tensor_of("a", TSR_BF16, &shape), false, halves}};
  assert_fails_with(tsr_npz_write(path, twice, 2, false), BAD_ARGUMENT,
                    "array \"a\" is given twice");
  const tsr_npz_item odd = {tsr_tensor_of("\xff", TSR_BF16, &shape), false, halves};
  assert_fails_with(tsr_npz_write(path, &odd, 1, false), BAD_ARGUMENT, "is not UTF-8");
  static const char *const outside[] = {"/a", "../a", "b/../a"};
  for (size_t i = 0; i < COUNT_OF(outside); i++) {
    const tsr_npz_item item = {tsr_tensor_of(outside[i], TSR_BF16, &shape), false, halves};
    assert_fails_with(tsr_npz_write(path, &item, 1, false), BAD_ARGUMENT, "would leave the folder");
  }
  const tsr_npz_item dots = {tsr_tensor_of("..a/.../b..", TSR_BF16, &shape), false, halves};
  assert_ok(tsr_npz_write(path, &dots, 1, false));
  const tsr_npz_item narrow = {tsr_tensor_of("a", TSR_U4, &shape), false, halves};
  assert_fails_with(tsr_npz_write(path, &narrow, 1, false), UNSUPPORTED,
                    "array \"a\": elements of u4");
}

static tsr_status write_and_read(void *context) {
  (void)context;
  TSR_TRY(write_two(true));
  return read_all();
}

static void archives_survive_failing_allocations(void **state) {
  (void)state;
  test_allocation_sweep(write_and_read, NULL);
}

#define WITH_FILE(function) cmocka_unit_test_setup_teardown(function, make_file, remove_file)

SUITE(npz, WITH_FILE(archives_are_read_as_written), WITH_FILE(deflated_arrays_are_unpacked),
      WITH_FILE(an_archive_may_be_empty), WITH_FILE(damaged_archives_are_refused),
      WITH_FILE(damaged_long_numbers_are_refused), WITH_FILE(damage_anywhere_is_survived),
      WITH_FILE(members_that_overlap_are_refused), WITH_FILE(members_are_whole_arrays),
      WITH_FILE(names_are_checked_when_written), WITH_FILE(archives_survive_failing_allocations))
