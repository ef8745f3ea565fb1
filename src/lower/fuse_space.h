// The space of a fused group, and where its values lie in it.
//
// A group runs over the indices of a few dims. Every value of it has a form: the row-major position
// of its element as `offset + sum of index * coeff`. So a reshape changes nothing, a broadcast has
// coefficients of 0, a slice an offset, a reverse negative ones. A load reads memory with the form
// as its strides. Dims are as few as the forms allow, and are split where one needs it.
#ifndef TESSERA_LOWER_FUSE_SPACE_H
#define TESSERA_LOWER_FUSE_SPACE_H

#include "lower/lowering.h"

typedef struct tsr_fuse_space {
  int rank;
  int64_t dims[TSR_TILE_RANK];  // outermost first, of at least 2 indices but for an only dim
} tsr_fuse_space;

typedef struct tsr_form {
  int64_t offset;
  int64_t coeff[TSR_TILE_RANK];  // 0 from the rank of the space on
} tsr_form;

// Dim `dim` should become two, the inner one of `inner` indices, for what was asked to exist.
// dim = -1: it does not exist in any split.
typedef struct tsr_fuse_split {
  int dim;
  int64_t inner;
} tsr_fuse_split;

bool tsr_form_equal(const tsr_form *a, const tsr_form *b);
// The form of row-major positions over dims `first` up to `end` of a space.
tsr_form tsr_form_row_major(const tsr_fuse_space *space, int first, int end);
// Splits a dim of a space; forms follow by tsr_form_split. False: there is no room for a dim more.
bool tsr_space_split(tsr_fuse_space *space, tsr_fuse_split split);
void tsr_form_split(tsr_form *form, int rank, tsr_fuse_split split);

// Digits: a number as the sum of digit * stride, strides from the largest on, such as a position as
// the index along each dim of a tensor.
enum { TSR_FORM_DIGITS = 16 };
typedef struct tsr_form_radix {
  int count;
  int64_t sizes[TSR_FORM_DIGITS], strides[TSR_FORM_DIGITS];
} tsr_form_radix;
// Of positions in a tensor: a digit for each dim, those of dims of 1 too. False: too many dims.
bool tsr_form_radix_of(const tsr_type *type, tsr_form_radix *out_digits);
// A form as a form for each digit. False: `out_split` says what is missing.
bool tsr_form_digits(const tsr_fuse_space *space, const tsr_form *form,
                     const tsr_form_radix *digits, tsr_form *out_forms, tsr_fuse_split *out_split);

// Whether an op only says where its result's elements are in its operand: reshape, broadcast,
// transpose, slice, reverse.
bool tsr_op_only_moves(const tsr_op *op);
// The form of the operand of such an op, from the form of its result.
bool tsr_form_through(const tsr_fuse_space *space, const tsr_op *op, const tsr_form *form,
                      tsr_form *out_form, tsr_fuse_split *out_split);

// How a reduction of one tensor by one op (stablehlo.reduce with a body of add, multiply, maximum,
// minimum, and, or, xor) is run, which its type and dims alone decide: so its result has the same
// bits whatever it is fused with. Sizes are products of dims.
typedef enum tsr_reduce_way {
  TSR_REDUCE_OTHERWISE,  // in another way
  TSR_REDUCE_NOTHING,    // over dims of 1: each element is combined with the initial value
  TSR_REDUCE_ROWS,       // rows x row: over all of each row (tsr_tile_reduce)
  TSR_REDUCE_FOLD        // batch x outer x row: over the outer dims (tsr_tile_fold)
} tsr_reduce_way;
typedef struct tsr_reduce_plan {
  tsr_reduce_way way;
  tsr_tile_op op;
  int64_t batch, outer, row;  // ROWS: batch is 1 and outer the number of rows
} tsr_reduce_plan;
tsr_reduce_plan tsr_reduce_plan_of(const tsr_op *op);

#endif
