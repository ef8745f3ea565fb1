// Reading a deflated stream from any offset, in bounded memory.
//
// Deflate can be unpacked only from its start. While it is, resume points are kept, each with the
// 32 KB of output before it: dense near the last reads, sparse before. Reading on costs inflating;
// going back costs inflating from the nearest resume point.
#ifndef TESSERA_FILE_UNPACK_H
#define TESSERA_FILE_UNPACK_H

#include <stdint.h>

#include "tessera/status.h"

// A stream in a file, and its unpacked size and checksum.
typedef struct tsr_packed {
  int64_t begin, packed;  // its bytes
  int64_t size;           // unpacked
  uint32_t crc;           // of the unpacked bytes
} tsr_packed;

// Fails unless this is the checksum of the unpacked bytes.
TSR_MUST_USE tsr_status tsr_packed_check(const tsr_packed *stream, uint32_t crc);

typedef struct tsr_unpacker tsr_unpacker;

// An unpacker's memory in bytes, at most.
enum { TSR_UNPACKER_MEMORY = 7 << 18 };

TSR_MUST_USE tsr_status tsr_unpacker_create(const tsr_packed *stream, tsr_unpacker **out_unpacker);
void tsr_unpacker_destroy(tsr_unpacker *unpacker);  // NULL is fine
// Reads unpacked bytes from `offset` on, all of which must exist. One thread at a time. Once every
// byte of the stream was unpacked, its checksum is verified; `path` is for messages.
TSR_MUST_USE tsr_status tsr_unpacker_read(tsr_unpacker *unpacker, int fd, const char *path,
                                          void *out, int64_t length, int64_t offset);

#endif
