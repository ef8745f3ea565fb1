// Zip archives, as far as .npz files need them: members stored or deflated, also beyond 4 GB.
//
// Read strictly: the directory must end where the archive's last record begins, members must lie
// before it without overlapping, and every name must be the same in both places it stands.
#ifndef TESSERA_FILE_ZIP_H
#define TESSERA_FILE_ZIP_H

#include <stdint.h>

#include "base/arena.h"
#include "base/name_index.h"
#include "file/unpack.h"
#include "tessera/status.h"

// The four bytes that records of an archive begin with.
enum {
  TSR_ZIP_LOCAL = 0x04034b50,
  TSR_ZIP_ENTRY = 0x02014b50,
  TSR_ZIP_END = 0x06054b50,
  TSR_ZIP_END_64 = 0x06064b50,
  TSR_ZIP_LOCATOR = 0x07064b50,
};
enum { TSR_ZIP_LOCAL_BYTES = 30 };  // of a local header without its name

// The extra field of a directory entry that holds a note: 'Ts'.
enum { TSR_ZIP_NOTE = 0x7354 };

// Between the last member and the directory a record of any bytes may stand, the format's "archive
// extra data": this mark, their number in four bytes, and they. Who unpacks members passes over it.
enum { TSR_ZIP_RECORD = 0x08064b50, TSR_ZIP_RECORD_HEAD = 8, TSR_ZIP_MOST_RECORD = 1 << 28 };

typedef struct tsr_zip_member {
  const char *name;
  const char *note;  // that tsr_zip_plan_add was given; NULL = none
  bool deflated;
  uint32_t crc;
  int64_t packed, size;  // bytes in the archive, and unpacked
  int64_t header;        // where its local header begins
  int64_t begin;         // where its bytes begin
} tsr_zip_member;

typedef struct tsr_zip {
  int fd;
  const char *path;  // for messages; in the arena
  int64_t file_size, directory;
  const char *record;  // that tsr_zip_plan_end was given, in the arena; NULL = none
  size_t record_length;
  int64_t count, capacity;
  tsr_zip_member *members;
  tsr_name_index names;
  tsr_arena arena;
} tsr_zip;

// Reads the directory; `zip` must be deinitialised when this succeeds.
TSR_MUST_USE tsr_status tsr_zip_open(const char *path, tsr_zip *zip);
void tsr_zip_deinit(tsr_zip *zip);

// Unpacks a member's first `skip` bytes to `head` and those after it, `length` of them, to `rest`.
// When that is all of it, its checksum must be right.
TSR_MUST_USE tsr_status tsr_zip_read(const tsr_zip *zip, const tsr_zip_member *member, void *head,
                                     int64_t skip, void *rest, int64_t length);
// Reads all of it piece by piece, for its checksum only.
TSR_MUST_USE tsr_status tsr_zip_check(const tsr_zip *zip, const tsr_zip_member *member);
// Where the bytes of a deflated member lie.
tsr_packed tsr_zip_packed(const tsr_zip_member *member);

#endif
