// Values whose dims are padded at their end, so that axes divide them: the type that each had
// before, what is known of its padding, and masks over it. sdy-pad-for-divisibility pads programs
// of collectives, pad-uneven (room spmd) those of reshards.
//
// The mark of a value is the number of its record.
#ifndef TESSERA_RESOLVE_PADDING_H
#define TESSERA_RESOLVE_PADDING_H

#include "resolve/cut_build.h"

typedef struct tsr_padded_value {
  const tsr_type *whole;  // its type before
  bool zeros;             // the padding is zeros
} tsr_padded_value;

typedef struct tsr_padding {
  tsr_ir *ir;
  tsr_arena scratch;  // of one op
  tsr_padded_value *records;
  uint32_t count;
  int64_t capacity;
  int64_t *changes;
} tsr_padding;

// Marks of values are cleared by who begins.
void tsr_padding_end(tsr_padding *p);

// ---- records ----

// The type that a value had before it was padded.
const tsr_type *tsr_padding_whole(const tsr_padding *p, const tsr_value *value);
bool tsr_padding_is_zeros(const tsr_padding *p, const tsr_value *value);
static inline bool tsr_is_padded(const tsr_padding *p, const tsr_value *value) {
  return tsr_padding_whole(p, value) != value->type;
}
TSR_MUST_USE tsr_status tsr_padding_record(tsr_padding *p, tsr_value *value, const tsr_type *whole,
                                           bool zeros);
// Gives a value its padded type.
TSR_MUST_USE tsr_status tsr_padding_set(tsr_padding *p, tsr_value *value, const tsr_type *type,
                                        bool zeros);
// The type that a value of `type` has when it is cut as `value` is.
TSR_MUST_USE tsr_status tsr_padding_even(tsr_padding *p, tsr_value *value, const tsr_type *type,
                                         const tsr_type **out_type);

// ---- ops ----

static inline tsr_site tsr_padding_site(const tsr_padding *p, tsr_op *op) {
  return (tsr_site){.ir = p->ir, .place = op};
}
// Puts a scalar (NULL = zero) into the padding of an operand, along the dims that `masked` names
// (NULL = all). `zeros` says whether the padding is zeros then.
TSR_MUST_USE tsr_status tsr_padding_mask(tsr_padding *p, tsr_op *op, int index, tsr_value *scalar,
                                         const bool *masked, bool zeros);
// Masks the dims of a list, and `more` (or NULL), with zeros, unless the padding is zeros already.
TSR_MUST_USE tsr_status tsr_padding_mask_zeros(tsr_padding *p, tsr_op *op, int index,
                                               const tsr_attr *dims, const tsr_attr *more);
// Masks what a dot_general sums over with zeros, what a reduce combines with its initial values.
TSR_MUST_USE tsr_status tsr_padding_mask_product(tsr_padding *p, tsr_op *op);
TSR_MUST_USE tsr_status tsr_padding_mask_reduction(tsr_padding *p, tsr_op *op);
// Gives a constant its padded type: the padding is zeros, or what all elements are.
TSR_MUST_USE tsr_status tsr_padding_constant(tsr_padding *p, tsr_op *op);
TSR_MUST_USE tsr_status tsr_padding_ints(tsr_padding *p, tsr_op *op, const char *name,
                                         const int64_t *values, int count);

#endif
