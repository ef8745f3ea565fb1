// Floats of every format as MLIR writes them: decimal text rounded to the nearest value, ties to
// even; and back in the digits that MLIR chooses.
#ifndef TESSERA_SYNTAX_FLOAT_LITERAL_H
#define TESSERA_SYNTAX_FLOAT_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/ir.h"
#include "tessera/text.h"

// Whether values of the format are known here: not those of f80 and f128.
bool tsr_float_is_known(tsr_float format);
// The code of a decimal number without a sign, such as 12, 1.5 or 1.e-3. Numbers too large become
// what the format has for them: infinity, NaN or its largest number.
uint64_t tsr_float_round(tsr_float format, const char *text, size_t length, bool negative);
// The same for number * 10^power, where that is quick; false where it is not. Numbers of up to 19
// digits and powers around 0 are.
bool tsr_float_round_quickly(tsr_float format, uint64_t number, int64_t power, bool negative,
                             uint64_t *out_bits);
double tsr_float_value(tsr_float format, uint64_t bits);
// Adds the number; true if it was written as its bits: 0x7F800000.
bool tsr_float_print(tsr_float format, uint64_t bits, tsr_text *out);

#endif
