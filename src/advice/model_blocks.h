// Blocks of a model, attention or feed-forward, by the usual names of their tensors, and suspicious
// cuts of them. For plans whose rules have no groups.
#ifndef TESSERA_ADVICE_MODEL_BLOCKS_H
#define TESSERA_ADVICE_MODEL_BLOCKS_H

#include "plan/plan.h"

// The cuts of all blocks over the axes that split a block (tp, model, ...).
typedef struct tsr_model_block_cut {
  int64_t cut, whole;  // the first row that is cut over the axis, and that is not; -1 = none
} tsr_model_block_cut;
typedef struct tsr_model_blocks {
  const tsr_plan *plan;
  const char *axes[TSR_MAX_AXES];  // that split a block, of the mesh
  int axis_count;
  int64_t head_dim, heads, kv_heads;  // 0 = not known
  tsr_name_index names;
  tsr_arena arena;
  tsr_text key;
  tsr_model_block_cut *cuts;  // owned: for each block one for each axis
  int64_t count, capacity;
  tsr_shape_table pieces;  // int64_t, by spec: size of a piece that splits heads; 0 = none does
} tsr_model_blocks;

TSR_MUST_USE tsr_status tsr_model_blocks_init(tsr_model_blocks *blocks, const tsr_plan *plan,
                                              const tsr_fact *facts, int64_t fact_count);
void tsr_model_blocks_deinit(tsr_model_blocks *blocks);
// An axis that does not cut a row but cuts others of its block; NULL = none. `*out_row` is the
// first row that it cuts. Each block is reported once, at the first row that is not cut.
TSR_MUST_USE tsr_status tsr_model_blocks_find_apart(tsr_model_blocks *blocks, int64_t row,
                                                    const char **out_axis, int64_t *out_row);
// The size of a row's pieces if they split heads, else 0; and the dimension.
TSR_MUST_USE tsr_status tsr_model_blocks_find_split(tsr_model_blocks *blocks, int64_t row,
                                                    int64_t *out_piece, int *out_dim);

#endif
