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
  char **addresses;      // of each root
  char *const **tables;  // of each root: the addresses of its classes, NULL = they lie side by side
  // Room for the addresses of one step: of inputs, then outputs, of all lanes.
  const char **inputs;
  char **outputs;
  tsr_kernel_call *calls;  // of a kernel that runs for all classes at once
  // The same for each worker that runs a class of a kernel by itself.
  const char **worker_inputs;
  char **worker_outputs;
  int64_t kernel_addresses;
  // Room for the addresses of all arguments and results, of each class
  // (tsr_memory_plan.argument_addresses), and for pieces of whole ones.
  char **arguments, **results;
  tsr_buffer *pieces;
  uint32_t *stamps, stamp;  // of each class: the last step that it ran, where lanes differ
  tsr_rank_moves moves;     // copies between ranks
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

// Runs all steps. `arguments` and `results` of the frame have the addresses of the caller's memory;
// that of a result may be that of the argument that is its donor.
TSR_MUST_USE tsr_status tsr_run_schedule(tsr_schedule_run *run);

// Copies bytes with all workers, unless both are one memory.
TSR_MUST_USE tsr_status tsr_copy_shared(tsr_pool *pool, char *to, const char *from, int64_t bytes);

double tsr_seconds_now(void);

#endif
