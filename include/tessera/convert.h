// Convert: elements of one type made elements of another, in bulk.
#ifndef TESSERA_CONVERT_H
#define TESSERA_CONVERT_H

#include "tessera/dtype.h"
#include "tessera/status.h"
#include "tessera/text.h"

TSR_BEGIN_DECLS

// Whether elements of `from` can become elements of `to`: all can, but for complex ones, which
// become only complex ones (nobody should lose an imaginary part without noticing).
TSR_API bool tsr_convertible(tsr_dtype from, tsr_dtype to);

// Converts `count` elements. The buffers hold whole elements, sub-byte ones packed with the first
// in the lowest bits, at any alignment, and do not overlap; the bits after the last element of the
// target are left alone. A pair that is not convertible is refused; nothing else can fail.
//
// - Floats are rounded to nearest even, once: f64 goes to narrow formats directly. What is too
// large
//   becomes infinity; NaN in formats without one (fn, fnuz); the largest number in those without
//   NaN (fp6, fp4), in which NaN becomes a zero of the opposite sign. So does ml_dtypes. f8e8m0fnu
//   takes the nearest power of two, halves upwards, and NaN for zero and what is negative.
// - NaNs stay NaNs of their sign; f16 keeps the leading part of the payload, made quiet.
// - Floats become integers by truncation towards zero; what is out of range becomes the nearest
//   integer of the type, NaN 0.
// - Integers become integers modulo 2^bits, and floats by one rounding.
// - Bools are 0 and 1; what is not 0, NaN included, becomes 1.
TSR_API TSR_MUST_USE tsr_status tsr_convert(tsr_dtype from, const void *source, tsr_dtype to,
                                            void *target, int64_t count);

// Prints element `index` of a buffer: integers in decimal, floats as the shortest decimal that
// reads back as the same element of this type, "true", "nan", "-inf", "1.5-2j".
TSR_API void tsr_element_print(tsr_dtype dtype, const void *elements, int64_t index, tsr_text *out);

TSR_END_DECLS

#endif
