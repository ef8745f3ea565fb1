// The engine of one process: all devices are local, and its workers do everything.
#ifndef TESSERA_COMM_THREADS_THREADS_H
#define TESSERA_COMM_THREADS_THREADS_H

#include "element/copy_internal.h"
#include "tessera/comm.h"
#include "tessera/engine/transport.h"
#include "tessera/status.h"

tsr_status tsr_threads_reduce(tsr_comm *comm, const tsr_reduce_job *job);

// How to store so many bytes: bypassing the caches if they exceed them.
tsr_copy_stores tsr_threads_stores(int64_t bytes);

#endif
