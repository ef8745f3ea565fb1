// Programs in tests of passes and evaluations, written as text.
#ifndef TESSERA_TESTS_SIMPLIFY_PROGRAMS_H
#define TESSERA_TESTS_SIMPLIFY_PROGRAMS_H

#include "ir/ir.h"
#include "tessera/text.h"

// A program of a test; its text must be right. The caller destroys it.
tsr_ir *test_program(const char *text);
// Runs passes on a program and compares what it prints; fails the test with both texts.
void assert_passes(const char *passes, const char *before, const char *after);

// One op on constants: `op` is written with operands %a, %b, %c, %d; the constants and the results
// as attributes, such as "dense<1> : tensor<2xi8>". NULL = no such operand.
typedef struct test_fold {
  const char *op;
  const char *operands[5];
  const char *results[3];  // none: stays unknown
} test_fold;
void assert_folds(const test_fold *cases, size_t count);

#endif
