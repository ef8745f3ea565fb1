// What the tests of partitioning share.
#ifndef TESSERA_TESTS_SPMD_TEST_H
#define TESSERA_TESTS_SPMD_TEST_H

#include <stdint.h>

#include "tessera/status.h"
#include "tessera/text.h"

typedef struct spmd_tally {
  int runs, failed;
} spmd_tally;

// A number less than `below`, drawn by --seed.
uint64_t spmd_draw(uint64_t below);
// Partitions the program of a text and compares its run with that of the whole one.
TSR_MUST_USE tsr_status spmd_check(const tsr_text *text);
// Programs of several ops at random, with constraints between them (chains.c).
void spmd_try_chains(int count, spmd_tally *tally);

#endif
