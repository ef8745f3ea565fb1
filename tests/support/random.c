#include "support/test.h"

// SplitMix64: one addition and three mixings, good enough to pick cases.
uint64_t test_random_next(test_random *random) {
  uint64_t z = random->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int64_t test_random_range(test_random *random, int64_t low, int64_t high) {
  return low + (int64_t)(test_random_next(random) % (uint64_t)(high - low + 1));
}
