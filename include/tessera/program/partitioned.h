// Partitioned programs: a program for all devices of a mesh, compiled, and called on sharded
// arrays, as jax.jit, .lower() and .compile() do it.
//
//   TSR_OWN(program, program);  // released at the end of the block: tessera/own.h
//   TSR_OWN(partitioned, step);
//   TSR_OWN(compiled, run);
//   TSR_TRY(tsr_program_open("step.bin", NULL, &program));
//   TSR_TRY(tsr_program_partition(program, NULL, &step));      // on the mesh of the program
//   TSR_TRY(tsr_partitioned_compile(step, comm, NULL, &run));  // for the devices of a comm
//   tsr_partitioned_value x = TSR_PARTITIONED_VALUE;
//   TSR_TRY(tsr_partitioned_argument(step, 0, &x));            // x.layout: who holds what of it
//   TSR_TRY(tsr_array_shard(comm, x.layout, x.dtype, host, NULL, &inputs[0]));
//   TSR_TRY(tsr_compiled_call(run, inputs, NULL, outputs));
//
// Arguments and results are those of the entry function, in its order; docs/train-on-8-devices.md
// goes through a whole training run.
#ifndef TESSERA_PROGRAM_PARTITIONED_H
#define TESSERA_PROGRAM_PARTITIONED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/array.h"
#include "tessera/comm.h"
#include "tessera/dtype.h"
#include "tessera/layout.h"
#include "tessera/mesh.h"
#include "tessera/plan.h"
#include "tessera/program/executable.h"
#include "tessera/program/program.h"
#include "tessera/program/propagation.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

typedef struct tsr_partitioned tsr_partitioned;  // immutable, shared by any threads

// ---- partitioning ----

// static_argnums: an argument whose value becomes part of the program. It goes from the signature.
typedef struct tsr_static_argument {
  const char *argument;    // its name or path (tessera/program/propagation.h), or "%arg3"
  tsr_dtype dtype;         // must be the argument's
  const tsr_shape *shape;  // NULL = a scalar; must be the argument's
  const void *data;        // row-major; a bool takes a byte, narrower elements are packed
} tsr_static_argument;

typedef struct tsr_partition_options {
  size_t size;  // sizeof(tsr_partition_options)
  // As in tsr_propagate_options. NULL also means the current mesh of this thread (tsr_mesh_enter),
  // where neither program nor plan has one.
  const tsr_mesh *mesh;
  const tsr_plan *plan;
  // in_shardings, out_shardings and constraints by name. The name of an argument or result may be
  // the beginning of others: "params" means all below it. A size that does not divide is refused.
  // Values without a spec get what propagates to them.
  const tsr_value_constraint *specs;
  int64_t spec_count;
  bool logical;  // specs name logical axes, which the rules in scope map (tsr_logical_enter)
  // donate_argnums: arguments whose memory calls may take, besides those that the program donates.
  // A name may be the beginning of others.
  const char *const *donated;
  int64_t donated_count;
  const tsr_static_argument *statics;
  int64_t static_count;
  const char *platform;  // of a jax.export file for several, as in tsr_compile_options
} tsr_partition_options;
#define TSR_PARTITION_OPTIONS TSR_SIZED(tsr_partition_options)

// Propagates the shardings and makes the program of one device. Fails with no_mesh_active without a
// mesh, and by name for values that do not fit: unknown axes, sizes that do not divide, a static
// argument of another type or without a value.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_program_partition(const tsr_program *program, const tsr_partition_options *options,
                          tsr_partitioned **out_partitioned);
TSR_API void tsr_partitioned_release(const tsr_partitioned *partitioned);  // NULL is fine

// The program before and after partitioning, for printing. Borrowed.
typedef enum tsr_lowered_form {
  TSR_LOWERED_WHOLE,   // whole tensors with the shardings that were asked for
  TSR_LOWERED_DEVICE,  // what one device runs: its shards, and collectives
  TSR_LOWERED_FORM_COUNT
} tsr_lowered_form;
// NULL for another form.
TSR_API TSR_NONNULL const tsr_program *tsr_partitioned_lower(const tsr_partitioned *partitioned,
                                                             tsr_lowered_form form);

