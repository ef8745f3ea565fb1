// Programs: StableHLO as JAX, PyTorch/XLA and TensorFlow export it, read, checked, printed and
// written without building XLA.
//
//   TSR_OWN(program, program);  // released at the end of the block: tessera/own.h
//   TSR_TRY(tsr_program_open("step.bin", NULL, &program));   // recognised by content
//   const int64_t entry = tsr_program_entry(program);
//   tsr_program_value argument = TSR_PROGRAM_VALUE;
//   TSR_TRY(tsr_program_argument(program, entry, 0, &argument));
//   printf("%s: %s\n", argument.name, argument.type);        // params['w']: tensor<8x16xf32>
//   TSR_TRY(tsr_program_save(program, "step.mlir", NULL));   // as MLIR text
//
// A program is immutable; tsr_program_transform and tsr_program_refine make new ones. To write one
// in C, see tessera/program/builder.h.
#ifndef TESSERA_PROGRAM_PROGRAM_H
#define TESSERA_PROGRAM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/dtype.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"

TSR_BEGIN_DECLS

typedef struct tsr_program tsr_program;  // immutable, shared by any threads

// ---- opening ----

typedef struct tsr_program_options {
  size_t size;     // sizeof(tsr_program_options)
  bool unchecked;  // do not check what the specification asks; for tools that want to see faults
} tsr_program_options;
#define TSR_PROGRAM_OPTIONS TSR_SIZED(tsr_program_options)

// Opens MLIR text, a portable artifact (bytecode) or a file of jax.export; the content tells which.
// What is wrong in a text or in its ops is reported in one failure, each with file, line, column
// and the constraint of the specification that is violated.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_program_open(const char *path, const tsr_program_options *options,
                     tsr_program **out_program);
// The same from memory, which is copied. `name` stands for the file in messages.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 5) tsr_status
    tsr_program_read(const char *name, const void *bytes, size_t length,
                     const tsr_program_options *options, tsr_program **out_program);
TSR_API TSR_NONNULL tsr_program *tsr_program_retain(const tsr_program *program);
TSR_API void tsr_program_release(const tsr_program *program);  // NULL is fine

// ---- printing and writing ----

typedef struct tsr_program_print_options {
  size_t size;             // sizeof(tsr_program_print_options)
  bool generic;            // every op in MLIR's generic form
  bool locations;          // with loc(...): where JAX made each op
  int64_t elide_elements;  // leave out constants of more elements than this; 0 = print all
} tsr_program_print_options;
#define TSR_PROGRAM_PRINT_OPTIONS TSR_SIZED(tsr_program_print_options)

// Adds MLIR's own text, which jaxlib reads back to the same program.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_program_print(const tsr_program *program, const tsr_program_print_options *options,
                      tsr_text *out);
// Adds the bytes of a portable artifact of a StableHLO version such as "1.15.0", which readers of
// that version and later ones accept; NULL = the version that jax.export writes today. Fails for
// ops, types and attributes that the version does not have.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_program_serialize(const tsr_program *program, const char *version, tsr_text *out);
// Writes a file, replacing an existing one in one step: text if the name ends with .mlir or .txt,
// else an artifact of `version`, as above.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2) tsr_status
    tsr_program_save(const tsr_program *program, const char *path, const char *version);

// ---- what it holds ----

typedef enum tsr_program_form {
  TSR_PROGRAM_TEXT,
  TSR_PROGRAM_ARTIFACT,
  TSR_PROGRAM_EXPORT,  // a file of jax.export
  TSR_PROGRAM_BUILT    // made by the builder, a pass or refinement
} tsr_program_form;

typedef struct tsr_program_info {
  size_t size;  // sizeof(tsr_program_info)
  tsr_program_form form;
  const char *name;  // of the module; "" = none
  int64_t op_count;  // in all functions and regions
  int64_t constant_bytes;
  int64_t device_count;  // mhlo.num_partitions * mhlo.num_replicas; 1 if they are absent
  // Of a jax.export file; "" and 0 for others.
  const char *function_name;
  const char *jax_version;
  int64_t platform_count;
  const char *const *platforms;  // "cpu", "tpu", ...
  int calling_convention;
} tsr_program_info;
#define TSR_PROGRAM_INFO TSR_SIZED(tsr_program_info)
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_program_describe(const tsr_program *program,
                                                                 tsr_program_info *out_info);

