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

static tsr_status fill_frame(tsr_frame *frame, const tsr_schedule *schedule,
                             const tsr_memory_plan *placement, tsr_buffer_pool *buffers,
                             int workers) {
  const size_t most = (size_t)most_addresses(&schedule->steps) + 1;
  frame->addresses = calloc((size_t)schedule->slot_count + 1, sizeof *frame->addresses);
  frame->inputs = calloc(most, sizeof *frame->inputs);
  frame->outputs = calloc(most, sizeof *frame->outputs);
  frame->arguments = calloc((size_t)schedule->argument_count + 1, sizeof *frame->arguments);
  if (!frame->addresses || !frame->inputs || !frame->outputs || !frame->arguments)
    return tsr_fail(NO_MEMORY, "memory of a run");
  int64_t scratch = 0;
  if (__builtin_mul_overflow(placement->scratch_bytes, workers, &scratch))
    return tsr_fail(TOO_LARGE, "scratch memory of %d workers", workers);
  TSR_TRY(tsr_buffer_create(buffers, placement->arena_bytes, &frame->arena));
  return tsr_buffer_create(buffers, scratch, &frame->scratch);
}

tsr_status tsr_frame_create(const tsr_schedule *schedule, const tsr_memory_plan *placement,
                            tsr_buffer_pool *buffers, int workers, tsr_frame **out_frame) {
  tsr_frame *frame = calloc(1, sizeof *frame);
  if (!frame) return tsr_fail(NO_MEMORY, "memory of a run");
  const tsr_status status = fill_frame(frame, schedule, placement, buffers, workers);
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
  const tsr_slot_place *place = &run->placement->places[slot];
  char *address = run->frame->addresses[place->root];
  if (!address) return NULL;
  if (run->schedule->slots[slot].per_lane)
    address += lane * run->schedule->slots[place->root].bytes;
  return address + place->shift;
}

static void bind(const tsr_schedule_run *run, const void *const *inputs, void *const *outputs) {
  const tsr_schedule *schedule = run->schedule;
  char *arena = tsr_buffer_data(run->frame->arena);
  for (int i = 0; i < schedule->slot_count; i++) {
    const tsr_slot *slot = &schedule->slots[i];
    const tsr_slot_place *place = &run->placement->places[i];
    if (place->root != i) continue;
    char **address = &run->frame->addresses[i];
    switch (slot->kind) {
      case TSR_SLOT_ARENA:
        *address = place->offset >= 0 && arena ? arena + place->offset : NULL;
        break;
      case TSR_SLOT_ARGUMENT:
        *address = (char *)(uintptr_t)inputs[slot->index];
        break;
      case TSR_SLOT_RESULT:
        *address = outputs[slot->index];
        break;
      case TSR_SLOT_CONSTANT:
        *address = (char *)(uintptr_t)slot->data;
        break;
      case TSR_SLOT_VIEW:
        break;
    }
  }
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
    rotate(run, &run->placement->loops[step->loop]);
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
    if (slot < 0 || run->placement->result_roots[i] >= 0) continue;
    const size_t bytes = (size_t)schedule->slots[slot].bytes;
    const char *source = address_of(run, slot, 0);
    if (bytes && source != outputs[i]) memcpy(outputs[i], source, bytes);
  }
  return NULL;
}
