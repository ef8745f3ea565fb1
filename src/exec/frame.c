// The walk over steps. Everything it needs was decided before: it looks up addresses, calls
// kernels, and turns loops.
#include "exec/frame.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer_internal.h"
#include "tessera/engine/buffer.h"

double tsr_seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// ---- frames ----

static int64_t most_addresses(const tsr_step_list *list) {
  int64_t most = 0;
  for (const tsr_schedule_step *step = list->first; step; step = step->next) {
    const int64_t wider =
        step->input_count > step->output_count ? step->input_count : step->output_count;
    const int64_t sets = step->kind == TSR_STEP_WHILE    ? 2  // all rotations
                         : step->kind == TSR_STEP_ACROSS ? step->lanes
                         : step->run_calls               ? tsr_class_count(step->classes)
                                                         : 1;
    int64_t here = sets * wider;
    for (int i = 0; i < step->list_count; i++) {
      const int64_t inside = most_addresses(&step->lists[i]);
      if (inside > here) here = inside;
    }
    if (here > most) most = here;
  }
  return most;
}

// The addresses of one kernel on one side.
static int64_t most_kernel_addresses(const tsr_step_list *list) {
  int64_t most = 0;
  for (const tsr_schedule_step *step = list->first; step; step = step->next) {
    if (step->kind == TSR_STEP_KERNEL && step->input_count > most) most = step->input_count;
    if (step->kind == TSR_STEP_KERNEL && step->output_count > most) most = step->output_count;
    for (int i = 0; i < step->list_count; i++) {
      const int64_t inside = most_kernel_addresses(&step->lists[i]);
      if (inside > most) most = inside;
    }
  }
  return most;
}

static int most_lanes(const tsr_step_list *list) {
  int most = 1;
  for (const tsr_schedule_step *step = list->first; step; step = step->next) {
    if (step->lanes > most) most = step->lanes;
    for (int i = 0; i < step->list_count; i++) {
      const int inside = most_lanes(&step->lists[i]);
      if (inside > most) most = inside;
    }
  }
  return most;
}

static void bind_slot(tsr_frame *frame, const tsr_schedule *schedule, const tsr_memory_plan *plan,
                      int slot) {
  char *arena = tsr_buffer_data(frame->arena);
  if (schedule->slots[slot].kind == TSR_SLOT_CONSTANT)
    frame->addresses[slot] = (char *)(uintptr_t)schedule->slots[slot].data;
  else if (plan->places[slot].offset >= 0 && arena)
    frame->addresses[slot] = arena + plan->places[slot].offset;
}

static tsr_status fill_frame(tsr_frame *frame, const tsr_schedule *schedule,
                             const tsr_memory_plan *plan, tsr_buffer_pool *buffers, int workers) {
  const size_t most = (size_t)most_addresses(&schedule->steps) + 1;
  frame->addresses = calloc((size_t)schedule->slot_count + 1, sizeof *frame->addresses);
  frame->inputs = calloc(most, sizeof *frame->inputs);
  frame->outputs = calloc(most, sizeof *frame->outputs);
  frame->kernel_addresses = most_kernel_addresses(&schedule->steps) + 1;
  const size_t kernels = (size_t)frame->kernel_addresses * (size_t)workers;
  frame->worker_inputs = calloc(kernels, sizeof *frame->worker_inputs);
  frame->worker_outputs = calloc(kernels, sizeof *frame->worker_outputs);
  frame->tables = calloc((size_t)schedule->slot_count + 1, sizeof *frame->tables);
  frame->arguments = calloc((size_t)plan->argument_addresses[schedule->argument_count] + 1,
                            sizeof *frame->arguments);
  frame->results =
      calloc((size_t)plan->result_addresses[schedule->result_count] + 1, sizeof *frame->results);
  frame->stamps = calloc((size_t)most_lanes(&schedule->steps), sizeof *frame->stamps);
  frame->calls = calloc((size_t)most_lanes(&schedule->steps), sizeof *frame->calls);
  if (!frame->addresses || !frame->inputs || !frame->outputs || !frame->worker_inputs ||
      !frame->worker_outputs || !frame->tables || !frame->arguments || !frame->results ||
      !frame->stamps || !frame->calls)
    return tsr_fail(NO_MEMORY, "memory of a run");
  if (plan->ranks) frame->moves.lanes = plan->ranks->lanes;
  int64_t scratch = 0;
  if (__builtin_mul_overflow(plan->scratch_bytes, workers, &scratch))
    return tsr_fail(TOO_LARGE, "scratch memory of %d workers", workers);
  TSR_TRY(tsr_buffer_create(buffers, plan->arena_bytes, &frame->arena));
  TSR_TRY(tsr_buffer_create(buffers, scratch, &frame->scratch));
  for (int i = 0; i < schedule->slot_count; i++) bind_slot(frame, schedule, plan, i);
  return NULL;
}

