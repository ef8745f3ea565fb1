// Reductions over groups whose members are on several ranks.
//
// A rank combines those of its members that are whole branches of the tree, and sends the value of
// each branch to the ranks that want the result; single members are sent as they are. Then every
// rank combines the branches of all.
//
// A large result that three ranks or more want is *sliced*: each of them combines one slice, and
// the slices are exchanged. So a rank sends twice the result, not once to each of the others.
//
// The work is a list of *jobs*, one for each part of a result that a group makes, the same on all
// ranks. A job has *branches*, the nodes of the tree that ranks hold, and *takers*, one lane on
// each rank that wants the result.
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/pool_internal.h"
#include "ranks/rank_fold.h"
#include "ranks/rank_step_internal.h"
#include "tessera/engine/reduce.h"

// A node whose members are all on one rank.
typedef struct rank_branch {
  tsr_reduce_node node;
  int rank;
  int lane;       // of its first member
  int64_t sent;   // where its value is in the room of its rank; -1 = it is not there
  int64_t place;  // among the branches of its job, where they are received
} rank_branch;

typedef struct job {
  int group, part;
  int first_branch, branch_count;
  int first_taker, taker_count;
  bool is_sliced;  // taker i makes slice i
} job;

// What is sent, what is received, and scratch memory lie one after the other in the room of the
// step, for all its values.
typedef struct rank_room {
  int64_t *sent, *received;  // of each rank: bytes
} rank_room;

// A lane that wants a result, and where its rank receives the branches of the job.
typedef struct rank_taker {
  int lane;
  int64_t received;
} rank_taker;

typedef struct rank_reduction {
  const tsr_rank_call *c;
  const tsr_lane_reduction *r;
  int value;
  const tsr_lane_value *v;
  const tsr_fold_programs *programs;
  int64_t bytes;          // of a part
  int64_t partial_bytes;  // of a partial result of it
  const tsr_member_map *map;
  job *jobs;
  rank_branch *branches;
  rank_taker *takers;
  int job_count, branch_count, taker_count;
  int branch_capacity;
  rank_room *room;
  tsr_fold_term *terms;
} rank_reduction;

static int member_count(const rank_reduction *w, int group) {
  return w->r->groups.starts[group + 1] - w->r->groups.starts[group];
}

static const int *members_of(const rank_reduction *w, int group) {
  return w->r->groups.members + w->r->groups.starts[group];
}

static int rank_of(const rank_reduction *w, int lane) { return w->c->moves->lanes->ranks[lane]; }

static int my_rank(const rank_reduction *w) { return tsr_comm_rank(w->c->moves->lanes->comm); }

// ---- takers ----

// Whether a lane wants a result at all: of a reduction to a root only that, its first member.
static bool wants_result(const rank_reduction *w, int lane) {
  return w->map->group[lane] >= 0 && (!w->r->to_root || w->map->index[lane] == 0);
}

static int part_of(const rank_reduction *w, int lane) {
  return w->r->scattered ? w->map->index[lane] : 0;
}

static int compare_takers(const void *a, const void *b) {
  const int *x = a, *y = b;
  for (int i = 0; i < 4; i++)
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  return 0;
}

// The lanes that want a result, by group and part; those here that do not get zeros.
static tsr_status find_takers(rank_reduction *w) {
  const tsr_class_places *out = w->c->out[w->value];
  const int count = out->starts[tsr_class_count(out->classes)];
  const int lanes = w->c->moves->lanes->lanes;
  int(*keys)[4] = malloc(((size_t)count + 1) * sizeof *keys);
  w->takers = malloc(((size_t)count + 1) * sizeof *w->takers);
  w->jobs = malloc(((size_t)count + 1) * sizeof *w->jobs);
  if (!keys || !w->takers || !w->jobs) {
    free(keys);
    return tsr_fail(NO_MEMORY, "reductions between ranks");
  }
  for (int i = 0; i < count; i++) {
    const int lane = out->holders[i];
    if (wants_result(w, lane)) {
      int *key = keys[w->taker_count++];
      key[0] = w->map->group[lane];
      key[1] = part_of(w, lane);
      key[2] = rank_of(w, lane);
      key[3] = lane;
    } else if (tsr_lane_is_here(w->c->moves->lanes, lane)) {
      memset(w->c->call->outputs[w->value * lanes + lane], 0, (size_t)w->bytes);
    }
  }
  qsort(keys, (size_t)w->taker_count, sizeof *keys, compare_takers);
  for (int i = 0; i < w->taker_count; i++) {
    job *last = w->job_count ? &w->jobs[w->job_count - 1] : NULL;
    w->takers[i] = (rank_taker){.lane = keys[i][3]};
    if (last && last->group == keys[i][0] && last->part == keys[i][1])
      last->taker_count++;
    else
      w->jobs[w->job_count++] =
          (job){.group = keys[i][0], .part = keys[i][1], .first_taker = i, .taker_count = 1};
  }
  free(keys);
  return NULL;
}

