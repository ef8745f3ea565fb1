// The dimension numbers of gather and scatter, which mirror each other: gather reads the window of
// the operand at an index vector into the result, scatter writes a window of the updates there.
#ifndef TESSERA_SIMPLIFY_INDEX_RULES_H
#define TESSERA_SIMPLIFY_INDEX_RULES_H

#include "simplify/evaluator.h"

typedef struct tsr_index_rules {
  int rank;                                    // of the operand
  int index_rank, vector_dim;                  // of the indices
  int64_t window[TSR_EVALUATED_RANK];          // dims of result or updates that are of the window
  int64_t dropped[TSR_EVALUATED_RANK];         // operand dims that the window leaves out
  int64_t batching[TSR_EVALUATED_RANK];        // operand dims paired with ...
  int64_t index_batching[TSR_EVALUATED_RANK];  // ... dims of the indices
  int64_t map[TSR_EVALUATED_RANK];             // operand dim of each entry of an index vector
  int window_count, dropped_count, batching_count, map_count;
} tsr_index_rules;

// Reads the record of either op; `windows` is the type of the result or of the updates. False where
// it does not fit the types.
bool tsr_index_rules_read(const tsr_attr *record, const tsr_type *operand, const tsr_type *indices,
                          const tsr_type *windows, tsr_index_rules *out);

#endif
