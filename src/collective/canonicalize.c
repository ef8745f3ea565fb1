// What MLIR's canonicalize does to programs of StableHLO and Shardy.
#include <string.h>

#include "collective/canonical_rules.h"
#include "collective/collective_passes.h"

static const char reshards[] = "sdy-reshard", collectives[] = "sdy-collective";

// Of one op, those that match more ops come first.
static const tsr_greedy_rule rules[] = {
    {TSR_OP_CASE, tsr_rule_case_known, NULL},
    {TSR_OP_SDY_ALL_GATHER, tsr_rule_gather_noop, collectives},
    {TSR_OP_SDY_ALL_REDUCE, tsr_rule_reduce_of_replicated, collectives},
    {TSR_OP_SDY_ALL_REDUCE, tsr_rule_reduce_noop, collectives},
    {TSR_OP_SDY_ALL_REDUCE, tsr_rule_reduce_of_sharded, collectives},
    {TSR_OP_SDY_ALL_SLICE, tsr_rule_slice_of_gather, collectives},
    {TSR_OP_SDY_ALL_SLICE, tsr_rule_slice_noop, collectives},
    {TSR_OP_SDY_ALL_SLICE, tsr_rule_reduce_scatter_fusion, collectives},
    {TSR_OP_SDY_ALL_TO_ALL, tsr_rule_move_fusion, collectives},
    {TSR_OP_SDY_ALL_TO_ALL, tsr_rule_move_unused, collectives},
    {TSR_OP_SDY_COLLECTIVE_PERMUTE, tsr_rule_permute_noop, collectives},
    {TSR_OP_SDY_MANUAL_COMPUTATION, tsr_rule_manual_unused, NULL},
    {TSR_OP_SDY_MANUAL_COMPUTATION, tsr_rule_manual_redundant, NULL},
    {TSR_OP_SDY_REDUCE_SCATTER, tsr_rule_scatter_noop, collectives},
    {TSR_OP_SDY_RESHARD, tsr_rule_reshard_of_reshard, reshards},
    {TSR_OP_SDY_RESHARD, tsr_rule_reshard_shared, NULL},
};

tsr_status tsr_pass_canonicalize(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  const char *label = options->values[TSR_COLLECTIVE_ENABLE].given
                          ? options->values[TSR_COLLECTIVE_ENABLE].text
                          : NULL;
  if (label && strcmp(label, reshards) != 0 && strcmp(label, collectives) != 0)
    return tsr_fail(UNKNOWN_PASS, "patterns \"%s\" of canonicalize are unknown, expected %s or %s",
                    label, reshards, collectives);
  return tsr_greedy_run(ir, rules, sizeof rules / sizeof *rules, label, changes);
}
