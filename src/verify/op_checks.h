// What the verifiers and the inference of single ops share.
//
// A row of ir/ops.def names two functions. `tsr_verify_NAME` checks what the specification asks of
// an op; `tsr_infer_NAME` computes its result types and is called only for ops that passed. For an
// op with inference the verifier looks at operands, attributes and regions only, so that a builder
// can ask for the types of an op that has no results yet; the driver compares the inferred types
// with the real ones. For an op without inference (`none`, or tsr_results_unknown) the verifier
// checks the results too. Before either runs, the driver has checked the row: numbers of operands,
// results and regions, the form of every inherent attribute, and the classes of operand and result
// types that verify/op_types.def lists.
//
// A violation reads "OP: (C2) thing is FOUND, expected WANTED" with the name that the constraint
// has in the specification; "" where it has none.
#ifndef TESSERA_VERIFY_OP_CHECKS_H
#define TESSERA_VERIFY_OP_CHECKS_H

#include "base/text_internal.h"
#include "ir/ir.h"

// ---- functions of a row

// Result types in the order of the results. Few need no allocation.
typedef struct tsr_result_types {
  tsr_ir *ir;
  const tsr_type *few[8];
  const tsr_type **types;  // `few`, or memory of the program
  int count, capacity;
  bool unknown;  // they do not follow from the operands and attributes
} tsr_result_types;

typedef tsr_status tsr_verify_fn(tsr_ir *ir, const tsr_op *op);
typedef tsr_status tsr_infer_fn(tsr_ir *ir, const tsr_op *op, tsr_result_types *out);

#define OP(id, name, form, operands, results, regions, traits, attrs, verify, infer, ...) \
  tsr_verify_fn tsr_verify_##verify;                                                      \
  tsr_infer_fn tsr_infer_##infer;
#include "ir/ops.def"
#undef OP

// Whether the row has functions: what `tessera ops` shows.
bool tsr_op_has_verifier(tsr_op_id id);
bool tsr_op_has_inference(tsr_op_id id);

// Adds one result type; NULL, which a constructor of types gives without memory, fails.
TSR_MUST_USE tsr_status tsr_results_add(tsr_result_types *out, const tsr_type *type);
TSR_MUST_USE tsr_status tsr_results_unknown(tsr_result_types *out);  // NULL

// ---- violations

// Strings made for one message.
typedef struct tsr_shown {
  tsr_text texts[6];
  int count;
} tsr_shown;

TSR_MUST_USE TSR_PRINTF(6, 7) tsr_status
    tsr_violation_at(tsr_shown *shown, const char *file, int line, const tsr_op *op,
                     const char *constraint, const char *format, ...);

// Returns the failure of a violation. The arguments after the format may be SHOW_... strings.
#define TSR_VIOLATES(op, constraint, ...)                                                          \
  do {                                                                                             \
    tsr_shown shown_ = {0};                                                                        \
    return tsr_raised(tsr_violation_at(&shown_, __FILE__, __LINE__, op, constraint, __VA_ARGS__)); \
  } while (0)
// The same unless the condition holds.
#define TSR_ASK(condition, op, constraint, ...)                  \
  do {                                                           \
    if (!(condition)) TSR_VIOLATES(op, constraint, __VA_ARGS__); \
  } while (0)

const char *tsr_show_type(tsr_shown *shown, const tsr_type *type);  // "none" for NULL
const char *tsr_show_attr(tsr_shown *shown, const tsr_attr *attr);  // "none" for NULL
const char *tsr_show_ints(tsr_shown *shown, const tsr_attr *ints);  // [0, 1]
const char *tsr_show_list(tsr_shown *shown, const int64_t *values, int64_t count);  // ? = unknown
#define SHOW_TYPE(type) tsr_show_type(&shown_, type)
#define SHOW_ATTR(attr) tsr_show_attr(&shown_, attr)
#define SHOW_INTS(attr) tsr_show_ints(&shown_, attr)
#define SHOW_LIST(values, count) tsr_show_list(&shown_, values, count)
#define SHOW_DIMS(type) tsr_show_list(&shown_, (type)->dims, (type)->rank)
#define SHOW_INT(value) tsr_show_list_item(&shown_, value)  // a dimension: "?" where unknown
const char *tsr_show_list_item(tsr_shown *shown, int64_t value);

// ---- types

