// The runs of a copy, one after the other.
#ifndef TESSERA_ELEMENT_COPY_RUNS_H
#define TESSERA_ELEMENT_COPY_RUNS_H

#include "tessera/engine/kernels.h"

// Steps `from` and `to` to the next run; false after the last. `turns` counts each loop's, from 0.
static inline bool tsr_copy_next_run(const tsr_copy *copy, int64_t *turns, int64_t *from,
                                     int64_t *to) {
  for (int i = copy->loop_count - 1; i >= 0; i--) {
    const tsr_copy_loop *loop = &copy->loops[i];
    *from += loop->from, *to += loop->to;
    if (++turns[i] < loop->count) return true;
    *from -= loop->from * loop->count, *to -= loop->to * loop->count;
    turns[i] = 0;
  }
  return false;
}

#endif
