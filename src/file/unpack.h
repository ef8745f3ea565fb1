// Reading a deflated stream from any place on, in bounded memory.
//
// Deflate can be unpacked from its start only. While that is done, places at which it can be taken
// up again are kept, each with the 32 KB of text before it: close together where it was read last,
// further apart before. Reading on costs what unpacking does; going back costs the way from the
// nearest such place.
#ifndef TESSERA_FILE_UNPACK_H
#define TESSERA_FILE_UNPACK_H

#include <stdint.h>

#include "tessera/status.h"

// Where a stream lies in a file, and what it unpacks to.
typedef struct tsr_packed {
  int64_t begin, packed;  // its bytes
  int64_t size;           // unpacked
  uint32_t crc;           // of what is unpacked
} tsr_packed;

// Fails unless this is the checksum of the unpacked bytes.
TSR_MUST_USE tsr_status tsr_packed_check(const tsr_packed *stream, uint32_t crc);

typedef struct tsr_unpacker tsr_unpacker;

// Bytes that one takes at most.
enum { TSR_UNPACKER_MEMORY = 7 << 18 };

TSR_MUST_USE tsr_status tsr_unpacker_create(const tsr_packed *stream, tsr_unpacker **out_unpacker);
void tsr_unpacker_destroy(tsr_unpacker *unpacker);  // NULL is fine
// Reads unpacked bytes from `offset` on, all of which must be there. One thread at a time. As soon
// as every byte of the stream has been unpacked, its checksum must be right; `path` is for
// messages.
TSR_MUST_USE tsr_status tsr_unpacker_read(tsr_unpacker *unpacker, int fd, const char *path,
                                          void *out, int64_t length, int64_t offset);

#endif