// ---- branches ----

static tsr_status add_branch(rank_reduction *w, job *j, const tsr_reduce_node *node, int lane) {
  if (w->branch_count == w->branch_capacity) {
    const int capacity = 2 * w->branch_capacity;
    rank_branch *larger = realloc(w->branches, (size_t)capacity * sizeof *larger);
    if (!larger) return tsr_fail(NO_MEMORY, "reductions between ranks");
    w->branches = larger;
    w->branch_capacity = capacity;
  }
  w->branches[w->branch_count++] =
      (rank_branch){.node = *node, .rank = rank_of(w, lane), .lane = lane, .sent = -1};
  j->branch_count++;
  return NULL;
}

// The fewest nodes that the members of each rank make up.
static tsr_status find_branches(rank_reduction *w, job *j) {
  const int count = member_count(w, j->group), *members = members_of(w, j->group);
  tsr_reduce_node nodes[TSR_REDUCE_MAX_NODES];
  j->first_branch = w->branch_count;
  for (int first = 0, last = 0; first < count; first = last) {
    const int rank = rank_of(w, members[first]);
    for (last = first + 1; last < count && rank_of(w, members[last]) == rank;) last++;
    const int64_t found = tsr_reduce_nodes(count, first, last, nodes);
    for (int64_t i = 0; i < found; i++)
      TSR_TRY(add_branch(w, j, &nodes[i], members[nodes[i].first]));
  }
  return NULL;
}

static int taker_rank(const rank_reduction *w, const job *j, int index) {
  return rank_of(w, w->takers[j->first_taker + index].lane);
}

// Whether the job has a taker on another rank than this one.
static bool is_wanted_beside(const rank_reduction *w, const job *j, int rank) {
  for (int i = 0; i < j->taker_count; i++)
    if (taker_rank(w, j, i) != rank) return true;
  return false;
}

static bool is_member(const rank_branch *b) { return b->node.last - b->node.first == 1; }

static int64_t padded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// Elements of a run.
typedef struct rank_slice {
  int64_t first, count;
} rank_slice;

enum { LEAST_SLICED = 1 << 15 };  // bytes: less goes in one round

// Whether each taker is on a rank of its own, and slices are worth a second exchange.
static bool can_be_sliced(const rank_reduction *w, const job *j) {
  if (w->r->scattered || j->taker_count < 3 || w->bytes < LEAST_SLICED) return false;
  for (int i = 1; i < j->taker_count; i++)
    if (taker_rank(w, j, i) == taker_rank(w, j, i - 1)) return false;
  return true;
}

static int64_t slice_size(const rank_reduction *w, const job *j) {
  return j->is_sliced ? (w->v->run + j->taker_count - 1) / j->taker_count : w->v->run;
}

// What a taker makes of the run.
static rank_slice slice_of(const rank_reduction *w, const job *j, int taker) {
  const int64_t size = slice_size(w, j), first = j->is_sliced ? taker * size : 0;
  if (first >= w->v->run) return (rank_slice){0, 0};
  return (rank_slice){first, tsr_least(size, w->v->run - first)};
}

// Places for what is sent and received, on all ranks: both ends of a message know both.
static void place_branches(const rank_reduction *w, const job *j) {
  const int64_t elements = w->v->outer * slice_size(w, j);
  int64_t bytes = 0;
  for (int i = 0; i < j->branch_count; i++) {
    rank_branch *b = &w->branches[j->first_branch + i];
    b->place = bytes;
    bytes += padded(elements * (is_member(b) ? w->programs->bytes : w->programs->partial_bytes));
    if (is_member(b) || !is_wanted_beside(w, j, b->rank)) continue;
    b->sent = w->room->sent[b->rank];
    w->room->sent[b->rank] += padded(w->partial_bytes);
  }
  for (int i = 0; i < j->taker_count; i++) {
    rank_taker *taker = &w->takers[j->first_taker + i];
    const int rank = taker_rank(w, j, i);
    const bool again = i && taker_rank(w, j, i - 1) == rank;
    taker->received = again ? taker[-1].received : w->room->received[rank];
    if (!again) w->room->received[rank] += bytes;
  }
}