tsr_status tsr_frame_create(const tsr_schedule *schedule, const tsr_memory_plan *plan,
                            tsr_buffer_pool *buffers, int workers, tsr_frame **out_frame) {
  tsr_frame *frame = calloc(1, sizeof *frame);
  if (!frame) return tsr_fail(NO_MEMORY, "memory of a run");
  const tsr_status status = fill_frame(frame, schedule, plan, buffers, workers);
  if (status)
    tsr_frame_destroy(frame);
  else
    *out_frame = frame;
  return status;
}

void tsr_frame_destroy(tsr_frame *frame) {
  if (!frame) return;
  tsr_buffer_release(frame->arena);
  tsr_buffer_release(frame->scratch);
  tsr_buffer_release(frame->pieces);
  free(frame->addresses);
  free(frame->inputs);
  free(frame->outputs);
  free(frame->worker_inputs);
  free(frame->worker_outputs);
  free(frame->tables);
  free(frame->arguments);
  free(frame->results);
  free(frame->stamps);
  free(frame->calls);
  tsr_rank_moves_deinit(&frame->moves);
  free(frame);
}

// ---- addresses ----

static char *address_of(const tsr_schedule_run *run, int slot, int64_t lane) {
  const tsr_slot_place *place = &run->plan->places[slot];
  int class = tsr_class_of(place->root_classes, lane);
  char *const *table = run->frame->tables[place->root];
  if (place->here && !table) class = place->here[class];
  if (class < 0) return NULL;
  char *address = table ? table[class] : run->frame->addresses[place->root];
  if (!address) return NULL;
  address += (table ? 0 : class * place->stride) + place->shift;
  if (place->class_offsets) address += place->class_offsets[tsr_class_of(place->classes, lane)];
  return address;
}

// Arguments and results, and the slots whose addresses the last run may have changed.
static void bind(const tsr_schedule_run *run) {
  const tsr_schedule *schedule = run->schedule;
  const tsr_memory_plan *plan = run->plan;
  tsr_frame *frame = run->frame;
  for (int i = 0; i < schedule->argument_count; i++)
    if (schedule->arguments[i] >= 0)
      frame->tables[schedule->arguments[i]] = frame->arguments + plan->argument_addresses[i];
  for (int i = 0; i < schedule->result_count; i++)
    if (plan->result_roots[i] >= 0)
      frame->tables[plan->result_roots[i]] = frame->results + plan->result_addresses[i];
  for (int i = 0; i < plan->loop_count; i++)
    for (int k = 0; k < plan->loops[i].rotation_count; k++)
      bind_slot(run->frame, schedule, plan, plan->loops[i].rotations[k].to);
}

// ---- copies ----

enum { COPIED_AT_ONCE = 1 << 19 };  // bytes

typedef struct shared_copy {
  char *to;
  const char *from;
  int64_t bytes;
} shared_copy;

