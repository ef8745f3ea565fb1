// exchange-parts: where devices gather or permute whole shards and then cut out what they need, the
// pieces that each device needs are sent to it and nothing else.
//
// Every op that moves elements along one dim and whose users do something else is a root. It is
// traced to where its elements come from, and an exchange of the pieces is planned. Roots that use
// the same collectives are judged together: what these move is compared with all the exchanges.
#include <stdlib.h>

#include "base/arithmetic.h"
#include "base/grow.h"
#include "combine/combine_passes.h"
#include "combine/device_numbers.h"
#include "combine/exchange_plan.h"
#include "combine/moved_bytes.h"
#include "propagate/edits.h"

enum { MOST_DEVICES = 1024 };

typedef struct exchanging {
  tsr_ir *ir;
  tsr_arena arena;
  int64_t devices, channel, changes;
  tsr_exchange_plan *plans;
  int64_t count, capacity;
  int64_t *teams;  // the plan that stands for all that share collectives with this one
  int64_t *next;   // the next plan of the same team; -1 = the last
} exchanging;

// ---- roots ----

static bool follows(const tsr_op *user, int dim) {
  return tsr_op_is(user, TSR_OP_COLLECTIVE_PERMUTE) || tsr_moved_dim(user) == dim;
}

static bool is_root(const tsr_op *op) {
  const int dim = tsr_op_is(op, TSR_OP_ALL_GATHER) ? -1 : tsr_moved_dim(op);
  if (dim < 0) return false;
  for (const tsr_use *use = op->results[0].uses; use; use = use->next)
    if (!follows(use->user, dim)) return true;
  return false;
}

static bool has_collective(const tsr_exchange_plan *plan) {
  for (int64_t i = 0; i < plan->trace.ops.count; i++)
    if (tsr_moved_bytes_of(plan->trace.ops.items[i])) return true;
  return false;
}

static tsr_status plan_root(tsr_op *op, void *context) {
  exchanging *x = context;
  bool planned = false;
  if (!is_root(op)) return NULL;
  tsr_exchange_plan *plans = tsr_grow(x->plans, x->count, &x->capacity, sizeof *plans);
  TSR_NEED(plans);
  x->plans = plans;
  tsr_exchange_plan *plan = &plans[x->count];
  tsr_status status = tsr_exchange_plan_make(x->ir, op, x->devices, &x->arena, plan, &planned);
  if (!status && planned && has_collective(plan)) {
    x->count++;
    return NULL;
  }
  tsr_exchange_plan_deinit(plan);
  return status;
}

// ---- teams ----

static int64_t team_of(exchanging *x, int64_t plan) {
  while (x->teams[plan] != plan) plan = x->teams[plan] = x->teams[x->teams[plan]];
  return plan;
}

// Ops that several plans follow make them one team. The mark of an op is 1 + the first of them, the
// mark of the result of a root 1 + its plan.
static void join_teams(exchanging *x) {
  for (int64_t i = 0; i < x->count; i++) {
    x->teams[i] = i;
    tsr_op_result(x->plans[i].root, 0)->mark = (uint32_t)i + 1;
    for (int64_t k = 0; k < x->plans[i].trace.ops.count; k++) {
      tsr_op *op = x->plans[i].trace.ops.items[k];
      if (op->mark)
        x->teams[team_of(x, op->mark - 1)] = team_of(x, i);
      else
        op->mark = (uint32_t)i + 1;
    }
  }
}

// Each team as a list that begins with the plan that stands for it.
static tsr_status make_teams(exchanging *x) {
  x->teams = calloc((size_t)x->count + 1, sizeof *x->teams);
  x->next = calloc((size_t)x->count + 1, sizeof *x->next);
  TSR_NEED(x->teams && x->next ? x->teams : NULL);
  join_teams(x);
  for (int64_t i = 0; i < x->count; i++) x->next[i] = -1;
  for (int64_t i = x->count; i-- > 0;) {
    const int64_t team = team_of(x, i);
    if (team == i) continue;
    x->next[i] = x->next[team];
    x->next[team] = i;
  }
  return NULL;
}

// ---- what a team saves ----

static bool is_of_team(exchanging *x, uint32_t mark, int64_t team) {
  return mark && team_of(x, mark - 1) == team;
}