static tsr_status plan_jobs(rank_reduction *w) {
  w->partial_bytes = w->v->outer * w->v->run * w->programs->partial_bytes;
  w->branch_capacity = 16;
  w->branches = malloc((size_t)w->branch_capacity * sizeof *w->branches);
  if (!w->branches) return tsr_fail(NO_MEMORY, "reductions between ranks");
  TSR_TRY(find_takers(w));
  int most = 1;
  for (int i = 0; i < w->job_count; i++) {
    TSR_TRY(find_branches(w, &w->jobs[i]));
    w->jobs[i].is_sliced = can_be_sliced(w, &w->jobs[i]);
    place_branches(w, &w->jobs[i]);
    if (member_count(w, w->jobs[i].group) > most) most = member_count(w, w->jobs[i].group);
  }
  w->terms = malloc((size_t)most * sizeof *w->terms);
  return w->terms ? NULL : tsr_fail(NO_MEMORY, "reductions between ranks");
}

// ---- memory ----

static char *sent_at(const rank_reduction *w, int64_t offset) { return w->c->moves->room + offset; }

static char *received_at(const rank_reduction *w, int64_t offset) {
  return w->c->moves->room + w->room->sent[my_rank(w)] + offset;
}

// ---- folding ----

// The value of a member as a term: it may be a part of a larger one.
static tsr_fold_term term_of_member(const rank_reduction *w, const job *j, int64_t first,
                                    int64_t member) {
  const tsr_lane_value *v = w->v;
  const int count = member_count(w, j->group), lanes = w->c->moves->lanes->lanes;
  const int64_t parts = w->r->scattered ? count : 1, run = v->run * v->bytes;
  const char *data = w->c->call->inputs[w->value * lanes + members_of(w, j->group)[member]];
  return (tsr_fold_term){.node = {member, member + 1},
                         .data = data + j->part * run + first * v->bytes,
                         .stride = parts * run};
}

// Elements from `first` of a run on.
static int add_members(const rank_reduction *w, const job *j, int64_t first,
                       const tsr_reduce_node *node, int count) {
  for (int64_t m = node->first; m < node->last; m++)
    w->terms[count++] = term_of_member(w, j, first, m);
  return count;
}

static tsr_status fold(const rank_reduction *w, const job *j, int count, int64_t run,
                       bool to_partial, char *out) {
  const tsr_rank_fold f = {.programs = w->programs,
                           .outer = w->v->outer,
                           .run = run,
                           .members = member_count(w, j->group),
                           .terms = w->terms,
                           .term_count = count,
                           .to_partial = to_partial,
                           .out = out,
                           .scratch = received_at(w, w->room->received[my_rank(w)])};
  return tsr_fold_run(&f, w->c->call->pool);
}

// The values of branches that other ranks want.
static tsr_status fold_branches(const rank_reduction *w, const job *j) {
  for (int i = 0; i < j->branch_count; i++) {
    const rank_branch *b = &w->branches[j->first_branch + i];
    if (b->sent < 0 || b->rank != my_rank(w)) continue;
    const int count = add_members(w, j, 0, &b->node, 0);
    TSR_TRY(fold(w, j, count, w->v->run, true, sent_at(w, b->sent)));
  }
  return NULL;
}

static int add_branch_term(const rank_reduction *w, const job *j, const rank_taker *taker,
                           const rank_slice *slice, const rank_branch *b, int count) {
  const bool is_partial = !is_member(b), is_own = b->rank == my_rank(w);
  const int64_t width = is_partial ? w->programs->partial_bytes : w->programs->bytes;
  if (is_own && b->sent < 0) return add_members(w, j, slice->first, &b->node, count);
  w->terms[count++] = (tsr_fold_term){.node = b->node,
                                      .data = is_own ? sent_at(w, b->sent) + slice->first * width
                                                     : received_at(w, taker->received + b->place),
                                      .stride = width * (is_own ? w->v->run : slice->count),
                                      .is_partial = is_partial};
  return count;
}

