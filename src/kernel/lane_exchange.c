// Collectives between lanes: copies between their memory, and reductions block by block. All of
// them are shared among workers if they are worth it.
#include "kernel/lane_exchange.h"

#include <string.h>

#include "base/arithmetic.h"

enum {
  LEAST_SHARED = 1 << 19,  // bytes: less is done by the time that a worker is awake
  PIECE = 1 << 18          // bytes that one task copies
};

static int member_count(const tsr_lane_groups *groups, int group) {
  return groups->starts[group + 1] - groups->starts[group];
}

static const int *members_of(const tsr_lane_groups *groups, int group) {
  return groups->members + groups->starts[group];
}

static int taker_count(const tsr_lane_takers *takers, int value) {
  return takers->starts[value + 1] - takers->starts[value];
}

static const tsr_lane_taker *takers_of(const tsr_lane_takers *takers, int value) {
  return takers->takers + takers->starts[value];
}

// ---- copies of runs ----

// A copy of `bytes` for each taker, in pieces.
typedef struct run_copies {
  const tsr_lane_taker *takers;
  char *const *outputs;       // of each lane
  const char *const *inputs;  // of each lane
  const int *sources;         // of each lane; -1 = zeros
  const tsr_lane_pick *pick;  // where sources is NULL: the root of the group
  const char *const *roots;   // addresses of roots by lane, NULL = the first member
  int64_t bytes, pieces;
  int value;
} run_copies;

// The place of the root of a value in its group. Roots are an input, the same in all lanes.
static int root_of(const tsr_lane_groups *groups, int group, const char *const *roots, int value) {
  if (!roots) return 0;
  const int *members = members_of(groups, group);
  int32_t root = 0;
  memcpy(&root, roots[members[0]] + (size_t)value * sizeof root, sizeof root);
  return root < 0 || root >= member_count(groups, group) ? 0 : root;
}

static int source_of(const run_copies *c, const tsr_lane_taker *taker) {
  if (c->sources) return c->sources[taker->lane];
  if (taker->group < 0) return -1;
  const tsr_lane_groups *groups = &c->pick->groups;
  return members_of(groups, taker->group)[root_of(groups, taker->group, c->roots, c->value)];
}

static tsr_status copy_piece(void *context, int64_t index, int worker) {
  const run_copies *c = context;
  const tsr_lane_taker *taker = &c->takers[index / c->pieces];
  const int64_t at = index % c->pieces * PIECE;
  const size_t bytes = (size_t)tsr_least(PIECE, c->bytes - at);
  const int source = source_of(c, taker);
  char *out = c->outputs[taker->lane] + at;
  (void)worker;
  if (source < 0)
    memset(out, 0, bytes);
  else if (c->inputs[source] + at != out)
    memcpy(out, c->inputs[source] + at, bytes);
  return NULL;
}

static tsr_status copy_runs(run_copies *c, int count, tsr_pool *pool) {
  if (!c->bytes) return NULL;
  c->pieces = (c->bytes + PIECE - 1) / PIECE;
  const bool worth = tsr_saturated_multiply(c->bytes, count) > LEAST_SHARED;
  return tsr_pool_run(worth ? pool : NULL, count * c->pieces, copy_piece, c);
}

tsr_status tsr_lane_pick_run(const void *description, const tsr_kernel_call *call) {
  const tsr_lane_pick *p = description;
  const int lanes = p->groups.lanes;
  for (int i = 0; i < p->count; i++) {
    run_copies copies = {.takers = takers_of(&p->takers, i),
                         .outputs = call->outputs + i * lanes,
                         .inputs = call->inputs + i * lanes,
                         .sources = p->sources,
                         .pick = p,
                         .roots = p->dynamic_root ? call->inputs + p->count * lanes : NULL,
                         .bytes = p->bytes[i],
                         .value = i};
    TSR_TRY(copy_runs(&copies, taker_count(&p->takers, i), call->pool));
  }
  return NULL;
}

// ---- all_gather, all_to_all ----

typedef struct box_copies {
  const tsr_lane_exchange *exchange;
  const tsr_lane_box *box;
  const tsr_lane_taker *takers;
  const char *const *inputs;
  char *const *outputs;
  tsr_pool *pool;  // of the copy of one box
  int most;        // members of the largest group
} box_copies;

