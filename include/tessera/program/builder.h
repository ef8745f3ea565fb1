// Builder: programs written in C, op by op, without Python.
//
//   static tsr_status build(tsr_program **out_program) {
//     TSR_OWN(builder, b);
//     TSR_TRY(tsr_builder_create("mlp", &b));
//     const tsr_node x = tsr_build_parameter(b, "x", TSR_F32, TSR_SHAPE(8, 64), NULL);
//     const tsr_node w = tsr_build_parameter(b, "w", TSR_F32, TSR_SHAPE(64, 256), NULL);
//     const tsr_node both[] = {x, w};
//     const tsr_node h = tsr_build_gelu(b, tsr_build_einsum(b, "bd,dh->bh", both, 2), true);
//     tsr_build_output(b, tsr_build_softmax(b, h, -1), "p", NULL);
//     return tsr_builder_finish(b, out_program);
//   }
//
// Model code has no checks. The builder keeps the first failure, all later calls do nothing and
// return the node 0, and tsr_builder_finish reports it. Its message counts the calls and names op,
// argument, and the types found and expected:
//   call 3, add: operands have dtypes f32 and bf16, expected the same dtype
//
// Rules of all functions below:
// - Ops are checked when they are added: types of results are inferred, and the constraints of the
//   specification hold. Shapes are static; tsr_build_op takes any other type as text.
// - Dtypes are never promoted; convert them (tsr_build_convert).
// - Shapes of elementwise operands are broadcast as in NumPy: aligned at the last dimension, and
//   dimensions of size 1 or absent repeat. It is written as stablehlo.broadcast_in_dim.
// - Dimensions count from 0; negative ones from the end. Lists of them are written TSR_DIMS(0, -1).
// - A node is used in the function or region that made it, and in regions inside of that.
// - A builder is used by one thread at a time.
#ifndef TESSERA_PROGRAM_BUILDER_H
#define TESSERA_PROGRAM_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/dtype.h"
#include "tessera/mesh.h"
#include "tessera/program/program.h"
#include "tessera/shape.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

typedef struct tsr_builder tsr_builder;

// A value of the program being built: an argument or a result of an op. All zero is no value.
typedef struct tsr_node {
  int32_t id;
} tsr_node;

#ifndef __cplusplus  // as TSR_SHAPE
#define TSR_NO_NODE ((tsr_node){0})
// A list of dimensions or of one number per dimension: TSR_DIMS(0, 2, 1).
#define TSR_DIMS(...) TSR_SHAPE(__VA_ARGS__)
#endif

// A builder whose module has this name (NULL = none) and whose function "main" is open.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(2) tsr_status
    tsr_builder_create(const char *name, tsr_builder **out_builder);
TSR_API void tsr_builder_destroy(tsr_builder *builder);  // NULL is fine
// The first failure of all calls, or the program, checked as a whole. The builder is spent
// afterwards: finishing again fails with bad_argument.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_builder_finish(tsr_builder *builder,
                                                               tsr_program **out_program);
// Whether a call has failed, for loops that would not end.
TSR_API TSR_NONNULL bool tsr_builder_failed(const tsr_builder *builder);
// The shape and dtype of a node. After a failure, and for values that are not static tensors, a
// scalar and TSR_DTYPE_NONE.
TSR_API TSR_NONNULL tsr_shape tsr_build_shape_of(const tsr_builder *builder, tsr_node x);
TSR_API TSR_NONNULL tsr_dtype tsr_build_dtype_of(const tsr_builder *builder, tsr_node x);

// ---- functions, parameters, outputs ----

typedef struct tsr_parameter_options {
  size_t size;       // sizeof(tsr_parameter_options)
  const char *spec;  // its sharding, such as "data, model" (tessera/spec.h); NULL = not given
  bool donate;       // its memory may be reused for results
} tsr_parameter_options;
#define TSR_PARAMETER_OPTIONS TSR_SIZED(tsr_parameter_options)
// The next argument of the open function. The name may be NULL.
TSR_API TSR_NONNULL_AT(1, 4) tsr_node
    tsr_build_parameter(tsr_builder *builder, const char *name, tsr_dtype dtype,
                        const tsr_shape *shape, const tsr_parameter_options *options);

