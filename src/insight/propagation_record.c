// What happened while shardings propagated: who got which axis from whom, and who did not.
#include "base/grow.h"
#include "insight/insight.h"

// ---- before and after ----

static tsr_status keep(tsr_propagation *p, const tsr_tensor_sharding *sharding,
                       const tsr_tensor_sharding **out_kept) {
  *out_kept = NULL;
  if (!sharding) return NULL;
  *out_kept = tsr_sharding_copy(&p->arena, sharding);
  TSR_NEED(*out_kept);
  return NULL;
}

static tsr_status place_results(tsr_op *op, void *context) {
  const tsr_propagation *p = context;
  if (op->info->id != TSR_OP_FUNC) return NULL;
  const tsr_type *type = tsr_func_type(op);
  for (int i = 0; i < type->count - type->input_count; i++) {
    tsr_sharding_place *place = &p->places[tsr_func_result_slot(op, i)];
    place->func = op;
    place->index = i;
  }
  return NULL;
}

static tsr_status begin(void *context, const tsr_sharding_table *table) {
  tsr_propagation *p = context;
  p->place_count = table->count;
  p->places = tsr_arena_zeros(&p->arena, (size_t)table->count + 1, sizeof *p->places);
  TSR_NEED(p->places);
  for (int64_t i = 1; i <= table->count; i++) {
    p->places[i].value = tsr_sharding_owner(table, (uint32_t)i);
    TSR_TRY(keep(p, tsr_sharding_at(table, (uint32_t)i), &p->places[i].first));
  }
  return tsr_op_walk(table->ir->module, place_results, p);
}

static bool is_dropped(const tsr_ir *ir, const tsr_sharding_place *place) {
  if (!place->value) return false;
  const tsr_op *op = place->value->def ? place->value->def : tsr_block_parent(place->value->block);
  while (op && tsr_op_parent(op)) op = tsr_op_parent(op);
  return op != ir->module;
}

// Neighbours often have equal shardings: they share a copy.
static tsr_status end(void *context, const tsr_sharding_table *table) {
  tsr_propagation *p = context;
  const tsr_tensor_sharding *last = NULL;
  for (int64_t i = 1; i <= table->count; i++) {
    tsr_sharding_place *place = &p->places[i];
    const tsr_tensor_sharding *now = tsr_sharding_at(table, (uint32_t)i);
    place->dropped = is_dropped(table->ir, place);
    if (!now || !last || !tsr_tensor_sharding_equal(now, last)) TSR_TRY(keep(p, now, &last));
    place->last = last;
  }
  return p->failed ? tsr_fail(NO_MEMORY, "the record of a propagation") : NULL;
}

// ---- gains ----

static bool has_part(const tsr_tensor_sharding *sharding, int dim, const tsr_sdy_part *part) {
  for (int64_t i = 0; sharding && dim < sharding->rank && i < sharding->dims[dim].axes.count; i++)
    if (tsr_part_contains(&sharding->dims[dim].axes.items[i], part)) return true;
  return false;
}

// The dim of a tensor that has at least some of a part; -1 = none.
static int dim_with(const tsr_tensor_sharding *sharding, const tsr_sdy_part *part) {
  for (int dim = 0; sharding && dim < sharding->rank; dim++)
    for (int64_t i = 0; i < sharding->dims[dim].axes.count; i++)
      if (tsr_sdy_overlap(&sharding->dims[dim].axes.items[i], part)) return dim;
  return -1;
}

// The tensor that is said to be the source, or another one that has the part.
static void find_source(const tsr_flow_event *event, tsr_gain *gain) {
  const tsr_flow_view *view = event->view;
  for (int round = 0; round < 2 && !gain->source; round++)
    for (int i = 0; i < view->count && !gain->source; i++) {
      const bool said = event->source && view->values[i] == event->source;
      if (i == event->tensor || view->slots[i] == gain->slot || (!round && !said)) continue;
      const int dim = dim_with(view->shardings[i], &gain->part);
      if (dim < 0) continue;
      gain->source = view->slots[i];
      gain->source_dim = dim;
    }
}

static void add_gain(tsr_propagation *p, tsr_gain gain) {
  p->failed |= p->gain_count >= UINT32_MAX - 1;
  if (p->failed) return;
  tsr_gain *gains = tsr_grow(p->gains, p->gain_count, &p->gain_capacity, sizeof *gains);
  p->failed = !gains;
  if (p->failed) return;
  p->gains = gains;
  gain.previous = p->places[gain.slot].gains;
  gains[p->gain_count++] = gain;
  p->places[gain.slot].gains = (uint32_t)p->gain_count;
}

static void watch(void *context, const tsr_flow_event *event) {
  tsr_propagation *p = context;
  const uint32_t slot = event->view->slots[event->tensor];
  const tsr_tensor_sharding *before = event->view->shardings[event->tensor];
  for (int64_t i = 0; slot && i < event->axes.count; i++) {
    tsr_gain gain = {.slot = slot,
                     .dim = event->dim,
                     .part = event->axes.items[i],
                     .op = event->op,
                     .user_priority = event->user_priority,
                     .op_priority = event->op_priority};
    if (has_part(before, event->dim, &gain.part)) continue;
    find_source(event, &gain);
    add_gain(p, gain);
  }
}

static tsr_status settled(void *context, const tsr_flow_view *view) {
  return tsr_refusals_add(context, view);
}

void tsr_record_watch(tsr_propagation *propagation, tsr_flow_how *how) {
  how->watch = watch;
  how->begin = begin;
  how->settled = settled;
  how->end = end;
  how->context = propagation;
}
