// The text of an einsum: labels of the dimensions of each operand and of the result.
#ifndef TESSERA_SIMPLIFY_EINSUM_EQUATION_H
#define TESSERA_SIMPLIFY_EINSUM_EQUATION_H

#include "tessera/shape.h"
#include "tessera/status.h"

// Labels are numbers: A to Z are 0 to 25, a to z 26 to 51, which is their order in results without
// "->"; dimensions of "..." follow, counted from the last.
enum {
  TSR_EINSUM_LETTERS = 52,
  TSR_EINSUM_LABELS = TSR_EINSUM_LETTERS + TSR_MAX_RANK,
  TSR_EINSUM_OPERANDS = 64
};

typedef struct tsr_einsum_term {
  int count;
  int labels[TSR_MAX_RANK];
} tsr_einsum_term;

typedef struct tsr_einsum_equation {
  int operand_count;
  tsr_einsum_term operands[TSR_EINSUM_OPERANDS];
  tsr_einsum_term result;
} tsr_einsum_equation;

// "b" for a label; "..." for those of an ellipsis.
void tsr_einsum_label_name(int label, char out_name[4]);
// Reads the text for operands of these ranks. Labels of the result occur in the operands, once.
TSR_MUST_USE tsr_status tsr_einsum_parse(const char *text, const int *ranks, int count,
                                         tsr_einsum_equation *out_equation);

#endif