typedef struct tsr_output_options {
  size_t size;       // sizeof(tsr_output_options)
  const char *spec;  // its sharding; NULL = not given
  tsr_node takes;    // a parameter of the same type whose memory this output takes
} tsr_output_options;
#define TSR_OUTPUT_OPTIONS TSR_SIZED(tsr_output_options)
// The next result of the open function. The name may be NULL.
TSR_API TSR_NONNULL_AT(1) void tsr_build_output(tsr_builder *builder, tsr_node x, const char *name,
                                                const tsr_output_options *options);

// A private function: parameters and outputs between begin and end are its own. Functions are not
// nested. tsr_build_call calls a function that has ended; it has `count` outputs.
TSR_API TSR_NONNULL void tsr_build_begin_function(tsr_builder *builder, const char *name);
TSR_API TSR_NONNULL void tsr_build_end_function(tsr_builder *builder);
TSR_API TSR_NONNULL_AT(1, 2) void tsr_build_call(tsr_builder *builder, const char *name,
                                                 const tsr_node *operands, int operand_count,
                                                 tsr_node *out_results, int count);

// Declares a mesh (sdy.mesh) that specs refer to. NULL is the name "mesh", which specs without
// "| mesh=NAME" have. The program runs on as many devices as the largest mesh has.
TSR_API TSR_NONNULL_AT(1, 3) void tsr_build_mesh(tsr_builder *builder, const char *name,
                                                 const tsr_mesh *mesh);
// The value with a sharding that propagation must respect: sdy.sharding_constraint.
TSR_API TSR_NONNULL tsr_node tsr_build_constrain(tsr_builder *builder, tsr_node x,
                                                 const char *spec);
// with_logical_constraint: the same by names of logical axes, "batch, _, embed", which the rules in
// scope map (tsr_logical_enter). Without rules, and without a mesh, the value stays as it is. The
// mesh is the program's "mesh", or else the current one (tsr_mesh_enter), which is declared as
// that.
TSR_API TSR_NONNULL tsr_node tsr_build_constrain_logical(tsr_builder *builder, tsr_node x,
                                                         const char *names);

// ---- any op ----

// Builds a region: reads `args`, writes its results. Both have as many nodes as the caller of the
// region says. Nodes from outside may be used.
typedef void tsr_build_fn(tsr_builder *builder, const tsr_node *args, tsr_node *results,
                          void *context);

typedef struct tsr_build_region {
  tsr_build_fn *build;
  void *context;
  const char *args;  // their types, "tensor<f32>, tensor<f32>"; NULL = none
  int result_count;
} tsr_build_region;

typedef struct tsr_op_options {
  size_t size;          // sizeof(tsr_op_options)
  const char *attrs;    // in MLIR's notation: "dimension = 1, is_stable = true"; NULL = none
  const char *results;  // types that do not follow from the operands: "tensor<4xf32>, tensor<i32>"
  int region_count;
  const tsr_build_region *regions;
} tsr_op_options;
#define TSR_OP_OPTIONS TSR_SIZED(tsr_op_options)
// One op by name: "stablehlo.cbrt", "chlo.erf"; without a dialect stablehlo's, or else chlo's.
// Gives its first result. Operands are not broadcast. [0, 1] in `attrs` stands for
// array<i64: 0, 1> where the op wants that.
TSR_API TSR_NONNULL_AT(1, 2) tsr_node
    tsr_build_op(tsr_builder *builder, const char *name, const tsr_node *operands, int count,
                 const tsr_op_options *options);
// Another result of the op whose first result is `first`.
TSR_API TSR_NONNULL tsr_node tsr_build_result(tsr_builder *builder, tsr_node first, int index);

// ---- constants ----

// Elements in row-major order, copied; a bool takes a byte, elements narrower than a byte are
// packed.
TSR_API TSR_NONNULL_AT(1, 3) tsr_node tsr_build_constant(tsr_builder *builder, tsr_dtype dtype,
                                                         const tsr_shape *shape, const void *data);
// All elements are `value`, rounded to a float dtype; integer dtypes must hold it exactly.
TSR_API TSR_NONNULL tsr_node tsr_build_splat(tsr_builder *builder, tsr_dtype dtype,
                                             const tsr_shape *shape, double value);
// 0, 1, 2, ... along a dimension.
TSR_API TSR_NONNULL tsr_node tsr_build_iota(tsr_builder *builder, tsr_dtype dtype,
                                            const tsr_shape *shape, int dim);

