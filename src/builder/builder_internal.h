// A builder inside: a program, the place where the next op goes, and the first failure.
//
// Everything works on nodes and keeps silent after a failure, so that layers are written as users
// write models. Public functions open with tsr_builder_enter and end with tsr_builder_leave, which
// count the calls and name them in messages.
#ifndef TESSERA_BUILDER_BUILDER_INTERNAL_H
#define TESSERA_BUILDER_BUILDER_INTERNAL_H

#include "builder/builder_spec.h"
#include "ir/ir.h"
#include "tessera/program/builder.h"

enum {
  TSR_BUILDER_DEPTH = 16,     // of calls in calls: attention, softmax, reduce, ...
  TSR_BUILDER_NESTING = 256,  // of regions in regions
  TSR_BUILDER_ATTRS = 16,     // of one op
  TSR_BUILDER_LIST = 1 << 20  // operands, results or branches of one call
};

// The calls that are running, outermost first.
typedef struct tsr_builder_calls {
  int64_t number;
  int depth;
  const char *names[TSR_BUILDER_DEPTH];
} tsr_builder_calls;

typedef struct tsr_builder_output {
  tsr_value *value;
  const tsr_attr *attrs;  // a dictionary
} tsr_builder_output;

// A function while it is open.
typedef struct tsr_builder_function {
  tsr_op *op;
  tsr_ir_block *block;  // where the next op goes: its body, or a region in it
  int output_count;
  tsr_builder_output *outputs;
  int arg_count;
  const tsr_attr **arg_attrs;  // a dictionary each
} tsr_builder_function;

struct tsr_builder {
  tsr_ir *ir;
  tsr_status failure;
  bool spent;
  int64_t call_count;
  tsr_builder_calls calls;
  int nesting;
  tsr_builder_function main, function;
  tsr_builder_function *open;  // one of the two
  int64_t value_count, value_capacity;
  tsr_value **values;  // node - 1
  int mesh_count;
  tsr_builder_mesh *meshes;
};

// ---- calls and failures ----

// Opens a call; false if the builder has failed. Every call that opened ends with leave, which
// gives the node back, or 0 after a failure.
bool tsr_builder_enter(tsr_builder *builder, const char *name);
tsr_node tsr_builder_leave(tsr_builder *builder, tsr_node result);
// The same for calls with several results: all 0 after a failure. `enter` sets them to 0.
bool tsr_builder_enter_all(tsr_builder *builder, const char *name, tsr_node *results, int count);
void tsr_builder_leave_all(tsr_builder *builder, tsr_node *results, int count);
// Keeps the first failure, with the call it happened in. Gives false if there is one, this or an
// earlier one: `if (!tsr_builder_keep(b, check(...))) return`.
bool tsr_builder_keep(tsr_builder *builder, tsr_status status);

// ---- values ----

// The value of a node that can be used here; otherwise a failure that calls it "operand INDEX".
TSR_MUST_USE tsr_status tsr_builder_value(const tsr_builder *builder, tsr_node node, int index,
                                          tsr_value **out_value);
// The next node; 0 and a failure without memory.
tsr_node tsr_builder_add_value(tsr_builder *builder, tsr_value *value);
// The type of an operand that must be a static tensor of a dtype; NULL after a failure.
const tsr_type *tsr_builder_tensor(tsr_builder *builder, tsr_node node, int index);
tsr_shape tsr_shape_of_type(const tsr_type *type);
// A dimension from 0; -1 and a failure if the rank has no such dimension.
int tsr_builder_dim(tsr_builder *builder, int64_t dim, int rank);
// The same for a list, which must have no dimension twice.
bool tsr_builder_dims(tsr_builder *builder, const tsr_shape *dims, int rank, tsr_shape *out_dims);
// Whether a list of one number per dimension has the length of the rank.
bool tsr_builder_list(tsr_builder *builder, const char *what, const tsr_shape *list, int rank);
// Whether a list of `count` elements can be read.
bool tsr_builder_given(tsr_builder *builder, const char *what, const void *list, int count,
                       int least);

// ---- functions ----

// A function that is open from now on.
TSR_MUST_USE tsr_status tsr_builder_open(tsr_builder *builder, tsr_builder_function *function,
                                         const char *name, const char *visibility);
// Adds its return and sets its type; main is open afterwards.
TSR_MUST_USE tsr_status tsr_builder_close(tsr_builder *builder, tsr_builder_function *function);

// ---- types ----

// A static tensor; fails for an unknown dtype and a bad shape.
TSR_MUST_USE tsr_status tsr_builder_type(tsr_builder *builder, tsr_dtype dtype,
                                         const tsr_shape *shape, const tsr_type **out_type);