// Bytes are those of one device.
typedef struct tsr_partitioned_info {
  size_t size;           // sizeof(tsr_partitioned_info)
  const tsr_mesh *mesh;  // borrowed
  int64_t device_count, argument_count, result_count;
  int64_t argument_bytes, result_bytes;  // of its shards
  // Of one run. Bytes as in tsr_preflight_reshard; collectives in loops of unknown length count
  // once.
  int64_t collective_count, collective_bytes;
  int64_t unknown_loops;
  int64_t fallback_count;  // rows of tsr_partitioned_fallback_at
} tsr_partitioned_info;
#define TSR_PARTITIONED_INFO TSR_SIZED(tsr_partitioned_info)
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status
tsr_partitioned_describe(const tsr_partitioned *partitioned, tsr_partitioned_info *out_info);

// An operand that is gathered along a dimension because its op cannot be cut there: ops that are
// alike are one row. Texts live as long as the partitioned program.
typedef struct tsr_partition_fallback {
  size_t size;           // sizeof(tsr_partition_fallback)
  const char *op;        // "stablehlo.sort"
  int64_t operand, dim;  // with the cause "... of its result", the operand is the result's index
  const char *axes;      // that it is gathered along: "x" or "x, y"
  int64_t bytes;         // that each device receives, in one run of the op
  int64_t places;        // in the program
  const char *cause;     // why the op is not cut there
} tsr_partition_fallback;
#define TSR_PARTITION_FALLBACK TSR_SIZED(tsr_partition_fallback)
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_partitioned_fallback_at(
    const tsr_partitioned *partitioned, int64_t index, tsr_partition_fallback *out_fallback);

// An argument or a result; what it points to lives as long as the partitioned program.
typedef struct tsr_partitioned_value {
  size_t size;  // sizeof(tsr_partitioned_value)
  // As in tsr_program_value. An argument that the program does not name is called as the result
  // that takes its memory, without the word "result": "[1]['w']".
  const char *name;
  const char *path;  // the name as a path, for trees, plans and checkpoints: "params/layers/0/w"
  tsr_dtype dtype;
  const tsr_spec *spec;
  const tsr_layout *layout;  // of the whole tensor over the devices
  bool donated;              // an argument whose memory a call may take
  // Of an argument the result that takes its memory, of a result the argument that gives it; -1 =
  // none.
  int64_t aliased;
} tsr_partitioned_value;
#define TSR_PARTITIONED_VALUE TSR_SIZED(tsr_partitioned_value)
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_partitioned_argument(
    const tsr_partitioned *partitioned, int64_t index, tsr_partitioned_value *out_argument);
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_partitioned_result(
    const tsr_partitioned *partitioned, int64_t index, tsr_partitioned_value *out_result);

// The train state: the arguments that results replace (`aliased`), by path, as a plan to place,
// load and save them. Fails with not_found if there are none, and with unsupported if they are on
// several meshes.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status
tsr_partitioned_state_plan(const tsr_partitioned *partitioned, tsr_plan **out_plan);

// ---- compiling and calling ----

// Immutable, shared by any threads; several may call at once on a comm of one rank.
typedef struct tsr_compiled tsr_compiled;

// Collective over `comm`, which has the devices of the mesh. Runs use its workers and its memory,
// unless the options have others. NULL options = defaults.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 4) tsr_status
    tsr_partitioned_compile(const tsr_partitioned *partitioned, tsr_comm *comm,
                            const tsr_compile_options *options, tsr_compiled **out_compiled);
TSR_API void tsr_compiled_release(const tsr_compiled *compiled);  // NULL is fine
// What a run costs: tsr_executable_describe. Borrowed.
TSR_API TSR_NONNULL const tsr_executable *tsr_compiled_executable(const tsr_compiled *compiled);

typedef struct tsr_call_options {
  size_t size;  // sizeof(tsr_call_options)
  // Move arrays whose layout is not the argument's. Without it they are refused, as JAX does with
  // in_shardings.
  bool reshard;
  bool keep;  // do not take the memory of donated arrays
} tsr_call_options;
#define TSR_CALL_OPTIONS TSR_SIZED(tsr_call_options)

// Collective over the comm. `inputs` has an array for each argument, `outputs` gets a new one for
// each result, in the argument's and the result's layout; lists without elements may be NULL.
// Donated arrays are deleted, and results take their memory where nobody else holds it. Elements
// narrower than a byte are not supported. After a failure donated arrays may be gone.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1) tsr_status
    tsr_compiled_call(const tsr_compiled *compiled, tsr_array *const *inputs,
                      const tsr_call_options *options, tsr_array **outputs);

TSR_END_DECLS

#endif
