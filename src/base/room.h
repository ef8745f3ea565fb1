// Whether what is about to be written fits the caller's memory.
#ifndef TESSERA_BASE_ROOM_H
#define TESSERA_BASE_ROOM_H

#include <stdint.h>

#include "tessera/status.h"

// Fails with bad_argument where `bytes` at `room` are fewer than `needed`. When nothing is needed,
// NULL and 0 are right.
TSR_MUST_USE tsr_status tsr_room_check(const void *room, int64_t bytes, int64_t needed);

#endif
