// Propagation: a few shardings become those of all values of a program, as Shardy does it in JAX,
// and every one of them can be explained.
//
//   TSR_OWN(propagation, step);  // destroyed at the end of the block: tessera/own.h
//   tsr_propagate_options options = TSR_PROPAGATE_OPTIONS;
//   options.plan = plan;         // how the arguments are cut, by their names
//   TSR_TRY(tsr_program_propagate(program, &options, &step));
//   tsr_sharded_value value = TSR_SHARDED_VALUE;
//   TSR_TRY(tsr_propagation_find(step, "%12", &value));
//   printf("%s\n", value.sharding);  // #sdy.sharding<@mesh, [{"data"}, {}]>
//   TSR_TRY(tsr_propagation_explain(step, "%12", 1, &text));  // why dimension 1 is cut, or not
//
// What is named. "%12", "%5#1", "%arg0" and "%cst_0" are values of the entry function with the
// numbers that `tessera opt` and tsr_program_print give to the program that was propagated; "out0"
// is a result of the function, and so is its name in JAX ("result[1]['w']"); an argument is also
// its name in JAX ("params['w']") or its path ("params/w"). "@f:%3" is a value of the function @f,
// "%7/%3" one in the regions of %7. Anything else is the name of a location, as JAX writes it.
#ifndef TESSERA_PROGRAM_PROPAGATION_H
#define TESSERA_PROGRAM_PROPAGATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/mesh.h"
#include "tessera/plan.h"
#include "tessera/program/program.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"
#include "tessera/tree.h"

TSR_BEGIN_DECLS

// ---- arguments as tensors ----
//
// The path of an argument is its name in JAX with the keys joined by "/": params['layers'][0].w is
// "params/layers/0/w". Two names are the same if they are equal once every separator ("/", ".", and
// the brackets and quotes of keys) is written as "/". So a row "params.layers.0.w" or
// "params/layers/0/w" of a plan means this argument, and so does "layers.0.w", of a checkpoint of
// the parameters alone: the name of the Python argument may be left out.

// The arguments of the entry as a tree: what plans are made for.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_program_tree(const tsr_program *program,
                                                             tsr_tree **out_tree);
// The shardings of the entry's arguments as a plan. Arguments without one are not cut. Fails if the
// program has no mesh, or arguments on several.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_program_plan(const tsr_program *program,
                                                             tsr_plan **out_plan);

// ---- propagating ----

typedef enum tsr_propagate_strategy {
  TSR_PROPAGATE_AGGRESSIVE,  // conflicts within an op are decided for the larger tensor
  TSR_PROPAGATE_BASIC,       // axes in conflict stay where they are
  TSR_PROPAGATE_BASIC_FIRST  // the one, then the other
} tsr_propagate_strategy;

// A sharding that the program does not have: of an argument or result of the entry it replaces the
// one there, as in_shardings and out_shardings of jax.jit do; on any other value it is a
// with_sharding_constraint, which later uses of the value see.
typedef struct tsr_value_constraint {
  const char *value;  // as above
  const char *spec;   // "data, _", or in any other notation of tessera/spec.h
} tsr_value_constraint;

typedef struct tsr_propagate_options {
  size_t size;  // sizeof(tsr_propagate_options)
  // The mesh of a program that has none; otherwise it replaces the program's, so that one can ask
  // what another number of devices would give. NULL = the program's, or else the plan's.
  const tsr_mesh *mesh;
  // Replaces the shardings of the entry's arguments that it has rows for, by name. Its mesh must be
  // the program's. Fails with shapes_differ, and with bad_cut where a size does not divide.
  const tsr_plan *plan;
  const tsr_value_constraint *constraints;
  int64_t constraint_count;
  tsr_propagate_strategy strategy;
  bool no_op_priorities;  // all ops at once
  bool conservative;      // neither split axes nor shard what they do not divide
  bool shared_functions;  // one set of shardings for all calls of a function
} tsr_propagate_options;
#define TSR_PROPAGATE_OPTIONS TSR_SIZED(tsr_propagate_options)

typedef struct tsr_propagation tsr_propagation;  // immutable, read by any threads

// Propagates as Shardy's pipeline does (sdy-propagation-pipeline). A program without shardings is
// no failure: then no value has one. Fails for tuples and unknown sizes.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_program_propagate(const tsr_program *program, const tsr_propagate_options *options,
                          tsr_propagation **out_propagation);
TSR_API void tsr_propagation_destroy(tsr_propagation *propagation);  // NULL is fine
// The program with shardings on all values. Borrowed: retain it to keep it longer.
TSR_API TSR_NONNULL const tsr_program *tsr_propagation_program(const tsr_propagation *propagation);

typedef struct tsr_propagation_info {
  size_t size;             // sizeof(tsr_propagation_info)
  int64_t value_count;     // tensors; those of a function once for each copy that calls make
  int64_t sharded_count;   // with at least one axis
  int64_t given_count;     // whose sharding the program or the caller gave
  int64_t conflict_count;  // ops whose operands and results are not cut alike, so that data moves
  int64_t unread_count;    // shardings in XLA's form (mhlo.sharding) alone, which do not propagate
  // Arguments that the plan has no row for, and rows that no argument takes.
  int64_t unmatched_count, unused_count;
  const char *const *unmatched, *const *unused;
} tsr_propagation_info;
#define TSR_PROPAGATION_INFO TSR_SIZED(tsr_propagation_info)
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status
tsr_propagation_describe(const tsr_propagation *propagation, tsr_propagation_info *out_info);

// ---- asking ----

typedef struct tsr_sharded_value {
  size_t size;           // sizeof(tsr_sharded_value)
  const char *name;      // "%12", "out0"
  const char *function;  // that it belongs to
  const char *type;      // "tensor<8x16xf32>"
  const char *sharding;  // #sdy.sharding<...>; NULL = none
  const tsr_spec *spec;  // the same; NULL = none, or one that specs cannot express
  int64_t copies;        // of the function, one for each call; the sharding is that of the first
  bool copies_differ;
  bool given;  // the program or the caller gave at least part of it
} tsr_sharded_value;
#define TSR_SHARDED_VALUE TSR_SIZED(tsr_sharded_value)
// A value by name. What it points to lives as long as the propagation. Fails with not_found, naming
// the nearest names, and with bad_argument if several values have the name.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_propagation_find(const tsr_propagation *propagation,
                                                                 const char *value,
                                                                 tsr_sharded_value *out_value);
// Adds why a value is cut as it is: for each dimension (or only `dim`; -1 = all) the way of each of
// its axes, op by op with priorities, back to an annotation, a constraint or a row of the plan; and
// the axes that it could have got but did not, with the reason.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_propagation_explain(
    const tsr_propagation *propagation, const char *value, int dim, tsr_text *out);
// Adds a line for each value whose sharding differs between two propagations of one program: what a
// constraint, a plan or a strategy changes. `out_count` gets their number.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_propagation_compare(const tsr_propagation *before,
                                                                    const tsr_propagation *after,
                                                                    int64_t *out_count,
                                                                    tsr_text *out);

TSR_END_DECLS

#endif