// The class of a value's type: what a tensor holds, or what it is. 0 = of no class, such as
// tensor<2xsi32> and tensor<2xi3>.
enum tsr_type_class {
  TSR_PRED = 1 << 0,
  TSR_SINT = 1 << 1,  // integers without a sign count as signed
  TSR_UINT = 1 << 2,
  TSR_FP = 1 << 3,
  TSR_COMPLEX_FP = 1 << 4,
  TSR_QUANTISED = 1 << 5,       // one scale for all elements
  TSR_QUANTISED_AXIS = 1 << 6,  // a scale for each index of one dimension
  TSR_INDEX_INT = 1 << 7,       // tensor<2xindex>
  TSR_TOKEN = 1 << 8,
  TSR_TUPLE = 1 << 9,
  TSR_MEMREF = 1 << 10,
  TSR_FUTURE = 1 << 11,
  TSR_UNRANKED = 1 << 12,  // an unranked tensor has this bit and that of its elements
  TSR_INT = TSR_SINT | TSR_UINT,
  TSR_ANY_SCALAR = TSR_PRED | TSR_INT | TSR_FP | TSR_COMPLEX_FP,
  TSR_TENSOR = TSR_ANY_SCALAR | TSR_QUANTISED,
  TSR_TENSOR_AXIS = TSR_TENSOR | TSR_QUANTISED_AXIS,
  // Demands on the shape and the elements, in masks of verify/op_types.def only.
  TSR_RANK_0 = 1 << 13,
  TSR_RANK_1 = 1 << 14,
  TSR_RANK_2 = 1 << 15,
  TSR_STATIC = 1 << 16,           // no unknown dimension
  TSR_STATIC_OR_BOUND = 1 << 17,  // or a single one, which has a bound
  TSR_32_OR_64 = 1 << 18,         // floats of 32 or 64 bits
  TSR_32_BITS = 1 << 19,
  TSR_ANYTHING = 1 << 20  // no demand at all
};
unsigned tsr_type_class(const tsr_type *type);
bool tsr_type_fits(const tsr_type *type, unsigned mask);  // classes and demands
// In words: "tensor of int, float or complex".
const char *tsr_show_mask(tsr_shown *shown, unsigned mask);

static inline bool tsr_is_dynamic(int64_t size) { return size == TSR_DYNAMIC; }
static inline bool tsr_is_quantised(const tsr_type *type) {
  return tsr_type_element(type)->kind == TSR_TYPE_QUANT;
}
bool tsr_is_axis_quantised(const tsr_type *type);
bool tsr_is_float_of(const tsr_type *type, tsr_float format);  // of the elements
bool tsr_is_integer(const tsr_type *type);                     // of the elements; i1 is one too
bool tsr_is_pred(const tsr_type *type);
bool tsr_is_scalar(const tsr_type *type);  // a tensor of rank 0

// Whether sizes can be the same: equal, or one of them unknown.
static inline bool tsr_sizes_match(int64_t a, int64_t b) {
  return a == b || tsr_is_dynamic(a) || tsr_is_dynamic(b);
}
// Ranks equal, sizes match, and no size is greater than the bound that the other type has for it.
// Unranked matches all.
bool tsr_shapes_match(const tsr_type *a, const tsr_type *b);
// Ranks equal and sizes match; bounds do not count.
bool tsr_dims_match(const tsr_type *a, const tsr_type *b);
// Equal; quantised ones may differ in scales and zero points.
bool tsr_elements_match(const tsr_type *a, const tsr_type *b);
bool tsr_types_match(const tsr_type *a, const tsr_type *b);   // both; types of any kind
bool tsr_same_element(const tsr_type *a, const tsr_type *b);  // exactly equal element types
// The element type, or what a quantised one expresses.
const tsr_type *tsr_expressed(const tsr_type *type);
// Whether elements can be accumulated in another type: the same kind with as many bits or more.
// Floats may lose precision. Quantised ones express the same.
bool tsr_element_promotes(const tsr_type *from, const tsr_type *to);
int tsr_element_bits(const tsr_type *type);  // twice those of a part for complex; of the storage

// The shape of one type with the elements of another. NULL without memory.
const tsr_type *tsr_type_with_element(tsr_ir *ir, const tsr_type *shaped, const tsr_type *element);
// A tensor with bounds where any is known (`bounds` may be NULL).
const tsr_type *tsr_type_bounded(tsr_ir *ir, const tsr_type *element, int rank, const int64_t *dims,
                                 const int64_t *bounds);
// The bounds of a type for each dimension, TSR_DYNAMIC where there is none.
void tsr_type_bounds(const tsr_type *type, int64_t *out_bounds);

// Merges shapes of types that match: the most specific size of each dimension (a size beats a
// bound beats "?"), or the least specific, as results of branches need. Element of the first.
TSR_MUST_USE tsr_status tsr_merge_types(tsr_ir *ir, const tsr_op *op, const char *constraint,
                                        const tsr_type *const *types, int count, bool least,
                                        const tsr_type **out_type);
// Makes one dimension more specific by what another type knows of it; false if they differ.
bool tsr_merge_size(int64_t *size, int64_t *bound, int64_t other_size, int64_t other_bound);
// Fails unless all operand types match the first: constraint, and the first operand to look at.
TSR_MUST_USE tsr_status tsr_check_operands_match(const tsr_op *op, const char *constraint,
                                                 int first);

// Fails unless all operands and all results that there are have one shape: in each dimension all
// known sizes are equal.
TSR_MUST_USE tsr_status tsr_check_one_shape(const tsr_op *op, const char *constraint);
// Fails unless the elements of all operands and of all results that there are match those of the
// first; `exactly` asks for equal scales of quantised ones too.
TSR_MUST_USE tsr_status tsr_check_one_element(const tsr_op *op, const char *constraint,
                                              bool exactly);