typedef struct tsr_program_function {
  size_t size;  // sizeof(tsr_program_function)
  const char *name;
  bool is_public;
  bool declared;  // has no body
  int64_t argument_count, result_count;
  int64_t op_count;  // regions included
} tsr_program_function;
#define TSR_PROGRAM_FUNCTION TSR_SIZED(tsr_program_function)

TSR_API TSR_NONNULL int64_t tsr_program_function_count(const tsr_program *program);
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_program_function_at(
    const tsr_program *program, int64_t index, tsr_program_function *out_function);
// The index of a function; -1 if there is none.
TSR_API TSR_NONNULL int64_t tsr_program_find_function(const tsr_program *program, const char *name);
// The function that a caller runs: "main", or the only one; -1 if there is neither.
TSR_API TSR_NONNULL int64_t tsr_program_entry(const tsr_program *program);

#define TSR_UNKNOWN_SIZE (-1)  // a dimension known only when the program runs, written "?"

// An argument or a result of a function.
typedef struct tsr_program_value {
  size_t size;           // sizeof(tsr_program_value)
  const char *name;      // as JAX names it: "params['w']", or "arg0", "out0"
  const char *type;      // "tensor<8x16xf32>"
  tsr_dtype dtype;       // TSR_DTYPE_NONE for tokens, tuples and quantised tensors
  tsr_shape shape;       // sizes may be TSR_UNKNOWN_SIZE
  const tsr_spec *spec;  // how it is cut, borrowed; NULL = the program does not say
  const char *mesh;      // the name of the spec's mesh; NULL = none
  const char *sharding;  // as written: #sdy.sharding<...> or XLA's {devices=...}; NULL = none
  int64_t aliased;       // of a donated argument: the result that takes its memory; -1 = none
  bool donated;          // an argument whose memory the program may reuse
} tsr_program_value;
#define TSR_PROGRAM_VALUE TSR_SIZED(tsr_program_value)

TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_program_argument(const tsr_program *program,
                                                                 int64_t function, int64_t index,
                                                                 tsr_program_value *out_argument);
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_program_result(const tsr_program *program,
                                                               int64_t function, int64_t index,
                                                               tsr_program_value *out_result);

// The meshes that shardings of the program name. The caller releases `*out_mesh`.
TSR_API TSR_NONNULL int64_t tsr_program_mesh_count(const tsr_program *program);
TSR_API TSR_NONNULL const char *tsr_program_mesh_name(const tsr_program *program, int64_t index);
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_program_mesh_at(const tsr_program *program,
                                                                int64_t index, tsr_mesh **out_mesh);

// The gradient program inside a jax.export file: not_found if it holds none.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_program_vjp(const tsr_program *program,
                                                            tsr_program **out_vjp);

// ---- checking, comparing, changing ----

// Checks everything that the specification asks of the program; tsr_program_open does so already.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_program_check(const tsr_program *program);
// The same program: locations do not count.
TSR_API TSR_NONNULL bool tsr_program_equal(const tsr_program *a, const tsr_program *b);
// A new program after passes, separated by commas: "inline,fold,cse,dce" (tessera-opt(1) lists
// them). An unknown pass is unknown_pass, with the nearest name.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_program_transform(const tsr_program *program,
                                                                  const char *passes,
                                                                  tsr_program **out_program);
// A program exported with unknown sizes, for arguments of these shapes (all of the entry's
// arguments): sizes are computed through the whole program. Fails where a size does not follow, or
// where an assertion that JAX left in the program does not hold. No shapes may be NULL.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_program_refine(const tsr_program *program, const tsr_shape *shapes, int64_t shape_count,
                       tsr_program **out_program);

TSR_END_DECLS

#endif
