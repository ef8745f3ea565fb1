// Sorting lines of tensors by keys: one or several operands, which all move alike.
#ifndef TESSERA_REDUCE_SORT_H
#define TESSERA_REDUCE_SORT_H

#include "reduce/sort_keys.h"
#include "tile/kernel_call.h"

// Operands are outer x length x inner; each line along the middle is sorted by itself.
typedef struct tsr_sort_lines {
  int64_t outer, length, inner;  // length fits 32 bits
  int operand_count;
  const int *element_bytes;  // of each operand: 1, 2, 4, 8 or 16
} tsr_sort_lines;

// The first key counts most. A key is an operand, or a component of a complex one.
typedef struct tsr_sort_key {
  int operand;
  int offset;  // bytes of the key from the start of its element
  tsr_key_order order;
} tsr_sort_key;

typedef struct tsr_sort {
  tsr_sort_lines lines;
  int key_count;
  const tsr_sort_key *keys;
} tsr_sort;

// Inputs and outputs are the operands. Elements of equal keys keep their order.
tsr_status tsr_sort_run(const void *description, const tsr_kernel_call *call);
int64_t tsr_sort_scratch_bytes(const tsr_sort *sort);
int64_t tsr_sort_temp_bytes(const tsr_sort *sort);

// Copies element places[i] of a line to element i of the output's line, for each operand.
void tsr_sort_move_lines(const tsr_sort_lines *lines, int64_t line, const tsr_kernel_call *call,
                         const uint32_t *places, int64_t from, int64_t to);
// Elements from the start of an operand to a line's first one.
static inline int64_t tsr_sort_line_start(const tsr_sort_lines *lines, int64_t line) {
  return line / lines->inner * lines->inner * lines->length + line % lines->inner;
}

#endif
