// Elementwise ops as code of tile programs: what lower/elementwise_ops.def says of an op.
#ifndef TESSERA_LOWER_ELEMENTWISE_CODE_H
#define TESSERA_LOWER_ELEMENTWISE_CODE_H

#include "lower/lowering.h"

// Adds the op to a program; -1 where its types have no code.
typedef int tsr_elementwise_fn(tsr_tile_program *program, const tsr_op *op, const int *operands);

typedef struct tsr_elementwise_row {
  tsr_elementwise_fn *add;  // NULL: the op is not elementwise
  tsr_tile_op tile;         // TSR_TILE_OP_COUNT = none
  int cost;
} tsr_elementwise_row;

const tsr_elementwise_row *tsr_elementwise_row_of(const tsr_op *op);
// Whether an op has code, with operands and results that are static tensors of types that compute.
bool tsr_op_is_elementwise(const tsr_op *op);
// A constant of equal elements: those of a splat, or the only one. NULL for any other op.
const tsr_attr *tsr_op_splat(const tsr_op *op);
// The first element of a dense attribute as a value of a tile program.
int tsr_tile_add_splat(tsr_tile_program *program, const tsr_attr *dense);

#endif
