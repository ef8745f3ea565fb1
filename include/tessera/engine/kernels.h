// Kernels: copying and converting elements in the caller's memory, for engines, readers and
// runtimes. Reductions are in tessera/engine/reduce.h.
//
// Buffers hold whole elements, those narrower than a byte packed, the first in the lowest bits.
// They need no alignment and must not overlap. A buffer of no elements may be NULL.
#ifndef TESSERA_ENGINE_KERNELS_H
#define TESSERA_ENGINE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/dtype.h"
#include "tessera/engine/hash.h"
#include "tessera/shape.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// ---- conversion ----

// Whether elements of `from` can become elements of `to`. All can, except complex ones to real
// ones: the imaginary parts would be lost.
TSR_API bool tsr_convertible(tsr_dtype from, tsr_dtype to);

// Converts `count` elements; bits after the last element of the target stay as they are. Fails for
// a pair that is not convertible, and for NULL buffers unless `count` is 0.
//
// - Floats are rounded to nearest even, once: f64 goes to narrow formats directly. Overflow gives
//   infinity; NaN in formats without one (fn, fnuz); the largest number in those without NaN (fp6,
//   fp4), in which NaN becomes a zero of the opposite sign. ml_dtypes does the same. f8e8m0fnu
//   takes the nearest power of two, halves upwards, and NaN for zero and negative numbers.
// - NaNs stay NaNs of their sign; f16 keeps the leading bits of the payload, made quiet.
// - Floats become integers by truncation towards zero; out of range, the nearest integer of the
//   type; NaN becomes 0.
// - Integers become integers modulo 2^bits, and floats by one rounding.
// - Bools are 0 and 1; anything but 0, NaN included, becomes 1.
TSR_API TSR_MUST_USE tsr_status tsr_convert(tsr_dtype from, const void *source, tsr_dtype to,
                                            void *target, int64_t count);

// ---- copies ----
//
// A box of elements that goes from one buffer to another, with any strides. Copy plans consist of
// copies; an engine carries them out between devices, a checkpoint between files. Offsets count
// elements, so one plan works for every element type; tsr_copy_run takes the width of an element.

// One loop around a copy: `count` iterations, each `from` elements further in the source and `to`
// further in the target.
typedef struct tsr_copy_loop {
  int64_t count, from, to;
} tsr_copy_loop;

// `length` elements side by side on both sides, inside `loop_count` loops, outermost first: element
// (i, j, ..., e) goes from place `from + i * loops[0].from + j * loops[1].from + ... + e` of the
// source's buffer to `to + i * loops[0].to + ... + e` of the target's. Only `loop_count` loops are
// set. An empty copy has length 0.
typedef struct tsr_copy {
  int64_t source, target;  // device ids, positions or shards, as its maker documents
  int64_t from, to, length;
  int loop_count;
  tsr_copy_loop loops[TSR_MAX_RANK];
} tsr_copy;

TSR_API TSR_NONNULL int64_t tsr_copy_elements(const tsr_copy *copy);
// Carries it out, with `bits` per element.
TSR_API TSR_NONNULL_AT(1) void tsr_copy_run(const tsr_copy *copy, int bits, const void *source,
                                            void *target);

TSR_END_DECLS

#endif
