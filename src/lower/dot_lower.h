// What a product reads through, and what is done to its blocks.
#ifndef TESSERA_LOWER_DOT_LOWER_H
#define TESSERA_LOWER_DOT_LOWER_H

#include "kernel/gemm.h"
#include "lower/fuse_group.h"

// Whether the dot_general of a use reads through `producer`, the op that defines the value used: a
// transpose. A producer without a slot is then found by the dot_general itself.
bool tsr_dot_absorbs(const tsr_use *use, const tsr_op *producer);
// Lowers a dot_general and the transpose of its result, which nothing else uses, as one step.
TSR_MUST_USE tsr_status tsr_lower_dot_into(tsr_lowering *lowering, tsr_op *op, tsr_op *transpose);

// Plans a product and adds its step, which writes the result of `written` and reads `inputs`.
TSR_MUST_USE tsr_status tsr_lower_gemm(tsr_lowering *lowering, tsr_op *written,
                                       tsr_value *const *inputs, int input_count, tsr_gemm *gemm,
                                       tsr_schedule_step **out_step);

// ---- epilogues ----

// A group that runs on blocks of the product before it.
typedef struct tsr_block_group {
  tsr_schedule_step *step;  // of the product
  int slot;                 // of the product
  int output;               // the node whose value takes the memory of the product
  // Its space is the largest block, rows x columns, or columns where there is one row. The last
  // coefficient of each form is that of the batch.
  tsr_fuse_group group;
} tsr_block_group;

enum { TSR_BATCH_COEFF = TSR_TILE_RANK - 1 };

// Whether a group is elementwise code on a product that a step made and nothing else reads, index
// by index. The step is the last one, but for small groups. Without memory: as if it were not.
bool tsr_group_follows_product(tsr_lowering *lowering, const tsr_fuse_group *group,
                               tsr_block_group *out_blocks);

#endif