// ---- elementwise ----

// By the op's name: unary "exponential", "tanh", "rsqrt", "erf", ...; binary "add", "divide",
// "maximum", "power", ... Operands are broadcast.
TSR_API TSR_NONNULL tsr_node tsr_build_unary(tsr_builder *builder, const char *name, tsr_node x);
TSR_API TSR_NONNULL tsr_node tsr_build_binary(tsr_builder *builder, const char *name, tsr_node x,
                                              tsr_node y);
// "EQ", "NE", "GE", "GT", "LE" or "LT".
TSR_API TSR_NONNULL tsr_node tsr_build_compare(tsr_builder *builder, const char *direction,
                                               tsr_node x, tsr_node y);
// x where the condition holds, y elsewhere.
TSR_API TSR_NONNULL tsr_node tsr_build_select(tsr_builder *builder, tsr_node condition, tsr_node x,
                                              tsr_node y);
TSR_API TSR_NONNULL tsr_node tsr_build_clamp(tsr_builder *builder, tsr_node low, tsr_node x,
                                             tsr_node high);
// The same value if it has the dtype.
TSR_API TSR_NONNULL tsr_node tsr_build_convert(tsr_builder *builder, tsr_node x, tsr_dtype dtype);

static inline tsr_node tsr_build_add(tsr_builder *builder, tsr_node x, tsr_node y) {
  return tsr_build_binary(builder, "add", x, y);
}
static inline tsr_node tsr_build_subtract(tsr_builder *builder, tsr_node x, tsr_node y) {
  return tsr_build_binary(builder, "subtract", x, y);
}
static inline tsr_node tsr_build_multiply(tsr_builder *builder, tsr_node x, tsr_node y) {
  return tsr_build_binary(builder, "multiply", x, y);
}
static inline tsr_node tsr_build_divide(tsr_builder *builder, tsr_node x, tsr_node y) {
  return tsr_build_binary(builder, "divide", x, y);
}

// ---- shapes and data movement ----

// To a shape that x broadcasts to, by NumPy's rule; or with `dims`, dimension i of x becomes
// dims[i]. The same value if it has the shape.
TSR_API TSR_NONNULL_AT(1, 3) tsr_node
    tsr_build_broadcast(tsr_builder *builder, tsr_node x, const tsr_shape *shape,
                        const tsr_shape *dims);
// One size may be -1. The same value if it has the shape.
TSR_API TSR_NONNULL tsr_node tsr_build_reshape(tsr_builder *builder, tsr_node x,
                                               const tsr_shape *shape);
// Dimension i of the result is permutation[i] of x; NULL reverses the dimensions.
TSR_API TSR_NONNULL_AT(1) tsr_node
    tsr_build_transpose(tsr_builder *builder, tsr_node x, const tsr_shape *permutation);
// x[start:limit:stride]; NULL strides are 1.
TSR_API TSR_NONNULL_AT(1, 3, 4) tsr_node
    tsr_build_slice(tsr_builder *builder, tsr_node x, const tsr_shape *starts,
                    const tsr_shape *limits, const tsr_shape *strides);
// NULL interior padding is 0. Negative padding at the ends removes elements.
TSR_API TSR_NONNULL_AT(1, 4, 5) tsr_node
    tsr_build_pad(tsr_builder *builder, tsr_node x, tsr_node value, const tsr_shape *low,
                  const tsr_shape *high, const tsr_shape *interior);
TSR_API TSR_NONNULL tsr_node tsr_build_concatenate(tsr_builder *builder, const tsr_node *operands,
                                                   int count, int dim);
// One scalar start per dimension. Starts are clamped so that the slice is inside of x.
TSR_API TSR_NONNULL_AT(1, 4) tsr_node
    tsr_build_dynamic_slice(tsr_builder *builder, tsr_node x, const tsr_node *starts,
                            const tsr_shape *sizes);
TSR_API TSR_NONNULL_AT(1) tsr_node
    tsr_build_dynamic_update(tsr_builder *builder, tsr_node x, tsr_node update,
                             const tsr_node *starts);