static tsr_status copy_part(void *context, int64_t index, int worker) {
  const shared_copy *c = context;
  const int64_t at = index * COPIED_AT_ONCE;
  const int64_t bytes = c->bytes - at < COPIED_AT_ONCE ? c->bytes - at : COPIED_AT_ONCE;
  (void)worker;
  memcpy(c->to + at, c->from + at, (size_t)bytes);
  return NULL;
}

tsr_status tsr_copy_shared(tsr_pool *pool, char *to, const char *from, int64_t bytes) {
  shared_copy copy = {to, from, bytes};
  const int64_t parts = (bytes + COPIED_AT_ONCE - 1) / COPIED_AT_ONCE;
  if (to == from || !bytes) return NULL;
  return tsr_pool_run(parts > 1 ? pool : NULL, parts, copy_part, &copy);
}

// ---- steps ----

static tsr_kernel_call call_of(const tsr_schedule_run *run, const tsr_schedule_step *step,
                               int64_t lane) {
  tsr_kernel_call call = {.inputs = run->frame->inputs,
                          .outputs = run->frame->outputs,
                          .temp = NULL,
                          .scratch = tsr_buffer_data(run->frame->scratch),
                          .scratch_bytes = run->scratch_bytes,
                          .pool = run->pool,
                          .lane = lane};
  if (step->temp_slot >= 0) call.temp = address_of(run, step->temp_slot, 0);
  return call;
}

// Outside of manual computations there is one lane, on every rank.
static bool is_here(const tsr_schedule_run *run, const tsr_schedule_step *step, int lane) {
  return !run->plan->ranks || step->lanes == 1 || tsr_lane_is_here(run->plan->ranks->lanes, lane);
}

static bool is_active(const tsr_schedule_run *run, const tsr_schedule_step *step, int lane) {
  return (!run->active || run->active[lane]) && is_here(run, step, lane);
}

// The classes with a lane here, and such a lane of each. In one process `places` is NULL.
static int count_here(const tsr_schedule_step *step, const tsr_lane_classes *classes,
                      const tsr_class_places *places) {
  return places && step->lanes > 1 ? places->here_count : tsr_class_count(classes);
}

static int lane_here(const tsr_schedule_step *step, const tsr_lane_classes *classes,
                     const tsr_class_places *places, int index) {
  return places && step->lanes > 1 ? places->lanes_here[index] : tsr_class_lane(classes, index);
}

static const tsr_class_places *places_of_slot(const tsr_schedule_run *run, int slot) {
  return run->plan->ranks ? run->plan->ranks->slots[slot] : NULL;
}

static const tsr_step_ranks *ranks_of(const tsr_schedule_run *run, const tsr_schedule_step *step) {
  return run->plan->ranks ? &run->plan->ranks->steps[step->number] : NULL;
}

// Gives a call the memory of one lane. `inputs` and `outputs` are room for its addresses.
static void address_call(const tsr_schedule_run *run, const tsr_schedule_step *step, int lane,
                         tsr_kernel_call *call, const char **inputs, char **outputs) {
  for (int i = 0; i < step->input_count; i++) inputs[i] = address_of(run, step->inputs[i], lane);
  for (int i = 0; i < step->output_count; i++) outputs[i] = address_of(run, step->outputs[i], lane);
  tsr_window_inputs_place(step->windows, step->window_count, inputs);
  call->inputs = inputs;
  call->outputs = outputs;
}

static tsr_status run_for(const tsr_schedule_run *run, const tsr_schedule_step *step, int lane) {
  tsr_kernel_call call = call_of(run, step, lane);
  address_call(run, step, lane, &call, run->frame->inputs, run->frame->outputs);
  return step->run(step->description, &call);
}

// ---- classes side by side ----

typedef struct class_tasks {
  const tsr_schedule_run *run;
  const tsr_schedule_step *step;
  const tsr_class_places *places;
} class_tasks;