// The result of a job, or the slice of it, in the memory of all its takers that are here.
static tsr_status fold_job(const rank_reduction *w, const job *j) {
  const int lanes = w->c->moves->lanes->lanes;
  const char *done = NULL;
  for (int i = 0; i < j->taker_count; i++) {
    const rank_taker *taker = &w->takers[j->first_taker + i];
    char *out = w->c->call->outputs[w->value * lanes + taker->lane];
    if (taker_rank(w, j, i) != my_rank(w)) continue;
    if (done) {
      memcpy(out, done, (size_t)w->bytes);
      continue;
    }
    const rank_slice slice = slice_of(w, j, i);
    int count = 0;
    for (int k = 0; k < j->branch_count; k++)
      count = add_branch_term(w, j, taker, &slice, &w->branches[j->first_branch + k], count);
    TSR_TRY(fold(w, j, count, slice.count, false, out + slice.first * w->v->bytes));
    done = out;
  }
  return NULL;
}

// ---- messages ----

// A slice of a member's part as it lies, in bytes.
static tsr_copy copy_of_part(const rank_reduction *w, const job *j, const rank_slice *slice) {
  const int64_t run = w->v->run * w->v->bytes;
  const int64_t parts = w->r->scattered ? member_count(w, j->group) : 1;
  tsr_copy copy = {.from = j->part * run + slice->first * w->v->bytes,
                   .length = slice->count * w->v->bytes};
  if (parts == 1) return copy;
  copy.loop_count = 1;
  copy.loops[0] = (tsr_copy_loop){.count = w->v->outer, .from = parts * run, .to = run};
  return copy;
}

static tsr_copy copy_of_partial(const rank_reduction *w, const rank_branch *b,
                                const rank_slice *slice) {
  const int64_t width = w->programs->partial_bytes;
  return (tsr_copy){.from = b->sent + slice->first * width,
                    .length = w->v->outer * slice->count * width};
}

// Branches of one member are read where they lie, others from the room.
static tsr_status add_job_moves(const rank_reduction *w, const job *j, bool of_members) {
  for (int i = 0; i < j->branch_count; i++) {
    const rank_branch *b = &w->branches[j->first_branch + i];
    if (of_members != is_member(b)) continue;
    for (int k = 0; k < j->taker_count; k++) {
      const rank_taker *taker = &w->takers[j->first_taker + k];
      const int rank = taker_rank(w, j, k);  // takers of a rank share what it gets
      if (rank == b->rank || (k && taker_rank(w, j, k - 1) == rank)) continue;
      const rank_slice slice = slice_of(w, j, k);
      tsr_copy copy = of_members ? copy_of_part(w, j, &slice) : copy_of_partial(w, b, &slice);
      copy.to = taker->received + b->place;
      TSR_TRY(tsr_rank_moves_add(w->c->moves, b->lane, taker->lane, &copy));
    }
  }
  return NULL;
}

static tsr_status open_arrays(const rank_reduction *w, bool of_members) {
  const int lanes = w->c->moves->lanes->lanes;
  char *received = received_at(w, 0);
  if (!of_members) return tsr_rank_moves_open_common(w->c->moves, 8, sent_at(w, 0), received);
  char **targets = malloc((size_t)lanes * sizeof *targets);
  if (!targets) return tsr_fail(NO_MEMORY, "reductions between ranks");
  for (int i = 0; i < lanes; i++) targets[i] = received;
  const tsr_status status =
      tsr_rank_moves_open(w->c->moves, 8, w->c->call->inputs + w->value * lanes, targets);
  free(targets);
  return status;
}

static tsr_status add_moves(const rank_reduction *w) {
  for (int of_members = 0; of_members < 2; of_members++) {
    TSR_TRY(open_arrays(w, of_members));
    for (int i = 0; i < w->job_count; i++) TSR_TRY(add_job_moves(w, &w->jobs[i], of_members));
  }
  return NULL;
}

// Slices from the takers that made them to the others.
static tsr_status add_slice_moves(const rank_reduction *w, const job *j) {
  for (int from = 0; from < j->taker_count; from++) {
    const rank_slice slice = slice_of(w, j, from);
    const tsr_copy copy = {.from = slice.first * w->v->bytes,
                           .to = slice.first * w->v->bytes,
                           .length = slice.count * w->v->bytes};
    for (int to = 0; to < j->taker_count; to++)
      if (to != from)
        TSR_TRY(tsr_rank_moves_add(w->c->moves, w->takers[j->first_taker + from].lane,
                                   w->takers[j->first_taker + to].lane, &copy));
  }
  return NULL;
}

