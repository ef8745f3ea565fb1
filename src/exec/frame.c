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
    int64_t here = (step->kind == TSR_STEP_WHILE ? 2 : step->lanes) * wider;  // all rotations
    for (int i = 0; i < step->list_count; i++) {
      const int64_t inside = most_addresses(&step->lists[i]);
      if (inside > here) here = inside;
    }
    if (here > most) most = here;
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
  frame->arguments = calloc((size_t)schedule->argument_count + 1, sizeof *frame->arguments);
  if (!frame->addresses || !frame->inputs || !frame->outputs || !frame->arguments)
    return tsr_fail(NO_MEMORY, "memory of a run");
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
  free(frame->addresses);
  free(frame->inputs);
  free(frame->outputs);
  free(frame->arguments);
  free(frame);
}

// ---- addresses ----

static char *address_of(const tsr_schedule_run *run, int slot, int64_t lane) {
  const tsr_slot_place *place = &run->plan->places[slot];
  char *address = run->frame->addresses[place->root];
  return address ? address + lane * place->lane_stride + place->shift : NULL;
}

// Arguments and results, and the slots whose addresses the last run may have changed.
static void bind(const tsr_schedule_run *run, const void *const *inputs, void *const *outputs) {
  const tsr_schedule *schedule = run->schedule;
  const tsr_memory_plan *plan = run->plan;
  char **addresses = run->frame->addresses;
  for (int i = 0; i < schedule->argument_count; i++)
    if (schedule->arguments[i] >= 0)
      addresses[schedule->arguments[i]] = (char *)(uintptr_t)inputs[i];
  for (int i = 0; i < schedule->result_count; i++)
    if (plan->result_roots[i] >= 0) addresses[plan->result_roots[i]] = outputs[i];
  for (int i = 0; i < plan->loop_count; i++)
    for (int k = 0; k < plan->loops[i].rotation_count; k++)
      bind_slot(run->frame, schedule, plan, plan->loops[i].rotations[k].to);
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

static tsr_status run_kernel(const tsr_schedule_run *run, const tsr_schedule_step *step) {
  for (int lane = 0; lane < step->lanes; lane++) {
    for (int i = 0; i < step->input_count; i++)
      run->frame->inputs[i] = address_of(run, step->inputs[i], lane);
    for (int i = 0; i < step->output_count; i++)
      run->frame->outputs[i] = address_of(run, step->outputs[i], lane);
    const tsr_kernel_call call = call_of(run, step, lane);
    TSR_TRY(step->run(step->description, &call));
  }
  return NULL;
}

static tsr_status run_across(const tsr_schedule_run *run, const tsr_schedule_step *step) {
  for (int i = 0; i < step->input_count * step->lanes; i++)
    run->frame->inputs[i] = address_of(run, step->inputs[i / step->lanes], i % step->lanes);
  for (int i = 0; i < step->output_count * step->lanes; i++)
    run->frame->outputs[i] = address_of(run, step->outputs[i / step->lanes], i % step->lanes);
  const tsr_kernel_call call = call_of(run, step, 0);
  return step->run(step->description, &call);
}

static tsr_status run_list(tsr_schedule_run *run, const tsr_step_list *list);

// All lanes must agree, since what follows runs for all of them.
static tsr_status read_choice(const tsr_schedule_run *run, const tsr_schedule_step *step, int slot,
                              int64_t *out_choice) {
  const bool wide = run->schedule->slots[slot].bytes == sizeof(int32_t);
  for (int lane = 0; lane < step->lanes; lane++) {
    const char *address = address_of(run, slot, lane);
    int32_t choice = 0;
    if (wide)
      memcpy(&choice, address, sizeof choice);
    else
      choice = *address != 0;
    if (lane && choice != *out_choice)
      return tsr_fail(UNSUPPORTED, "%s: devices 0 and %d of a manual computation take other ways",
                      step->op->name, lane);
    *out_choice = choice;
  }
  return NULL;
}

static void copy_slot(const tsr_schedule_run *run, int from, int to, int lanes) {
  const tsr_slot *slots = run->schedule->slots;
  const size_t bytes = (size_t)slots[to].bytes;
  for (int lane = 0; bytes && lane < (slots[to].per_lane ? lanes : 1); lane++) {
    char *target = address_of(run, to, lane);
    const char *source = address_of(run, from, lane);
    if (target != source) memcpy(target, source, bytes);
  }
}

static void rotate(const tsr_schedule_run *run, const tsr_loop_plan *plan) {
  char **addresses = run->frame->addresses;
  char **before = run->frame->outputs;  // not in use between steps
  for (int i = 0; i < plan->rotation_count; i++) before[i] = addresses[plan->rotations[i].from];
  for (int i = 0; i < plan->rotation_count; i++) addresses[plan->rotations[i].to] = before[i];
}

static tsr_status run_while(tsr_schedule_run *run, const tsr_schedule_step *step) {
  for (int i = 0; i < step->output_count; i++)
    copy_slot(run, step->inputs[i], step->outputs[i], step->lanes);
  for (;;) {
    int64_t goes_on = 0;
    TSR_TRY(run_list(run, &step->lists[0]));
    TSR_TRY(read_choice(run, step, step->condition, &goes_on));
    if (!goes_on) return NULL;
    TSR_TRY(run_list(run, &step->lists[1]));
    rotate(run, &run->plan->loops[step->loop]);
  }
}

static tsr_status run_case(tsr_schedule_run *run, const tsr_schedule_step *step) {
  int64_t choice = 0;
  TSR_TRY(read_choice(run, step, step->inputs[0], &choice));
  if (step->op->info->id == TSR_OP_IF) choice = !choice;
  if (choice < 0 || choice >= step->list_count) choice = step->list_count - 1;
  return run_list(run, &step->lists[choice]);
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

tsr_status tsr_run_schedule(tsr_schedule_run *run, const void *const *inputs,
                            void *const *outputs) {
  const tsr_schedule *schedule = run->schedule;
  bind(run, inputs, outputs);
  TSR_TRY(run_list(run, &schedule->steps));
  for (int i = 0; i < schedule->result_count; i++) {
    const int slot = schedule->results[i];
    if (slot < 0 || run->plan->result_roots[i] >= 0) continue;
    const size_t bytes = (size_t)schedule->slots[slot].bytes;
    const char *source = address_of(run, slot, 0);
    if (bytes && source != outputs[i]) memcpy(outputs[i], source, bytes);
  }
  return NULL;
}