// Rows of x along `dim`, by integer indices of any shape, which takes the place of that dimension:
// embeddings are take(table, tokens, 0). Indices are clamped.
TSR_API TSR_NONNULL tsr_node tsr_build_take(tsr_builder *builder, tsr_node x, tsr_node indices,
                                            int dim);
// The inverse: x with `updates`, shaped as take's result, combined into its rows. `kind` is "set"
// or one of tsr_build_reduce. Indices out of range are ignored.
TSR_API TSR_NONNULL tsr_node tsr_build_scatter(tsr_builder *builder, const char *kind, tsr_node x,
                                               tsr_node indices, tsr_node updates, int dim);

// ---- reductions, contractions, sorting ----

// "add", "mul", "max", "min", "and", "or", or "mean". NULL dims are all. With `keep` reduced
// dimensions stay, with size 1.
TSR_API TSR_NONNULL_AT(1, 2) tsr_node
    tsr_build_reduce(tsr_builder *builder, const char *kind, tsr_node x, const tsr_shape *dims,
                     bool keep);
// Several operands at once by a function of scalars: args are `count` accumulated values, then
// `count` elements; results the `count` new values.
TSR_API TSR_NONNULL_AT(1, 2, 3, 6,
                       8) void tsr_build_reduce_with(tsr_builder *builder, const tsr_node *operands,
                                                     const tsr_node *initial, int count,
                                                     const tsr_shape *dims, tsr_build_fn *reducer,
                                                     void *context, tsr_node *out_results);

// "bsd,dh->bsh": any number of operands, as numpy.einsum. Without "->" the result has the labels
// that occur once, in alphabetical order. A label twice in an operand is its diagonal; "..." stands
// for dimensions that are broadcast. Operands are contracted in pairs, smallest results first.
TSR_API TSR_NONNULL tsr_node tsr_build_einsum(tsr_builder *builder, const char *equation,
                                              const tsr_node *operands, int count);

typedef struct tsr_dot_options {
  size_t size;                               // sizeof(tsr_dot_options)
  const tsr_shape *x_batch, *y_batch;        // pairs of dimensions that both have; NULL = none
  const tsr_shape *x_contract, *y_contract;  // pairs that are summed over; NULL = none
  tsr_dtype dtype;                           // of the result; TSR_DTYPE_NONE = that of x
  const char *precision;                     // "DEFAULT", "HIGH" or "HIGHEST"; NULL = not given
} tsr_dot_options;
#define TSR_DOT_OPTIONS TSR_SIZED(tsr_dot_options)
// The result has the batch dimensions, the others of x, the others of y.
TSR_API TSR_NONNULL_AT(1) tsr_node
    tsr_build_dot_general(tsr_builder *builder, tsr_node x, tsr_node y,
                          const tsr_dot_options *options);

typedef struct tsr_convolution_options {
  size_t size;                  // sizeof(tsr_convolution_options)
  const char *dims;             // NULL = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"
  const tsr_shape *strides;     // NULL = 1
  const tsr_shape *low, *high;  // padding; NULL = 0
  const tsr_shape *x_dilation, *kernel_dilation;  // NULL = 1
  int64_t feature_groups, batch_groups;           // 0 = 1
} tsr_convolution_options;
#define TSR_CONVOLUTION_OPTIONS TSR_SIZED(tsr_convolution_options)
TSR_API TSR_NONNULL_AT(1) tsr_node
    tsr_build_convolution(tsr_builder *builder, tsr_node x, tsr_node kernel,
                          const tsr_convolution_options *options);

// Sorts `count` operands of one shape together along a dimension, stably. `before` gets the pair of
// elements of each operand and gives one bool; NULL sorts ascending by the first operand.
TSR_API TSR_NONNULL_AT(1, 2, 7) void tsr_build_sort(tsr_builder *builder, const tsr_node *operands,
                                                    int count, int dim, tsr_build_fn *before,
                                                    void *context, tsr_node *out_results);
// The k largest elements of the last dimension, descending; `out_indices` (i32) may be NULL.
TSR_API TSR_NONNULL_AT(1) tsr_node
    tsr_build_top_k(tsr_builder *builder, tsr_node x, int64_t k, tsr_node *out_indices);

// ---- control flow ----

// While `condition` (one scalar bool) holds, `body` makes new values from the `count` values.
TSR_API TSR_NONNULL_AT(1, 4, 5) void tsr_build_while(tsr_builder *builder, const tsr_node *initial,
                                                     int count, tsr_build_fn *condition,
                                                     tsr_build_fn *body, void *context,
                                                     tsr_node *out_results);