static bool has_slices(const rank_reduction *w) {
  for (int i = 0; i < w->job_count; i++)
    if (w->jobs[i].is_sliced) return true;
  return false;
}

static tsr_status exchange_slices(const rank_reduction *all, int count) {
  const int lanes = all->c->moves->lanes->lanes;
  bool any = false;
  tsr_rank_moves_clear(all->c->moves);
  for (int i = 0; i < count; i++) {
    const rank_reduction *w = &all[i];
    char *const *outputs = w->c->call->outputs + w->value * lanes;
    if (!has_slices(w)) continue;
    any = true;
    TSR_TRY(tsr_rank_moves_open(w->c->moves, 8, (const char *const *)outputs, outputs));
    for (int k = 0; k < w->job_count; k++)
      if (w->jobs[k].is_sliced) TSR_TRY(add_slice_moves(w, &w->jobs[k]));
  }
  return any ? tsr_rank_moves_run(all->c->moves) : NULL;
}

// ---- the step ----

static tsr_status reserve_room(const rank_reduction *all, int count, const rank_room *room) {
  int64_t scratch = 0;
  for (int i = 0; i < count; i++) {
    const int64_t own = tsr_fold_scratch(all[i].programs);
    if (own > scratch) scratch = own;
  }
  const tsr_rank_call *c = all->c;
  const int rank = tsr_comm_rank(c->moves->lanes->comm);
  return tsr_rank_moves_reserve(c->moves, room->sent[rank] + room->received[rank] +
                                              scratch * tsr_pool_workers(c->call->pool));
}

// All values in one exchange, and slices of large ones in another.
static tsr_status reduce_values(rank_reduction *all, int count, const rank_room *room) {
  for (int i = 0; i < count; i++) TSR_TRY(plan_jobs(&all[i]));
  TSR_TRY(reserve_room(all, count, room));
  for (int i = 0; i < count; i++)
    for (int k = 0; k < all[i].job_count; k++) TSR_TRY(fold_branches(&all[i], &all[i].jobs[k]));
  tsr_rank_moves_clear(all->c->moves);
  for (int i = 0; i < count; i++) TSR_TRY(add_moves(&all[i]));
  TSR_TRY(tsr_rank_moves_run(all->c->moves));
  for (int i = 0; i < count; i++)
    for (int k = 0; k < all[i].job_count; k++) TSR_TRY(fold_job(&all[i], &all[i].jobs[k]));
  return exchange_slices(all, count);
}

static void reductions_destroy(rank_reduction *all, int count) {
  for (int i = 0; all && i < count; i++) {
    free(all[i].jobs);
    free(all[i].branches);
    free(all[i].takers);
    free(all[i].terms);
  }
  free(all);
}

static tsr_status reduce_by_tree(const tsr_lane_reduction *r, const tsr_rank_call *call,
                                 const tsr_member_map *map) {
  const int ranks = tsr_comm_rank_count(call->moves->lanes->comm);
  rank_room room = {.sent = calloc(2 * (size_t)ranks, sizeof *room.sent)};
  rank_reduction *all = calloc((size_t)r->count + 1, sizeof *all);
  int count = 0;
  if (room.sent) room.received = room.sent + ranks;
  for (int i = 0; all && i < r->count; i++) {
    const tsr_lane_value *v = &r->values[i];
    const int64_t bytes = v->outer * v->run * v->bytes;
    if (bytes)
      all[count++] = (rank_reduction){.c = call,
                                      .r = r,
                                      .value = i,
                                      .v = v,
                                      .programs = call->extra,
                                      .bytes = bytes,
                                      .map = map,
                                      .room = &room};
  }
  tsr_status status = NULL;
  if (!all || !room.sent)
    status = tsr_fail(NO_MEMORY, "reductions between ranks");
  else if (count)
    status = reduce_values(all, count, &room);
  reductions_destroy(all, count);
  free(room.sent);
  return status;
}

tsr_status tsr_rank_reduction(const void *description, const tsr_rank_call *call) {
  tsr_member_map map;
  const tsr_lane_reduction *r = description;
  bool done = false;
  TSR_TRY(tsr_member_map_init(&map, &r->groups));
  tsr_status status = tsr_rank_reduce_fast(r, call, &map, &done);
  if (!status && !done) status = reduce_by_tree(r, call, &map);
  tsr_member_map_deinit(&map);
  return status;
}
