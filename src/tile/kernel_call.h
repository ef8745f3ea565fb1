// What a kernel runs with: the memory of its operands and results, scratch memory, workers.
//
// A kernel is a function and a description, made once when a program is compiled and never changed
// after. It gets all memory from its call and allocates none. How it splits its work into tasks
// depends on sizes only, never on the number of workers: results are the same bits for any number.
#ifndef TESSERA_TILE_KERNEL_CALL_H
#define TESSERA_TILE_KERNEL_CALL_H

#include <stdint.h>

#include "tessera/engine/pool.h"
#include "tessera/status.h"

// Tensors are row-major without gaps, aligned to 64 bytes unless they are the caller's or views.
// Elements narrower than a byte take one byte each: integers extended by their sign (or zeros),
// floats in the low bits; bools are 0 or 1. An empty tensor may have a NULL address. Inputs may be
// the same memory as each other; an output is the memory of an input only where the step allows it.
typedef struct tsr_kernel_call {
  const char *const *inputs;
  char *const *outputs;
  char *temp;             // the bytes that the step asked for, shared by all tasks
  char *scratch;          // worker w: scratch + w * scratch_bytes, aligned to 64 bytes
  int64_t scratch_bytes;  // at least what the step asked for
  tsr_pool *pool;         // NULL = the calling thread only
  int64_t lane;           // which of the virtual devices; 0 outside of manual computations
} tsr_kernel_call;

typedef tsr_status tsr_kernel_fn(const void *description, const tsr_kernel_call *call);
// Runs a kernel for several lanes at once: what their calls have in common is done once. All share
// `temp`, `scratch` and `pool`; they may be put in another order. Results are those of one by one.
typedef tsr_status tsr_kernel_calls_fn(const void *description, tsr_kernel_call *calls, int count);

static inline char *tsr_kernel_scratch(const tsr_kernel_call *call, int worker) {
  return call->scratch + worker * call->scratch_bytes;
}

#endif
