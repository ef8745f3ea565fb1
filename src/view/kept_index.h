// The box index of a layout, made when it is first needed and kept, for threads to share.
#ifndef TESSERA_VIEW_KEPT_INDEX_H
#define TESSERA_VIEW_KEPT_INDEX_H

#include <stdatomic.h>

#include "tessera/layout.h"
#include "tessera/status.h"
#include "transfer/box_copies.h"

typedef struct tsr_kept_index {
  _Atomic(tsr_box_index *) index;  // owned; NULL = not made yet
} tsr_kept_index;

static inline tsr_status tsr_kept_index_get(tsr_kept_index *kept, const tsr_layout *layout,
                                            const tsr_box_index **out_index) {
  tsr_box_index *made = NULL, *there = atomic_load_explicit(&kept->index, memory_order_acquire);
  if (!there) {
    TSR_TRY(tsr_box_index_create(layout, &made));
    // Where another thread was first, `there` becomes its index.
    if (!atomic_compare_exchange_strong(&kept->index, &there, made)) tsr_box_index_destroy(made);
    if (!there) there = made;
  }
  *out_index = there;
  return NULL;
}

static inline void tsr_kept_index_deinit(tsr_kept_index *kept) {
  tsr_box_index_destroy(atomic_load(&kept->index));
}

#endif
