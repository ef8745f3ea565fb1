// The bytes of a zip archive's members, unpacked and verified by their checksums.
#include <stdlib.h>

#include "base/io.h"
#include "file/zip.h"
#include "file/zip_plan.h"

enum { PIECE = 1 << 20 };

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
  const tsr_packed stream = tsr_zip_packed(member);
  return tsr_packed_check(&stream, tsr_zip_crc(tsr_zip_crc(0, head, skip), rest, length));
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
    if (!status) crc = tsr_zip_crc(crc, piece, some);
  }
  tsr_unpacker_destroy(unpacker);
  return status ? status : tsr_packed_check(&stream, crc);
}

tsr_status tsr_zip_check(const tsr_zip *zip, const tsr_zip_member *member) {
  char *piece = malloc(PIECE);
  tsr_status status =
      piece ? check_pieces(zip, member, piece) : tsr_fail(NO_MEMORY, "a piece of an archive");
  free(piece);
  return status;
}
