// Reads programs and prints them.
#ifndef TESSERA_TESTS_SYNTAX_PROGRAM_ROUND_TRIP_H
#define TESSERA_TESTS_SYNTAX_PROGRAM_ROUND_TRIP_H

#include <stddef.h>

#include "syntax/syntax.h"

// The program prints so, and what is printed prints as it is when read again.
void test_program_prints(const char *text, const char *printed, const tsr_print_options *options);
// An op in a function with arguments %arg0 and %arg1 of tensor<4xf32>.
void test_op_in_function(const char *op, const char *printed);
void test_ops_in_function(const char *const *ops, size_t count);  // each prints as it is

#endif