static tsr_status copy_box(void *context, int64_t index, int worker) {
  const box_copies *c = context;
  const tsr_lane_taker *taker = &c->takers[index / c->most];
  const int64_t from = index % c->most;
  char *out = c->outputs[taker->lane];
  (void)worker;
  if (taker->group < 0) {
    if (!from) memset(out, 0, (size_t)c->box->bytes);
    return NULL;
  }
  const tsr_lane_groups *groups = &c->exchange->groups;
  if (from >= member_count(groups, taker->group)) return NULL;
  const char *in = c->inputs[members_of(groups, taker->group)[from]];
  in += taker->place * c->box->from_step;
  return tsr_copies_apply(&c->box->copies, &in, out + from * c->box->to_step, c->pool);
}

static int largest_group(const tsr_lane_groups *groups) {
  int most = 1;
  for (int g = 0; g < groups->group_count; g++)
    if (member_count(groups, g) > most) most = member_count(groups, g);
  return most;
}

// Large boxes are shared one by one, small ones go to one worker each.
static tsr_status exchange_value(const tsr_lane_exchange *e, const tsr_kernel_call *call, int value,
                                 int most) {
  const tsr_lane_box *box = &e->boxes[value];
  const int64_t takers = taker_count(&e->takers, value);
  const bool large = box->copies.tasks > 1;
  const bool worth =
      tsr_saturated_multiply(box->box_bytes, tsr_saturated_multiply(most, takers)) > LEAST_SHARED;
  box_copies copies = {.exchange = e,
                       .box = box,
                       .takers = takers_of(&e->takers, value),
                       .inputs = call->inputs + value * e->groups.lanes,
                       .outputs = call->outputs + value * e->groups.lanes,
                       .pool = large ? call->pool : NULL,
                       .most = most};
  return tsr_pool_run(worth && !large ? call->pool : NULL, takers * most, copy_box, &copies);
}

tsr_status tsr_lane_exchange_run(const void *description, const tsr_kernel_call *call) {
  const tsr_lane_exchange *exchange = description;
  const int most = largest_group(&exchange->groups);
  for (int i = 0; i < exchange->count; i++)
    if (exchange->boxes[i].bytes) TSR_TRY(exchange_value(exchange, call, i, most));
  return NULL;
}

// ---- reductions ----

enum { TASK_BLOCKS = 16, MOST_LEVELS = 31 };  // of a tree of lanes

// Takers of one group, or one of them if results are scattered.
typedef struct lane_fold {
  const tsr_lane_reduction *reduction;
  const tsr_kernel_call *call;
  const char *const *inputs, *const *roots;
  char *const *outputs;
  int value;
  const tsr_lane_taker *takers;
  int taker_count;
  int64_t blocks;  // of a run
} lane_fold;

// Combines members pairwise: partial results of equal height meet as in a binary counter.
static const char *fold_pairs(const lane_fold *fold, const int *members, int count, int64_t from,
                              int64_t elements, char *blocks, char *scratch) {
  const tsr_lane_reduction *r = fold->reduction;
  const int64_t bytes = TSR_LANE_BLOCK * r->values[fold->value].bytes;
  const char *partial[MOST_LEVELS + 1];
  int height[MOST_LEVELS + 1], depth = 0;
  for (int i = 0; i < count; i++) {
    partial[depth] = fold->inputs[members[i]] + from;
    height[depth++] = 0;
    while (depth > 1 && (height[depth - 1] == height[depth - 2] || i == count - 1)) {
      const int level = depth - 2;
      // Two blocks for each level: one may be an operand of what the other becomes.
      char *out = blocks + 2 * level * bytes;
      if (partial[level] == out) out += bytes;
      tsr_tile_run_few(r->program, elements, &partial[level], &out, scratch);
      partial[level] = out;
      height[level]++;
      depth--;
    }
  }
  return partial[0];
}

// Writes the block of a result to the takers of the group; others than the root may get zeros.
static void give(const lane_fold *fold, int64_t at, const char *block, int64_t bytes, int root) {
  const tsr_lane_reduction *r = fold->reduction;
  for (int i = 0; i < fold->taker_count; i++) {
    char *out = fold->outputs[fold->takers[i].lane] + at;
    if (r->to_root && fold->takers[i].place != root)
      memset(out, 0, (size_t)bytes);
    else if (out != block)
      memcpy(out, block, (size_t)bytes);
  }
}

