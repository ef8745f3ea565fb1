// Sets of byte pairs, as a filter before a regex search.
//
// Every match of attn/.*o_proj$ contains the neighbours "at", "tt", "tn", "n/", "o_", "_p" and so
// on. A path that lacks one of them cannot match, and a set of 512 bits shows that in a few
// instructions. Pairs are hashed, so the answer may be "perhaps" for a path that does not match; it
// is never "no" for one that does.
#ifndef TESSERA_REGEX_BYTE_PAIRS_H
#define TESSERA_REGEX_BYTE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TSR_PAIR_WORDS = 8 };

typedef struct tsr_byte_pairs {
  uint64_t words[TSR_PAIR_WORDS];
} tsr_byte_pairs;

static inline void tsr_byte_pairs_add(tsr_byte_pairs *pairs, unsigned char a, unsigned char b) {
  const uint32_t hash = ((uint32_t)a << 8 | b) * UINT32_C(0x9e3779b1) >> 23;
  pairs->words[hash / 64] |= UINT64_C(1) << hash % 64;
}

static inline tsr_byte_pairs tsr_byte_pairs_of(const char *text, size_t length) {
  tsr_byte_pairs pairs = {{0}};
  for (size_t i = 1; i < length; i++)
    tsr_byte_pairs_add(&pairs, (unsigned char)text[i - 1], (unsigned char)text[i]);
  return pairs;
}

// Whether `all` contains every pair of `some`.
static inline bool tsr_byte_pairs_contain(const tsr_byte_pairs *all, const tsr_byte_pairs *some) {
  uint64_t missing = 0;
  for (int i = 0; i < TSR_PAIR_WORDS; i++) missing |= some->words[i] & ~all->words[i];
  return !missing;
}

#endif
