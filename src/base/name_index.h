// Finds the position of a name in a list: an open-addressed table over the names' hashes. Names are
// borrowed and must outlive the index.
#ifndef TESSERA_BASE_NAME_INDEX_H
#define TESSERA_BASE_NAME_INDEX_H

#include <stdint.h>

#include "tessera/status.h"

typedef struct tsr_name_slot {
  const char *name;  // NULL = free
  uint32_t hash;
  int32_t position;
} tsr_name_slot;

typedef struct tsr_name_index {
  tsr_name_slot *slots;  // owned
  size_t mask, count;
} tsr_name_index;

#define TSR_NAME_INDEX_EMPTY \
  { NULL, 0, 0 }

// Adds a name at a position of at most INT32_MAX. `*out_existing` is the position of the same name
// added before, which stays; -1 if it is new.
TSR_MUST_USE tsr_status tsr_name_index_add(tsr_name_index *index, const char *name,
                                           int64_t position, int64_t *out_existing);
int64_t tsr_name_index_find(const tsr_name_index *index, const char *name);  // -1 if there is none
void tsr_name_index_deinit(tsr_name_index *index);

#endif
