// The names MLIR gives to the values of a program when it prints them: %arg0, %0, %cst_1, %iterArg.
//
// A region is named whole before the regions inside it, which go on from its counters: numbers,
// arguments, and the suffixes of names that are taken. Regions side by side start alike, so they
// share names; in the generic form they do not, and the last region is named first.
//
// A name stands in the `mark` of its value: which word, and its number.
#ifndef TESSERA_SYNTAX_SSA_NAMES_H
#define TESSERA_SYNTAX_SSA_NAMES_H

#include <stdbool.h>

#include "ir/ir.h"
#include "tessera/text.h"

// Names all values in the regions of `root`, and its results.
void tsr_ssa_name_values(const tsr_op *root, bool generic);
void tsr_ssa_print(const tsr_value *value, tsr_text *out);  // %0, %0#1, %cst
// What stands before "=": %0, or %0:2, or %values, %indices. Nothing for an op without results.
void tsr_ssa_print_results(const tsr_op *op, tsr_text *out);

#endif
