// The engine of one process: its table of functions, and the choice between cached and streamed
// stores.
#include "comm/threads/threads.h"

#include <unistd.h>

#include "comm/comm.h"
#include "element/copy_internal.h"
#include "tessera/engine/transport.h"

const tsr_engine tsr_threads_engine = {.size = sizeof(tsr_engine),
                                       .name = "threads",
                                       .exchange = tsr_engine_copy_here,
                                       .reduce = tsr_threads_reduce};

// Half of the last-level cache, but at most a process's share of a large shared one. Beyond that,
// streamed stores were faster in all measurements.
tsr_copy_stores tsr_threads_stores(int64_t bytes) {
  enum { LEAST = 4 << 20, SHARE = 32 << 20 };
  if (bytes <= LEAST) return TSR_STORES_CACHED;
  int64_t half = SHARE;
#ifdef _SC_LEVEL3_CACHE_SIZE
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (cache > 0 && cache / 2 < half) half = cache / 2;
#endif
  return bytes > half ? TSR_STORES_STREAMED : TSR_STORES_CACHED;
}
