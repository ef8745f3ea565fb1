// Zip archives for .npz files: members stored or deflated, also beyond 4 GB.
//
// Read strictly: the directory must end where the end records begin, members must be before it
// without overlapping, and the names in local headers and directory must agree.
#ifndef TESSERA_FILE_ZIP_H
#define TESSERA_FILE_ZIP_H

#include <stdint.h>

#include "base/arena.h"
#include "base/name_index.h"
#include "file/unpack.h"
#include "tessera/status.h"

// The first four bytes of the records of an archive.
enum {
  TSR_ZIP_LOCAL = 0x04034b50,
  TSR_ZIP_ENTRY = 0x02014b50,
  TSR_ZIP_END = 0x06054b50,
  TSR_ZIP_END_64 = 0x06064b50,
  TSR_ZIP_LOCATOR = 0x07064b50,
};
enum { TSR_ZIP_LOCAL_BYTES = 30 };  // of a local header without its name

// The id of the extra field with our note, in a directory entry: 'Ts'.
enum { TSR_ZIP_NOTE = 0x7354 };

// A record of any bytes may precede the directory, the format's "archive extra data": this mark,
// their number in four bytes, and the bytes. Other readers skip it.
enum { TSR_ZIP_RECORD = 0x08064b50, TSR_ZIP_RECORD_HEAD = 8, TSR_ZIP_MOST_RECORD = 1 << 28 };

typedef struct tsr_zip_member {
  const char *name;
  const char *note;  // given to tsr_zip_plan_add; NULL = none
  bool deflated;
  uint32_t crc;
  int64_t packed, size;  // bytes in the archive, and unpacked
  int64_t header;        // offset of its local header
  int64_t begin;         // offset of its bytes
} tsr_zip_member;

typedef struct tsr_zip {
  int fd;
  const char *path;  // for messages; in the arena
  int64_t file_size, directory;
  const char *record;  // given to tsr_zip_plan_end, in the arena; NULL = none
  size_t record_length;
  int64_t count, capacity;
  tsr_zip_member *members;
  tsr_name_index names;
  tsr_arena arena;
} tsr_zip;

// Reads the directory; deinitialise `zip` after success.
TSR_MUST_USE tsr_status tsr_zip_open(const char *path, tsr_zip *zip);
void tsr_zip_deinit(tsr_zip *zip);

// Unpacks a member's first `skip` bytes to `head` and the next `length` to `rest`. If that is all
// of it, its checksum is verified.
TSR_MUST_USE tsr_status tsr_zip_read(const tsr_zip *zip, const tsr_zip_member *member, void *head,
                                     int64_t skip, void *rest, int64_t length);
// Reads all of it, only to verify its checksum.
TSR_MUST_USE tsr_status tsr_zip_check(const tsr_zip *zip, const tsr_zip_member *member);
// The stream of a deflated member.
tsr_packed tsr_zip_packed(const tsr_zip_member *member);

#endif
