// The classes of a schedule that are on this rank, step by step.
#include "exec/rank_plan.h"

// ---- what steps need ----

typedef struct rank_planning {
  tsr_schedule *schedule;
  tsr_rank_plan *out;
} rank_planning;

static void *get(const rank_planning *p, int64_t count, size_t size) {
  return tsr_arena_zeros(&p->schedule->arena, (size_t)count + 1, size);
}

static tsr_status places_of(const rank_planning *p, const tsr_lane_classes *classes,
                            const tsr_class_places **out_places) {
  if (classes && classes->lanes != p->out->lanes->lanes)
    return tsr_fail(UNSUPPORTED, "a computation on %d of %d devices does not run on several ranks",
                    classes->lanes, p->out->lanes->lanes);
  return tsr_rank_places(p->out->lanes, classes, out_places);
}

static tsr_status plan_slots(const rank_planning *p) {
  const tsr_schedule *schedule = p->schedule;
  p->out->slots = get(p, schedule->slot_count, sizeof *p->out->slots);
  TSR_NEED(p->out->slots);
  for (int i = 0; i < schedule->slot_count; i++) {
    if (schedule->slots[i].from_first)
      return tsr_fail(UNSUPPORTED,
                      "a manual computation inside another one does not run on several ranks");
    TSR_TRY(places_of(p, schedule->slots[i].classes, &p->out->slots[i]));
  }
  return NULL;
}

static tsr_status slots_of(const rank_planning *p, const int *slots, int count,
                           const tsr_class_places ***out) {
  *out = get(p, count, sizeof **out);
  TSR_NEED(*out);
  for (int i = 0; i < count; i++) (*out)[i] = p->out->slots[slots[i]];
  return NULL;
}

static tsr_status plan_across(const rank_planning *p, const tsr_schedule_step *step,
                              tsr_step_ranks *out) {
  out->across = tsr_rank_step_of(step->run);
  if (!out->across || step->lanes != p->out->lanes->lanes)
    return tsr_fail(UNSUPPORTED, "%s at line %u does not run on several ranks", step->op->name,
                    step->op->line);
  if (out->across->prepare)
    TSR_TRY_NOTE(out->across->prepare(step->description, &out->extra),
                 "%s at line %u does not run on several ranks", step->op->name, step->op->line);
  TSR_TRY(slots_of(p, step->inputs, step->input_count, &out->in));
  return slots_of(p, step->outputs, step->output_count, &out->out);
}

static bool meets_inside(const tsr_schedule_step *step) {
  for (int i = 0; i < step->list_count; i++)
    for (const tsr_schedule_step *s = step->lists[i].first; s; s = s->next)
      if (s->kind == TSR_STEP_ACROSS || meets_inside(s)) return true;
  return false;
}

// A rank without lanes takes no part in steps, and choices are compared among all ranks.
static tsr_status check_all_have_lanes(const rank_planning *p, const tsr_schedule_step *step) {
  const tsr_rank_lanes *lanes = p->out->lanes;
  const tsr_class_places *all = NULL;
  TSR_TRY(places_of(p, NULL, &all));
  const int ranks = tsr_comm_rank_count(lanes->comm);
  if (all->starts[1] == ranks) return NULL;
  return tsr_fail(UNSUPPORTED,
                  "%s at line %u: devices may take different ways in it, and %d of %d ranks have "
                  "none",
                  step->op->name, step->op->line, ranks - all->starts[1], ranks);
}

static tsr_status plan_list(const rank_planning *p, const tsr_step_list *list);

static tsr_status plan_step(const rank_planning *p, const tsr_schedule_step *step) {
  tsr_step_ranks *out = &p->out->steps[step->number];
  const tsr_slot *slots = p->schedule->slots;
  if (step->kind == TSR_STEP_KERNEL) return places_of(p, step->classes, &out->classes);
  if (step->kind == TSR_STEP_ACROSS) return plan_across(p, step, out);
  const int chosen = step->kind == TSR_STEP_WHILE ? step->condition : step->inputs[0];
  out->compares = slots[chosen].classes && meets_inside(step);
  if (out->compares) TSR_TRY(check_all_have_lanes(p, step));
  for (int i = 0; i < step->list_count; i++) TSR_TRY(plan_list(p, &step->lists[i]));
  return NULL;
}

static tsr_status plan_list(const rank_planning *p, const tsr_step_list *list) {
  for (const tsr_schedule_step *step = list->first; step; step = step->next)
    TSR_TRY(plan_step(p, step));
  return NULL;
}

static tsr_status plan_shards(const rank_planning *p, const tsr_shards *shards, int count) {
  const tsr_class_places *places = NULL;
  for (int i = 0; i < count; i++) TSR_TRY(places_of(p, shards[i].classes, &places));
  return NULL;
}

// ---- making ----

static tsr_status make_plan(tsr_schedule *schedule, tsr_comm *comm, tsr_rank_plan *out) {
  const rank_planning p = {schedule, out};
  if (!schedule->devices)
    return tsr_fail(UNSUPPORTED,
                    "a program runs on several ranks once it is partitioned for their devices "
                    "(passes partition, lanes)");
  TSR_TRY(tsr_rank_lanes_create(comm, schedule->devices, schedule->device_ids, &out->lanes));
  out->steps = get(&p, schedule->step_count, sizeof *out->steps);
  TSR_NEED(out->steps);
  out->step_count = schedule->step_count;
  out->hash = tsr_schedule_hash(schedule);
  TSR_TRY(plan_slots(&p));
  TSR_TRY(plan_shards(&p, schedule->argument_shards, schedule->argument_count));
  TSR_TRY(plan_shards(&p, schedule->result_shards, schedule->result_count));
  return plan_list(&p, &schedule->steps);
}

tsr_status tsr_rank_plan_create(tsr_schedule *schedule, tsr_comm *comm, tsr_rank_plan **out_plan) {
  tsr_rank_plan *plan = tsr_arena_zeros(&schedule->arena, 1, sizeof *plan);
  TSR_NEED(plan);
  const tsr_status status = make_plan(schedule, comm, plan);
  if (status)
    tsr_rank_plan_destroy(plan);
  else
    *out_plan = plan;
  return status;
}

void tsr_rank_plan_destroy(tsr_rank_plan *plan) {
  if (!plan) return;
  for (int i = 0; i < plan->step_count; i++)
    if (plan->steps[i].extra) plan->steps[i].across->destroy(plan->steps[i].extra);
  tsr_rank_lanes_destroy(plan->lanes);
}

int tsr_shard_lane(const tsr_rank_plan *plan, const tsr_lane_classes *classes, int class) {
  if (!plan) return tsr_class_lane(classes, class);
  const tsr_class_places *places = tsr_rank_places_find(plan->lanes, classes);
  return places->here[class] < 0 ? -1 : places->lanes_here[places->here[class]];
}