static tsr_status run_class(void *context, int64_t index, int worker) {
  const class_tasks *t = context;
  const tsr_schedule_run *run = t->run;
  const int lane = lane_here(t->step, t->step->classes, t->places, (int)index);
  tsr_kernel_call call = call_of(run, t->step, lane);
  call.pool = NULL;
  call.scratch = tsr_kernel_scratch(&call, worker);
  const int64_t room = worker * run->frame->kernel_addresses;
  address_call(run, t->step, lane, &call, run->frame->worker_inputs + room,
               run->frame->worker_outputs + room);
  return t->step->run(t->step->description, &call);
}

// Whether each class is too little work to be shared, and all of them are enough. Sizes alone
// decide, and a kernel gives the same bits on any number of workers.
static bool runs_side_by_side(const tsr_schedule_step *step, int count) {
  enum { BYTES = 8, FLOPS = 16, MOST = 250 * 1000, LEAST = 30 * 1000 };  // per ns; ns
  if (count < 2 || step->temp_slot >= 0) return false;
  const int64_t all = step->bytes / BYTES + step->flops / FLOPS;
  return all > LEAST && all / tsr_class_count(step->classes) < MOST;
}

// All classes in one call.
static tsr_status run_at_once(const tsr_schedule_run *run, const tsr_schedule_step *step,
                              const tsr_class_places *places, int count) {
  for (int i = 0; i < count; i++) {
    const int lane = lane_here(step, step->classes, places, i);
    run->frame->calls[i] = call_of(run, step, lane);
    address_call(run, step, lane, &run->frame->calls[i],
                 run->frame->inputs + (int64_t)i * step->input_count,
                 run->frame->outputs + (int64_t)i * step->output_count);
  }
  return step->run_calls(step->description, run->frame->calls, count);
}

// Whether no lane before is active and of the same class.
static bool is_first_active(const tsr_schedule_run *run, const tsr_lane_classes *classes,
                            int lane) {
  if (!run->active[lane]) return false;
  uint32_t *stamp = &run->frame->stamps[tsr_class_of(classes, lane)];
  if (*stamp == run->frame->stamp) return false;
  *stamp = run->frame->stamp;
  return true;
}

static tsr_status run_kernel(const tsr_schedule_run *run, const tsr_schedule_step *step) {
  if (!run->active) {
    const tsr_step_ranks *ranks = ranks_of(run, step);
    const tsr_class_places *places = ranks ? ranks->classes : NULL;
    const int count = count_here(step, step->classes, places);
    if (step->run_calls && count > 1) return run_at_once(run, step, places, count);
    if (runs_side_by_side(step, count)) {
      class_tasks tasks = {run, step, places};
      return tsr_pool_run(run->pool, count, run_class, &tasks);
    }
    for (int i = 0; i < count; i++)
      TSR_TRY(run_for(run, step, lane_here(step, step->classes, places, i)));
    return NULL;
  }
  run->frame->stamp++;
  for (int lane = 0; lane < step->lanes; lane++)
    if (is_first_active(run, step->classes, lane)) TSR_TRY(run_for(run, step, lane));
  return NULL;
}

// Fails if a step across all lanes is reached by some of them only.
static tsr_status check_all_active(const tsr_schedule_run *run, const tsr_schedule_step *step) {
  for (int lane = 0; lane < step->lanes; lane++)
    if (!is_active(run, step, lane) && is_here(run, step, lane))
      return tsr_fail(UNSUPPORTED,
                      "%s at line %u: stands in a loop or branch that device %d does not take with "
                      "the others",
                      step->op->name, step->op->line, lane);
  return NULL;
}

static tsr_status run_across(const tsr_schedule_run *run, const tsr_schedule_step *step) {
  TSR_TRY(check_all_active(run, step));
  for (int i = 0; i < step->input_count * step->lanes; i++)
    run->frame->inputs[i] = address_of(run, step->inputs[i / step->lanes], i % step->lanes);
  for (int i = 0; i < step->output_count * step->lanes; i++)
    run->frame->outputs[i] = address_of(run, step->outputs[i / step->lanes], i % step->lanes);
  const tsr_kernel_call call = call_of(run, step, 0);
  const tsr_step_ranks *ranks = ranks_of(run, step);
  if (!ranks) return step->run(step->description, &call);
  const tsr_rank_call over = {&run->frame->moves, ranks->in, ranks->out, &call, ranks->extra};
  return tsr_note(ranks->across->run(step->description, &over), "%s at line %u", step->op->name,
                  step->op->line);
}

