// Doubles as decimal text, in any locale: read with correct rounding, written in the fewest
// digits that read back as the same double.
#ifndef TESSERA_BASE_DECIMAL_H
#define TESSERA_BASE_DECIMAL_H

#include <stdbool.h>

#include "tessera/status.h"
#include "tessera/text.h"

// Reads a number that has JSON's form (not checked here). One beyond the range of a double is an
// error; one too small becomes 0.
TSR_MUST_USE tsr_status tsr_decimal_parse(const char *bytes, size_t length, double *out_double);
// The number that the whole string spells, as C does: 0.5, 1e-3, -inf, nan. False for another text.
bool tsr_decimal_read(const char *string, double *out_double);
// The double of this many significant decimal digits that is nearest to a finite `value`.
double tsr_decimal_round(double value, int digits);
// Adds the double as Python's repr writes it: 1.0, 0.1, 1e-07, 1e+22, inf, nan.
void tsr_text_add_double(tsr_text *text, double value);

#endif
