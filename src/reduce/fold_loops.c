// The loops for every processor, and the choice of loops for this one.
#define TARGET
#define TABLE tsr_fold_plain
#include "reduce/fold_loops.inc"

const tsr_fold_loops *tsr_fold_loops_of(tsr_dtype dtype, tsr_tile_op op) {
  const tsr_fold_loops *table = tsr_fold_plain;
#if defined __x86_64__
  if (__builtin_cpu_supports("avx2")) table = tsr_fold_avx2;
#endif
  for (int i = 0; i < TSR_FOLD_COUNT; i++)
    if (table[i].dtype == dtype && table[i].op == op) return &table[i];
  return NULL;
}