// "WHAT TYPE and TYPE, expected equal types".
#define tsr_fail_types(cause, what, a, b) \
  tsr_fail_types_at(TSR_CAUSE_##cause, __FILE__, __LINE__, what, a, b)
TSR_MUST_USE tsr_status tsr_fail_types_at(tsr_cause cause, const char *file, int line,
                                          const char *what, const tsr_type *a, const tsr_type *b);

// ---- ops ----

// The row of a name such as "stablehlo.add", "add" or "erf"; a failure suggests the nearest.
TSR_MUST_USE tsr_status tsr_builder_find_op(const char *name, const tsr_op_info **out_info);

typedef struct tsr_builder_region {
  tsr_build_fn *build;
  void *context;
  int arg_count, result_count;
  const tsr_type *const *args;
  bool own;  // built by this room: its calls are part of the call that is running
} tsr_builder_region;

// An op to be added.
typedef struct tsr_builder_op {
  tsr_builder *builder;
  tsr_op_id id;
  int operand_count;
  const tsr_node *operands;
  int attr_count;
  tsr_named_attr attrs[TSR_BUILDER_ATTRS];
  int region_count;
  const tsr_builder_region *regions;
  int type_count;                // -1 = inferred
  const tsr_type *const *types;  // of the results
} tsr_builder_op;

tsr_builder_op tsr_builder_draft(tsr_builder *builder, tsr_op_id id, const tsr_node *operands,
                                 int count);
// NULL is an attribute for which there was no memory.
void tsr_builder_attr(tsr_builder_op *draft, const char *name, const tsr_attr *attr);
void tsr_builder_ints(tsr_builder_op *draft, const char *name, const tsr_shape *list);
void tsr_builder_int(tsr_builder_op *draft, const char *name, int64_t value);
// Adds the op, which must have `count` results; -1 = any number. Gives its first result, and all
// of them in `out_results`, which may be NULL.
tsr_node tsr_builder_emit(const tsr_builder_op *draft, tsr_node *out_results, int count);
// Adds an op with one result, inferred or of this dtype and shape.
tsr_node tsr_builder_emit_one(const tsr_builder_op *draft);
// Gives an op the results that it lacks, and checks it.
TSR_MUST_USE tsr_status tsr_builder_add_results(const tsr_builder_op *draft, tsr_op *op);
tsr_node tsr_builder_emit_shaped(tsr_builder_op *draft, tsr_dtype dtype, const tsr_shape *shape);
// Fills a block with what `region` builds, and ends it with a terminator unless that is
// TSR_OP_UNKNOWN. `out_values` (may be NULL) gets its results.
TSR_MUST_USE tsr_status tsr_builder_fill(tsr_builder *builder, tsr_ir_block *block,
                                         const tsr_builder_region *region, tsr_op_id terminator,
                                         tsr_node *out_values);
// Calls a function of the user, whose calls count on their own.
void tsr_builder_run(tsr_builder *builder, tsr_build_fn *build, const tsr_node *args,
                     tsr_node *results, void *context);
TSR_MUST_USE tsr_status tsr_builder_terminate(tsr_builder *builder, tsr_ir_block *block,
                                              tsr_op_id id, const tsr_node *nodes, int count);

// ---- shared by several layers ----

// The shape that several operands broadcast to.
bool tsr_builder_common(tsr_builder *builder, const tsr_node *operands, int count,
                        tsr_shape *out_shape);
tsr_node tsr_build_scalar(tsr_builder *builder, tsr_dtype dtype, double value);
// The op of a kind of reduction: "add", "max", ...
TSR_MUST_USE tsr_status tsr_reduction_find(const char *kind, tsr_op_id *out_op);
// A region of two scalars of this type that applies `*op` to them, or gives the second for
// TSR_OP_UNKNOWN. Borrows all it is given.
tsr_builder_region tsr_reduction_region(const tsr_type *const *pair, tsr_op_id *op);
// The scalar that changes nothing when combined by `op`.
tsr_node tsr_build_neutral(tsr_builder *builder, tsr_op_id op, tsr_dtype dtype);
// x in f32 if it is a float narrower than that, x itself otherwise.
tsr_node tsr_build_widened(tsr_builder *builder, tsr_node x);
// x without a dimension that has size 1.
tsr_node tsr_build_squeeze(tsr_builder *builder, tsr_node x, int dim);

// The sharding that a spec gives to a value of this type.
TSR_MUST_USE tsr_status tsr_builder_sharding(tsr_builder *builder, const char *spec,
                                             const tsr_type *type, const tsr_attr **out_attr);

#endif
