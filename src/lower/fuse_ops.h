// What fusion knows of the ops of a block.
#ifndef TESSERA_LOWER_FUSE_OPS_H
#define TESSERA_LOWER_FUSE_OPS_H

#include "lower/elementwise_code.h"
#include "lower/fuse_space.h"

typedef enum tsr_fuse_kind {
  TSR_FUSE_ALONE,        // a step of its own
  TSR_FUSE_MADE,         // constants, iotas: made where they are read
  TSR_FUSE_MOVES,        // its readers read its operand (tsr_op_only_moves)
  TSR_FUSE_ELEMENTWISE,  // in groups
  TSR_FUSE_ROWS,         // a reduction of rows, in groups
  TSR_FUSE_FOLD,         // a reduction over outer dims, which ends a group
  TSR_FUSE_END           // the terminator
} tsr_fuse_kind;

// An op of the block. Its number is the op's mark.
typedef struct tsr_fuse_op {
  tsr_op *op;
  tsr_fuse_kind kind;
  bool read_by_groups;   // nothing else uses the result
  bool read_by_kernels;  // nothing but groups and products uses the result
  bool light;            // made of one value in memory, `leaf`, by `chain` cheap ops
  bool inlined;          // elementwise, and every reader computes it again
  bool demanded;         // a step of its own computes it
  bool placed;           // in the order of steps
  int depth, chain;
  int last_read;          // the depth of the last reader of its only result
  int reader_count;       // steps that read its results
  const tsr_value *leaf;  // NULL = none
  int capture_count;
  tsr_value **captures;          // values of the block that its regions use
  struct tsr_fuse_group *group;  // NULL = none
  int node;                      // in its group
  uint32_t stamp, tried;         // by the search, and the op, of this number
} tsr_fuse_op;

typedef struct tsr_fuser {
  tsr_lowering *lowering;
  tsr_ir_block *block;
  tsr_fuse_op *ops;  // of the block in order, with the terminator
  int count;
  uint32_t stamp;
  bool unfused;  // nothing is put together
  bool out_of_memory;
} tsr_fuser;

TSR_MUST_USE tsr_status tsr_fuser_open(tsr_lowering *lowering, tsr_ir_block *block,
                                       tsr_fuser *out_fuser);

// The op that defines a value in the block; NULL = it comes from elsewhere.
static inline tsr_fuse_op *tsr_fuser_def(const tsr_fuser *fuser, const tsr_value *value) {
  return value->def && value->def->block == fuser->block ? &fuser->ops[value->def->mark] : NULL;
}

// What an op needs: its operands, and what its regions use.
static inline int tsr_source_count(const tsr_fuse_op *op) {
  return op->op->operand_count + op->capture_count;
}
static inline tsr_value *tsr_source_at(const tsr_fuse_op *op, int index) {
  return index < op->op->operand_count ? tsr_op_operand(op->op, index)
                                       : op->captures[index - op->op->operand_count];
}

#endif
