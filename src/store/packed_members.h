// The deflated members of a store. One thread at a time unpacks a member. Only the unpackers used
// last are kept, so an archive of any size takes little memory.
#ifndef TESSERA_STORE_PACKED_MEMBERS_H
#define TESSERA_STORE_PACKED_MEMBERS_H

#include <pthread.h>

#include "file/unpack.h"

typedef struct tsr_packed_item {
  tsr_packed stream;
  tsr_unpacker *unpacker;  // owned; NULL = none is kept
  bool busy;
  uint64_t last_use;
} tsr_packed_item;

typedef struct tsr_packed_set {
  pthread_mutex_t lock;
  pthread_cond_t freed;
  int idle;  // unpackers kept and not busy
  uint64_t uses;
  int64_t count, capacity;
  tsr_packed_item *items;  // owned
} tsr_packed_set;

// Bytes of memory that each reading thread takes, with its share of the kept unpackers.
enum { TSR_PACKED_MEMORY = 4 * TSR_UNPACKER_MEMORY };

TSR_MUST_USE tsr_status tsr_packed_set_create(tsr_packed_set **out_set);
void tsr_packed_set_destroy(tsr_packed_set *set);  // NULL is fine
// Before the first read.
TSR_MUST_USE tsr_status tsr_packed_set_add(tsr_packed_set *set, const tsr_packed *stream,
                                           int64_t *out_item);
// Reads unpacked bytes of an item from the file open as `fd`. From any thread.
TSR_MUST_USE tsr_status tsr_packed_read(tsr_packed_set *set, int64_t item, int fd, const char *path,
                                        void *out, int64_t length, int64_t offset);

#endif
