// Rules of `canonicalize`, by file.
#ifndef TESSERA_COLLECTIVE_CANONICAL_RULES_H
#define TESSERA_COLLECTIVE_CANONICAL_RULES_H

#include "collective/greedy.h"

// canonical_collectives.c
tsr_greedy_fn tsr_rule_gather_noop, tsr_rule_slice_noop, tsr_rule_slice_of_gather,
    tsr_rule_reduce_scatter_fusion, tsr_rule_reduce_noop, tsr_rule_reduce_of_replicated,
    tsr_rule_reduce_of_sharded, tsr_rule_scatter_noop, tsr_rule_permute_noop, tsr_rule_move_fusion,
    tsr_rule_move_unused;
// canonical_reshards.c
tsr_greedy_fn tsr_rule_reshard_of_reshard, tsr_rule_reshard_shared;
// canonical_regions.c
tsr_greedy_fn tsr_rule_manual_unused, tsr_rule_manual_redundant, tsr_rule_case_known;

#endif
