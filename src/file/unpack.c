// Inflating from any offset. zlib stops at the end of each block; there the position, the unused
// bits and the window of output make a resume point. Points far from the last reads are thinned
// out, so the memory of an unpacker is bounded.
#include "file/unpack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/io.h"

enum {
  CHUNK = 1 << 16,          // packed bytes read at once, and unpacked bytes skipped at once
  MOST_AT_ONCE = 1 << 30,   // zlib counts in 32 bits
  WINDOW = 1 << MAX_WBITS,  // bytes that deflate refers back to
  SPACING = 4 << 20,        // between two resume points, where they are densest
  MOST_PLACES = 48,
  RECENT = MOST_PLACES / 2,  // resume points that are never thinned out
};

// A resume point: the end of a block, from which inflating can continue.
typedef struct resume_point {
  int64_t out, in;  // bytes unpacked so far, and packed bytes consumed
  int bits;         // of the byte before `in` that are still unread
  unsigned window_length;
  unsigned char *window;  // owned
} resume_point;

struct tsr_unpacker {
  tsr_packed stream;
  z_stream z;
  bool begun;       // `z` has been set up
  bool positioned;  // and its next output is the byte at `out`
  int64_t out, in;  // unpacked so far; packed bytes given to `z`
  int64_t checked;  // bytes from the start that are in the checksum
  uint32_t crc;
  int count;
  resume_point places[MOST_PLACES];  // by `out`
  unsigned char chunk[CHUNK], skipped[CHUNK];
};

static_assert(sizeof(tsr_unpacker) + (size_t)MOST_PLACES * WINDOW + 3 * CHUNK / 2 <
                  TSR_UNPACKER_MEMORY,
              "with zlib's own state");

tsr_status tsr_packed_check(const tsr_packed *stream, uint32_t crc) {
  if (crc == stream->crc) return NULL;
  return tsr_fail(BROKEN_FILE, "its checksum is %08lx, the directory says %08lx",
                  (unsigned long)crc, (unsigned long)stream->crc);
}

tsr_status tsr_unpacker_create(const tsr_packed *stream, tsr_unpacker **out_unpacker) {
  tsr_unpacker *unpacker = calloc(1, sizeof *unpacker);
  if (!unpacker) return tsr_fail(NO_MEMORY, "unpacking");
  unpacker->stream = *stream;
  *out_unpacker = unpacker;
  return NULL;
}

void tsr_unpacker_destroy(tsr_unpacker *unpacker) {
  if (!unpacker) return;
  for (int i = 0; i < unpacker->count; i++) free(unpacker->places[i].window);
  if (unpacker->begun) inflateEnd(&unpacker->z);
  free(unpacker);
}

// ---- places ----

// The last resume point at or before `out`; -1 = the start.
static int place_before(const tsr_unpacker *u, int64_t out) {
  int i = u->count - 1;
  while (i >= 0 && u->places[i].out > out) i--;
  return i;
}

// Drops every other resume point that is not recent.
static void thin_out(tsr_unpacker *u) {
  int kept = 0;
  for (int i = 0; i < u->count; i++) {
    if (i % 2 && i < u->count - RECENT)
      free(u->places[i].window);
    else
      u->places[kept++] = u->places[i];
  }
  u->count = kept;
}

// Resume points only save time: without memory there is one less.
static void keep_place(tsr_unpacker *u) {
  const int before = place_before(u, u->out);
  if (u->out - (before < 0 ? 0 : u->places[before].out) < SPACING) return;
  resume_point here = {.out = u->out,
                       .in = u->in - u->z.avail_in,
                       .bits = u->z.data_type & 7,
                       .window = malloc(WINDOW)};
  if (!here.window) return;
  if (inflateGetDictionary(&u->z, here.window, &here.window_length) != Z_OK) {
    free(here.window);
    return;
  }
  if (u->count == MOST_PLACES) thin_out(u);
  const int at = place_before(u, u->out) + 1;
  memmove(&u->places[at + 1], &u->places[at], sizeof here * (size_t)(u->count - at));
  u->places[at] = here;
  u->count++;
}

static tsr_status go_to_place(tsr_unpacker *u, int fd, const char *path, const resume_point *p) {
  unsigned char byte = 0;
  u->out = p->out;
  u->in = p->in;
  if (p->bits) {
    TSR_TRY(tsr_io_read(fd, path, &byte, 1, u->stream.begin + p->in - 1));
    inflatePrime(&u->z, p->bits, byte >> (8 - p->bits));
  }
  inflateSetDictionary(&u->z, p->window, p->window_length);
  return NULL;
}

