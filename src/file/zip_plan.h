// A zip archive of stored members, laid out before their bytes are known: the offset of each
// member, and, once the checksums are known, all headers. So members may be written in any order,
// in pieces, and concurrently.
#ifndef TESSERA_FILE_ZIP_PLAN_H
#define TESSERA_FILE_ZIP_PLAN_H

#include <stdint.h>

#include "tessera/status.h"
#include "tessera/text.h"

typedef struct tsr_zip_planned {
  int64_t header;               // offset of its local header in the archive
  size_t text, length;          // that header and the member's head, in the plan's text
  size_t local_crc, entry_crc;  // offsets of its checksum in text and directory
  uint32_t head_crc;
  int64_t rest;  // bytes after the head
} tsr_zip_planned;

typedef struct tsr_zip_plan {
  bool always_64;  // 64-bit fields even if 32 bits suffice
  int64_t size;    // of the archive so far
  int64_t count, capacity;
  tsr_zip_planned *members;  // owned
  tsr_text text, record, directory;
} tsr_zip_plan;

// Elements are aligned to this if a member's head is, as NumPy's are.
enum { TSR_ZIP_ALIGNMENT = 64 };

// Adds a member of `head` and `rest` more bytes, and returns the offset of these in the archive.
// Our reader finds `note` in the directory; NULL = none.
TSR_MUST_USE tsr_status tsr_zip_plan_add(tsr_zip_plan *plan, const char *name, const char *note,
                                         const void *head, int64_t head_length, int64_t rest,
                                         int64_t *out_begin);
// Ends the directory; no member may follow. A record of `length` bytes precedes it, 0 = none.
TSR_MUST_USE tsr_status tsr_zip_plan_end(tsr_zip_plan *plan, const char *record, size_t length);
// The checksum of a member's bytes after its head.
void tsr_zip_plan_set_crc(tsr_zip_plan *plan, int64_t member, uint32_t crc);
// Writes everything except the bytes after the heads.
TSR_MUST_USE tsr_status tsr_zip_plan_write(const tsr_zip_plan *plan, int fd, const char *path);
void tsr_zip_plan_deinit(tsr_zip_plan *plan);

// zip's checksum, continued from `crc` (0 = start), and joined from the checksums of two texts.
uint32_t tsr_zip_crc(uint32_t crc, const void *bytes, int64_t length);
uint32_t tsr_zip_crc_join(uint32_t crc, uint32_t next, int64_t next_length);

#endif
