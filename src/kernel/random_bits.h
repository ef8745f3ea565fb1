// Random bits by counters: Threefry and Philox, with the bits of XLA, and random numbers of a
// distribution.
#ifndef TESSERA_KERNEL_RANDOM_BITS_H
#define TESSERA_KERNEL_RANDOM_BITS_H

#include <stdatomic.h>

#include "tessera/dtype.h"
#include "tile/kernel_call.h"

typedef struct tsr_random_bits {
  bool philox;      // else Threefry
  int state_words;  // of 64 bits, 2 or 3: the key, then the counter
  int bytes;        // of an element
  uint32_t mask;    // of the bits that an element of at most 32 bits has
  uint32_t sign;  // the uppermost of them, which signed elements narrower than a byte repeat; or 0
  int64_t count;  // elements
  // Threefry makes two numbers of 32 bits from one counter. They are neighbours along one dim, the
  // split one: elements are `outer` x `split` x `inner`.
  int64_t outer, split, inner;
} tsr_random_bits;

// How Threefry splits a shape: along the first even dim, else the first of the largest dims.
void tsr_random_bits_split(tsr_random_bits *bits, int rank, const int64_t *dims);

// Input 0 is the state; outputs are the next state and the bits. A tsr_kernel_fn.
tsr_status tsr_random_bits_run(const void *description, const tsr_kernel_call *call);

// stablehlo.rng. Runs of one executable continue one sequence of numbers, which is the same for
// every executable made of the same program.
typedef struct tsr_random_numbers {
  bool normal;  // else uniform
  tsr_dtype dtype;
  int64_t count;
  uint64_t key;                // of the op
  atomic_uint_fast64_t *runs;  // so far, for each lane
} tsr_random_numbers;

// Inputs are the bounds [a, b), or the mean and the deviation. A tsr_kernel_fn.
tsr_status tsr_random_numbers_run(const void *description, const tsr_kernel_call *call);

#endif
