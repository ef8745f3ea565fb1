// What other rooms use of tessera/pool.h beside what is public.
#ifndef TESSERA_BASE_POOL_INTERNAL_H
#define TESSERA_BASE_POOL_INTERNAL_H

#include <stdint.h>

#include "tessera/api.h"
#include "tessera/engine/pool.h"

// How many threads this process may run on at once (its affinity mask), at least 1.
int tsr_cpu_count(void);

// Makes a pool of `workers` threads, the caller being one of them; 0 means tsr_cpu_count().
int tsr_pool_workers(const tsr_pool *pool);

#endif