// Branches have no args and `count` results of the same types.
TSR_API TSR_NONNULL_AT(1, 3, 4) void tsr_build_if(tsr_builder *builder, tsr_node condition,
                                                  tsr_build_fn *then, tsr_build_fn *otherwise,
                                                  void *context, tsr_node *out_results, int count);
// The branch with this number (i32); the last one for numbers out of range.
TSR_API TSR_NONNULL_AT(1, 3) void tsr_build_case(tsr_builder *builder, tsr_node index,
                                                 tsr_build_fn *const *branches, int branch_count,
                                                 void *context, tsr_node *out_results, int count);

typedef struct tsr_scan_options {
  size_t size;     // sizeof(tsr_scan_options)
  int64_t length;  // steps; needed without inputs only
  bool reverse;    // from the last to the first
} tsr_scan_options;
#define TSR_SCAN_OPTIONS TSR_SIZED(tsr_scan_options)
// A loop over the leading dimension of the inputs. The body's args are the carries, then one slice
// of each input; its results the new carries, then one slice of each of the `output_count` outputs.
// `out_results` gets the last carries, then the stacked outputs.
TSR_API TSR_NONNULL_AT(1, 7) void tsr_build_scan(tsr_builder *builder, const tsr_node *carries,
                                                 int carry_count, const tsr_node *inputs,
                                                 int input_count, int output_count,
                                                 tsr_build_fn *body, void *context,
                                                 const tsr_scan_options *options,
                                                 tsr_node *out_results);
// The values themselves, which no optimisation moves computations across.
TSR_API TSR_NONNULL_AT(1) void tsr_build_barrier(tsr_builder *builder, const tsr_node *operands,
                                                 int count, tsr_node *out_results);

// ---- layers ----
//
// Softmax, norms, attention and rotary compute in f32 where the operand is a narrower float, and
// give a result of the operand's dtype.

// exp(x - max) / sum(exp(x - max)) along a dimension.
TSR_API TSR_NONNULL tsr_node tsr_build_softmax(tsr_builder *builder, tsr_node x, int dim);
// Over the last dimension; scale and bias have its size, or are 0: none.
TSR_API TSR_NONNULL tsr_node tsr_build_layer_norm(tsr_builder *builder, tsr_node x, tsr_node scale,
                                                  tsr_node bias, double epsilon);
TSR_API TSR_NONNULL tsr_node tsr_build_rms_norm(tsr_builder *builder, tsr_node x, tsr_node scale,
                                                double epsilon);
// With `approximate` by tanh, otherwise by erf.
TSR_API TSR_NONNULL tsr_node tsr_build_gelu(tsr_builder *builder, tsr_node x, bool approximate);
TSR_API TSR_NONNULL tsr_node tsr_build_silu(tsr_builder *builder, tsr_node x);  // x * logistic(x)
// Rotary position embedding of x [..., time, heads, size] at integer positions [..., time]: the
// first and second half of the last dimension are rotated by position * base^(-2i / size).
TSR_API TSR_NONNULL tsr_node tsr_build_rotary(tsr_builder *builder, tsr_node x, tsr_node positions,
                                              double base);

typedef struct tsr_attention_options {
  size_t size;    // sizeof(tsr_attention_options)
  bool causal;    // position t sees positions 0 to t
  double scale;   // of the products; 0 = 1 / sqrt(size)
  tsr_node mask;  // bool, true = seen; broadcast to [..., heads, time, source time]
  tsr_node bias;  // added to the scaled products; broadcast likewise
} tsr_attention_options;
#define TSR_ATTENTION_OPTIONS TSR_SIZED(tsr_attention_options)
// softmax(queries * keys * scale + bias) * values. Queries are [..., time, heads, size]; keys and
// values [..., source time, key heads, size] with as many heads or a divisor: grouped heads share
// keys. A position that sees nothing gets the mean of all values.
TSR_API TSR_NONNULL_AT(1) tsr_node
    tsr_build_attention(tsr_builder *builder, tsr_node queries, tsr_node keys, tsr_node values,
                        const tsr_attention_options *options);

TSR_END_DECLS

#endif
