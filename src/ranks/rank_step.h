// Steps across lanes (kernel/lane_exchange.h) where the lanes are on several ranks.
//
// Values move from the lanes that have them to those that need them, each once to a rank. Results
// are the same bits as those of one process: copies are copies, and reductions follow the same tree
// (tessera/engine/reduce.h draws it), of which ranks send the values of whole branches.
#ifndef TESSERA_RANKS_RANK_STEP_H
#define TESSERA_RANKS_RANK_STEP_H

#include "kernel/lane_exchange.h"
#include "ranks/rank_moves.h"

// One call of a step. Addresses of lanes of other ranks are NULL.
typedef struct tsr_rank_call {
  tsr_rank_moves *moves;
  const tsr_class_places *const *in;  // where the classes of each input are
  const tsr_class_places *const *out;
  const tsr_kernel_call *call;
  const void *extra;  // what the step was prepared with
} tsr_rank_call;

// How steps of one kernel run over several ranks.
typedef struct tsr_rank_step {
  tsr_kernel_fn *kernel;
  // Collective.
  tsr_status (*run)(const void *description, const tsr_rank_call *call);
  // What `run` needs besides the description, made once; NULL = nothing.
  tsr_status (*prepare)(const void *description, void **out_extra);
  void (*destroy)(void *extra);
} tsr_rank_step;
// NULL if the kernel does not run over several ranks.
const tsr_rank_step *tsr_rank_step_of(tsr_kernel_fn *kernel);

#endif