static bool is_used_outside(exchanging *x, const tsr_op *op, int64_t team) {
  for (const tsr_use *use = op->results[0].uses; use; use = use->next) {
    const tsr_op *user = use->user;
    const bool root = user->result_count && is_of_team(x, user->results[0].mark, team);
    if (!root && !is_of_team(x, user->mark, team)) return true;
  }
  return false;
}

static void unmark_ops_that_stay(exchanging *x, int64_t team) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int64_t i = team; i >= 0; i = x->next[i])
      for (int64_t k = 0; k < x->plans[i].trace.ops.count; k++) {
        tsr_op *op = x->plans[i].trace.ops.items[k];
        if (!op->mark || !is_used_outside(x, op, team)) continue;
        op->mark = 0;
        changed = true;
      }
  }
}

// Bytes of the collectives that nothing else needs, each once.
static int64_t bytes_saved(exchanging *x, int64_t team) {
  int64_t saved = 0;
  unmark_ops_that_stay(x, team);
  for (int64_t i = team; i >= 0; i = x->next[i])
    for (int64_t k = 0; k < x->plans[i].trace.ops.count; k++) {
      const tsr_op *op = x->plans[i].trace.ops.items[k];
      if (op->mark == (uint32_t)i + 1) saved = tsr_saturated_add(saved, tsr_moved_bytes_of(op));
    }
  return saved;
}

static int64_t bytes_planned(const exchanging *x, int64_t team) {
  int64_t bytes = 0;
  for (int64_t i = team; i >= 0; i = x->next[i])
    bytes = tsr_saturated_add(bytes, x->plans[i].bytes);
  return bytes;
}

// ---- exchanging ----

static void erase_unused(const tsr_exchange_plan *plan) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int64_t i = 0; i < plan->trace.ops.count; i++) {
      tsr_op *op = plan->trace.ops.items[i];
      if (!op->block || op->results[0].uses) continue;
      tsr_op_erase(op);
      changed = true;
    }
  }
}

// A leaf may be the result of another root, which was replaced meanwhile.
static tsr_value *leaf_now(const exchanging *x, tsr_value *leaf) {
  for (int64_t i = 0; leaf && leaf->def && !leaf->def->block && i < x->count; i++)
    if (x->plans[i].root == leaf->def) return leaf_now(x, x->plans[i].result);
  return leaf;
}

static void renew_leaves(const exchanging *x, tsr_exchange_plan *plan) {
  for (int64_t i = 0; i < plan->trace.count; i++)
    plan->trace.pieces[i].leaf = leaf_now(x, plan->trace.pieces[i].leaf);
  for (int64_t i = 0; i < plan->round_count; i++)
    plan->rounds[i].leaf = leaf_now(x, plan->rounds[i].leaf);
  plan->trace.padding = leaf_now(x, plan->trace.padding);
}

static tsr_status exchange_team(exchanging *x, int64_t team) {
  for (int64_t i = team; i >= 0; i = x->next[i]) {
    renew_leaves(x, &x->plans[i]);
    TSR_TRY(tsr_exchange_emit(x->ir, &x->plans[i], &x->channel));
    x->changes++;
  }
  for (int64_t i = team; i >= 0; i = x->next[i]) {
    if (x->plans[i].root->block) tsr_op_erase(x->plans[i].root);
    erase_unused(&x->plans[i]);
  }
  return NULL;
}

static tsr_status exchange_all(exchanging *x) {
  TSR_TRY(tsr_op_walk(x->ir->module, plan_root, x));
  tsr_block_marks_clear(x->ir->module->regions[0].first);
  TSR_TRY(make_teams(x));
  for (int64_t i = 0; i < x->count; i++)
    if (team_of(x, i) == i && bytes_planned(x, i) < bytes_saved(x, i)) TSR_TRY(exchange_team(x, i));
  return NULL;
}

tsr_status tsr_pass_exchange_parts(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  exchanging x = {.ir = ir, .devices = tsr_device_count(ir), .channel = tsr_channel_unused(ir)};
  (void)options;
  if (x.devices < 2 || x.devices > MOST_DEVICES) return NULL;
  tsr_status status = exchange_all(&x);
  for (int64_t i = 0; i < x.count; i++) tsr_exchange_plan_deinit(&x.plans[i]);
  free(x.plans);
  free(x.teams);
  free(x.next);
  tsr_arena_deinit(&x.arena);
  *changes += x.changes;
  return status;
}
