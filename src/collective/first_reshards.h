// The first reshard of each sharding among the uses of a value.
//
// A rule that looks through all uses of a value for each of its n reshards takes n * n steps. Of
// reshards with equal shardings in a block only the first can be shared by the others, so these are
// kept: uses that came since the last question are the newest ones and are added, and a first one
// that is gone means: look at all of them again.
#ifndef TESSERA_COLLECTIVE_FIRST_RESHARDS_H
#define TESSERA_COLLECTIVE_FIRST_RESHARDS_H

#include "collective/greedy.h"

typedef struct tsr_first_reshards {
  tsr_op *const *items;
  int64_t count;
} tsr_first_reshards;

// Those in the block of `op`, which uses the value. `out_known` = false: the value has few uses, or
// reshapes among them, and the caller looks through its uses.
TSR_MUST_USE tsr_status tsr_first_reshards_of(tsr_greedy *g, const tsr_value *value,
                                              const tsr_op *op, bool *out_known,
                                              tsr_first_reshards *out_list);

#endif
