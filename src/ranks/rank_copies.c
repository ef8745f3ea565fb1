// Steps that only move values: every lane's result is copied from where it lies, from one lane of
// each class, straight into the result.
#include <stdlib.h>
#include <string.h>

#include "ranks/rank_step_internal.h"

// ---- results that are here ----

static void clear_here(const tsr_rank_call *c, int value, int lane, int64_t bytes) {
  const tsr_rank_lanes *lanes = c->moves->lanes;
  if (bytes && tsr_lane_is_here(lanes, lane))
    memset(c->call->outputs[value * lanes->lanes + lane], 0, (size_t)bytes);
}

// ---- all_gather, all_to_all ----

// What lane `to`, member r of its group, gets from all members.
static tsr_status move_boxes(const tsr_rank_call *c, const tsr_lane_exchange *x, int value,
                             const tsr_member_map *map, int to) {
  const tsr_rank_lanes *lanes = c->moves->lanes;
  const tsr_lane_groups *groups = &x->groups;
  const tsr_lane_box *box = &x->boxes[value];
  const int group = map->group[to], first = groups->starts[group];
  const int64_t width = box->copies.element_bytes;
  tsr_copy copy = box->copies.parts[0].copy;
  copy.from += map->index[to] * box->from_step / width;
  for (int s = first; s < groups->starts[group + 1]; s++) {
    const int from = tsr_rank_supplier(lanes, c->in[value], groups->members[s], lanes->ranks[to]);
    TSR_TRY(tsr_rank_moves_add(c->moves, from, to, &copy));
    copy.to += box->to_step / width;
  }
  return NULL;
}

static tsr_status exchange_value(const tsr_rank_call *c, const tsr_lane_exchange *x, int value,
                                 const tsr_member_map *map) {
  const int lanes = c->moves->lanes->lanes;
  const tsr_class_places *out = c->out[value];
  const int64_t bytes = x->boxes[value].bytes;
  if (!bytes) return NULL;
  TSR_TRY(tsr_rank_moves_open(c->moves, 8 * x->boxes[value].copies.element_bytes,
                              c->call->inputs + value * lanes, c->call->outputs + value * lanes));
  const int count = out->starts[tsr_class_count(out->classes)];
  for (int i = 0; i < count; i++) {
    const int to = out->holders[i];
    if (map->group[to] < 0)
      clear_here(c, value, to, bytes);
    else
      TSR_TRY(move_boxes(c, x, value, map, to));
  }
  return NULL;
}

static tsr_status exchange_values(const tsr_rank_call *c, const tsr_lane_exchange *x,
                                  const tsr_member_map *map) {
  tsr_rank_moves_clear(c->moves);
  for (int i = 0; i < x->count; i++) TSR_TRY(exchange_value(c, x, i, map));
  return tsr_rank_moves_run(c->moves);
}

tsr_status tsr_rank_exchange(const void *description, const tsr_rank_call *call) {
  const tsr_lane_exchange *x = description;
  tsr_member_map map;
  TSR_TRY(tsr_member_map_init(&map, &x->groups));
  const tsr_status status = exchange_values(call, x, &map);
  tsr_member_map_deinit(&map);
  return status;
}

// ---- collective_broadcast, collective_permute ----

// The lane that gives `to` its value: one with the value of its source, or of the first member of
// its group. -1 = zeros.
static int source_of(const tsr_rank_call *c, const tsr_lane_pick *p, int value,
                     const tsr_member_map *map, int to) {
  const tsr_rank_lanes *lanes = c->moves->lanes;
  const int group = p->sources ? -1 : map->group[to];
  const int source = p->sources  ? p->sources[to]
                     : group < 0 ? -1
                                 : p->groups.members[p->groups.starts[group]];
  return source < 0 ? -1 : tsr_rank_supplier(lanes, c->in[value], source, lanes->ranks[to]);
}

static tsr_status pick_value(const tsr_rank_call *c, const tsr_lane_pick *p, int value,
                             const tsr_member_map *map) {
  const int lanes = c->moves->lanes->lanes;
  const tsr_class_places *out = c->out[value];
  const tsr_copy copy = {.length = p->bytes[value]};
  if (!copy.length) return NULL;
  TSR_TRY(tsr_rank_moves_open(c->moves, 8, c->call->inputs + value * lanes,
                              c->call->outputs + value * lanes));
  const int count = out->starts[tsr_class_count(out->classes)];
  for (int i = 0; i < count; i++) {
    const int to = out->holders[i], from = source_of(c, p, value, map, to);
    if (from < 0)
      clear_here(c, value, to, copy.length);
    else
      TSR_TRY(tsr_rank_moves_add(c->moves, from, to, &copy));
  }
  return NULL;
}

static tsr_status pick_values(const tsr_rank_call *c, const tsr_lane_pick *p,
                              const tsr_member_map *map) {
  tsr_rank_moves_clear(c->moves);
  for (int i = 0; i < p->count; i++) TSR_TRY(pick_value(c, p, i, map));
  return tsr_rank_moves_run(c->moves);
}

tsr_status tsr_rank_pick(const void *description, const tsr_rank_call *call) {
  const tsr_lane_pick *p = description;
  tsr_member_map map = {0};
  if (!p->sources) TSR_TRY(tsr_member_map_init(&map, &p->groups));
  const tsr_status status = pick_values(call, p, &map);
  tsr_member_map_deinit(&map);
  return status;
}
