// The inner loops of windows and cumulative reductions, for the common types and ops.
#ifndef TESSERA_REDUCE_FOLD_LOOPS_H
#define TESSERA_REDUCE_FOLD_LOOPS_H

#include <stdint.h>

#include "tessera/dtype.h"
#include "tile/tile.h"

enum { TSR_FOLD_LINES = 4 };  // that a scan takes together

typedef struct tsr_fold_loops {
  tsr_dtype dtype;
  tsr_tile_op op;
  // out[i] = op(a[i], b[i]); out may be a or b.
  void (*pair)(void *out, const void *a, const void *b, int64_t count);
  // to[i * to_step] = op(to[i * to_step], from[i * from_step]).
  void (*strided)(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t count);
  // The elements of `lines` lines (up to TSR_FOLD_LINES), `line_step` elements apart, combined from
  // the first on, or from the last on if `step` is -1: out[i] = op(out[i - 1], in[i]). The start of
  // line k is starts[k].
  void (*scan)(void *out, const void *in, const void *starts, int64_t count, int64_t lines,
               int64_t line_step, int64_t step);
  // The last results of such a scan, one for each line.
  void (*last)(void *out, const void *in, const void *starts, int64_t count, int64_t lines,
               int64_t line_step, int64_t step);
  // out[i] = op(one, out[i]).
  void (*offset)(void *out, const void *one, int64_t count);
} tsr_fold_loops;

const tsr_fold_loops *tsr_fold_loops_of(tsr_dtype dtype, tsr_tile_op op);  // NULL = none

// ---- for fold_loops*.c ----
enum { TSR_FOLD_COUNT = 20 };
extern const tsr_fold_loops tsr_fold_plain[TSR_FOLD_COUNT];
#if defined __x86_64__
extern const tsr_fold_loops tsr_fold_avx2[TSR_FOLD_COUNT];
#endif

#endif
