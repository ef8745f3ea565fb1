// What an executable holds. For the files of this room.
#ifndef TESSERA_EXEC_EXECUTABLE_INTERNAL_H
#define TESSERA_EXEC_EXECUTABLE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "exec/frame.h"
#include "exec/signature.h"

struct tsr_executable {
  atomic_int references;
  const tsr_program *program;  // whose memory constants and names are
  tsr_schedule *schedule;
  tsr_memory_plan plan;
  tsr_comm *comm;        // of the options; NULL = none
  tsr_rank_plan *ranks;  // NULL = all devices are in this process
  tsr_signature signature;
  tsr_pool *pool, *own_pool;
  tsr_buffer_pool *buffers;
  tsr_executable_info info;
  const char **peak_texts;
  pthread_mutex_t mutex;  // of the list of idle frames
  tsr_frame *idle;
};

// A frame for one run, and a run on it that has no hook.
TSR_MUST_USE tsr_status tsr_executable_take_frame(tsr_executable *executable,
                                                  tsr_frame **out_frame);
void tsr_executable_give_frame(tsr_executable *executable, tsr_frame *frame);
tsr_schedule_run tsr_executable_run_on(const tsr_executable *executable, tsr_frame *frame);

#endif
