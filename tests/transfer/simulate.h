// Carries a sequence out on small buffers of integers, step by step, with what each step says and
// nothing else, and compares the result with what the target layout must hold.
#ifndef TESSERA_TESTS_TRANSFER_SIMULATE_H
#define TESSERA_TESTS_TRANSFER_SIMULATE_H

#include "support/test.h"
#include "tessera/engine/sequence.h"

// False when some device ends with something else. Partial results are given as terms of sums, or
// as maxima, as the sequence has it; where the target is partial, the results of its groups count.
bool test_sequence_right(const tsr_sequence *sequence);

#endif
