// Numbers of workers. The pool is in tessera/engine/pool.h.
#ifndef TESSERA_BASE_POOL_INTERNAL_H
#define TESSERA_BASE_POOL_INTERNAL_H

#include "tessera/engine/pool.h"

// How many threads this process may run on at once (its affinity mask), at least 1.
int tsr_cpu_count(void);

int tsr_pool_workers(const tsr_pool *pool);  // the caller included

#endif
