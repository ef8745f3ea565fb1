// Sorting lines by a comparison that is a tile program.
#ifndef TESSERA_REDUCE_SORT_COMPARED_H
#define TESSERA_REDUCE_SORT_COMPARED_H

#include "reduce/sort.h"
#include "tile/tile.h"

// Inputs 2k and 2k + 1 of the program are two elements of operand k; its first output says whether
// the first stands before the second. Its further inputs are the step's inputs after the operands.
typedef struct tsr_sort_compared {
  tsr_sort_lines lines;
  tsr_tile_program *program;  // of up to TSR_SORT_LANES comparisons at once
  int outside_count;
} tsr_sort_compared;

enum { TSR_SORT_LANES = 256 };

tsr_status tsr_sort_compared_run(const void *description, const tsr_kernel_call *call);
int64_t tsr_sort_compared_scratch_bytes(const tsr_sort_compared *sort);
void tsr_sort_compared_destroy(void *description);  // the program

#endif
