// The multiple-choice knapsack: one option for each item, so that all fit a limit of bytes at the
// least cost. memory_fit.c says what the numbers mean.
#ifndef TESSERA_ADVICE_KNAPSACK_H
#define TESSERA_ADVICE_KNAPSACK_H

#include <stdint.h>

#include "tessera/status.h"

typedef struct tsr_option {
  int64_t bytes;
  double cost;
  int tag;  // the caller's
} tsr_option;

// The options of an item: fewer bytes and a higher cost from one to the next. At least one.
typedef struct tsr_item {
  int64_t first;
  int count;
} tsr_item;

typedef struct tsr_knapsack {
  int64_t item_count;
  const tsr_item *items;
  const tsr_option *options;
  int64_t limit;
} tsr_knapsack;

typedef struct tsr_packing {
  int *taken;  // per item, counted from its first option; the caller's memory
  int64_t bytes;
  double cost, lower_bound;
  bool optimal;  // proved, up to a millionth
} tsr_packing;

// Sorts candidates into the form above and drops those that another one beats in bytes and cost.
// Of equals the one with the lower tag stays. Returns how many are left.
int tsr_options_prune(tsr_option *options, int count);

// The last options together must be within the limit (asserted), and the first ones must not
// overflow.
TSR_MUST_USE tsr_status tsr_knapsack_solve(const tsr_knapsack *knapsack, tsr_packing *packing);

// ---- between the files of the solver ----

// Sets bytes and cost of a packing from what it takes.
void tsr_packing_sum(const tsr_knapsack *knapsack, tsr_packing *packing);

// One step down the lower convex hull of an item's options.
typedef struct tsr_step {
  double slope;  // cost per byte saved
  int64_t bytes;
  double cost;
  int64_t item, rank;  // rank: the item's place by size, largest first
  int to;
} tsr_step;
typedef struct tsr_steps_down {
  int64_t count;
  tsr_step *steps;  // cheapest per byte first
} tsr_steps_down;

// Searches for a packing cheaper than `packing`, or proof that there is none. Gives up where the
// problem is too large. `order` lists the items by rank.
TSR_MUST_USE tsr_status tsr_knapsack_search(const tsr_knapsack *knapsack,
                                            const tsr_steps_down *steps, const int64_t *order,
                                            tsr_packing *packing);

#endif