// Fails unless a list of dimensions has unique values from 0 to rank - 1.
TSR_MUST_USE tsr_status tsr_check_dims(const tsr_op *op, const char *unique, const char *within,
                                       const char *name, const tsr_attr *dims, int64_t rank);

// The highest rank this room computes with; types of higher rank are refused by the driver.
enum { TSR_RANK_LIMIT = 256 };

// ---- attributes

// Lists of integers; NULL is an empty one.
bool tsr_ints_within(const tsr_attr *ints, int64_t low, int64_t high);  // low <= each < high
bool tsr_ints_at_least(const tsr_attr *ints, int64_t low);
bool tsr_ints_unique(const tsr_attr *ints);
bool tsr_ints_distinct(const tsr_attr *a, const tsr_attr *b);  // unique over both lists
bool tsr_ints_sorted(const tsr_attr *ints);                    // each at most its successor
bool tsr_ints_contain(const tsr_attr *ints, int64_t value);
bool tsr_ints_equal(const tsr_attr *a, const tsr_attr *b);
static inline const tsr_attr *tsr_record_ints(const tsr_attr *record, int field) {
  return tsr_attr_field(record, field);
}
int64_t tsr_record_int(const tsr_attr *record, int field);
// The constant that makes a value: the DENSE of stablehlo.constant; NULL if it is made elsewhere.
const tsr_attr *tsr_constant_of(const tsr_value *value);
// Element `index` of a DENSE of integers, extended by its sign.
int64_t tsr_dense_int(const tsr_attr *dense, int64_t index);

// ---- regions

// The only block of a region; NULL if it has none or several.
tsr_ir_block *tsr_only_block(const tsr_op *op, int region);
// Checks a region that combines values, as reduce, scatter, reduce_window, all_reduce have: a block
// with two scalars for each of the `count` inputs, the accumulators first, that returns a scalar
// for each. `inputs[i]` and `inits[i]` are the types that are combined, `inits` may be NULL (then
// the accumulators need only be promotions of the inputs). All under one constraint.
TSR_MUST_USE tsr_status tsr_check_combiner(const tsr_op *op, int region, const char *constraint,
                                           const tsr_type *const *inputs,
                                           const tsr_type *const *inits, int count);
// The same where elements may have a shape too: some of the sizes `dims`, in their order.
TSR_MUST_USE tsr_status tsr_check_combiner_of(const tsr_op *op, int region, const char *constraint,
                                              const tsr_type *const *inputs,
                                              const tsr_type *const *inits, int count,
                                              const int64_t *dims, int dim_count);
// Fails unless the elements of two types are of one kind (integers of any width, floats of any
// format), without which no combiner fits both.
TSR_MUST_USE tsr_status tsr_check_one_kind(const tsr_op *op, const char *constraint, const char *a,
                                           const tsr_type *a_type, const char *b,
                                           const tsr_type *b_type);
// reduce and reduce_window: as many initial values as inputs, inputs of one shape and of the kind
// of the initial values; and the body.
TSR_MUST_USE tsr_status tsr_check_inputs_and_inits(const tsr_op *op, const char *count,
                                                   const char *shape, const char *element);
TSR_MUST_USE tsr_status tsr_check_reducer(tsr_ir *ir, const tsr_op *op, const char *constraint,
                                          const int64_t *dims, int dim_count);
// The element type that a combiner returns at `index`; the block must have passed the check.
const tsr_type *tsr_combiner_element(const tsr_op *op, int region, int index);

// ---- what ops with static and with dynamic sizes share

// gather and dynamic_gather: (C1) to (C20) of the dimension numbers, and the result type. `slices`
// has a size for each dimension of the operand, TSR_DYNAMIC where it is not known.
TSR_MUST_USE tsr_status tsr_check_gather(const tsr_op *op, const tsr_attr *numbers,
                                         int64_t slice_count);
TSR_MUST_USE tsr_status tsr_infer_gathered(tsr_ir *ir, const tsr_op *op, const tsr_attr *numbers,
                                           const int64_t *slices, tsr_result_types *out);
// convolution and dynamic_conv: all constraints but those on the result, and the result type.
// `padding` is a DENSE of integers of shape [spatial dimensions, 2]; NULL = none, or not known.
TSR_MUST_USE tsr_status tsr_check_convolution(const tsr_op *op, const tsr_attr *padding);
TSR_MUST_USE tsr_status tsr_infer_convolved(tsr_ir *ir, const tsr_op *op, const tsr_attr *padding,
                                            tsr_result_types *out);
// Constraints on quantised elements of dot_general ((C14) and (C17) to (C20): `first` is 14) and of
// convolutions ((C28) and (C31) to (C34): 28).
TSR_MUST_USE tsr_status tsr_check_quantised_product(const tsr_op *op, int first);

// ---- quantised ops

// Fails unless the scales of quantised elements of the operand and the result are equal.
TSR_MUST_USE tsr_status tsr_check_kept_scales(const tsr_op *op, const char *constraint);
// Fails unless all operands and results are quantised, or none is.
TSR_MUST_USE tsr_status tsr_check_all_quantised(const tsr_op *op, const char *constraint);

#endif
