#include "tessera/hash.h"

#include "support/test.h"

// XXH3's published values for these inputs, so that hashes kept in files stay valid.
static void hashes_are_stable(void **state) {
  (void)state;
  assert_int_equal(tsr_hash64("", 0, 0), 0x2d06800538d394c2);
  assert_int_equal(tsr_hash64("abc", 3, 0), 0x78af5f94892f3950);
  assert_int_not_equal(tsr_hash64("abc", 3, 0), tsr_hash64("abc", 3, 1));
}

SUITE(hash, TEST(hashes_are_stable))
