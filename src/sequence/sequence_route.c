// Routes: lists of moves, and the one route that is always possible.
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "sequence/sequence.h"
#include "tessera/engine/sequence.h"
#include "tessera/status.h"

// Joins consecutive slices of one dimension, and consecutive zeros.
static bool joins(const tsr_sequence_move *last, const tsr_sequence_move *move) {
  return last->kind == move->kind && last->split_dim == move->split_dim &&
         (move->kind == TSR_STEP_SLICE || move->kind == TSR_STEP_ZERO);
}

tsr_status tsr_route_add(tsr_route *route, const tsr_sequence_move *move) {
  tsr_sequence_move *last = route->count ? &route->moves[route->count - 1] : NULL;
  if (last && joins(last, move)) {
    memcpy(last->axes + last->axis_count, move->axes,
           sizeof *move->axes * (size_t)move->axis_count);
    last->axis_count = tsr_sub_axes_join(last->axes, last->axis_count + move->axis_count);
    last->after = move->after;
    return NULL;
  }
  tsr_sequence_move *larger =
      tsr_grow(route->moves, route->count, &route->capacity, sizeof *route->moves);
  if (!larger) return tsr_fail(NO_MEMORY, "a sequence of %lld steps", (long long)route->count + 1);
  route->moves = larger;
  route->moves[route->count++] = *move;
  return NULL;
}

void tsr_route_deinit(tsr_route *route) {
  free(route->moves);
  *route = (tsr_route)TSR_ROUTE_EMPTY;
}

// ---- the plain route ----

// Length of the common prefix of a list of both spots.
static int common_front(const uint8_t *a, int p, const uint8_t *b, int q) {
  int i = 0;
  while (i < p && i < q && a[i] == b[i]) i++;
  return i;
}

typedef struct plain {
  const tsr_change_job *job;
  tsr_space space;
  tsr_route *route;
  uint8_t lists[TSR_MAX_LISTS][TSR_MAX_SUB_AXES];
  tsr_spot now;  // only its counts are kept true between moves
} plain;

static tsr_status plain_move(plain *p, tsr_step_kind kind, int list, const uint8_t *atoms,
                             int count) {
  const bool dim = kind == TSR_STEP_SLICE || kind == TSR_STEP_ALL_GATHER;
  tsr_sequence_move move = {.kind = kind, .split_dim = -1, .concat_dim = -1};
  if (dim && kind == TSR_STEP_SLICE) move.split_dim = p->space.dims[list];
  if (dim && kind == TSR_STEP_ALL_GATHER) move.concat_dim = p->space.dims[list];
  for (int i = 0; i < count; i++) move.axes[i] = p->space.atoms[atoms[i]];
  move.axis_count = tsr_sub_axes_join(move.axes, count);
  int at = 0;
  for (int l = 0; l < p->space.list_count; l++) {
    memcpy(p->now.atoms + at, p->lists[l], p->now.count[l]);
    at += p->now.count[l];
  }
  tsr_spot_spread(&p->space, &p->now, p->job->shape.rank, &move.after);
  return tsr_route_add(p->route, &move);
}

// Shortens a list to its common prefix with the target, or extends it to the target's.
static tsr_status plain_list(plain *p, int list, const uint8_t *wanted, bool gather) {
  const bool dim = list + 1 < p->space.list_count;
  const int have = p->now.count[list], target = p->space.to.count[list];
  const int kept = common_front(p->lists[list], have, wanted, target);
  uint8_t moved[TSR_MAX_SUB_AXES];
  const int count = gather ? have - kept : target - kept;
  if (!count) return NULL;
  memcpy(moved, gather ? p->lists[list] + kept : wanted + kept, (size_t)count);
  if (!gather) memcpy(p->lists[list] + kept, moved, (size_t)count);
  p->now.count[list] = (uint8_t)(gather ? kept : target);
  const tsr_step_kind kind = gather ? (dim ? TSR_STEP_ALL_GATHER : TSR_STEP_REDUCE)
                                    : (dim ? TSR_STEP_SLICE : TSR_STEP_ZERO);
  return plain_move(p, kind, list, moved, count);
}

tsr_status tsr_route_plain(const tsr_change_job *job, tsr_route *out_route) {
  plain p = {.job = job, .route = out_route};
  TSR_TRY(tsr_space_init(&p.space, job->mesh, &job->from, &job->to, &job->shape, 0, 0));
  const uint8_t *at = p.space.from.atoms;
  for (int l = 0; l < p.space.list_count; at += p.space.from.count[l++])
    memcpy(p.lists[l], at, p.space.from.count[l]);
  p.now = p.space.from;
  // Partial results first, so that everything after them is replicas.
  for (int pass = 0; pass < 2; pass++) {
    const uint8_t *end = p.space.to.atoms;
    for (int l = 0; l < p.space.list_count; l++) end += p.space.to.count[l];
    for (int l = p.space.list_count; l-- > 0;) {
      end -= p.space.to.count[l];
      TSR_TRY(plain_list(&p, l, end, pass == 0));
    }
  }
  return NULL;
}
