// A greedy packing, and a lower bound for its cost.
//
// If options could be mixed, the best packing would follow the lower convex hull of each item:
// start with the cheapest options and take the steps with the least cost per byte saved, until all
// fits. A fraction of the last step gives the lower bound. The whole step gives a packing that
// costs at most that step more. Remaining bytes are used to undo steps that were not needed.
// knapsack_search.c looks for a better one.
#include "advice/knapsack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

// ---- options ----

static int compare_options(const void *a, const void *b) {
  const tsr_option *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  if (x->cost != y->cost) return x->cost > y->cost ? -1 : 1;
  return x->tag < y->tag ? 1 : -1;
}

// From the smallest up, each option must be cheaper than all before.
int tsr_options_prune(tsr_option *options, int count) {
  qsort(options, (size_t)count, sizeof *options, compare_options);
  int at = count;
  for (int i = count - 1; i >= 0; i--)
    if (at == count || options[i].cost < options[at].cost) options[--at] = options[i];
  memmove(options, &options[at], sizeof *options * (size_t)(count - at));
  return count - at;
}

static const tsr_option *option_of(const tsr_knapsack *knapsack, int64_t item, int index) {
  return &knapsack->options[knapsack->items[item].first + index];
}

// ---- the hull ----

// Whether b is above the line from a to c, so mixing a and c is cheaper.
static bool is_above(const tsr_option *a, const tsr_option *b, const tsr_option *c) {
  const double to_b = (double)(a->bytes - b->bytes), to_c = (double)(a->bytes - c->bytes);
  return (b->cost - a->cost) * to_c > (c->cost - a->cost) * to_b;
}

// Writes the steps of an item and gives their number. `corners` is scratch of its option count.
static int hull_steps(const tsr_knapsack *knapsack, int64_t item, int64_t rank, int *corners,
                      tsr_step *out_steps) {
  int count = 0;
  for (int i = 0; i < knapsack->items[item].count; i++) {
    const tsr_option *next = option_of(knapsack, item, i);
    while (count >= 2 && is_above(option_of(knapsack, item, corners[count - 2]),
                                  option_of(knapsack, item, corners[count - 1]), next))
      count--;
    corners[count++] = i;
  }
  double slope = 0;  // never falls, even by rounding
  for (int i = 1; i < count; i++) {
    const tsr_option *from = option_of(knapsack, item, corners[i - 1]);
    const tsr_option *to = option_of(knapsack, item, corners[i]);
    const int64_t bytes = from->bytes - to->bytes;
    const double cost = to->cost - from->cost;
    slope = cost / (double)bytes > slope ? cost / (double)bytes : slope;
    out_steps[i - 1] = (tsr_step){
        .slope = slope, .bytes = bytes, .cost = cost, .item = item, .rank = rank, .to = corners[i]};
  }
  return count - 1;
}

// Among steps of equal cost per byte, large items come first, which keeps small tensors whole. The
// steps of one item keep their order.
static int compare_steps(const void *a, const void *b) {
  const tsr_step *x = a, *y = b;
  if (x->rank == y->rank) return x->to < y->to ? -1 : 1;
  if (x->slope != y->slope) return x->slope < y->slope ? -1 : 1;
  return x->rank < y->rank ? -1 : 1;
}

typedef struct sized_item {
  int64_t bytes, item;
} sized_item;

static int compare_sizes(const void *a, const void *b) {
  const sized_item *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  return x->item < y->item ? -1 : 1;
}

// The items by size, largest first.
static int64_t *rank_items(const tsr_knapsack *knapsack, tsr_arena *arena) {
  const int64_t count = knapsack->item_count;
  int64_t *order = tsr_arena_zeros(arena, (size_t)count + 1, sizeof *order);
  sized_item *sized = tsr_arena_zeros(arena, (size_t)count + 1, sizeof *sized);
  if (!order || !sized) return NULL;
  for (int64_t i = 0; i < count; i++) sized[i] = (sized_item){option_of(knapsack, i, 0)->bytes, i};
  qsort(sized, (size_t)count, sizeof *sized, compare_sizes);
  for (int64_t i = 0; i < count; i++) order[i] = sized[i].item;
  return order;
}

static int64_t count_options(const tsr_knapsack *knapsack, int *out_most) {
  int64_t count = 0;
  *out_most = 1;
  for (int64_t i = 0; i < knapsack->item_count; i++) {
    count += knapsack->items[i].count;
    if (knapsack->items[i].count > *out_most) *out_most = knapsack->items[i].count;
  }
  return count;
}

static tsr_status make_steps(const tsr_knapsack *knapsack, const int64_t *order, tsr_arena *arena,
                             tsr_steps_down *out) {
  int most = 0;
  const int64_t room = count_options(knapsack, &most);
  tsr_step *steps = tsr_arena_zeros(arena, (size_t)room + 1, sizeof *steps);
  int *corners = tsr_arena_zeros(arena, (size_t)most, sizeof *corners);
  int64_t count = 0;
  if (!steps || !corners)
    return tsr_fail(NO_MEMORY, "%lld options to fit the memory", (long long)room);
  for (int64_t rank = 0; rank < knapsack->item_count; rank++)
    count += hull_steps(knapsack, order[rank], rank, corners, &steps[count]);
  qsort(steps, (size_t)count, sizeof *steps, compare_steps);
  *out = (tsr_steps_down){.count = count, .steps = steps};
  return NULL;
}

