// Tables of ops and what the verifier says about them.
#ifndef TESSERA_TESTS_VERIFY_OP_CASES_H
#define TESSERA_TESTS_VERIFY_OP_CASES_H

#include "ir/ir.h"
#include "support/test.h"

// One op in its generic form without quotes and dialect, such as "abs(%a) : (tensor<f32>) ->
// tensor<f32>". Its operands are %a, %b and so on, arguments of a function. An empty message means
// that the op is right; others start with the name of the op, without the place.
typedef struct op_case {
  const char *op, *message;
} op_case;

void check_op_cases(const op_case *cases, size_t count);

// What stands before a function, its arguments, and what it holds; the message as above.
typedef struct body_case {
  const char *before, *args, *body, *message;
} body_case;

void check_body_cases(const body_case *cases, size_t count);

// Reads a program that holds one op of a case; gives the op. The text must outlive the program.
tsr_op *read_op_case(const char *op, tsr_ir *ir, char **out_text);
// Reads and verifies a program in text; the failure is that of the verifier.
tsr_status verify_text(const char *text);

// Regions that rows share: the sum of two scalars, alone or in a list, and a comparison of them.
#define SUM_IN(e)                                                                           \
  "{ ^bb0(%x0: tensor<" e ">, %x1: tensor<" e ">): %r = stablehlo.add %x0, %x1 : tensor<" e \
  "> stablehlo.return %r : tensor<" e "> }"
#define SUM(e) "(" SUM_IN(e) ")"
#define GE(e)                                                           \
  "{ ^bb0(%x0: tensor<" e ">, %x1: tensor<" e                           \
  ">): %r = stablehlo.compare GE, %x0, %x1 : (tensor<" e ">, tensor<" e \
  ">) -> tensor<i1> "                                                   \
  "stablehlo.return %r : tensor<i1> }"

#endif
