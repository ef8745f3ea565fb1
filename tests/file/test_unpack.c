// A deflated stream read from any place on says what it says from the start.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "file/unpack.h"
#include "support/test.h"

enum { LEAD = 7 };

typedef struct packed_file {
  char path[64];
  int fd;
  tsr_packed stream;
} packed_file;

// Bytes that repeat with small changes: deflate makes many blocks of them, which do not end on
// bytes. They follow from their place, so that a long stream takes no memory.
static unsigned char plain_byte(int64_t at) {
  const uint64_t mixed = (uint64_t)(at / 16 + 1) * UINT64_C(0x9e3779b97f4a7c15);
  return (unsigned char)(at % 16 ? at / 16 % 7 : (int64_t)(mixed >> 56));
}

static void fill(unsigned char *out, int64_t length, int64_t offset) {
  for (int64_t i = 0; i < length; i++) out[i] = plain_byte(offset + i);
}

static void assert_plain(const unsigned char *bytes, int64_t length, int64_t offset) {
  for (int64_t i = 0; i < length; i++)
    if (bytes[i] != plain_byte(offset + i)) fail_msg("byte %lld", (long long)(offset + i));
}

static void deflate_into(packed_file *f, int64_t size, int level) {
  enum { STEP = 1 << 20 };
  unsigned char *plain = malloc(STEP), *packed = malloc(2 * STEP);
  z_stream z = {0};
  f->stream = (tsr_packed){.begin = LEAD, .size = size};
  assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  for (int64_t at = 0; at < size; at += STEP) {
    const int64_t some = size - at < STEP ? size - at : STEP;
    fill(plain, some, at);
    f->stream.crc = (uint32_t)crc32(f->stream.crc, plain, (uInt)some);
    z.next_in = plain;
    z.avail_in = (uInt)some;
    z.next_out = packed;
    z.avail_out = 2 * STEP;
    deflate(&z, at + some == size ? Z_FINISH : Z_NO_FLUSH);
    const size_t length = 2 * STEP - z.avail_out;
    assert_int_equal(pwrite(f->fd, packed, length, LEAD + f->stream.packed), length);
    f->stream.packed += (int64_t)length;
  }
  deflateEnd(&z);
  free(plain);
  free(packed);
}

static void make_file(packed_file *f, int64_t size, int level) {
  strcpy(f->path, "/tmp/tessera-unpack-XXXXXX");
  f->fd = mkstemp(f->path);
  assert_true(f->fd >= 0);
  deflate_into(f, size, level);
}

static void remove_file(packed_file *f) {
  close(f->fd);
  unlink(f->path);
}

static tsr_status read_at(tsr_unpacker *unpacker, const packed_file *f, unsigned char *out,
                          int64_t length, int64_t offset) {
  return tsr_unpacker_read(unpacker, f->fd, f->path, out, length, offset);
}

static void any_part_is_read_in_any_order(void **state) {
  (void)state;
  static const int64_t sizes[] = {1, 70000, 210 << 20};
  for (size_t s = 0; s < COUNT_OF(sizes); s++) {
    packed_file f;
    tsr_unpacker *unpacker = NULL;
    test_random random = {s};
    const int64_t size = sizes[s];
    make_file(&f, size, s == 2 ? 1 : 6);
    unsigned char *out = malloc(1 << 20);
    assert_non_null(out);
    assert_ok(tsr_unpacker_create(&f.stream, &unpacker));
    // Back from the end, so that more places are met than are kept; then to and fro.
    for (int turn = 0; turn < 20; turn++) {
      const int64_t most = size < 1 << 20 ? size : 1 << 20;
      const int64_t length = test_random_range(&random, 1, most);
      const int64_t offset = turn ? test_random_range(&random, 0, size - length) : size - length;
      assert_ok(read_at(unpacker, &f, out, length, offset));
      assert_plain(out, length, offset);
    }
    assert_ok(read_at(unpacker, &f, out, 0, 0));
    tsr_unpacker_destroy(unpacker);
    free(out);
    remove_file(&f);
  }
}

static void stored_blocks_are_read_too(void **state) {
  (void)state;
  packed_file f;
  tsr_unpacker *unpacker = NULL;
  make_file(&f, 20 << 20, 0);
  unsigned char *out = malloc(1000);
  assert_ok(tsr_unpacker_create(&f.stream, &unpacker));
  for (int64_t offset = (20 << 20) - 1000; offset >= 0; offset -= 3 << 20) {
    assert_ok(read_at(unpacker, &f, out, 1000, offset));
    assert_plain(out, 1000, offset);
  }
  tsr_unpacker_destroy(unpacker);
  free(out);
  remove_file(&f);
}

static void damage_is_told(void **state) {
  (void)state;
  enum { SIZE = 200000 };
  packed_file f;
  tsr_unpacker *unpacker = NULL;
  unsigned char *out = malloc(SIZE + 1);
  make_file(&f, SIZE, 6);
  // The checksum is told when the last byte has been seen, by whatever parts.
  tsr_packed stream = f.stream;
  stream.crc ^= 1;
  assert_ok(tsr_unpacker_create(&stream, &unpacker));
  for (int turn = 0; turn < 2; turn++) {
    assert_ok(read_at(unpacker, &f, out, SIZE / 2, 0));
    assert_ok(read_at(unpacker, &f, out, 10, 5));
    assert_fails_with(read_at(unpacker, &f, out, SIZE / 2, SIZE / 2), BROKEN_FILE,
                      "the directory says");
  }
  tsr_unpacker_destroy(unpacker);
  // Fewer packed bytes, and more unpacked ones, than there are.
  stream = f.stream;
  stream.packed -= 3;
  assert_ok(tsr_unpacker_create(&stream, &unpacker));
  assert_fails_with(read_at(unpacker, &f, out, SIZE, 0), BROKEN_FILE, "end too early");
  tsr_unpacker_destroy(unpacker);
  assert_ok(tsr_unpacker_create(&f.stream, &unpacker));
  assert_fails_with(read_at(unpacker, &f, out, SIZE + 1, 0), BROKEN_FILE, "end too early");
  assert_ok(read_at(unpacker, &f, out, SIZE, 0));
  assert_plain(out, SIZE, 0);
  tsr_unpacker_destroy(unpacker);
  // A block of a kind that does not exist.
  assert_int_equal(pwrite(f.fd, "\xff\xff\xff\xff", 4, LEAD), 4);
  assert_ok(tsr_unpacker_create(&f.stream, &unpacker));
  assert_fails_with(read_at(unpacker, &f, out, 10, 0), BROKEN_FILE, "are damaged");
  tsr_unpacker_destroy(unpacker);
  free(out);
  remove_file(&f);
}

static tsr_status read_back(void *context) {
  const packed_file *f = context;
  tsr_unpacker *unpacker = NULL;
  unsigned char out[16];
  TSR_TRY(tsr_unpacker_create(&f->stream, &unpacker));
  tsr_status status = read_at(unpacker, f, out, 16, f->stream.size - 16);
  if (!status) status = read_at(unpacker, f, out, 16, 100);
  if (!status) assert_plain(out, 16, 100);
  tsr_unpacker_destroy(unpacker);
  return status;
}

static void memory_may_be_out(void **state) {
  (void)state;
  packed_file f;
  make_file(&f, 70000, 6);
  test_allocation_sweep(read_back, &f);
  remove_file(&f);
}

SUITE(unpack, TEST(any_part_is_read_in_any_order), TEST(stored_blocks_are_read_too),
      TEST(damage_is_told), TEST(memory_may_be_out))