static void fold_block(const lane_fold *fold, int64_t index, int worker) {
  const tsr_lane_reduction *r = fold->reduction;
  const tsr_lane_value *value = &r->values[fold->value];
  const int group = fold->takers[0].group, count = member_count(&r->groups, group);
  const int *members = members_of(&r->groups, group);
  const int64_t outer = index / fold->blocks, first = index % fold->blocks * TSR_LANE_BLOCK;
  const int64_t elements = tsr_least(TSR_LANE_BLOCK, value->run - first);
  const int64_t parts = r->scattered ? count : 1, part = r->scattered ? fold->takers[0].place : 0;
  const int64_t from = ((outer * parts + part) * value->run + first) * value->bytes;
  const int64_t to = (outer * value->run + first) * value->bytes;
  char *scratch = tsr_kernel_scratch(fold->call, worker);
  const int root = r->to_root ? root_of(&r->groups, group, fold->roots, fold->value) : 0;
  const char *block = NULL;
  if (r->arity) {
    const char *inputs[TSR_LANE_ARITY];
    char *out = fold->outputs[fold->takers[0].lane] + to;
    for (int i = 0; i < count; i++) inputs[i] = fold->inputs[members[i]] + from;
    tsr_tile_run_few(r->program, elements, inputs, &out, scratch);
    block = out;
  } else {
    char *blocks = scratch + (tsr_tile_scratch_bytes(r->program) + 63) / 64 * 64;
    block = fold_pairs(fold, members, count, from, elements, blocks, scratch);
  }
  give(fold, to, block, elements * value->bytes, root);
}

static tsr_status fold_blocks(void *context, int64_t index, int worker) {
  const lane_fold *fold = context;
  const int64_t all = fold->reduction->values[fold->value].outer * fold->blocks;
  const int64_t end = tsr_least(all, (index + 1) * TASK_BLOCKS);
  for (int64_t i = index * TASK_BLOCKS; i < end; i++) fold_block(fold, i, worker);
  return NULL;
}

static tsr_status fold_takers(lane_fold *fold, const tsr_lane_taker *takers, int count) {
  const tsr_lane_reduction *r = fold->reduction;
  const tsr_lane_value *value = &r->values[fold->value];
  if (takers->group < 0) {
    for (int i = 0; i < count; i++)
      memset(fold->outputs[takers[i].lane], 0, (size_t)(value->outer * value->run * value->bytes));
    return NULL;
  }
  fold->takers = takers;
  fold->taker_count = count;
  fold->blocks = (value->run + TSR_LANE_BLOCK - 1) / TSR_LANE_BLOCK;
  const int64_t blocks = value->outer * fold->blocks;
  const int64_t bytes = value->outer * value->run * value->bytes;
  const int64_t read = tsr_saturated_multiply(bytes, member_count(&r->groups, takers->group));
  return tsr_pool_run(read > LEAST_SHARED ? fold->call->pool : NULL,
                      (blocks + TASK_BLOCKS - 1) / TASK_BLOCKS, fold_blocks, fold);
}

static tsr_status fold_value(const tsr_lane_reduction *r, const tsr_kernel_call *call, int value) {
  const int lanes = r->groups.lanes, count = taker_count(&r->takers, value);
  const tsr_lane_taker *takers = takers_of(&r->takers, value);
  lane_fold fold = {.reduction = r,
                    .call = call,
                    .inputs = call->inputs + value * lanes,
                    .roots = r->dynamic_root ? call->inputs + r->count * lanes : NULL,
                    .outputs = call->outputs + value * lanes,
                    .value = value};
  if (!r->values[value].outer || !r->values[value].run) return NULL;
  for (int i = 0, end = 0; i < count; i = end) {
    for (end = i + 1; !r->scattered && end < count && takers[end].group == takers[i].group;) end++;
    TSR_TRY(fold_takers(&fold, takers + i, end - i));
  }
  return NULL;
}

tsr_status tsr_lane_reduction_run(const void *description, const tsr_kernel_call *call) {
  const tsr_lane_reduction *r = description;
  for (int i = 0; i < r->count; i++) TSR_TRY(fold_value(r, call, i));
  return NULL;
}

int64_t tsr_lane_reduction_scratch(const tsr_lane_reduction *reduction) {
  const int64_t program = (tsr_tile_scratch_bytes(reduction->program) + 63) / 64 * 64;
  int64_t widest = 0;
  for (int i = 0; i < reduction->count; i++)
    if (reduction->values[i].bytes > widest) widest = reduction->values[i].bytes;
  int levels = 1;
  for (int64_t most = largest_group(&reduction->groups); most > 1; most = (most + 1) / 2) levels++;
  return program + (reduction->arity ? 0 : 2 * levels * TSR_LANE_BLOCK * widest);
}

void tsr_lane_reduction_destroy(void *reduction) {
  tsr_lane_reduction *r = reduction;
  tsr_tile_destroy(r->program);
}
