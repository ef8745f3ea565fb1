// XXH3 is compiled in from its header: keys of tables are short, and a call would cost as much as
// the hash.
#include <string.h>

#include "base/hash_internal.h"
#include "base/text_internal.h"
#include "tessera/engine/hash.h"
#include "tessera/status.h"
#include "tessera/text.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t tsr_hash64(const void *bytes, size_t length, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, length, seed);
}

bool tsr_hash128_equal(tsr_hash128 a, tsr_hash128 b) { return a.low == b.low && a.high == b.high; }

// The own hash of the bytes comes first: a seed has 64 bits only.
tsr_hash128 tsr_hash128_add(tsr_hash128 hash, const void *bytes, size_t length) {
  const XXH128_hash_t own = XXH3_128bits(bytes, length);
  const uint64_t both[] = {hash.low, hash.high, own.low64, own.high64};
  const XXH128_hash_t joined = XXH3_128bits(both, sizeof both);
  return (tsr_hash128){joined.low64, joined.high64};
}

tsr_hash128 tsr_hash128_add_text(tsr_hash128 hash, const char *text) {
  return tsr_hash128_add(hash, text ? text : "", text ? strlen(text) + 1 : 0);
}

void tsr_hash128_print(tsr_hash128 hash, tsr_text *out) {
  tsr_text_addf(out, "%016llx%016llx", (unsigned long long)hash.high, (unsigned long long)hash.low);
}

static int digit_of(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

tsr_status tsr_hash128_parse(const char *text, tsr_hash128 *out_hash) {
  tsr_hash128 hash = {0, 0};
  int count = 0;
  for (; text[count]; count++) {
    const int digit = digit_of(text[count]);
    if (count == 32 || digit < 0) break;
    hash.high = hash.high << 4 | hash.low >> 60;
    hash.low = hash.low << 4 | (uint64_t)digit;
  }
  if (count != 32 || text[count])
    return tsr_fail(SYNTAX, "\"%s\" is no hash: 32 digits of 0-9 and a-f are wanted", text);
  *out_hash = hash;
  return NULL;
}
