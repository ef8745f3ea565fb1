// The engine of one process: all devices are here, and its workers do everything.
#ifndef TESSERA_COMM_THREADS_H
#define TESSERA_COMM_THREADS_H

#include "tessera/engine.h"

tsr_status tsr_threads_reduce(tsr_comm *comm, const tsr_reduce_job *job);

#endif