// Moves to the nearest resume point before `offset`, unless the current position is nearer.
static tsr_status go_near(tsr_unpacker *u, int fd, const char *path, int64_t offset) {
  const int before = place_before(u, offset);
  const int64_t nearest = before < 0 ? 0 : u->places[before].out;
  if (u->positioned && u->out <= offset && u->out >= nearest) return NULL;
  u->positioned = false;
  // Negative: raw deflate without a header.
  const int result = u->begun ? inflateReset(&u->z) : inflateInit2(&u->z, -MAX_WBITS);
  if (result != Z_OK) return tsr_fail(NO_MEMORY, "unpacking");
  u->begun = true;
  u->z.avail_in = 0;
  u->out = u->in = 0;
  if (before >= 0) TSR_TRY(go_to_place(u, fd, path, &u->places[before]));
  u->positioned = true;
  return NULL;
}

// ---- bytes ----

static tsr_status refill(tsr_unpacker *u, int fd, const char *path) {
  const int64_t left = u->stream.packed - u->in, step = left < CHUNK ? left : CHUNK;
  if (!step)
    return tsr_fail(BROKEN_FILE, "its packed bytes end too early, at byte %lld",
                    (long long)(u->stream.begin + u->stream.packed));
  TSR_TRY(tsr_io_read(fd, path, u->chunk, step, u->stream.begin + u->in));
  u->in += step;
  u->z.next_in = u->chunk;
  u->z.avail_in = (uInt)step;
  return NULL;
}

// Adds unpacked bytes to the checksum, which grows from the start without gaps.
static tsr_status check(tsr_unpacker *u, const unsigned char *bytes, int64_t length) {
  const int64_t begin = u->out - length;
  if (begin > u->checked || u->out <= u->checked) return NULL;
  const int64_t known = u->checked - begin;
  u->crc = (uint32_t)crc32(u->crc, bytes + known, (uInt)(length - known));
  u->checked = u->out;
  if (u->checked < u->stream.size || u->crc == u->stream.crc) return NULL;
  u->checked = 0;  // so that it fails again
  tsr_status status = tsr_packed_check(&u->stream, u->crc);
  u->crc = 0;
  return status;
}

// Unpacks up to `most` bytes, fewer at the end of a block.
static tsr_status unpack_some(tsr_unpacker *u, int fd, const char *path, unsigned char *to,
                              int64_t most, int64_t *out_done) {
  if (!u->z.avail_in) TSR_TRY(refill(u, fd, path));
  const uInt step = (uInt)(most < MOST_AT_ONCE ? most : MOST_AT_ONCE);
  u->z.next_out = to;
  u->z.avail_out = step;
  const int result = inflate(&u->z, Z_BLOCK);
  *out_done = step - u->z.avail_out;
  u->out += *out_done;
  if (result == Z_MEM_ERROR) return tsr_fail(NO_MEMORY, "unpacking");
  if ((result == Z_STREAM_END && *out_done < most) || (result != Z_OK && result != Z_STREAM_END))
    return tsr_fail(BROKEN_FILE, "its packed bytes are damaged before byte %lld",
                    (long long)(u->stream.begin + u->in - u->z.avail_in));
  TSR_TRY(check(u, to, *out_done));
  const bool block_ends = (u->z.data_type & 128) && !(u->z.data_type & 64);
  if (block_ends && result == Z_OK) keep_place(u);
  return NULL;
}

static tsr_status unpack(tsr_unpacker *u, int fd, const char *path, unsigned char *out,
                         int64_t length, int64_t offset) {
  int64_t done = 0;
  TSR_TRY(go_near(u, fd, path, offset));
  while (u->out < offset) {
    const int64_t left = offset - u->out;
    TSR_TRY(unpack_some(u, fd, path, u->skipped, left < CHUNK ? left : CHUNK, &done));
  }
  for (int64_t got = 0; got < length; got += done)
    TSR_TRY(unpack_some(u, fd, path, out + got, length - got, &done));
  return NULL;
}

tsr_status tsr_unpacker_read(tsr_unpacker *unpacker, int fd, const char *path, void *out,
                             int64_t length, int64_t offset) {
  if (!length) return NULL;
  tsr_status status = unpack(unpacker, fd, path, out, length, offset);
  if (status) unpacker->positioned = false;
  return status;
}
