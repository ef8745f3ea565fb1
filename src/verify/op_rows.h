// The functions of each op, and what the driver asks of every op of a row.
#ifndef TESSERA_VERIFY_OP_ROWS_H
#define TESSERA_VERIFY_OP_ROWS_H

#include "verify/op_checks.h"

typedef struct tsr_op_row {
  tsr_verify_fn *verify;
  tsr_infer_fn *infer;
} tsr_op_row;

const tsr_op_row *tsr_op_row_of(tsr_op_id id);

// The names of the constraints on the results of an op with inference: on the shape of each (the
// last serves the rest) and on the element types. NULL = none; TSR_FREE_ELEMENT = the element type
// is not constrained, and the inferred one is what a builder takes.
#define TSR_FREE_ELEMENT "*"
typedef struct tsr_result_names {
  const char *shapes[3];
  const char *element;
} tsr_result_names;
const tsr_result_names *tsr_result_names_of(tsr_op_id id);

// Whether the rank and the bounds of a type make sense.
TSR_MUST_USE tsr_status tsr_check_type(const tsr_op *op, const tsr_type *type);
// Numbers of operands, results and regions, attributes, classes of types. `results` is false for an
// op whose results are not known yet.
TSR_MUST_USE tsr_status tsr_check_row(const tsr_op *op, bool results);
// Whether the op may stand where it does: its place in the block, and the blocks in its regions.
TSR_MUST_USE tsr_status tsr_check_blocks(const tsr_op *op);
// The ops that the walk has reached, in the order of the program. An op is among them if the entry
// at its `mark` is the op: marks of ops that were not reached are left from earlier passes.
typedef struct tsr_reached {
  const tsr_op **ops;
  int64_t count, capacity;
} tsr_reached;
// Whether the values that the op uses are visible where it stands.
TSR_MUST_USE tsr_status tsr_check_uses(const tsr_op *op, const tsr_reached *reached);

#endif
