// Branch and bound: items from the largest down, options in the order of their lower bounds.
//
// The bound for a suffix of the items is the same as for all of them: their steps, cheapest per
// byte first. Steps are already sorted, so each suffix keeps the sums over those of its own items,
// and a bound is one binary search.
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advice/knapsack.h"

enum {
  MOST_ITEMS = 512,
  MOST_OPTIONS = 64,   // of one item
  MOST_SUMS = 1 << 20  // of all suffixes together
};
static const int64_t MOST_NODES = 1 << 18;
static const double CLOSE_ENOUGH = 1e-6;  // of the cost

// The sums after so many steps of a suffix.
typedef struct step_sums {
  int64_t bytes;
  double cost;
} step_sums;

typedef struct suffix_bound {
  int64_t bytes;  // of the cheapest options
  double cost;
  int64_t step_count;
  step_sums *steps;
} suffix_bound;

typedef struct walker {
  const tsr_knapsack *knapsack;
  const int64_t *order;
  int item_count;
  suffix_bound *suffixes;  // item_count + 1
  int *taken;              // by rank
  int *best;               // by rank
  double best_cost;
  int64_t nodes;
} walker;

static const tsr_option *options_of(const walker *search, int rank) {
  return &search->knapsack->options[search->knapsack->items[search->order[rank]].first];
}

static int option_count(const walker *search, int rank) {
  return search->knapsack->items[search->order[rank]].count;
}

// ---- bounds ----

// The first step after which at least `wanted` bytes are saved; the number of steps if none is.
static int64_t find_step(const suffix_bound *suffix, int64_t wanted) {
  int64_t low = 0, high = suffix->step_count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (suffix->steps[middle].bytes >= wanted)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// The lower bound on the cost of the items from `rank` on within `room` bytes.
static double bound(const walker *search, int rank, int64_t room) {
  const suffix_bound *suffix = &search->suffixes[rank];
  const int64_t wanted = suffix->bytes - room;
  if (wanted <= 0) return suffix->cost;
  const int64_t step = find_step(suffix, wanted);
  if (step == suffix->step_count) return INFINITY;
  assert(suffix->steps);  // there is such a step
  const step_sums before = step ? suffix->steps[step - 1] : (step_sums){0, 0};
  const step_sums after = suffix->steps[step];
  const double fraction = (double)(wanted - before.bytes) / (double)(after.bytes - before.bytes);
  return suffix->cost + before.cost + fraction * (after.cost - before.cost);
}

// A step belongs to the suffixes that begin with its item or before.
static int64_t count_sums(const tsr_steps_down *down) {
  int64_t count = 0;
  for (int64_t i = 0; i < down->count; i++) count += down->steps[i].rank + 1;
  return count;
}

static void fill_suffix(const walker *search, const tsr_steps_down *down, int rank,
                        step_sums *room) {
  suffix_bound *own = &search->suffixes[rank];
  step_sums sum = {0, 0};
  own->steps = room;
  for (int64_t i = 0; i < down->count; i++) {
    if (down->steps[i].rank < rank) continue;
    sum.bytes += down->steps[i].bytes;
    sum.cost += down->steps[i].cost;
    own->steps[own->step_count++] = sum;
  }
  own->bytes = own[1].bytes + options_of(search, rank)[0].bytes;
  own->cost = own[1].cost + options_of(search, rank)[0].cost;
}

// ---- the walk ----

typedef struct branch {
  double bound;
  int option;
} branch;

static int compare_children(const void *a, const void *b) {
  const branch *x = a, *y = b;
  if (x->bound != y->bound) return x->bound < y->bound ? -1 : 1;
  return x->option - y->option;
}

static bool is_hopeless(const walker *search, double least) {
  return least >= search->best_cost * (1 - CLOSE_ENOUGH);
}

static int list_children(walker *search, int rank, int64_t room, double cost, branch *out) {
  const tsr_option *options = options_of(search, rank);
  int count = 0;
  for (int i = 0; i < option_count(search, rank); i++) {
    const double least = cost + options[i].cost + bound(search, rank + 1, room - options[i].bytes);
    if (!is_hopeless(search, least)) out[count++] = (branch){least, i};
  }
  qsort(out, (size_t)count, sizeof *out, compare_children);
  return count;
}

// False when the nodes are used up. Recursion is at most MOST_ITEMS deep.
static bool walk(walker *search, int rank, int64_t room, double cost) {
  branch children[MOST_OPTIONS];
  if (rank == search->item_count) {
    search->best_cost = cost;
    memcpy(search->best, search->taken, sizeof *search->best * (size_t)search->item_count);
    return true;
  }
  if (++search->nodes > MOST_NODES) return false;
  const int count = list_children(search, rank, room, cost, children);
  for (int i = 0; i < count && !is_hopeless(search, children[i].bound); i++) {
    const tsr_option *option = &options_of(search, rank)[children[i].option];
    search->taken[rank] = children[i].option;
    if (!walk(search, rank + 1, room - option->bytes, cost + option->cost)) return false;
  }
  return true;
}

// ---- all of it ----

static bool is_small(const tsr_knapsack *knapsack) {
  if (knapsack->item_count > MOST_ITEMS) return false;
  for (int64_t i = 0; i < knapsack->item_count; i++)
    if (knapsack->items[i].count > MOST_OPTIONS) return false;
  return true;
}

static void run(walker *search, const tsr_steps_down *down, step_sums *room, tsr_packing *packing) {
  for (int rank = search->item_count - 1; rank >= 0; rank--) {
    fill_suffix(search, down, rank, room);
    room += search->suffixes[rank].step_count;
    search->best[rank] = packing->taken[search->order[rank]];
  }
  packing->optimal = walk(search, 0, search->knapsack->limit, 0);
  for (int rank = 0; rank < search->item_count; rank++)
    packing->taken[search->order[rank]] = search->best[rank];
  tsr_packing_sum(search->knapsack, packing);
}

// Whether the cost is at its lower bound.
static bool is_proved(const tsr_packing *packing) {
  return packing->cost - packing->lower_bound <= CLOSE_ENOUGH * packing->cost;
}

tsr_status tsr_knapsack_search(const tsr_knapsack *knapsack, const tsr_steps_down *steps,
                               const int64_t *order, tsr_packing *packing) {
  walker search = {.knapsack = knapsack, .order = order, .best_cost = packing->cost};
  packing->optimal = is_proved(packing);
  if (packing->optimal || !is_small(knapsack)) return NULL;
  search.item_count = (int)knapsack->item_count;
  const int64_t sum_count = count_sums(steps);
  if (sum_count > MOST_SUMS) return NULL;
  const size_t items = (size_t)search.item_count;
  step_sums *room = malloc(sizeof *room * (size_t)(sum_count + 1));
  search.suffixes = calloc(items + 1, sizeof *search.suffixes);
  search.taken = calloc(2 * items, sizeof *search.taken);
  const bool ready = room && search.suffixes && search.taken;
  if (ready) {
    search.best = search.taken + items;
    run(&search, steps, room, packing);
    packing->optimal |= is_proved(packing);
    if (packing->optimal) packing->lower_bound = packing->cost;
  }
  free(room);
  free(search.suffixes);
  free(search.taken);
  return ready ? NULL : tsr_fail(NO_MEMORY, "a search over %zu tensors", items);
}