static tsr_status run_list(tsr_schedule_run *run, const tsr_step_list *list);

// ---- loops and branches ----

static int32_t choice_of(const tsr_schedule_run *run, int slot, int lane) {
  const char *address = address_of(run, slot, lane);
  int32_t choice = 0;
  if (run->schedule->slots[slot].bytes != sizeof choice) return *address != 0;
  memcpy(&choice, address, sizeof choice);
  return choice;
}

// The choice of the active lanes of this rank; false if they differ.
static bool read_here(const tsr_schedule_run *run, const tsr_schedule_step *step, int slot,
                      int32_t *out_choice) {
  bool seen = false;
  for (int lane = 0; lane < step->lanes; lane++) {
    if (!is_active(run, step, lane)) continue;
    const int32_t choice = choice_of(run, slot, lane);
    if (seen && choice != *out_choice) return false;
    *out_choice = choice;
    seen = true;
  }
  return true;
}

// Whether the active lanes choose the same; fails if ranks meet inside the step and lanes do not.
static tsr_status read_choice(const tsr_schedule_run *run, const tsr_schedule_step *step, int slot,
                              int32_t *out_choice, bool *out_same) {
  const tsr_step_ranks *ranks = ranks_of(run, step);
  *out_same = read_here(run, step, slot, out_choice);
  if (!ranks || !ranks->compares) return NULL;
  return tsr_rank_agree_choice(run->plan->ranks, step, *out_same, *out_choice);
}

static tsr_status copy_lane(const tsr_schedule_run *run, int from, int to, int lane) {
  return tsr_copy_shared(run->pool, address_of(run, to, lane), address_of(run, from, lane),
                         run->schedule->slots[to].bytes);
}

static tsr_status copy_slot(const tsr_schedule_run *run, const tsr_schedule_step *step, int from,
                            int to) {
  const tsr_lane_classes *classes = run->schedule->slots[to].classes;
  const tsr_class_places *places = places_of_slot(run, to);
  if (!run->active) {
    for (int i = 0; i < count_here(step, classes, places); i++)
      TSR_TRY(copy_lane(run, from, to, lane_here(step, classes, places, i)));
    return NULL;
  }
  run->frame->stamp++;
  for (int lane = 0; lane < step->lanes; lane++)
    if (is_first_active(run, classes, lane)) TSR_TRY(copy_lane(run, from, to, lane));
  return NULL;
}

static const tsr_rotation *rotation_from(const tsr_loop_plan *plan, int from) {
  for (int i = 0; i < plan->rotation_count; i++)
    if (plan->rotations[i].from == from) return &plan->rotations[i];
  return NULL;
}

// Whether rotation k is the first of its cycle in the list.
static bool starts_cycle(const tsr_loop_plan *plan, int k) {
  const tsr_rotation *first = &plan->rotations[k];
  for (const tsr_rotation *r = first; r && r->to != first->from;) {
    r = rotation_from(plan, r->to);
    if (r && r < first) return false;
  }
  return true;
}

// Moves bytes of one lane along a cycle of rotations, against it: what `to` holds goes to the
// memory of `from`, which `to` has after the rotation.
static void move_cycle(const tsr_schedule_run *run, const tsr_loop_plan *plan,
                       const tsr_rotation *first, size_t at, size_t bytes) {
  char kept[256];
  memcpy(kept, run->frame->addresses[first->from] + at, bytes);
  for (const tsr_rotation *r = first; r; r = rotation_from(plan, r->to)) {
    char *target = run->frame->addresses[r->from] + at;
    const bool last = r->to == first->from;
    memmove(target, last ? kept : run->frame->addresses[r->to] + at, bytes);
    if (last) return;
  }
}

