// What the tests of cuts and layouts share: random cuts, and a simple-minded oracle that looks at
// every element.
#ifndef TESSERA_TESTS_SUPPORT_CUTS_H
#define TESSERA_TESTS_SUPPORT_CUTS_H

#include "layout/cut.h"
#include "support/test.h"
#include "tessera/engine/sharding.h"
#include "tessera/spec.h"

enum { MAX_STAGES = 4, MAX_SIZES = 64, MAX_PARTS = 4 };

// A cut with storage for its stages.
typedef struct test_cut {
  tsr_cut cut;
  tsr_bound_stage stages[MAX_STAGES];
  tsr_stage written[MAX_STAGES];
  int64_t sizes[MAX_STAGES][MAX_SIZES];
  tsr_part parts[MAX_STAGES][MAX_PARTS];
} test_cut;

// A cut of `size` elements in stages of so many shards, of any kind that makes sense there.
void test_make_cut(test_random *random, int64_t size, const int64_t *shards, int stage_count,
                   test_cut *out_cut);
// A cut of up to `max_size` elements that makes sense.
void test_random_cut(test_random *random, int64_t max_size, test_cut *out_cut);

// The elements of shard `index`, in its order; gives their number. `elements` has room for all.
int64_t test_cut_elements(const tsr_cut *cut, int64_t index, int64_t *out_elements);

#endif
