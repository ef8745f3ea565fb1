// Executables: programs compiled to run in this process, or with others over a comm.
//
//   TSR_OWN(program, program);        // released at the end of the block: tessera/own.h
//   TSR_OWN(executable, step);
//   TSR_TRY(tsr_program_open("step.bin", NULL, &program));  // text, bytecode or jax.export
//   TSR_TRY(tsr_executable_compile(program, NULL, &step));
//   float x[8 * 16], y[8 * 4];
//   TSR_TRY(tsr_executable_run(step, (const void *[]){x}, (void *[]){y}));
//
// Tensors are row-major, in the caller's memory. An element narrower than a byte (i4, f4E2M1FN)
// takes a byte of its own, as in NumPy. A bool is a byte, 0 or 1.
//
// Results are the same bits for any number of workers, and do not depend on what was fused.
#ifndef TESSERA_PROGRAM_EXECUTABLE_H
#define TESSERA_PROGRAM_EXECUTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/buffer.h"
#include "tessera/comm.h"
#include "tessera/dtype.h"
#include "tessera/engine/pool.h"
#include "tessera/program/program.h"
#include "tessera/shape.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// Immutable, shared by any threads: several may run it at once, each with memory of its own.
typedef struct tsr_executable tsr_executable;

// ---- compiling ----

typedef struct tsr_compile_options {
  size_t size;  // sizeof(tsr_compile_options)
  // Threads of a run, the caller's included; 0 = one for each processor that this process may use.
  int workers;
  tsr_pool *pool;            // the caller's workers instead, which must outlive the executable
  tsr_buffer_pool *buffers;  // where runs take their memory from; NULL = a pool of its own
  // The most bytes that a run may need, arguments and results included; 0 = no limit. A program
  // that needs more is refused, with the largest values that live at once.
  int64_t max_memory;
  // The platform of a jax.export file for several: NULL = "cpu", or the first if it has none.
  const char *platform;
  // Where the devices of a partitioned program are, in this process and in others; NULL = all in
  // this one. Compiling and running are collective over a comm of several ranks, and runs take the
  // shards of arrays (tessera/program/partitioned.h), not whole tensors.
  tsr_comm *comm;
} tsr_compile_options;
#define TSR_COMPILE_OPTIONS TSR_SIZED(tsr_compile_options)

// Compiles the entry function of a program whose shapes are known (tsr_program_refine makes them
// so). Shardings are ignored: the program runs whole, as on one device; manual computations
// (shard_map) run on as many virtual devices as their mesh has. What cannot run (send, infeed,
// quantised types, custom calls that are not known) is refused by name.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_executable_compile(const tsr_program *program, const tsr_compile_options *options,
                           tsr_executable **out_executable);
TSR_API TSR_NONNULL tsr_executable *tsr_executable_retain(const tsr_executable *executable);
TSR_API void tsr_executable_release(const tsr_executable *executable);  // NULL is fine

// ---- what it takes, gives and costs ----

typedef struct tsr_executable_info {
  size_t size;  // sizeof(tsr_executable_info)
  int64_t argument_count, result_count;
  int64_t argument_bytes, result_bytes, constant_bytes;
  int64_t temporary_bytes;  // of a run, besides arguments, results and constants
  int64_t peak_bytes;       // all of them; a result in the memory of a donated argument counts once
  int64_t step_count;       // kernels, those in loops and branches once
  int64_t op_count;         // ops of the simplified program
  // Of one run; steps in loops and branches count once.
  int64_t flops;
  int64_t bytes_moved;  // read and written by all steps
  double compile_seconds;
  // Of temporary_bytes: what steps use besides their values, on all workers (packed panels, tiles).
  // Compilers that count values only, as XLA does, would call peak_bytes - work_bytes the peak.
  int64_t work_bytes;
  // Of a partitioned program: its devices, which run in this process, and the bytes that one of
  // them alone would need, without the work of steps. What is the same on several devices is stored
  // once, so peak_bytes is less than device_count * device_bytes. 1 device: of any other program.
  int64_t device_count, device_bytes;
  // Of temporary_bytes: pieces of whole arguments and results that do not lie in one run. Calls on
  // arrays (tsr_compiled_call) need none of it: these have the pieces.
  int64_t piece_bytes;
} tsr_executable_info;
#define TSR_EXECUTABLE_INFO TSR_SIZED(tsr_executable_info)
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status
tsr_executable_describe(const tsr_executable *executable, tsr_executable_info *out_info);

// An argument or a result.
typedef struct tsr_executable_value {
  size_t size;       // sizeof(tsr_executable_value)
  const char *name;  // as in tsr_program_value
  tsr_dtype dtype;
  tsr_shape shape;
  int64_t bytes;
  bool donated;     // an argument whose memory a run may take
  int64_t aliased;  // a donated argument: the result in its memory; -1 = none
} tsr_executable_value;
#define TSR_EXECUTABLE_VALUE TSR_SIZED(tsr_executable_value)
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_executable_argument(
    const tsr_executable *executable, int64_t index, tsr_executable_value *out_argument);
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_executable_result(const tsr_executable *executable,
                                                                  int64_t index,
                                                                  tsr_executable_value *out_result);

// The values in memory where a run needs the most, the largest first: a line each, as in
// "67108864 bytes tensor<4096x4096xf32> of stablehlo.dot_general".
TSR_API TSR_NONNULL int64_t tsr_executable_peak_count(const tsr_executable *executable);
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_executable_peak_at(const tsr_executable *executable,
                                                                   int64_t index,
                                                                   int64_t *out_bytes,
                                                                   const char **out_text);

// ---- running ----

// Runs on the caller's memory: `inputs` has one address for each argument, `outputs` one for each
// result, written in place. Inputs are not changed. An address of an empty tensor may be NULL, and
// so may a list without addresses. Outputs must overlap neither each other nor the inputs.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1) tsr_status
    tsr_executable_run(const tsr_executable *executable, const void *const *inputs,
                       void *const *outputs);

// The same with buffers (tessera/engine/buffer.h). Results are new buffers, which the caller
// releases, with pages that earlier runs have touched. A donated argument whose buffer has no other
// holder gives its memory to the result that takes it: its data is gone after the run, while the
// caller still releases its buffer. Empty tensors and lists may be NULL, as above.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1) tsr_status
    tsr_executable_call(const tsr_executable *executable, tsr_buffer *const *inputs,
                        tsr_buffer **outputs);

// One step that has run, for profiles.
typedef struct tsr_step_event {
  int64_t step;      // its number; steps in loops occur again
  const char *name;  // "fusion of 12: stablehlo.divide"
  int op_count;
  int64_t flops, bytes;
  double start, seconds;  // from the start of the run
} tsr_step_event;
typedef void tsr_step_hook(void *context, const tsr_step_event *event);
// tsr_executable_run that calls `hook` after every step, on the thread that called.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_executable_profile(const tsr_executable *executable, const void *const *inputs,
                           void *const *outputs, tsr_step_hook *hook, void *context);

TSR_END_DECLS

#endif