// ---- the greedy packing ----

static void take(const tsr_knapsack *knapsack, tsr_packing *packing, int64_t item, int option) {
  const tsr_option *from = option_of(knapsack, item, packing->taken[item]);
  const tsr_option *to = option_of(knapsack, item, option);
  packing->bytes += to->bytes - from->bytes;
  packing->cost += to->cost - from->cost;
  packing->taken[item] = option;
}

// Running sums drift, so the result is summed again.
void tsr_packing_sum(const tsr_knapsack *knapsack, tsr_packing *packing) {
  packing->bytes = 0;
  packing->cost = 0;
  for (int64_t i = 0; i < knapsack->item_count; i++) {
    packing->bytes += option_of(knapsack, i, packing->taken[i])->bytes;
    packing->cost += option_of(knapsack, i, packing->taken[i])->cost;
  }
}

// Takes steps while the packing stays above the limit. Returns the step that would end that.
static int64_t descend(const tsr_knapsack *knapsack, const tsr_steps_down *down,
                       tsr_packing *packing) {
  for (int64_t i = 0; i < down->count; i++) {
    const tsr_step *step = &down->steps[i];
    if (packing->bytes - step->bytes <= knapsack->limit) return i;
    take(knapsack, packing, step->item, step->to);
  }
  assert(false && "the smallest options are within the limit");
  return -1;
}

// The cheapest single change, of any item to any option, that brings the packing below the limit.
static void take_best_single(const tsr_knapsack *knapsack, tsr_packing *packing) {
  const int64_t wanted = packing->bytes - knapsack->limit;
  double least = 0;
  int64_t best_item = -1;
  int best = 0;
  for (int64_t i = 0; i < knapsack->item_count; i++) {
    const tsr_option *own = option_of(knapsack, i, packing->taken[i]);
    for (int j = packing->taken[i] + 1; j < knapsack->items[i].count; j++) {
      const tsr_option *other = option_of(knapsack, i, j);
      if (own->bytes - other->bytes < wanted) continue;
      if (best_item < 0 || other->cost - own->cost < least) {
        least = other->cost - own->cost;
        best_item = i;
        best = j;
      }
      break;
    }
  }
  take(knapsack, packing, best_item, best);
}

// Returns to cheaper options where the limit allows, large items first, in one pass.
static void use_room(const tsr_knapsack *knapsack, const int64_t *order, tsr_packing *packing) {
  for (int64_t rank = 0; rank < knapsack->item_count; rank++) {
    const int64_t item = order[rank];
    for (int option = 0; option < packing->taken[item]; option++) {
      const int64_t more = option_of(knapsack, item, option)->bytes -
                           option_of(knapsack, item, packing->taken[item])->bytes;
      if (packing->bytes + more > knapsack->limit) continue;
      take(knapsack, packing, item, option);
      break;
    }
  }
}

// Finishes the descent in two ways and keeps the cheaper packing. `other` is scratch.
static void finish(const tsr_knapsack *knapsack, const tsr_steps_down *down, int64_t last,
                   const int64_t *order, tsr_packing *packing, int *other) {
  const size_t size = sizeof *other * (size_t)knapsack->item_count;
  tsr_packing second = *packing;
  memcpy(other, packing->taken, size);
  second.taken = other;
  take(knapsack, packing, down->steps[last].item, down->steps[last].to);
  use_room(knapsack, order, packing);
  take_best_single(knapsack, &second);
  use_room(knapsack, order, &second);
  if (second.cost < packing->cost) memcpy(packing->taken, other, size);
  tsr_packing_sum(knapsack, packing);
}

static tsr_status pack(const tsr_knapsack *knapsack, tsr_arena *arena, tsr_packing *packing) {
  tsr_steps_down down = {0};
  const int64_t *order = rank_items(knapsack, arena);
  int *other = tsr_arena_zeros(arena, (size_t)knapsack->item_count + 1, sizeof *other);
  if (!order || !other)
    return tsr_fail(NO_MEMORY, "%lld tensors to fit", (long long)knapsack->item_count);
  TSR_TRY(make_steps(knapsack, order, arena, &down));
  const int64_t last = descend(knapsack, &down, packing);
  packing->lower_bound =
      packing->cost + down.steps[last].slope * (double)(packing->bytes - knapsack->limit);
  finish(knapsack, &down, last, order, packing, other);
  return tsr_knapsack_search(knapsack, &down, order, packing);
}

tsr_status tsr_knapsack_solve(const tsr_knapsack *knapsack, tsr_packing *packing) {
  for (int64_t i = 0; i < knapsack->item_count; i++) packing->taken[i] = 0;
  tsr_packing_sum(knapsack, packing);
  packing->lower_bound = packing->cost;
  packing->optimal = packing->bytes <= knapsack->limit;
  if (packing->optimal) return NULL;
  tsr_arena arena = TSR_ARENA_EMPTY;
  const tsr_status status = pack(knapsack, &arena, packing);
  tsr_arena_deinit(&arena);
  return status;
}
