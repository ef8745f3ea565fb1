// The largest elements of each row, in falling order, with their places.
#ifndef TESSERA_REDUCE_TOP_K_H
#define TESSERA_REDUCE_TOP_K_H

#include "reduce/sort_keys.h"
#include "tile/kernel_call.h"

// The input is rows x length. Outputs: values of rows x k, and places, int32, of rows x k; either
// may be missing. Of equal elements the first comes first.
typedef struct tsr_top_k {
  tsr_key_order order;
  int element_bytes;
  int64_t rows, length, k;  // k <= length, which fits 31 bits
  int values, places;       // which output they are; -1 = none
} tsr_top_k;

tsr_status tsr_top_k_run(const void *description, const tsr_kernel_call *call);
int64_t tsr_top_k_scratch_bytes(const tsr_top_k *top);

#endif
