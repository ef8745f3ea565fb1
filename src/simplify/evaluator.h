// The state of one evaluation, and the constants it computes with. For the files of this room.
#ifndef TESSERA_SIMPLIFY_EVALUATOR_H
#define TESSERA_SIMPLIFY_EVALUATOR_H

#include <string.h>

#include "base/arena.h"
#include "ir/ir.h"
#include "simplify/evaluate.h"
#include "simplify/scalar.h"

enum { TSR_EVALUATED_RANK = 32 };  // tensors of more dimensions stay unknown

// A constant tensor. A splat, and every tensor of one element, is held in place, so that regions
// run on scalars without allocating.
typedef struct tsr_constant {
  const tsr_type *type;  // a static tensor
  int64_t count;         // elements
  const char *bytes;     // NULL: all elements equal `one`
  tsr_scalar_type scalar;
  char one[TSR_SCALAR_BYTES];
} tsr_constant;

// Functions give false where a result is unknown; `out_of_memory` says that it is for lack of
// memory.
typedef struct tsr_evaluator {
  tsr_ir *ir;
  tsr_arena scratch;
  int64_t element_limit, steps_given, steps_left;
  int64_t *budget;
  bool out_of_memory;
  // Values inside regions have a slot, whose number is their mark. A mark left by an earlier
  // evaluation points to a slot of another owner.
  uint32_t slot_count;
  const tsr_value **owners;
  tsr_constant *constants;
} tsr_evaluator;

typedef bool tsr_op_evaluator(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                              tsr_constant *results);
// tsr_eval_reshape and so on: one op each, from simplify/evaluators.def.
#define EVALUATE(op, function) extern tsr_op_evaluator tsr_eval_##function;
#include "simplify/evaluators.def"
#undef EVALUATE
// Ops of simplify/scalars.def.
extern tsr_op_evaluator tsr_eval_elementwise;

static inline const char *tsr_constant_at(const tsr_constant *constant, int64_t index) {
  return constant->bytes ? constant->bytes + index * constant->scalar.bytes : constant->one;
}
static inline const int64_t *tsr_constant_dims(const tsr_constant *constant) {
  return constant->type->dims;
}
static inline int tsr_constant_rank(const tsr_constant *constant) { return constant->type->rank; }
// The number in a scalar of integers: unsigned ones above the range of int64_t become its largest.
int64_t tsr_constant_integer(const tsr_constant *constant, int64_t index);
bool tsr_constant_same_splat(const tsr_constant *a, const tsr_constant *b);

// Takes `steps` off what is left.
bool tsr_evaluator_spend(tsr_evaluator *e, int64_t steps);
void *tsr_evaluator_alloc(tsr_evaluator *e, int64_t count, size_t size);
// A constant of a type without its elements, a splat of zeros; false for types that do not compute.
bool tsr_constant_open(const tsr_type *type, tsr_constant *out);
// The same with memory for its elements, to be written; NULL where that is too many.
char *tsr_constant_fill(tsr_evaluator *e, const tsr_type *type, tsr_constant *out);
bool tsr_constant_of_attr(const tsr_attr *attr, tsr_constant *out);
const tsr_attr *tsr_constant_attr(tsr_ir *ir, const tsr_constant *constant);  // NULL without memory

// Runs a block whose arguments stand in their slots; the results are those of the terminator.
tsr_constant *tsr_block_slots(tsr_evaluator *e, const tsr_ir_block *block);
bool tsr_block_run(tsr_evaluator *e, tsr_ir_block *block, tsr_constant *results, int result_count);

// The only block of a region, if it has this many arguments; NULL otherwise.
tsr_ir_block *tsr_region_block(const tsr_op *op, int region, int arguments);
// A scalar argument of a region, from an element of a tensor.
bool tsr_argument_set(const tsr_value *argument, const tsr_constant *from, int64_t index,
                      tsr_constant *out);
// Writes a scalar as an element of a tensor that has memory of its own.
bool tsr_constant_put(const tsr_constant *scalar, tsr_constant *out, int64_t index);
// One step of a reduction: the results at `at` become those of the block on themselves and on an
// element of each of `elements`.
bool tsr_accumulate(tsr_evaluator *e, tsr_ir_block *block, int inputs, tsr_constant *results,
                    int64_t at, const tsr_constant *const *elements, int64_t element);

// ---- walks over indices ----

// All indices of a box in row-major order, and for each an offset: base + sum of index * stride.
typedef struct tsr_walk {
  int rank;
  int64_t dims[TSR_EVALUATED_RANK], index[TSR_EVALUATED_RANK], strides[TSR_EVALUATED_RANK];
  int64_t base, offset;
} tsr_walk;

// A walk over the indices of a type with strides of 0; false if the rank is too large.
bool tsr_walk_init(tsr_walk *walk, const tsr_type *type);
void tsr_walk_row_major(tsr_walk *walk);  // the strides of a row-major tensor of its dims
bool tsr_walk_start(tsr_walk *walk);      // to the first index; false if there is none
bool tsr_walk_next(tsr_walk *walk);       // false after the last index
// Whether every offset of the walk is an element of a tensor of `count`.
bool tsr_walk_fits(const tsr_walk *walk, int64_t count);
void tsr_strides_of(const tsr_type *type, int64_t *out_strides);

// An attribute that lists exactly `count` integers; false for any other.
bool tsr_ints_of_attr(const tsr_attr *attr, int64_t count, int64_t *out);
// The same of any number up to `room` that are in 0 to `limit` - 1; -1 if it is none.
int tsr_dims_of_attr(const tsr_attr *attr, int64_t limit, int room, int64_t *out);
bool tsr_has_dim(const int64_t *dims, int count, int64_t dim);

#endif