static void keep_class(const tsr_schedule_run *run, const tsr_loop_plan *plan,
                       const tsr_rotation *first, size_t class) {
  enum { MOST = 256 };
  const size_t bytes = (size_t)run->schedule->slots[first->to].bytes;
  for (size_t at = 0; at < bytes; at += MOST)
    move_cycle(run, plan, first, class * bytes + at, bytes - at < MOST ? bytes - at : MOST);
}

// Lanes that are done keep their carries while the addresses of all lanes go round. The lanes of a
// class of a carry are done at the same time.
static void keep_carries(const tsr_schedule_run *run, const tsr_schedule_step *step,
                         const tsr_loop_plan *plan) {
  for (int k = 0; k < plan->rotation_count; k++) {
    const tsr_rotation *r = &plan->rotations[k];
    const tsr_lane_classes *classes = run->schedule->slots[r->to].classes;
    const tsr_class_places *places = places_of_slot(run, r->to);
    if (r->from == r->to || !starts_cycle(plan, k)) continue;
    for (int i = 0; i < count_here(step, classes, places); i++)
      if (!run->active[lane_here(step, classes, places, i)]) keep_class(run, plan, r, (size_t)i);
  }
}

static void rotate(const tsr_schedule_run *run, const tsr_schedule_step *step) {
  const tsr_loop_plan *plan = &run->plan->loops[step->loop];
  char **addresses = run->frame->addresses;
  char **before = run->frame->outputs;  // not in use between steps
  if (run->active) keep_carries(run, step, plan);
  for (int i = 0; i < plan->rotation_count; i++) before[i] = addresses[plan->rotations[i].from];
  for (int i = 0; i < plan->rotation_count; i++) addresses[plan->rotations[i].to] = before[i];
}

// Takes the lanes out whose condition is false. `mask` is made when lanes first differ.
static tsr_status drop_lanes(tsr_schedule_run *run, const tsr_schedule_step *step, bool **mask) {
  if (!*mask) {
    *mask = malloc((size_t)step->lanes * sizeof **mask);
    if (!*mask) return tsr_fail(NO_MEMORY, "memory of a run");
    for (int lane = 0; lane < step->lanes; lane++) (*mask)[lane] = is_active(run, step, lane);
    run->active = *mask;
  }
  for (int lane = 0; lane < step->lanes; lane++)
    if ((*mask)[lane]) (*mask)[lane] = choice_of(run, step->condition, lane) != 0;
  return NULL;
}

static tsr_status turn(tsr_schedule_run *run, const tsr_schedule_step *step, bool **mask) {
  for (;;) {
    int32_t goes_on = 0;
    bool same = false;
    TSR_TRY(run_list(run, &step->lists[0]));
    TSR_TRY(read_choice(run, step, step->condition, &goes_on, &same));
    if (!same)
      TSR_TRY(drop_lanes(run, step, mask));
    else if (!goes_on)
      return NULL;
    TSR_TRY(run_list(run, &step->lists[1]));
    rotate(run, step);
  }
}

static tsr_status run_while(tsr_schedule_run *run, const tsr_schedule_step *step) {
  const bool *outer = run->active;
  bool *mask = NULL;
  for (int i = 0; i < step->output_count; i++)
    TSR_TRY(copy_slot(run, step, step->inputs[i], step->outputs[i]));
  const tsr_status status = turn(run, step, &mask);
  run->active = outer;
  free(mask);
  return status;
}

static int branch_of(const tsr_schedule_step *step, int32_t choice) {
  if (step->op->info->id == TSR_OP_IF) choice = !choice;
  return choice < 0 || choice >= step->list_count ? step->list_count - 1 : choice;
}

