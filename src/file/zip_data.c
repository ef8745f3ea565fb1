// The bytes of a zip archive's members: unpacked when read, stored when written, and held against
// their checksums.
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/io.h"
#include "file/replace.h"
#include "file/zip.h"
#include "tessera/text.h"

// zlib counts in 32 bits.
enum { MOST_AT_ONCE = 1 << 30, PIECE = 1 << 20 };

static uint32_t checksum(uint32_t crc, const void *bytes, int64_t length) {
  const unsigned char *at = bytes;
  for (int64_t left = length; left > 0;) {
    const uInt step = (uInt)(left < MOST_AT_ONCE ? left : MOST_AT_ONCE);
    crc = (uint32_t)crc32(crc, at, step);
    at += step;
    left -= step;
  }
  return crc;
}

// ---- reading ----

static tsr_status check_sum(const tsr_zip_member *member, uint32_t crc) {
  if (crc == member->crc) return NULL;
  return tsr_fail(BROKEN_FILE, "its checksum is %08lx, the directory says %08lx",
                  (unsigned long)crc, (unsigned long)member->crc);
}

static tsr_status read_deflated(const tsr_zip *zip, const tsr_zip_member *member, void *head,
                                int64_t skip, void *rest, int64_t length) {
  const tsr_packed stream = tsr_zip_packed(member);
  tsr_unpacker *unpacker = NULL;
  TSR_TRY(tsr_unpacker_create(&stream, &unpacker));
  tsr_status status = tsr_unpacker_read(unpacker, zip->fd, zip->path, head, skip, 0);
  if (!status) status = tsr_unpacker_read(unpacker, zip->fd, zip->path, rest, length, skip);
  tsr_unpacker_destroy(unpacker);
  return status;
}

tsr_packed tsr_zip_packed(const tsr_zip_member *member) {
  return (tsr_packed){member->begin, member->packed, member->size, member->crc};
}

tsr_status tsr_zip_read(const tsr_zip *zip, const tsr_zip_member *member, void *head, int64_t skip,
                        void *rest, int64_t length) {
  if (member->deflated) return read_deflated(zip, member, head, skip, rest, length);
  TSR_TRY(tsr_io_read(zip->fd, zip->path, head, skip, member->begin));
  TSR_TRY(tsr_io_read(zip->fd, zip->path, rest, length, member->begin + skip));
  if (skip + length < member->size) return NULL;
  return check_sum(member, checksum(checksum(0, head, skip), rest, length));
}

static tsr_status check_pieces(const tsr_zip *zip, const tsr_zip_member *member, char *piece) {
  const tsr_packed stream = tsr_zip_packed(member);
  tsr_unpacker *unpacker = NULL;
  uint32_t crc = 0;
  if (member->deflated) TSR_TRY(tsr_unpacker_create(&stream, &unpacker));
  tsr_status status = NULL;
  for (int64_t at = 0; at < member->size && !status; at += PIECE) {
    const int64_t some = member->size - at < PIECE ? member->size - at : PIECE;
    status = unpacker ? tsr_unpacker_read(unpacker, zip->fd, zip->path, piece, some, at)
                      : tsr_io_read(zip->fd, zip->path, piece, some, member->begin + at);
    if (!status) crc = checksum(crc, piece, some);
  }
  tsr_unpacker_destroy(unpacker);
  return status ? status : check_sum(member, crc);
}

tsr_status tsr_zip_check(const tsr_zip *zip, const tsr_zip_member *member) {
  char *piece = malloc(PIECE);
  tsr_status status =
      piece ? check_pieces(zip, member, piece) : tsr_fail(NO_MEMORY, "a piece of an archive");
  free(piece);
  return status;
}

// ---- writing ----

static void add_number(tsr_text *out, uint64_t value, int width) {
  for (int i = 0; i < width; i++) tsr_text_add_char(out, (char)(unsigned char)(value >> 8 * i));
}

static uint64_t or_ones(uint64_t value, bool is_64) { return is_64 ? 0xffffffff : value; }

// What a local header and a directory entry have in common: versions to sizes. The date is the
// first that zip knows, so that equal arrays make equal archives.
static void add_facts(tsr_text *out, bool is_64, const char *name, uint32_t crc, uint64_t size) {
  bool ascii = true;
  for (const char *c = name; *c; c++) ascii &= (signed char)*c > 0;
  add_number(out, is_64 ? 45 : 20, 2);
  add_number(out, ascii ? 0 : 1 << 11, 2);  // names are UTF-8
  add_number(out, 0, 2);                    // stored
  add_number(out, 0, 2);
  add_number(out, 0x21, 2);  // 1 January 1980
  add_number(out, crc, 4);
  add_number(out, or_ones(size, is_64), 4);
  add_number(out, or_ones(size, is_64), 4);
  add_number(out, strlen(name), 2);
}

