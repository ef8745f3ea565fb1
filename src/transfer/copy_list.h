// Compact copies: as many words as each has loops; a tsr_copy has room for 32 loops.
#ifndef TESSERA_TRANSFER_COPY_LIST_H
#define TESSERA_TRANSFER_COPY_LIST_H

#include "tessera/api.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/kernels.h"
#include "tessera/status.h"

typedef struct tsr_copy_head {
  int64_t source, target, to;
  int64_t at;  // where the rest begins: from, length, and three words for each loop
  int64_t loop_count;
} tsr_copy_head;

typedef struct tsr_copy_list {
  tsr_copy_head *heads;  // owned
  int64_t count, capacity;
  int64_t *words;  // owned
  int64_t word_count, word_capacity;
} tsr_copy_list;
#define TSR_COPY_LIST_EMPTY \
  { NULL, 0, 0, NULL, 0, 0 }

TSR_MUST_USE tsr_status tsr_copy_list_add(tsr_copy_list *list, const tsr_copy *copy);
void tsr_copy_list_get(const tsr_copy_list *list, int64_t index, tsr_copy *out_copy);
// Sorts the copies from `first` on by target, source and place, and joins those between the same
// two devices that continue one another.
void tsr_copy_list_tidy(tsr_copy_list *list, int64_t first);
void tsr_copy_list_deinit(tsr_copy_list *list);

// All copies of an iterator; borrowed.
const tsr_copy_list *tsr_copies_list(const tsr_copies *copies);

#endif
