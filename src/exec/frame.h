// One run of a schedule: addresses, and the walk over steps.
#ifndef TESSERA_EXEC_FRAME_H
#define TESSERA_EXEC_FRAME_H

#include "exec/memory_plan.h"
#include "tessera/buffer.h"
#include "tessera/program/executable.h"

// The memory of a run. It is kept between runs, so that a run of a small program allocates nothing.
typedef struct tsr_frame {
  struct tsr_frame *next;  // in the list of idle ones
  tsr_buffer *arena, *scratch;
  char **addresses;  // of each root
  // Room for the addresses of one step: of inputs, then outputs, of all lanes.
  const char **inputs;
  char **outputs;
  const void **arguments;   // room for the addresses of all arguments
  uint32_t *stamps, stamp;  // of each class: the last step that it ran, where lanes differ
} tsr_frame;

typedef struct tsr_schedule_run {
  const tsr_schedule *schedule;
  const tsr_memory_plan *plan;
  tsr_frame *frame;
  tsr_pool *pool;
  int64_t scratch_bytes;
  tsr_step_hook *hook;  // or NULL
  void *hook_context;
  double start;
  const bool *active;  // the lanes that run now, where branches differ; NULL = all
} tsr_schedule_run;

TSR_MUST_USE tsr_status tsr_frame_create(const tsr_schedule *schedule, const tsr_memory_plan *plan,
                                         tsr_buffer_pool *buffers, int workers,
                                         tsr_frame **out_frame);
void tsr_frame_destroy(tsr_frame *frame);  // NULL is fine

// Runs all steps. `inputs` has an address for each argument of the schedule, `outputs` one for each
// result; an output may be the address of the argument that is its donor.
TSR_MUST_USE tsr_status tsr_run_schedule(tsr_schedule_run *run, const void *const *inputs,
                                         void *const *outputs);

double tsr_seconds_now(void);

#endif
