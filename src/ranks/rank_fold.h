// The tree of a reduction, of which some branches are values already.
#ifndef TESSERA_RANKS_RANK_FOLD_H
#define TESSERA_RANKS_RANK_FOLD_H

#include "kernel/lane_exchange.h"
#include "tessera/engine/pool.h"
#include "tessera/engine/reduce.h"
#include "tile/tile.h"

// Partial results may be of a wider type than elements. Each program is for up to 1024 elements.
typedef struct tsr_fold_programs {
  const tsr_tile_program *pair;      // of two partial results, to one
  tsr_tile_program *widen, *narrow;  // of an element, and to it; NULL = the types are the same
  tsr_tile_program *own;             // `pair`, if it is not that of the step
  int64_t bytes, partial_bytes;      // of an element, of a partial result
} tsr_fold_programs;

// The programs of a step, which must outlive them.
TSR_MUST_USE tsr_status tsr_fold_programs_create(const tsr_lane_reduction *reduction,
                                                 tsr_fold_programs **out_programs);
void tsr_fold_programs_destroy(tsr_fold_programs *programs);  // NULL is fine

// The value of members `node.first` to before `node.last`: blocks of a run, `stride` bytes from one
// to the next.
typedef struct tsr_fold_term {
  tsr_reduce_node node;
  const char *data;
  int64_t stride;
  bool is_partial;  // else elements, of one member
} tsr_fold_term;

typedef struct tsr_rank_fold {
  const tsr_fold_programs *programs;
  int64_t outer, run;          // blocks, elements of a block
  int64_t members;             // of the whole tree
  const tsr_fold_term *terms;  // side by side: they make up one node
  int term_count;
  bool to_partial;  // the result is partial, else it is of elements
  char *out;        // dense
  char *scratch;
} tsr_rank_fold;

// For each worker.
int64_t tsr_fold_scratch(const tsr_fold_programs *programs);
// Combines the terms in the order of the tree.
TSR_MUST_USE tsr_status tsr_fold_run(const tsr_rank_fold *fold, tsr_pool *pool);

#endif