// Each branch for the lanes that take it, in the order in which their memory was planned.
static tsr_status run_branches(tsr_schedule_run *run, const tsr_schedule_step *step,
                               const int *branches, bool *mask) {
  const bool *outer = run->active;
  tsr_status status = NULL;
  for (int i = 0; i < step->list_count && !status; i++) {
    bool taken = false;
    for (int lane = 0; lane < step->lanes; lane++) {
      mask[lane] = branches[lane] == i;
      taken = taken || mask[lane];
    }
    run->active = mask;
    if (taken) status = run_list(run, &step->lists[i]);
  }
  run->active = outer;
  return status;
}

static tsr_status run_case(tsr_schedule_run *run, const tsr_schedule_step *step) {
  int32_t choice = 0;
  bool same = false;
  TSR_TRY(read_choice(run, step, step->inputs[0], &choice, &same));
  if (same) return run_list(run, &step->lists[branch_of(step, choice)]);
  int *branches = malloc((size_t)step->lanes * (sizeof *branches + sizeof(bool)));
  if (!branches) return tsr_fail(NO_MEMORY, "memory of a run");
  for (int lane = 0; lane < step->lanes; lane++)
    branches[lane] =
        is_active(run, step, lane) ? branch_of(step, choice_of(run, step->inputs[0], lane)) : -1;
  const tsr_status status = run_branches(run, step, branches, (bool *)(branches + step->lanes));
  free(branches);
  return status;
}

static tsr_status run_step(tsr_schedule_run *run, const tsr_schedule_step *step) {
  switch (step->kind) {
    case TSR_STEP_KERNEL:
      return run_kernel(run, step);
    case TSR_STEP_ACROSS:
      return run_across(run, step);
    case TSR_STEP_WHILE:
      return run_while(run, step);
    case TSR_STEP_CASE:
      return run_case(run, step);
  }
  return NULL;
}

static tsr_status run_observed(tsr_schedule_run *run, const tsr_schedule_step *step) {
  const double start = tsr_seconds_now();
  TSR_TRY(run_step(run, step));
  if (step->list_count) return NULL;  // those inside are seen one by one
  const tsr_step_event event = {.step = step->number,
                                .name = step->name,
                                .op_count = step->op_count,
                                .flops = step->flops,
                                .bytes = step->bytes,
                                .start = start - run->start,
                                .seconds = tsr_seconds_now() - start};
  run->hook(run->hook_context, &event);
  return NULL;
}

static tsr_status run_list(tsr_schedule_run *run, const tsr_step_list *list) {
  for (const tsr_schedule_step *step = list->first; step; step = step->next)
    TSR_TRY(run->hook ? run_observed(run, step) : run_step(run, step));
  return NULL;
}

// A result that is not made in the caller's memory.
static tsr_status copy_result(const tsr_schedule_run *run, int result) {
  const tsr_schedule *schedule = run->schedule;
  const tsr_lane_classes *classes =
      schedule->devices ? schedule->result_shards[result].classes : NULL;
  const int slot = schedule->results[result];
  char *const *targets = run->frame->results + run->plan->result_addresses[result];
  for (int i = 0; i < tsr_class_count(classes); i++) {
    const int lane = tsr_shard_lane(run->plan->ranks, classes, i);
    if (lane < 0) continue;
    TSR_TRY(tsr_copy_shared(run->pool, targets[i], address_of(run, slot, lane),
                            schedule->slots[slot].bytes));
  }
  return NULL;
}

static bool has_no_lane(const tsr_schedule_run *run) {
  return run->plan->ranks && !run->plan->ranks->lanes->here_count;
}

tsr_status tsr_run_schedule(tsr_schedule_run *run) {
  const tsr_schedule *schedule = run->schedule;
  bind(run);
  if (has_no_lane(run)) return NULL;
  TSR_TRY(run_list(run, &schedule->steps));
  for (int i = 0; i < schedule->result_count; i++)
    if (schedule->results[i] >= 0 && run->plan->result_roots[i] < 0) TSR_TRY(copy_result(run, i));
  return NULL;
}
