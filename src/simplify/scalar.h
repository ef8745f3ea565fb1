// One element as a number: loaded from the bytes of a constant, computed with, stored again.
#ifndef TESSERA_SIMPLIFY_SCALAR_H
#define TESSERA_SIMPLIFY_SCALAR_H

#include "ir/ir.h"

// A bool is 0 or 1; integers are extended to 64 bits by their sign, or with zeros if unsigned;
// floats are exact as f64.
typedef struct tsr_scalar {
  union {
    int64_t i;
    double f;  // also the real component of a complex number
  };
  double imag;
} tsr_scalar;

typedef struct tsr_scalar_type {
  tsr_dtype dtype;
  tsr_dtype_class kind;
  int bits;   // of an integer; of both components of a complex number
  int bytes;  // of an element
} tsr_scalar_type;

enum { TSR_SCALAR_BYTES = 16 };  // of the widest element

// The type of the elements of a tensor; false where they do not compute (index, i3, quantised).
bool tsr_scalar_type_of(const tsr_type *type, tsr_scalar_type *out_type);
tsr_scalar tsr_scalar_load(const tsr_scalar_type *type, const char *bytes);
// Integers keep their low bits, floats are rounded. False where the type has no such number: a NaN
// in f4E2M1FN, a zero in f8E8M0FNU.
bool tsr_scalar_store(const tsr_scalar_type *type, tsr_scalar scalar, char *out_bytes);

// stablehlo.convert.
bool tsr_scalar_convert(const tsr_scalar_type *from, const tsr_scalar_type *to, tsr_scalar in,
                        char *out_bytes);
// Whether numbers of which one is less, equal or greater, or none of these, compare so: `direction`
// is TSR_DIRECTION_...
bool tsr_order_holds(int direction, bool less, bool equal, bool greater);
// stablehlo.compare; false if these types do not compare so.
bool tsr_scalar_compare(const tsr_scalar_type *type, int direction, bool total,
                        const tsr_scalar *in, bool *out_truth);
// stablehlo.reduce_precision of one float.
bool tsr_scalar_reduce_precision(const tsr_scalar_type *type, int exponent, int mantissa,
                                 const char *in, char *out);

// An elementwise op on one class of elements: the operands are `in`, all of `type`. False where the
// result is undefined.
typedef bool tsr_scalar_fn(const tsr_scalar_type *type, const tsr_scalar *in, tsr_scalar *out);
// The function of an op for a class of elements, from simplify/scalars.def; NULL = there is none.
tsr_scalar_fn *tsr_scalar_op(tsr_op_id id, tsr_dtype_class kind);

// tsr_scalar_integer_add and so on; tsr_scalar_none gives false.
#define SCALAR_OP(id, truth, integer, floating, complex)                                \
  extern tsr_scalar_fn tsr_scalar_##truth, tsr_scalar_##integer, tsr_scalar_##floating, \
      tsr_scalar_##complex;
#include "simplify/scalars.def"
#undef SCALAR_OP

#endif
