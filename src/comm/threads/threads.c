#include "comm/threads/threads.h"

#include "comm/comm.h"

const tsr_engine tsr_threads_engine = {.size = sizeof(tsr_engine),
                                       .name = "threads",
                                       .exchange = tsr_engine_copy_here,
                                       .reduce = tsr_threads_reduce};
