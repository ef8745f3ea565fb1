// The deflated members that a store reads from. Each is unpacked by one thread at a time; only
// those used last stay ready to go on, so that an archive of any size takes little memory.
#ifndef TESSERA_STORE_PACKED_MEMBERS_H
#define TESSERA_STORE_PACKED_MEMBERS_H

#include <pthread.h>

#include "file/unpack.h"

typedef struct tsr_packed_item {
  tsr_packed stream;
  tsr_unpacker *unpacker;  // owned; NULL = out of use
  bool busy;
  uint64_t last_use;
} tsr_packed_item;

typedef struct tsr_packed_set {
  pthread_mutex_t lock;
  pthread_cond_t freed;
  int idle;  // that are ready to go on and not busy
  uint64_t uses;
  int64_t count, capacity;
  tsr_packed_item *items;  // owned
} tsr_packed_set;

// Bytes that reading takes for each thread, with its share of those that are kept.
enum { TSR_PACKED_MEMORY = 4 * TSR_UNPACKER_MEMORY };

TSR_MUST_USE tsr_status tsr_packed_set_create(tsr_packed_set **out_set);
void tsr_packed_set_destroy(tsr_packed_set *set);  // NULL is fine
// Before the first one is read.
TSR_MUST_USE tsr_status tsr_packed_set_add(tsr_packed_set *set, const tsr_packed *stream,
                                           int64_t *out_item);
// Reads unpacked bytes of an item of the file that is open as `fd`. From any thread.
TSR_MUST_USE tsr_status tsr_packed_read(tsr_packed_set *set, int64_t item, int fd, const char *path,
                                        void *out, int64_t length, int64_t offset);

#endif
