#include "combine/exchange_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "propagate/edits.h"

enum { MOST_ROUNDS = 32 };

// ---- rounds ----

static tsr_exchange_round *add_round(tsr_exchange_plan *plan, tsr_arena *arena,
                                     const tsr_traced_piece *piece) {
  const size_t devices = (size_t)plan->trace.devices;
  if (plan->round_count == MOST_ROUNDS) return NULL;
  tsr_exchange_round *round = &plan->rounds[plan->round_count];
  *round = (tsr_exchange_round){.leaf = piece->leaf,
                                .local = piece->device == piece->target,
                                .to = tsr_arena_zeros(arena, devices, sizeof *round->to),
                                .from = tsr_arena_zeros(arena, devices, sizeof *round->from)};
  if (!round->to || !round->from) return NULL;
  plan->round_count++;
  return round;
}

// The first round that has room for a piece, or a new one. NULL if there are too many.
static tsr_exchange_round *round_for(tsr_exchange_plan *plan, tsr_arena *arena,
                                     const tsr_traced_piece *piece) {
  const bool local = piece->device == piece->target;
  for (int64_t i = 0; i < plan->round_count; i++) {
    tsr_exchange_round *round = &plan->rounds[i];
    if (round->leaf == piece->leaf && round->local == local && !round->to[piece->target] &&
        !round->from[piece->device])
      return round;
  }
  return add_round(plan, arena, piece);
}

// Local pieces first; then the long ones, so that those of a round are of like size.
static int by_length(const void *a, const void *b) {
  const tsr_traced_piece *x = *(const tsr_traced_piece *const *)a,
                         *y = *(const tsr_traced_piece *const *)b;
  const bool x_moves = x->device != x->target, y_moves = y->device != y->target;
  if (x_moves != y_moves) return x_moves - y_moves;
  if (x_moves && x->count != y->count) return x->count < y->count ? 1 : -1;
  return (x > y) - (x < y);  // in the order of the trace
}

static bool fill_rounds(tsr_exchange_plan *plan, tsr_arena *arena) {
  const tsr_piece_trace *t = &plan->trace;
  const tsr_traced_piece **sorted = tsr_arena_zeros(arena, (size_t)t->count + 1, sizeof *sorted);
  plan->rounds = tsr_arena_zeros(arena, MOST_ROUNDS, sizeof *plan->rounds);
  if (!sorted || !plan->rounds) return false;
  int64_t count = 0;
  for (int64_t i = 0; i < t->count; i++)
    if (t->pieces[i].leaf) sorted[count++] = &t->pieces[i];
  qsort(sorted, (size_t)count, sizeof *sorted, by_length);
  for (int64_t i = 0; i < count; i++) {
    tsr_exchange_round *round = round_for(plan, arena, sorted[i]);
    if (!round) return false;
    round->to[sorted[i]->target] = round->from[sorted[i]->device] = sorted[i];
    if (sorted[i]->count > round->width) round->width = sorted[i]->count;
  }
  return true;
}

// ---- one piece for several devices ----

// All devices need one piece at the same place, and as many of them need each.
static bool is_broadcast(const tsr_piece_trace *t) {
  int64_t sources = 0, most = 0;
  if (t->count != t->devices) return false;
  for (int64_t i = 0; i < t->count; i++) {
    const tsr_traced_piece *piece = &t->pieces[i], *first = &t->pieces[0];
    int64_t users = 0;
    if (!piece->leaf || piece->leaf != first->leaf || piece->from != first->from ||
        piece->count != first->count || t->pieces[piece->device].device != piece->device)
      return false;
    for (int64_t k = 0; k < t->count; k++) users += t->pieces[k].device == i;
    if (users && most && users != most) return false;
    if (users) most = users;
    sources += users > 0;
  }
  return most > 1 && sources * most == t->devices;
}

// ---- bytes ----

static int64_t bytes_of_width(const tsr_exchange_plan *plan, int64_t width) {
  const tsr_type *type = plan->root->results[0].type;
  const int64_t size = type->dims[plan->trace.dim];
  return size ? tsr_saturated_multiply(tsr_type_bytes_of(type) / size, width) : 0;
}

static int64_t bytes_of(const tsr_exchange_plan *plan) {
  int64_t bytes = 0;
  if (plan->broadcast) return bytes_of_width(plan, plan->trace.pieces[0].count);
  for (int64_t i = 0; i < plan->round_count; i++)
    if (!plan->rounds[i].local)
      bytes = tsr_saturated_add(bytes, bytes_of_width(plan, plan->rounds[i].width));
  return bytes;
}

// Leaves have the dims of the root but for the one that is cut.
static bool leaves_fit(const tsr_exchange_plan *plan) {
  const tsr_type *type = plan->root->results[0].type;
  for (int64_t i = 0; i < plan->trace.count; i++) {
    const tsr_value *leaf = plan->trace.pieces[i].leaf;
    for (int d = 0; leaf && d < type->rank; d++)
      if (d != plan->trace.dim && leaf->type->dims[d] != type->dims[d]) return false;
  }
  return type->rank <= TSR_MAX_RANK;
}

tsr_status tsr_exchange_plan_make(tsr_ir *ir, tsr_op *root, int64_t devices, tsr_arena *arena,
                                  tsr_exchange_plan *out_plan, bool *out_planned) {
  const int dim = tsr_moved_dim(root);
  *out_plan = (tsr_exchange_plan){.root = root};
  *out_planned = false;
  if (dim < 0) return NULL;
  TSR_TRY(tsr_piece_trace_make(ir, arena, root, dim, devices, &out_plan->trace, out_planned));
  if (!*out_planned) return NULL;
  out_plan->broadcast = is_broadcast(&out_plan->trace);
  *out_planned = leaves_fit(out_plan) && (out_plan->broadcast || fill_rounds(out_plan, arena));
  out_plan->bytes = *out_planned ? bytes_of(out_plan) : 0;
  return NULL;
}

void tsr_exchange_plan_deinit(tsr_exchange_plan *plan) { tsr_piece_trace_deinit(&plan->trace); }