static void add_local(tsr_text *out, bool is_64, const char *name, uint32_t crc, uint64_t size) {
  add_number(out, 0x04034b50, 4);
  add_facts(out, is_64, name, crc, size);
  add_number(out, is_64 ? 20 : 0, 2);
  tsr_text_add(out, name);
  if (!is_64) return;
  add_number(out, 1, 2);
  add_number(out, 16, 2);
  add_number(out, size, 8);
  add_number(out, size, 8);
}

static void add_entry(tsr_text *out, bool is_64, const char *name, uint32_t crc, uint64_t size,
                      uint64_t header) {
  add_number(out, 0x02014b50, 4);
  add_number(out, is_64 ? 45 : 20, 2);
  add_facts(out, is_64, name, crc, size);
  add_number(out, is_64 ? 28 : 0, 2);
  add_number(out, 0, 2);  // comment
  add_number(out, 0, 2);  // disk
  add_number(out, 0, 2);  // kinds of file
  add_number(out, 0, 4);
  add_number(out, or_ones(header, is_64), 4);
  tsr_text_add(out, name);
  if (!is_64) return;
  add_number(out, 1, 2);
  add_number(out, 24, 2);
  add_number(out, size, 8);
  add_number(out, size, 8);
  add_number(out, header, 8);
}

static tsr_status put(tsr_zip_writer *writer, const void *bytes, int64_t length) {
  TSR_TRY(tsr_replacement_write(writer->file, bytes, length, writer->at));
  writer->at += length;
  return NULL;
}

tsr_status tsr_zip_add(tsr_zip_writer *writer, const char *name, const void *head,
                       int64_t head_length, const void *rest, int64_t rest_length) {
  const int64_t size = head_length + rest_length, header = writer->at;
  const bool is_64 = writer->always_64 || size >= 0xffffffff || header >= 0xffffffff;
  const uint32_t crc = checksum(checksum(0, head, head_length), rest, rest_length);
  tsr_text local = TSR_TEXT_EMPTY;
  add_local(&local, is_64, name, crc, (uint64_t)size);
  tsr_status status = tsr_text_check(&local);
  if (!status) status = put(writer, local.data, (int64_t)local.length);
  tsr_text_deinit(&local);
  if (!status) status = put(writer, head, head_length);
  if (!status) status = put(writer, rest, rest_length);
  if (status) return status;
  add_entry(writer->directory, is_64, name, crc, (uint64_t)size, (uint64_t)header);
  writer->count++;
  return tsr_text_check(writer->directory);
}

static void add_end_64(tsr_text *out, uint64_t count, uint64_t size, uint64_t begin) {
  add_number(out, 0x06064b50, 4);
  add_number(out, 44, 8);  // bytes of it that follow
  add_number(out, 45, 2);
  add_number(out, 45, 2);
  add_number(out, 0, 8);  // disks
  add_number(out, count, 8);
  add_number(out, count, 8);
  add_number(out, size, 8);
  add_number(out, begin, 8);
  add_number(out, 0x07064b50, 4);
  add_number(out, 0, 4);
  add_number(out, begin + size, 8);
  add_number(out, 1, 4);
}

tsr_status tsr_zip_finish(tsr_zip_writer *writer) {
  tsr_text *out = writer->directory;
  const uint64_t count = (uint64_t)writer->count, begin = (uint64_t)writer->at, size = out->length;
  const bool is_64 =
      writer->always_64 || count >= 0xffff || begin >= 0xffffffff || size >= 0xffffffff;
  if (is_64) add_end_64(out, count, size, begin);
  add_number(out, 0x06054b50, 4);
  add_number(out, 0, 4);  // disks
  add_number(out, is_64 ? 0xffff : count, 2);
  add_number(out, is_64 ? 0xffff : count, 2);
  add_number(out, or_ones(size, is_64), 4);
  add_number(out, or_ones(begin, is_64), 4);
  add_number(out, 0, 2);  // comment
  TSR_TRY(tsr_text_check(out));
  return put(writer, out->data, (int64_t)out->length);
}
